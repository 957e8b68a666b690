// rattleback distance: answers that can be checked by hand, and refusals.
#include "child.h"

#include <jansson.h>
#include <math.h>
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
    // Boxes of edge 1, centers 0.9 apart: 0.1 deep; both methods.
    checkNear(DISTANCE("box:1,1,1", "box:1,1,1", "--position", "0.9,0.1,0"), -0.1, 1e-13);
    checkNear(
        DISTANCE("box:1,1,1", "box:1,1,1", "--position", "0.9,0.1,0", "--method", "iterative"),
        -0.1, 1e-12);
    // Ellipsoids along a common axis: 5 - 1 - 3.
    checkNear(DISTANCE("ellipsoid:1,1,1", "ellipsoid:3,2,1", "--position", "5,0,0"), 1.0, 1e-9);
    // An upright capsule of radius 0.2 and segment 1 at z = 1 over the ground.
    checkNear(DISTANCE("capsule:0.2,1", "plane:0,0,1,-1"), 0.3, 1e-13);
    // Four digits of a quaternion are enough on a command line.
    checkNear(DISTANCE("box:1,2,3", "sphere:0.5", "--position", "0,0,3", "--orientation",
                       "0.7071,0.7071,0,0"),
              1.0, 1e-13);
    // Touching is relative to the size: a gap of three radii is not a contact.
    rbChild tiny = RUN("distance", "sphere:1e-9", "sphere:1e-9", "--position", "5e-9,0,0");
    rbExpectSuccess(&tiny);
    assert_null(strstr(tiny.out, "contact"));
    rbFreeChild(&tiny);
    // Rounding both by 0.1 reduces the distance by 0.2.
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
                    "method closed does not support cone and box; use the method auto");
    rbExpectFailure(RUN("distance", "plane:0,0,1", "plane:0,0,1"), 2, "half spaces");
    rbExpectFailure(RUN("distance", "sphere:1", "plane:0,0,1", "--method", "iterative"), 2,
                    "use the method auto");
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

// The pairs that the methods other than the default can measure.
typedef enum RowKind {
    ROW_CONVEX,   // two bounded convex shapes: iterative
    ROW_SURFACES, // two separated meshes, soups, polyhedra or hulls: global
    ROW_OTHER,
} RowKind;

static RowKind findKind(const ByHand* row)
{
    int files = 0;
    int hulls = 0;
    for (const char* at = row->command; (at = strstr(at, "docs/")) != NULL; ++at) {
        ++files;
        hulls += at - row->command >= 5 && strncmp(at - 5, "hull:", 5) == 0;
    }
    if (strstr(row->command, "plane") != NULL || strstr(row->command, ".json") != NULL) {
        return ROW_OTHER;
    }
    if (files == hulls) {
        return ROW_CONVEX;
    }
    return files == 2 && row->distance > 0.0 ? ROW_SURFACES : ROW_OTHER;
}

#define WORD_SIZE 512

// Runs a row; its files are in the folder of the sources.
static void checkRow(const ByHand* row, const char* method)
{
    char command[sizeof row->command];
    char texts[16][WORD_SIZE];
    const char* words[20];
    int count = 0;
    (void)snprintf(command, sizeof command, "%s", row->command);
    for (char* word = strtok(command, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(count < 16);
        const char* file = strstr(word, "docs/");
        int head = file != NULL ? (int)(file - word) : 0;
        (void)snprintf(texts[count], WORD_SIZE, "%.*s%s%s", head, word,
                       file != NULL ? RB_SOURCE_DIR "/" : "", word + head);
        words[count] = texts[count];
        ++count;
    }
    if (method != NULL) {
        words[count++] = "--method";
        words[count++] = method;
    }
    words[count++] = "--json";
    words[count] = NULL;
    rbChild child = rbRunProgram(words);
    rbExpectSuccess(&child);
    json_error_t error;
    json_t* root = json_loads(child.out, 0, &error);
    assert_non_null(root);
    double distance = json_number_value(json_object_get(root, "distance"));
    const json_t* contacts = json_object_get(root, "contacts");
    if (!(fabs(distance - row->distance) <= 1e-12)) {
        fail_msg("%s: %.17g, by hand %.17g", row->command, distance, row->distance);
    }
    if (contacts != NULL && json_array_size(contacts) != (size_t)row->contacts) {
        fail_msg("%s: %zu contacts", row->command, json_array_size(contacts));
    }
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
            static const char* const seconds[] = {
                [ROW_CONVEX] = "iterative", [ROW_SURFACES] = "global", [ROW_OTHER] = NULL};
            const char* second = seconds[findKind(&row)];
            checkRow(&row, NULL);
            if (second != NULL) {
                checkRow(&row, second);
            }
            ++rowCount;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    free(page);
    // seven bounded convex shapes, mesh, soup, polyhedron with each other and with the plane, some
    // twice, and compounds
    assert_true(rowCount >= 80);
}

RB_TEST_GROUP(test_distance, SCRATCH_TEST(everyPairOfShapesIsRightByHand),
              SCRATCH_TEST(answersAreThoseOfPaperAndPencil), SCRATCH_TEST(mistakesAreExplained));
