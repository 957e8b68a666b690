# tests of this folder
rb_add_tests(NAME test_base LAB FILES
  test/base/test_core.c
  test/base/test_memory.c
  test/base/test_settings.c
  test/base/golden_containers.c
  test/base/golden_math.c
  test/base/test_heap.c
  test/base/test_vecmath.c
  test/base/test_elementary.c
  test/base/test_elliptic.c
  test/base/golden_elementary.c
  test/base/test_matrix3.c
  test/base/test_quaternion.c
  test/base/phys_ode.c
  test/base/test_roots.c
)
