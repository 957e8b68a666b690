// Building mechanisms: which bodies are connected, their rows, and the memory a step needs.
#include "base/core/disjoint_sets.h"
#include "dynamics/engines/step/step_state.h"

static bool isDynamic(const rbStepEngine* engine, int body)
{
    return body >= 0 && engine->bodies.data[body].isUsed && engine->bodies.data[body].def.isDynamic;
}

void rbStep_FollowPath(const rbPath* path, double time, rbMechBody* body, bool isAhead)
{
    rbTransform pose;
    rbPath_Evaluate(path, time, &pose, isAhead ? &body->aheadVelocity : &body->velocity,
                    isAhead ? &body->aheadAngularVelocity : &body->angularVelocity);
    *(isAhead ? &body->ahead : &body->pose) = (rbRowPose){pose.p, pose.q, rbMatFromQuat(pose.q)};
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
        rbStep_FollowPath(slot->def.path, time, body, false);
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

void rbStep_WriteBodies(const rbStepHost* host, const rbMechanism* m)
{
    for (int i = 0; i < m->bodyCount; ++i) {
        rbStep_WriteBody(host, &m->bodies[i]);
    }
}

void rbStep_MeasureSize(rbStepMechanism* mechanism)
{
    const rbMechanism* m = &mechanism->m;
    mechanism->size = 1e-3;
    for (int i = 0; i < m->bodyCount; ++i) {
        double reach = rbLength(m->bodies[i].pose.position) + m->bodies[i].radius;
        mechanism->size = fmax(mechanism->size, reach);
    }
}

rbMechBody rbStep_MakeBody(const rbStepEngine* engine, const rbStepHost* host, int index,
                           double time)
{
    rbMechBody body = {.index = index};
    if (index < 0) {
        body.pose.orientation = RB_QUAT_IDENTITY;
        body.pose.rotation = rbMatFromQuat(RB_QUAT_IDENTITY);
        body.ahead = body.pose;
        return body;
    }
    const rbStepBodySlot* slot = &engine->bodies.data[index];
    body.isDynamic = slot->def.isDynamic;
    if (body.isDynamic) {
        const rbMotionBody* motion = &host->motions[index];
        rbVec3 moments = motion->moments;
        RB_ASSERT(motion->mass > 0.0 && moments.x > 0.0 && moments.y > 0.0 && moments.z > 0.0);
        body.mass = motion->mass;
        body.invMass = 1.0 / motion->mass;
        body.moments = moments;
        body.invMoments = rbMakeVec3(1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z);
        body.turn = rbMakeTurn(moments);
        // The size of a body without shapes follows from its inertia.
        double gyration = sqrt(fmax(moments.x, fmax(moments.y, moments.z)) / motion->mass);
        body.radius = fmax(slot->def.radius, gyration);
    }
    rbStep_ReadBody(host, slot, index, time, &body);
    return body;
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
    int modelCount; // velocity-only joints
} Builder;

static int addBody(Builder* builder, int index)
{
    rbArray_Push(builder->bodies,
                 rbStep_MakeBody(builder->engine, builder->host, index, builder->time));
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

static void addBlock(Builder* builder, rbRowBlock block, rbBlockInfo info)
{
    RB_ASSERT(block.rowCount > 0 && block.rowCount <= RB_BLOCK_ROWS_MAX &&
              block.bodyA != block.bodyB);
    block.firstRow = builder->rowCount;
    builder->rowCount += block.rowCount;
    rbArray_Push(builder->blocks, block);
    rbArray_Push(builder->infos, info);
}

static void addFreedoms(Builder* builder, const rbStepJointSlot* slot, int owner, rbRowBlock block)
{
    const rbJointModel* model = slot->def.model;
    for (int k = 0; k < model->freedomCount; ++k) {
        const rbFreedomDef* freedom = &slot->def.freedoms[k];
        rbMotorType motor = slot->def.motors != NULL ? slot->def.motors[k].def.type : RB_MOTOR_NONE;
        block.rowCount = 1;
        block.angleMask = model->freedoms[k].kind == RB_FREEDOM_ANGLE ? 1u : 0u;
        block.rows = rbFreedomModel_Rows;
        block.errors = rbFreedomModel_Errors;
        block.data = &model->freedoms[k];
        block.kind = RB_ROW_SPRING;
        block.stiffness = freedom->stiffness;
        block.rest = freedom->rest;
        block.damping = freedom->damping;
        if (freedom->stiffness > 0.0 || freedom->damping > 0.0 || rbMotorType_IsServo(motor)) {
            addBlock(builder, block, (rbBlockInfo){RB_ROLE_FREEDOM, owner, k});
        }
        block.kind = RB_ROW_TRAVEL;
        if (freedom->friction > 0.0) {
            block.isOpposed = motor == RB_MOTOR_VELOCITY;
            addBlock(builder, block, (rbBlockInfo){RB_ROLE_FRICTION, owner, k});
            block.isOpposed = false;
        }
        if (motor == RB_MOTOR_VELOCITY) {
            addBlock(builder, block, (rbBlockInfo){RB_ROLE_SPEED, owner, k});
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
                        .angleMask = model->angleMask,
                        .rows = rbJointModel_Rows,
                        .errors = rbJointModel_Errors,
                        .data = model};
    builder->modelCount += slot->def.isVelocityOnly ? 1 : 0;
    slot->mechanism = builder->mechanism;
    slot->block = builder->blocks.count;
    addBlock(builder, block, (rbBlockInfo){RB_ROLE_JOINT, owner, 0});
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
    slot->block = builder->blocks.count;
    if (block.rest == 0.0 && block.stiffness > 0.0) {
        // Linear in the displacement between the points; only the damping needs their direction.
        rbRowBlock axis = block;
        axis.damping = 0.0;
        for (int k = 0; k < 3; ++k) {
            axis.rows = rbSpringAxes[k].rows;
            axis.errors = rbSpringAxes[k].errors;
            addBlock(builder, axis, info);
        }
        block.stiffness = 0.0;
    }
    if (slot->block == builder->blocks.count || block.damping > 0.0) {
        addBlock(builder, block, info);
    }
    slot->blockCount = builder->blocks.count - slot->block;
}

// The arrays of a mechanism, and how many elements each has; one more is allocated.
#define ARRAYS(X)                              \
    X(m.bodies, mechanism->m.bodyCount)        \
    X(m.masses, mechanism->m.bodyCount)        \
    X(m.blocks, mechanism->m.blockCount)       \
    X(infos, mechanism->m.blockCount)          \
    X(m.rows, mechanism->m.rowCount)           \
    X(m.compliance, mechanism->m.rowCount)     \
    X(m.speeds, mechanism->m.rowCount)         \
    X(m.limits, mechanism->m.rowCount)         \
    X(m.startErrors, mechanism->m.rowCount)    \
    X(m.startDamping, mechanism->m.rowCount)   \
    X(m.impulses, mechanism->m.rowCount)       \
    X(rows.drives, mechanism->m.rowCount)      \
    X(rows.limits, mechanism->m.rowCount)      \
    X(rows.guesses, mechanism->m.rowCount)     \
    X(rows.totals, mechanism->m.rowCount)      \
    X(rows.forces, mechanism->m.rowCount)      \
    X(rows.sums, mechanism->m.rowCount)        \
    X(rows.reactions, mechanism->m.rowCount)   \
    X(copies.limits, mechanism->m.rowCount)    \
    X(copies.start, mechanism->copies.size)    \
    X(copies.kept, mechanism->copies.nodeSize) \
    X(copies.scratch, mechanism->copies.size)  \
    X(copies.runs, (RB_STEP_RUNS_MAX + 1) * mechanism->copies.runSize)
#define CREATE(name, count) \
    mechanism->name = rbAllocZero((size_t)(count) + 1, sizeof *mechanism->name);
#define DESTROY(name, count) \
    rbFree(mechanism->name, ((size_t)(count) + 1) * sizeof *mechanism->name);

// Velocity-only joints get separate models.
static void copyModels(const Builder* builder, rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    mechanism->models = rbAllocZero((size_t)builder->modelCount, sizeof *mechanism->models);
    for (int i = 0; i < m->blockCount; ++i) {
        const rbBlockInfo* info = &mechanism->infos[i];
        if (info->role == RB_ROLE_JOINT && m->blocks[i].kind == RB_ROW_TRAVEL) {
            rbJointModel* model = &mechanism->models[mechanism->modelCount++];
            *model = *builder->engine->joints.data[info->owner].def.model;
            m->blocks[i].data = model;
        }
    }
}

// Limits, first positions of freedoms, kinds of rows present.
static void initRows(const Builder* builder, rbStepMechanism* mechanism)
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

// Forces on bodies and their paths.
static void initBodies(const Builder* builder, rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->bodyCount; ++i) {
        const rbMechBody* body = &m->bodies[i];
        m->masses[i].isDynamic = body->isDynamic;
        mechanism->traits.isAfloat = mechanism->traits.isAfloat && body->isDynamic;
        mechanism->traits.hasPaths =
            mechanism->traits.hasPaths ||
            (body->index >= 0 && builder->engine->bodies.data[body->index].def.path != NULL);
        if (body->isDynamic) {
            const rbMotionBody* motion = &builder->host->motions[body->index];
            const rbMotionBody* first = &builder->host->motions[m->bodies[0].index];
            bool isSame = rbDistance(motion->acceleration, first->acceleration) == 0.0;
            mechanism->traits.isFieldUniform = mechanism->traits.isFieldUniform && isSame;
            mechanism->traits.hasLoads = mechanism->traits.hasLoads || motion->load != NULL;
            mechanism->traits.hasTorques =
                mechanism->traits.hasTorques || rbLengthSquared(motion->torque) > 0.0;
            // Errors made before it was rebuilt.
            double before = builder->engine->bodies.data[body->index].estimate;
            mechanism->node.estimateSum = fmax(mechanism->node.estimateSum, before);
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

static void finishMechanism(const Builder* builder, rbStepMechanism* mechanism)
{
    const rbStepSettings* settings = &builder->engine->settings;
    rbMechanism* m = &mechanism->m;
    m->bodyCount = builder->bodies.count;
    m->blockCount = builder->blocks.count;
    m->rowCount = builder->rowCount;
    mechanism->copies.size = m->bodyCount * RB_STEP_BODY_DOUBLES + 4 * m->rowCount;
    mechanism->copies.runSize = mechanism->copies.size + RB_WORK_COUNT + 3;
    mechanism->copies.nodeSize = (mechanism->copies.size + m->rowCount) * (int)sizeof(double) +
                                 (int)sizeof(rbNodeMemory) +
                                 m->blockCount * (int)sizeof(rbMotorState);
    ARRAYS(CREATE)
    rbCopyElements(m->bodies, builder->bodies.data, m->bodyCount, sizeof *m->bodies);
    rbCopyElements(m->blocks, builder->blocks.data, m->blockCount, sizeof *m->blocks);
    rbCopyElements(mechanism->infos, builder->infos.data, m->blockCount, sizeof *mechanism->infos);
    mechanism->traits.isAfloat = true;
    mechanism->traits.isFieldUniform = true;
    mechanism->grid = (rbStepGrid){.time = builder->time, .origin = builder->time, .index = 1};
    mechanism->chosen = settings->step;
    mechanism->node.redundantLeast = m->rowCount;
    copyModels(builder, mechanism);
    initRows(builder, mechanism);
    initBodies(builder, mechanism);
    rbStep_MeasureSize(mechanism);
    rbStep_ContinueErrors(mechanism);
    rbMechanism_Refresh(m);
    mechanism->isRefreshed = true;
    rbSolverType solver = chooseSolver(builder);
    mechanism->anchor = rbCreateCorrector(solver, m);
    mechanism->inner = rbCreateCorrector(solver, m);
    const rbStepMethodRow* row = rbStepMethodRow_Get(settings->method);
    if (row != NULL) {
        mechanism->method = row->create(row, m, settings);
    }
}

// The dynamic body of the two that a joint or spring connects; one of them is.
static int dynamicOf(const rbStepEngine* engine, int bodyA, int bodyB)
{
    RB_ASSERT(isDynamic(engine, bodyA) || isDynamic(engine, bodyB));
    return isDynamic(engine, bodyA) ? bodyA : bodyB;
}

static void buildOne(Builder* builder, const int* parents, int root)
{
    rbStepEngine* engine = builder->engine;
    for (int i = root; i < engine->bodies.count; ++i) {
        if (isDynamic(engine, i) && parents[i] == root) {
            engine->bodies.data[i].mechanism = builder->mechanism;
            engine->bodies.data[i].local = addBody(builder, i);
        }
    }
    int dynamicCount = builder->bodies.count;
    for (int i = 0; i < engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &engine->joints.data[i];
        if (slot->isUsed && parents[dynamicOf(engine, slot->def.bodyA, slot->def.bodyB)] == root) {
            addJoint(builder, i);
        }
    }
    for (int i = 0; i < engine->springs.count; ++i) {
        const rbStepSpringSlot* slot = &engine->springs.data[i];
        if (slot->isUsed && parents[dynamicOf(engine, slot->def.bodyA, slot->def.bodyB)] == root) {
            addSpring(builder, i);
        }
    }
    rbStepMechanism mechanism = {.engine = engine, .dynamicCount = dynamicCount};
    finishMechanism(builder, &mechanism);
    rbArray_Push(engine->mechanisms, mechanism);
    rbArray_FreeAll(builder->bodies, builder->blocks, builder->infos);
}

// Two bodies belong to one mechanism; the lower index is the root, so that mechanisms come in the
// order of their first bodies.
static void join(const rbStepEngine* engine, int* parents, bool* isJoined, int a, int b)
{
    if (isDynamic(engine, a) && isDynamic(engine, b)) {
        (void)rbSets_Join(parents, a, b);
    }
    isJoined[dynamicOf(engine, a, b)] = true;
}

void rbStep_Build(rbStepEngine* engine, const rbStepHost* host, double time)
{
    rbStep_FreeMechanisms(engine);
    int count = engine->bodies.count;
    int* parents = rbAlloc((size_t)(count + 1) * sizeof *parents);
    bool* isJoined = rbAllocZero((size_t)count + 1, sizeof *isJoined);
    for (int i = 0; i < count; ++i) {
        parents[i] = i;
        engine->bodies.data[i].mechanism = -1;
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        rbStepJointSlot* slot = &engine->joints.data[i];
        slot->mechanism = -1;
        if (slot->isUsed) {
            join(engine, parents, isJoined, slot->def.bodyA, slot->def.bodyB);
        }
    }
    for (int i = 0; i < engine->springs.count; ++i) {
        rbStepSpringSlot* slot = &engine->springs.data[i];
        slot->mechanism = -1;
        if (slot->isUsed) {
            join(engine, parents, isJoined, slot->def.bodyA, slot->def.bodyB);
        }
    }
    for (int i = 0; i < count; ++i) {
        parents[i] = rbSets_Find(parents, i);
        isJoined[parents[i]] = isJoined[parents[i]] || isJoined[i];
    }
    for (int i = 0; i < count; ++i) {
        if (parents[i] == i && isJoined[i] && isDynamic(engine, i)) {
            Builder builder = {engine, host, time, .mechanism = engine->mechanisms.count};
            buildOne(&builder, parents, i);
        }
    }
    rbFree(parents, (size_t)(count + 1) * sizeof *parents);
    rbFree(isJoined, (size_t)count + 1);
}

static void freeMechanism(rbStepMechanism* mechanism)
{
    rbFree(mechanism->models, (size_t)mechanism->modelCount * sizeof *mechanism->models);
    ARRAYS(DESTROY)
    rbDestroyCorrector(mechanism->anchor);
    rbDestroyCorrector(mechanism->inner);
    rbDestroyCorrector(mechanism->settler);
    if (mechanism->method != NULL) {
        mechanism->method->row->destroy(mechanism->method);
    }
}

void rbStep_AddWork(const rbStepMechanism* mechanism, rbStepWork* work)
{
    work->load += mechanism->shownWork[RB_WORK_LOAD];
    work->motor += mechanism->shownWork[RB_WORK_MOTOR];
    work->dissipation += mechanism->shownWork[RB_WORK_DISSIPATION];
    work->assembly += mechanism->shownWork[RB_WORK_ASSEMBLY];
}

void rbStep_FreeMechanisms(rbStepEngine* engine)
{
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        rbStep_AddWork(mechanism, &engine->workBefore);
        engine->factorizationsBefore +=
            mechanism->anchor->factorizations + mechanism->inner->factorizations;
        engine->estimateBefore = fmax(engine->estimateBefore, mechanism->node.estimateSum);
        for (int k = 0; k < mechanism->dynamicCount; ++k) {
            rbStepBodySlot* slot = &engine->bodies.data[mechanism->m.bodies[k].index];
            slot->estimate = slot->isUsed ? mechanism->node.estimateSum : slot->estimate;
        }
        freeMechanism(mechanism);
    }
    engine->mechanisms.count = 0;
}
