# Test programs, one per folder, each folder with its own list.
foreach(folder base collision rays distance convex narrowphase broadphase dynamics sweep_shapes constraints contact impact joints solvers engines world threads io server validation cli docs lab verify cluster)
  include(test/${folder}/files.cmake)
endforeach()
include(test/install/files.cmake)
if(RB_VIEWER AND RB_BUILD_PROGRAM)
  include(test/viewer/files.cmake)
endif()
