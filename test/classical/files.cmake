rb_add_tests(NAME test_classical
  FILES
    test/classical/oracle_classical.c
    test/classical/phys_classical.c
)
target_sources(test_classical PRIVATE test/classical/mech_scenes.c)
