// rattleback rays: the published scenes, the report, pictures, and bad input.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <rattleback/vecmath.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rbVec3 vectorOf(const json_t* object, const char* key)
{
    const json_t* array = json_object_get(object, key);
    assert_int_equal(json_array_size(array), 3);
    return (rbVec3){json_number_value(json_array_get(array, 0)),
                    json_number_value(json_array_get(array, 1)),
                    json_number_value(json_array_get(array, 2))};
}

static double numberOf(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

// The exact first contacts of the scenes, from the closed forms of the specification, and the error
// that rays may have with the counts of the scenes. Rays are never early; the tolerance of curves
// is 1e-6 m.
typedef struct SceneRow {
    const char* name;
    int collisions;
    double exactTime; // s
    rbVec3 point;     // m, exact
    double errorMax;  // m, along the path
    double pointMax;  // m
} SceneRow;

static const SceneRow rows[] = {
    {"rays-01", 1, 4.0 / 3.0, {1.0, 0.0, 0.0}, 1e-12, 1e-12},
    {"rays-02", 1, 1.2679491924311228, {0.8660254037844387, 0.0, 0.5}, 8.9e-3, 0.088},
    {"rays-03", 1, 0.4, {0.0, 3.0, 0.0}, 1e-12, 1e-12},
    {"rays-04", 1, 0.4, {0.0, -3.0, 0.0}, 5e-3, 0.1},
    {"rays-05", 1, 1.5, {0.0, -1.0, 1.0}, 1e-12, 1e-12},
    {"rays-06", 1, 1.625, {0.0, -1.0, 1.0}, 1.0, 0.6},
    {"rays-07", 1, 7.545735, {0.0, -1.0, 0.0}, 2e-6, 2e-3},
    {"rays-08", 1, 7.041931069, {0.93202390, 0.25104238, 0.0}, 0.02, 0.07}, // printed 7.0423
    {"rays-09", 1, 6.595964, {0.0, 0.0, 0.0}, 2e-6, 1e-3},
    {"rays-10",
     32,
     12.142135623730951,
     {-1.4142135623730951, 0.7071067811865476, 0.7071067811865476},
     0.03,
     1e-6},
    {"rays-11", 11, 9.338562172233852, {0.0, 8.25, 0.0}, 0.01, 0.1},
    {"rays-12",
     1,
     0.015320508075688772,
     {0.5773502691896257, 0.5773502691896257, 0.5773502691896257},
     1e-12,
     1e-5},
};

// Twelve scenes, each with the result that its text states.
//
static void publishedScenesComeOut(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const SceneRow* row = &rows[i];
        json_t* root = RUN_JSON("rays", row->name);
        const json_t* collisions = json_object_get(root, "collisions");
        assert_int_equal(json_array_size(collisions), row->collisions);
        assert_int_equal(json_array_size(json_object_get(root, "missed")), 0);
        const json_t* first = json_array_get(collisions, 0);
        print_message("%s: error %.3e m\n", row->name, numberOf(first, "error"));
        checkNear(numberOf(first, "exactTime"), row->exactTime, 1e-6);
        checkBelow(numberOf(first, "error"), row->errorMax);
        checkBelow(-numberOf(first, "error"), 2e-6);
        checkBelow(rbDistance(vectorOf(first, "point"), row->point), row->pointMax);
        checkNear(rbLength(vectorOf(first, "normal")), 1.0, 1e-12);
        assert_string_equal(json_string_value(json_object_get(first, "found")), "sampled");
        json_decref(root);
        root = RUN_JSON("rays", row->name, "--exact");
        first = json_array_get(json_object_get(root, "collisions"), 0);
        assert_string_equal(json_string_value(json_object_get(first, "found")), "exact");
        checkNear(numberOf(first, "time"), row->exactTime, 1e-6);
        json_decref(root);
    }
}

// The reader accepts all scenes, and they run in the viewer as free flight.
//
static void publishedScenesAreScenes(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbChild child = RUN("check", rows[i].name);
        rbExpectSuccess(&child);
        assert_non_null(strstr(child.out, "0 errors, 0 warnings"));
        rbFreeChild(&child);
    }
    rbChild child = RUN("run", "rays-09", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
}

// One line per collision, then the work and the times.
//
static void reportIsForPeople(void** state)
{
    (void)state;
    rbChild child = RUN("rays", "rays-02");
    rbExpectSuccess(&child);
    static const char* const lines[] = {
        "1 collision in 2.5 s",
        "    1.276765      30  B on A             ( 0.857209, -0.086824,  0.507596)",
        "1.276765  sampled  +8.816e-03",
        "pairs    1 of 1 in every frame, 31 tests",
        "0 contacts that rays missed",
        "frames   60, update time at most ",
        " on average, 99 % within ",
    };
    EXPECT_LINES(child.out, lines);
    rbFreeChild(&child);
    // Four rays over the whole path in one frame graze the far side: wrong by sqrt 3 - 1 = 0.732 m.
    json_t* root = RUN_JSON("rays", "rays-02", "--count", "4", "--frame-rate", "0.4");
    const json_t* first = json_array_get(json_object_get(root, "collisions"), 0);
    checkNear(numberOf(first, "error"), sqrt(3.0) - 1.0, 1e-6);
    json_decref(root);
}

//
static void listOfPairsChangesNothing(void** state)
{
    (void)state;
    json_t* roots[2] = {RUN_JSON("rays", "rays-11"), RUN_JSON("rays", "rays-11", "--all-pairs")};
    checkNear(rbNumberOf(roots[0], "work", "pairsListed"), 11.0, 0.0);
    checkNear(rbNumberOf(roots[1], "work", "pairsListed"), 66.0, 0.0);
    assert_true(json_equal(json_object_get(roots[0], "collisions"),
                           json_object_get(roots[1], "collisions")));
    json_decref(roots[0]);
    json_decref(roots[1]);
}

// The pictures are complete: a drawing with the shortest ray, and as many lines as rays.
//
static void picturesOfTheRays(void** state)
{
    (void)state;
    rbChild child = RUN("rays", "rays-02", "--svg", "rays.svg", "--vtk", "rays.vtp");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* svg = rbReadFile(rbScratch("rays.svg"), &size);
    assert_non_null(strstr(svg, "shortest ray"));
    assert_non_null(strstr(svg, "seen in the xz plane"));
    assert_non_null(strstr(svg, "</svg>"));
    free(svg);
    char* vtk = rbReadFile(rbScratch("rays.vtp"), &size);
    const char* count = strstr(vtk, "NumberOfLines=\"");
    assert_non_null(count);
    assert_true(strtol(count + strlen("NumberOfLines=\""), NULL, 10) >= 73);
    assert_non_null(strstr(vtk, "Name=\"shortest\""));
    assert_non_null(strstr(vtk, "</VTKFile>"));
    free(vtk);
    rbExpectFailure(RUN("rays", "rays-02", "--svg", "no/folder/rays.svg"), 2, "no/folder/rays.svg");
    // If there is nothing to draw, the program says so and writes nothing.
    child = RUN("rays", "rays-12", "--set", "bodies.A.path.end=[10,10,20]", "--svg", "none.svg");
    assert_int_equal(child.exitCode, 1);
    assert_non_null(strstr(child.err, "no collision to draw"));
    assert_false(rbFileExists(rbScratch("none.svg")));
    rbFreeChild(&child);
}

#define SCENE_OF(geometry, position)                                                        \
    "{\"rattleback\": 1, \"duration\": 3, \"bodies\": ["                                    \
    "{\"name\": \"ball\", \"type\": \"kinematic\", \"position\": [0, 0, 3],"                \
    " \"path\": {\"type\": \"line\", \"speed\": 1, \"end\": [0, 0, -3]},"                   \
    " \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}}]},"              \
    "{\"name\": \"target\", \"type\": \"static\", \"position\": " position ", \"shapes\": " \
    "[{\"geometry\": " geometry "}]}]}"

#define TRIANGLE                                                                           \
    "{\"type\": \"mesh\", \"vertices\": [[-4, -4, 0], [4, -4, 0], [0, 4, 0]], \"faces\": " \
    "[[0, 1, 2]]}"
#define OPEN_MESH                                                                          \
    "{\"type\": \"mesh\", \"vertices\": [[-4, -4, 0], [4, -4, 0], [4, 4, 0], [-4, 4, 0]]," \
    " \"faces\": [[0, 1, 2], [0, 2, 3]]}"

static double firstTime(const char* scene)
{
    rbWriteText(rbScratch("scene.json"), scene);
    json_t* root = RUN_JSON("rays", "./scene.json");
    const json_t* collisions = json_object_get(root, "collisions");
    assert_int_equal(json_array_size(collisions), 1);
    const json_t* first = json_array_get(collisions, 0);
    checkNear(fabs(vectorOf(first, "normal").z), 1.0, 1e-9);
    double time = numberOf(first, "time");
    json_decref(root);
    return time;
}

// Surfaces without an inside are hit on the side facing the ray: a ball of 0.5 m from 3 m above
// touches after 2.5 m, for one triangle or several.
static void openMeshesAndSingleTrianglesAreHit(void** state)
{
    (void)state;
    checkNear(firstTime(SCENE_OF(TRIANGLE, "[0, 0, 0]")), 2.5, 1e-9);
    checkNear(firstTime(SCENE_OF(OPEN_MESH, "[0.1, 0.2, 0]")), 2.5, 1e-9);
    checkNear(firstTime(SCENE_OF("{\"type\": \"plane\", \"normal\": [0, 0, 1]}", "[0, 0, 0]")), 2.5,
              1e-9);
}

// A count of 0 leaves only the rays of vertices; balls have none, so overlap is found a frame late.
// 1e7 rays are exact to 1e-6, and more are refused.
static void countsAtTheirLimits(void** state)
{
    (void)state;
    json_t* root = RUN_JSON("rays", "rays-01", "--count", "0");
    const json_t* first = json_array_get(json_object_get(root, "collisions"), 0);
    assert_true(json_is_true(json_object_get(first, "isInside")));
    checkNear(rbNumberOf(root, "work", "rays"), 0.0, 0.0);
    checkBelow(numberOf(first, "error"), 0.75 / 24.0 + 1e-9);
    json_decref(root);
    root = RUN_JSON("rays", "rays-02", "--count", "10000000");
    first = json_array_get(json_object_get(root, "collisions"), 0);
    checkBelow(numberOf(first, "error"), 1e-6);
    checkBelow(-numberOf(first, "error"), 1e-12);
    json_decref(root);
    rbExpectFailure(RUN("rays", "rays-01", "--count", "10000001"), 2, "--count is 10000001");
}

//
static void badInputGetsAMessage(void** state)
{
    (void)state;
    rbExpectFailure(RUN("rays", "no-such-scene"), 2, "no-such-scene");
    rbExpectFailure(RUN("rays", "rays-01", "--count", "-1"), 2, "--count is -1");
    rbExpectFailure(RUN("rays", "rays-01", "--count", "1.5"), 2, "must be integers");
    rbExpectFailure(RUN("rays", "rays-01", "--frame-rate", "-24"), 2, "--frame-rate is -24");
    rbExpectFailure(RUN("rays", "rays-01", "--frame-rate", "0"), 2, "--frame-rate is 0");
    rbExpectFailure(RUN("rays", "rays-01", "--frame-rate", "1e9"), 2, "frames");
    rbExpectFailure(RUN("rays", "rays-01", "--pattern", "spiral"), 2, "uniform or lattice");
    rbExpectFailure(RUN("rays", "rays-01", "--mode", "bounce"), 2, "stop or log");
    rbExpectFailure(RUN("rays", "rays-01", "--set", "rays.frameRat=3"), 2, "frameRate");
    rbExpectFailure(RUN("rays", "rays-01", "--set", "rays.mode=stopp"), 2, "stop");
    rbExpectFailure(RUN("rays", "rays-01", "--set", "rays.chordSamples=10"), 2, "angle");
    rbExpectFailure(RUN("rays", "tumbling-box"), 2, "body \"box\" is dynamic");
    rbExpectFailure(RUN("rays", "rays-01", "--set", "bodies.B.position=[1.5,0,0]"), 2,
                    "\"A\" and \"B\" overlap by 0.5 m");
    rbWriteText(rbScratch("scene.json"), SCENE_OF(TRIANGLE, "[0, 0, 3]"));
    rbExpectFailure(RUN("rays", "./scene.json"), 2, "overlap");
}

RB_TEST_GROUP(test_rays, SCRATCH_TEST(publishedScenesComeOut),
              SCRATCH_TEST(publishedScenesAreScenes), SCRATCH_TEST(reportIsForPeople),
              SCRATCH_TEST(listOfPairsChangesNothing), SCRATCH_TEST(picturesOfTheRays),
              SCRATCH_TEST(openMeshesAndSingleTrianglesAreHit), SCRATCH_TEST(countsAtTheirLimits),
              SCRATCH_TEST(badInputGetsAMessage));
