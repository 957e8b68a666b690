// The step engine through the program: summary, tolerance, refused starts, lists, probes, replay.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR \
    "\"mass\": 1, \"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 0.1, 0.1]}}]"
// A chain of four bars released from the horizontal, a driven wheel, a damped spring.
static const char* const scene =
    "{\"rattleback\": 1, \"title\": \"links\", \"theme\": \"mechanisms\", \"engine\": \"step\", "
    "\"duration\": 1, \"output\": {\"step\": 0.05, \"probes\": ["
    "{\"joint\": \"axle\", \"quantity\": \"angle\"}, {\"joint\": \"pin[1]\", \"quantity\": "
    "\"force\"}, {\"spring\": \"coil\", \"quantity\": \"length\"}, {\"quantity\": "
    "\"jointError\"}]}, \"contact\": {\"enabled\": false}, \"step\": {\"step\": 0.002, \"order\": "
    "4}, "
    "\"bodies\": ["
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

static void theSummaryReportsHowTheJointsHeld(void** state)
{
    (void)state;
    writeScene();
    json_t* root = RUN_JSON("run", "links.json");
    assert_true(rbNumberOf(root, "steps", "joints") == 5.0);
    assert_true(rbNumberOf(root, "steps", "springs") == 1.0);
    assert_true(rbNumberOf(root, "steps", "unmetSteps") == 0.0);
    assert_true(rbNumberOf(root, "steps", "substeps") > rbNumberOf(root, "steps", "total"));
    checkBelow(rbNumberOf(root, "steps", "positionErrorMax"),
               rbNumberOf(root, "steps", "tolerance"));
    checkBelow(rbNumberOf(root, "steps", "angleErrorMax"), rbNumberOf(root, "steps", "tolerance"));
    assert_true(rbNumberOf(root, "steps", "tolerance") == 1e-12);
    assert_true(rbNumberOf(root, "energy", "motorWork") > 0.0);
    assert_true(rbNumberOf(root, "energy", "dissipation") < 0.0);
    assert_true(rbNumberOf(root, "energy", "springEnergy") > 0.0);
    static const char* const keys[] = {
        "halvings",      "positionIterations", "velocityIterations", "factorizations",
        "singularSteps", "settledSteps",       "mechanisms",         "rows",
        "redundantRows", "iterationsMost",     "velocityErrorMax",   "errorMax",
        "horizon",       "accuracyEstimate",   "stepSmallest",       "step",
        "order"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        assert_true(isfinite(rbNumberOf(root, "steps", keys[i])));
    }
    json_decref(root);
    rbChild child = RUN("run", "links.json");
    rbExpectSuccess(&child);
    static const char* const lines[] = {"engine step",
                                        "sub-steps",
                                        "halvings",
                                        "1 spring in",
                                        "redundant",
                                        "iterations per sub-step",
                                        "joint error",
                                        "requested 1e-12: met",
                                        "(for order 2, the next lower one",
                                        "motors",
                                        "damping",
                                        "joints or springs attach bodies to the world"};
    EXPECT_LINES(child.out, lines);
    rbFreeChild(&child);
}

// Sweeps that stop early leave joints open: the run continues, reports it and exits with code 3.
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
    rbExpectFailure(child, 3, "steps ended above the joint tolerance 1e-07; worst is joint \"");
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
        assert_non_null(strstr(child.err, "/joints/0: joint \"hook\" between"));
        rbExpectFailure(child, 2, "0.5 m");
    }
    rbExpectFailure(
        RUN("check", "links.json", "--set", "joints.pin.bodies=[\"bar[x]\",\"baar[x]\"]"), 2,
        "/joints/1/bodies/1: joint \"pin\": there is no body \"baar\"; did you mean");
    rbExpectFailure(RUN("run", "links.json", "--engine", "event"), 2,
                    "the engine \"event\" has no joints");
}

static void checkAndInfoListTheMechanisms(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("check", "links.json");
    rbExpectSuccess(&child);
    static const char* const checked[] = {
        "5 joints, 1 spring in 3 mechanisms; 23 conditions, none redundant",
        "the joints hold at the start",
        "warning: joint \"axle\": its velocity motor has no \"forceMax\""};
    EXPECT_LINES(child.out, checked);
    rbFreeChild(&child);
    child = RUN("info", "links.json");
    rbExpectSuccess(&child);
    static const char* const listed[] = {"23 conditions, none redundant",
                                         "13 of 36 left at the start",
                                         "world - bar[0], removes 3",
                                         "bar[2] - bar[3], removes 5",
                                         "coil",
                                         "1 m long"};
    EXPECT_LINES(child.out, listed);
    rbFreeChild(&child);
}

// Probes are written to the table, and outputs never change the motion: the motor's angle is 2 t.
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
    assert_non_null(strstr(plot, "joint axle: angle [rad]"));
    free(plot);
}

// Every probe of a scene is in the plot with its name and its unit and, if others have the same
// unit, in the legend.
static void plotsShowEveryProbe(void** state)
{
    (void)state;
    writeScene();
    static const char probes[] =
        "output.probes=[{\"name\": \"wheel\", \"joint\": \"axle\", \"quantity\": \"angle\"}, "
        "{\"joint\": \"axle\", \"quantity\": \"speed\"}, {\"name\": \"bend\", \"joint\": "
        "\"pin[0]\", "
        "\"quantity\": \"angle\"}, {\"spring\": \"coil\", \"quantity\": \"length\"}, {\"name\": "
        "\"tip\", \"body\": \"bar[3]\", \"quantity\": \"point\", \"point\": [0.5, 0, 0]}, "
        "{\"quantity\": \"motorWork\"}, {\"quantity\": \"energyDrift\"}, {\"quantity\": "
        "\"jointError\"}]";
    rbChild child = RUN("run", "links.json", "--plot", "a.svg", "--quiet", "--set", probes);
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* plot = rbReadFile(rbScratch("a.svg"), &size);
    static const char* const drawn[] = {">angle [rad]<",
                                        ">wheel<",
                                        ">bend<",
                                        "joint axle: speed [rad/s]",
                                        "spring coil: length [m]",
                                        "tip: body bar[3], point [m]",
                                        ">x<",
                                        ">y<",
                                        ">z<",
                                        "work of motors [J]",
                                        "energy drift [J]",
                                        "largest joint error so far [m]",
                                        "time [s]"};
    EXPECT_LINES(plot, drawn);
    assert_null(strstr(plot, "more probe"));
    free(plot);
}

// More probes than panels: the plot reports how many it omits.
static void plotsSayWhatTheyLeaveOut(void** state)
{
    (void)state;
    writeScene();
    char probes[4096] = "output.probes=[";
    for (int i = 0; i < 12; ++i) {
        size_t used = strlen(probes);
        (void)snprintf(probes + used, sizeof probes - used,
                       "%s{\"name\": \"p%d\", \"body\": \"bar[%d]\", \"quantity\": \"%s\"}",
                       i > 0 ? ", " : "", i, i % 4,
                       i < 4   ? "center"
                       : i < 8 ? "velocity"
                               : "momentum");
    }
    (void)snprintf(probes + strlen(probes), sizeof probes - strlen(probes), "]");
    rbChild child = RUN("run", "links.json", "--plot", "a.svg", "--quiet", "--set", probes);
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* plot = rbReadFile(rbScratch("a.svg"), &size);
    static const char* const drawn[] = {"p0: body bar[0], center of mass [m]",
                                        "p9: body bar[1], momentum [kg m/s]",
                                        "(2 more probes: --csv has all)"};
    EXPECT_LINES(plot, drawn);
    assert_null(strstr(plot, "p10:"));
    free(plot);
}

// The number of degrees of freedom is that of the mechanism, for every solver: a four-bar in three
// dimensions has three redundant conditions.
static void freedomsDoNotDependOnTheSolver(void** state)
{
    (void)state;
    static const char* const solvers[] = {"step.solver=auto", "step.solver=iterative",
                                          "step.solver=cut"};
    for (size_t i = 0; i < 3; ++i) {
        rbChild child = RUN("run", "four-bar", "--duration", "0.02", "--set", solvers[i], "--set",
                            "step.order=2");
        rbExpectSuccess(&child);
        assert_non_null(strstr(child.out, "20 conditions, of which 3 redundant"));
        rbFreeChild(&child);
    }
    json_t* root = RUN_JSON("run", "four-bar", "--duration", "0.02");
    assert_true(rbNumberOf(root, "steps", "conditions") == 20.0);
    assert_true(rbNumberOf(root, "steps", "redundantConditions") == 3.0);
    assert_true(rbNumberOf(root, "steps", "freedomsLeft") == 1.0);
    json_decref(root);
}

static void gainsThatTheStepDoesNotCarryAreNamed(void** state)
{
    (void)state;
    writeScene();
    // The wheel weighs 1 kg (1 + 0.01) / 12 m^2 = 0.0842 kg m^2: at 2 ms and 0.1 s at most 842.
    static const char wild[] = "joints.axle.motor={\"type\": \"position\", \"gain\": 900, "
                               "\"derivativeTime\": 0.1, \"target\": 1}";
    static const char tame[] = "joints.axle.motor={\"type\": \"position\", \"gain\": 420, "
                               "\"derivativeTime\": 0.1, \"target\": 1}";
    static const char sentence[] =
        "joint \"axle\": the gain 900 of its position motor, with its derivativeTime, is too large "
        "for steps of 0.002 s: it overshoots more with every step; use a gain of at most 420, "
        "or "
        "steps of at most 0.00093 s";
    rbChild child = RUN("run", "links.json", "--set", wild);
    assert_non_null(strstr(child.out, sentence));
    rbFreeChild(&child);
    child = RUN("check", "links.json", "--set", wild);
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, sentence));
    rbFreeChild(&child);
    child = RUN("run", "links.json", "--set", tame);
    rbExpectSuccess(&child);
    assert_null(strstr(child.out, "warning"));
    rbFreeChild(&child);
    // A weld holds the wheel that the motor should drive.
    child = RUN("check", "links.json", "--set",
                "joints.hook={\"type\": \"fixed\", \"bodyB\": \"wheel\", \"anchor\": [0, 3, 0]}");
    rbExpectSuccess(&child);
    assert_non_null(strstr(
        child.out, "joint \"axle\": the other joints block the motion of its velocity motor "));
    rbFreeChild(&child);
}

// Two motors on one axis with different target speeds: the positions hold, the speeds cannot.
static void motorsAgainstEachOtherAreNamed(void** state)
{
    (void)state;
    writeScene();
    static const char against[] =
        "joints.hook={\"name\": \"brake\", \"type\": \"hinge\", \"bodyB\": \"wheel\", \"anchor\": "
        "[0, "
        "3, 0], \"axis\": [0, 0, 1], \"motor\": {\"type\": \"velocity\", \"target\": -2}}";
    rbExpectFailure(RUN("run", "links.json", "--set", against), 3,
                    "steps ended with joint speed errors of up to ");
}

// A bar with an initial velocity against its hinge loses energy before the first step.
static void energyOfTheStartIsReported(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "links.json");
    rbExpectSuccess(&child);
    // The motor gives the wheel its speed: 0.0842 kg m^2 (2 rad/s)^2 / 2.
    assert_non_null(strstr(child.out,
                           "0.168333 J added when poses and speeds were corrected to fit the "
                           "joints, all at the start"));
    rbFreeChild(&child);
    child = RUN("run", "pendulum", "--duration", "0.1");
    rbExpectSuccess(&child);
    assert_null(strstr(child.out, "corrected to fit"));
    rbFreeChild(&child);
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

RB_TEST_GROUP(test_joints, SCRATCH_TEST(theSummaryReportsHowTheJointsHeld),
              SCRATCH_TEST(aMissedToleranceIsReported),
              SCRATCH_TEST(jointsThatCannotHoldAreRefused),
              SCRATCH_TEST(checkAndInfoListTheMechanisms), SCRATCH_TEST(probesOfJointsGoToTheTable),
              SCRATCH_TEST(plotsShowEveryProbe), SCRATCH_TEST(plotsSayWhatTheyLeaveOut),
              SCRATCH_TEST(freedomsDoNotDependOnTheSolver),
              SCRATCH_TEST(gainsThatTheStepDoesNotCarryAreNamed),
              SCRATCH_TEST(motorsAgainstEachOtherAreNamed),
              SCRATCH_TEST(energyOfTheStartIsReported), SCRATCH_TEST(recordingsWithJointsReplay));
