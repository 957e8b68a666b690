// Joints as stacks of basic parts, compiled for the frames used by the engine: center of mass and
// principal axes of each body.
#pragma once

#include "base/core/status.h"
#include "base/core/words.h"
#include "dynamics/constraints/rows.h"

#include <rattleback/joint.h>

// One basic part, ready to write rows. Points and axes in the principal frames.
typedef struct rbPartModel {
    rbJointType type; // one of the nine basic ones
    rbVec3 pointA, pointB;
    rbVec3 axisA;     // unit
    rbVec3 axisB;     // unit
    rbVec3 crossA[2]; // unit, with axisA a right-handed triple: rows of line, direction
    rbQuat relative;  // of B relative to A, held by translation
    double distance;  // m; 0 for parts without a distance; the angle, rad, of double rotation
    double sine;      // of that angle
    double cosine;
} rbPartModel;

// The quantity a freedom measures.
typedef enum rbFreedomKind {
    RB_FREEDOM_ANGLE,  // rad, raw in [-pi, pi]
    RB_FREEDOM_TRAVEL, // m
    RB_FREEDOM_SWING,  // rad, 0..pi: between an axis of A and one of B; for limits only
    RB_FREEDOM_TWIST,  // rad, raw in [-pi, pi]: rotation of B about its axis, which swings without
                       // twist; for limits only
} rbFreedomKind;

// An angle is that of a vector of one body about an axis of the other, which defines the axis and
// the vector at which the angle is 0. For a hinge that vector is perpendicular to the axis; for a
// universal joint it is the other axis.
typedef struct rbFreedomModel {
    rbFreedomKind kind;
    rbVec3 axis; // unit: of the principal frame of A, or of B when isAxisOfB (universal)
    bool isAxisOfB;
    rbVec3 referenceA; // unit; angle 0 where both coincide, seen along the axis
    rbVec3 referenceB;
    rbVec3 pointA; // travel: 0 where both are level along the axis
    rbVec3 pointB;
    rbQuat neutral; // twist: orientation of B relative to A, axes aligned, where the twist is 0
} rbFreedomModel;

// A joint. Pure data: may be copied; rows and errors are pure functions of it and two poses.
typedef struct rbJointModel {
    rbJointType type;
    rbPartModel parts[RB_JOINT_PARTS_MAX];
    int partCount, rowCount;
    uint32_t angleMask; // bit i: row i is a rotation
    rbFreedomModel freedoms[RB_JOINT_FREEDOMS_MAX];
    int freedomCount;
} rbJointModel;

// A body as seen by a joint at creation.
typedef struct rbJointSide {
    const char* name;      // of the body, for messages; "world"
    rbTransform transform; // of the body's frame, world
    rbTransform principal; // principal frame in the body's frame; identity for the world
} rbJointSide;

// Compiles a definition (its ids are ignored: the world validates them). INVALID and a message with
// the joint's name and the value when an axis is zero, axes of a double rotation are parallel, rows
// are more than 6 or none, a number is not finite or negative where it must not be, a freedom is
// given for a type without one, a schedule is not increasing, a distance is zero. A zero axis of B
// defaults to A's axis at the current poses, where both are the same axis.
rbStatus rbJointModel_Make(rbJointModel* model, const rbJointDef* def, const rbJointSide* sideA,
                           const rbJointSide* sideB, rbError* error);

// rbBlockRowsFn and rbBlockErrorsFn; data is the rbJointModel. Rows are carried by body A (E-03);
// translational ones act at B's point on both bodies. The error's rate is the row's rate: for
// translational parts and double rotation at every pose, for translation and direction where they
// hold. Errors do not change when both bodies move together.
void rbJointModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                       rbRow* rows);
void rbJointModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                         double* errors);

// Makes the rotational parts hold at the given poses: orientation and axis of B, angle. A joint
// that holds only velocities needs this at the start of every step: far from the poses at which the
// parts hold, rotation vectors and directions do not measure travel (their rate is not the row's,
// and they jump at half a turn).
void rbJointModel_Rezero(rbJointModel* model, const rbRowPose* poseA, const rbRowPose* poseB);

// Points for display: A's anchor (the foot point if there is one) and B's.
void rbJointModel_Points(const rbJointModel* model, const rbRowPose* poseA, const rbRowPose* poseB,
                         rbVec3* pointA, rbVec3* pointB, rbVec3* axis);

// One freedom of a joint as a block of one row: rbBlockRowsFn and rbBlockErrorsFn; data is the
// rbFreedomModel. The error is the position of the freedom: of B relative to A.
void rbFreedomModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                         rbRow* rows);
void rbFreedomModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                           double* errors);

// Limits of a freedom in the form used by the engine.
typedef struct rbLimitModel {
    rbFreedomModel freedom;
    rbVec3 anchorB; // in the principal frame of B: a point of the axis
    double lower;   // -INFINITY: none
    double upper;
    double restitution;
} rbLimitModel;

// The limits of a joint: one for each freedom, two for a ball joint; none if no limit is given.
typedef struct rbJointLimits {
    rbLimitModel models[RB_JOINT_FREEDOMS_MAX];
    int count;
} rbJointLimits;

// The limits of a definition whose model has been created. INVALID and a message when they are not
// in order, the type has none, a value is NaN, or the joint holds no positions.
rbStatus rbMakeLimits(rbJointLimits* limits, const rbJointDef* def, const rbJointModel* model,
                      const rbJointSide* sideA, const rbJointSide* sideB, rbError* error);
// Whether it has any stop.
static inline bool rbLimitModel_IsUsed(const rbLimitModel* limit)
{
    return limit->lower > -INFINITY || limit->upper < INFINITY;
}
// Whether its position counts turns.
static inline bool rbLimitModel_IsTurning(const rbLimitModel* limit)
{
    return limit->freedom.kind == RB_FREEDOM_ANGLE || limit->freedom.kind == RB_FREEDOM_TWIST;
}
// An angle in the turn in which it lies between the limits, if there is one; otherwise unchanged.
double rbLimitModel_ChooseTurn(const rbLimitModel* limit, double angle);

// A spring between two points as a block of one row; the error is the length. No direction at zero
// length: the row is zero there.
typedef struct rbSpringModel {
    rbVec3 pointA; // principal frames
    rbVec3 pointB;
} rbSpringModel;

void rbSpringModel_Rows(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                        rbRow* rows);
void rbSpringModel_Errors(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                          double* errors);

// The same as three blocks of one row each, along the axes of the world: for springs of rest length
// zero, whose force is linear in the displacement from A's point to B's and smooth where it passes
// through zero.
typedef struct rbSpringAxisOps {
    rbBlockRowsFn* rows;
    rbBlockErrorsFn* errors;
} rbSpringAxisOps;

extern const rbSpringAxisOps rbSpringAxes[3];

// The servo of a freedom (B-28).
typedef struct rbMotorModel {
    rbMotorDef def;     // schedule: points to points below
    rbSetPoint* points; // owned
    int pointCount;
} rbMotorModel;

// Its state: part of a snapshot.
typedef struct rbMotorState {
    double integral;  // of e over the window, times s
    double lastError; // of RB_MOTOR_SPEED with a derivative part
    double lastTime;  // s, time of lastError
    double memory[2]; // of a registered motor
    bool hasLast;
} rbMotorState;

void rbMotorModel_Make(rbMotorModel* motor, const rbMotorDef* def); // copies the schedule
void rbMotorModel_Free(rbMotorModel* motor);
double rbMotorModel_Target(const rbMotorModel* motor, double time);
// Whether it is a force that is sampled once per step.
static inline bool rbMotorType_IsServo(rbMotorType type)
{
    return type != RB_MOTOR_NONE && type != RB_MOTOR_VELOCITY;
}
// The force of a PID row (not for NONE and VELOCITY) for the next step of size h from position and
// velocity at its start, and the updated state. The integral is exponentially weighted with the
// time constant def.window (no buffer of unbounded length); while the force is at its limit and the
// error pushes further, it is frozen. de/dt is the slope of the set points minus the velocity for
// RB_MOTOR_POSITION, a difference of errors for RB_MOTOR_SPEED. Call it once per step; for trial
// steps pass a copy of the state.
double rbMotorModel_Force(const rbMotorModel* motor, rbMotorState* state, double time, double h,
                          double position, double velocity);

RB_DECLARE_WORDS(rbMotorType);
