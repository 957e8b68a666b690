# which boxes overlap
target_sources(rattleback PRIVATE
  src/collision/broadphase/broad_phase.c
  src/collision/broadphase/dynamic_tree.c
  src/collision/broadphase/pair_table.c
)
