rb_add_tests(NAME test_dynamics LAB FILES
  test/dynamics/oracle_free_top.c
  test/dynamics/phys_flight.c
  test/dynamics/prop_sweep.c
  test/dynamics/test_forces.c
  test/dynamics/test_path.c
  test/dynamics/test_sweep.c
)
target_sources(test_dynamics PRIVATE validation/top_oracle.c)
target_include_directories(test_dynamics PRIVATE ${PROJECT_SOURCE_DIR})
