# tests of the laboratory, which they register themselves
rb_add_tests(NAME test_lab FILES
  test/lab/test_registration.c
  LIBRARIES rattleback_lab
)
# Begins with a core without the laboratory, so it is a program of its own.
rb_add_tests(NAME test_lab_methods FILES test/lab/test_method_rows.c LIBRARIES rattleback_lab)
include(test/lab/contact/files.cmake)
include(test/lab/joints/files.cmake)
include(test/lab/convex/files.cmake)
include(test/lab/bounds/files.cmake)
include(test/lab/distance/files.cmake)
include(test/lab/rays/files.cmake)
include(test/lab/math/files.cmake)
