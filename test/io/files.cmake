# tests of this folder
rb_add_tests(NAME test_output
  FILES test/io/golden_picture.c test/io/test_output_actions.c test/io/test_output_continue.c test/io/test_output_csv.c test/io/test_output_file.c test/io/test_output_journal.c test/io/test_output_picture.c test/io/test_output_plot.c
        test/io/test_output_recording.c test/io/test_output_vtk.c
  LIBRARIES rattleback_app rattleback_io z
  DEFINITIONS _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
rb_add_tests(NAME test_scene
  FILES test/io/test_scene_read.c test/io/test_scene_errors.c test/io/test_scene_schema.c
        test/io/test_scene_contacts.c test/io/test_scene_event.c test/io/test_scene_joints.c test/io/test_scene_mesh.c test/io/oracle_scene_mesh.c test/io/prop_scene_text.c test/io/prop_scene_snapshots.c test/io/test_scene_rows.c
  LIBRARIES rattleback_app rattleback_io assimp
  DEFINITIONS _POSIX_C_SOURCE=200809L)
# The scenes of the theme "mechanisms", each checked against the claims in its text.
rb_add_tests(NAME test_mechanisms
  FILES test/io/phys_accuracy.c test/io/phys_mechanism_scenes.c test/io/phys_drives.c test/io/issue_joint_trial.c
  LIBRARIES rattleback_app rattleback_io
  DEFINITIONS _POSIX_C_SOURCE=200809L)
# The same for those of the theme "contacts".
rb_add_tests(NAME test_contact_scenes
  FILES test/io/phys_contact_scenes.c test/io/phys_engines_agree.c test/io/issue_trial.c
  LIBRARIES rattleback_app rattleback_io
  DEFINITIONS _POSIX_C_SOURCE=200809L)
rb_add_tests(NAME test_pairs
  FILES test/io/test_pair_file.c test/io/prop_pair_file.c
  LIBRARIES rattleback_app rattleback_io
  DEFINITIONS _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
target_sources(test_pairs PRIVATE test/narrowphase/pair_support.c)
target_include_directories(test_pairs PRIVATE test/narrowphase)
# Every scene for a moment: its bits, and the work it took.
rb_add_tests(NAME test_scene_bits
  FILES test/io/golden_scenes.c test/io/golden_changes.c
  LIBRARIES rattleback_app rattleback_io
  DEFINITIONS _POSIX_C_SOURCE=200809L)
target_sources(test_scene_bits PRIVATE test/io/golden_lines.c)
