// Journals: CSV cells and JSON lines, exact numbers, whole files.
#include "io/output/journal.h"
#include "output_support.h"

#include <rattleback/output.h>

#include <jansson.h>
#include <math.h>

static char folder[SCRATCH_SIZE];
static char path[2 * SCRATCH_SIZE];

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

static const rbJournalRow impact = {
    .time = 0.1,
    .kind = "impact",
    .bodyA = "ball \"7\", red",
    .bodyB = "floor",
    .law = "stronge",
    .history = "slide, stick",
    .energyChange = -0.25,
    .hasContact = true,
    .point = {1.0, 2.0, 3.0},
    .normal = {0.0, 0.0, -1.0},
    .impulse = {0.1, -0.0, 1.0 / 3.0},
    .approachSpeed = 2.5,
    .energyBefore = 1.0,
    .frictionWork = -0.125,
};
static const rbJournalRow rest = {
    .time = 2.0, .kind = "rest", .bodyA = "ball", .energyChange = -1e-9};

static char* writeRows(const char* name, size_t* size)
{
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    rbError error = {0};
    rbJournal* journal = rbCreateJournal(path, &error);
    assert_non_null(journal);
    assert_int_equal(rbJournal_Write(journal, &impact, &error), RB_STATUS_OK);
    assert_int_equal(rbJournal_Write(journal, &rest, &error), RB_STATUS_OK);
    assert_false(exists(path));
    assert_int_equal(rbJournal_Finish(journal, &error), RB_STATUS_OK);
    return readWhole(path, size);
}

static void tablesHaveACellForEveryColumn(void** state)
{
    (void)state;
    size_t size = 0;
    char* text = writeRows("a.csv", &size);
    assert_string_equal(
        text,
        "time [s],kind,bodyA,bodyB,law,point.x [m],point.y [m],point.z [m],normal.x,normal.y,"
        "normal.z,impulse.x [N s],impulse.y [N s],impulse.z [N s],approachSpeed [m/s],"
        "energyBefore [J],energyAfter [J],energyChange [J],frictionWork [J],history\n"
        "0.1,impact,\"ball \"\"7\"\", red\",floor,stronge,1,2,3,0,0,-1,0.1,-0,0.3333333333333333,"
        "2.5,1,0.75,-0.25,-0.125,\"slide, stick\"\n"
        "2,rest,ball,,,,,,,,,,,,,,,-1e-09,,\n");
    free(text);
}

static void linesAreJsonObjects(void** state)
{
    (void)state;
    size_t size = 0;
    char* text = writeRows("a.jsonl", &size);
    char* end = strchr(text, '\n');
    assert_non_null(end);
    *end = '\0';
    json_t* first = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(first);
    assert_int_equal(json_object_size(first), 20);
    assert_string_equal(json_string_value(json_object_get(first, "bodyA")), "ball \"7\", red");
    assert_string_equal(json_string_value(json_object_get(first, "history")), "slide, stick");
    checkNear(json_number_value(json_object_get(first, "impulse.z")), 1.0 / 3.0, 0.0);
    checkNear(json_number_value(json_object_get(first, "energyAfter")), 0.75, 0.0);
    json_decref(first);
    json_t* second = json_loads(end + 1, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(second);
    assert_int_equal(json_object_size(second), 4);
    assert_string_equal(json_string_value(json_object_get(second, "kind")), "rest");
    json_decref(second);
    free(text);
}

// JSON has no NaN.
static void numbersThatAreNoneAreNull(void** state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "%s/nan.jsonl", folder);
    rbJournal* journal = rbCreateJournal(path, NULL);
    assert_non_null(journal);
    rbJournalRow row = {.time = 1.0, .kind = "impulse", .bodyA = "a\n\x01", .energyChange = NAN};
    assert_int_equal(rbJournal_Write(journal, &row, NULL), RB_STATUS_OK);
    assert_int_equal(rbJournal_Finish(journal, NULL), RB_STATUS_OK);
    size_t size = 0;
    char* text = readWhole(path, &size);
    assert_string_equal(text,
                        "{\"time\": 1, \"kind\": \"impulse\", \"bodyA\": \"a\\u000a\\u0001\", "
                        "\"energyChange\": null}\n");
    free(text);
}

static void abandonedJournalsLeaveNothing(void** state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "%s/b.csv", folder);
    rbError error = {0};
    rbJournal* journal = rbCreateJournal(path, &error);
    assert_non_null(journal);
    assert_int_equal(rbJournal_Write(journal, &impact, &error), RB_STATUS_OK);
    rbJournal_Abandon(journal);
    rbJournal_Abandon(NULL);
    assert_int_equal(countEntries(folder), 0);
    (void)snprintf(path, sizeof path, "%s/missing/b.csv", folder);
    assert_null(rbCreateJournal(path, &error));
    assert_int_equal(error.status, RB_STATUS_IO);
    // A full disk is reported when the buffer is flushed.
    journal = rbCreateJournal("/dev/full", &error);
    assert_non_null(journal);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < 2000 && status == RB_STATUS_OK; ++i) {
        status = rbJournal_Write(journal, &impact, &error);
    }
    assert_int_equal(status, RB_STATUS_IO);
    assert_int_equal(rbJournal_Finish(journal, &error), RB_STATUS_IO);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_journal, WITH_FOLDER(tablesHaveACellForEveryColumn),
              WITH_FOLDER(linesAreJsonObjects), WITH_FOLDER(numbersThatAreNoneAreNull),
              WITH_FOLDER(abandonedJournalsLeaveNothing));
