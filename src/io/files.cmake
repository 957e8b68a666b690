# The io floor is a library of its own: the core builds with libc, libm (and qhull) alone.
add_library(rattleback_io STATIC)
target_include_directories(rattleback_io PRIVATE src)
target_link_libraries(rattleback_io PRIVATE rb_options PUBLIC rattleback)
include(src/io/scene/files.cmake)
include(src/io/output/files.cmake)
