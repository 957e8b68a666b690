rb_add_tests(NAME test_ray_frames FILES
  test/ray_frames/test_ray_frames.c
  test/ray_frames/test_swept_box.c
)
