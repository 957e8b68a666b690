# Modules in Python: the interpreter inside the program (RB_PYTHON=ON). Without the option, and where Python can be embedded, the
# target rattleback_python makes such a program besides the other, of the same objects: build/release/python/rattleback.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(RB_EMBED QUIET IMPORTED_TARGET python3-embed)
endif()
if(RB_PYTHON AND NOT RB_EMBED_FOUND)
  message(FATAL_ERROR "modules in Python need pkg-config and Python's library (Debian: pkg-config python3-dev python3-cffi python3-numpy); "
    "without them, configure with -DRB_PYTHON=OFF")
endif()
if(RB_EMBED_FOUND)
  # The compiled module of the package, as part of the program: one copy of the library.
  set(nativeFile ${PROJECT_BINARY_DIR}/python/native.c)
  file(GLOB publicHeaders CONFIGURE_DEPENDS include/rattleback/*.h)
  add_custom_command(OUTPUT ${nativeFile}
    COMMAND ${CMAKE_COMMAND} -E env RATTLEBACK_BUILD=${PROJECT_BINARY_DIR} PYTHONDONTWRITEBYTECODE=1
      /usr/bin/python3 ${PROJECT_SOURCE_DIR}/python/bindings/build_module.py ${nativeFile}
    DEPENDS python/bindings/build_module.py python/bindings/headers.py python/bindings/helpers.h python/bindings/viewer.h ${publicHeaders}
    VERBATIM)
  add_library(rattleback_python_host STATIC EXCLUDE_FROM_ALL app/python/python_host.c ${nativeFile}
    python/bindings/helpers.c python/bindings/viewer.c)
  target_include_directories(rattleback_python_host PRIVATE src app ${PROJECT_SOURCE_DIR} python/bindings)
  # The declarations lack some const, see python/bindings/headers.py; what cffi writes is not ours.
  set_source_files_properties(${nativeFile} PROPERTIES COMPILE_OPTIONS "-w;-O1")
  set_source_files_properties(python/bindings/helpers.c python/bindings/viewer.c PROPERTIES
    COMPILE_OPTIONS "-Wno-incompatible-pointer-types;-Wno-conversion;-Wno-missing-prototypes")
  rb_hide_sources(rattleback_python_host)
  target_link_libraries(rattleback_python_host PUBLIC rb_options rattleback_app rattleback_io rattleback_lab rattleback PkgConfig::RB_EMBED)
endif()
# The package, which is text, is next to the program.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/share/rattleback)
foreach(place share/rattleback python/share/rattleback)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python ${PROJECT_BINARY_DIR}/${place}/python SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/scenes ${PROJECT_BINARY_DIR}/python/share/rattleback/scenes SYMBOLIC)
if(RB_PYTHON)
  target_sources(rattleback_program PRIVATE app/python/entry.c)
  target_include_directories(rattleback_program PRIVATE app)
  target_link_libraries(rattleback_program PRIVATE rattleback_python_host)
else()
  target_sources(rattleback_program PRIVATE app/cli/entry.c)
  if(RB_EMBED_FOUND)
    add_executable(rattleback_python EXCLUDE_FROM_ALL app/python/entry.c)
    set_target_properties(rattleback_python PROPERTIES OUTPUT_NAME rattleback RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
    target_link_libraries(rattleback_python PRIVATE rattleback_program_objects rattleback_python_host)
  endif()
endif()
