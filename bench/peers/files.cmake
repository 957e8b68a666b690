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

# Box3D and Jolt are not packaged. BOX3D_DIR and JOLT_DIR (of CMake or of the environment) name source trees of theirs, outside of
# this one; each becomes part of its module, built for this machine without asserts, in single precision, as its authors do.
function(rb_add_peer_from_source name variable sources)
  set(${variable} "$ENV{${variable}}" CACHE PATH "source tree of the peer ${name}; empty: no rows of it")
  if(NOT ${variable})
    message(STATUS "Peer ${name}: ${variable} is not set, so the benchmarks have no rows of it")
    return()
  endif()
  set(root ${${variable}})
  if(name STREQUAL box3d)
    enable_language(C)
    file(GLOB library CONFIGURE_DEPENDS ${root}/src/*.c)
    set(include ${root}/include)
  else()
    file(GLOB_RECURSE library CONFIGURE_DEPENDS ${root}/Jolt/*.cpp)
    # object streams and compute shaders are optional there
    list(FILTER library EXCLUDE REGEX "/Jolt/(Compute/.*/|Shaders/|ObjectStream/(O|T))")
    set(include ${root})
  endif()
  if(NOT library)
    message(FATAL_ERROR "${variable}=${root} has no sources of ${name}")
  endif()
  add_library(rattleback_source_${name} STATIC ${library})
  set_target_properties(rattleback_source_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_STANDARD 17 CXX_STANDARD 17
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_include_directories(rattleback_source_${name} SYSTEM PUBLIC ${include})
  # FMA is off in Box3D and on in Jolt by default
  target_compile_options(rattleback_source_${name} PUBLIC -march=native
    $<IF:$<STREQUAL:${name},box3d>,-ffp-contract=off,-ffp-contract=fast> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>
    PRIVATE -O3 -w $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  target_compile_definitions(rattleback_source_${name} PUBLIC NDEBUG)
  rb_build_peer(${name} "${sources}" rattleback_source_${name})
endfunction()

rb_add_peer_from_source(box3d BOX3D_DIR "bench/peers/peer_contacts_box3d.cpp;bench/peers/peer_joints_box3d.cpp")
rb_add_peer_from_source(jolt JOLT_DIR "bench/peers/peer_contacts_jolt.cpp;bench/peers/peer_joints_jolt.cpp")
