// What a step says about itself: a status other than OK has a value above its tolerance, and every
// such value has a status.
#include "base/core/random.h"
#include "contact_scenes.h"
#include "lab/math/axis_angle.h"

#include <rattleback/collision.h>

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- bowling

typedef struct Solid {
    const char* name;
    rbGeometry* geometry;
    rbVec3 position;
    rbQuat orientation; // w 0: none
    rbVec3 velocity;
    rbVec3 spin;
} Solid;

static rbBodyId addSolid(rbWorld* world, const Solid* solid, const rbMaterial* material)
{
    rbError error = {0};
    rbBodyDef def = rbDefaultBodyDef();
    def.name = solid->name;
    def.type = RB_BODY_DYNAMIC;
    def.position = solid->position;
    def.orientation = solid->orientation.w != 0.0 ? solid->orientation : def.orientation;
    def.linearVelocity = solid->velocity;
    def.angularVelocity = solid->spin;
    rbBodyId id = rbCreateBody(world, &def, &error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, solid->geometry);
    shape.material = *material;
    if (RB_IS_NULL(id) || RB_IS_NULL(rbCreateShape(world, id, &shape, &error))) {
        fail_msg("%s", error.message);
    }
    return id;
}

static rbGeometry* makePin(int kind)
{
    return kind == 0   ? rbCreateCylinder(0.03, 0.1, NULL)
           : kind == 1 ? rbCreateCapsule(0.03, 0.07, NULL)
                       : rbCreateBox(rbMakeVec3(0.025, 0.025, 0.1), NULL);
}

// A ball that rolls and slides into six pins.
static rbWorld* makeBowling(rbRandom* random, int kind)
{
    static const double restitutions[6] = {0.0, 0.1, 0.3, 0.5, 0.7, 0.9};
    static const double frictions[5] = {0.0, 0.1, 0.2, 0.3, 0.5};
    rbWorldDef def = defineWorld();
    rbWorld* world = makeWorld(&def);
    rbMaterial material = rbDefaultShapeDef().material;
    material.density = 700.0;
    material.restitution = restitutions[rbRandom_Index(random, 6)];
    material.friction = frictions[rbRandom_Index(random, 5)];
    Piece floor = {
        .name = "floor", .restitution = material.restitution, .friction = material.friction};
    (void)addPiece(world, &floor);
    double radius = rbRandom_Range(random, 0.06, 0.11);
    Solid ball = {.name = "ball", .geometry = rbCreateSphere(radius, NULL)};
    ball.position = rbMakeVec3(-0.3, rbRandom_Range(random, -0.02, 0.02), radius + SHELL);
    ball.velocity.x = rbRandom_Range(random, 2.0, 8.0);
    ball.velocity.y = rbRandom_Range(random, -0.3, 0.3);
    ball.spin.y = rbRandom_Range(random, 0.0, 60.0);
    (void)addSolid(world, &ball, &material);
    double spacing = rbRandom_Range(random, 0.08, 0.2);
    static const char* const names[6] = {"pin0", "pin1", "pin2", "pin3", "pin4", "pin5"};
    for (int row = 0, next = 0; row < 3; ++row) {
        for (int i = 0; i <= row; ++i) {
            Solid pin = {.name = names[next++], .geometry = makePin(kind)};
            pin.position =
                rbMakeVec3(0.866 * spacing * row, (i - 0.5 * row) * spacing, 0.1 + SHELL);
            (void)addSolid(world, &pin, &material);
        }
    }
    return world;
}

static bool isAnyMissed(const rbWorld* world, rbContactTolerance allowed)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    return s.gapErrorMax > allowed.gap || s.speedErrorMax > allowed.speed ||
           s.reboundErrorMax > s.restSpeed;
}

// Issue 22: a run was "above a tolerance by up to 9.85e-07 m (asked 1e-06)".
static void bowlingSaysWhatItMissed(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0xb0111)};
    rbWorldDef def = defineWorld();
    rbContactTolerance allowed = rbContactSettings_GetTolerance(&def.contact);
    int count = rbTest_Count(100, 1000);
    int missed = 0;
    int drifting = 0;
    for (int i = 0; i < count; ++i) {
        rbWorld* world = makeBowling(&random, i % 3);
        rbStepReport report = rbWorld_AdvanceTo(world, 0.5);
        bool isMissed = report.status != RB_STATUS_OK;
        char text[600];
        double scale = report.ledger.energyScale;
        bool isDrifting = fabs(report.ledger.numericalEnergy) > 1e-3 * scale;
        assert_true(isDrifting ==
                    (rbWorld_DescribeNumericalEnergy(world, scale, text, sizeof text) > 0));
        drifting += isDrifting ? 1 : 0;
        size_t length = rbWorld_DescribeContactMiss(world, text, sizeof text);
        if (isMissed != isAnyMissed(world, allowed) || isMissed != (length > 0)) {
            fail_msg("bowling %d: status %d, but the values say \"%s\"", i, (int)report.status,
                     text);
        }
        if (isMissed) {
            assert_non_null(strstr(rbWorld_GetError(world).message, text));
            assert_non_null(strstr(text, "(allowed "));
        }
        missed += isMissed ? 1 : 0;
        rbDestroyWorld(world);
    }
    print_message("%d of %d bowling scenes missed a tolerance of contacts, %d that of energy\n",
                  missed, count, drifting);
    assert_in_range(missed, 0, count / 10); // seen with five seeds: 2 to 8 of 100, all said
}

// --------------------------------------------------------------------------------------- overlaps

static rbGeometry* makeSolid(rbRandom* random, bool isBox)
{
    double size = rbRandom_Range(random, 0.15, 0.5);
    switch (isBox ? 0 : rbRandom_Index(random, 6)) {
    case 0:
        return rbCreateBox(rbMakeVec3(size, size * rbRandom_Range(random, 0.3, 1.0),
                                      size * rbRandom_Range(random, 0.3, 1.0)),
                           NULL);
    case 1:
        return rbCreateSphere(size, NULL);
    case 2:
        return rbCreateCapsule(0.7 * size, 0.5 * size, NULL);
    case 3:
        return rbCreateCylinder(0.7 * size, size, NULL);
    case 4:
        return rbCreateCone(size, 2.0 * size, NULL);
    default:
        return rbCreateEllipsoid(rbMakeVec3(size, 0.7 * size, 0.5 * size), NULL);
    }
}

// 2 to 6 bodies near one point: in space or above and in a floor.
static rbWorld* makeGroup(rbRandom* random, int kind)
{
    static const double spreads[4] = {0.02, 0.2, 0.5, 0.9};
    static const char* const names[6] = {"a", "b", "c", "d", "e", "f"};
    rbWorldDef def = defineWorld();
    bool hasFloor = kind % 2 == 1;
    def.contact.isOverlapAllowed = true;
    def.step.step = kind % 3 == 0 ? 5e-3 : 1e-3;
    def.gravity = rbMakeVec3(0.0, 0.0, hasFloor ? -GRAVITY : 0.0);
    rbWorld* world = makeWorld(&def);
    rbMaterial material = rbDefaultShapeDef().material;
    material.density = 500.0;
    material.friction = rbRandom_Index(random, 2) == 0 ? 0.0 : 0.5;
    if (hasFloor) {
        (void)addFloor(world);
    }
    int count = 2 + rbRandom_Index(random, 5);
    double spread = spreads[rbRandom_Index(random, 4)];
    for (int i = 0; i < count; ++i) {
        Solid solid = {.name = names[i], .geometry = makeSolid(random, kind % 4 >= 2)};
        solid.position.x = spread * rbRandom_Symmetric(random);
        solid.position.y = spread * rbRandom_Symmetric(random);
        solid.position.z = spread * rbRandom_Symmetric(random) + (hasFloor ? 0.3 : 0.0);
        if (rbRandom_Index(random, 2) == 0) {
            rbVec3 axis =
                rbNormalize(rbMakeVec3(1.0, rbRandom_Unit(random), rbRandom_Unit(random)));
            solid.orientation = rbQuat_FromAxisAngle(axis, rbRandom_Range(random, 0.0, 3.0));
        }
        (void)addSolid(world, &solid, &material);
    }
    return world;
}

// Issue 22: of such groups one in eight stayed as it was forever, and the run said "met".
static void overlappingBodiesAreSeparatedOrNamed(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x0e71a9)};
    int count = rbTest_Count(100, 2000);
    int left = 0;
    double worst = 0.0;
    for (int i = 0; i < count; ++i) {
        rbWorld* world = makeGroup(&random, i);
        rbWorldDef def = defineWorld();
        rbStepReport report = {0};
        rbContactStatistics s = {0};
        bool isLeft = true;
        for (int k = 1; isLeft && k <= 12; ++k) {
            report = rbWorld_AdvanceTo(world, 0.25 * k);
            s = rbWorld_GetContactStatistics(world);
            isLeft = s.overlap > rbContactSettings_GetTolerance(&def.contact).gap;
        }
        char text[400];
        size_t length = rbWorld_DescribeContactMiss(world, text, sizeof text);
        worst = fmax(worst, s.overlap);
        left += isLeft ? 1 : 0;
        if (isLeft && (length == 0 || strstr(text, "overlap by") == NULL)) {
            fail_msg("group %d: overlap of %g m, status %d, \"%s\"", i, s.overlap,
                     (int)report.status, text);
        }
        rbDestroyWorld(world);
    }
    print_message("%d of %d groups still overlap after 3 s, by at most %g m\n", left, count, worst);
    assert_in_range(left, 0, count / 100);
}

// Two boxes clamped between walls that leave room for one: they cannot be separated, and the step
// says so once the time for it is over.
static void boxesThatCannotPartAreNamed(void** state)
{
    (void)state;
    rbError error = {0};
    rbWorldDef def = defineWorld();
    def.contact.isOverlapAllowed = true;
    rbWorld* world = makeWorld(&def);
    (void)addFloor(world);
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.name = "well";
    bodyDef.type = RB_BODY_STATIC;
    rbBodyId well = rbCreateBody(world, &bodyDef, &error);
    static const Piece walls[5] = {{.size = {0.1, 1.0, 1.0}, .offset = {0.111, 0.0, 0.5}},
                                   {.size = {0.1, 1.0, 1.0}, .offset = {-0.111, 0.0, 0.5}},
                                   {.size = {1.0, 0.1, 1.0}, .offset = {0.0, 0.111, 0.5}},
                                   {.size = {1.0, 0.1, 1.0}, .offset = {0.0, -0.111, 0.5}},
                                   {.size = {1.0, 1.0, 0.1}, .offset = {0.0, 0.0, 0.2}}};
    for (int i = 0; i < 5; ++i) {
        assert_false(RB_IS_NULL(addShape(world, well, &walls[i], &error)));
    }
    (void)addCube(world, "first", rbMakeVec3(0.0, 0.0, 0.001));
    (void)addCube(world, "second", rbMakeVec3(0.0, 0.0, 0.04));
    rbStatus status = RB_STATUS_OK;
    for (int i = 1; i <= 20 && status == RB_STATUS_OK; ++i) {
        status = rbWorld_AdvanceTo(world, 0.1 * i).status;
    }
    assert_int_equal(status, RB_STATUS_NUMERICAL);
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    char text[400];
    assert_true(s.overlap > 1e-3);
    assert_true(rbWorld_DescribeContactMiss(world, text, sizeof text) > 0);
    assert_non_null(strstr(text, "which should be separated, overlap by"));
    assert_non_null(strstr(rbWorld_GetError(world).message, "contact.partSpeed"));
    rbDestroyWorld(world);
}

RB_TEST_GROUP(prop_claims, cmocka_unit_test(bowlingSaysWhatItMissed),
              cmocka_unit_test(overlappingBodiesAreSeparatedOrNamed),
              cmocka_unit_test(boxesThatCannotPartAreNamed));
