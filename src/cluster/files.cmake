# Domains, ghosts and migration over MPI: a library of its own, built only with RB_MPI=ON.
find_package(MPI 3.1 REQUIRED COMPONENTS C)
rb_add_library(rattleback_mpi mpi)
target_link_libraries(rattleback_mpi PUBLIC rattleback PRIVATE MPI::MPI_C)
target_sources(rattleback_mpi PRIVATE
  src/cluster/average.c
  src/cluster/checkpoint.c
  src/cluster/cluster.c
  src/cluster/coloring.c
  src/cluster/columns.c
  src/cluster/domain.c
  src/cluster/elastic.c
  src/cluster/exact_sum.c
  src/cluster/facets.c
  src/cluster/flow.c
  src/cluster/granular.c
  src/cluster/hdf5_file.c
  src/cluster/order.c
  src/cluster/partition.c
  src/cluster/points.c
  src/cluster/ranks.c
  src/cluster/walls.c
)

# Optional: files of spheres in HDF5. A serial HDF5 is enough, since MPI-IO writes the values.
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 QUIET COMPONENTS C)
option(RB_HDF5 "spheres on ranks as HDF5 and XDMF" ${HDF5_FOUND})
if(RB_HDF5)
  if(NOT HDF5_FOUND)
    message(FATAL_ERROR "RB_HDF5=ON needs HDF5 (Debian: libhdf5-dev)")
  endif()
  target_compile_definitions(rattleback_mpi PRIVATE RB_HDF5)
  target_link_libraries(rattleback_mpi PRIVATE hdf5::hdf5)
endif()
