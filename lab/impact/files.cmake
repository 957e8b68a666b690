# impacts integrated over other parameters
target_sources(rattleback_lab PRIVATE
  lab/impact/impact_velocity.c
)
