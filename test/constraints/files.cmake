rb_add_tests(NAME test_constraints LAB FILES
  test/constraints/test_mechanism.c
  test/constraints/test_rows.c
  test/constraints/test_turn.c
)
