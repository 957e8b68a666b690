// A corpus of contact problems, and every solver on it: residual against time.
//
// Heaps of balls of 1 kg and 1 m on a floor, in a lattice with random directions and a random
// choice of neighbors, as many as in a pile (2 to 3 contacts per body); made from a seed, so that
// the corpus is a few lines and the same everywhere. A velocity stage: all points touch. The whole
// heap falls at 5 m/s onto the floor (falling), its upper half onto the lower (struck), or gravity
// acts for half a step of 1/60 s (resting). Cold: no impulse is known.
#include "base/core/memory.h"
#include "base/core/random.h"
#include "contact_experiments.h"
#include "contact_residual.h"
#include "dynamics/contact/contact_hybrid.h"

#include <math.h>
#include <string.h>

#define STEP (1.0 / 60.0) // s
#define RADIUS 0.5        // m
#define FRICTION 0.5
#define TOLERANCE 1e-4 // m/s
#define NEIGHBORS 13   // half of those of a lattice
#define CHANCE 0.2     // that neighbors touch

typedef enum Kind {
    KIND_FALLING,
    KIND_STRUCK,
    KIND_RESTING,
    KIND_COUNT
} Kind;

static const char* const kinds[KIND_COUNT] = {"falling", "struck", "resting"};

typedef struct Problem {
    char name[32];
    rbContactBody* starts;
    rbContactBody* bodies;
    int bodyCount;
    rbContact* contacts;
    rbContactPoint* points;
    int* order;
    int capacity;
    rbContactSet set;
    rbContactRun run;
} Problem;

static void addContact(Problem* p, int a, int b, rbVec3 normal)
{
    int i = p->set.contactCount++;
    rbVec3 other = fabs(normal.x) < 0.5 ? rbMakeVec3(1.0, 0.0, 0.0) : rbMakeVec3(0.0, 1.0, 0.0);
    rbVec3 first = rbNormalize(rbCross(normal, other));
    p->contacts[i] = (rbContact){.bodyA = a,
                                 .bodyB = b,
                                 .normal = normal,
                                 .tangents = {first, rbCross(normal, first)},
                                 .friction = FRICTION,
                                 .stiction = FRICTION,
                                 .firstPoint = i,
                                 .pointCount = 1,
                                 .level = 1};
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
    Problem p = {.bodyCount = 1 + side * side * side};
    rbRandom random = {seed};
    p.capacity = (1 + NEIGHBORS) * p.bodyCount;
    p.starts = rbAllocZero((size_t)p.bodyCount, sizeof *p.starts);
    p.bodies = rbAllocZero((size_t)p.bodyCount, sizeof *p.bodies);
    p.contacts = rbAllocZero((size_t)p.capacity, sizeof *p.contacts);
    p.points = rbAllocZero((size_t)p.capacity, sizeof *p.points);
    p.order = rbAllocZero((size_t)p.capacity, sizeof *p.order);
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
}

static void resetProblem(Problem* p)
{
    memcpy(p->bodies, p->starts, (size_t)p->bodyCount * sizeof *p->bodies);
    for (int i = 0; i < p->set.pointCount; ++i) {
        memset(p->points[i].impulse, 0, sizeof p->points[i].impulse);
        p->points[i].isSticking = false;
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
static double solveBy(const Method* method, Problem* p, int* work)
{
    rbContactSettings settings = rbDefaultContactSettings();
    settings.velocityTolerance = TOLERANCE;
    settings.sweepsMax = method->sweeps;
    rbContactSolver* solver = rbCreateContactSolver(&settings);
    rbContactNewton* newton = rbCreateContactNewton();
    rbContactHybrid* hybrid = rbCreateContactHybrid();
    resetProblem(p);
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
        (void)rbContactHybrid_Solve(hybrid, &p->run, &task, work);
    }
    double time = rbGetCpuTime() - begin;
    rbDestroyContactSolver(solver);
    rbDestroyContactNewton(newton);
    rbDestroyContactHybrid(hybrid);
    return time;
}

static void runProblem(rbBench* bench, Problem* p)
{
    if (bench->text != NULL) {
        (void)fprintf(bench->text, "  %-24s %d contacts\n", p->name, p->set.contactCount);
    }
    for (int i = 0; i < METHODS; ++i) {
        int work = 0;
        double time = solveBy(&methods[i], p, &work);
        rbContactResidual r = rbMeasureContacts(&p->set, p->starts, p->bodies, p->bodyCount);
        rbBenchRow row = {.value = 1e3 * time, .errorMax = fmax(r.normal, r.tangent)};
        (void)snprintf(row.caseName, sizeof row.caseName, "%s", p->name);
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

void rbRunSolversExperiment(rbBench* bench)
{
    const int sides[2] = {6, 10};
    for (int s = 0; s < (bench->isQuick ? 1 : 2); ++s) {
        for (int kind = 0; kind < KIND_COUNT; ++kind) {
            Problem p = makeProblem((Kind)kind, sides[s], 7 + (uint64_t)kind);
            runProblem(bench, &p);
            freeProblem(&p);
        }
    }
}
