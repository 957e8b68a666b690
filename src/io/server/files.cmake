# What a browser sees of a simulation, and what it may ask of it.
find_package(Threads REQUIRED)
set(serverFiles
  src/io/server/action_bodies.c
  src/io/server/actions.c
  src/io/server/actor.c
  src/io/server/actor_drag.c
  src/io/server/actor_set.c
  src/io/server/message.c
  src/io/server/page.c
  src/io/server/page_bytes.c
  src/io/server/server.c
  src/io/server/server_clients.c
  src/io/server/server_commands.c
  src/io/server/server_guard.c
  src/io/server/server_http.c
  src/io/server/server_threads.c
  src/io/server/session.c
  src/io/server/session_actions.c
  src/io/server/session_commands.c
  src/io/server/session_history.c
  src/io/server/session_parameters.c
  src/io/server/session_recording.c
  src/io/server/session_save.c
  src/io/server/session_simulation.c
  src/io/server/store.c
  src/io/server/store_frame.c
  src/io/server/store_scene.c
  src/io/server/stream.c)
target_sources(rattleback_io PRIVATE ${serverFiles})
set_source_files_properties(${serverFiles} PROPERTIES
  COMPILE_DEFINITIONS "_POSIX_C_SOURCE=200809L;_XOPEN_SOURCE=700;_DEFAULT_SOURCE")
target_link_libraries(rattleback_io PRIVATE websockets z Threads::Threads)
