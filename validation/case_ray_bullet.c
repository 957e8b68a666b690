// A bullet at 1000 m/s and a plate, at every frame rate from 1 to 1000 Hz, by rays: a step
// is up to a kilometer long and the plate a micrometer to a centimeter thick.
#include "base/core/random.h"
#include "lab/math/random3.h"
#include "ray_scenes.h"

#include <rattleback/collision.h>

#include <math.h>

#define SPEED 1000.0 // m/s
#define RATE_MAX 1000
#define BULLETS 4
#define PLATES 3

typedef struct Range {
    rbGeometry* bullets[BULLETS]; // 10 mm across
    rbGeometry* plates[PLATES];   // 1 m square, across z
    rbRayEmitter* bulletEmitters[BULLETS];
    rbRayEmitter* plateEmitters[PLATES];
    rbRaySettings settings;
    void* scratch;
    rbError error;
} Range;

// Two triangles, without thickness.
static rbGeometry* makeSheet(rbError* error)
{
    static const rbVec3 vertices[4] = {
        {-0.5, -0.5, 0.0}, {0.5, -0.5, 0.0}, {0.5, 0.5, 0.0}, {-0.5, 0.5, 0.0}};
    static const int indices[6] = {0, 1, 2, 0, 2, 3};
    const rbMeshDef def = {
        .vertices = vertices, .vertexCount = 4, .indices = indices, .faceCount = 2};
    return rbCreateMesh(&def, error);
}

static Range openRange(void)
{
    static const rbVec3 tip[5] = {{0.003, 0.003, -0.005},
                                  {-0.003, 0.003, -0.005},
                                  {-0.003, -0.003, -0.005},
                                  {0.003, -0.003, -0.005},
                                  {0.0, 0.0, 0.005}};
    Range range = {.settings = rbDefaultRaySettings(),
                   .scratch = rbAlloc(rbGetSeparationScratchSize())};
    rbError* error = &range.error;
    range.settings.count = 10;
    range.bullets[0] = rbCreateSphere(0.005, error);
    range.bullets[1] = rbCreateCapsule(0.002, 0.003, error);
    range.bullets[2] = rbCreateCone(0.003, 0.01, error);
    range.bullets[3] = rbCreateHull(tip, 5, error);
    range.plates[0] = rbCreateBox((rbVec3){0.5, 0.5, 0.005}, error);
    range.plates[1] = rbCreateBox((rbVec3){0.5, 0.5, 5e-7}, error);
    range.plates[2] = makeSheet(error);
    for (int i = 0; i < BULLETS && error->status == RB_STATUS_OK; ++i) {
        range.bulletEmitters[i] = rbCreateRayEmitter(range.bullets[i], &range.settings, error);
    }
    for (int i = 0; i < PLATES && error->status == RB_STATUS_OK; ++i) {
        range.plateEmitters[i] = rbCreateRayEmitter(range.plates[i], &range.settings, error);
    }
    return range;
}

static void closeRange(Range* range)
{
    for (int i = 0; i < BULLETS; ++i) {
        rbDestroyRayEmitter(range->bulletEmitters[i]);
        rbDestroyGeometry(range->bullets[i]);
    }
    for (int i = 0; i < PLATES; ++i) {
        rbDestroyRayEmitter(range->plateEmitters[i]);
        rbDestroyGeometry(range->plates[i]);
    }
    rbFree(range->scratch, rbGetSeparationScratchSize());
}

typedef struct Tally {
    int shots, passed, unswept;
    double late;  // m, worst path excess
    double early; // m
} Tally;

// Launches a bullet at a point of the plate from a random side and tracks it frame by frame.
static void fire(Range* range, rbRandom* random, double rate, int bullet, Tally* tally)
{
    int plate = rbRandom_Index(random, PLATES);
    rbVec3 aim = RB_VEC3_ZERO;
    aim.x = 0.45 * rbRandom_Symmetric(random);
    aim.y = 0.45 * rbRandom_Symmetric(random);
    // at 45 degrees at most, from above
    double slope = rbRandom_Unit(random);
    double angle = rbRandom_Range(random, 0.0, 2.0 * RB_PI);
    rbVec3 direction = rbNormalize((rbVec3){slope * cos(angle), slope * sin(angle), -1.0});
    double step = SPEED / rate;
    double distance = 0.03 + 2.0 * step * rbRandom_Unit(random);
    rbStraightPair pair = {
        .geometries = {range->bullets[bullet], range->plates[plate]},
        .emitters = {range->bulletEmitters[bullet], range->plateEmitters[plate]},
        .starts = {{rbAddScaled(aim, -distance, direction), rbRandom_Quat(random)},
                   {RB_VEC3_ZERO, RB_QUAT_IDENTITY}},
        .velocities = {rbScale(SPEED, direction), RB_VEC3_ZERO},
        .duration = (distance + 1.0) / SPEED};
    rbStraightContact exact;
    rbStraightContact found = {0};
    bool isSwept = rbSweepStraight(&pair, range->scratch, &exact, &range->error);
    tally->unswept += isSwept && exact.isHit ? 0 : 1;
    double way = 0.0;
    pair.duration = 1.0 / rate;
    while (way < distance + 1.0 && range->error.status == RB_STATUS_OK) {
        if (!rbPredictStraight(&pair, &range->settings, NULL, &found, &range->error) ||
            found.isHit) {
            break;
        }
        pair.starts[0].p = rbAddScaled(pair.starts[0].p, step, direction);
        way += step;
    }
    ++tally->shots;
    if (found.isHit) {
        tally->late = rbWorseError(way + found.way - exact.way, tally->late);
        tally->early = rbWorseError(exact.way - way - found.way, tally->early);
    } else {
        ++tally->passed;
    }
}

static void run(rbValidation* validation)
{
    Range range = openRange();
    Tally tally = {0};
    rbRandom random = {1000};
    for (int rate = 1; rate <= RATE_MAX; rate += validation->isQuick ? 7 : 1) {
        for (int bullet = 0; bullet < BULLETS; ++bullet) {
            fire(&range, &random, rate, bullet, &tally);
        }
    }
    rbValidation_Print(validation,
                       "  %d shots at 1000 m/s, steps of 1 to 1000 m, bullets of 1 cm (ball, "
                       "capsule, cone, pyramid), plates of 1 cm, 1 um and 0\n",
                       tally.shots);
    rbValidation_AddBound(validation, "bullets that passed the plate", tally.passed, 0.0);
    rbValidation_AddBound(validation, "bullets missed by the exact mode", tally.unswept, 0.0);
    rbValidation_AddBound(validation, "latest contact, 10 rays, bullet of 10 mm [m]", tally.late,
                          0.01);
    rbValidation_AddBound(validation, "earliest contact, path of up to 2 km [m]", tally.early,
                          1e-9);
    rbCheckRayError(validation, "bullet", &range.error);
    closeRange(&range);
}

const rbValidationCase rbCaseRayBullet = {
    .name = "ray-bullet",
    .group = "rays",
    .help = "a bullet never passes a plate, at any frame rate",
    .source = "E-12, R-36: every bullet is aimed at the plate",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
