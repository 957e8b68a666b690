# Tests of the program run it as a child process, as a user would.
if(RB_BUILD_PROGRAM)
  rb_add_tests(NAME test_cli
    FILES test/cli/test_actions.c test/cli/test_usage.c test/cli/test_bench.c test/cli/test_distance.c test/cli/test_distance_file.c test/cli/test_mesh_distance.c test/cli/test_bad_input.c test/cli/test_checkpoints.c test/cli/test_contacts.c test/cli/test_events.c test/cli/test_joints.c test/cli/test_rays.c test/cli/test_runs.c
          test/cli/test_pictures.c test/cli/test_view.c test/cli/oracle_top.c test/cli/test_added_rows.c
          test/cli/test_settings.c test/cli/test_warnings.c test/cli/test_losses.c test/cli/test_program_modules.c test/cli/test_sweep.c
    LIBRARIES rattleback_app rattleback_io
    DEFINITIONS RB_PROGRAM="$<TARGET_FILE:rattleback_program>"
      RB_ADDED_ROWS="$<TARGET_FILE:added_rows>" RB_MODULE_FOLDER="${PROJECT_BINARY_DIR}/modules")
  target_sources(test_cli PRIVATE test/cli/child.c validation/top_oracle.c app/cli/progress.c)
  target_include_directories(test_cli PRIVATE validation test/cli)
  add_dependencies(test_cli rattleback_program added_rows)

  # Modules: the examples, and those of odd_module.c. They link nothing of ours.
  function(rb_add_test_module name file)
    add_library(module_${name} MODULE ${file})
    set_target_properties(module_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} C_VISIBILITY_PRESET hidden
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
    target_include_directories(module_${name} PRIVATE include src)
    target_compile_definitions(module_${name} PRIVATE ${ARGN})
    target_compile_options(module_${name} PRIVATE -ffp-contract=off -fno-fast-math -fno-math-errno -Wall -Wextra -Wpedantic)
    add_dependencies(test_cli module_${name})
  endfunction()
  foreach(name bicone planar gust bang hertz bronze tilt highest period)
    rb_add_test_module(${name} examples/modules/${name}.c)
  endforeach()
  foreach(name abi size count no_entry taken joint verb option fails silent mode second crash)
    string(TOUPPER ODD_${name} definition)
    rb_add_test_module(${name} test/cli/odd_module.c ${definition})
  endforeach()

  # The fuzz target of checkpoints with inputs from a seed.
  rb_add_tests(NAME test_checkpoint_bytes
    FILES test/cli/prop_checkpoint_bytes.c
    LIBRARIES rattleback_program_objects)
  target_sources(test_checkpoint_bytes PRIVATE test/fuzz/fuzz_checkpoint.c)

  # A program that adds rows to the tables.
  add_executable(added_rows test/cli/added_rows.c)
  target_link_libraries(added_rows PRIVATE rattleback_program_objects)
endif()
