# MPR, the walk over closest features, and contact regions from features
target_sources(rattleback_lab PRIVATE
  lab/convex/feature_body.c
  lab/convex/feature_manifold.c
  lab/convex/feature_walk.c
  lab/convex/features.c
  lab/convex/minkowski.c
  lab/convex/mpr.c
  lab/convex/pair_rows.c
)
