# What the program is made of besides its verbs: sessions, the server of the viewer and the software renderer. Tests link it too.
find_package(Threads REQUIRED)
set(appFiles
  app/laboratory/scene_frames.c
  app/laboratory/scene_rays.c
  app/laboratory/scene_rows.c
  app/pairs/pair_file.c
  app/pairs/pair_log.c
  app/render/animation.c
  app/render/animation_gltf.c
  app/render/animation_usd.c
  app/render/palette.c
  app/render/picture.c
  app/render/picture_light.c
  app/render/picture_links.c
  app/render/picture_model.c
  app/render/picture_raster.c
  app/render/png.c
  app/render/video.c
  app/render/view.c
  app/render/view_swings.c
  app/session/action_bodies.c
  app/session/actions.c
  app/session/actor.c
  app/session/actor_drag.c
  app/session/actor_set.c
  app/session/client_commands.c
  app/session/message.c
  app/session/session.c
  app/session/session_actions.c
  app/session/session_commands.c
  app/session/session_history.c
  app/session/session_parameters.c
  app/session/session_save.c
  app/session/session_undo.c
  app/session/setting_messages.c
  app/session/store.c
  app/session/store_frame.c
  app/session/store_scene.c
  app/session/stream.c
  app/server/page.c
  app/server/page_bytes.c
  app/server/server.c
  app/server/server_clients.c
  app/server/server_commands.c
  app/server/server_control.c
  app/server/server_guard.c
  app/server/server_http.c
  app/server/server_threads.c
  app/server/session_recording.c
  app/server/session_simulation.c)
add_library(rattleback_app STATIC ${appFiles})
target_include_directories(rattleback_app PRIVATE src app ${PROJECT_SOURCE_DIR})
# The project is compiled without extensions of the C library: sockets, threads, posix_spawn and the like are asked for here.
set_source_files_properties(${appFiles} PROPERTIES
  COMPILE_DEFINITIONS "_POSIX_C_SOURCE=200809L;_XOPEN_SOURCE=700;_DEFAULT_SOURCE")
rb_hide_sources(rattleback_app)
rattleback_find_dependency(zlib)
target_link_libraries(rattleback_app PRIVATE rb_options websockets Threads::Threads
  PUBLIC rattleback_io rattleback_lab Rattleback::jansson Rattleback::zlib)
if(RB_VIEWER)
  include(app/viewer/files.cmake)
endif()
include(app/cli/files.cmake)
