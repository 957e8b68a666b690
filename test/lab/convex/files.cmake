rb_add_tests(NAME test_lab_convex LAB FILES
  test/lab/convex/prop_features.c
  test/lab/convex/prop_mpr.c
  test/lab/convex/test_feature_manifold.c
  test/lab/convex/test_features.c
  test/lab/convex/test_mpr.c
)
target_include_directories(test_lab_convex PRIVATE test/convex)
