// Mesh files: table of formats, merging of vertices, and the public functions.
//
// The formats are read by our own readers and not by assimp, for two reasons. assimp keeps
// coordinates in single precision, which costs mass properties half of their digits. And its
// importers are not safe on damaged files: libFuzzer crashes the glTF importer of assimp 5.2.5
// within seconds, where we must report an error. The tests compare our readers with assimp.
#include "io/scene/mesh_file.h"

#include "base/core/float_mode.h"
#include "base/core/hash.h"
#include "io/scene/file_bytes.h"

#include <stdio.h>
#include <string.h>

typedef struct FormatRow {
    const char* extension;
    rbMeshReadFn* read;
} FormatRow;

static const FormatRow formats[] = {
    {"obj", rbReadObj},   {"stl", rbReadStl},  {"ply", rbReadPly},
    {"gltf", rbReadGltf}, {"glb", rbReadGltf},
};
#define FORMAT_COUNT ((int)(sizeof formats / sizeof formats[0]))

struct rbMeshData {
    rbMeshBuilder builder;
    rbMeshDef def;
    int fileVertexCount;
    const char* format;
};

const char* rbGetMeshExtension(int index)
{
    RB_ASSERT(index >= 0);
    return index < FORMAT_COUNT ? formats[index].extension : NULL;
}

rbMeshOptions rbDefaultMeshOptions(void)
{
    return (rbMeshOptions){.use = RB_MESH_USE_TRIANGLES, .scale = 1.0, .up = 'z'};
}

rbStatus rbMeshBuilder_AddVertex(rbMeshBuilder* builder, rbVec3 vertex)
{
    RB_ASSERT(builder->error != NULL);
    if (builder->vertices.count >= RB_MESH_VERTICES_MAX) {
        return rbError_Set(builder->error, RB_STATUS_LIMIT, "too many vertices; the limit is %d",
                           RB_MESH_VERTICES_MAX);
    }
    if (!rbIsFinite3(vertex)) {
        return rbError_Set(builder->error, RB_STATUS_INVALID,
                           "vertex %d has a coordinate that is not finite",
                           builder->vertices.count);
    }
    // Adding zero turns -0 into +0, so that equal coordinates have equal bits.
    vertex = rbAdd(vertex, RB_VEC3_ZERO);
    rbArray_Push(builder->vertices, vertex);
    return RB_STATUS_OK;
}

rbStatus rbMeshBuilder_AddFace(rbMeshBuilder* builder, const int* indices, int count)
{
    RB_ASSERT(count >= 0);
    if (count > RB_MESH_ELEMENTS_MAX - builder->indices.count) {
        return rbError_Set(builder->error, RB_STATUS_LIMIT,
                           "too many face corners; the limit is %d", RB_MESH_ELEMENTS_MAX);
    }
    rbArray_Push(builder->faceSizes, count);
    (void)rbArray_Reserve(builder->indices, builder->indices.count + count);
    for (int i = 0; i < count; ++i) {
        builder->indices.data[builder->indices.count++] = indices[i];
    }
    return RB_STATUS_OK;
}

static void freeBuilder(rbMeshBuilder* builder)
{
    rbArray_Free(builder->vertices);
    rbArray_Free(builder->faceSizes);
    rbArray_Free(builder->indices);
}

// Checks that indices are in range and faces have at least three corners.
static rbStatus validateIndices(const rbMeshBuilder* builder)
{
    int used = 0;
    for (int f = 0; f < builder->faceSizes.count; ++f) {
        int size = builder->faceSizes.data[f];
        if (size < 3) {
            return rbError_Set(builder->error, RB_STATUS_INVALID,
                               "face %d has %d corners; a face needs at least 3", f, size);
        }
        for (int i = 0; i < size; ++i) {
            int index = builder->indices.data[used + i];
            if (index < 0 || index >= builder->vertices.count) {
                return rbError_Set(builder->error, RB_STATUS_INVALID,
                                   "face %d uses vertex %d (counted from 0) of %d vertices", f,
                                   index, builder->vertices.count);
            }
        }
        used += size;
    }
    RB_ASSERT(used == builder->indices.count);
    return RB_STATUS_OK;
}

static bool isSamePoint(rbVec3 a, rbVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Merges vertices with equal coordinates; keeps the first of each, in order.
static void joinVertices(rbMeshBuilder* builder)
{
    RB_ASSERT(builder->vertices.count > 0);
    size_t count = (size_t)builder->vertices.count;
    size_t capacity = 16;
    while (capacity < 2 * count) {
        capacity *= 2;
    }
    rbVec3* vertices = builder->vertices.data;
    int* slots = rbAlloc(capacity * sizeof(int));
    int* joined = rbAlloc(count * sizeof(int));
    memset(slots, 0xff, capacity * sizeof(int));
    int kept = 0;
    for (size_t i = 0; i < count; ++i) {
        const double coordinates[3] = {vertices[i].x, vertices[i].y, vertices[i].z};
        uint64_t hash = rbHashDoubles(RB_HASH_SEED, coordinates, 3);
        size_t slot = (size_t)((hash ^ (hash >> 29)) & (capacity - 1));
        while (slots[slot] >= 0 && !isSamePoint(vertices[slots[slot]], vertices[i])) {
            slot = (slot + 1) & (capacity - 1);
        }
        if (slots[slot] < 0) {
            RB_ASSERT((size_t)kept <= i);
            vertices[kept] = vertices[i];
            slots[slot] = kept++;
        }
        joined[i] = slots[slot];
    }
    for (int i = 0; i < builder->indices.count; ++i) {
        builder->indices.data[i] = joined[builder->indices.data[i]];
    }
    rbFree(joined, count * sizeof(int));
    rbFree(slots, capacity * sizeof(int));
    builder->vertices.count = kept;
}

static void placeVertices(rbMeshBuilder* builder, const rbMeshOptions* options)
{
    for (int i = 0; i < builder->vertices.count; ++i) {
        rbVec3 v = builder->vertices.data[i];
        if (options->up == 'y') {
            v = (rbVec3){v.x, -v.z, v.y};
        }
        builder->vertices.data[i] = rbAdd(rbScale(options->scale, v), RB_VEC3_ZERO);
    }
}

static const FormatRow* findFormat(const char* name)
{
    const char* dot = strrchr(name, '.');
    for (int i = 0; dot != NULL && i < FORMAT_COUNT; ++i) {
        const char* extension = formats[i].extension;
        size_t length = strlen(extension);
        bool isSame = strlen(dot + 1) == length;
        for (size_t c = 0; isSame && c < length; ++c) {
            // Uppercase letters differ from lowercase ones in this bit.
            isSame = (dot[1 + c] | 0x20) == extension[c];
        }
        if (isSame) {
            return &formats[i];
        }
    }
    return NULL;
}

static rbStatus readSource(const rbMeshSource* source, const rbMeshOptions* options,
                           rbMeshData* data)
{
    rbError* error = data->builder.error;
    const FormatRow* format = findFormat(source->name);
    if (format == NULL) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "unknown file extension; obj, stl, ply, gltf and glb "
                           "are supported");
    }
    if (source->size == 0) {
        return rbError_Set(error, RB_STATUS_INVALID, "the file is empty");
    }
    if (source->size > RB_SCENE_FILE_SIZE_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT, "is too large; the limit is %zu MB",
                           RB_SCENE_FILE_SIZE_MAX >> 20);
    }
    rbStatus status = format->read(source, &data->builder);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (data->builder.vertices.count == 0) {
        return rbError_Set(error, RB_STATUS_INVALID, "the file holds no vertices");
    }
    if (data->builder.faceSizes.count == 0 && options->use != RB_MESH_USE_HULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the file has %d vertices and no faces; only a hull needs none",
                           data->builder.vertices.count);
    }
    status = validateIndices(&data->builder);
    if (status != RB_STATUS_OK) {
        return status;
    }
    data->format = format->extension;
    data->fileVertexCount = data->builder.vertices.count;
    joinVertices(&data->builder);
    placeVertices(&data->builder, options);
    data->def = (rbMeshDef){.vertices = data->builder.vertices.data,
                            .vertexCount = data->builder.vertices.count,
                            .faceSizes = data->builder.faceSizes.data,
                            .indices = data->builder.indices.data,
                            .faceCount = data->builder.faceSizes.count};
    return RB_STATUS_OK;
}

// The mesh of a source; NULL and an error on failure. error must not be NULL.
static rbMeshData* readData(const rbMeshSource* source, const rbMeshOptions* options,
                            rbError* error)
{
    rbMeshOptions chosen = options != NULL ? *options : rbDefaultMeshOptions();
    RB_ASSERT(chosen.scale > 0.0 && isfinite(chosen.scale));
    RB_ASSERT(chosen.up == 'z' || chosen.up == 'y');
    RB_ASSERT(chosen.use < RB_MESH_USE_COUNT);
    rbMeshData* data = rbAllocZero(1, sizeof *data);
    data->builder.error = error;
    error->line = 0;
    error->column = 0;
    rbError_SetPlace(error, source->name, "");
    if (readSource(source, &chosen, data) != RB_STATUS_OK) {
        rbDestroyMeshData(data);
        return NULL;
    }
    data->builder.error = NULL; // the error dies before the data
    return data;
}

void rbDestroyMeshData(rbMeshData* data)
{
    if (data != NULL) {
        freeBuilder(&data->builder);
        rbFree(data, sizeof *data);
    }
}

const rbMeshDef* rbMeshData_GetDef(const rbMeshData* data)
{
    RB_ASSERT(data != NULL);
    return &data->def;
}

int rbMeshData_GetFileVertexCount(const rbMeshData* data)
{
    RB_ASSERT(data != NULL);
    return data->fileVertexCount;
}

const char* rbMeshData_GetFormat(const rbMeshData* data)
{
    RB_ASSERT(data != NULL);
    return data->format;
}

rbGeometry* rbMakeGeometryOfDef(const rbMeshDef* def, rbMeshUse use, rbError* error)
{
    static rbGeometry* (*const createFns[])(const rbMeshDef*, rbError*) = {
        [RB_MESH_USE_TRIANGLES] = rbCreateMesh,
        [RB_MESH_USE_POLYHEDRON] = rbCreatePolyhedron,
        [RB_MESH_USE_SOUP] = rbCreateSoup,
        [RB_MESH_USE_HULL] = NULL,
    };
    _Static_assert(sizeof createFns / sizeof createFns[0] == RB_MESH_USE_COUNT, "one per use");
    RB_ASSERT(use < RB_MESH_USE_COUNT);
    if (createFns[use] == NULL) {
        return rbCreateHull(def->vertices, def->vertexCount, error);
    }
    return createFns[use](def, error);
}

rbGeometry* rbMakeMeshGeometry(const rbMeshSource* source, const rbMeshOptions* options,
                               rbError* error)
{
    RB_ASSERT(source->name != NULL);
    RB_ASSERT(error != NULL);
    rbMeshOptions chosen = options != NULL ? *options : rbDefaultMeshOptions();
    rbMeshData* data = readData(source, &chosen, error);
    if (data == NULL) {
        return NULL;
    }
    rbGeometry* geometry = rbMakeGeometryOfDef(&data->def, chosen.use, error);
    rbDestroyMeshData(data);
    if (geometry == NULL) {
        rbError_SetPlace(error, source->name, NULL);
    }
    return geometry;
}

// Files that a mesh on disk refers to, kept while it is read.
typedef struct DiskFiles {
    struct {
        void* bytes;
        size_t size;
    } files[64];
    int count;
} DiskFiles;

static rbStatus readDiskFile(const char* name, const void** bytes, size_t* size, void* context,
                             rbError* error)
{
    DiskFiles* disk = context;
    int most = (int)(sizeof disk->files / sizeof disk->files[0]);
    if (disk->count == most) {
        return rbError_Set(error, RB_STATUS_LIMIT, "refers to more than %d other files", most);
    }
    void* data = NULL;
    rbStatus status = rbReadFileBytes(name, RB_SCENE_FILE_SIZE_MAX, &data, size, error);
    if (status == RB_STATUS_OK) {
        disk->files[disk->count].bytes = data;
        disk->files[disk->count++].size = *size;
        *bytes = data;
    }
    return status;
}

// Reads a file and the files it refers to, and passes them to one of the functions below.
typedef void* UseSourceFn(const rbMeshSource* source, const rbMeshOptions* options, rbError* error);

static void* useDiskSource(const char* path, const rbMeshOptions* options, UseSourceFn* useFn,
                           rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    void* bytes = NULL;
    size_t size = 0;
    error->line = 0;
    error->column = 0;
    if (rbReadFileBytes(path, RB_SCENE_FILE_SIZE_MAX, &bytes, &size, error) != RB_STATUS_OK) {
        return NULL;
    }
    DiskFiles disk = {.count = 0};
    rbMeshSource source = {path, bytes, size, readDiskFile, &disk};
    void* result = useFn(&source, options, error);
    for (int i = 0; i < disk.count; ++i) {
        rbFree(disk.files[i].bytes, disk.files[i].size);
    }
    rbFree(bytes, size);
    return result;
}

static void* useData(const rbMeshSource* source, const rbMeshOptions* options, rbError* error)
{
    return readData(source, options, error);
}

static void* useGeometry(const rbMeshSource* source, const rbMeshOptions* options, rbError* error)
{
    return rbMakeMeshGeometry(source, options, error);
}

rbGeometry* rbReadMesh(const char* path, const rbMeshOptions* options, rbError* error)
{
    RB_ASSERT(path != NULL);
    return useDiskSource(path, options, useGeometry, error);
}

rbMeshData* rbReadMeshData(const char* path, const rbMeshOptions* options, rbError* error)
{
    RB_ASSERT(path != NULL);
    return useDiskSource(path, options, useData, error);
}

rbGeometry* rbReadMeshMemory(const char* name, const void* bytes, size_t size,
                             const rbMeshOptions* options, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(name != NULL);
    rbError ignored = {0};
    rbMeshSource source = {.name = name, .bytes = bytes, .size = size};
    return rbMakeMeshGeometry(&source, options, error != NULL ? error : &ignored);
}

rbMeshData* rbReadMeshDataMemory(const char* name, const void* bytes, size_t size,
                                 const rbMeshOptions* options, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(name != NULL);
    rbError ignored = {0};
    rbMeshSource source = {.name = name, .bytes = bytes, .size = size};
    return readData(&source, options, error != NULL ? error : &ignored);
}
