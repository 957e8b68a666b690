// Numbers that are not finite, and those at the end of the range, through every public function
// that takes numbers and can refuse them: NaN and infinities are refused with a status and change
// nothing; 1e308 is refused, or the world stays finite, also in later advances. Numbers at the ends
// of ranges get the same statuses and messages as ever.
#include "base/core/hash.h"
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A world with a body, a box on the ground, a hinge with a motor, a velocity joint and a spring.
typedef struct Stage {
    rbWorld* world;
    rbBodyId ball;
    rbBodyId rod;
    rbJointId hinge;
    rbJointId drag;
    rbSpringId spring;
    rbGeometry* sphere; // of the test
    rbGeometry* box;
} Stage;

// Makes a call with one of its numbers replaced; *count: how many it has. Returns its status.
typedef rbStatus CallFn(Stage* stage, int slot, double value, int* count);

typedef struct Call {
    const char* name;
    CallFn* call;
    bool acceptsInfinity; // documented: no limit, or all the way
    uint64_t answers;     // hash of statuses and messages
} Call;

#define SLOTS(...)                                  \
    double* const slots[] = {__VA_ARGS__};          \
    *count = (int)(sizeof slots / sizeof slots[0]); \
    *slots[slot] = value

#define VECTOR(v) &(v).x, &(v).y, &(v).z
#define QUATERNION(q) &(q).w, &(q).x, &(q).y, &(q).z

static bool isPoisoned; // while an object existed that was destroyed again

static uint64_t logged; // hash of what was reported
static rbError refused; // by calls that return a status

static rbStatus statusOf(bool isMade, const rbError* error)
{
    logged = rbHashBytes(logged, error->message, strlen(error->message));
    return isMade ? RB_STATUS_OK : error->status;
}

// ------------------------------------------------------------------------------------------ worlds

static rbStatus createWorld(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    rbError error = {0};
    rbWorldDef def = rbDefaultWorldDef();
    SLOTS(VECTOR(def.gravity), VECTOR(def.periodicBox), &def.motion.step, &def.motion.tolerance,
          &def.step.step, &def.step.tolerance, &def.step.velocityTolerance,
          &def.step.energyTolerance, &def.step.errorMax, &def.step.horizon,
          &def.step.assembleTolerance, &def.contact.shell, &def.contact.tolerance,
          &def.contact.velocityTolerance, &def.contact.restSpeed, &def.contact.partSpeed,
          &def.contact.freezeSpeed, &def.contact.freezeTime, &def.event.tolerance,
          &def.event.restTime, &def.event.contactTime, &def.event.eventsPerSecond,
          &def.event.sensorStep);
    rbWorld* world = rbCreateWorld(&def, &error);
    rbDestroyWorld(world);
    return statusOf(world != NULL, &error);
}

static bool isOver(void* context)
{
    (void)context;
    return true;
}

// A time of 1e308 s would take forever: the advance is stopped, and must leave the world as it was.
static rbStatus advance(Stage* stage, int slot, double value, int* count)
{
    double dt = 0.0;
    SLOTS(&dt);
    rbStop before = rbUseStop((rbStop){isOver, NULL});
    rbStatus status = rbWorld_Advance(stage->world, dt).status;
    (void)rbUseStop(before);
    return status == RB_STATUS_STOPPED ? RB_STATUS_OK : status;
}

static rbStatus setGravity(Stage* stage, int slot, double value, int* count)
{
    rbVec3 gravity = {0.0, 0.0, -1.0};
    SLOTS(VECTOR(gravity));
    return rbWorld_SetGravity(stage->world, gravity, &refused);
}

static rbStatus setStepSettings(Stage* stage, int slot, double value, int* count)
{
    rbStepSettings s = rbWorld_GetStepSettings(stage->world);
    SLOTS(&s.step, &s.tolerance, &s.velocityTolerance, &s.energyTolerance, &s.errorMax, &s.horizon,
          &s.assembleTolerance);
    return rbWorld_SetStepSettings(stage->world, &s, &refused);
}

static rbStatus setContactSettings(Stage* stage, int slot, double value, int* count)
{
    rbContactSettings s = rbWorld_GetContactSettings(stage->world);
    SLOTS(&s.shell, &s.tolerance, &s.velocityTolerance, &s.restSpeed, &s.partSpeed, &s.freezeSpeed,
          &s.freezeTime);
    return rbWorld_SetContactSettings(stage->world, &s, &refused);
}

static rbStatus setMaterialPair(Stage* stage, int slot, double value, int* count)
{
    rbMaterialPair pair = {.restitution = 0.5, .friction = 0.5};
    SLOTS(&pair.restitution, &pair.friction);
    return rbWorld_SetMaterialPair(stage->world, 1, 2, &pair, &refused);
}

static rbStatus writeField(Stage* stage, rbBodyField field, int slot, double value, int* count)
{
    double values[64];
    *count = rbBodyField_Width(field);
    assert_true(rbWorld_GetBodyCount(stage->world) * *count <= 64);
    rbWorld_ReadField(stage->world, field, values, 0);
    values[*count + slot] = value; // of the second body
    return rbWorld_WriteField(stage->world, field, values, 0, &refused);
}

static rbStatus writePositions(Stage* stage, int slot, double value, int* count)
{
    return writeField(stage, RB_FIELD_POSITION, slot, value, count);
}

static rbStatus writeOrientations(Stage* stage, int slot, double value, int* count)
{
    return writeField(stage, RB_FIELD_ORIENTATION, slot, value, count);
}

static rbStatus writeVelocities(Stage* stage, int slot, double value, int* count)
{
    return writeField(stage, RB_FIELD_LINEAR_VELOCITY, slot, value, count);
}

static rbStatus writeSpins(Stage* stage, int slot, double value, int* count)
{
    return writeField(stage, RB_FIELD_ANGULAR_VELOCITY, slot, value, count);
}

// ------------------------------------------------------------------------------------------ bodies

static rbStatus createBody(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {.mass = 1.0, .inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    SLOTS(VECTOR(def.position), QUATERNION(def.orientation), VECTOR(def.linearVelocity),
          VECTOR(def.angularVelocity), &def.growth, &def.motion.step, &def.motion.tolerance,
          &mass.mass, VECTOR(mass.center), &mass.inertia.xx, &mass.inertia.yy, &mass.inertia.zz,
          &mass.inertia.xy, &mass.inertia.xz, &mass.inertia.yz);
    rbBodyId id = rbCreateBody(stage->world, &def, &error);
    if (!RB_IS_NULL(id)) {
        isPoisoned = isPoisoned || !isfinite(rbWorld_GetLedger(stage->world).energy);
        rbDestroyBody(stage->world, id);
    }
    return statusOf(!RB_IS_NULL(id), &error);
}

static rbStatus createPath(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbVec3 point = {1.0, 0.0, 50.0};
    rbPathDef path = rbDefaultPathDef();
    path.points = &point;
    path.pointCount = 1;
    path.speed = 1.0;
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_KINEMATIC;
    def.path = &path;
    def.position.z = 50.0;
    SLOTS(VECTOR(point), &path.speed, VECTOR(path.angularVelocity), &path.startTime);
    rbBodyId id = rbCreateBody(stage->world, &def, &error);
    if (!RB_IS_NULL(id)) {
        rbDestroyBody(stage->world, id);
    }
    return statusOf(!RB_IS_NULL(id), &error);
}

static rbStatus setState(Stage* stage, int slot, double value, int* count)
{
    rbBodyState s = rbBody_GetState(stage->world, stage->ball);
    SLOTS(VECTOR(s.transform.p), QUATERNION(s.transform.q), VECTOR(s.linearVelocity),
          VECTOR(s.angularVelocity));
    return rbBody_SetState(stage->world, stage->ball, s.transform, s.linearVelocity,
                           s.angularVelocity, &refused);
}

static rbStatus applyImpulse(Stage* stage, int slot, double value, int* count)
{
    rbVec3 impulse = {0.1, 0.0, 0.0};
    rbVec3 point = rbBody_GetState(stage->world, stage->ball).center;
    SLOTS(VECTOR(impulse), VECTOR(point));
    return rbBody_ApplyImpulse(stage->world, stage->ball, impulse, point);
}

static rbStatus applyAngularImpulse(Stage* stage, int slot, double value, int* count)
{
    rbVec3 impulse = {0.1, 0.0, 0.0};
    SLOTS(VECTOR(impulse));
    return rbBody_ApplyAngularImpulse(stage->world, stage->ball, impulse);
}

static rbStatus setMass(Stage* stage, int slot, double value, int* count)
{
    double mass = 1.0;
    SLOTS(&mass);
    return rbBody_SetMass(stage->world, stage->ball, mass, &refused);
}

static rbStatus setMaterial(Stage* stage, int slot, double value, int* count)
{
    rbMaterial m = rbBody_GetShape(stage->world, stage->ball, 0).material;
    SLOTS(&m.density, &m.restitution, &m.friction, &m.stiction, &m.rolling, &m.spinning);
    return rbBody_SetMaterial(stage->world, stage->ball, 0, &m, &refused);
}

static rbStatus setSurfaceVelocity(Stage* stage, int slot, double value, int* count)
{
    rbVec3 v = {0.0, 0.0, 0.0};
    SLOTS(VECTOR(v));
    return rbBody_SetSurfaceVelocity(stage->world, stage->ball, 0, v, &refused);
}

static rbStatus createShape(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.position.z = 100.0;
    rbBodyId id = rbCreateBody(stage->world, &def, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(stage->world, rbCreateSphere(0.1, NULL));
    rbMaterial* m = &shape.material;
    SLOTS(VECTOR(shape.transform.p), QUATERNION(shape.transform.q), &m->density, &m->restitution,
          &m->friction, &m->stiction, &m->rolling, &m->spinning, VECTOR(shape.surfaceVelocity));
    rbShapeId shapeId = rbCreateShape(stage->world, id, &shape, &error);
    isPoisoned = isPoisoned || !isfinite(rbWorld_GetLedger(stage->world).energy);
    rbDestroyBody(stage->world, id);
    return statusOf(!RB_IS_NULL(shapeId), &error);
}

static rbStatus createForce(Stage* stage, rbForceType type, int slot, double value, int* count)
{
    rbError error = {0};
    rbForceDef def = rbDefaultForceDef();
    def.type = type;
    def.body = stage->ball;
    def.strength = 1.0;
    def.center.z = -100.0;
    if (type == RB_FORCE_CONSTANT) {
        SLOTS(VECTOR(def.force), VECTOR(def.torque));
    } else if (type == RB_FORCE_DRAG) {
        SLOTS(&def.linear, &def.quadratic, &def.angular);
    } else {
        SLOTS(VECTOR(def.center), &def.strength);
    }
    rbForceId id = rbCreateForce(stage->world, &def, &error);
    if (!RB_IS_NULL(id)) {
        isPoisoned = isPoisoned || !isfinite(rbWorld_GetLedger(stage->world).energy);
        rbDestroyForce(stage->world, id);
    }
    return statusOf(!RB_IS_NULL(id), &error);
}

static rbStatus createConstantForce(Stage* stage, int slot, double value, int* count)
{
    return createForce(stage, RB_FORCE_CONSTANT, slot, value, count);
}

static rbStatus createDrag(Stage* stage, int slot, double value, int* count)
{
    return createForce(stage, RB_FORCE_DRAG, slot, value, count);
}

static rbStatus createCentralForce(Stage* stage, int slot, double value, int* count)
{
    return createForce(stage, RB_FORCE_CENTRAL, slot, value, count);
}

// ------------------------------------------------------------------------------------------ joints

static rbStatus createJoint(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyB = stage->ball;
    rbJointDef_SetAnchor(&def, stage->world, rbMakeVec3(0.0, 0.0, 5.0));
    rbJointDef_SetAxis(&def, stage->world, rbMakeVec3(0.0, 1.0, 0.0));
    rbFreedomDef* f = &def.freedoms[0];
    f->motor.type = RB_MOTOR_POSITION;
    f->motor.gain = 1.0;
    SLOTS(VECTOR(def.anchorA), VECTOR(def.anchorB), VECTOR(def.axisA), VECTOR(def.axisB),
          &f->stiffness, &f->rest, &f->damping, &f->friction, &f->motor.gain,
          &f->motor.integralTime, &f->motor.derivativeTime, &f->motor.window, &f->motor.target,
          &def.limits[0].restitution);
    rbJointId id = rbCreateJoint(stage->world, &def, &error);
    if (!RB_IS_NULL(id)) {
        rbDestroyJoint(stage->world, id);
    }
    return statusOf(!RB_IS_NULL(id), &error);
}

static rbStatus setMotorTarget(Stage* stage, int slot, double value, int* count)
{
    double target = 0.0;
    SLOTS(&target);
    return rbJoint_SetMotorTarget(stage->world, stage->hinge, 0, target, &refused);
}

static rbStatus setFreedom(Stage* stage, int slot, double value, int* count)
{
    rbFreedomDef f = rbJoint_GetFreedom(stage->world, stage->hinge, 0);
    SLOTS(&f.stiffness, &f.rest, &f.damping, &f.friction, &f.motor.target);
    return rbJoint_SetFreedom(stage->world, stage->hinge, 0, &f, &refused);
}

static rbStatus setLimit(Stage* stage, int slot, double value, int* count)
{
    rbLimitDef limit = rbJoint_GetLimit(stage->world, stage->hinge, 0);
    SLOTS(&limit.restitution);
    return rbJoint_SetLimit(stage->world, stage->hinge, 0, &limit, &refused);
}

static rbStatus setJointVelocity(Stage* stage, int slot, double value, int* count)
{
    rbVec3 linear = {0.0, 0.0, 0.0};
    rbVec3 angular = {0.0, 0.0, 0.0};
    SLOTS(VECTOR(linear), VECTOR(angular));
    return rbJoint_SetVelocity(stage->world, stage->drag, linear, angular, &refused);
}

static rbStatus createSpring(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbSpringDef def = rbDefaultSpringDef();
    def.bodyB = stage->ball;
    def.anchorA.z = 9.0;
    def.stiffness = 1.0;
    SLOTS(VECTOR(def.anchorA), VECTOR(def.anchorB), &def.restLength, &def.stiffness, &def.damping);
    rbSpringId id = rbCreateSpring(stage->world, &def, &error);
    if (!RB_IS_NULL(id)) {
        isPoisoned = isPoisoned || !isfinite(rbWorld_GetLedger(stage->world).energy);
        rbDestroySpring(stage->world, id);
    }
    return statusOf(!RB_IS_NULL(id), &error);
}

static rbStatus setLaw(Stage* stage, int slot, double value, int* count)
{
    double stiffness = 1.0;
    double damping = 0.1;
    double rest = 1.0;
    SLOTS(&stiffness, &damping, &rest);
    return rbSpring_SetLaw(stage->world, stage->spring, stiffness, damping, rest, &refused);
}

static rbStatus startDrag(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbVec3 point = rbBody_GetState(stage->world, stage->ball).center;
    double most = 1.0;
    SLOTS(VECTOR(point), &most);
    rbJointId id = rbWorld_StartDrag(stage->world, stage->ball, point, most, &error);
    if (!RB_IS_NULL(id)) {
        rbDestroyJoint(stage->world, id);
    }
    return statusOf(!RB_IS_NULL(id), &error);
}

static rbStatus moveDrag(Stage* stage, int slot, double value, int* count)
{
    rbVec3 point = {0.1, 0.0, 4.0};
    double duration = 0.1;
    SLOTS(VECTOR(point), &duration);
    return rbWorld_MoveDrag(stage->world, stage->drag, point, duration);
}

// ----------------------------------------------------------------------------------------- queries

static rbStatus castRay(Stage* stage, int slot, double value, int* count)
{
    rbQueryHit hit;
    rbRay ray = {.origin = {0.0, 0.0, 9.0}, .direction = {0.0, 0.0, -1.0}, .tMax = 100.0};
    SLOTS(VECTOR(ray.origin), VECTOR(ray.direction));
    rbQueryFilter filter = rbDefaultQueryFilter();
    return rbWorld_CastRay(stage->world, &ray, &filter, &hit, &refused);
}

static rbStatus castShape(Stage* stage, int slot, double value, int* count)
{
    rbQueryHit hit;
    rbShapeCast cast = {.geometry = stage->sphere,
                        .transform = {{0.0, 0.0, 9.0}, {1.0, 0.0, 0.0, 0.0}},
                        .translation = {0.0, 0.0, -1.0}};
    SLOTS(VECTOR(cast.transform.p), QUATERNION(cast.transform.q), VECTOR(cast.translation),
          &cast.tolerance);
    rbQueryFilter filter = rbDefaultQueryFilter();
    return rbWorld_CastShape(stage->world, &cast, &filter, &hit, &refused);
}

static rbStatus overlapShape(Stage* stage, int slot, double value, int* count)
{
    rbQueryBodyList list = {0};
    rbTransform pose = {{0.0, 0.0, 9.0}, {1.0, 0.0, 0.0, 0.0}};
    SLOTS(VECTOR(pose.p), QUATERNION(pose.q));
    rbQueryFilter filter = rbDefaultQueryFilter();
    return rbWorld_OverlapShape(stage->world, stage->sphere, pose, &filter, &list, &refused);
}

static rbStatus overlapBounds(Stage* stage, int slot, double value, int* count)
{
    rbQueryBodyList list = {0};
    rbBounds box = {{-1.0, -1.0, -1.0}, {1.0, 1.0, 1.0}};
    SLOTS(VECTOR(box.lower), VECTOR(box.upper));
    rbQueryFilter filter = rbDefaultQueryFilter();
    return rbWorld_OverlapBounds(stage->world, box, &filter, &list, &refused);
}

// ---------------------------------------------------------------------------------------- geometry

static rbStatus statusOfGeometry(rbGeometry* geometry, const rbError* error)
{
    rbStatus status = statusOf(geometry != NULL, error);
    rbDestroyGeometry(geometry);
    return status;
}

#define DEFINE_SHAPE(name, expression)                                     \
    static rbStatus name(Stage* stage, int slot, double value, int* count) \
    {                                                                      \
        (void)stage;                                                       \
        rbError error = {0};                                               \
        rbVec3 v = {1.0, 1.0, 1.0};                                        \
        double a = 1.0;                                                    \
        double b = 1.0;                                                    \
        (void)v;                                                           \
        SLOTS_OF_##name;                                                   \
        return statusOfGeometry((expression), &error);                     \
    }

#define SLOTS_OF_createSphere \
    (void)b;                  \
    SLOTS(&a)
#define SLOTS_OF_createBox \
    (void)a;               \
    (void)b;               \
    SLOTS(VECTOR(v))
#define SLOTS_OF_createCapsule SLOTS(&a, &b)
#define SLOTS_OF_createCylinder SLOTS(&a, &b)
#define SLOTS_OF_createCone SLOTS(&a, &b)
#define SLOTS_OF_createEllipsoid \
    (void)a;                     \
    (void)b;                     \
    SLOTS(VECTOR(v))
#define SLOTS_OF_createPlane \
    (void)b;                 \
    SLOTS(VECTOR(v), &a)

DEFINE_SHAPE(createSphere, rbCreateSphere(a, &error))
DEFINE_SHAPE(createBox, rbCreateBox(v, &error))
DEFINE_SHAPE(createCapsule, rbCreateCapsule(a, b, &error))
DEFINE_SHAPE(createCylinder, rbCreateCylinder(a, b, &error))
DEFINE_SHAPE(createCone, rbCreateCone(a, b, &error))
DEFINE_SHAPE(createEllipsoid, rbCreateEllipsoid(v, &error))
DEFINE_SHAPE(createPlane, rbCreatePlane(v, a, &error))

static rbStatus createOfPoints(int kind, int slot, double value, int* count)
{
    rbError error = {0};
    rbVec3 points[4] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int indices[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    SLOTS(VECTOR(points[1]), VECTOR(points[3]));
    rbMeshDef mesh = {.vertices = points, .vertexCount = 4, .indices = indices, .faceCount = 4};
    rbGeometry* geometry = kind == 0   ? rbCreateHull(points, 4, &error)
                           : kind == 1 ? rbCreateMesh(&mesh, &error)
                           : kind == 2 ? rbCreateSoup(&mesh, &error)
                                       : rbCreatePolyhedron(&mesh, &error);
    return statusOfGeometry(geometry, &error);
}

static rbStatus createHull(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    return createOfPoints(0, slot, value, count);
}

static rbStatus createMesh(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    return createOfPoints(1, slot, value, count);
}

static rbStatus createSoup(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    return createOfPoints(2, slot, value, count);
}

static rbStatus createPolyhedron(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    return createOfPoints(3, slot, value, count);
}

static rbStatus createCompound(Stage* stage, int slot, double value, int* count)
{
    rbError error = {0};
    rbCompoundChild child = {stage->sphere, RB_TRANSFORM_IDENTITY, 1000.0};
    SLOTS(VECTOR(child.transform.p), QUATERNION(child.transform.q), &child.density);
    return statusOfGeometry(rbCreateCompound(&child, 1, &error), &error);
}

static rbStatus getMass(Stage* stage, int slot, double value, int* count)
{
    rbMassProperties mass;
    double density = 1.0;
    SLOTS(&density);
    return rbGeometry_GetMass(stage->box, density, &mass, &refused);
}

static rbStatus extrude(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    double profile[3][2] = {{0.0, 0.0}, {1.0, 0.0}, {0.0, 1.0}};
    double height = 1.0;
    SLOTS(&profile[1][0], &profile[1][1], &height);
    rbOwnedMesh mesh = {0};
    rbStatus status = rbExtrudeProfile((const double(*)[2])profile, 3, height, &mesh, &refused);
    rbFreeMesh(&mesh);
    return status;
}

static rbStatus revolve(Stage* stage, int slot, double value, int* count)
{
    (void)stage;
    double profile[3][2] = {{1.0, 0.0}, {2.0, 0.0}, {1.0, 1.0}};
    SLOTS(&profile[1][0], &profile[1][1]);
    rbOwnedMesh mesh = {0};
    rbStatus status = rbRevolveProfile((const double(*)[2])profile, 3, 8, &mesh, &refused);
    rbFreeMesh(&mesh);
    return status;
}

static rbStatus triangulate(Stage* stage, int slot, double value, int* count)
{
    double deviation = 0.1;
    SLOTS(&deviation);
    rbTriangles triangles = {0};
    rbStatus status = rbGeometry_Triangulate(stage->sphere, deviation, 1.0, &triangles, &refused);
    rbFreeTriangles(&triangles);
    return status;
}

static rbStatus measure(Stage* stage, int slot, double value, int* count)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = stage->sphere;
    input.geometryB = stage->box;
    input.transformBtoA.p.x = 5.0;
    SLOTS(VECTOR(input.transformBtoA.p), QUATERNION(input.transformBtoA.q), &input.radiusA,
          &input.radiusB, &input.relativeTolerance);
    rbSeparation separation;
    return rbMeasureSeparation(&input, NULL, NULL, &separation, &refused);
}

static rbStatus testOverlap(Stage* stage, int slot, double value, int* count)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = stage->sphere;
    input.geometryB = stage->box;
    input.transformBtoA.p.x = 5.0;
    double margin = 0.0;
    SLOTS(VECTOR(input.transformBtoA.p), &margin);
    bool isTouching;
    return rbTestOverlap(&input, margin, NULL, &isTouching, &refused);
}

static rbStatus sweep(Stage* stage, int slot, double value, int* count)
{
    rbTransform pose = {{5.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    rbVec3 step = {-1.0, 0.0, 0.0};
    double tolerance = 0.0;
    SLOTS(VECTOR(pose.p), QUATERNION(pose.q), VECTOR(step), &tolerance);
    rbShapeSweep result;
    void* scratch = malloc(rbGetSeparationScratchSize());
    rbStatus status =
        rbSweepShapes(stage->sphere, pose, step, stage->box, tolerance, scratch, &result, &refused);
    free(scratch);
    return status;
}

// ------------------------------------------------------------------------------------------- table

#define ROW(call, answers)          \
    {                               \
#call, call, false, answers \
    }

static const Call calls[] = {
    ROW(createWorld, 0xbceb0146175a06b9u),
    ROW(advance, 0xe8767fc1e0777917u),
    ROW(setGravity, 0x4b415e4998cf9b6cu),
    ROW(setStepSettings, 0xcb91063871fbb79eu),
    ROW(setContactSettings, 0x28158f4c05334301u),
    ROW(setMaterialPair, 0x1c53a4ca277c852au),
    ROW(writePositions, 0xf939452550fa13beu),
    ROW(writeOrientations, 0x6c7322d9b6914954u),
    ROW(writeVelocities, 0xf939452550fa13beu),
    ROW(writeSpins, 0xf939452550fa13beu),
    ROW(createBody, 0xd548ad9a5ab66ad1u),
    ROW(createPath, 0xc42af4069047fae5u),
    ROW(setState, 0xde1637ffc49f4afbu),
    ROW(applyImpulse, 0xc2bbbfafd793c919u),
    ROW(applyAngularImpulse, 0xf939452550fa13beu),
    ROW(setMass, 0x23288afe5063514au),
    ROW(setMaterial, 0xddc76f33b5a4a466u),
    ROW(setSurfaceVelocity, 0x4075163f8f96bfbfu),
    ROW(createShape, 0x8cb8701b184d4540u),
    ROW(createConstantForce, 0xb4319e1d5d39be01u),
    ROW(createDrag, 0x6c806e03caa37d7cu),
    ROW(createCentralForce, 0x9f1f4e6c4c7b0075u),
    ROW(createJoint, 0x82969a2a39400027u),
    ROW(setMotorTarget, 0x8d5f8de17d474669u),
    ROW(setFreedom, 0x1bb38e6f429ad522u),
    ROW(setLimit, 0x8d5f8de17d474669u),
    ROW(setJointVelocity, 0xc2bbbfafd793c919u),
    ROW(createSpring, 0x8e9eea3a1196615bu),
    ROW(setLaw, 0x0440ee54d75cb721u),
    ROW(moveDrag, 0x5c2c74afd36133deu),
    ROW(castRay, 0x0b05d65508037152u),
    ROW(castShape, 0x1a1dd8d291886b5eu),
    ROW(overlapShape, 0xa929790d1f279a0cu),
    ROW(createSphere, 0x1991fd611caf38deu),
    ROW(createBox, 0x87d8bba5e10e2047u),
    ROW(createCapsule, 0xd056668d25e0e257u),
    ROW(createCylinder, 0x8b3adb60029e4a9au),
    ROW(createCone, 0x9210ebb0f0edafaau),
    ROW(createEllipsoid, 0x345021d00c21d6e3u),
    ROW(createPlane, 0xb701e7669a19c457u),
    ROW(createHull, 0xfa718a7e11ee009cu),
    ROW(createMesh, 0xb420151ef8597926u),
    ROW(createSoup, 0xf46ecfbaff2b8f0bu),
    ROW(createPolyhedron, 0xca521f914865518eu),
    ROW(createCompound, 0xd3fefc3d394ea6e5u),
    ROW(getMass, 0x35110c5aee448923u),
    ROW(extrude, 0xf6f1d295740a1dd2u),
    ROW(revolve, 0x828640ad140908c9u),
    ROW(triangulate, 0x697d3c0a8fbab91fu),
    ROW(measure, 0x260faca057568b2du),
    ROW(testOverlap, 0xcf2f445d93c304c7u),
    ROW(sweep, 0xdda56314e33da990u),
    {"startDrag", startDrag, true, 0xfd381a37a78f2f04u},         // forceMax
    {"overlapBounds", overlapBounds, true, 0x4bc27e58a060df82u}, // a box without end
};

static rbBodyId addBody(rbWorld* world, rbBodyType type, rbVec3 place, rbGeometry* geometry)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = place;
    rbBodyId id = rbCreateBody(world, &def, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, NULL)));
    return id;
}

static void keepMessage(rbLogLevel level, const char* message, void* context)
{
    (void)context;
    logged = rbHashBytes(logged + (uint64_t)level, message, strlen(message));
}

static Stage makeStage(void)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.logFn = keepMessage;
    Stage stage = {.sphere = rbCreateSphere(0.5, NULL),
                   .box = rbCreateBox(rbMakeVec3(0.5, 0.5, 0.5), NULL)};
    stage.world = rbCreateWorld(&def, NULL);
    (void)addBody(stage.world, RB_BODY_STATIC, RB_VEC3_ZERO,
                  rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL));
    stage.ball =
        addBody(stage.world, RB_BODY_DYNAMIC, rbMakeVec3(0.0, 0.0, 4.0), rbCreateSphere(0.1, NULL));
    (void)addBody(stage.world, RB_BODY_DYNAMIC, rbMakeVec3(2.0, 0.0, 0.11),
                  rbCreateBox(rbMakeVec3(0.1, 0.1, 0.1), NULL));
    stage.rod = addBody(stage.world, RB_BODY_DYNAMIC, rbMakeVec3(-2.0, 0.0, 4.0),
                        rbCreateCapsule(0.05, 0.2, NULL));
    rbJointDef hinge = rbDefaultJointDef();
    hinge.type = RB_JOINT_HINGE;
    hinge.bodyB = stage.rod;
    hinge.freedoms[0].motor =
        (rbMotorDef){.type = RB_MOTOR_POSITION, .gain = 1.0, .forceMax = 10.0};
    rbJointDef_SetAnchor(&hinge, stage.world, rbMakeVec3(-2.0, 0.0, 4.2));
    rbJointDef_SetAxis(&hinge, stage.world, rbMakeVec3(0.0, 1.0, 0.0));
    stage.hinge = rbCreateJoint(stage.world, &hinge, NULL);
    stage.drag = rbWorld_StartDrag(stage.world, stage.rod, rbMakeVec3(-2.0, 0.0, 4.0), 1.0, NULL);
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyB = stage.rod;
    spring.anchorA = rbMakeVec3(-3.0, 0.0, 4.0);
    spring.stiffness = 10.0;
    stage.spring = rbCreateSpring(stage.world, &spring, NULL);
    assert_false(RB_IS_NULL(stage.hinge) || RB_IS_NULL(stage.drag) || RB_IS_NULL(stage.spring));
    assert_int_equal(rbWorld_Advance(stage.world, 0.01).status, RB_STATUS_OK);
    return stage;
}

static void freeStage(Stage* stage)
{
    rbDestroyWorld(stage->world);
    rbDestroyGeometry(stage->sphere);
    rbDestroyGeometry(stage->box);
}

static bool isFiniteWorld(const rbWorld* world)
{
    double values[64];
    static const rbBodyField fields[] = {RB_FIELD_POSITION, RB_FIELD_ORIENTATION,
                                         RB_FIELD_LINEAR_VELOCITY, RB_FIELD_ANGULAR_VELOCITY};
    bool isFinite = isfinite(rbWorld_GetLedger(world).energy);
    for (int i = 0; i < 4; ++i) {
        rbWorld_ReadField(world, fields[i], values, 0);
        int count = rbBodyField_Width(fields[i]) * rbWorld_GetBodyCount(world);
        for (int k = 0; k < count; ++k) {
            isFinite = isFinite && isfinite(values[k]);
        }
    }
    return isFinite;
}

// Returns the number of faults found.
static int tryNumber(const Call* call, int slot, double value, int* slots)
{
    Stage stage = makeStage();
    uint64_t before = rbWorld_GetHash(stage.world);
    rbLedger ledger = rbWorld_GetLedger(stage.world);
    isPoisoned = false;
    rbStatus status = call->call(&stage, slot, value, slots);
    uint64_t after = rbWorld_GetHash(stage.world);
    rbLedger now = rbWorld_GetLedger(stage.world);
    bool mustRefuse = isnan(value) || (isinf(value) && !call->acceptsInfinity);
    const char* fault = NULL;
    if (mustRefuse && status == RB_STATUS_OK) {
        fault = "is accepted";
    } else if (status != RB_STATUS_OK && status != RB_STATUS_NUMERICAL &&
               (before != after || ledger.energy != now.energy ||
                ledger.energyDrift != now.energyDrift)) {
        fault = "is refused, but changes the world";
    } else if (isPoisoned || !isFiniteWorld(stage.world)) {
        fault = "makes the state not finite";
    } else if (status != RB_STATUS_OK || !(fabs(value) > 1e300)) {
        rbStatus later = rbWorld_Advance(stage.world, 0.003).status;
        fault = later == RB_STATUS_OK && isFiniteWorld(stage.world) ? NULL : "spoils the advance";
    }
    if (fault != NULL) {
        print_error("  %s, number %d: %g %s (%s)\n", call->name, slot, value, fault,
                    rbStatus_Text(status));
    }
    freeStage(&stage);
    return fault != NULL ? 1 : 0;
}

static void noNumberPoisonsAWorld(void** state)
{
    (void)state;
    static const double values[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308};
    int faults = 0;
    int tried = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
        int slots = 1;
        for (int slot = 0; slot < slots; ++slot) {
            for (int k = 0; k < 5; ++k) {
                faults += tryNumber(&calls[i], slot, values[k], &slots);
                ++tried;
            }
        }
    }
    print_message("  %d calls, %d faults\n", tried, faults);
    assert_int_equal(faults, 0);
}

// Zero, signs, and sizes of every order: where ranges end.
static void everyCallAnswersAsEver(void** state)
{
    (void)state;
    static const double values[] = {0.0,  -1.0, 1e-300, 1e-9, 0.25, 1.0,  1.5,
                                    90.0, 2e3,  1e7,    2e12, 1e17, 1e100};
    int differences = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
        uint64_t hash = RB_HASH_SEED;
        int slots = 1;
        for (int slot = 0; slot < slots; ++slot) {
            for (size_t k = 0; k < sizeof values / sizeof values[0]; ++k) {
                Stage stage = makeStage();
                logged = RB_HASH_SEED;
                refused = (rbError){.status = RB_STATUS_OK};
                int status = (int)calls[i].call(&stage, slot, values[k], &slots);
                hash = rbHashBytes(hash, refused.message, strlen(refused.message));
                hash = rbHashBytes(hash, &status, sizeof status);
                hash = rbHashBytes(hash, &logged, sizeof logged);
                freeStage(&stage);
            }
        }
        if (hash != calls[i].answers) {
            print_error("%s: hash 0x%016" PRIx64 "u, expected 0x%016" PRIx64 "u\n", calls[i].name,
                        hash, calls[i].answers);
            differences += 1;
        }
    }
    assert_int_equal(differences, 0);
}

RB_TEST_GROUP(test_bad_numbers, cmocka_unit_test(noNumberPoisonsAWorld),
              cmocka_unit_test(everyCallAnswersAsEver));
