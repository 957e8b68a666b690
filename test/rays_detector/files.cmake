rb_add_tests(NAME test_rays_detector FILES
  test/rays_detector/golden_detector.c
  test/rays_detector/phys_motion.c
  test/rays_detector/prop_detector.c
  test/rays_detector/test_detector_input.c
  test/rays_detector/test_published.c
  test/rays_detector/test_starts.c
)
target_sources(test_rays_detector PRIVATE test/rays_detector/bodies.c)
