# Test programs, one a folder, each folder with its own list.
foreach(folder base collision convex narrowphase dynamics world io validation cli)
  include(test/${folder}/files.cmake)
endforeach()
