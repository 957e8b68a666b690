// Contacts of the step engine through the program: run, check, info, refused starts.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUBE                                                                                     \
    "\"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}, \"material\": " \
    "{\"restitution\": 0.3, \"friction\": 0.5}}]"
// A cube that rests, and one that falls onto the floor next to it and bounces a few times.
static const char* const scene =
    "{\"rattleback\": 1, \"title\": \"two cubes\", \"theme\": \"contacts\", \"engine\": \"step\", "
    "\"duration\": 0.5, \"output\": {\"step\": 0.05}, \"step\": {\"step\": 0.002}, "
    "\"contact\": {\"tolerance\": 1e-6, \"velocityTolerance\": 1e-7, \"freezeSpeed\": 0.001, "
    "\"freezeTime\": 0.1}, \"bodies\": ["
    "{\"name\": \"floor\", \"type\": \"static\", \"shapes\": [{\"geometry\": {\"type\": "
    "\"plane\", \"normal\": [0, 0, 1]}}]}, "
    "{\"name\": \"standing\", \"position\": [0, 0, 0.05001], " CUBE "}, "
    "{\"name\": \"falling\", \"position\": [1, 0, 0.1], " CUBE "}]}";

static void writeScene(void)
{
    rbWriteText(rbScratch("cubes.json"), scene);
}

static void aRunReportsItsContacts(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "cubes.json");
    rbExpectSuccess(&child);
    static const char* const lines[] = {
        "  steps             250 of 0.002 s",
        "  contacts          8 points of 2 near pairs in 2 islands at the end",
        " collisions\n",
        "  sweeps            ",
        "at most 2000 per stage\n",
        "requested 1e-06 m, 1e-07 m/s: met\n",
        "  overlap           deepest ",
        "  energy by cause   collisions -0.4",
        "not conserved: bodies may collide with fixed ones",
    };
    EXPECT_LINES(child.out, lines);
    assert_null(strstr(child.out, "mechanism"));
    rbFreeChild(&child);

    json_t* root = RUN_JSON("run", "cubes.json");
    assert_true(rbNumberOf(root, "contacts", "points") == 8.0);
    assert_true(rbNumberOf(root, "contacts", "nearPairs") == 2.0);
    assert_true(rbNumberOf(root, "contacts", "islands") == 2.0);
    assert_true(rbNumberOf(root, "contacts", "collisions") >= 4.0);
    assert_true(rbNumberOf(root, "contacts", "unmetSteps") == 0.0);
    checkBelow(rbNumberOf(root, "contacts", "deepest"), 1e-6);
    checkBelow(rbNumberOf(root, "contacts", "gapErrorMax"), 1e-6);
    checkBelow(rbNumberOf(root, "contacts", "speedErrorMax"), 1e-7);
    checkNear(rbNumberOf(root, "energy", "impactWork"), -9.81 * 0.05, 0.02);
    static const char* const keys[] = {
        "pointSum",  "frozen",       "positionSweeps", "velocitySweeps", "collisionSweeps",
        "sweepsMax", "directStages", "shockedStages",  "cutSteps",       "deepestTime"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        (void)rbNumberOf(root, "contacts", keys[i]);
    }
    json_decref(root);
}

#define BRICK(NAME, MASS, HEIGHT) \
    "{\"name\": \"" NAME "\", \"mass\": " MASS ", \"position\": [0, 0, " HEIGHT "], " CUBE "}"

// The method that held 10,000 kg on 1 kg (1000 kg settle by sweeps): as a whole, or level by level.
static void aRunReportsHowItWasSolved(void** state)
{
    (void)state;
    rbWriteText(
        rbScratch("heavy.json"),
        "{\"rattleback\": 1, \"title\": \"heavy\", \"engine\": \"step\", \"duration\": 0.5, "
        "\"step\": {\"step\": 0.01}, \"contact\": {}, \"bodies\": [{\"name\": \"floor\", "
        "\"type\": \"static\", \"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": "
        "[0, 0, 1]}}]}, " BRICK("light", "1", "0.05001") ", " BRICK("heavy", "10000",
                                                                    "0.15002") "]}");
    rbChild child = RUN("run", "heavy.json");
    assert_int_equal(child.exitCode, 0);
    assert_non_null(
        strstr(child.err, "body \"heavy\": its density is 1e+07 kg/m^3, which is unusual"));
    static const char* const whole[] = {" solved as a whole\n"};
    EXPECT_LINES(child.out, whole);
    rbFreeChild(&child);
    json_t* root = RUN_JSON("run", "heavy.json");
    assert_true(rbNumberOf(root, "contacts", "directStages") > 0.0);
    assert_true(rbNumberOf(root, "contacts", "shockedStages") == 0.0);
    json_decref(root);
    // also after more sweeps than Newton's method would wait for
    static const char* const after[] = {"contact.shockAfter=10", "contact.shockAfter=40"};
    for (int i = 0; i < 2; ++i) {
        root = RUN_JSON("run", "heavy.json", "--set", after[i]);
        assert_true(rbNumberOf(root, "contacts", "directStages") == 0.0);
        assert_true(rbNumberOf(root, "contacts", "shockedStages") > 0.0);
        json_decref(root);
    }
}

// The journal contains the collisions with their energy loss, whatever the output step is, and the
// bodies that are frozen.
static void theJournalHasTheCollisions(void** state)
{
    (void)state;
    writeScene();
    json_t* run = RUN_JSON("run", "cubes.json", "--journal", "a.jsonl");
    size_t size = 0;
    char* text = rbReadFile(rbScratch("a.jsonl"), &size);
    rbChild child = RUN("run", "cubes.json", "--journal", "b.jsonl", "--dt", "0.03", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    char* other = rbReadFile(rbScratch("b.jsonl"), &size);
    assert_string_equal(text, other);
    double lost = 0.0;
    int impacts = 0;
    int frozen = 0;
    for (char* line = text; *line != '\0';) {
        char* end = strchr(line, '\n');
        *end = '\0';
        json_t* row = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(row);
        if (strcmp(json_string_value(json_object_get(row, "kind")), "impact") == 0) {
            assert_string_equal(json_string_value(json_object_get(row, "bodyA")), "floor");
            assert_string_equal(json_string_value(json_object_get(row, "bodyB")), "falling");
            assert_string_equal(json_string_value(json_object_get(row, "law")), "stronge");
            checkNear(rbNumberOf(row, "normal.z", NULL), 1.0, 1e-9);
            checkNear(rbNumberOf(row, "point.z", NULL), 0.0, 1e-4);
            // u' = -e u; what approaches by less than twice the speed gained in a step may be
            // stopped
            double e = sqrt(0.3 * 0.5);
            double speed = rbNumberOf(row, "approachSpeed", NULL);
            double impulse = rbNumberOf(row, "impulse.z", NULL);
            bool isStopped = speed < 2.0 * 9.81 * 0.002 && impulse < 1.2 * speed;
            checkNear(impulse, (isStopped ? 1.0 : 1.0 + e) * speed, isStopped ? 1e-5 : 1e-6);
            lost += rbNumberOf(row, "energyChange", NULL);
            impacts += 1;
        } else {
            assert_string_equal(json_string_value(json_object_get(row, "kind")), "rest");
            frozen += 1;
        }
        json_decref(row);
        line = end + 1;
    }
    assert_in_range(impacts, 2, 8);
    assert_int_equal(frozen, 2);
    checkNear(lost, rbNumberOf(run, "energy", "impactWork"), 1e-3);
    json_decref(run);
    free(text);
    free(other);
}

static void calmBodiesFreezeIfAskedTo(void** state)
{
    (void)state;
    writeScene();
    json_t* root = RUN_JSON("run", "cubes.json");
    assert_true(rbNumberOf(root, "contacts", "frozen") == 2.0);
    json_decref(root);
    root = RUN_JSON("run", "cubes.json", "--set", "contact.freezeSpeed=0");
    assert_true(rbNumberOf(root, "contacts", "frozen") == 0.0);
    json_decref(root);
}

static void contactsCanBeSwitchedOff(void** state)
{
    (void)state;
    writeScene();
    json_t* root = RUN_JSON("run", "cubes.json", "--set", "contact.enabled=false");
    assert_null(json_object_get(root, "contacts"));
    // Both cubes fall freely through the floor.
    checkNear(rbNumberOf(root, "energy", "end"), rbNumberOf(root, "energy", "start"), 1e-9);
    json_decref(root);
}

static void checkAndInfoReportContacts(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("check", "cubes.json");
    rbExpectSuccess(&child);
    static const char* const lines[] = {"  contacts on: ", "near pair", "steps",
                                        "0 errors, 0 warnings; no overlaps at the start"};
    EXPECT_LINES(child.out, lines);
    rbFreeChild(&child);
    child = RUN("info", "cubes.json");
    rbExpectSuccess(&child);
    static const char* const settings[] = {
        "  contacts      tolerance 1e-06 m, 1e-07 m/s, at most 2000 sweeps per stage; collisions "
        "stronge, friction exact cone"};
    EXPECT_LINES(child.out, settings);
    rbFreeChild(&child);
    json_t* root = RUN_JSON("info", "cubes.json");
    assert_true(rbNumberOf(root, "contact", "sweepsMax") == 2000.0);
    assert_true(rbNumberOf(root, "contact", "freezeSpeed") == 0.001);
    json_decref(root);
    root = RUN_JSON("check", "cubes.json");
    assert_true(rbNumberOf(root, "contacts", "nearPairs") >= 1.0);
    assert_true(json_is_true(json_object_get(root, "ok")));
    json_decref(root);
}

static void checkRemarksOnWhatIsOdd(void** state)
{
    (void)state;
    writeScene();
    rbChild child =
        RUN("check", "cubes.json", "--set", "bodies.falling.shapes.0.material.friction=12");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "body \"falling\": its friction 12 is more than 10"));
    rbFreeChild(&child);
    child = RUN("check", "cubes.json", "--set", "engine=event");
    rbExpectSuccess(&child);
    assert_non_null(
        strstr(child.out, "\"contact\" applies to the engine \"step\"; the engine is \"event\""));
    rbFreeChild(&child);
}

static void overlapsAreRefusedWithNames(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "cubes.json", "--set", "bodies.standing.position=[0,0,0.04]");
    rbExpectFailure(child, 2, "overlap by 0.01 m at the start");
    child = RUN("check", "cubes.json", "--set", "bodies.standing.position=[0,0,0.04]");
    rbExpectFailure(child, 2, "\"floor\" and \"standing\"");
    child = RUN("check", "cubes.json", "--set", "bodies.standing.position=[0,0,0.04]", "--set",
                "contact.overlap=separate");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "overlaps at the start are resolved"));
    rbFreeChild(&child);
}

// A stage of one sweep cannot solve a stack; the run continues and reports that.
static void missedTolerancesAppearInTheReport(void** state)
{
    (void)state;
    writeScene();
    rbChild child = RUN("run", "cubes.json", "--set", "bodies.falling.position=[0.01,0.01,0.16]",
                        "--set", "contact.sweepsMax=1", "--set", "contact.freezeSpeed=0");
    assert_int_equal(child.exitCode, 3);
    assert_non_null(strstr(child.err, "contacts ended "));
    assert_non_null(strstr(child.err, "contact.sweepsMax"));
    assert_non_null(strstr(child.out, "missed in "));
    rbFreeChild(&child);
}

// Exact: the estimate of the error is in the report, and what cannot be reached is said.
static void exactRunsReportTheErrorOfTheMotion(void** state)
{
    (void)state;
    static const char* const ball =
        "{\"rattleback\": 1, \"duration\": 0.6, \"output\": {\"step\": 0.1}, \"step\": "
        "{\"accuracy\": \"exact\"}, \"materials\": {\"m\": {\"restitution\": 0.5, \"friction\": "
        "0.3}}, \"bodies\": [{\"name\": \"floor\", \"type\": \"static\", \"shapes\": "
        "[{\"geometry\": "
        "{\"type\": \"plane\", \"normal\": [0, 0, 1]}, \"material\": \"m\"}]}, {\"name\": "
        "\"ball\", \"position\": [0, 0, 0.3], \"velocity\": [1, 0, 0], \"shapes\": [{\"geometry\": "
        "{\"type\": \"sphere\", \"radius\": 0.1}, \"material\": \"m\"}]}]}";
    rbWriteText(rbScratch("ball.json"), ball);
    rbChild child = RUN("run", "ball.json");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "requested 1e-09 m after 0.6 s (for order"));
    assert_non_null(strstr(child.out, "at order 2, where contacts change"));
    rbFreeChild(&child);
    child = RUN("run", "ball.json", "--set", "step.errorMax=1e-15");
    assert_int_equal(child.exitCode, 3);
    assert_non_null(strstr(child.err, "the error of the motion is estimated as"));
    assert_null(strstr(child.err, "contacts ended"));
    assert_non_null(strstr(child.out, "after 0.6 s: missed"));
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_contacts, SCRATCH_TEST(aRunReportsItsContacts),
              SCRATCH_TEST(aRunReportsHowItWasSolved), SCRATCH_TEST(theJournalHasTheCollisions),
              SCRATCH_TEST(calmBodiesFreezeIfAskedTo), SCRATCH_TEST(contactsCanBeSwitchedOff),
              SCRATCH_TEST(checkAndInfoReportContacts), SCRATCH_TEST(checkRemarksOnWhatIsOdd),
              SCRATCH_TEST(overlapsAreRefusedWithNames),
              SCRATCH_TEST(missedTolerancesAppearInTheReport),
              SCRATCH_TEST(exactRunsReportTheErrorOfTheMotion));
