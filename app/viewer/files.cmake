# The page of the viewer: bundled by esbuild into one file, which page_bytes.c puts into the program.
# npm fetches what app/viewer/package-lock.json names, once; the folder node_modules then serves every build.
find_program(RB_NODE NAMES node nodejs)
find_program(RB_NPM NAMES npm)
if(NOT RB_NODE OR NOT RB_NPM)
  message(FATAL_ERROR "the viewer's page is bundled by nodejs (18 or later) with npm, and one of them is missing: "
    "install both (tools/setup.sh does), or configure with -DRB_VIEWER=OFF for a program without the page")
endif()
set(viewerFolder ${PROJECT_SOURCE_DIR}/app/viewer)
set(viewerPackages ${viewerFolder}/node_modules/.package-lock.json) # npm writes it last
set(viewerPage ${PROJECT_BINARY_DIR}/viewer/viewer.html)
file(GLOB viewerFiles CONFIGURE_DEPENDS app/viewer/src/*)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/viewer)
add_custom_command(OUTPUT ${viewerPackages}
  COMMAND ${RB_NPM} ci --prefer-offline --ignore-scripts --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${viewerPackages}
  DEPENDS ${viewerFolder}/package.json ${viewerFolder}/package-lock.json
  WORKING_DIRECTORY ${viewerFolder}
  COMMENT "Fetching the packages of the viewer"
  VERBATIM)
add_custom_command(OUTPUT ${viewerPage}
  COMMAND ${RB_NODE} build.mjs ${viewerPage}
  DEPENDS ${viewerPackages} ${viewerFolder}/build.mjs ${viewerFiles}
  WORKING_DIRECTORY ${viewerFolder}
  COMMENT "Bundling the page of the viewer"
  VERBATIM)
add_custom_target(rattleback_page DEPENDS ${viewerPage})
add_dependencies(rattleback_app rattleback_page)
set_source_files_properties(app/server/page_bytes.c PROPERTIES
  COMPILE_DEFINITIONS RB_PAGE_FILE="${viewerPage}" OBJECT_DEPENDS ${viewerPage})
