# mathematics that only methods of the laboratory, tests and validation use
target_sources(rattleback_lab PRIVATE
  lab/math/cbrt.c
  lab/math/elliptic_functions.c
  lab/math/hyperbolic.c
  lab/math/ode_integrate.c
  lab/math/polynomial.c
  lab/math/rotations.c
)
