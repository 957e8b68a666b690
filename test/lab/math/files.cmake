rb_add_tests(NAME test_lab_math LAB FILES test/lab/math/oracle_polynomial.c)
