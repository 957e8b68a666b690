# Certificates and their verifier: clean runs, seeded sabotage, damaged files.
if(RB_BUILD_PROGRAM)
  rb_add_tests(NAME test_verify
    FILES test/verify/test_certificates.c test/verify/prop_sabotage.c test/verify/prop_forgery.c
      test/verify/prop_columns.c test/verify/prop_contacts.c
    LIBRARIES rattleback_io rattleback_verify Rattleback::zstd
    DEFINITIONS RB_PROGRAM="$<TARGET_FILE:rattleback_program>")
  target_sources(test_verify PRIVATE test/verify/certificate_words.c)
  target_include_directories(test_verify PRIVATE test/verify)
  add_dependencies(test_verify rattleback_program)
endif()
# The engine with its old behavior, put back by the linker.
rb_add_tests(NAME test_verify_gains
  FILES test/verify/phys_old_gains.c
  LIBRARIES rattleback_io rattleback_verify Rattleback::zstd)
target_link_options(test_verify_gains PRIVATE -Wl,--wrap=rbContactStep_TakeGain)
# The verifier alone; its link map names no other library of ours.
add_executable(verify_alone test/verify/alone.c)
target_include_directories(verify_alone PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(verify_alone PRIVATE rb_options rattleback_verify)
target_link_options(verify_alone PRIVATE -Wl,-Map=${PROJECT_BINARY_DIR}/verify_alone.map)
add_test(NAME test_verify.alone COMMAND sh -c
  "grep -q 'librattleback_verify.a(flight' verify_alone.map && ! grep -E 'librattleback(_io|_app|_lab)?[.](a|so)' verify_alone.map && ./verify_alone"
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
