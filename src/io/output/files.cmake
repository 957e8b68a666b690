# What writes results and reads recordings.
set(outputFiles
  src/io/output/child_process.c
  src/io/output/csv.c
  src/io/output/gnuplot.c
  src/io/output/journal.c
  src/io/output/output_file.c
  src/io/output/pair_log.c
  src/io/output/palette.c
  src/io/output/picture.c
  src/io/output/picture_light.c
  src/io/output/picture_links.c
  src/io/output/picture_model.c
  src/io/output/picture_raster.c
  src/io/output/plot.c
  src/io/output/png.c
  src/io/output/recording_format.c
  src/io/output/recording_reader.c
  src/io/output/recording_writer.c
  src/io/output/video.c
  src/io/output/view.c
  src/io/output/view_swings.c
  src/io/output/vtk.c)
target_sources(rattleback_io PRIVATE ${outputFiles})
# The project is compiled without extensions of the C library: flock, posix_spawn and the like are
# asked for here.
set_source_files_properties(${outputFiles} PROPERTIES
  COMPILE_DEFINITIONS "_POSIX_C_SOURCE=200809L;_XOPEN_SOURCE=700")
target_link_libraries(rattleback_io PUBLIC zstd z)
