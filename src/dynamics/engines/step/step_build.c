// Building mechanisms: which bodies are connected, their rows, and the memory a step needs.
#include "base/core/disjoint_sets.h"
#include "dynamics/engines/step/step_state.h"

#include <string.h>

static bool isDynamic(const rbStepEngine* engine, int body)
{
    return body >= 0 && engine->bodies.data[body].isUsed && engine->bodies.data[body].def.isDynamic;
}

static void join(const rbStepEngine* engine, int* parents, int a, int b)
{
    if (isDynamic(engine, a) && isDynamic(engine, b)) {
        // The lower index is the root, so that mechanisms come in the order of their first bodies.
        (void)rbSets_Join(parents, a, b);
    }
}

void rbStep_FollowPath(const rbPath* path, double time, rbMechBody* body)
{
    rbTransform pose;
    rbPath_Evaluate(path, time, &pose, &body->velocity, &body->angularVelocity);
    body->pose.position = pose.p;
    body->pose.orientation = pose.q;
    body->pose.rotation = rbMatFromQuat(pose.q);
}

void rbStep_ReadBody(const rbStepHost* host, const rbStepBodySlot* slot, int index, double time,
                     rbMechBody* body)
{
    const rbMotionState* state = &host->states[index];
    body->pose.position = state->position;
    body->pose.orientation = state->orientation;
    body->pose.rotation = rbMatFromQuat(state->orientation);
    body->velocity = state->velocity;
    rbVec3 spin = rbRotate(state->orientation, state->spin);
    body->angularVelocity = spin;
    if (slot->def.isDynamic) {
        rbVec3 local = rbMulEach(host->motions[index].moments, state->spin);
        body->momentum = rbMulMV(body->pose.rotation, local);
    } else if (slot->def.path != NULL) {
        rbStep_FollowPath(slot->def.path, time, body);
    } else {
        body->velocity = RB_VEC3_ZERO;
        body->angularVelocity = RB_VEC3_ZERO;
    }
    body->ahead = body->pose;
    body->aheadVelocity = body->velocity;
    body->aheadAngularVelocity = body->angularVelocity;
}

void rbStep_WriteBody(const rbStepHost* host, const rbMechBody* body)
{
    if (!body->isDynamic) {
        return;
    }
    rbMotionState* state = &host->states[body->index];
    state->position = body->pose.position;
    state->orientation = body->pose.orientation;
    state->velocity = body->velocity;
    state->spin = rbMulEach(body->invMoments, rbMulMtV(body->pose.rotation, body->momentum));
}

void rbStep_InitBody(const rbStepHost* host, const rbStepBodySlot* slot, int index, double time,
                     rbMechBody* body)
{
    *body = (rbMechBody){.index = index, .isDynamic = slot->def.isDynamic};
    if (body->isDynamic) {
        const rbMotionBody* motion = &host->motions[index];
        rbVec3 moments = motion->moments;
        body->mass = motion->mass;
        body->invMass = 1.0 / motion->mass;
        body->moments = moments;
        body->invMoments = rbMakeVec3(1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z);
        body->turn = rbMakeTurn(moments);
        // The size of a body without shapes follows from its inertia.
        double gyration = sqrt(fmax(moments.x, fmax(moments.y, moments.z)) / motion->mass);
        body->radius = fmax(host->radii != NULL ? host->radii[index] : 0.0, gyration);
    }
    rbStep_ReadBody(host, slot, index, time, body);
}

// The bodies and blocks of the mechanism under construction.
typedef struct Builder {
    rbStepEngine* engine;
    const rbStepHost* host;
    double time;
    int mechanism;
    RB_ARRAY(rbMechBody) bodies;
    RB_ARRAY(rbRowBlock) blocks;
    RB_ARRAY(rbBlockInfo) infos;
    int rowCount;
    bool hasPaths;
} Builder;

static int addBody(Builder* builder, int index)
{
    rbMechBody body = {.index = index, .pose = {.orientation = RB_QUAT_IDENTITY}};
    if (index < 0) {
        body.pose.rotation = rbMatFromQuat(RB_QUAT_IDENTITY);
        body.ahead = body.pose;
        rbArray_Push(builder->bodies, body);
        return builder->bodies.count - 1;
    }
    const rbStepBodySlot* slot = &builder->engine->bodies.data[index];
    rbStep_InitBody(builder->host, slot, index, builder->time, &body);
    builder->hasPaths = builder->hasPaths || slot->def.path != NULL;
    rbArray_Push(builder->bodies, body);
    return builder->bodies.count - 1;
}

// Local index of a body of the host; non-dynamic bodies are added when first met.
static int localBody(Builder* builder, int index)
{
    if (isDynamic(builder->engine, index)) {
        return builder->engine->bodies.data[index].local;
    }
    for (int i = 0; i < builder->bodies.count; ++i) {
        if (builder->bodies.data[i].index == index) {
            return i;
        }
    }
    return addBody(builder, index);
}

static int addBlock(Builder* builder, rbRowBlock block, rbBlockInfo info)
{
    block.firstRow = builder->rowCount;
    block.owner = info.owner;
    builder->rowCount += block.rowCount;
    rbArray_Push(builder->blocks, block);
    rbArray_Push(builder->infos, info);
    return builder->blocks.count - 1;
}

static void addFreedoms(Builder* builder, rbStepJointSlot* slot, int owner, rbRowBlock block)
{
    const rbJointModel* model = slot->def.model;
    for (int k = 0; k < model->freedomCount; ++k) {
        const rbFreedomDef* freedom = &slot->def.freedoms[k];
        rbMotorType motor = slot->def.motors != NULL ? slot->def.motors[k].def.type : RB_MOTOR_NONE;
        block.rowCount = 1;
        block.isAngle = model->freedoms[k].kind == RB_FREEDOM_ANGLE;
        block.angleMask = block.isAngle ? 1u : 0u;
        block.rows = rbFreedomModel_Rows;
        block.errors = rbFreedomModel_Errors;
        block.data = &model->freedoms[k];
        block.kind = RB_ROW_SPRING;
        block.stiffness = freedom->stiffness;
        block.rest = freedom->rest;
        block.damping = freedom->damping;
        bool isServo = motor == RB_MOTOR_POSITION || motor == RB_MOTOR_SPEED;
        if (freedom->stiffness > 0.0 || freedom->damping > 0.0 || isServo) {
            slot->freedomBlocks[k] =
                addBlock(builder, block, (rbBlockInfo){RB_ROLE_FREEDOM, owner, k});
        }
        block.kind = RB_ROW_TRAVEL;
        block.stiffness = 0.0;
        block.damping = 0.0;
        block.rest = 0.0;
        if (freedom->friction > 0.0) {
            block.isOpposed = motor == RB_MOTOR_VELOCITY;
            slot->travelBlocks[k] =
                addBlock(builder, block, (rbBlockInfo){RB_ROLE_FRICTION, owner, k});
            block.isOpposed = false;
        }
        if (motor == RB_MOTOR_VELOCITY) {
            slot->speedBlocks[k] = addBlock(builder, block, (rbBlockInfo){RB_ROLE_SPEED, owner, k});
        }
    }
}

static void addJoint(Builder* builder, int owner)
{
    rbStepJointSlot* slot = &builder->engine->joints.data[owner];
    const rbJointModel* model = slot->def.model;
    rbRowBlock block = {.bodyA = localBody(builder, slot->def.bodyA),
                        .bodyB = localBody(builder, slot->def.bodyB),
                        .rowCount = model->rowCount,
                        .kind = slot->def.isVelocityOnly ? RB_ROW_TRAVEL : RB_ROW_HOLD,
                        .isAngle = slot->def.isVelocityOnly,
                        .angleMask = model->angleMask,
                        .rows = rbJointModel_Rows,
                        .errors = rbJointModel_Errors,
                        .data = model};
    slot->mechanism = builder->mechanism;
    slot->block = addBlock(builder, block, (rbBlockInfo){RB_ROLE_JOINT, owner, 0});
    addFreedoms(builder, slot, owner, block);
}

static void addSpring(Builder* builder, int owner)
{
    rbStepSpringSlot* slot = &builder->engine->springs.data[owner];
    rbRowBlock block = {.bodyA = localBody(builder, slot->def.bodyA),
                        .bodyB = localBody(builder, slot->def.bodyB),
                        .rowCount = 1,
                        .kind = RB_ROW_SPRING,
                        .rows = rbSpringModel_Rows,
                        .errors = rbSpringModel_Errors,
                        .data = slot->def.model,
                        .stiffness = slot->def.stiffness,
                        .rest = slot->def.restLength,
                        .damping = slot->def.damping};
    rbBlockInfo info = {RB_ROLE_SPRING, owner, 0};
    slot->mechanism = builder->mechanism;
    slot->blockCount = 0;
    if (block.rest == 0.0 && block.stiffness > 0.0) {
        // Linear in the displacement between the points; only the damping needs their direction.
        rbRowBlock axis = block;
        axis.damping = 0.0;
        for (int k = 0; k < 3; ++k) {
            axis.rows = rbSpringAxes[k].rows;
            axis.errors = rbSpringAxes[k].errors;
            slot->blocks[slot->blockCount++] = addBlock(builder, axis, info);
        }
        block.stiffness = 0.0;
    }
    if (slot->blockCount == 0 || block.damping > 0.0) {
        slot->blocks[slot->blockCount++] = addBlock(builder, block, info);
    }
}

static void* copyOf(const void* data, int count, size_t size)
{
    void* copy = rbAllocZero((size_t)(count > 0 ? count : 1), size);
    if (count > 0) {
        memcpy(copy, data, (size_t)count * size);
    }
    return copy;
}

static double* makeRows(int count)
{
    return rbAllocZero((size_t)(count > 0 ? count : 1), sizeof(double));
}

// Velocity-only joints get separate models.
static void copyModels(Builder* builder, rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    const rbStepEngine* engine = builder->engine;
    for (int pass = 0; pass < 2; ++pass) {
        int count = 0;
        for (int i = 0; i < m->blockCount; ++i) {
            const rbBlockInfo* info = &mechanism->infos[i];
            if (info->role != RB_ROLE_JOINT || m->blocks[i].kind != RB_ROW_TRAVEL) {
                continue;
            }
            if (pass == 1) {
                mechanism->models[count] = *engine->joints.data[info->owner].def.model;
                m->blocks[i].data = &mechanism->models[count];
            }
            count += 1;
        }
        if (pass == 0 && count > 0) {
            mechanism->modelCount = count;
            mechanism->models = rbAllocZero((size_t)count, sizeof *mechanism->models);
        }
    }
}

// Limits, first positions of freedoms, kinds of rows present.
static void initRows(Builder* builder, rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        const rbBlockInfo* info = &mechanism->infos[i];
        mechanism->traits.hasSoft = mechanism->traits.hasSoft || block->kind != RB_ROW_HOLD;
        double limit = INFINITY;
        double start = 0.0;
        if (info->role != RB_ROLE_SPRING) {
            const rbStepJointDef* def = &builder->engine->joints.data[info->owner].def;
            limit = info->role == RB_ROLE_FRICTION ? def->freedoms[info->freedom].friction
                    : info->role == RB_ROLE_SPEED  ? def->motors[info->freedom].def.forceMax
                    : def->isVelocityOnly          ? def->forceMax
                                                   : INFINITY;
            start = info->role != RB_ROLE_JOINT ? def->freedomPositions[info->freedom] : 0.0;
        }
        for (int k = 0; k < block->rowCount; ++k) {
            m->limits[block->firstRow + k] = limit;
            m->startErrors[block->firstRow + k] = start;
            // The motor next to it holds its speed, so the friction is at its limit.
            mechanism->rows.limits[block->firstRow + k] =
                block->isOpposed ? RB_LIMIT_HIGH : RB_LIMIT_FREE;
        }
    }
}

// Its size, and the forces on it.
static void initBodies(const Builder* builder, rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    mechanism->size = 1e-3;
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        m->masses[i].isDynamic = body->isDynamic;
        mechanism->traits.isAfloat = mechanism->traits.isAfloat && body->isDynamic;
        mechanism->size = fmax(mechanism->size, rbLength(body->pose.position) + body->radius);
        if (body->isDynamic) {
            const rbMotionBody* motion = &builder->host->motions[body->index];
            const rbMotionBody* first = &builder->host->motions[m->bodies[0].index];
            bool isSame = rbDistance(motion->acceleration, first->acceleration) == 0.0;
            mechanism->traits.isFieldUniform = mechanism->traits.isFieldUniform && isSame;
            mechanism->traits.hasLoads = mechanism->traits.hasLoads || motion->load != NULL;
            mechanism->traits.hasTorques =
                mechanism->traits.hasTorques || rbLengthSquared(motion->torque) > 0.0;
        }
    }
}

// The choice of the first joint that has one, otherwise that of the settings.
static rbSolverType chooseSolver(const Builder* builder)
{
    for (int i = 0; i < builder->infos.count; ++i) {
        const rbBlockInfo* info = &builder->infos.data[i];
        rbSolverType asked = info->role == RB_ROLE_JOINT
                                 ? builder->engine->joints.data[info->owner].def.solver
                                 : RB_SOLVER_AUTO;
        if (asked != RB_SOLVER_AUTO) {
            return asked;
        }
    }
    return builder->engine->settings.solver;
}

static rbStepMechanism finishMechanism(Builder* builder)
{
    int rows = builder->rowCount;
    rbStepMechanism mechanism = {.m = {.bodyCount = builder->bodies.count,
                                       .blockCount = builder->blocks.count,
                                       .rowCount = rows}};
    rbMechanism* m = &mechanism.m;
    m->bodies = copyOf(builder->bodies.data, builder->bodies.count, sizeof(rbMechBody));
    m->blocks = copyOf(builder->blocks.data, builder->blocks.count, sizeof(rbRowBlock));
    mechanism.infos = copyOf(builder->infos.data, builder->infos.count, sizeof(rbBlockInfo));
    m->rows = rbAllocZero((size_t)rows + 1, sizeof(rbRow));
    m->masses = rbAllocZero((size_t)m->bodyCount, sizeof(rbRowMass));
    m->compliance = makeRows(rows);
    m->speeds = makeRows(rows);
    m->limits = makeRows(rows);
    m->startErrors = makeRows(rows);
    m->startDamping = makeRows(rows);
    m->impulses = makeRows(rows);
    mechanism.rows.drives = rbAllocZero((size_t)rows + 1, sizeof(rbRowDrive));
    mechanism.copies.motors = rbAllocZero((size_t)m->blockCount + 1, sizeof(rbMotorState));
    mechanism.rows.limits = rbAllocZero((size_t)rows + 1, sizeof(rbLimitState));
    mechanism.copies.limits = rbAllocZero((size_t)rows + 1, sizeof(rbLimitState));
    mechanism.rows.guesses = makeRows(rows);
    mechanism.rows.totals = makeRows(rows);
    mechanism.rows.forces = makeRows(rows);
    mechanism.rows.sums = makeRows(rows);
    mechanism.copies.size = m->bodyCount * 13 + 4 * rows;
    mechanism.copies.runSize = mechanism.copies.size + RB_WORK_COUNT + 3;
    mechanism.traits.isAfloat = true;
    mechanism.traits.isFieldUniform = true;
    mechanism.copies.start = makeRows(mechanism.copies.size);
    mechanism.copies.kept = makeRows(mechanism.copies.size);
    mechanism.copies.scratch = makeRows(mechanism.copies.size);
    mechanism.copies.runs = makeRows((RB_STEP_RUNS_MAX + 1) * mechanism.copies.runSize);
    mechanism.traits.hasPaths = builder->hasPaths;
    mechanism.grid.time = builder->time;
    mechanism.grid.origin = builder->time;
    mechanism.grid.index = 1;
    mechanism.chosen = builder->engine->settings.step;
    mechanism.node.redundantLeast = rows;
    for (int i = 0; i < m->bodyCount; ++i) {
        // Errors made before it was rebuilt.
        int index = m->bodies[i].isDynamic ? m->bodies[i].index : -1;
        double before = index >= 0 ? builder->engine->bodies.data[index].estimate : 0.0;
        mechanism.node.estimateSum = fmax(mechanism.node.estimateSum, before);
    }
    copyModels(builder, &mechanism);
    initRows(builder, &mechanism);
    initBodies(builder, &mechanism);
    rbStep_ContinueErrors(&mechanism);
    rbMechanism_Refresh(m);
    mechanism.isRefreshed = true;
    const rbStepSettings* settings = &builder->engine->settings;
    rbSolverType solver = chooseSolver(builder);
    mechanism.anchor = rbCreateCorrector(solver, m);
    mechanism.inner = rbCreateCorrector(solver, m);
    const rbStepMethodRow* row = rbStepMethodRow_Get(settings->method);
    if (row != NULL) {
        mechanism.method = row->create(row, m, settings);
    }
    return mechanism;
}

static void buildOne(Builder* builder, const int* parents, int root)
{
    rbStepEngine* engine = builder->engine;
    builder->mechanism = engine->mechanisms.count;
    builder->bodies.count = 0;
    builder->blocks.count = 0;
    builder->infos.count = 0;
    builder->rowCount = 0;
    builder->hasPaths = false;
    for (int i = root; i < engine->bodies.count; ++i) {
        if (isDynamic(engine, i) && parents[i] == root) {
            engine->bodies.data[i].mechanism = builder->mechanism;
            engine->bodies.data[i].local = addBody(builder, i);
        }
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &engine->joints.data[i];
        int body = isDynamic(engine, slot->def.bodyA) ? slot->def.bodyA : slot->def.bodyB;
        if (slot->isUsed && parents[body] == root) {
            addJoint(builder, i);
        }
    }
    for (int i = 0; i < engine->springs.count; ++i) {
        const rbStepSpringSlot* slot = &engine->springs.data[i];
        int body = isDynamic(engine, slot->def.bodyA) ? slot->def.bodyA : slot->def.bodyB;
        if (slot->isUsed && parents[body] == root) {
            addSpring(builder, i);
        }
    }
    rbStepMechanism mechanism = finishMechanism(builder);
    rbArray_Push(engine->mechanisms, mechanism);
}

static void forgetPlaces(rbStepEngine* engine)
{
    for (int i = 0; i < engine->bodies.count; ++i) {
        engine->bodies.data[i].mechanism = -1;
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        rbStepJointSlot* slot = &engine->joints.data[i];
        slot->mechanism = -1;
        for (int k = 0; k < RB_JOINT_FREEDOMS_MAX; ++k) {
            slot->freedomBlocks[k] = -1;
            slot->travelBlocks[k] = -1;
            slot->speedBlocks[k] = -1;
        }
    }
    for (int i = 0; i < engine->springs.count; ++i) {
        engine->springs.data[i].mechanism = -1;
    }
}

void rbStep_Build(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStep_FreeMechanisms(engine);
    forgetPlaces(engine);
    int count = engine->bodies.count;
    int* parents = rbAlloc((size_t)(count + 1) * sizeof *parents);
    bool* isJoined = rbAllocZero((size_t)count + 1, sizeof *isJoined);
    for (int i = 0; i < count; ++i) {
        parents[i] = i;
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &engine->joints.data[i];
        if (slot->isUsed) {
            join(engine, parents, slot->def.bodyA, slot->def.bodyB);
            isJoined[isDynamic(engine, slot->def.bodyA) ? slot->def.bodyA : slot->def.bodyB] = true;
        }
    }
    for (int i = 0; i < engine->springs.count; ++i) {
        const rbStepSpringSlot* slot = &engine->springs.data[i];
        if (slot->isUsed) {
            join(engine, parents, slot->def.bodyA, slot->def.bodyB);
            isJoined[isDynamic(engine, slot->def.bodyA) ? slot->def.bodyA : slot->def.bodyB] = true;
        }
    }
    for (int i = 0; i < count; ++i) {
        parents[i] = rbSets_Find(parents, i);
        isJoined[parents[i]] = isJoined[parents[i]] || isJoined[i];
    }
    Builder builder = {.engine = engine, .host = host, .time = time};
    for (int i = 0; i < count; ++i) {
        if (parents[i] == i && isJoined[i] && isDynamic(engine, i)) {
            buildOne(&builder, parents, i);
        }
    }
    rbArray_Free(builder.bodies);
    rbArray_Free(builder.blocks);
    rbArray_Free(builder.infos);
    rbFree(parents, (size_t)(count + 1) * sizeof *parents);
    rbFree(isJoined, (size_t)count + 1);
}

static void freeRows(double* data, int count)
{
    rbFree(data, (size_t)(count > 0 ? count : 1) * sizeof(double));
}

static void freeMechanism(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    int rows = m->rowCount;
    rbFree(m->bodies, (size_t)(m->bodyCount > 0 ? m->bodyCount : 1) * sizeof(rbMechBody));
    rbFree(m->blocks, (size_t)(m->blockCount > 0 ? m->blockCount : 1) * sizeof(rbRowBlock));
    rbFree(mechanism->infos, (size_t)(m->blockCount > 0 ? m->blockCount : 1) * sizeof(rbBlockInfo));
    rbFree(m->rows, ((size_t)rows + 1) * sizeof(rbRow));
    rbFree(m->masses, (size_t)m->bodyCount * sizeof(rbRowMass));
    rbFree(mechanism->models, (size_t)mechanism->modelCount * sizeof *mechanism->models);
    rbFree(mechanism->copies.motors, ((size_t)m->blockCount + 1) * sizeof(rbMotorState));
    rbFree(mechanism->rows.drives, ((size_t)rows + 1) * sizeof(rbRowDrive));
    rbFree(mechanism->rows.limits, ((size_t)rows + 1) * sizeof(rbLimitState));
    rbFree(mechanism->copies.limits, ((size_t)rows + 1) * sizeof(rbLimitState));
    double* arrays[] = {m->startDamping,
                        m->compliance,
                        m->speeds,
                        m->limits,
                        m->startErrors,
                        m->impulses,
                        mechanism->rows.guesses,
                        mechanism->rows.totals,
                        mechanism->rows.forces,
                        mechanism->rows.sums};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        freeRows(arrays[i], rows);
    }
    freeRows(mechanism->copies.start, mechanism->copies.size);
    freeRows(mechanism->copies.kept, mechanism->copies.size);
    freeRows(mechanism->copies.scratch, mechanism->copies.size);
    freeRows(mechanism->copies.runs, (RB_STEP_RUNS_MAX + 1) * mechanism->copies.runSize);
    rbDestroyCorrector(mechanism->anchor);
    rbDestroyCorrector(mechanism->inner);
    rbDestroyCorrector(mechanism->settler);
    if (mechanism->method != NULL) {
        mechanism->method->row->destroy(mechanism->method);
    }
}

void rbStep_FreeMechanisms(rbStepEngine* engine)
{
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        engine->workBefore.load += mechanism->shownWork[RB_WORK_LOAD];
        engine->workBefore.motor += mechanism->shownWork[RB_WORK_MOTOR];
        engine->workBefore.dissipation += mechanism->shownWork[RB_WORK_DISSIPATION];
        engine->workBefore.assembly += mechanism->shownWork[RB_WORK_ASSEMBLY];
        engine->factorizationsBefore +=
            mechanism->anchor->factorizations + mechanism->inner->factorizations;
        engine->estimateBefore = fmax(engine->estimateBefore, mechanism->node.estimateSum);
        for (int k = 0; k < mechanism->m.bodyCount; ++k) {
            const rbMechBody* body = &mechanism->m.bodies[k];
            if (body->isDynamic && engine->bodies.data[body->index].isUsed) {
                engine->bodies.data[body->index].estimate = mechanism->node.estimateSum;
            }
        }
        freeMechanism(mechanism);
    }
    engine->mechanisms.count = 0;
}
