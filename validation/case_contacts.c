// Sliding and rolling in the step engine against closed forms: inclines, balls, and balls on a
// carriage.
//
// A contact of this engine acts at the center of its shell: a ball of radius r has a lever of r +
// shell/2, which changes its motion by shell / r, 1e-4 for the balls here at most.
#include "case_contacts.h"

#include <math.h>

#define STEP 1e-3
#define GRAVITY RB_PILE_GRAVITY

bool rbCheckPile(rbValidation* validation, const rbPile* pile, const char* name)
{
    bool isSound = pile->error.status == RB_STATUS_OK;
    if (!isSound) {
        char quantity[96];
        (void)snprintf(quantity, sizeof quantity, "%s: built and run", name);
        rbValidation_Print(validation, "  %s: %s (%s)\n", name, pile->error.message,
                           rbStatus_Text(pile->error.status));
        rbValidation_AddLimit(validation, quantity, 1.0, 0.0);
    }
    return isSound;
}

void rbPrintPile(const rbValidation* validation, const rbPile* pile, const char* name)
{
    if (pile->error.status != RB_STATUS_OK) {
        return;
    }
    rbContactStatistics s = rbWorld_GetContactStatistics(pile->world);
    double steps = fmax(1.0, (double)rbWorld_GetStepStatistics(pile->world).steps);
    rbValidation_Print(validation,
                       "  %s: %.0f steps, %d points, %lld collisions; sweeps per step: %.1f of "
                       "positions, %.1f of velocities; %lld steps unmet, %lld stages solved as a "
                       "whole, %lld by shock propagation; deepest %.2g m\n",
                       name, steps, s.contactCount, (long long)s.collisions,
                       (double)s.positionSweeps / steps, (double)s.velocitySweeps / steps,
                       (long long)s.unmetSteps, (long long)s.directStages,
                       (long long)s.shockedStages, s.deepest);
}

void rbAddPileBound(rbValidation* validation, const char* name, const char* quantity, double value,
                    double bound)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: %s", name, quantity);
    rbValidation_AddBound(validation, text, value, bound);
}

static void addNear(rbValidation* validation, const char* name, const char* quantity, double value,
                    double truth, double tolerance)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: %s", name, quantity);
    rbValidation_Add(validation, text, value, truth, tolerance);
}

// ---------------------------------------------------------------------------------- braking cubes

#define CUBES 10

// The friction of the pairs of materials changes during the run, from 0 to the stated value.
static void runBraking(rbValidation* validation)
{
    static const double frictions[CUBES] = {.535, .57, .605, .64, .675, .71, .745, .78, .815, .85};
    const double angle = RB_PI / 12.0;
    const rbVec3 downhill = {cos(angle), 0.0, -sin(angle)};
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, angle, 0.0, 0.0);
    for (int i = 0; i < CUBES; ++i) {
        rbPilePlan plan = {.geometry = rbCreateBox(rbMakeVec3(.5, .5, .5), &pile.error),
                           .mass = 1.0,
                           .position = rbGetSlopePlace(angle, 0.0, 2.0 * i, .5 + pile.shell),
                           .orientation = rbGetSlopeTurn(angle),
                           .kind = i + 1};
        (void)rbPile_Add(&pile, &plan);
    }
    (void)rbPile_Advance(&pile, 5000);
    rbPile_NoteStart(&pile);
    for (int i = 0; i < CUBES && pile.error.status == RB_STATUS_OK; ++i) {
        rbMaterialPair pair = {.friction = frictions[i], .law = RB_IMPACT_LAW_COUNT};
        (void)rbWorld_SetMaterialPair(pile.world, 0, i + 1, &pair, &pile.error);
    }
    (void)rbPile_Advance(&pile, 11000);
    if (rbCheckPile(validation, &pile, "braking cubes")) {
        double speed = GRAVITY * sin(angle) * 5.0;
        double rest = 0.0;
        for (int i = 0; i < CUBES; ++i) {
            char text[96];
            rbBodyState s = rbPile_GetState(&pile, i + 1);
            double way = rbDot(downhill, rbSub(s.center, pile.starts[i + 1]));
            double braking = GRAVITY * (frictions[i] * cos(angle) - sin(angle));
            (void)snprintf(text, sizeof text, "braking cubes: distance at friction %.3f, m",
                           frictions[i]);
            rbValidation_Add(validation, text, way, speed * speed / (2.0 * braking), 0.007);
            rest = rbWorseError(rest, rbLength(s.linearVelocity));
        }
        rbAddPileBound(validation, "braking cubes", "speed at 11 s, m/s", rest, 1e-6);
    }
    rbPrintPile(validation, &pile, "braking cubes");
    rbPile_Free(&pile);
}

// -------------------------------------------------------------------------------- blocks on slopes

// Acceleration and rotation of a block that starts at rest on a slope.
static void runSlidingBlock(rbValidation* validation)
{
    const double angle = RB_PI / 6.0;
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakeSlopeBlock(&def, angle, 0.3);
    rbPile_NoteStart(&pile);
    (void)rbPile_Advance(&pile, 1000);
    if (rbCheckPile(validation, &pile, "block at 30 deg, friction 0.3")) {
        rbBodyState s = rbPile_GetState(&pile, 1);
        // v = a t and s = a t^2 / 2 at t = 1 s
        double truth = GRAVITY * (sin(angle) - 0.3 * cos(angle));
        addNear(validation, "block at 30 deg, friction 0.3", "speed after 1 s, m/s",
                rbLength(s.linearVelocity), truth, 1e-6);
        addNear(validation, "block at 30 deg, friction 0.3", "distance in 1 s, m",
                rbDistance(s.center, pile.starts[1]), 0.5 * truth, 1e-6);
        rbAddPileBound(validation, "block at 30 deg, friction 0.3", "spin, rad/s",
                       rbLength(s.angularVelocity), 1e-6);
    }
    rbPile_Free(&pile);
}

// tan 26.565 deg = 0.49999: friction 0.5 holds, 0.49 does not.
static void runHoldingBlock(rbValidation* validation)
{
    static const double frictions[2] = {0.5, 0.49};
    const double angle = 26.565 * RB_PI / 180.0;
    for (int i = 0; i < 2; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "block at 26.565 deg, friction %.2f", frictions[i]);
        rbWorldDef def = rbPileWorldDef(STEP);
        def.contact.tolerance = 1e-9; // friction is within 1e-5 of slipping
        def.contact.velocityTolerance = 1e-10;
        rbPile pile = rbMakeSlopeBlock(&def, angle, frictions[i]);
        rbPile_NoteStart(&pile);
        (void)rbPile_Advance(&pile, 1000);
        if (i == 0) {
            // the corner loads settle first; then nothing moves
            rbValidation_Print(validation, "    %s: settled by %.2g m in 1 s\n", name,
                               rbPile_GetDisplacement(&pile, 0.0));
            rbPile_NoteStart(&pile);
        }
        (void)rbPile_Advance(&pile, 5000);
        if (rbCheckPile(validation, &pile, name)) {
            rbBodyState s = rbPile_GetState(&pile, 1);
            double way = rbDistance(s.center, pile.starts[1]);
            double pull = fmax(0.0, GRAVITY * (sin(angle) - frictions[i] * cos(angle)));
            addNear(validation, name, i == 0 ? "distance in 4 s, m" : "distance in 5 s, m", way,
                    12.5 * (i == 0 ? 0.0 : pull), 1e-6);
            addNear(validation, name, "speed after 5 s, m/s", rbLength(s.linearVelocity),
                    i == 0 ? 0.0 : 5.0 * pull, 1e-6);
        }
        rbPile_Free(&pile);
    }
}

static void runInclines(rbValidation* validation)
{
    runSlidingBlock(validation);
    runHoldingBlock(validation);
    runBraking(validation);
}

const rbValidationCase rbCaseContactInclines = {
    .name = "contact-inclines",
    .group = "contacts",
    .help = "blocks on inclines: sliding, sticking, and ten that brake (X-15), steps of 1 ms",
    .source = "closed forms; Bender 2007, table 5.2",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runInclines,
};

// ------------------------------------------------------------------------------------------- balls

// Slip of the point of contact of a ball on a plane with the given normal.
static double getSlip(const rbBodyState* s, rbVec3 normal, double radius)
{
    rbVec3 v = rbAdd(s->linearVelocity, rbCross(s->angularVelocity, rbScale(-radius, normal)));
    return rbLength(rbAddScaled(v, -rbDot(v, normal), normal));
}

static rbPile makeBallOnSlope(double angle, double friction, double radius, double speed)
{
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, angle, friction, 0.0);
    rbPilePlan plan = {.geometry = rbCreateSphere(radius, &pile.error),
                       .position = rbGetSlopePlace(angle, 0.0, 0.0, radius + pile.shell),
                       .velocity = rbMakeVec3(speed, 0.0, 0.0),
                       .friction = friction};
    (void)rbPile_Add(&pile, &plan);
    rbPile_NoteStart(&pile);
    return pile;
}

// A ball at 30 degrees: it rolls with 5/7 g sin for a friction of at least 2/7 tan = 0.165, and
// slides with g (sin - mu cos) below that.
static void runRollingBall(rbValidation* validation)
{
    static const double frictions[3] = {0.3, 0.17, 0.1};
    const double angle = RB_PI / 6.0;
    const double radius = 0.5;
    for (int i = 0; i < 3; ++i) {
        char name[64];
        (void)snprintf(name, sizeof name, "ball at 30 deg, friction %.2f", frictions[i]);
        rbPile pile = makeBallOnSlope(angle, frictions[i], radius, 0.0);
        (void)rbPile_Advance(&pile, 2000);
        if (rbCheckPile(validation, &pile, name)) {
            rbBodyState s = rbPile_GetState(&pile, 1);
            bool isRolling = frictions[i] >= 2.0 / 7.0 * tan(angle);
            double truth = isRolling ? 5.0 / 7.0 * GRAVITY * sin(angle)
                                     : GRAVITY * (sin(angle) - frictions[i] * cos(angle));
            // sliding: w' = mu m g cos r / (2/5 m r^2)
            double turn =
                isRolling ? truth / radius : 2.5 * frictions[i] * GRAVITY * cos(angle) / radius;
            addNear(validation, name, "speed after 2 s, m/s", rbLength(s.linearVelocity),
                    2.0 * truth, 1e-4 * truth);
            addNear(validation, name, "distance in 2 s, m", rbDistance(s.center, pile.starts[1]),
                    2.0 * truth, 1e-4 * truth);
            addNear(validation, name, "spin after 2 s, rad/s", s.angularVelocity.y, 2.0 * turn,
                    1e-4 * turn);
        }
        rbPile_Free(&pile);
    }
}

// v0 = 7 m/s, friction 0.2: slides for 2 v0 / (7 mu g), then rolls with 5/7 v0.
static void runBowlingBall(rbValidation* validation)
{
    const double radius = 0.11;
    const double speed = 7.0;
    const double friction = 0.2;
    const rbVec3 up = {0.0, 0.0, 1.0};
    const char* name = "bowling ball";
    rbPile pile = makeBallOnSlope(0.0, friction, radius, speed);
    double time = NAN;
    double way = NAN;
    double truth = 2.0 * speed / (7.0 * friction * GRAVITY);
    for (int k = 1; k <= 2000 && rbPile_Advance(&pile, k); ++k) {
        rbBodyState s = rbPile_GetState(&pile, 1);
        // the velocity stage leaves an error within its tolerance; the shell changes the lever
        if (isnan(time) && getSlip(&s, up, radius) <= 1e-3) {
            time = rbWorld_GetTime(pile.world);
            way = s.center.x - pile.starts[1].x;
        }
    }
    if (rbCheckPile(validation, &pile, name)) {
        rbBodyState s = rbPile_GetState(&pile, 1);
        // the time is known to within the step in which sliding ends
        addNear(validation, name, "time of rolling, s", time, truth, 2.0 * STEP);
        addNear(validation, name, "distance until rolling, m", way, (speed + 5.0) / 2.0 * truth,
                2.0 * STEP * 5.0);
        addNear(validation, name, "speed of rolling, m/s", s.linearVelocity.x, 5.0 * speed / 7.0,
                1e-4 * speed);
        addNear(validation, name, "distance in 2 s, m", s.center.x - pile.starts[1].x,
                6.0 * truth + 5.0 * (2.0 - truth), 1e-3);
        rbAddPileBound(validation, name, "drift across, m", fabs(s.center.y), 1e-9);
    }
    rbPrintPile(validation, &pile, name);
    rbPile_Free(&pile);
}

// ---------------------------------------------------------------------------------------- carriage

#define CARRIAGE_ROWS 5
#define BALL_RADIUS 0.5

// 25 balls of 1 kg on a box of 10 kg, pulled by 150 N. Friction of the ground, 0.4 * 35 kg g, is
// against the pull; the balls roll with 2/7 of the acceleration A of the box:
//   10 A = 150 - 0.4 * 35 g - 25 * 2/7 A
static void runCarriage(rbValidation* validation)
{
    const char* name = "carriage";
    const rbVec3 along = {0.5, 0.86602540378443864676, 0.0};
    rbWorldDef def = rbPileWorldDef(STEP);
    rbPile pile = rbMakePile(&def);
    (void)rbPile_AddSlope(&pile, 0.0, 0.4, 0.0);
    // geometric means: box and ground 0.4, box and balls 0.8
    rbVec3 footing = {0.0, 0.0, pile.shell};
    int box = rbPile_AddBox(&pile, rbMakeVec3(10.0, 10.0, 0.5), footing, 0.4, 10.0);
    for (int i = 0; i < CARRIAGE_ROWS * CARRIAGE_ROWS; ++i) {
        int row = i / CARRIAGE_ROWS;
        rbPilePlan plan = {.geometry = rbCreateSphere(BALL_RADIUS, &pile.error),
                           .mass = 1.0,
                           .position = {2.0 * (i % CARRIAGE_ROWS) - 4.0, 2.0 * row - 4.0,
                                        1.0 + BALL_RADIUS + 2.0 * pile.shell},
                           .friction = 1.6};
        (void)rbPile_Add(&pile, &plan);
    }
    if (pile.error.status == RB_STATUS_OK) {
        rbForceDef pull = rbDefaultForceDef();
        pull.type = RB_FORCE_CONSTANT;
        pull.body = pile.bodies[box];
        pull.force = rbScale(150.0, along);
        (void)rbCreateForce(pile.world, &pull, &pile.error);
    }
    double boxTruth = (150.0 - 0.4 * 35.0 * GRAVITY) / (10.0 + 50.0 / 7.0);
    double ballTruth = 2.0 / 7.0 * boxTruth;
    (void)rbPile_Advance(&pile, 4000);
    if (rbCheckPile(validation, &pile, name)) {
        double worst = 0.0;
        double mean = 0.0;
        rbVec3 v = rbPile_GetState(&pile, box).linearVelocity;
        for (int i = 0; i < CARRIAGE_ROWS * CARRIAGE_ROWS; ++i) {
            rbVec3 u = rbPile_GetState(&pile, box + 1 + i).linearVelocity;
            worst = rbWorseError(worst, rbDistance(u, rbScale(4.0 * ballTruth, along)));
            mean += rbDot(u, along) / (4.0 * CARRIAGE_ROWS * CARRIAGE_ROWS);
        }
        addNear(validation, name, "acceleration of the box, m/s^2", rbDot(v, along) / 4.0, boxTruth,
                1e-4 * boxTruth);
        addNear(validation, name, "mean acceleration of the balls, m/s^2", mean, ballTruth,
                1e-4 * ballTruth);
        rbAddPileBound(validation, name, "largest velocity error of a ball, m/s", worst,
                       4e-4 * ballTruth);
        rbAddPileBound(validation, name, "velocity error of the box, m/s",
                       rbDistance(v, rbScale(4.0 * boxTruth, along)), 4e-4 * boxTruth);
    }
    rbPrintPile(validation, &pile, name);
    rbPile_Free(&pile);
}

static void runBalls(rbValidation* validation)
{
    runRollingBall(validation);
    runBowlingBall(validation);
    runCarriage(validation);
}

const rbValidationCase rbCaseContactRolling = {
    .name = "contact-rolling",
    .group = "contacts",
    .help = "balls on an incline, a bowling ball, 25 balls on a carriage, steps of 1 ms",
    .source = "closed forms; SimBenchmark's rolling carriage",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runBalls,
};
