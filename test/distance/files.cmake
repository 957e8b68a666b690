rb_add_tests(NAME test_distance FILES
  test/distance/golden_tree_pair.c
  test/distance/oracle_traversals.c
  test/distance/prop_tree_pair.c
  test/distance/test_hierarchy.c
  test/distance/test_search.c
)
target_sources(test_distance PRIVATE test/distance/bodies.c)
