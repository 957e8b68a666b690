rb_add_tests(NAME test_engines LAB FILES
  test/engines/golden_event.c
  test/engines/golden_step.c
  test/engines/issue_event_review.c
  test/engines/issue_step_review.c
  test/engines/oracle_no_miss.c
  test/engines/phys_event_jam.c
  test/engines/phys_step.c
  test/engines/phys_step_taut.c
  test/engines/prop_loops.c
  test/engines/prop_mechanisms.c
  test/engines/test_event_engine.c
  test/engines/test_event_snapshot.c
  test/engines/test_event_rest.c
  test/engines/test_event_changes.c
  test/engines/test_event_input.c
  test/engines/test_step_measure.c
)
target_sources(test_engines PRIVATE test/engines/shots.c)
target_include_directories(test_engines PRIVATE ${PROJECT_SOURCE_DIR}/test/engines)
