# Test programs, one a folder, each folder with its own list.
foreach(folder base collision bounds distance convex narrowphase broadphase dynamics constraints contact classical impact joints solvers engines world io validation cli)
  include(test/${folder}/files.cmake)
endforeach()
