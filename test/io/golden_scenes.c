// Every scene of the repository for a moment, the second half of it in another world that a
// snapshot made: the bits of its state and of what a user reads, and the work that was done. The
// laws of physics do not notice what only costs more, or what a tolerance covers: a block size, a
// bound that is too wide, a search that starts anew. The counts do. golden_scenes.txt has a line
// per run:
//   SCENE SECONDS [PLACE=VALUE ...] : STATE NUMBERS [COUNT=VALUE ...]
// Counts that are zero are left out. A change that is wanted: RB_TEST_GOLDEN=FILE writes all lines
// as they are now.
#include "base/core/hash.h"
#include "scene_support.h"

#include <rattleback/rattleback.h>

#include <dirent.h>
#include <inttypes.h>

#define LINE_MAX_SIZE 2048
#define SEPARATOR " :"

static void append(char* line, const char* text)
{
    size_t length = strlen(line);
    assert_true(length + strlen(text) < LINE_MAX_SIZE);
    (void)snprintf(line + length, LINE_MAX_SIZE - length, "%s", text);
}

static void appendCount(char* line, const char* name, int64_t value)
{
    char text[96];
    if (value != 0) {
        (void)snprintf(text, sizeof text, " %s=%" PRId64, name, value);
        append(line, text);
    }
}

#define APPEND(member) appendCount(line, #member, (int64_t)s.member);

static void appendStepCounts(char* line, const rbWorld* world)
{
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    APPEND(steps)
    APPEND(substeps)
    APPEND(halvings)
    APPEND(positionIterations)
    APPEND(velocityIterations)
    APPEND(factorizations)
    APPEND(assemblingSteps)
    APPEND(unmetSteps)
    APPEND(inaccurateSteps)
    APPEND(singularSteps)
    APPEND(settledSteps)
    APPEND(mechanismCount)
    APPEND(rowCount)
    APPEND(redundantRows)
    APPEND(iterationsMost)
}

static void appendContactCounts(char* line, const rbWorld* world)
{
    rbContactStatistics s = rbWorld_GetContactStatistics(world);
    APPEND(collisions)
    APPEND(energyRaises)
    APPEND(contactSum)
    APPEND(contactCount)
    APPEND(pairCount)
    APPEND(islandCount)
    APPEND(frozenCount)
    APPEND(positionSweeps)
    APPEND(velocitySweeps)
    APPEND(collisionSweeps)
    appendCount(line, "unmetContacts", s.unmetSteps);
    APPEND(directStages)
    APPEND(hybridStages)
    APPEND(dividedSteps)
    APPEND(shockedStages)
    APPEND(unwritten)
    APPEND(cutSteps)
    APPEND(cutTrials)
    APPEND(lowOrderSteps)
    APPEND(limitedJoints)
    APPEND(limitCount)
}

static void appendEventCounts(char* line, const rbWorld* world)
{
    rbEventStatistics s = rbWorld_GetEventStatistics(world);
    APPEND(impacts)
    APPEND(microcollisions)
    APPEND(collisions)
    APPEND(measurements)
    APPEND(bounds)
    APPEND(renewals)
    APPEND(staleEntries)
    APPEND(pairsMade)
    APPEND(rests)
    APPEND(wakes)
    APPEND(jams)
    APPEND(energyRaises)
    APPEND(pairCount)
    APPEND(restingCount)
    APPEND(contactsExact)
}

#define HASH(hash, ...)                                \
    rbHashDoubles(hash, (const double[]){__VA_ARGS__}, \
                  sizeof((const double[]){__VA_ARGS__}) / sizeof(double))
#define PARTS(v) (v).x, (v).y, (v).z

static uint64_t hashEvents(uint64_t hash, const rbWorld* world)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    for (int i = 0; i < count; ++i) {
        const rbEvent* e = &events[i];
        hash = HASH(hash, e->time, e->energyChange, e->energyBefore, e->frictionWork,
                    PARTS(e->point), PARTS(e->normal), PARTS(e->impulse), e->approachSpeed,
                    (double)e->kind, (double)e->law, (double)e->history, (double)e->bodyA.index1,
                    (double)e->bodyB.index1);
    }
    return hash;
}

static uint64_t hashContacts(uint64_t hash, const rbWorld* world)
{
    int count = rbWorld_GetContacts(world, NULL, 0);
    rbContactView* views = malloc(((size_t)count + 1) * sizeof *views);
    assert_non_null(views);
    assert_int_equal(rbWorld_GetContacts(world, views, count), count);
    for (int i = 0; i < count; ++i) {
        const rbContactView* v = &views[i];
        hash = HASH(hash, PARTS(v->point), PARTS(v->normal), PARTS(v->force), v->gap,
                    (double)v->isSticking, (double)v->bodyA.index1, (double)v->bodyB.index1);
    }
    free(views);
    return hash;
}

static uint64_t hashProbes(uint64_t hash, const rbScene* scene, const rbWorld* world)
{
    int count = 0;
    (void)rbScene_GetProbeColumns(scene, &count);
    double* values = malloc(((size_t)count + 1) * sizeof *values);
    assert_non_null(values);
    assert_int_equal(rbScene_EvaluateProbes(scene, world, values, count), count);
    hash = rbHashDoubles(hash, values, (size_t)count);
    free(values);
    return hash;
}

static uint64_t hashJoints(uint64_t hash, const rbWorld* world)
{
    int count = rbWorld_GetJointCount(world);
    rbJointId* ids = malloc(((size_t)count + 1) * sizeof *ids);
    assert_non_null(ids);
    (void)rbWorld_GetJointIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        rbJointState s = rbJoint_GetState(world, ids[i]);
        hash = HASH(hash, PARTS(s.pointA), PARTS(s.pointB), PARTS(s.axis), PARTS(s.force),
                    PARTS(s.torque), s.positionError, s.angleError, s.freedomCount, s.limitCount);
        for (int k = 0; k < RB_JOINT_FREEDOMS_MAX; ++k) {
            hash = HASH(hash, s.freedomPositions[k], s.freedomVelocities[k], s.freedomForces[k],
                        s.motorTargets[k], s.limitPositions[k], s.limitForces[k]);
        }
    }
    free(ids);
    return hash;
}

static uint64_t hashSprings(uint64_t hash, const rbWorld* world)
{
    int count = rbWorld_GetSpringIds(world, NULL, 0);
    rbSpringId* ids = malloc(((size_t)count + 1) * sizeof *ids);
    assert_non_null(ids);
    (void)rbWorld_GetSpringIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        rbSpringState s = rbSpring_GetState(world, ids[i]);
        hash = HASH(hash, PARTS(s.pointA), PARTS(s.pointB), s.length, s.speed, s.force, s.energy);
    }
    free(ids);
    return hash;
}

// What bodies feel, and what began and ended in the last step.
static uint64_t hashTouch(uint64_t hash, const rbWorld* world)
{
    int count = rbWorld_GetBodyCount(world);
    rbBodyId* ids = malloc(((size_t)count + 1) * sizeof *ids);
    assert_non_null(ids);
    (void)rbWorld_GetBodyIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        int points = 0;
        rbVec3 force = rbBody_GetContactForce(world, ids[i], (rbBodyId){0}, &points);
        rbBodyState s = rbBody_GetState(world, ids[i]);
        hash = HASH(hash, PARTS(force), (double)points, PARTS(s.transform.p),
                    PARTS(s.linearVelocity), PARTS(s.angularVelocity));
    }
    free(ids);
    const rbContactEvent* events = rbWorld_GetContactEvents(world, &count);
    for (int i = 0; i < count; ++i) {
        const rbContactEvent* e = &events[i];
        hash = HASH(hash, e->time, PARTS(e->point), PARTS(e->normal), PARTS(e->impulse),
                    e->approachSpeed, (double)e->kind, (double)e->bodyA.index1,
                    (double)e->bodyB.index1, (double)e->shapeA, (double)e->shapeB);
    }
    return hash;
}

// All that is not part of the state: accounts, probes, contacts, joints, springs, events of touch,
// errors as measured. Continues the hash of the journal.
static uint64_t hashNumbers(uint64_t hash, const rbScene* scene, const rbWorld* world)
{
    rbLedger ledger = rbWorld_GetLedger(world);
    hash = rbHashDoubles(hash, (const double*)&ledger, sizeof ledger / sizeof(double));
    hash = hashProbes(hash, scene, world);
    hash = hashContacts(hash, world);
    hash = hashTouch(hashSprings(hashJoints(hash, world), world), world);
    rbStepStatistics s = rbWorld_GetStepStatistics(world);
    hash = HASH(hash, s.positionErrorMax, s.angleErrorMax, s.velocityErrorMax, s.unmetTime,
                s.accuracyEstimate, s.stepSmallest, (double)s.worstJoint.index1);
    rbContactStatistics c = rbWorld_GetContactStatistics(world);
    hash = HASH(hash, c.energyRaised, c.gapErrorMax, c.speedErrorMax, c.reboundErrorMax,
                c.jointErrorMax, c.jointSpeedErrorMax, c.restSpeed, c.deepest, c.deepestTime,
                c.overlap, c.limitExcess, (double)c.deepestA.index1, (double)c.deepestB.index1,
                (double)c.overlapA.index1, (double)c.overlapB.index1);
    rbEventStatistics e = rbWorld_GetEventStatistics(world);
    return HASH(hash, e.energyRaised, e.tolerance, e.overlapMax, e.virial);
}

static void advance(rbWorld* world, double time, const char* line)
{
    rbStepReport report = rbWorld_AdvanceTo(world, time);
    if (report.status != RB_STATUS_OK && report.status != RB_STATUS_NUMERICAL) {
        fail_msg("%s: %s", line, rbWorld_GetError(world).message);
    }
}

// A new world in the state of another, which is destroyed: snapshots forget nothing.
static rbWorld* goOnElsewhere(const rbScene* scene, rbWorld* first)
{
    rbError error = {0};
    size_t size = rbWorld_GetSnapshotSize(first);
    void* bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(rbWorld_TakeSnapshot(first, bytes, size, &error), RB_STATUS_OK);
    rbDestroyWorld(first);
    rbWorld* world = makeWorld(scene);
    if (rbWorld_RestoreSnapshot(world, bytes, size, &error) != RB_STATUS_OK) {
        fail_msg("%s", formatError(&error));
    }
    free(bytes);
    return world;
}

// Appends to the head of a line, "SCENE SECONDS ...", what the run gives.
static void runLine(char* line)
{
    uint64_t bytes = rbGetAllocatedBytes();
    char words[LINE_MAX_SIZE];
    (void)snprintf(words, sizeof words, "%s", line);
    char* rest = NULL;
    rbScene* scene = readNamed(strtok_r(words, " ", &rest));
    double seconds = strtod(strtok_r(NULL, " ", &rest), NULL);
    for (const char* word = strtok_r(NULL, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        rbError error = {0};
        if (rbScene_Override(scene, word, &error) != RB_STATUS_OK) {
            fail_msg("%s: %s", line, formatError(&error));
        }
    }
    rbWorld* first = makeWorld(scene);
    advance(first, 0.5 * seconds, line);
    uint64_t journal = hashEvents(RB_HASH_SEED, first);
    rbWorld* world = goOnElsewhere(scene, first);
    advance(world, seconds, line);
    uint64_t numbers = hashNumbers(hashEvents(journal, world), scene, world);
    char hashes[64];
    (void)snprintf(hashes, sizeof hashes, SEPARATOR " %016" PRIx64 " %016" PRIx64,
                   rbWorld_GetHash(world), numbers);
    append(line, hashes);
    appendStepCounts(line, world);
    appendContactCounts(line, world);
    appendEventCounts(line, world);
    rbDestroyWorld(world);
    rbDestroyScene(scene);
    if (rbGetAllocatedBytes() != bytes) {
        fail_msg("%s: not all memory was given back", line);
    }
}

// Reads a line without its end; false: there is none.
static bool readLine(FILE* file, char* line)
{
    if (fgets(line, LINE_MAX_SIZE, file) == NULL) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static FILE* openLines(void)
{
    FILE* file = fopen(RB_SOURCE_DIR "/test/io/golden_scenes.txt", "r");
    assert_non_null(file);
    return file;
}

// Runs the lines below the heading "[name]".
static void compareLines(const char* name)
{
    FILE* file = openLines();
    const char* copyName = getenv("RB_TEST_GOLDEN");
    FILE* copy = copyName != NULL ? fopen(copyName, "a") : NULL;
    char heading[64];
    (void)snprintf(heading, sizeof heading, "[%s]", name);
    char line[LINE_MAX_SIZE];
    bool isHere = false;
    int count = 0;
    int changed = 0;
    bool isHasty = getenv("CMOCKA_TEST_ABORT") != NULL; // the first change is enough
    while (!(isHasty && changed > 0) && readLine(file, line)) {
        isHere = line[0] == '[' ? strcmp(line, heading) == 0 : isHere;
        if (!isHere) {
            continue;
        }
        char now[LINE_MAX_SIZE];
        (void)snprintf(now, sizeof now, "%s", line);
        if (line[0] != '[' && line[0] != '#' && line[0] != '\0') {
            char* end = strstr(now, SEPARATOR);
            if (end != NULL) {
                *end = '\0';
            }
            runLine(now);
            count += 1;
            if (strcmp(now, line) != 0) {
                print_error("was %s\nis  %s\n", line, now);
                changed += 1;
            }
        }
        if (copy != NULL) {
            (void)fprintf(copy, "%s\n", now);
        }
    }
    (void)fclose(file);
    if (copy != NULL) {
        (void)fclose(copy);
    }
    print_message("%s: %d runs, %d changed\n", name, count, changed);
    assert_true(count > 0);
    assert_int_equal(changed, 0);
}

static void flightsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("flight");
}

static void eventsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("event");
}

static void stepsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("step");
}

// Each setting that chooses a method or changes its work, in a scene that it matters in.
static void settingsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("settings");
}

// Steps far too large, with too few iterations: what is done when a method does not converge.
static void overloadedStepsHaveTheSameBitsEverywhere(void** state)
{
    (void)state;
    compareLines("overload");
}

static bool isListed(const char* name)
{
    FILE* file = openLines();
    char line[LINE_MAX_SIZE];
    size_t length = strlen(name);
    bool isFound = false;
    while (!isFound && readLine(file, line)) {
        isFound = strncmp(line, name, length) == 0 && line[length] == ' ';
    }
    (void)fclose(file);
    return isFound;
}

static void everySceneIsListed(void** state)
{
    (void)state;
    DIR* folder = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(folder);
    int missing = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[256];
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - 5), entry->d_name);
        if (!isListed(name)) {
            print_error("%s is not in golden_scenes.txt\n", name);
            missing += 1;
        }
    }
    (void)closedir(folder);
    assert_int_equal(missing, 0);
}

RB_TEST_GROUP(golden_scenes, cmocka_unit_test(everySceneIsListed),
              cmocka_unit_test(flightsHaveTheSameBitsEverywhere),
              cmocka_unit_test(eventsHaveTheSameBitsEverywhere),
              cmocka_unit_test(stepsHaveTheSameBitsEverywhere),
              cmocka_unit_test(settingsHaveTheSameBitsEverywhere),
              cmocka_unit_test(overloadedStepsHaveTheSameBitsEverywhere));
