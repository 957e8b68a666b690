target_sources(rattleback PRIVATE
  src/world/ledger.c
  src/world/snapshot.c
  src/world/world.c
  src/world/world_body.c
  src/world/world_contact.c
  src/world/world_engine.c
  src/world/world_event.c
  src/world/world_fields.c
  src/world/world_force.c
  src/world/world_joint.c
  src/world/world_judge.c
  src/world/world_link.c
  src/world/world_parameters.c
  src/world/world_shape.c
  src/world/world_spring.c
  src/world/world_step.c
)
