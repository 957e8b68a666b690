#include "convex_scenes.h"

#include <math.h>

static rbQuat turn(rbVec3 axis, double angle)
{
    rbVec3 n = rbScale(sin(0.5 * angle), rbNormalize(axis));
    return (rbQuat){cos(0.5 * angle), n.x, n.y, n.z};
}

static rbGeometry* cube(double edge)
{
    return rbCreateBox(rbMakeVec3(0.5 * edge, 0.5 * edge, 0.5 * edge), NULL);
}

// A scene with one contact: normal opposite to the displacement, point halfway, all unique.
static rbConvexScene makeScene(const char* name, rbGeometry* body1, rbGeometry* body2, rbVec3 move)
{
    return (rbConvexScene){.name = name,
                           .bodies = {body1, body2},
                           .poses = {RB_TRANSFORM_IDENTITY, RB_TRANSFORM_IDENTITY},
                           .move = move,
                           .normal = rbNeg(move),
                           .depthRate = 1.0,
                           .pointRate = rbScale(0.5, move),
                           .isUnique = {1.0, 1.0, 1.0},
                           .size = 10.0,
                           .angleMax = 0.01};
}

static void place(rbConvexScene* scene, rbVec3 position, rbQuat orientation, rbVec3 point)
{
    scene->poses[1] = (rbTransform){position, orientation};
    scene->point = point;
}

static void makeBoxScenes(rbConvexScene* scenes)
{
    const rbVec3 left = {-1.0, 0.0, 0.0};
    const rbVec3 down = {0.0, -1.0, 0.0};
    const rbVec3 halfBeam = {15.0, 0.5, 0.5};
    const double third = 1.0 / sqrt(3.0);
    const double half = 1.0 / sqrt(2.0);

    scenes[0] = makeScene("1 box corner, sphere", cube(10.0), rbCreateSphere(5.0, NULL),
                          rbMakeVec3(-third, -third, -third));
    double corner = 5.0 * (1.0 + third);
    place(&scenes[0], rbMakeVec3(corner, corner, corner), RB_QUAT_IDENTITY,
          rbMakeVec3(5.0, 5.0, 5.0));

    scenes[1] =
        makeScene("2 box, beam, face on face", cube(10.0), rbCreateBox(halfBeam, NULL), left);
    place(&scenes[1], rbMakeVec3(20.0, 0.0, 0.0), RB_QUAT_IDENTITY, rbMakeVec3(5.0, 0.0, 0.0));
    scenes[1].isUnique = rbMakeVec3(1.0, 0.0, 0.0);

    // body 2 slides along x; the shortest exit is perpendicular to its own face
    scenes[3] = makeScene("4 box, box, edge on edge", cube(10.0), cube(10.0), left);
    place(&scenes[3], rbMakeVec3(5.0 * (1.0 + sqrt(2.0)), -5.0, 0.0),
          turn(rbMakeVec3(0.0, 0.0, 1.0), 0.25 * RB_PI), rbMakeVec3(5.0, -5.0, 0.0));
    scenes[3].normal = rbMakeVec3(half, -half, 0.0);
    scenes[3].depthRate = half;
    scenes[3].pointRate = rbMakeVec3(-0.25, 0.25, 0.0);
    scenes[3].isUnique = rbMakeVec3(1.0, 1.0, 0.0);

    scenes[4] = makeScene("5 box, beam off center", cube(10.0), rbCreateBox(halfBeam, NULL), down);
    place(&scenes[4], rbMakeVec3(15.0, 5.5, 0.0), RB_QUAT_IDENTITY, rbMakeVec3(2.5, 5.0, 0.0));
    scenes[4].isUnique = rbMakeVec3(0.0, 1.0, 0.0);

    scenes[5] = makeScene("6 box face, box corner", cube(10.0), cube(10.0), left);
    place(&scenes[5], rbMakeVec3(5.0 * (1.0 + sqrt(3.0)), 0.0, 0.0),
          turn(rbMakeVec3(0.0, 1.0, -1.0), acos(third)), rbMakeVec3(5.0, 0.0, 0.0));
}

static void makeRoundScenes(rbConvexScene* scenes)
{
    const rbVec3 left = {-1.0, 0.0, 0.0};
    const rbVec3 sunk = {0.0, 0.0, -1.0};
    const rbQuat alongX = turn(rbMakeVec3(0.0, 1.0, 0.0), 0.5 * RB_PI);
    const rbQuat alongY = turn(rbMakeVec3(1.0, 0.0, 0.0), 0.5 * RB_PI);
    const rbVec3 top = {0.0, 0.0, 4.0};

    scenes[2] =
        makeScene("3 sphere, sphere", rbCreateSphere(5.0, NULL), rbCreateSphere(5.0, NULL), left);
    place(&scenes[2], rbMakeVec3(10.0, 0.0, 0.0), RB_QUAT_IDENTITY, rbMakeVec3(5.0, 0.0, 0.0));

    scenes[6] = makeScene("7 sphere, box face", rbCreateSphere(5.0, NULL), cube(5.0), sunk);
    place(&scenes[6], rbMakeVec3(0.0, 0.0, 7.5), RB_QUAT_IDENTITY, rbMakeVec3(0.0, 0.0, 5.0));

    scenes[7] = makeScene("8 capsule side, capsule end", rbCreateCapsule(4.0, 5.0, NULL),
                          rbCreateCapsule(4.0, 5.0, NULL), sunk);
    scenes[7].poses[0].q = alongX;
    place(&scenes[7], rbMakeVec3(0.0, 0.0, 13.0), RB_QUAT_IDENTITY, top);

    scenes[8] =
        makeScene("9 ellipsoid, ellipsoid", rbCreateEllipsoid(rbMakeVec3(10.0, 5.0, 5.0), NULL),
                  rbCreateEllipsoid(rbMakeVec3(5.0, 10.0, 5.0), NULL), left);
    place(&scenes[8], rbMakeVec3(15.0, 0.0, 0.0), RB_QUAT_IDENTITY, rbMakeVec3(10.0, 0.0, 0.0));
    scenes[8].angleMax = 0.1;

    scenes[9] = makeScene("crossed capsules (E-27)", rbCreateCapsule(4.0, 5.0, NULL),
                          rbCreateCapsule(4.0, 5.0, NULL), sunk);
    scenes[9].poses[0].q = alongX;
    place(&scenes[9], rbMakeVec3(0.0, 0.0, 8.0), alongY, top);
}

void rbMakeConvexScenes(rbConvexScene scenes[RB_CONVEX_SCENE_COUNT])
{
    makeBoxScenes(scenes);
    makeRoundScenes(scenes);
}

void rbFreeConvexScenes(rbConvexScene scenes[RB_CONVEX_SCENE_COUNT])
{
    for (int i = 0; i < RB_CONVEX_SCENE_COUNT; ++i) {
        rbDestroyGeometry(scenes[i].bodies[0]);
        rbDestroyGeometry(scenes[i].bodies[1]);
    }
}

rbTransform rbConvexScene_GetPose(const rbConvexScene* scene, double way, int order)
{
    rbTransform first = scene->poses[0];
    rbTransform second = scene->poses[1];
    second.p = rbAddScaled(second.p, way, scene->move);
    return order == 0 ? rbInvMulTransforms(first, second) : rbInvMulTransforms(second, first);
}
