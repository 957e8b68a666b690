# Domains, ghosts and migration over MPI: a library of its own, built only with RB_MPI=ON.
find_package(MPI 3.1 REQUIRED COMPONENTS C)
rb_add_library(rattleback_mpi mpi)
target_link_libraries(rattleback_mpi PUBLIC rattleback PRIVATE MPI::MPI_C)
target_sources(rattleback_mpi PRIVATE
  src/cluster/checkpoint.c
  src/cluster/cluster.c
  src/cluster/coloring.c
  src/cluster/domain.c
  src/cluster/elastic.c
  src/cluster/exact_sum.c
  src/cluster/facets.c
  src/cluster/flow.c
  src/cluster/granular.c
  src/cluster/order.c
  src/cluster/partition.c
  src/cluster/points.c
  src/cluster/ranks.c
  src/cluster/walls.c
)
