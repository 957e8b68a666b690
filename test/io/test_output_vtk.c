// VTK files, read back by a small test reader.
#include "output_support.h"

#include <rattleback/output.h>

static char folder[SCRATCH_SIZE];
static char directory[2 * SCRATCH_SIZE];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    (void)snprintf(directory, sizeof directory, "%s/vtk", folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

static int digitOf(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char* at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

// Bytes of the array of that name, after its length word, which is checked; the caller frees them.
static unsigned char* decodeArray(const char* text, const char* name, size_t* size)
{
    char tag[64];
    (void)snprintf(tag, sizeof tag, "Name=\"%s\"", name);
    const char* at = strstr(text, tag);
    assert_non_null(at);
    at = strchr(at, '>');
    assert_non_null(at);
    const char* end = strchr(++at, '<');
    assert_non_null(end);
    size_t length = (size_t)(end - at);
    assert_int_equal(length % 4, 0);
    unsigned char* bytes = malloc(length);
    assert_non_null(bytes);
    size_t count = 0;
    for (size_t i = 0; i < length; i += 4) {
        unsigned word = 0;
        int padding = 0;
        for (size_t j = 0; j < 4; ++j) {
            int digit = digitOf(at[i + j]);
            padding += at[i + j] == '=' ? 1 : 0;
            assert_true(digit >= 0 || (at[i + j] == '=' && i + 4 == length));
            word = word << 6 | (unsigned)(digit >= 0 ? digit : 0);
        }
        for (int j = 0; j < 3 - padding; ++j) {
            bytes[count++] = (unsigned char)(word >> (16 - 8 * j));
        }
    }
    assert_true(count >= 8);
    *size = count - 8;
    assert_int_equal(rbGetWord64(bytes), *size);
    memmove(bytes, bytes + 8, *size);
    return bytes;
}

static double doubleAt(const unsigned char* bytes, size_t index)
{
    return rbDoubleOfBits(rbGetWord64(bytes + 8 * index));
}

// A triangle on body 2 and a tetrahedron on body 0.
static const rbVec3 triangleVertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}};
static const int triangleFaces[][3] = {{0, 1, 2}};
static const rbVec3 tetrahedronVertices[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int tetrahedronFaces[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
static const rbVtkShape shapes[] = {
    {2, triangleVertices, 3, triangleFaces, 1},
    {0, tetrahedronVertices, 4, tetrahedronFaces, 4},
};

static void makePoses(rbRandom* random, rbVec3* positions, rbQuat* orientations, rbVec3* linear,
                      rbVec3* angular)
{
    for (int i = 0; i < 3; ++i) {
        positions[i] = (rbVec3){rbRandom_Symmetric(random), rbRandom_Symmetric(random), 1e5 + i};
        orientations[i] =
            rbNormalizeQuat((rbQuat){rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                                     rbRandom_Symmetric(random), rbRandom_Symmetric(random)});
        linear[i] = (rbVec3){rbRandom_Symmetric(random), 0.5, 0.25};
        angular[i] = (rbVec3){rbRandom_Symmetric(random), -3.0, rbRandom_Symmetric(random)};
    }
}

static void checkPoints(const char* text, const rbFrame* frame)
{
    size_t pointSize;
    size_t velocitySize;
    unsigned char* points = decodeArray(text, "Points", &pointSize);
    unsigned char* velocities = decodeArray(text, "velocity", &velocitySize);
    assert_int_equal(pointSize, 7 * 24);
    assert_int_equal(velocitySize, 7 * 24);
    for (size_t i = 0; i < 7; ++i) {
        int body = i < 3 ? 2 : 0;
        rbVec3 local = i < 3 ? triangleVertices[i] : tetrahedronVertices[i - 3];
        rbMat3 rotation = rbMatFromQuat(frame->orientations[body]);
        rbVec3 arm = rbMulMV(rotation, local);
        rbVec3 point = rbAdd(frame->positions[body], arm);
        rbVec3 velocity =
            rbAdd(frame->linearVelocities[body], rbCross(frame->angularVelocities[body], arm));
        const double* truth[] = {&point.x, &velocity.x};
        const unsigned char* read[] = {points, velocities};
        for (int k = 0; k < 2; ++k) {
            checkNear(doubleAt(read[k], 3 * i), truth[k][0], 1e-10);
            checkNear(doubleAt(read[k], 3 * i + 1), truth[k][1], 1e-10);
            checkNear(doubleAt(read[k], 3 * i + 2), truth[k][2], 1e-10);
        }
    }
    free(points);
    free(velocities);
}

static void checkTriangles(const char* text)
{
    static const uint64_t corners[] = {0, 1, 2, 3, 5, 4, 3, 4, 6, 3, 6, 5, 4, 5, 6};
    size_t size;
    unsigned char* connectivity = decodeArray(text, "connectivity", &size);
    assert_int_equal(size, 5 * 24);
    for (size_t i = 0; i < 15; ++i) {
        assert_int_equal(rbGetWord64(connectivity + 8 * i), corners[i]);
    }
    free(connectivity);
    unsigned char* offsets = decodeArray(text, "offsets", &size);
    assert_int_equal(size, 5 * 8);
    for (size_t i = 0; i < 5; ++i) {
        assert_int_equal(rbGetWord64(offsets + 8 * i), 3 * (i + 1));
    }
    free(offsets);
    unsigned char* bodies = decodeArray(text, "body", &size);
    assert_int_equal(size, 5 * 4);
    for (size_t i = 0; i < 5; ++i) {
        assert_int_equal(rbGetWord32(bodies + 4 * i), i == 0 ? 2 : 0);
    }
    free(bodies);
}

// B-89
static void framesAreReadBack(void** state)
{
    (void)state;
    uint64_t before = rbGetAllocatedBytes();
    rbRandom random = {rbTest_Seed(61)};
    rbError error = {0};
    rbVtk* vtk = rbCreateVtk(directory, "a&b", shapes, 2, &error);
    assert_non_null(vtk);
    rbVec3 positions[3];
    rbQuat orientations[3];
    rbVec3 linear[3];
    rbVec3 angular[3];
    char path[4 * SCRATCH_SIZE];
    size_t size;
    for (int i = 0; i < 3; ++i) {
        makePoses(&random, positions, orientations, linear, angular);
        rbFrame frame = {.time = 0.1 * i,
                         .bodyCount = 3,
                         .positions = positions,
                         .orientations = orientations,
                         .linearVelocities = linear,
                         .angularVelocities = angular};
        assert_int_equal(rbVtk_WriteFrame(vtk, &frame, &error), RB_STATUS_OK);
        (void)snprintf(path, sizeof path, "%s/a&b_%06d.vtp", directory, i);
        char* text = readWhole(path, &size);
        assert_non_null(strstr(text, "byte_order=\"LittleEndian\" header_type=\"UInt64\""));
        assert_non_null(strstr(text, "NumberOfPoints=\"7\""));
        assert_non_null(strstr(text, "NumberOfPolys=\"5\""));
        checkPoints(text, &frame);
        checkTriangles(text);
        free(text);
    }
    (void)snprintf(path, sizeof path, "%s/a&b.pvd", directory);
    assert_false(exists(path));
    assert_int_equal(rbVtk_Finish(vtk, &error), RB_STATUS_OK);
    char* text = readWhole(path, &size);
    assert_string_equal(text,
                        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                        "byte_order=\"LittleEndian\">\n<Collection>\n"
                        "<DataSet timestep=\"0\" part=\"0\" file=\"a&amp;b_000000.vtp\"/>\n"
                        "<DataSet timestep=\"0.1\" part=\"0\" file=\"a&amp;b_000001.vtp\"/>\n"
                        "<DataSet timestep=\"0.2\" part=\"0\" file=\"a&amp;b_000002.vtp\"/>\n"
                        "</Collection>\n</VTKFile>\n");
    free(text);
    assert_int_equal(countEntries(directory), 4);
    assert_int_equal(rbGetAllocatedBytes(), before);
}

static double floatAt(const unsigned char* bytes, size_t index)
{
    uint32_t bits = rbGetWord32(bytes + 4 * index);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

// Shapes as points: where they are, how they are turned and move, in at most 100 bytes each.
// B-89
static void pointsAreReadBack(void** state)
{
    (void)state;
    enum {
        POINTS = 1000
    };
    uint64_t before = rbGetAllocatedBytes();
    rbRandom random = {rbTest_Seed(62)};
    rbError error = {0};
    static rbVtkPoint points[POINTS];
    for (int i = 0; i < POINTS; ++i) {
        rbQuat q = {0.5, -0.5, rbRandom_Symmetric(&random), rbRandom_Symmetric(&random)};
        points[i] = (rbVtkPoint){.body = i % 3, .radius = 0.25 * i};
        points[i].place = (rbTransform){{0.5 * i, 1.0, -2.0}, rbNormalizeQuat(q)};
    }
    rbVtk* vtk = rbCreateVtkPoints(directory, "points", points, POINTS, &error);
    assert_non_null(vtk);
    rbVec3 positions[3], linear[3], angular[3];
    rbQuat orientations[3];
    makePoses(&random, positions, orientations, linear, angular);
    rbFrame frame = {.bodyCount = 3,
                     .positions = positions,
                     .orientations = orientations,
                     .linearVelocities = linear,
                     .angularVelocities = angular};
    assert_int_equal(rbVtk_WriteFrame(vtk, &frame, &error), RB_STATUS_OK);
    char path[4 * SCRATCH_SIZE];
    (void)snprintf(path, sizeof path, "%s/points_000000.vtp", directory);
    size_t size;
    char* text = readWhole(path, &size);
    assert_in_range(size, 1, 100 * POINTS);
    assert_non_null(strstr(text, "NumberOfPoints=\"1000\" NumberOfVerts=\"1000\""));
    static const char* const names[] = {"Points", "radius",       "orientation", "velocity",
                                        "body",   "connectivity", "offsets"};
    static const size_t sizes[] = {24, 4, 16, 12, 4, 4, 4};
    unsigned char* data[7];
    for (int k = 0; k < 7; ++k) {
        data[k] = decodeArray(text, names[k], &size);
        assert_int_equal(size, sizes[k] * POINTS);
    }
    for (size_t i = 0; i < POINTS; ++i) {
        int body = points[i].body;
        // a point of the shape by the written pose is where body and place put it
        rbMat3 rotation = rbMatFromQuat(orientations[body]);
        rbVec3 arm = rbMulMV(rotation, points[i].place.p);
        rbVec3 center = rbAdd(positions[body], arm);
        checkNear(doubleAt(data[0], 3 * i), center.x, 1e-9);
        checkNear(doubleAt(data[0], 3 * i + 2), center.z, 1e-9);
        rbQuat written = {floatAt(data[2], 4 * i), floatAt(data[2], 4 * i + 1),
                          floatAt(data[2], 4 * i + 2), floatAt(data[2], 4 * i + 3)};
        rbVec3 axis = rbMulMV(rbMatFromQuat(points[i].place.q), rbMakeVec3(1.0, 2.0, 3.0));
        checkBelow(rbDistance(rbMulMV(rbMatFromQuat(written), rbMakeVec3(1.0, 2.0, 3.0)),
                              rbMulMV(rotation, axis)),
                   1e-5);
        rbVec3 velocity = rbAdd(linear[body], rbCross(angular[body], arm));
        checkNear(floatAt(data[3], 3 * i + 1), velocity.y, 1e-6 * (1.0 + rbLength(velocity)));
        assert_true(floatAt(data[1], i) == points[i].radius);
        assert_int_equal(rbGetWord32(data[4] + 4 * i), body);
        assert_int_equal(rbGetWord32(data[5] + 4 * i), i);
        assert_int_equal(rbGetWord32(data[6] + 4 * i), i + 1);
    }
    for (int k = 0; k < 7; ++k) {
        free(data[k]);
    }
    free(text);
    assert_int_equal(rbVtk_Finish(vtk, &error), RB_STATUS_OK);
    assert_int_equal(rbGetAllocatedBytes(), before);
}

// A series in which one frame fails lists the others, and the failed one leaves no file.
static void collectionListsCompleteFilesOnly(void** state)
{
    (void)state;
    enum {
        VERTICES = 6000
    };
    static rbVec3 vertices[VERTICES];
    rbVtkShape cloud = {0, vertices, VERTICES, NULL, 0};
    rbError error = {0};
    rbVtk* vtk = rbCreateVtk(directory, "run", &cloud, 1, &error);
    assert_non_null(vtk);
    rbVec3 zero = {0, 0, 0};
    rbQuat identity = RB_QUAT_IDENTITY;
    rbFrame frame = {.bodyCount = 1,
                     .positions = &zero,
                     .orientations = &identity,
                     .linearVelocities = &zero,
                     .angularVelocities = &zero};
    assert_int_equal(rbVtk_WriteFrame(vtk, &frame, &error), RB_STATUS_OK);
    struct rlimit old;
    limitFileSize(100000, &old);
    frame.time = 1.0;
    rbStatus failed = rbVtk_WriteFrame(vtk, &frame, &error);
    restoreFileSize(&old);
    assert_int_equal(failed, RB_STATUS_IO);
    assert_non_null(strstr(error.message, "run_000001.vtp"));
    assert_int_equal(countEntries(directory), 1);
    frame.time = 2.0;
    assert_int_equal(rbVtk_WriteFrame(vtk, &frame, &error), RB_STATUS_OK);
    assert_int_equal(rbVtk_Finish(vtk, &error), RB_STATUS_OK);
    assert_int_equal(countEntries(directory), 3);
    char path[4 * SCRATCH_SIZE];
    (void)snprintf(path, sizeof path, "%s/run.pvd", directory);
    size_t size;
    char* text = readWhole(path, &size);
    assert_non_null(strstr(text, "timestep=\"2\" part=\"0\" file=\"run_000001.vtp\""));
    assert_null(strstr(text, "timestep=\"1\""));
    free(text);
}

static void unusableFoldersAreRefused(void** state)
{
    (void)state;
    char file[2 * SCRATCH_SIZE];
    char below[3 * SCRATCH_SIZE];
    char absent[2 * SCRATCH_SIZE];
    (void)snprintf(file, sizeof file, "%s/file", folder);
    (void)snprintf(below, sizeof below, "%s/vtk", file);
    (void)snprintf(absent, sizeof absent, "%s/no/vtk", folder);
    writeWhole(file, "x", 1);
    const char* places[] = {file, below, absent};
    for (int i = 0; i < 3; ++i) {
        rbError error = {0};
        assert_null(rbCreateVtk(places[i], "run", shapes, 2, &error));
        assert_int_equal(error.status, RB_STATUS_IO);
        assert_non_null(strstr(error.message, places[i]));
    }
    const char* names[] = {"", "a/b", "a\nb"};
    for (int i = 0; i < 3; ++i) {
        rbError error = {0};
        assert_null(rbCreateVtk(directory, names[i], shapes, 2, &error));
        assert_int_equal(error.status, RB_STATUS_INVALID);
    }
    assert_int_equal(countEntries(folder), 1);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_vtk, WITH_FOLDER(framesAreReadBack), WITH_FOLDER(pointsAreReadBack),
              WITH_FOLDER(collectionListsCompleteFilesOnly),
              WITH_FOLDER(unusableFoldersAreRefused));
