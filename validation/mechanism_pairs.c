#include "mechanism_pairs.h"

#include <math.h>

const char* const rbPairLoadNames[RB_PAIR_LOAD_COUNT] = {"",
                                                         "spring",
                                                         "damped spring",
                                                         "spring in it",
                                                         "damped spring in it",
                                                         "constant torque",
                                                         "held speed",
                                                         "PID",
                                                         "friction",
                                                         "friction that sticks"};

// rad/s or m/s, of B about or along the axis relative to A at the start, where the load involves
// motion
static const double startSpeeds[RB_PAIR_LOAD_COUNT] = {
    [RB_PAIR_VELOCITY] = 1.5, [RB_PAIR_FRICTION] = 1.0, [RB_PAIR_STICKING] = 1.0};

// Position and axis of the joint, for centers of A and B.
static const rbVec3 jointAxis = {0.6, 0.5, -0.4};

static rbVec3 getJointPoint(rbVec3 centerA, rbVec3 centerB)
{
    return rbAdd(rbScale(0.5, rbAdd(centerA, centerB)), rbMakeVec3(0.05, -0.08, 0.06));
}

// The load on the first freedom of the joint.
static const rbFreedomDef freedoms[RB_PAIR_LOAD_COUNT] = {
    [RB_PAIR_FREEDOM] = {.stiffness = 6.0, .rest = 0.3},
    [RB_PAIR_FREEDOM_DAMPED] = {.stiffness = 6.0, .rest = 0.3, .damping = 0.3},
    // the target speed is unreachable: always at its limit
    [RB_PAIR_TORQUE] =
        {.motor = {.type = RB_MOTOR_SPEED, .gain = 1e3, .forceMax = 0.7, .target = 1000.0}},
    [RB_PAIR_VELOCITY] = {.motor = {.type = RB_MOTOR_VELOCITY,
                                    .forceMax = (double)INFINITY,
                                    .target = 1.5}},
    [RB_PAIR_PID] = {.motor = {.type = RB_MOTOR_POSITION,
                               .gain = 5.0,
                               .derivativeTime = 0.1,
                               .forceMax = (double)INFINITY,
                               .target = 0.4}},
    [RB_PAIR_FRICTION] = {.friction = 0.5},
    [RB_PAIR_STICKING] = {.friction = 0.2},
};

static void addSpring(rbMechanism* m, rbPairLoad load)
{
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = m->bodies[0];
    spring.bodyB = m->bodies[1];
    spring.anchorA = rbMakeVec3(0.1, 0.2, -0.15);
    spring.anchorB = rbMakeVec3(-0.2, 0.1, 0.1);
    spring.restLength = 0.4;
    spring.stiffness = 40.0;
    spring.damping = load == RB_PAIR_SPRING_DAMPED ? 1.5 : 0.0;
    if (m->error.status == RB_STATUS_OK) {
        (void)rbCreateSpring(m->world, &spring, &m->error);
    }
}

void rbAddPairJoint(rbMechanism* mechanism, const rbPairPlan* plan)
{
    if (mechanism->error.status != RB_STATUS_OK) {
        return;
    }
    const rbWorld* world = mechanism->world;
    rbTransform a = rbBody_GetState(world, mechanism->bodies[0]).transform;
    rbTransform b = rbBody_GetState(world, mechanism->bodies[1]).transform;
    rbVec3 point = getJointPoint(a.p, b.p);
    rbJointDef def = rbDefaultJointDef();
    def.type = plan->type;
    def.bodyA = mechanism->bodies[0];
    def.bodyB = mechanism->bodies[1];
    rbJointDef_SetAnchor(&def, world, point);
    rbJointDef_SetAxis(&def, world, jointAxis);
    if (plan->type == RB_JOINT_DISTANCE || plan->type == RB_JOINT_LINE_DISTANCE ||
        plan->type == RB_JOINT_PLANE_DISTANCE) {
        def.anchorB = rbInvTransformPoint(b, rbAdd(point, rbMakeVec3(0.25, 0.2, 0.15)));
        def.distance = -1.0;
    }
    // axes of double rotation and cardan at about 70 degrees
    rbVec3 other = rbMakeVec3(0.3, -0.6, 0.7);
    if (plan->type == RB_JOINT_DOUBLE_ROTATION || plan->type == RB_JOINT_UNIVERSAL) {
        def.axisB = rbInvRotate(b.q, other);
    }
    rbJointPart parts[2] = {
        {.type = RB_JOINT_PLANE,
         .anchorA = def.anchorA,
         .anchorB = def.anchorB,
         .axisA = def.axisA,
         .axisB = def.axisB},
        {.type = RB_JOINT_DOUBLE_ROTATION, .axisA = def.axisA, .axisB = rbInvRotate(b.q, other)}};
    if (plan->type == RB_JOINT_PARTS) {
        def.parts = parts;
        def.partCount = 2;
    }
    if (freedoms[plan->load].stiffness > 0.0 || freedoms[plan->load].friction > 0.0 ||
        freedoms[plan->load].motor.type != RB_MOTOR_NONE) {
        def.freedoms[0] = freedoms[plan->load];
    }
    (void)rbMechanism_Add(mechanism, &def);
    if (plan->load == RB_PAIR_SPRING || plan->load == RB_PAIR_SPRING_DAMPED) {
        addSpring(mechanism, plan->load);
    }
}

rbMechanism rbMakePairWorld(rbStepSettings settings, const rbPairPlan* plan)
{
    rbVec3 down = {0.0, 0.0, plan->isFree ? 0.0 : -9.81};
    rbVec3 spin = {1.2, -0.7, 0.9};
    rbMechanism m = rbMakeMechanism(settings, down);
    rbMassPlan bodies[2] = {
        {.mass = 2.0, .moments = {0.12, 0.2, 0.16}, .center = {0.4, 0.1, -0.2}, .spin = spin},
        {.mass = 1.3, .moments = {0.05, 0.03, 0.06}, .center = {0.9, -0.3, -0.5}, .spin = spin}};
    bodies[0].orientation = rbMakeRotation(rbMakeVec3(1.0, 2.0, -1.0), 0.7);
    bodies[1].orientation = rbMakeRotation(rbMakeVec3(-2.0, 1.0, 0.5), 1.9);
    rbVec3 turn = rbScale(startSpeeds[plan->load], rbNormalize(jointAxis));
    rbVec3 arm = rbSub(bodies[1].center, getJointPoint(bodies[0].center, bodies[1].center));
    for (int i = 0; i < 2; ++i) {
        bodies[i].velocity = rbCross(spin, bodies[i].center);
        if (i == 1) {
            bool isSliding = plan->type == RB_JOINT_PRISMATIC;
            bodies[i].velocity = rbAdd(bodies[i].velocity, isSliding ? turn : rbCross(turn, arm));
            bodies[i].spin = rbAdd(bodies[i].spin, isSliding ? RB_VEC3_ZERO : turn);
        }
        (void)rbMechanism_AddBody(&m, &bodies[i]);
    }
    if (!plan->isFree) {
        (void)rbMechanism_AddJoint(&m, RB_JOINT_BALL, -1, 0, RB_VEC3_ZERO,
                                   rbMakeVec3(0.0, 0.0, 1.0));
    }
    rbAddPairJoint(&m, plan);
    return m;
}
