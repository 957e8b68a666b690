// rattleback distance: answers that can be checked by hand, and refusals.
#include "child.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    // Four digits of a quaternion will do on a command line.
    checkNear(DISTANCE("box:1,2,3", "sphere:0.5", "--position", "0,0,3", "--orientation",
                       "0.7071,0.7071,0,0"),
              1.0, 1e-13);
    // Touching is relative to the size: three radii of gap are no contact.
    rbChild tiny = RUN("distance", "sphere:1e-9", "sphere:1e-9", "--position", "5e-9,0,0");
    rbExpectSuccess(&tiny);
    assert_null(strstr(tiny.out, "contact"));
    rbFreeChild(&tiny);
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
    rbExpectFailure(RUN("distance", "sphere:1", "sphere:1", "--orientation", "1,1,0,0"), 2,
                    "0.70710678");
    rbExpectFailure(RUN("distance", "sphere:1", "sphere:1", "--method", "magic"), 2, "iterative");
    rbExpectFailure(RUN("distance", "cone:1,1", "box:1,1,1", "--method", "closed"), 2,
                    "method closed does not measure cone and box; the method auto");
    rbExpectFailure(RUN("distance", "plane:0,0,1", "plane:0,0,1"), 2, "half spaces");
    rbExpectFailure(RUN("distance", "sphere:1", "plane:0,0,1", "--method", "iterative"), 2,
                    "the method auto measures them");
    rbExpectFailure(RUN("distance", "hull:no.obj", "sphere:1"), 2, "no.obj");
}

// One row of the table of docs/distance-by-hand.md.
typedef struct ByHand {
    char command[256];
    double distance;
    int contacts;
} ByHand;

// | `rattleback COMMAND` | reason | DISTANCE | CONTACTS |
static bool readRow(const char* line, ByHand* row)
{
    static const char head[] = "| `rattleback ";
    if (strncmp(line, head, sizeof head - 1) != 0) {
        return false;
    }
    const char* command = line + sizeof head - 1;
    const char* reason = strstr(command, "` | ");
    const char* distance = reason != NULL ? strstr(reason + 4, " | ") : NULL;
    const char* contacts = distance != NULL ? strstr(distance + 3, " | ") : NULL;
    if (contacts == NULL) {
        return false;
    }
    (void)snprintf(row->command, sizeof row->command, "%.*s", (int)(reason - command), command);
    row->distance = strtod(distance + 3, NULL);
    row->contacts = (int)strtol(contacts + 3, NULL, 10);
    return true;
}

// Runs a row in the folder of the sources, where docs/cube.obj is.
static void checkRow(ByHand* row, bool isIterative)
{
    static char cube[] = "hull:" RB_SOURCE_DIR "/docs/cube.obj";
    const char* words[16];
    int count = 0;
    for (char* word = strtok(row->command, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(count < 12);
        words[count++] = strcmp(word, "hull:docs/cube.obj") == 0 ? cube : word;
    }
    if (isIterative) {
        words[count++] = "--method";
        words[count++] = "iterative";
    }
    words[count++] = "--json";
    words[count] = NULL;
    rbChild child = rbRunProgram(words);
    rbExpectSuccess(&child);
    json_error_t error;
    json_t* root = json_loads(child.out, 0, &error);
    assert_non_null(root);
    checkNear(json_number_value(json_object_get(root, "distance")), row->distance, 1e-12);
    assert_int_equal(json_array_size(json_object_get(root, "contacts")), row->contacts);
    json_decref(root);
    rbFreeChild(&child);
}

// G-29, G-36, G-37
static void everyPairOfShapesIsRightByHand(void** state)
{
    (void)state;
    size_t size = 0;
    char* page = rbReadFile(RB_SOURCE_DIR "/docs/distance-by-hand.md", &size);
    int rowCount = 0;
    for (char* line = page; line != NULL && *line != '\0';) {
        char* end = strchr(line, '\n');
        ByHand row;
        if (readRow(line, &row)) {
            bool hasPlane = strstr(row.command, "plane") != NULL;
            ByHand copy = row;
            checkRow(&row, false);
            if (!hasPlane) {
                checkRow(&copy, true);
            }
            ++rowCount;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    free(page);
    // seven bounded shapes with each other and with the plane, some twice
    assert_true(rowCount >= 35);
}

RB_TEST_GROUP(test_distance, SCRATCH_TEST(everyPairOfShapesIsRightByHand),
              SCRATCH_TEST(answersAreThoseOfPaperAndPencil), SCRATCH_TEST(mistakesAreExplained));
