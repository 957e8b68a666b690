# An installed tree as users see it: examples, symbols, paths, versions. One CTest entry per case of check.sh; the first one
# installs into install-test, the others use it.
if(RB_INSTALL AND RB_BUILD_SHARED AND RB_BUILD_PROGRAM)
  function(rb_add_install_test name)
    add_test(NAME install.${name} COMMAND ${PROJECT_SOURCE_DIR}/test/install/check.sh ${name})
    set_tests_properties(install.${name} PROPERTIES TIMEOUT 300
      ENVIRONMENT "RB_BINARY_DIR=${PROJECT_BINARY_DIR};CC=${CMAKE_C_COMPILER}")
    if(name STREQUAL "tree")
      set_tests_properties(install.tree PROPERTIES FIXTURES_SETUP installedTree)
    else()
      set_tests_properties(install.${name} PROPERTIES FIXTURES_REQUIRED installedTree)
    endif()
  endfunction()
  foreach(name tree package-shared package-static pkgconfig-shared pkgconfig-static components symbols paths headers
               modules uninstall subproject debian program)
    rb_add_install_test(${name})
  endforeach()
endif()
