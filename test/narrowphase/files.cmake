rb_add_tests(NAME test_narrowphase LAB FILES
  test/narrowphase/golden_aligned.c
  test/narrowphase/golden_separation.c
  test/narrowphase/prop_adversarial.c
  test/narrowphase/prop_overlap.c
  test/narrowphase/prop_closed_forms.c
  test/narrowphase/prop_mesh_pairs.c
  test/narrowphase/prop_depth_bounds.c
  test/narrowphase/prop_mesh_depth.c
  test/narrowphase/prop_separation.c
  test/narrowphase/test_bad_input.c
  test/narrowphase/test_closed_forms.c
  test/narrowphase/test_mesh_solids.c
  test/narrowphase/test_mesh_contacts.c
  test/narrowphase/test_mesh_pairs.c
  test/narrowphase/test_contacts.c
  test/narrowphase/test_manifold.c
)
target_sources(test_narrowphase PRIVATE test/distance/bodies.c test/narrowphase/mesh_shapes.c test/narrowphase/pair_support.c test/narrowphase/truth_by_construction.c)
