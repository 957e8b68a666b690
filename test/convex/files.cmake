# tests of the convex kernels
rb_add_tests(NAME test_convex LAB FILES
  test/convex/golden_convex.c
  test/convex/golden_special.c
  test/convex/oracle_convex_shape.c
  test/convex/test_support.c
  test/convex/test_epa.c
  test/convex/prop_epa.c
  test/convex/test_gjk.c
  test/convex/prop_gjk.c
)
