# Debian packages by CPack, from a separate build folder with the prefix /usr (make deb): rattleback (the program),
# librattleback0.1 (the shared libraries), librattleback-dev (the files for compiling against them) and, where Debian's
# interpreter has cffi, numpy and setuptools, python3-rattleback.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rattleback)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# Packagers identify themselves by the variables of Debian's own tools.
set(CPACK_PACKAGE_CONTACT "Rattleback developers <rattleback@packages.invalid>")
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "rigid-body dynamics that reports its own accuracy")
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL program runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(runtimePackage librattleback${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME rattleback)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "ffmpeg, gnuplot-nox | gnuplot")
# The first line of every description is the summary above.
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "The program rattleback simulates rigid bodies with impacts, friction, joints
and lasting contacts from scene files, shows them live in a browser, and
reports residuals, energy and momentum of every run.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtimePackage})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "A library in C. Impacts by named laws, event-driven and stepped
engines, joints and contacts held to a stated tolerance, queries, scene
files. These are the shared libraries.")
# CPack would call ldconfig from a script; Debian requires a trigger.
set(shlibs "")
foreach(library ${staticLibraries})
  string(APPEND shlibs "lib${library} ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${runtimePackage} (>= ${PROJECT_VERSION})\n")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/shlibs "${shlibs}")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/shlibs ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librattleback-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${runtimePackage} (= ${PROJECT_VERSION}), libqhull-dev, libsuitesparse-dev, \
libjansson-dev, libzstd-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Headers, static libraries, files for CMake and pkg-config, and examples of
Rattleback.")

# The Python package has its own copy of the libraries, in one module for all versions of Python 3.
set(python /usr/bin/python3)
execute_process(COMMAND ${python} -c "import cffi, numpy, setuptools" RESULT_VARIABLE pythonStatus OUTPUT_QUIET ERROR_QUIET)
if(pythonStatus EQUAL 0)
  file(GLOB pythonSources ${PROJECT_SOURCE_DIR}/python/setup.py ${PROJECT_SOURCE_DIR}/python/bindings/*
    ${PROJECT_SOURCE_DIR}/python/rattleback/*)
  set(pythonFolder ${PROJECT_BINARY_DIR}/python-package)
  add_custom_command(OUTPUT ${pythonFolder}/built
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${pythonFolder}
    COMMAND ${CMAKE_COMMAND} -E env RATTLEBACK_BUILD=${PROJECT_BINARY_DIR} PYTHONWARNINGS=ignore
      ${python} setup.py --quiet build --build-base ${pythonFolder}/temporary --build-lib ${pythonFolder}/package
    COMMAND ${CMAKE_STRIP} --strip-unneeded ${pythonFolder}/package/rattleback/_native.abi3.so
    COMMAND ${CMAKE_COMMAND} -E touch ${pythonFolder}/built
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/python
    DEPENDS ${pythonSources} ${staticLibraries} rattleback_app
    COMMENT "building the Python package" VERBATIM)
  add_custom_target(rattleback_python_package ALL DEPENDS ${pythonFolder}/built)
  install(DIRECTORY ${pythonFolder}/package/rattleback DESTINATION lib/python3/dist-packages COMPONENT python
    PATTERN "__pycache__" EXCLUDE)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-rattleback)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-cffi-backend, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-matplotlib, python3-pandas, python3-xarray")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Worlds, scenes, runs and studies from Python: arrays in one copy, callables
as forces and controllers, snapshots and branches, rollouts in threads,
linear models, and fits of parameters.")
else()
  message(STATUS "python3-rattleback is not packaged: ${python} lacks cffi, numpy or setuptools (tools/setup.sh python)")
endif()

if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  message(FATAL_ERROR "RB_DEBIAN=ON needs -DCMAKE_INSTALL_PREFIX=/usr, not ${CMAKE_INSTALL_PREFIX}; make deb does it")
endif()

# Every package has a copyright and a changelog.
string(TIMESTAMP RB_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(cmake/debian-changelog.in ${PROJECT_BINARY_DIR}/changelog @ONLY)
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/changelog)
file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
file(WRITE ${PROJECT_BINARY_DIR}/copyright "This is Rattleback ${PROJECT_VERSION}, packaged from its own source tree.\n\n${license}
The page of the viewer, which is part of the program, contains three.js (Copyright three.js authors), uPlot (Copyright Leon
Sorokin) and lil-gui (Copyright George Michael Brower), all under the same license.\n")
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_BINARY_DIR}/copyright
    DESTINATION share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component})
endforeach()
include(CPack)
