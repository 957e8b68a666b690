# The files of cmake --install, in three parts that are also the Debian packages: program, runtime (the shared libraries) and
# development (headers, static libraries, CMake package, pkg-config).
include(CMakePackageConfigHelpers)
set(packageFolder ${CMAKE_INSTALL_LIBDIR}/cmake/Rattleback)
set(pkgconfigFolder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
get_property(staticLibraries GLOBAL PROPERTY RB_LIBRARIES)

install(TARGETS ${staticLibraries} EXPORT RattlebackStatic
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT RattlebackStatic FILE RattlebackStatic.cmake NAMESPACE Rattleback::
  DESTINATION ${packageFolder} COMPONENT development)
if(RB_BUILD_SHARED)
  foreach(library ${staticLibraries})
    # Outside of the system folders the libraries find each other in their own folder.
    if(NOT RB_DEBIAN)
      set_target_properties(${library}_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
    endif()
    install(TARGETS ${library}_shared EXPORT RattlebackShared
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
  endforeach()
  install(EXPORT RattlebackShared FILE RattlebackShared.cmake NAMESPACE Rattleback::
    DESTINATION ${packageFolder} COMPONENT development)
endif()

if(NOT RB_MPI)
  set(withoutMpi PATTERN cluster.h EXCLUDE)
endif()
install(DIRECTORY include/rattleback DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" ${withoutMpi})

# The CMake package: its components, and the dependencies of the static libraries.
set(RB_COMPONENTS "")
set(RB_DEPENDENCIES "")
foreach(library ${staticLibraries})
  get_property(component GLOBAL PROPERTY RB_COMPONENT_${library})
  list(APPEND RB_COMPONENTS ${component})
  get_target_property(needed ${library} LINK_LIBRARIES)
  list(FILTER needed INCLUDE REGEX "^Rattleback::")
  list(TRANSFORM needed REPLACE "^Rattleback::" "")
  set(dependencies_${component} ${needed})
  list(APPEND RB_DEPENDENCIES ${needed})
endforeach()
configure_package_config_file(cmake/RattlebackConfig.cmake.in ${PROJECT_BINARY_DIR}/RattlebackConfig.cmake
  INSTALL_DESTINATION ${packageFolder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RattlebackConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RattlebackConfig.cmake ${PROJECT_BINARY_DIR}/RattlebackConfigVersion.cmake
  cmake/RattlebackDependencies.cmake DESTINATION ${packageFolder} COMPONENT development)

# pkg-config: one file per component. The prefix is relative to the file, so the tree can be moved.
file(RELATIVE_PATH RB_PC_PREFIX /${pkgconfigFolder} /)
string(REGEX REPLACE "/$" "" RB_PC_PREFIX "${RB_PC_PREFIX}")
set(linked_qhull "-lqhullstatic_r")
set(linked_amd "-lamd -lsuitesparseconfig")
set(linked_jansson "-ljansson")
set(linked_zstd "-lzstd")
set(title_core "rigid-body dynamics with impacts, joints, contacts and queries")
set(title_io "scene files, meshes, recordings and tables of Rattleback")
set(title_mpi "spheres on the ranks of MPI, by Rattleback")
set(title_lab "methods of the literature, to compare with Rattleback's own")
foreach(library ${staticLibraries})
  get_property(component GLOBAL PROPERTY RB_COMPONENT_${library})
  string(REPLACE "_" "-" RB_PC_NAME ${library})
  set(RB_PC_LIBRARY ${library})
  set(RB_PC_TITLE ${title_${component}})
  set(RB_PC_REQUIRES "")
  set(RB_PC_PUBLIC "")
  if(component STREQUAL "core")
    set(RB_PC_PUBLIC " -lm") # inline functions of vecmath.h use it
  else()
    set(RB_PC_REQUIRES "rattleback = ${PROJECT_VERSION}")
  endif()
  set(RB_PC_PRIVATE "")
  foreach(name ${dependencies_${component}})
    string(APPEND RB_PC_PRIVATE " ${linked_${name}}")
  endforeach()
  if(component STREQUAL "mpi")
    string(APPEND RB_PC_PRIVATE " -lmpi")
    if(RB_HDF5)
      string(APPEND RB_PC_PRIVATE " ${HDF5_C_LIBRARY_hdf5}") # Debian's is not where the linker looks
    endif()
  endif()
  if(RB_THREADS AND component STREQUAL "core")
    string(APPEND RB_PC_PRIVATE " -pthread")
  endif()
  string(STRIP "${RB_PC_PRIVATE} -lm" RB_PC_PRIVATE)
  configure_file(cmake/rattleback.pc.in ${PROJECT_BINARY_DIR}/${RB_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${RB_PC_NAME}.pc DESTINATION ${pkgconfigFolder} COMPONENT development)
endforeach()
if(RB_PYTHON)
  install(DIRECTORY python/rattleback DESTINATION ${CMAKE_INSTALL_DATADIR}/rattleback/python COMPONENT program
    FILES_MATCHING PATTERN "*.py")
endif()
set(examplesFolder ${CMAKE_INSTALL_DOCDIR}/examples)
if(RB_DEBIAN)
  set(examplesFolder share/doc/librattleback-dev/examples)
endif()
install(DIRECTORY examples/ DESTINATION ${examplesFolder} COMPONENT development)

if(RB_BUILD_PROGRAM)
  install(TARGETS rattleback_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rattleback/scenes COMPONENT program)

  # The program itself writes its manual pages and completions, from the table of its verbs.
  set(manualFolder ${PROJECT_BINARY_DIR}/manual)
  add_custom_command(TARGET rattleback_program POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:rattleback_program> -DOUTPUT=${manualFolder} -DCOMPRESS=${RB_DEBIAN}
            -P ${PROJECT_SOURCE_DIR}/cmake/Manual.cmake
    VERBATIM)
  install(DIRECTORY ${manualFolder}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
  install(FILES ${manualFolder}/rattleback.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME rattleback COMPONENT program)
  set(zshFolder site-functions)
  if(RB_DEBIAN)
    set(zshFolder vendor-completions)
  endif()
  install(FILES ${manualFolder}/rattleback.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zshFolder}
    RENAME _rattleback COMPONENT program)
  install(FILES ${manualFolder}/rattleback.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT program)
endif()
if(RB_DEBIAN)
  include(cmake/Package.cmake)
endif()
