// Bodies with shapes and poses, for tests of the contact finder.
#pragma once

#include "base/core/random.h"
#include "base/math/quaternion.h"
#include "dynamics/contact/contact_pairs.h"
#include "lab/math/random3.h"

#include <math.h>
#include <string.h>

#define PAIR_BODIES_MAX 2048

typedef struct PairScene {
    rbContactShape shapes[PAIR_BODIES_MAX];
    rbContactPlace places[PAIR_BODIES_MAX];
    int count;
    rbGeometry* geometries[32];
    int geometryCount;
    rbMaterial material;
} PairScene;

static inline void clearPairScene(PairScene* scene)
{
    scene->count = 0;
    scene->geometryCount = 0;
    scene->material =
        (rbMaterial){.density = 1000.0, .restitution = 0.5, .friction = 0.5, .stiction = -1.0};
}

static inline void destroyPairScene(PairScene* scene)
{
    for (int i = 0; i < scene->geometryCount; ++i) {
        rbDestroyGeometry(scene->geometries[i]);
    }
}

static inline rbGeometry* ownGeometry(PairScene* scene, rbGeometry* geometry)
{
    scene->geometries[scene->geometryCount++] = geometry;
    return geometry;
}

static inline void setPairPose(PairScene* scene, int body, rbVec3 p, rbQuat q)
{
    rbRowPose* pose = &scene->places[body].pose;
    pose->position = p;
    pose->orientation = q;
    pose->rotation = rbMatFromQuat(q);
}

static inline int addPairBody(PairScene* scene, const rbGeometry* geometry, rbVec3 p, bool isMoved)
{
    int body = scene->count++;
    scene->shapes[body] = (rbContactShape){.geometry = geometry,
                                           .transform = RB_TRANSFORM_IDENTITY,
                                           .materials = &scene->material,
                                           .materialCount = 1,
                                           .isMoved = isMoved,
                                           .groups = 1,
                                           .mask = 1};
    scene->places[body].reach = 0.0;
    setPairPose(scene, body, p, RB_QUAT_IDENTITY);
    return body;
}

static inline void turnPairBody(PairScene* scene, int body, rbVec3 axis, double angle)
{
    // the tests use libm for their truths
    rbVec3 v = rbScale(sin(0.5 * angle), axis);
    rbQuat q = {cos(0.5 * angle), v.x, v.y, v.z};
    const rbRowPose* pose = &scene->places[body].pose;
    setPairPose(scene, body, pose->position, rbNormalizeQuat(rbMulQuat(q, pose->orientation)));
}

static inline void movePairBody(PairScene* scene, int body, rbVec3 by)
{
    rbVec3* p = &scene->places[body].pose.position;
    *p = rbAdd(*p, by);
}

static inline rbContactPairs* makePairs(const PairScene* scene, const rbContactSettings* settings)
{
    rbContactPairs* pairs = rbCreateContactPairs(settings);
    for (int i = 0; i < scene->count; ++i) {
        rbContactPairs_SetShape(pairs, i, &scene->shapes[i]);
    }
    return pairs;
}

static inline rbContactSet findContacts(rbContactPairs* pairs, const PairScene* scene)
{
    return rbContactPairs_Find(pairs, scene->places, scene->count);
}

// Contacts between two bodies.
static inline int countContacts(const rbContactSet* set, int a, int b)
{
    int count = 0;
    for (int i = 0; i < set->contactCount; ++i) {
        count += (int)(set->contacts[i].bodyA == a && set->contacts[i].bodyB == b);
    }
    return count;
}
