// Mesh files: every format gives the same tetrahedron; scale, axes, merging; damaged files.
#include "scene_support.h"

#include <math.h>
#include <unistd.h>

// The seeds of the fuzzer: a first byte, then the file.
typedef struct Seed {
    const char* file;
    const char* name;
} Seed;

static const Seed seeds[] = {
    {"tetra.obj", "a.obj"},      {"tetra-text.stl", "a.stl"},   {"tetra-binary.stl", "a.STL"},
    {"tetra-text.ply", "a.ply"}, {"tetra-little.ply", "a.ply"}, {"tetra-big.ply", "a.Ply"},
    {"tetra.gltf", "a.gltf"},    {"tetra.glb", "a.glb"},
};
#define SEED_COUNT (sizeof seeds / sizeof seeds[0])

static size_t loadSeed(const char* file, char* bytes, size_t capacity)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test/fuzz/corpus/mesh/%s", RB_SOURCE_DIR, file);
    FILE* stream = fopen(path, "rb");
    assert_non_null(stream);
    (void)fgetc(stream);
    size_t size = fread(bytes, 1, capacity, stream);
    (void)fclose(stream);
    return size;
}

static rbMassProperties getMass(const rbGeometry* geometry)
{
    rbMassProperties mass;
    assert_int_equal(rbGeometry_GetMass(geometry, 1.0, &mass, NULL), RB_STATUS_OK);
    return mass;
}

static void everyFormatGivesTheTetrahedron(void** state)
{
    (void)state;
    for (size_t i = 0; i < SEED_COUNT; ++i) {
        char bytes[2048];
        size_t size = loadSeed(seeds[i].file, bytes, sizeof bytes);
        // The glTF node moves it by (1, 2, 3).
        double shift = strstr(seeds[i].name, ".gl") != NULL ? 1.0 : 0.0;
        for (int use = 0; use < RB_MESH_USE_COUNT; ++use) {
            rbError error = {0};
            rbMeshOptions options = rbDefaultMeshOptions();
            options.use = (rbMeshUse)use;
            rbGeometry* geometry = rbReadMeshMemory(seeds[i].name, bytes, size, &options, &error);
            if (geometry == NULL) {
                fail_msg("%s", formatError(&error));
            }
            if (use != RB_MESH_USE_SOUP) {
                rbMassProperties mass = getMass(geometry);
                checkRelative(mass.volume, 1.0 / 6.0, 1e-14);
                checkRelative(mass.center.x, 0.25 + shift, 1e-14);
                checkRelative(mass.center.z, 0.25 + 3.0 * shift, 1e-14);
            }
            rbDestroyGeometry(geometry);
        }
        rbMeshData* data = rbReadMeshDataMemory(seeds[i].name, bytes, size, NULL, NULL);
        assert_non_null(data);
        const rbMeshDef* def = rbMeshData_GetDef(data);
        assert_int_equal(def->vertexCount, 4);
        assert_int_equal(def->faceCount, 4);
        assert_int_equal(rbMeshData_GetFileVertexCount(data),
                         strstr(seeds[i].file, "stl") != NULL ? 12 : 4);
        assert_true(rbValidateMesh(def, NULL, 0).isSolid);
        rbDestroyMeshData(data);
    }
}

static void scaleAndAxesAreApplied(void** state)
{
    (void)state;
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\n"
                               "f 1 4 3\n";
    rbMeshOptions options = {.use = RB_MESH_USE_TRIANGLES, .scale = 1e-3, .up = 'y'};
    rbGeometry* geometry = rbReadMeshMemory("a.obj", text, sizeof text - 1, &options, NULL);
    assert_non_null(geometry);
    rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
    // (x, y, z) becomes (x, -z, y).
    checkRelative(bounds.upper.x, 1e-3, 1e-15);
    checkRelative(bounds.lower.y, -3e-3, 1e-15);
    checkRelative(bounds.upper.z, 2e-3, 1e-15);
    checkRelative(getMass(geometry).volume, 1e-9, 1e-14);
    rbDestroyGeometry(geometry);
}

// Polygons are preserved for polyhedra, with all digits of the file.
static void polygonsOfAnObjStayWhole(void** state)
{
    (void)state;
    rbError error = {0};
    rbMeshOptions options = rbDefaultMeshOptions();
    options.use = RB_MESH_USE_POLYHEDRON;
    rbGeometry* star = rbReadMesh(RB_SOURCE_DIR "/scenes/meshes/star.obj", &options, &error);
    if (star == NULL) {
        fail_msg("%s", formatError(&error));
    }
    rbMeshDef mesh;
    assert_true(rbGeometry_GetMesh(star, &mesh));
    assert_int_equal(mesh.faceCount, 12);
    // Ten triangles from the center: area n R r sin(pi / n).
    checkRelative(getMass(star).volume, 0.12 * 5.0 * 0.3 * 0.13 * sin(RB_PI / 5.0), 1e-14);
    rbDestroyGeometry(star);
    rbGeometry* ring = rbReadMesh(RB_SOURCE_DIR "/scenes/meshes/torus.ply", NULL, &error);
    assert_non_null(ring);
    // 2 pi^2 A B^2 of the round ring, minus the volume that 32 by 16 flat pieces cut off.
    checkRelative(getMass(ring).volume, 2.0 * RB_PI * RB_PI * 0.25 * 0.09 * 0.09, 0.04);
    rbDestroyGeometry(ring);
}

// A node tree with a matrix, a rotation, a mirror and two uses of a mesh; buffers in another file.
static void nodesOfGltfAreApplied(void** state)
{
    (void)state;
    char folder[] = "/tmp/rb_gltf_XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[300];
    char bytes[2048];
    // The buffer of the .glb seed: 48 bytes of positions, 24 of indices, at its end.
    size_t size = loadSeed("tetra.glb", bytes, sizeof bytes);
    (void)snprintf(path, sizeof path, "%s/the buffer.bin", folder);
    FILE* stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes + size - 72, 1, 72, stream), 72);
    (void)fclose(stream);
    (void)snprintf(path, sizeof path, "%s/a.gltf", folder);
    stream = fopen(path, "wb");
    assert_non_null(stream);
    (void)fputs(
        "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [0, 2]}], "
        "\"nodes\": [{\"children\": [1], \"translation\": [10, 0, 0]}, {\"mesh\": 0, \"scale\": "
        "[1, 1, -2]}, {\"mesh\": 0, \"matrix\": [0,1,0,0, -1,0,0,0, 0,0,1,0, 0,0,5,1]}], "
        "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}]}], "
        "\"buffers\": [{\"byteLength\": 72, \"uri\": \"the%20buffer.bin\"}], \"bufferViews\": "
        "[{\"buffer\": 0, \"byteLength\": 48}, {\"buffer\": 0, \"byteOffset\": 48, \"byteLength\": "
        "24}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, "
        "\"type\": "
        "\"VEC3\"}, {\"bufferView\": 1, \"componentType\": 5123, \"count\": 12, \"type\": "
        "\"SCALAR\"}]}",
        stream);
    (void)fclose(stream);
    rbError error = {0};
    rbGeometry* geometry = rbReadMesh(path, NULL, &error);
    if (geometry == NULL) {
        fail_msg("%s", formatError(&error));
    }
    // Volumes 2/6 (mirrored, still positive) and 1/6; centroids (10.25, .25, -.5), (-.25,
    // .25, 5.25).
    rbMassProperties mass = getMass(geometry);
    checkRelative(mass.volume, 0.5, 1e-14);
    checkRelative(mass.center.x, (2.0 * 10.25 - 0.25) / 3.0, 1e-14);
    checkRelative(mass.center.z, (2.0 * -0.5 + 5.25) / 3.0, 1e-14);
    rbDestroyGeometry(geometry);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/the buffer.bin", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

typedef struct BadMesh {
    const char* name;
    const char* text;
    const char* expected;
} BadMesh;

#define PLY_HEAD "ply\nformat ascii 1.0\n"
#define GLTF_HEAD "{\"asset\": {\"version\": \"2.0\"}"

static const BadMesh badMeshes[] = {
    {"a.xyz", "0 0 0", "obj, stl, ply, gltf and glb are supported"},
    {"noextension", "0 0 0", "obj, stl, ply, gltf and glb are supported"},
    {"a.obj", "", "the file is empty"},
    {"a.obj", "# nothing\n", "no vertices"},
    {"a.obj", "v 0 0 0\n", "1 vertices and no faces"},
    {"a.obj", "v 0 0\n", "a.obj:1:"},
    {"a.obj", "v 0 0 nan\n", "three finite numbers"},
    {"a.obj", "v 0 0 1e999\n", "three finite numbers"},
    {"a.obj", "v 0 0 0x10\n", "three finite numbers"},
    {"a.obj", "v 0 0 0\n\nf 1 0 1\n", "a.obj:3:0: found \"0\"; expected the number of a vertex"},
    {"a.obj", "v 0 0 0\nf 1 1 -2\n", "found \"-2\""},
    {"a.obj", "v 0 0 0\nf 1 1\n", "a face has 2 corners"},
    {"a.obj", "v 0 0 0\nf 1 1 7\n", "face 0 uses vertex 6 (counted from 0) of 1"},
    {"a.obj", "v 0 0 0\nf 1 1 99999999999999999999\n", "the number of a vertex"},
    {"a.obj", "curv 0 1 2\n", "found \"curv\""},
    {"a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", ""},
    {"a.stl", "facet", "is not STL"},
    {"a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "a.stl:"},
    {"a.stl", "solid x\nfacet normal 0 0 1\nouter lop\n", "found \"lop\"; expected \"loop\""},
    {"a.stl", "solid x\n", "the file ends where \"endsolid\" is expected"},
    {"a.stl", "solid x\nendsolid x\n", "no vertices"},
    {"a.ply", "plx\n", "a.ply:1:0: is not PLY"},
    {"a.ply", "ply\nformat ascii 2.0\n", "unknown format"},
    {"a.ply", PLY_HEAD "element vertex -1\n", "nonnegative count"},
    {"a.ply", PLY_HEAD "element vertex 99999999999\n", "the limit is 50000000"},
    {"a.ply", PLY_HEAD "property float x\n", "before the first element"},
    {"a.ply", PLY_HEAD "element vertex 1\nproperty quad x\n", "a property needs a type"},
    {"a.ply", PLY_HEAD "element vertex 1\nproperty float x\nend_header\n0\n", "x, y and z"},
    {"a.ply", PLY_HEAD "element vertex 1\n", "inside its header"},
    {"a.ply",
     PLY_HEAD "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
              "end_header\n0 0\n",
     "ends before"},
    {"a.ply",
     PLY_HEAD
     "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement face "
     "1\nproperty list int int vertex_index\nend_header\n0 0 0\n1000000000 0 0 0\n",
     "larger than the rest of the file"},
    {"a.gltf", "{", "is not glTF"},
    {"a.gltf", "[]", "not a JSON object"},
    {"a.gltf", "{\"asset\": {\"version\": \"1.0\"}}", "only version 2 is supported"},
    {"a.gltf", GLTF_HEAD ", \"extensionsRequired\": [\"KHR_draco_mesh_compression\"]}", "draco"},
    {"a.gltf", GLTF_HEAD "}", "no vertices"},
    {"a.gltf", GLTF_HEAD ", \"nodes\": [{\"children\": [0]}], \"scenes\": [{\"nodes\": [0]}]}",
     "not a tree"},
    {"a.gltf", GLTF_HEAD ", \"nodes\": [{\"mesh\": 3}]}", "element 3 of \"meshes\""},
    {"a.gltf", GLTF_HEAD ", \"nodes\": [{\"rotation\": [0, 0, 0, 0]}]}", "turns nothing"},
    {"a.gltf",
     GLTF_HEAD
     ", \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": [{\"attributes\": "
     "{\"POSITION\": 0}}]}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, "
     "\"count\": 1000000, \"type\": \"VEC3\"}], \"bufferViews\": [{\"buffer\": 0, "
     "\"byteLength\": 12}], \"buffers\": [{\"byteLength\": 12, \"uri\": "
     "\"data:;base64,AAAAAAAAAAAAAAAA\"}]}",
     "does not fit"},
    {"a.gltf",
     GLTF_HEAD
     ", \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": [{\"attributes\": "
     "{\"POSITION\": 0}}]}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, "
     "\"count\": 1, \"type\": \"VEC3\"}], \"bufferViews\": [{\"buffer\": 0, "
     "\"byteLength\": 12}], \"buffers\": [{\"byteLength\": 12, \"uri\": \"other.bin\"}]}",
     "\"other.bin\", which does not exist"},
    {"a.gltf",
     GLTF_HEAD
     ", \"nodes\": [{\"mesh\": 0}], \"meshes\": [{\"primitives\": [{\"attributes\": "
     "{\"POSITION\": 0}}]}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, "
     "\"count\": 1, \"type\": \"VEC3\"}], \"bufferViews\": [{\"buffer\": 0, "
     "\"byteLength\": 0}], \"buffers\": [{\"byteLength\": 0, \"uri\": \"data:;base64,\"}]}",
     "buffer 0 is empty"},
    {"a.glb", "glTF\2\0\0\0", "cut off"},
};

// The defect of a mesh file and its location.
static void damagedMeshFilesSayWhatIsWrong(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof badMeshes / sizeof badMeshes[0]; ++i) {
        uint64_t before = rbGetAllocatedBytes();
        const BadMesh* bad = &badMeshes[i];
        rbError error = {0};
        rbGeometry* geometry =
            rbReadMeshMemory(bad->name, bad->text, strlen(bad->text), NULL, &error);
        const char* text = formatError(&error);
        if (geometry != NULL || error.status == RB_STATUS_OK || error.message[0] == '\0' ||
            strstr(text, bad->expected) == NULL ||
            strncmp(text, bad->name, strlen(bad->name)) != 0) {
            fail_msg("%s\ngave: %s\nexpected: %s", bad->text, text, bad->expected);
        }
        assert_int_equal(rbGetAllocatedBytes(), before);
    }
}

// Every truncation of every seed ends with a message or a mesh, never with a crash or a leak.
static void cutMeshFilesAreRefusedOrRead(void** state)
{
    (void)state;
    uint64_t before = rbGetAllocatedBytes();
    for (size_t i = 0; i < SEED_COUNT; ++i) {
        char bytes[2048];
        size_t size = loadSeed(seeds[i].file, bytes, sizeof bytes);
        for (size_t cut = 0; cut < size; ++cut) {
            rbError error = {0};
            // Memory of exactly that size, so that a sanitizer detects a read beyond it.
            char* copy = malloc(cut + 1);
            memcpy(copy, bytes, cut);
            rbMeshData* data = rbReadMeshDataMemory(seeds[i].name, copy, cut, NULL, &error);
            assert_true(data != NULL || error.message[0] != '\0');
            rbDestroyMeshData(data);
            free(copy);
        }
    }
    assert_int_equal(rbGetAllocatedBytes(), before);
}

RB_TEST_GROUP(test_scene_mesh, cmocka_unit_test(everyFormatGivesTheTetrahedron),
              cmocka_unit_test(scaleAndAxesAreApplied), cmocka_unit_test(polygonsOfAnObjStayWhole),
              cmocka_unit_test(nodesOfGltfAreApplied),
              cmocka_unit_test(damagedMeshFilesSayWhatIsWrong),
              cmocka_unit_test(cutMeshFilesAreRefusedOrRead));
