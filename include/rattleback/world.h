/// @file
/// The world: time, bodies, forces, the journal of events and the energy accounting.
///
/// A world is an opaque pointer and shares nothing with other worlds; use it from one thread at a
/// time. An advance of many bodies is shared by several threads (rbWorldDef.threadCount). Bodies
/// move on flight records: a record holds the state at its start, and the state at any later time
/// is evaluated from it. Reading, recording and output never change a record, so a run gives the
/// same bits whatever is written and how often.
#ifndef RATTLEBACK_WORLD_H
#define RATTLEBACK_WORLD_H

#include <rattleback/body.h>
#include <rattleback/contact.h>
#include <rattleback/event.h>
#include <rattleback/joint.h>
#include <rattleback/step.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How bodies interact.
typedef enum rbEngineType {
    RB_ENGINE_FLIGHT, ///< not at all: they pass through each other
    RB_ENGINE_EVENT,  ///< every collision is found and resolved, one after the other
    RB_ENGINE_STEP,   ///< steps of a given size; joints and contacts are satisfied to a tolerance
    RB_ENGINE_COUNT
} rbEngineType;

RB_API const char* rbEngineType_Name(rbEngineType type); ///< "flight", "event", "step"
RB_API rbEngineType rbEngineType_Find(const char* name); ///< RB_ENGINE_COUNT if unknown

/// Properties of an engine, for programs that adapt to it.
typedef struct rbEngineTraits {
    bool isFlightOnly;  ///< bodies do not interact
    bool isEventDriven; ///< advances from event to event; rbWorld_GetEventStatistics counts them
    bool isStepped;   ///< advances in steps of a given size; rbWorld_GetStepStatistics counts them
    bool holdsJoints; ///< supports joints and springs
    bool growsBodies; ///< supports growing bodies
} rbEngineTraits;

/// Traits of an engine; none for a type that does not exist.
RB_API rbEngineTraits rbEngineType_GetTraits(rbEngineType type);

/// How serious a message is.
typedef enum rbLogLevel {
    RB_LOG_WARNING, ///< the world continues, less accurately or differently than requested
    RB_LOG_ERROR,   ///< something was rejected, or an advance ended early
    RB_LOG_COUNT
} rbLogLevel;

/// "warning", "error".
RB_API const char* rbLogLevel_Name(rbLogLevel level);

/// Maximum bytes of a message, with its terminator.
#define RB_LOG_LENGTH_MAX 640

/// Receives the messages of a world: objects that cannot be created, with the reason; advances that
/// are refused, end early or miss a tolerance (once per change of status, not per advance); bodies
/// that use another motion type than requested; a full journal. The message names the object and is
/// borrowed for the call, which must not change the world. Without such a function the library
/// prints nothing.
/// @param level how serious it is
/// @param message one line without a newline
/// @param context of the world's definition
typedef void rbLogFn(rbLogLevel level, const char* message, void* context);

// clang-format off
/// The settings of the space that bodies are in, one per row (see RB_SETTING_FIELD).
#define RB_WORLD_SETTINGS(X) \
    X(rbVec3, gravity, "gravity", RB_VECTOR(0.0, 0.0, -9.81), RB_FROM(-1e12, 1e12), "m/s^2", \
      "gravitational acceleration") \
    X(rbVec3, periodicBox, "periodicBox", RB_VECTOR(0.0, 0.0, 0.0), RB_FROM(0.0, 1e12), "m", \
      "edge lengths of a periodic box centered on the origin; 0: no period in this direction")
// clang-format on

/// A world; make it with rbDefaultWorldDef.
typedef struct rbWorldDef {
    uint32_t cookie; ///< set by rbDefaultWorldDef
    RB_WORLD_SETTINGS(RB_SETTING_FIELD)
    rbMotionSettings motion;   ///< for bodies without their own; default AUTO, 1e-3 s, 8, 1e-12
    rbEngineType engine;       ///< default STEP
    rbEventSettings event;     ///< of the event engine
    rbStepSettings step;       ///< of the step engine
    rbContactSettings contact; ///< of contacts in it; on by default
    int bodyCapacity;          ///< number of bodies to reserve memory for; 0 is fine
    rbAllocator
        allocator;    ///< of everything the world holds; all zero: that of the thread or process
    rbLogFn* logFn;   ///< receives its messages; NULL: none
    void* logContext; ///< passed to logFn
    int threadCount;  ///< threads of an advance, including the calling one, at most 64; 0, the
                      ///< default: that of rbSetThreadCount, and if it is 0 as well, one per core
                      ///< for worlds of 1000 bodies and more and one for smaller ones. Results are
                      ///< the same bits for any number, and callbacks come on the calling thread
    rbTaskHost tasks; ///< scheduler of the host, used instead of own threads; all zero: none
} rbWorldDef;

/// Fills in the defaults; called by rbDefaultWorldDef.
RB_API void rbInitWorldDef(rbWorldDef* def, uint32_t abi, size_t size);
/// The default settings.
static inline rbWorldDef rbDefaultWorldDef(void)
{
    rbWorldDef def;
    rbInitWorldDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}

/// Creates a world. NULL and an error if a value is unusable.
RB_API rbWorld* rbCreateWorld(const rbWorldDef* def, rbError* error);
RB_API void rbDestroyWorld(rbWorld* world); ///< NULL is fine; all its ids become invalid

/// Energy and momentum of all dynamic bodies at one time.
typedef struct rbLedger {
    double kineticLinear;  ///< J
    double kineticAngular; ///< J
    double potential;      ///< J, of gravity, constant and central forces; zero at the origin
    double work;           ///< J, done so far by other forces, impulses and changes of state
    double impactWork;     ///< J, of the normal impulses of impacts so far; negative: lost
    double frictionWork;  ///< J, of the tangential impulses, of impacts and microcollisions; in the
                          ///< step engine of all contacts
    double microWork;     ///< J, of the normal impulses of microcollisions
    double springEnergy;  ///< J, in springs and torsional springs of joints
    double motorWork;     ///< J, done so far by motors, velocity-only joints, moving obstacles and
                          ///< conveyors
    double dissipation;   ///< J, by damping and friction of joints and springs so far; <= 0
    double restWork;      ///< J, of all other changes: assemblyWork and the four works of numerics
    double assemblyWork;  ///< J, added or taken when bodies were moved onto their joints, at the
                          ///< start, by the steps, or after an external change
    double energy;        ///< J, kineticLinear + kineticAngular + potential + springEnergy
    double energyDrift;   ///< J, energy - all of the work above - energy at the start: the error
                          ///< of the integration
    double partedWork;    ///< J, given by numerics: lasting contacts that separate overlaps
    double settledWork;   ///< J, taken by numerics: slow approaches stopped without the rebound
                          ///< that restitution demands, and bodies put to rest
    double truncatedWork; ///< J, by numerics: solutions of contacts that ended early
    double lateWork;      ///< J, by numerics: bodies that met before the end of their step
    double numericalEnergy; ///< J, sum of these four and the drift: what nature does not explain
    double energyScale;     ///< J, the energy there is, whatever the origin of the potential:
                            ///< kinetic energy, energy in springs, what lifts every body by its
                            ///< radius against its constant forces, and the magnitudes of all work
                            ///< so far of causes in nature
    rbVec3 momentum;        ///< kg m/s
    rbVec3 angularMomentum; ///< kg m^2/s about the origin
    rbVec3 spinMomentum;    ///< kg m^2/s, sum of the bodies' spins about their centers
    double mass;            ///< kg
} rbLedger;

/// Result of rbWorld_Advance.
typedef struct rbStepReport {
    rbStatus status;   ///< OK; NUMERICAL when a body's integration or a joint missed its tolerance;
                       ///< INVALID when dt or time is negative or not finite: then nothing moved
    double time;       ///< s, of the world after the step
    int bodyCount;     ///< existing bodies
    int exactCount;    ///< dynamic bodies with closed-form motion
    int numericCount;  ///< dynamic bodies integrated numerically
    int fallbackCount; ///< of those: requested another motion type, which their loads do not allow
    int64_t integratorSteps; ///< accepted in this advance
    int64_t rejectedSteps;   ///< of the adaptive integrator, in this advance
    rbBodyId failedBody;     ///< first body that missed its tolerance, or one of the worst joint;
                             ///< null if none
    rbLedger ledger;         ///< energies and momenta at the end
    bool isFloatModeOdd;     ///< the thread flushes small numbers to zero or does not round to
                         ///< nearest; the advance computed in the standard mode, so the bits are
                         ///< the same, and then put the mode of the thread back
} rbStepReport;

/// Advances the world by dt >= 0 seconds. Does not allocate after the first call, except when an
/// event finds the journal full.
///
/// With the event engine the report is INVALID if the start is rejected, and LIMIT if the budget of
/// events is exhausted: the world stays at the time reached; rbWorld_GetError returns the message.
/// With the step engine it is INVALID if joints are open at the start or contradict each other, or
/// bodies overlap; NUMERICAL if a joint or a contact missed its tolerance (the world continues; not
/// at RB_ACCURACY_GAME, which promises none); and LIMIT if a state became non-finite: the world
/// stays at the last good time, which the report contains.
RB_API rbStepReport rbWorld_Advance(rbWorld* world, double dt);
/// The same up to a given time, which is reached exactly; earlier times leave the world as it is.
RB_API rbStepReport rbWorld_AdvanceTo(rbWorld* world, double time);

/// The k-th multiple of a step, rounded once: if the step is a fraction p/q with small q, k p / q
/// is computed, so that 10 steps of 1e-3 and one of 1e-2 reach the same double.
RB_API double rbGetStepTime(int64_t k, double step);

/// Time of the world, s.
RB_API double rbWorld_GetTime(const rbWorld* world);
/// Gravity, m/s^2.
RB_API rbVec3 rbWorld_GetGravity(const rbWorld* world);

/// Sets the level of accuracy of the step engine: the settings that belong to it get its defaults,
/// all others stay. Settings that are to differ are set afterwards.
RB_API void rbWorldDef_SetAccuracy(rbWorldDef* def, rbAccuracy accuracy);

/// Parameters that may change while a world runs (B-91). In addition to those here:
/// rbBody_SetMaterial, rbBody_SetSurfaceVelocity, rbBody_SetGroups, rbBody_SetMass,
/// rbJoint_SetFreedom, rbJoint_SetLimit, rbJoint_SetMotorTarget, rbSpring_SetLaw,
/// rbWorld_SetMaterialPair, forces. A value is validated as at creation, and the world as by
/// rbWorld_Prepare; a rejected change leaves the world as it was, bit for bit. Poses and velocities
/// stay; if a parameter changes the energy (potential, mass, springs), the reference of the ledger
/// moves with it, so that no work appears. Flights and steps restart at the world's time.
RB_API rbStatus rbWorld_SetGravity(rbWorld* world, rbVec3 gravity, rbError* error); ///< m/s^2
/// The same as rbWorldDef_SetAccuracy for a world.
RB_API rbStatus rbWorld_SetAccuracy(rbWorld* world, rbAccuracy accuracy, rbError* error);
/// Settings of the step engine.
RB_API rbStepSettings rbWorld_GetStepSettings(const rbWorld* world);
/// Changes the settings of the step engine; other engines do not use them. The new settings must
/// support the joints, limits and contacts of the world.
RB_API rbStatus rbWorld_SetStepSettings(rbWorld* world, const rbStepSettings* settings,
                                        rbError* error);
/// Settings of contacts in the step engine.
RB_API rbContactSettings rbWorld_GetContactSettings(const rbWorld* world);
/// Changes the settings of contacts in the step engine. When contacts are turned on, bodies must
/// not overlap (unless isOverlapAllowed); known contacts are forgotten.
RB_API rbStatus rbWorld_SetContactSettings(rbWorld* world, const rbContactSettings* settings,
                                           rbError* error);

/// The engine of the world.
RB_API rbEngineType rbWorld_GetEngineType(const rbWorld* world);
/// Edge lengths of the periodic box, m; 0: no period.
RB_API rbVec3 rbWorld_GetPeriodicBox(const rbWorld* world);
/// Energy and momentum at the world's time.
RB_API rbLedger rbWorld_GetLedger(const rbWorld* world);

/// Whether the steps themselves gave or took more energy than step.energyTolerance allows, as a
/// fraction of a scale: the largest energyScale seen in the run, J, or 0 for that of now. Writes a
/// message with the amounts and the remedy, and returns its length; 0: no more than allowed, or
/// nothing is promised (another engine, or a game's budget of sweeps).
RB_API size_t rbWorld_DescribeNumericalEnergy(const rbWorld* world, double scale, char* text,
                                              size_t capacity);

/// Number of bodies.
RB_API int rbWorld_GetBodyCount(const rbWorld* world);
/// Writes at most capacity ids in order of creation (slots of destroyed bodies are reused by new
/// ones); returns the number of bodies.
RB_API int rbWorld_GetBodyIds(const rbWorld* world, rbBodyId* ids, int capacity);
RB_API rbBodyId rbWorld_FindBody(const rbWorld* world, const char* name); ///< null if there is none

/// A position mapped into the periodic box, and the image it came from (may be NULL).
RB_API rbVec3 rbWorld_WrapPosition(const rbWorld* world, rbVec3 position, int image[3]);

/// Fields for bulk access; each comment gives the number of doubles per body.
typedef enum rbBodyField {
    RB_FIELD_POSITION,         ///< 3, of the body's origin
    RB_FIELD_ORIENTATION,      ///< 4, w x y z
    RB_FIELD_CENTER,           ///< 3, of mass; read only
    RB_FIELD_LINEAR_VELOCITY,  ///< 3
    RB_FIELD_ANGULAR_VELOCITY, ///< 3
    RB_FIELD_MASS,             ///< 1; read only
    RB_FIELD_FORCE,  ///< 3, N, at the center of mass, world axes: held until it is written again
    RB_FIELD_TORQUE, ///< 3, N m, world axes, likewise
    RB_FIELD_COUNT
} rbBodyField;

RB_API int rbBodyField_Width(rbBodyField field); ///< doubles per body
/// Copies a field of all bodies, in the order of rbWorld_GetBodyIds, to an array with a stride of
/// strideBytes (0: packed).
RB_API void rbWorld_ReadField(const rbWorld* world, rbBodyField field, double* values,
                              size_t strideBytes);
/// Starts new flights of all dynamic bodies. INVALID if the field is read only or a value is not
/// finite; then nothing changes.
///
/// Forces and torques act on dynamic bodies from now on, in the step engine from its next step on,
/// until they are written again; zero at first. Their work is external; snapshots contain them.
RB_API rbStatus rbWorld_WriteField(rbWorld* world, rbBodyField field, const double* values,
                                   size_t strideBytes, rbError* error);

/// Name of a kind as in the journal file.
RB_API const char* rbEventKind_Name(rbEventKind kind);
/// The journal, in order of time; borrowed until the next call that changes the world. The step
/// engine omits events beyond rbStepSettings.journalMax.
RB_API const rbEvent* rbWorld_GetEvents(const rbWorld* world, int* count);
/// Empties the journal.
RB_API void rbWorld_ClearEvents(rbWorld* world);

/// Validates the world for its engine and prepares it: overlaps or open joints at the start, forces
/// without a bound, a periodic box that is too small, joints that the engine does not support.
/// Advancing does the same; here the error has the details.
RB_API rbStatus rbWorld_Prepare(rbWorld* world, rbError* error);
/// Why the last advance was refused, ended early or missed the tolerance of a joint; otherwise
/// status OK.
RB_API rbError rbWorld_GetError(const rbWorld* world);
/// Work of the event engine since the world was created.
RB_API rbEventStatistics rbWorld_GetEventStatistics(const rbWorld* world);
/// Work of the step engine since the world was created.
RB_API rbStepStatistics rbWorld_GetStepStatistics(const rbWorld* world);
/// Whether the step engine looks for contacts: they are on, and two bodies of the world can collide
/// by their masses, groups and joints. Otherwise bodies without joints and springs fly freely.
RB_API bool rbWorld_HasContacts(const rbWorld* world);
/// Work on contacts in the step engine since the world was created.
RB_API rbContactStatistics rbWorld_GetContactStatistics(const rbWorld* world);
/// Writes what contacts missed since the world was created: each quantity above its tolerance, with
/// both values, separated by commas; also bodies that overlapped at the start and still do. Empty
/// if nothing was missed. Returns the length of the whole text.
RB_API size_t rbWorld_DescribeContactMiss(const rbWorld* world, char* text, size_t capacity);
/// The contact points of the step engine under load, at most capacity of them, in a fixed order (by
/// bodies). Returns how many there are.
RB_API int rbWorld_GetContacts(const rbWorld* world, rbContactView* views, int capacity);
/// The force on a body by all its contacts, or by those with one other body (null: all), N, mean
/// over the last step; count (may be NULL) receives the number of points.
RB_API rbVec3 rbBody_GetContactForce(const rbWorld* world, rbBodyId bodyId, rbBodyId otherId,
                                     int* count);
/// Shapes that began or ceased to touch (if rbContactSettings.hasEvents is set), or to overlap a
/// sensor, in the last advance, in the order of time; at one time contacts, then sensors, each in
/// the order of bodies and shapes. Borrowed until the next advance. The event engine reports
/// sensors only: there bodies collide one pair at a time, and the journal has every impact. The
/// same events come again after a snapshot was restored; they do not depend on how an advance is
/// divided into shorter ones.
RB_API const rbContactEvent* rbWorld_GetContactEvents(const rbWorld* world, int* count);
/// The beginning of a flight: how a body moves from here on, until its next flight begins.
typedef struct rbFlightStart {
    double time;       ///< s
    rbBodyId body;     ///< which flies
    int eventCount;    ///< events in the journal before it: they are its cause
    bool isHeld;       ///< it is held at rest: no load acts
    rbBodyState state; ///< at this time, after the event
} rbFlightStart;

/// Whether the event engine keeps the start of every flight, for those who want to check its work;
/// off by default.
RB_API void rbWorld_EnableFlightStarts(rbWorld* world, bool isOn);
/// The flights that began since rbWorld_ClearEvents, in their order; borrowed until the next call
/// that changes the world.
RB_API const rbFlightStart* rbWorld_GetFlightStarts(const rbWorld* world, int* count);
/// What was set by rbWorld_SetMaterialPair; false: nothing, the combination rules hold.
RB_API bool rbWorld_GetMaterialPair(const rbWorld* world, int kindA, int kindB,
                                    rbMaterialPair* pair);
/// Writes at most capacity forces in order of creation (slots of destroyed ones are reused);
/// returns their number.
RB_API int rbWorld_GetForces(const rbWorld* world, rbForceDef* defs, int capacity);
/// The settings of the event engine.
RB_API rbEventSettings rbWorld_GetEventSettings(const rbWorld* world);

/// Whether impacts are recorded in the journal (the default) or only counted.
RB_API void rbWorld_EnableJournal(rbWorld* world, bool isOn);
/// Whether the engine holds a body at rest (step engine: frozen, see rbContactSettings).
RB_API bool rbBody_IsResting(const rbWorld* world, rbBodyId bodyId);

/// Decides whether two bodies collide, for pairs that groups, masks and joints allow. Asked, in a
/// fixed order, when the boxes of two bodies come near each other, and possibly again while they
/// stay near; must not change the world, and must give the same answer for the same pair until
/// rbWorld_RenewContactFilter is called.
/// @param world the one of the bodies
/// @param bodyA the one with the smaller index
/// @param bodyB the other
/// @param context of rbWorld_SetContactFilter
typedef bool rbContactFilterFn(const rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, void* context);
/// Sets the filter of the engines "event" and "step" from the next advance on; NULL: all collide.
/// Snapshots do not contain it: a world that continues from one must have the same filter.
RB_API void rbWorld_SetContactFilter(rbWorld* world, rbContactFilterFn* filter, void* context);
/// Call when the filter would answer differently than before. The next advance asks it again: pairs
/// that no longer collide are released, and bodies that then overlap are treated as bodies that
/// overlap at the start, rejected with their names or separated (overlap in rbContactSettings and
/// rbEventSettings). Flights and steps restart at the world's time.
RB_API void rbWorld_RenewContactFilter(rbWorld* world);

/// What happens between two kinds of material, instead of the combination rules; kinds in any
/// order.
RB_API rbStatus rbWorld_SetMaterialPair(rbWorld* world, int kindA, int kindB,
                                        const rbMaterialPair* pair, rbError* error);

/// A hash of the time and the state of every body, sensitive to every bit.
RB_API uint64_t rbWorld_GetHash(const rbWorld* world);

/// Bytes of a snapshot.
RB_API size_t rbWorld_GetSnapshotSize(const rbWorld* world);
/// Copies the state and all parameters that can change while a world runs (except pairs of
/// materials). Restoring it and continuing gives the same bits as continuing at once.
RB_API rbStatus rbWorld_TakeSnapshot(const rbWorld* world, void* bytes, size_t size,
                                     rbError* error);
/// Restores a snapshot. The world must have the same bodies, shapes, joints, springs, forces and
/// pairs of materials as when the snapshot was taken.
RB_API rbStatus rbWorld_RestoreSnapshot(rbWorld* world, const void* bytes, size_t size,
                                        rbError* error);

#ifdef __cplusplus
}
#endif

#endif
