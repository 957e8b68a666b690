// A corpus of contact problems, and every solver on it: residual against time.
//
// Real ones: stages dumped from falling piles of 1000 bodies (bench/corpus, see contact_corpus.h),
// solved from nothing and from the impulses that the run knew. A position stage is solved like a
// velocity stage whose normal speeds are those that close the gaps.
//
// Made ones: heaps of balls of 1 kg and 1 m on a floor, in a lattice with random directions and a
// random choice of neighbors, as many as in a pile (2 to 3 contacts per body), from a seed. A
// velocity stage: all points touch. The whole heap falls at 5 m/s onto the floor (falling), its
// upper half onto the lower (struck), or gravity acts for half a step of 1/60 s (resting). Cold: no
// impulse is known.
#include "base/core/memory.h"
#include "base/core/random.h"
#include "contact_corpus.h"
#include "contact_experiments.h"
#include "contact_residual.h"
#include "dynamics/contact/contact_newton.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP (1.0 / 60.0) // s
#define RADIUS 0.5        // m
#define FRICTION 0.5
#define TOLERANCE 1e-4 // m/s
#define NEIGHBORS 13   // half of those of a lattice
#define CHANCE 0.2     // that neighbors touch
#define CORPUS "bench/corpus"
#define CORPUS_FILES 64
#define CORPUS_MOST 1000000 // records of an array in a file

typedef enum Kind {
    KIND_FALLING,
    KIND_STRUCK,
    KIND_RESTING,
    KIND_COUNT
} Kind;

static const char* const kinds[KIND_COUNT] = {"falling", "struck", "resting"};

typedef struct Problem {
    char name[48];
    rbContactBody* starts;
    rbContactBody* bodies;
    int bodyCount;
    rbContact* contacts;
    rbContactPoint* points;
    int* order;
    rbVec3* guesses; // N s, by point; NULL: none is known
    int capacity;
    rbContactSet set;
    rbContactRun run;
} Problem;

static Problem allocateProblem(int bodyCount, int capacity)
{
    Problem p = {.bodyCount = bodyCount, .capacity = capacity};
    p.starts = rbAllocZero((size_t)p.bodyCount, sizeof *p.starts);
    p.bodies = rbAllocZero((size_t)p.bodyCount, sizeof *p.bodies);
    p.contacts = rbAllocZero((size_t)p.capacity, sizeof *p.contacts);
    p.points = rbAllocZero((size_t)p.capacity, sizeof *p.points);
    p.order = rbAllocZero((size_t)p.capacity, sizeof *p.order);
    p.set.contacts = p.contacts;
    p.set.points = p.points;
    return p;
}

static void freeProblem(Problem* p)
{
    rbFree(p->starts, (size_t)p->bodyCount * sizeof *p->starts);
    rbFree(p->bodies, (size_t)p->bodyCount * sizeof *p->bodies);
    rbFree(p->contacts, (size_t)p->capacity * sizeof *p->contacts);
    rbFree(p->points, (size_t)p->capacity * sizeof *p->points);
    rbFree(p->order, (size_t)p->capacity * sizeof *p->order);
    rbFree(p->guesses, p->guesses != NULL ? (size_t)p->capacity * sizeof *p->guesses : 0);
}

// Two unit vectors that are perpendicular to a normal and each other.
static void setTangents(rbContact* contact)
{
    rbVec3 n = contact->normal;
    rbVec3 other = fabs(n.x) < 0.5 ? rbMakeVec3(1.0, 0.0, 0.0) : rbMakeVec3(0.0, 1.0, 0.0);
    contact->tangents[0] = rbNormalize(rbCross(n, other));
    contact->tangents[1] = rbCross(n, contact->tangents[0]);
}

// ------------------------------------------------------------------------------------------ dumped

static rbVec3 toVec3(const float v[3])
{
    return rbMakeVec3(v[0], v[1], v[2]);
}

static void freeCorpus(rbCorpus* corpus)
{
    free(corpus->bodies);
    free(corpus->contacts);
    free(corpus->points);
}

// Whether the contacts name bodies and points that are there.
static bool isCorpusValid(const rbCorpus* corpus)
{
    int32_t points = 0;
    for (int i = 0; i < corpus->counts[1]; ++i) {
        const rbCorpusContact* contact = &corpus->contacts[i];
        bool isIn = contact->bodyA >= 0 && contact->bodyA < corpus->counts[0] &&
                    contact->bodyB >= 0 && contact->bodyB < corpus->counts[0];
        if (!isIn || contact->pointCount < 1 || contact->pointCount > RB_MANIFOLD_POINTS_MAX ||
            !(rbLength(toVec3(contact->normal)) > 0.5)) {
            return false;
        }
        points += contact->pointCount;
    }
    return points == corpus->counts[2];
}

static bool readArrays(FILE* file, rbCorpus* corpus)
{
    void** arrays[3] = {(void**)&corpus->bodies, (void**)&corpus->contacts,
                        (void**)&corpus->points};
    for (int i = 0; i < 3; ++i) {
        if (corpus->counts[i] < 1 || corpus->counts[i] > CORPUS_MOST) {
            return false;
        }
        size_t size = (size_t)rbCorpus_GetSize(i, corpus->counts[i]);
        *arrays[i] = malloc(size);
        if (*arrays[i] == NULL || fread(*arrays[i], size, 1, file) != 1) {
            return false;
        }
    }
    return fgetc(file) == EOF && isCorpusValid(corpus);
}

static bool readCorpus(const char* path, rbCorpus* corpus)
{
    FILE* file = fopen(path, "rb");
    char magic[8];
    *corpus = (rbCorpus){.bodies = NULL};
    bool isRead = file != NULL && fread(magic, sizeof magic, 1, file) == 1 &&
                  memcmp(magic, RB_CORPUS_MAGIC, sizeof magic) == 0 &&
                  fread(corpus->counts, sizeof corpus->counts, 1, file) == 1 &&
                  readArrays(file, corpus);
    if (file != NULL) {
        (void)fclose(file);
    }
    return isRead;
}

static Problem loadProblem(const rbCorpus* corpus, const char* name)
{
    Problem p = allocateProblem(corpus->counts[0], corpus->counts[2]);
    (void)snprintf(p.name, sizeof p.name, "%s", name);
    p.guesses = rbAllocZero((size_t)p.capacity, sizeof *p.guesses);
    for (int i = 0; i < p.bodyCount; ++i) {
        const rbCorpusBody* b = &corpus->bodies[i];
        p.starts[i] = (rbContactBody){.velocity = toVec3(b->velocity),
                                      .invMass = b->invMass,
                                      .spin = toVec3(b->spin),
                                      .invInertia = {b->inertia[0], b->inertia[1], b->inertia[2],
                                                     b->inertia[3], b->inertia[4], b->inertia[5]}};
    }
    for (int i = 0; i < corpus->counts[1]; ++i) {
        const rbCorpusContact* c = &corpus->contacts[i];
        rbContact* contact = &p.contacts[i];
        *contact = (rbContact){.bodyA = c->bodyA,
                               .bodyB = c->bodyB,
                               .normal = rbNormalize(toVec3(c->normal)),
                               .friction = c->friction,
                               .stiction = c->friction,
                               .firstPoint = p.set.pointCount,
                               .pointCount = c->pointCount,
                               .level = 1};
        setTangents(contact);
        for (int k = 0; k < c->pointCount; ++k) {
            const rbCorpusPoint* at = &corpus->points[p.set.pointCount];
            p.points[p.set.pointCount] = (rbContactPoint){.armA = toVec3(at->armA),
                                                          .armB = toVec3(at->armB),
                                                          .target = at->target,
                                                          .isClosed = true};
            p.guesses[p.set.pointCount++] = toVec3(at->guess);
        }
        p.order[i] = i;
    }
    p.set.contactCount = corpus->counts[1];
    return p;
}

// -------------------------------------------------------------------------------------------- made

static void addContact(Problem* p, int a, int b, rbVec3 normal)
{
    int i = p->set.contactCount++;
    p->contacts[i] = (rbContact){.bodyA = a,
                                 .bodyB = b,
                                 .normal = normal,
                                 .friction = FRICTION,
                                 .stiction = FRICTION,
                                 .firstPoint = i,
                                 .pointCount = 1,
                                 .level = 1};
    setTangents(&p->contacts[i]);
    p->points[i] = (rbContactPoint){.armA = rbScale(a > 0 ? RADIUS : 0.0, normal),
                                    .armB = rbScale(-RADIUS, normal),
                                    .isClosed = true};
    p->order[i] = i;
    p->set.pointCount = p->set.contactCount;
}

// The normal to a neighbor, turned at random by up to about 20 degrees.
static rbVec3 drawNormal(rbRandom* random, const int step[3])
{
    rbVec3 v = rbNormalize(rbMakeVec3(step[0], step[1], step[2]));
    rbVec3 turn = {rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                   rbRandom_Symmetric(random)};
    return rbNormalize(rbAddScaled(v, 0.3, turn));
}

static void addNeighbors(Problem* p, rbRandom* random, int side, const int at[3])
{
    for (int n = 0; n < NEIGHBORS; ++n) {
        int code = n + 14; // of the 27 steps those after no step
        int step[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        int to[3] = {at[0] + step[0], at[1] + step[1], at[2] + step[2]};
        bool isIn = true;
        for (int k = 0; k < 3; ++k) {
            isIn = isIn && to[k] >= 0 && to[k] < side;
        }
        bool isTouching = rbRandom_Unit(random) < CHANCE;
        rbVec3 normal = drawNormal(random, step);
        if (isIn && isTouching) {
            int a = 1 + at[0] + side * (at[1] + side * at[2]);
            int b = 1 + to[0] + side * (to[1] + side * to[2]);
            addContact(p, a, b, normal);
        }
    }
}

static Problem makeProblem(Kind kind, int side, uint64_t seed)
{
    int bodyCount = 1 + side * side * side;
    Problem p = allocateProblem(bodyCount, (1 + NEIGHBORS) * bodyCount);
    rbRandom random = {seed};
    (void)snprintf(p.name, sizeof p.name, "%s %d", kinds[kind], p.bodyCount - 1);
    double inverse = 1.0 / (0.4 * RADIUS * RADIUS);
    for (int i = 0; i + 1 < p.bodyCount; ++i) {
        const int at[3] = {i % side, i / side % side, i / (side * side)};
        bool isFalling = kind == KIND_FALLING || (kind == KIND_STRUCK && 2 * at[2] >= side);
        rbVec3 noise = {rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                        rbRandom_Symmetric(&random)};
        rbVec3 down = {0.0, 0.0, isFalling ? -5.0 : -9.81 * 0.5 * STEP};
        p.starts[i + 1] = (rbContactBody){.velocity = rbAddScaled(down, isFalling, noise),
                                          .invMass = 1.0,
                                          .invInertia = {inverse, inverse, inverse, 0, 0, 0}};
        if (at[2] == 0) {
            addContact(&p, 0, i + 1, rbMakeVec3(0.0, 0.0, 1.0));
        }
        addNeighbors(&p, &random, side, at);
    }
    return p;
}

// ----------------------------------------------------------------------------------------- solving

// The start of a stage; warm: known impulses have acted.
static void resetProblem(Problem* p, bool isWarm)
{
    memcpy(p->bodies, p->starts, (size_t)p->bodyCount * sizeof *p->bodies);
    for (int i = 0; i < p->set.contactCount; ++i) {
        const rbContact* contact = &p->contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &p->points[k];
            memset(point->impulse, 0, sizeof point->impulse);
            point->isSticking = false;
            if (isWarm) {
                point->impulse[0] = rbDot(p->guesses[k], contact->normal);
                point->impulse[1] = rbDot(p->guesses[k], contact->tangents[0]);
                point->impulse[2] = rbDot(p->guesses[k], contact->tangents[1]);
                rbContact_ApplyImpulse(p->bodies, contact, point, p->guesses[k]);
            }
        }
    }
    p->run = (rbContactRun){.set = &p->set,
                            .order = p->order,
                            .orderCount = p->set.contactCount,
                            .bodies = p->bodies,
                            .h = STEP,
                            .isMoving = true};
}

// Sweeps, then what follows them.
typedef struct Method {
    const char* name;
    int sweeps;
    bool isNewton;
    bool isHybrid;
} Method;

static const Method methods[] = {
    {"sweeps 30", 30, false, false},        {"sweeps 130", 130, false, false},
    {"sweeps 500", 500, false, false},      {"sweeps 2000", 2000, false, false},
    {"newton after 130", 130, true, false}, {"hybrid after 130", 130, false, true},
};
#define METHODS ((int)(sizeof methods / sizeof methods[0]))

// Returns s of CPU time; work: sweeps and factorizations.
static double solveBy(const Method* method, Problem* p, bool isWarm, int* work)
{
    rbContactSettings settings = rbDefaultContactSettings();
    settings.velocityTolerance = TOLERANCE;
    settings.sweepsMax = method->sweeps;
    rbContactSolver* solver = rbCreateContactSolver(&settings);
    rbContactNewton* newton = rbCreateContactNewton();
    resetProblem(p, isWarm);
    double begin = rbGetCpuTime();
    rbContactSolver_Prepare(solver, &p->run);
    rbContactSolved solved = rbContactSolver_Solve(solver, &p->run, true);
    *work = solved.sweeps;
    rbNewtonTask task = {
        .tolerance = TOLERANCE, .known = fmax(solved.gapError, solved.slipError), .isMoving = true};
    p->run.isContinued = true;
    if (!solved.isMet && method->isNewton) {
        (void)rbContactNewton_Solve(newton, &p->run, &task, work);
    }
    if (!solved.isMet && method->isHybrid) {
        (void)rbContactNewton_SolveInTurn(newton, &p->run, &task, work);
    }
    double time = rbGetCpuTime() - begin;
    rbDestroyContactSolver(solver);
    rbDestroyContactNewton(newton);
    return time;
}

static void runProblem(rbBench* bench, Problem* p, bool isWarm)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %s%s: %d bodies, %d points\n", p->name,
                      isWarm ? ", warm" : "", p->bodyCount, p->set.pointCount);
    }
    for (int i = 0; i < METHODS; ++i) {
        int work = 0;
        double time = solveBy(&methods[i], p, isWarm, &work);
        rbContactResidual r = rbMeasureContacts(&p->set, p->starts, p->bodies, p->bodyCount);
        rbBenchRow row = {.value = 1e3 * time, .errorMax = fmax(r.normal, r.tangent)};
        (void)snprintf(row.caseName, sizeof row.caseName, "%s%s", p->name, isWarm ? ", warm" : "");
        (void)snprintf(row.engine, sizeof row.engine, "%s", methods[i].name);
        (void)snprintf(row.metric, sizeof row.metric, "time, with the residual in m/s");
        (void)snprintf(row.unit, sizeof row.unit, "ms");
        (void)snprintf(row.result, sizeof row.result, "stage");
        rbBench_Record(bench, row);
        if (bench->text != NULL) {
            (void)fprintf(bench->text,
                          "    %-20s %9.2f ms %6d rounds  normal %8.1e  tangent %8.1e  cone %8.1e  "
                          "balance %8.1e m/s\n",
                          methods[i].name, 1e3 * time, work, r.normal, r.tangent, r.cone,
                          r.balance);
        }
    }
}

static int compareNames(const void* a, const void* b)
{
    return strcmp((const char*)a, (const char*)b);
}

// Files of the corpus, by name; returns how many.
static int listCorpus(char names[CORPUS_FILES][64])
{
    DIR* folder = opendir(CORPUS);
    int count = 0;
    for (struct dirent* entry = folder != NULL ? readdir(folder) : NULL;
         entry != NULL && count < CORPUS_FILES; entry = readdir(folder)) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && length < 64 && strcmp(entry->d_name + length - 4, ".rbc") == 0) {
            (void)snprintf(names[count++], 64, "%.63s", entry->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    qsort(names, (size_t)count, 64, compareNames);
    return count;
}

static void runCorpus(rbBench* bench)
{
    char names[CORPUS_FILES][64];
    int count = listCorpus(names);
    if (count == 0) {
        (void)fprintf(stderr, "bench: " CORPUS " has no problems; run it from the source tree\n");
    }
    for (int i = 0; i < count && !(bench->isQuick && i > 0); ++i) {
        char path[96];
        rbCorpus corpus;
        (void)snprintf(path, sizeof path, CORPUS "/%.63s", names[i]);
        names[i][strlen(names[i]) - 4] = '\0';
        if (readCorpus(path, &corpus)) {
            Problem p = loadProblem(&corpus, names[i]);
            runProblem(bench, &p, false);
            runProblem(bench, &p, true);
            freeProblem(&p);
        } else {
            (void)fprintf(stderr, "bench: %s is not a contact problem; see contact_corpus.h\n",
                          path);
        }
        freeCorpus(&corpus);
    }
}

void rbRunSolversExperiment(rbBench* bench)
{
    runCorpus(bench);
    const int sides[2] = {6, 10};
    for (int s = 0; s < (bench->isQuick ? 1 : 2); ++s) {
        for (int kind = 0; kind < KIND_COUNT; ++kind) {
            Problem p = makeProblem((Kind)kind, sides[s], 7 + (uint64_t)kind);
            runProblem(bench, &p, false);
            freeProblem(&p);
        }
    }
}
