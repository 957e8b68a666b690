# What writes results and reads recordings.
set(outputFiles
  src/io/output/child_process.c
  src/io/output/certificate.c
  src/io/output/certificate_columns.c
  src/io/output/certificate_contacts.c
  src/io/output/checkpoint_file.c
  src/io/output/csv.c
  src/io/output/gnuplot.c
  src/io/output/journal.c
  src/io/output/output_file.c
  src/io/output/plot.c
  src/io/output/recording_format.c
  src/io/output/recording_reader.c
  src/io/output/recording_writer.c
  src/io/output/state_stream.c
  src/io/output/vtk.c)
target_sources(rattleback_io PRIVATE ${outputFiles})
# The project is compiled without extensions of the C library: flock, posix_spawn and the like are
# asked for here.
set_source_files_properties(${outputFiles} PROPERTIES
  COMPILE_DEFINITIONS "_POSIX_C_SOURCE=200809L;_XOPEN_SOURCE=700")
