# Peers of the benchmarks: a module for every library that is installed, never linked into the program.
# Only they need C++. Their headers are system headers, so our warnings do not apply to them.
enable_language(CXX)
find_package(PkgConfig REQUIRED)

# rb_build_peer(name sources libraries...) builds the module.
function(rb_build_peer name sources)
  add_library(rattleback_peer_${name} MODULE ${sources})
  set_target_properties(rattleback_peer_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME rattleback-peer-${name} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
  target_include_directories(rattleback_peer_${name} PRIVATE bench/peers)
  target_compile_options(rattleback_peer_${name} PRIVATE -Wall -Wextra)
  target_link_libraries(rattleback_peer_${name} PRIVATE ${ARGN})
  add_dependencies(rattleback_program rattleback_peer_${name})
endfunction()

# rb_add_peer(name sources packages...) does so if pkg-config finds all packages.
function(rb_add_peer name sources)
  pkg_check_modules(RB_PEER_${name} QUIET IMPORTED_TARGET ${ARGN})
  if(NOT RB_PEER_${name}_FOUND)
    message(STATUS "Peer ${name}: not installed, so the benchmarks have no rows of it")
    return()
  endif()
  rb_build_peer(${name} "${sources}" PkgConfig::RB_PEER_${name})
endfunction()

rb_add_peer(libccd bench/peers/peer_libccd.cpp ccd)
rb_add_peer(fcl "bench/peers/peer_fcl.cpp;bench/peers/peer_fcl_mesh.cpp" fcl ccd)
set(bulletFiles bench/peers/peer_bullet.cpp bench/peers/peer_contacts_bullet.cpp
  bench/peers/peer_joints_bullet.cpp)
rb_add_peer(bullet "${bulletFiles}" bullet)
rb_add_peer(bullet64 "${bulletFiles}" bullet-float64)
rb_add_peer(ode "bench/peers/peer_contacts_ode.cpp;bench/peers/peer_joints_ode.cpp" ode)

# MuJoCo provides only a CMake package.
find_package(mujoco QUIET CONFIG)
if(mujoco_FOUND)
  rb_build_peer(mujoco "bench/peers/peer_contacts_mujoco.cpp;bench/peers/peer_joints_mujoco.cpp"
    mujoco::mujoco)
else()
  message(STATUS "Peer mujoco: not installed, so the benchmarks have no rows of it")
endif()

# So does Embree; version 3 is Debian's.
find_package(embree 3 QUIET CONFIG)
if(embree_FOUND)
  rb_build_peer(embree bench/peers/peer_rays_embree.cpp embree)
else()
  message(STATUS "Peer embree: not installed, so the benchmarks have no rows of it")
endif()
