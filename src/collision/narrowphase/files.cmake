# pair table and closed forms
target_sources(rattleback PRIVATE
  src/collision/narrowphase/collide.c
  src/collision/narrowphase/manifold.c
  src/collision/narrowphase/mesh_convex.c
  src/collision/narrowphase/mesh_convex_contacts.c
  src/collision/narrowphase/mesh_depth.c
  src/collision/narrowphase/mesh_pair.c
  src/collision/narrowphase/separation.c
)
