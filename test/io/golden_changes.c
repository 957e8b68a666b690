// Scenes that are changed while they run: between the advances random changes of all kinds that the
// public interface offers, to bodies, joints, springs, forces and settings, returns to snapshots,
// queries, and everything that can be read. A world forgets caches, bounds, pairs and warm starts
// at such changes, or keeps them wrongly; each of golden_changes.txt, see golden_lines.h, is a run
// with another seed. That a change does what it says is tested elsewhere.
#include "base/core/hash.h"
#include "base/core/random.h"
#include "golden_lines.h"

#include <math.h>

#define ROUNDS 8
#define BODIES_MAX 24 // that are read and changed
#define CHANGES_MAX 2 // between two advances

#define HASH(hash, ...)                                \
    rbHashDoubles(hash, (const double[]){__VA_ARGS__}, \
                  sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define PARTS(v) (v).x, (v).y, (v).z

// A world that is being changed.
typedef struct Tour {
    rbWorld* world;
    rbRandom random;
    uint64_t hash;
    rbBodyId bodies[BODIES_MAX]; // of the world, the first of them
    int bodyCount;
    rbJointId joints[BODIES_MAX];
    int jointCount;
    rbSpringId springs[BODIES_MAX];
    int springCount;
    rbForceId force;  // created by a change; null: none
    rbJointId drag;   // likewise
    rbBodyId partner; // of the filter of contacts; null: it lets all pass
} Tour;

static void updateIds(Tour* tour)
{
    int count = rbWorld_GetBodyIds(tour->world, tour->bodies, BODIES_MAX);
    tour->bodyCount = count < BODIES_MAX ? count : BODIES_MAX;
    count = rbWorld_GetJointIds(tour->world, tour->joints, BODIES_MAX);
    tour->jointCount = count < BODIES_MAX ? count : BODIES_MAX;
    count = rbWorld_GetSpringIds(tour->world, tour->springs, BODIES_MAX);
    tour->springCount = count < BODIES_MAX ? count : BODIES_MAX;
}

// Numbers are drawn one by one: compilers differ in the order of arguments.
static double draw(Tour* tour, double low, double high)
{
    return rbRandom_Range(&tour->random, low, high);
}

static rbVec3 drawVec3(Tour* tour, double size)
{
    double x = size * rbRandom_Symmetric(&tour->random);
    double y = size * rbRandom_Symmetric(&tour->random);
    return rbMakeVec3(x, y, size * rbRandom_Symmetric(&tour->random));
}

static rbBodyId drawBody(Tour* tour)
{
    return tour->bodies[rbRandom_Index(&tour->random, tour->bodyCount)];
}

// A length and a speed that suit a body: its radius of gyration, and a fall from that height.
static double sizeOf(const Tour* tour, rbBodyId bodyId)
{
    rbMassProperties mass = rbBody_GetMass(tour->world, bodyId);
    double sum = mass.inertia.xx + mass.inertia.yy + mass.inertia.zz;
    return mass.mass > 0.0 && sum > 0.0 ? sqrt(sum / (2.0 * mass.mass)) : 0.1;
}

static double speedOf(const Tour* tour, rbBodyId bodyId)
{
    return sqrt(2.0 * 9.81 * sizeOf(tour, bodyId));
}

static rbStatus refuse(void)
{
    return RB_STATUS_UNSUPPORTED;
}

// ------------------------------------------------------------------------------------- of bodies

static rbStatus pushBody(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    double mass = rbBody_GetMass(tour->world, id).mass;
    rbVec3 impulse = drawVec3(tour, mass * speedOf(tour, id));
    rbVec3 center = rbBody_GetState(tour->world, id).center;
    rbVec3 point = rbAdd(center, drawVec3(tour, sizeOf(tour, id)));
    return rbBody_ApplyImpulse(tour->world, id, impulse, point);
}

static rbStatus turnBody(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    double mass = rbBody_GetMass(tour->world, id).mass;
    rbVec3 impulse = drawVec3(tour, mass * speedOf(tour, id) * sizeOf(tour, id));
    return rbBody_ApplyAngularImpulse(tour->world, id, impulse);
}

static rbStatus moveBody(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    rbBodyState s = rbBody_GetState(tour->world, id);
    double size = sizeOf(tour, id);
    s.transform.p = rbAdd(s.transform.p, drawVec3(tour, 0.2 * size));
    s.transform.p.z += 0.5 * size;
    rbVec3 turn = drawVec3(tour, 0.3);
    s.transform.q = rbNormalizeQuat(
        rbMulQuat((rbQuat){1.0, 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z}, s.transform.q));
    rbVec3 velocity = drawVec3(tour, speedOf(tour, id));
    rbError error = {0};
    return rbBody_SetState(tour->world, id, s.transform, velocity, turn, &error);
}

static rbStatus writeFields(Tour* tour)
{
    static const rbBodyField fields[] = {RB_FIELD_LINEAR_VELOCITY, RB_FIELD_ANGULAR_VELOCITY,
                                         RB_FIELD_FORCE,           RB_FIELD_TORQUE,
                                         RB_FIELD_POSITION,        RB_FIELD_ORIENTATION};
    rbBodyField field = fields[rbRandom_Index(&tour->random, 6)];
    size_t count = (size_t)rbWorld_GetBodyCount(tour->world);
    int width = rbBodyField_Width(field);
    double* values = malloc((count * 5 + 1) * sizeof *values);
    assert_non_null(values);
    rbWorld_ReadField(tour->world, field, values, 5 * sizeof *values);
    double factor = draw(tour, 0.8, 1.2);
    double sum = field == RB_FIELD_FORCE || field == RB_FIELD_TORQUE ? draw(tour, 0.0, 1e-3) : 0.0;
    for (size_t i = 0; i < count && field != RB_FIELD_POSITION && field != RB_FIELD_ORIENTATION;
         ++i) {
        for (int k = 0; k < width; ++k) {
            values[5 * i + (size_t)k] = factor * values[5 * i + (size_t)k] + sum;
        }
    }
    rbError error = {0};
    rbStatus status = rbWorld_WriteField(tour->world, field, values, 5 * sizeof *values, &error);
    free(values);
    return status;
}

static rbStatus changeMass(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    if (rbBody_GetType(tour->world, id) != RB_BODY_DYNAMIC) {
        return refuse();
    }
    double mass = rbBody_GetMass(tour->world, id).mass;
    rbError error = {0};
    return rbBody_SetMass(tour->world, id, draw(tour, 0.5, 2.0) * mass, &error);
}

static rbStatus changeMaterial(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    int count = rbBody_GetShapeCount(tour->world, id);
    if (count == 0) {
        return refuse();
    }
    int index = rbRandom_Index(&tour->random, count + 1) - 1;
    rbMaterial material = rbBody_GetShape(tour->world, id, index < 0 ? 0 : index).material;
    material.density *= draw(tour, 0.7, 1.5);
    material.restitution = draw(tour, 0.0, 1.0);
    material.friction = draw(tour, 0.0, 1.0);
    material.stiction = draw(tour, 0.0, 1.0) < 0.5 ? -1.0 : 1.5 * material.friction;
    material.rolling = draw(tour, -0.01, 0.01);
    material.rolling = material.rolling < 0.0 ? 0.0 : material.rolling;
    material.kind = rbRandom_Index(&tour->random, 3);
    rbError error = {0};
    return rbBody_SetMaterial(tour->world, id, index, &material, &error);
}

static rbStatus changePair(Tour* tour)
{
    rbMaterialPair pair = {.restitution = draw(tour, 0.0, 1.0)};
    pair.friction = draw(tour, 0.0, 1.0);
    pair.law = (rbImpactLaw)rbRandom_Index(&tour->random, RB_IMPACT_LAW_COUNT + 1);
    int kindA = rbRandom_Index(&tour->random, 3), kindB = rbRandom_Index(&tour->random, 3);
    rbError error = {0};
    rbStatus status = rbWorld_SetMaterialPair(tour->world, kindA, kindB, &pair, &error);
    rbMaterialPair found = {0};
    bool isFound = rbWorld_GetMaterialPair(tour->world, kindB, kindA, &found);
    tour->hash = HASH(tour->hash, isFound, found.restitution, found.friction, (double)found.law);
    return status;
}

static rbStatus changeSurface(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    int count = rbBody_GetShapeCount(tour->world, id);
    if (count == 0) {
        return refuse();
    }
    int index = rbRandom_Index(&tour->random, count + 1) - 1;
    rbError error = {0};
    return rbBody_SetSurfaceVelocity(tour->world, id, index, drawVec3(tour, 0.5), &error);
}

static rbStatus changeGroups(Tour* tour)
{
    rbBodyId id = drawBody(tour);
    uint32_t groups = 1u << rbRandom_Index(&tour->random, 3);
    rbBody_SetGroups(tour->world, id, groups, draw(tour, 0.0, 1.0) < 0.5 ? UINT32_MAX : ~groups);
    return RB_STATUS_OK;
}

static rbStatus removeBody(Tour* tour)
{
    if (tour->bodyCount < 2 || draw(tour, 0.0, 1.0) < 0.5) {
        return refuse();
    }
    rbBodyId id = drawBody(tour);
    if (!RB_IS_NULL(tour->drag) || rbBody_GetType(tour->world, id) != RB_BODY_DYNAMIC) {
        return refuse(); // a drag would end with its body
    }
    rbDestroyBody(tour->world, id);
    updateIds(tour);
    return RB_STATUS_OK;
}

// A ball or a box above a body.
static rbStatus addBody(Tour* tour)
{
    rbBodyId near = drawBody(tour);
    double size = sizeOf(tour, near);
    rbError error = {0};
    bool isBall = draw(tour, 0.0, 1.0) < 0.5;
    rbVec3 edges = rbMakeVec3(draw(tour, 0.4, 0.8) * size, 0.5 * size, 0.3 * size);
    rbGeometry* geometry = isBall ? rbCreateSphere(edges.x, &error) : rbCreateBox(edges, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(tour->world, geometry);
    shape.isSensor = draw(tour, 0.0, 1.0) < 0.2;
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbBody_GetState(tour->world, near).center;
    def.position.z += 4.0 * size;
    def.linearVelocity = drawVec3(tour, speedOf(tour, near));
    def.angularVelocity = drawVec3(tour, 1.0);
    rbMassProperties mass = {.volume = 1.0, .mass = 1.0, .inertia = {0.2, 0.3, 0.4, 0.0, 0.0, 0.0}};
    def.mass = shape.isSensor ? &mass : NULL;
    rbBodyId id = rbCreateBody(tour->world, &def, &error);
    if (RB_IS_NULL(id)) {
        return error.status;
    }
    rbShapeId shapeId = rbCreateShape(tour->world, id, &shape, &error);
    assert_false(RB_IS_NULL(shapeId));
    updateIds(tour);
    return RB_STATUS_OK;
}

// --------------------------------------------------------------------------- of joints and springs

static rbStatus changeFreedom(Tour* tour)
{
    if (tour->jointCount == 0) {
        return refuse();
    }
    rbJointId id = tour->joints[rbRandom_Index(&tour->random, tour->jointCount)];
    int count = rbJoint_GetState(tour->world, id).freedomCount;
    rbError error = {0};
    if (count == 0 && rbJoint_GetConditionCount(tour->world, id) == 0) {
        rbVec3 velocity = drawVec3(tour, 0.3), spin = drawVec3(tour, 0.3);
        return rbJoint_SetVelocity(tour->world, id, velocity, spin, &error);
    }
    if (count == 0) {
        return refuse();
    }
    int freedom = rbRandom_Index(&tour->random, count);
    rbFreedomDef def = rbJoint_GetFreedom(tour->world, id, freedom);
    if (def.motor.type != RB_MOTOR_NONE && draw(tour, 0.0, 1.0) < 0.5) {
        return rbJoint_SetMotorTarget(tour->world, id, freedom, draw(tour, -1.0, 1.0), &error);
    }
    def.stiffness = draw(tour, -0.5, 0.5);
    def.stiffness = def.stiffness < 0.0 ? 0.0 : def.stiffness;
    def.damping = draw(tour, 0.0, 0.1);
    def.friction = draw(tour, 0.0, 1.0) < 0.7 ? 0.0 : 0.01;
    return rbJoint_SetFreedom(tour->world, id, freedom, &def, &error);
}

static rbStatus changeLimit(Tour* tour)
{
    if (tour->jointCount == 0) {
        return refuse();
    }
    rbJointId id = tour->joints[rbRandom_Index(&tour->random, tour->jointCount)];
    rbJointState s = rbJoint_GetState(tour->world, id);
    int count = rbJoint_GetType(tour->world, id) == RB_JOINT_BALL ? 2 : s.freedomCount;
    if (count == 0) {
        return refuse();
    }
    int freedom = rbRandom_Index(&tour->random, count);
    double place = s.limitPositions[freedom];
    rbLimitDef limit = {.lower = place - draw(tour, 0.0, 0.2)};
    limit.upper = place + draw(tour, 0.0, 0.2);
    limit.restitution = draw(tour, 0.0, 1.0);
    if (draw(tour, 0.0, 1.0) < 0.3) {
        limit.lower = -INFINITY;
    }
    rbError error = {0};
    rbStatus status = rbJoint_SetLimit(tour->world, id, freedom, &limit, &error);
    limit = rbJoint_GetLimit(tour->world, id, freedom);
    tour->hash = HASH(tour->hash, limit.lower, limit.upper, limit.restitution);
    return status;
}

static rbStatus removeJoint(Tour* tour)
{
    if (tour->jointCount < 2 || draw(tour, 0.0, 1.0) < 0.5) {
        return refuse();
    }
    rbJointId id = tour->joints[rbRandom_Index(&tour->random, tour->jointCount)];
    if (id.index1 == tour->drag.index1) {
        return refuse();
    }
    rbDestroyJoint(tour->world, id);
    updateIds(tour);
    return RB_STATUS_OK;
}

// Starts, moves or ends a drag.
static rbStatus dragBody(Tour* tour)
{
    rbError error = {0};
    rbBodyId id = drawBody(tour);
    if (RB_IS_NULL(tour->drag)) {
        double force = 30.0 * rbBody_GetMass(tour->world, id).mass;
        if (rbBody_GetType(tour->world, id) != RB_BODY_DYNAMIC ||
            rbWorld_GetEngineType(tour->world) != RB_ENGINE_STEP) {
            return refuse();
        }
        rbVec3 point =
            rbAdd(rbBody_GetState(tour->world, id).center, drawVec3(tour, 0.3 * sizeOf(tour, id)));
        tour->drag = rbWorld_StartDrag(tour->world, id, point, force, &error);
    } else if (draw(tour, 0.0, 1.0) < 0.7) {
        rbVec3 point = rbAdd(rbJoint_GetState(tour->world, tour->drag).pointB, drawVec3(tour, 0.1));
        return rbWorld_MoveDrag(tour->world, tour->drag, point, 0.1);
    } else {
        rbDestroyJoint(tour->world, tour->drag);
        tour->drag = (rbJointId){0};
    }
    updateIds(tour);
    return error.status;
}

static rbStatus changeSpring(Tour* tour)
{
    if (tour->springCount == 0) {
        return refuse();
    }
    rbSpringId id = tour->springs[rbRandom_Index(&tour->random, tour->springCount)];
    if (draw(tour, 0.0, 1.0) < 0.2) {
        rbDestroySpring(tour->world, id);
        updateIds(tour);
        return RB_STATUS_OK;
    }
    rbSpringDef def = rbSpring_GetDef(tour->world, id);
    double rest = draw(tour, 0.0, 1.0) < 0.3 ? -1.0 : draw(tour, 0.8, 1.2) * def.restLength;
    rbError error = {0};
    double stiffness = draw(tour, 0.5, 1.5) * def.stiffness;
    return rbSpring_SetLaw(tour->world, id, stiffness, 1.3 * def.damping, rest, &error);
}

// A spring between two bodies or a body and the world.
static rbStatus addSpring(Tour* tour)
{
    rbSpringDef def = rbDefaultSpringDef();
    def.bodyA = draw(tour, 0.0, 1.0) < 0.5 ? (rbBodyId){0} : drawBody(tour);
    def.bodyB = drawBody(tour);
    if (def.bodyA.index1 == def.bodyB.index1 ||
        rbBody_GetType(tour->world, def.bodyB) != RB_BODY_DYNAMIC) {
        return refuse();
    }
    double mass = rbBody_GetMass(tour->world, def.bodyB).mass;
    def.anchorA = drawVec3(tour, 1.0);
    def.anchorB = drawVec3(tour, 0.5 * sizeOf(tour, def.bodyB));
    def.restLength = draw(tour, 0.1, 1.0);
    def.stiffness = draw(tour, 0.0, 100.0) * mass;
    def.damping = draw(tour, 0.0, 2.0) * mass;
    rbError error = {0};
    rbSpringId id = rbCreateSpring(tour->world, &def, &error);
    updateIds(tour);
    return RB_IS_NULL(id) ? error.status : RB_STATUS_OK;
}

// A joint of a body to the world where it is.
static rbStatus addJoint(Tour* tour)
{
    rbJointDef def = rbDefaultJointDef();
    def.type = (rbJointType)rbRandom_Index(&tour->random, RB_JOINT_FIXED + 1);
    def.bodyB = drawBody(tour);
    if (rbWorld_GetEngineType(tour->world) != RB_ENGINE_STEP ||
        rbBody_GetType(tour->world, def.bodyB) != RB_BODY_DYNAMIC) {
        return refuse();
    }
    rbVec3 center = rbBody_GetState(tour->world, def.bodyB).center;
    rbJointDef_SetAnchor(&def, tour->world, rbAdd(center, drawVec3(tour, sizeOf(tour, def.bodyB))));
    rbVec3 axis = drawVec3(tour, 1.0);
    axis.z += 2.0;
    rbJointDef_SetAxis(&def, tour->world, rbNormalize(axis));
    rbError error = {0};
    rbJointId id = rbCreateJoint(tour->world, &def, &error);
    updateIds(tour);
    return RB_IS_NULL(id) ? error.status : RB_STATUS_OK;
}

// -------------------------------------------------------------------------------- of the world

static rbStatus changeGravity(Tour* tour)
{
    rbVec3 gravity = rbAdd(rbWorld_GetGravity(tour->world), drawVec3(tour, 3.0));
    rbError error = {0};
    return rbWorld_SetGravity(tour->world, gravity, &error);
}

static rbStatus changeForce(Tour* tour)
{
    if (!RB_IS_NULL(tour->force)) {
        rbDestroyForce(tour->world, tour->force);
        tour->force = (rbForceId){0};
        return RB_STATUS_OK;
    }
    rbForceDef def = rbDefaultForceDef();
    bool isOfAll = draw(tour, 0.0, 1.0) < 0.5;
    def.type = (rbForceType)rbRandom_Index(&tour->random, RB_FORCE_USER);
    double mass = 0.1;
    if (!isOfAll) {
        rbBodyId id = drawBody(tour);
        mass = rbBody_GetMass(tour->world, id).mass;
        if (rbBody_GetType(tour->world, id) != RB_BODY_DYNAMIC) {
            return refuse();
        }
    }
    def.force = drawVec3(tour, 3.0 * mass);
    def.torque = drawVec3(tour, 0.01 * mass);
    def.linear = 0.3 * mass;
    def.quadratic = 0.1 * mass;
    def.angular = 0.01 * mass;
    def.center = rbMakeVec3(0.1, 0.2, 30.0);
    def.strength = 50.0;
    rbError error = {0};
    tour->force = rbCreateForce(tour->world, &def, &error);
    return error.status;
}

static rbStatus changeSteps(Tour* tour)
{
    rbStepSettings s = rbWorld_GetStepSettings(tour->world);
    s.step *= draw(tour, 0.5, 1.5);
    s.solver =
        draw(tour, 0.0, 1.0) < 0.7 ? s.solver : (rbSolverType)rbRandom_Index(&tour->random, 4);
    s.tolerance *= draw(tour, 0.0, 1.0) < 0.7 ? 1.0 : 10.0;
    s.journalMax = draw(tour, 0.0, 1.0) < 0.7 ? s.journalMax : 5;
    rbError error = {0};
    return rbWorld_SetStepSettings(tour->world, &s, &error);
}

static rbStatus changeContacts(Tour* tour)
{
    rbContactSettings s = rbWorld_GetContactSettings(tour->world);
    switch (rbRandom_Index(&tour->random, 10)) {
    case 0:
        s.law = (rbImpactLaw)rbRandom_Index(&tour->random, RB_IMPACT_LAW_COUNT);
        break;
    case 1:
        s.contactTime = (rbContactTime)rbRandom_Index(&tour->random, RB_CONTACT_TIME_COUNT);
        break;
    case 2:
        s.broadPhase = (rbBroadPhaseType)rbRandom_Index(&tour->random, rbBroadPhaseType_GetCount());
        break;
    case 3:
        s.isWarm = !s.isWarm;
        break;
    case 4:
        s.hasEvents = !s.hasEvents;
        break;
    case 5:
        s.areNeighborsMeeting = !s.areNeighborsMeeting;
        break;
    case 6:
        s.freezeSpeed = 0.05;
        s.freezeTime = 0.02;
        break;
    case 7:
        s.frictionRule = (rbCombineRule)rbRandom_Index(&tour->random, RB_COMBINE_COUNT);
        s.restitutionRule = (rbCombineRule)rbRandom_Index(&tour->random, RB_COMBINE_COUNT);
        break;
    case 8:
        s.cone = s.cone == RB_CONE_EXACT ? RB_CONE_PYRAMID : RB_CONE_EXACT;
        s.facets = 5;
        break;
    default:
        s.isEnabled = !s.isEnabled;
        break;
    }
    s.isOverlapAllowed = true;
    rbError error = {0};
    return rbWorld_SetContactSettings(tour->world, &s, &error);
}

static rbStatus changeAccuracy(Tour* tour)
{
    rbError error = {0};
    rbAccuracy accuracy = draw(tour, 0.0, 1.0) < 0.8 ? RB_ACCURACY_GAME : RB_ACCURACY_ENGINEERING;
    return draw(tour, 0.0, 1.0) < 0.5 ? refuse()
                                      : rbWorld_SetAccuracy(tour->world, accuracy, &error);
}

static bool avoidsPartner(const rbWorld* world, rbBodyId bodyA, rbBodyId bodyB, void* context)
{
    (void)world;
    const Tour* tour = context;
    return bodyA.index1 != tour->partner.index1 && bodyB.index1 != tour->partner.index1;
}

static rbStatus changeFilter(Tour* tour)
{
    if (RB_IS_NULL(tour->partner)) {
        tour->partner = drawBody(tour);
        rbWorld_SetContactFilter(tour->world, avoidsPartner, tour);
    } else {
        tour->partner = draw(tour, 0.0, 1.0) < 0.5 ? drawBody(tour) : (rbBodyId){0};
        rbWorld_RenewContactFilter(tour->world);
    }
    return RB_STATUS_OK;
}

static rbStatus clearJournal(Tour* tour)
{
    tour->hash = rbGolden_HashEvents(tour->hash, tour->world);
    rbWorld_ClearEvents(tour->world);
    rbWorld_EnableFlightStarts(tour->world, draw(tour, 0.0, 1.0) < 0.7);
    rbWorld_EnableJournal(tour->world, draw(tour, 0.0, 1.0) < 0.8);
    return RB_STATUS_OK;
}

typedef rbStatus ChangeFn(Tour* tour);

static ChangeFn* const changes[] = {
    pushBody,     pushBody,       pushBody,       turnBody,       moveBody,      moveBody,
    writeFields,  writeFields,    changeMass,     changeMaterial, changePair,    changeSurface,
    changeGroups, removeBody,     addBody,        addBody,        changeFreedom, changeFreedom,
    changeLimit,  changeLimit,    removeJoint,    dragBody,       dragBody,      changeSpring,
    addSpring,    addJoint,       changeGravity,  changeForce,    changeForce,   changeSteps,
    changeSteps,  changeContacts, changeContacts, changeAccuracy, changeFilter,  clearJournal,
};
#define CHANGE_COUNT ((int)(sizeof changes / sizeof changes[0]))

// --------------------------------------------------------------------------------------- reading

static uint64_t hashState(uint64_t hash, const rbBodyState* s)
{
    return HASH(hash, PARTS(s->transform.p), s->transform.q.w, PARTS(s->transform.q),
                PARTS(s->center), PARTS(s->linearVelocity), PARTS(s->angularVelocity),
                PARTS(s->angularVelocityLocal));
}

static void readBody(Tour* tour, rbBodyId id, double ahead)
{
    const rbWorld* world = tour->world;
    double time = rbWorld_GetTime(world) + ahead;
    rbBodyState s = rbBody_GetStateAt(world, id, time);
    tour->hash = hashState(tour->hash, &s);
    rbVec3 place = rbMakeVec3(0.1, 0.2, 0.3);
    rbVec3 point = rbBody_GetPointAt(world, id, place, time);
    rbVec3 direction = rbBody_GetDirectionAt(world, id, place, time);
    rbVec3 velocity = rbBody_GetPointVelocity(world, id, place);
    int image[3] = {0, 0, 0};
    rbVec3 wrapped = rbWorld_WrapPosition(world, point, image);
    tour->hash = HASH(tour->hash, PARTS(point), PARTS(direction), PARTS(velocity), PARTS(wrapped),
                      image[0], image[1], image[2]);
    rbTransform frame = {0};
    rbVec3 moments = rbBody_GetPrincipalMoments(world, id, &frame);
    rbMassProperties mass = rbBody_GetMass(world, id);
    rbSym3 i = mass.inertia;
    tour->hash =
        HASH(tour->hash, PARTS(moments), PARTS(frame.p), frame.q.w, PARTS(frame.q), mass.volume,
             mass.mass, PARTS(mass.center), i.xx, i.yy, i.zz, i.xy, i.xz, i.yz);
    bool isFallback = false;
    rbMotionType motion = rbBody_GetMotion(world, id, &isFallback);
    rbBounds bounds = {0};
    bool isBound = rbBody_GetMotionBounds(world, id, rbWorld_GetTime(world), time, &bounds);
    tour->hash = HASH(tour->hash, motion, isFallback, isBound, PARTS(bounds.lower),
                      PARTS(bounds.upper), rbBody_IsResting(world, id), rbBody_GetGrowth(world, id),
                      rbBody_GetAccelerationBound(world, id));
}

static void readJoint(Tour* tour, rbJointId id)
{
    const rbWorld* world = tour->world;
    rbHeldPart parts[16];
    int count = rbJoint_GetHeldParts(world, id, parts);
    for (int i = 0; i < count; ++i) {
        const rbHeldPart* p = &parts[i];
        tour->hash =
            HASH(tour->hash, p->type, PARTS(p->anchorA), PARTS(p->anchorB), PARTS(p->axisA),
                 PARTS(p->axisB), p->relative.w, PARTS(p->relative), p->distance);
    }
    tour->hash = HASH(tour->hash, count, rbJoint_GetConditionCount(world, id));
}

static void addPoint(rbVec3 point, uint32_t color, void* context)
{
    Tour* tour = context;
    tour->hash = HASH(tour->hash, PARTS(point), color);
}

static void addLine(rbVec3 start, rbVec3 end, uint32_t color, void* context)
{
    Tour* tour = context;
    tour->hash = HASH(tour->hash, PARTS(start), PARTS(end), color);
}

static void readDrawing(Tour* tour)
{
    rbDebugDraw def = rbDefaultDebugDraw();
    def.drawPoint = addPoint;
    def.drawLine = addLine;
    def.context = tour;
    def.enableBounds = true;
    def.enableCenters = true;
    def.deviation = 0.3;
    def.forceScale = 0.01;
    (void)rbWorld_Draw(tour->world, &def, NULL);
}

static void castRays(Tour* tour)
{
    for (int i = 0; i < 4; ++i) {
        rbBodyState from = rbBody_GetState(tour->world, drawBody(tour));
        rbBodyState to = rbBody_GetState(tour->world, drawBody(tour));
        rbRay ray = {.origin = rbAdd(from.center, drawVec3(tour, 1.0)), .tMax = 2.0};
        ray.direction = rbSub(to.center, ray.origin);
        rbQueryFilter filter = rbDefaultQueryFilter();
        rbQueryHit hit = {0};
        if (rbWorld_CastRay(tour->world, &ray, &filter, &hit, NULL) == RB_STATUS_OK &&
            !RB_IS_NULL(hit.bodyId)) {
            tour->hash =
                HASH(tour->hash, hit.bodyId.index1, hit.shapeIndex, hit.feature, hit.fraction,
                     hit.distance, PARTS(hit.point), PARTS(hit.normal), hit.isInside, hit.isExact);
        }
    }
    rbQueryCounts counts = rbWorld_GetQueryCounts(tour->world);
    tour->hash = HASH(tour->hash, (double)counts.boxTests, (double)counts.shapeTests,
                      (double)counts.updates, (double)counts.builds);
}

static void readAll(Tour* tour, double ahead)
{
    const rbWorld* world = tour->world;
    for (int i = 0; i < tour->bodyCount; ++i) {
        readBody(tour, tour->bodies[i], ahead);
    }
    for (int i = 0; i < tour->jointCount; ++i) {
        readJoint(tour, tour->joints[i]);
    }
    rbStiffSpring stiff = rbWorld_FindStiffSpring(world);
    tour->hash = HASH(tour->hash, stiff.spring.index1, stiff.joint.index1, stiff.period,
                      stiff.stepMax, stiff.count, rbWorld_HasContacts(world));
    rbEventStatistics e = rbWorld_GetEventStatistics(world);
    for (int i = 0; i < RB_IMPACT_LAW_COUNT; ++i) {
        tour->hash = HASH(tour->hash, (double)e.lawCounts[i]);
    }
    int count = 0;
    const rbFlightStart* starts = rbWorld_GetFlightStarts(world, &count);
    for (int i = 0; i < count; ++i) {
        tour->hash = HASH(tour->hash, starts[i].time, starts[i].body.index1, starts[i].eventCount,
                          starts[i].isHeld);
        tour->hash = hashState(tour->hash, &starts[i].state);
    }
    rbError error = rbWorld_GetError(world);
    tour->hash = HASH(tour->hash, error.status, e.broadPhase);
    castRays(tour);
}

// ----------------------------------------------------------------------------------------- running

static void* takeSnapshot(const rbWorld* world, size_t* size)
{
    *size = rbWorld_GetSnapshotSize(world);
    void* bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(rbWorld_TakeSnapshot(world, bytes, *size, NULL), RB_STATUS_OK);
    return bytes;
}

// A third of the rounds goes back to where it began and is run again, with other changes. A world
// whose advance was refused goes back as well, if it has the same bodies as then.
static rbWorld* runChanged(const rbGoldenRun* run, uint64_t* numbers)
{
    Tour tour = {.world = makeWorld(run->scene), .random = {run->seed}, .hash = *numbers};
    updateIds(&tour);
    double part = run->seconds / ROUNDS;
    for (int round = 0; round < ROUNDS; ++round) {
        size_t size = 0;
        void* start = takeSnapshot(tour.world, &size);
        int count = rbRandom_Index(&tour.random, CHANGES_MAX + 1);
        for (int i = 0; i < count && tour.bodyCount > 0; ++i) {
            rbStatus status = changes[rbRandom_Index(&tour.random, CHANGE_COUNT)](&tour);
            tour.hash = HASH(tour.hash, status);
        }
        rbStepReport report = rbWorld_Advance(tour.world, part);
        tour.hash = HASH(tour.hash, report.status, rbWorld_GetTime(tour.world));
        if (tour.bodyCount > 0) {
            readAll(&tour, 0.5 * part);
        }
        bool isRefused = report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL;
        if (isRefused || rbRandom_Index(&tour.random, 3) == 0) {
            rbError error = {0};
            rbStatus status = rbWorld_RestoreSnapshot(tour.world, start, size, &error);
            tour.hash = HASH(tour.hash, status);
            tour.hash = rbGolden_HashNumbers(tour.hash, run->scene, tour.world);
        }
        free(start);
    }
    readDrawing(&tour);
    tour.hash = HASH(tour.hash, rbWorld_CountRedundantConditions(tour.world));
    *numbers = tour.hash;
    return tour.world;
}

static void eventsAfterChangesHaveTheSameBits(void** state)
{
    (void)state;
    rbGolden_CompareLines("golden_changes.txt", "event", runChanged);
}

static void stepsAfterChangesHaveTheSameBits(void** state)
{
    (void)state;
    rbGolden_CompareLines("golden_changes.txt", "step", runChanged);
}

RB_TEST_GROUP(golden_changes, cmocka_unit_test(eventsAfterChangesHaveTheSameBits),
              cmocka_unit_test(stepsAfterChangesHaveTheSameBits));
