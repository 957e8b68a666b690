// Finding contacts: which bodies are near (broad phase), where they touch (narrow phase), and the
// data of a point kept from one step to the next (B-53 to B-63, B-93).
//
// A pair lives as long as its boxes overlap. It keeps the cache of its measurements. For every
// point, by part and feature name, it keeps the impulses of the last step and the anchors: where
// the point stuck, in the frames of both bodies.
#pragma once

#include "base/core/byte_stream.h"
#include "collision/broadphase/pair_table.h"
#include "dynamics/constraints/rows.h"
#include "dynamics/contact/contact.h"

#include <rattleback/body.h>
#include <rattleback/contact.h>

typedef struct rbContactPairs rbContactPairs;

// A body with a shape, as registered by the engine.
typedef struct rbContactShape {
    const rbGeometry* geometry;  // borrowed
    rbTransform transform;       // of the geometry in the principal frame of the body
    const rbMaterial* materials; // one, or one for each child of a compound; copied
    int materialCount;
    const rbVec3* belts; // m/s, of the surfaces relative to the body, in its principal frame, as
                         // materials; NULL: they do not move
    bool isMoved;        // it may move: two immovable bodies form no pair
    uint32_t groups;     // bits: the groups it belongs to ...
    uint32_t mask; // ... and those it collides with: a pair needs (groupsA & maskB) and (groupsB &
                   // maskA)
} rbContactShape;

rbContactPairs* rbCreateContactPairs(const rbContactSettings* settings);
void rbDestroyContactPairs(rbContactPairs* pairs); // NULL is fine

// NULL: there is no shape (anymore); its pairs are deleted.
void rbContactPairs_SetShape(rbContactPairs* pairs, int body, const rbContactShape* shape);
void rbContactPairs_SetMaterialPair(rbContactPairs* pairs, int kindA, int kindB,
                                    const rbMaterialPair* pair);
// Excludes a pair of bodies from collision (joined neighbors, by default); Clear ends all of these.
void rbContactPairs_Exclude(rbContactPairs* pairs, int a, int b);
void rbContactPairs_ClearExclusions(rbContactPairs* pairs);

// Asked for pairs that become near, besides groups and exclusions; NULL: all of them collide. Its
// answers may have changed: near pairs are asked again, and all bodies look for partners anew.
void rbContactPairs_SetFilter(rbContactPairs* pairs, rbPairFilterFn* filter, void* context);

// Where a body is and how far it may move in the step: its box grows by that.
typedef struct rbContactPlace {
    rbRowPose pose; // center of mass and principal axes
    double reach;   // m
    rbVec3 way;     // m, where the step would lead it: boxes of small steps are longer that way
} rbContactPlace;

// All contacts in the current poses with a gap of at most the shell and the reach of both. Impulses
// are those of the last Keep (0 for new points), slip follows from the anchors. The pairs own the
// set until the next call. places: by body. Allocates only when there are more than ever.
rbContactSet rbContactPairs_Find(rbContactPairs* pairs, const rbContactPlace* places,
                                 int bodyCount);
// The set of the last Find, including one before a restored snapshot, without contacts ahead.
rbContactSet rbContactPairs_GetSet(rbContactPairs* pairs);

// Room behind the contacts of a set, for this many more of one point each. The pairs ignore them
// and do not count them.
void rbContactPairs_SetSpare(rbContactPairs* pairs, int count);

// The next Find takes impulses from the current set, and slips of points that stick; what it holds
// then counts.
void rbContactPairs_Keep(rbContactPairs* pairs);

// A flight from the node of the last Find.
typedef struct rbContactAhead {
    const rbRowPose* poses;        // at its end, by body
    const rbContactBody* bodies;   // its velocities
    const rbContact* nodeContacts; // of the set of Find, with their values for the new set
    rbContactPoint* nodePoints;    // the same; their bends are renewed
    int bodyCount;
    double h;      // s
    bool isCapped; // only bodies that rotate far and overlap deeply are checked
} rbContactAhead;

// Renews the bends of points on which bodies roll, by the flight with the velocities at the node;
// returns whether there are any.
bool rbContactPairs_FindBends(rbContactPairs* pairs, const rbContactAhead* flight);

// Adds the contacts of bodies that would overlap at the end of a flight to the contacts of the
// node, see contact_pairs.c; those of earlier calls stay. False: nothing added, and the set is
// unchanged.
bool rbContactPairs_LookAhead(rbContactPairs* pairs, const rbContactAhead* flight,
                              rbContactSet* set);
// Whether a body moves its shape by rotating about its center of mass: a ball does not.
bool rbContactPairs_IsTurned(const rbContactPairs* pairs, int body);

typedef struct rbPairsReport {
    int pairCount; // near pairs ...
    int dropped;   // ... and how many did not fit
    // The deepest overlap of the surfaces in the last Find.
    double depth; // m, >= 0
    int bodyA;    // -1: none
    int bodyB;
    // Of the last LookAhead. Bodies would overlap so deeply that their contacts separate them on
    // the wrong side; these were left out.
    bool isThrough;
    // Centers of spinning bodies had to be kept from passing: nothing more is known about them.
    bool isGuarded;
} rbPairsReport;

rbPairsReport rbContactPairs_GetReport(const rbContactPairs* pairs);

// A point where two bodies are near.
typedef struct rbContactProbe {
    rbVec3 point;  // m, world, halfway between the surfaces
    rbVec3 normal; // unit, from A to B
    double gap;    // m, minus the shell
} rbContactProbe;

// The points of a pair at other poses than the last ones, up to a gap; stores nothing. Returns
// their number; the first capacity of them are written.
int rbContactPairs_Measure(rbContactPairs* pairs, const int bodies[2], const rbRowPose poses[2],
                           double within, rbContactProbe* out, int capacity);

// Everything that later results depend on. Refuses what is loaded unless the shapes are the same.
void rbContactPairs_Move(rbContactPairs* pairs, rbByteStream* stream);
