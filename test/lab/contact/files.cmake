rb_add_tests(NAME test_penalty LAB FILES
  test/lab/contact/phys_penalty.c
)
target_sources(test_penalty PRIVATE validation/contact_worlds.c)
target_include_directories(test_penalty PRIVATE validation)
