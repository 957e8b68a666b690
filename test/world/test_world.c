// The world as a user sees it: bodies, mass, impulses, forces, ledger, journal, bulk access, ids.
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static rbWorld* makeWorld(rbVec3 gravity)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.gravity = gravity;
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&def, &error);
    assert_non_null(world);
    return world;
}

static rbGeometryId addBox(rbWorld* world, double x, double y, double z)
{
    rbError error = {0};
    rbGeometry* box = rbCreateBox(rbMakeVec3(0.5 * x, 0.5 * y, 0.5 * z), &error);
    assert_non_null(box);
    return rbWorld_AddGeometry(world, box);
}

// A 10 kg box of 0.1 x 0.4 x 0.9 m.
static rbBodyId addTumblingBox(rbWorld* world, const char* name)
{
    rbBodyDef def = rbDefaultBodyDef();
    rbError error = {0};
    def.name = name;
    def.linearVelocity = rbMakeVec3(-2.0, 2.0, 8.0);
    def.angularVelocity = rbMakeVec3(0.1, 5.0, 0.1);
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = addBox(world, 0.1, 0.4, 0.9);
    shape.material.density = 10.0 / 0.036;
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    return id;
}

// B-01, B-02
static void boxHasMassFromItsShape(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbBodyId id = addTumblingBox(world, "box");
    rbMassProperties mass = rbBody_GetMass(world, id);
    checkRelative(mass.mass, 10.0, 1e-14);
    checkRelative(mass.inertia.xx, 0.80833333333333333, 1e-14);
    checkRelative(mass.inertia.yy, 0.68333333333333333, 1e-14);
    checkRelative(mass.inertia.zz, 0.14166666666666666, 1e-14);
    rbLedger ledger = rbWorld_GetLedger(world);
    // 360 J of translation and (0.01 Ix + 25 Iy + 0.01 Iz) / 2 of rotation.
    checkRelative(ledger.energy, 360.0 + 0.5 * 10.0 / 12.0 * (0.0097 + 20.5 + 0.0017), 1e-14);
    assert_true(RB_ID_EQUALS(rbWorld_FindBody(world, "box"), id));
    assert_true(RB_IS_NULL(rbWorld_FindBody(world, "bax")));
    rbDestroyWorld(world);
}

// Three bodies of one shape: the static one stays through gravity and impulses, the kinematic one
// follows its path, the dynamic one falls by g t^2/2 and takes an impulse J as J/m. Only dynamic
// bodies have energy.
// B-01
static void typesDecideWhatMovesABody(void** state)
{
    (void)state;
    const double g = 9.8;
    const rbVec3 impulse = {6.0, -2.0, 4.0};
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -g));
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = addBox(world, 1.0, 1.0, 1.0);
    shape.material.density = 2.0;
    rbPathDef path = rbDefaultPathDef();
    path.speed = 1.0;
    path.direction = rbMakeVec3(1.0, 0.0, 0.0);
    static const rbBodyType types[3] = {RB_BODY_STATIC, RB_BODY_KINEMATIC, RB_BODY_DYNAMIC};
    rbBodyId ids[3];
    for (int i = 0; i < 3; ++i) {
        rbBodyDef def = rbDefaultBodyDef();
        assert_int_equal(def.type, RB_BODY_DYNAMIC);
        def.type = types[i];
        def.position = rbMakeVec3(0.0, 10.0 * i, 1.0);
        def.linearVelocity.x = types[i] == RB_BODY_DYNAMIC ? 1.0 : 0.0;
        def.path = types[i] == RB_BODY_KINEMATIC ? &path : NULL;
        ids[i] = rbCreateBody(world, &def, NULL);
        assert_false(RB_IS_NULL(rbCreateShape(world, ids[i], &shape, NULL)));
        assert_int_equal(rbBody_GetType(world, ids[i]), types[i]);
    }
    checkRelative(rbWorld_GetLedger(world).energy, 0.5 * 2.0 + 2.0 * g, 1e-14);
    (void)rbWorld_Advance(world, 0.5);
    for (int i = 0; i < 3; ++i) {
        rbBody_ApplyImpulse(world, ids[i], impulse, rbBody_GetState(world, ids[i]).center);
    }
    const rbVec3 rest[3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0 + 3.0, -1.0, 2.0 - 0.5 * g}};
    const rbVec3 places[3] = {{0.0, 0.0, 1.0}, {0.5, 10.0, 1.0}, {0.5, 20.0, 1.0 - 0.5 * g * 0.25}};
    for (int i = 0; i < 3; ++i) {
        rbBodyState body = rbBody_GetState(world, ids[i]);
        checkBelow(rbDistance(body.linearVelocity, rest[i]), 1e-13);
        checkBelow(rbDistance(body.transform.p, places[i]), 1e-13);
    }
    rbDestroyWorld(world);
}

// B-53: An asymmetric body given off its center and rotated: the reported pose is that of the given
// frame.
static void poseIsThatOfTheGivenFrame(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbMakeVec3(1.0, 2.0, 3.0);
    def.orientation = rbNormalizeQuat((rbQuat){0.9, 0.1, -0.3, 0.2});
    def.angularVelocity = rbMakeVec3(1.0, -0.5, 0.3);
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = addBox(world, 0.2, 0.5, 1.0);
    shape.transform.p = rbMakeVec3(0.7, 0.0, 0.1);
    shape.transform.q = rbNormalizeQuat((rbQuat){0.8, 0.0, 0.5, 0.3});
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    shape.transform.p = rbMakeVec3(-0.2, 0.4, 0.0);
    assert_false(RB_IS_NULL(rbCreateShape(world, id, &shape, &error)));
    rbBodyState s = rbBody_GetState(world, id);
    checkBelow(rbDistance(s.transform.p, def.position), 1e-15);
    checkNear(fabs(rbDotQuat(s.transform.q, def.orientation)), 1.0, 1e-15);
    checkBelow(rbDistance(s.angularVelocity, def.angularVelocity), 1e-15);
    // A point of the body keeps its place in the body while the body tumbles, and the center of
    // mass flies straight on.
    rbVec3 center = rbInvTransformPoint(s.transform, s.center);
    (void)rbWorld_Advance(world, 2.5);
    rbBodyState later = rbBody_GetState(world, id);
    checkBelow(rbDistance(later.center, s.center), 1e-14);
    checkBelow(rbDistance(rbTransformPoint(later.transform, center), s.center), 1e-14);
    rbDestroyWorld(world);
}

// B-08: look-ahead changes nothing and agrees with the later states.
static void lookAheadAgreesWithWhatComes(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbBodyId id = addTumblingBox(world, "box");
    (void)rbWorld_Advance(world, 0.5);
    uint64_t hash = rbWorld_GetHash(world);
    rbVec3 corner = rbMakeVec3(0.05, 0.2, 0.45);
    rbVec3 point = rbBody_GetPointAt(world, id, corner, 0.75);
    rbVec3 direction = rbBody_GetDirectionAt(world, id, rbMakeVec3(0.0, 0.0, 1.0), 0.75);
    assert_true(rbWorld_GetHash(world) == hash);
    (void)rbWorld_AdvanceTo(world, 0.75);
    rbBodyState s = rbBody_GetState(world, id);
    checkBelow(rbDistance(point, rbTransformPoint(s.transform, corner)), 0.0);
    checkBelow(rbDistance(direction, rbRotate(s.transform.q, rbMakeVec3(0.0, 0.0, 1.0))), 0.0);
    rbDestroyWorld(world);
}

// L-09: velocity of a body point is the derivative of its position.
static void pointVelocityIsTheDerivative(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbBodyId id = addTumblingBox(world, "box");
    (void)rbWorld_AdvanceTo(world, 0.5);
    rbVec3 corner = rbMakeVec3(0.05, 0.2, 0.45);
    double h = 1e-5;
    rbVec3 after = rbBody_GetPointAt(world, id, corner, 0.5 + h);
    rbVec3 before = rbBody_GetPointAt(world, id, corner, 0.5 - h);
    rbVec3 here = rbBody_GetPointAt(world, id, corner, 0.5);
    rbVec3 difference = rbScale(0.5 / h, rbSub(after, before));
    checkBelow(rbDistance(difference, rbBody_GetPointVelocity(world, id, here)), 1e-7);
    rbDestroyWorld(world);
}

static void impulsesEnterTheJournalAndTheLedger(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbBodyId id = addTumblingBox(world, "box");
    (void)rbWorld_Advance(world, 0.3);
    rbLedger before = rbWorld_GetLedger(world);
    rbVec3 point = rbBody_GetPointAt(world, id, rbMakeVec3(0.05, 0.0, 0.3), 0.3);
    rbVec3 impulse = rbMakeVec3(1.0, -3.0, 2.0);
    rbBody_ApplyImpulse(world, id, impulse, point);
    rbLedger after = rbWorld_GetLedger(world);
    checkBelow(rbLength(rbSub(rbSub(after.momentum, before.momentum), impulse)), 1e-13);
    rbVec3 moment = rbCross(point, impulse);
    checkBelow(rbLength(rbSub(rbSub(after.angularMomentum, before.angularMomentum), moment)),
               1e-12);
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].kind, RB_EVENT_IMPULSE);
    checkNear(events[0].energyChange, after.energy - before.energy, 1e-12);
    checkNear(after.energyDrift, 0.0, 1e-11);
    (void)rbWorld_Advance(world, 1.0);
    checkNear(rbWorld_GetLedger(world).energyDrift, 0.0, 1e-10);
    rbDestroyWorld(world);
}

// B-88: closed form of linear drag, v = v_inf (1 - exp(-t/tau)).
static void linearDragReachesTerminalVelocity(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.81));
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {.volume = 1.0, .mass = 2.0, .inertia = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    def.angularVelocity = rbMakeVec3(0.0, 3.0, 0.0);
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_DRAG;
    force.linear = 4.0;
    force.angular = 0.05;
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    rbStepReport report = rbWorld_Advance(world, 1.5);
    assert_int_equal(report.status, RB_STATUS_OK);
    assert_int_equal(report.numericCount, 1);
    rbBodyState s = rbBody_GetState(world, id);
    double tau = 2.0 / 4.0;
    double terminal = -9.81 * tau;
    checkNear(s.linearVelocity.z, terminal * (1.0 - exp(-1.5 / tau)), 1e-10);
    checkNear(s.center.z, terminal * (1.5 - tau * (1.0 - exp(-1.5 / tau))), 1e-10);
    checkNear(s.angularVelocity.y, 3.0 * exp(-1.5 * 0.05 / 0.1), 1e-10);
    // The ledger accounts for the energy.
    checkNear(report.ledger.energyDrift, 0.0, 1e-9);
    assert_true(report.ledger.work < -1.0);
    assert_true(isinf(rbBody_GetAccelerationBound(world, id)));
    rbDestroyWorld(world);
}

static void constantForceStaysInClosedForm(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbError error = {0};
    rbBodyId id = addTumblingBox(world, "box");
    rbForceDef force = rbDefaultForceDef();
    force.body = id;
    force.force = rbMakeVec3(20.0, 0.0, 0.0);
    rbForceId forceId = rbCreateForce(world, &force, &error);
    assert_false(RB_IS_NULL(forceId));
    rbStepReport report = rbWorld_Advance(world, 3.0);
    assert_int_equal(report.exactCount, 1);
    checkNear(rbBody_GetState(world, id).center.x, -6.0 + 0.5 * 2.0 * 9.0, 1e-13);
    checkNear(report.ledger.energyDrift, 0.0, 1e-9);
    checkRelative(rbBody_GetAccelerationBound(world, id), 9.8 + 2.0, 1e-13);
    rbDestroyForce(world, forceId);
    report = rbWorld_Advance(world, 1.0);
    checkNear(report.ledger.energyDrift, 0.0, 1e-9);
    checkNear(rbBody_GetState(world, id).linearVelocity.x, 4.0, 1e-13);
    rbDestroyWorld(world);
}

static void springForce(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    (void)torque;
    const double* stiffness = context;
    *force = rbScale(-*stiffness, input->center);
}

// B-88: a user force; the harmonic oscillator has its period.
static void userForceOscillates(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {.volume = 1.0, .mass = 2.0, .inertia = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    def.position = rbMakeVec3(1.0, 0.0, 0.0);
    rbBodyId id = rbCreateBody(world, &def, &error);
    double stiffness = 8.0;
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_USER;
    force.callback = springForce;
    force.context = &stiffness;
    force.accelerationMax = 4.0;
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    rbStepReport report = rbWorld_Advance(world, RB_PI); // one period: omega = 2
    checkNear(rbBody_GetState(world, id).center.x, 1.0, 1e-9);
    checkNear(report.ledger.energyDrift, 0.0, 1e-9);
    checkNear(rbBody_GetAccelerationBound(world, id), 4.0, 0.0);
    rbDestroyWorld(world);
}

// A body falls straight into a center of attraction: no later number can be right, so the report
// says so and names the body, and the state stays finite.
static void fallIntoACenterIsReported(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {.volume = 1.0, .mass = 1.0, .inertia = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    def.position = rbMakeVec3(1.0, 0.0, 0.0);
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_CENTRAL;
    force.strength = 1.0;
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    // Free fall into the center takes pi / (2 sqrt 2) = 1.11 s.
    rbStepReport before = rbWorld_Advance(world, 1.0);
    assert_int_equal(before.status, RB_STATUS_OK);
    rbStepReport report = rbWorld_Advance(world, 0.5);
    assert_int_equal(report.status, RB_STATUS_NUMERICAL);
    assert_true(RB_ID_EQUALS(report.failedBody, id));
    assert_true(rbIsFinite3(rbBody_GetState(world, id).center));
    rbDestroyWorld(world);
}

static void namedExactRowWithLoadsFallsBackAndSaysSo(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {.volume = 1.0, .mass = 2.0, .inertia = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    def.motion = (rbMotionSettings){RB_MOTION_EXACT, 1e-3, 8, 1e-12};
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbForceDef force = rbDefaultForceDef();
    force.torque = rbMakeVec3(0.0, 0.0, 0.2);
    (void)rbCreateForce(world, &force, &error);
    rbStepReport report = rbWorld_Advance(world, 2.0);
    assert_int_equal(report.fallbackCount, 1);
    bool isFallback;
    assert_int_equal(rbBody_GetMotion(world, id, &isFallback), RB_MOTION_CASH_KARP);
    assert_true(isFallback);
    int count;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].kind, RB_EVENT_FALLBACK);
    checkNear(rbBody_GetState(world, id).angularVelocity.z, 4.0, 1e-10);
    rbDestroyWorld(world);
}

static void idsOfDestroyedBodiesAreDead(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyId a = addTumblingBox(world, "a");
    rbGeometryId geometry = rbBody_GetShape(world, a, 0).geometry;
    assert_int_equal(rbWorld_DestroyGeometry(world, geometry, &error), RB_STATUS_INVALID);
    rbDestroyBody(world, a);
    assert_false(rbBody_IsValid(world, a));
    assert_int_equal(rbWorld_DestroyGeometry(world, geometry, &error), RB_STATUS_OK);
    rbBodyId b = addTumblingBox(world, "a");
    assert_true(b.index1 == a.index1 && b.generation != a.generation);
    assert_int_equal(rbWorld_GetBodyCount(world), 1);
    rbDestroyWorld(world);
}

static void badBodiesGetAMessage(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbBodyId first = addTumblingBox(world, "box");
    (void)first;
    rbMassProperties impossible = {.mass = 1.0, .inertia = {1.0, 1.0, 3.0, 0.0, 0.0, 0.0}};
    rbMassProperties weightless = {.mass = 0.0, .inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0}};
    rbBodyDef defs[7];
    for (int i = 0; i < 7; ++i) {
        defs[i] = rbDefaultBodyDef();
        defs[i].name = "other";
    }
    defs[0].name = "box";
    defs[1].position.x = NAN;
    defs[2].orientation = (rbQuat){0.0, 0.0, 0.0, 0.0};
    defs[3].mass = &impossible;
    defs[4].mass = &weightless;
    defs[5].cookie = 0;
    defs[6].name = "a name that is much too long for a body, which may have sixty-three bytes";
    for (int i = 0; i < 7; ++i) {
        rbError error = {0};
        assert_true(RB_IS_NULL(rbCreateBody(world, &defs[i], &error)));
        assert_true(error.status != RB_STATUS_OK);
        assert_true(strlen(error.message) > 10);
    }
    assert_int_equal(rbWorld_GetBodyCount(world), 1);
    rbDestroyWorld(world);
}

static void bulkFieldsReadAndWrite(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbRandom random = {rbTest_Seed(61)};
    enum {
        COUNT = 50
    };
    rbMassProperties mass = {
        .volume = 1.0, .mass = 2.0, .inertia = {0.1, 0.12, 0.15, 0.0, 0.0, 0.0}};
    for (int i = 0; i < COUNT; ++i) {
        rbBodyDef def = rbDefaultBodyDef();
        def.mass = &mass;
        def.position = rbRandom_Direction(&random);
        def.orientation = rbRandom_Quat(&random);
        (void)rbCreateBody(world, &def, &error);
    }
    struct {
        double v[4];
        int tag;
    } rows[COUNT];
    for (int field = 0; field < RB_FIELD_COUNT; ++field) {
        int width = rbBodyField_Width((rbBodyField)field);
        rbWorld_ReadField(world, (rbBodyField)field, rows[0].v, sizeof rows[0]);
        bool isWritable = field != RB_FIELD_CENTER && field != RB_FIELD_MASS;
        rbStatus status =
            rbWorld_WriteField(world, (rbBodyField)field, rows[0].v, sizeof rows[0], &error);
        assert_int_equal(status == RB_STATUS_OK, isWritable);
        double packed[4 * COUNT];
        rbWorld_ReadField(world, (rbBodyField)field, packed, 0);
        for (int i = 0; i < COUNT; ++i) {
            for (int k = 0; k < width; ++k) {
                checkNear(packed[i * width + k], rows[i].v[k], 1e-15);
            }
        }
    }
    double velocities[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; ++i) {
        velocities[i] = i;
    }
    assert_int_equal(rbWorld_WriteField(world, RB_FIELD_LINEAR_VELOCITY, velocities, 0, &error),
                     RB_STATUS_OK);
    velocities[7] = NAN;
    assert_int_equal(rbWorld_WriteField(world, RB_FIELD_LINEAR_VELOCITY, velocities, 0, &error),
                     RB_STATUS_INVALID);
    double back[3 * COUNT];
    rbWorld_ReadField(world, RB_FIELD_LINEAR_VELOCITY, back, 0);
    checkNear(back[7], 7.0, 0.0);
    rbDestroyWorld(world);
}

static void badTimesMoveNothing(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    (void)addTumblingBox(world, "box");
    uint64_t hash = rbWorld_GetHash(world);
    assert_int_equal(rbWorld_Advance(world, -1.0).status, RB_STATUS_INVALID);
    assert_int_equal(rbWorld_Advance(world, NAN).status, RB_STATUS_INVALID);
    assert_int_equal(rbWorld_AdvanceTo(world, INFINITY).status, RB_STATUS_INVALID);
    assert_true(rbWorld_GetHash(world) == hash);
    assert_true(RB_IS_NULL(rbWorld_AddGeometry(world, NULL)));
    rbDestroyWorld(world);
}

// Drag brings a body to rest exponentially, down to numbers that underflow: this must not run
// forever.
static void dragToRestEnds(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {
        .volume = 1.0, .mass = 1.0, .inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    def.linearVelocity = rbMakeVec3(3.0, 0.0, 0.0);
    def.angularVelocity = rbMakeVec3(0.0, 0.0, 10.0);
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_DRAG;
    force.linear = 5.0;
    force.quadratic = 0.3;
    force.angular = 0.1;
    assert_false(RB_IS_NULL(rbCreateForce(world, &force, &error)));
    rbStepReport report = rbWorld_AdvanceTo(world, 2000.0);
    assert_int_equal(report.status, RB_STATUS_OK);
    assert_true(report.integratorSteps < 100000);
    // Steps grow as the speed falls, until drag over a step is too much for them.
    assert_true(report.rejectedSteps > 0 && report.rejectedSteps < report.integratorSteps);
    rbBodyState s = rbBody_GetState(world, id);
    checkNear(rbLength(s.linearVelocity), 0.0, 1e-6);
    checkNear(rbLength(s.angularVelocity), 0.0, 1e-5);
    checkNear(report.ledger.energyDrift, 0.0, 1e-9);
    rbDestroyWorld(world);
}

static void bodiesTakeWhatTheyLeaveOutFromTheWorld(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbMassProperties mass = {
        .volume = 1.0, .mass = 1.0, .inertia = {0.1, 0.2, 0.25, 0.0, 0.0, 0.0}};
    def.mass = &mass;
    def.motion.type = RB_MOTION_RK4;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    assert_int_equal(rbBody_GetMotion(world, id, NULL), RB_MOTION_RK4);
    def.name = "odd";
    def.motion.step = -1.0;
    assert_true(RB_IS_NULL(rbCreateBody(world, &def, &error)));
    assert_non_null(strstr(error.message, "odd"));
    rbDestroyWorld(world);
}

static void shapesHaveIdsOfTheirOwn(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(RB_VEC3_ZERO);
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = addBox(world, 1.0, 1.0, 1.0);
    rbBodyId a = rbCreateBody(world, &def, &error);
    rbBodyId b = rbCreateBody(world, &def, &error);
    rbShapeId first = rbCreateShape(world, a, &shape, &error);
    rbShapeId second = rbCreateShape(world, b, &shape, &error);
    assert_false(RB_ID_EQUALS(first, second));
    rbDestroyBody(world, a);
    rbBodyId c = rbCreateBody(world, &def, &error);
    rbShapeId third = rbCreateShape(world, c, &shape, &error);
    assert_false(RB_ID_EQUALS(first, third));
    // A removed body is refused in every build.
    assert_true(RB_IS_NULL(rbCreateShape(world, a, &shape, &error)));
    rbDestroyWorld(world);
}

static void periodicBoxWrapsPositions(void** state)
{
    (void)state;
    rbWorldDef def = rbDefaultWorldDef();
    def.periodicBox = rbMakeVec3(2.0, 0.0, 4.0);
    rbError error = {0};
    rbWorld* world = rbCreateWorld(&def, &error);
    int image[3];
    rbVec3 p = rbWorld_WrapPosition(world, rbMakeVec3(5.5, 7.0, -2.0), image);
    checkBelow(rbDistance(p, rbMakeVec3(-0.5, 7.0, -2.0)), 1e-15);
    assert_int_equal(image[0], 3);
    assert_int_equal(image[1], 0);
    assert_int_equal(image[2], 0);
    rbDestroyWorld(world);
    def.periodicBox.x = -1.0;
    assert_null(rbCreateWorld(&def, &error));
}

static void stepTimesLandOnTheSameDoubles(void** state)
{
    (void)state;
    for (int64_t k = 0; k < 200000; ++k) {
        double fine = rbGetStepTime(10 * k, 1e-3);
        double coarse = rbGetStepTime(k, 1e-2);
        assert_true(fine == coarse);
    }
    assert_true(rbGetStepTime(3, 0.1) == 0.3);
    assert_true(rbGetStepTime(60, 1.0 / 60.0) == 1.0);
    assert_true(rbGetStepTime(0, 0.1) == 0.0);
    assert_true(rbGetStepTime(7, 0.0) == 0.0);
    checkRelative(rbGetStepTime(1000, RB_PI / 1000.0), RB_PI, 1e-15);
}

static void motionBoundsHoldTheBody(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbBodyId id = addTumblingBox(world, "box");
    rbBounds box;
    assert_true(rbBody_GetMotionBounds(world, id, 0.2, 1.4, &box));
    for (int k = 0; k <= 100; ++k) {
        double time = 0.2 + 1.2 * k / 100.0;
        for (int corner = 0; corner < 8; ++corner) {
            rbVec3 local = rbMakeVec3(corner & 1 ? 0.05 : -0.05, corner & 2 ? 0.2 : -0.2,
                                      corner & 4 ? 0.45 : -0.45);
            rbVec3 p = rbBody_GetPointAt(world, id, local, time);
            assert_true(p.x >= box.lower.x && p.x <= box.upper.x);
            assert_true(p.y >= box.lower.y && p.y <= box.upper.y);
            assert_true(p.z >= box.lower.z && p.z <= box.upper.z);
        }
    }
    rbDestroyWorld(world);
}

static void kinematicBodyFollowsItsPath(void** state)
{
    (void)state;
    rbWorld* world = makeWorld(rbMakeVec3(0.0, 0.0, -9.8));
    rbError error = {0};
    rbPathDef path = rbDefaultPathDef();
    path.speed = 2.0;
    path.direction = rbMakeVec3(0.0, 1.0, 0.0);
    path.angularVelocity = rbMakeVec3(0.0, 0.0, 1.0);
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_KINEMATIC;
    def.position = rbMakeVec3(1.0, 0.0, 0.0);
    def.path = &path;
    rbBodyId id = rbCreateBody(world, &def, &error);
    assert_false(RB_IS_NULL(id));
    (void)rbWorld_Advance(world, 1.5);
    rbBodyState s = rbBody_GetState(world, id);
    checkBelow(rbDistance(s.transform.p, rbMakeVec3(1.0, 3.0, 0.0)), 1e-15);
    checkNear(s.angularVelocity.z, 1.0, 1e-15);
    checkNear(s.transform.q.w, cos(0.75), 1e-15);
    rbBody_ApplyImpulse(world, id, rbMakeVec3(9.0, 0.0, 0.0), s.center);
    checkNear(rbBody_GetState(world, id).linearVelocity.x, 0.0, 0.0);
    rbDestroyWorld(world);
}

RB_TEST_GROUP(
    test_world, cmocka_unit_test(boxHasMassFromItsShape),
    cmocka_unit_test(typesDecideWhatMovesABody), cmocka_unit_test(poseIsThatOfTheGivenFrame),
    cmocka_unit_test(lookAheadAgreesWithWhatComes), cmocka_unit_test(pointVelocityIsTheDerivative),
    cmocka_unit_test(impulsesEnterTheJournalAndTheLedger),
    cmocka_unit_test(linearDragReachesTerminalVelocity),
    cmocka_unit_test(constantForceStaysInClosedForm), cmocka_unit_test(userForceOscillates),
    cmocka_unit_test(badTimesMoveNothing), cmocka_unit_test(dragToRestEnds),
    cmocka_unit_test(bodiesTakeWhatTheyLeaveOutFromTheWorld),
    cmocka_unit_test(shapesHaveIdsOfTheirOwn), cmocka_unit_test(fallIntoACenterIsReported),
    cmocka_unit_test(namedExactRowWithLoadsFallsBackAndSaysSo),
    cmocka_unit_test(idsOfDestroyedBodiesAreDead), cmocka_unit_test(badBodiesGetAMessage),
    cmocka_unit_test(bulkFieldsReadAndWrite), cmocka_unit_test(periodicBoxWrapsPositions),
    cmocka_unit_test(stepTimesLandOnTheSameDoubles), cmocka_unit_test(motionBoundsHoldTheBody),
    cmocka_unit_test(kinematicBodyFollowsItsPath));
