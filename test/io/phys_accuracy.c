// What the levels of accuracy promise (docs/modules/step.md), on scenes with known answers. Scenes
// lose their own settings of steps and contacts: the defaults of a level must do.
#include "scene_run.h"

#include <math.h>

// A ball of 0.1 m thrown at 7 m/s without spin onto a plane, friction 0.2: it slides for
// t = 2 v / (7 mu g), then it rolls at 5/7 v.
static const char bowling[] =
    "{\"rattleback\": 1, \"duration\": 2, \"materials\": {\"m\": {\"restitution\": 0, "
    "\"friction\": 0.2}}, \"output\": {\"probes\": [{\"body\": \"ball\", \"quantity\": "
    "\"center\"}]}, "
    "\"bodies\": [{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"geometry\": "
    "{\"type\": "
    "\"plane\", \"normal\": [0, 0, 1]}, \"material\": \"m\"}]}, {\"name\": \"ball\", \"mass\": 1, "
    "\"position\": [0, 0, 0.10001], \"velocity\": [7, 0, 0], \"shapes\": [{\"geometry\": "
    "{\"type\": "
    "\"sphere\", \"radius\": 0.1}, \"material\": \"m\"}]}]}";
// A cube on a slope of 30 degrees, friction 0.3: gravity is inclined instead. It slides with
// a = g (sin 30 - 0.3 cos 30) = 2.356287236662396 m/s^2.
static const char slope[] =
    "{\"rattleback\": 1, \"duration\": 2, \"world\": {\"gravity\": [4.905, 0, "
    "-8.495709211125343]}, "
    "\"materials\": {\"m\": {\"restitution\": 0, \"friction\": 0.3}}, \"output\": {\"probes\": "
    "[{\"body\": \"cube\", \"quantity\": \"center\"}]}, \"bodies\": [{\"name\": \"floor\", "
    "\"type\": "
    "\"static\", \"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}, "
    "\"material\": \"m\"}]}, {\"name\": \"cube\", \"mass\": 1, \"position\": [0, 0, 0.10001], "
    "\"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [0.4, 0.4, 0.2]}, \"material\": "
    "\"m\"}]}]}";

// Published or closed values of a motion that is not chaotic (a double pendulum is not in 1 s).
typedef struct Truth {
    const char* name;       // of the scene
    const char* text;       // of a scene that has no file
    bool hasContacts;       // exact has none yet
    double time;            // s
    double size;            // m, of the motion
    const char* columns[2]; // NULL: none
    double values[2];
} Truth;

static const Truth truths[] = {
    {"n-four-bar-2",
     NULL,
     false,
     10.0,
     1.0,
     {"pin.x", "pin.z"},
     {0.328458111540815, 0.944518538178601}},
    {"pendulum",
     NULL,
     false,
     5.0,
     1.0,
     {"bob.center.x", "bob.center.z"},
     {-0.942305435043757, -0.334754338414001}},
    {"double-pendulum",
     NULL,
     false,
     1.0,
     2.0,
     {"upper.center.x", "upper.center.z"},
     {-0.585168391998875, -0.810911803469065}},
    {"bowling", bowling, true, 2.0, 11.0, {"ball.center.x", NULL}, {11.019367991845058, 0.0}},
    {"slope", slope, true, 1.0, 1.0, {"cube.center.x", NULL}, {1.178143618331198, 0.0}},
};
#define TRUTHS (sizeof truths / sizeof truths[0])

// A scene with the settings of a level and no others but some keys, each after a comma.
static Run startAt(const char* name, const char* text, rbAccuracy accuracy, const char* keys)
{
    Run run = {.scene = text != NULL ? readText(text) : readNamed(name)};
    char level[64];
    rbError error = {0};
    (void)snprintf(level, sizeof level, "step={\"accuracy\": \"%s\"%s}", rbAccuracy_Name(accuracy),
                   keys);
    bool areOff = !rbScene_GetInfo(run.scene)->contact.isEnabled;
    const char* const changes[] = {level, areOff ? "contact={\"enabled\": false}"
                                                 : "contact={\"enabled\": true}"};
    for (int i = 0; i < 2; ++i) {
        if (rbScene_Override(run.scene, changes[i], &error) != RB_STATUS_OK) {
            fail_msg("%s", formatError(&error));
        }
    }
    assert_int_equal(rbScene_GetInfo(run.scene)->step.accuracy, accuracy);
    run.world = makeWorld(run.scene);
    return run;
}

// m, off a truth.
static double getErrorOf(const Truth* truth, rbAccuracy accuracy, const char* keys)
{
    Run run = startAt(truth->name, truth->text, accuracy, keys);
    go(&run, truth->time);
    double sum = 0.0;
    for (int k = 0; k < 2 && truth->columns[k] != NULL; ++k) {
        double off = get(&run, truth->columns[k]) - truth->values[k];
        sum += off * off;
    }
    endRun(&run);
    print_message("%s at %s%s: %.2g m off after %g s\n", truth->name, rbAccuracy_Name(accuracy),
                  keys, sqrt(sum), truth->time);
    return sqrt(sum);
}

// Engineering: within 1e-3 of itself per second. Every step meets its tolerance (go checks it).
static void motionAtEngineeringIsRightToAThousandth(void** state)
{
    (void)state;
    for (size_t i = 0; i < TRUTHS; ++i) {
        checkBelow(getErrorOf(&truths[i], RB_ACCURACY_ENGINEERING, ""),
                   1e-3 * truths[i].size * truths[i].time);
    }
}

// Exact: the error stated, 1e-9 m by default.
static void motionAtExactIsRightToTheErrorStated(void** state)
{
    (void)state;
    for (size_t i = 0; i < TRUTHS; ++i) {
        if (!truths[i].hasContacts) {
            checkBelow(getErrorOf(&truths[i], RB_ACCURACY_EXACT, ""), 1e-9);
            // Steps that would be far too long are not taken.
            checkBelow(getErrorOf(&truths[i], RB_ACCURACY_EXACT, ", \"step\": 0.1"), 1e-9);
        }
    }
}

// The energy of bodies and gravity never rises: no motor drives these scenes. Asked at nodes, since
// half a step has no balance.
static void checkEnergy(Run* run, int pieces, double relative)
{
    double last = rbWorld_GetLedger(run->world).energy;
    double scale = fabs(last);
    for (int i = 1; i <= pieces; ++i) {
        rbStatus status = rbWorld_AdvanceTo(run->world, i / 20.0).status;
        assert_true(status == RB_STATUS_OK || status == RB_STATUS_NUMERICAL);
        double energy = rbWorld_GetLedger(run->world).energy;
        checkBelow(energy, last + relative * scale);
        last = energy;
    }
}

// Engineering: no energy from nothing, gaps and speeds within the promise. The pile misses its
// tolerance, which is far below the promise, in a few steps.
static void pilesAtEngineeringGainNoEnergy(void** state)
{
    (void)state;
    static const char* const names[] = {"pile-of-shapes", "card-house", "arch"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        Run run = startAt(names[i], NULL, RB_ACCURACY_ENGINEERING, "");
        checkEnergy(&run, rbTest_Count(10, 10) < 10 ? 1 : 20, 1e-9);
        rbContactStatistics s = rbWorld_GetContactStatistics(run.world);
        print_message("%s: %.2g m, %.2g m/s, %lld steps unmet\n", names[i], s.gapErrorMax,
                      s.speedErrorMax, (long long)s.unmetSteps);
        checkBelow(s.gapErrorMax, 1e-5);
        checkBelow(s.speedErrorMax, 1e-4);
        endRun(&run);
    }
}

// Game: a bounded amount of work, no energy from nothing, and piles that stand.
static void pilesAtGameStandOnABudget(void** state)
{
    (void)state;
    static const char* const names[] = {"pile-of-shapes", "pyramid", "arch"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        Run run = startAt(names[i], NULL, RB_ACCURACY_GAME, "");
        double before = rbWorld_GetLedger(run.world).energy;
        checkEnergy(&run, 60, 1e-3);
        rbContactStatistics s = rbWorld_GetContactStatistics(run.world);
        int64_t steps = rbWorld_GetStepStatistics(run.world).steps;
        // Rolling friction, in the pile, is not for small steps: up to 20 rounds of look-ahead.
        int64_t most = rbWorld_GetContactSettings(run.world).sweepsMax * steps * (i == 0 ? 20 : 1);
        assert_int_equal(steps, 180);
        assert_true(s.positionSweeps <= most && s.velocitySweeps <= most);
        assert_int_equal(s.directStages, 0);
        checkBelow(s.deepest, 0.02);
        rbLedger ledger = rbWorld_GetLedger(run.world);
        print_message("%s: deepest %.2g m, energy %.4g to %.4g J, kinetic %.2g J\n", names[i],
                      s.deepest, before, ledger.energy, ledger.kineticLinear);
        endRun(&run);
    }
    Run run = startAt("pyramid", NULL, RB_ACCURACY_GAME, "");
    rbBodyId top = rbWorld_FindBody(run.world, "row20");
    assert_false(RB_IS_NULL(top));
    double height = rbBody_GetState(run.world, top).center.z;
    go(&run, 5.0);
    checkNear(rbBody_GetState(run.world, top).center.z, height, 0.05);
    endRun(&run);
}

// Game: mechanisms swing in steps of 1/60 s without gaining energy.
static void mechanismsAtGameGainNoEnergy(void** state)
{
    (void)state;
    static const char* const names[] = {"pendulum", "n-four-bar-2", "chain-released"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        Run run = startAt(names[i], NULL, RB_ACCURACY_GAME, "");
        double kinetic = 0.0;
        double first = rbWorld_GetLedger(run.world).energy;
        double worst = -INFINITY;
        for (int k = 1; k <= 300; ++k) {
            go(&run, k / 60.0);
            rbLedger ledger = rbWorld_GetLedger(run.world);
            kinetic = fmax(kinetic, ledger.kineticLinear + ledger.kineticAngular);
            worst = fmax(worst, ledger.energy - first);
        }
        print_message("%s: energy rises by at most %.2g of the largest kinetic energy\n", names[i],
                      worst / kinetic);
        checkBelow(worst, 0.01 * kinetic);
        endRun(&run);
    }
}

RB_TEST_GROUP(phys_accuracy, cmocka_unit_test(motionAtEngineeringIsRightToAThousandth),
              cmocka_unit_test(motionAtExactIsRightToTheErrorStated),
              cmocka_unit_test(pilesAtEngineeringGainNoEnergy),
              cmocka_unit_test(pilesAtGameStandOnABudget),
              cmocka_unit_test(mechanismsAtGameGainNoEnergy));
