# Test programs, one a folder, each folder with its own list.
foreach(folder base collision dynamics world io cli)
  include(test/${folder}/files.cmake)
endforeach()
