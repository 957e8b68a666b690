// See missed_contact.h.
#include "cli/missed_contact.h"

#include "base/core/memory.h"

#include <rattleback/collision.h>

#include <math.h>
#include <stdlib.h>

#define SAMPLES 128
#define BODIES_MAX 1000      // more would take noticeable time
#define INTEGRATED_TIME 10.0 // s; a flight without closed form is integrated for each sample
#define QUESTIONS_MAX 200000 // steps of these flights, some tenths of a second
#define TOUCH_TOLERANCE 1e-3 // of the size: resting contact is not an overlap

// A body at one of the sample times.
typedef struct Placed {
    int body;
    rbTransform transform;
    rbBounds bounds;
} Placed;

static int compareLower(const void* a, const void* b)
{
    double x = ((const Placed*)a)->bounds.lower.x;
    double y = ((const Placed*)b)->bounds.lower.x;
    return (x > y) - (x < y);
}

// A body whose flight can be predicted and that has a shape to collide.
static bool isCandidate(const rbBodyFacts* facts)
{
    return !facts->isLinked && facts->shapeCount > 0;
}

static rbBounds getBounds(const rbWorld* world, rbBodyId bodyId, rbTransform transform)
{
    rbBounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    int count = rbBody_GetShapeCount(world, bodyId);
    for (int i = 0; i < count; ++i) {
        rbShapeDef def = rbBody_GetShape(world, bodyId, i);
        rbTransform place = rbMulTransforms(transform, def.transform);
        rbBounds one = rbGeometry_GetBounds(rbWorld_GetGeometry(world, def.geometry), place);
        all.lower = rbMin3(all.lower, one.lower);
        all.upper = rbMax3(all.upper, one.upper);
    }
    return all;
}

static bool areBoundsApart(const rbBounds* a, const rbBounds* b)
{
    return a->lower.y > b->upper.y || b->lower.y > a->upper.y || a->lower.z > b->upper.z ||
           b->lower.z > a->upper.z;
}

static bool doShapesOverlap(const rbWorld* world, const rbShapeDef* a, rbTransform transformA,
                            const rbShapeDef* b, rbTransform transformB, double tolerance)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = rbWorld_GetGeometry(world, a->geometry);
    input.geometryB = rbWorld_GetGeometry(world, b->geometry);
    input.transformBtoA = rbInvMulTransforms(rbMulTransforms(transformA, a->transform),
                                             rbMulTransforms(transformB, b->transform));
    rbSeparation separation;
    void* scratch = rbAlloc(rbGetSeparationScratchSize());
    rbStatus status = rbMeasureSeparation(&input, NULL, scratch, &separation, NULL);
    rbFree(scratch, rbGetSeparationScratchSize());
    return status == RB_STATUS_OK && separation.distance < -tolerance;
}

static bool doBodiesOverlap(const rbSceneFacts* facts, const rbWorld* world, const Placed* a,
                            const Placed* b)
{
    const rbBodyFacts* bodyA = &facts->bodies[a->body];
    const rbBodyFacts* bodyB = &facts->bodies[b->body];
    if (bodyA->type != RB_BODY_DYNAMIC && bodyB->type != RB_BODY_DYNAMIC) {
        return false;
    }
    double size = bodyA->size > 0.0 && bodyA->size < bodyB->size ? bodyA->size : bodyB->size;
    double tolerance = TOUCH_TOLERANCE * (size > 0.0 ? size : bodyA->size);
    for (int i = 0; i < bodyA->shapeCount; ++i) {
        rbShapeDef shapeA = rbBody_GetShape(world, facts->ids[a->body], i);
        for (int j = 0; j < bodyB->shapeCount; ++j) {
            rbShapeDef shapeB = rbBody_GetShape(world, facts->ids[b->body], j);
            if ((shapeA.groups & shapeB.mask) != 0 && (shapeB.groups & shapeA.mask) != 0 &&
                doShapesOverlap(world, &shapeA, a->transform, &shapeB, b->transform, tolerance)) {
                return true;
            }
        }
    }
    return false;
}

static bool findPair(const rbSceneFacts* facts, const rbWorld* world, Placed* placed, int count,
                     rbMissedContact* missed)
{
    qsort(placed, (size_t)count, sizeof *placed, compareLower);
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count; ++j) {
            if (placed[j].bounds.lower.x > placed[i].bounds.upper.x) {
                break;
            }
            if (!areBoundsApart(&placed[i].bounds, &placed[j].bounds) &&
                doBodiesOverlap(facts, world, &placed[i], &placed[j])) {
                bool isOrdered = placed[i].body < placed[j].body;
                missed->bodyA = isOrdered ? placed[i].body : placed[j].body;
                missed->bodyB = isOrdered ? placed[j].body : placed[i].body;
                return true;
            }
        }
    }
    return false;
}

// The time up to which a body is followed.
static double getHorizon(const rbBodyFacts* facts, double duration)
{
    bool isClosed = facts->type != RB_BODY_DYNAMIC || facts->motion == RB_MOTION_EXACT;
    return isClosed || duration < INTEGRATED_TIME ? duration : INTEGRATED_TIME;
}

static bool search(const rbSceneFacts* facts, const rbWorld* world, double duration, Placed* placed,
                   rbMissedContact* missed)
{
    double start = rbWorld_GetTime(world);
    bool isFound = false;
    for (int k = 0; k <= SAMPLES && !isFound; ++k) {
        double elapsed = duration * k / SAMPLES;
        int count = 0;
        for (int i = 0; i < facts->bodyCount; ++i) {
            if (isCandidate(&facts->bodies[i]) &&
                elapsed <= getHorizon(&facts->bodies[i], duration)) {
                rbTransform transform =
                    rbBody_GetStateAt(world, facts->ids[i], start + elapsed).transform;
                placed[count++] =
                    (Placed){i, transform, getBounds(world, facts->ids[i], transform)};
            }
        }
        missed->time = start + elapsed;
        isFound = findPair(facts, world, placed, count, missed);
    }
    return isFound;
}

// What the search may take, counted so that the findings do not depend on the clock.
typedef struct Budget {
    int questionsLeft;
    rbStop outer; // the signals
} Budget;

static bool isSpent(void* context)
{
    Budget* budget = context;
    budget->questionsLeft -= 1;
    return budget->questionsLeft < 0 ||
           (budget->outer.stopFn != NULL && budget->outer.stopFn(budget->outer.context));
}

bool rbFindMissedContact(const rbSceneFacts* facts, const rbWorld* world, double duration,
                         rbMissedContact* missed)
{
    if (facts->bodyCount > BODIES_MAX) {
        return false;
    }
    Budget budget = {.questionsLeft = QUESTIONS_MAX};
    budget.outer = rbUseStop((rbStop){isSpent, &budget});
    rbBlock* blocks = NULL;
    RB_GUARD(guard, &blocks)
    {
        (void)rbUseStop(budget.outer);
        rbFreeBlocks(&blocks);
        return false;
    }
    rbGuard_Enable(true, &blocks);
    size_t size = ((size_t)facts->bodyCount + 1) * sizeof(Placed);
    Placed* placed = rbAlloc(size);
    bool isFound = search(facts, world, duration, placed, missed);
    rbFree(placed, size);
    (void)rbUseStop(budget.outer);
    return isFound;
}
