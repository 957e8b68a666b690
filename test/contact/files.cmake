rb_add_tests(NAME test_contact LAB FILES
  test/contact/golden_contact_large.c
  test/contact/phys_contact_solver.c
  test/contact/prop_contact_solver.c
  test/contact/test_contact_solver.c
  test/contact/oracle_contact_pairs.c
  test/contact/test_contact_memory.c
  test/contact/test_contact_pairs.c
  test/contact/oracle_contact_graph.c
  test/contact/prop_collisions.c
  test/contact/prop_finding.c
  test/contact/prop_contact_shock.c
  test/contact/prop_contact_newton.c
  test/contact/prop_contact_substeps.c
  test/contact/prop_substep_joints.c
  test/contact/test_collisions.c
  test/contact/test_contact_freeze.c
)
