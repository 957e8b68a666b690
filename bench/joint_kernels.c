#include "joint_kernels.h"

#include "base/core/memory.h"
#include "bench.h"
#include "dynamics/joints/joint_model.h"
#include "dynamics/solvers/correct.h"

#include <math.h>
#include <string.h>

typedef struct rbKernels {
    rbMechanism mechanism;
    rbJointModel* models;
    rbCorrector* corrector;
    rbLimitState* limits;
    double h;
    double sink;
} rbKernels;

static rbVec3 toVec(const double v[3])
{
    return (rbVec3){v[0], v[1], v[2]};
}

static void* allocZero(size_t size)
{
    void* bytes = rbAlloc(size);
    memset(bytes, 0, size);
    return bytes;
}

// Body 0 is the world.
static void makeBodies(rbKernels* kernels, const rbJointScene* scene)
{
    rbMechanism* mechanism = &kernels->mechanism;
    for (int i = 0; i <= scene->bodyCount; ++i) {
        rbMechBody* body = &mechanism->bodies[i];
        body->index = i - 1;
        body->pose.orientation = (rbQuat){1.0, 0.0, 0.0, 0.0};
        if (i > 0) {
            const rbPeerBody* from = &scene->bodies[i - 1];
            const double* q = from->pose.quaternion;
            body->pose.position = toVec(from->pose.position);
            body->pose.orientation = (rbQuat){q[0], q[1], q[2], q[3]};
            body->velocity = toVec(from->velocity);
            body->mass = from->mass;
            body->invMass = 1.0 / from->mass;
            body->moments = toVec(from->moments);
            body->invMoments =
                (rbVec3){1.0 / from->moments[0], 1.0 / from->moments[1], 1.0 / from->moments[2]};
            body->turn = rbMakeTurn(body->moments);
            body->isDynamic = true;
            // half a step of gravity: work for the iterations
            body->velocity = rbAddScaled(body->velocity, 0.5 * kernels->h, toVec(scene->gravity));
        }
        body->pose.rotation = rbMatFromQuat(body->pose.orientation);
        body->ahead = body->pose;
        mechanism->masses[i].isDynamic = body->isDynamic;
        mechanism->masses[i].invMass = body->invMass;
    }
}

static void makeBlocks(rbKernels* kernels, const rbJointScene* scene)
{
    rbMechanism* mechanism = &kernels->mechanism;
    for (int i = 0; i < scene->jointCount; ++i) {
        const rbPeerJoint* from = &scene->joints[i];
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_BALL;
        def.anchorA = toVec(from->anchorA);
        def.anchorB = toVec(from->anchorB);
        rbJointSide sides[2];
        const int bodies[2] = {from->bodyA + 1, from->bodyB + 1};
        for (int k = 0; k < 2; ++k) {
            const rbRowPose* pose = &mechanism->bodies[bodies[k]].pose;
            sides[k].name = "";
            sides[k].transform = (rbTransform){pose->position, pose->orientation};
            sides[k].principal = (rbTransform){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
        }
        (void)rbJointModel_Make(&kernels->models[i], &def, &sides[0], &sides[1], NULL);
        mechanism->blocks[i] = (rbRowBlock){
            .bodyA = bodies[0],
            .bodyB = bodies[1],
            .firstRow = 3 * i,
            .rowCount = 3,
            .kind = RB_ROW_HOLD,
            .rows = rbJointModel_Rows,
            .errors = rbJointModel_Errors,
            .data = &kernels->models[i],
        };
    }
}

static void factorOnce(void* context)
{
    rbKernels* kernels = context;
    rbMechanism_Refresh(&kernels->mechanism);
    rbCorrector_Factor(kernels->corrector, &kernels->mechanism);
}

static void iterateOnce(void* context)
{
    rbKernels* kernels = context;
    rbCorrection correction = {
        .h = kernels->h,
        .tolerance = 0.0,
        .iterationsMax = 1,
        .impulseMax = INFINITY,
        .isIterative = true,
    };
    rbCorrected corrected =
        rbCorrectPositions(kernels->corrector, &kernels->mechanism, &correction, kernels->limits);
    kernels->sink += corrected.error;
}

static void advanceOnce(void* context)
{
    rbKernels* kernels = context;
    rbMechanism_LookAhead(&kernels->mechanism, kernels->h);
    kernels->sink += kernels->mechanism.bodies[1].ahead.position.y;
}

rbJointCosts rbMeasureJointCosts(const rbJointScene* scene, rbSolverType solver, double h,
                                 double seconds)
{
    size_t bodyCount = (size_t)scene->bodyCount + 1;
    size_t blockCount = (size_t)scene->jointCount;
    size_t rowCount = 3 * blockCount;
    rbKernels kernels = {.h = h};
    rbMechanism* mechanism = &kernels.mechanism;
    mechanism->bodyCount = (int)bodyCount;
    mechanism->blockCount = (int)blockCount;
    mechanism->rowCount = (int)rowCount;
    mechanism->bodies = allocZero(bodyCount * sizeof *mechanism->bodies);
    mechanism->masses = allocZero(bodyCount * sizeof *mechanism->masses);
    mechanism->blocks = allocZero(blockCount * sizeof *mechanism->blocks);
    mechanism->rows = allocZero(rowCount * sizeof *mechanism->rows);
    double** columns[] = {&mechanism->compliance, &mechanism->speeds, &mechanism->limits,
                          &mechanism->startErrors, &mechanism->impulses};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i) {
        *columns[i] = allocZero(rowCount * sizeof(double));
    }
    kernels.models = allocZero(blockCount * sizeof *kernels.models);
    kernels.limits = allocZero(rowCount * sizeof *kernels.limits);
    makeBodies(&kernels, scene);
    makeBlocks(&kernels, scene);
    rbMechanism_Refresh(mechanism);
    kernels.corrector = rbCreateCorrector(solver, mechanism);
    rbJointCosts costs = {
        .factor = rbBench_Time(factorOnce, &kernels, seconds),
        .iteration = rbBench_Time(iterateOnce, &kernels, seconds),
        .advance = rbBench_Time(advanceOnce, &kernels, seconds),
    };
    rbDestroyCorrector(kernels.corrector);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i) {
        rbFree(*columns[i], rowCount * sizeof(double));
    }
    rbFree(kernels.limits, rowCount * sizeof *kernels.limits);
    rbFree(kernels.models, blockCount * sizeof *kernels.models);
    rbFree(mechanism->rows, rowCount * sizeof *mechanism->rows);
    rbFree(mechanism->blocks, blockCount * sizeof *mechanism->blocks);
    rbFree(mechanism->masses, bodyCount * sizeof *mechanism->masses);
    rbFree(mechanism->bodies, bodyCount * sizeof *mechanism->bodies);
    return costs;
}
