# Run by ctest as one rank, and by tools/test_mpi.sh on several.
if(RB_MPI)
  rb_add_tests(NAME test_cluster LIBRARIES rattleback_mpi FILES
    test/cluster/test_exact_sum.c
  )
endif()
