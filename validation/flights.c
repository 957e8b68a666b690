#include "flights.h"

#include <stdio.h>
#include <stdlib.h>

rbMotionSettings rbMakeMotion(rbMotionType type, double step, int degree, double tolerance)
{
    rbMotionSettings motion = {
        .type = type, .step = step, .degree = degree, .tolerance = tolerance};
    return motion;
}

// The definitions here are valid; a rejected one is a bug in the case.
static void require(bool isDone, const rbError* error)
{
    if (!isDone) {
        char text[1200];
        rbError_Format(error, text, sizeof text);
        (void)fprintf(stderr, "rattleback: error in a validation case: %s\n", text);
        abort();
    }
}

static rbWorld* makeWorld(rbVec3 gravity)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = gravity;
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&def, &error);
    require(world != NULL, &error);
    return world;
}

rbWorld* rbMakeTop(rbVec3 moments, rbVec3 spin, rbMotionSettings motion, rbBodyId* bodyId)
{
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbMassProperties mass = {.mass = 1.0,
                             .inertia = {.xx = moments.x, .yy = moments.y, .zz = moments.z}};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_DYNAMIC;
    def.mass = &mass;
    def.angularVelocity = spin;
    def.motion = motion;
    rbError error = {0};
    *bodyId = rbCreateBody(world, &def, &error);
    require(!RB_IS_NULL(*bodyId), &error);
    return world;
}

rbWorld* rbMakeTumblingBox(rbMotionSettings motion, rbBodyId* bodyId)
{
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_DYNAMIC;
    def.linearVelocity = rbMakeVec3(-2.0, 2.0, 8.0);
    def.angularVelocity = rbMakeVec3(0.1, 5.0, 0.1);
    def.motion = motion;
    rbError error = {0};
    *bodyId = rbCreateBody(world, &def, &error);
    require(!RB_IS_NULL(*bodyId), &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(0.05, 0.2, 0.45), NULL));
    shape.material.density = 10.0 / (0.1 * 0.4 * 0.9);
    require(!RB_IS_NULL(rbCreateShape(world, *bodyId, &shape, &error)), &error);
    return world;
}

double rbCompareOrientations(rbQuat a, rbQuat b)
{
    double sign = rbDotQuat(a, b) < 0.0 ? -1.0 : 1.0;
    rbQuat d = {a.w - sign * b.w, a.x - sign * b.x, a.y - sign * b.y, a.z - sign * b.z};
    return sqrt(rbDotQuat(d, d));
}

double rbCompareVectors(rbVec3 a, rbVec3 b)
{
    double size = rbLength(b);
    return size > 0.0 ? rbDistance(a, b) / size : rbLength(a);
}
