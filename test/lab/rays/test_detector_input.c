// Predictions for input at the limits: overlap, rest, surfaces, planes, bad values.
#include "bodies.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

static void checkVec(rbVec3 value, rbVec3 truth, double tolerance)
{
    checkNear(value.x, truth.x, tolerance);
    checkNear(value.y, truth.y, tolerance);
    checkNear(value.z, truth.z, tolerance);
}

// overlap at the start is reported, touch only if bodies approach, and rest is not a contact
static void startsAreReported(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbRaySettings settings = rbDefaultRaySettings();
    const struct {
        double distance; // of the centers
        double speed;    // of approach
        bool isHit, isInside;
    } rows[] = {
        {1.5, 1.0, true, true},   {1.5, -1.0, true, true},           {1.5, 0.0, true, true},
        {2.0, 1.0, true, false},  {2.0 - 1e-12, 1.0, true, false},   {2.0, -1.0, false, false},
        {2.0, 0.0, false, false}, {2.0 - 1e-12, -1.0, false, false}, {2.5, 0.0, false, false},
        {2.5, 1.0, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        rbTestMotion motion = {{-rows[i].distance, 0.0, 0.0},
                               {rows[i].speed, 0.0, 0.0},
                               RB_QUAT_IDENTITY,
                               RB_VEC3_ZERO};
        rbRayPrediction hit = rbPredict(rbMakeMoving(ball, &motion),
                                        rbMakeStanding(ball, RB_VEC3_ZERO), 1.0, &settings, NULL);
        assert_int_equal(hit.isHit, rows[i].isHit);
        assert_int_equal(hit.isInside, rows[i].isInside);
        if (hit.isHit) {
            checkNear(hit.time, fmax(0.0, rows[i].distance - 2.0), 1e-9);
            checkVec(hit.normal, rbMakeVec3(-1.0, 0.0, 0.0), 1e-9);
        }
    }
    rbDestroyGeometry(ball);
}

// no rays requested: vertices still cast rays, spheres do not
static void noRaysAreADefinedAnswer(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbTestMotion motion = {{-5.0, 0.3, 0.2}, {1.0, 0.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    rbRaySettings settings = rbDefaultRaySettings();
    settings.count = 0;
    settings.refineRounds = 3;
    rbRayCounts counts = {0};
    rbRayPrediction hit = rbPredict(rbMakeMoving(ball, &motion), rbMakeStanding(ball, RB_VEC3_ZERO),
                                    9.0, &settings, &counts);
    assert_false(hit.isHit && hit.time < 3.0 - 1e-3);
    hit = rbPredict(rbMakeMoving(box, &motion), rbMakeStanding(box, RB_VEC3_ZERO), 9.0, &settings,
                    &counts);
    assert_true(hit.isHit);
    checkNear(hit.time, 3.0, 1e-12);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(box);
}

// a triangle and an open mesh are hit and cast rays on either side
static void surfacesAreHitOnBothSides(void** state)
{
    (void)state;
    const rbVec3 vertices[4] = {
        {-1.0, -1.0, 0.0}, {1.0, -1.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, -1.0, -1.0}};
    const int indices[6] = {0, 1, 2, 1, 0, 3};
    rbMeshDef def = {.vertices = vertices, .vertexCount = 3, .indices = indices, .faceCount = 1};
    rbGeometry* surfaces[2] = {rbCreateSoup(&def, NULL), NULL};
    def.vertexCount = 4;
    def.faceCount = 2;
    surfaces[1] = rbCreateMesh(&def, NULL);
    rbGeometry* ball = rbCreateSphere(0.1, NULL);
    rbRaySettings settings = rbDefaultRaySettings();
    for (int i = 0; i < 2; ++i) {
        assert_non_null(surfaces[i]);
        for (int side = -1; side <= 1; side += 2) {
            rbTestMotion motion = {
                {0.0, 0.0, 2.0 * side}, {0.0, 0.0, -1.0 * side}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
            rbRayPrediction hit =
                rbPredict(rbMakeMoving(ball, &motion), rbMakeStanding(surfaces[i], RB_VEC3_ZERO),
                          9.0, &settings, NULL);
            assert_true(hit.isHit);
            checkNear(hit.time, 1.9, 1e-9);
            checkVec(hit.normal, rbMakeVec3(0.0, 0.0, side), 1e-9);
            // and the surface as the moving body
            hit = rbPredict(rbMakeMoving(surfaces[i], &motion), rbMakeStanding(ball, RB_VEC3_ZERO),
                            9.0, &settings, NULL);
            assert_true(hit.isHit);
            checkNear(hit.time, 1.9, 2e-3);
        }
    }
    rbDestroyGeometry(surfaces[0]);
    rbDestroyGeometry(surfaces[1]);
    rbDestroyGeometry(ball);
}

// planes are hit by rays from above only, and a compound casts rays from all of its parts
static void planesAndCompoundsTakePart(void** state)
{
    (void)state;
    rbGeometry* plane = rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.5, NULL);
    rbGeometry* ball = rbCreateSphere(0.5, NULL);
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.2, 0.2, 0.2), NULL);
    rbCompoundChild children[2] = {{ball, {{0.0, 0.0, 1.0}, RB_QUAT_IDENTITY}, 0.0},
                                   {box, {{0.0, 0.0, -1.0}, RB_QUAT_IDENTITY}, 0.0}};
    rbGeometry* compound = rbCreateCompound(children, 2, NULL);
    rbRaySettings settings = rbDefaultRaySettings();
    for (int i = 0; i < 2; ++i) {
        // upright the box is first, upside down the ball
        rbQuat upside = {0.0, 1.0, 0.0, 0.0};
        rbTestMotion motion = {
            {0.0, 0.0, 5.0}, {0.3, 0.0, -1.0}, i == 0 ? RB_QUAT_IDENTITY : upside, RB_VEC3_ZERO};
        rbRayPrediction hit = rbPredict(rbMakeMoving(compound, &motion),
                                        rbMakeStanding(plane, RB_VEC3_ZERO), 9.0, &settings, NULL);
        assert_true(hit.isHit);
        checkNear(hit.time, i == 0 ? 4.5 - 1.2 : 4.5 - 1.5, i == 0 ? 1e-12 : 0.03);
        checkVec(hit.normal, rbMakeVec3(0.0, 0.0, 1.0), 1e-12);
        checkNear(hit.point.z, 0.5, 1e-12);
    }
    rbError error = {0};
    assert_null(rbCreateRayEmitter(plane, &settings, &error));
    assert_int_equal(error.status, RB_STATUS_UNSUPPORTED);
    rbDestroyGeometry(compound);
    rbDestroyGeometry(box);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(plane);
}

static rbTransform getBadPose(const void* context, double time)
{
    rbTransform pose = {{time, 0.0, 0.0}, RB_QUAT_IDENTITY};
    const int* kind = context;
    if (time > 0.0 && *kind == 0) {
        pose.p.y = NAN;
    }
    if (*kind == 1) {
        pose.q.w = 2.0;
    }
    return pose;
}

static void checkTrouble(const rbRayQuery* query, const char* words, rbStatus status)
{
    rbError error = {0};
    rbRayPrediction prediction;
    assert_int_equal(rbPredictByRays(query, &prediction, &error), status);
    assert_int_equal(error.status, status);
    assert_non_null(strstr(error.message, words));
    assert_false(prediction.isHit);
}

// bad values get a message
static void badValuesGetAMessage(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* other = rbCreateBox(rbMakeVec3(1.0, 1.0, 1.0), NULL);
    rbRaySettings settings = rbDefaultRaySettings();
    rbRayEmitter* emitter = rbCreateRayEmitter(ball, &settings, NULL);
    rbTestMotion motion = {{-5.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, RB_QUAT_IDENTITY, RB_VEC3_ZERO};
    rbRayBody a = rbMakeMoving(ball, &motion);
    rbRayBody b = rbMakeStanding(other, RB_VEC3_ZERO);
    rbRayQuery query = {.bodyA = &a, .bodyB = &b, .end = 1.0, .settings = &settings};
    checkTrouble(&query, "neither body casts rays", RB_STATUS_INVALID);
    b.emitter = emitter;
    checkTrouble(&query, "another geometry", RB_STATUS_INVALID);
    b.emitter = NULL;
    a.emitter = emitter;
    query.end = -1.0;
    checkTrouble(&query, "times", RB_STATUS_INVALID);
    query.end = NAN;
    checkTrouble(&query, "times", RB_STATUS_INVALID);
    query.end = 1.0;
    a.speedMax = -1.0;
    checkTrouble(&query, "speedMax of body A", RB_STATUS_INVALID);
    a.speedMax = 1.0;
    b.spinMax = INFINITY;
    checkTrouble(&query, "spinMax of body B", RB_STATUS_INVALID);
    b.spinMax = 0.0;
    int kind = 0;
    a.pose = getBadPose;
    a.context = &kind;
    checkTrouble(&query, "pose of body A at the time 1 s", RB_STATUS_INVALID);
    // the turning box needs its orientation, a ball does not
    kind = 1;
    a.emitter = NULL;
    a.geometry = other;
    b.geometry = ball;
    b.emitter = emitter;
    checkTrouble(&query, "unit length", RB_STATUS_INVALID);
    settings.tolerance = 0.0;
    checkTrouble(&query, "tolerance", RB_STATUS_INVALID);
    settings.tolerance = 1e-12;
    a.pose = rbTestMotion_GetPose;
    motion.spin = rbMakeVec3(0.0, 0.0, 1e9);
    motion.start = rbMakeVec3(-2.1, 0.0, 0.0);
    a.context = &motion;
    a.spinMax = 1e9;
    checkTrouble(&query, "pieces", RB_STATUS_LIMIT);
    rbDestroyRayEmitter(emitter);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(other);
}

typedef struct Told {
    int64_t rays, hits, reverse, refined;
} Told;

static void countTrace(void* context, const rbRayTrace* trace)
{
    Told* told = context;
    ++told->rays;
    told->hits += trace->isHit ? 1 : 0;
    told->reverse += trace->isReverse ? 1 : 0;
    told->refined += trace->isRefined ? 1 : 0;
    assert_true(rbIsFinite3(trace->start) && rbIsFinite3(trace->end));
}

// every ray is reported and counted once, and a prediction allocates nothing
static void raysAreReportedAndCounted(void** state)
{
    (void)state;
    rbGeometry* ball = rbCreateSphere(1.0, NULL);
    rbGeometry* pyramid = rbMakePyramid();
    rbRaySettings settings = rbDefaultRaySettings();
    settings.refineRounds = 4;
    rbRayEmitter* emitters[2] = {rbCreateRayEmitter(ball, &settings, NULL),
                                 rbCreateRayEmitter(pyramid, &settings, NULL)};
    rbTestMotion motion = {{-5.0, 0.3, 0.2}, {1.0, 0.0, 0.0}, RB_QUAT_IDENTITY, {0.0, 0.5, 0.0}};
    rbRayBody a = rbMakeMoving(pyramid, &motion);
    rbRayBody b = rbMakeStanding(ball, RB_VEC3_ZERO);
    a.emitter = emitters[1];
    b.emitter = emitters[0];
    rbRayCounts counts = {0};
    Told told = {0};
    rbRayQuery query = {.bodyA = &a,
                        .bodyB = &b,
                        .end = 9.0,
                        .settings = &settings,
                        .counts = &counts,
                        .trace = countTrace,
                        .traceContext = &told};
    uint64_t allocations = rbGetAllocationCount();
    rbRayPrediction hit;
    assert_int_equal(rbPredictByRays(&query, &hit, NULL), RB_STATUS_OK);
    assert_int_equal(rbGetAllocationCount(), allocations);
    assert_true(hit.isHit);
    assert_int_equal(counts.predictions, 1);
    assert_int_equal(told.rays, counts.rays);
    assert_int_equal(told.hits, counts.hits);
    assert_true(told.reverse > 0 && told.reverse < told.rays);
    assert_true(told.refined > 0 && told.refined <= 64);
    rbDestroyRayEmitter(emitters[0]);
    rbDestroyRayEmitter(emitters[1]);
    rbDestroyGeometry(ball);
    rbDestroyGeometry(pyramid);
}

RB_TEST_GROUP(test_detector_input, cmocka_unit_test(startsAreReported),
              cmocka_unit_test(noRaysAreADefinedAnswer),
              cmocka_unit_test(surfacesAreHitOnBothSides),
              cmocka_unit_test(planesAndCompoundsTakePart), cmocka_unit_test(badValuesGetAMessage),
              cmocka_unit_test(raysAreReportedAndCounted));
