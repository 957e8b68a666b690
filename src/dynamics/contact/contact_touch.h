// What pairs of shapes did to each other in one step, for hosts that report when they begin and end
// to touch.
//
// A step acts on the contacts of its start (position stage) and of its end (collisions, velocity
// stage), which need not be the same points. Sums by pair of shapes do not depend on that: together
// they are the momentum that passed between the two bodies.
#pragma once

#include "base/core/memory.h"
#include "dynamics/contact/collisions.h"
#include "dynamics/contact/contact.h"

// A pair of shapes in one step.
typedef struct rbTouch {
    int bodyA; // of the host, below bodyB
    int bodyB;
    int partA; // shape of the body
    int partB;
    rbVec3 impulse;       // N s, on B
    rbVec3 armA;          // m, world axes, from A's center of mass to the mean of the closed points
    rbVec3 normal;        // unit, from A to B, of the nearest contact
    double gap;           // m, of that contact; INFINITY: none was closed at the end of the step
    double approachSpeed; // m/s, before the impulses of the step; 0: none
    bool isBearing;       // an impulse acted
} rbTouch;

// The pairs of a step, in the order of bodies, then shapes.
typedef struct rbTouchList {
    RB_ARRAY(rbTouch) touches;
    int cursor; // of the last access: the next one is mostly the same or the next
} rbTouchList;

void rbTouchList_Free(rbTouchList* list);
void rbTouchList_Clear(rbTouchList* list);
// Adds the impulses of all points, times a sign; between bodies at rest they do not act. start:
// velocities before them, for the approach speed; NULL: it is known.
void rbTouchList_AddImpulses(rbTouchList* list, const rbContactSet* set,
                             const rbContactBody* bodies, const rbContactBody* start, double sign);
// Approach speeds of closed points, before collisions.
void rbTouchList_AddApproaches(rbTouchList* list, const rbContactSet* set,
                               const rbContactBody* bodies);
// Impulses of collisions.
void rbTouchList_AddCollisions(rbTouchList* list, const rbContactSet* set,
                               const rbCollisionNote* notes, int count);
// Where pairs touch at the end of the step.
void rbTouchList_Locate(rbTouchList* list, const rbContactSet* set);
