# distance of two meshes by their trees
target_sources(rattleback PRIVATE
  src/collision/distance/tree_pair.c
)
