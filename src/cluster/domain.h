// The part of a world that one rank works on: the bodies it owns, the ghosts, and the pairs that
// may touch.
//
// A body belongs to the rank of the cell of its center. A ghost is a copy of a body of another rank
// that may touch one of ours. Ghosts keep the coordinates of their owner; in a periodic box the
// shift by whole periods enters only the difference of a pair, which is always taken from the lower
// uid to the higher one. So both owners of a pair compute it with the same bits.
//
// Owners, ghosts and near pairs are chosen anew when a body has moved by half the margin. All of
// this is cache: which pairs are in contact follows from positions alone, and a contact of two
// ranks is computed by both. What is remembered of a contact (its color, its impulse) is state: it
// is equal on both ranks and moves with the bodies.
#pragma once

#include "cluster/partition.h"
#include "cluster/ranks.h"
#include "cluster/walls.h"

// A sphere; 8-byte words only, since it travels and is hashed as bytes.
typedef struct rbGrain {
    uint64_t uid;
    uint64_t material;     // row of the table of pairs
    rbVec3 position;       // m, of the center, in the periodic box
    rbVec3 velocity;       // m/s
    rbVec3 spin;           // rad/s
    rbQuat orientation;    // unit
    double radius;         // m
    double inverseMass;    // 1/kg
    double inverseInertia; // 1/(kg m^2)
} rbGrain;

typedef RB_ARRAY(rbGrain) rbGrains;

// Uids of facets of walls are above those of all bodies.
#define RB_WALL_UID ((uint64_t)1 << 63)

#define RB_COLORS_MAX 128

// Two bodies that may touch. Not in contact: color -1 and no impulse.
typedef struct rbNearPair {
    int a, b;       // indices; the uid of a is lower. b < 0: facet -1 - b of a wall
    int color;      // of the contact, as long as it lasts
    rbVec3 impulse; // N s, on b in the last step, and the first guess of the next one
    rbVec3 roll;    // N m s, likewise, against rolling
} rbNearPair;

// What is remembered of a contact, by uids; 8-byte words only.
typedef struct rbMemory {
    uint64_t uidA, uidB;
    int64_t color;
    rbVec3 impulse, roll;
} rbMemory;

typedef RB_ARRAY(rbMemory) rbMemories;

// A facet that a body may touch now.
typedef struct rbTouch {
    int pair;
    rbClosest at;
} rbTouch;

typedef struct rbColorMask {
    uint64_t bits[RB_COLORS_MAX / 64];
} rbColorMask;

// The colors that the contacts of a body have, and its best contact without one: a hash of both
// uids orders contacts, then the uid of the other body.
typedef struct rbBodyColors {
    uint64_t mask[RB_COLORS_MAX / 64];
    uint64_t topHash, topUid; // 0, 0: none
} rbBodyColors;

typedef RB_ARRAY(int) rbIndices;

typedef struct rbDomainDef {
    rbVec3 low, high;   // m, region of the grid where there is no period
    rbVec3 periodicBox; // m, centered on the origin; 0: no period
    double radiusMax;   // m, of all bodies of all ranks
    double margin;      // m, between the surfaces of near pairs
    double reach;       // m, between the surfaces of contacts; below the margin
    const char* partition;
} rbDomainDef;

typedef struct rbDomain {
    rbRanks* ranks; // borrowed
    rbDomainDef def;
    rbPartition partition;
    rbVec3 halfBox; // m; infinite: no period

    rbGrains grains; // owned ones, then ghosts by rank
    int ownedCount;
    RB_ARRAY(rbVec3) references; // m: positions when near pairs were found
    RB_ARRAY(rbBodyColors) colors;
    RB_ARRAY(int) stamps; // of the last change of a velocity
    int stamp;

    rbWalls walls; // the same on all ranks

    RB_ARRAY(rbNearPair) pairs; // those with the walls of a body follow each other
    RB_ARRAY(rbTouch) touches;  // of one body, while contacts are found
    RB_ARRAY(bool) isLeaving;   // owned bodies that a rebuild removes; empty: none
    rbGrains incoming;          // bodies that a rebuild adds
    rbMemories loose;           // of bodies that were added, before a rebuild; sorted by nothing
    rbIndices contacts;         // pairs in contact, ordered by color
    int colorFirst[RB_COLORS_MAX + 1]; // first contact of a color
    int colorCount;                    // the same on all ranks

    rbIndices* sent; // per rank: owned bodies that are ghosts there
    int* ghostFirst; // per rank: its first ghost here; one more for the end
    rbIndices neighbors;
    RB_ARRAY(rbColorMask) outColors; // per neighbor: colors of our bodies that it has as ghosts
    RB_ARRAY(rbColorMask) inColors;  // likewise, of its bodies here
    rbIndices to, from;              // neighbors that are concerned by a color
    rbMail mail;
    rbMail memoryMail;

    double busyTime; // s, of work on pairs and bodies since the last balance
    int64_t rebuilds, repartitions, migrations, rounds;
} rbDomain;

rbStatus rbDomain_Init(rbDomain* domain, rbRanks* ranks, const rbDomainDef* def, rbError* error);
void rbDomain_Free(rbDomain* domain);

// Adds a body on any one rank, before a rebuild, which brings it to its owner. Not collective.
void rbDomain_Add(rbDomain* domain, const rbGrain* grain);
// Brings all bodies to their owners with what is remembered of their contacts, and chooses ghosts
// and near pairs anew.
void rbDomain_Rebuild(rbDomain* domain);
// Assigns cells to ranks anew, by the work that they took since the last time; then rebuilds.
void rbDomain_Repartition(rbDomain* domain);
// Whether a body of this rank has moved so far that a rebuild is due. Not collective.
bool rbDomain_IsStale(const rbDomain* domain);

// Finds all pairs whose surfaces are closer than the reach, and ends the other contacts. Not
// collective.
void rbDomain_FindContacts(rbDomain* domain);
// Gives colors to new contacts, so that no body has two contacts of a color, and orders contacts by
// color. Refuses more contacts of a body than there are colors for.
rbStatus rbDomain_ColorContacts(rbDomain* domain, rbError* error);
// Sends the velocities of bodies whose stamp is the present one to the ranks that have them as
// ghosts, and begins the next stamp. color: only bodies with a contact of this color have changed,
// so only ranks with such ghosts get a message; -1: any may have.
void rbDomain_ShareVelocities(rbDomain* domain, int color);

// What is remembered of the contacts that this rank counts: those whose lower uid is ours. Not
// collective.
void rbDomain_ListMemories(const rbDomain* domain, rbMemories* memories);
// A hash of all bodies and contacts of all ranks: a sum over them, so that no order matters.
uint64_t rbDomain_Hash(rbDomain* domain);
// All bodies in the order of uids on rank 0; none on the others. The caller frees the array.
void rbDomain_Gather(rbDomain* domain, rbGrain** grains, int* count);

// From the center of a to that of b, m, to its nearest image.
static inline rbVec3 rbDomain_Between(const rbDomain* domain, const rbGrain* a, const rbGrain* b)
{
    rbVec3 d = rbSub(b->position, a->position);
    rbVec3 half = domain->halfBox;
    rbVec3 box = domain->def.periodicBox;
    d.x += d.x > half.x ? -box.x : d.x < -half.x ? box.x : 0.0;
    d.y += d.y > half.y ? -box.y : d.y < -half.y ? box.y : 0.0;
    d.z += d.z > half.z ? -box.z : d.z < -half.z ? box.z : 0.0;
    return d;
}

// A position back in the box; it has left it by less than a period.
static inline rbVec3 rbDomain_Wrap(const rbDomain* domain, rbVec3 p)
{
    rbVec3 half = domain->halfBox;
    rbVec3 box = domain->def.periodicBox;
    p.x += p.x >= half.x ? -box.x : p.x < -half.x ? box.x : 0.0;
    p.y += p.y >= half.y ? -box.y : p.y < -half.y ? box.y : 0.0;
    p.z += p.z >= half.z ? -box.z : p.z < -half.z ? box.z : 0.0;
    return p;
}
