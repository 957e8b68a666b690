# The list of the room; see also src/collision/files.cmake.
target_sources(rattleback PRIVATE
  src/collision/bounds/fdh_dual.c
  src/collision/bounds/hull_axes.c
  src/collision/bounds/obb_regions.c
  src/collision/bounds/volume.c
  src/collision/bounds/volume_aabb.c
  src/collision/bounds/volume_fdh.c
  src/collision/bounds/volume_obb.c
  src/collision/bounds/volume_rss.c
  src/collision/bounds/volume_sphere.c
  src/collision/bounds/hierarchy.c
  src/collision/bounds/hierarchy_split.c
)
