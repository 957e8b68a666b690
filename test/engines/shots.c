#include "shots.h"

#include "lab/math/random3.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

#define PLATE_THINNESS 1e-4
// The largest number of turns in a shot, so that the oracle can follow them.
#define ROD_ANGLE_MAX 1500.0
#define ANGLE_MAX 200.0
#define ROD_SPIN_MAX 1000.0
// Budget of one second: lasting contact needs a few thousand events; sliding in the hollow of a
// mesh, where only the bound by paths is left, needs up to some millions.
#define EVENTS_MAX 1e7

static const char* const names[SHOT_SHAPE_COUNT] = {
    "sphere",    "eccentric", "box",   "capsule",  "cylinder", "cone", "hull",
    "ellipsoid", "L-mesh",    "torus", "compound", "plate",    "rod",  "plane"};

const char* shotShapeName(ShotShape shape)
{
    return names[shape];
}

// ------------------------------------------------------------------------------------- geometries

typedef rbGeometry* MakeFn(rbRandom* random);

static double drawSize(rbRandom* random)
{
    return rbRandom_Range(random, 0.1, 1.0);
}

static rbGeometry* makeBall(rbRandom* random)
{
    return rbCreateSphere(drawSize(random), NULL);
}

static rbGeometry* makeBlock(rbRandom* random)
{
    double x = drawSize(random);
    double y = drawSize(random);
    return rbCreateBox(rbMakeVec3(x, y, drawSize(random)), NULL);
}

static rbGeometry* makeCapsule(rbRandom* random)
{
    double radius = drawSize(random);
    return rbCreateCapsule(0.5 * radius, drawSize(random), NULL);
}

static rbGeometry* makeCylinder(rbRandom* random)
{
    double radius = drawSize(random);
    return rbCreateCylinder(radius, drawSize(random), NULL);
}

static rbGeometry* makeCone(rbRandom* random)
{
    double radius = drawSize(random);
    return rbCreateCone(radius, drawSize(random), NULL);
}

static rbGeometry* makeHull(rbRandom* random)
{
    rbVec3 points[14];
    for (int i = 0; i < 14; ++i) {
        points[i] = rbScale(drawSize(random), rbRandom_Direction(random));
    }
    return rbCreateHull(points, 14, NULL);
}

static rbGeometry* makeEllipsoid(rbRandom* random)
{
    double x = drawSize(random);
    double y = drawSize(random);
    return rbCreateEllipsoid(rbMakeVec3(x, y, drawSize(random)), NULL);
}

static rbGeometry* takeMesh(rbStatus status, rbOwnedMesh* mesh)
{
    assert_int_equal(status, RB_STATUS_OK);
    rbMeshDef def = rbOwnedMesh_GetDef(mesh);
    rbGeometry* geometry = rbCreateMesh(&def, NULL);
    rbFreeMesh(mesh);
    return geometry;
}

static rbGeometry* makeLMesh(rbRandom* random)
{
    double a = drawSize(random);
    double b = drawSize(random);
    double t = 0.3 * fmin(a, b);
    const double profile[6][2] = {{0.0, 0.0}, {a, 0.0}, {a, t}, {t, t}, {t, b}, {0.0, b}};
    rbOwnedMesh mesh;
    return takeMesh(rbExtrudeProfile(profile, 6, 0.5 * drawSize(random), &mesh, NULL), &mesh);
}

static rbGeometry* makeTorus(rbRandom* random)
{
    double profile[6][2];
    double ring = rbRandom_Range(random, 0.3, 0.8);
    double tube = rbRandom_Range(random, 0.2, 0.7) * ring;
    for (int i = 0; i < 6; ++i) {
        double s, c;
        rbSinCos(2.0 * RB_PI * i / 6.0, &s, &c);
        profile[i][0] = ring + tube * c;
        profile[i][1] = tube * s;
    }
    rbOwnedMesh mesh;
    return takeMesh(rbRevolveProfile((const double(*)[2])profile, 6, 10, &mesh, NULL), &mesh);
}

static rbGeometry* makeDumbbell(rbRandom* random)
{
    double half = drawSize(random);
    rbGeometry* first = rbCreateSphere(0.3 * half, NULL);
    rbGeometry* second = rbCreateBox(rbMakeVec3(0.2 * half, 0.3 * half, 0.25 * half), NULL);
    rbGeometry* bar = rbCreateCylinder(0.1 * half, half, NULL);
    rbCompoundChild children[3] = {{first, RB_TRANSFORM_IDENTITY, 0.0},
                                   {second, RB_TRANSFORM_IDENTITY, 0.0},
                                   {bar, RB_TRANSFORM_IDENTITY, 0.0}};
    children[0].transform.p.z = half;
    children[1].transform.p.z = -half;
    children[1].transform.q = rbRandom_Quat(random);
    rbGeometry* compound = rbCreateCompound(children, 3, NULL);
    rbDestroyGeometry(first);
    rbDestroyGeometry(second);
    rbDestroyGeometry(bar);
    return compound;
}

static rbGeometry* makePlate(rbRandom* random)
{
    double half = drawSize(random);
    return rbCreateBox(rbMakeVec3(half, half, PLATE_THINNESS * half), NULL);
}

static rbGeometry* makeRod(rbRandom* random)
{
    double half = drawSize(random);
    if (rbRandom_Unit(random) < 0.5) {
        return rbCreateCapsule(0.01 * half, half, NULL);
    }
    return rbCreateBox(rbMakeVec3(0.02 * half, 0.01 * half, half), NULL);
}

static rbGeometry* makePlane(rbRandom* random)
{
    (void)random;
    return rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL);
}

static MakeFn* const makers[SHOT_SHAPE_COUNT] = {
    makeBall,      makeBall,  makeBlock, makeCapsule,  makeCylinder, makeCone, makeHull,
    makeEllipsoid, makeLMesh, makeTorus, makeDumbbell, makePlate,    makeRod,  makePlane};

void makeShotPool(ShotPool* pool, rbRandom* random)
{
    for (int i = 0; i < SHOT_SHAPE_COUNT; ++i) {
        for (int k = 0; k < SHOT_VARIANTS; ++k) {
            pool->geometries[i][k] = makers[i](random);
            assert_non_null(pool->geometries[i][k]);
        }
    }
    pool->scratch = malloc(rbGetSeparationScratchSize());
}

void freeShotPool(ShotPool* pool)
{
    for (int i = 0; i < SHOT_SHAPE_COUNT; ++i) {
        for (int k = 0; k < SHOT_VARIANTS; ++k) {
            rbDestroyGeometry(pool->geometries[i][k]);
        }
    }
    free(pool->scratch);
}

// ------------------------------------------------------------------------------------------ worlds

static rbBodyId addShotBody(rbWorld* world, const Shot* shot, const ShotBody* body,
                            const char* name)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    rbPathDef path = rbDefaultPathDef();
    def.name = name;
    def.type = body->type;
    def.position = body->position;
    def.orientation = body->orientation;
    def.mass = body->hasMass ? &body->mass : NULL;
    if (body->type == RB_BODY_DYNAMIC) {
        def.linearVelocity = body->velocity;
        def.angularVelocity = body->spin;
    } else if (body->type == RB_BODY_KINEMATIC) {
        path.type = body->pathType;
        path.speed = rbLength(body->velocity);
        path.direction = body->velocity;
        path.points = body->points;
        path.pointCount = body->pathType == RB_PATH_CURVE ? 3 : 0;
        path.angularVelocity = body->spin;
        def.path = &path;
    }
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbGeometry_Retain(body->geometry));
    shape.material.restitution = shot->restitution;
    shape.material.friction = shot->friction;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        print_error("no body: %s\n", error.message);
        fail();
    }
    return id;
}

static rbWorld* makeEmptyWorld(const Shot* shot, rbEngineType engine)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = engine;
    def.event.order = shot->order;
    def.gravity = shot->gravity;
    def.event.eventsPerSecond = EVENTS_MAX;
    rbWorld* world = rbCreateWorld(&def, NULL);
    assert_non_null(world);
    return world;
}

rbWorld* makeShotWorld(const Shot* shot, rbEngineType engine, rbBodyId ids[2])
{
    rbWorld* world = makeEmptyWorld(shot, engine);
    ids[0] = addShotBody(world, shot, &shot->bodies[0], "target");
    ids[1] = addShotBody(world, shot, &shot->bodies[1], "projectile");
    return world;
}

double measureShot(ShotPool* pool, const Shot* shot, const rbWorld* world, const rbBodyId ids[2],
                   double time)
{
    rbTransform a = rbBody_GetStateAt(world, ids[0], time).transform;
    rbTransform b = rbBody_GetStateAt(world, ids[1], time).transform;
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = shot->bodies[0].geometry;
    input.geometryB = shot->bodies[1].geometry;
    input.transformBtoA = rbInvMulTransforms(a, b);
    input.transformBtoA.q = rbNormalizeQuat(input.transformBtoA.q);
    rbSeparation separation;
    rbError error = {0};
    if (rbMeasureSeparation(&input, NULL, pool->scratch, &separation, &error) != RB_STATUS_OK) {
        print_error("not measured: %s\n", error.message);
        fail();
    }
    return separation.distance;
}

// ------------------------------------------------------------------------------------------- draws

static double drawLog(rbRandom* random, double low, double high)
{
    return low * exp(rbRandom_Unit(random) * log(high / low));
}

static double radiusOf(const ShotBody* body)
{
    return rbGeometry_IsBounded(body->geometry) ? rbGeometry_GetRadius(body->geometry, RB_VEC3_ZERO)
                                                : 0.0;
}

static rbVec3 drawSpin(rbRandom* random, const ShotBody* body, double duration)
{
    bool isRod = body->shape == SHOT_ROD;
    double most = isRod ? fmin(ROD_SPIN_MAX, ROD_ANGLE_MAX / duration)
                        : fmin(100.0 / radiusOf(body), ANGLE_MAX / duration);
    double size = most * drawLog(random, 1e-3, 1.0);
    rbVec3 axis = rbRandom_Direction(random);
    if (isRod && rbRandom_Unit(random) < 0.7) { // mostly end over end
        axis = rbRotate(body->orientation, rbMakeVec3(axis.x, axis.y, 0.1 * axis.z));
    }
    return rbScale(size / fmax(rbLength(axis), 1e-3), axis);
}

static rbQuat drawOrientation(rbRandom* random)
{
    rbQuat identity = {1.0, 0.0, 0.0, 0.0};
    rbQuat q = rbRandom_Quat(random);
    return rbRandom_Unit(random) < 0.25 ? identity : q; // so that faces sometimes meet flush
}

static void drawBody(ShotPool* pool, rbRandom* random, ShotShape shape, ShotBody* body)
{
    *body = (ShotBody){.shape = shape, .type = RB_BODY_DYNAMIC};
    body->geometry = pool->geometries[shape][rbRandom_Index(random, SHOT_VARIANTS)];
    body->orientation = drawOrientation(random);
    if (shape == SHOT_ECCENTRIC) {
        double radius = rbGeometry_GetData(body->geometry).sphere.radius;
        assert_int_equal(rbGeometry_GetMass(body->geometry, 1000.0, &body->mass, NULL),
                         RB_STATUS_OK);
        body->mass.center = rbScale(0.5 * radius, rbRandom_Direction(random));
        body->hasMass = true;
    }
}

// The motion of the target.
static void drawTarget(rbRandom* random, Shot* shot)
{
    ShotBody* body = &shot->bodies[0];
    static const rbBodyType types[TARGET_COUNT] = {RB_BODY_DYNAMIC, RB_BODY_STATIC,
                                                   RB_BODY_KINEMATIC, RB_BODY_KINEMATIC};
    body->type = types[shot->target];
    body->position = rbScale(rbRandom_Unit(random), rbRandom_Direction(random));
    double speed = shot->speed * rbRandom_Unit(random);
    body->velocity = rbScale(speed, rbRandom_Direction(random));
    if (body->type == RB_BODY_STATIC) {
        body->velocity = RB_VEC3_ZERO;
    }
    if (shot->target == TARGET_DYNAMIC && rbRandom_Unit(random) < 0.3) {
        body->velocity = RB_VEC3_ZERO;
    }
    body->pathType = shot->target == TARGET_CURVE ? RB_PATH_CURVE : RB_PATH_LINE;
    double stride = fmax(0.4 * speed * shot->duration, 0.01);
    rbVec3 at = body->position;
    for (int i = 0; i < 3; ++i) {
        at = rbAddScaled(at, stride * rbRandom_Range(random, 0.5, 1.0), rbRandom_Direction(random));
        body->points[i] = at;
    }
    if (body->type != RB_BODY_STATIC && !shot->isGrazing && rbRandom_Unit(random) < 0.7) {
        body->spin = drawSpin(random, body, shot->duration);
    }
}

// How fast a point of a body can move about its center, from its momentum and energy.
static double boundSpinSpeed(const rbWorld* world, rbBodyId id, const ShotBody* body)
{
    if (body->type != RB_BODY_DYNAMIC) {
        return rbLength(body->spin) * radiusOf(body);
    }
    rbTransform frame;
    rbVec3 m = rbBody_GetPrincipalMoments(world, id, &frame);
    rbVec3 w = rbInvRotate(frame.q, rbBody_GetState(world, id).angularVelocityLocal);
    rbBounds box = rbGeometry_GetBounds(body->geometry, rbInvertTransform(frame));
    double x = fmax(fabs(box.lower.x), fabs(box.upper.x));
    double y = fmax(fabs(box.lower.y), fabs(box.upper.y));
    double z = fmax(fabs(box.lower.z), fabs(box.upper.z));
    double momentum = rbLength(rbMakeVec3(m.x * w.x, m.y * w.y, m.z * w.z));
    double energy = m.x * w.x * w.x + m.y * w.y * w.y + m.z * w.z * w.z;
    double most[3] = {fmin(momentum / m.x, sqrt(energy / m.x)),
                      fmin(momentum / m.y, sqrt(energy / m.y)),
                      fmin(momentum / m.z, sqrt(energy / m.z))};
    return most[0] * sqrt(y * y + z * z) + most[1] * sqrt(x * x + z * z) +
           most[2] * sqrt(x * x + y * y);
}

static double boundLipschitz(const Shot* shot)
{
    rbBodyId ids[2];
    rbWorld* twin = makeShotWorld(shot, RB_ENGINE_FLIGHT, ids);
    const ShotBody* bodies = shot->bodies;
    double speed = bodies[0].type == RB_BODY_DYNAMIC
                       ? rbDistance(bodies[0].velocity, bodies[1].velocity)
                       : rbLength(bodies[0].velocity) + rbLength(bodies[1].velocity) +
                             rbLength(shot->gravity) * shot->duration;
    speed += boundSpinSpeed(twin, ids[0], &bodies[0]) + boundSpinSpeed(twin, ids[1], &bodies[1]);
    rbDestroyWorld(twin);
    return 1.001 * speed;
}

// The point where the projectile's center of mass passes the target after half the time.
static rbVec3 drawAim(rbRandom* random, const Shot* shot, rbVec3 direction, double reach)
{
    const ShotBody* a = &shot->bodies[0];
    const ShotBody* b = &shot->bodies[1];
    rbVec3 across = rbCross(direction, rbRandom_Direction(random));
    across = rbScale(1.0 / fmax(rbLength(across), 1e-6), across);
    if (!shot->isGrazing) {
        double part = rbRandom_Unit(random);
        return rbScale(1.1 * reach * part * sqrt(part), across);
    }
    // Neither rotates: the outermost points pass each other within a few tolerances.
    rbVec3 localA = rbInvRotate(a->orientation, across);
    rbVec3 localB = rbInvRotate(b->orientation, rbNeg(across));
    rbVec3 pointA = rbRotate(a->orientation, rbGeometry_GetSupport(a->geometry, localA));
    rbVec3 pointB = rbRotate(b->orientation, rbGeometry_GetSupport(b->geometry, localB));
    double miss = 2e-4 * reach * rbRandom_Symmetric(random) * rbRandom_Unit(random);
    return rbAddScaled(rbSub(pointA, pointB), miss, across);
}

static rbVec3 drawDirection(rbRandom* random, const Shot* shot)
{
    rbVec3 direction = rbRandom_Direction(random);
    if (shot->bodies[0].shape == SHOT_PLANE) {
        rbVec3 up = rbRotate(shot->bodies[0].orientation, rbMakeVec3(0.0, 0.0, 1.0));
        direction = rbAddScaled(rbNeg(up), 0.8, direction);
        direction = rbScale(1.0 / rbLength(direction), direction);
    }
    return direction;
}

void drawShot(ShotPool* pool, rbRandom* random, ShotShape projectile, ShotShape target,
              bool isGrazing, Shot* shot)
{
    *shot = (Shot){.isGrazing = isGrazing && target != SHOT_PLANE};
    drawBody(pool, random, target, &shot->bodies[0]);
    drawBody(pool, random, projectile, &shot->bodies[1]);
    ShotBody* a = &shot->bodies[0];
    ShotBody* b = &shot->bodies[1];
    shot->target = (ShotTarget)rbRandom_Index(random, TARGET_COUNT);
    if (target == SHOT_PLANE) {
        shot->target = TARGET_STATIC;
    } else if (shot->isGrazing) {
        shot->target = shot->target == TARGET_CURVE ? TARGET_DYNAMIC : shot->target;
    }
    shot->speed = drawLog(random, 0.1, 1e4);
    shot->restitution = rbRandom_Unit(random);
    shot->friction = rbRandom_Unit(random);
    double reach = radiusOf(a) + radiusOf(b);
    double middle = reach * rbRandom_Range(random, 1.1, 3.0) / shot->speed;
    shot->duration = middle * rbRandom_Range(random, 1.5, 2.0);
    if (!shot->isGrazing && rbRandom_Unit(random) < 0.5) {
        double most = reach / (middle * middle);
        shot->gravity = rbScale(fmin(9.81, most), rbRandom_Direction(random));
    }
    drawTarget(random, shot);
    if (!shot->isGrazing && rbRandom_Unit(random) < 0.8) {
        b->spin = drawSpin(random, b, shot->duration);
    }
    rbWorld* twin = makeEmptyWorld(shot, RB_ENGINE_FLIGHT);
    rbBodyId id = addShotBody(twin, shot, a, "target");
    rbBodyState there = rbBody_GetStateAt(twin, id, middle);
    rbDestroyWorld(twin);
    rbVec3 direction = drawDirection(random, shot);
    bool isFree = a->type == RB_BODY_DYNAMIC;
    rbVec3 carried = isFree || shot->isGrazing ? a->velocity : RB_VEC3_ZERO;
    b->velocity = rbAddScaled(carried, shot->speed, direction);
    rbVec3 at = rbAdd(there.transform.p, drawAim(random, shot, direction, reach));
    at = rbAddScaled(at, -middle, b->velocity);
    b->position = rbAddScaled(at, -0.5 * middle * middle, shot->gravity);
    shot->lipschitz = boundLipschitz(shot);
}
