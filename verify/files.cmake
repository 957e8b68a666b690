# The verifier of certificates: a library of its own, linked with nothing of the engines. That this links is the proof.
add_library(rattleback_verify STATIC
  verify/check_apart.c
  verify/check_events.c
  verify/check_nodes.c
  verify/columns.c
  verify/flight.c
  verify/impact.c
  verify/mass.c
  verify/reader.c
  verify/verify.c)
target_include_directories(rattleback_verify PRIVATE ${PROJECT_SOURCE_DIR})
rb_hide_sources(rattleback_verify)
rattleback_find_dependency(zstd)
target_link_libraries(rattleback_verify PRIVATE rb_options Rattleback::zstd m)
