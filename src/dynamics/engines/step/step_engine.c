// The step engine: registering bodies and joints, validating the start, results.
#include "base/math/angle.h"
#include "dynamics/engines/step/step_contact.h"
#include "dynamics/engines/step/step_limits.h"

#include <string.h>

#define START_PROJECTIONS 100
// Rates below this fraction of the speeds are rounding.
#define RATE_PART 1e-9
#define START_DAMPED 60
#define START_DAMPING 0.25
#define START_NEAR 0.01
// Assembly ends when it fails this many times in a row to bring the worst joint below this fraction
// of its gap.
#define START_SLOW 0.99
#define START_SLOW_MAX 5

// ----------------------------------------------------------------------------------------
// registering

rbStepEngine* rbCreateStepEngine(const rbStepSettings* settings)
{
    rbStepEngine* engine = rbAllocZero(1, sizeof *engine);
    engine->settings = *settings;
    engine->statistics.stepSmallest = INFINITY;
    engine->failed = -1;
    return engine;
}

void rbDestroyStepEngine(rbStepEngine* engine)
{
    if (engine == NULL) {
        return;
    }
    rbStep_FreeMechanisms(engine);
    rbDestroyStepContacts(engine->contacts);
    rbArray_Free(engine->mechanisms);
    rbArray_Free(engine->bodies);
    rbArray_Free(engine->joints);
    rbArray_Free(engine->springs);
    rbFree(engine->before, engine->beforeSize);
    rbFree(engine, sizeof *engine);
}

void rbStepEngine_SetSettings(rbStepEngine* engine, const rbStepSettings* settings)
{
    engine->settings = *settings;
}

void rbStepEngine_SetBody(rbStepEngine* engine, int index, const rbStepBodyDef* def)
{
    rbStepBodySlot none = {.mechanism = -1};
    while (engine->bodies.count <= index) {
        rbArray_Push(engine->bodies, none);
    }
    rbStepBodySlot* slot = &engine->bodies.data[index];
    slot->isUsed = def != NULL;
    if (def != NULL) {
        slot->def = *def;
    } else {
        slot->estimate = 0.0;
    }
}

void rbStepEngine_SetJoint(rbStepEngine* engine, int index, const rbStepJointDef* def)
{
    rbStepJointSlot none = {.mechanism = -1};
    while (engine->joints.count <= index) {
        rbArray_Push(engine->joints, none);
    }
    rbStepJointSlot* slot = &engine->joints.data[index];
    bool isNew = !slot->isUsed;
    slot->isUsed = def != NULL;
    if (def == NULL) {
        return;
    }
    if (isNew || slot->def.limitCount == 0) {
        memcpy(slot->limitPositions, def->limitPositions, sizeof slot->limitPositions);
    }
    slot->def = *def;
    if (isNew) {
        memset(slot->motors, 0, sizeof slot->motors);
        memcpy(slot->positions, def->freedomPositions, sizeof slot->positions);
        memset(slot->limitImpulses, 0, sizeof slot->limitImpulses);
    }
}

void rbStepEngine_ResetMotor(rbStepEngine* engine, int index, int freedom)
{
    if (index < engine->joints.count) {
        memset(&engine->joints.data[index].motors[freedom], 0, sizeof(rbMotorState));
    }
}

void rbStepEngine_SetSpring(rbStepEngine* engine, int index, const rbStepSpringDef* def)
{
    rbStepSpringSlot none = {.mechanism = -1};
    while (engine->springs.count <= index) {
        rbArray_Push(engine->springs, none);
    }
    rbStepSpringSlot* slot = &engine->springs.data[index];
    slot->isUsed = def != NULL;
    if (def != NULL) {
        slot->def = *def;
    }
}

// ------------------------------------------------------------------------------------- positions

static double continueAngle(double last, double raw)
{
    return last + rbWrapAngle(raw - last);
}

// The position of a freedom, counting turns from the last known one.
static double freedomPosition(const rbStepJointSlot* slot, int k, const rbRowPose* poseA,
                              const rbRowPose* poseB)
{
    const rbFreedomModel* freedom = &slot->def.model->freedoms[k];
    double raw;
    rbFreedomModel_Errors(freedom, poseA, poseB, &raw);
    return freedom->kind == RB_FREEDOM_ANGLE ? continueAngle(slot->positions[k], raw) : raw;
}

// Positions at the node, so that turns are counted.
void rbStep_FollowFreedoms(rbStepEngine* engine, const rbStepMechanism* mechanism)
{
    const rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        if (mechanism->infos[i].role != RB_ROLE_JOINT) {
            continue;
        }
        rbStepJointSlot* slot = &engine->joints.data[mechanism->infos[i].owner];
        for (int k = 0; k < slot->def.model->freedomCount; ++k) {
            slot->positions[k] = freedomPosition(slot, k, &m->bodies[m->blocks[i].bodyA].pose,
                                                 &m->bodies[m->blocks[i].bodyB].pose);
        }
    }
}

// ----------------------------------------------------------------------------------------- errors

// Largest errors of the joints of a mechanism at its current poses. Slots: those of the joints, if
// gaps that a run left are to be ignored; NULL: all count.
static void measureErrors(const rbStepMechanism* mechanism, rbStartGap* gap, double tolerance,
                          const rbStepJointSlot* slots)
{
    const rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind != RB_ROW_HOLD) {
            continue;
        }
        double errors[RB_BLOCK_ROWS_MAX];
        double position = 0.0;
        double angle = 0.0;
        block->errors(block->data, &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose,
                      errors);
        for (int k = 0; k < block->rowCount; ++k) {
            bool isAngle = ((block->angleMask >> k) & 1u) != 0;
            *(isAngle ? &angle : &position) += errors[k] * errors[k];
        }
        position = sqrt(position);
        angle = sqrt(angle);
        bool isApart = position > tolerance || angle > tolerance;
        if (isApart && slots != NULL &&
            fmax(position, angle) <= slots[mechanism->infos[i].owner].def.gapAllowed) {
            gap->leftCount += 1;
            continue;
        }
        gap->count += isApart ? 1 : 0;
        if (!(fmax(position, angle) <= fmax(gap->position, gap->angle))) {
            gap->other = gap->joint;
            gap->joint = mechanism->infos[i].owner;
            gap->position = position;
            gap->angle = angle;
        }
    }
}

void rbStep_CountErrors(rbStepEngine* engine, rbStepMechanism* mechanism)
{
    rbStepStatistics* s = &engine->statistics;
    rbStartGap gap = {.joint = -1, .other = -1};
    measureErrors(mechanism, &gap, engine->settings.tolerance, NULL);
    if (mechanism->isOpen && gap.count > 0) {
        s->assemblingSteps += 1;
        return;
    }
    mechanism->isOpen = false;
    if (gap.joint >= 0 &&
        fmax(gap.position, gap.angle) > fmax(s->positionErrorMax, s->angleErrorMax)) {
        s->worstJoint.index1 = (uint32_t)gap.joint + 1u;
    }
    s->positionErrorMax = fmax(s->positionErrorMax, gap.position);
    s->angleErrorMax = fmax(s->angleErrorMax, gap.angle);
    // Speeds that miss their target: motors that request the impossible.
    const rbStepSettings* settings = &engine->settings;
    double asked =
        settings->velocityTolerance > 0.0 ? settings->velocityTolerance : settings->tolerance;
    bool isFast = mechanism->seen.rateError > fmax(asked, RATE_PART * mechanism->seen.rateScale) &&
                  settings->hasVelocityCorrection && mechanism->method == NULL;
    if (isFast && gap.count == 0) {
        s->worstJoint.index1 = (uint32_t)mechanism->seen.rateJoint + 1u;
    }
    if (gap.count > 0 || isFast) {
        s->unmetTime = s->unmetSteps == 0 ? mechanism->grid.time : s->unmetTime;
        s->unmetSteps += 1;
    }
}

// ------------------------------------------------------------------------------------------ start

static double assembleTolerance(const rbStepEngine* engine, const rbStepMechanism* mechanism)
{
    const rbStepSettings* settings = &engine->settings;
    double asked = settings->assembleTolerance;
    return fmax(settings->tolerance, asked > 0.0 ? asked : 1e-6 * mechanism->size);
}

// Moves the bodies onto the joints step by step, with a new matrix each time; false if they no
// longer approach.
static bool assemble(const rbStepRun* run, double tolerance)
{
    double last = INFINITY;
    int slowCount = 0;
    for (int k = 0; k < START_PROJECTIONS; ++k) {
        // Large gaps in small portions: a full step overshoots.
        double damping =
            k < START_DAMPED && last > START_NEAR * run->mechanism->size ? START_DAMPING : 0.0;
        rbCorrected projected = rbStep_Project(run, 1, damping);
        if (projected.isMet || projected.error <= tolerance) {
            // To rounding.
            (void)rbStep_Project(run, START_PROJECTIONS, 0.0);
            return true;
        }
        slowCount = projected.error > START_SLOW * last ? slowCount + 1 : 0;
        if (!isfinite(projected.error) || slowCount > START_SLOW_MAX) {
            break;
        }
        last = fmin(last, projected.error);
    }
    return false;
}

static void takeWorse(rbStartGap* gap, const rbStartGap* own)
{
    bool isWorse = fmax(own->position, own->angle) > fmax(gap->position, gap->angle);
    int count = gap->count + own->count;
    if ((own->isStuck && !gap->isStuck) || (own->isStuck == gap->isStuck && isWorse)) {
        *gap = *own;
    }
    gap->count = count;
}

// Closes gaps and stops relative velocities before the first step. Where the impulses are limited,
// larger gaps are left to the steps, and so are those that a run left before its mechanisms were
// rebuilt.
static void validateStart(const rbStepRun* run, rbStartGap* gap)
{
    rbStepMechanism* mechanism = run->mechanism;
    const rbStepSettings* settings = &run->engine->settings;
    double tolerance = assembleTolerance(run->engine, mechanism);
    rbStartGap own = {.joint = -1, .other = -1};
    measureErrors(mechanism, &own, tolerance, run->engine->joints.data);
    bool isOpen = own.count > 0;
    bool isContinued = !isOpen && own.leftCount > 0;
    bool isGentle = settings->isAssembleAllowed && settings->impulseMax < INFINITY;
    if (isOpen && !settings->isAssembleAllowed) {
        takeWorse(gap, &own);
    } else if (!isContinued && (!isOpen || !isGentle)) {
        rbStep_Save(mechanism, mechanism->copies.kept);
        bool isClosed = assemble(run, tolerance);
        if (isOpen && !isClosed) {
            // Reports the joint that was open first, and one that it leaves open.
            rbStartGap left = {.joint = -1, .other = -1};
            measureErrors(mechanism, &left, tolerance, NULL);
            own.isStuck = true;
            own.other = left.joint != own.joint ? left.joint : left.other;
            takeWorse(gap, &own);
            rbStep_Restore(mechanism, mechanism->copies.kept);
        }
    }
    mechanism->isOpen = (isOpen || isContinued) && isGentle;
    rbMechanism_Refresh(&mechanism->m);
    rbStep_ContinueErrors(mechanism);
    // Methods that let joints oscillate continue with the previous rates.
    bool isSwinging = isContinued && mechanism->method != NULL;
    if (!mechanism->isOpen && !isSwinging) {
        rbStep_SetSpeeds(run, mechanism->grid.time, mechanism->grid.time);
        rbStep_StopRates(run, 0.0, mechanism->inner);
    }
    mechanism->isRefreshed = true;
    mechanism->isAnchored = false;
}

rbStatus rbStepEngine_Start(rbStepEngine* engine, const rbStepHost* host, double time,
                            rbStartGap* gap, rbError* error)
{
    rbStartGap none = {.joint = -1, .other = -1, .limit = {.joint = -1}};
    rbStartGap worst = none;
    rbStepStatistics* s = &engine->statistics;
    rbStep_Build(engine, host, time);
    if (gap != NULL) {
        *gap = none;
    }
    const rbStepMethodRow* row = rbStepMethodRow_Get(engine->settings.method);
    for (int i = 0; row != NULL && i < engine->mechanisms.count; ++i) {
        const rbMechanism* m = &engine->mechanisms.data[i].m;
        if (row->check(row, m, error) != RB_STATUS_OK) {
            rbStep_FreeMechanisms(engine);
            return RB_STATUS_UNSUPPORTED;
        }
    }
    engine->time = time;
    s->mechanismCount = engine->mechanisms.count;
    s->rowCount = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        rbStepRun run = {.engine = engine, .mechanism = mechanism, .host = host, .isTrial = true};
        if (gap != NULL) {
            validateStart(&run, &worst);
        }
        rbStep_FollowFreedoms(engine, mechanism);
        s->rowCount += mechanism->m.rowCount;
    }
    if (engine->contacts != NULL) {
        rbStepContacts_Start(engine, host, time, &worst.overlap);
    }
    engine->stiff = rbStep_FindStiff(engine);
    if (gap == NULL) {
        return RB_STATUS_OK;
    }
    *gap = worst;
    if (worst.joint < 0 && worst.overlap.count > 0) {
        rbStep_FreeMechanisms(engine);
        return RB_STATUS_INVALID;
    }
    gap->limit = rbStepLimits_Validate(engine);
    if (worst.joint >= 0 || gap->limit.joint >= 0) {
        rbStep_FreeMechanisms(engine);
        return RB_STATUS_INVALID;
    }
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbMechanism* m = &engine->mechanisms.data[i].m;
        for (int k = 0; k < m->bodyCount; ++k) {
            rbStep_WriteBody(host, &m->bodies[k]);
        }
    }
    return RB_STATUS_OK;
}

bool rbStepEngine_Owns(const rbStepEngine* engine, int index)
{
    if (index >= engine->bodies.count || !engine->bodies.data[index].isUsed) {
        return false;
    }
    const rbStepBodySlot* slot = &engine->bodies.data[index];
    return slot->mechanism >= 0 ||
           (rbStepContacts_HasShapes(engine->contacts) && slot->def.isDynamic);
}

// Restarts the grid of a mechanism at a time.
static void startGrid(rbStepMechanism* mechanism, double time)
{
    mechanism->grid.time = time;
    mechanism->grid.origin = time;
    mechanism->grid.index = 1;
    mechanism->isAnchored = false;
    mechanism->isForceKnown = false;
}

void rbStepEngine_TouchBody(rbStepEngine* engine, const rbStepHost* host, int index, double time)
{
    if (!rbStepEngine_Owns(engine, index)) {
        return;
    }
    if (engine->contacts != NULL) {
        rbStepContacts_Touch(engine, host, index, time);
        return;
    }
    rbStepMechanism* mechanism = &engine->mechanisms.data[engine->bodies.data[index].mechanism];
    rbMechanism* m = &mechanism->m;
    rbStepRun run = {.engine = engine, .mechanism = mechanism, .host = host};
    rbStep_MakeNode(&run, time);
    run.isTrial = true;
    for (int i = 0; i < m->bodyCount; ++i) {
        if (m->bodies[i].index >= 0) {
            rbStep_ReadBody(host, &engine->bodies.data[m->bodies[i].index], m->bodies[i].index,
                            time, &m->bodies[i]);
        }
    }
    startGrid(mechanism, time);
    rbMechanism_Refresh(m);
    // A state that opens joints is projected back onto them.
    rbStartGap gap = {.joint = -1, .other = -1};
    measureErrors(mechanism, &gap, engine->settings.tolerance, NULL);
    if (gap.count > 0 && !mechanism->isOpen) {
        (void)assemble(&run, engine->settings.tolerance);
    }
    m->duration = 0.0;
    rbStep_ContinueErrors(mechanism);
    rbStep_SetSpeeds(&run, time, time);
    rbStep_StopRates(&run, 0.0, mechanism->inner);
    mechanism->isRefreshed = true;
    for (int i = 0; i < m->bodyCount; ++i) {
        rbStep_WriteBody(host, &m->bodies[i]);
    }
}

void rbStepEngine_TouchJoint(rbStepEngine* engine, const rbStepHost* host, int index, double time)
{
    const rbStepJointSlot* slot = &engine->joints.data[index];
    if (slot->mechanism < 0) {
        return;
    }
    int body = slot->def.bodyA >= 0 && rbStepEngine_Owns(engine, slot->def.bodyA) ? slot->def.bodyA
                                                                                  : slot->def.bodyB;
    rbStepEngine_TouchBody(engine, host, body, time);
}

// ----------------------------------------------------------------------------------- advancing

// A mechanism may fail again while it advances to the last good time of another one. Then an
// earlier time is tried, and finally the time before the advance, which every body has already
// reached.
#define TOGETHER_ATTEMPTS 4

rbStatus rbStepEngine_AdvanceTogether(rbStepEngine* engine, const rbStepHost* host, double time,
                                      double* reached)
{
    if (engine->contacts != NULL) {
        // All bodies are stepped together.
        return rbStepEngine_Advance(engine, host, time, reached);
    }
    double start = engine->time;
    size_t size = rbStepEngine_GetSnapshotSize(engine);
    RB_ASSERT(time >= start);
    if (engine->beforeSize != size) {
        rbFree(engine->before, engine->beforeSize);
        engine->before = rbAlloc(size);
        engine->beforeSize = size;
    }
    rbStepEngine_TakeSnapshot(engine, engine->before);
    engine->failed = -1;
    rbStatus status = rbStepEngine_Advance(engine, host, time, reached);
    if (status != RB_STATUS_LIMIT) {
        return status;
    }
    int failed = engine->failed;
    for (int k = 0; status == RB_STATUS_LIMIT && k <= TOGETHER_ATTEMPTS; ++k) {
        double target = k < TOGETHER_ATTEMPTS ? fmax(start, fmin(*reached, time)) : start;
        rbStepEngine_RestoreSnapshot(engine, engine->before);
        status = rbStepEngine_Advance(engine, host, target, reached);
        *reached = status == RB_STATUS_LIMIT ? *reached : target;
    }
    engine->failed = failed;
    return RB_STATUS_LIMIT;
}

int rbStepEngine_GetFailedBody(const rbStepEngine* engine)
{
    if (engine->failed < 0 || engine->failed >= engine->mechanisms.count) {
        return -1;
    }
    // Dynamic bodies come first.
    return engine->mechanisms.data[engine->failed].m.bodies[0].index;
}

// ---------------------------------------------------------------------------------------- results

static double rowForce(const rbStepMechanism* mechanism, int block)
{
    return block >= 0 ? mechanism->rows.forces[mechanism->m.blocks[block].firstRow] : 0.0;
}

static double freedomRate(const rbFreedomModel* freedom, const rbMechBody* bodyA,
                          const rbMechBody* bodyB)
{
    rbRow row;
    rbFreedomModel_Rows(freedom, &bodyA->pose, &bodyB->pose, &row);
    return rbDot(row.linear, rbSub(bodyB->velocity, bodyA->velocity)) +
           rbDot(row.angularB, bodyB->angularVelocity) -
           rbDot(row.angularA, bodyA->angularVelocity);
}

// A body as the host sees it now; the world is at rest.
static rbMechBody hostBody(const rbStepEngine* engine, const rbStepHost* host, int index)
{
    rbMechBody body = {.index = index};
    body.pose.orientation = RB_QUAT_IDENTITY;
    body.pose.rotation = rbMatFromQuat(RB_QUAT_IDENTITY);
    if (index >= 0) {
        rbStep_ReadBody(host, &engine->bodies.data[index], index, engine->time, &body);
    }
    return body;
}

rbStepJointResult rbStepEngine_GetJoint(const rbStepEngine* engine, const rbStepHost* host,
                                        int index)
{
    rbStepJointResult result = {.force = RB_VEC3_ZERO};
    const rbStepJointSlot* slot = &engine->joints.data[index];
    if (slot->mechanism < 0) {
        return result;
    }
    const rbStepMechanism* mechanism = &engine->mechanisms.data[slot->mechanism];
    const rbRowBlock* block = &mechanism->m.blocks[slot->block];
    rbMechBody bodyA = hostBody(engine, host, slot->def.bodyA);
    rbMechBody bodyB = hostBody(engine, host, slot->def.bodyB);
    rbRow rows[RB_BLOCK_ROWS_MAX];
    rbVec3 pointA;
    rbVec3 pointB;
    rbVec3 axis;
    rbJointModel_Rows(slot->def.model, &bodyA.pose, &bodyB.pose, rows);
    rbJointModel_Points(slot->def.model, &bodyA.pose, &bodyB.pose, &pointA, &pointB, &axis);
    rbVec3 moment = RB_VEC3_ZERO;
    for (int k = 0; k < block->rowCount; ++k) {
        double force = mechanism->rows.forces[block->firstRow + k];
        result.force = rbAddScaled(result.force, force, rows[k].linear);
        moment = rbAddScaled(moment, force, rows[k].angularA);
    }
    rbVec3 arm = rbSub(pointA, bodyA.pose.position);
    result.torque = rbSub(moment, rbCross(arm, result.force));
    for (int k = 0; k < slot->def.model->freedomCount; ++k) {
        result.freedomPositions[k] = freedomPosition(slot, k, &bodyA.pose, &bodyB.pose);
        result.freedomVelocities[k] = freedomRate(&slot->def.model->freedoms[k], &bodyA, &bodyB);
        // Impulses act on A; a force that raises the position acts on B.
        result.freedomForces[k] = -rowForce(mechanism, slot->freedomBlocks[k]) -
                                  rowForce(mechanism, slot->travelBlocks[k]) -
                                  rowForce(mechanism, slot->speedBlocks[k]);
    }
    for (int k = 0; k < slot->def.limitCount; ++k) {
        const double* impulses = slot->limitImpulses[k];
        result.limitPositions[k] = rbStepLimits_GetPosition(slot, k, &bodyA.pose, &bodyB.pose);
        result.limitForces[k] = (impulses[0] - impulses[1]) / engine->settings.step;
    }
    return result;
}

double rbStepEngine_GetSpread(const rbStepEngine* engine, int index, int* lightBody, int* heavyBody)
{
    const rbStepJointSlot* slot = &engine->joints.data[index];
    double most = 0.0;
    double least = INFINITY;
    *lightBody = -1;
    *heavyBody = -1;
    if (slot->mechanism < 0) {
        return 1.0;
    }
    const rbMechanism* m = &engine->mechanisms.data[slot->mechanism].m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int k = 0; k < 2 * block->rowCount && block->kind == RB_ROW_HOLD; ++k) {
            int body = k % 2 == 0 ? block->bodyA : block->bodyB;
            const rbRow* row = &m->rows[block->firstRow + k / 2];
            double side = k % 2 == 0 ? 1.0 : -1.0;
            double response = rbCoupleRows(&m->masses[body], row, side, row, side);
            if (m->bodies[body].isDynamic && response > most) {
                most = response;
                *lightBody = m->bodies[body].index;
            }
            if (m->bodies[body].isDynamic && response > 0.0 && response < least) {
                least = response;
                *heavyBody = m->bodies[body].index;
            }
        }
    }
    return most > least ? most / least : 1.0;
}

double rbStepEngine_GetNodeGap(const rbStepEngine* engine, int index)
{
    const rbStepJointSlot* slot = &engine->joints.data[index];
    if (slot->mechanism < 0 || slot->def.isVelocityOnly) {
        return 0.0;
    }
    const rbMechanism* m = &engine->mechanisms.data[slot->mechanism].m;
    const rbRowBlock* block = &m->blocks[slot->block];
    double errors[RB_BLOCK_ROWS_MAX];
    double sum = 0.0;
    block->errors(block->data, &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose,
                  errors);
    for (int k = 0; k < block->rowCount; ++k) {
        sum += errors[k] * errors[k];
    }
    return sqrt(sum);
}

double rbStepEngine_GetSpringForce(const rbStepEngine* engine, int index)
{
    const rbStepSpringSlot* slot = &engine->springs.data[index];
    if (slot->mechanism < 0) {
        return 0.0;
    }
    const rbStepMechanism* mechanism = &engine->mechanisms.data[slot->mechanism];
    if (slot->blockCount == 1) {
        return rowForce(mechanism, slot->blocks[0]);
    }
    // Rest length zero: the length of the mean force, along the axes of the world.
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        double force = rowForce(mechanism, slot->blocks[k]);
        square += force * force;
    }
    double damping = slot->blockCount > 3 ? rowForce(mechanism, slot->blocks[3]) : 0.0;
    return sqrt(square) + damping;
}

rbStepWork rbStepEngine_GetWork(const rbStepEngine* engine)
{
    rbStepWork work = engine->workBefore;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        work.load += mechanism->shownWork[RB_WORK_LOAD];
        work.motor += mechanism->shownWork[RB_WORK_MOTOR];
        work.dissipation += mechanism->shownWork[RB_WORK_DISSIPATION];
        work.assembly += mechanism->shownWork[RB_WORK_ASSEMBLY];
    }
    rbStepContacts_AddWork(engine->contacts, &work);
    return work;
}

int64_t rbStep_CountFactorizations(const rbStepEngine* engine)
{
    int64_t count = engine->factorizationsBefore;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        count += mechanism->anchor->factorizations + mechanism->inner->factorizations;
    }
    return count;
}

rbStepStatistics rbStepEngine_GetStatistics(const rbStepEngine* engine)
{
    rbStepStatistics s = engine->statistics;
    s.factorizations = rbStep_CountFactorizations(engine);
    s.accuracyEstimate = engine->estimateBefore;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        s.accuracyEstimate = fmax(s.accuracyEstimate, mechanism->node.estimateSum);
    }
    s.accuracyEstimate = fmax(s.accuracyEstimate, rbStepContacts_GetEstimate(engine->contacts));
    return s;
}
