# The laboratory: methods of the literature kept to compare and to teach, on top of the core. It uses internal headers of
# the core ("collision/...") and has its own ("lab/<room>/<file>.h"). Each room lists its own files.
rb_add_library(rattleback_lab lab)
target_sources(rattleback_lab PRIVATE lab/laboratory.c)
target_include_directories(rattleback_lab PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(rattleback_lab PUBLIC rattleback)
include(lab/bounds/files.cmake)
include(lab/distance/files.cmake)
include(lab/convex/files.cmake)
include(lab/broadphase/files.cmake)
include(lab/contact/files.cmake)
include(lab/events/files.cmake)
include(lab/joints/files.cmake)
include(lab/rays/files.cmake)
