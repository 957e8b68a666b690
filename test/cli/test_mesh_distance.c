// rattleback distance with mesh files: their interpretation, the laboratory, budgets, overlap, and
// refusals.
#include "child.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cube[] = RB_SOURCE_DIR "/docs/cube.obj";
static const char cubeSoup[] = "soup:" RB_SOURCE_DIR "/docs/cube.obj";
static const char cubePolyhedron[] = "polyhedron:" RB_SOURCE_DIR "/docs/cube.obj";
static const char smallCube[] =
    "{\"type\": \"mesh\", \"file\": \"" RB_SOURCE_DIR "/docs/cube.obj\", \"scale\": 0.2}";
static const char ell[] = RB_SOURCE_DIR "/docs/l-shape.obj";
static const char ellHull[] = "hull:" RB_SOURCE_DIR "/docs/l-shape.obj";
static const char ellAndBall[] = RB_SOURCE_DIR "/docs/l-and-ball.json";
static const char torus[] = RB_SOURCE_DIR "/docs/torus.obj";
// The second torus through the hole of the first, as links of a chain.
static const char linked[] = "1,0,0,0.7071067811865476,0.7071067811865476,0,0";

#define JSON(...) rbRunJson(0, (const char* const[]){"distance", __VA_ARGS__, "--json", NULL})

static double numberOf(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static const char* textOf(const json_t* object, const char* key)
{
    const char* text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static double elementOf(const json_t* object, const char* key, size_t index)
{
    return json_number_value(json_array_get(json_object_get(object, key), index));
}

static double distanceOf(json_t* root)
{
    double distance = numberOf(root, "distance");
    assert_true(numberOf(root, "lower") <= distance);
    assert_true(numberOf(root, "upper") >= distance);
    json_decref(root);
    return distance;
}

// Expects a successful run whose output contains this.
static void expectText(rbChild child, const char* needle)
{
    rbExpectSuccess(&child);
    if (strstr(child.out, needle) == NULL) {
        fail_msg("no '%s' in:\n%s", needle, child.out);
    }
    rbFreeChild(&child);
}

static void expectShape(json_t* root, const char* key, const char* type, int faces)
{
    const json_t* shape = json_object_get(root, key);
    assert_string_equal(textOf(shape, "type"), type);
    assert_int_equal(json_integer_value(json_object_get(shape, "faces")), faces);
}

static void aFileIsWhatItIsMeantAs(void** state)
{
    (void)state;
    json_t* root = JSON(ell, cube, "--position", "5,0,0");
    expectShape(root, "a", "mesh", 20);
    expectShape(root, "b", "mesh", 12);
    json_decref(root);
    root = JSON(ell, cube, "--position", "5,0,0", "--as", "polyhedron", "--as-b", "soup");
    expectShape(root, "a", "polyhedron", 8);
    expectShape(root, "b", "soup", 6);
    json_decref(root);
    root = JSON(ellHull, cubePolyhedron, "--position", "5,0,0");
    expectShape(root, "a", "hull", 7); // the corner is closed by one face
    expectShape(root, "b", "polyhedron", 6);
    json_decref(root);
    // In the corner of the L: 0.1 from the mesh, inside the hull.
    checkNear(distanceOf(JSON(ell, cube, "--position", "1.75,0,1.6")), 0.1, 1e-12);
    checkNear(distanceOf(JSON(ell, cube, "--position", "1.75,0,1.6", "--as", "hull")), -1.0, 1e-9);
    expectText(RUN("distance", cube, "sphere:1", "--position", "3,0,0"),
               "mesh, 12 triangles, closed");
    expectText(RUN("distance", cubeSoup, "sphere:1", "--position", "3,0,0"),
               "soup, 6 faces, no inside");
    // A geometry in a file; its own files are next to it.
    checkNear(distanceOf(JSON(ellAndBall, cube, "--as-b", "soup", "--position", "1.75,0,1.6")), 0.1,
              1e-12);
}

// One triangle, two with duplicated vertices, and the cube in other formats.
static void surfacesAreLegalAndSaidToBeSo(void** state)
{
    (void)state;
    rbWriteText(rbScratch("one.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    rbWriteText(rbScratch("twice.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n"
                                        "f 1 2 3\nf 4 6 5\n");
    rbWriteText(rbScratch("one.stl"), "solid one\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n"
                                      "vertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n");
    rbWriteText(rbScratch("one.ply"), "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\n"
                                      "property double y\nproperty double z\nelement face 1\n"
                                      "property list uchar int vertex_indices\nend_header\n"
                                      "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
    expectText(RUN("distance", "one.obj", "twice.obj", "--position", "0,0,2"),
               "open surface: 3 edges with only one face (one.obj)");
    expectText(RUN("distance", "one.obj", "twice.obj", "--position", "0,0,2"),
               "mesh, 2 triangles, open surface: 4 edges");
    checkNear(distanceOf(JSON("one.obj", "twice.obj", "--position", "0,0,2")), 2.0, 1e-12);
    checkNear(distanceOf(JSON("one.stl", "one.ply", "--position", "0,0,2")), 2.0, 1e-12);
    // A ball of 0.1 whose center is 0.3 above: no inside, no sign.
    checkNear(distanceOf(JSON("one.obj", "sphere:0.1", "--position", "0.2,0.2,0.3")), 0.2, 1e-12);
    checkNear(distanceOf(JSON("one.obj", "sphere:0.1", "--position", "0.2,0.2,-0.3")), 0.2, 1e-12);
    expectText(RUN("distance", "one.obj", "one.obj"), "they have no inside, so there is no depth");
    checkNear(distanceOf(JSON("one.obj", "one.obj")), 0.0, 0.0);
    checkNear(distanceOf(JSON("one.obj", "one.obj", "--method", "global")), 0.0, 0.0);
}

static void everyTraversalAndVolumeAgrees(void** state)
{
    (void)state;
    static const char* const methods[] = {"naive", "indifferent", "update-minimal", "local",
                                          "global"};
    static const char* const volumes[] = {"sphere", "aabb",  "obb",   "obb-regions",
                                          "fdh14",  "fdh18", "fdh26", "rss"};
    static const char* const others[][2] = {
        {"--split", "surface"},    {"--split", "principal-variance-median"},
        {"--split", "sum"},        {"--degree", "8"},
        {"--leaf-size", "5"},      {"--expansion", "larger"},
        {"--expansion", "hybrid"}, {"--representatives", "off"},
        {"--sequence", "list"},    {"--sequence", "skip-list"},
    };
    const char* pose = "1.6,0.3,0.4,0.9,0.3,-0.2,0.2449";
    double truth = distanceOf(JSON(torus, ell, "--pose-b", pose));
    assert_true(truth > 0.01 && truth < 1.0);
    // naive: 1024 by 20 triangles
    for (size_t i = 0; i < 5; ++i) {
        json_t* root = JSON(torus, ell, "--pose-b", pose, "--method", methods[i]);
        assert_string_equal(textOf(root, "stop"), "done");
        long long tests =
            json_integer_value(json_object_get(json_object_get(root, "work"), "elementaryTests"));
        assert_true(i == 0 ? tests == 20480 : tests < 20480);
        checkNear(distanceOf(root), truth, 1e-12);
    }
    for (size_t i = 0; i < 8; ++i) {
        checkNear(distanceOf(JSON(torus, ell, "--pose-b", pose, "--method", "global", "--volume",
                                  volumes[i])),
                  truth, 1e-12);
    }
    for (size_t i = 0; i < 10; ++i) {
        checkNear(distanceOf(JSON(torus, ell, "--pose-b", pose, "--method", "global", "--volume",
                                  "aabb", others[i][0], others[i][1])),
                  truth, 1e-12);
    }
}

// L-69, L-70
static void budgetAndToleranceLeaveTrueBounds(void** state)
{
    (void)state;
    static const char* const budgets[] = {"1", "10", "100", "1000", "100000"};
    static const char* const methods[] = {"auto", "global"};
    double truth = distanceOf(JSON(torus, torus, "--pose-b", linked));
    for (size_t m = 0; m < 2; ++m) {
        double width = INFINITY;
        for (size_t i = 0; i < 5; ++i) {
            json_t* root = JSON(torus, torus, "--pose-b", linked, "--method", methods[m],
                                "--budget", budgets[i]);
            double lower = numberOf(root, "lower");
            double upper = numberOf(root, "upper");
            assert_true(lower <= truth + 1e-12 && truth <= upper + 1e-12);
            assert_true(upper - lower <= width + 1e-12);
            width = upper - lower;
            bool isSpent = strstr(textOf(root, "reason"), "budget spent") != NULL;
            assert_int_equal(isSpent, i < 3 || (i == 3 && width > 1e-9));
            json_decref(root);
        }
        assert_true(width < 1e-12);
        json_t* root =
            JSON(torus, torus, "--pose-b", linked, "--method", methods[m], "--tolerance", "0.1");
        assert_true(numberOf(root, "lower") >= 0.9 * numberOf(root, "upper") - 1e-12);
        assert_true(numberOf(root, "lower") <= truth + 1e-12);
        assert_true(truth <= numberOf(root, "upper") + 1e-12);
        json_decref(root);
    }
}

static void overlapIsAnEstimateThatParts(void** state)
{
    (void)state;
    static const char* const poses[] = {"0.9,0.1,0", "0,0,0", "0.3,0.2,0.1"};
    const char* const others[] = {cube, ell, torus};
    for (size_t i = 0; i < 3; ++i) {
        expectText(RUN("distance", cube, others[i], "--position", poses[i]),
                   "overlap; the depth is a local estimate, the bodies separate when B moves by at "
                   "most");
        json_t* root = JSON(cube, others[i], "--position", poses[i]);
        assert_true(json_is_true(json_object_get(root, "isEstimate")));
        assert_true(numberOf(root, "distance") < 0.0);
        double p[3];
        char* at = (char*)poses[i];
        for (size_t k = 0; k < 3; ++k) {
            double depth = -numberOf(root, "lower");
            p[k] = strtod(at, &at) + depth * elementOf(root, "normal", k);
            at += *at == ',';
        }
        json_decref(root);
        char moved[128];
        (void)snprintf(moved, sizeof moved, "%.17g,%.17g,%.17g", p[0], p[1], p[2]);
        assert_true(distanceOf(JSON(cube, others[i], "--position", moved)) >= 0.0);
    }
    // Touching is not overlap.
    checkNear(distanceOf(JSON(cube, cube, "--position", "1,0,0")), 0.0, 1e-12);
    expectText(RUN("distance", cube, cube, "--position", "1,0,0"), "the bodies touch");
}

static void bodiesInsideAreRemarkedOn(void** state)
{
    (void)state;
    // A cube of 0.2 in the cube of 1, in the middle: 0.4 from every face.
    json_t* root = JSON(cube, smallCube, "--method", "global");
    assert_string_equal(textOf(root, "inside"), "b");
    checkNear(distanceOf(root), 0.4, 1e-12);
    root = JSON(smallCube, cube, "--method", "local");
    assert_string_equal(textOf(root, "inside"), "a");
    checkNear(distanceOf(root), 0.4, 1e-12);
    expectText(RUN("distance", cube, smallCube, "--method", "global"), "B is inside A");
    expectText(RUN("distance", cube, cube, "--position", "3,0,0", "--method", "global"),
               "surfaces are measured, not solids");
    checkNear(distanceOf(JSON(cube, smallCube)), -0.6, 1e-12);
}

static void posesOfBothShareAFrame(void** state)
{
    (void)state;
    // A turned by 90 degrees about z: its arm along x points along y, up to y = 13; B beyond it.
    const char* poseA = "5,10,0,0.7071067811865476,0,0,0.7071067811865476";
    const char* methods[] = {"auto", "global"};
    for (size_t i = 0; i < 2; ++i) {
        json_t* root =
            JSON(ell, cube, "--pose-a", poseA, "--pose-b", "5,15,0.5", "--method", methods[i]);
        checkNear(numberOf(root, "distance"), 1.5, 1e-12);
        checkNear(elementOf(root, "pointA", 1), 13.0, 1e-12);
        checkNear(elementOf(root, "pointB", 1), 14.5, 1e-12);
        if (i == 0) {
            checkNear(elementOf(root, "normal", 1), 1.0, 1e-12);
        }
        json_decref(root);
    }
    // Contacts as well.
    json_t* root = JSON("sphere:0.5", "sphere:0.5", "--pose-a", "0,0,7", "--pose-b", "0,0,8");
    const json_t* contact = json_array_get(json_object_get(root, "contacts"), 0);
    checkNear(elementOf(contact, "pointA", 2), 7.5, 1e-12);
    json_decref(root);
}

static void badFilesAreExplained(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        const char* text;
        const char* needle;
    } rows[] = {
        {"empty.obj", "", "empty.obj: the file is empty"},
        {"nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "three finite numbers"},
        {"huge.obj", "v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n", "at vertex 1"},
        {"range.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n", "face 0 uses vertex 6"},
        {"thin.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 4\nf 1 2 3\n", "face 1"},
        {"corner.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 1 3\n", "repeated corner"},
        {"points.obj", "v 0 0 0\nv 1 0 0\n", "no faces"},
        {"inverse.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n",
         "reversing its faces"},
        {"empty.json", "", "empty.json: the file is empty"},
        {"wrong.json", "{\"type\": \"mash\"}", "wrong.json: /type"},
        {"cube.off", "OFF\n", "obj, stl, ply, gltf and glb are supported"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbWriteText(rbScratch(rows[i].name), rows[i].text);
        rbExpectFailure(RUN("distance", rows[i].name, cube), 2, rows[i].needle);
        rbExpectFailure(RUN("distance", cube, rows[i].name, "--method", "global"), 2,
                        rows[i].needle);
    }
    rbExpectFailure(RUN("distance", "no.obj", cube), 2, "no.obj: there is no such file");
    rbExpectFailure(RUN("distance", "soup:no.obj", cube), 2, "no.obj: there is no such file");
    rbExpectFailure(RUN("distance", "no.json", cube), 2, "no.json: there is no such file");
    rbExpectFailure(RUN("distance", ".", cube), 2, "is a folder");
    rbExpectFailure(RUN("distance", cube), 2, "distance needs two shapes");
    // A surface is not a polyhedron, and its points are not a hull.
    rbWriteText(rbScratch("one.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    rbExpectFailure(RUN("distance", "one.obj", cube, "--as-a", "polyhedron"), 2, "is open");
    rbExpectFailure(RUN("distance", "one.obj", cube, "--as-a", "hull"), 2, "at least 4");
    rbWriteText(rbScratch("mesh.pairs"), "rattleback pairs 1\nmesh:a box:1,1,1 0 0 0 1 0 0 0\n");
    rbExpectFailure(RUN("distance", "mesh.pairs"), 2, "a file of pairs holds no mesh");
}

static void optionsThatDoNotFitAreRefused(void** state)
{
    (void)state;
    static const struct {
        const char* words[6];
        const char* needle;
    } rows[] = {
        {{"--method", "gloabl"}, "did you mean global?"},
        {{"--method", "magic"}, "update-minimal"},
        {{"--volume", "obb"}, "--volume does not apply to --method auto"},
        {{"--method", "local", "--volume", "oob"}, "did you mean obb?"},
        {{"--method", "local", "--split", "summ"}, "did you mean sum?"},
        {{"--method", "local", "--split", "x"}, "principal-variance"},
        {{"--method", "local", "--degree", "9"}, "between 2 and 8"},
        {{"--method", "local", "--degree", "2.5"}, "must be an integer"},
        {{"--method", "local", "--leaf-size", "0"}, "--leaf-size is 0"},
        {{"--method", "local", "--sequence", "heap"}, "only to global"},
        {{"--method", "local", "--budget", "5"}, "only to auto, global"},
        {{"--method", "naive", "--tolerance", "0.1"}, "not apply to --method naive"},
        {{"--method", "global", "--tolerance", "1"}, "--tolerance is 1"},
        {{"--method", "global", "--radius-a", "1"}, "not apply to --method global"},
        {{"--method", "global", "--representatives", "yes"}, "off, on"},
        {{"--budget", "0"}, "an integer of at least 1"},
        {{"--budget", "-3"}, "an integer of at least 1"},
        {{"--budget", "1.5"}, "an integer of at least 1"},
        {{"--budget", "nan"}, "not a finite number"},
        {{"--budget", "many"}, "not a finite number"},
        {{"--budget", "1e400"}, "not a finite number"},
        {{"--pose-b", "nan,0,0"}, "3 or 7 numbers"},
        {{"--pose-b", "inf,0,0"}, "3 or 7 numbers"},
        {{"--pose-b", "1,2,3,4"}, "3 or 7 numbers"},
        {{"--pose-b", "0,0,0,1,1,0,0"}, "quaternion of length 1.41421"},
        {{"--pose-b", "1e300,0,0"}, "up to 1e+12 m"},
        {{"--pose-a", "0,0,0", "--position", "1,0,0"}, "give one or the other"},
        {{"--as", "sop"}, "did you mean soup?"},
        {{"--pair", "1"}, "needs a pair file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const char* words[10] = {"distance", cube, torus};
        for (size_t k = 0; k < 6 && rows[i].words[k] != NULL; ++k) {
            words[k + 3] = rows[i].words[k];
        }
        rbExpectFailure(rbRunProgram(words), 2, rows[i].needle);
    }
    rbExpectFailure(RUN("distance", "sphere:1", cube, "--as-a", "soup"), 2, "A is 'sphere:1'");
    rbExpectFailure(RUN("distance", "sphere:1", "box:1,1,1", "--as", "soup"), 2, "neither A nor B");
    rbExpectFailure(RUN("distance", "sphere:1", "box:1,1,1", "--budget", "5"), 2,
                    "sphere and box have none");
    rbExpectFailure(RUN("distance", "sphere:1", cube, "--method", "global"), 2,
                    "A: a sphere has no faces");
    rbExpectFailure(RUN("distance", "x.pairs", "--method", "global"), 2, "not a pair file");
    rbExpectFailure(RUN("distance", "x.pairs", "--budget", "3"), 2, "applies to two shapes");
}

// Runs a line of the help; its files are in the folder of the sources.
static void runExample(char* line)
{
    char texts[16][256];
    const char* words[17];
    int count = 0;
    for (char* word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(count < 16);
        const char* file = strstr(word, "docs/");
        int head = file != NULL ? (int)(file - word) : 0;
        (void)snprintf(texts[count], sizeof texts[0], "%.*s%s%s", head, word,
                       file != NULL ? RB_SOURCE_DIR "/" : "", word + head);
        words[count] = texts[count];
        ++count;
    }
    words[count] = NULL;
    rbChild child = rbRunProgram(words + 1); // without "rattleback"
    rbExpectSuccess(&child);
    rbFreeChild(&child);
}

static void examplesOfTheHelpRun(void** state)
{
    (void)state;
    rbChild help = RUN("distance", "--help");
    rbExpectSuccess(&help);
    char* line = strstr(help.out, "Examples:\n");
    assert_non_null(line);
    int count = 0;
    for (line += strlen("Examples:\n"); *line != '\0';) {
        char* end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        if (strstr(line, ".pairs") == NULL) { // those files belong to the user
            runExample(line);
            ++count;
        }
        line = end + 1;
    }
    assert_true(count >= 6);
    rbFreeChild(&help);
}

RB_TEST_GROUP(test_mesh_distance, SCRATCH_TEST(aFileIsWhatItIsMeantAs),
              SCRATCH_TEST(surfacesAreLegalAndSaidToBeSo),
              SCRATCH_TEST(everyTraversalAndVolumeAgrees),
              SCRATCH_TEST(budgetAndToleranceLeaveTrueBounds),
              SCRATCH_TEST(overlapIsAnEstimateThatParts), SCRATCH_TEST(bodiesInsideAreRemarkedOn),
              SCRATCH_TEST(posesOfBothShareAFrame), SCRATCH_TEST(badFilesAreExplained),
              SCRATCH_TEST(optionsThatDoNotFitAreRefused), SCRATCH_TEST(examplesOfTheHelpRun));
