// The step engine through the program: summary, tolerance, refused starts, lists, probes, replay.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_JSON(...) rbRunJson(0, (const char* const[]){__VA_ARGS__, "--json", NULL})

#define BAR \
    "\"mass\": 1, \"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 0.1, 0.1]}}]"
// A chain of four bars let go from the horizontal, a driven wheel, a damped spring.
static const char* const scene =
    "{\"rattleback\": 1, \"title\": \"links\", \"theme\": \"mechanisms\", \"engine\": \"step\", "
    "\"duration\": 1, \"output\": {\"step\": 0.05, \"probes\": ["
    "{\"joint\": \"axle\", \"quantity\": \"angle\"}, {\"joint\": \"pin[1]\", \"quantity\": "
    "\"force\"}, {\"spring\": \"coil\", \"quantity\": \"length\"}, {\"quantity\": "
    "\"jointError\"}]}, \"step\": {\"step\": 0.002, \"order\": 4}, \"bodies\": ["
    "{\"name\": \"bar\", \"position\": [0.5, 0, 0], " BAR
    ", \"repeat\": {\"count\": [4, 1, 1], \"spacing\": [1, 0, 0]}}, "
    "{\"name\": \"wheel\", \"position\": [0, 3, 0], " BAR "}, "
    "{\"name\": \"bob\", \"position\": [0, 6, 0], " BAR "}], \"joints\": ["
    "{\"name\": \"hook\", \"type\": \"ball\", \"bodies\": [\"world\", \"bar[0]\"], \"anchor\": "
    "[0, 0, 0]}, {\"name\": \"pin\", \"type\": \"hinge\", \"bodies\": [\"bar[x]\", "
    "\"bar[x+1]\"], \"anchor\": [1, 0, 0], \"axis\": [0, 1, 0], \"repeat\": {\"count\": [3, 1, 1], "
    "\"spacing\": [1, 0, 0]}}, {\"name\": \"axle\", \"type\": \"revolute\", \"bodyB\": \"wheel\", "
    "\"anchor\": [0, 3, 0], \"axis\": [0, 0, 1], \"motor\": {\"type\": \"velocity\", \"target\": "
    "2}}], \"springs\": [{\"name\": \"coil\", \"bodies\": [\"world\", \"bob\"], \"anchorA\": "
    "[0, 6, 1], \"stiffness\": 40, \"damping\": 1}]}";

static void writeScene(void)
{
    rbWriteText(rbScratch("links.json"), scene);
}

static double numberOf(const json_t* root, const char* first, const char* second)
{
    const json_t* value = json_object_get(json_object_get(root, first), second);
    if (!json_is_number(value)) {
        fail_msg("no number %s.%s", first, second);
    }
    return json_number_value(value);
}

static void expectLines(const char* text, const char* const* lines, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (strstr(text, lines[i]) == NULL) {
            fail_msg("\"%s\" is not in\n%.700s", lines[i], text);
        }
    }
}
#define EXPECT_LINES(text, lines) expectLines(text, lines, sizeof(lines) / sizeof((lines)[0]))

static void theSummaryTellsHowTheJointsHeld(void** state)
{
    (void)state;
    writeScene();
    json_t* root = RUN_JSON("run", "links.json");
    assert_true(numberOf(root, "steps", "joints") == 5.0);
    assert_true(numberOf(root, "steps", "springs") == 1.0);
    assert_true(numberOf(root, "steps", "unmetSteps") == 0.0);
    assert_true(numberOf(root, "steps", "substeps") > numberOf(root, "steps", "total"));
    checkBelow(numberOf(root, "steps", "positionErrorMax"), numberOf(root, "steps", "tolerance"));
    checkBelow(numberOf(root, "steps", "angleErrorMax"), numberOf(root, "steps", "tolerance"));
    assert_true(numberOf(root, "steps", "tolerance") == 1e-12);
    assert_true(numberOf(root, "energy", "motorWork") > 0.0);
    assert_true(numberOf(root, "energy", "dissipation") < 0.0);
    assert_true(numberOf(root, "energy", "springEnergy") > 0.0);
    static const char* const keys[] = {"halvings",
                                       "positionIterations",
                                       "velocityIterations",
                                       "factorizations",
                                       "singularSteps",
                                       "mechanisms",
                                       "rows",
                                       "redundantRows",
                                       "iterationsMost",
                                       "velocityErrorMax",
                                       "accuracy",
                                       "horizon",
                                       "accuracyEstimate",
                                       "stepSmallest",
                                       "step",
                                       "order"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        assert_true(isfinite(numberOf(root, "steps", keys[i])));
    }
    json_decref(root);
    rbChild child = RUN("run", "links.json");
    rbExpectSuccess(&child);
    static const char* const lines[] = {
        "engine step", "sub-steps",        "halvings",
        "springs",     "redundant",        "iterations a sub-step",
        "joint error", "asked 1e-12: met", "estimated error of the motion",
        "motors",      "damping",          "joints or springs hold bodies in the world"};
    EXPECT_LINES(child.out, lines);
    rbFreeChild(&child);
}

// Sweeps cut off early leave joints open: the run goes on, says so and ends with 3.
static void aMissedToleranceIsReported(void** state)
{
    (void)state;
    writeScene();
    static const char* const words[] = {
        "run",   "links.json",   "--set", "step.solver=iterative", "--set", "step.iterationsMax=3",
        "--set", "step.order=2", "--set", "step.halvingsMax=0",    "--set", "step.step=0.01",
        NULL};
    rbChild child = rbRunProgram(words);
    assert_non_null(strstr(child.out, ": missed in "));
    rbExpectFailure(child, 3, "steps ended above the joint tolerance 1e-06; worst is joint \"");
}

static void jointsThatCannotHoldAreRefused(void** state)
{
    (void)state;
    writeScene();
    // The hook is 0.5 m from the end of the bar that it should hold.
    static const char apart[] =
        "joints.hook={\"name\": \"hook\", \"type\": \"ball\", \"bodyB\": \"bar[0]\", "
        "\"anchorA\": [0, 0, 0.5], \"anchorB\": [-0.5, 0, 0]}";
    static const char* const verbs[] = {"check", "run"};
    for (size_t i = 0; i < 2; ++i) {
        rbChild child = RUN(verbs[i], "links.json", "--set", apart);
        assert_non_null(strstr(child.err, "\"hook\""));
        rbExpectFailure(child, 2, "0.5 m");
    }
    rbExpectFailure(
        RUN("check", "links.json", "--set", "joints.pin.bodies=[\"bar[x]\",\"baar[x]\"]"), 2,
        "/joints/1/bodies/1: joint \"pin\": there is no body \"baar\"; did you mean");
    rbExpectFailure(RUN("run", "links.json", "--engine", "event"), 2,
                    "the engine \"event\" knows no joints");
}

static void checkAndInfoListTheMechanisms(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("check", "links.json");
    rbExpectSuccess(&child);
    static const char* const checked[] = {
        "5 joints and 1 springs in ", "the joints hold at the start",
        "warning: joint \"axle\": its velocity motor has no \"forceMax\""};
    EXPECT_LINES(child.out, checked);
    rbFreeChild(&child);
    child = RUN("info", "links.json");
    rbExpectSuccess(&child);
    static const char* const listed[] = {"23 conditions, 0 redundant; of 36 freedoms 13 are left",
                                         "world - bar[0], removes 3", "bar[2] - bar[3], removes 5",
                                         "coil", "1 m long"};
    EXPECT_LINES(child.out, listed);
    rbFreeChild(&child);
}

// Probes go to the table, and outputs never change the motion: the motor's angle is 2 t.
static void probesOfJointsGoToTheTable(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "links.json", "--csv", "-", "--quiet");
    rbExpectSuccess(&child);
    static const char* const head[] = {"time [s],axle.angle [rad],pin[1].force.x [N]",
                                       "coil.length [m]", "world.jointError [m]"};
    EXPECT_LINES(child.out, head);
    const char* last = strstr(child.out, "\n1,");
    assert_non_null(last);
    checkNear(strtod(last + 3, NULL), 2.0, 2.0 * 0.002); // it starts within the first step
    rbFreeChild(&child);
    json_t* coarse = RUN_JSON("run", "links.json", "--plot", "a.svg");
    json_t* fine = RUN_JSON("run", "links.json", "--dt", "0.0007");
    assert_string_equal(json_string_value(json_object_get(coarse, "hash")),
                        json_string_value(json_object_get(fine, "hash")));
    json_decref(coarse);
    json_decref(fine);
    size_t size = 0;
    char* plot = rbReadFile(rbScratch("a.svg"), &size);
    assert_non_null(strstr(plot, "axle angle"));
    free(plot);
}

static void recordingsWithJointsReplay(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "links.json", "--record", "a.rbr", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    child = RUN("replay", "a.rbr");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "equal, bit by bit"));
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_joints, SCRATCH_TEST(theSummaryTellsHowTheJointsHeld),
              SCRATCH_TEST(aMissedToleranceIsReported),
              SCRATCH_TEST(jointsThatCannotHoldAreRefused),
              SCRATCH_TEST(checkAndInfoListTheMechanisms), SCRATCH_TEST(probesOfJointsGoToTheTable),
              SCRATCH_TEST(recordingsWithJointsReplay));
