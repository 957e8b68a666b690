// Mesh files: a table of formats, each with a reader that fills a builder; then merging of equal
// vertices, scale and axes. Shared by the readers mesh_obj.c, mesh_stl.c, mesh_ply.c, mesh_gltf.c.
#pragma once

#include "base/core/memory.h"

#include <rattleback/scene.h>

// Supplies another file that a mesh file refers to; the name is that of the mesh file with its last
// part replaced. The bytes must live until the mesh is read.
typedef rbStatus rbMeshFileFn(const char* name, const void** bytes, size_t* size, void* context,
                              rbError* error);

// A mesh file in memory.
typedef struct rbMeshSource {
    const char* name; // its extension gives the format
    const void* bytes;
    size_t size;
    rbMeshFileFn* fileFn; // NULL: there are no other files
    void* context;
} rbMeshSource;

// Vertices and faces while they are read.
typedef struct rbMeshBuilder {
    RB_ARRAY(rbVec3) vertices;
    RB_ARRAY(int) faceSizes;
    RB_ARRAY(int) indices;
    rbError* error;
} rbMeshBuilder;

// Both check the limits; the indices are checked when the mesh is complete.
rbStatus rbMeshBuilder_AddVertex(rbMeshBuilder* builder, rbVec3 vertex);
rbStatus rbMeshBuilder_AddFace(rbMeshBuilder* builder, const int* indices, int count);

// A reader of a format. Errors in text files set the line.
typedef rbStatus rbMeshReadFn(const rbMeshSource* source, rbMeshBuilder* builder);
rbMeshReadFn rbReadObj, rbReadStl, rbReadPly, rbReadGltf;

// Geometry of a file in memory, and of vertices and faces.
rbGeometry* rbMakeMeshGeometry(const rbMeshSource* source, const rbMeshOptions* options,
                               rbError* error);
rbGeometry* rbMakeGeometryOfDef(const rbMeshDef* def, rbMeshUse use, rbError* error);
