// rattleback check: reads and examines a scene without running it.
#include "base/core/memory.h"
#include "cli/cli.h"
#include "cli/findings.h"
#include "cli/mechanisms.h"
#include "cli/scenes.h"
#include "cli/tally_contacts.h"

#include <math.h>

#define ROWS_MAX 40 // bodies in the printed table

typedef struct rbCheck {
    rbScene* scene;
    rbWorld* world;
    rbSceneFacts facts;
    rbFindings findings;
} rbCheck;

// ------------------------------------------------------------------------------------------ output

static const char* const typeNames[RB_BODY_TYPE_COUNT] = {"static", "kinematic", "dynamic"};

static const char* getMotionName(const rbBodyFacts* facts)
{
    return facts->isStepped ? "steps" : rbMotionType_Name(facts->motion);
}

// Prints the mechanisms and contacts that the step engine found in the scene.
static void printMechanisms(const rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    if (info->engineTraits.isStepped) {
        rbMechanismFacts facts = rbGetMechanismFacts(info, check->world);
        char text[160];
        if (info->jointCount + info->springCount > 0) {
            rbDescribeMechanisms(&facts, info, text, sizeof text);
            (void)printf("  %s\n", text);
        }
        if (rbWorld_HasContacts(check->world)) {
            rbDescribeContactStart(check->world, text, sizeof text);
            (void)printf("  %s\n", text);
        }
    }
    (void)printf("\n");
}

static const char* getClosing(const rbSceneInfo* info, const rbWorld* world)
{
    if (info->engineTraits.isEventDriven) {
        return info->event.isOverlapAllowed ? "; overlaps at the start are pushed apart"
                                            : "; no overlaps at the start";
    }
    if (rbWorld_HasContacts(world)) {
        return info->contact.isOverlapAllowed ? "; overlaps at the start are resolved"
                                              : "; no overlaps at the start";
    }
    if (info->engineTraits.isStepped) {
        return info->jointCount == 0 ? " (no two bodies can collide)"
               : info->step.isAssembleAllowed
                   ? "; joints that are apart at the start are pulled together (no two bodies can "
                     "collide)"
                   : "; the joints hold at the start (no two bodies can collide)";
    }
    return " (not checked for overlaps: nothing collides in free flight)";
}

static void printText(const rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    bool isStepped = info->engineTraits.isStepped;
    (void)printf("%s: %s\n  %d bod%s (%d dynamic, %d kinematic, %d static), %d shape%s, %d "
                 "force%s, engine %s%s%s, %g s\n",
                 rbShow(info->name), rbShow(info->title), info->bodyCount,
                 info->bodyCount == 1 ? "y" : "ies", info->dynamicCount, info->kinematicCount,
                 info->staticCount, info->shapeCount, rbPlural(info->shapeCount), info->forceCount,
                 rbPlural(info->forceCount), info->engine, isStepped ? ", accuracy " : "",
                 isStepped ? rbAccuracy_Name(info->step.accuracy) : "", info->duration);
    printMechanisms(check);
    (void)printf("  %-20s %-10s %-10s %12s %12s %12s %12s\n", "body", "type", "motion", "mass [kg]",
                 "I1 [kg m^2]", "I2", "I3");
    for (int i = 0; i < check->facts.bodyCount && i < ROWS_MAX; ++i) {
        const rbBodyFacts* facts = &check->facts.bodies[i];
        (void)printf("  %-20s %-10s ", rbShow(facts->name), typeNames[facts->type]);
        if (facts->type == RB_BODY_DYNAMIC) {
            (void)printf("%-10s %12.6g %12.6g %12.6g %12.6g\n", getMotionName(facts),
                         facts->mass.mass, facts->moments.x, facts->moments.y, facts->moments.z);
        } else {
            (void)printf("%-10s %12s %12s %12s %12s\n", "-", "-", "-", "-", "-");
        }
    }
    if (check->facts.bodyCount > ROWS_MAX) {
        (void)printf("  ... and %d more (--json lists all)\n", check->facts.bodyCount - ROWS_MAX);
    }
    (void)printf("\n");
    for (int i = 0; i < check->findings.count; ++i) {
        (void)printf("  %s: %s\n", check->findings.list[i].isError ? "error" : "warning",
                     rbShow(check->findings.list[i].text));
    }
    int total = check->findings.errorCount + check->findings.warningCount;
    if (total > check->findings.count) {
        (void)printf("  ... and %d more\n", total - check->findings.count);
    }
    (void)printf("  %d error%s, %d warning%s%s\n", check->findings.errorCount,
                 rbPlural(check->findings.errorCount), check->findings.warningCount,
                 rbPlural(check->findings.warningCount), getClosing(info, check->world));
}

static void printFindings(rbJson* json, const rbCheck* check, bool isError)
{
    rbJson_BeginArray(json, isError ? "errors" : "warnings");
    for (int i = 0; i < check->findings.count; ++i) {
        if (check->findings.list[i].isError == isError) {
            rbJson_Text(json, NULL, check->findings.list[i].text);
        }
    }
    rbJson_End(json);
}

static void printJson(const rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "scene", info->name);
    rbJson_Text(&json, "title", info->title);
    rbJson_Text(&json, "engine", info->engine);
    if (info->engineTraits.isStepped) {
        rbJson_Text(&json, "accuracy", rbAccuracy_Name(info->step.accuracy));
    }
    rbJson_Integer(&json, "joints", info->jointCount);
    rbJson_Integer(&json, "springs", info->springCount);
    if (rbWorld_HasContacts(check->world)) {
        rbContactStatistics s = rbWorld_GetContactStatistics(check->world);
        rbJson_BeginObject(&json, "contacts");
        rbJson_Integer(&json, "nearPairs", s.pairCount);
        rbJson_Integer(&json, "points", s.contactCount);
        rbJson_End(&json);
    }
    rbJson_Bool(&json, "ok", check->findings.errorCount == 0);
    printFindings(&json, check, true);
    printFindings(&json, check, false);
    rbJson_BeginArray(&json, "bodies");
    for (int i = 0; i < check->facts.bodyCount; ++i) {
        const rbBodyFacts* facts = &check->facts.bodies[i];
        bool isDynamic = facts->type == RB_BODY_DYNAMIC;
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "name", facts->name);
        rbJson_Text(&json, "type", typeNames[facts->type]);
        rbJson_Text(&json, "motion", isDynamic ? getMotionName(facts) : NULL);
        rbJson_Number(&json, "mass", isDynamic ? facts->mass.mass : NAN);
        if (isDynamic) {
            rbJson_Vec3(&json, "center", facts->mass.center);
            rbJson_Vec3(&json, "principalMoments", facts->moments);
        }
        rbJson_Integer(&json, "shapes", facts->shapeCount);
        rbJson_End(&json);
    }
    rbJson_End(&json);
    rbJson_End(&json);
}

static rbExit examine(rbCheck* check, const rbArguments* arguments)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    rbSceneFacts_Gather(&check->facts, check->world);
    rbFindings_Examine(&check->findings, &check->facts, info, check->world);
    if (rbArguments_Has(arguments, "--json")) {
        printJson(check);
    } else {
        printText(check);
    }
    rbSceneFacts_Free(&check->facts);
    bool isStrict = rbArguments_Has(arguments, "--strict");
    int count = check->findings.errorCount + (isStrict ? check->findings.warningCount : 0);
    return count > 0 ? RB_EXIT_NO : RB_EXIT_DONE;
}

static rbExit runCheck(const rbArguments* arguments)
{
    rbError error = {0};
    rbExit exit = RB_EXIT_USAGE;
    rbCheck* check = rbAllocZero(1, sizeof *check);
    check->scene = rbOpenSceneWithSettings(arguments, &error);
    check->world = check->scene != NULL ? rbScene_CreateWorld(check->scene, &error) : NULL;
    bool isReady = check->world != NULL &&
                   rbScene_PrepareWorld(check->scene, check->world, &error) == RB_STATUS_OK;
    if (isReady) {
        exit = examine(check, arguments);
    } else {
        if (rbArguments_Has(arguments, "--json")) {
            rbJson json = {.file = stdout};
            rbJson_BeginObject(&json, NULL);
            rbJson_Text(&json, "scene", arguments->words[0]);
            rbJson_Bool(&json, "ok", false);
            rbJson_Error(&json, "error", &error);
            rbJson_End(&json);
        }
        exit = rbFailWith(&error);
    }
    rbDestroyWorld(check->world);
    rbDestroyScene(check->scene);
    rbFree(check, sizeof *check);
    return exit;
}

static const rbOption options[] = {
    {"--set", "KEY=VALUE", "changes a value of the scene first; can be repeated"},
    {"--strict", NULL, "warnings count as errors"},
    {"--json", NULL, "prints the findings and the bodies as JSON"},
    RB_MODULE_OPTION,
};

static const char* const examples[] = {
    "rattleback check tumbling-box",
    "rattleback check my-scene.json --strict",
    "rattleback check my-scene.json --set engine=event",
    NULL,
};

const rbVerb rbVerbCheck = {
    .name = "check",
    .words = "SCENE",
    .help = "reads and examines a scene without running it",
    .more = "Exit code 0: no errors, perhaps warnings; 1: errors; 2: the scene cannot be read,\n"
            "contains an invalid value, or its engine cannot start it (bodies that overlap,\n"
            "a force without a bound, a periodic box that is too small, joints that are apart or\n"
            "contradict each other).",
    .run = runCheck,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
