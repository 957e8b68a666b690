# loops and detectors of the event engine kept for comparison
target_sources(rattleback_lab PRIVATE
  lab/events/lab_event_rows.c
  lab/events/pair_loop.c
  lab/events/ray_detector.c
)
