// Detection distance of the convex kernel by bisection (X-01, G-39): where along its path does a
// body begin to touch? In the scenes of the black-box suite the answer is 0.
#include "collision/convex/gjk.h"
#include "convex_scenes.h"
#include "detection_bisection.h"
#include "lab/convex/mpr.h"
#include "validation.h"

#include <math.h>

// The resolution of the thesis: 33 rounds from 0.5, the error is within twice the last step.
#define STEP_END 1e-10
#define DISTANCE_MAX 2e-10
// To show the actual resolution of the kernels, the bisection continues down to rounding.
#define STEP_END_FINE 1e-17

typedef struct Detector Detector;
typedef bool DetectFn(const Detector* detector, const rbConvexScene* scene, double way);

struct Detector {
    const char* name;
    DetectFn* detect;
    rbPairMethod method;
    void* scratch;
};

static rbSeparationInput makeInput(const Detector* detector, const rbConvexScene* scene, double way)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = scene->bodies[0];
    input.geometryB = scene->bodies[1];
    input.transformBtoA = rbConvexScene_GetPose(scene, way, 0);
    input.method = detector->method;
    return input;
}

// The difference of the bodies after the move; they are convex.
static rbCso makeCso(const rbConvexScene* scene, double way, rbConvex bodies[2])
{
    bool isMade = rbConvex_Make(scene->bodies[0], 0.0, &bodies[0]) &&
                  rbConvex_Make(scene->bodies[1], 0.0, &bodies[1]);
    RB_ASSERT(isMade);
    (void)isMade;
    return rbCso_Make(&bodies[0], &bodies[1], rbConvexScene_GetPose(scene, way, 0));
}

static bool detectByGjk(const Detector* detector, const rbConvexScene* scene, double way)
{
    (void)detector;
    rbConvex bodies[2];
    rbCso cso = makeCso(scene, way, bodies);
    return rbGjk_Overlaps(&cso, 0.0, NULL);
}

static bool detectByMpr(const Detector* detector, const rbConvexScene* scene, double way)
{
    (void)detector;
    rbConvex bodies[2];
    rbCso cso = makeCso(scene, way, bodies);
    return rbMpr_Overlaps(&cso);
}

static bool detectByMprBounds(const Detector* detector, const rbConvexScene* scene, double way)
{
    (void)detector;
    rbConvex bodies[2];
    rbCso cso = makeCso(scene, way, bodies);
    return rbMpr_Detect(&cso, NULL).overlaps;
}

static bool detectByTest(const Detector* detector, const rbConvexScene* scene, double way)
{
    rbSeparationInput input = makeInput(detector, scene, way);
    bool overlaps = false;
    return rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL) == RB_STATUS_OK && overlaps;
}

static bool detectByDistance(const Detector* detector, const rbConvexScene* scene, double way)
{
    rbSeparationInput input = makeInput(detector, scene, way);
    rbSeparation s = {.distance = 1.0};
    return rbMeasureSeparation(&input, NULL, detector->scratch, &s, NULL) == RB_STATUS_OK &&
           s.distance <= 0.0;
}

// Does the method support this pair?
static bool isApplicable(const Detector* detector, const rbConvexScene* scene)
{
    rbSeparationInput input = makeInput(detector, scene, 0.5);
    rbSeparation s;
    bool overlaps;
    if (detector->detect == detectByTest) {
        return rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL) == RB_STATUS_OK;
    }
    return detector->detect != detectByDistance ||
           rbMeasureSeparation(&input, NULL, detector->scratch, &s, NULL) == RB_STATUS_OK;
}

typedef struct Trial {
    const Detector* detector;
    const rbConvexScene* scene;
} Trial;

static bool tryGap(const void* context, double gap)
{
    const Trial* trial = context;
    return trial->detector->detect(trial->detector, trial->scene, -gap);
}

static void runDetector(rbValidation* validation, const Detector* detector,
                        const rbConvexScene* scenes)
{
    double worst = 0.0;
    double worstFine = 0.0;
    int rounds = 0;
    int count = 0;
    rbValidation_Print(validation, "    %-26s", detector->name);
    for (int i = 0; i < RB_CONVEX_SCENE_COUNT; ++i) {
        if (!isApplicable(detector, &scenes[i])) {
            rbValidation_Print(validation, " %9s", "-");
            continue;
        }
        int fineRounds = 0;
        const Trial trial = {detector, &scenes[i]};
        double distance = rbBisectDetection(tryGap, &trial, STEP_END, &rounds);
        double fine = rbBisectDetection(tryGap, &trial, STEP_END_FINE, &fineRounds);
        rbValidation_Print(validation, " %9.1e", fine);
        worst = rbWorseError(fabs(distance), worst);
        worstFine = rbWorseError(fabs(fine), worstFine);
        ++count;
    }
    rbValidation_Print(validation, "\n");
    char text[96];
    (void)snprintf(text, sizeof text, "%s: |detection distance|, %d scenes [m]", detector->name,
                   count);
    if (count > 0) {
        rbValidation_AddBound(validation, text, worst, DISTANCE_MAX);
        (void)snprintf(text, sizeof text, "%s: the same bisected to rounding [m]", detector->name);
        rbValidation_AddBound(validation, text, worstFine, DISTANCE_MAX);
    }
}

static void run(rbValidation* validation)
{
    size_t size = rbGetSeparationScratchSize();
    void* scratch = rbAlloc(size);
    rbConvexScene scenes[RB_CONVEX_SCENE_COUNT];
    rbMakeConvexScenes(scenes);
    rbValidation_Print(validation,
                       "  detection distance bisected to rounding, scenes 1 to 9 and crossed "
                       "capsules; 33 rounds resolve 1.2e-10 [m]\n");
    Detector gjk = {"boolean GJK", detectByGjk, RB_PAIR_AUTO, scratch};
    Detector mpr = {"MPR", detectByMpr, RB_PAIR_AUTO, scratch};
    Detector mprBounds = {"MPR with bounds", detectByMprBounds, RB_PAIR_AUTO, scratch};
    runDetector(validation, &gjk, scenes);
    runDetector(validation, &mpr, scenes);
    runDetector(validation, &mprBounds, scenes);
    for (int method = 0; method < rbPairMethod_GetCount(); ++method) {
        char name[32];
        const char* methodName = rbPairMethod_Name((rbPairMethod)method);
        (void)snprintf(name, sizeof name, "%s, overlap test", methodName);
        Detector test = {name, detectByTest, (rbPairMethod)method, scratch};
        runDetector(validation, &test, scenes);
        (void)snprintf(name, sizeof name, "%s, signed distance", methodName);
        Detector distance = {name, detectByDistance, (rbPairMethod)method, scratch};
        runDetector(validation, &distance, scenes);
    }
    rbFreeConvexScenes(scenes);
    rbFree(scratch, size);
}

const rbValidationCase rbCaseConvexDetection = {
    .name = "convex-detection",
    .help = "distance at which contact is detected, by bisection, every detector",
    .source = "X-01, Leemann 2017 section 3.2: below 2e-10 for libccd's GJK and MPR",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
