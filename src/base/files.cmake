target_sources(rattleback PRIVATE
  src/base/core/hash.c
  src/base/core/id_pool.c
  src/base/core/memory.c
  src/base/core/status.c
  src/base/core/timer.c
  src/base/core/words.c
  src/base/math/atan.c
  src/base/math/cbrt.c
  src/base/math/explog.c
  src/base/math/matrix3.c
  src/base/math/ode.c
  src/base/math/polynomial.c
  src/base/math/quaternion.c
  src/base/math/roots.c
  src/base/math/sincos.c
  src/base/math/elliptic.c
)
