// Bodies at rest that stay frozen until something must move them (B-94).
//
// An island attached to something fixed is frozen when all of its bodies have been slower than a
// speed limit (of their fastest points, |v| + radius |w|) for a given time. Then velocities are
// zero, impulses do not move its bodies, and the engine neither moves nor loads them. Bodies frozen
// together wake together:
//   by WakeTouched: a closed contact or a link with a body that moves or may be moved by
//     impulses (it pushes, however gently: only the solver finds out whether that moves anything),
//     with a fixed body that moves by itself, or with one passed to Wake; a contact or link
//     that is gone; velocities set from outside;
//   by Wake and WakeAll: events that only the caller sees (states, masses, shapes set from
//     outside, a support placed elsewhere, parameters of joints, gravity, forces). Wake of a body
//     that is not frozen wakes the bodies that touch it.
// A body that only comes near does not wake an island: to it the island is a wall until they touch.
#pragma once

#include "base/core/byte_stream.h"
#include "dynamics/contact/contact_graph.h"

typedef struct rbContactFreeze rbContactFreeze;

// speed 0: nothing is ever frozen. Values of rbContactSettings.
rbContactFreeze* rbCreateContactFreeze(double speed, double time);
void rbDestroyContactFreeze(rbContactFreeze* freeze); // NULL is fine

// A node: the contacts found there and their graph, of the same links.
typedef struct rbContactNode {
    const rbContactSet* set;
    const rbContactGraph* graph;
    int islandCount;
    rbContactBody* bodies;
    const double* radii; // m, by body: of its farthest point from the center of mass
    int bodyCount;
    const int (*links)[2];
    int linkCount;
    const unsigned char* isRestless; // by body: may move at any time, never freeze; NULL: none
} rbContactNode;

// Call after contacts are found, before any impulse. Writes isFrozen of frozen bodies and of those
// it wakes. Returns how many it woke.
int rbContactFreeze_WakeTouched(rbContactFreeze* freeze, const rbContactNode* node);

// Call at the end of a step of h. Writes isFrozen and velocities of the bodies it freezes; returns
// how many.
int rbContactFreeze_Update(rbContactFreeze* freeze, const rbContactNode* node, double h);

bool rbContactFreeze_IsFrozen(const rbContactFreeze* freeze, int body);
int rbContactFreeze_GetCount(const rbContactFreeze* freeze);
// The next WakeTouched writes isFrozen of the bodies.
void rbContactFreeze_Wake(rbContactFreeze* freeze, int body);
void rbContactFreeze_WakeAll(rbContactFreeze* freeze);

// The changing state.
void rbContactFreeze_Move(rbContactFreeze* freeze, rbByteStream* stream);
