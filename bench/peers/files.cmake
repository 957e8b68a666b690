# Peers of the benchmarks: a module for every library that is installed, never linked into the program.
# C++ is needed for them alone. Their headers are system headers: our warnings are not for them.
enable_language(CXX)
find_package(PkgConfig REQUIRED)

# rb_add_peer(name sources packages...) builds the module if pkg-config knows all packages.
function(rb_add_peer name sources)
  pkg_check_modules(RB_PEER_${name} QUIET IMPORTED_TARGET ${ARGN})
  if(NOT RB_PEER_${name}_FOUND)
    message(STATUS "Peer ${name}: not installed, so the benchmarks have no rows of it")
    return()
  endif()
  add_library(rattleback_peer_${name} MODULE ${sources})
  set_target_properties(rattleback_peer_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME rattleback-peer-${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
  target_include_directories(rattleback_peer_${name} PRIVATE bench/peers)
  target_compile_options(rattleback_peer_${name} PRIVATE -Wall -Wextra)
  target_link_libraries(rattleback_peer_${name} PRIVATE PkgConfig::RB_PEER_${name})
  add_dependencies(rattleback_program rattleback_peer_${name})
endfunction()

rb_add_peer(libccd bench/peers/peer_libccd.cpp ccd)
rb_add_peer(fcl "bench/peers/peer_fcl.cpp;bench/peers/peer_fcl_mesh.cpp" fcl ccd)
rb_add_peer(bullet bench/peers/peer_bullet.cpp bullet)
rb_add_peer(bullet64 bench/peers/peer_bullet.cpp bullet-float64)
