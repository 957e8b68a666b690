// Bodies with hand-made contacts for tests of the solver, and a step without an engine: bodies that
// do not rotate, or round ones, so that arms and normals stay constant.
#pragma once

#include "dynamics/contact/contact_solver.h"

#include <string.h>

#ifndef SCENE_BODIES_MAX // a test may need more
#define SCENE_BODIES_MAX 256
#define SCENE_CONTACTS_MAX 512
#endif

typedef struct SolverScene {
    rbContactBody bodies[SCENE_BODIES_MAX];
    rbVec3 places[SCENE_BODIES_MAX];
    int bodyCount;
    rbContact contacts[SCENE_CONTACTS_MAX];
    rbContactPoint points[4 * SCENE_CONTACTS_MAX];
    rbContactSet set;
    rbContactSolved positions; // of the last step
    rbContactSolved velocities;
} SolverScene;

// Body 0 is the ground.
static inline void beginScene(SolverScene* scene)
{
    memset(scene, 0, sizeof(*scene));
    scene->set.contacts = scene->contacts;
    scene->set.points = scene->points;
    scene->bodyCount = 1;
}

static inline rbContactSettings sceneSettings(void)
{
    rbContactSettings settings = rbDefaultContactSettings();
    settings.tolerance = 1e-6;
    settings.velocityTolerance = 1e-8;
    return settings;
}

static inline int addBody(SolverScene* scene, rbVec3 place, double mass, rbVec3 inertia)
{
    rbContactBody* body = &scene->bodies[scene->bodyCount];
    body->invMass = 1.0 / mass;
    body->invInertia = (rbSym3){1.0 / inertia.x, 1.0 / inertia.y, 1.0 / inertia.z, 0.0, 0.0, 0.0};
    scene->places[scene->bodyCount] = place;
    return scene->bodyCount++;
}

static inline int addCube(SolverScene* scene, rbVec3 place, double mass, double side)
{
    double i = mass * side * side / 6.0;
    return addBody(scene, place, mass, rbMakeVec3(i, i, i));
}

static inline int addBall(SolverScene* scene, rbVec3 place, double mass, double radius)
{
    double i = 0.4 * mass * radius * radius;
    return addBody(scene, place, mass, rbMakeVec3(i, i, i));
}

// A contact with the normal z; points are added after it.
static inline rbContact* addContact(SolverScene* scene, int a, int b, double friction, int level)
{
    rbContact* contact = &scene->contacts[scene->set.contactCount++];
    contact->bodyA = a;
    contact->bodyB = b;
    contact->normal = rbMakeVec3(0.0, 0.0, 1.0);
    contact->tangents[0] = rbMakeVec3(1.0, 0.0, 0.0);
    contact->tangents[1] = rbMakeVec3(0.0, 1.0, 0.0);
    contact->friction = friction;
    contact->stiction = friction;
    contact->firstPoint = scene->set.pointCount;
    contact->level = level;
    return contact;
}

static inline rbContactPoint* addPoint(SolverScene* scene, rbVec3 at)
{
    rbContact* contact = &scene->contacts[scene->set.contactCount - 1];
    rbContactPoint* point = &scene->points[scene->set.pointCount++];
    point->armA = rbSub(at, scene->places[contact->bodyA]);
    point->armB = rbSub(at, scene->places[contact->bodyB]);
    point->isClosed = true;
    contact->pointCount++;
    return point;
}

// Four corners of a square face of side 2 r about a place.
static inline void addFace(SolverScene* scene, rbVec3 middle, double r)
{
    for (int i = 0; i < 4; ++i) {
        double x = (i & 1) != 0 ? r : -r;
        double y = (i & 2) != 0 ? r : -r;
        (void)addPoint(scene, rbAdd(middle, rbMakeVec3(x, y, 0.0)));
    }
}

// A column of cubes of side 1 on the ground; the caller sets the masses.
static inline void addColumn(SolverScene* scene, int count, double friction)
{
    for (int i = 0; i < count; ++i) {
        int cube = addCube(scene, rbMakeVec3(0.0, 0.0, 0.5 + i), 1.0, 1.0);
        (void)addContact(scene, cube - 1, cube, friction, i + 1);
        addFace(scene, rbMakeVec3(0.0, 0.0, (double)i), 0.5);
    }
}

static inline void kickScene(SolverScene* scene, rbVec3 gravity, double time)
{
    for (int i = 1; i < scene->bodyCount; ++i) {
        if (scene->bodies[i].invMass > 0.0) {
            scene->bodies[i].velocity = rbAddScaled(scene->bodies[i].velocity, time, gravity);
        }
    }
}

static inline rbContactRun sceneRun(SolverScene* scene, double h)
{
    rbContactRun run = {.set = &scene->set, .bodies = scene->bodies, .h = h};
    return run;
}

// One step; gaps and slips follow the velocities, and so do the positions of bodies.
static inline void stepScene(SolverScene* scene, rbContactSolver* solver, rbVec3 gravity, double h)
{
    rbContactRun run = sceneRun(scene, h);
    kickScene(scene, gravity, 0.5 * h);
    rbContactSolver_BeginStep(solver, &run, true);
    scene->positions = rbContactSolver_Solve(solver, &run, false);
    for (int i = 0; i < scene->set.contactCount; ++i) {
        const rbContact* contact = &scene->contacts[i];
        for (int k = 0; k < contact->pointCount; ++k) {
            rbContactPoint* point = &scene->points[contact->firstPoint + k];
            rbVec3 u = rbContact_RelativeVelocity(scene->bodies, contact, point);
            point->gap += h * rbDot(u, contact->normal);
            for (int t = 0; t < 2; ++t) {
                double moved = point->slip[t] + h * rbDot(u, contact->tangents[t]);
                point->slip[t] = point->isSticking ? moved : 0.0;
            }
        }
    }
    for (int i = 1; i < scene->bodyCount; ++i) {
        scene->places[i] = rbAddScaled(scene->places[i], h, scene->bodies[i].velocity);
    }
    kickScene(scene, gravity, 0.5 * h);
    rbContactSolver_Prepare(solver, &run);
    scene->velocities = rbContactSolver_Solve(solver, &run, true);
}
