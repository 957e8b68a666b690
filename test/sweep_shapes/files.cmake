rb_add_tests(NAME test_sweep_shapes FILES
  test/sweep_shapes/phys_bullet_sweep.c
  test/sweep_shapes/prop_shape_sweep.c
  test/sweep_shapes/test_shape_sweep.c
)
target_include_directories(test_sweep_shapes PRIVATE ${PROJECT_SOURCE_DIR})
