# The measurement tools of validation/: error statistics, shadow comparison and its driver, baselines.
rb_add_tests(NAME test_validation
  FILES test/validation/test_error_statistics.c test/validation/test_shadow.c
        test/validation/test_elastic_gas.c test/validation/test_epa_baseline.c
        test/validation/test_convex_scenes.c test/validation/test_toy_oracle.c
        test/validation/phys_gas.c test/validation/phys_event_cases.c
        test/validation/phys_mechanisms.c test/validation/phys_error_control.c test/validation/phys_contacts.c test/validation/test_packing_worlds.c
        test/validation/phys_ray_cases.c test/validation/test_ray_metrics.c test/validation/test_truths.c
        test/validation/test_line_fit.c
  LIBRARIES rattleback_app rattleback_io
  DEFINITIONS _POSIX_C_SOURCE=200809L)
target_sources(test_validation PRIVATE
  validation/convex_scenes.c validation/detection_bisection.c validation/elastic_gas.c validation/epa_baseline.c
  validation/case_event_contact.c validation/case_events.c validation/event_worlds.c validation/toy_worlds.c validation/validation.c
  validation/error_statistics.c validation/gas.c validation/shadow.c validation/toy_models.c validation/toy_oracle.c
  validation/mechanism_andrews.c validation/mechanism_bricard.c validation/mechanism_pairs.c
  validation/mechanism_reference.c validation/mechanism_worlds.c
  validation/convex_truth.c validation/pair_truth.c validation/wide.c validation/toy_truth.c
  validation/contact_worlds.c validation/packing_worlds.c validation/ray_metrics.c
  validation/case_ray_bullet.c validation/case_ray_pairs.c validation/case_rays.c validation/case_rays_curves.c
  validation/case_rays_conclusions.c validation/case_rays_frames.c validation/ray_pairs.c validation/ray_scenes.c validation/line_fit.c)
target_include_directories(test_validation PRIVATE validation)
