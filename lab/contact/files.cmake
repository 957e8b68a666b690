# penalty contact
target_sources(rattleback_lab PRIVATE
  lab/contact/joint_reaction.c
  lab/contact/penalty_law.c
  lab/contact/penalty_step.c
)
