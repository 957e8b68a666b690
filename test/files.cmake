# Test programs, one a folder, each folder with its own list.
foreach(folder base collision bounds distance convex narrowphase dynamics world io validation cli)
  include(test/${folder}/files.cmake)
endforeach()
