// rattleback distance: signed distance, witnesses and bounds of two shapes given in words.
//
// The shapes become a scene of two bodies, so that they are read, judged and reported by the same
// code as in a scene file.
#include "base/core/memory.h"
#include "cli/cli.h"

#include <rattleback/collision.h>
#include <rattleback/scene.h>
#include <rattleback/world.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A shape in words: its keys in a scene, in the order of the numbers.
typedef struct ShapeWord {
    const char* name;
    const char* keys[2]; // the last one takes what is left
    int counts[2];       // numbers of a key; 1: a number, more: an array
    int optional;        // numbers that may be left out at the end
} ShapeWord;

static const ShapeWord shapeWords[] = {
    {"sphere", {"radius", NULL}, {1, 0}, 0},      {"box", {"size", NULL}, {3, 0}, 0},
    {"capsule", {"radius", "length"}, {1, 1}, 0}, {"cylinder", {"radius", "length"}, {1, 1}, 0},
    {"cone", {"radius", "height"}, {1, 1}, 0},    {"ellipsoid", {"semiAxes", NULL}, {3, 0}, 0},
    {"plane", {"normal", "offset"}, {3, 1}, 1},
};
#define WORD_COUNT ((int)(sizeof shapeWords / sizeof shapeWords[0]))
#define SHAPE_TEXT_MAX 4096

// Numbers separated by commas; -1 when the text is something else.
static int parseNumbers(const char* text, double* numbers, int capacity)
{
    int count = 0;
    const char* here = text;
    while (count < capacity) {
        char* end = NULL;
        numbers[count] = strtod(here, &end);
        if (end == here || !isfinite(numbers[count])) {
            return -1;
        }
        ++count;
        if (*end == '\0') {
            return count;
        }
        if (*end != ',') {
            return -1;
        }
        here = end + 1;
    }
    return -1;
}

static size_t appendNumbers(char* json, size_t capacity, const double* numbers, int count)
{
    size_t used = 0;
    used += (size_t)snprintf(json + used, capacity - used, "%s", count > 1 ? "[" : "");
    for (int i = 0; i < count; ++i) {
        used += (size_t)snprintf(json + used, capacity - used, "%s%.17g", i > 0 ? ", " : "",
                                 numbers[i]);
    }
    used += (size_t)snprintf(json + used, capacity - used, "%s", count > 1 ? "]" : "");
    return used;
}

static const ShapeWord* findWord(const char* text, size_t length)
{
    const char* names[WORD_COUNT];
    char name[32];
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), text);
    for (int i = 0; i < WORD_COUNT; ++i) {
        names[i] = shapeWords[i].name;
        if (strcmp(name, names[i]) == 0) {
            return &shapeWords[i];
        }
    }
    const char* nearest = rbFindNearestWord(name, names, WORD_COUNT);
    (void)rbFail("there is no shape '%s'; %s%s", name,
                 nearest != NULL
                     ? "did you mean "
                     : "sphere, box, capsule, cylinder, cone, ellipsoid, plane, hull or "
                       "a JSON object as in a scene are accepted",
                 nearest != NULL ? nearest : "");
    return NULL;
}

// "box:1,2,3" to {"type": "box", "size": [1, 2, 3]}; JSON stays, "hull:FILE" names a mesh file.
static bool makeShapeJson(const char* text, char json[SHAPE_TEXT_MAX])
{
    if (text[0] == '{') {
        if (strlen(text) >= SHAPE_TEXT_MAX) {
            (void)rbFail("the shape has %zu characters; at most %d are accepted", strlen(text),
                         SHAPE_TEXT_MAX - 1);
            return false;
        }
        (void)snprintf(json, SHAPE_TEXT_MAX, "%s", text);
        return true;
    }
    if (strncmp(text, "hull:", 5) == 0) {
        if (strpbrk(text, "\"\\") != NULL || strlen(text) > 1000) {
            (void)rbFail("the file name '%.60s' has a quote, a backslash or too many characters",
                         text + 5);
            return false;
        }
        (void)snprintf(json, SHAPE_TEXT_MAX, "{\"type\": \"hull\", \"file\": \"%s\"}", text + 5);
        return true;
    }
    const char* colon = strchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    const ShapeWord* word = findWord(text, length);
    if (word == NULL) {
        return false;
    }
    double numbers[8];
    int count = colon != NULL ? parseNumbers(colon + 1, numbers, 8) : 0;
    int wanted = word->counts[0] + word->counts[1];
    if (count > wanted || count < wanted - word->optional) {
        (void)rbFail("'%s' needs %d numbers separated by commas: %s%s%s", text, wanted,
                     word->keys[0], word->keys[1] != NULL ? ", " : "",
                     word->keys[1] != NULL ? word->keys[1] : "");
        return false;
    }
    size_t used = (size_t)snprintf(json, SHAPE_TEXT_MAX, "{\"type\": \"%s\"", word->name);
    int next = 0;
    for (int k = 0; k < 2 && next < count; ++k) {
        used += (size_t)snprintf(json + used, SHAPE_TEXT_MAX - used, ", \"%s\": ", word->keys[k]);
        used += appendNumbers(json + used, SHAPE_TEXT_MAX - used, numbers + next, word->counts[k]);
        next += word->counts[k];
    }
    (void)snprintf(json + used, SHAPE_TEXT_MAX - used, "}");
    return true;
}

// Both shapes in a world, through a scene of two resting bodies.
static rbWorld* makeWorld(const rbArguments* arguments, rbExit* exit)
{
    char shapes[2][SHAPE_TEXT_MAX];
    *exit = RB_EXIT_USAGE;
    if (!makeShapeJson(arguments->words[0], shapes[0]) ||
        !makeShapeJson(arguments->words[1], shapes[1])) {
        return NULL;
    }
    char* text = rbAlloc(2 * SHAPE_TEXT_MAX + 512);
    int size =
        snprintf(text, 2 * SHAPE_TEXT_MAX + 512,
                 "{\"rattleback\": 1, \"bodies\": ["
                 "{\"name\": \"A\", \"type\": \"static\", \"shapes\": [{\"geometry\": %s}]}, "
                 "{\"name\": \"B\", \"type\": \"static\", \"shapes\": [{\"geometry\": %s}]}]}",
                 shapes[0], shapes[1]);
    rbSceneSource source = {.name = "distance"};
    rbError error = {0};
    rbScene* scene = rbReadSceneText(text, (size_t)size, &source, &error);
    rbFree(text, 2 * SHAPE_TEXT_MAX + 512);
    rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, &error) : NULL;
    rbDestroyScene(scene);
    if (world == NULL) {
        *exit = rbFailWith(&error);
    }
    return world;
}

static bool readVector(const rbArguments* arguments, const char* name, double* numbers, int count)
{
    const char* text = rbArguments_Get(arguments, name);
    if (text != NULL && parseNumbers(text, numbers, count) != count) {
        (void)rbFail("%s is '%s'; %d numbers separated by commas are needed", name, text, count);
        return false;
    }
    return true;
}

static bool readInput(const rbArguments* arguments, rbSeparationInput* input)
{
    double p[3] = {0.0, 0.0, 0.0};
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    if (!readVector(arguments, "--position", p, 3) ||
        !readVector(arguments, "--orientation", q, 4)) {
        return false;
    }
    input->transformBtoA = (rbTransform){{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
    const char* method = rbArguments_Get(arguments, "--method");
    input->method = method != NULL ? rbPairMethod_Find(method) : RB_PAIR_AUTO;
    if (input->method == RB_PAIR_COUNT) {
        (void)rbFail("there is no method '%s'; auto, closed and iterative are accepted", method);
        return false;
    }
    return rbArguments_GetNumber(arguments, "--radius-a", 0.0, 1e12, &input->radiusA) &&
           rbArguments_GetNumber(arguments, "--radius-b", 0.0, 1e12, &input->radiusB);
}

static void printSeparation(const rbSeparation* s)
{
    (void)printf("distance    %.17g m%s\n", s->distance, s->distance < 0.0 ? " (overlap)" : "");
    (void)printf("bounds      %.17g .. %.17g m\n", s->lower, s->upper);
    (void)printf("point on A  %.17g %.17g %.17g\n", s->pointA.x, s->pointA.y, s->pointA.z);
    (void)printf("point on B  %.17g %.17g %.17g\n", s->pointB.x, s->pointB.y, s->pointB.z);
    (void)printf("normal      %.17g %.17g %.17g (from A to B)\n", s->normal.x, s->normal.y,
                 s->normal.z);
    (void)printf("work        %d iterations, %s\n", s->iterations, rbStopReason_Text(s->reason));
}

static void printSeparationJson(const rbSeparation* s)
{
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Number(&json, "distance", s->distance);
    rbJson_Number(&json, "lower", s->lower);
    rbJson_Number(&json, "upper", s->upper);
    rbJson_Vec3(&json, "pointA", s->pointA);
    rbJson_Vec3(&json, "pointB", s->pointB);
    rbJson_Vec3(&json, "normal", s->normal);
    rbJson_Integer(&json, "iterations", s->iterations);
    rbJson_Text(&json, "reason", rbStopReason_Text(s->reason));
    rbJson_Integer(&json, "childA", s->childA);
    rbJson_Integer(&json, "childB", s->childB);
    rbJson_End(&json);
}

static rbExit runDistance(const rbArguments* arguments)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    if (!readInput(arguments, &input)) {
        return RB_EXIT_USAGE;
    }
    rbExit exit;
    rbWorld* world = makeWorld(arguments, &exit);
    if (world == NULL) {
        return exit;
    }
    rbBodyId a = rbWorld_FindBody(world, "A");
    rbBodyId b = rbWorld_FindBody(world, "B");
    input.geometryA = rbWorld_GetGeometry(world, rbBody_GetShape(world, a, 0).geometry);
    input.geometryB = rbWorld_GetGeometry(world, rbBody_GetShape(world, b, 0).geometry);
    rbError error = {0};
    rbSeparation separation;
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &separation, &error);
    rbFree(scratch, rbGetSeparationScratchSize());
    rbDestroyWorld(world);
    if (status != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    if (rbArguments_Has(arguments, "--json")) {
        printSeparationJson(&separation);
    } else {
        printSeparation(&separation);
    }
    bool isWide = separation.reason == RB_STOP_ITERATIONS || separation.reason == RB_STOP_STORAGE;
    return isWide ? RB_EXIT_NUMERICAL : RB_EXIT_DONE;
}

static const rbOption options[] = {
    {"--position", "X,Y,Z", "of B in the frame of A, m (default 0,0,0)"},
    {"--orientation", "W,X,Y,Z", "of B in the frame of A, a unit quaternion (default 1,0,0,0)"},
    {"--method", "NAME", "auto, closed or iterative (default auto)"},
    {"--radius-a", "R", "rounds A by a ball of this radius, m"},
    {"--radius-b", "R", "rounds B by a ball of this radius, m"},
    {"--json", NULL, "one object for machines"},
};

static const char* const examples[] = {
    "rattleback distance sphere:0.5 box:1,1,1 --position 2,0,0",
    "rattleback distance box:1,1,1 box:1,1,1 --position 0.9,0.1,0 --method iterative",
    "rattleback distance capsule:0.2,1 plane:0,0,1 --json",
    "rattleback distance hull:scenes/meshes/star.obj ellipsoid:1,2,3 --position 3,3,3",
    NULL,
};

const rbVerb rbVerbDistance = {
    .name = "distance",
    .words = "A B",
    .help = "signed distance, witness points and bounds of two shapes",
    .more = "A and B are sphere:R  box:X,Y,Z (edge lengths)  capsule:R,L  cylinder:R,L  cone:R,H\n"
            "ellipsoid:A,B,C (semi-axes)  plane:NX,NY,NZ,OFFSET  hull:FILE, or a geometry in JSON\n"
            "as in a scene (docs/scene-format.md). Answers are in the frame of A.",
    .run = runDistance,
    .wordMin = 2,
    .wordMax = 2,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
