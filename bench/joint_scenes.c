#include "joint_scenes.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81 // m/s^2
#define PI 3.14159265358979323846

static const rbQuat noTurn = {1.0, 0.0, 0.0, 0.0};

// ---------------------------------------------------------------------------------------- helpers

static rbVec3 toVec(const double v[3])
{
    return (rbVec3){v[0], v[1], v[2]};
}

static rbQuat toQuat(const double q[4])
{
    return (rbQuat){q[0], q[1], q[2], q[3]};
}

static void fromVec(rbVec3 v, double to[3])
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void fromQuat(rbQuat q, double to[4])
{
    to[0] = q.w;
    to[1] = q.x;
    to[2] = q.y;
    to[3] = q.z;
}

static rbJointScene makeScene(const char* name, int bodyCount, int jointCount)
{
    rbJointScene scene = {.name = name, .gravity = {0.0, -GRAVITY, 0.0}};
    scene.bodies = rbAlloc((size_t)bodyCount * sizeof *scene.bodies);
    scene.joints = rbAlloc((size_t)jointCount * sizeof *scene.joints);
    memset(scene.bodies, 0, (size_t)bodyCount * sizeof *scene.bodies);
    memset(scene.joints, 0, (size_t)jointCount * sizeof *scene.joints);
    scene.bodyCount = bodyCount;
    scene.jointCount = jointCount;
    return scene;
}

void rbDestroyJointScene(rbJointScene* scene)
{
    rbFree(scene->bodies, (size_t)scene->bodyCount * sizeof *scene->bodies);
    rbFree(scene->joints, (size_t)scene->jointCount * sizeof *scene->joints);
    *scene = (rbJointScene){0};
}

// A homogeneous box.
static rbPeerBody makeBox(double mass, rbVec3 half, rbVec3 position, rbQuat orientation)
{
    rbPeerBody body = {.mass = mass};
    rbVec3 squares = rbMulEach(half, half);
    fromVec(half, body.halfExtents);
    fromVec(position, body.pose.position);
    fromQuat(orientation, body.pose.quaternion);
    body.moments[0] = mass / 3.0 * (squares.y + squares.z);
    body.moments[1] = mass / 3.0 * (squares.z + squares.x);
    body.moments[2] = mass / 3.0 * (squares.x + squares.y);
    return body;
}

static rbPeerBody makeBall(double mass, double radius, rbVec3 position)
{
    rbPeerBody body = makeBox(mass, (rbVec3){radius, radius, radius}, position, noTurn);
    for (int k = 0; k < 3; ++k) {
        body.moments[k] = 0.4 * mass * radius * radius;
    }
    return body;
}

static void localize(const rbJointScene* scene, int body, rbVec3 point, rbVec3 axis,
                     double anchor[3], double direction[3])
{
    if (body >= 0) {
        const rbPeerPose* pose = &scene->bodies[body].pose;
        rbQuat q = toQuat(pose->quaternion);
        point = rbInvRotate(q, rbSub(point, toVec(pose->position)));
        axis = rbInvRotate(q, axis);
    }
    fromVec(point, anchor);
    fromVec(axis, direction);
}

static rbPeerJoint makeBallJoint(const rbJointScene* scene, int a, int b, rbVec3 point)
{
    rbPeerJoint joint = {.bodyA = a, .bodyB = b};
    rbVec3 axis = {0.0, 0.0, 1.0};
    localize(scene, a, point, axis, joint.anchorA, joint.axisA);
    localize(scene, b, point, axis, joint.anchorB, joint.axisB);
    return joint;
}

// About z.
static rbPeerJoint makeHinge(const rbJointScene* scene, int a, int b, rbVec3 point)
{
    rbPeerJoint joint = makeBallJoint(scene, a, b, point);
    joint.isHinge = true;
    return joint;
}

// ----------------------------------------------------------------------------------------- scenes

rbJointScene rbMakeChainScene(int count)
{
    rbJointScene scene = makeScene("chain", count, count);
    for (int i = 0; i < count; ++i) {
        scene.bodies[i] =
            makeBox(5.0, (rbVec3){0.25, 0.05, 0.05}, (rbVec3){0.25 + 0.5 * i, 0.0, 0.0}, noTurn);
        scene.joints[i] = makeBallJoint(&scene, i - 1, i, (rbVec3){0.5 * i, 0.0, 0.0});
    }
    scene.energyScale = 5.0 * count * GRAVITY * 0.25 * count; // M g L / 2
    return scene;
}

rbJointScene rbMakeHangScene(int count)
{
    rbJointScene scene = makeScene("hang", count, count);
    for (int i = 0; i < count; ++i) {
        scene.bodies[i] =
            makeBox(5.0, (rbVec3){0.05, 0.25, 0.05}, (rbVec3){0.0, -0.25 - 0.5 * i, 0.0}, noTurn);
        scene.joints[i] = makeBallJoint(&scene, i - 1, i, (rbVec3){0.0, -0.5 * i, 0.0});
    }
    scene.energyScale = 5.0 * count * GRAVITY * 0.25 * count;
    return scene;
}

rbJointScene rbMakeNetScene(int side)
{
    rbJointScene scene = makeScene("net", side * side, 2 * side * (side - 1) + 2);
    int joint = 0;
    for (int j = 0; j < side; ++j) {
        for (int i = 0; i < side; ++i) {
            rbVec3 at = {0.5 * (i - 0.5 * (side - 1)), 0.0, 0.5 * j};
            int self = j * side + i;
            scene.bodies[self] = makeBall(1.0, 0.2, at);
            if (i > 0) {
                rbVec3 point = {at.x - 0.25, at.y, at.z};
                scene.joints[joint++] = makeBallJoint(&scene, self - 1, self, point);
            }
            if (j > 0) {
                rbVec3 point = {at.x, at.y, at.z - 0.25};
                scene.joints[joint++] = makeBallJoint(&scene, self - side, self, point);
            }
            if (j == 0 && (i == 0 || i == side - 1)) {
                scene.joints[joint++] = makeBallJoint(&scene, -1, self, at);
            }
        }
    }
    scene.energyScale = side * side * GRAVITY * 0.25 * (side - 1); // M g times half the side
    return scene;
}

rbJointScene rbMakeBarScene(int count)
{
    rbJointScene scene = makeScene("bars", count, count);
    for (int i = 0; i < count; ++i) {
        scene.bodies[i] =
            makeBox(1.0, (rbVec3){0.05, 0.5, 0.05}, (rbVec3){0.0, -0.5 - i, 0.0}, noTurn);
        scene.joints[i] = makeBallJoint(&scene, i - 1, i, (rbVec3){0.0, -i, 0.0});
        scene.bodies[i].velocity[0] = 2.0 * rbCos(2.4 * i);
        scene.bodies[i].velocity[2] = 2.0 * rbSin(2.4 * i);
    }
    scene.energyScale = count * GRAVITY * 0.5 * count;
    return scene;
}

// Rotations that map -y to the direction of a bar: tilted by spread toward one side of its parent,
// in a plane that turns by 90 degrees from level to level, so that the tree opens in space.
static rbQuat turnBar(rbQuat parent, double spread, int level)
{
    double half = 0.5 * spread;
    rbQuat open = {rbCos(half), 0.0, 0.0, rbSin(half)};
    rbQuat turn = {rbCos(0.25 * PI), 0.0, rbSin(0.25 * PI), 0.0};
    rbQuat result = rbMulQuat(parent, open);
    return rbNormalizeQuat(level % 2 == 0 ? result : rbMulQuat(parent, rbMulQuat(turn, open)));
}

rbJointScene rbMakeTreeScene(int levels, double spread, double kick)
{
    int count = (1 << levels) - 1;
    rbJointScene scene = makeScene("tree", count, count);
    int level = 0;
    double length = 0.1;
    for (int k = 1; k < levels; ++k) {
        length *= 1.5;
    }
    for (int i = 0; i < count; ++i) {
        if (i >= (2 << level) - 1) { // the first of the next level
            ++level;
            length /= 1.5;
        }
        int parent = i == 0 ? -1 : (i - 1) / 2;
        rbQuat q = noTurn;
        rbVec3 top = {0.0, 0.0, 0.0};
        if (parent >= 0) {
            const rbPeerBody* above = &scene.bodies[parent];
            q = turnBar(toQuat(above->pose.quaternion), i % 2 == 1 ? spread : -spread, level);
            top = rbAdd(
                toVec(above->pose.position),
                rbRotate(toQuat(above->pose.quaternion), (rbVec3){0, -above->halfExtents[1], 0}));
        }
        rbVec3 half = {0.02, 0.5 * length, 0.02};
        rbVec3 center = rbAdd(top, rbRotate(q, (rbVec3){0.0, -half.y, 0.0}));
        scene.bodies[i] = makeBox(600.0 * 0.04 * 0.04 * length, half, center, q);
        scene.joints[i] = makeBallJoint(&scene, parent, i, top);
        scene.energyScale += scene.bodies[i].mass * GRAVITY;
    }
    scene.bodies[0].angularVelocity[2] = kick / scene.bodies[0].moments[2];
    return scene;
}

rbJointScene rbMakeFourBarScene(int count)
{
    // cranks first, then couplers; a uniform thin rod has m L^2 / 12 across its axis
    rbJointScene scene = makeScene("four-bar", 2 * count + 1, 3 * count + 1);
    int joint = 0;
    for (int i = 0; i <= count; ++i) {
        rbPeerBody* crank = &scene.bodies[i];
        *crank = makeBox(1.0, (rbVec3){0.05, 0.5, 0.05}, (rbVec3){i, 0.5, 0.0}, noTurn);
        crank->moments[0] = 1.0 / 12.0;
        crank->moments[2] = 1.0 / 12.0;
        crank->velocity[0] = 0.5;
        crank->angularVelocity[2] = -1.0;
        scene.joints[joint++] = makeHinge(&scene, -1, i, (rbVec3){i, 0.0, 0.0});
    }
    for (int i = 0; i < count; ++i) {
        int self = count + 1 + i;
        rbPeerBody* coupler = &scene.bodies[self];
        *coupler = makeBox(1.0, (rbVec3){0.5, 0.05, 0.05}, (rbVec3){i + 0.5, 1.0, 0.0}, noTurn);
        coupler->moments[1] = 1.0 / 12.0;
        coupler->moments[2] = 1.0 / 12.0;
        coupler->velocity[0] = 1.0;
        scene.joints[joint++] = makeHinge(&scene, i, self, (rbVec3){i, 1.0, 0.0});
        scene.joints[joint++] = makeHinge(&scene, i + 1, self, (rbVec3){i + 1, 1.0, 0.0});
    }
    // E0 of the reference: 3.5 g + 1.5 for two
    scene.energyScale = 0.5 * ((count + 1) / 3.0 + count) + (0.5 * (count + 1) + count) * GRAVITY;
    return scene;
}

// A bar between two points in the x-y plane, 4 cm thick, 1 kg per meter; its x axis along it.
static rbPeerBody makeBar(rbVec3 from, rbVec3 to)
{
    rbVec3 along = rbSub(to, from);
    double angle = rbAtan2(along.y, along.x);
    rbQuat q = {rbCos(0.5 * angle), 0.0, 0.0, rbSin(0.5 * angle)};
    double length = rbLength(along);
    return makeBox(length, (rbVec3){0.5 * length, 0.02, 0.02}, rbScale(0.5, rbAdd(from, to)), q);
}

rbJointScene rbMakeRingsScene(void)
{
    // A ring hangs on two arms of 0.8 m from the bar above (the world for the first). Its lower bar
    // is longer: it extends 0.8 m beyond the right arm, where the next ring hangs. Arms are 0.6 m
    // apart and start 0.4 rad off the vertical.
    rbJointScene scene = makeScene("rings", 9, 12);
    rbVec3 arm = {0.8 * rbSin(0.4), -0.8 * rbCos(0.4), 0.0};
    rbVec3 feet[2] = {{0.0, 0.0, 0.0}, {0.6, 0.0, 0.0}};
    int above = -1;
    for (int r = 0; r < 3; ++r) {
        rbVec3 ends[2] = {rbAdd(feet[0], arm), rbAdd(feet[1], arm)};
        rbVec3 tip = rbAdd(ends[1], (rbVec3){0.8, 0.0, 0.0});
        int left = 3 * r;
        scene.bodies[left] = makeBar(feet[0], ends[0]);
        scene.bodies[left + 1] = makeBar(feet[1], ends[1]);
        scene.bodies[left + 2] = makeBar(ends[0], tip);
        rbPeerJoint* hinges = &scene.joints[(size_t)4 * (size_t)r];
        hinges[0] = makeHinge(&scene, above, left, feet[0]);
        hinges[1] = makeHinge(&scene, above, left + 1, feet[1]);
        hinges[2] = makeHinge(&scene, left, left + 2, ends[0]);
        hinges[3] = makeHinge(&scene, left + 1, left + 2, ends[1]);
        above = left + 2;
        feet[0] = rbAdd(ends[1], (rbVec3){0.2, 0.0, 0.0});
        feet[1] = tip;
    }
    for (int i = 0; i < scene.bodyCount; ++i) {
        scene.energyScale += scene.bodies[i].mass * GRAVITY;
    }
    return scene;
}

rbJointScene rbMakeHeavyChainScene(int links, double ratio)
{
    rbJointScene scene = makeScene("heavy chain", links + 1, links + 1);
    rbVec3 along = {0.70710678118654752, -0.70710678118654752, 0.0};
    for (int i = 0; i < links; ++i) {
        scene.bodies[i] = makeBar(rbScale(0.5 * i, along), rbScale(0.5 * (i + 1), along));
        double scale = 1.0 / scene.bodies[i].mass;
        scene.bodies[i].mass = 1.0;
        for (int k = 0; k < 3; ++k) {
            scene.bodies[i].moments[k] *= scale;
        }
        scene.joints[i] = makeBallJoint(&scene, i - 1, i, rbScale(0.5 * i, along));
    }
    rbVec3 end = rbScale(0.5 * links, along);
    scene.bodies[links] = makeBall(ratio, 0.5, end);
    scene.joints[links] = makeBallJoint(&scene, links - 1, links, end);
    scene.energyScale = (links + ratio) * GRAVITY * 0.5 * links;
    return scene;
}

// -------------------------------------------------------------------------------------- measuring

static rbVec3 placeAnchor(const rbPeerBodyState* states, int body, const double anchor[3])
{
    if (body < 0) {
        return toVec(anchor);
    }
    rbQuat q = rbNormalizeQuat(toQuat(states[body].pose.quaternion));
    return rbAdd(toVec(states[body].pose.position), rbRotate(q, toVec(anchor)));
}

double rbJointScene_GetGap(const rbJointScene* scene, const rbPeerBodyState* states)
{
    double worst = 0.0;
    for (int i = 0; i < scene->jointCount; ++i) {
        const rbPeerJoint* joint = &scene->joints[i];
        double gap = rbDistance(placeAnchor(states, joint->bodyA, joint->anchorA),
                                placeAnchor(states, joint->bodyB, joint->anchorB));
        worst = gap <= worst ? worst : gap; // NaN propagates
        if (!isfinite(worst)) {
            return NAN;
        }
    }
    return worst;
}

double rbJointScene_GetEnergy(const rbJointScene* scene, const rbPeerBodyState* states)
{
    double energy = 0.0;
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbPeerBody* body = &scene->bodies[i];
        const rbPeerBodyState* state = &states[i];
        rbVec3 spin = rbInvRotate(rbNormalizeQuat(toQuat(state->pose.quaternion)),
                                  toVec(state->angularVelocity));
        energy += 0.5 * body->mass * rbLengthSquared(toVec(state->velocity)) +
                  0.5 * rbDot(spin, rbMulEach(toVec(body->moments), spin)) -
                  body->mass * rbDot(toVec(scene->gravity), toVec(state->pose.position));
    }
    return energy;
}

// ------------------------------------------------------------------------------------------ worlds

static bool addBodies(rbWorld* world, const rbJointScene* scene, rbBodyId* ids, rbError* error)
{
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbPeerBody* from = &scene->bodies[i];
        rbMassProperties mass = {
            .mass = from->mass,
            .inertia = {.xx = from->moments[0], .yy = from->moments[1], .zz = from->moments[2]},
        };
        rbBodyDef def = rbDefaultBodyDef();
        def.type = RB_BODY_DYNAMIC;
        def.mass = &mass;
        def.position = toVec(from->pose.position);
        def.orientation = toQuat(from->pose.quaternion);
        def.linearVelocity = toVec(from->velocity);
        def.angularVelocity = toVec(from->angularVelocity);
        ids[i] = rbCreateBody(world, &def, error);
        if (!rbBody_IsValid(world, ids[i])) {
            return false;
        }
    }
    return true;
}

static bool addJoints(rbWorld* world, const rbJointScene* scene, const rbBodyId* ids,
                      rbError* error)
{
    for (int i = 0; i < scene->jointCount; ++i) {
        const rbPeerJoint* from = &scene->joints[i];
        rbJointDef def = rbDefaultJointDef();
        def.type = from->isHinge ? RB_JOINT_HINGE : RB_JOINT_BALL;
        def.bodyA = from->bodyA >= 0 ? ids[from->bodyA] : (rbBodyId){0};
        def.bodyB = ids[from->bodyB];
        def.anchorA = toVec(from->anchorA);
        def.anchorB = toVec(from->anchorB);
        def.axisA = toVec(from->axisA);
        def.axisB = toVec(from->axisB);
        if (!rbJoint_IsValid(world, rbCreateJoint(world, &def, error))) {
            return false;
        }
    }
    return true;
}

rbWorld* rbJointScene_CreateWorld(const rbJointScene* scene, const rbStepSettings* settings,
                                  rbError* error)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.gravity = toVec(scene->gravity);
    def.step = *settings;
    def.bodyCapacity = scene->bodyCount;
    rbWorld* world = rbCreateWorld(&def, error);
    if (world == NULL) {
        return NULL;
    }
    size_t size = (size_t)scene->bodyCount * sizeof(rbBodyId);
    rbBodyId* ids = rbAlloc(size);
    bool isDone = addBodies(world, scene, ids, error) && addJoints(world, scene, ids, error);
    rbFree(ids, size);
    if (!isDone) {
        rbDestroyWorld(world);
        return NULL;
    }
    return world;
}

void rbJointScene_ReadWorld(const rbJointScene* scene, const rbWorld* world,
                            rbPeerBodyState* states)
{
    (void)scene;
    size_t stride = sizeof *states;
    rbWorld_ReadField(world, RB_FIELD_POSITION, states->pose.position, stride);
    rbWorld_ReadField(world, RB_FIELD_ORIENTATION, states->pose.quaternion, stride);
    rbWorld_ReadField(world, RB_FIELD_LINEAR_VELOCITY, states->velocity, stride);
    rbWorld_ReadField(world, RB_FIELD_ANGULAR_VELOCITY, states->angularVelocity, stride);
}
