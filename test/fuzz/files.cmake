# Fuzz targets, built by the preset fuzz (clang). Run one with
#   build/fuzz/fuzz_x -max_total_time=60 build/fuzz/corpus_x test/fuzz/corpus/x
# New inputs go to the first folder; the second holds the seeds in the repository.
foreach(library rattleback rattleback_lab rattleback_io rattleback_app rattleback_verify)
  if(TARGET ${library})
    target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endforeach()

# rb_add_fuzzer(NAME fuzz_x FILES test/fuzz/fuzz_x.c LIBRARIES ...)
function(rb_add_fuzzer)
  cmake_parse_arguments(F "" "NAME" "FILES;LIBRARIES" ${ARGN})
  add_executable(${F_NAME} ${F_FILES})
  target_include_directories(${F_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/app ${PROJECT_SOURCE_DIR})
  target_compile_options(${F_NAME} PRIVATE -fsanitize=fuzzer)
  target_link_options(${F_NAME} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${F_NAME} PRIVATE rb_options ${F_LIBRARIES} rattleback m)
endfunction()

rb_add_fuzzer(NAME fuzz_recording FILES test/fuzz/fuzz_recording.c LIBRARIES rattleback_io)
add_executable(make_recording_seeds test/fuzz/make_recording_seeds.c)
target_link_options(make_recording_seeds PRIVATE -fsanitize=fuzzer-no-link)
target_link_libraries(make_recording_seeds PRIVATE rb_options rattleback_io)

rb_add_fuzzer(NAME fuzz_certificate FILES test/fuzz/fuzz_certificate.c LIBRARIES rattleback_verify Rattleback::zstd)
rb_add_fuzzer(NAME fuzz_scene FILES test/fuzz/fuzz_scene.c LIBRARIES rattleback_app)
rb_add_fuzzer(NAME fuzz_mesh FILES test/fuzz/fuzz_mesh.c LIBRARIES rattleback_io)
rb_add_fuzzer(NAME fuzz_pairs FILES test/fuzz/fuzz_pairs.c LIBRARIES rattleback_app)
rb_add_fuzzer(NAME fuzz_command FILES test/fuzz/fuzz_command.c LIBRARIES rattleback_app jansson)
if(TARGET rattleback_program_objects)
  target_compile_options(rattleback_program_objects PRIVATE -fsanitize=fuzzer-no-link)
  rb_add_fuzzer(NAME fuzz_checkpoint FILES test/fuzz/fuzz_checkpoint.c LIBRARIES rattleback_program_objects)
  target_include_directories(fuzz_checkpoint PRIVATE ${PROJECT_SOURCE_DIR}/test/support)
endif()
