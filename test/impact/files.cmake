rb_add_tests(NAME test_impact LAB
  FILES
    test/impact/golden_impact.c
    test/impact/oracle_impact.c
    test/impact/phys_impacts.c
    test/impact/prop_impact.c
    test/impact/test_impact.c
    test/impact/test_impact_extremes.c
)
target_sources(test_impact PRIVATE validation/impact_cases.c validation/impact_oracle.c)
target_include_directories(test_impact PRIVATE ${PROJECT_SOURCE_DIR}/validation)
