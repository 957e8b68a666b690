// rattleback check: reads and judges a scene without running it.
//
// What cannot be simulated at all is refused by the reader already. Here stands what can be, but is
// most likely a mistake: numbers in other units than SI, an asked motion row that the loads do not
// allow, a body far from all others.
#include "base/core/memory.h"
#include "cli/cli.h"
#include "cli/mechanisms.h"
#include "cli/scenes.h"
#include "cli/tally_contacts.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_MAX 200
#define ROWS_MAX 40 // bodies in the printed table

typedef struct rbFinding {
    bool isError;
    char text[RB_MOTOR_WARNING_SIZE];
} rbFinding;

// What is known of a body before judging it.
typedef struct rbBodyFacts {
    const char* name;
    rbBodyType type;
    rbMotionType motion;
    bool isFallback;
    bool isLinked; // moved by the step engine, not by the motion row
    rbBodyState state;
    rbMassProperties mass;
    rbVec3 moments;
    double volume;   // of all its solid shapes, m^3
    double size;     // largest edge of the box round a bounded shape, m; 0 without one
    double friction; // largest of its shapes, stiction too
    int shapeCount;
} rbBodyFacts;

typedef struct rbCheck {
    rbScene* scene;
    rbWorld* world;
    rbBodyId* ids;
    rbBodyFacts* facts;
    int bodyCount;
    rbFinding findings[FINDINGS_MAX];
    int findingCount; // kept
    int errorCount;
    int warningCount;
} rbCheck;

static void addFinding(rbCheck* check, bool isError, const char* format, ...) RB_PRINTF(3, 4);

static void addFinding(rbCheck* check, bool isError, const char* format, ...)
{
    check->errorCount += isError ? 1 : 0;
    check->warningCount += isError ? 0 : 1;
    if (check->findingCount < FINDINGS_MAX) {
        rbFinding* finding = &check->findings[check->findingCount++];
        finding->isError = isError;
        va_list list;
        va_start(list, format);
        (void)vsnprintf(finding->text, sizeof finding->text, format, list);
        va_end(list);
    }
}

static rbBodyFacts getFacts(const rbWorld* world, rbBodyId bodyId)
{
    rbBodyFacts facts = {.name = rbBody_GetName(world, bodyId),
                         .type = rbBody_GetType(world, bodyId),
                         .state = rbBody_GetState(world, bodyId),
                         .shapeCount = rbBody_GetShapeCount(world, bodyId)};
    if (facts.type == RB_BODY_DYNAMIC) {
        rbTransform frame;
        facts.motion = rbBody_GetMotion(world, bodyId, &facts.isFallback);
        facts.mass = rbBody_GetMass(world, bodyId);
        facts.moments = rbBody_GetPrincipalMoments(world, bodyId, &frame);
    }
    for (int i = 0; i < facts.shapeCount; ++i) {
        rbShapeDef def = rbBody_GetShape(world, bodyId, i);
        const rbGeometry* geometry = rbWorld_GetGeometry(world, def.geometry);
        rbMassProperties solid;
        facts.friction = fmax(facts.friction, fmax(def.material.friction, def.material.stiction));
        if (rbGeometry_GetMass(geometry, 1.0, &solid, NULL) == RB_STATUS_OK) {
            facts.volume += solid.volume;
        }
        if (rbGeometry_IsBounded(geometry)) {
            rbBounds bounds = rbGeometry_GetBounds(geometry, RB_TRANSFORM_IDENTITY);
            rbVec3 edges = rbSub(bounds.upper, bounds.lower);
            facts.size = fmax(facts.size, fmax(edges.x, fmax(edges.y, edges.z)));
        }
    }
    return facts;
}

// ------------------------------------------------------------------------- the table of judgments

static double getDensity(const rbBodyFacts* facts)
{
    return facts->volume > 0.0 ? facts->mass.mass / facts->volume : 0.0;
}

static double getSize(const rbBodyFacts* facts)
{
    return facts->size;
}

static double getSpeed(const rbBodyFacts* facts)
{
    return rbLength(facts->state.linearVelocity);
}

static double getRimSpeed(const rbBodyFacts* facts)
{
    return rbLength(facts->state.angularVelocity) * 0.5 * facts->size;
}

#define LIGHT_SPEED 299792458.0

// Ranges of what is usual; a value of 0 means "has none" and is never judged.
static const struct {
    const char* name;
    const char* unit;
    const char* remark;
    double (*get)(const rbBodyFacts* facts);
    double low, high; // outside: a warning
    double limit;     // above: an error
} judgments[] = {
    {"density", "kg/m^3", "kilograms and meters?", getDensity, 0.01, 30000.0, 1e18},
    {"size", "m", "meters?", getSize, 1e-6, 1000.0, INFINITY},
    {"speed", "m/s", "meters and seconds?", getSpeed, 0.0, 1e5, LIGHT_SPEED},
    {"speed of its rim by spin", "m/s", "radians a second?", getRimSpeed, 0.0, 1e4, LIGHT_SPEED},
};

static void judgeBody(rbCheck* check, const rbBodyFacts* facts)
{
    for (size_t i = 0; i < sizeof judgments / sizeof judgments[0]; ++i) {
        double value = judgments[i].get(facts);
        if (facts->type != RB_BODY_DYNAMIC && judgments[i].get == getDensity) {
            continue;
        }
        if (value > judgments[i].limit) {
            addFinding(check, true, "body \"%s\": its %s is %g %s, more than nature allows (%g)",
                       facts->name, judgments[i].name, value, judgments[i].unit,
                       judgments[i].limit);
        } else if (value > judgments[i].high || (value > 0.0 && value < judgments[i].low)) {
            addFinding(check, false, "body \"%s\": its %s is %g %s, odd units: %s", facts->name,
                       judgments[i].name, value, judgments[i].unit, judgments[i].remark);
        }
    }
    if (facts->isFallback) {
        addFinding(check, false,
                   "body \"%s\": its loads do not allow the motion row asked for; it flies by %s",
                   facts->name, rbMotionType_Name(facts->motion));
    }
    if (facts->shapeCount == 0) {
        addFinding(check, false, "body \"%s\": it has no shape, so it cannot be seen or touched",
                   facts->name);
    }
}

// Rubber on dry concrete has 1; a tire of a racing car 1.7.
#define FRICTION_USUAL 10.0

static void judgeContacts(rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    int count = 0;
    int first = 0;
    if (!info->contact.isOff && info->engineType != RB_ENGINE_STEP) {
        addFinding(
            check, false,
            "\"contact\" is of the engine \"step\"; the engine is \"%s\", which does not use "
            "it",
            info->engine);
    }
    for (int i = check->bodyCount - 1; i >= 0; --i) {
        if (check->facts[i].friction > FRICTION_USUAL) {
            first = i;
            ++count;
        }
    }
    if (count > 0 && info->engineType != RB_ENGINE_FLIGHT) {
        addFinding(check, false,
                   "body \"%s\": its friction %g is more than %g%s; it is accepted, but such "
                   "contacts jam and take many iterations",
                   check->facts[first].name, check->facts[first].friction, FRICTION_USUAL,
                   count > 1 ? " (so is that of others)" : "");
    }
}

static void markLinked(rbCheck* check, rbBodyId bodyId)
{
    // Ids come in the order of their indices, as bodies of a scene do.
    int low = 0;
    int high = check->bodyCount;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (check->ids[middle].index1 < bodyId.index1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < check->bodyCount && check->ids[low].index1 == bodyId.index1) {
        check->facts[low].isLinked = true;
    }
}

// Bodies with joints or springs.
static void findLinked(rbCheck* check)
{
    int jointCount = rbWorld_GetJointCount(check->world);
    int springCount = rbWorld_GetSpringCount(check->world);
    rbJointId* joints = rbAlloc((size_t)jointCount * sizeof *joints);
    rbSpringId* springs = rbAlloc((size_t)springCount * sizeof *springs);
    (void)rbWorld_GetJointIds(check->world, joints, jointCount);
    (void)rbWorld_GetSpringIds(check->world, springs, springCount);
    for (int i = 0; i < jointCount; ++i) {
        markLinked(check, rbJoint_GetBodyA(check->world, joints[i]));
        markLinked(check, rbJoint_GetBodyB(check->world, joints[i]));
    }
    for (int i = 0; i < springCount; ++i) {
        markLinked(check, rbSpring_GetBodyA(check->world, springs[i]));
        markLinked(check, rbSpring_GetBodyB(check->world, springs[i]));
    }
    rbFree(joints, (size_t)jointCount * sizeof *joints);
    rbFree(springs, (size_t)springCount * sizeof *springs);
}

static void judgeWorld(rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    double g = rbLength(info->gravity);
    if (g > 0.0 && (g < 0.1 || g > 30.0)) {
        addFinding(check, false,
                   "gravity is %g m/s^2, odd units: 9.81 on Earth, 1.62 on the Moon, 24.8 on "
                   "Jupiter",
                   g);
    }
    if (info->bodyCount == 0) {
        addFinding(check, false, "the scene has no bodies");
    }
    if (info->freeMotor != NULL) {
        addFinding(check, false,
                   "joint \"%s\": its velocity motor has no \"forceMax\", so it takes any force "
                   "to hold its speed",
                   info->freeMotor);
    }
    if (info->engineType == RB_ENGINE_STEP) {
        rbMotorWarnings warnings;
        rbJudgeMotors(info, check->world, &warnings);
        for (int i = 0; i < warnings.count; ++i) {
            addFinding(check, false, "%s", warnings.texts[i]);
        }
    }
    const double edges[3] = {info->periodicBox.x, info->periodicBox.y, info->periodicBox.z};
    for (int i = 0; i < check->bodyCount; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            if (edges[axis] > 0.0 && check->facts[i].size > edges[axis]) {
                addFinding(check, false, "body \"%s\": its size %g m is more than the periodic box",
                           check->facts[i].name, check->facts[i].size);
                break;
            }
        }
    }
}

static int compareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a;
    double y = *(const double*)b;
    return (x > y) - (x < y);
}

// A body a thousand times farther out than the median one is most likely a slip of the unit.
static void judgeDistances(rbCheck* check)
{
    int count = check->bodyCount;
    if (count < 3) {
        return;
    }
    // the median of each coordinate is the middle of the scene, whatever one far body does
    double* values = rbAlloc((size_t)count * sizeof *values);
    double middle[3];
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < count; ++i) {
            rbVec3 p = check->facts[i].state.transform.p;
            values[i] = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
        }
        qsort(values, (size_t)count, sizeof *values, compareDoubles);
        middle[axis] = values[count / 2];
    }
    rbVec3 center = {middle[0], middle[1], middle[2]};
    double size = 0.0;
    for (int i = 0; i < count; ++i) {
        values[i] = rbDistance(check->facts[i].state.transform.p, center);
        size = check->facts[i].size > size ? check->facts[i].size : size;
    }
    qsort(values, (size_t)count, sizeof *values, compareDoubles);
    double usual = values[count / 2] > size ? values[count / 2] : size;
    for (int i = 0; i < count && usual > 0.0; ++i) {
        double distance = rbDistance(check->facts[i].state.transform.p, center);
        if (distance > 1000.0 * usual) {
            addFinding(check, false,
                       "body \"%s\": it is %g m from the others, which lie within %g m",
                       check->facts[i].name, distance, usual);
        }
    }
    rbFree(values, (size_t)count * sizeof *values);
}

// ------------------------------------------------------------------------------------------ output

static const char* const typeNames[RB_BODY_TYPE_COUNT] = {"static", "kinematic", "dynamic"};

static const char* getMotionName(const rbBodyFacts* facts)
{
    return facts->isLinked ? "steps" : rbMotionType_Name(facts->motion);
}

// What the step engine found in the scene.
static void printMechanisms(const rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    if (info->engineType == RB_ENGINE_STEP) {
        rbMechanismFacts facts = rbGetMechanismFacts(info, check->world);
        char text[160];
        if (!rbHasContacts(info) || info->jointCount + info->springCount > 0) {
            rbDescribeMechanisms(&facts, info, text, sizeof text);
            (void)printf("  %s\n", text);
        }
        if (rbHasContacts(info)) {
            rbDescribeContactStart(check->world, text, sizeof text);
            (void)printf("  %s\n", text);
        }
    }
    (void)printf("\n");
}

static const char* getClosing(const rbSceneInfo* info)
{
    if (info->engineType == RB_ENGINE_EVENT) {
        return info->event.isOverlapAllowed ? "; overlaps at the start are pushed apart"
                                            : "; no overlaps at the start";
    }
    if (rbHasContacts(info)) {
        return info->contact.isOverlapAllowed ? "; overlaps at the start are parted"
                                              : "; no overlaps at the start";
    }
    if (info->engineType == RB_ENGINE_STEP) {
        return info->jointCount == 0 ? " (nothing collides with this engine)"
               : info->step.isAssembleAllowed
                   ? "; joints that are apart at the start are pulled together (nothing collides "
                     "with this engine)"
                   : "; the joints hold at the start (nothing collides with this engine)";
    }
    return " (overlaps are not looked for: nothing collides in free flight)";
}

static void printText(const rbCheck* check)
{
    const rbSceneInfo* info = rbScene_GetInfo(check->scene);
    (void)printf("%s: %s\n  %d bod%s (%d dynamic, %d kinematic, %d static), %d shape%s, %d "
                 "force%s, engine %s, %g s\n",
                 info->name, info->title, info->bodyCount, info->bodyCount == 1 ? "y" : "ies",
                 info->dynamicCount, info->kinematicCount, info->staticCount, info->shapeCount,
                 rbPlural(info->shapeCount), info->forceCount, rbPlural(info->forceCount),
                 info->engine, info->duration);
    printMechanisms(check);
    (void)printf("  %-20s %-10s %-10s %12s %12s %12s %12s\n", "body", "type", "motion", "mass [kg]",
                 "I1 [kg m^2]", "I2", "I3");
    for (int i = 0; i < check->bodyCount && i < ROWS_MAX; ++i) {
        const rbBodyFacts* facts = &check->facts[i];
        (void)printf("  %-20s %-10s ", facts->name, typeNames[facts->type]);
        if (facts->type == RB_BODY_DYNAMIC) {
            (void)printf("%-10s %12.6g %12.6g %12.6g %12.6g\n", getMotionName(facts),
                         facts->mass.mass, facts->moments.x, facts->moments.y, facts->moments.z);
        } else {
            (void)printf("%-10s %12s %12s %12s %12s\n", "-", "-", "-", "-", "-");
        }
    }
    if (check->bodyCount > ROWS_MAX) {
        (void)printf("  ... and %d more (--json lists all)\n", check->bodyCount - ROWS_MAX);
    }
    (void)printf("\n");
    for (int i = 0; i < check->findingCount; ++i) {
        (void)printf("  %s: %s\n", check->findings[i].isError ? "error" : "warning",
                     check->findings[i].text);
    }
    int total = check->errorCount + check->warningCount;
    if (total > check->findingCount) {
        (void)printf("  ... and %d more\n", total - check->findingCount);
    }
    (void)printf("  %d error%s, %d warning%s%s\n", check->errorCount, rbPlural(check->errorCount),
                 check->warningCount, rbPlural(check->warningCount), getClosing(info));
}

static void printFindings(rbJson* json, const rbCheck* check, bool isError)
{
    rbJson_BeginArray(json, isError ? "errors" : "warnings");
    for (int i = 0; i < check->findingCount; ++i) {
        if (check->findings[i].isError == isError) {
            rbJson_Text(json, NULL, check->findings[i].text);
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
    rbJson_Integer(&json, "joints", info->jointCount);
    rbJson_Integer(&json, "springs", info->springCount);
    if (rbHasContacts(info)) {
        rbContactStatistics s = rbWorld_GetContactStatistics(check->world);
        rbJson_BeginObject(&json, "contacts");
        rbJson_Integer(&json, "nearPairs", s.pairCount);
        rbJson_Integer(&json, "points", s.contactCount);
        rbJson_End(&json);
    }
    rbJson_Bool(&json, "ok", check->errorCount == 0);
    printFindings(&json, check, true);
    printFindings(&json, check, false);
    rbJson_BeginArray(&json, "bodies");
    for (int i = 0; i < check->bodyCount; ++i) {
        const rbBodyFacts* facts = &check->facts[i];
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

static rbExit judge(rbCheck* check, const rbArguments* arguments)
{
    size_t count = (size_t)check->bodyCount;
    check->ids = rbAlloc(count * sizeof *check->ids);
    check->facts = rbAlloc(count * sizeof *check->facts);
    (void)rbWorld_GetBodyIds(check->world, check->ids, check->bodyCount);
    for (int i = 0; i < check->bodyCount; ++i) {
        check->facts[i] = getFacts(check->world, check->ids[i]);
    }
    findLinked(check);
    if (rbHasContacts(rbScene_GetInfo(check->scene))) {
        for (int i = 0; i < check->bodyCount; ++i) {
            check->facts[i].isLinked = true; // the engine moves all of them
        }
    }
    judgeWorld(check);
    judgeContacts(check);
    for (int i = 0; i < check->bodyCount; ++i) {
        judgeBody(check, &check->facts[i]);
    }
    judgeDistances(check);
    if (rbArguments_Has(arguments, "--json")) {
        printJson(check);
    } else {
        printText(check);
    }
    rbFree(check->ids, count * sizeof *check->ids);
    rbFree(check->facts, count * sizeof *check->facts);
    bool isStrict = rbArguments_Has(arguments, "--strict");
    return check->errorCount + (isStrict ? check->warningCount : 0) > 0 ? RB_EXIT_NO : RB_EXIT_DONE;
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
        check->bodyCount = rbWorld_GetBodyCount(check->world);
        exit = judge(check, arguments);
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
    {"--set", "KEY=VALUE", "changes a value of the scene first; repeatable"},
    {"--strict", NULL, "warnings count as errors"},
    {"--json", NULL, "the findings and the bodies as JSON"},
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
    .help = "reads and judges a scene without running it",
    .more =
        "Exit code 0: nothing but warnings; 1: errors; 2: the scene cannot be read, holds a\n"
        "value that no world accepts, or cannot be started by its engine (bodies that overlap,\n"
        "a force without a bound, a periodic box that is too small, joints that are apart or\n"
        "contradict each other).",
    .run = runCheck,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
