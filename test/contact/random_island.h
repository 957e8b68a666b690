// Random islands for tests of contact solvers.
#pragma once

#include "base/core/random.h"
#include "rb_test.h"
#include "solver_scene.h"

#include <math.h>

static inline rbVec3 anyVector(rbRandom* random, double size)
{
    double x = rbRandom_Symmetric(random);
    double y = rbRandom_Symmetric(random);
    return rbMakeVec3(size * x, size * y, size * rbRandom_Symmetric(random));
}

// Bodies with full inertias and random contacts between them; with a ground or without.
static inline void makeIsland(SolverScene* scene, rbRandom* random, bool hasGround)
{
    beginScene(scene);
    int count = 2 + rbRandom_Index(random, 8);
    for (int i = 0; i < count; ++i) {
        int body = addBall(scene, RB_VEC3_ZERO, rbRandom_Range(random, 0.5, 5.0), 1.0);
        rbVec3 a = anyVector(random, 1.0);
        rbSym3* s = &scene->bodies[body].invInertia;
        *s = (rbSym3){s->xx + a.x * a.x, s->yy + a.y * a.y, s->zz + a.z * a.z,
                      a.x * a.y,         a.x * a.z,         a.y * a.z};
        scene->bodies[body].velocity = anyVector(random, 2.0);
        scene->bodies[body].spin = anyVector(random, 2.0);
    }
    int contacts = count + rbRandom_Index(random, 2 * count);
    for (int i = 0; i < contacts; ++i) {
        int least = hasGround ? 0 : 1;
        int b = 1 + rbRandom_Index(random, count);
        int a = least + rbRandom_Index(random, count + 1 - least);
        if (a == b) {
            continue;
        }
        rbContact* contact = addContact(scene, a, b, rbRandom_Range(random, 0.0, 0.8), 1);
        contact->normal = rbNormalize(anyVector(random, 1.0));
        contact->tangents[0] = rbPerpendicular(contact->normal);
        contact->tangents[1] = rbCross(contact->normal, contact->tangents[0]);
        int points = 1 + rbRandom_Index(random, 4);
        for (int k = 0; k < points; ++k) {
            rbContactPoint* point = addPoint(scene, RB_VEC3_ZERO);
            point->armA = anyVector(random, 0.7);
            point->armB = a == 0 ? point->armA : anyVector(random, 0.7);
            point->gap = rbRandom_Unit(random) < 0.3 ? rbRandom_Range(random, 0.0, 0.02) : 0.0;
        }
    }
}

static inline rbVec3 momentumOf(const SolverScene* scene)
{
    rbVec3 sum = RB_VEC3_ZERO;
    for (int i = 1; i < scene->bodyCount; ++i) {
        sum = rbAddScaled(sum, 1.0 / scene->bodies[i].invMass, scene->bodies[i].velocity);
    }
    return sum;
}

// Checks that the sums of impulses are in their cones.
static inline void checkCones(const SolverScene* scene, double rounding)
{
    for (int i = 0; i < scene->set.contactCount; ++i) {
        const rbContact* contact = &scene->contacts[i];
        for (int k = 0; k < contact->pointCount; ++k) {
            const double* p = scene->points[contact->firstPoint + k].impulse;
            assert_true(p[0] >= 0.0);
            double t = sqrt(p[1] * p[1] + p[2] * p[2]);
            assert_true(t <= contact->stiction * p[0] * (1.0 + rounding));
        }
    }
}
