// rattleback distance: answers that can be checked by hand, and refusals.
#include "child.h"

#include <jansson.h>
#include <string.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, setUp, tearDown)

static int setUp(void** state)
{
    (void)state;
    (void)rbMakeScratch();
    return 0;
}

static int tearDown(void** state)
{
    (void)state;
    rbRemoveScratch();
    return 0;
}

static double distanceOf(const char* const* words)
{
    rbChild child = rbRunProgram(words);
    rbExpectSuccess(&child);
    json_error_t error;
    json_t* root = json_loads(child.out, 0, &error);
    assert_non_null(root);
    double distance = json_number_value(json_object_get(root, "distance"));
    assert_true(json_number_value(json_object_get(root, "lower")) <= distance);
    assert_true(json_number_value(json_object_get(root, "upper")) >= distance);
    json_decref(root);
    rbFreeChild(&child);
    return distance;
}

#define DISTANCE(...) distanceOf((const char* const[]){"distance", __VA_ARGS__, "--json", NULL})

static void answersAreThoseOfPaperAndPencil(void** state)
{
    (void)state;
    // 2 - 0.5 - 0.5; a unit box reaches 0.5 along x.
    checkNear(DISTANCE("sphere:0.5", "box:1,1,1", "--position", "2,0,0"), 1.0, 1e-13);
    // Boxes of edge 1, centres 0.9 apart: 0.1 deep; both methods.
    checkNear(DISTANCE("box:1,1,1", "box:1,1,1", "--position", "0.9,0.1,0"), -0.1, 1e-13);
    checkNear(
        DISTANCE("box:1,1,1", "box:1,1,1", "--position", "0.9,0.1,0", "--method", "iterative"),
        -0.1, 1e-12);
    // Ellipsoids along a common axis: 5 - 1 - 3.
    checkNear(DISTANCE("ellipsoid:1,1,1", "ellipsoid:3,2,1", "--position", "5,0,0"), 1.0, 1e-9);
    // An upright capsule of radius 0.2 and segment 1 at z = 1 over the ground.
    checkNear(DISTANCE("capsule:0.2,1", "plane:0,0,1,-1"), 0.3, 1e-13);
    // Rounding both by 0.1 takes 0.2 away.
    checkNear(DISTANCE("sphere:0.5", "box:1,1,1", "--position", "2,0,0", "--radius-a", "0.1",
                       "--radius-b", "0.1"),
              0.8, 1e-13);
    // The corner tetrahedron against a point-like ball at (1, 1, 1): 2/sqrt(3) from its slanted
    // face.
    checkNear(DISTANCE("{\"type\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]]}",
                       "sphere:0.001", "--position", "1,1,1"),
              1.1547005383792515 - 0.001, 1e-12);
}

static void mistakesAreExplained(void** state)
{
    (void)state;
    rbExpectFailure(RUN("distance", "shpere:1", "box:1,1,1"), 2, "did you mean sphere");
    rbExpectFailure(RUN("distance", "sphere:1", "box:1,1"), 2, "needs 3 numbers");
    rbExpectFailure(RUN("distance", "sphere:-1", "box:1,1,1"), 2, "radius");
    rbExpectFailure(RUN("distance", "sphere:1", "box:1,1,1", "--position", "1,2"), 2, "3 numbers");
    rbExpectFailure(RUN("distance", "sphere:1", "sphere:1", "--orientation", "1,1,0,0"), 2, "unit");
    rbExpectFailure(RUN("distance", "sphere:1", "sphere:1", "--method", "magic"), 2, "iterative");
    rbExpectFailure(RUN("distance", "cone:1,1", "box:1,1,1", "--method", "closed"), 2,
                    "no closed form");
    rbExpectFailure(RUN("distance", "plane:0,0,1", "plane:0,0,1"), 2, "plane");
    rbExpectFailure(RUN("distance", "hull:no.obj", "sphere:1"), 2, "no.obj");
}

RB_TEST_GROUP(test_distance, TEST(answersAreThoseOfPaperAndPencil), TEST(mistakesAreExplained));
