// Our mesh readers compared with assimp: random meshes, written in every format, read by both.
#include "base/core/random.h"
#include "scene_support.h"

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <math.h>

// A random triangle mesh; coordinates are floats, which all formats and assimp represent exactly.
typedef struct RandomMesh {
    int vertexCount;
    int faceCount;
    float vertices[60][3];
    unsigned faces[80][3];
} RandomMesh;

static RandomMesh makeMesh(rbRandom* random)
{
    RandomMesh mesh = {.vertexCount = 4 + rbRandom_Index(random, 56),
                       .faceCount = 1 + rbRandom_Index(random, 79)};
    for (int i = 0; i < mesh.vertexCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            mesh.vertices[i][k] = (float)rbRandom_Range(random, -100.0, 100.0);
        }
    }
    for (int f = 0; f < mesh.faceCount; ++f) {
        unsigned first = (unsigned)rbRandom_Index(random, mesh.vertexCount - 2);
        mesh.faces[f][0] = first;
        mesh.faces[f][1] = first + 1;
        mesh.faces[f][2] = first + 2;
    }
    return mesh;
}

static size_t writeObj(const RandomMesh* mesh, char* text, size_t capacity)
{
    int used = 0;
    for (int i = 0; i < mesh->vertexCount; ++i) {
        used += snprintf(text + used, capacity - (size_t)used, "v %.9g %.9g %.9g\n",
                         (double)mesh->vertices[i][0], (double)mesh->vertices[i][1],
                         (double)mesh->vertices[i][2]);
    }
    for (int f = 0; f < mesh->faceCount; ++f) {
        used += snprintf(text + used, capacity - (size_t)used, "f %u %u %u\n",
                         mesh->faces[f][0] + 1, mesh->faces[f][1] + 1, mesh->faces[f][2] + 1);
    }
    return (size_t)used;
}

static size_t writePly(const RandomMesh* mesh, char* text, size_t capacity)
{
    int used =
        snprintf(text, capacity,
                 "ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float "
                 "y\nproperty float z\nelement face %d\nproperty list uchar uint "
                 "vertex_indices\nend_header\n",
                 mesh->vertexCount, mesh->faceCount);
    for (int i = 0; i < mesh->vertexCount; ++i) {
        used += snprintf(text + used, capacity - (size_t)used, "%.9g %.9g %.9g\n",
                         (double)mesh->vertices[i][0], (double)mesh->vertices[i][1],
                         (double)mesh->vertices[i][2]);
    }
    for (int f = 0; f < mesh->faceCount; ++f) {
        used += snprintf(text + used, capacity - (size_t)used, "3 %u %u %u\n", mesh->faces[f][0],
                         mesh->faces[f][1], mesh->faces[f][2]);
    }
    return (size_t)used;
}

static size_t writeStl(const RandomMesh* mesh, char* bytes, size_t capacity)
{
    size_t count = (size_t)mesh->faceCount;
    uint32_t count32 = (uint32_t)count;
    assert_true(84 + 50 * count <= capacity);
    memset(bytes, 0, 84 + 50 * count);
    memcpy(bytes + 80, &count32, 4);
    for (size_t f = 0; f < count; ++f) {
        for (size_t i = 0; i < 3; ++i) {
            memcpy(bytes + 84 + 50 * f + 12 + 12 * i, mesh->vertices[mesh->faces[f][i]], 12);
        }
    }
    return 84 + 50 * count;
}

// A .glb with a rotated, scaled and moved node.
static size_t writeGlb(const RandomMesh* mesh, char* bytes, size_t capacity)
{
    size_t vertexSize = 12 * (size_t)mesh->vertexCount;
    size_t faceSize = 12 * (size_t)mesh->faceCount;
    int length = snprintf(
        bytes + 20, capacity - 20,
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{"
        "\"translation\":[1,2,3],\"children\":[1]},{\"mesh\":0,\"rotation\":[0.5,0.5,-0.5,0.5],"
        "\"scale\":[2,2,2]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},"
        "\"indices\":1}]}],\"buffers\":[{\"byteLength\":%zu}],\"bufferViews\":[{\"buffer\":0,"
        "\"byteLength\":%zu},{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu}],\"accessors\":[{"
        "\"bufferView\":0,\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"},{\"bufferView\":1,"
        "\"componentType\":5125,\"count\":%d,\"type\":\"SCALAR\"}]}",
        vertexSize + faceSize, vertexSize, vertexSize, faceSize, mesh->vertexCount,
        3 * mesh->faceCount);
    while (length % 4 != 0) {
        bytes[20 + length++] = ' ';
    }
    uint32_t total = (uint32_t)(20 + (size_t)length + 8 + vertexSize + faceSize);
    const uint32_t head[5] = {0x46546C67u, 2, total, (uint32_t)length, 0x4E4F534Au};
    const uint32_t chunk[2] = {(uint32_t)(vertexSize + faceSize), 0x004E4942u};
    memcpy(bytes, head, sizeof head);
    char* at = bytes + 20 + length;
    memcpy(at, chunk, sizeof chunk);
    memcpy(at + 8, mesh->vertices, vertexSize);
    memcpy(at + 8 + vertexSize, mesh->faces, faceSize);
    return total;
}

// Adds the corners of a node of assimp's tree in order; the test writes at most two levels.
static int collect(const struct aiScene* scene, const struct aiNode* node,
                   struct aiMatrix4x4 parent, rbVec3* corners)
{
    int count = 0;
    aiMultiplyMatrix4(&parent, &node->mTransformation);
    for (unsigned m = 0; m < node->mNumMeshes; ++m) {
        const struct aiMesh* mesh = scene->mMeshes[node->mMeshes[m]];
        for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
            for (unsigned i = 0; i < mesh->mFaces[f].mNumIndices; ++i) {
                struct aiVector3D v = mesh->mVertices[mesh->mFaces[f].mIndices[i]];
                aiTransformVecByMatrix4(&v, &parent);
                corners[count++] = (rbVec3){(double)v.x, (double)v.y, (double)v.z};
            }
        }
    }
    for (unsigned c = 0; c < node->mNumChildren; ++c) {
        count += collect(scene, node->mChildren[c], parent, corners + count);
    }
    return count;
}

static void compare(const char* extension, const char* bytes, size_t size, double tolerance)
{
    char name[16];
    (void)snprintf(name, sizeof name, "a.%s", extension);
    rbError error = {0};
    rbMeshData* data = rbReadMeshDataMemory(name, bytes, size, NULL, &error);
    if (data == NULL) {
        fail_msg("%s", formatError(&error));
    }
    const struct aiScene* scene = aiImportFileFromMemory(bytes, (unsigned)size, 0, extension);
    assert_non_null(scene);
    static rbVec3 corners[1000];
    struct aiMatrix4x4 identity;
    aiIdentityMatrix4(&identity);
    int count = collect(scene, scene->mRootNode, identity, corners);
    const rbMeshDef* def = rbMeshData_GetDef(data);
    assert_int_equal(count, 3 * def->faceCount);
    for (int i = 0; i < count; ++i) {
        rbVec3 own = def->vertices[def->indices[i]];
        checkBelow(rbDistance(own, corners[i]), tolerance);
    }
    aiReleaseImport(scene);
    rbDestroyMeshData(data);
}

// The readers agree with assimp on every corner of every face.
static void readersAgreeWithAssimp(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(71)};
    static char bytes[1 << 16];
    int cases = rbTest_Count(300, 3000);
    for (int i = 0; i < cases; ++i) {
        RandomMesh mesh = makeMesh(&random);
        // assimp rounds decimal numbers only roughly and transforms in single precision; binary
        // numbers must agree to the bit.
        compare("obj", bytes, writeObj(&mesh, bytes, sizeof bytes), 2e-5);
        compare("ply", bytes, writePly(&mesh, bytes, sizeof bytes), 2e-5);
        compare("stl", bytes, writeStl(&mesh, bytes, sizeof bytes), 0.0);
        compare("glb", bytes, writeGlb(&mesh, bytes, sizeof bytes), 2e-4);
    }
}

RB_TEST_GROUP(oracle_scene_mesh, cmocka_unit_test(readersAgreeWithAssimp));
