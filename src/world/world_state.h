// The inside of a world, shared by the files of this folder.
#ifndef RB_WORLD_WORLD_STATE_H
#define RB_WORLD_WORLD_STATE_H

#include "base/core/id_pool.h"
#include "base/core/memory.h"
#include "dynamics/bodies/name_table.h"
#include "dynamics/engines/event_engine.h"
#include "dynamics/forces/force_ops.h"
#include "dynamics/motion/flight.h"
#include "dynamics/motion/path.h"

#include <rattleback/world.h>

// A shape of a body.
typedef struct rbShapeSlot {
    rbShapeDef def;
    int index; // of its id
} rbShapeSlot;

// Rarely touched data of a body. What a step touches lies in the arrays of rbWorld beside it.
typedef struct rbBody {
    char name[RB_NAME_CAPACITY];
    rbBodyType type;
    bool hasExplicitMass;
    bool hasMass;            // dynamic with a mass: it flies
    rbMassProperties mass;   // in the body's frame
    rbTransform principal;   // principal frame in the body's frame; identity unless dynamic
    double radius;           // of the shapes about the centre of mass, m
    rbPath* path;            // kinematic, may be NULL
    rbMotionSettings motion; // as asked for; step 0 means the world's
    double growth;           // m/s
    void* userData;
    int firstForce1; // index + 1 of the first force on this body alone, 0: none
    RB_ARRAY(rbShapeSlot) shapes;
} rbBody;

// A force and the next one on the same body.
typedef struct rbForceSlot {
    rbForceDef def; // cookie 0: a free slot
    int next1;
} rbForceSlot;

typedef struct rbGeometrySlot {
    rbGeometry* geometry;
    int useCount;
} rbGeometrySlot;

// What was said about a pair of materials.
typedef struct rbMaterialPairSlot {
    int kindA;
    int kindB;
    rbMaterialPair pair;
} rbMaterialPairSlot;

struct rbWorld {
    rbWorldDef def;
    double time;
    double timeRest; // what was lost in rounding sums of dt; time + timeRest is the compensated sum

    rbIdPool bodyIds;
    RB_ARRAY(rbBody) bodies;    // all arrays of bodies have the same count
    RB_ARRAY(rbFlight) flights; // dynamic bodies with mass
    RB_ARRAY(rbMotionBody) motions;
    RB_ARRAY(rbMotionState) states; // at the world's time
    rbNameTable names;
    int aliveCount;

    rbIdPool geometryIds;
    RB_ARRAY(rbGeometrySlot) geometries;
    rbIdPool shapeIds;

    rbIdPool forceIds;
    RB_ARRAY(rbForceSlot) forces;
    RB_ARRAY(int)
    globalForces; // indices of those that act on every dynamic body, in order of making

    RB_ARRAY(rbEvent) events;
    double energyReference; // J, what the bodies brought with them
    double externalWork;    // J, of impulses and settings of state

    rbEventEngine* engine; // NULL until it is needed
    bool isEngineReady;    // false: it must be told of the bodies anew
    rbError engineError;
    RB_ARRAY(int) touched;           // bodies whose flights were started anew from outside
    RB_ARRAY(rbGeometrySlot) merged; // of bodies with several shapes
    RB_ARRAY(rbMaterialPairSlot) materialPairs;
};

// The engine is told: bodies, shapes or forces changed; the flight of a body was started anew.
void rbWorld_NoteChange(rbWorld* world);
void rbWorld_NoteFlight(rbWorld* world, int index);

// Indices of ids; assert that they are alive.
int rbWorld_BodyIndex(const rbWorld* world, rbBodyId bodyId);
rbBodyId rbWorld_BodyIdOf(const rbWorld* world, int index);
bool rbWorld_IsBodyAlive(const rbWorld* world, int index);
// Name of a body for the table of names; the context is the world.
const char* rbWorld_NameOfBody(int index, const void* context);

// The forces on a body, one after the other: those on all bodies first, then its own. Start with a
// zero cursor; NULL at the end.
typedef struct rbForceCursor {
    int global;
    int own1;
    bool isOwn;
} rbForceCursor;

const rbForceDef* rbWorld_NextForce(const rbWorld* world, int index, rbForceCursor* cursor);

// Collects the loads of a body: acceleration, torque, whether others act. Then its flight must
// start anew.
void rbWorld_RefreshLoads(rbWorld* world, int index);
// A new flight from the present state; the journal notes a fallback.
void rbWorld_StartFlight(rbWorld* world, int index);
// Energy of one body at its present state.
double rbWorld_BodyEnergy(const rbWorld* world, int index, double parts[3]);
void rbWorld_AddEvent(rbWorld* world, rbEventKind kind, int index, double energyChange);

// Between the state of the principal frame and what the API shows.
rbBodyState rbWorld_PublicState(const rbWorld* world, int index, const rbMotionState* state);
rbMotionState rbWorld_InnerState(const rbWorld* world, int index, rbTransform transform,
                                 rbVec3 linearVelocity, rbVec3 angularVelocity);
// State of any body at a time, without changing anything.
rbMotionState rbWorld_StateAt(const rbWorld* world, int index, double time, rbMotionCounts* counts);

// Magic numbers that a default function put into a def.
#define RB_COOKIE_WORLD 0x52420001u
#define RB_COOKIE_BODY 0x52420002u
#define RB_COOKIE_SHAPE 0x52420003u
#define RB_COOKIE_FORCE 0x52420004u

// A def that no default function made; a bug of the caller that every build reports.
#define RB_CHECK_COOKIE(def, value, error)         \
    ((def)->cookie == (value)                      \
         ? RB_STATUS_OK                            \
         : rbError_Set((error), RB_STATUS_INVALID, \
                       "the definition was not made by its rbDefault...Def function"))

rbStatus rbJudgeMotionSettings(const rbMotionSettings* settings, rbError* error);

#endif
