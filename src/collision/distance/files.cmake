# The list of the room; see also src/collision/files.cmake.
target_sources(rattleback PRIVATE
  src/collision/distance/search.c
  src/collision/distance/search_best.c
  src/collision/distance/search_depth.c
  src/collision/distance/sequence.c
  src/collision/distance/tree_near.c
  src/collision/distance/tree_pair.c
)
