# A program of its own: the thread sanitizer runs it, see make test-tsan.
rb_add_tests(NAME test_threads FILES
  test/threads/test_tasks.c
  test/threads/golden_threads.c
)
target_sources(test_threads PRIVATE bench/contact_scenes.c)
target_include_directories(test_threads PRIVATE bench)
