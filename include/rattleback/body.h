/// @file
/// Bodies, their shapes and materials, prescribed paths, and the forces that act on bodies.
///
/// Ids. A function that returns a status refuses a null id and the id of what was destroyed with
/// INVALID and changes nothing. Passing one to another function is a bug of the caller: debug
/// builds assert, release builds do not check. Pointers must not be NULL unless stated otherwise.
///
/// Frames. The creator of a body defines its frame: shapes are placed in it, and the pose of the
/// body is the pose of this frame. Internally the library integrates the center of mass and the
/// principal axes; the API converts. Linear velocity always means that of the center of mass;
/// angular velocity is in world coordinates unless the name says Local.
#ifndef RATTLEBACK_BODY_H
#define RATTLEBACK_BODY_H

#include <rattleback/base.h>
#include <rattleback/id.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A world; opaque, see world.h.
typedef struct rbWorld rbWorld;

/// How a body moves.
typedef enum rbBodyType {
    RB_BODY_STATIC,    ///< never moves
    RB_BODY_KINEMATIC, ///< follows its prescribed path regardless of forces and impulses
    RB_BODY_DYNAMIC,   ///< moved by forces and impulses
    RB_BODY_TYPE_COUNT
} rbBodyType;

/// How the free flight of a body is computed. See docs/modules/motion.md for orders and costs.
typedef enum rbMotionType {
    RB_MOTION_AUTO,      ///< exact where possible, otherwise Cash-Karp
    RB_MOTION_EXACT,     ///< closed form with elliptic functions; needs a torque-free body
    RB_MOTION_TAYLOR,    ///< Taylor series of the stated degree, fixed steps; constant loads only
    RB_MOTION_RK4,       ///< classical Runge-Kutta, fixed steps
    RB_MOTION_CASH_KARP, ///< Runge-Kutta 5(4), adaptive steps to the stated tolerance
    RB_MOTION_EULER,     ///< first order, for comparison
    RB_MOTION_COUNT
} rbMotionType;

RB_API const char* rbMotionType_Name(rbMotionType type); ///< "auto", "exact", "taylor", ...
RB_API rbMotionType rbMotionType_Find(const char* name); ///< RB_MOTION_COUNT if unknown

// clang-format off
/// The settings of free flight, one per row (see RB_SETTING_FIELD).
#define RB_MOTION_SETTINGS(X) \
    X(rbMotionType, type, "type", RB_MOTION_AUTO, RB_WORDS(rbMotionType), "", \
      "how free flight is computed; auto: exact if possible, otherwise cash-karp; exact: " \
      "closed form, needs a torque-free body; taylor, rk4, euler: fixed steps; cash-karp: " \
      "adaptive steps") \
    X(double, step, "step", 1e-3, RB_FROM(1e-12, 1e12), "s", \
      "length of fixed steps") \
    X(int, degree, "degree", 8, RB_FROM(1, 30), "", \
      "degree of the series of taylor") \
    X(double, tolerance, "tolerance", 1e-12, RB_FROM(1e-14, 1e-2), "", \
      "relative error of a step of cash-karp")
// clang-format on

/// How the free flight of bodies is computed. In a body definition, zero members mean the world's.
typedef struct rbMotionSettings {
    RB_MOTION_SETTINGS(RB_SETTING_FIELD)
} rbMotionSettings;

/// How a kinematic body moves. It starts at the position and orientation of the body.
typedef enum rbPathType {
    RB_PATH_LINE,  ///< straight at constant speed, optionally up to a last point
    RB_PATH_CURVE, ///< cubic Hermite curve through points, Catmull-Rom inner tangents, constant
                   ///< speed
    RB_PATH_COUNT
} rbPathType;

/// Maximum number of points of a path.
#define RB_PATH_POINTS_MAX 1024

/// A prescribed path of the body's origin, in world coordinates; in addition, the body rotates
/// about its origin with a constant angular velocity. Before the start time and after the end of
/// the path the origin stands still; the rotation continues.
typedef struct rbPathDef {
    rbPathType type;      ///< line or curve
    double speed;         ///< m/s, >= 0
    const rbVec3* points; ///< the points after the first, which is the body's position. Line: none
    int pointCount;       ///<   (continues forever along direction) or 1 (its end); curve:
                          ///<   1..RB_PATH_POINTS_MAX; borrowed for the call
    rbVec3 direction;     ///< line without end point: any non-zero vector
    rbVec3 startTangent;  ///< curve: Hermite tangents at the two ends; zero means toward
    rbVec3 endTangent;    ///<   the next point
    double tangentFactor; ///< curve: inner tangent = factor * (next - previous); 0.5 is Catmull-Rom
    bool isClosed;        ///< curve: returns to its first point and repeats
    rbVec3 angularVelocity; ///< rad/s, world frame, constant
    double startTime;       ///< s
} rbPathDef;

/// A line at speed 0 starting at time 0.
RB_API rbPathDef rbDefaultPathDef(void);

/// A body's definition; make it with rbDefaultBodyDef.
typedef struct rbBodyDef {
    uint32_t cookie;              ///< set by rbDefaultBodyDef
    const char* name;             ///< copied; NULL, or unique in the world, at most 63 bytes
    rbBodyType type;              ///< default dynamic
    rbVec3 position;              ///< m, of the body's origin
    rbQuat orientation;           ///< unit (normalized by the library within 1e-6)
    rbVec3 linearVelocity;        ///< m/s, of the center of mass
    rbVec3 angularVelocity;       ///< rad/s, world frame
    const rbMassProperties* mass; ///< explicit mass, center and inertia in the body's frame,
                                  ///< copied; NULL: from the shapes
    const rbPathDef* path;        ///< of kinematic bodies; NULL: stands still
    rbMotionSettings motion;      ///< zero fields (AUTO, step 0, ...) mean "as in the world"
    double growth;  ///< m/s: the event engine rounds the shapes by a ball of this rate times the
                    ///< world's time; mass and inertia are unchanged; 0: the shapes keep their size
    void* userData; ///< returned by rbBody_GetUserData; not used by the library
} rbBodyDef;

/// Fills in the defaults; called by rbDefaultBodyDef.
RB_API void rbInitBodyDef(rbBodyDef* def, uint32_t abi, size_t size);
/// A dynamic body at rest at the origin, mass from its shapes.
static inline rbBodyDef rbDefaultBodyDef(void)
{
    rbBodyDef def;
    rbInitBodyDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}

/// The pose and velocities of a body at one time.
typedef struct rbBodyState {
    rbTransform transform;       ///< of the body's frame
    rbVec3 center;               ///< m, center of mass, world
    rbVec3 linearVelocity;       ///< m/s, of the center of mass
    rbVec3 angularVelocity;      ///< rad/s, world
    rbVec3 angularVelocityLocal; ///< rad/s, in the axes of the body's frame
} rbBodyState;

/// Creates a body. Returns the null id and fills error (may be NULL) if a value is unusable.
/// A dynamic body has no mass before its first shape unless def.mass is given.
RB_API rbBodyId rbCreateBody(rbWorld* world, const rbBodyDef* def, rbError* error);
RB_API void rbDestroyBody(rbWorld* world, rbBodyId bodyId); ///< with its forces, joints, springs
/// True if the id names a body that exists in this world.
RB_API bool rbBody_IsValid(const rbWorld* world, rbBodyId bodyId);

RB_API const char* rbBody_GetName(const rbWorld* world, rbBodyId bodyId); ///< "" if it has none
/// Static, kinematic or dynamic.
RB_API rbBodyType rbBody_GetType(const rbWorld* world, rbBodyId bodyId);
/// The user data pointer of the definition.
RB_API void* rbBody_GetUserData(const rbWorld* world, rbBodyId bodyId);
/// Changes the pointer that rbBody_GetUserData returns.
RB_API void rbBody_SetUserData(rbWorld* world, rbBodyId bodyId, void* userData);
RB_API double rbBody_GetGrowth(const rbWorld* world, rbBodyId bodyId); ///< m/s, see rbBodyDef

/// State at the world's time.
RB_API rbBodyState rbBody_GetState(const rbWorld* world, rbBodyId bodyId);

/// State at any time not before the start of the body's current flight; changes nothing
/// (look-ahead). Constant cost for exact motion. For a body with joints: at any time not before the
/// world's, as if it flew freely from now on.
RB_API rbBodyState rbBody_GetStateAt(const rbWorld* world, rbBodyId bodyId, double time);

/// World position (m) of a point fixed in the body's frame, at a time (s).
RB_API rbVec3 rbBody_GetPointAt(const rbWorld* world, rbBodyId bodyId, rbVec3 localPoint,
                                double time);
/// World direction of a vector fixed in the body's frame, at a time (s).
RB_API rbVec3 rbBody_GetDirectionAt(const rbWorld* world, rbBodyId bodyId, rbVec3 localDirection,
                                    double time);

/// Velocity of the world point that is fixed to the body, at the world's time.
RB_API rbVec3 rbBody_GetPointVelocity(const rbWorld* world, rbBodyId bodyId, rbVec3 worldPoint);

/// Sets pose and velocities; a new flight starts at the world's time and the journal records the
/// change of energy.
RB_API rbStatus rbBody_SetState(rbWorld* world, rbBodyId bodyId, rbTransform transform,
                                rbVec3 linearVelocity, rbVec3 angularVelocity, rbError* error);

/// Applies an impulse (N s) at a world point; a new flight starts and the journal records the
/// change of energy. Has no effect on static and kinematic bodies. INVALID, and nothing changes, if
/// the velocities or the energy would not be finite.
RB_API rbStatus rbBody_ApplyImpulse(rbWorld* world, rbBodyId bodyId, rbVec3 impulse,
                                    rbVec3 worldPoint);
/// The same with an angular impulse (N m s).
RB_API rbStatus rbBody_ApplyAngularImpulse(rbWorld* world, rbBodyId bodyId, rbVec3 impulse);

/// Mass, center and inertia in the body's frame; the mass is 0 for static and kinematic bodies.
RB_API rbMassProperties rbBody_GetMass(const rbWorld* world, rbBodyId bodyId);
/// Principal moments (kg m^2) and their frame relative to the body's frame.
RB_API rbVec3 rbBody_GetPrincipalMoments(const rbWorld* world, rbBodyId bodyId, rbTransform* frame);
/// The motion type in use, and whether the loads forced another one than requested.
RB_API rbMotionType rbBody_GetMotion(const rbWorld* world, rbBodyId bodyId, bool* isFallback);
/// A box that contains the center of mass and every point of the body between two times from now
/// on; false if no bound is known (a force without one acts).
RB_API bool rbBody_GetMotionBounds(const rbWorld* world, rbBodyId bodyId, double timeA,
                                   double timeB, rbBounds* bounds);

/// Hands a geometry over to the world: shapes share it; it is destroyed with the world, or earlier
/// by rbWorld_DestroyGeometry, which fails (RB_STATUS_INVALID) while a shape uses it. NULL gives
/// the null id, so the result of a failed creation may be passed on.
RB_API rbGeometryId rbWorld_AddGeometry(rbWorld* world, rbGeometry* geometry);
/// Destroys a geometry before its world; INVALID while a shape uses it.
RB_API rbStatus rbWorld_DestroyGeometry(rbWorld* world, rbGeometryId geometryId, rbError* error);
/// The geometry of an id; borrowed.
RB_API const rbGeometry* rbWorld_GetGeometry(const rbWorld* world, rbGeometryId geometryId);

// clang-format off
/// What a material is, a row each (see RB_SETTING_FIELD).
#define RB_MATERIAL_SETTINGS(X) \
    X(double, density, "density", 1000.0, RB_ABOVE(0.0, 1e30), "kg/m^3", "mass per volume") \
    X(double, restitution, "restitution", 0.5, RB_FROM(0.0, 1.0), "", \
      "fraction of the approach speed after a rebound; combined for two materials") \
    X(double, friction, "friction", 0.5, RB_FROM(0.0, 1e12), "", \
      "Coulomb coefficient of sliding; combined for two materials") \
    X(double, stiction, "stiction", -1.0, RB_FROM(-1.0, 1e12), "", \
      "coefficient while sticking, at least friction; -1: the same as friction; step engine only") \
    X(double, rolling, "rolling", 0.0, RB_FROM(0.0, 1e12), "m", \
      "largest torque against rolling per normal force; step engine only") \
    X(double, spinning, "spinning", 0.0, RB_FROM(0.0, 1e12), "m", \
      "the same against rotation about the normal; step engine only") \
    X(int, kind, NULL, 0, RB_FROM(0, RB_MATERIAL_KINDS_MAX - 1), "", \
      "for rbWorld_SetMaterialPair")
// clang-format on

/// A material of a shape; rbDefaultShapeDef fills it in.
typedef struct rbMaterial {
    RB_MATERIAL_SETTINGS(RB_SETTING_FIELD)
} rbMaterial;

/// A shape of a body; make it with rbDefaultShapeDef.
typedef struct rbShapeDef {
    uint32_t cookie;       ///< set by rbDefaultShapeDef
    rbGeometryId geometry; ///< from rbWorld_AddGeometry
    rbTransform transform; ///< of the geometry in the body's frame
    rbMaterial material;   ///< density, restitution, friction
    uint32_t groups;       ///< category bits, default 1. Bodies collide if (groupsA & maskB) and
    uint32_t mask;         ///< (groupsB & maskA); default all. All shapes of a body except sensors
                           ///< must have the same; see rbBody_SetGroups
    rbVec3
        surfaceVelocity; ///< m/s, body frame, of the surface relative to the body, a conveyor:
                         ///< friction acts until what touches it moves along; of it only what is
                         ///< tangential at a contact counts. Step engine with contacts; default 0
    bool isSensor;  ///< reports what overlaps it (rbWorld_GetContactEvents) and does nothing else:
                    ///< it has no mass, touches nothing, is not hit by queries, and may have groups
                    ///< and mask of its own; default false
    void* userData; ///< returned by rbBody_GetShapeUserData; not used by the library
} rbShapeDef;

/// Fills in the defaults; called by rbDefaultShapeDef.
RB_API void rbInitShapeDef(rbShapeDef* def, uint32_t abi, size_t size);
/// Density 1000, restitution 0.5, friction 0.5, stiction as friction, no rolling resistance.
static inline rbShapeDef rbDefaultShapeDef(void)
{
    rbShapeDef def;
    rbInitShapeDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}
/// Attaches a geometry to a body; the mass of a dynamic body without explicit mass is recomputed
/// from all its shapes. Pose and velocities of the body do not change.
RB_API rbShapeId rbCreateShape(rbWorld* world, rbBodyId bodyId, const rbShapeDef* def,
                               rbError* error);
/// Number of shapes of the body.
RB_API int rbBody_GetShapeCount(const rbWorld* world, rbBodyId bodyId);
/// The index-th shape of the body as it was defined.
RB_API rbShapeDef rbBody_GetShape(const rbWorld* world, rbBodyId bodyId, int index);
/// User data of the index-th shape of the body (rbShapeDef.userData, or the last value set).
RB_API void* rbBody_GetShapeUserData(const rbWorld* world, rbBodyId bodyId, int index);
/// Changes the user data of a shape.
RB_API void rbBody_SetShapeUserData(rbWorld* world, rbBodyId bodyId, int index, void* userData);
/// Changes the material of the index-th shape, or of all (-1), from now on. The mass of a dynamic
/// body without explicit mass is recomputed from the densities.
RB_API rbStatus rbBody_SetMaterial(rbWorld* world, rbBodyId bodyId, int index,
                                   const rbMaterial* material, rbError* error);
/// Changes the speed of a conveyor from now on: surfaceVelocity (m/s, body frame) of the index-th
/// shape, or of all (-1). Steps restart at the world's time, and frozen bodies wake.
RB_API rbStatus rbBody_SetSurfaceVelocity(rbWorld* world, rbBodyId bodyId, int index,
                                          rbVec3 velocity, rbError* error);
/// Changes what a body collides with from the next advance on: groups and mask of all its shapes
/// except sensors.
/// Pairs that no longer collide are released; bodies that collide from then on and overlap are
/// treated as bodies that overlap at the start: the advance is rejected with their names, or they
/// are separated (overlap in rbContactSettings and rbEventSettings). Flights and steps restart at
/// the world's time, and frozen bodies wake. Does nothing if nothing changes.
RB_API void rbBody_SetGroups(rbWorld* world, rbBodyId bodyId, uint32_t groups, uint32_t mask);
/// Changes the mass (kg, > 0) of a dynamic body from now on; its inertia scales in proportion. From
/// then on the mass is explicit: densities and further shapes no longer change it.
RB_API rbStatus rbBody_SetMass(rbWorld* world, rbBodyId bodyId, double mass, rbError* error);

/// Forces other than gravity. Each type either guarantees a bound on its acceleration or has none.
typedef enum rbForceType {
    RB_FORCE_CONSTANT, ///< constant force at the center of mass and torque, world axes
    RB_FORCE_DRAG,     ///< -(a + b |v|) v, and -c omega
    RB_FORCE_CENTRAL,  ///< attraction to a point, m k / r^2
    RB_FORCE_USER,     ///< a callback
    RB_FORCE_COUNT
} rbForceType;

/// "constant", "drag", "central", "user"; the name of a registered force; "unknown".
RB_API const char* rbForceType_Name(rbForceType type);
/// The type of a name; rbForceType_GetCount() if unknown.
RB_API rbForceType rbForceType_Find(const char* name);
/// Number of types: RB_FORCE_COUNT and the registered forces.
RB_API int rbForceType_GetCount(void);

/// The state of a body as a force sees it.
typedef struct rbForceInput {
    double time;            ///< s
    double mass;            ///< kg
    rbVec3 center;          ///< m, of mass, world
    rbQuat orientation;     ///< of the principal frame
    rbVec3 linearVelocity;  ///< m/s, of the center of mass
    rbVec3 angularVelocity; ///< rad/s, world
    rbBodyId bodyId;        ///< the body
} rbForceInput;

/// Adds force (N) and torque about the center of mass (N m), world axes. Must be a pure function of
/// its input and context; called several times per step, in the order of body indices.
typedef void rbForceFn(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context);

#define RB_FORCE_NUMBERS 8 ///< parameters of a registered force

/// A force; make it with rbDefaultForceDef. Only the members of its type are used.
typedef struct rbForceDef {
    uint32_t cookie;                  ///< set by rbDefaultForceDef
    rbForceType type;                 ///< which members are used
    rbBodyId body;                    ///< null: every dynamic body
    rbVec3 force;                     ///< N            (constant)
    rbVec3 torque;                    ///< N m          (constant)
    double linear;                    ///< N s/m        (drag)
    double quadratic;                 ///< N s^2/m^2    (drag)
    double angular;                   ///< N m s        (drag)
    rbVec3 center;                    ///< m            (central)
    double strength;                  ///< k, m^3/s^2   (central)
    rbForceFn* callback;              ///<              (user)
    void* context;                    ///<              (user)
    double accelerationMax;           ///< m/s^2, bound that a user force guarantees; negative: none
    double torqueMax;                 ///< N m, bound that a user force guarantees; negative: none
    double numbers[RB_FORCE_NUMBERS]; ///< parameters of a registered force, defined by its row
} rbForceDef;

/// Fills in the defaults; called by rbDefaultForceDef.
RB_API void rbInitForceDef(rbForceDef* def, uint32_t abi, size_t size);
/// A constant force of zero on every dynamic body.
static inline rbForceDef rbDefaultForceDef(void)
{
    rbForceDef def;
    rbInitForceDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}
/// Adds a force. Returns the null id and fills error (may be NULL) if a value is unusable.
RB_API rbForceId rbCreateForce(rbWorld* world, const rbForceDef* def, rbError* error);
/// Removes a force; flights restart at the world's time.
RB_API void rbDestroyForce(rbWorld* world, rbForceId forceId);
/// A kind of force: a row of the table of forces. Functions that do nothing may be NULL. All of
/// them must be pure: the same arguments give the same bits.
typedef struct rbForceRow {
    const char* name;              ///< in scenes and messages: "drag"
    const char* meaning;           ///< a sentence for users
    const rbParameter* parameters; ///< offsets in rbForceDef; NULL: not available in scenes
    int parameterCount;            ///< at most RB_PARAMETERS_MAX
    /// INVALID with a message for values that are not accepted. NULL: all values are.
    rbStatus (*check)(const rbForceDef* def, rbError* error);
    /// Adds a force (N) and torque (N m) that are constant in world axes; flights remain exact.
    void (*addConstant)(const rbForceDef* def, rbVec3* force, rbVec3* torque);
    /// Adds a force (N) and torque about the center of mass (N m), world axes, that depend on the
    /// state of the body or on the time.
    void (*addVarying)(const rbForceDef* def, const rbForceInput* input, rbVec3* force,
                       rbVec3* torque);
    /// Potential energy (J) of a body of given mass (kg) with its center at a position (m). NULL:
    /// the force counts as external work.
    double (*potential)(const rbForceDef* def, double mass, rbVec3 position);
    /// Largest acceleration (m/s^2) of the center of a body of given mass (kg), over all times and
    /// states. NULL: no bound; the event engine then rejects the force.
    double (*accelerationBound)(const rbForceDef* def, double mass);
} rbForceRow;

/// Adds a kind of force to the table; scenes and rbForceType_Find then know it by its name. The row
/// is borrowed for the rest of the process. Call it from one thread before the first world is
/// created. INVALID if the name is empty or taken or the row does nothing; LIMIT if the table is
/// full. error may be NULL. See docs/adding-a-force.md.
RB_API rbStatus rbRegisterForce(const rbForceRow* row, rbError* error);

/// Bound on the acceleration of the body's center by all forces together, gravity included, at any
/// time; INFINITY if one of them has no bound.
RB_API double rbBody_GetAccelerationBound(const rbWorld* world, rbBodyId bodyId);

#ifdef __cplusplus
}
#endif

#endif
