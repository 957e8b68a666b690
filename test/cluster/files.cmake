# Run by ctest as one rank, and by tools/test_mpi.sh on several.
if(RB_MPI)
  rb_add_tests(NAME test_cluster LIBRARIES rattleback_mpi FILES
    test/cluster/test_exact_sum.c
    test/cluster/test_partition.c
    test/cluster/test_domains.c
    test/cluster/test_files.c
    test/cluster/test_flow.c
    test/cluster/phys_gas.c
    test/cluster/phys_grains.c
  )
  target_sources(test_cluster PRIVATE test/cluster/cluster_worlds.c)
  target_include_directories(test_cluster PRIVATE test/cluster)
endif()
