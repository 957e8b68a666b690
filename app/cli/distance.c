// rattleback distance: signed distance, witness points and bounds of two shapes. See distance.h for
// the files that read shapes, run the laboratory and process pair files.
#include "cli/distance.h"

#include "base/core/memory.h"
#include "io/scene/mesh_text.h"

#include <math.h>
#include <string.h>

#define NAMES_MAX 32    // names in a table
#define LIST_SIZE 256   // bytes of a list of all names
#define BUDGET_MAX 1e15 // far beyond any run, and an exact integer as a double

// ------------------------------------------------------------------------------------------ names

bool rbArguments_GetName(const rbArguments* arguments, const char* option, rbNameFn* nameFn,
                         int count, int* index)
{
    const char* names[NAMES_MAX];
    const char* text = rbArguments_Get(arguments, option);
    RB_ASSERT(count <= NAMES_MAX);
    if (text == NULL) {
        return true;
    }
    char list[LIST_SIZE];
    size_t used = 0;
    for (int i = 0; i < count; ++i) {
        names[i] = nameFn(i);
        if (strcmp(text, names[i]) == 0) {
            *index = i;
            return true;
        }
        if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                     names[i]);
        }
    }
    const char* nearest = rbFindNearestWord(text, names, count);
    if (nearest != NULL) {
        (void)rbFail("%s: unknown name '%.40s'; did you mean %s?", option, text, nearest);
    } else {
        (void)rbFail("%s: unknown name '%.40s'; choose one of %s", option, text, list);
    }
    return false;
}

// Methods of the pair table, then the traversals of the laboratory.
static int countMethods(void)
{
    return rbPairMethod_GetCount() + RB_TRAVERSAL_COUNT;
}

static const char* nameMethod(int index)
{
    int count = rbPairMethod_GetCount();
    return index < count ? rbPairMethod_Name((rbPairMethod)index)
                         : rbTraversal_Name((rbTraversal)(index - count));
}

bool rbReadMethod(const rbArguments* arguments, const char* option, rbPairMethod* method)
{
    int index = (int)*method;
    if (!rbArguments_GetName(arguments, option, nameMethod, countMethods(), &index)) {
        return false;
    }
    if (index >= rbPairMethod_GetCount()) {
        (void)rbFail("%s %s is a laboratory method, which needs two meshes, not a pair file",
                     option, nameMethod(index));
        return false;
    }
    *method = (rbPairMethod)index;
    return true;
}

// ---------------------------------------------------------------------------------------- options

// Sets of methods.
enum {
    FOR_AUTO = 1,
    FOR_ITERATIVE = 2,
    FOR_PAIRS = 4,    // all of the pair table
    FOR_SEARCHES = 8, // traversals of trees
    FOR_GLOBAL = 16
};

// Options that only some methods use.
static const struct {
    const char* name;
    unsigned methods;
} methodOptions[] = {
    {"--radius-a", FOR_PAIRS},           {"--radius-b", FOR_PAIRS},
    {"--budget", FOR_AUTO | FOR_GLOBAL}, {"--tolerance", FOR_AUTO | FOR_ITERATIVE | FOR_SEARCHES},
    {"--volume", FOR_SEARCHES},          {"--split", FOR_SEARCHES},
    {"--degree", FOR_SEARCHES},          {"--leaf-size", FOR_SEARCHES},
    {"--expansion", FOR_SEARCHES},       {"--representatives", FOR_SEARCHES},
    {"--sequence", FOR_GLOBAL},
};

static bool isIn(unsigned methods, int index)
{
    int traversal = index - rbPairMethod_GetCount();
    unsigned set = FOR_PAIRS;
    if (traversal >= 0) {
        set = traversal == RB_TRAVERSAL_NAIVE ? 0 : FOR_SEARCHES;
        set |= traversal == RB_TRAVERSAL_GLOBAL ? FOR_GLOBAL : 0;
    } else if (index == RB_PAIR_AUTO || index == RB_PAIR_ITERATIVE) {
        set |= index == RB_PAIR_AUTO ? FOR_AUTO : FOR_ITERATIVE;
    }
    return (set & methods) != 0;
}

static bool validateMethodOptions(const rbArguments* arguments, int method)
{
    for (size_t i = 0; i < sizeof methodOptions / sizeof methodOptions[0]; ++i) {
        unsigned methods = methodOptions[i].methods;
        if (!rbArguments_Has(arguments, methodOptions[i].name) || isIn(methods, method)) {
            continue;
        }
        char list[LIST_SIZE];
        size_t used = 0;
        for (int k = 0; k < countMethods() && used < sizeof list; ++k) {
            if (isIn(methods, k)) {
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                         used > 0 ? ", " : "", nameMethod(k));
            }
        }
        (void)rbFail("%s does not apply to --method %s, only to %s", methodOptions[i].name,
                     nameMethod(method), list);
        return false;
    }
    return true;
}

bool rbReadBudget(const rbArguments* arguments, double* budget)
{
    const char* text = rbArguments_Get(arguments, "--budget");
    if (!rbArguments_GetNumber(arguments, "--budget", -BUDGET_MAX, BUDGET_MAX, budget)) {
        return false;
    }
    if (text != NULL && (*budget < 1.0 || *budget != floor(*budget))) {
        (void)rbFail("--budget is %s; must be an integer of at least 1; omit --budget for "
                     "no limit",
                     text);
        return false;
    }
    return true;
}

// ------------------------------------------------------------------------------------------ poses

// Numbers separated by commas: returns how many, -1 when the text is something else or has more.
static int parseNumbers(const char* text, double* numbers, int capacity)
{
    const char* at = text;
    for (int i = 0; i < capacity; ++i) {
        rbToken token = {at, strcspn(at, ",")};
        if (!rbToken_ToNumber(token, &numbers[i])) {
            return -1;
        }
        if (at[token.length] == '\0') {
            return i + 1;
        }
        at += token.length + 1;
    }
    return -1;
}

static bool normalize(const char* option, const double q[4], rbQuat* orientation)
{
    // typed by hand, a quaternion has only a few digits
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabs(length - 1.0) <= 1e-3)) {
        (void)rbFail("%s has a quaternion of length %g; the length must be 1 within 0.001, e.g. "
                     "for a quarter "
                     "turn about x: 0.70710678,0.70710678,0,0",
                     option, length);
        return false;
    }
    *orientation = (rbQuat){q[0] / length, q[1] / length, q[2] / length, q[3] / length};
    return true;
}

// The part of a pose that an option sets.
typedef enum PosePart {
    POSE_POSITION,
    POSE_ORIENTATION,
    POSE_ALL, // the orientation is optional
} PosePart;

static bool readPose(const rbArguments* arguments, const char* option, PosePart part,
                     rbTransform* transform)
{
    static const struct {
        int least, most;
        const char* needed;
    } rows[] = {
        [POSE_POSITION] = {3, 3, "must be 3 numbers separated by commas: x,y,z"},
        [POSE_ORIENTATION] = {4, 4, "must be 4 numbers separated by commas: w,x,y,z"},
        [POSE_ALL] = {3, 7,
                      "must be 3 or 7 numbers separated by commas: x,y,z of the position, then "
                      "w,x,y,z of the orientation"},
    };
    const char* text = rbArguments_Get(arguments, option);
    double n[7] = {0};
    if (text == NULL) {
        return true;
    }
    int count = parseNumbers(text, n, 7);
    if (count != rows[part].least && count != rows[part].most) {
        (void)rbFail("%s is '%.200s'; %s", option, text, rows[part].needed);
        return false;
    }
    if (part == POSE_ORIENTATION) {
        return normalize(option, n, &transform->q);
    }
    transform->p = (rbVec3){n[0], n[1], n[2]};
    return count == 3 || normalize(option, n + 3, &transform->q);
}

static bool readPoses(const rbArguments* arguments, rbPosePair* poses)
{
    static const rbTransform identity = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    bool isRelative =
        rbArguments_Has(arguments, "--position") || rbArguments_Has(arguments, "--orientation");
    bool hasPoses =
        rbArguments_Has(arguments, "--pose-a") || rbArguments_Has(arguments, "--pose-b");
    if (isRelative && hasPoses) {
        (void)rbFail("--position and --orientation place B relative to A, --pose-a and --pose-b "
                     "place both; give one or the other");
        return false;
    }
    *poses = (rbPosePair){identity, identity, identity, rbArguments_Has(arguments, "--pose-a")};
    if (!readPose(arguments, "--position", POSE_POSITION, &poses->b) ||
        !readPose(arguments, "--orientation", POSE_ORIENTATION, &poses->b) ||
        !readPose(arguments, "--pose-a", POSE_ALL, &poses->a) ||
        !readPose(arguments, "--pose-b", POSE_ALL, &poses->b)) {
        return false;
    }
    poses->transformBtoA =
        poses->hasA ? rbMulTransforms(rbInvertTransform(poses->a), poses->b) : poses->b;
    return true;
}

// ---------------------------------------------------------------------------------------- answers

// Avoid printing -0.
static rbVec3 plain(rbVec3 v)
{
    return rbAdd(v, RB_VEC3_ZERO);
}

void rbPrintDistance(double distance, double lower, double upper)
{
    (void)printf("distance    %.17g m%s\n", distance + 0.0, distance < 0.0 ? " (overlap)" : "");
    (void)printf("bounds      %.17g .. %.17g m\n", lower + 0.0, upper + 0.0);
}

void rbPrintPoints(rbVec3 pointA, rbVec3 pointB)
{
    rbVec3 a = plain(pointA);
    rbVec3 b = plain(pointB);
    (void)printf("point on A  %.17g %.17g %.17g\n", a.x, a.y, a.z);
    (void)printf("point on B  %.17g %.17g %.17g\n", b.x, b.y, b.z);
}

// Faces of the witnesses, where shapes have some.
static void printFaces(const rbSeparation* s)
{
    if (s->faceA >= 0 || s->faceB >= 0) {
        (void)printf("faces       ");
        if (s->faceA >= 0) {
            (void)printf("%d of A, ", s->faceA);
        }
        if (s->faceB >= 0) {
            (void)printf("%d of B, ", s->faceB);
        }
        (void)printf("counted from 0\n");
    }
}

void rbPrintSeparation(const rbSeparation* separation)
{
    rbVec3 normal = plain(separation->normal);
    bool hasFaces = separation->faceA >= 0 || separation->faceB >= 0;
    rbPrintDistance(separation->distance, separation->lower, separation->upper);
    rbPrintPoints(separation->pointA, separation->pointB);
    (void)printf("normal      %.17g %.17g %.17g (from A to B)\n", normal.x, normal.y, normal.z);
    printFaces(separation);
    (void)printf("work        %d %s%s, %s\n", separation->iterations,
                 hasFaces ? "elementary test" : "iteration", separation->iterations == 1 ? "" : "s",
                 rbStopReason_Text(separation->reason));
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
    rbJson_Integer(json, "faceA", s->faceA);
    rbJson_Integer(json, "faceB", s->faceB);
}

bool rbIsWide(const rbSeparation* separation)
{
    return separation->reason == RB_STOP_ITERATIONS || separation->reason == RB_STOP_STORAGE ||
           separation->reason == RB_STOP_ESTIMATE;
}

// A gap that counts as touching: small compared with the bodies, too.
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

// --------------------------------------------------------------------------------------- two
// shapes

// Two shapes measured by the pair table.
typedef struct PairRun {
    const rbArguments* arguments;
    const rbShapeWord* shapes; // A and B
    const rbPosePair* poses;
    rbSeparationInput input;
    rbSeparation separation;
    rbContactList contacts;
    rbManifold manifolds[CONTACTS_MAX];
    char remark[320]; // "" if there is none
} PairRun;

// What an overlap of non-convex bodies does and does not say.
static void setRemark(PairRun* run)
{
    const rbSeparation* s = &run->separation;
    const rbGeometry* a = run->shapes[0].geometry;
    const rbGeometry* b = run->shapes[1].geometry;
    bool isRounded = run->input.radiusA > 0.0 || run->input.radiusB > 0.0;
    bool isCompound =
        rbGeometry_GetType(a) == RB_SHAPE_COMPOUND || rbGeometry_GetType(b) == RB_SHAPE_COMPOUND;
    if (s->reason != RB_STOP_ESTIMATE || !(rbHasTriangles(a) || rbHasTriangles(b))) {
        return;
    }
    if (s->lower == 0.0 && s->upper == 0.0 && !isRounded && !rbGeometry_IsSolid(a) &&
        !rbGeometry_IsSolid(b)) {
        (void)snprintf(run->remark, sizeof run->remark,
                       "the surfaces intersect; they have no inside, so there is no depth");
    } else if (s->distance >= 0.0) {
        (void)snprintf(run->remark, sizeof run->remark,
                       "the bodies touch; any overlap is at most %.17g m deep", -s->lower + 0.0);
    } else if (isCompound) {
        (void)snprintf(run->remark, sizeof run->remark,
                       "overlap; the depth is a local estimate of the deepest pair of parts, "
                       "which separate when B moves by at most %.17g m",
                       -s->lower);
    } else {
        (void)snprintf(
            run->remark, sizeof run->remark,
            "overlap; the depth is a local estimate, the bodies separate when B moves by "
            "at most %.17g m%s",
            -s->lower, isRounded ? "" : " along the normal");
    }
}

// From the frame of A to that of the poses.
static void moveAnswer(PairRun* run)
{
    rbSeparation* s = &run->separation;
    rbTransform pose = run->poses->a;
    if (!run->poses->hasA) {
        return;
    }
    s->pointA = rbTransformPoint(pose, s->pointA);
    s->pointB = rbTransformPoint(pose, s->pointB);
    s->normal = rbRotate(pose.q, s->normal);
    int stored = run->contacts.count < CONTACTS_MAX ? run->contacts.count : CONTACTS_MAX;
    for (int i = 0; i < stored; ++i) {
        rbManifold* m = &run->manifolds[i];
        m->normal = rbRotate(pose.q, m->normal);
        for (int k = 0; k < m->count; ++k) {
            m->points[k].pointA = rbTransformPoint(pose, m->points[k].pointA);
            m->points[k].pointB = rbTransformPoint(pose, m->points[k].pointB);
        }
    }
}

// Prints which parts of compounds are nearest.
static void printParts(const PairRun* run)
{
    const int parts[2] = {run->separation.childA, run->separation.childB};
    for (int i = 0; i < 2; ++i) {
        if (rbGeometry_GetType(run->shapes[i].geometry) == RB_SHAPE_COMPOUND) {
            (void)printf("part of %c   %d, counted from 0\n", run->shapes[i].letter, parts[i]);
        }
    }
}

static void printRun(const PairRun* run)
{
    if (!rbArguments_Has(run->arguments, "--json")) {
        rbPrintShapeWord(&run->shapes[0]);
        rbPrintShapeWord(&run->shapes[1]);
        rbPrintSeparation(&run->separation);
        printParts(run);
        if (run->remark[0] != '\0') {
            (void)printf("remark      %s\n", run->remark);
        }
        printContacts(&run->contacts);
        if (run->input.budget > 0 && run->separation.lower <= 0.0) {
            (void)printf("contacts    are not searched for when a budget is set\n");
        }
        return;
    }
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_ShapeWord(&json, &run->shapes[0]);
    rbJson_ShapeWord(&json, &run->shapes[1]);
    rbJson_Text(&json, "method", rbPairMethod_Name(run->input.method));
    rbJson_Separation(&json, &run->separation);
    if (run->separation.faceA >= 0 || run->separation.faceB >= 0) {
        rbJson_BeginObject(&json, "work"); // same keys as the laboratory
        rbJson_Integer(&json, "elementaryTests", run->separation.iterations);
        rbJson_End(&json);
    }
    rbJson_Bool(&json, "isEstimate", run->separation.reason == RB_STOP_ESTIMATE);
    rbJson_Text(&json, "remark", run->remark[0] != '\0' ? run->remark : NULL);
    if (run->input.budget == 0) {
        writeContacts(&json, &run->contacts);
    }
    rbJson_End(&json);
}

static bool readPairInput(PairRun* run)
{
    rbSeparationInput* input = &run->input;
    double budget = 0.0;
    if (!rbArguments_GetNumber(run->arguments, "--radius-a", 0.0, 1e12, &input->radiusA) ||
        !rbArguments_GetNumber(run->arguments, "--radius-b", 0.0, 1e12, &input->radiusB) ||
        !rbArguments_GetNumber(run->arguments, "--tolerance", 0.0, 0.999,
                               &input->relativeTolerance) ||
        !rbReadBudget(run->arguments, &budget)) {
        return false;
    }
    input->budget = (long long)budget;
    if (budget > 0.0 && !rbHasTriangles(input->geometryA) && !rbHasTriangles(input->geometryB)) {
        (void)rbFail("--budget limits elementary tests of meshes; %s and %s have none",
                     rbShapeType_Name(rbGeometry_GetType(input->geometryA)),
                     rbShapeType_Name(rbGeometry_GetType(input->geometryB)));
        return false;
    }
    return true;
}

// For meshes, an estimated depth is all there is; for convex shapes another method does better.
static bool hasFailed(const PairRun* run)
{
    bool isEstimate =
        run->separation.reason == RB_STOP_ESTIMATE && run->input.method == RB_PAIR_AUTO;
    return rbIsWide(&run->separation) && !isEstimate;
}

static rbExit runPair(PairRun* run)
{
    rbSeparationInput* input = &run->input;
    input->geometryA = run->shapes[0].geometry;
    input->geometryB = run->shapes[1].geometry;
    input->transformBtoA = run->poses->transformBtoA;
    if (!readPairInput(run)) {
        return RB_EXIT_USAGE;
    }
    rbError error = {0};
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    run->contacts = (rbContactList){.manifolds = run->manifolds, .capacity = CONTACTS_MAX};
    rbStatus status = rbMeasureSeparation(input, NULL, scratch, &run->separation, &error);
    // with a budget, do no extra work
    if (status == RB_STATUS_OK && input->budget == 0) {
        status = rbFindContacts(input, thresholdFor(input->geometryA, input->geometryB), NULL,
                                scratch, &run->contacts, &error);
    }
    rbFree(scratch, rbGetSeparationScratchSize());
    if (status != RB_STATUS_OK) {
        return rbFail("%s", error.message);
    }
    setRemark(run);
    moveAnswer(run);
    printRun(run);
    if (hasFailed(run)) {
        (void)fprintf(stderr, "rattleback: the bounds are %g m apart: %s\n",
                      run->separation.upper - run->separation.lower,
                      rbStopReason_Text(run->separation.reason));
        return RB_EXIT_NUMERICAL;
    }
    return RB_EXIT_DONE;
}

static rbExit measureShapes(const rbArguments* arguments)
{
    int method = RB_PAIR_AUTO;
    rbPosePair poses;
    rbShapeWord shapes[2];
    if (!rbArguments_GetName(arguments, "--method", nameMethod, countMethods(), &method) ||
        !validateMethodOptions(arguments, method) || !readPoses(arguments, &poses) ||
        !rbReadShapeWords(arguments, shapes)) {
        return RB_EXIT_USAGE;
    }
    rbExit exit = RB_EXIT_DONE;
    if (method >= rbPairMethod_GetCount()) {
        exit = rbRunLaboratory(arguments, shapes, &poses,
                               (rbTraversal)(method - rbPairMethod_GetCount()));
    } else {
        PairRun* run = rbAllocZero(1, sizeof *run);
        run->arguments = arguments;
        run->shapes = shapes;
        run->poses = &poses;
        run->input = rbDefaultSeparationInput();
        run->input.method = (rbPairMethod)method;
        exit = runPair(run);
        rbFree(run, sizeof *run);
    }
    rbFreeShapeWords(shapes);
    return exit;
}

// ---------------------------------------------------------------------------------------- the verb

// Options that apply only to two shapes, and only to a file.
static const struct {
    const char* name;
    int wordCount;
} wordOptions[] = {
    {"--position", 2},  {"--orientation", 2}, {"--pose-a", 2},    {"--pose-b", 2},
    {"--as", 2},        {"--as-a", 2},        {"--as-b", 2},      {"--budget", 2},
    {"--volume", 2},    {"--split", 2},       {"--degree", 2},    {"--leaf-size", 2},
    {"--sequence", 2},  {"--expansion", 2},   {"--tolerance", 2}, {"--representatives", 2},
    {"--pair", 1},      {"--compare", 1},     {"--log", 1},       {"--angle", 1},
    {"--threshold", 1}, {"--time", 1},
};

static bool validateOptions(const rbArguments* arguments)
{
    for (size_t i = 0; i < sizeof wordOptions / sizeof wordOptions[0]; ++i) {
        const char* name = wordOptions[i].name;
        if (!rbArguments_Has(arguments, name) || wordOptions[i].wordCount == arguments->wordCount) {
            continue;
        }
        if (wordOptions[i].wordCount == 1) {
            (void)rbFail("%s needs a pair file, not two shapes; see docs/pair-files.md", name);
        } else {
            (void)rbFail("%s applies to two shapes, A and B; each pair of a file has its own poses "
                         "and shapes",
                         name);
        }
        return false;
    }
    return true;
}

static rbExit runDistance(const rbArguments* arguments)
{
    if (!validateOptions(arguments)) {
        return RB_EXIT_USAGE;
    }
    if (arguments->wordCount == 2) {
        return measureShapes(arguments);
    }
    rbSeparationInput input = rbDefaultSeparationInput();
    if (!rbReadMethod(arguments, "--method", &input.method) ||
        !rbArguments_GetNumber(arguments, "--radius-a", 0.0, 1e12, &input.radiusA) ||
        !rbArguments_GetNumber(arguments, "--radius-b", 0.0, 1e12, &input.radiusB)) {
        return RB_EXIT_USAGE;
    }
    return rbRunPairFile(arguments, &input);
}

static const rbOption options[] = {
    {"--position", "X,Y,Z", "position of B in the frame of A, m (default 0,0,0)"},
    {"--orientation", "W,X,Y,Z",
     "orientation of B in the frame of A, a unit quaternion (default 1,0,0,0)"},
    {"--pose-a", "POSE",
     "pose of A in a common frame: X,Y,Z or X,Y,Z,W,X,Y,Z; results are in this frame"},
    {"--pose-b", "POSE", "pose of B in that frame"},
    {"--as", "KIND", "reads mesh files as mesh (default), soup, polyhedron or hull"},
    {"--as-a", "KIND", "the same for A only"},
    {"--as-b", "KIND", "the same for B only"},
    {"--method", "NAME", "method of measurement (default auto); see above"},
    {"--budget", "N",
     "maximum number of elementary tests (auto) or work (global; a volume test is 0.4)"},
    {"--tolerance", "T", "acceptable relative error (default 0: exact)"},
    {"--radius-a", "R", "inflates A by a ball of this radius, m"},
    {"--radius-b", "R", "inflates B by a ball of this radius, m"},
    {"--volume", "NAME", "sphere aabb obb obb-regions fdh14 fdh18 fdh26 rss (default obb)"},
    {"--split", "NAME", "sum max variance, principal-..., -mean -median; default surface"},
    {"--degree", "N", "maximum children of a node, 2 to 8 (default 2)"},
    {"--leaf-size", "N", "maximum faces of a leaf (default 1)"},
    {"--expansion", "NAME", "which node of a pair is opened: both (default) larger hybrid"},
    {"--representatives", "on|off", "upper bounds at inner nodes (default on)"},
    {"--sequence", "NAME", "queue of global: heap (default) skip-list list"},
    {"--pair", "N", "measures only the N-th pair of the file, with full output"},
    {"--compare", "NAME", "also measures with this method and shows the largest differences"},
    {"--threshold", "T",
     "significant difference of distances, relative to the size (default 1e-7)"},
    {"--angle", "DEGREES", "significant difference of normals (default: none)"},
    {"--log", "FILE", "writes the pairs that differ, largest difference first"},
    {"--time", NULL, "measures pairs per second for each combination of types"},
    {"--json", NULL, "prints the results as JSON"},
    RB_MODULE_OPTION,
};

static const char* const examples[] = {
    "rattleback distance sphere:0.5 box:1,1,1 --position 2,0,0",
    "rattleback distance docs/l-shape.obj docs/cube.obj --position 1.75,0,1.6",
    "rattleback distance docs/torus.obj docs/torus.obj --pose-b 1,0,0,0.7071,0.7071,0,0",
    "rattleback distance docs/torus.obj docs/cube.obj --position 3,0,0 --method global --budget 9",
    "rattleback distance docs/torus.obj docs/torus.obj --as-b hull --position 0,0,1 --json",
    "rattleback distance soup:docs/cube.obj plane:0,0,1,-1",
    "rattleback distance box:1,1,1 box:1,1,1 --position 0.9,0.1,0 --method iterative",
    "rattleback distance incidents.pairs --compare iterative --log worse.pairs",
    "rattleback distance recorded.pairs --time",
    NULL,
};

const rbVerb rbVerbDistance = {
    .name = "distance",
    .words = "A B | FILE",
    .help = "computes signed distance, witness points and bounds of two shapes or a pair file",
    .more =
        "A and B are mesh files (obj, stl, ply, gltf, glb; a closed mesh is a solid, an open one\n"
        "a surface), sphere:R  box:X,Y,Z (edge lengths)  capsule:R,L  cylinder:R,L  cone:R,H\n"
        "ellipsoid:A,B,C (semi-axes)  plane:NX,NY,NZ,OFFSET  mesh:FILE  soup:FILE\n"
        "polyhedron:FILE  hull:FILE (the points of a mesh), or a geometry in JSON as in a scene\n"
        "(docs/scene-format.md), inline or in a .json file. Results are in the frame of A, or "
        "with\n"
        "--pose-a in the frame of the poses. FILE has one pair per line (docs/pair-files.md).\n"
        "\n"
        "Methods: auto, closed, iterative, mpr, features. The laboratory: naive, indifferent,\n"
        "update-minimal, local, global measure the surfaces of meshes, soups, polyhedra and\n"
        "hulls over trees of bounding volumes; --volume to --sequence apply to them.\n"
        "\n"
        "Exit code 1: --compare found a significant difference; 3: bounds are wide\n"
        "although no --budget or --tolerance was given.",
    .run = runDistance,
    .wordMin = 1,
    .wordMax = 2,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
