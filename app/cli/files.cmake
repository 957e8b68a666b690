# The program. The library has its name already, hence the other target name.
set(programFiles
  app/cli/action_player.c
  app/cli/animations.c
  app/cli/bench.c
  app/cli/check.c
  app/cli/checkpoint.c
  app/cli/distance.c
  app/cli/distance_file.c
  app/cli/distance_laboratory.c
  app/cli/distance_shapes.c
  app/cli/findings.c
  app/cli/frames.c
  app/cli/info.c
  app/cli/main.c
  app/cli/manual.c
  app/cli/mechanisms.c
  app/cli/missed_contact.c
  app/cli/modules.c
  app/cli/options.c
  app/cli/output_files.c
  app/cli/output_formats.c
  app/cli/outputs.c
  app/cli/picture_cache.c
  app/cli/pictures.c
  app/cli/plotting.c
  app/cli/program_folder.c
  app/cli/progress.c
  app/cli/rays.c
  app/cli/rays_picture.c
  app/cli/recordings.c
  app/cli/replay.c
  app/cli/run.c
  app/cli/signals.c
  app/cli/inputs.c
  app/cli/launcher.c
  app/cli/scenes.c
  app/cli/scripts.c
  app/cli/settings.c
  app/cli/surfaces.c
  app/cli/sweep.c
  app/cli/sweep_grid.c
  app/cli/sweep_run.c
  app/cli/sweep_table.c
  app/cli/tally.c
  app/cli/tally_contacts.c
  app/cli/tally_steps.c
  app/cli/text.c
  app/cli/validate.c
  app/cli/verdict.c
  app/cli/certificate_check.c
  app/cli/verify.c
  app/cli/view.c
  app/cli/view_files.c
  bench/accuracy_scenes.c
  bench/bench.c
  bench/bumpy_sphere.c
  bench/contact_experiments.c
  bench/contact_heaps.c
  bench/contact_threads.c
  bench/contact_sweeps.c
  bench/contact_checks.c
  bench/contact_runs.c
  bench/contact_scenes.c
  bench/convex_pairs.c
  bench/convex_reference.c
  bench/joint_kernels.c
  bench/joint_runs.c
  bench/joint_scenes.c
  bench/mesh_pairs.c
  bench/mesh_reference.c
  bench/peers/loader.c
  bench/peers/peer_mesh_ours.c
  bench/peers/peer_ours.c
  bench/peers/peer_rays_ours.c
  bench/suite_accuracy.c
  bench/suite_broadphase.c
  bench/contact_problems.c
  bench/contact_residual.c
  bench/suite_contacts.c
  bench/suite_convex.c
  bench/suite_distance_work.c
  bench/suite_events.c
  bench/sphere_yardstick.c
  bench/suite_flight.c
  bench/suite_joints.c
  bench/suite_joints_peers.c
  bench/suite_math.c
  bench/suite_mesh_distance.c
  bench/suite_rays.c
  bench/suite_rays_frames.c
  bench/suite_throughput.c
  bench/work_precision.c
  validation/case_contacts.c
  validation/case_contacts_impacts.c
  validation/case_contacts_penalty.c
  validation/case_contacts_stillness.c
  validation/case_contacts_toys.c
  validation/case_convex_blackbox.c
  validation/case_convex_detection.c
  validation/case_convex_epsilon.c
  validation/case_convex_libccd.c
  validation/case_convex_shadow.c
  validation/case_impacts.c
  validation/case_event_contact.c
  validation/case_events.c
  validation/case_gas.c
  validation/case_kepler.c
  validation/case_mass_properties.c
  validation/case_mechanisms.c
  validation/case_mechanisms_checks.c
  validation/case_mechanisms_machines.c
  validation/case_order.c
  validation/case_packings.c
  validation/case_ray_bullet.c
  validation/case_ray_pairs.c
  validation/case_rays.c
  validation/case_rays_conclusions.c
  validation/case_rays_curves.c
  validation/case_rays_frames.c
  validation/case_table.c
  validation/case_tops.c
  validation/case_toys.c
  validation/case_tumbling_box.c
  validation/contact_worlds.c
  validation/convex_scenes.c
  validation/convex_truth.c
  validation/detection_bisection.c
  validation/elastic_gas.c
  validation/epa_baseline.c
  validation/error_statistics.c
  validation/event_worlds.c
  validation/flights.c
  validation/gas.c
  validation/mechanism_andrews.c
  validation/mechanism_bricard.c
  validation/mechanism_pairs.c
  validation/mechanism_reference.c
  validation/mechanism_worlds.c
  validation/packing_worlds.c
  validation/pair_truth.c
  validation/wide.c
  validation/ray_metrics.c
  validation/ray_pairs.c
  validation/ray_scenes.c
  validation/shadow.c
  validation/impact_cases.c
  validation/impact_oracle.c
  validation/top_oracle.c
  validation/toy_models.c
  validation/toy_oracle.c
  validation/toy_truth.c
  validation/toy_worlds.c
  validation/validation.c)
# All of the program but its main function, for programs and tests that add rows to its tables.
add_library(rattleback_program_objects OBJECT ${programFiles})
target_include_directories(rattleback_program_objects PUBLIC src app bench validation ${PROJECT_SOURCE_DIR})
rb_hide_sources(rattleback_program_objects)
target_link_libraries(rattleback_program_objects PUBLIC rb_options rattleback_verify rattleback_app rattleback_io rattleback_lab rattleback m ${CMAKE_DL_LIBS})
if(RB_MPI)
  target_sources(rattleback_program_objects PRIVATE app/cli/run_ranks.c app/cli/rank_scene.c app/cli/rank_flow.c app/cli/rank_frames.c
    bench/suite_cluster.c validation/case_granular_column.c validation/case_granular_drum.c
    validation/case_granular_hopper.c validation/case_granular_incline.c validation/case_granular_packing.c validation/granular_worlds.c validation/line_fit.c)
  set_source_files_properties(validation/case_table.c app/cli/run.c app/cli/launcher.c app/cli/run_ranks.c app/cli/bench.c bench/bench.c
    PROPERTIES COMPILE_DEFINITIONS RB_MPI)
  target_link_libraries(rattleback_program_objects PUBLIC rattleback_mpi)
endif()
add_executable(rattleback_program)
set_target_properties(rattleback_program PROPERTIES
  OUTPUT_NAME rattleback RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(rattleback_program PRIVATE rattleback_program_objects)
# The program finds its scenes next to itself: ../share of an installed one, share/ of one in a build folder.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/rattleback)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/scenes ${PROJECT_BINARY_DIR}/share/rattleback/scenes SYMBOLIC)
include(app/python/files.cmake)
if(RB_BUILD_PEERS)
  include(bench/peers/files.cmake)
endif()

# Writes bench/corpus again, from the root of the tree; not built by default.
add_executable(make_corpus EXCLUDE_FROM_ALL bench/corpus/make_corpus.c bench/contact_scenes.c bench/contact_checks.c)
target_include_directories(make_corpus PRIVATE src bench)
target_link_libraries(make_corpus PRIVATE rb_options rattleback m)
target_link_options(make_corpus PRIVATE -Wl,--wrap=rbContactSolver_Solve)
