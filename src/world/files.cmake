target_sources(rattleback PRIVATE
  src/world/ledger.c
  src/world/snapshot.c
  src/world/world.c
  src/world/world_body.c
  src/world/world_event.c
  src/world/world_fields.c
  src/world/world_force.c
  src/world/world_shape.c
)
