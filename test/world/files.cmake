rb_add_tests(NAME test_world LAB FILES
  test/world/golden_contacts.c
  test/world/golden_world.c
  test/world/phys_capped_contacts.c
  test/world/phys_limits.c
  test/world/phys_rolling.c
  test/world/phys_shock.c
  test/world/phys_throws.c
  test/world/phys_world_joints.c
  test/world/test_contact_reaction.c
  test/world/test_embedding.c
  test/world/test_limits.c
  test/world/prop_claims.c
  test/world/prop_world_arrivals.c
  test/world/prop_world_query.c
  test/world/test_contact_events.c
  test/world/test_contact_input.c
  test/world/test_modules.c
  test/world/test_world.c
  test/world/test_world_contact_time.c
  test/world/test_world_contacts.c
  test/world/test_world_joints.c
  test/world/test_world_validation.c
  test/world/test_world_parameters.c
  test/world/test_world_query.c
  test/world/test_world_rest.c
)
target_include_directories(test_world PRIVATE ${PROJECT_SOURCE_DIR})
