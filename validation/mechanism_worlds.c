#include "mechanism_worlds.h"

#include "base/core/memory.h"
#include "mechanism_reference.h"

#include <math.h>

static const rbVec3 axisZ = {0.0, 0.0, 1.0};
static const rbVec3 downY = {0.0, -9.81, 0.0};
static const rbVec3 downZ = {0.0, 0.0, -9.81};

// ------------------------------------------------------------------------------------------ parts

rbStepSettings rbMakeStepSettings(double step, int order)
{
    rbStepSettings settings = rbDefaultWorldDef().step;
    settings.step = step;
    settings.order = order;
    settings.tolerance = 1e-12;
    return settings;
}

rbMechanism rbMakeMechanism(rbStepSettings settings, rbVec3 gravity)
{
    rbMechanism m = {.world = NULL};
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step = settings;
    def.gravity = gravity;
    m.world = rbCreateWorld(&def, &m.error);
    return m;
}

void rbMechanism_Free(rbMechanism* mechanism)
{
    rbDestroyWorld(mechanism->world);
    mechanism->world = NULL;
}

bool rbMechanism_Advance(rbMechanism* mechanism, double time)
{
    if (mechanism->error.status == RB_STATUS_OK) {
        rbStatus status = rbWorld_AdvanceTo(mechanism->world, time).status;
        if (status != RB_STATUS_OK) {
            mechanism->error = rbWorld_GetError(mechanism->world);
            mechanism->error.status = status;
        }
    }
    return mechanism->error.status == RB_STATUS_OK;
}

int rbMechanism_AddBody(rbMechanism* mechanism, const rbMassPlan* plan)
{
    if (mechanism->error.status != RB_STATUS_OK) {
        return -1;
    }
    RB_ASSERT(mechanism->bodyCount < RB_MECHANISM_BODIES_MAX);
    rbMassProperties mass = {
        .mass = plan->mass,
        .inertia = {.xx = plan->moments.x, .yy = plan->moments.y, .zz = plan->moments.z}};
    rbBodyDef def = rbDefaultBodyDef();
    bool isTurned = rbDotQuat(plan->orientation, plan->orientation) > 0.0;
    def.type = RB_BODY_DYNAMIC;
    def.mass = &mass;
    def.position = plan->center;
    def.orientation = isTurned ? plan->orientation : RB_QUAT_IDENTITY;
    def.linearVelocity = plan->velocity;
    def.angularVelocity = plan->spin;
    mechanism->bodies[mechanism->bodyCount] =
        rbCreateBody(mechanism->world, &def, &mechanism->error);
    return mechanism->bodyCount++;
}

// The shortest rotation that takes x to a unit vector.
static rbQuat turnFromX(rbVec3 to)
{
    if (to.x < -0.999999) {
        return (rbQuat){0.0, 0.0, 0.0, 1.0};
    }
    return rbNormalizeQuat((rbQuat){1.0 + to.x, 0.0, -to.z, to.y});
}

int rbMechanism_AddRod(rbMechanism* mechanism, const rbRodPlan* plan)
{
    rbMassPlan body = {.mass = plan->mass,
                       .moments = {plan->axial, plan->transverse, plan->transverse},
                       .center = rbScale(0.5, rbAdd(plan->from, plan->to)),
                       .orientation = turnFromX(rbNormalize(rbSub(plan->to, plan->from))),
                       .velocity = plan->velocity,
                       .spin = plan->spin};
    return rbMechanism_AddBody(mechanism, &body);
}

rbBodyId rbMechanism_GetBody(const rbMechanism* mechanism, int index)
{
    rbBodyId none = {0};
    return index >= 0 ? mechanism->bodies[index] : none;
}

int rbMechanism_Add(rbMechanism* mechanism, const rbJointDef* def)
{
    if (mechanism->error.status != RB_STATUS_OK) {
        return -1;
    }
    RB_ASSERT(mechanism->jointCount < RB_MECHANISM_JOINTS_MAX);
    mechanism->joints[mechanism->jointCount] =
        rbCreateJoint(mechanism->world, def, &mechanism->error);
    return mechanism->jointCount++;
}

int rbMechanism_AddJoint(rbMechanism* mechanism, rbJointType type, int bodyA, int bodyB,
                         rbVec3 point, rbVec3 axis)
{
    if (mechanism->error.status != RB_STATUS_OK) {
        return -1;
    }
    rbJointDef def = rbDefaultJointDef();
    def.type = type;
    def.bodyA = rbMechanism_GetBody(mechanism, bodyA);
    def.bodyB = rbMechanism_GetBody(mechanism, bodyB);
    rbJointDef_SetAnchor(&def, mechanism->world, point);
    rbJointDef_SetAxis(&def, mechanism->world, axis);
    return rbMechanism_Add(mechanism, &def);
}

int rbMechanism_AddHinge(rbMechanism* mechanism, int bodyA, int bodyB, rbVec3 point, rbVec3 axis)
{
    return rbMechanism_AddJoint(mechanism, RB_JOINT_HINGE, bodyA, bodyB, point, axis);
}

rbBodyState rbMechanism_GetState(const rbMechanism* mechanism, int index)
{
    rbBodyState none = {.transform = RB_TRANSFORM_IDENTITY};
    return mechanism->error.status == RB_STATUS_OK
               ? rbBody_GetState(mechanism->world, mechanism->bodies[index])
               : none;
}

rbVec3 rbMechanism_GetPoint(const rbMechanism* mechanism, int index, rbVec3 local)
{
    return rbTransformPoint(rbMechanism_GetState(mechanism, index).transform, local);
}

void rbMechanism_GetGaps(const rbMechanism* mechanism, double* position, double* angle)
{
    *position = 0.0;
    *angle = 0.0;
    for (int i = 0; i < mechanism->jointCount; ++i) {
        rbJointState state = rbJoint_GetState(mechanism->world, mechanism->joints[i]);
        *position = fmax(*position, state.positionError);
        *angle = fmax(*angle, state.angleError);
    }
}

rbQuat rbMakeRotation(rbVec3 axis, double angle)
{
    rbVec3 v = rbScale(sin(0.5 * angle), rbNormalize(axis));
    return (rbQuat){cos(0.5 * angle), v.x, v.y, v.z};
}

double rbGetTurnBetween(rbQuat a, rbQuat b)
{
    rbQuat d = rbMulQuat(rbConjugate(a), b);
    return 2.0 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

// ------------------------------------------------------------------------------- planar mechanisms

rbMechanism rbMakePendulumWorld(rbStepSettings settings, const double* angles, int count)
{
    rbMechanism m = rbMakeMechanism(settings, downY);
    rbVec3 place = RB_VEC3_ZERO;
    int before = -1;
    for (int i = 0; i < count; ++i) {
        place = rbAdd(place, rbMakeVec3(sin(angles[i]), -cos(angles[i]), 0.0));
        rbMassPlan plan = {.mass = 1.0, .moments = {1e-3, 1e-3, 1e-3}, .center = place};
        int body = rbMechanism_AddBody(&m, &plan);
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_DISTANCE;
        def.bodyA = rbMechanism_GetBody(&m, before);
        def.bodyB = rbMechanism_GetBody(&m, body);
        def.distance = 1.0;
        (void)rbMechanism_Add(&m, &def);
        before = body;
    }
    return m;
}

// Moments of a uniform thin rod; its axial moment must be positive but does not matter here.
static rbRodPlan planThinRod(rbVec3 from, rbVec3 to, double mass)
{
    double length = rbDistance(from, to);
    rbRodPlan plan = {.mass = mass,
                      .transverse = mass * length * length / 12.0,
                      .axial = mass * length * length / 1200.0,
                      .from = from,
                      .to = to};
    return plan;
}

rbMechanism rbMakeFourBarWorld(rbStepSettings settings, int loops)
{
    rbMechanism m = rbMakeMechanism(settings, downY);
    for (int i = 0; i <= loops; ++i) {
        rbRodPlan crank = planThinRod(rbMakeVec3(i, 0.0, 0.0), rbMakeVec3(i, 1.0, 0.0), 1.0);
        crank.velocity = rbMakeVec3(0.5, 0.0, 0.0);
        crank.spin = rbMakeVec3(0.0, 0.0, -1.0);
        (void)rbMechanism_AddRod(&m, &crank);
    }
    for (int i = 0; i < loops; ++i) {
        rbRodPlan coupler = planThinRod(rbMakeVec3(i, 1.0, 0.0), rbMakeVec3(i + 1, 1.0, 0.0), 1.0);
        coupler.velocity = rbMakeVec3(1.0, 0.0, 0.0);
        (void)rbMechanism_AddRod(&m, &coupler);
    }
    for (int i = 0; i <= loops; ++i) {
        (void)rbMechanism_AddHinge(&m, -1, i, rbMakeVec3(i, 0.0, 0.0), axisZ);
    }
    for (int i = 0; i < loops; ++i) {
        int coupler = loops + 1 + i;
        (void)rbMechanism_AddHinge(&m, i, coupler, rbMakeVec3(i, 1.0, 0.0), axisZ);
        (void)rbMechanism_AddHinge(&m, i + 1, coupler, rbMakeVec3(i + 1, 1.0, 0.0), axisZ);
    }
    return m;
}

// (x, y) rotated by an angle, from a point.
static rbVec3 reach(rbVec3 from, double x, double y, double angle)
{
    double c = cos(angle);
    double s = sin(angle);
    return rbAdd(from, rbMakeVec3(c * x - s * y, s * x + c * y, 0.0));
}

rbMechanism rbMakeAndrewsWorld(rbStepSettings settings)
{
    const rbAndrewsTable* t = &rbAndrews;
    const double* q = t->start;
    const rbVec3 o = RB_VEC3_ZERO;
    const rbVec3 a = {t->xa, t->ya, 0.0};
    const rbVec3 b = {t->xb, t->yb, 0.0};
    const double angles[7] = {q[0], q[0] + q[1], q[2], q[3] + q[4], q[4], q[5] + q[6], q[6]};
    // joints between the bodies, and the point where four of them meet
    const rbVec3 crank = reach(o, t->rr, 0.0, angles[0]);
    const rbVec3 meet = reach(crank, -t->d, 0.0, angles[1]);
    const rbVec3 p45 = reach(a, t->zt, 0.0, angles[4]);
    const rbVec3 p67 = reach(a, 0.0, -t->u, angles[6]);
    const rbVec3 centers[7] = {
        reach(o, t->ra, 0.0, angles[0]),     reach(crank, -t->da, 0.0, angles[1]),
        reach(b, t->sb, -t->sa, angles[2]),  reach(p45, 0.0, t->ea - t->e, angles[3]),
        reach(a, -t->tb, -t->ta, angles[4]), reach(p67, t->zf - t->fa, 0.0, angles[5]),
        reach(a, -t->ub, -t->ua, angles[6])};
    const struct {
        int bodyA, bodyB;
        rbVec3 point;
    } hinges[10] = {{-1, 0, o}, {0, 1, crank}, {1, 2, meet}, {1, 3, meet}, {1, 5, meet},
                    {-1, 2, b}, {3, 4, p45},   {-1, 4, a},   {5, 6, p67},  {-1, 6, a}};
    rbMechanism m = rbMakeMechanism(settings, RB_VEC3_ZERO);
    for (int i = 0; i < 7; ++i) {
        // flat bodies; only the moment about z matters
        double half = 0.5 * t->inertia[i];
        rbMassPlan plan = {.mass = t->mass[i],
                           .moments = {half, half, t->inertia[i]},
                           .center = centers[i],
                           .orientation = rbMakeRotation(axisZ, angles[i])};
        (void)rbMechanism_AddBody(&m, &plan);
    }
    for (int i = 0; i < 10; ++i) {
        (void)rbMechanism_AddHinge(&m, hinges[i].bodyA, hinges[i].bodyB, hinges[i].point, axisZ);
    }
    rbSpringDef spring = rbDefaultSpringDef();
    spring.bodyA = rbMechanism_GetBody(&m, 2);
    spring.anchorA =
        rbSub(rbMakeVec3(t->sd, -t->sc, 0.0), rbMakeVec3(t->sb, -t->sa, 0.0)); // D seen from K3
    spring.anchorB = rbMakeVec3(t->xc, t->yc, 0.0);
    spring.restLength = t->restLength;
    spring.stiffness = t->stiffness;
    rbForceDef torque = rbDefaultForceDef();
    torque.type = RB_FORCE_CONSTANT;
    torque.body = rbMechanism_GetBody(&m, 0);
    torque.torque = rbMakeVec3(0.0, 0.0, t->torque);
    if (m.error.status == RB_STATUS_OK) {
        (void)rbCreateSpring(m.world, &spring, &m.error);
        (void)rbCreateForce(m.world, &torque, m.error.status == RB_STATUS_OK ? &m.error : NULL);
    }
    return m;
}

// ------------------------------------------------------------------------------ spatial mechanisms

rbMechanism rbMakeBricardWorld(rbStepSettings settings)
{
    rbMechanism m = rbMakeMechanism(settings, downY);
    for (int i = 0; i < 5; ++i) {
        rbRodPlan rod = {.mass = 1.0,
                         .transverse = 1.01 / 12.0,
                         .axial = 0.02 / 12.0,
                         .from = rbBricardPoints[i],
                         .to = rbBricardPoints[i + 1]};
        (void)rbMechanism_AddRod(&m, &rod);
    }
    for (int i = 0; i < 6; ++i) {
        (void)rbMechanism_AddHinge(&m, i - 1, i < 5 ? i : -1, rbBricardPoints[i], rbBricardAxes[i]);
    }
    return m;
}

static void addGovernorSide(rbMechanism* m, int spindle, int sleeve, double side)
{
    const rbGovernorTable* t = &rbGovernor;
    double s = sin(t->angle);
    double c = cos(t->angle);
    rbVec3 axis = {0.0, 1.0, 0.0};
    rbVec3 turn = {0.0, 0.0, t->rate};
    rbVec3 top = {side * t->pivot, 0.0, 0.0};
    rbVec3 knee = {side * (t->pivot + t->length * s), 0.0, -t->length * c};
    rbVec3 foot = {side * t->pivot, 0.0, -2.0 * t->length * c};
    rbMassPlan ball = {.mass = t->ball,
                       .moments = {t->ballInertia, t->ballInertia, t->ballInertia},
                       .center = knee,
                       .velocity = rbCross(turn, knee),
                       .spin = turn};
    rbRodPlan link = {.mass = t->link,
                      .transverse = t->linkTransverse,
                      .axial = t->linkAxial,
                      .from = knee,
                      .to = foot,
                      .velocity = rbCross(turn, rbScale(0.5, rbAdd(knee, foot))),
                      .spin = turn};
    int arm = rbMechanism_AddBody(m, &ball);
    int rod = rbMechanism_AddRod(m, &link);
    (void)rbMechanism_AddHinge(m, spindle, arm, top, axis);
    (void)rbMechanism_AddHinge(m, arm, rod, knee, axis);
    (void)rbMechanism_AddHinge(m, rod, sleeve, foot, axis);
}

rbMechanism rbMakeGovernorWorld(rbStepSettings settings, bool isDriven)
{
    const rbGovernorTable* t = &rbGovernor;
    rbMechanism m = rbMakeMechanism(settings, downZ);
    rbVec3 turn = {0.0, 0.0, t->rate};
    rbVec3 low = {0.0, 0.0, -2.0 * t->length * cos(t->angle)};
    rbMassPlan spindle = {.mass = t->spindle,
                          .moments = {t->spindleInertia, t->spindleInertia, t->spindleInertia},
                          .spin = turn};
    rbMassPlan sleeve = {.mass = t->sleeve,
                         .moments = {t->sleeveInertia, t->sleeveInertia, t->sleeveInertia},
                         .center = low,
                         .spin = turn};
    (void)rbMechanism_AddBody(&m, &spindle);
    (void)rbMechanism_AddBody(&m, &sleeve);
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_HINGE;
    def.bodyB = rbMechanism_GetBody(&m, 0);
    def.axisA = axisZ;
    def.axisB = axisZ;
    if (isDriven) {
        def.freedoms[0].motor = (rbMotorDef){
            .type = RB_MOTOR_VELOCITY, .target = t->rate, .forceMax = (double)INFINITY};
    }
    (void)rbMechanism_Add(&m, &def);
    (void)rbMechanism_AddJoint(&m, RB_JOINT_PRISMATIC, 0, 1, low, axisZ);
    addGovernorSide(&m, 0, 1, 1.0);
    addGovernorSide(&m, 0, 1, -1.0);
    rbForceDef torque = rbDefaultForceDef();
    torque.type = RB_FORCE_CONSTANT;
    torque.body = rbMechanism_GetBody(&m, 0);
    torque.torque = rbMakeVec3(0.0, 0.0, t->torque);
    if (m.error.status == RB_STATUS_OK && !isDriven) {
        (void)rbCreateForce(m.world, &torque, &m.error);
    }
    return m;
}

rbMechanism rbMakeHeavyChainWorld(rbStepSettings settings, rbVec3 direction, double mass)
{
    enum {
        LINKS = 10
    };
    rbMechanism m = rbMakeMechanism(settings, downZ);
    rbVec3 along = rbNormalize(direction);
    for (int i = 0; i < LINKS; ++i) {
        rbRodPlan rod = planThinRod(rbScale(i, along), rbScale(i + 1, along), 1.0);
        (void)rbMechanism_AddRod(&m, &rod);
        (void)rbMechanism_AddJoint(&m, RB_JOINT_BALL, i - 1, i, rod.from, axisZ);
    }
    double moment = 0.4 * mass * 0.25;
    rbMassPlan ball = {
        .mass = mass, .moments = {moment, moment, moment}, .center = rbScale(LINKS, along)};
    int last = rbMechanism_AddBody(&m, &ball);
    (void)rbMechanism_AddJoint(&m, RB_JOINT_BALL, LINKS - 1, last, ball.center, axisZ);
    return m;
}

rbMechanism rbMakeTornChain(void)
{
    rbStepSettings settings = rbMakeStepSettings(0.01, 2);
    settings.tolerance = 1e-6;
    settings.isAssembleAllowed = true;
    settings.impulseMax = 5.0;
    rbMechanism m = rbMakeMechanism(settings, downZ);
    rbVec3 end = {0.0, 0.0, 0.0};
    for (int i = 0; i < 5; ++i) {
        rbVec3 from = rbAdd(end, rbMakeVec3(0.1, i % 2 == 0 ? 0.1 : -0.1, -0.05));
        rbRodPlan rod = {.mass = 1.0,
                         .transverse = 1.0 / 12.0,
                         .axial = 1.0 / 600.0,
                         .from = from,
                         .to = rbAdd(from, rbMakeVec3(0.0, 0.0, -1.0))};
        (void)rbMechanism_AddRod(&m, &rod);
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_BALL;
        def.bodyA = rbMechanism_GetBody(&m, i - 1);
        def.bodyB = rbMechanism_GetBody(&m, i);
        def.anchorA = rbMakeVec3(i > 0 ? 0.5 : 0.0, 0.0, 0.0);
        def.anchorB = rbMakeVec3(-0.5, 0.0, 0.0);
        (void)rbMechanism_Add(&m, &def);
        end = rod.to;
    }
    return m;
}

// -------------------------------------------------------------------------------------------- tops

// Gimbal rings: outer about z, inner about its hinge, across it, and along the top.
static const rbVec3 outerMoments = {0.02, 0.02, 0.03};
static const rbVec3 innerMoments = {0.011, 0.013, 0.017}; // hinge is y of the inner ring
static const double ringMass = 0.5;

void rbGetPrecessionRates(const rbTopPlan* plan, double rates[2])
{
    double across = plan->isInGimbals ? innerMoments.x - innerMoments.z : 0.0;
    double a = (plan->i1 + across) * cos(plan->tilt);
    double b = plan->i3 * plan->spin;
    double c = plan->mass * 9.81 * plan->length;
    double root = sqrt(b * b - 4.0 * a * c);
    rates[0] = 2.0 * c / (b + root);
    rates[1] = (b + root) / (2.0 * a);
}

rbQuat rbGetPrecession(const rbTopPlan* plan, double precession, double time)
{
    double roll = plan->spin - precession * cos(plan->tilt);
    rbQuat tilt = rbMakeRotation(rbMakeVec3(0.0, 1.0, 0.0), plan->tilt);
    return rbMulQuat(rbMakeRotation(axisZ, precession * time),
                     rbMulQuat(tilt, rbMakeRotation(axisZ, roll * time)));
}

rbMechanism rbMakeTopWorld(rbStepSettings settings, const rbTopPlan* plan, double precession)
{
    rbMechanism m = rbMakeMechanism(settings, downZ);
    rbQuat start = rbGetPrecession(plan, precession, 0.0);
    rbVec3 axis = rbRotate(start, axisZ);
    rbVec3 turn = rbScale(precession, axisZ);
    double across = plan->i1 - plan->mass * plan->length * plan->length;
    rbMassPlan top = {.mass = plan->mass,
                      .moments = {across, across, plan->i3},
                      .center = rbScale(plan->length, axis),
                      .orientation = start,
                      .velocity = rbCross(turn, rbScale(plan->length, axis)),
                      .spin = rbAddScaled(turn, plan->spin - precession * cos(plan->tilt), axis)};
    (void)rbMechanism_AddBody(&m, &top);
    if (!plan->isInGimbals) {
        (void)rbMechanism_AddJoint(&m, RB_JOINT_BALL, -1, 0, RB_VEC3_ZERO, axisZ);
        return m;
    }
    rbMassPlan outer = {.mass = ringMass, .moments = outerMoments, .spin = turn};
    rbMassPlan inner = {
        .mass = ringMass, .moments = innerMoments, .orientation = start, .spin = turn};
    (void)rbMechanism_AddBody(&m, &outer);
    (void)rbMechanism_AddBody(&m, &inner);
    (void)rbMechanism_AddHinge(&m, -1, 1, RB_VEC3_ZERO, axisZ);
    (void)rbMechanism_AddHinge(&m, 1, 2, RB_VEC3_ZERO, rbMakeVec3(0.0, 1.0, 0.0));
    (void)rbMechanism_AddHinge(&m, 2, 0, RB_VEC3_ZERO, axis);
    return m;
}
