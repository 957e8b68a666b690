# Every command and every C program of the guide, of README.md and of docs/hello.md, run as the pages show them.
if(RB_BUILD_PROGRAM)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(docPrograms ${CMAKE_CURRENT_BINARY_DIR}/doc-programs)
  file(GLOB docPages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/guide/*.md)
  list(APPEND docPages ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/hello.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${docPages} ${PROJECT_SOURCE_DIR}/test/docs/pages.py)
  foreach(page ${docPages})
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/docs/pages.py extract ${page} ${docPrograms}
      OUTPUT_VARIABLE sources OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    if(sources)
      string(REPLACE "\n" ";" sources "${sources}")
    endif()
    foreach(source ${sources})
      get_filename_component(name ${source} NAME_WE)
      add_executable(${name} ${source})
      set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${docPrograms})
      target_link_libraries(${name} PRIVATE rb_options rattleback_io rattleback)
    endforeach()
    get_filename_component(name ${page} NAME_WE)
    add_test(NAME docs.${name}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/docs/pages.py run ${page} $<TARGET_FILE:rattleback_program>
              ${docPrograms} ${PROJECT_SOURCE_DIR})
    set_tests_properties(docs.${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "RB_VIEWER=$<IF:$<BOOL:${RB_VIEWER}>,ON,OFF>")
  endforeach()
endif()
