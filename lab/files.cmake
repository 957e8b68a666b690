# The laboratory: methods of the literature kept to compare and to teach, on top of the core. It uses internal headers of
# the core ("collision/...") and has its own ("lab/<room>/<file>.h"). Each room lists its own files.
add_library(rattleback_lab STATIC lab/laboratory.c)
add_library(rattleback::lab ALIAS rattleback_lab)
target_include_directories(rattleback_lab PRIVATE src ${PROJECT_SOURCE_DIR})
target_link_libraries(rattleback_lab PRIVATE rb_options PUBLIC rattleback)
include(lab/broadphase/files.cmake)
include(lab/joints/files.cmake)
