# End-to-end tests in chromium: one per file. They need chromium, which 'make test' installs.
# Under a sanitizer only tests with a high server load: the others would take long and find nothing.
set(viewerGroups gallery hands clients page everywhere control looks far explain study)
if(RB_SANITIZE)
  set(viewerGroups hands clients)
endif()
foreach(name ${viewerGroups})
  add_test(NAME viewer.${name} COMMAND ${PROJECT_SOURCE_DIR}/test/viewer/twice.sh ${RB_NODE}
    ${PROJECT_SOURCE_DIR}/test/viewer/${name}.mjs)
  # One at a time: each takes a processor and more. Beside all other tests, and first, so that they do not run alone at the end.
  set_tests_properties(viewer.${name} PROPERTIES TIMEOUT 900 RESOURCE_LOCK browser COST 1000
    ENVIRONMENT "RB_PROGRAM=$<TARGET_FILE:rattleback_program>;RB_OUTPUT=${PROJECT_BINARY_DIR}/viewer/screenshots")
endforeach()
# Files for other programs, read by the loaders of three; no browser.
add_test(NAME viewer.animation COMMAND ${RB_NODE} ${PROJECT_SOURCE_DIR}/test/viewer/animation.mjs)
set_tests_properties(viewer.animation PROPERTIES
  ENVIRONMENT "RB_PROGRAM=$<TARGET_FILE:rattleback_program>;RB_OUTPUT=${PROJECT_BINARY_DIR}/viewer/screenshots")
# Parts of the page that need no browser.
file(GLOB viewerTests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/viewer/test/*.test.mjs ${PROJECT_SOURCE_DIR}/test/viewer/*.test.mjs)
add_test(NAME viewer.units COMMAND ${RB_NODE} --test ${viewerTests})
