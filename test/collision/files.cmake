rb_add_tests(NAME test_collision LAB
  FILES
    test/collision/golden_geometry.c
    test/collision/oracle_mesh_mass.c
    test/collision/prop_closest.c
    test/collision/prop_box_tree.c
    test/collision/prop_hull.c
    test/collision/test_all_shapes.c
    test/collision/test_closest.c
    test/collision/test_box_tree.c
    test/collision/test_mass_properties.c
    test/collision/test_mesh_validation.c
    test/collision/test_polyhedron.c
    test/collision/test_profiles.c
    test/collision/test_triangulation.c
)
