#include "bodies.h"

#include "base/math/elementary.h"
#include "lab/math/random3.h"
#include "rb_test.h"

rbTransform rbTestMotion_GetPose(const void* context, double time)
{
    const rbTestMotion* motion = context;
    rbTransform pose = {rbAddScaled(motion->start, time, motion->velocity), motion->turned};
    double speed = rbLength(motion->spin);
    if (speed > 0.0) {
        double sine, cosine;
        rbSinCos(0.5 * speed * time, &sine, &cosine);
        rbVec3 axis = rbScale(sine / speed, motion->spin);
        rbQuat turn = {cosine, axis.x, axis.y, axis.z};
        pose.q = rbNormalizeQuat(rbMulQuat(turn, motion->turned));
    }
    return pose;
}

rbRayBody rbMakeStanding(const rbGeometry* geometry, rbVec3 place)
{
    rbRayBody body = {.geometry = geometry, .transform = {place, RB_QUAT_IDENTITY}};
    return body;
}

rbRayBody rbMakeMoving(const rbGeometry* geometry, const rbTestMotion* motion)
{
    rbRayBody body = {.geometry = geometry,
                      .pose = rbTestMotion_GetPose,
                      .context = motion,
                      .speedMax = rbLength(motion->velocity),
                      .spinMax = rbLength(motion->spin)};
    return body;
}

rbGeometry* rbMakePyramid(void)
{
    const rbVec3 vertices[4] = {
        {0.0, 1.0, 0.0}, {1.0, -1.0, 1.0}, {-1.0, -1.0, 1.0}, {0.0, -1.0, -1.0}};
    rbGeometry* geometry = rbCreateHull(vertices, 4, NULL);
    assert_non_null(geometry);
    return geometry;
}

rbGeometry* rbMakeRandomHull(int points, rbRandom* random)
{
    rbVec3 vertices[64];
    assert_true(points <= 64);
    for (int i = 0; i < points; ++i) {
        double radius = rbRandom_Range(random, 0.6, 1.0);
        vertices[i] = rbScale(radius, rbRandom_Direction(random));
    }
    rbGeometry* geometry = rbCreateHull(vertices, points, NULL);
    assert_non_null(geometry);
    return geometry;
}

rbRayPrediction rbPredict(rbRayBody a, rbRayBody b, double duration, const rbRaySettings* settings,
                          rbRayCounts* counts)
{
    rbError error = {0};
    rbRayEmitter* emitters[2] = {NULL, NULL};
    emitters[0] = rbCreateRayEmitter(a.geometry, settings, &error);
    assert_string_equal(error.message, "");
    if (rbGeometry_IsBounded(b.geometry)) {
        emitters[1] = rbCreateRayEmitter(b.geometry, settings, &error);
        assert_string_equal(error.message, "");
    }
    a.emitter = emitters[0];
    b.emitter = emitters[1];
    rbRayQuery query = {
        .bodyA = &a, .bodyB = &b, .end = duration, .settings = settings, .counts = counts};
    rbRayPrediction prediction;
    rbStatus status = rbPredictByRays(&query, &prediction, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, RB_STATUS_OK);
    rbDestroyRayEmitter(emitters[0]);
    rbDestroyRayEmitter(emitters[1]);
    return prediction;
}
