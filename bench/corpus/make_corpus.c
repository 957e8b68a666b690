// Writes the corpus of contact problems: what the stages of falling piles were given.
//
// A pile falls in small steps (the capped mode) up to a step; from its bodies a world goes on to
// its tolerances, and the largest position and velocity stages of its third step are written. The
// linker's --wrap puts this program between the engine and the sweeps, so the engine needs no hook.
// From the root of the tree:
//
//   cmake --build build/release --target make_corpus && build/release/make_corpus
#include "contact_corpus.h"
#include "contact_scenes.h"
#include "dynamics/contact/contact_solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP (1.0 / 60.0) // s

#define STEPS_BEFORE 2

static rbCorpus largest[2]; // of positions, velocities
static bool isWatching;

// Names of the linker. NOLINTBEGIN(readability-identifier-naming)
rbContactSolved __real_rbContactSolver_Solve(rbContactSolver* solver, const rbContactRun* run,
                                             bool isOfPositions);
rbContactSolved __wrap_rbContactSolver_Solve(rbContactSolver* solver, const rbContactRun* run,
                                             bool isOfPositions);
// NOLINTEND(readability-identifier-naming)

static void toFloats(rbVec3 v, float out[3])
{
    out[0] = (float)v.x;
    out[1] = (float)v.y;
    out[2] = (float)v.z;
}

static int placeOf(int* places, int body, rbCorpus* corpus, const rbContactBody* bodies)
{
    if (places[body] < 0) {
        const rbContactBody* b = &bodies[body];
        rbCorpusBody* to = &corpus->bodies[corpus->counts[0]];
        places[body] = corpus->counts[0]++;
        to->invMass = (float)b->invMass;
        toFloats(b->velocity, to->velocity);
        toFloats(b->spin, to->spin);
        const double inertia[6] = {b->invInertia.xx, b->invInertia.yy, b->invInertia.zz,
                                   b->invInertia.xy, b->invInertia.xz, b->invInertia.yz};
        for (int k = 0; k < 6; ++k) {
            to->inertia[k] = (float)inertia[k];
        }
    }
    return places[body];
}

// Velocities without the impulses of the position stage, which have acted.
static void undoImpulses(const rbContactRun* run, rbContactBody* bodies)
{
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[run->order[i]];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &run->set->points[k];
            rbVec3 p = rbJoinImpulse(contact->normal, contact->tangents, point->impulse[0],
                                     point->impulse[1], point->impulse[2]);
            rbContact_ApplyImpulse(bodies, contact, point, rbNeg(p));
        }
    }
}

static void addPoint(rbCorpus* corpus, const rbContact* contact, const rbContactPoint* point,
                     double target)
{
    rbCorpusPoint* at = &corpus->points[corpus->counts[2]++];
    toFloats(point->armA, at->armA);
    toFloats(point->armB, at->armB);
    at->target = (float)target;
    toFloats(rbJoinImpulse(contact->normal, contact->tangents, point->impulse[0], point->impulse[1],
                           point->impulse[2]),
             at->guess);
}

static void addContact(rbCorpus* corpus, const rbContactRun* run, const rbContact* contact,
                       bool isOfPositions)
{
    rbCorpusContact* to = &corpus->contacts[corpus->counts[1]];
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        const rbContactPoint* point = &run->set->points[k];
        double part = rbContactPoint_GetPart(point, run->h, rbDefaultContactSettings().partSpeed);
        if (isOfPositions || point->isClosed) {
            addPoint(corpus, contact, point, isOfPositions ? -part : point->target);
            ++to->pointCount;
        }
    }
    toFloats(contact->normal, to->normal);
    to->friction = (float)contact->friction;
    corpus->counts[1] += to->pointCount > 0 ? 1 : 0;
}

static void dump(const rbContactRun* run, bool isOfPositions)
{
    rbCorpus* corpus = &largest[isOfPositions ? 0 : 1];
    int bodyMost = 0;
    int pointCount = 0;
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[run->order[i]];
        bodyMost = contact->bodyA > bodyMost ? contact->bodyA : bodyMost;
        bodyMost = contact->bodyB > bodyMost ? contact->bodyB : bodyMost;
        pointCount += contact->pointCount;
    }
    if (!isWatching || run->order == NULL || run->isContinued || pointCount <= corpus->counts[2]) {
        return;
    }
    size_t bodyCount = (size_t)bodyMost + 1;
    rbContactBody* bodies = malloc(bodyCount * sizeof *bodies);
    int* places = malloc(bodyCount * sizeof *places);
    memcpy(bodies, run->bodies, bodyCount * sizeof *bodies);
    memset(places, -1, bodyCount * sizeof *places);
    free(corpus->bodies);
    free(corpus->contacts);
    free(corpus->points);
    *corpus = (rbCorpus){.bodies = calloc(bodyCount, sizeof *corpus->bodies),
                         .contacts = calloc((size_t)run->orderCount + 1, sizeof *corpus->contacts),
                         .points = calloc((size_t)pointCount + 1, sizeof *corpus->points)};
    if (!isOfPositions) {
        undoImpulses(run, bodies);
    }
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[run->order[i]];
        int added = corpus->counts[1];
        addContact(corpus, run, contact, isOfPositions);
        if (corpus->counts[1] > added) {
            corpus->contacts[added].bodyA = placeOf(places, contact->bodyA, corpus, bodies);
            corpus->contacts[added].bodyB = placeOf(places, contact->bodyB, corpus, bodies);
        }
    }
    free(bodies);
    free(places);
}

rbContactSolved __wrap_rbContactSolver_Solve(rbContactSolver* solver, const rbContactRun* run,
                                             bool isOfPositions)
{
    dump(run, isOfPositions);
    return __real_rbContactSolver_Solve(solver, run, isOfPositions);
}

static bool writeCorpus(const char* path, const rbCorpus* corpus)
{
    FILE* file = fopen(path, "wb");
    if (file == NULL) {
        return false;
    }
    char magic[8] = RB_CORPUS_MAGIC;
    const void* arrays[3] = {corpus->bodies, corpus->contacts, corpus->points};
    bool isGood = fwrite(magic, 8, 1, file) == 1 && fwrite(corpus->counts, 12, 1, file) == 1;
    for (int i = 0; i < 3; ++i) {
        isGood = isGood && fwrite(arrays[i], rbCorpus_GetSize(i, corpus->counts[i]), 1, file) == 1;
    }
    return fclose(file) == 0 && isGood;
}

static void copyStates(const rbWorld* from, const rbBodyId* fromIds, rbWorld* to,
                       const rbBodyId* ids, int count)
{
    for (int i = 0; i < count; ++i) {
        rbBodyState state = rbBody_GetState(from, fromIds[i]);
        rbError error = {0};
        (void)rbBody_SetState(to, ids[i], state.transform, state.linearVelocity,
                              state.angularVelocity, &error);
    }
}

static bool makeProblem(const char* name, const rbContactScene* scene, int step)
{
    rbError error = {0};
    rbContactSettings capped = rbDefaultContactSettings();
    capped.substeps = 5;
    capped.isOverlapAllowed = true;
    rbContactSettings exact = rbDefaultContactSettings();
    exact.tolerance = 1e-5;
    exact.velocityTolerance = 1e-4;
    exact.isOverlapAllowed = true;
    rbBodyId* ids = malloc((size_t)scene->bodyCount * sizeof *ids);
    rbBodyId* others = malloc((size_t)scene->bodyCount * sizeof *others);
    rbWorld* world = rbContactScene_CreateWorld(scene, STEP, &capped, ids, &error);
    rbWorld* other = rbContactScene_CreateWorld(scene, STEP, &exact, others, &error);
    if (world == NULL || other == NULL) {
        (void)fprintf(stderr, "%s: %s\n", name, error.message);
        return false;
    }
    (void)rbWorld_AdvanceTo(world, step * STEP);
    copyStates(world, ids, other, others, scene->movingCount);
    (void)rbWorld_AdvanceTo(other, STEPS_BEFORE * STEP);
    isWatching = true;
    (void)rbWorld_AdvanceTo(other, (STEPS_BEFORE + 1) * STEP);
    isWatching = false;
    bool isGood = true;
    for (int i = 0; i < 2; ++i) {
        char path[64];
        (void)snprintf(path, sizeof path, "bench/corpus/%s-%d-%s.rbc", name, step,
                       i == 0 ? "positions" : "velocities");
        isGood = writeCorpus(path, &largest[i]) && isGood;
        (void)printf("%s: %d bodies, %d contacts, %d points\n", path, largest[i].counts[0],
                     largest[i].counts[1], largest[i].counts[2]);
        largest[i].counts[2] = 0;
    }
    rbDestroyWorld(world);
    rbDestroyWorld(other);
    free(ids);
    free(others);
    return isGood;
}

int main(void)
{
    static const int steps[2] = {90, 150};
    rbContactScene scenes[3] = {rbMakeSpheresScene(10), rbMakeMixedScene(10, 10),
                                rbMakeTerrainScene()};
    static const char* const names[3] = {"spheres", "mixed", "terrain"};
    bool isGood = true;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 2; ++k) {
            isGood = makeProblem(names[i], &scenes[i], steps[k]) && isGood;
        }
        rbDestroyContactScene(&scenes[i]);
    }
    return isGood ? 0 : 1;
}
