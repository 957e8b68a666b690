target_sources(rattleback PRIVATE
  src/collision/convex/convex.c
  src/collision/convex/convex_shape.c
  src/collision/convex/gjk.c
  src/collision/convex/epa.c
  src/collision/convex/epa_polytope.c
  src/collision/convex/overlap.c
)
