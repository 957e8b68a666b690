rb_add_tests(NAME test_joints LAB
  FILES
    test/joints/phys_drives.c
    test/joints/phys_motor.c
    test/joints/prop_joint_rows.c
    test/joints/test_joint_model.c
)
target_sources(test_joints PRIVATE test/joints/joint_samples.c)
