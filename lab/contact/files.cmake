# penalty contact
target_sources(rattleback_lab PRIVATE
  lab/contact/penalty_law.c
  lab/contact/penalty_step.c
)
