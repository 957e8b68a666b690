// The step engine: registering bodies and joints, validating the start, results, snapshots.
#include "base/math/elementary.h"
#include "dynamics/engines/step/step_contact.h"
#include "dynamics/solvers/solver.h"

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

// ------------------------------------------------------------------------------------- registering

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
    rbArray_FreeAll(engine->mechanisms, engine->bodies, engine->joints, engine->springs);
    rbArray_Free(engine->before);
    rbFree(engine, sizeof *engine);
}

void rbStepEngine_SetSettings(rbStepEngine* engine, const rbStepSettings* settings)
{
    engine->settings = *settings;
}

void rbStepEngine_SetBody(rbStepEngine* engine, int index, const rbStepBodyDef* def)
{
    RB_ASSERT(index >= 0);
    rbArray_Fill(engine->bodies, index + 1, (rbStepBodySlot){.mechanism = -1});
    rbStepBodySlot* slot = &engine->bodies.data[index];
    slot->isUsed = def != NULL;
    slot->def = def != NULL ? *def : slot->def;
    slot->estimate = def != NULL ? slot->estimate : 0.0;
}

void rbStepEngine_SetJoint(rbStepEngine* engine, int index, const rbStepJointDef* def)
{
    RB_ASSERT(index >= 0 && (def == NULL || def->model != NULL));
    rbArray_Fill(engine->joints, index + 1, (rbStepJointSlot){.mechanism = -1});
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
    RB_ASSERT(index >= 0 && freedom >= 0 && freedom < RB_JOINT_FREEDOMS_MAX);
    if (index < engine->joints.count) {
        memset(&engine->joints.data[index].motors[freedom], 0, sizeof(rbMotorState));
    }
}

void rbStepEngine_SetSpring(rbStepEngine* engine, int index, const rbStepSpringDef* def)
{
    RB_ASSERT(index >= 0 && (def == NULL || def->model != NULL));
    rbArray_Fill(engine->springs, index + 1, (rbStepSpringSlot){.mechanism = -1});
    rbStepSpringSlot* slot = &engine->springs.data[index];
    slot->isUsed = def != NULL;
    slot->def = def != NULL ? *def : slot->def;
}

// ------------------------------------------------------------------------------------- positions

double rbStep_FollowFreedom(const rbFreedomModel* freedom, double last, const rbRowPose* poseA,
                            const rbRowPose* poseB)
{
    double raw;
    rbFreedomModel_Errors(freedom, poseA, poseB, &raw);
    bool isTurning = freedom->kind == RB_FREEDOM_ANGLE || freedom->kind == RB_FREEDOM_TWIST;
    return isTurning ? last + rbWrapAngle(raw - last) : raw;
}

void rbStep_FollowFreedoms(const rbStepMechanism* mechanism)
{
    const rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        if (mechanism->infos[i].role != RB_ROLE_JOINT) {
            continue;
        }
        rbStepJointSlot* slot = &mechanism->engine->joints.data[mechanism->infos[i].owner];
        for (int k = 0; k < slot->def.model->freedomCount; ++k) {
            slot->positions[k] = rbStep_FollowFreedom(
                &slot->def.model->freedoms[k], slot->positions[k],
                &m->bodies[m->blocks[i].bodyA].pose, &m->bodies[m->blocks[i].bodyB].pose);
        }
    }
}

// ----------------------------------------------------------------------------------------- errors

static void findErrors(const rbMechanism* m, const rbRowBlock* block, double* errors)
{
    block->errors(block->data, &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose,
                  errors);
}

// Largest errors of the joints of a mechanism at its current poses. Slots: those of the joints, if
// gaps that a run left are to be ignored; NULL: all count.
static rbStartGap measureErrors(const rbStepMechanism* mechanism, double tolerance,
                                const rbStepJointSlot* slots)
{
    const rbMechanism* m = &mechanism->m;
    rbStartGap gap = {.joint = -1, .other = -1};
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind != RB_ROW_HOLD) {
            continue;
        }
        double errors[RB_BLOCK_ROWS_MAX];
        double squares[2] = {0.0, 0.0};
        findErrors(m, block, errors);
        for (int k = 0; k < block->rowCount; ++k) {
            squares[(block->angleMask >> k) & 1u] += errors[k] * errors[k];
        }
        double position = sqrt(squares[0]), angle = sqrt(squares[1]);
        bool isApart = position > tolerance || angle > tolerance;
        if (isApart && slots != NULL &&
            fmax(position, angle) <= slots[mechanism->infos[i].owner].def.gapAllowed) {
            gap.leftCount += 1;
            continue;
        }
        gap.count += isApart ? 1 : 0;
        if (!(fmax(position, angle) <= fmax(gap.position, gap.angle))) {
            gap.other = gap.joint;
            gap.joint = mechanism->infos[i].owner;
            gap.position = position;
            gap.angle = angle;
        }
    }
    return gap;
}

void rbStep_CountErrors(rbStepMechanism* mechanism)
{
    rbStepStatistics* s = &mechanism->engine->statistics;
    rbStartGap gap = measureErrors(mechanism, mechanism->engine->settings.tolerance, NULL);
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
    const rbStepSettings* settings = &mechanism->engine->settings;
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

// ---------------------------------------------------------------------------------------- analysis
// Before they move: which conditions of the joints of a mechanism are redundant, and the effective
// mass of a driven freedom.
//
// Both use the direct solver, whatever solver the steps use, on the conditions of the joints alone:
// motors, springs and velocity-only joints are disabled. A unit impulse along the row j of a
// freedom changes its rate by
//   j W j' - j W B' (B W B')^-1 B W j'
// while the conditions B hold; the inverse of that is the effective mass.

// A freedom whose response is less than this fraction of its response without joints cannot move:
// the rest is rounding.
#define RESPONSE_LEAST 1e-10

// The direct solver of the conditions of the joints alone, factored.
static rbSolver* factorJoints(const rbMechanism* m)
{
    rbRowSystem system = rbMechanism_GetSystem(m);
    double* compliance = rbAllocZero((size_t)m->rowCount, sizeof *compliance);
    rbStep_HoldJoints(m, compliance);
    system.compliance = compliance;
    rbSolver* solver = rbDirectSolver_Create(&system);
    rbDirectSolver_Factor(solver, &system);
    rbFree(compliance, (size_t)m->rowCount * sizeof *compliance);
    return solver;
}

int rbStepEngine_CountRedundant(const rbStepEngine* engine)
{
    int redundant = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbMechanism* m = &engine->mechanisms.data[i].m;
        if (m->rowCount > 0) {
            rbSolver* solver = factorJoints(m);
            RB_ASSERT(solver->redundantRows >= 0 && solver->redundantRows <= m->rowCount);
            redundant += solver->redundantRows;
            rbDirectSolver_Destroy(solver);
        }
    }
    return redundant;
}

// rowI W rowJ' of two rows of blocks: through the bodies that they share.
static double couple(const rbMechanism* m, const rbRowBlock* blockI, const rbRow* rowI,
                     const rbRowBlock* blockJ, const rbRow* rowJ)
{
    const int bodiesI[2] = {blockI->bodyA, blockI->bodyB};
    const int bodiesJ[2] = {blockJ->bodyA, blockJ->bodyB};
    double sum = 0.0;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const rbRowMass* mass = &m->masses[bodiesI[i]];
            if (bodiesI[i] == bodiesJ[j] && mass->isDynamic) {
                sum += rbCoupleRows(mass, rowI, i == 0 ? 1.0 : -1.0, rowJ, j == 0 ? 1.0 : -1.0);
            }
        }
    }
    return sum;
}

// The mass that a force along a row between the bodies of a block feels while the joints hold.
static double massAlong(const rbMechanism* m, const rbRowBlock* own, rbRow row)
{
    size_t size = ((size_t)m->rowCount + 1) * sizeof(double);
    double* coupling = rbAllocZero((size_t)m->rowCount + 1, sizeof *coupling);
    double* impulses = rbAllocZero((size_t)m->rowCount + 1, sizeof *impulses);
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int k = 0; k < block->rowCount && block->kind == RB_ROW_HOLD; ++k) {
            int index = block->firstRow + k;
            coupling[index] = couple(m, block, &m->rows[index], own, &row);
        }
    }
    rbSolver* solver = factorJoints(m);
    rbDirectSolver_Solve(solver, coupling, impulses);
    double alone = couple(m, own, &row, own, &row);
    double response = alone;
    for (int i = 0; i < m->rowCount; ++i) {
        response -= coupling[i] * impulses[i];
    }
    rbDirectSolver_Destroy(solver);
    rbFree(impulses, size);
    rbFree(coupling, size);
    return response > RESPONSE_LEAST * alone ? 1.0 / response : INFINITY;
}

double rbStepEngine_GetFreedomMass(const rbStepEngine* engine, int joint, int freedom)
{
    RB_ASSERT(joint >= 0 && joint < engine->joints.count);
    const rbStepJointSlot* slot = &engine->joints.data[joint];
    RB_ASSERT(freedom >= 0 && freedom < slot->def.model->freedomCount);
    if (slot->mechanism < 0) {
        return INFINITY;
    }
    const rbMechanism* m = &engine->mechanisms.data[slot->mechanism].m;
    const rbRowBlock* own = &m->blocks[slot->block];
    rbRow row;
    rbFreedomModel_Rows(&slot->def.model->freedoms[freedom], &m->bodies[own->bodyA].pose,
                        &m->bodies[own->bodyB].pose, &row);
    return massAlong(m, own, row);
}

// ------------------------------------------------------------------------------------ springs

// rad per step. A spring is integrated by the midpoint rule, which turns it by 2 atan(w h / 2) in a
// step instead of w h: stable for every w h, but its period is too long by about (w h)^2 / 12, 8 %
// at this limit, and without bound beyond. There the digits of its energy, k x^2 / 2 with x known
// to a rounding of the positions, are lost too.
#define TURN_MOST 1.0
// Springs of which the joints are asked; each costs a factorization of its mechanism.
#define STIFF_MAX 64

static rbStepStiff findStiff(const rbStepEngine* engine)
{
    rbStepStiff stiff = {.spring = -1, .joint = -1, .period = INFINITY};
    double most = TURN_MOST / engine->settings.step;
    int asked = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        const rbMechanism* m = &mechanism->m;
        for (int k = 0; k < m->blockCount; ++k) {
            const rbRowBlock* block = &m->blocks[k];
            rbRow row = m->rows[block->firstRow];
            double alone = block->kind == RB_ROW_SPRING ? couple(m, block, &row, block, &row) : 0.0;
            // Joints only make bodies heavier.
            if (!(block->stiffness * alone > most * most) || asked >= STIFF_MAX) {
                continue;
            }
            ++asked;
            double response = 1.0 / massAlong(m, block, row);
            double rate = sqrt(block->stiffness * response);
            // One that is damped more than critically creeps.
            if (!(rate > most) || block->damping * response >= 2.0 * rate) {
                continue;
            }
            double period = 2.0 * RB_PI / rate;
            bool isSpring = mechanism->infos[k].role == RB_ROLE_SPRING;
            stiff.count += 1;
            if (period < stiff.period) {
                stiff.period = period;
                stiff.spring = isSpring ? mechanism->infos[k].owner : -1;
                stiff.joint = isSpring ? -1 : mechanism->infos[k].owner;
            }
        }
    }
    return stiff;
}

// ------------------------------------------------------------------------------------------ start

static double assembleTolerance(const rbStepMechanism* mechanism)
{
    double asked = mechanism->engine->settings.assembleTolerance;
    return fmax(mechanism->engine->settings.tolerance,
                asked > 0.0 ? asked : 1e-6 * mechanism->size);
}

// Moves the bodies onto the joints step by step, with a new matrix each time; false if they no
// longer approach.
static bool assemble(rbStepMechanism* mechanism, double tolerance)
{
    double last = INFINITY;
    int slowCount = 0;
    for (int k = 0; k < START_PROJECTIONS; ++k) {
        // Large gaps in small portions: a full step overshoots.
        double damping =
            k < START_DAMPED && last > START_NEAR * mechanism->size ? START_DAMPING : 0.0;
        rbCorrected projected = rbStep_Project(mechanism, 1, damping);
        if (projected.isMet || projected.error <= tolerance) {
            // To rounding.
            (void)rbStep_Project(mechanism, START_PROJECTIONS, 0.0);
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
    const rbStepSettings* settings = &mechanism->engine->settings;
    double tolerance = assembleTolerance(mechanism);
    rbStartGap own = measureErrors(mechanism, tolerance, mechanism->engine->joints.data);
    bool isOpen = own.count > 0;
    bool isContinued = !isOpen && own.leftCount > 0;
    bool isGentle = settings->isAssembleAllowed && settings->impulseMax < INFINITY;
    if (isOpen && !settings->isAssembleAllowed) {
        takeWorse(gap, &own);
    } else if (!isContinued && (!isOpen || !isGentle)) {
        rbStep_Save(mechanism, mechanism->copies.start);
        if (!assemble(mechanism, tolerance) && isOpen) {
            // Reports the joint that was open first, and one that it leaves open.
            rbStartGap left = measureErrors(mechanism, tolerance, NULL);
            own.isStuck = true;
            own.other = left.joint != own.joint ? left.joint : left.other;
            takeWorse(gap, &own);
            rbStep_Restore(mechanism, mechanism->copies.start);
        }
    }
    mechanism->isOpen = (isOpen || isContinued) && isGentle;
    rbMechanism_Refresh(&mechanism->m);
    // Methods that let joints oscillate continue with the previous rates.
    bool isSwinging = isContinued && mechanism->method != NULL;
    if (mechanism->isOpen || isSwinging) {
        rbStep_ContinueErrors(mechanism);
    } else {
        rbStep_StopRates(run, mechanism->grid.time);
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
        rbStepRun run = {.mechanism = mechanism, .host = host, .isTrial = true};
        if (gap != NULL) {
            validateStart(&run, &worst);
        }
        rbStep_FollowFreedoms(mechanism);
        s->rowCount += mechanism->m.rowCount;
    }
    if (engine->contacts != NULL) {
        rbStepContacts_Start(engine->contacts, host, time, &worst.overlap);
    }
    engine->stiff = findStiff(engine);
    if (gap == NULL) {
        return RB_STATUS_OK;
    }
    *gap = worst;
    bool isOverlapping = worst.joint < 0 && worst.overlap.count > 0;
    gap->limit = isOverlapping ? none.limit : rbStepLimits_Validate(engine->contacts);
    if (isOverlapping || worst.joint >= 0 || gap->limit.joint >= 0) {
        rbStep_FreeMechanisms(engine);
        return RB_STATUS_INVALID;
    }
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStep_WriteBodies(host, &engine->mechanisms.data[i].m);
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

void rbStepEngine_TouchBody(rbStepEngine* engine, const rbStepHost* host, int index, double time)
{
    if (!rbStepEngine_Owns(engine, index)) {
        return;
    }
    if (engine->contacts != NULL) {
        rbStepContacts_Touch(engine->contacts, host, index, time);
        return;
    }
    rbStepMechanism* mechanism = &engine->mechanisms.data[engine->bodies.data[index].mechanism];
    rbMechanism* m = &mechanism->m;
    rbStepRun run = {.mechanism = mechanism, .host = host};
    rbStep_MakeNode(&run, time);
    // the work up to now is that of what acted then
    memcpy(mechanism->node.work, mechanism->shownWork, sizeof mechanism->shownWork);
    run.isTrial = true;
    for (int i = 0; i < m->bodyCount; ++i) {
        if (m->bodies[i].index >= 0) {
            rbStep_ReadBody(host, &engine->bodies.data[m->bodies[i].index], m->bodies[i].index,
                            time, &m->bodies[i]);
        }
    }
    mechanism->grid = (rbStepGrid){.time = time, .origin = time, .index = 1};
    mechanism->isAnchored = false;
    mechanism->isForceKnown = false;
    rbMechanism_Refresh(m);
    // A state that opens joints is projected back onto them.
    rbStartGap gap = measureErrors(mechanism, engine->settings.tolerance, NULL);
    if (gap.count > 0 && !mechanism->isOpen) {
        (void)assemble(run.mechanism, engine->settings.tolerance);
    }
    m->duration = 0.0;
    rbStep_StopRates(&run, time);
    mechanism->isRefreshed = true;
    rbStep_WriteBodies(host, m);
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

rbStatus rbStepEngine_Advance(rbStepEngine* engine, const rbStepHost* host, double time,
                              double* reached)
{
    if (engine->contacts != NULL) {
        return rbStepContacts_Advance(engine->contacts, host, time, reached);
    }
    double start = engine->time;
    RB_ASSERT(time >= start);
    rbStepEngine_Keep(engine, &engine->before);
    engine->failed = -1;
    rbStatus status = rbStep_Advance(engine, host, time, reached);
    if (status != RB_STATUS_LIMIT) {
        return status;
    }
    int failed = engine->failed;
    for (int k = 0; status == RB_STATUS_LIMIT && k <= TOGETHER_ATTEMPTS; ++k) {
        double target = k < TOGETHER_ATTEMPTS ? fmax(start, fmin(*reached, time)) : start;
        rbStepEngine_Recall(engine, &engine->before);
        status = rbStep_Advance(engine, host, target, reached);
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
    return mechanism->rows.forces[mechanism->m.blocks[block].firstRow];
}

// Of the rows of a freedom of a joint, whose blocks follow that of its conditions.
static double sumForces(const rbStepMechanism* mechanism, int block, int freedom)
{
    double sum = 0.0;
    for (int i = block + 1;
         i < mechanism->m.blockCount && mechanism->infos[i].role >= RB_ROLE_FREEDOM; ++i) {
        sum += mechanism->infos[i].freedom == freedom ? rowForce(mechanism, i) : 0.0;
    }
    return sum;
}

// m and rad, of a block at the node.
static double nodeGap(const rbMechanism* m, const rbRowBlock* block)
{
    double errors[RB_BLOCK_ROWS_MAX];
    double sum = 0.0;
    findErrors(m, block, errors);
    for (int k = 0; k < block->rowCount; ++k) {
        sum += errors[k] * errors[k];
    }
    return sqrt(sum);
}

rbStepJointResult rbStepEngine_GetJoint(const rbStepEngine* engine, const rbStepHost* host,
                                        int index)
{
    RB_ASSERT(index >= 0 && index < engine->joints.count);
    rbStepJointResult result = {.force = RB_VEC3_ZERO};
    const rbStepJointSlot* slot = &engine->joints.data[index];
    if (slot->mechanism < 0) {
        return result;
    }
    const rbStepMechanism* mechanism = &engine->mechanisms.data[slot->mechanism];
    const rbRowBlock* block = &mechanism->m.blocks[slot->block];
    rbMechBody bodyA = rbStep_MakeBody(engine, host, slot->def.bodyA, engine->time);
    rbMechBody bodyB = rbStep_MakeBody(engine, host, slot->def.bodyB, engine->time);
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
    result.gap = slot->def.isVelocityOnly ? 0.0 : nodeGap(&mechanism->m, block);
    result.torque = rbSub(moment, rbCross(rbSub(pointA, bodyA.pose.position), result.force));
    for (int k = 0; k < slot->def.model->freedomCount; ++k) {
        const rbFreedomModel* freedom = &slot->def.model->freedoms[k];
        result.freedomPositions[k] =
            rbStep_FollowFreedom(freedom, slot->positions[k], &bodyA.pose, &bodyB.pose);
        // Impulses act on A; a force that raises the position acts on B.
        result.freedomForces[k] = -sumForces(mechanism, slot->block, k);
    }
    for (int k = 0; k < slot->def.limitCount; ++k) {
        const double* impulses = slot->limitImpulses[k];
        result.limitPositions[k] = rbStep_FollowFreedom(
            &slot->def.limits[k].freedom, slot->limitPositions[k], &bodyA.pose, &bodyB.pose);
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

double rbStepEngine_GetSpringForce(const rbStepEngine* engine, int index)
{
    RB_ASSERT(index >= 0 && index < engine->springs.count);
    const rbStepSpringSlot* slot = &engine->springs.data[index];
    if (slot->mechanism < 0) {
        return 0.0;
    }
    const rbStepMechanism* mechanism = &engine->mechanisms.data[slot->mechanism];
    if (slot->blockCount == 1) {
        return rowForce(mechanism, slot->block);
    }
    // Rest length zero: the length of the mean force, along the axes of the world.
    double square = 0.0;
    for (int k = 0; k < 3; ++k) {
        double force = rowForce(mechanism, slot->block + k);
        square += force * force;
    }
    double damping = slot->blockCount > 3 ? rowForce(mechanism, slot->block + 3) : 0.0;
    return sqrt(square) + damping;
}

rbStepWork rbStepEngine_GetWork(const rbStepEngine* engine)
{
    rbStepWork work = engine->workBefore;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        rbStep_AddWork(&engine->mechanisms.data[i], &work);
    }
    rbStepContacts_AddWork(engine->contacts, &work);
    return work;
}

// So far, including mechanisms that no longer exist.
static int64_t countFactorizations(const rbStepEngine* engine)
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
    s.factorizations = countFactorizations(engine);
    s.accuracyEstimate = engine->estimateBefore;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        s.accuracyEstimate = fmax(s.accuracyEstimate, mechanism->node.estimateSum);
    }
    s.accuracyEstimate = fmax(s.accuracyEstimate, rbStepContacts_GetEstimate(engine->contacts));
    return s;
}

rbStepStiff rbStepEngine_GetStiff(const rbStepEngine* engine)
{
    return engine->stiff;
}

// --------------------------------------------------------------------------------------- snapshots
// The changing state, as bytes.

// The numbers of the node, then the state.
static void moveMechanism(rbStepMechanism* mechanism, rbByteStream* stream)
{
    RB_MOVE(stream, mechanism->grid);
    RB_MOVE(stream, mechanism->chosen);
    mechanism->accurate = 0.0;
    RB_MOVE(stream, mechanism->node);
    RB_MOVE(stream, mechanism->shownWork);
    RB_MOVE(stream, mechanism->seen.estimate);
    RB_MOVE(stream, mechanism->isOpen);
    RB_MOVE(stream, mechanism->anchor->solver->redundantRows); // of the last step, for reports
    rbStep_Move(mechanism, stream);
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbByteStream_CheckFinite(stream, &mechanism->m.bodies[i], offsetof(rbMechBody, ahead));
    }
    size_t size = (size_t)mechanism->m.rowCount * sizeof(double);
    rbByteStream_Move(stream, mechanism->rows.forces, size);
    rbByteStream_Move(stream, mechanism->rows.reactions, size);
    mechanism->isAnchored = mechanism->isAnchored && !stream->isLoading;
}

void rbStepEngine_Move(rbStepEngine* engine, rbByteStream* stream)
{
    int64_t factorizations = countFactorizations(engine); // in total
    RB_MOVE(stream, engine->time);
    RB_MOVE(stream, engine->statistics);
    RB_MOVE(stream, engine->workBefore);
    RB_MOVE(stream, factorizations);
    rbByteStream_Check(stream, factorizations >= 0);
    RB_MOVE(stream, engine->estimateBefore);
    if (stream->isLoading) {
        // The mechanisms continue counting from their values.
        engine->factorizationsBefore += factorizations - countFactorizations(engine);
    }
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        moveMechanism(&engine->mechanisms.data[i], stream);
    }
    for (int i = 0; i < engine->joints.count; ++i) {
        rbStepJointSlot* slot = &engine->joints.data[i];
        RB_MOVE(stream, slot->positions);
        RB_MOVE(stream, slot->limitPositions);
        RB_MOVE(stream, slot->limitImpulses);
        RB_MOVE(stream, slot->motors);
    }
    rbStepContacts_Move(engine->contacts, stream);
}

void rbStepEngine_Keep(rbStepEngine* engine, rbStepBytes* state)
{
    rbByteStream counting = {0};
    rbStepEngine_Move(engine, &counting);
    rbArray_Reserve(*state, (int)counting.size);
    rbByteStream saving = {.bytes = state->data};
    rbStepEngine_Move(engine, &saving);
    RB_ASSERT(saving.size == counting.size);
}

void rbStepEngine_Recall(rbStepEngine* engine, const rbStepBytes* state)
{
    RB_ASSERT(state->data != NULL);
    rbByteStream loading = {.bytes = state->data, .isLoading = true};
    rbStepEngine_Move(engine, &loading);
}
