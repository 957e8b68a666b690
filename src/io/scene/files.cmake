# Scene files and mesh files in. All readers are our own on top of jansson: see mesh_file.c.
target_sources(rattleback_io PRIVATE
  src/io/scene/attachments.c
  src/io/scene/file_bytes.c
  src/io/scene/gltf_file.c
  src/io/scene/json_text.c
  src/io/scene/mesh_file.c
  src/io/scene/mesh_gltf.c
  src/io/scene/mesh_obj.c
  src/io/scene/mesh_ply.c
  src/io/scene/mesh_stl.c
  src/io/scene/mesh_text.c
  src/io/scene/override.c
  src/io/scene/reader.c
  src/io/scene/scene.c
  src/io/scene/scene_bodies.c
  src/io/scene/scene_contacts.c
  src/io/scene/scene_ends.c
  src/io/scene/scene_event.c
  src/io/scene/scene_rays.c
  src/io/scene/scene_frames.c
  src/io/scene/scene_forces.c
  src/io/scene/scene_geometry.c
  src/io/scene/scene_joint_world.c
  src/io/scene/scene_joints.c
  src/io/scene/scene_keys.c
  src/io/scene/scene_mass.c
  src/io/scene/scene_path.c
  src/io/scene/scene_probes.c
  src/io/scene/scene_rows.c
  src/io/scene/scene_springs.c
  src/io/scene/scene_step.c
  src/io/scene/scene_tessellation.c
  src/io/scene/scene_trees.c
  src/io/scene/scene_world.c
  src/io/scene/shape_words.c)
target_link_libraries(rattleback_io PUBLIC jansson)
