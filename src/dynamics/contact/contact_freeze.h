// Bodies at rest that stand still until something must move them (B-94).
//
// An island that holds to something that stands, all of whose bodies are slower than a speed (of
// their fastest points, |v| + radius |w|) for a time, is frozen: velocities are zero, impulses do
// not move its bodies, and the engine neither moves nor loads them. Bodies frozen together wake
// together:
//   by WakeTouched: a closed contact or a link with a body that moves or may move by impulses (it
//     pushes, however gently: whether that moves anything only the solver knows), with a fixed
//     body that moves by itself, or with one that Wake named; a contact or link that is gone;
//     velocities set from outside;
//   by Wake and WakeAll: what only the caller knows (states, masses, shapes set from outside, a
//     support placed elsewhere, numbers of joints, gravity, forces). Wake of a body that is not
//     frozen wakes what touches it.
// A body that only comes near does not wake it: it meets a wall until it touches.
#ifndef RB_CONTACT_CONTACT_FREEZE_H
#define RB_CONTACT_CONTACT_FREEZE_H

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
    const unsigned char* isRestless; // by body: may move at any time, do not freeze; NULL: none
} rbContactNode;

// After contacts are found, before any impulse. Writes isFrozen of frozen bodies and of those it
// wakes. Returns how many it woke.
int rbContactFreeze_WakeTouched(rbContactFreeze* freeze, const rbContactNode* node);

// At the end of a step of h. Writes isFrozen and velocities of the bodies it freezes; returns how
// many.
int rbContactFreeze_Update(rbContactFreeze* freeze, const rbContactNode* node, double h);

bool rbContactFreeze_IsFrozen(const rbContactFreeze* freeze, int body);
int rbContactFreeze_GetCount(const rbContactFreeze* freeze);
// isFrozen of bodies is written by the next WakeTouched.
void rbContactFreeze_Wake(rbContactFreeze* freeze, int body);
void rbContactFreeze_WakeAll(rbContactFreeze* freeze);

size_t rbContactFreeze_GetSnapshotSize(const rbContactFreeze* freeze);
void rbContactFreeze_TakeSnapshot(const rbContactFreeze* freeze, void* bytes);
bool rbContactFreeze_RestoreSnapshot(rbContactFreeze* freeze, const void* bytes, size_t size);

#endif
