// Small hand-made mechanisms.
#include "mech_scenes.h"

#include "base/core/memory.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <math.h>

MechScene* createScene(rbVec3 gravity)
{
    MechScene* scene = rbAllocZero(1, sizeof *scene);
    scene->gravity = gravity;
    scene->mechanism = (rbMechanism){.bodies = scene->bodies,
                                     .bodyCount = 1,
                                     .blocks = scene->blocks,
                                     .rows = scene->rows,
                                     .masses = scene->masses,
                                     .compliance = scene->compliance,
                                     .speeds = scene->speeds,
                                     .limits = scene->limits,
                                     .startErrors = scene->startErrors,
                                     .impulses = scene->impulses};
    scene->bodies[0].pose.orientation = RB_QUAT_IDENTITY;
    scene->bodies[0].pose.rotation = rbMatFromQuat(RB_QUAT_IDENTITY);
    scene->bodies[0].index = -1;
    return scene;
}

void destroyScene(MechScene* scene)
{
    rbFree(scene, sizeof *scene);
}

int addBody(MechScene* scene, double mass, rbVec3 moments, rbVec3 position, rbQuat orientation)
{
    int index = scene->mechanism.bodyCount++;
    assert_true(index < SCENE_BODIES_MAX);
    rbMechBody* body = &scene->bodies[index];
    body->pose = (rbRowPose){position, orientation, rbMatFromQuat(orientation)};
    body->mass = mass;
    body->invMass = 1.0 / mass;
    body->moments = moments;
    body->invMoments = rbMakeVec3(1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z);
    body->turn = rbMakeTurn(moments);
    body->radius = 1.0;
    body->index = index;
    body->isDynamic = true;
    scene->masses[index].isDynamic = true;
    rbMechanism_Refresh(&scene->mechanism);
    return index;
}

int addCar(MechScene* scene)
{
    int index = scene->mechanism.bodyCount++;
    assert_int_equal(index, 1);
    scene->bodies[index].pose = scene->bodies[0].pose;
    scene->bodies[index].index = index;
    return index;
}

static int addBlock(MechScene* scene, rbRowBlock block)
{
    int index = scene->mechanism.blockCount++;
    assert_true(index < SCENE_BLOCKS_MAX);
    block.firstRow = scene->mechanism.rowCount;
    scene->mechanism.rowCount += block.rowCount;
    assert_true(scene->mechanism.rowCount <= SCENE_ROWS_MAX);
    scene->blocks[index] = block;
    rbMechanism_Refresh(&scene->mechanism);
    return index;
}

int addJoint(MechScene* scene, rbJointType type, int bodyA, int bodyB, rbVec3 point, rbVec3 axis)
{
    rbJointModel* model = &scene->models[scene->mechanism.blockCount];
    rbTransform a = {scene->bodies[bodyA].pose.position, scene->bodies[bodyA].pose.orientation};
    rbTransform b = {scene->bodies[bodyB].pose.position, scene->bodies[bodyB].pose.orientation};
    rbJointSide sideA = {"a", a, RB_TRANSFORM_IDENTITY};
    rbJointSide sideB = {"b", b, RB_TRANSFORM_IDENTITY};
    rbJointDef def = {.type = type, .distance = -1.0, .forceMax = INFINITY};
    def.anchorA = rbInvTransformPoint(a, point);
    def.anchorB = rbInvTransformPoint(b, point);
    def.axisA = rbInvRotate(a.q, axis);
    def.axisB = rbInvRotate(b.q, axis);
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        def.freedoms[i].motor.forceMax = INFINITY;
    }
    rbError error = {0};
    if (rbJointModel_Make(model, &def, &sideA, &sideB, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    rbRowBlock block = {.bodyA = bodyA,
                        .bodyB = bodyB,
                        .rowCount = model->rowCount,
                        .kind = RB_ROW_HOLD,
                        .angleMask = model->angleMask,
                        .rows = rbJointModel_Rows,
                        .errors = rbJointModel_Errors,
                        .data = model};
    return addBlock(scene, block);
}

int addFreedom(MechScene* scene, int joint, rbRowKind kind)
{
    const rbJointModel* model = &scene->models[joint];
    assert_true(model->freedomCount > 0);
    bool isAngle = model->freedoms[0].kind == RB_FREEDOM_ANGLE;
    rbRowBlock block = {.bodyA = scene->blocks[joint].bodyA,
                        .bodyB = scene->blocks[joint].bodyB,
                        .rowCount = 1,
                        .kind = kind,
                        .angleMask = isAngle ? 1u : 0u,
                        .rows = rbFreedomModel_Rows,
                        .errors = rbFreedomModel_Errors,
                        .data = &model->freedoms[0]};
    return addBlock(scene, block);
}

void setSpin(MechScene* scene, int body, rbVec3 angularVelocity)
{
    rbMechBody* b = &scene->bodies[body];
    rbVec3 local = rbInvRotate(b->pose.orientation, angularVelocity);
    b->momentum = rbRotate(b->pose.orientation, rbMulEach(b->moments, local));
}

// Moments of a solid box of random edges between 0.2 and 1 m.
static rbVec3 makeMoments(rbRandom* random, double mass)
{
    double a = rbRandom_Range(random, 0.2, 1.0);
    double b = rbRandom_Range(random, 0.2, 1.0);
    double c = rbRandom_Range(random, 0.2, 1.0);
    return rbScale(mass / 12.0, rbMakeVec3(b * b + c * c, c * c + a * a, a * a + b * b));
}

void buildRandomTree(MechScene* scene, rbRandom* random, int count, int typeCount, bool isFixed)
{
    static const rbJointType types[4] = {RB_JOINT_BALL, RB_JOINT_HINGE, RB_JOINT_PRISMATIC,
                                         RB_JOINT_FIXED};
    for (int i = 0; i < count; ++i) {
        // Half of the links attach to the last one, so that trees are deep.
        bool isRoot = i == 0;
        int parent = isRoot ? 0 : rbRandom_Unit(random) < 0.5 ? i : 1 + rbRandom_Index(random, i);
        rbVec3 from = scene->bodies[parent].pose.position;
        rbVec3 point = rbAddScaled(from, isRoot ? 0.0 : 0.5, rbRandom_Direction(random));
        rbVec3 center = rbAddScaled(point, 0.5, rbRandom_Direction(random));
        double mass = rbRandom_Range(random, 0.5, 2.0);
        rbQuat turn = rbRandom_Quat(random);
        int body = addBody(scene, mass, makeMoments(random, mass), center, turn);
        rbJointType type = types[rbRandom_Index(random, typeCount)];
        rbVec3 axis = rbRandom_Direction(random);
        bool isFlipped = rbRandom_Unit(random) < 0.5;
        if (!isRoot || isFixed) {
            addJoint(scene, type, isFlipped ? body : parent, isFlipped ? parent : body, point,
                     axis);
        }
    }
}

void buildChain(MechScene* scene, rbJointType type, int count)
{
    for (int i = 0; i < count; ++i) {
        int body = addBody(scene, 1.0, rbMakeVec3(0.01, 0.085, 0.085), rbMakeVec3(i + 0.5, 0, 0),
                           RB_QUAT_IDENTITY);
        addJoint(scene, type, body - 1, body, rbMakeVec3(i, 0, 0), rbMakeVec3(0, 1, 0));
    }
}

void stirScene(MechScene* scene, rbRandom* random, double speed)
{
    for (int i = 1; i < scene->mechanism.bodyCount; ++i) {
        scene->bodies[i].velocity = rbScale(speed, rbRandom_Direction(random));
        setSpin(scene, i, rbScale(2.0 * speed, rbRandom_Direction(random)));
    }
    rbReduced* reduced = rbCreateReduced(&scene->mechanism, NULL);
    assert_non_null(reduced);
    rbReduced_Write(reduced, &scene->mechanism);
    rbDestroyReduced(reduced);
    rbMechanism_Refresh(&scene->mechanism);
}

rbStepSettings makeSettings(int order)
{
    return (rbStepSettings){.order = order, .step = 1e-3, .tolerance = 1e-6};
}

void pullByGravity(void* context, rbMechanism* mechanism, double time)
{
    const MechScene* scene = context;
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        body->force = rbScale(body->mass, scene->gravity);
        body->torque = RB_VEC3_ZERO;
        if (i == 1 && !body->isDynamic) {
            body->pose.position = rbScale(0.5 * time * time, scene->carAcceleration);
            body->velocity = rbScale(time, scene->carAcceleration);
        }
    }
}

void runScene(MechScene* scene, rbClassicalMethod method, const rbStepSettings* settings,
              double end, int steps)
{
    rbClassical* classical = rbCreateClassical(method, &scene->mechanism, settings);
    assert_non_null(classical);
    double h = end / steps;
    for (int i = 0; i < steps; ++i) {
        rbClassical_Step(classical, &scene->mechanism, i * h, h, pullByGravity, scene);
    }
    rbDestroyClassical(classical);
    rbMechanism_Refresh(&scene->mechanism);
}

double getEnergy(const MechScene* scene)
{
    double energy = 0.0;
    for (int i = 0; i < scene->mechanism.bodyCount; ++i) {
        const rbMechBody* body = &scene->bodies[i];
        if (body->isDynamic) {
            rbVec3 local = rbInvRotate(body->pose.orientation, body->momentum);
            energy += 0.5 * body->mass * rbLengthSquared(body->velocity) +
                      0.5 * rbDot(local, rbMulEach(body->invMoments, local)) -
                      body->mass * rbDot(scene->gravity, body->pose.position);
        }
    }
    return energy;
}

double getLargestError(const MechScene* scene)
{
    double largest = 0.0;
    double errors[RB_BLOCK_ROWS_MAX];
    for (int i = 0; i < scene->mechanism.blockCount; ++i) {
        const rbRowBlock* block = &scene->blocks[i];
        block->errors(block->data, &scene->bodies[block->bodyA].pose,
                      &scene->bodies[block->bodyB].pose, errors);
        for (int k = 0; k < block->rowCount && block->kind == RB_ROW_HOLD; ++k) {
            largest = fmax(largest, fabs(errors[k]));
        }
    }
    return largest;
}

double getLargestRate(MechScene* scene)
{
    double largest = 0.0;
    double rates[RB_BLOCK_ROWS_MAX];
    rbMechanism_Refresh(&scene->mechanism);
    for (int i = 0; i < scene->mechanism.blockCount; ++i) {
        rbMechanism_Rates(&scene->mechanism, i, rates);
        for (int k = 0; k < scene->blocks[i].rowCount; ++k) {
            largest = fmax(largest, scene->blocks[i].kind == RB_ROW_HOLD ? fabs(rates[k]) : 0.0);
        }
    }
    return largest;
}

void getMomentum(const MechScene* scene, rbVec3* linear, rbVec3* angular)
{
    *linear = RB_VEC3_ZERO;
    *angular = RB_VEC3_ZERO;
    for (int i = 0; i < scene->mechanism.bodyCount; ++i) {
        const rbMechBody* body = &scene->bodies[i];
        if (body->isDynamic) {
            rbVec3 p = rbScale(body->mass, body->velocity);
            *linear = rbAdd(*linear, p);
            *angular = rbAdd(*angular, rbAdd(body->momentum, rbCross(body->pose.position, p)));
        }
    }
}

double getDeviation(const MechScene* a, const MechScene* b)
{
    double largest = 0.0;
    for (int i = 0; i < a->mechanism.bodyCount; ++i) {
        const rbRowPose* p = &a->bodies[i].pose;
        const rbRowPose* q = &b->bodies[i].pose;
        largest = fmax(largest, rbDistance(p->position, q->position));
        largest = fmax(largest, rbDistance(p->rotation.cx, q->rotation.cx));
        largest = fmax(largest, rbDistance(p->rotation.cy, q->rotation.cy));
        largest = fmax(largest, rbDistance(p->rotation.cz, q->rotation.cz));
    }
    return largest;
}
