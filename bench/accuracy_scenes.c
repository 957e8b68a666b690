#include "accuracy_scenes.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "mechanism_reference.h"
#include "mechanism_worlds.h"
#include "peers/peer_pose.h"

#include <math.h>

#define GRAVITY 9.81 // m/s^2
#define PI 3.14159265358979323846
#define REFERENCE_STEP 0.02L // s, to begin with

// A row of the table of scenes: make fills in the bodies and the true ends.
typedef struct rbAccuracyRow {
    const char* truth;
    double duration; // s
    double reach;    // m
    bool hasContacts;
    void (*make)(rbAccuracyScene* scene);
} rbAccuracyRow;

// ---------------------------------------------------------------------------------------- helpers

static const rbVec3 axisZ = {0.0, 0.0, 1.0};

static void copyVec(rbVec3 v, double to[3])
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static rbTransform placeAt(double x, double y, double z)
{
    return (rbTransform){{x, y, z}, {1.0, 0.0, 0.0, 0.0}};
}

// A pose in the x-y plane.
static rbTransform placeTurned(double x, double y, double angle)
{
    return (rbTransform){{x, y, 0.0}, rbMakeRotation(axisZ, angle)};
}

static rbReference makeReference(rbReferenceFn* rate, double parameter, int size)
{
    return (rbReference){
        .rate = rate, .parameter = parameter, .size = size, .step = REFERENCE_STEP};
}

static void beginMechanism(rbAccuracyScene* scene, int bodyCount, int jointCount)
{
    rbJointScene* mechanism = &scene->mechanism;
    mechanism->bodies = rbAllocZero((size_t)bodyCount, sizeof *mechanism->bodies);
    mechanism->joints = rbAllocZero((size_t)jointCount, sizeof *mechanism->joints);
    mechanism->bodyCount = bodyCount;
    mechanism->jointCount = jointCount;
    mechanism->energyScale = 1.0;
    copyVec(rbMakeVec3(0.0, -GRAVITY, 0.0), mechanism->gravity);
    scene->movingCount = bodyCount;
}

// A joint at a point of each frame; hinges are along z in both.
static rbPeerJoint makeJoint(int bodyA, int bodyB, bool isHinge, rbVec3 pointA, rbVec3 pointB)
{
    rbPeerJoint joint = {.bodyA = bodyA, .bodyB = bodyB, .isHinge = isHinge};
    copyVec(pointA, joint.anchorA);
    copyVec(pointB, joint.anchorB);
    copyVec(axisZ, joint.axisA);
    copyVec(axisZ, joint.axisB);
    return joint;
}

// Moving bodies first; the last body, if there is one more, does not move.
static void beginContacts(rbAccuracyScene* scene, int movingCount, int bodyCount)
{
    rbContactScene* contacts = &scene->contacts;
    contacts->bodies = rbAllocZero((size_t)bodyCount, sizeof *contacts->bodies);
    contacts->colliders = rbAllocZero((size_t)bodyCount, sizeof *contacts->colliders);
    contacts->bodyCount = bodyCount;
    contacts->colliderCount = bodyCount;
    contacts->movingCount = movingCount;
    copyVec(rbMakeVec3(0.0, -GRAVITY, 0.0), contacts->gravity);
    scene->movingCount = movingCount;
}

static void setFriction(rbAccuracyScene* scene, double friction, double restitution)
{
    scene->contacts.friction = friction;
    scene->contacts.stiction = friction;
    scene->contacts.restitution = restitution;
}

// Gives a body of a mass (0: it does not move), with a homogeneous shape, its collider and pose.
static rbPeerContactBody* addBody(rbAccuracyScene* scene, int index, rbPeerCollider collider,
                                  double mass, rbTransform pose)
{
    rbPeerContactBody* body = &scene->contacts.bodies[index];
    collider.oursPose = rbWritePeerPose(placeAt(0.0, 0.0, 0.0));
    scene->contacts.colliders[index] = collider;
    *body = (rbPeerContactBody){.collider = index, .pose = rbWritePeerPose(pose), .mass = mass};
    rbMassProperties properties = {0};
    rbStatus status = rbGeometry_GetMass(collider.ours, 1.0, &properties, NULL);
    RB_ASSERT(status == RB_STATUS_OK);
    (void)status;
    double factor = mass / properties.mass;
    body->moments[0] = factor * properties.inertia.xx;
    body->moments[1] = factor * properties.inertia.yy;
    body->moments[2] = factor * properties.inertia.zz;
    return body;
}

static rbPeerCollider makeBox(rbVec3 half)
{
    rbPeerCollider collider = {.kind = RB_PEER_COLLIDER_BOX, .ours = rbCreateBox(half, NULL)};
    copyVec(half, collider.size);
    return collider;
}

static rbPeerCollider makeSphere(double radius)
{
    return (rbPeerCollider){
        .kind = RB_PEER_COLLIDER_SPHERE, .size = {radius}, .ours = rbCreateSphere(radius, NULL)};
}

// A slab of 20 m with its top at y = 0.
static void addFloor(rbAccuracyScene* scene)
{
    (void)addBody(scene, scene->movingCount, makeBox(rbMakeVec3(10.0, 1.0, 10.0)), 0.0,
                  placeAt(0.0, -1.0, 0.0));
}

// ------------------------------------------------------------------------------------- mechanisms

// Two uniform rods of 1 m and 1 kg; y = (angles from straight down, rates), parameter: gravity.
static void getRodRates(const long double* y, long double* rate, long double gravity)
{
    long double s = sinl(y[0] - y[1]);
    long double c = 0.5L * cosl(y[0] - y[1]);
    // 4/3 a0 + c a1 = p, c a0 + 1/3 a1 = q
    long double p = -0.5L * s * y[3] * y[3] - 1.5L * gravity * sinl(y[0]);
    long double q = 0.5L * s * y[2] * y[2] - 0.5L * gravity * sinl(y[1]);
    long double determinant = 4.0L / 9.0L - c * c;
    rate[0] = y[2];
    rate[1] = y[3];
    rate[2] = (p / 3.0L - c * q) / determinant;
    rate[3] = (4.0L / 3.0L * q - c * p) / determinant;
}

static void setRod(rbPeerBody* rod, rbTransform pose)
{
    *rod = (rbPeerBody){.mass = 1.0, .pose = rbWritePeerPose(pose)};
    copyVec(rbMakeVec3(0.5, 0.05, 0.05), rod->halfExtents);
    copyVec(rbMakeVec3(1e-3, 1.0 / 12.0, 1.0 / 12.0), rod->moments);
}

// Released from horizontal.
static void makeDoublePendulum(rbAccuracyScene* scene)
{
    rbVec3 half = {0.5, 0.0, 0.0};
    beginMechanism(scene, 2, 2);
    setRod(&scene->mechanism.bodies[0], placeAt(0.5, 0.0, 0.0));
    setRod(&scene->mechanism.bodies[1], placeAt(1.5, 0.0, 0.0));
    scene->mechanism.joints[0] = makeJoint(-1, 0, true, RB_VEC3_ZERO, rbScale(-1.0, half));
    scene->mechanism.joints[1] = makeJoint(0, 1, true, half, rbScale(-1.0, half));
    rbReference reference = makeReference(getRodRates, GRAVITY, 4);
    reference.y[0] = 0.5L * (long double)PI;
    reference.y[1] = reference.y[0];
    rbReference_Advance(&reference, scene->duration);
    double a = (double)reference.y[0];
    double b = (double)reference.y[1];
    scene->ends[0] = placeTurned(0.5 * sin(a), -0.5 * cos(a), a - 0.5 * PI);
    scene->ends[1] = placeTurned(sin(a) + 0.5 * sin(b), -cos(a) - 0.5 * cos(b), b - 0.5 * PI);
}

// Two four-bars in a row, which pass their singular position.
static void makeFourBar(rbAccuracyScene* scene)
{
    scene->mechanism = rbMakeFourBarScene(2);
    scene->movingCount = scene->mechanism.bodyCount;
    rbReference reference = rbMakeFourBarReference(2, GRAVITY, 1.0);
    rbReference_Advance(&reference, scene->duration);
    double angle = (double)reference.y[0];
    for (int i = 0; i < 3; ++i) { // cranks
        scene->ends[i] = placeTurned(i + 0.5 * sin(angle), 0.5 * cos(angle), -angle);
    }
    for (int i = 0; i < 2; ++i) { // couplers
        scene->ends[3 + i] = placeTurned(i + 0.5 + sin(angle), cos(angle), 0.0);
    }
}

// A disc on a stick on a ball joint, in slow regular precession about z.
static void makeTop(rbAccuracyScene* scene)
{
    rbTopPlan plan = {
        .mass = 1.0, .length = 0.5, .i1 = 0.3, .i3 = 0.08, .spin = 60.0, .tilt = PI / 6.0};
    double rates[2];
    rbGetPrecessionRates(&plan, rates);
    rbVec3 pivot = {0.0, 0.0, -plan.length};
    for (int k = 0; k < 2; ++k) { // the start, then the end
        rbTransform pose = {.q = rbGetPrecession(&plan, rates[0], k * scene->duration)};
        pose.p = rbRotate(pose.q, rbScale(-1.0, pivot));
        if (k == 1) {
            scene->ends[0] = pose;
            break;
        }
        beginMechanism(scene, 1, 1);
        rbPeerBody* body = &scene->mechanism.bodies[0];
        double across = plan.i1 - plan.mass * plan.length * plan.length;
        rbVec3 turn = rbScale(rates[0], axisZ);
        rbVec3 axis = rbScale(1.0 / plan.length, pose.p);
        *body = (rbPeerBody){.mass = plan.mass, .pose = rbWritePeerPose(pose)};
        copyVec(rbMakeVec3(0.4, 0.4, 0.02), body->halfExtents);
        copyVec(rbMakeVec3(across, across, plan.i3), body->moments);
        copyVec(rbCross(turn, pose.p), body->velocity);
        copyVec(rbAddScaled(turn, plan.spin - rates[0] * cos(plan.tilt), axis),
                body->angularVelocity);
        copyVec(rbMakeVec3(0.0, 0.0, -GRAVITY), scene->mechanism.gravity);
        scene->mechanism.joints[0] = makeJoint(-1, 0, false, RB_VEC3_ZERO, pivot);
    }
}

// --------------------------------------------------------------------------------------- contacts

// y = (angle, rate) with the acceleration parameter * sin(angle).
static void getSwingRates(const long double* y, long double* rate, long double parameter)
{
    rate[0] = y[1];
    rate[1] = parameter * sinl(y[0]);
}

// Advances to the next time at which the angle is zero, if that is before the end; Newton from the
// first of small steps that is past it.
static bool advanceToZero(rbReference* reference, double end)
{
    const long double part = 0.01L;
    while (reference->time < end) {
        rbReference last = *reference;
        rbReference_Advance(reference, fminl(last.time + part, end));
        if (reference->y[0] >= 0.0L) {
            continue;
        }
        long double time = last.time - last.y[0] / last.y[1];
        for (int i = 0; i < 8; ++i) {
            *reference = last;
            rbReference_Advance(reference, time);
            time -= reference->y[0] / reference->y[1];
        }
        reference->y[0] = 0.0L;
        return true;
    }
    return false;
}

// A ball on a hinged arm of 1 m, released at 60 degrees, strikes a smooth wall at its lowest point
// twice, e = 0.5.
static void makeStrikingPendulum(rbAccuracyScene* scene)
{
    const double radius = 0.1;
    const double start = PI / 3.0;
    beginContacts(scene, 1, 2);
    setFriction(scene, 0.0, 0.5);
    (void)addBody(scene, 0, makeSphere(radius), 1.0,
                  placeTurned(rbSin(start), -rbCos(start), start));
    (void)addBody(scene, 1, makeBox(rbMakeVec3(0.5, 0.5, 0.5)), 0.0,
                  placeAt(-0.5 - radius, -1.0, 0.0));
    scene->contacts.joints = rbAllocZero(1, sizeof *scene->contacts.joints);
    scene->contacts.jointCount = 1;
    scene->contacts.joints[0] = makeJoint(-1, 0, true, RB_VEC3_ZERO, rbMakeVec3(0.0, 1.0, 0.0));
    rbReference reference =
        makeReference(getSwingRates, -GRAVITY / (1.0 + 0.4 * radius * radius), 2);
    reference.y[0] = start;
    while (advanceToZero(&reference, scene->duration)) {
        reference.y[1] *= -scene->contacts.restitution;
    }
    double angle = (double)reference.y[0];
    scene->ends[0] = placeTurned(sin(angle), -cos(angle), angle);
}

// A block slides down a slope of 15 degrees, friction 0.5, until it holds. Gravity is tilted
// instead of the slope.
static void makeSlidingBlock(rbAccuracyScene* scene)
{
    const double speed = 2.0;
    const double slope = PI / 12.0;
    const double friction = 0.5;
    beginContacts(scene, 1, 2);
    setFriction(scene, friction, 0.0);
    copyVec(rbMakeVec3(GRAVITY * rbSin(slope), -GRAVITY * rbCos(slope), 0.0),
            scene->contacts.gravity);
    rbPeerContactBody* block =
        addBody(scene, 0, makeBox(rbMakeVec3(0.2, 0.1, 0.2)), 1.0, placeAt(0.0, 0.1, 0.0));
    block->velocity[0] = speed;
    addFloor(scene);
    double braking = GRAVITY * (friction * rbCos(slope) - rbSin(slope));
    RB_ASSERT(speed / braking < scene->duration);
    scene->ends[0] = placeAt(0.5 * speed * speed / braking, 0.1, 0.0);
}

// A ball slides, then rolls.
static void makeRollingBall(rbAccuracyScene* scene)
{
    const double radius = 0.1;
    const double speed = 3.5;
    const double braking = 0.2 * GRAVITY;
    beginContacts(scene, 1, 2);
    setFriction(scene, 0.2, 0.0);
    addBody(scene, 0, makeSphere(radius), 1.0, placeAt(0.0, radius, 0.0))->velocity[0] = speed;
    addFloor(scene);
    double rolls = 2.0 * speed / (7.0 * braking);
    double rest = scene->duration - rolls;
    double final = 5.0 / 7.0 * speed;
    double x = speed * rolls - 0.5 * braking * rolls * rolls + final * rest;
    double angle = 0.5 * 2.5 * braking / radius * rolls * rolls + final / radius * rest;
    scene->ends[0] = placeTurned(x, radius, -angle);
}

// A ball falls from 1 m and bounces three times, e = 0.8.
static void makeBouncingBall(rbAccuracyScene* scene)
{
    const double radius = 0.1;
    beginContacts(scene, 1, 2);
    setFriction(scene, 0.0, 0.8);
    (void)addBody(scene, 0, makeSphere(radius), 1.0, placeAt(0.0, 1.0 + radius, 0.0));
    addFloor(scene);
    double time = scene->duration - sqrt(2.0 / GRAVITY);
    double speed = scene->contacts.restitution * sqrt(2.0 * GRAVITY);
    while (time > 2.0 * speed / GRAVITY) {
        time -= 2.0 * speed / GRAVITY;
        speed *= scene->contacts.restitution;
    }
    scene->ends[0] = placeAt(0.0, radius + (speed - 0.5 * GRAVITY * time) * time, 0.0);
}

// A coin rolls on its rim in steady precession: the torque of the contact force about the center
// equals the change of the angular momentum, which turns with the coin. z is up.
static void makeCoin(rbAccuracyScene* scene)
{
    const double a = 0.1;   // m, radius
    const double d = 0.005; // m, half of the thickness
    const double tilt = 0.8;
    const double w = 0.9 * sqrt(GRAVITY / a); // rad/s, of the precession
    double s = rbSin(tilt);
    double c = rbCos(tilt);
    double axial = 0.5 * a * a; // for a mass of 1
    double across = (3.0 * a * a + 4.0 * d * d) / 12.0;
    double side = a * c - d * s; // of the contact point from the center
    double height = a * s + d * c;
    double own = (-height * w * w * side - GRAVITY * side - w * w * s * c * (axial - across)) /
                 (w * s * axial + height * w * a);
    double circle = -(side + a * own / w);
    beginContacts(scene, 1, 2);
    setFriction(scene, 1.0, 0.0);
    copyVec(rbMakeVec3(0.0, 0.0, -GRAVITY), scene->contacts.gravity);
    rbPeerCollider shape = {
        .kind = RB_PEER_COLLIDER_CYLINDER, .size = {a, d}, .ours = rbCreateCylinder(a, d, NULL)};
    rbQuat lean = rbMakeRotation(rbMakeVec3(0.0, 1.0, 0.0), tilt);
    rbPeerContactBody* coin =
        addBody(scene, 0, shape, 1.0, (rbTransform){{circle, 0.0, height}, lean});
    copyVec(rbMakeVec3(0.0, w * circle, 0.0), coin->velocity);
    copyVec(rbMakeVec3(own * s, 0.0, w + own * c), coin->angularVelocity);
    (void)addBody(scene, 1, makeBox(rbMakeVec3(10.0, 10.0, 1.0)), 0.0, placeAt(0.0, 0.0, -1.0));
    double angle = w * scene->duration;
    scene->ends[0].p = rbMakeVec3(circle * cos(angle), circle * sin(angle), height);
    rbQuat roll = rbMakeRotation(axisZ, own * scene->duration);
    scene->ends[0].q = rbMulQuat(rbMakeRotation(axisZ, angle), rbMulQuat(lean, roll));
}

// A block that stands flat is kicked, so that it turns about its lower edge and beyond its balance.
static void makeTippingBlock(rbAccuracyScene* scene)
{
    const rbVec3 half = {0.1, 0.2, 0.1};
    const double rate = 3.2; // rad/s
    beginContacts(scene, 1, 2);
    setFriction(scene, 1.0, 0.0);
    rbPeerContactBody* block = addBody(scene, 0, makeBox(half), 1.0, placeAt(0.0, half.y, 0.0));
    copyVec(rbMakeVec3(rate * half.y, rate * half.x, 0.0), block->velocity);
    copyVec(rbMakeVec3(0.0, 0.0, -rate), block->angularVelocity);
    addFloor(scene);
    double arm = sqrt(half.x * half.x + half.y * half.y);
    double lean = rbAtan2(half.x, half.y);
    rbReference reference =
        makeReference(getSwingRates, GRAVITY * arm / (4.0 / 3.0 * arm * arm), 2);
    reference.y[0] = -lean; // of the center from above the edge
    reference.y[1] = rate;
    rbReference_Advance(&reference, scene->duration);
    double angle = (double)reference.y[0];
    RB_ASSERT(angle + lean < 0.45 * PI); // it has not landed
    scene->ends[0] = placeTurned(half.x + arm * sin(angle), arm * cos(angle), -(angle + lean));
}

// The corner of a box relative to its center that is farthest along -x.
static rbVec3 findCorner(rbQuat q, double half)
{
    rbVec3 least = {INFINITY, 0.0, 0.0};
    for (int i = 0; i < 8; ++i) {
        rbVec3 corner = {(i & 1) != 0 ? half : -half, (i & 2) != 0 ? half : -half,
                         (i & 4) != 0 ? half : -half};
        corner = rbRotate(q, corner);
        least = corner.x < least.x ? corner : least;
    }
    return least;
}

static void flyCube(rbTransform* pose, rbVec3 velocity, rbVec3 spin, double time)
{
    double rate = rbLength(spin);
    pose->p = rbAddScaled(pose->p, time, velocity);
    pose->q = rbMulQuat(rbMakeRotation(rbScale(1.0 / rate, spin), rate * time), pose->q);
}

// The corner of a cube strikes the face of a cube at rest, off both centers, smooth, e = 0.5, no
// gravity. Cubes turn about fixed axes.
static void makeCollidingCubes(rbAccuracyScene* scene)
{
    const double half = 0.25;
    const double speed = 3.0;
    const double gap = 0.6137; // not met at a multiple of any step
    const double masses[2] = {1.0, 2.0};
    rbQuat turn =
        rbMulQuat(rbMakeRotation(axisZ, 0.6), rbMakeRotation(rbMakeVec3(0.0, 1.0, 0.0), 0.5));
    rbVec3 arms[2] = {{half, 0.1, -0.05}, findCorner(turn, half)};
    beginContacts(scene, 2, 2);
    setFriction(scene, 0.0, 0.5);
    copyVec(RB_VEC3_ZERO, scene->contacts.gravity);
    rbTransform poses[2] = {placeAt(0.0, 0.0, 0.0), {rbSub(arms[0], arms[1]), turn}};
    (void)addBody(scene, 0, makeBox(rbMakeVec3(half, half, half)), masses[0], poses[0]);
    rbTransform start = {rbAdd(poses[1].p, rbMakeVec3(gap, 0.0, 0.0)), turn};
    rbPeerContactBody* moving =
        addBody(scene, 1, makeBox(rbMakeVec3(half, half, half)), masses[1], start);
    moving->velocity[0] = -speed;
    rbVec3 normal = {1.0, 0.0, 0.0};
    double inverse = 0.0; // of the effective mass
    for (int i = 0; i < 2; ++i) {
        rbVec3 lever = rbCross(arms[i], normal);
        inverse += (1.0 + rbDot(lever, lever) / (2.0 / 3.0 * half * half)) / masses[i];
    }
    double impulse = (1.0 + scene->contacts.restitution) * speed / inverse;
    for (int i = 0; i < 2; ++i) {
        rbVec3 push = rbScale((i == 0 ? -impulse : impulse) / masses[i], normal);
        rbVec3 velocity = rbAdd(push, rbMakeVec3(i == 0 ? 0.0 : -speed, 0.0, 0.0));
        rbVec3 spin = rbScale(1.0 / (2.0 / 3.0 * half * half), rbCross(arms[i], push));
        flyCube(&poses[i], velocity, spin, scene->duration - gap / speed);
        scene->ends[i] = poses[i];
    }
}

// ------------------------------------------------------------------------------------------ table

const char* const rbAccuracySceneNames[RB_ACCURACY_SCENES + 1] = {
    "double-pendulum", "four-bar",        "top",     "striking-pendulum",
    "sliding-block",   "rolling-ball",    "bounces", "coin",
    "tipping-block",   "colliding-cubes", NULL,
};

static const rbAccuracyRow rows[RB_ACCURACY_SCENES] = {
    {"equations of the angles", 2.0, 0.5, false, makeDoublePendulum},
    {"equation of the angle", 2.0, 0.5, false, makeFourBar},
    {"closed form", 1.0, 0.4, false, makeTop},
    {"equation of the angle", 2.0, 0.1, true, makeStrikingPendulum},
    {"closed form", 1.2, 0.2, true, makeSlidingBlock},
    {"closed form", 1.0, 0.1, true, makeRollingBall},
    {"closed form", 2.0, 0.1, true, makeBouncingBall},
    {"closed form", 1.0, 0.1, true, makeCoin},
    {"equation of the angle", 0.5, 0.2, true, makeTippingBlock},
    {"closed form", 0.5, 0.25, true, makeCollidingCubes},
};

rbAccuracyScene rbMakeAccuracyScene(int index)
{
    RB_ASSERT(index >= 0 && index < RB_ACCURACY_SCENES);
    const rbAccuracyRow* row = &rows[index];
    rbAccuracyScene scene = {
        .name = rbAccuracySceneNames[index],
        .truth = row->truth,
        .duration = row->duration,
        .reach = row->reach,
        .hasContacts = row->hasContacts,
    };
    row->make(&scene);
    RB_ASSERT(scene.movingCount <= RB_ACCURACY_BODIES_MAX);
    scene.mechanism.name = scene.name;
    scene.contacts.name = scene.name;
    return scene;
}

void rbDestroyAccuracyScene(rbAccuracyScene* scene)
{
    if (scene->hasContacts) {
        rbDestroyContactScene(&scene->contacts);
    } else {
        rbDestroyJointScene(&scene->mechanism);
    }
}

double rbAccuracyScene_GetError(const rbAccuracyScene* scene, const rbPeerBodyState* states)
{
    double error = 0.0;
    for (int i = 0; i < scene->movingCount; ++i) {
        rbTransform pose = rbReadPeerPose(&states[i].pose);
        double moved = rbDistance(pose.p, scene->ends[i].p);
        // the chord that a point at this distance from the axis of the rotation is off by
        double turned =
            2.0 * scene->reach * rbSin(0.5 * rbGetTurnBetween(pose.q, scene->ends[i].q));
        double sum = moved + fabs(turned);
        error = sum > error || isnan(sum) ? sum : error;
        if (isnan(error)) {
            break;
        }
    }
    return error;
}
