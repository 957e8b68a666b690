rb_add_tests(NAME test_solvers LAB FILES
  test/solvers/oracle_solvers.c
  test/solvers/test_redundant.c
  test/solvers/test_row_graph.c
  test/solvers/test_solver_table.c
)
target_sources(test_solvers PRIVATE test/solvers/row_systems.c)
target_include_directories(test_solvers PRIVATE ${PROJECT_SOURCE_DIR}/test/solvers)
