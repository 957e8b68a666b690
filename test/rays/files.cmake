rb_add_tests(NAME test_rays_kernel FILES
  test/rays/oracle_rays.c
  test/rays/test_rays.c
)
