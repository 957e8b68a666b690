target_sources(rattleback PRIVATE
  src/dynamics/bodies/name_table.c
  src/dynamics/forces/force_ops.c
  src/dynamics/motion/flight.c
  src/dynamics/motion/free_top.c
  src/dynamics/motion/integrate.c
  src/dynamics/motion/path.c
)
