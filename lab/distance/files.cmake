# searches over hierarchies of bounding volumes
target_sources(rattleback_lab PRIVATE
  lab/distance/search.c
  lab/distance/search_best.c
  lab/distance/search_depth.c
  lab/distance/sequence.c
)
