// Internals of the contact finder: bodies with their boxes, pairs, and frames of contacts.
//
// Bodies carry an odometer: a bound on how far any of their points has moved since the beginning.
// Boxes and distances stay valid until the odometers say otherwise, so a body at rest costs a
// comparison and a distant pair two additions.
//
// A frame is the result of one Find. Three of them rotate: the one being written, the previous one
// (contacts of bodies that did not move are copied from it) and the one that was kept (impulses and
// anchors). A pair stores its contacts in each of them.
#pragma once

#include "base/core/memory.h"
#include "base/core/tasks.h"
#include "collision/broadphase/pair_table.h"
#include "dynamics/contact/contact_pairs.h"

#define RB_CONTACT_FRAMES 3
// Maximum number of manifolds of one pair of bodies: compounds and meshes.
#define RB_PAIR_MANIFOLDS_MAX 1024
// Maximum number of near pairs, for each body and in addition: thousands of bodies at one point
// would need more memory than there is. Real piles have about 10 per body.
#define RB_PAIRS_PER_BODY 100
#define RB_PAIRS_SPARE 10000

// A fat box.
typedef struct rbNearBox {
    rbBounds bounds;
    double room;   // m, by which it is larger than the shape when it was made
    double travel; // m, odometer then
    // With small steps: what the box was made for, and how far it reaches ahead.
    rbTransform pose; // of the body
    rbVec3 stretch;   // m
} rbNearBox;

typedef struct rbNearBody {
    rbContactShape shape; // as registered, with own materials and belts; no geometry: there is none
    uint64_t hash;        // of the geometry
    bool isBounded;
    bool isMesh;
    bool isManyfold;   // more than one manifold is possible
    bool isBall;       // its points of contact do not move with it
    double turnRadius; // m, about the center of mass: how far a rotation can move a point
    double margin;     // m, by which its box is fatter than necessary
    // where it is
    bool isPlaced;
    bool isStale;       // its partners must be queried again
    bool isJumping;     // at the last places, by more than an odometer can count
    rbVec3 position;    // of the center of mass
    rbQuat orientation; // of the principal axes
    rbMat3 rotation;    // the same as a matrix
    rbTransform world;  // of the geometry
    rbMat3 worldRotation;
    rbVec3 way; // m, as last set
    rbNearBox box;
    rbMat3 midway; // its rotation halfway since the kept frame
} rbNearBody;

// What a check of a pair needs of a body: a cache line.
typedef struct rbNearHot {
    rbVec3 center;      // m, origin of the geometry
    double radius;      // m, of the ball about it; INFINITY: half spaces
    double travel;      // m, odometer
    double reach;       // m, as last set
    uint32_t poseStamp; // changes with the pose
    uint32_t unused;
    double unusedToo;
} rbNearHot;

// Where the contacts of a pair are in a frame.
typedef struct rbPairSpan {
    int32_t first; // contact
    int32_t count;
    uint32_t stamp; // of the frame; a different stamp: there are none
} rbPairSpan;

typedef struct rbContactCandidate {
    double lower;       // m: the bodies were at least this far apart ...
    double travel;      // m: ... when the sum of their odometers was this
    double threshold;   // m, of the last search
    double searched;    // m, sum of their odometers then
    uint32_t stamps[2]; // of the poses of the last search
    bool isMeasured;    // lower holds
    bool hadContacts;   // at the last search
    int32_t memory;     // of memories; -1: two balls need none
} rbContactCandidate;

// What the search of a pair starts from.
typedef struct rbPairMemory {
    rbSeparationCache cache;
    rbTransform pose; // of the smaller body in the frame of the larger then; small steps only
} rbPairMemory;

typedef struct rbPairSpans {
    rbPairSpan frames[RB_CONTACT_FRAMES];
} rbPairSpans;

// A near pair in the order of the search.
typedef struct rbPairOrder {
    int32_t slot;
    int32_t a; // bodies, a < b
    int32_t b;
} rbPairOrder;

// A contact and a point as found: the set may be changed by others.
typedef struct rbFoundContact {
    rbVec3 normal;
    rbVec3 tangents[2];
    int32_t childA;
    int32_t childB;
    bool isAhead; // of the end of the flight, not of the node
} rbFoundContact;

// One cache line; the arms in world axes are those of the point of the set.
typedef struct rbFoundPoint {
    rbVec3 localA; // arms in the frames of the bodies
    rbVec3 localB;
    double distance; // m
    uint32_t featureId;
    uint32_t claimStamp; // of the Find in which a new point took this memory
} rbFoundPoint;

// A point with its arms, world axes, until it is in a set.
typedef struct rbFreshPoint {
    rbFoundPoint found;
    rbVec3 armA;
    rbVec3 armB;
} rbFreshPoint;

// Arrays of a frame, with their types.
#define RB_FRAME_ARRAYS(X)                             \
    X(rbContact, contacts)                             \
    X(rbFoundContact, foundContacts) /* as contacts */ \
    X(rbContactPoint, points)                          \
    X(rbFoundPoint, foundPoints) /* as points */       \
    X(rbQuat, orientations)      /* by body */

#define RB_FRAME_ARRAY(type, name) RB_ARRAY(type) name;
typedef struct rbContactFrame {
    uint32_t stamp;
    RB_FRAME_ARRAYS(RB_FRAME_ARRAY)
} rbContactFrame;

// A body at the end of the flight from the node.
typedef struct rbAheadBody {
    rbTransform world; // of the geometry
    rbVec3 position;   // of the center of mass
    rbMat3 rotation;   // of the principal axes
    double turn;       // m, bound on the motion of any point by rotation
    double travel;     // m, in total
} rbAheadBody;

// A contact there, expressed at the node.
typedef struct rbAheadContact {
    int32_t slot;
    int32_t next; // of the same pair; -1: none
    int32_t firstPoint;
    int32_t pointCount;
    rbFoundContact found;
} rbAheadContact;

// Near pairs by bodies.
typedef struct rbPairOrders {
    RB_ARRAY(rbPairOrder) list;
    bool isOld;
    RB_ARRAY(rbPairOrder) byB; // while it is sorted
    RB_ARRAY(int) starts;      // by body, the same
} rbPairOrders;

// Which near pairs collide, and how.
typedef struct rbPairFilter {
    rbPairFilterFn* function; // NULL: none
    void* context;
    rbPairTable exclusions;
    rbMaterialPair* materials; // RB_MATERIAL_KINDS_MAX squared, restitution < 0: none
} rbPairFilter;

// Memory of the search of one pair; threads have their own.
typedef struct rbPairScratch {
    RB_ARRAY(rbManifold) manifolds;
    void* memory;
    rbIdList ids;
} rbPairScratch;

// What the search of a block of pairs found, until its place in the frame is known.
typedef struct rbFoundBlock {
    RB_ARRAY(rbFoundContact) contacts;
    RB_ARRAY(int) pointCounts; // as contacts
    RB_ARRAY(int) sources;     // as contacts: of the last frame, carried along; -1: found anew
    RB_ARRAY(rbFreshPoint) points;
    rbPairsReport report; // the deepest overlap
    int firstContact;     // in the frame
    int firstPoint;
} rbFoundBlock;

// Memory of one search.
typedef struct rbPairSearch {
    uint32_t stamp;
    RB_ARRAY(int) changed;                // bodies whose boxes are new
    RB_ARRAY(unsigned char) isChanged;    // by body
    rbIdList partnerLists[RB_BLOCKS_MAX]; // of changed bodies, by block
    RB_ARRAY(int) partnerCounts;          // as changed
    rbIdList partners;                    // of one body
    RB_ARRAY(rbPairScratch) scratches;    // by worker
    bool hasManyfolds;                    // scratches have room for many manifolds
    RB_ARRAY(rbFoundBlock) blocks;
    RB_ARRAY(int) counts;      // contacts of pairs, in their order
    RB_ARRAY(rbFront*) fronts; // of pairs of meshes that have ended, for the next ones
} rbPairSearch;

// The end of a flight, see contact_pairs.c.
typedef struct rbPairsAhead {
    RB_ARRAY(rbAheadBody) bodies;
    RB_ARRAY(rbAheadContact) contacts;
    RB_ARRAY(rbFreshPoint) points;
    RB_ARRAY(int) heads; // by slot: the first of contacts; -1: none
    bool isBent;         // a point of the node has another bend
} rbPairsAhead;

struct rbContactPairs {
    rbContactSettings settings;
    double closedGap; // m: up to this gap a point is closed
    bool isCarrying;  // points are carried along by bodies that hardly move
    int spare;        // contacts that others may append to those of a frame
    RB_ARRAY(rbNearBody) bodies;
    RB_ARRAY(rbNearHot) hots; // as bodies
    RB_ARRAY(int) unbounded;  // bodies, ascending
    rbBroadPhase* broad;
    rbPairTable table;                  // near pairs; its entries are the slots
    RB_ARRAY(rbContactCandidate) pairs; // by slot
    RB_ARRAY(rbPairSpans) spans;
    RB_ARRAY(rbPairMemory) memories;
    RB_ARRAY(int) freeMemories;
    rbPairOrders order;
    rbPairFilter filter;
    rbContactFrame frames[RB_CONTACT_FRAMES];
    int current; // frame of the set
    int node;    // frame of the last Find: current, unless contacts ahead were added
    int kept;    // frame of the last Keep; -1: none
    rbPairSearch search;
    rbPairsAhead ahead;
    rbPairsReport report;
};

// ---------------------------------------------------------------- near pairs (contact_near.c)

// m, by how much a rotation from r to q moves points at this distance at most. A rotation by theta
// moves a point by 2 sin(theta/2) of its arm; the quaternions differ by 2 sin(theta/4), which is
// more than half of it.
static inline double rbBoundTurn(double radius, rbQuat q, rbQuat r)
{
    double plus = (q.w + r.w) * (q.w + r.w) + (q.x + r.x) * (q.x + r.x) +
                  (q.y + r.y) * (q.y + r.y) + (q.z + r.z) * (q.z + r.z);
    double minus = (q.w - r.w) * (q.w - r.w) + (q.x - r.x) * (q.x - r.x) +
                   (q.y - r.y) * (q.y - r.y) + (q.z - r.z) * (q.z - r.z);
    return 2.0 * radius * sqrt(plus < minus ? plus : minus);
}
// NULL: two balls.
static inline rbPairMemory* rbContactPairs_GetMemory(const rbContactPairs* pairs, int slot)
{
    int memory = pairs->pairs.data[slot].memory;
    return memory >= 0 ? &pairs->memories.data[memory] : NULL;
}
// World pose of the geometry and matrices, from position and orientation.
void rbNearBody_Pose(rbNearBody* body);
// Updates boxes and pairs to the places.
void rbContactPairs_Approach(rbContactPairs* pairs, const rbContactPlace* places, int bodyCount);
// Bodies at the end of a flight; isWidened: boxes and near pairs are extended to it.
void rbContactPairs_FollowFlight(rbContactPairs* pairs, const rbRowPose* poses, bool isWidened);

// ---------------------------------------------------------------- memory (contact_memory.c)

// Rotations halfway since the kept frame of all bodies, for Recall (an rbShareFn of
// rbContactPairs).
void rbContactPairs_FindMidways(void* context, rbShare share);

// Impulses and slips of the contacts of a pair that were just found, from the kept frame. sources:
// the contacts there whose points these are, in their order; NULL or -1: points are matched.
void rbContactPairs_Recall(rbContactPairs* pairs, rbPairOrder pair, int firstContact,
                           int contactCount, const int* sources);
