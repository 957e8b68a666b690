// The internal state of a world, shared by the files of this folder.
#pragma once

#include "base/core/cookie.h"
#include "base/core/float_mode.h"
#include "base/core/id_pool.h"
#include "base/core/memory.h"
#include "base/core/name_table.h"
#include "base/core/tasks.h"
#include "dynamics/engines/event/event_engine.h"
#include "dynamics/engines/step/step_engine.h"
#include "dynamics/forces/force_table.h"
#include "dynamics/motion/flight.h"
#include "dynamics/motion/path.h"

#include <rattleback/world.h>

// Public functions that change a world begin so: with its memory, in the standard mode.
#define RB_ENTER(world)                       \
    RB_USE_ALLOCATOR((world)->def.allocator); \
    RB_USE_STANDARD_FLOAT_MODE()

// Those that return a status refuse the id of what does not exist.
#define RB_REQUIRE(isThere, kind, id, error)                                                 \
    RB_INVALID_IF(!(isThere), error,                                                         \
                  "there is no " kind " with the id %u of generation %u; it was destroyed, " \
                  "or belongs to another world",                                             \
                  (unsigned)(id).index1, (unsigned)(id).generation)
#define RB_REQUIRE_BODY(world, id, error) RB_REQUIRE(rbBody_IsValid(world, id), "body", id, error)

// A shape of a body.
typedef struct rbShapeSlot {
    rbShapeDef def;
    int index; // of its id
} rbShapeSlot;

// Rarely touched data of a body. What a step touches is in separate arrays of rbWorld. The slot of
// a destroyed body is zero: it has no mass, path or shapes, so loops that need one of these need
// not ask whether a body exists.
typedef struct rbBody {
    char name[RB_NAME_CAPACITY];
    rbBodyType type;
    bool hasExplicitMass;
    bool hasMass;            // dynamic with a mass: it moves freely
    rbMassProperties mass;   // in the body's frame
    double radius;           // of the shapes about the center of mass, m
    rbPath* path;            // kinematic, may be NULL
    rbMotionSettings motion; // as requested; 0 means the world's value
    double growth;           // m/s
    void* userData;
    int firstForce1; // index + 1 of the first force on this body alone, 0: none
    bool isLoaded;   // loads were set: they count as varying
    rbVec3 loads[2]; // force (N) and torque (N m), held until they are set again
    RB_ARRAY(rbShapeSlot) shapes;
} rbBody;

// A force and the next one on the same body, or on all.
typedef struct rbForceSlot {
    rbForceDef def; // cookie 0: a free slot
    int next1;
} rbForceSlot;

typedef struct rbGeometrySlot {
    rbGeometry* geometry;
    int useCount;
} rbGeometrySlot;

// The shapes of a body as one compound, kept as long as the body has the same shapes: an engine may
// cache data about it.
typedef struct rbMergedSlot {
    rbGeometry* geometry; // NULL: none
    int shapeCount;
    uint32_t generation; // of the body
} rbMergedSlot;

// A material pair set by the user.
typedef struct rbMaterialPairSlot {
    int kindA, kindB;
    rbMaterialPair pair;
} rbMaterialPairSlot;

// Pairs of shapes that touch, with ids. Their events have the point and normal when they last
// touched, the impulse so far, and the approach at the beginning.
typedef struct rbTouchArray {
    rbEngineTouch* data; // in the order of bodies, then shapes
    int count, capacity;
} rbTouchArray;

// Pairs of shapes that touch, and shapes in sensors.
typedef enum rbTouchKind {
    RB_TOUCH_CONTACT,
    RB_TOUCH_SENSOR,
    RB_TOUCH_COUNT
} rbTouchKind;

// A joint. It keeps its address: the step engine borrows the model and the motors.
typedef struct rbJoint {
    char name[RB_NAME_CAPACITY];
    int index;                             // of its id
    rbJointDef def;                        // points into the copies below
    rbJointPart parts[RB_JOINT_PARTS_MAX]; // copy
    int bodyA;                             // index; -1: the world
    int bodyB;
    rbTransform
        startA; // frame of body A at creation, for definitions relative to the present poses
    rbTransform startB;
    rbJointModel model;
    rbMotorModel motors[RB_JOINT_FREEDOMS_MAX]; // in use; their points belong to definedMotors
    rbMotorModel definedMotors[RB_JOINT_FREEDOMS_MAX];
    bool isTargetSet[RB_JOINT_FREEDOMS_MAX]; // by the user: the schedule has ended
    double positions[RB_JOINT_FREEDOMS_MAX]; // rad or m, unwrapped, when the engine was last
                                             // ready; reference for unwrapping angles
    rbJointLimits limits;
    double limitPositions[RB_JOINT_FREEDOMS_MAX]; // likewise, of the limits
    double gap; // m and rad, open gap when the engine was last ready; 0: it is new
} rbJoint;

// A spring; also keeps its address.
typedef struct rbSpring {
    char name[RB_NAME_CAPACITY];
    int index;       // of its id
    rbSpringDef def; // with the actual rest length
    int bodyA, bodyB;
    rbSpringModel model;
} rbSpring;

struct rbWorld {
    rbWorldDef def;
    double time;
    double timeRest; // rounding error of the sum of dt; time + timeRest is the compensated sum

    rbIdPool bodyIds;
    RB_ARRAY(rbBody) bodies;    // all arrays of bodies have the same count
    RB_ARRAY(rbFlight) flights; // dynamic bodies with mass
    RB_ARRAY(rbMotionBody) motions;
    RB_ARRAY(rbMotionState) states;   // at the world's time
    RB_ARRAY(rbTransform) principals; // frames of inertia in the body's; identity if static
    rbNameTable names;
    int aliveCount;
    rbTasks* tasks;  // threads of its advances; NULL: none yet, or one is enough
    int threadCount; // that tasks were made for, + 1; 0: none yet

    rbIdPool geometryIds;
    RB_ARRAY(rbGeometrySlot) geometries;
    rbIdPool shapeIds;

    rbIdPool forceIds;
    RB_ARRAY(rbForceSlot) forces;
    int firstForce1; // of those that act on every dynamic body, as in rbBody

    rbIdPool jointIds;
    RB_ARRAY(rbJoint*) joints; // of pointers; NULL: a free slot
    int jointCount;            // alive
    rbIdPool springIds;
    RB_ARRAY(rbSpring*) springs;
    int springCount;
    bool isElastic;        // there has been a spring, along a freedom of a joint too
    rbNameTable linkNames; // of joint i under 2 i, of spring i under 2 i + 1

    RB_ARRAY(rbEvent) events;
    RB_ARRAY(rbFlightStart) flightStarts; // empty unless areFlightsKept
    bool areFlightsKept;
    int64_t unwrittenEvents; // of the step engine, dropped because the journal was full
    double energyReference;  // J, energy that bodies and springs had when added
    double externalWork;     // J, of impulses and of states set by the user

    void* engine;          // owned by the row of def.engine; NULL until it is needed
    bool isEngineReady;    // false: everything must be registered anew
    bool areContactsOther; // the step engine needs the new contact settings
    bool hasContacts;      // of the step engine: they are on, and two bodies can collide
    rbError engineError;
    rbStatus loggedStatus; // of the last advance
    RB_ARRAY(int)
    touched;                       // bodies whose flights were restarted by user calls; joints
                                   // whose parameters changed, as -1 - index
    RB_ARRAY(unsigned char) owned; // per body: the step engine moves it, its flight is stale
    rbStepWork stepWork;           // J, added to what the step engine counts
    double assembleWork;           // J, gained or lost when bodies were moved to close their joints
    RB_ARRAY(rbMergedSlot) merged; // per body, used for those with several shapes
    RB_ARRAY(rbMaterial) mergedMaterials; // memory for those of a body
    RB_ARRAY(rbMaterialPairSlot) materialPairs;
    rbContactFilterFn* contactFilter; // NULL: none
    void* contactFilterContext;
    bool isFilterOther;                     // the step engine must ask it again
    RB_ARRAY(rbContactView) contactViews;   // memory for reading them
    rbTouchArray touches[RB_TOUCH_COUNT];   // pairs of shapes that touch
    rbTouchArray foundTouches;              // memory for those of a step
    rbTouchArray nextTouches;               // the same
    RB_ARRAY(int) sensorBodies;             // bodies with sensors, ascending, as the engine started
    RB_ARRAY(rbMotionState) sensorStates;   // memory for the states of all bodies
    RB_ARRAY(rbContactEvent) contactEvents; // of the last advance

    rbBlock* blocks;               // what the engine has allocated
    char* kept;                    // a snapshot from before the advance, see rbWorld_Recover
    size_t keptSize, keptCapacity; // 0: none
    int keptStarts;                // of flights, before the advance
    bool isMoving;                 // the engine is at work: what it holds may be in pieces
    bool isLost;                   // it failed halfway, and there was no snapshot

    int64_t motionCount;           // grows whenever bodies may have moved or changed
    struct rbQueryTree* queryTree; // NULL until the first query
};

// For every joint or spring of a world: RB_EACH_LINK(Joint, joint, world) { ... }. It may be
// destroyed meanwhile; break would only go to the next one.
#define RB_EACH_LINK(Type, link, world)                                         \
    for (int link##Slot = 0; link##Slot < (world)->link##s.count; ++link##Slot) \
        for (rb##Type* link = (world)->link##s.data[link##Slot]; link != NULL; link = NULL)

// The same for the shapes of a body that are not sensors; their index is shapeIndex.
#define RB_EACH_SOLID(shape, body)                                                  \
    for (int shape##Index = 0; shape##Index < (body)->shapes.count; ++shape##Index) \
        for (rbShapeDef* shape = &(body)->shapes.data[shape##Index].def;            \
             shape != NULL && !shape->isSensor; shape = NULL)

// Defines a function that returns a value.
#define RB_DEFINE_GETTER(type, name, parameters, value) \
    type name parameters                                \
    {                                                   \
        return (value);                                 \
    }

// Notify the engine: bodies, shapes, joints or forces changed; the flight of a body was restarted;
// the parameters of a joint changed.
void rbWorld_NoteChange(rbWorld* world);
void rbWorld_NoteFlight(rbWorld* world, int index);
void rbWorld_NoteJoint(rbWorld* world, int index);

// Whether the step engine moves a body: then its flight record is stale.
bool rbWorld_IsOwned(const rbWorld* world, int index);

// Shapes that are not sensors: how many a body has, and the index of one of them among all shapes.
int rbBody_CountSolid(const rbBody* body);
bool rbBody_HasSensor(const rbBody* body);
int rbBody_FindSolid(const rbBody* body, int part);

// Index of an id, which must be alive, and back.
int rbWorld_BodyIndex(const rbWorld* world, rbBodyId bodyId);
rbBodyId rbWorld_BodyIdOf(const rbWorld* world, int index);
// The id that an engine reported without its generation; null if there is no such body.
rbBodyId rbWorld_CompleteId(const rbWorld* world, rbBodyId reported);
// Id of an index; null if there is no such joint or spring.
rbJointId rbWorld_JointIdOf(const rbWorld* world, int index);
rbSpringId rbWorld_SpringIdOf(const rbWorld* world, int index);
bool rbWorld_IsBodyAlive(const rbWorld* world, int index);
// Name of a body for the table of names; the context is the world.
const char* rbWorld_NameOfBody(int index, const void* context);

// Iterates over the forces on a body: those on all bodies first, then its own. Start with a
// zero cursor; false at the end.
typedef struct rbForceCursor {
    const rbForceDef* def;
    const rbForceRow* row;
    int next1;
    int chain; // begun so far
} rbForceCursor;

bool rbWorld_NextForce(const rbWorld* world, int index, rbForceCursor* cursor);

// Collects the loads of a body: acceleration, torque, whether others act. Its flight must then be
// restarted.
void rbWorld_RefreshLoads(rbWorld* world, int index);
// Starts a new flight from the present state; the journal records a fallback.
void rbWorld_StartFlight(rbWorld* world, int index);
// Energy of one body in its present state; parts: linear, angular, potential, or NULL.
double rbWorld_BodyEnergy(const rbWorld* world, int index, double parts[3]);
void rbWorld_AddEvent(rbWorld* world, rbEventKind kind, int index, double energyChange);

// Converts between the state of the principal frame and the public state; only dynamic bodies have
// velocities of their own.
rbBodyState rbWorld_PublicState(const rbWorld* world, int index, const rbMotionState* state);
rbMotionState rbWorld_InnerState(const rbWorld* world, int index, rbTransform transform,
                                 rbVec3 linearVelocity, rbVec3 angularVelocity);
// State of any body at a time, without changing anything.
rbMotionState rbWorld_StateAt(const rbWorld* world, int index, double time);

// Memory of queries; NULL is fine.
void rbDestroyQueryTree(struct rbQueryTree* tree);

// Hands a message to the log of the world, if it has one.
void rbWorld_Log(const rbWorld* world, rbLogLevel level, const char* format, ...) RB_PRINTF(3, 4);
// The same for an object that cannot be created; copies the reason to the caller's error, if any.
void rbWorld_LogRefusal(const rbWorld* world, const char* what, const rbError* reason,
                        rbError* error);
