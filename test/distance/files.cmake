rb_add_tests(NAME test_distance LAB FILES
  test/distance/golden_tree_pair.c
  test/distance/prop_tree_pair.c
)
target_sources(test_distance PRIVATE test/distance/bodies.c)
