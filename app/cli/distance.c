// rattleback distance: signed distance, witnesses and bounds of two shapes given in words.
//
// Words are read by io/scene/shape_words.c, as in files of pairs; a shape in JSON becomes a scene
// of one body, so that it is read and judged by the same code as in a scene file.
#include "cli/distance.h"

#include "base/core/memory.h"
#include "io/scene/mesh_text.h"
#include "io/scene/shape_words.h"

#include <rattleback/scene.h>
#include <rattleback/world.h>

#include <math.h>
#include <string.h>

#define JSON_TEXT_MAX (1 << 20) // characters of a shape in JSON

// "hull:FILE" names a mesh file, whose points are taken.
static rbGeometry* readNamedShape(rbShapeType type, const char* name, void* context, rbError* error)
{
    (void)context;
    if (type != RB_SHAPE_HULL) {
        (void)rbError_Set(error, RB_STATUS_UNSUPPORTED,
                          "a %s has no name on the command line; give it in JSON as in a scene, or "
                          "define it in a file of pairs",
                          rbShapeType_Name(type));
        return NULL;
    }
    rbMeshOptions options = rbDefaultMeshOptions();
    options.use = RB_MESH_USE_HULL;
    return rbReadMesh(name, &options, error);
}

static rbGeometry* makeShapeOfJson(const char* json, rbError* error)
{
    static const char before[] = "{\"rattleback\": 1, \"bodies\": [{\"name\": \"shape\", "
                                 "\"type\": \"static\", \"shapes\": [{\"geometry\": ";
    static const char after[] = "}]}]}";
    size_t length = strlen(json);
    if (length > JSON_TEXT_MAX) {
        (void)rbError_Set(error, RB_STATUS_LIMIT,
                          "the shape has %zu characters; at most %d are accepted", length,
                          JSON_TEXT_MAX);
        return NULL;
    }
    size_t size = sizeof before + length + sizeof after;
    char* text = rbAlloc(size);
    int used = snprintf(text, size, "%s%s%s", before, json, after);
    rbSceneSource source = {.name = "distance"};
    rbScene* scene = rbReadSceneText(text, (size_t)used, &source, error);
    rbFree(text, size);
    rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, error) : NULL;
    rbDestroyScene(scene);
    if (world == NULL) {
        return NULL;
    }
    rbBodyId body = rbWorld_FindBody(world, "shape");
    rbGeometry* geometry =
        rbGeometry_Retain(rbWorld_GetGeometry(world, rbBody_GetShape(world, body, 0).geometry));
    rbDestroyWorld(world);
    return geometry;
}

// A shape of the command line, to be destroyed; NULL after a sentence on stderr.
static rbGeometry* makeShape(const char* text)
{
    rbError error = {0};
    rbGeometry* geometry =
        text[0] == '{' ? makeShapeOfJson(text, &error)
                       : rbMakeShapeOfWords(text, strlen(text), readNamedShape, NULL, &error);
    if (geometry == NULL && error.file[0] != '\0') {
        (void)rbFailWith(&error);
    } else if (geometry == NULL) {
        (void)rbFail("%s", error.message);
    }
    return geometry;
}

// Numbers separated by commas; false when the text is something else.
static bool parseNumbers(const char* text, double* numbers, int count)
{
    const char* at = text;
    for (int i = 0; i < count; ++i) {
        rbToken token = {at, strcspn(at, ",")};
        if (!rbToken_ToNumber(token, &numbers[i]) || (at[token.length] == ',') != (i + 1 < count)) {
            return false;
        }
        at += token.length + 1;
    }
    return true;
}

static bool readVector(const rbArguments* arguments, const char* name, double* numbers, int count)
{
    const char* text = rbArguments_Get(arguments, name);
    if (text != NULL && !parseNumbers(text, numbers, count)) {
        (void)rbFail("%s is '%s'; %d numbers separated by commas are needed", name, text, count);
        return false;
    }
    return true;
}

bool rbReadMethod(const rbArguments* arguments, const char* option, rbPairMethod* method)
{
    const char* name = rbArguments_Get(arguments, option);
    rbPairMethod found = name != NULL ? rbPairMethod_Find(name) : *method;
    if (found != RB_PAIR_COUNT) {
        *method = found;
        return true;
    }
    char list[256];
    size_t used = 0;
    for (int i = 0; i < RB_PAIR_COUNT && used < sizeof list; ++i) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                 rbPairMethod_Name((rbPairMethod)i));
    }
    (void)rbFail("%s: there is no method '%s'; known are %s", option, name, list);
    return false;
}

static bool readInput(const rbArguments* arguments, rbSeparationInput* input)
{
    double p[3] = {0.0, 0.0, 0.0};
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    if (!readVector(arguments, "--position", p, 3) ||
        !readVector(arguments, "--orientation", q, 4)) {
        return false;
    }
    // typed by hand, a quaternion has some digits only
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabs(length - 1.0) <= 1e-3)) {
        (void)rbFail("--orientation has length %g; 1 within 0.001 is needed, as of a quarter turn "
                     "about x: 0.70710678,0.70710678,0,0",
                     length);
        return false;
    }
    input->transformBtoA = (rbTransform){
        {p[0], p[1], p[2]}, {q[0] / length, q[1] / length, q[2] / length, q[3] / length}};
    return rbReadMethod(arguments, "--method", &input->method) &&
           rbArguments_GetNumber(arguments, "--radius-a", 0.0, 1e12, &input->radiusA) &&
           rbArguments_GetNumber(arguments, "--radius-b", 0.0, 1e12, &input->radiusB);
}

// Nobody wants to read -0.
static rbVec3 plain(rbVec3 v)
{
    return rbAdd(v, RB_VEC3_ZERO);
}

void rbPrintSeparation(const rbSeparation* separation)
{
    rbSeparation copy = *separation;
    const rbSeparation* s = &copy;
    copy.distance += 0.0;
    copy.pointA = plain(copy.pointA);
    copy.pointB = plain(copy.pointB);
    copy.normal = plain(copy.normal);
    (void)printf("distance    %.17g m%s\n", s->distance, s->distance < 0.0 ? " (overlap)" : "");
    (void)printf("bounds      %.17g .. %.17g m\n", s->lower, s->upper);
    (void)printf("point on A  %.17g %.17g %.17g\n", s->pointA.x, s->pointA.y, s->pointA.z);
    (void)printf("point on B  %.17g %.17g %.17g\n", s->pointB.x, s->pointB.y, s->pointB.z);
    (void)printf("normal      %.17g %.17g %.17g (from A to B)\n", s->normal.x, s->normal.y,
                 s->normal.z);
    (void)printf("work        %d iterations, %s\n", s->iterations, rbStopReason_Text(s->reason));
}

void rbJson_Separation(rbJson* json, const rbSeparation* s)
{
    rbJson_Number(json, "distance", s->distance);
    rbJson_Number(json, "lower", s->lower);
    rbJson_Number(json, "upper", s->upper);
    rbJson_Vec3(json, "pointA", s->pointA);
    rbJson_Vec3(json, "pointB", s->pointB);
    rbJson_Vec3(json, "normal", s->normal);
    rbJson_Integer(json, "iterations", s->iterations);
    rbJson_Text(json, "reason", rbStopReason_Text(s->reason));
    rbJson_Integer(json, "childA", s->childA);
    rbJson_Integer(json, "childB", s->childB);
}

bool rbIsWide(const rbSeparation* separation)
{
    return separation->reason == RB_STOP_ITERATIONS || separation->reason == RB_STOP_STORAGE ||
           separation->reason == RB_STOP_ESTIMATE;
}

// A gap that counts as touching: small against the bodies, too.
static double thresholdFor(const rbGeometry* a, const rbGeometry* b)
{
    double threshold = RB_CONTACT_THRESHOLD;
    const rbGeometry* shapes[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        if (rbGeometry_GetType(shapes[i]) != RB_SHAPE_PLANE) {
            double size = rbGeometry_GetRadius(shapes[i], RB_VEC3_ZERO);
            threshold = fmin(threshold, RB_CONTACT_THRESHOLD * size);
        }
    }
    return threshold;
}

// Contacts of more pairs of parts are counted, not listed.
#define CONTACTS_MAX 64

static void printContacts(const rbContactList* list)
{
    int stored = list->count < list->capacity ? list->count : list->capacity;
    for (int i = 0; i < stored; ++i) {
        const rbManifold* m = &list->manifolds[i];
        for (int k = 0; k < m->count; ++k) {
            rbVec3 middle = plain(rbManifoldPoint_GetMiddle(&m->points[k]));
            (void)printf("contact     %.17g %.17g %.17g, distance %.17g m, parts %d %d\n", middle.x,
                         middle.y, middle.z, m->points[k].distance, m->childA, m->childB);
        }
    }
    if (list->count > stored) {
        (void)printf("contact     of %d more pairs of parts\n", list->count - stored);
    }
}

static void writeContacts(rbJson* json, const rbContactList* list)
{
    int stored = list->count < list->capacity ? list->count : list->capacity;
    rbJson_BeginArray(json, "contacts");
    for (int i = 0; i < stored; ++i) {
        const rbManifold* m = &list->manifolds[i];
        for (int k = 0; k < m->count; ++k) {
            rbJson_BeginObject(json, NULL);
            rbJson_Vec3(json, "point", rbManifoldPoint_GetMiddle(&m->points[k]));
            rbJson_Vec3(json, "pointA", m->points[k].pointA);
            rbJson_Vec3(json, "pointB", m->points[k].pointB);
            rbJson_Vec3(json, "normal", m->normal);
            rbJson_Number(json, "distance", m->points[k].distance);
            rbJson_Integer(json, "feature", m->points[k].featureId);
            rbJson_Integer(json, "childA", m->childA);
            rbJson_Integer(json, "childB", m->childB);
            rbJson_End(json);
        }
    }
    rbJson_End(json);
}

static rbExit measureShapes(const rbArguments* arguments, rbSeparationInput* input)
{
    rbGeometry* a = makeShape(arguments->words[0]);
    rbGeometry* b = a != NULL ? makeShape(arguments->words[1]) : NULL;
    if (b == NULL) {
        rbDestroyGeometry(a);
        return RB_EXIT_USAGE;
    }
    input->geometryA = a;
    input->geometryB = b;
    rbError error = {0};
    rbSeparation separation;
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    rbManifold manifolds[CONTACTS_MAX];
    rbContactList contacts = {.manifolds = manifolds, .capacity = CONTACTS_MAX};
    rbStatus status = rbMeasureSeparation(input, NULL, scratch, &separation, &error);
    if (status == RB_STATUS_OK) {
        status = rbFindContacts(input, thresholdFor(a, b), NULL, scratch, &contacts, &error);
    }
    rbFree(scratch, rbGetSeparationScratchSize());
    rbDestroyGeometry(a);
    rbDestroyGeometry(b);
    if (status != RB_STATUS_OK) {
        return rbFail("%s", error.message);
    }
    if (rbArguments_Has(arguments, "--json")) {
        rbJson json = {.file = stdout};
        rbJson_BeginObject(&json, NULL);
        rbJson_Separation(&json, &separation);
        writeContacts(&json, &contacts);
        rbJson_End(&json);
    } else {
        rbPrintSeparation(&separation);
        printContacts(&contacts);
    }
    if (rbIsWide(&separation)) {
        (void)fprintf(stderr, "rattleback: the bounds are %g m apart: %s\n",
                      separation.upper - separation.lower, rbStopReason_Text(separation.reason));
        return RB_EXIT_NUMERICAL;
    }
    return RB_EXIT_DONE;
}

// Options that make sense with two shapes only, and with a file only.
static bool judgeOptions(const rbArguments* arguments)
{
    static const struct {
        const char* name;
        int wordCount;
    } rows[] = {
        {"--position", 2}, {"--orientation", 2}, {"--pair", 1},      {"--compare", 1},
        {"--log", 1},      {"--angle", 1},       {"--threshold", 1}, {"--time", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (rbArguments_Has(arguments, rows[i].name) && rows[i].wordCount != arguments->wordCount) {
            (void)rbFail(rows[i].wordCount == 1
                             ? "%s needs a file of pairs, not two shapes; see docs/pair-files.md"
                             : "%s is for two shapes; every pair of a file has its own pose",
                         rows[i].name);
            return false;
        }
    }
    return true;
}

static rbExit runDistance(const rbArguments* arguments)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    if (!judgeOptions(arguments) || !readInput(arguments, &input)) {
        return RB_EXIT_USAGE;
    }
    return arguments->wordCount == 2 ? measureShapes(arguments, &input)
                                     : rbRunPairFile(arguments, &input);
}

static const rbOption options[] = {
    {"--position", "X,Y,Z", "of B in the frame of A, m (default 0,0,0)"},
    {"--orientation", "W,X,Y,Z", "of B in the frame of A, a unit quaternion (default 1,0,0,0)"},
    {"--method", "NAME", "how to measure (default auto); a wrong name gets the list"},
    {"--radius-a", "R", "rounds A by a ball of this radius, m"},
    {"--radius-b", "R", "rounds B by a ball of this radius, m"},
    {"--pair", "N", "only the N-th pair of the file, in full"},
    {"--compare", "NAME", "measures with this method too, shows the largest differences"},
    {"--threshold", "T", "difference of distances that counts, of the size (default 1e-7)"},
    {"--angle", "DEGREES", "difference of normals that counts (default: none does)"},
    {"--log", "FILE", "writes the pairs that differ, worst first"},
    {"--time", NULL, "pairs per second for every combination of types"},
    {"--json", NULL, "the same for machines"},
};

static const char* const examples[] = {
    "rattleback distance sphere:0.5 box:1,1,1 --position 2,0,0",
    "rattleback distance box:1,1,1 box:1,1,1 --position 0.9,0.1,0 --method iterative",
    "rattleback distance capsule:0.2,1 plane:0,0,1 --json",
    "rattleback distance hull:scenes/meshes/star.obj ellipsoid:1,2,3 --position 3,3,3",
    "rattleback distance incidents.pairs --compare iterative --log worse.pairs",
    "rattleback distance recorded.pairs --time",
    NULL,
};

const rbVerb rbVerbDistance = {
    .name = "distance",
    .words = "A B | FILE",
    .help = "signed distance, witness points and bounds of two shapes, or of a file of pairs",
    .more =
        "A and B are sphere:R  box:X,Y,Z (edge lengths)  capsule:R,L  cylinder:R,L  cone:R,H\n"
        "ellipsoid:A,B,C (semi-axes)  plane:NX,NY,NZ,OFFSET  hull:FILE (the points of a mesh),\n"
        "or a geometry in JSON as in a scene (docs/scene-format.md). Answers are in the frame\n"
        "of A. FILE holds a pair a line (docs/pair-files.md).\n"
        "Exit code 1: --compare found a difference that counts; 3: bounds are wide.",
    .run = runDistance,
    .wordMin = 1,
    .wordMax = 2,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
