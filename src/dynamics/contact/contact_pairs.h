// Finding contacts: which bodies are near (broad phase), where they touch (narrow phase), and what
// is remembered of a point from one step to the next (B-53 to B-63, B-93).
//
// A pair lives as long as its boxes overlap. It keeps the cache of its measurements and, for every
// point by part and feature name, the impulses of the last step and the anchors: where the point
// stuck, in the frames of both bodies.
#ifndef RB_CONTACT_CONTACT_PAIRS_H
#define RB_CONTACT_CONTACT_PAIRS_H

#include "dynamics/constraints/rows.h"
#include "dynamics/contact/contact.h"

#include <rattleback/body.h>
#include <rattleback/broadphase.h>
#include <rattleback/contact.h>

typedef struct rbContactPairs rbContactPairs;

// A body with a shape, as the engine tells of it.
typedef struct rbContactShape {
    const rbGeometry* geometry;  // borrowed
    rbTransform transform;       // of the geometry in the principal frame of the body
    const rbMaterial* materials; // one, or one for each child of a compound; copied
    int materialCount;
    bool isMoved;    // it may move: two bodies that nothing moves are no pair
    uint32_t groups; // bits: what it is ...
    uint32_t mask;   // ... and what it meets: a pair needs (groupsA & maskB) and (groupsB & maskA)
} rbContactShape;

rbContactPairs* rbCreateContactPairs(const rbContactSettings* settings);
void rbDestroyContactPairs(rbContactPairs* pairs); // NULL is fine

// NULL: there is no shape (any more); its pairs are forgotten.
void rbContactPairs_SetShape(rbContactPairs* pairs, int body, const rbContactShape* shape);
void rbContactPairs_SetMaterialPair(rbContactPairs* pairs, int kindA, int kindB,
                                    const rbMaterialPair* pair);
// Two bodies that do not meet (joined neighbors, by default); counted, so that two joints may say
// it.
void rbContactPairs_Exclude(rbContactPairs* pairs, int a, int b, bool isExcluded);

// Where a body is and how far it may come in the step: its box grows by that.
typedef struct rbContactPlace {
    rbRowPose pose; // center of mass and principal axes
    double reach;   // m
} rbContactPlace;

// All contacts at the present places with a gap of at most the shell and the reach of both;
// impulses are those of the last Keep (0 for new points), slip from the anchors. The set is owned
// by the pairs until the next call. places: by body. Allocates only when there are more than ever.
rbContactSet rbContactPairs_Find(rbContactPairs* pairs, const rbContactPlace* places,
                                 int bodyCount);
// The set of the last Find, also of one before a snapshot that was restored.
rbContactSet rbContactPairs_GetSet(rbContactPairs* pairs);

// Room behind the contacts of a set, for so many more of one point each; they are no concern of the
// pairs and not in their counts.
void rbContactPairs_SetSpare(rbContactPairs* pairs, int count);

// Remembers impulses; points that stick keep their anchors or get them here, others lose them.
void rbContactPairs_Keep(rbContactPairs* pairs, const rbContactSet* set,
                         const rbContactPlace* places);

// A flight from the node of the last Find.
typedef struct rbContactAhead {
    const rbRowPose* poses;           // at its end, by body
    const rbContactBody* bodies;      // its velocities
    const rbContact* nodeContacts;    // of the set of Find, as they shall be in the new set
    const rbContactPoint* nodePoints; // the same
    int bodyCount;
    double h;      // s
    bool isCapped; // only what turns far and overlaps deeply is looked at
} rbContactAhead;

// Adds what bodies would overlap with at the end of a flight to the contacts of the node, see
// contact_ahead.c; those of earlier calls stay. False: nothing, and the set is as it was.
bool rbContactPairs_LookAhead(rbContactPairs* pairs, const rbContactAhead* flight,
                              rbContactSet* set);
// Whether bodies would be so deep in each other then that their contacts part them on the wrong
// side; these were left out.
bool rbContactPairs_IsThrough(const rbContactPairs* pairs);
// Whether centers of bodies that spin had to be kept from passing: no more is known of them.
bool rbContactPairs_IsGuarded(const rbContactPairs* pairs);
// Whether a body moves its shape by turning about its center of mass: a ball does not.
bool rbContactPairs_IsTurned(const rbContactPairs* pairs, int body);
// Back to the set of the last Find.
void rbContactPairs_DropAhead(rbContactPairs* pairs, rbContactSet* set);

// Near pairs, and how many more there would be if there were room for them (NULL is fine).
int rbContactPairs_GetPairCount(const rbContactPairs* pairs, int* dropped);
// The deepest overlap of the surfaces in the last Find, m (>= 0), and its bodies (-1: none).
double rbContactPairs_GetDeepest(const rbContactPairs* pairs, int* bodyA, int* bodyB);
// Whether any pair overlaps at places by more than a depth, without contact geometry (B-63).
bool rbContactPairs_IsDeeper(rbContactPairs* pairs, const rbContactPlace* places, int bodyCount,
                             double depth);

// Where two bodies are near.
typedef struct rbContactProbe {
    rbVec3 point;  // m, world, halfway between the surfaces
    rbVec3 normal; // unit, from A to B
    double gap;    // m, less the shell
} rbContactProbe;

// The points of a pair at other poses than the last ones, up to a gap; remembers nothing. Returns
// how many there are; the first capacity of them are written.
int rbContactPairs_Measure(rbContactPairs* pairs, const int bodies[2], const rbRowPose poses[2],
                           double within, rbContactProbe* out, int capacity);

size_t rbContactPairs_GetSnapshotSize(const rbContactPairs* pairs);
void rbContactPairs_TakeSnapshot(const rbContactPairs* pairs, void* bytes);
bool rbContactPairs_RestoreSnapshot(rbContactPairs* pairs, const void* bytes, size_t size);

#endif
