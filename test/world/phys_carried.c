// What friction holds on a support that turns stays where it is: boxes on turntables, on trays
// whose paths bend and on tables that a motor drives, at random loads below the limit of friction.
// A body that went along the tangent of its path would leave by half of acceleration times step
// squared in every step.
#include "arrival_scenes.h"
#include "base/core/random.h"
#include "joint_scenes.h"

#include <math.h>

#define CASES 40
#define CASES_FULL 1000
#define GRAVITY 9.81
#define LOAD_MOST 0.95 // of what friction can hold
#define THICKNESS 0.1  // m, of the support
#define TRAY_POINTS 64
#define DURATION 1.0     // s
#define TOLERANCE 1e-5   // m, of the defaults
#define DENSITY 1000.0   // kg/m^3
#define SUPPORT_SIZE 3.0 // m

typedef enum Support {
    TURNTABLE, // on a path, about its own axis
    TRAY,      // on a path around a circle, without rotation
    DRIVEN,    // by a motor at a hinge; its center of mass is off the axis
    SUPPORT_COUNT
} Support;

typedef struct Case {
    Support support;
    double friction;
    double radius; // m, of the circle on which the box is
    double rate;   // rad/s
    double height; // m, of the box
    double width;
    double step; // s
} Case;

static Case makeCase(rbRandom* random, Support support)
{
    Case now = {.support = support};
    now.friction = rbRandom_Range(random, 0.2, 0.8);
    now.radius = rbRandom_Range(random, 0.2, 1.0);
    double load = rbRandom_Range(random, 0.05, LOAD_MOST);
    now.rate = sqrt(load * now.friction * GRAVITY / now.radius);
    now.width = rbRandom_Range(random, 0.05, 0.2);
    now.height = now.width * rbRandom_Range(random, 0.2, 1.0);
    now.step = 1e-3 * rbRandom_Range(random, 1.0, 10.0);
    return now;
}

static void addBoxShape(rbWorld* world, rbBodyId id, rbVec3 size, double friction)
{
    rbError error = {0};
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, rbCreateBox(rbScale(0.5, size), NULL));
    shape.material.friction = friction;
    shape.material.density = DENSITY;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
}

static rbBodyId addSupport(rbWorld* world, const Case* now)
{
    rbError error = {0};
    rbVec3 points[TRAY_POINTS - 1];
    for (int i = 1; i < TRAY_POINTS; ++i) {
        double angle = 2.0 * RB_PI * i / TRAY_POINTS;
        points[i - 1] =
            rbMakeVec3(now->radius * cos(angle), now->radius * sin(angle), -0.5 * THICKNESS);
    }
    double beside = now->support == TRAY ? now->radius : now->support == DRIVEN ? 0.3 : 0.0;
    rbPathDef path = rbDefaultPathDef();
    path.angularVelocity.z = now->rate;
    if (now->support == TRAY) {
        path = rbDefaultPathDef();
        path.type = RB_PATH_CURVE;
        path.speed = now->rate * now->radius;
        path.points = points;
        path.pointCount = TRAY_POINTS - 1;
        path.isClosed = true;
    }
    rbBodyDef def = rbDefaultBodyDef();
    def.position = rbMakeVec3(beside, 0.0, -0.5 * THICKNESS);
    if (now->support == DRIVEN) {
        def.linearVelocity.y = now->rate * beside;
        def.angularVelocity.z = now->rate;
    } else {
        def.type = RB_BODY_KINEMATIC;
        def.path = &path;
    }
    rbBodyId id = rbCreateBody(world, &def, &error);
    addBoxShape(world, id, rbMakeVec3(SUPPORT_SIZE, SUPPORT_SIZE, THICKNESS), now->friction);
    if (now->support == DRIVEN) {
        rbJointDef joint = rbDefaultJointDef();
        joint.type = RB_JOINT_HINGE;
        joint.bodyB = id;
        joint.freedoms[0].motor.type = RB_MOTOR_VELOCITY;
        joint.freedoms[0].motor.target = now->rate;
        (void)join(world, &joint, RB_VEC3_ZERO, rbMakeVec3(0.0, 0.0, 1.0));
    }
    return id;
}

// Where the center of a body is over its support, m, in the axes of the support.
static rbVec3 placeOver(const rbWorld* world, rbBodyId support, rbBodyId id)
{
    return rbInvTransformPoint(rbBody_GetState(world, support).transform,
                               rbBody_GetState(world, id).center);
}

// How far the box has moved over its support, m.
static double carry(const Case* now)
{
    rbWorldDef def = defineArrivals(now->step, RB_CONTACT_TIME_AUTO);
    rbWorld* world = makeArrivalWorld(&def);
    rbBodyId support = addSupport(world, now);
    rbError error = {0};
    rbBodyDef box = rbDefaultBodyDef();
    box.position = rbMakeVec3(now->radius, 0.0, 0.5 * now->height + TOLERANCE);
    box.linearVelocity.y = now->rate * now->radius;
    box.angularVelocity.z = now->support == TRAY ? 0.0 : now->rate;
    rbBodyId id = rbCreateBody(world, &box, &error);
    addBoxShape(world, id, rbMakeVec3(now->width, now->width, now->height), now->friction);
    assert_false(RB_IS_NULL(id));
    rbVec3 start = placeOver(world, support, id);
    assert_int_equal(rbWorld_AdvanceTo(world, DURATION).status, RB_STATUS_OK);
    rbVec3 end = placeOver(world, support, id);
    rbDestroyWorld(world);
    return rbDistance(start, end);
}

static void supportsThatTurnCarry(void** state)
{
    (void)state;
    static const char* names[SUPPORT_COUNT] = {"turntables", "trays", "driven tables"};
    rbRandom random = {rbTest_Seed(0xca881ed)};
    for (int support = 0; support < SUPPORT_COUNT; ++support) {
        double worst = 0.0;
        for (int i = 0; i < rbTest_Count(CASES, CASES_FULL); ++i) {
            Case now = makeCase(&random, (Support)support);
            double moved = carry(&now);
            // What it would leave by along the tangent in two steps; without what turns it is that
            // much every second step.
            double most = now.rate * now.rate * now.radius * now.step * now.step + TOLERANCE;
            worst = fmax(worst, moved);
            checkBelow(moved, most);
        }
        print_message("[ %s: boxes move by at most %.1e m ]\n", names[support], worst);
    }
}

// Where a block thrown onto a turntable, or placed on it at rest, is after half a second, m.
static rbVec3 slide(double step, bool isThrown)
{
    Case now = {TURNTABLE, 0.4, 0.0, 3.0, 0.02, 0.1, step};
    rbWorldDef def = defineArrivals(step, RB_CONTACT_TIME_AUTO);
    rbWorld* world = makeArrivalWorld(&def);
    (void)addSupport(world, &now);
    rbError error = {0};
    rbBodyDef box = rbDefaultBodyDef();
    box.position = rbMakeVec3(0.3, 0.0, 0.5 * now.height + TOLERANCE);
    box.linearVelocity = isThrown ? rbMakeVec3(1.0, -1.0, 0.0) : RB_VEC3_ZERO;
    rbBodyId id = rbCreateBody(world, &box, &error);
    addBoxShape(world, id, rbMakeVec3(now.width, now.width, now.height), now.friction);
    assert_int_equal(rbWorld_AdvanceTo(world, 0.5).status, RB_STATUS_OK);
    rbVec3 end = rbBody_GetState(world, id).center;
    rbDestroyWorld(world);
    return end;
}

// What a step may leave adds up: in short ones it must be less.
static void shortStepsAreOfSecondOrder(void** state)
{
    (void)state;
    for (int isThrown = 0; isThrown < 2; ++isThrown) {
        rbVec3 truth = slide(2.5e-4, isThrown != 0);
        double first = rbDistance(slide(4e-3, isThrown != 0), truth);
        print_message("[ steps of 4 ms: %.1e m off", first);
        for (int k = 1; k <= 3; ++k) { // 2 to 0.5 ms
            double parts = (double)(1 << k);
            double off = rbDistance(slide(4e-3 / parts, isThrown != 0), truth);
            print_message(", %.1e", off);
            checkBelow(off, 2.0 * first / (parts * parts));
        }
        print_message(" ]\n");
    }
}

RB_TEST_GROUP(phys_carried, cmocka_unit_test(supportsThatTurnCarry),
              cmocka_unit_test(shortStepsAreOfSecondOrder));
