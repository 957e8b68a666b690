// Files of pairs: a file is read as written, mistakes are reported with line and remedy, and a log
// that cannot be written leaves no file.
#include "output_support.h"
#include "pairs/pair_file.h"
#include "pairs/pair_log.h"

#include <math.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, tearDown)
#define HEAD "rattleback pairs 1\n"

static char folder[SCRATCH_SIZE];
static uint64_t bytesBefore;

static int setUp(void** state)
{
    (void)state;
    makeScratch(folder);
    bytesBefore = rbGetAllocatedBytes();
    return 0;
}

static int tearDown(void** state)
{
    (void)state;
    removeScratch(folder);
    return rbGetAllocatedBytes() == bytesBefore ? 0 : -1;
}

static const char* inFolder(const char* name)
{
    static char path[2 * SCRATCH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static rbPairFile* readText(const char* text)
{
    rbPairFile* file = NULL;
    rbError error = {0};
    rbStatus status = rbReadPairText("text", text, strlen(text), &file, &error);
    if (status != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return file;
}

static void everyFieldOfALineIsRead(void** state)
{
    (void)state;
    rbPairFile* file = readText("\n  # a comment before the head\r\n" HEAD "\r\n"
                                "hull wedge 0 0 0  1 0 0 \\\n 0 1 0  0 0 1\n"
                                "compound two sphere:1 0 0 1 1 0 0 0 hull:wedge 0 0 -1 1 0 0 0\n"
                                "# box:1 is a comment\n"
                                "box:1,2,3 hull:wedge 1 2.5 -3e-1 0.8 0 -0.6 0\n"
                                "\tbox:1,2,3 compound:two 1 2 3 0 0 0 1  -2.5   a remark # 7 \r\n"
                                "plane:0,0,1 capsule:0.5,2 0 0 0 1 0 0 0 inf");
    int count = 0;
    const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, 3);
    assert_int_equal(rbPairFile_GetShapeCount(file), 6);
    // Equal text is one geometry.
    assert_ptr_equal(pairs[0].a, pairs[1].a);
    rbShapeData box = rbGeometry_GetData(pairs[0].a);
    checkNear(box.box.halfExtents.x, 0.5, 0.0);
    checkNear(box.box.halfExtents.z, 1.5, 0.0);
    checkNear(pairs[0].transformBtoA.p.z, -0.3, 0.0);
    checkNear(pairs[0].transformBtoA.q.w, 0.8, 0.0);
    checkNear(pairs[0].transformBtoA.q.y, -0.6, 0.0);
    checkNear(pairs[0].severity, 0.0, 0.0);
    assert_string_equal(pairs[0].remark, "");
    assert_string_equal(pairs[0].wordsB, "hull:wedge");
    assert_int_equal(pairs[0].line, 9);
    rbMeshDef mesh;
    assert_true(rbGeometry_GetMesh(pairs[0].b, &mesh));
    assert_int_equal(mesh.vertexCount, 4);
    checkNear(pairs[1].severity, -2.5, 0.0);
    assert_string_equal(pairs[1].remark, "a remark # 7");
    int childCount = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(pairs[1].b, &childCount);
    assert_int_equal(childCount, 2);
    assert_ptr_equal(children[1].geometry, pairs[0].b);
    checkNear(children[1].transform.p.z, -1.0, 0.0);
    assert_true(isinf(pairs[2].severity));
    // The offset of a plane may be omitted.
    checkNear(rbGeometry_GetData(pairs[2].a).plane.offset, 0.0, 0.0);
    rbDestroyPairFile(file);
    file = readText(HEAD); // an incident log without incidents
    (void)rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, 0);
    rbDestroyPairFile(file);
}

typedef struct Mistake {
    const char* text;
    const char* needle; // in the message
    rbStatus status;
    int line, column;
} Mistake;

#define POSE " 0 0 0 1 0 0 0"
#define BALLS HEAD "sphere:1 sphere:1 "

static const Mistake mistakes[] = {
    {"", "empty", RB_STATUS_SYNTAX, 0, 0},
    {"# nothing\n", "rattleback pairs 1", RB_STATUS_SYNTAX, 0, 0},
    {"sphere:1 sphere:1" POSE, "rattleback pairs 1", RB_STATUS_SYNTAX, 1, 1},
    {"rattleback pairs one", "rattleback pairs 1", RB_STATUS_SYNTAX, 1, 18},
    {"rattleback pairs 2\n", "version 2", RB_STATUS_UNSUPPORTED, 1, 18},
    {HEAD "sphere:1\n", "second one", RB_STATUS_SYNTAX, 2, 9},
    {HEAD "shpere:1 sphere:1" POSE, "did you mean sphere", RB_STATUS_INVALID, 2, 1},
    {HEAD "sphere:1 xyzzyx:1" POSE, "expected one of sphere, box", RB_STATUS_INVALID, 2, 10},
    {HEAD "mesh:a sphere:1" POSE, "holds no mesh", RB_STATUS_UNSUPPORTED, 2, 1},
    {HEAD "box:1,1 sphere:1" POSE, "needs 3 numbers", RB_STATUS_INVALID, 2, 1},
    {HEAD "box:1,1,1,1 sphere:1" POSE, "not 4", RB_STATUS_INVALID, 2, 1},
    {HEAD "box:1,,1,1 sphere:1" POSE, "'' is not a finite", RB_STATUS_INVALID, 2, 1},
    {HEAD "box:1,nan,1 sphere:1" POSE, "'nan' is not a finite", RB_STATUS_INVALID, 2, 1},
    {HEAD "box:1,0,1 sphere:1" POSE, "edge y is 0 m", RB_STATUS_INVALID, 2, 1},
    {HEAD "sphere:-1 sphere:1" POSE, "radius is -1 m", RB_STATUS_INVALID, 2, 1},
    {HEAD "sphere:1e-20 sphere:1" POSE, "from 1e-15", RB_STATUS_INVALID, 2, 1},
    {HEAD "sphere sphere:1" POSE, "'sphere' needs 1 number", RB_STATUS_INVALID, 2, 1},
    {HEAD "plane:0,0,0 sphere:1" POSE, "normal", RB_STATUS_INVALID, 2, 1},
    {HEAD "hull: sphere:1" POSE, "hull:NAME", RB_STATUS_INVALID, 2, 1},
    {HEAD "sphere:1 hull:rock" POSE, "define it first", RB_STATUS_NOT_FOUND, 2, 10},
    {HEAD "hull rock 0 0 0 1 0 0 0 1 0 0 0 1\nsphere:1 hull:rok" POSE, "did you mean hull:rock",
     RB_STATUS_NOT_FOUND, 3, 10},
    {HEAD "sphere:1 compound:c" POSE, "compound NAME SHAPE", RB_STATUS_NOT_FOUND, 2, 10},
    {BALLS "0 nan 0 1 0 0 0", "position y of B is 'nan'", RB_STATUS_INVALID, 2, 21},
    {BALLS "0 0 0 1 0 0 1e999", "orientation z of B", RB_STATUS_INVALID, 2, 31},
    {BALLS "0 0 0 1 1 0 0", "length 1.41421", RB_STATUS_INVALID, 2, 31},
    {BALLS "0 0 0 1 0", "5 of the 7", RB_STATUS_SYNTAX, 2, 28},
    {BALLS "0 0 0 1 0 0 0 bad", "severity is 'bad'", RB_STATUS_INVALID, 2, 33},
    {BALLS "0 0 0 1 0 0 0 nan", "severity is 'nan'", RB_STATUS_INVALID, 2, 33},
    {HEAD "hull\n", "needs a name", RB_STATUS_SYNTAX, 2, 5},
    {HEAD "hull r 0 0 0 1 0 0 0 1 0 0 0\n", "11 coordinates", RB_STATUS_SYNTAX, 2, 29},
    {HEAD "hull r 0 0 0 1 0 0 0 1 0 x 0 1\n", "x of point 4", RB_STATUS_INVALID, 2, 26},
    {HEAD "hull r 0 0 0 1 0 0 0 1 0 1 1 0\n", "coplanar", RB_STATUS_INVALID, 2, 31},
    {HEAD "hull r 0 0 0 1 0 0 0 1 0 0 0 1\nhull r 0 0 0 1 0 0 0 1 0 0 0 1\n", "defined twice",
     RB_STATUS_INVALID, 3, 6},
    {HEAD "hull 0123456789012345678901234567890123456789012345678901234567890123 0 0 0\n",
     "the limit is 63", RB_STATUS_LIMIT, 2, 6},
    {HEAD "compound c\n", "0 children", RB_STATUS_INVALID, 2, 11},
    {HEAD "compound c sphere:1 0 0 0 2 0 0 0\n", "part 1 (sphere:1)", RB_STATUS_INVALID, 2, 33},
};

static void mistakesAreNamedWithTheirPlaceAndRemedy(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i) {
        const Mistake* m = &mistakes[i];
        rbPairFile* file = NULL;
        rbError error = {.line = 99, .column = 99};
        rbStatus status = rbReadPairText("a.pairs", m->text, strlen(m->text), &file, &error);
        if (status != m->status || error.status != status || file != NULL ||
            strstr(error.message, m->needle) == NULL || error.line != m->line ||
            error.column != m->column || strcmp(error.file, "a.pairs") != 0) {
            fail_msg("'%s': status %d at %d:%d, '%s'", m->text, (int)status, error.line,
                     error.column, error.message);
        }
        assert_int_equal(rbReadPairText("a.pairs", m->text, strlen(m->text), &file, NULL), status);
    }
    rbPairFile* file = NULL;
    rbError error = {0};
    assert_int_equal(rbReadPairFile("/nowhere/a.pairs", &file, &error), RB_STATUS_NOT_FOUND);
    assert_int_equal(rbReadPairFile("/", &file, &error), RB_STATUS_IO);
    assert_null(file);
}

// Compounds of two copies of the previous compound: the parts double with every line.
static void nestedCompoundsCannotOutgrowMemory(void** state)
{
    (void)state;
    char text[2048] = HEAD "compound c0 sphere:1" POSE "\n";
    for (int i = 1; i <= 12; ++i) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "compound c%d compound:c%d" POSE " compound:c%d" POSE "\n", i, i - 1, i - 1);
    }
    rbPairFile* file = NULL;
    rbError error = {0};
    assert_int_equal(rbReadPairText("a", text, strlen(text), &file, &error), RB_STATUS_LIMIT);
    assert_int_equal(error.line, 10); // a ninth level
    // One level of 300 parts, 300 of these.
    size_t size = (size_t)1 << 16;
    char* wide = malloc(size);
    assert_non_null(wide);
    size_t used = (size_t)snprintf(wide, size, HEAD "compound a");
    for (int i = 0; i < 300; ++i) {
        used += (size_t)snprintf(wide + used, size - used, " sphere:1" POSE);
    }
    used += (size_t)snprintf(wide + used, size - used, "\ncompound b");
    for (int i = 0; i < 300; ++i) {
        used += (size_t)snprintf(wide + used, size - used, " compound:a" POSE);
    }
    assert_int_equal(rbReadPairText("a", wide, used, &file, &error), RB_STATUS_LIMIT);
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.message, "more than 65536 parts"));
    free(wide);
}

static rbPairFile* closeAndRead(rbPairLog* log, const char* path, bool isRanked, rbStatus expected)
{
    rbError error = {0};
    rbStatus status = rbPairLog_Close(&log, isRanked, &error);
    assert_int_equal(status, expected);
    assert_null(log);
    rbPairFile* file = NULL;
    if (rbReadPairFile(path, &file, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return file;
}

// G-41, G-45
static void incidentsAreRankedAndRecordingsKeepTheirOrder(void** state)
{
    (void)state;
    static const double severities[] = {1.0, 3.0, NAN, 2.0, 3.0, -1.0};
    static const char* const ranked[] = {"2", "1", "4", "3", "0", "5"};
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    for (int isRanked = 0; isRanked < 2; ++isRanked) {
        const char* path = inFolder("a.pairs");
        rbPairLog* log = rbOpenPairLog(path, NULL);
        assert_non_null(log);
        for (int i = 0; i < 6; ++i) {
            char remark[16];
            (void)snprintf(remark, sizeof remark, "%d", i);
            rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, severities[i], remark);
        }
        rbPairFile* file = closeAndRead(log, path, isRanked != 0, RB_STATUS_OK);
        int count = 0;
        const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
        assert_int_equal(count, 6);
        for (int i = 0; i < 6; ++i) {
            char own[16];
            (void)snprintf(own, sizeof own, "%d", i);
            assert_string_equal(pairs[i].remark, isRanked ? ranked[i] : own);
        }
        // A NaN is the worst error.
        assert_true(isinf(pairs[isRanked ? 0 : 2].severity));
        rbDestroyPairFile(file);
    }
    rbDestroyGeometry(ball);
}

static rbGeometry* makeTetrahedron(double size)
{
    rbVec3 points[4] = {{0.0, 0.0, 0.0}, {size, 0.0, 0.0}, {0.0, size, 0.0}, {0.0, 0.0, size}};
    return rbCreateHull(points, 4, NULL);
}

// New hulls may get the address of destroyed ones; their content distinguishes them.
static void equalHullsAreWrittenOnce(void** state)
{
    (void)state;
    const char* path = inFolder("a.pairs");
    rbPairLog* log = rbOpenPairLog(path, NULL);
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    for (int i = 0; i < 6; ++i) {
        rbGeometry* hull = makeTetrahedron(1.0 + i % 2);
        rbPairLog_Add(log, ball, hull, RB_TRANSFORM_IDENTITY, 0.0, NULL);
        rbDestroyGeometry(hull);
    }
    rbPairFile* file = closeAndRead(log, path, false, RB_STATUS_OK);
    int count = 0;
    const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, 6);
    assert_int_equal(rbPairFile_GetShapeCount(file), 3);
    for (int i = 0; i < 6; ++i) {
        rbBounds bounds = rbGeometry_GetBounds(pairs[i].b, RB_TRANSFORM_IDENTITY);
        checkNear(bounds.upper.x, 1.0 + i % 2, 0.0);
    }
    rbDestroyPairFile(file);
    rbDestroyGeometry(ball);
}

static void remarksCannotBreakTheFile(void** state)
{
    (void)state;
    const char* path = inFolder("a.pairs");
    rbPairLog* log = rbOpenPairLog(path, NULL);
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, 0.0, " \n two\nlines\r\n# 3\\\n");
    rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, 0.0, " \t\n");
    rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, 1.0, "ends \\");
    rbPairFile* file = closeAndRead(log, path, false, RB_STATUS_OK);
    int count = 0;
    const rbShapePair* pairs = rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, 3);
    assert_string_equal(pairs[0].remark, "two lines  # 3\\");
    assert_string_equal(pairs[1].remark, "");
    assert_string_equal(pairs[2].remark, "ends \\");
    rbDestroyPairFile(file);
    rbDestroyGeometry(ball);
}

// The format does not support meshes: they are skipped, counted and reported; the rest is written.
static void pairsThatDoNotFitAreReported(void** state)
{
    (void)state;
    static const rbVec3 vertices[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
    static const int indices[3] = {0, 1, 2};
    rbMeshDef def = {vertices, 3, NULL, indices, 1};
    rbGeometry* soup = rbCreateSoup(&def, NULL);
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbCompoundChild children[2] = {{ball, RB_TRANSFORM_IDENTITY, 0.0},
                                   {soup, RB_TRANSFORM_IDENTITY, 0.0}};
    rbGeometry* compound = rbCreateCompound(children, 2, NULL);
    rbTransform lost = RB_TRANSFORM_IDENTITY;
    lost.p.y = NAN;
    const char* path = inFolder("a.pairs");
    rbPairLog* log = rbOpenPairLog(path, NULL);
    rbPairLog_Add(log, ball, soup, RB_TRANSFORM_IDENTITY, 1.0, NULL);
    rbPairLog_Add(log, compound, ball, RB_TRANSFORM_IDENTITY, 1.0, NULL);
    rbPairLog_Add(log, ball, ball, lost, 1.0, NULL);
    rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, 1.0, NULL);
    rbError error = {0};
    assert_int_equal(rbPairLog_Close(&log, true, &error), RB_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.message, "3 of 4 pairs were left out"));
    rbPairFile* file = NULL;
    int count = 0;
    assert_int_equal(rbReadPairFile(path, &file, &error), RB_STATUS_OK);
    (void)rbPairFile_GetPairs(file, &count);
    assert_int_equal(count, 1);
    rbDestroyPairFile(file);
    rbDestroyGeometry(compound);
    rbDestroyGeometry(soup);
    rbDestroyGeometry(ball);
}

static void logsThatCannotBeWrittenLeaveTheOldOne(void** state)
{
    (void)state;
    rbError error = {0};
    assert_null(rbOpenPairLog("/nowhere/a.pairs", &error));
    assert_non_null(strstr(error.message, "make the folder first"));
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbPairLog* log = rbOpenPairLog("/dev/full", &error);
    assert_non_null(log);
    rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, 1.0, NULL);
    assert_int_equal(rbPairLog_Close(&log, true, &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
    // A disk that is full after 4 kB.
    const char* path = inFolder("a.pairs");
    writeWhole(path, "old", 3);
    log = rbOpenPairLog(path, &error);
    assert_non_null(log);
    for (int i = 0; i < 1000; ++i) {
        rbPairLog_Add(log, ball, ball, RB_TRANSFORM_IDENTITY, 1.0, NULL);
    }
    struct rlimit limit;
    limitFileSize(4096, &limit);
    rbStatus status = rbPairLog_Close(&log, true, &error);
    restoreFileSize(&limit);
    assert_int_equal(status, RB_STATUS_IO);
    assert_null(log);
    assert_int_equal(rbPairLog_Close(&log, true, &error), RB_STATUS_OK);
    assert_int_equal(countEntries(folder), 1);
    size_t size = 0;
    char* text = readWhole(path, &size);
    assert_string_equal(text, "old");
    free(text);
    rbDestroyGeometry(ball);
}

RB_TEST_GROUP(test_pair_file, TEST(everyFieldOfALineIsRead),
              TEST(mistakesAreNamedWithTheirPlaceAndRemedy),
              TEST(nestedCompoundsCannotOutgrowMemory),
              TEST(incidentsAreRankedAndRecordingsKeepTheirOrder), TEST(equalHullsAreWrittenOnce),
              TEST(remarksCannotBreakTheFile), TEST(pairsThatDoNotFitAreReported),
              TEST(logsThatCannotBeWrittenLeaveTheOldOne));
