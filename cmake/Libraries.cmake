# The libraries are compiled once: rattleback, rattleback_io and rattleback_lab are static, and the shared ones are made of
# the same objects.

# rb_add_library(TARGET COMPONENT) adds the static library of a component, Rattleback::<component>_static.
function(rb_add_library target component)
  add_library(${target} STATIC)
  add_library(Rattleback::${component}_static ALIAS ${target})
  rb_include_headers(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:rb_options>)
  target_compile_features(${target} INTERFACE c_std_99)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component}_static)
  rb_hide_sources(${target})
  if(NOT RB_BUILD_SHARED)
    add_library(Rattleback::${component} ALIAS ${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY RB_LIBRARIES ${target})
  set_property(GLOBAL PROPERTY RB_COMPONENT_${target} ${component})
endfunction()

function(rb_include_headers target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# rb_hide_sources(TARGET): no path of this machine in the objects; debuggers still find the sources in Debug builds.
function(rb_hide_sources target)
  foreach(folder ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE
      $<IF:$<CONFIG:Debug>,-fmacro-prefix-map=${folder}/=,-ffile-prefix-map=${folder}/=>)
  endforeach()
endfunction()

# Adds <target>_shared, Rattleback::<component>, for every static library so far. Its version script is generated: names
# declared with RB_API are public, and names that are used by libraries added later are exported under a private version.
function(rb_add_shared_libraries)
  get_property(targets GLOBAL PROPERTY RB_LIBRARIES)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/rattleback/*.h)
  set(soVersion ${PROJECT_VERSION_MAJOR})
  if(PROJECT_VERSION_MAJOR EQUAL 0) # before 1.0 every minor version breaks the ABI
    set(soVersion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
  set(siblings ${targets})
  foreach(target ${targets})
    list(POP_FRONT siblings)
    get_property(component GLOBAL PROPERTY RB_COMPONENT_${target})
    set(script ${PROJECT_BINARY_DIR}/${target}.map)
    set(siblingFiles "")
    foreach(sibling ${siblings})
      list(APPEND siblingFiles $<TARGET_FILE:${sibling}>)
    endforeach()
    add_custom_command(OUTPUT ${script}
      COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DVERSION=${soVersion} -DOUTPUT=${script} -DLIBRARY=$<TARGET_FILE:${target}>
              "-DSIBLINGS=${siblingFiles}" "-DHEADERS=${headers}" -P ${PROJECT_SOURCE_DIR}/cmake/VersionScript.cmake
      DEPENDS ${target} ${siblings} ${headers} ${PROJECT_SOURCE_DIR}/cmake/VersionScript.cmake
      COMMENT "Listing the exported names of ${target}"
      VERBATIM)
    add_library(${target}_shared SHARED $<TARGET_OBJECTS:${target}> ${script})
    add_library(Rattleback::${component} ALIAS ${target}_shared)
    set_target_properties(${target}_shared PROPERTIES OUTPUT_NAME ${target} EXPORT_NAME ${component}
      LINKER_LANGUAGE C VERSION ${PROJECT_VERSION} SOVERSION ${soVersion} LINK_DEPENDS ${script})
    rb_include_headers(${target}_shared)
    target_compile_features(${target}_shared INTERFACE c_std_99)
    target_link_options(${target}_shared PRIVATE -Wl,--version-script=${script} -Wl,--no-undefined -Wl,--as-needed
      -Wl,-Bsymbolic-functions)
    rb_link_shared(${target}_shared ${target})
  endforeach()
endfunction()

# Links a shared library with the dependencies of its static one: our own libraries as shared ones and publicly, the rest
# privately.
function(rb_link_shared shared target)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  foreach(library ${libraries})
    if(TARGET ${library}_shared)
      target_link_libraries(${shared} PUBLIC ${library}_shared)
    elseif(library STREQUAL "m") # inline functions of vecmath.h use it
      target_link_libraries(${shared} PUBLIC m)
    else()
      target_link_libraries(${shared} PRIVATE ${library})
    endif()
  endforeach()
endfunction()
