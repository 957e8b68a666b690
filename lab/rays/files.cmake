# prediction of contact by rays, and frames of bodies on paths
target_sources(rattleback_lab PRIVATE
  lab/rays/path_bend.c
  lab/rays/path_table.c
  lab/rays/ray_emitter.c
  lab/rays/ray_frames.c
  lab/rays/ray_frames_exact.c
  lab/rays/ray_frames_pairs.c
  lab/rays/ray_frames_predict.c
  lab/rays/ray_frames_settings.c
  lab/rays/ray_model.c
  lab/rays/ray_predict.c
  lab/rays/ray_refine.c
  lab/rays/ray_settings.c
  lab/rays/ray_shot.c
  lab/rays/ray_starts.c
  lab/rays/swept_box.c
  lab/rays/swept_box_rays.c
)
