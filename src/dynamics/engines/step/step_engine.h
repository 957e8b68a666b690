// The step engine: mechanisms of bodies, joints, springs and motors in steps of a stated size.
//
// The host (a world) owns bodies and registers them by index; the engine owns the state of bodies
// in a mechanism, at separate times (nodes). A trial step that is discarded gives the state at any
// time after the node, so outputs never change the run.
#pragma once

#include "base/core/byte_stream.h"
#include "dynamics/contact/contact_pairs.h"
#include "dynamics/engines/engine_event.h"
#include "dynamics/joints/joint_model.h"
#include "dynamics/motion/flight.h"
#include "dynamics/motion/path.h"

#include <rattleback/contact.h>
#include <rattleback/step.h>

typedef struct rbStepEngine rbStepEngine;

// Data that the host lends for a call.
typedef struct rbStepHost {
    const rbMotionBody* motions; // per body
    rbMotionState* states;       // per body: read at a start, written at the end of an advance
    rbEngineJournalFn* journal;  // for collisions and frozen bodies; NULL: they are only counted
    rbEngineNodeFn* node;        // at the end of every step with contacts; NULL: not asked for
    double (*energy)(void* context); // J, of bodies and springs in the states; NULL: not asked for
    void* context;                   // of these
} rbStepHost;

// A body, before a start. Only dynamic bodies with mass are moved.
typedef struct rbStepBodyDef {
    bool isDynamic;
    const rbPath* path; // kinematic; NULL stands still
    double radius;      // m, of its shapes about the center of mass
} rbStepBodyDef;

typedef struct rbStepJointDef {
    int bodyA; // of the host; -1: the world
    int bodyB;
    const rbJointModel* model;                      // borrowed while the joint is registered
    double freedomPositions[RB_JOINT_FREEDOMS_MAX]; // so far: full turns continue from there
    const rbLimitModel* limits;                     // borrowed; require contacts of the engine
    int limitCount;                                 // 0: none
    double limitPositions[RB_JOINT_FREEDOMS_MAX];   // as freedomPositions, of the limits
    const rbMotorModel* motors;                     // per freedom, may be NULL
    rbFreedomDef freedoms[RB_JOINT_FREEDOMS_MAX];
    bool isVelocityOnly;
    rbVec3 linearVelocity;
    rbVec3 angularVelocity;
    double forceMax;
    rbSolverType solver; // auto: that of the settings
    double gapAllowed;   // m and rad: a gap that the run itself left is ignored at a new start
} rbStepJointDef;

typedef struct rbStepSpringDef {
    int bodyA;
    int bodyB;
    const rbSpringModel* model;
    double restLength;
    double stiffness;
    double damping;
} rbStepSpringDef;

rbStepEngine* rbCreateStepEngine(const rbStepSettings* settings);
void rbDestroyStepEngine(rbStepEngine* engine); // NULL is fine

// Replaces the settings, before the next start.
void rbStepEngine_SetSettings(rbStepEngine* engine, const rbStepSettings* settings);

// NULL def: there is none (anymore).
void rbStepEngine_SetBody(rbStepEngine* engine, int index, const rbStepBodyDef* def);
void rbStepEngine_SetJoint(rbStepEngine* engine, int index, const rbStepJointDef* def);
// Clears the integral of the motor of a freedom.
void rbStepEngine_ResetMotor(rbStepEngine* engine, int index, int freedom);
void rbStepEngine_SetSpring(rbStepEngine* engine, int index, const rbStepSpringDef* def);

// Contacts, before a start. Not isEnabled: bodies pass through each other. Limits of joints need
// contacts too: NeedLimits makes some for them alone where bodies pass through each other.
void rbStepEngine_NeedLimits(rbStepEngine* engine, const rbContactSettings* settings);
bool rbStepEngine_HasContacts(const rbStepEngine* engine);
void rbStepEngine_SetContacts(rbStepEngine* engine, const rbContactSettings* settings);
// Replaces the settings, before the next start: shapes and pairs must be registered again. Counters
// stay.
void rbStepEngine_ChangeContacts(rbStepEngine* engine, const rbContactSettings* settings);
// Where shapes, materials, filters and exclusions of existing contacts are registered.
rbContactPairs* rbStepEngine_GetPairs(const rbStepEngine* engine);
rbContactStatistics rbStepEngine_GetContactStatistics(const rbStepEngine* engine);
// Points that carry load, at the last node; returns how many there are.
bool rbStepEngine_IsResting(const rbStepEngine* engine, int index); // frozen
int rbStepEngine_GetContacts(const rbStepEngine* engine, rbContactView* out, int capacity);

// A joint outside of its limits at the start, by more than the run itself left.
typedef struct rbStartLimit {
    int joint; // the worst; -1: none
    int freedom;
    double position; // rad or m
    double excess;   // rad or m, beyond the limit
} rbStartLimit;

// Defects of the start.
typedef struct rbStartGap {
    int joint;              // worst joint; -1: all hold
    double position;        // m
    double angle;           // rad
    int count;              // of joints apart
    int leftCount;          // of joints apart as the run left them: these are ignored
    bool isStuck;           // assembly was tried and left this: the joints contradict each other
    int other;              // a joint that conflicts with it, -1: unknown
    rbStartOverlap overlap; // of bodies; count 0: none
    rbStartLimit limit;     // reported if all joints hold
} rbStartGap;

// Builds the mechanisms from the states of the host at a time. Returns INVALID when joints are
// apart and that is not allowed, or contradict each other; gap says which.
// Returns UNSUPPORTED and a message when the method does not support a mechanism. The error may be
// NULL. Gap NULL: nothing is checked or moved; the state of a snapshot follows.
rbStatus rbStepEngine_Start(rbStepEngine* engine, const rbStepHost* host, double time,
                            rbStartGap* gap, rbError* error);

// Whether the engine moves a body (it takes part in a mechanism).
bool rbStepEngine_Owns(const rbStepEngine* engine, int index);

// The host changed a body's state or a joint's parameters at a time (states hold the new one): the
// node of its mechanism restarts there.
void rbStepEngine_TouchBody(rbStepEngine* engine, const rbStepHost* host, int index, double time);
void rbStepEngine_TouchJoint(rbStepEngine* engine, const rbStepHost* host, int index, double time);

// Steps up to a time and writes the states of all owned bodies at it. Returns NUMERICAL when a
// tolerance was not met (the run continues), LIMIT when a state stopped being finite: all bodies
// are then at *reached.
rbStatus rbStepEngine_Advance(rbStepEngine* engine, const rbStepHost* host, double time,
                              double* reached);

// A body of the mechanism that failed; -1: none did.
int rbStepEngine_GetFailedBody(const rbStepEngine* engine);

typedef struct rbStepJointResult {
    rbVec3 force;                                   // N, on A at its anchor, mean of the last step
    rbVec3 torque;                                  // N m
    double freedomPositions[RB_JOINT_FREEDOMS_MAX]; // turns counted
    double freedomForces[RB_JOINT_FREEDOMS_MAX];
    double limitPositions[RB_JOINT_FREEDOMS_MAX];
    double limitForces[RB_JOINT_FREEDOMS_MAX]; // of the stops, mean of the last step
    double gap;                                // m and rad, at the last node
} rbStepJointResult;

// At the time of the last advance.
rbStepJointResult rbStepEngine_GetJoint(const rbStepEngine* engine, const rbStepHost* host,
                                        int index);
double rbStepEngine_GetSpringForce(const rbStepEngine* engine, int index);
// How much easier one body of a joint's mechanism yields to a joint than another does, and these
// bodies. Beyond about 1e10 rounding hides the motion of the heavy one.
double rbStepEngine_GetSpread(const rbStepEngine* engine, int index, int* lightBody,
                              int* heavyBody);

// Energy by cause, J, so far.
#define RB_STEP_WORKS(X)                                                              \
    X(load)        /* of loads without a potential */                                 \
    X(motor)       /* motors and velocity-only joints */                              \
    X(dissipation) /* damping and friction */                                         \
    X(assembly)    /* of joints that were apart and are pulled together */            \
    X(impact)      /* of normal impulses of collisions */                             \
    X(friction)    /* of contacts */                                                  \
    /* By numerics: */                                                                \
    X(parted)    /* of separating overlaps and of lasting contacts that push */       \
    X(settled)   /* slow approaches stopped without the rebound due, bodies frozen */ \
    X(truncated) /* not accounted for by the impulses of a stage */                   \
    X(late)      /* bodies that arrived before the end of their step */               \
    X(between)   /* of a time between nodes: nothing lasting */

#define RB_STEP_WORK_FIELD(name) double name;
typedef struct rbStepWork {
    RB_STEP_WORKS(RB_STEP_WORK_FIELD)
} rbStepWork;

rbStepWork rbStepEngine_GetWork(const rbStepEngine* engine);
rbStepStatistics rbStepEngine_GetStatistics(const rbStepEngine* engine); // worstJoint: index + 1

// Right after a start: conditions of joints that follow from the others; and the
// mass (kg or kg m^2) that a force along a freedom of a joint feels while the joints hold, INFINITY
// where it cannot move. Both allocate.
int rbStepEngine_CountRedundant(const rbStepEngine* engine);
double rbStepEngine_GetFreedomMass(const rbStepEngine* engine, int joint, int freedom);

// The spring, or spring of a freedom, with the shortest period of those that oscillate too fast for
// the step, as they were at the start. count 0: none.
typedef struct rbStepStiff {
    int spring;    // -1: it belongs to a joint
    int joint;     // -1: it belongs to a spring
    double period; // s
    int count;     // of all such springs
} rbStepStiff;
rbStepStiff rbStepEngine_GetStiff(const rbStepEngine* engine);

// The changing state, as bytes.
void rbStepEngine_Move(rbStepEngine* engine, rbByteStream* stream);
