rb_add_tests(NAME test_lab_distance LAB FILES
  test/lab/distance/oracle_traversals.c
  test/lab/distance/test_hierarchy.c
  test/lab/distance/test_search.c
)
target_sources(test_lab_distance PRIVATE test/distance/bodies.c)
target_include_directories(test_lab_distance PRIVATE test/distance)
