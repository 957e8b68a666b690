rb_add_tests(NAME test_narrowphase FILES
  test/narrowphase/prop_closed_forms.c
  test/narrowphase/prop_separation.c
  test/narrowphase/test_closed_forms.c
  test/narrowphase/test_manifold.c
)
target_sources(test_narrowphase PRIVATE test/narrowphase/pair_support.c)
