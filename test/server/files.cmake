# The viewer's side of the program: actions, sessions, store, stream, server.
rb_add_tests(NAME test_server LAB
  FILES test/server/test_actions.c test/server/test_action_errors.c test/server/test_page.c test/server/test_recording.c test/server/test_server.c test/server/test_session.c test/server/test_store.c test/server/test_undo.c
  LIBRARIES rattleback_app rattleback_io Threads::Threads z
  DEFINITIONS _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
target_sources(test_server PRIVATE test/server/client.c test/server/server_support.c test/server/socket.c)
target_include_directories(test_server PRIVATE test/server)
