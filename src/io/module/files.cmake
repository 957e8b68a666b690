# Modules: shared libraries that add rows to the tables. dlopen is of POSIX, hence the definition.
target_sources(rattleback_io PRIVATE src/io/module/module.c)
set_source_files_properties(src/io/module/module.c PROPERTIES COMPILE_DEFINITIONS "_POSIX_C_SOURCE=200809L;_XOPEN_SOURCE=700")
target_link_libraries(rattleback_io PRIVATE ${CMAKE_DL_LIBS})
