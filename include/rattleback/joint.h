/// @file
/// Joints, springs, motors, and the settings of the step engine that holds them together.
///
/// A joint removes degrees of freedom between two bodies, or between a body and the world (a null
/// id). It is a stack of basic parts, listed in the table of joint types. Points and axes are
/// stored in the frames of the bodies; rbJointDef_SetAnchor and _SetAxis compute them from world
/// coordinates at the current poses.
///
/// Only the step engine supports joints (rbWorldDef.engine = RB_ENGINE_STEP); with another engine
/// rbWorld_Prepare and advancing fail (UNSUPPORTED). Destroying a body also destroys its joints and
/// springs. See docs/modules/joints.md and docs/modules/step.md.
#ifndef RATTLEBACK_JOINT_H
#define RATTLEBACK_JOINT_H

#include <rattleback/body.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which degrees of freedom a joint removes.
typedef enum rbJointType {
    RB_JOINT_BALL,            ///< points coincide: removes 3 translations
    RB_JOINT_LINE,            ///< B's point on a line of A: 2 translations
    RB_JOINT_PLANE,           ///< B's point in a plane of A: 1 translation
    RB_JOINT_DISTANCE,        ///< points at a distance: 1
    RB_JOINT_LINE_DISTANCE,   ///< B's point at a distance from a line of A: 1
    RB_JOINT_PLANE_DISTANCE,  ///< B's point at a signed distance from a plane of A: 1
    RB_JOINT_TRANSLATION,     ///< no relative rotation: 3 rotations
    RB_JOINT_DIRECTION,       ///< a common axis: 2 rotations
    RB_JOINT_DOUBLE_ROTATION, ///< a constant angle between an axis of A and one of B: 1 rotation
    RB_JOINT_HINGE,           ///< ball + direction
    RB_JOINT_HINGE_POINTS,    ///< equivalent: ball + line through a second point of the axis
    RB_JOINT_CYLINDRICAL,     ///< line + direction (rail-hinge)
    RB_JOINT_PRISMATIC,       ///< line + translation (rail)
    RB_JOINT_UNIVERSAL,       ///< ball + double rotation (cardan)
    RB_JOINT_FIXED,           ///< ball + translation (weld)
    RB_JOINT_PARTS,           ///< the parts given in the definition
    RB_JOINT_COUNT
} rbJointType;

/// "ball", "line", "plane", "distance", "line-distance", "plane-distance", "translation",
/// "direction", "double-rotation", "hinge", "hinge-points", "cylindrical", "prismatic",
/// "universal", "fixed", "parts".
RB_API const char* rbJointType_Name(rbJointType type);
/// Also finds the names that engineers use: spherical, revolute, rail-hinge, rail, slider, cardan,
/// weld, fixation, rod. rbJointType_GetCount() if unknown.
RB_API rbJointType rbJointType_Find(const char* name);
/// Number of types: RB_JOINT_COUNT and the registered ones.
RB_API int rbJointType_GetCount(void);
/// Scalar conditions of a type, 1 to 6 (0 for PARTS, where it depends on the
/// parts, and for types that do not exist).
RB_API int rbJointType_GetRowCount(rbJointType type);

/// Maximum number of parts of a joint.
#define RB_JOINT_PARTS_MAX 6
/// Maximum number of freedoms of a joint with springs, motors or limits.
#define RB_JOINT_FREEDOMS_MAX 2

/// One part of a joint of type RB_JOINT_PARTS: a basic type, the first nine of the table.
typedef struct rbJointPart {
    rbJointType type; ///< a basic type
    rbVec3 anchorA;   ///< m, frame of A
    rbVec3 anchorB;   ///< m, frame of B
    rbVec3 axisA;     ///< frame of A; need not be unit
    rbVec3 axisB;     ///< frame of B
    double distance;  ///< m, of the distance types
} rbJointPart;

/// What a motor does.
typedef enum rbMotorType {
    RB_MOTOR_NONE,     ///< no motor
    RB_MOTOR_POSITION, ///< PID on angle (rad) or travel (m)
    RB_MOTOR_SPEED,    ///< PID on angular speed (rad/s) or speed (m/s)
    RB_MOTOR_VELOCITY, ///< holds the speed exactly, within forceMax (velocity joint)
    RB_MOTOR_COUNT     ///< number of built-in types; registered ones come after them
} rbMotorType;

RB_API const char* rbMotorType_Name(rbMotorType type); ///< "none", "position", "speed", "velocity"
/// The type of a name; rbMotorType_GetCount() if unknown.
RB_API rbMotorType rbMotorType_Find(const char* name);
/// Number of types: RB_MOTOR_COUNT and the registered ones.
RB_API int rbMotorType_GetCount(void);

/// One set point of the schedule of a motor.
typedef struct rbSetPoint {
    double time;  ///< s, ascending
    double value; ///< rad, m, rad/s or m/s
} rbSetPoint;

/// Maximum number of set points of a schedule.
#define RB_SET_POINTS_MAX 4096

/// A servo motor on a freedom of a joint. With e = set point - actual value at the start of each
/// step, the PID types apply a constant force or torque over the step:
///   gain (e + integral of e / integralTime + derivativeTime de/dt), at most forceMax.
typedef struct rbMotorDef {
    rbMotorType type;      ///< controlled quantity
    double gain;           ///< K_r, N m/rad, N/m, N m s/rad or N s/m; > 0 for the PID types
    double integralTime;   ///< T_N, s; 0: no integral part
    double derivativeTime; ///< T_V, s; 0: no derivative part
    double window;         ///< s of history in the integral; 0: all
    double forceMax;       ///< N m or N, > 0; INFINITY: no limit. At the limit the integral is held
    double target;         ///< set point if there is no schedule
    const rbSetPoint* schedule; ///< set points, interpolated linearly, constant beyond the ends;
    int scheduleCount;          ///< copied; 0: target
} rbMotorDef;

/// What a registered motor knows at the start of a step.
typedef struct rbMotorInput {
    double time;       ///< s
    double step;       ///< s, for which the force acts
    double target;     ///< rad, m, rad/s or m/s: the set point
    double targetRate; ///< of the set point, per s
    double position;   ///< rad or m, of the freedom
    double velocity;   ///< rad/s or m/s
} rbMotorInput;

/// A kind of servo motor: a row of the table of motors.
typedef struct rbMotorRow {
    const char* name;    ///< in scenes and messages: "bang-bang"
    const char* meaning; ///< a sentence for users
    /// Force (N) or torque (N m) that acts over the step, which is then limited to def->forceMax.
    /// The row decides what gain, integralTime, derivativeTime and window of def mean; gain is
    /// positive. memory is 0 at first, belongs to the motor and is part of snapshots. Must be a
    /// pure function of its arguments; trial steps call it with a copy of the memory.
    double (*force)(const rbMotorDef* def, const rbMotorInput* input, double memory[2]);
} rbMotorRow;

/// Adds a kind of motor to the table; scenes and rbMotorType_Find then know it by its name. The row
/// is borrowed for the rest of the process. Call it from one thread before the first world is
/// created. INVALID for an incomplete row or a name that is empty or taken, LIMIT if the table is
/// full. error may be NULL.
RB_API rbStatus rbRegisterMotor(const rbMotorRow* row, rbError* error);

/// What acts along a freedom that a joint leaves: the angle of a hinge; the travel of a prismatic
/// joint; travel and angle, in this order, of a cylindrical joint; the angles about the axes of A
/// and B of a universal joint. The other types have none.
typedef struct rbFreedomDef {
    double stiffness; ///< N m/rad or N/m, >= 0: a spring
    double rest;      ///< rad or m, where the spring is at rest
    double damping;   ///< N m s/rad or N s/m, >= 0
    double friction;  ///< N m or N, >= 0: dry friction, sticks below it
    rbMotorDef motor; ///< default none
} rbFreedomDef;

/// Stops of a freedom: its position stays between lower and upper. A stop pushes, never pulls,
/// returns a part of the speed of what hits it, and supports what is pressed against it. Angles
/// count full turns. Needs step.order 2 and the method impulses; contacts of shapes may be off.
typedef struct rbLimitDef {
    double lower;       ///< rad or m; -INFINITY: no stop
    double upper;       ///< rad or m, >= lower; INFINITY: no stop
    double restitution; ///< 0..1, for both stops
} rbLimitDef;

/// How the equations of a mechanism are solved.
typedef enum rbSolverType {
    RB_SOLVER_AUTO,      ///< chosen for each mechanism
    RB_SOLVER_ITERATIVE, ///< joint after joint, sweep after sweep
    RB_SOLVER_DIRECT,    ///< one sparse factorization per instant; handles loops and redundancy
    RB_SOLVER_TREE,      ///< linear time; loops are cut and corrected joint by joint
    RB_SOLVER_COUNT      ///< number of built-in solvers; registered ones are numbered from here
} rbSolverType;

RB_API const char* rbSolverType_Name(rbSolverType type); ///< "auto", "iterative", "direct", ...
/// The solver of a name; rbSolverType_GetCount() if it is unknown.
RB_API rbSolverType rbSolverType_Find(const char* name);
/// Number of built-in and registered solvers; for that of the laboratory see lab_joints.h.
RB_API int rbSolverType_GetCount(void);

/// A joint; make it with rbDefaultJointDef.
typedef struct rbJointDef {
    uint32_t cookie;  ///< set by rbDefaultJointDef
    const char* name; ///< copied; NULL or unique among joints and springs
    rbJointType type; ///< default ball
    rbBodyId bodyA;   ///< null: the world
    rbBodyId bodyB;   ///< null: the world; at most one is null
    rbVec3 anchorA;   ///< m, frame of A (null: world coordinates)
    rbVec3 anchorB;   ///< m, frame of B
    rbVec3 axisA; ///< of line, plane normal, hinge, rail; first axis of double rotation; frame of A
    rbVec3 axisB; ///< the same in the frame of B; second axis of double rotation
    rbQuat orientation;    ///< of B's frame relative to A's, which translation, prismatic and fixed
                           ///< joints hold; zero of angles; all zero: as the bodies are now
    double distance;       ///< m, held by the distance types. Negative: as the bodies are now;
                           ///< the angle of double rotation is always as the bodies are now
    bool isVelocityOnly;   ///< only the relative velocity is held, not the position (B-29)
    rbVec3 linearVelocity; ///< m/s, of B's point relative to A's, world axes; velocity-only
    rbVec3 angularVelocity; ///< rad/s, of B relative to A, world axes; velocity-only. Only the
                            ///< removed freedoms are held: a hinge turns freely about its axis
    double forceMax;        ///< N and N m, per row; velocity-only; INFINITY: no limit
    rbFreedomDef
        freedoms[RB_JOINT_FREEDOMS_MAX]; ///< springs, damping, friction and motors of the freedoms
    rbLimitDef limits[RB_JOINT_FREEDOMS_MAX]; ///< of the freedoms. A ball joint has limits, too:
                                              ///< the angle from axisA to axisB, 0 to pi (upper:
                                              ///< half the opening of the cone about axisA that
                                              ///< axisB stays in), and the twist of B about axisB
    const rbJointPart* parts;                 ///< RB_JOINT_PARTS: at most 6 rows in all; copied
    int partCount;                            ///< of parts, at most RB_JOINT_PARTS_MAX
    bool areNeighborsMeeting; ///< true: its two bodies collide with each other, which they
                              ///< do not by default (rbContactSettings.areNeighborsMeeting)
    rbSolverType solver;      ///< of its mechanism, if not that of the world: the first joint of a
                              ///< mechanism that names one decides; auto
    void* userData;           ///< returned by rbJoint_GetUserData; not used by the library
} rbJointDef;

/// Fills in the defaults; called by rbDefaultJointDef.
RB_API void rbInitJointDef(rbJointDef* def, uint32_t abi, size_t size);
/// A ball joint without bodies; axes zero, orientation and distance as the bodies are now, no
/// limits on forces and positions.
static inline rbJointDef rbDefaultJointDef(void)
{
    rbJointDef def;
    rbInitJointDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}
/// Sets both anchors from a world point (m) at the current poses.
RB_API void rbJointDef_SetAnchor(rbJointDef* def, const rbWorld* world, rbVec3 point);
/// Sets both axes from a world direction at the current poses.
RB_API void rbJointDef_SetAxis(rbJointDef* def, const rbWorld* world, rbVec3 axis);

/// Null id and an error for: a missing body, a body with itself, two bodies that nothing moves, a
/// dynamic body without mass, a taken name, a zero axis, parallel axes of a double rotation, more
/// than 6 rows, negative or non-finite numbers, limits that the type lacks, in the wrong order or
/// on a velocity-only joint. A start outside the limits is rejected by rbWorld_Prepare.
RB_API rbJointId rbCreateJoint(rbWorld* world, const rbJointDef* def, rbError* error);
/// Removes a joint.
RB_API void rbDestroyJoint(rbWorld* world, rbJointId jointId);
/// True if the id names a joint that exists in this world.
RB_API bool rbJoint_IsValid(const rbWorld* world, rbJointId jointId);
/// Number of joints.
RB_API int rbWorld_GetJointCount(const rbWorld* world);
/// Writes at most capacity ids in order of creation; returns the number of joints.
RB_API int rbWorld_GetJointIds(const rbWorld* world, rbJointId* ids, int capacity);
RB_API rbJointId rbWorld_FindJoint(const rbWorld* world, const char* name); ///< null if none
/// Name of a joint, "" if it has none.
RB_API const char* rbJoint_GetName(const rbWorld* world, rbJointId jointId);
/// Type of a joint.
RB_API rbJointType rbJoint_GetType(const rbWorld* world, rbJointId jointId);
/// Scalar conditions on positions, 1 to 6; 0 if it is velocity-only.
RB_API int rbJoint_GetConditionCount(const rbWorld* world, rbJointId jointId);
/// First body; null: the world.
RB_API rbBodyId rbJoint_GetBodyA(const rbWorld* world, rbJointId jointId);
/// Second body; null: the world.
RB_API rbBodyId rbJoint_GetBodyB(const rbWorld* world, rbJointId jointId);
/// The user data pointer of the definition.
RB_API void* rbJoint_GetUserData(const rbWorld* world, rbJointId jointId);
/// Changes the pointer that rbJoint_GetUserData returns.
RB_API void rbJoint_SetUserData(rbWorld* world, rbJointId jointId, void* userData);

/// One basic part of a joint as it is held: what the definition left open is resolved.
typedef struct rbHeldPart {
    rbJointType type; ///< a basic type
    rbVec3 anchorA;   ///< m, frame of A (of the world if there is no body)
    rbVec3 anchorB;   ///< m, frame of B
    rbVec3 axisA;     ///< unit, frame of A
    rbVec3 axisB;     ///< unit, frame of B
    rbQuat relative;  ///< orientation of B's frame relative to A's (translation)
    double distance;  ///< m (distances), rad (double rotation), otherwise 0
} rbHeldPart;

/// Writes the parts of a joint, at most RB_JOINT_PARTS_MAX; returns their number, 0 for a joint
/// that holds velocities only.
RB_API int rbJoint_GetHeldParts(const rbWorld* world, rbJointId jointId, rbHeldPart* parts);

/// A joint at the world's time.
typedef struct rbJointState {
    rbVec3 pointA;        ///< m, world: A's anchor (on lines and planes: foot of B's anchor)
    rbVec3 pointB;        ///< m, world: B's anchor
    rbVec3 axis;          ///< unit, world: A's axis; zero if it has none
    double positionError; ///< m: how far the translational conditions are off; 0 if velocity-only
    double angleError;    ///< rad: the rotational ones
    rbVec3 force;         ///< N, world, on A at pointA, mean over the last step of the engine
    rbVec3 torque;        ///< N m, world, on A in addition to the force, likewise
    int freedomCount;     ///< 0..2
    double freedomPositions[RB_JOINT_FREEDOMS_MAX];  ///< rad (counting full turns) or m
    double freedomVelocities[RB_JOINT_FREEDOMS_MAX]; ///< rad/s or m/s
    double freedomForces[RB_JOINT_FREEDOMS_MAX];     ///< N m or N of spring, damping, friction and
                                                     ///< motor, mean over the last step; positive
                                                     ///< raises the position
    double motorTargets[RB_JOINT_FREEDOMS_MAX];      ///< set points now
    int limitCount;                                  ///< freedoms; 2 for a ball joint with limits
    double limitPositions[RB_JOINT_FREEDOMS_MAX];    ///< rad or m: what the limits bound
    double limitForces[RB_JOINT_FREEDOMS_MAX];       ///< N m or N of the stops, mean over the last
                                                     ///< step; positive raises the position
} rbJointState;

/// All zero if the joint no longer exists. For other functions passing such an id is a bug of the
/// caller, as for bodies.
RB_API rbJointState rbJoint_GetState(const rbWorld* world, rbJointId jointId);
/// Changes the set point of a motor permanently (ends its schedule).
RB_API rbStatus rbJoint_SetMotorTarget(rbWorld* world, rbJointId jointId, int freedom,
                                       double target, rbError* error);
/// What acts along a freedom now: spring, damping, friction, motor.
RB_API rbFreedomDef rbJoint_GetFreedom(const rbWorld* world, rbJointId jointId, int freedom);
/// Changes what acts along a freedom from now on. The motor may keep the schedule of the joint (as
/// returned by rbJoint_GetFreedom) or have none: then its target holds. The integral of a motor
/// continues unless its type changes. INVALID where rbCreateJoint would fail, UNSUPPORTED for
/// another schedule.
RB_API rbStatus rbJoint_SetFreedom(rbWorld* world, rbJointId jointId, int freedom,
                                   const rbFreedomDef* def, rbError* error);
/// Whether a freedom is an angle (rad); otherwise it is a travel (m).
RB_API bool rbJoint_IsFreedomAngle(const rbWorld* world, rbJointId jointId, int freedom);
/// Limits of a freedom; for a ball joint, 0 is the cone and 1 the twist.
RB_API rbLimitDef rbJoint_GetLimit(const rbWorld* world, rbJointId jointId, int freedom);
/// Changes the limits of a freedom from now on. INVALID where rbCreateJoint would reject them, or
/// if the position is outside them.
RB_API rbStatus rbJoint_SetLimit(rbWorld* world, rbJointId jointId, int freedom,
                                 const rbLimitDef* limit, rbError* error);
/// Changes the velocity that a velocity-only joint holds.
RB_API rbStatus rbJoint_SetVelocity(rbWorld* world, rbJointId jointId, rbVec3 linearVelocity,
                                    rbVec3 angularVelocity, rbError* error);

/// How a motor behaves given the mechanism and the step size, right after rbWorld_Prepare.
typedef struct rbMotorValidation {
    rbMotorType type;      ///< of the motor; NONE: the rest is not set
    double gain;           ///< as given
    double derivativeTime; ///< s, as given
    double mass;           ///< effective mass, kg or kg m^2, with joints held and springs and
                           ///< other motors idle; INFINITY: the freedom cannot move
    double gainMax; ///< above it the force overshoots more with every step; INFINITY: no bound
    double stepMax; ///< s: smaller steps support the gain; 0: none does
    double growth;  ///< 1/s: growth rate of oscillations about the set point because the
                    ///< force is half a step late; 0: they do not grow
    double derivativeTimeMin; ///< s: from this value they do not grow
} rbMotorValidation;

/// Checks the motor of a freedom at the initial poses; costs a factorization and allocates.
RB_API rbMotorValidation rbJoint_ValidateMotor(const rbWorld* world, rbJointId jointId,
                                               int freedom);
/// Number of scalar joint conditions that follow from the others at the initial poses, right after
/// rbWorld_Prepare; velocity-only joints and motors are not counted. Found by the direct solver,
/// whichever solver the steps use; costs a factorization and allocates.
RB_API int rbWorld_CountRedundantConditions(const rbWorld* world);

/// A damped spring between two points: pulls with stiffness (distance - restLength) + damping times
/// the rate of separation. With zero rest length it may swing through zero; its damping, which
/// needs a direction, is not smooth there.
typedef struct rbSpringDef {
    uint32_t cookie;   ///< set by rbDefaultSpringDef
    const char* name;  ///< copied; NULL or unique among joints and springs
    rbBodyId bodyA;    ///< null: the world; at most one is null
    rbBodyId bodyB;    ///< null: the world; at most one is null
    rbVec3 anchorA;    ///< m, frame of A
    rbVec3 anchorB;    ///< m, frame of B (null: world coordinates)
    double restLength; ///< m; negative: as the bodies are now
    double stiffness;  ///< N/m, >= 0
    double damping;    ///< N s/m, >= 0
} rbSpringDef;

/// Fills in the defaults; called by rbDefaultSpringDef.
RB_API void rbInitSpringDef(rbSpringDef* def, uint32_t abi, size_t size);
/// A spring without bodies, with zero stiffness and damping.
static inline rbSpringDef rbDefaultSpringDef(void)
{
    rbSpringDef def;
    rbInitSpringDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}
/// Adds a spring. Returns the null id and fills error (may be NULL) when a value is unusable.
RB_API rbSpringId rbCreateSpring(rbWorld* world, const rbSpringDef* def, rbError* error);
/// Removes a spring.
RB_API void rbDestroySpring(rbWorld* world, rbSpringId springId);

/// A spring at the world's time.
typedef struct rbSpringState {
    rbVec3 pointA; ///< m, world
    rbVec3 pointB; ///< m, world: B's anchor
    double length; ///< m
    double speed;  ///< m/s, rate of separation
    double force;  ///< N, positive pulls, mean over the last step (rest length zero: of the vector)
    double energy; ///< J
} rbSpringState;

/// Length, force and end points at the world's time.
RB_API rbSpringState rbSpring_GetState(const rbWorld* world, rbSpringId springId);
/// True if the id names a spring that exists in this world.
RB_API bool rbSpring_IsValid(const rbWorld* world, rbSpringId springId);
/// Number of springs.
RB_API int rbWorld_GetSpringCount(const rbWorld* world);
/// Writes at most capacity ids in order of creation; returns the number of springs.
RB_API int rbWorld_GetSpringIds(const rbWorld* world, rbSpringId* ids, int capacity);
RB_API rbSpringId rbWorld_FindSpring(const rbWorld* world, const char* name); ///< null if none
/// Name of a spring, "" if it has none.
RB_API const char* rbSpring_GetName(const rbWorld* world, rbSpringId springId);
RB_API rbBodyId rbSpring_GetBodyA(const rbWorld* world, rbSpringId springId); ///< null: the world
/// Second body; null: the world.
RB_API rbBodyId rbSpring_GetBodyB(const rbWorld* world, rbSpringId springId);
/// The current definition; the name is borrowed.
RB_API rbSpringDef rbSpring_GetDef(const rbWorld* world, rbSpringId springId);
/// Changes the law from now on, validated as by rbCreateSpring: N/m, N s/m, m (negative: as the
/// bodies are now).
RB_API rbStatus rbSpring_SetLaw(rbWorld* world, rbSpringId springId, double stiffness,
                                double damping, double restLength, rbError* error);

/// A spring that oscillates too fast for the steps, see rbWorld_FindStiffSpring.
typedef struct rbStiffSpring {
    rbSpringId spring; ///< null: it belongs to a joint
    rbJointId joint;   ///< null: it is a spring between points
    double period;     ///< s
    double stepMax;    ///< s, steps that follow it: 1 % error of the period
    int count;         ///< of all such springs; 0: none
} rbStiffSpring;

/// The spring, or spring of a joint, with the shortest period among those that turn by more than a
/// radian per step of the step engine, at the last start; those damped more than critically do not
/// count. Where there is one, an advance after which the energy has drifted by more than 1 % of the
/// largest so far reports RB_STATUS_NUMERICAL.
RB_API rbStiffSpring rbWorld_FindStiffSpring(const rbWorld* world);

/// Pulls a point of a dynamic body toward a pointer by a velocity joint that yields to the joints
/// (B-30). A drag is a velocity-only ball joint from the world (A) to the body (B); end it with
/// rbDestroyJoint. forceMax in N, INFINITY: no limit.
RB_API rbJointId rbWorld_StartDrag(rbWorld* world, rbBodyId bodyId, rbVec3 worldPoint,
                                   double forceMax, rbError* error);
/// Moves the pointer to a point, to be reached within a duration > 0. The required speed is held
/// until the next move. INVALID, and nothing changes, if a value is not finite or the duration not
/// positive.
RB_API rbStatus rbWorld_MoveDrag(rbWorld* world, rbJointId dragId, rbVec3 worldPoint,
                                 double duration);

#ifdef __cplusplus
}
#endif

#endif
