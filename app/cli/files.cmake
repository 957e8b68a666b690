# The program. The library has its name already, hence the other target name.
set(programFiles
  app/cli/bench.c
  app/cli/check.c
  app/cli/distance.c
  app/cli/distance_file.c
  app/cli/distance_laboratory.c
  app/cli/distance_shapes.c
  app/cli/frames.c
  app/cli/info.c
  app/cli/main.c
  app/cli/mechanisms.c
  app/cli/options.c
  app/cli/outputs.c
  app/cli/plotting.c
  app/cli/recordings.c
  app/cli/replay.c
  app/cli/run.c
  app/cli/scenes.c
  app/cli/surfaces.c
  app/cli/tally.c
  app/cli/tally_steps.c
  app/cli/text.c
  app/cli/validate.c
  bench/bench.c
  bench/bumpy_sphere.c
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
  bench/suite_broadphase.c
  bench/suite_convex.c
  bench/suite_distance_work.c
  bench/suite_events.c
  bench/suite_flight.c
  bench/suite_joints.c
  bench/suite_joints_peers.c
  bench/suite_math.c
  bench/suite_mesh_distance.c
  bench/suite_throughput.c
  bench/work_precision.c
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
  validation/case_table.c
  validation/case_tops.c
  validation/case_toys.c
  validation/case_tumbling_box.c
  validation/convex_scenes.c
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
  validation/shadow.c
  validation/impact_cases.c
  validation/impact_oracle.c
  validation/top_oracle.c
  validation/toy_models.c
  validation/toy_oracle.c
  validation/toy_worlds.c
  validation/validation.c)
add_executable(rattleback_program ${programFiles})
set_target_properties(rattleback_program PROPERTIES
  OUTPUT_NAME rattleback RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(rattleback_program PRIVATE src app bench validation)
target_compile_definitions(rattleback_program PRIVATE RB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(rattleback_program PRIVATE rb_options rattleback_io rattleback m ${CMAKE_DL_LIBS})
install(TARGETS rattleback_program RUNTIME DESTINATION bin)
install(DIRECTORY scenes/ DESTINATION share/rattleback/scenes)
if(RB_BUILD_PEERS)
  include(bench/peers/files.cmake)
endif()
