target_sources(rattleback PRIVATE
  src/collision/rays/rays.c
)
