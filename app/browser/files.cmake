# The engine for browsers and Node: core, io, laboratory and session as one WebAssembly module, without sockets and threads.
# tools/build_wasm.sh configures this; the loader is app/browser/engine.js, not that of emscripten.
set(engineFiles
  app/browser/engine.c
  app/browser/engine_session.c
  app/browser/engine_world.c
  app/browser/system.c
  app/laboratory/scene_frames.c
  app/laboratory/scene_rays.c
  app/laboratory/scene_rows.c
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
  app/session/stream.c)
add_executable(rattleback_engine ${engineFiles})
set_source_files_properties(${engineFiles} PROPERTIES
  COMPILE_DEFINITIONS "_POSIX_C_SOURCE=200809L;_XOPEN_SOURCE=700;_DEFAULT_SOURCE")
target_include_directories(rattleback_engine PRIVATE src app ${PROJECT_SOURCE_DIR})
rb_hide_sources(rattleback_engine)
target_link_libraries(rattleback_engine PRIVATE rb_options rattleback_io rattleback_lab rattleback Rattleback::jansson)
set_target_properties(rattleback_engine PROPERTIES OUTPUT_NAME rattleback SUFFIX .wasm)

# Every function of the header is exported; the last ones are for longjmp, which qhull uses.
file(STRINGS app/browser/engine.h engineNames REGEX "^RB_ENGINE_API ")
set(exports _setThrew,_saveSetjmp)
foreach(line ${engineNames})
  string(REGEX MATCH "rbEngine_[A-Za-z]+" name "${line}")
  string(APPEND exports ",_${name}")
endforeach()
target_link_options(rattleback_engine PRIVATE --no-entry -sSTANDALONE_WASM=1 -sEXPORTED_FUNCTIONS=${exports}
  -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=33554432 -sMAXIMUM_MEMORY=2147483648 -sTOTAL_STACK=4194304
  -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0)
