// Hand-made bodies and contacts, for tests of collisions, graphs and freezing.
#pragma once

#include "base/core/random.h"
#include "base/math/elementary.h"
#include "dynamics/contact/collisions.h"

#include <math.h>
#include <string.h>

#define SCENE_BODIES_MAX 512
#define SCENE_CONTACTS_MAX 2048
#define SCENE_POINTS_MAX 4096

typedef struct Scene {
    rbContactBody bodies[SCENE_BODIES_MAX];
    rbVec3 centers[SCENE_BODIES_MAX];
    double masses[SCENE_BODIES_MAX];   // 0: fixed
    rbVec3 inertias[SCENE_BODIES_MAX]; // along the axes of the world
    int bodyCount;
    rbContact contacts[SCENE_CONTACTS_MAX];
    rbContactPoint points[SCENE_POINTS_MAX];
    rbContactSet set;
} Scene;

static inline void clearScene(Scene* scene)
{
    scene->bodyCount = 0;
    scene->set = (rbContactSet){.contacts = scene->contacts, .points = scene->points};
}

// mass 0: fixed.
static inline int addSceneBody(Scene* scene, rbVec3 center, double mass, rbVec3 inertia)
{
    int index = scene->bodyCount++;
    rbContactBody* body = &scene->bodies[index];
    memset(body, 0, sizeof *body);
    scene->centers[index] = center;
    scene->masses[index] = mass;
    scene->inertias[index] = inertia;
    if (mass > 0.0) {
        body->invMass = 1.0 / mass;
        body->invInertia =
            (rbSym3){.xx = 1.0 / inertia.x, .yy = 1.0 / inertia.y, .zz = 1.0 / inertia.z};
    }
    return index;
}

static inline int addSceneBall(Scene* scene, rbVec3 center, double mass, double radius)
{
    double i = 0.4 * mass * radius * radius;
    return addSceneBody(scene, center, mass, rbMakeVec3(i, i, i));
}

static inline int addSceneBox(Scene* scene, rbVec3 center, double mass, rbVec3 sides)
{
    rbVec3 s = rbMulEach(sides, sides);
    double f = mass / 12.0;
    return addSceneBody(scene, center, mass,
                        rbMakeVec3(f * (s.y + s.z), f * (s.x + s.z), f * (s.x + s.y)));
}

// A contact without points yet.
static inline rbContact* addSceneContact(Scene* scene, int a, int b, rbVec3 normal)
{
    rbContact* contact = &scene->contacts[scene->set.contactCount++];
    memset(contact, 0, sizeof *contact);
    contact->bodyA = a;
    contact->bodyB = b;
    contact->normal = normal;
    contact->tangents[0] = rbNormalize(rbPerpendicular(normal));
    contact->tangents[1] = rbCross(normal, contact->tangents[0]);
    contact->firstPoint = scene->set.pointCount;
    return contact;
}

// A closed point of the last contact, at a place in the world.
static inline rbContactPoint* addScenePoint(Scene* scene, rbVec3 place)
{
    rbContact* contact = &scene->contacts[scene->set.contactCount - 1];
    rbContactPoint* point = &scene->points[scene->set.pointCount++];
    memset(point, 0, sizeof *point);
    point->armA = rbSub(place, scene->centers[contact->bodyA]);
    point->armB = rbSub(place, scene->centers[contact->bodyB]);
    point->isClosed = true;
    contact->pointCount += 1;
    return point;
}

static inline double getSceneEnergy(const Scene* scene)
{
    double sum = 0.0;
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbContactBody* body = &scene->bodies[i];
        if (scene->masses[i] > 0.0) {
            sum += 0.5 * scene->masses[i] * rbLengthSquared(body->velocity);
            sum += 0.5 * rbDot(body->spin, rbMulEach(scene->inertias[i], body->spin));
        }
    }
    return sum;
}

// Linear momentum, and angular momentum about the origin.
static inline void getSceneMomentum(const Scene* scene, rbVec3* linear, rbVec3* angular)
{
    *linear = *angular = RB_VEC3_ZERO;
    for (int i = 0; i < scene->bodyCount; ++i) {
        if (scene->masses[i] > 0.0) {
            rbVec3 p = rbScale(scene->masses[i], scene->bodies[i].velocity);
            *linear = rbAdd(*linear, p);
            *angular = rbAdd(*angular, rbCross(scene->centers[i], p));
            *angular = rbAdd(*angular, rbMulEach(scene->inertias[i], scene->bodies[i].spin));
        }
    }
}

// u.n of a point.
static inline double getSceneSpeed(const Scene* scene, int contact, int point)
{
    const rbContact* c = &scene->contacts[contact];
    rbVec3 u = rbContact_RelativeVelocity(scene->bodies, c, &scene->points[c->firstPoint + point]);
    return rbDot(u, c->normal);
}

// Largest approach speed of all closed points.
static inline double getSceneApproach(const Scene* scene)
{
    double fastest = 0.0;
    for (int i = 0; i < scene->set.contactCount; ++i) {
        for (int k = 0; k < scene->contacts[i].pointCount; ++k) {
            if (scene->points[scene->contacts[i].firstPoint + k].isClosed) {
                fastest = fmax(fastest, -getSceneSpeed(scene, i, k));
            }
        }
    }
    return fastest;
}

// With memory of its own.
static inline rbCollisionsDone resolveCollisions(const rbContactSettings* settings,
                                                 const rbContactRun* run)
{
    rbCollisions* collisions = rbCreateCollisions();
    rbCollisionsDone done = rbCollisions_Resolve(collisions, settings, run);
    rbDestroyCollisions(collisions);
    return done;
}

static inline rbCollisionsDone collideScene(Scene* scene, const rbContactSettings* settings)
{
    rbContactRun run = {.set = &scene->set, .bodies = scene->bodies, .h = 0.01};
    return resolveCollisions(settings, &run);
}

static inline rbVec3 makeRandomVector(rbRandom* random)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, rbRandom_Symmetric(random));
}

static inline rbVec3 makeRandomDirection(rbRandom* random)
{
    rbVec3 v = makeRandomVector(random);
    while (rbLengthSquared(v) < 0.01) {
        v = makeRandomVector(random);
    }
    return rbNormalize(v);
}

typedef struct HeapKind {
    double restitution; // < 0: random in each contact
    double friction;    // up to
    double massRatio;   // up to, as a power of ten
    bool isHeld;        // body 0 is fixed
} HeapKind;

// Up to twelve bodies at random places, each touching an earlier one, and some more contacts.
static inline void makeHeap(Scene* scene, rbRandom* random, const HeapKind* kind)
{
    clearScene(scene);
    int count = 2 + rbRandom_Index(random, 11);
    for (int i = 0; i < count; ++i) {
        double mass = rbExp(rbRandom_Range(random, 0.0, kind->massRatio) * rbLog(10.0));
        rbVec3 sides =
            rbMakeVec3(rbRandom_Range(random, 0.3, 1.5), rbRandom_Range(random, 0.3, 1.5),
                       rbRandom_Range(random, 0.3, 1.5));
        addSceneBox(scene, makeRandomVector(random), kind->isHeld && i == 0 ? 0.0 : mass, sides);
        if (!(kind->isHeld && i == 0)) {
            scene->bodies[i].velocity = makeRandomVector(random);
            scene->bodies[i].spin = makeRandomVector(random);
        }
    }
    int contacts = count - 1 + rbRandom_Index(random, count);
    for (int i = 0; i < contacts; ++i) {
        int b = i < count - 1 ? i + 1 : 1 + rbRandom_Index(random, count - 1);
        int a = rbRandom_Index(random, b);
        rbContact* contact = addSceneContact(scene, a, b, makeRandomDirection(random));
        bool isRandom = kind->restitution < 0.0;
        contact->restitution = isRandom ? rbRandom_Unit(random) : kind->restitution;
        contact->friction = rbRandom_Range(random, 0.0, kind->friction);
        contact->stiction = contact->friction * rbRandom_Range(random, 1.0, 1.5);
        rbVec3 middle = rbScale(0.5, rbAdd(scene->centers[a], scene->centers[b]));
        int points = 1 + rbRandom_Index(random, RB_MANIFOLD_POINTS_MAX);
        for (int k = 0; k < points; ++k) {
            rbVec3 place =
                rbAddScaled(middle, 0.5 * rbRandom_Symmetric(random), contact->tangents[0]);
            place = rbAddScaled(place, 0.5 * rbRandom_Symmetric(random), contact->tangents[1]);
            addScenePoint(scene, place)->isClosed = rbRandom_Index(random, 5) > 0;
        }
    }
}
