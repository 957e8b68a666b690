// Golden runs of scenes: see golden_lines.h.
#include "golden_lines.h"

#include "base/core/hash.h"

#include <inttypes.h>

#define SEPARATOR " :"

static void append(char* line, const char* text)
{
    size_t length = strlen(line);
    assert_true(length + strlen(text) < GOLDEN_LINE_SIZE);
    (void)snprintf(line + length, GOLDEN_LINE_SIZE - length, "%s", text);
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

uint64_t rbGolden_HashEvents(uint64_t hash, const rbWorld* world)
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

uint64_t rbGolden_HashNumbers(uint64_t hash, const rbScene* scene, const rbWorld* world)
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

// The words of a line before the separator.
static rbGoldenRun readRun(const char* line)
{
    rbGoldenRun run = {.line = line};
    char words[GOLDEN_LINE_SIZE];
    (void)snprintf(words, sizeof words, "%s", line);
    char* rest = NULL;
    run.scene = readNamed(strtok_r(words, " ", &rest));
    run.seconds = strtod(strtok_r(NULL, " ", &rest), NULL);
    for (const char* word = strtok_r(NULL, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        rbError error = {0};
        if (strncmp(word, "seed=", 5) == 0) {
            run.seed = strtoull(word + 5, NULL, 10);
        } else if (rbScene_Override(run.scene, word, &error) != RB_STATUS_OK) {
            fail_msg("%s: %s", line, formatError(&error));
        }
    }
    return run;
}

// Appends to the head of a line what the run gives.
static void runLine(char* line, rbGoldenRunFn* make)
{
    uint64_t bytes = rbGetAllocatedBytes();
    rbGoldenRun run = readRun(line);
    uint64_t numbers = RB_HASH_SEED;
    rbWorld* world = make(&run, &numbers);
    numbers = rbGolden_HashNumbers(rbGolden_HashEvents(numbers, world), run.scene, world);
    char hashes[64];
    (void)snprintf(hashes, sizeof hashes, SEPARATOR " %016" PRIx64 " %016" PRIx64,
                   rbWorld_GetHash(world), numbers);
    append(line, hashes);
    appendStepCounts(line, world);
    appendContactCounts(line, world);
    appendEventCounts(line, world);
    rbDestroyWorld(world);
    rbDestroyScene(run.scene);
    if (rbGetAllocatedBytes() != bytes) {
        fail_msg("%s: not all memory was given back", line);
    }
}

// Reads a line without its end; false: there is none.
static bool readLine(FILE* file, char* line)
{
    if (fgets(line, GOLDEN_LINE_SIZE, file) == NULL) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return true;
}

void rbGolden_CompareLines(const char* fileName, const char* name, rbGoldenRunFn* run)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test/io/%s", RB_SOURCE_DIR, fileName);
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    const char* copyName = getenv("RB_TEST_GOLDEN");
    FILE* copy = copyName != NULL ? fopen(copyName, "a") : NULL;
    char heading[64];
    (void)snprintf(heading, sizeof heading, "[%s]", name);
    char line[GOLDEN_LINE_SIZE];
    bool isHere = false;
    int count = 0;
    int changed = 0;
    bool isHasty = getenv("CMOCKA_TEST_ABORT") != NULL; // the first change is enough
    while (!(isHasty && changed > 0) && readLine(file, line)) {
        isHere = line[0] == '[' ? strcmp(line, heading) == 0 : isHere;
        if (!isHere) {
            continue;
        }
        char now[GOLDEN_LINE_SIZE];
        (void)snprintf(now, sizeof now, "%s", line);
        if (line[0] != '[' && line[0] != '#' && line[0] != '\0') {
            char* end = strstr(now, SEPARATOR);
            if (end != NULL) {
                *end = '\0';
            }
            runLine(now, run);
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
