# The io floor is a library of its own: the core builds with libc, libm (and qhull) alone.
rb_add_library(rattleback_io io)
target_link_libraries(rattleback_io PUBLIC rattleback)
foreach(name jansson zstd)
  rattleback_find_dependency(${name})
  target_link_libraries(rattleback_io PRIVATE Rattleback::${name})
endforeach()
include(src/io/scene/files.cmake)
include(src/io/output/files.cmake)
