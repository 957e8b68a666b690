# classical methods for joints
target_sources(rattleback_lab PRIVATE
  lab/joints/baraff.c
  lab/joints/classical.c
  lab/joints/classical_methods.c
  lab/joints/cut.c
  lab/joints/driven.c
  lab/joints/multipliers.c
  lab/joints/penalty.c
  lab/joints/reduced.c
  lab/joints/reduced_forward.c
  lab/joints/reduced_tree.c
  lab/joints/row_matrices.c
  lab/joints/runge_kutta.c
)
