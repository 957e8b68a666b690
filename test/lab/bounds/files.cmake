rb_add_tests(NAME test_lab_bounds LAB
  FILES
    test/lab/bounds/prop_volume.c
    test/lab/bounds/test_volume.c
)
