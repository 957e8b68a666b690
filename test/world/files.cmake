rb_add_tests(NAME test_world FILES
  test/world/golden_world.c
  test/world/test_world.c
)
