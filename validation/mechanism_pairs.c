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
// About 70 degrees from it: second axis of double rotation and cardan.
static const rbVec3 otherAxis = {0.3, -0.6, 0.7};
static const rbVec3 distanceOffset = {0.25, 0.2, 0.15};

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

static bool hasSpring(rbPairLoad load)
{
    return load == RB_PAIR_SPRING || load == RB_PAIR_SPRING_DAMPED;
}

rbPairStart rbGetPairStart(const rbPairPlan* plan)
{
    rbVec3 spin = {1.2, -0.7, 0.9};
    rbPairStart start = {
        .bodies = {{.mass = 2.0,
                    .moments = {0.12, 0.2, 0.16},
                    .center = {0.4, 0.1, -0.2},
                    .orientation = rbMakeRotation(rbMakeVec3(1.0, 2.0, -1.0), 0.7),
                    .spin = spin},
                   {.mass = 1.3,
                    .moments = {0.05, 0.03, 0.06},
                    .center = {0.9, -0.3, -0.5},
                    .orientation = rbMakeRotation(rbMakeVec3(-2.0, 1.0, 0.5), 1.9),
                    .spin = spin}},
        .gravity = {0.0, 0.0, plan->isFree ? 0.0 : -9.81},
        .offset = distanceOffset,
        .axis = jointAxis,
        .other = otherAxis,
        .freedom = freedoms[plan->load],
        .springs = {{0.1, 0.2, -0.15}, {-0.2, 0.1, 0.1}},
        .springLength = 0.4,
        .springStiffness = hasSpring(plan->load) ? 40.0 : 0.0,
        .springDamping = plan->load == RB_PAIR_SPRING_DAMPED ? 1.5 : 0.0,
    };
    start.point = getJointPoint(start.bodies[0].center, start.bodies[1].center);
    rbVec3 turn = rbScale(startSpeeds[plan->load], rbNormalize(jointAxis));
    rbVec3 arm = rbSub(start.bodies[1].center, start.point);
    bool isSliding = plan->type == RB_JOINT_PRISMATIC;
    for (int i = 0; i < 2; ++i) {
        start.bodies[i].velocity = rbCross(spin, start.bodies[i].center);
    }
    rbMassPlan* second = &start.bodies[1];
    second->velocity = rbAdd(second->velocity, isSliding ? turn : rbCross(turn, arm));
    second->spin = rbAdd(second->spin, isSliding ? RB_VEC3_ZERO : turn);
    return start;
}

static void addSpring(rbMechanism* m, const rbPairStart* start)
{
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = m->bodies[0];
    spring.bodyB = m->bodies[1];
    spring.anchorA = start->springs[0];
    spring.anchorB = start->springs[1];
    spring.restLength = start->springLength;
    spring.stiffness = start->springStiffness;
    spring.damping = start->springDamping;
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
        def.anchorB = rbInvTransformPoint(b, rbAdd(point, distanceOffset));
        def.distance = -1.0;
    }
    if (plan->type == RB_JOINT_DOUBLE_ROTATION || plan->type == RB_JOINT_UNIVERSAL) {
        def.axisB = rbInvRotate(b.q, otherAxis);
    }
    rbJointPart parts[2] = {{.type = RB_JOINT_PLANE,
                             .anchorA = def.anchorA,
                             .anchorB = def.anchorB,
                             .axisA = def.axisA,
                             .axisB = def.axisB},
                            {.type = RB_JOINT_DOUBLE_ROTATION,
                             .axisA = def.axisA,
                             .axisB = rbInvRotate(b.q, otherAxis)}};
    if (plan->type == RB_JOINT_PARTS) {
        def.parts = parts;
        def.partCount = 2;
    }
    if (freedoms[plan->load].stiffness > 0.0 || freedoms[plan->load].friction > 0.0 ||
        freedoms[plan->load].motor.type != RB_MOTOR_NONE) {
        def.freedoms[0] = freedoms[plan->load];
    }
    (void)rbMechanism_Add(mechanism, &def);
    if (hasSpring(plan->load)) {
        rbPairStart start = rbGetPairStart(plan);
        addSpring(mechanism, &start);
    }
}

rbMechanism rbMakePairWorld(rbStepSettings settings, const rbPairPlan* plan)
{
    rbPairStart start = rbGetPairStart(plan);
    rbMechanism m = rbMakeMechanism(settings, start.gravity);
    for (int i = 0; i < 2; ++i) {
        (void)rbMechanism_AddBody(&m, &start.bodies[i]);
    }
    if (!plan->isFree) {
        (void)rbMechanism_AddJoint(&m, RB_JOINT_BALL, -1, 0, RB_VEC3_ZERO,
                                   rbMakeVec3(0.0, 0.0, 1.0));
    }
    rbAddPairJoint(&m, plan);
    return m;
}
