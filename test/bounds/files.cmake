rb_add_tests(NAME test_bounds
  FILES
    test/bounds/prop_volume.c
    test/bounds/test_volume.c
)
