// The scenes of the thesis on rays with bodies on curves (E-07 to E-09): rays frame by frame, and
// the exact contact of spheres by bisection of the distance of their centers.
#include "lab/rays/path_bend.h"
#include "ray_scenes.h"

#include <math.h>

#define BODIES 2
#define SEARCH_STEP 1e-3 // s, of the search for the exact contact; the curves bend within a meter

// Two balls of 1 m at 1 m/s; the second may be at rest.
typedef struct CurveScene {
    rbPath* paths[BODIES];
    rbTransform stands[BODIES];
    rbGeometry* ball;
    double duration; // s
    rbError error;
} CurveScene;

typedef struct CurveContact {
    bool isHit;
    bool isLate;   // no ray hit before the balls overlapped; time is that of the frame
    double time;   // s
    rbVec3 point;  // m
    rbVec3 normal; // of the second
} CurveContact;

static rbTransform getPathPose(const void* context, double time)
{
    rbTransform pose;
    rbVec3 velocity, spin;
    rbPath_Evaluate(context, time, &pose, &velocity, &spin);
    return pose;
}

static rbVec3 getCenter(const CurveScene* scene, int body, double time)
{
    return scene->paths[body] != NULL ? getPathPose(scene->paths[body], time).p
                                      : scene->stands[body].p;
}

// Through four points with the tangents of the thesis: differences of neighbors, without a factor.
static rbPath* makePath(const rbVec3 points[4], rbVec3 first, rbVec3 last, rbError* error)
{
    rbPathDef def = rbDefaultPathDef();
    def.type = RB_PATH_CURVE;
    def.speed = 1.0;
    def.points = points + 1;
    def.pointCount = 3;
    def.startTangent = first;
    def.endTangent = last;
    def.tangentFactor = 1.0;
    return rbPath_Create(&def, (rbTransform){points[0], RB_QUAT_IDENTITY}, error);
}

static CurveScene openScene(const rbVec3 points[4], rbVec3 first, rbVec3 last)
{
    CurveScene scene = {0};
    scene.ball = rbCreateSphere(1.0, &scene.error);
    scene.paths[0] = makePath(points, first, last, &scene.error);
    scene.stands[1].q = RB_QUAT_IDENTITY;
    scene.duration = scene.paths[0] != NULL ? rbPath_GetLength(scene.paths[0]) : 0.0;
    return scene;
}

static void closeScene(CurveScene* scene)
{
    for (int i = 0; i < BODIES; ++i) {
        rbPath_Destroy(scene->paths[i]);
    }
    rbDestroyGeometry(scene->ball);
}

static rbRayBody makeBody(const CurveScene* scene, int body, const rbRayEmitter* emitter,
                          double start, double end)
{
    const rbPath* path = scene->paths[body];
    rbRayBody result = {
        .geometry = scene->ball, .emitter = emitter, .transform = scene->stands[body]};
    if (path != NULL) {
        result.pose = getPathPose;
        result.context = path;
        result.speedMax = path->speed;
        result.curvature = rbPath_GetAcceleration(path, start, end, 1e-6);
    }
    return result;
}

// Frame by frame until the first hit.
static CurveContact castFrames(CurveScene* scene, const rbRaySettings* settings)
{
    CurveContact contact = {0};
    rbRayEmitter* emitter = rbCreateRayEmitter(scene->ball, settings, &scene->error);
    int frames = emitter != NULL ? (int)ceil(scene->duration * RB_RAY_FRAME_RATE) : 0;
    for (int i = 0; i < frames && !contact.isHit && !contact.isLate; ++i) {
        double start = i / RB_RAY_FRAME_RATE;
        double end = fmin((i + 1) / RB_RAY_FRAME_RATE, scene->duration);
        const rbRayBody a = makeBody(scene, 0, emitter, start, end);
        const rbRayBody b = makeBody(scene, 1, emitter, start, end);
        const rbRayQuery query = {
            .bodyA = &a, .bodyB = &b, .start = start, .end = end, .settings = settings};
        rbRayPrediction prediction = {0};
        if (rbPredictByRays(&query, &prediction, &scene->error) != RB_STATUS_OK) {
            break;
        }
        contact = (CurveContact){prediction.isHit && !prediction.isInside, prediction.isInside,
                                 prediction.time, prediction.point, prediction.normal};
    }
    rbDestroyRayEmitter(emitter);
    return contact;
}

static double getGap(const CurveScene* scene, double time)
{
    return rbDistance(getCenter(scene, 0, time), getCenter(scene, 1, time)) - 2.0;
}

// The first time when the centers are 2 m apart.
static CurveContact findExact(const CurveScene* scene)
{
    CurveContact contact = {0};
    double before = 0.0;
    double after = SEARCH_STEP;
    while (after < scene->duration && getGap(scene, after) > 0.0) {
        before = after;
        after += SEARCH_STEP;
    }
    if (after >= scene->duration) {
        return contact;
    }
    for (int i = 0; i < 60; ++i) {
        double middle = 0.5 * (before + after);
        *(getGap(scene, middle) > 0.0 ? &before : &after) = middle;
    }
    rbVec3 a = getCenter(scene, 0, after);
    rbVec3 b = getCenter(scene, 1, after);
    return (CurveContact){true, false, after, rbScale(0.5, rbAdd(a, b)), rbNormalize(rbSub(a, b))};
}

// ------------------------------------------------------------------------- E-07: against one ahead

static const rbVec3 curvePoints[4] = {
    {-5.0, 5.0, 0.0}, {0.0, 0.0, 0.0}, {-5.0, -5.0, 0.0}, {-10.0, 0.0, 0.0}};
static const rbVec3 firstTangent = {1.0, 0.0, 0.0};
static const rbVec3 lastTangent = {0.0, 1.0, 0.0};

static void printLine(const rbValidation* validation, const CurveScene* scene,
                      const rbPrintedContact* printed, const CurveContact* found,
                      const CurveContact* exact)
{
    rbStraightContact line = {.isHit = found->isHit, .point = found->point};
    rbRayErrors errors = {.position = rbDistance(found->point, exact->point),
                          .excess = found->time - exact->time,
                          .agreement = rbRateAgreement(found->point, exact->point),
                          .depth = fmax(0.0, -getGap(scene, found->time))};
    rbPrintRayLine(validation, printed, &line, &errors);
}

static void runAhead(rbValidation* validation)
{
    const rbPrintedContact rows[3] = {{1, true, {-0.008830, -1.000039, 0.0}, 99.7},
                                      {2, true, {-0.008830, -1.000039, 0.0}, 99.7},
                                      {100, true, {-0.008830, -1.000039, 0.0}, 99.7}};
    CurveScene scene = openScene(curvePoints, firstTangent, lastTangent);
    scene.stands[1].p = (rbVec3){0.0, -2.0, 0.0};
    const CurveContact exact = {true, false, 7.545735, {0.0, -1.0, 0.0}, {0.0, 1.0, 0.0}};
    double worst = 100.0;
    double off = 0.0;
    double spread = 0.0;
    CurveContact first = {0};
    rbValidation_Print(validation, "  E-07, curve of 23.2 m, against a ball ahead at 7.545735 m\n");
    rbPrintRayHead(validation);
    for (int i = 0; i < 3; ++i) {
        rbRaySettings settings = rbMakePublishedRays(rows[i].count);
        CurveContact found = castFrames(&scene, &settings);
        printLine(validation, &scene, &rows[i], &found, &exact);
        first = i == 0 ? found : first;
        worst = fmin(worst, found.isHit ? rbRateAgreement(found.point, exact.point) : 0.0);
        off = rbWorseError(found.isHit ? rbDistance(found.point, exact.point) : (double)NAN, off);
        spread = rbWorseError(rbDistance(found.point, first.point), spread);
    }
    rbValidation_Add(validation, "E-07: length of the curve [m]", scene.duration, 23.207596, 1e-6);
    rbAddRayBound(validation, "E-07", "agreement short of 100 [%]", 100.0 - worst, 0.3);
    rbAddRayBound(validation, "E-07", "contact error [m]; the thesis: 0.0088", off, 0.0018);
    rbAddRayBound(validation, "E-07", "points of 1, 2 and 100 rays differ by [m]", spread, 2e-3);
    rbCheckRayError(validation, "E-07", &scene.error);
    closeScene(&scene);
}

// ------------------------------------------------------------------------------------ E-08:
// grazing

static void runGrazing(rbValidation* validation)
{
    CurveScene scene = openScene(curvePoints, firstTangent, lastTangent);
    const double places[4] = {2.0, 1.99, 1.95, 1.9};
    rbRaySettings settings = rbMakePublishedRays(100);
    rbRaySettings better = rbDefaultRaySettings();
    better.count = 40;
    better.refineRounds = 4;
    better.refineCount = 5;
    rbValidation_Print(
        validation,
        "  E-08, the same curve past a ball at (x, 0, 0), 100 rays; at 2.0 the exact "
        "contact is one touch at (1, 0, 0), not at the published (2, 0, 0)\n"
        "    %4s %-31s %-42s %-42s\n",
        "x", "exact: travel [m], point", "lattice: travel, point, off [m]",
        "uniform 40 of both, 4 bundles of 5");
    for (int i = 0; i < 4; ++i) {
        scene.stands[1].p = (rbVec3){places[i], 0.0, 0.0};
        CurveContact exact = findExact(&scene);
        CurveContact found[2] = {castFrames(&scene, &settings), castFrames(&scene, &better)};
        rbValidation_Print(validation, "    %4.2f ", places[i]);
        if (exact.isHit) {
            rbValidation_Print(validation, "%7.5f (%.5f, %.5f)", exact.time, exact.point.x,
                               exact.point.y);
        } else {
            rbValidation_Print(validation, "%-26s", "touch at 7.54574");
        }
        for (int k = 0; k < 2; ++k) {
            if (found[k].isHit) {
                rbValidation_Print(validation, "     %7.5f (%.5f, %.5f) %.4f", found[k].time,
                                   found[k].point.x, found[k].point.y,
                                   exact.isHit ? rbDistance(found[k].point, exact.point)
                                               : (double)NAN);
            } else if (found[k].isLate) {
                rbValidation_Print(validation, "     no ray; overlap seen at %-9.5f",
                                   found[k].time);
            } else {
                rbValidation_Print(validation, "     %-33s", "none");
            }
        }
        rbValidation_Print(validation, "\n");
        if (places[i] == 2.0) {
            rbAddRayBound(validation, "E-08", "lattice: hits on the graze at 2.0", found[0].isHit,
                          0.0);
        } else {
            rbAddRayBound(validation, "E-08", "lattice: misses nearer than 2.0", !found[0].isHit,
                          0.0);
        }
        if (places[i] == 1.9) {
            // by quadrature with 25 digits; the 7.0423 of the specification has the error of its
            // table of chords
            rbValidation_Add(validation, "E-08: exact travel at 1.9 [m]", exact.time,
                             7.0419310693768, 1e-9);
            rbAddRayBound(validation, "E-08", "at 1.9, lateness [m]; the thesis: 0.5",
                          found[0].time - exact.time, 0.02);
            rbAddRayBound(validation, "E-08", "at 1.9, earliness [m]", exact.time - found[0].time,
                          1e-5);
        }
    }
    rbCheckRayError(validation, "E-08", &scene.error);
    closeScene(&scene);
}

// ----------------------------------------------------------------------------- E-09: both on
// curves

static void runMeeting(rbValidation* validation)
{
    const double h = 0.70710678118654752;
    const rbVec3 pointsB[4] = {
        {-5.0, 5.0, 0.0}, {-h, h, 0.0}, {-5.0, -5.0, 0.0}, {-10.0, 0.0, 0.0}};
    const rbVec3 pointsA[4] = {{5.0, -5.0, 0.0}, {h, -h, 0.0}, {5.0, 5.0, 0.0}, {10.0, 0.0, 0.0}};
    const rbPrintedContact rows[11] = {{1, false, {0.0, 0.0, 0.0}, 0.0},
                                       {2, false, {0.0, 0.0, 0.0}, 0.0},
                                       {5, true, {-0.17713, -0.35, 0.321152}, 78.239},
                                       {10, true, {-0.24396, -0.4472, 0.159997}, 78.56},
                                       {20, true, {-0.049, -0.1378, -0.315}, 86.42},
                                       {50, true, {-0.1449, -0.2884, 0.02829}, 87.4},
                                       {70, true, {0.09258, -0.035869, 0.093634}, 93.17},
                                       {81, true, {-0.0535, -0.151, 0.296}, 86.32},
                                       {100, true, {0.0992, 0.011, -0.2185}, 85.198},
                                       {200, true, {-0.069976, -0.2114, -0.1594}, 87.42},
                                       {500, true, {-0.0768, -0.233, 0.0422}, 89.97}};
    CurveScene scene = openScene(pointsB, firstTangent, lastTangent);
    scene.paths[1] = makePath(pointsA, rbNeg(firstTangent), rbNeg(lastTangent), &scene.error);
    CurveContact exact = findExact(&scene);
    exact.point = RB_VEC3_ZERO; // by symmetry; bisection leaves 1e-16, which would affect the
                                // agreement
    double ratio = 0.0;
    double late = 0.0;
    rbValidation_Print(validation,
                       "  E-09, both on curves, mirrored at the origin; radius and speed are not "
                       "published, 1 m and 1 m/s assumed; contact at the origin at 6.595964 m\n"
                       "    published agreement of 100 rays is wrong: its point yields 90.65\n");
    rbPrintRayHead(validation);
    for (int i = 0; i < 11; ++i) {
        rbRaySettings settings = rbMakePublishedRays(rows[i].count);
        CurveContact found = castFrames(&scene, &settings);
        printLine(validation, &scene, &rows[i], &found, &exact);
        if (rows[i].count >= 70) {
            ratio = rbWorseError(
                found.isHit ? rbLength(found.point) / rbLength(rows[i].point) : (double)NAN, ratio);
            late = rbWorseError(found.isHit ? found.time - exact.time : (double)NAN, late);
        }
        if (rows[i].count == 1) {
            rbAddRayBound(validation, "E-09", "one ray hits", found.isHit, 0.0);
        }
    }
    rbValidation_Add(validation, "E-09: exact travel to contact [m]", exact.time, 6.595964, 1e-6);
    rbAddRayBound(validation, "E-09", "70 rays and more: our error / published error", ratio, 0.9);
    // where the thesis logged its hits the balls overlapped by 0.2 m
    rbAddRayBound(validation, "E-09", "70 rays and more: lateness [m]", late, 0.02);
    rbCheckRayError(validation, "E-09", &scene.error);
    closeScene(&scene);
}

static void run(rbValidation* validation)
{
    runAhead(validation);
    runGrazing(validation);
    runMeeting(validation);
}

const rbValidationCase rbCaseRayCurves = {
    .name = "ray-curves",
    .group = "rays",
    .help = "balls on the curves of the thesis on rays, frame by frame",
    .source = "E-07 to E-09 of the specification: bisection, Tables 4.6 and 4.7",
    .truth = RB_TRUTH_PUBLISHED,
    .run = run,
};
