# rb_add_tests(NAME x [LAB] FILES test_a.c test_b.c LIBRARIES ...) links the test files of a folder into one
# program x and creates one CTest entry for every test in it. LAB: registers the laboratory before the first test.
# With rattleback_app among the libraries, the laboratory and its scene keys are registered as in the program.
function(rb_add_tests)
  cmake_parse_arguments(T "LAB" "NAME" "FILES;LIBRARIES;DEFINITIONS" ${ARGN})
  set(declarations "")
  set(list "")
  foreach(file ${T_FILES})
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND declarations "extern const rbTestGroup rbTestGroup_${stem};\n")
    string(APPEND list "    &rbTestGroup_${stem},\n")
  endforeach()
  set(labInclude "")
  set(labCall "")
  set(labLibrary "")
  if(rattleback_app IN_LIST T_LIBRARIES)
    set(labInclude "#include \"laboratory/scene_rows.h\"\n#include <stdio.h>\n")
    set(labCall "    rbError error = {0};\n    if (rbRegisterSceneLaboratory(&error) != RB_STATUS_OK) {\n        (void)fprintf(stderr, \"%s\\n\", error.message);\n        return 1;\n    }\n")
  elseif(T_LAB)
    set(labInclude "#include <rattleback/lab.h>\n#include <stdio.h>\n")
    set(labCall "    rbError error = {0};\n    if (rbRegisterLaboratory(&error) != RB_STATUS_OK) {\n        (void)fprintf(stderr, \"%s\\n\", error.message);\n        return 1;\n    }\n")
    set(labLibrary rattleback_lab)
  endif()
  set(main ${CMAKE_CURRENT_BINARY_DIR}/${T_NAME}_main.c)
  file(GENERATE OUTPUT ${main} CONTENT
"#include \"rb_test.h\"
${labInclude}int main(int argc, char** argv);
${declarations}
static const rbTestGroup* const groups[] = {
${list}};
int main(int argc, char** argv)
{
${labCall}    return rbRunTests(argc, argv, groups, sizeof groups / sizeof groups[0]);
}
")
  add_executable(${T_NAME} ${main} ${T_FILES} ${PROJECT_SOURCE_DIR}/test/support/rb_test.c)
  target_include_directories(${T_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/test/support
    ${PROJECT_SOURCE_DIR}/app ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${T_NAME} PRIVATE ${T_DEFINITIONS}
    RB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" RB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${T_NAME} PRIVATE rb_options ${labLibrary} rattleback ${T_LIBRARIES} cmocka m)
  set(listing ${CMAKE_CURRENT_BINARY_DIR}/${T_NAME}_tests.cmake)
  add_custom_command(TARGET ${T_NAME} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${T_NAME}> -DNAME=${T_NAME} -DOUTPUT=${listing}
            -P ${PROJECT_SOURCE_DIR}/cmake/DiscoverTests.cmake
    VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${listing})
endfunction()
