// The inside of the event engine, shared by its files.
//
// Every body has a clock: the start of its flight. It has a region, a box it cannot leave before
// its expiry; bodies whose regions meet are a near pair. A near pair has a time before which it
// cannot touch. A body has one entry in the heap: the earliest of its expiry and of the times of
// its pairs. An entry may be too early (the pair has a later time by now), never too late: for
// every pair at least one of its bodies has an entry that is not later than the pair's time.
#ifndef RB_ENGINES_EVENT_STATE_H
#define RB_ENGINES_EVENT_STATE_H

#include "base/core/heap.h"
#include "dynamics/engines/event/event_rows.h"
#include "dynamics/sweep/sweep.h"

#include <rattleback/collision.h>

#include <math.h>

#define RB_ENTRY_EXPIRY (-1)

// What a body is to the pairs.
typedef enum rbEventShape {
    RB_EVENT_SHAPE_NONE,   // nothing touches it
    RB_EVENT_SHAPE_SPHERE, // one sphere about the center of mass, flying on a parabola
    RB_EVENT_SHAPE_PLANE,  // a half space that never moves
    RB_EVENT_SHAPE_OTHER
} rbEventShape;

// A pair in the list of one of its bodies.
typedef struct rbEventNeighbor {
    int pair;
    int other;    // body
    int image[3]; // periods to be added to the other one
    uint8_t row;
    bool hasImage;
} rbEventNeighbor;

// What a prediction reads of a neighbor that is a sphere: one cache line.
typedef struct rbEventClock {
    double time; // start of the flight
    rbVec3 position;
    rbVec3 velocity;
    double radius;
} rbEventClock;
_Static_assert(sizeof(rbEventClock) == 64, "a cache line");

// The region of a sphere that flies straight and has collided is a ball: about half as many
// neighbors as a box of the same margin. Where the broad phase has it.
typedef struct rbEventBall {
    rbVec3 center;
    double reach;   // m, 0: the region is the box
    int periods[3]; // between the region and where the broad phase has it
    int pad;
} rbEventBall;

// A body whose region meets that of another, and the periods to be added to it.
typedef struct rbEventPartner {
    int id;
    int image[3];
    bool isKnown; // the pair is there
} rbEventPartner;

// What every event touches of its own bodies: three cache lines, and one with what is rarely asked.
typedef struct rbEventBody {
    double time; // start of the flight
    rbVec3 position;
    rbVec3 velocity;
    rbVec3 acceleration;
    double radius; // m, of all points about the center of mass, without growth
    double growth; // m/s
    double inverseMass;
    double expiry;
    RB_ARRAY(rbEventNeighbor) pairs;
    rbVec3 ballCenter; // not wrapped
    double ballMargin; // m, how far the center may stray from it; 0: the region is the box
    int entry;         // pair, or RB_ENTRY_EXPIRY
    int entryOther;    // the other body of that pair
    int material;      // of all its parts, -1: they differ
    uint8_t shape;
    bool isDynamic;
    bool isMoving;  // kinematic on a path
    bool isResting; // held: its acceleration is taken off
    bool isUnbounded;
    bool hasCollided;  // since its region was made
    bool isCalm;       // only gentle impacts since calmTime
    bool isExact;      // it turns by the closed form
    double horizon;    // s, how far the region looked ahead
    double flightTime; // s, of the last flight: a guess for how long this one will be
    rbBounds region;   // of the whole body, not wrapped
    char pad[8];
} rbEventBody;
_Static_assert(sizeof(rbEventBody) == 256, "four cache lines");

// What measurements and impacts need besides.
typedef struct rbEventCold {
    const rbGeometry* geometry;
    const rbPath* path;
    rbTransform transform; // of the geometry in the principal frame
    rbMaterial* materials;
    int materialCount;
    double coreRadius; // m, of the core about the center of mass
    double loadAcceleration;
    double loadTorque;
    rbVec3 planeNormal; // of planes, world
    double planeOffset;
    rbSweepMotion spin;      // the part that bounds the spin of the present flight
    rbVec3 restAcceleration; // what a held body had
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
    bool hasImage;
    bool isPostponed; // it touched without approaching by more than rounding
    bool isLasting;   // the contact lasts: small impacts are microcollisions
    uint16_t repeats; // collisions that followed each other within the contact time
    bool isDetected;  // of the general row: by the detector's row, which may miss contact
} rbEventPair;

// What the general row remembers of a pair.
typedef struct rbEventPairData {
    rbSeparationCache cache;
    rbVec3 normal; // of the last measurement, zero: none yet
    double gap;    // m, a lower bound at gapTime
    double gapTime;
    double gapSpeed; // m/s and m/s^2: how fast the gap can have shrunk since
    double gapAcceleration;
    double gapUntil; // s, after it nothing is known of the motion
    double distance; // m, last measured
    bool hasDistance;
    double normalTime;   // s, of the normal
    rbVec3 turning;      // rad/s, how it turned between the last two measurements
    double leaveSpeed;   // m/s, along the normal, after the last collision
    rbVec3 leavePoint;   // m, where that was
    rbVec3 swayVelocity; // m/s and rad/s, along and about the normal, of b against a at the middle
    double swaySpin;     // of the points, before the last microcollision of several points
    bool hasSway;
} rbEventPairData;

typedef struct rbEventFront {
    rbFront* front;
} rbEventFront;

struct rbEventEngine {
    rbEventSettings settings;
    const rbEventLoopRow* loop;
    const rbDetectorRow* detector;
    void* detectorState;              // of its row
    void* detectorCounts;             // its statistics
    RB_ARRAY(uint64_t) detectorPairs; // what it remembers of pairs, in the order of datas
    int pairWords;                    // of a pair there
    rbVec3 period;
    bool isPeriodic;
    bool isJournalOn;
    double tolerance;
    double regionEdgeMax;           // of a periodic box
    double regionEdge;              // the longest there was
    RB_ARRAY(rbMaterial) materials; // different ones
    RB_ARRAY(rbEventBody) bodies;
    RB_ARRAY(rbEventCold) colds;
    RB_ARRAY(rbEventBall) balls;   // of bodies, apart because every partner found is asked
    RB_ARRAY(rbEventClock) clocks; // of spheres, one for each body
    bool isDriven; // a sphere is accelerated or grows, so that clocks do not say all
    RB_ARRAY(rbEventPair) pairs;
    // Of pairs: before which the two cannot touch; of exact rows: at which they do.
    RB_ARRAY(double) times;
    RB_ARRAY(int) freePairs;
    RB_ARRAY(rbEventPairData) datas;
    RB_ARRAY(int) freeDatas;
    RB_ARRAY(rbEventFront) spareFronts; // of pairs that are gone
    RB_ARRAY(int) unbounded;            // bodies, ascending
    RB_ARRAY(int) stack;                // work list of waking
    rbHeap heap;
    rbBroadPhase* broad;
    rbIdList found;
    RB_ARRAY(rbEventPartner) partners;
    rbMaterialPair* materialPairs; // RB_MATERIAL_KINDS_MAX squared, friction < 0: none
    void* scratch;
    struct rbEventCluster* cluster; // of event_cluster.c, NULL until it is needed
    rbEventStatistics statistics;
    rbEventWork work;
    double windowStart; // of the budget
    int64_t windowEvents;
    double budget;
    double now;
};

// ------------------------------------------------------------------------------ event_bodies.c

// State of a body at a time not before the start of its flight.
rbMotionState rbEvent_StateAt(const rbEventEngine* engine, const rbEventHost* host, int index,
                              double time);
// Copies a new flight of the host into the body's record.
void rbEvent_TakeFlight(rbEventEngine* engine, const rbEventHost* host, int index);
// Starts a flight from a state and takes it over.
void rbEvent_StartFlight(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                         const rbMotionState* state);
// The body as time bounds see it.
void rbEvent_MakeSweepBody(const rbEventEngine* engine, const rbEventHost* host, int index,
                           double time, const rbMotionState* state, rbSweepBody* out);
// Of bodies with varying loads the record is no parabola from the start of the flight: it starts
// anew at a time. The flight itself stays.
void rbEvent_Rebase(rbEventEngine* engine, const rbEventHost* host, int index, double time);

// What the detector's row remembers of a pair that it detects; dies when a pair is made.
static inline void* rbEvent_GetDetectorPair(const rbEventEngine* engine, const rbEventPair* pair)
{
    return &engine->detectorPairs.data[pair->data * engine->pairWords];
}

static inline rbVec3 rbEvent_ImageShift(const rbEventEngine* engine, const rbEventPair* pair)
{
    rbVec3 shift = {pair->image[0] * engine->period.x, pair->image[1] * engine->period.y,
                    pair->image[2] * engine->period.z};
    return shift;
}

// The contact time, or less where a tolerance is fallen through sooner.
static inline double rbEvent_ContactTime(const rbEventEngine* engine, double pull)
{
    double asked = engine->settings.contactTime;
    double fall = pull > 0.0 ? 0.1 * sqrt(2.0 * engine->tolerance / pull) : asked;
    return fall < asked ? fall : asked;
}

// Brings the list of a body into the cache.
static inline void rbEvent_FetchList(const rbEventBody* body)
{
    const char* list = (const char*)body->pairs.data;
    int size = body->pairs.count * (int)sizeof *body->pairs.data;
    for (int at = 0; at < size; at += 64) {
        __builtin_prefetch(list + at);
    }
}

static inline void rbEvent_SetClock(rbEventEngine* engine, int index)
{
    const rbEventBody* body = &engine->bodies.data[index];
    rbEventClock clock = {body->time, body->position, body->velocity, body->radius};
    engine->clocks.data[index] = clock;
}

static inline rbVec3 rbEvent_PositionAt(const rbEventBody* body, double time)
{
    double dt = time - body->time;
    return rbAddScaled(body->position, dt,
                       rbAddScaled(body->velocity, 0.5 * dt, body->acceleration));
}

static inline rbVec3 rbEvent_VelocityAt(const rbEventBody* body, double time)
{
    return rbAddScaled(body->velocity, time - body->time, body->acceleration);
}

// ----------------------------------------------------------------------------- event_regions.c

// A new region from a time on; near pairs come and go.
void rbEvent_RenewRegion(rbEventEngine* engine, const rbEventHost* host, int index, double time);
// When the body can leave its region.
void rbEvent_UpdateExpiry(rbEventEngine* engine, int index, double time);
void rbEvent_RemoveBodyPairs(rbEventEngine* engine, int index);
// Whether two bodies are a pair at all: both have a shape and one can move.
bool rbEvent_CanTouch(const rbEventEngine* engine, int a, int b);
// A new near pair, a < b, not yet predicted.
int rbEvent_MakePair(rbEventEngine* engine, int a, int b, const int image[3]);
void rbEvent_RemovePair(rbEventEngine* engine, int index);
// The detector's row remembers nothing any more of a pair with this data.
void rbEvent_ClearDetectorPair(rbEventEngine* engine, int data);
// Whether a region reaches a body without bounds.
bool rbEvent_IsNearUnbounded(const rbEventEngine* engine, const rbBounds* region, int index);
// The box in which a body is between two times (L-80).
rbBounds rbEvent_MotionBox(rbEventEngine* engine, const rbEventHost* host, int index, double timeA,
                           double timeB);

// ------------------------------------------------------------------------------- event_pairs.c

// Sets the time of a pair from the flights that hold at a time, without measuring.
void rbEvent_PredictPair(rbEventEngine* engine, const rbEventHost* host, int index, double time);
// Predicts all pairs of a body whose flight changed, and its entry.
void rbEvent_PredictBody(rbEventEngine* engine, const rbEventHost* host, int index, double time);
// The earliest of expiry and pairs becomes the body's entry in the heap.
void rbEvent_UpdateEntry(rbEventEngine* engine, int index);
// The pair is due: measures it, resolves a contact or sets a later time.
void rbEvent_HandlePair(rbEventEngine* engine, const rbEventHost* host, int index, double time);
// Distance of a pair at a time; poses are those of the geometries.
typedef struct rbEventMeasure {
    rbMotionState states[2];
    rbTransform poses[2];    // of the geometries in the world, b shifted by its image
    rbSeparation separation; // in the frame of a's geometry
    rbVec3 normal;           // world
    double distance;
} rbEventMeasure;
struct rbEventContacts;

// Signed distance at a time by whatever row the pair has; the normal points from a to b.
double rbEvent_DistanceAt(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                          rbVec3* normal);
// The points at which a pair touches at a time; false if it does not.
bool rbEvent_FindTouching(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                          struct rbEventContacts* contacts);
void rbEvent_Measure(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                     rbEventMeasure* measure);
// Resolves a pair that was measured, if it touches and approaches; then the states are those after
// it. Returns how fast its nearest points part, m/s.
double rbEvent_CollideMeasured(rbEventEngine* engine, const rbEventHost* host, int index,
                               double time, rbEventMeasure* measure);
// The next look at a pair that was measured and does not collide now.
// leaving: m/s, how fast the touching points part along the normal.
void rbEvent_Schedule(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                      const rbEventMeasure* measure, double leaving);

// ----------------------------------------------------------------------------- event_impacts.c

// A contact point of a pair in the world.
typedef struct rbEventContact {
    rbVec3 point; // near a
    rbVec3 normal;
    double distance;
    int childA;
    int childB;
    bool isSampled; // declared by a detector that samples
} rbEventContact;

#define RB_EVENT_CONTACTS_MAX 32
// Speeds and directions of points that land as one face differ by less than this part.
#define RB_LANDING_SPREAD 1e-6

// Whether two contact points of a pair are one. Where the edges of two meshes cross, the triangles
// beside them list it twice; two rows solved at once for it are nearly singular.
static inline bool rbEvent_IsSamePoint(const rbEventContact* p, const rbEventContact* q,
                                       double tolerance)
{
    return rbDistance(p->point, q->point) <= tolerance &&
           rbDot(p->normal, q->normal) >= 1.0 - RB_LANDING_SPREAD;
}

// A collision while it is resolved.
typedef struct rbEventResolution {
    int pair;
    double time;
    double tolerance;
    double growth; // m/s, of both together
    double pull;   // m/s^2, what drives the contact together
    rbImpactBody bodies[2];
    double fastest;    // m/s, of all approaches resolved
    bool isHandedOver; // the contact began to last now
} rbEventResolution;

// A microcollision lifts a point by as much as it is deep in the shell of tolerance; in tolerances
// at least and at most this.
#define RB_HOP_LEAST 0.25
#define RB_HOP_MOST 10.0

// The speed with which a point at a distance leaves for such a hop, m/s.
static inline double rbEvent_HopSpeed(const rbEventResolution* r, double distance)
{
    double rise = 1.0 - distance / r->tolerance;
    double hop = fmin(RB_HOP_MOST, fmax(RB_HOP_LEAST, rise)) * r->tolerance;
    return sqrt(2.0 * r->pull * hop);
}

// How fast a contact point approaches, growth included, m/s.
double rbEvent_ApproachAt(const rbEventResolution* r, const rbEventContact* contact);

// The points of a pair: those that touch first, then those that nearly do.
typedef struct rbEventContacts {
    rbEventContact points[RB_EVENT_CONTACTS_MAX];
    int touching;
    int count;
} rbEventContacts;

// Resolves a pair that touches, if a touching point approaches; false if none does. Starts new
// flights and predicts them.
bool rbEvent_Collide(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                     const rbMotionState states[2], const rbEventContacts* list);
// The same for two spheres, or a sphere and a plane, without friction and without a pull: an
// impulse through the centers, in closed form. False if it is not such a case or nobody approaches.
bool rbEvent_CollideSmooth(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                           const rbEventContact* contact);
// How fast the slowest of the touching points parts, m/s.
double rbEvent_LeavingSpeed(rbEventEngine* engine, const rbEventHost* host, int index,
                            const rbMotionState states[2], const rbEventContacts* contacts);
// Coefficients of a pair of parts.
rbMaterialPair rbEvent_GetMaterial(const rbEventEngine* engine, const rbEventPair* pair, int childA,
                                   int childB);
rbImpactBody rbEvent_MakeImpactBody(const rbEventEngine* engine, const rbEventHost* host, int index,
                                    const rbMotionState* state);
void rbEvent_Write(rbEventEngine* engine, const rbEventHost* host, const rbEngineEvent* event);

// ----------------------------------------------------------------------------- event_cluster.c

// Resolves a pair and all that touches it at once; false if nothing approaches.
bool rbEvent_CollideCluster(rbEventEngine* engine, const rbEventHost* host, int pairIndex,
                            double time);
void rbEvent_FreeCluster(rbEventEngine* engine);

// ----------------------------------------------------------------------------- event_lasting.c

// Several points of a contact that lasts, all at once: the body hops off them without turning.
void rbEvent_ResolveLasting(rbEventEngine* engine, const rbEventHost* host, rbEventResolution* r,
                            const rbEventContacts* list);

// -------------------------------------------------------------------------------- event_rest.c

// A body took part in a collision: judges whether it is calm, and holds it.
void rbEvent_NoteCalm(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                      const rbEventResolution* r);
// Holds a body at once if its one contact carries it.
bool rbEvent_TryBalance(rbEventEngine* engine, const rbEventHost* host, int index, double time,
                        const rbEventContact* contact, double friction);
// Lets a held body go, and those that lean on it.
void rbEvent_Wake(rbEventEngine* engine, const rbEventHost* host, int index, double time);

// -------------------------------------------------------------------------------- event_loop.c

// Counts an event against the budget; false when it is spent.
bool rbEvent_Spend(rbEventEngine* engine, double time);

#endif
