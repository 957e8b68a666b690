# roots of polynomials
target_sources(rattleback_lab PRIVATE
  lab/math/polynomial.c
)
