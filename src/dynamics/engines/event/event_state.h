// Internals of the event engine, shared by its files.
//
// The files form a line; each calls only those before it (tools/layers.txt, tools/check_layers.py):
//
//   bodies   flights, bounds of motion, masses and materials of bodies
//   regions  where bodies stay for a while, and the resulting near pairs
//   pairs    when near pairs can touch, their distances and contact points, and the heap
//   rest     holding calm bodies and releasing them
//   impacts  collisions of a pair: at points, lasting, of several bodies at once
//   loop     the next event, the pair that is due, and the tables
//   engine   bodies in, start, advance; the state as bytes
//
// A file returns the work that a later one must do: a renewed region returns the pairs to predict
// (newPairs).
//
// Every body has a clock: the start of its flight. It has a region, a box it cannot leave before
// its expiry; bodies whose regions overlap are a near pair. A near pair has a time before which it
// cannot touch. A body has one entry in the heap: the earliest of its expiry and of the times of
// its pairs. An entry may be too early (the pair has a later time by now), never too late: for
// every pair at least one of its bodies has an entry that is not later than the pair's time.
#pragma once

#include "base/core/heap.h"
#include "dynamics/engines/event/event_rows.h"
#include "dynamics/sweep/sweep.h"

#include <rattleback/collision.h>

#include <math.h>

#define RB_ENTRY_EXPIRY (-1)

// How pairs treat a body.
typedef enum rbEventShape {
    RB_EVENT_SHAPE_NONE,   // nothing touches it
    RB_EVENT_SHAPE_SPHERE, // one sphere about the center of mass, flying on a parabola
    RB_EVENT_SHAPE_PLANE,  // a half space that never moves
    RB_EVENT_SHAPE_OTHER
} rbEventShape;

// A pair in the list of one of its bodies. A body that is predicted writes the times of its pairs
// into its own list only, so that the lists of the others need not be fetched: the time of a pair
// is the one in the list of the body that was predicted last (rbEventEngine_GetTime).
typedef struct rbEventNeighbor {
    double time;         // before which the two cannot touch; of exact pairs: at which they touch
    uint32_t pair : 30;  // an index
    uint32_t row : 2;    // of the pair
    uint32_t other : 27; // body
    uint32_t image : 5;  // periods to be added to the other one: 13 + x + 3 y + 9 z, or ...
} rbEventNeighbor;
#define RB_IMAGE_NONE 13u // for none
#define RB_IMAGE_FAR 31u  // ... more than one along an axis: see the pair
#define RB_EVENT_PAIRS_MAX (1 << 30)
#define RB_EVENT_BODIES_MAX (1 << 27)
_Static_assert(sizeof(rbEventNeighbor) == 16, "many of them are read for a collision");

// The region of a sphere that flies straight and has collided is a ball: about half as many
// neighbors as a box of the same margin. Its box in the broad phase.
typedef struct rbEventBall {
    rbVec3 center;
    double reach;   // m, 0: the region is the box
    int periods[3]; // between the region and its box in the broad phase
    int pad;
} rbEventBall;

// A body whose region overlaps that of another, and the periods to add. Id -1: the pair exists.
typedef struct rbEventPartner {
    int id;
    int image[3];
} rbEventPartner;

// Where a body stays for a while.
typedef struct rbEventRegion {
    double expiry;
    rbVec3 ballCenter; // not wrapped
    rbBounds box;      // of the whole body, not wrapped
    double horizon;    // s, how far the region looked ahead
} rbEventRegion;

// Data of its own bodies that every event touches, by cache lines: what its neighbors read to
// predict it, what changes with its pairs, what else a collision needs, what regions need.
typedef struct rbEventBody {
    double time; // start of the flight
    rbVec3 position, velocity;
    double radius; // m, of all points about the center of mass, without growth
    double growth; // m/s
    double inverseMass;
    RB_ARRAY(rbEventNeighbor) pairs;
    struct {
        int pair;  // or RB_ENTRY_EXPIRY
        int other; // body of that pair
    } entry;       // in the queue
    struct {
        uint32_t groups; // bits: what it is, ...
        uint32_t mask;   // ... and what it collides with
    } filter;
    int material; // of all its parts, -1: they differ
    uint8_t shape;
    bool isDynamic;
    bool isMoving;  // kinematic on a path
    bool isResting; // held: its acceleration is removed
    bool isUnbounded;
    bool hasCollided; // since its region was made
    bool isCalm;      // only gentle impacts since calmTime
    bool isExact;     // it rotates by the closed form
    bool isAhead;     // the flight of the host is an earlier one
    bool isBall;      // its region is
    rbVec3 acceleration;
    double flightTime; // s, of the last flight: a guess for how long this one will be
    rbEventRegion region;
    double rotation; // J, kinetic, at the start of the flight
} rbEventBody;
#if UINTPTR_MAX > UINT32_MAX // pointers are smaller on 32-bit machines
_Static_assert(sizeof(rbEventBody) == 256, "four cache lines");
_Static_assert(offsetof(rbEventBody, growth) == 64, "a free sphere is on the first");
_Static_assert(offsetof(rbEventBody, acceleration) == 128, "pairs are made with two");
_Static_assert(offsetof(rbEventBody, region.box) == 192, "the box is on the fourth");
#endif

// Further data for measurements and impacts.
typedef struct rbEventCold {
    const rbGeometry* geometry;
    const rbPath* path;
    rbTransform transform; // of the geometry in the principal frame
    rbMaterial* materials;
    int materialCount;
    double coreRadius; // m, of the core about the center of mass
    double loadAcceleration, loadTorque;
    rbVec3 planeNormal; // of planes, world
    double planeOffset;
    rbSweepMotion spin;      // the part that bounds the spin in the current flight
    rbVec3 restAcceleration; // the values of a held body before
    double calmTime;         // since when it has not moved visibly
    rbVec3 calmPosition;
    rbQuat calmOrientation;
    bool isBallistic; // only constant loads and no torque
} rbEventCold;

typedef enum rbEventPairRow {
    RB_PAIR_ROW_SPHERES,      // roots of a quadratic
    RB_PAIR_ROW_SPHERE_PLANE, // the same in one dimension
    RB_PAIR_ROW_GENERAL       // measured
} rbEventPairRow;

typedef struct rbEventPair {
    double lastTime; // of the last collision
    int a;           // a < b
    int b;
    int placeA; // in the list of a
    int placeB;
    int image[3]; // periods to be added to b
    int data;     // of the general row
    uint8_t row;
    bool isPostponed; // it touched with an approach of no more than rounding
    bool isLasting;   // the contact lasts: small impacts are microcollisions
    uint16_t repeats; // collisions that followed each other within the contact time
    bool isDetected;  // general pair: by the registered detector, which may miss contact
    int unused[4];
} rbEventPair;
_Static_assert(sizeof(rbEventPair) == 64, "a cache line: pairs are read in no order");

// Data of a general pair.
typedef struct rbEventPairData {
    rbSeparationCache cache;
    rbVec3 normal; // of the last measurement, zero: none yet
    double gap;    // m, a lower bound at gapTime
    double gapTime;
    double gapSpeed; // m/s and m/s^2: how fast the gap can have shrunk since
    double gapAcceleration;
    double gapUntil; // s, the end of the known motion
    double distance; // m, last measured
    bool hasDistance;
    double normalTime;   // s, of the normal
    rbVec3 turning;      // rad/s, how it rotated between the last two measurements
    double leaveSpeed;   // m/s, along the normal, after the last collision
    rbVec3 leavePoint;   // m, where that was
    rbVec3 swayVelocity; // m/s and rad/s, along and about the normal, of b against a at the middle
    double swaySpin;     // of the points, before the last microcollision of several points
    bool hasSway, hasAnchor;
    rbVec3 anchorA; // the points of a and b that met in the middle of the points when they began to
    rbVec3 anchorB; // lie on each other, m, from the center of mass in the principal frame
} rbEventPairData;

// Of the run: the registered detector.
typedef struct rbEventDetector {
    const rbDetectorRow* row;
    void* state;               // of its row
    void* counts;              // its statistics
    RB_ARRAY(uint64_t) memory; // its data of pairs, in the order of datas
    int words;                 // of a pair there
} rbEventDetector;

// Where regions are, and what the last query found.
typedef struct rbEventSpace {
    rbVec3 period;
    rbVec3 shifts[RB_IMAGE_FAR]; // m, by the images of neighbors
    bool isPeriodic;
    double edgeMax; // of regions in a periodic box
    double edge;    // the longest so far
    rbBroadPhase* broad;
    RB_ARRAY(rbEventBall) balls; // of bodies, separate because every partner found is checked
    RB_ARRAY(int) unbounded;     // bodies, ascending
    rbIdList found;
    RB_ARRAY(rbEventPartner) partners;
    RB_ARRAY(int) marks; // by body, 0 outside of the update of pairs
} rbEventSpace;

typedef struct rbEventMaterials {
    RB_ARRAY(rbMaterial) known; // different ones
    rbMaterialPair* pairs;      // RB_MATERIAL_KINDS_MAX squared, friction < 0: none
} rbEventMaterials;

// Memory of pairs that are gone, to be used again.
typedef struct rbEventSpare {
    RB_ARRAY(int) pairs;
    RB_ARRAY(int) datas;
    RB_ARRAY(rbFront*) fronts;
} rbEventSpare;

// Results of one call, for the next.
typedef struct rbEventLists {
    RB_ARRAY(int) stack;    // work list of waking
    RB_ARRAY(int) newPairs; // of the region renewed last, not yet predicted
    RB_ARRAY(int) ahead;    // bodies whose flights the host lacks, some more than once
} rbEventLists;

struct rbEventEngine {
    rbEventSettings settings;
    const rbEventLoopRow* loop;
    rbEventDetector detector;
    rbEventSpace space;
    rbEventMaterials materials;
    struct {
        rbPairFilterFn* fn; // NULL: none
        void* context;
    } filter;
    double tolerance;
    RB_ARRAY(rbEventBody) bodies;
    RB_ARRAY(rbEventCold) colds;
    bool isDriven; // a sphere accelerates or grows
    RB_ARRAY(rbEventPair) pairs;
    RB_ARRAY(int64_t) turns; // by body: the prediction of all its pairs that was the last ...
    int64_t turn;            // ... of so many
    RB_ARRAY(rbEventPairData) datas;
    rbEventSpare spare;
    rbEventLists lists;
    rbQueue queue;
    struct {
        void* separation;
        struct rbEventCluster* cluster; // of event_impacts.c, NULL until it is needed
    } scratch;
    rbEventStatistics statistics;
    rbEventWork work;
    struct {
        double start; // of its window, s
        int64_t events;
        double most;
    } budget;
    double now;
};

// The periods to be added to the other body, seen from a body.
static inline void rbEventNeighbor_GetImage(const rbEventEngine* engine, int index,
                                            rbEventNeighbor neighbor, int image[3])
{
    int code = (int)neighbor.image;
    for (int axis = 0; axis < 3; ++axis, code /= 3) {
        image[axis] = neighbor.image == RB_IMAGE_NONE ? 0 : code % 3 - 1;
    }
    if (neighbor.image == RB_IMAGE_FAR) {
        const rbEventPair* pair = &engine->pairs.data[neighbor.pair];
        for (int axis = 0; axis < 3; ++axis) {
            image[axis] = pair->a == index ? pair->image[axis] : -pair->image[axis];
        }
    }
}

// The body or the near pair of an index, which must exist.
static inline rbEventBody* rbEventEngine_GetBody(const rbEventEngine* engine, int index)
{
    RB_ASSERT(index >= 0);
    RB_ASSERT(index < engine->bodies.count);
    return &engine->bodies.data[index];
}

static inline rbEventPair* rbEventEngine_GetPair(const rbEventEngine* engine, int index)
{
    RB_ASSERT(index >= 0);
    RB_ASSERT(index < engine->pairs.count);
    RB_ASSERT(engine->pairs.data[index].a >= 0);
    return &engine->pairs.data[index];
}

// Whether the time of a pair is the one in the list of a body.
static inline bool rbEventEngine_IsCurrent(const rbEventEngine* engine, int index, int other)
{
    return engine->turns.data[index] >= engine->turns.data[other];
}

// The time of a pair; infinite if it is gone.
static inline double rbEventEngine_GetTime(const rbEventEngine* engine, int index)
{
    const rbEventPair* pair = &engine->pairs.data[index];
    if (pair->a < 0) {
        return (double)INFINITY;
    }
    return rbEventEngine_IsCurrent(engine, pair->a, pair->b)
               ? engine->bodies.data[pair->a].pairs.data[pair->placeA].time
               : engine->bodies.data[pair->b].pairs.data[pair->placeB].time;
}

static inline void rbEventEngine_SetTime(rbEventEngine* engine, int index, double time)
{
    const rbEventPair* pair = rbEventEngine_GetPair(engine, index);
    engine->bodies.data[pair->a].pairs.data[pair->placeA].time = time;
    engine->bodies.data[pair->b].pairs.data[pair->placeB].time = time;
}
