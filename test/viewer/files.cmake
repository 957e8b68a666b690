# End-to-end tests in chromium: one per file. They need chromium, which 'make test' installs.
# Under a sanitizer only tests with a high server load: the others would take long and find nothing.
set(viewerGroups gallery hands clients page everywhere control looks far explain)
if(RB_SANITIZE)
  set(viewerGroups hands clients)
endif()
foreach(name ${viewerGroups})
  add_test(NAME viewer.${name} COMMAND ${PROJECT_SOURCE_DIR}/test/viewer/twice.sh ${RB_NODE}
    ${PROJECT_SOURCE_DIR}/test/viewer/${name}.mjs)
  set_tests_properties(viewer.${name} PROPERTIES TIMEOUT 900 RUN_SERIAL ON
    ENVIRONMENT "RB_PROGRAM=$<TARGET_FILE:rattleback_program>;RB_OUTPUT=${PROJECT_BINARY_DIR}/viewer/screenshots")
endforeach()
# Parts of the page that need no browser.
file(GLOB viewerTests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/viewer/test/*.test.mjs)
add_test(NAME viewer.units COMMAND ${RB_NODE} --test ${viewerTests})
