// The container of a glTF 2.0 file: its JSON, its buffers (in the file, inline as base64, or in
// other files), and accessors with every offset checked. mesh_gltf.c makes a mesh of it.
#pragma once

#include "io/scene/mesh_file.h"

#include <jansson.h>

typedef struct rbGltfBuffer {
    const unsigned char* bytes; // NULL until first used
    size_t size;
    void* owned; // decoded bytes, else NULL
} rbGltfBuffer;

typedef struct rbGltf {
    const rbMeshSource* source;
    rbError* error;
    json_t* root;
    const unsigned char* binary; // chunk of a .glb, NULL if none
    size_t binarySize;
    rbGltfBuffer* buffers;
    size_t bufferCount;
} rbGltf;

// Component types of accessors, as in the file.
enum {
    RB_GLTF_UNSIGNED_BYTE = 5121,
    RB_GLTF_UNSIGNED_SHORT = 5123,
    RB_GLTF_UNSIGNED_INT = 5125,
    RB_GLTF_FLOAT = 5126
};

// Elements of an accessor, all within their buffer.
typedef struct rbGltfView {
    const unsigned char* bytes;
    size_t stride;
    size_t count;
    int componentType;
    int componentSize;
} rbGltfView;

// Opens the file; rbGltf_Close must be called even on failure.
rbStatus rbGltf_Open(rbGltf* gltf, const rbMeshSource* source, rbError* error);
void rbGltf_Close(rbGltf* gltf);

// An integer from 0 to 2^30 of an object; absent gives the default, anything else is an error.
rbStatus rbGltf_GetSize(const rbGltf* gltf, const json_t* object, const char* key,
                        size_t defaultValue, size_t* value);

// The index-th element of an array of the root, an object. NULL and an error if there is none.
const json_t* rbGltf_GetElement(const rbGltf* gltf, const char* array, size_t index);

// The accessor of that index, which must have the given type ("VEC3", "SCALAR").
rbStatus rbGltf_GetView(rbGltf* gltf, size_t accessor, const char* type, rbGltfView* view);
