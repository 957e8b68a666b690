// Black-box suite of the convex kernel (X-03, G-40): contacts that can be computed by hand, from a
// gap of 1e-5 to a depth of 1, in both orders, by every method that accepts the pair.
#include "convex_scenes.h"
#include "error_statistics.h"
#include "validation.h"

#include <math.h>

#define GAP 1e-5
// Bounds wider than this, relative to the size, leave the depth undetermined.
#define DEPTH_KNOWN 1e-6
// Displacements from 1e-5 to 1, and the six of the framework's own test.
#define WAYS_QUICK 101
#define WAYS_FULL 5001
static const double frameworkWays[6] = {-GAP, 1e-5, 1e-4, 1e-2, 0.1, 1.0};

// Largest errors of a scene by one method.
typedef struct Worst {
    int calls;
    int wrongDetections;
    double angle; // degrees
    double depth; // m
    double point; // m, unique coordinates only
    int iterations;
    bool mayBeLoose; // detectors may leave the depth undetermined; the other quantities are checked
                     // anyway
    int loose;       // results that left the depth undetermined
} Worst;

// In the world frame, normal from body 1 to body 2.
typedef struct Contact {
    bool isContact;
    double depth;
    rbVec3 normal;
    rbVec3 point;
    bool isLoose; // its own bounds leave the depth undetermined
} Contact;

typedef struct Suite {
    rbValidation* validation;
    void* scratch;
    int wayCount;
} Suite;

static bool measure(const Suite* suite, const rbConvexScene* scene, double way, int order,
                    rbSeparationInput* input, rbSeparation* s)
{
    input->geometryA = scene->bodies[order];
    input->geometryB = scene->bodies[1 - order];
    input->transformBtoA = rbConvexScene_GetPose(scene, way, order);
    return rbMeasureSeparation(input, NULL, suite->scratch, s, NULL) == RB_STATUS_OK;
}

static Contact toWorld(const rbConvexScene* scene, double way, int order, const rbSeparation* s)
{
    rbTransform frame = scene->poses[order];
    if (order == 1) {
        frame.p = rbAddScaled(frame.p, way, scene->move);
    }
    rbVec3 normal = rbRotate(frame.q, s->normal);
    return (Contact){.isContact =
                         s->distance<0.0, .isLoose = s->upper - s->lower> DEPTH_KNOWN * scene->size,
                     .depth = -s->distance,
                     .normal = order == 0 ? normal : rbNeg(normal),
                     .point = rbTransformPoint(frame, rbScale(0.5, rbAdd(s->pointA, s->pointB)))};
}

static void compare(const rbConvexScene* scene, double way, const Contact* contact, Worst* worst)
{
    ++worst->calls;
    if (contact->isContact != (way > 0.0)) {
        ++worst->wrongDetections;
        return;
    }
    if (!contact->isContact) {
        return;
    }
    worst->loose += contact->isLoose;
    if (contact->isLoose && worst->mayBeLoose) {
        return;
    }
    rbVec3 truth = rbAddScaled(scene->point, way, scene->pointRate);
    rbVec3 off = rbMulEach(scene->isUnique, rbSub(contact->point, truth));
    worst->angle = rbWorseError(rbMeasureAngle(contact->normal, scene->normal), worst->angle);
    worst->depth = rbWorseError(fabs(contact->depth - way * scene->depthRate), worst->depth);
    worst->point = rbWorseError(rbLength(off), worst->point);
}

// Methods whose depths are estimates and whose points in overlap are not contact points.
static bool isDetector(rbPairMethod method)
{
    return method == rbPairMethod_Find("mpr") || method == rbPairMethod_Find("features");
}

static double wayAt(const Suite* suite, int i)
{
    if (i < 6) {
        return frameworkWays[i];
    }
    return pow(10.0, -5.0 + 5.0 * (i - 6) / (suite->wayCount - 1.0));
}

// False if the method does not support this pair.
static bool runMethod(const Suite* suite, const rbConvexScene* scene, rbPairMethod method,
                      Worst* worst)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.method = method;
    for (int i = 0; i < suite->wayCount + 6; ++i) {
        double way = wayAt(suite, i);
        for (int order = 0; order < 2; ++order) {
            rbSeparation s;
            if (!measure(suite, scene, way, order, &input, &s)) {
                return false;
            }
            Contact contact = toWorld(scene, way, order, &s);
            compare(scene, way, &contact, worst);
            worst->iterations = s.iterations > worst->iterations ? s.iterations : worst->iterations;
        }
    }
    return true;
}

static void addRow(const Suite* suite, const rbConvexScene* scene, const char* quantity,
                   double value, double tolerance)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: %s", scene->name, quantity);
    rbValidation_AddBound(suite->validation, text, value, tolerance);
}

static void runScene(const Suite* suite, const rbConvexScene* scene)
{
    Worst all = {0};
    for (int method = 0; method < rbPairMethod_GetCount(); ++method) {
        Worst worst = {.mayBeLoose = isDetector((rbPairMethod)method)};
        if (!runMethod(suite, scene, (rbPairMethod)method, &worst)) {
            continue;
        }
        const char* name = rbPairMethod_Name((rbPairMethod)method);
        rbValidation_Print(suite->validation,
                           "    %-28s %-10s %6d calls  %d wrong  %8.1e deg  %8.1e m depth  %8.1e m "
                           "point  %3d iterations  %d open\n",
                           scene->name, name, worst.calls, worst.wrongDetections, worst.angle,
                           worst.depth, worst.point, worst.iterations, worst.loose);
        all.calls += worst.calls;
        all.wrongDetections += worst.wrongDetections;
        if (method != (int)rbPairMethod_Find("mpr")) { // its normals are known to be wrong (G-34)
            all.angle = rbWorseError(worst.angle, all.angle);
            all.depth = rbWorseError(worst.depth, all.depth);
        }
        if (!isDetector((rbPairMethod)method)) {
            all.point = rbWorseError(worst.point, all.point);
        }
    }
    addRow(suite, scene, "wrong detections", all.wrongDetections, 0.0);
    addRow(suite, scene, "normal [deg]", all.angle, scene->angleMax);
    addRow(suite, scene, "depth [m]", all.depth, 1e-8 * scene->size);
    addRow(suite, scene, "point, unique coordinates [m]", all.point, 1e-4 * scene->size);
}

// -------------------------------------------------------------------------------- single contacts

static void checkSpheres(const Suite* suite)
{
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbConvexScene scene = {.name = "unit spheres",
                           .bodies = {ball, ball},
                           .poses = {RB_TRANSFORM_IDENTITY, {{2.0, 0.0, 0.0}, RB_QUAT_IDENTITY}},
                           .move = {-1.0, 0.0, 0.0},
                           .normal = {1.0, 0.0, 0.0},
                           .depthRate = 1.0,
                           .point = {1.0, 0.0, 0.0},
                           .pointRate = {-0.5, 0.0, 0.0},
                           .isUnique = {1.0, 1.0, 1.0}};
    Worst worst = {0};
    for (int method = 0; method < rbPairMethod_GetCount(); ++method) {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.method = (rbPairMethod)method;
        for (int i = 0; i < 4 && !isDetector((rbPairMethod)method); ++i) {
            double way = i < 2 ? 0.5 : -1.0; // distances 1.5 and 3
            rbSeparation s;
            if (measure(suite, &scene, way, i % 2, &input, &s)) {
                Contact contact = toWorld(&scene, way, i % 2, &s);
                compare(&scene, way, &contact, &worst);
            }
        }
    }
    addRow(suite, &scene, "wrong detections at 1.5 and 3", worst.wrongDetections, 0.0);
    addRow(suite, &scene, "depth 0.5, normal, point 0.75", worst.angle + worst.depth + worst.point,
           1e-12);
    rbDestroyGeometry(ball);
}

static void checkPlane(const Suite* suite)
{
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 1.0, 0.0), 1.0, NULL);
    rbConvexScene scene = {.name = "plane y = 1, unit sphere",
                           .bodies = {plane, ball},
                           .poses = {RB_TRANSFORM_IDENTITY, {{0.0, 2.0, 0.0}, RB_QUAT_IDENTITY}},
                           .move = {0.0, -1.0, 0.0},
                           .normal = {0.0, 1.0, 0.0},
                           .depthRate = 1.0,
                           .point = {0.0, 1.0, 0.0},
                           .pointRate = {0.0, -0.5, 0.0},
                           .isUnique = {1.0, 1.0, 1.0}};
    Worst worst = {0};
    rbSeparationInput input = rbDefaultSeparationInput();
    for (int order = 0; order < 2; ++order) {
        rbSeparation s;
        if (measure(suite, &scene, 0.1, order, &input, &s)) {
            Contact contact = toWorld(&scene, 0.1, order, &s);
            compare(&scene, 0.1, &contact, &worst);
        }
    }
    addRow(suite, &scene, "missed, of both orders", 2 - worst.calls + worst.wrongDetections, 0.0);
    addRow(suite, &scene, "depth 0.1, normal, point 0.95", worst.angle + worst.depth + worst.point,
           1e-12);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(plane);
}

// Three balls of radius 3 in a nested union on a box of 10 x 2 x 10: two of them touch it.
static void checkUnion(const Suite* suite)
{
    rbGeometry* ball = rbCreateSphere(3.0, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(5.0, 1.0, 5.0), NULL);
    const rbCompoundChild low[2] = {{ball, {{-3.0, 3.8, 0.0}, RB_QUAT_IDENTITY}, 0.0},
                                    {ball, {{3.0, 3.8, 0.0}, RB_QUAT_IDENTITY}, 0.0}};
    rbGeometry* pair = rbCreateCompound(low, 2, NULL);
    const rbCompoundChild parts[2] = {{pair, RB_TRANSFORM_IDENTITY, 0.0},
                                      {ball, {{0.0, 6.0, 0.0}, RB_QUAT_IDENTITY}, 0.0}};
    rbGeometry* whole = rbCreateCompound(parts, 2, NULL);
    rbManifold manifolds[4];
    int wrongCounts = 0;
    double worst = 0.0;
    for (int order = 0; order < 2; ++order) {
        rbSeparationInput input = rbDefaultSeparationInput();
        input.geometryA = order == 0 ? whole : box;
        input.geometryB = order == 0 ? box : whole;
        rbContactList list = {manifolds, 4, 0};
        rbStatus status =
            rbFindContacts(&input, RB_CONTACT_THRESHOLD, NULL, suite->scratch, &list, NULL);
        wrongCounts += status != RB_STATUS_OK || list.count != 2;
        for (int i = 0; i < list.count && i < 2; ++i) {
            const rbManifoldPoint* point = &manifolds[i].points[0];
            rbVec3 truth = rbMakeVec3(i == 0 ? -3.0 : 3.0, 0.9, 0.0);
            rbVec3 normal = rbMakeVec3(0.0, order == 0 ? -1.0 : 1.0, 0.0);
            wrongCounts += manifolds[i].count != 1;
            worst = rbWorseError(fabs(point->distance + 0.2), worst);
            worst = rbWorseError(rbDistance(rbManifoldPoint_GetMiddle(point), truth), worst);
            worst = rbWorseError(rbDistance(manifolds[i].normal, normal), worst);
        }
    }
    rbValidation_AddBound(suite->validation, "nested union on a box: orders without two contacts",
                          wrongCounts, 0.0);
    rbValidation_AddBound(suite->validation,
                          "nested union on a box: depth 0.2, points (-+3, 0.9, 0), normal", worst,
                          1e-12);
    rbDestroyGeometry(whole);
    rbDestroyGeometry(pair);
    rbDestroyGeometry(box);
    rbDestroyGeometry(ball);
}

static void run(rbValidation* validation)
{
    size_t size = rbGetSeparationScratchSize();
    Suite suite = {.validation = validation,
                   .scratch = rbAlloc(size),
                   .wayCount = validation->isQuick ? WAYS_QUICK : WAYS_FULL};
    rbConvexScene scenes[RB_CONVEX_SCENE_COUNT];
    rbMakeConvexScenes(scenes);
    for (int i = 0; i < RB_CONVEX_SCENE_COUNT; ++i) {
        runScene(&suite, &scenes[i]);
    }
    checkSpheres(&suite);
    checkPlane(&suite);
    checkUnion(&suite);
    rbFreeConvexScenes(scenes);
    rbFree(suite.scratch, size);
}

const rbValidationCase rbCaseConvexBlackbox = {
    .name = "convex-blackbox",
    .help = "nine scenes of two bodies, gap 1e-5 to depth 1, both orders, every method",
    .source = "X-03, Leemann 2017 section 4.1.1: detection perfect, normals below 0.1 deg",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
