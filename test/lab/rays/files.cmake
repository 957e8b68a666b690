rb_add_tests(NAME test_rays_detector LAB FILES
  test/lab/rays/golden_detector.c
  test/lab/rays/phys_event_rays.c
  test/lab/rays/phys_motion.c
  test/lab/rays/prop_detector.c
  test/lab/rays/test_detector_input.c
  test/lab/rays/test_published.c
  test/lab/rays/test_starts.c
)
target_sources(test_rays_detector PRIVATE test/lab/rays/bodies.c)
rb_add_tests(NAME test_ray_frames FILES
  test/lab/rays/test_path_table.c
  test/lab/rays/test_ray_frames.c
  test/lab/rays/test_swept_box.c
  LIBRARIES rattleback_lab
)
