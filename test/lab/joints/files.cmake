rb_add_tests(NAME test_classical
  FILES
    test/lab/joints/oracle_classical.c
    test/lab/joints/phys_classical.c
  LIBRARIES rattleback_lab
)
target_sources(test_classical PRIVATE test/lab/joints/mech_scenes.c)
