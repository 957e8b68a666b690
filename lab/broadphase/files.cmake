# broad phases that "auto" never picks
target_sources(rattleback_lab PRIVATE
  lab/broadphase/broad_rows.c
  lab/broadphase/coherent_hash.c
  lab/broadphase/sorted_ends.c
  lab/broadphase/sweep_1d.c
  lab/broadphase/sweep_2d.c
)
