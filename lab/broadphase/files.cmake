# broad phases besides the tree and the scan of the core
target_sources(rattleback_lab PRIVATE
  lab/broadphase/broad_rows.c
  lab/broadphase/cell_grid.c
  lab/broadphase/cell_levels.c
  lab/broadphase/coherent_hash.c
  lab/broadphase/hash_grid.c
  lab/broadphase/naive.c
  lab/broadphase/sorted_ends.c
  lab/broadphase/sweep_1d.c
  lab/broadphase/sweep_2d.c
)
