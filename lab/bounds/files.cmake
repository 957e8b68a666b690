# bounding volumes and hierarchies of them
target_sources(rattleback_lab PRIVATE
  lab/bounds/facet.c
  lab/bounds/fdh_dual.c
  lab/bounds/hull_axes.c
  lab/bounds/obb_regions.c
  lab/bounds/volume.c
  lab/bounds/volume_aabb.c
  lab/bounds/volume_fdh.c
  lab/bounds/volume_obb.c
  lab/bounds/volume_rss.c
  lab/bounds/volume_sphere.c
  lab/bounds/hierarchy.c
  lab/bounds/hierarchy_split.c
)
