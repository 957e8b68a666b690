# tests of this folder
rb_add_tests(NAME test_broadphase LAB FILES
  test/broadphase/golden_broad_phase.c
  test/broadphase/golden_tree.c
  test/broadphase/oracle_broad_phases.c
  test/broadphase/test_broad_phase.c
  test/broadphase/test_pair_table.c
)
target_sources(test_broadphase PRIVATE test/broadphase/box_scenes.c)
