# Run after linking a test program: writes one add_test line for every test it lists.
execute_process(COMMAND ${PROGRAM} --list OUTPUT_VARIABLE lines RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --list failed")
endif()
string(REPLACE "\n" ";" lines "${lines}")
set(text "")
foreach(line ${lines})
  string(REPLACE " " ";" words "${line}")
  list(GET words 0 group)
  list(GET words 1 test)
  string(APPEND text
    "add_test(${NAME}.${group}.${test} ${PROGRAM} --group ${group} --test ${test})\n"
    "set_tests_properties(${NAME}.${group}.${test} PROPERTIES TIMEOUT 1500 SKIP_REGULAR_EXPRESSION \"[[]  SKIPPED []]\")\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
