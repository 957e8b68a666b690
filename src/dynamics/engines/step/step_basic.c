// One basic step: kick, free flight, kick.
//
//   start  half of the forces; springs with the mean of their forces at both ends, found with the
//          look-ahead; the explicit share of damping; impulses that make the rows hold at the end
//   flight the bodies fly freely; nothing else
//   end    half of the forces, springs again, the implicit share of damping, and impulses that give
//          the rows their required rates
//
// Every part is its own mirror image in time, so the error has only even powers of h.
#include "base/math/elementary.h"
#include "dynamics/engines/step/step_contact_state.h"

#include <float.h>
#include <limits.h>
#include <string.h>

// How often the factors may change within a stage because limited rows reach or leave their limits.
#define LIMIT_CHANGES_MAX 60
#define FREE_CHANGES 6
#define SINGLE_CHANGES 24
// Errors below this many roundings of coordinates cannot be corrected.
#define FLOOR_ROUNDINGS 32.0
#define POLISH_ROUNDINGS 8.0
// One more solution than needed: an error of a joint is work against the force it carries, and no
// weight may open joints by a loose tolerance. Capped iterations at looser tolerances go without.
#define POLISH_TOLERANCE 1e-4
// Iterations of a step that look-ahead cannot make.
#define SETTLE_ITERATIONS 40
// Fraction of earlier errors that may remain over a step with capped iterations.
#define LEFTOVER 0.8
// More look-ahead iterations mean that the step is too long for the fastest oscillation of the
// mechanism: mixing would still find impulses, but the steps would be unstable. The smallest parts
// may use more.
#define SHORT_ITERATIONS 10
#define LONG_ITERATIONS 50
// Of a game's steps. With more of them limbs that rotate by half a radian in a step of 1/60 s gain
// energy without bound; with one, dolls on stairs open by 0.9 rad instead of 0.25.
#define QUICK_ITERATIONS 2
// Solutions of velocity-dependent loads.
#define LOAD_ITERATIONS 12
// Damping beyond this fraction of a row's inertia in a step must not overshoot.
#define STIFF_DAMPING 2.0

double rbStep_GetTolerance(const rbStepEngine* engine)
{
    double tolerance = engine->settings.tolerance;
    return engine->settings.order > 2 ? fmin(tolerance, 1e-12) : tolerance;
}

// --------------------------------------------------------------------------------------- forces
// Besides those of rows: loads, paths, motors.

double rbStep_Forces(const rbStepRun* run, double time)
{
    rbStepMechanism* mechanism = run->mechanism;
    double power = 0.0;
    if (!mechanism->traits.hasLoads && mechanism->isForceKnown) {
        return power;
    }
    mechanism->isForceKnown = true;
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        power += rbContactStep_LoadBody(run->host, &mechanism->m.bodies[i], time).power;
    }
    return power;
}

// NULL: none.
static const rbPath* pathOf(const rbStepMechanism* mechanism, int place)
{
    const rbMechBody* body = &mechanism->m.bodies[place];
    bool isMoved = mechanism->traits.hasPaths && !body->isDynamic && body->index >= 0;
    return isMoved ? mechanism->engine->bodies.data[body->index].def.path : NULL;
}

double rbStep_CutAtJump(const rbStepMechanism* mechanism, double h)
{
    double beside = RB_STEP_SNAP * mechanism->engine->settings.step;
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        double steady = INFINITY;
        if (pathOf(mechanism, i) != NULL) {
            (void)rbPath_IsSteady(pathOf(mechanism, i), mechanism->grid.time + beside, &steady);
        }
        h = steady + beside < h - beside ? steady + beside : h;
    }
    return h;
}

void rbStep_PlaceFixed(rbStepMechanism* mechanism, double time, int side)
{
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        const rbPath* path = pathOf(mechanism, i);
        if (path == NULL) {
            continue;
        }
        rbStep_FollowPath(path, time, body, side == 0);
        if (side == 0) {
            double rate = 1.0 / mechanism->m.duration;
            double part = fmin(1.0, (time - path->startTime) * rate);
            rbVec3 way = rbSub(body->ahead.position, body->pose.position);
            body->aheadVelocity = rbScale(rate, way);
            body->aheadAngularVelocity = rbScale(part, body->aheadAngularVelocity);
        } else {
            double beside = RB_STEP_SNAP * mechanism->engine->settings.step;
            double now = fmax(time, mechanism->grid.origin + 4.0 * beside); // no start at the first
            double steady;
            rbTransform pose;
            (void)rbPath_IsSteady(path, now - beside, &steady);
            double away = steady <= 2.0 * beside ? 2.0 * beside : 0.0;
            rbPath_Evaluate(path, time + side * away, &pose, &body->velocity,
                            &body->angularVelocity);
            rbPath_Evaluate(path, time - away, &pose, &body->lentVelocity, &body->lentMomentum);
        }
        if (side <= 0) {
            body->lentVelocity = rbScale(0.5, rbAdd(body->lentVelocity, body->aheadVelocity));
            body->lentMomentum =
                rbScale(0.5, rbAdd(body->lentMomentum, body->aheadAngularVelocity));
        }
    }
}

static void refresh(rbStepMechanism* mechanism)
{
    if (!mechanism->isRefreshed) {
        rbMechanism_Refresh(&mechanism->m);
        mechanism->isRefreshed = true;
    }
}

void rbStep_RunMotors(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    refresh(mechanism);
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        const rbBlockInfo* info = &mechanism->infos[i];
        if (info->role != RB_ROLE_FREEDOM) {
            continue;
        }
        rbStepJointSlot* joint = &mechanism->engine->joints.data[info->owner];
        const rbMotorModel* motor =
            joint->def.motors != NULL ? &joint->def.motors[info->freedom] : NULL;
        if (motor == NULL || !rbMotorType_IsServo(motor->def.type)) {
            continue;
        }
        int row = mechanism->m.blocks[i].firstRow;
        double rate;
        rbMechanism_Rates(&mechanism->m, i, &rate);
        // A trial must not change the memory of the motor.
        rbMotorState memory = joint->motors[info->freedom];
        mechanism->rows.drives[row].force =
            rbMotorModel_Force(motor, &memory, time, h, mechanism->m.startErrors[row], rate);
        if (!run->isTrial) {
            joint->motors[info->freedom] = memory;
        }
    }
}

// Relative velocity along a row of a velocity-only joint. Arm: from B's center to the point whose
// velocity is prescribed; rows at other points of B (hinge-points) also get the contribution of the
// spin there.
static double askedSpeed(const rbStepJointDef* def, const rbRow* row, rbVec3 arm)
{
    rbVec3 angular = rbSub(row->angularB, rbCross(arm, row->linear));
    return rbDot(row->linear, def->linearVelocity) + rbDot(angular, def->angularVelocity);
}

// From B's center to its point of a joint.
static rbVec3 findArm(const rbMechanism* m, const rbRowBlock* block)
{
    const rbRowPose* poseB = &m->bodies[block->bodyB].pose;
    rbVec3 pointA;
    rbVec3 pointB;
    rbVec3 axis;
    rbJointModel_Points(block->data, &m->bodies[block->bodyA].pose, poseB, &pointA, &pointB, &axis);
    return rbSub(pointB, poseB->position);
}

void rbStep_SetSpeeds(rbStepMechanism* mechanism, double timeA, double timeB)
{
    RB_ASSERT(timeB >= timeA);
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        const rbRowBlock* block = &mechanism->m.blocks[i];
        const rbBlockInfo* info = &mechanism->infos[i];
        if (block->kind != RB_ROW_TRAVEL || info->role == RB_ROLE_FRICTION) {
            continue;
        }
        const rbStepJointDef* def = &mechanism->engine->joints.data[info->owner].def;
        double* speeds = &mechanism->m.speeds[block->firstRow];
        if (info->role == RB_ROLE_SPEED) {
            const rbMotorModel* motor = &def->motors[info->freedom];
            speeds[0] =
                0.5 * (rbMotorModel_Target(motor, timeA) + rbMotorModel_Target(motor, timeB));
            continue;
        }
        rbVec3 arm = findArm(&mechanism->m, block);
        for (int k = 0; k < block->rowCount; ++k) {
            speeds[k] = askedSpeed(def, &mechanism->m.rows[block->firstRow + k], arm);
        }
    }
}

// Velocity-only joints measure from the current poses.
static void rezero(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    int next = 0;
    for (int i = 0; i < m->blockCount && next < mechanism->modelCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->data != &mechanism->models[next]) {
            continue;
        }
        const rbRowPose* poseA = &m->bodies[block->bodyA].pose;
        const rbRowPose* poseB = &m->bodies[block->bodyB].pose;
        rbJointModel_Rezero(&mechanism->models[next], poseA, poseB);
        block->errors(block->data, poseA, poseB, &m->startErrors[block->firstRow]);
        block->rows(block->data, poseA, poseB, &m->rows[block->firstRow]);
        next += 1;
    }
}

void rbStep_ContinueErrors(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind == RB_ROW_HOLD) {
            continue;
        }
        double errors[RB_BLOCK_ROWS_MAX];
        block->errors(block->data, &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose,
                      errors);
        for (int k = 0; k < block->rowCount; ++k) {
            double* place = &m->startErrors[block->firstRow + k];
            double change = errors[k] - *place;
            if (((block->angleMask >> k) & 1u) != 0) {
                change = rbWrapAngle(change);
            }
            *place += change;
        }
    }
    // Rows at the end of a step must not depend on the poses at its start.
    rezero(mechanism);
}

// ------------------------------------------------------------------------------------------ rows

// Stages of a step whose impulses are solved for.
typedef enum Stage {
    STAGE_START,    // positions: springs with the mean of both ends, damping with its stiff share
    STAGE_END,      // velocities: only damping is soft
    STAGE_BACKWARD, // positions of rbStep_Settle: springs and damping as they are at the end
} Stage;

// Inverse of the compliance of a spring in a stage of a step of size h.
static double yieldOf(const rbMechanism* m, const rbRowBlock* block, double h, Stage stage)
{
    RB_ASSERT(!(h < 0.0));
    double damping = m->startDamping[block->firstRow];
    return stage == STAGE_START ? h * (0.25 * h * block->stiffness + damping)
           : stage == STAGE_END ? 0.5 * h * block->damping
                                : h * (h * block->stiffness + damping);
}

static void setCompliance(rbStepMechanism* mechanism, double h, Stage stage)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int row = block->firstRow; row < block->firstRow + block->rowCount; ++row) {
            if (block->kind == RB_ROW_SPRING) {
                if (stage == STAGE_BACKWARD) {
                    m->startDamping[row] = block->damping;
                }
                double yield = yieldOf(m, block, h, stage);
                m->compliance[row] = yield > 0.0 ? 1.0 / yield : INFINITY;
            } else {
                // Where no time passes a limited row cannot act.
                bool isLame = stage == STAGE_END && !(h > 0.0) && m->limits[row] < INFINITY;
                bool isHeld = mechanism->rows.limits[row] == RB_LIMIT_FREE && !isLame;
                m->compliance[row] = isHeld ? 0.0 : INFINITY;
            }
        }
    }
}

// Power of constant torques with the current velocities.
static double torquePower(const rbStepRun* run)
{
    const rbStepMechanism* mechanism = run->mechanism;
    double power = 0.0;
    for (int i = 0; mechanism->traits.hasTorques && i < mechanism->dynamicCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        power += rbDot(run->host->motions[body->index].torque,
                       rbMechBody_GetSpin(body, &mechanism->m.masses[i]));
    }
    return power;
}

static void kickBodies(rbStepMechanism* mechanism, double h)
{
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        body->velocity = rbAddScaled(body->velocity, h * body->invMass, body->force);
        body->momentum = rbAddScaled(body->momentum, h, body->torque);
    }
}

// Rates of soft rows before a stage, for the work.
static void noteRates(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind == RB_ROW_HOLD && !mechanism->isOpen) {
            continue;
        }
        double rates[RB_BLOCK_ROWS_MAX];
        rbMechanism_Rates(m, i, rates);
        for (int k = 0; k < block->rowCount; ++k) {
            mechanism->rows.drives[block->firstRow + k].rateBefore = rates[k];
        }
    }
}

// Notes which drives ask for another turn than the one that their joints make by themselves.
static void noteFar(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        int row = m->blocks[i].firstRow;
        double missing = fabs(mechanism->rows.drives[row].rateBefore - m->speeds[row]);
        bool isDrive = m->blocks[i].kind == RB_ROW_TRAVEL && m->limits[row] < INFINITY;
        m->blocks[i].isFar = isDrive && missing * m->duration > 0.5 * RB_PI;
    }
}

// Explicit impulses of half a step: motors, and the explicit share of damping at its start or the
// spring at its end. Stored in totals and, for the work, in impulses of rows that nothing else
// solves for.
static void kickDrives(rbStepMechanism* mechanism, double h, Stage stage)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind != RB_ROW_SPRING) {
            continue;
        }
        int row = block->firstRow;
        rbRowDrive* drive = &mechanism->rows.drives[row];
        double x = -0.5 * h * drive->force;
        if (stage == STAGE_START) {
            // A damper that would stop the row within the step acts with the mean rate of the step
            // instead of the first one: first order, but it neither overshoots nor creeps.
            bool isStiff =
                h * block->damping * rbMechanism_GetResponse(m, block, row) > STIFF_DAMPING;
            m->startDamping[row] = isStiff ? 0.5 * block->damping : 0.0;
            x += isStiff ? 0.0 : 0.5 * h * block->damping * drive->rateBefore;
        } else if (stage == STAGE_END) {
            x += drive->elastic;
        }
        if (x != 0.0) {
            rbMechanism_Apply(m, i, &x);
            mechanism->rows.totals[row] += x;
        }
    }
}

// Which speeds of bodies on paths count for the work of an impulse.
typedef enum PathSpeed {
    PATH_NOW,    // where work is counted by rates
    PATH_KICKED, // the mean of before and after: of rows that hold
    PATH_FLIGHT, // where work is counted by positions: elastic
} PathSpeed;

// Work that bodies on paths do through a row.
static void addPathWork(rbStepMechanism* mechanism, const rbRowBlock* block, int index, double x,
                        PathSpeed speed)
{
    const rbRow* row = &mechanism->m.rows[index];
    for (int k = 0; k < 2; ++k) {
        const rbMechBody* body = &mechanism->m.bodies[k == 0 ? block->bodyA : block->bodyB];
        const rbVec3 v[3] = {body->velocity, body->lentVelocity, body->aheadVelocity};
        const rbVec3 w[3] = {body->angularVelocity, body->lentMomentum, body->aheadAngularVelocity};
        double rate =
            rbDot(row->linear, v[speed]) + rbDot(k == 0 ? row->angularA : row->angularB, w[speed]);
        mechanism->work[RB_WORK_MOTOR] += body->isDynamic ? 0.0 : k == 0 ? -x * rate : x * rate;
    }
}

// Impulse of the damping of a row in a stage.
static double dampingImpulse(const rbStepMechanism* mechanism, const rbRowBlock* block, double h,
                             bool isStart)
{
    const rbMechanism* m = &mechanism->m;
    int row = block->firstRow;
    const rbRowDrive* drive = &mechanism->rows.drives[row];
    if (!isStart) {
        return m->impulses[row];
    }
    return m->startDamping[row] > 0.0 ? m->impulses[row] - drive->elastic
                                      : 0.5 * h * block->damping * drive->rateBefore;
}

// Cause of the work of a row that is held: assembling, friction, or a motor.
static rbWorkCause causeOf(const rbStepMechanism* mechanism, int block)
{
    return mechanism->m.blocks[block].kind == RB_ROW_HOLD     ? RB_WORK_ASSEMBLY
           : mechanism->infos[block].role == RB_ROLE_FRICTION ? RB_WORK_DISSIPATION
                                                              : RB_WORK_MOTOR;
}

// Work of motors, damping and friction in a stage: impulse times the mean of the rates before and
// after it.
static void addWork(rbStepMechanism* mechanism, double h, bool isStart)
{
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        bool isHeld = block->kind == RB_ROW_HOLD && !mechanism->isOpen;
        if (isHeld && !mechanism->traits.hasPaths) {
            continue;
        }
        double rates[RB_BLOCK_ROWS_MAX];
        rbMechanism_Rates(m, i, rates);
        for (int k = 0; k < block->rowCount; ++k) {
            int row = block->firstRow + k;
            const rbRowDrive* drive = &mechanism->rows.drives[row];
            double mean = 0.5 * (drive->rateBefore + rates[k]);
            double x = m->impulses[row];
            if (block->kind == RB_ROW_SPRING) {
                double damping = dampingImpulse(mechanism, block, h, isStart);
                mechanism->work[RB_WORK_MOTOR] += 0.5 * h * drive->force * mean;
                mechanism->work[RB_WORK_DISSIPATION] -= damping * mean;
                x = damping - 0.5 * h * drive->force;
                addPathWork(mechanism, block, row, drive->elastic, PATH_FLIGHT);
            } else if (!isHeld) {
                mechanism->work[causeOf(mechanism, i)] -= x * mean;
            }
            addPathWork(mechanism, block, row, x,
                        block->kind == RB_ROW_HOLD ? PATH_KICKED : PATH_NOW);
        }
    }
}

// Whether look-ahead ends after a few iterations, met or not.
static bool isCut(const rbStepMechanism* mechanism)
{
    return mechanism->engine->settings.iterationsMax > 0 ||
           rbStepContacts_AreQuick(mechanism->engine->contacts);
}

// Moves impulses of half a step to those of the last step as a guess, and of rows at a limit to it.
static void pushRows(rbStepMechanism* mechanism, double h, bool isGuessed)
{
    RB_ASSERT(!(h < 0.0));
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        double change[RB_BLOCK_ROWS_MAX];
        bool isPushed = false;
        for (int k = 0; k < block->rowCount; ++k) {
            int row = block->firstRow + k;
            bool isActive = block->kind != RB_ROW_SPRING || m->compliance[row] < INFINITY;
            double before = m->impulses[row];
            double x = isGuessed && isActive ? 0.5 * h * mechanism->rows.guesses[row] : before;
            rbLimitState state = mechanism->rows.limits[row];
            double most = 0.5 * h * m->limits[row];
            RB_ASSERT(!(m->limits[row] < 0.0));
            m->impulses[row] = state == RB_LIMIT_FREE ? x : state == RB_LIMIT_HIGH ? most : -most;
            change[k] = m->impulses[row] - before;
            isPushed = isPushed || change[k] != 0.0;
        }
        if (isPushed) {
            rbMechanism_Apply(m, i, change);
        }
    }
}

// The first impulses of half a step, before its stage is solved.
static void applyFirst(rbStepMechanism* mechanism, double h, bool isGuessed)
{
    memset(mechanism->m.impulses, 0, (size_t)mechanism->m.rowCount * sizeof(double));
    // Where iterations are capped the last impulses may be anything.
    pushRows(mechanism, h, isGuessed && !isCut(mechanism));
}

// The impulses of the start; share: part of the step over which they act.
static void keepImpulses(rbStepMechanism* mechanism, double h, double share)
{
    RB_ASSERT(h > 0.0 && share > 0.0);
    rbMechanism* m = &mechanism->m;
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int row = block->firstRow; row < block->firstRow + block->rowCount; ++row) {
            mechanism->rows.guesses[row] = m->impulses[row] / (share * h);
            mechanism->rows.totals[row] += m->impulses[row];
        }
        if (block->kind == RB_ROW_SPRING) {
            double end;
            rbMechanism_ErrorsAhead(m, i, &end);
            double start = m->startErrors[block->firstRow] - block->rest;
            mechanism->rows.drives[block->firstRow].elastic =
                share < 1.0 ? 0.25 * h * block->stiffness * (start + end)
                            : h * block->stiffness * end;
        }
    }
}

// Where corrections are capped, existing errors are not corrected in one step: the velocity stage
// would not remove the impulses this needs, and contacts of small steps would answer them.
static void allowLeftover(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    m->leftover = isCut(mechanism) ? LEFTOVER : 0.0;
    for (int i = 0; isCut(mechanism) && i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind == RB_ROW_HOLD) {
            block->errors(block->data, &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose,
                          &m->startErrors[block->firstRow]);
        }
    }
}

typedef rbCorrected CorrectFn(rbCorrector* corrector, rbMechanism* mechanism,
                              const rbCorrection* correction, rbLimitState* limits);

// Solves a stage, with other factors again while limited rows reach or leave their limits. The
// result is that of the last solution, with the iterations of all.
static rbCorrected solveStage(const rbStepRun* run, rbCorrector* corrector,
                              rbCorrection* correction, Stage stage)
{
    static CorrectFn* const solve[] = {[STAGE_START] = rbCorrectPositions,
                                       [STAGE_END] = rbCorrectVelocities,
                                       [STAGE_BACKWARD] = rbSettlePositions};
    rbStepMechanism* mechanism = run->mechanism;
    rbStepStatistics* s = &mechanism->engine->statistics;
    bool isOfRates = stage == STAGE_END;
    rbCorrected corrected;
    int iterations = 0;
    for (int changes = 0; changes <= LIMIT_CHANGES_MAX; ++changes) {
        // rows that leave their limits all together may return all together, forever
        correction->releasesMax = changes < FREE_CHANGES     ? INT_MAX
                                  : changes < SINGLE_CHANGES ? 1
                                                             : 0;
        corrected = solve[stage](corrector, &mechanism->m, correction, mechanism->rows.limits);
        iterations += corrected.iterations;
        if (!run->isTrial) {
            *(isOfRates ? &s->velocityIterations : &s->positionIterations) += corrected.iterations;
            bool isMost = !isOfRates && corrected.iterations > s->iterationsMost;
            s->iterationsMost = isMost ? corrected.iterations : s->iterationsMost;
        }
        if (!corrected.isLimitChanged) {
            break;
        }
        setCompliance(mechanism, correction->h, stage);
        if (stage != STAGE_BACKWARD) { // it factors by itself
            rbCorrector_Factor(corrector, &mechanism->m);
        }
    }
    RB_ASSERT(!(corrected.error < 0.0));
    corrected.iterations = iterations;
    return corrected;
}

// isMet: the rows hold.
static rbCorrected correctPositions(const rbStepRun* run, double h, rbCorrector* corrector)
{
    RB_ASSERT(h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    const rbStepSettings* settings = &mechanism->engine->settings;
    bool isIterative = corrector->solver->cutCount > 0;
    // The residual of look-ahead is divided by h and amplified by the weights of the runs: higher
    // orders continue until rounding stops them.
    double tolerance = rbStep_GetTolerance(mechanism->engine);
    double rounding = DBL_EPSILON * fmax(mechanism->size, 1.0); // angles round as 1 does
    rbCorrection correction = {
        .h = h,
        .tolerance = settings->order > 2 ? fmin(tolerance, POLISH_ROUNDINGS * rounding) : tolerance,
        .floor = fmax(tolerance, FLOOR_ROUNDINGS * rounding),
        .iterationsMax = settings->iterationsMax > 0 ? settings->iterationsMax
                         : isCut(mechanism)          ? QUICK_ITERATIONS
                         : isIterative               ? 10000
                         : run->isSmallest           ? LONG_ITERATIONS
                                                     : SHORT_ITERATIONS,
        .impulseMax = settings->impulseMax,
        .isPolished = tolerance < POLISH_TOLERANCE || !isCut(mechanism),
        .isIterative = isIterative,
    };
    rbCorrected corrected = solveStage(run, corrector, &correction, STAGE_START);
    corrected.isMet =
        isfinite(corrected.error) && (corrected.isMet || corrected.isBounded || run->isForced);
    return corrected;
}

static double largestSpeed(const rbMechanism* m)
{
    double most = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        most = fmax(most, rbLengthSquared(m->bodies[i].velocity));
    }
    return sqrt(most);
}

// Impulses that stop relative motion along the rows; limits may change meanwhile.
static void correctVelocities(const rbStepRun* run, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbCorrector* corrector = mechanism->inner;
    const rbStepSettings* settings = &mechanism->engine->settings;
    bool isIterative = corrector->solver->cutCount > 0;
    double floor = FLOOR_ROUNDINGS * DBL_EPSILON * (1.0 + largestSpeed(&mechanism->m));
    double asked =
        settings->velocityTolerance > 0.0 ? settings->velocityTolerance : settings->tolerance;
    rbCorrection correction = {
        .h = h,
        .tolerance = isIterative ? asked : floor,
        .floor = floor,
        .iterationsMax = !isIterative                  ? 3
                         : settings->iterationsMax > 0 ? settings->iterationsMax
                                                       : 10000,
        .impulseMax = INFINITY,
        .isIterative = isIterative,
    };
    rbCorrected corrected = solveStage(run, corrector, &correction, STAGE_END);
    const rbBlockInfo* worst = &mechanism->infos[corrected.block];
    mechanism->seen.rateError = corrected.error;
    mechanism->seen.rateScale = largestSpeed(&mechanism->m);
    mechanism->seen.rateJoint =
        worst->role == RB_ROLE_SPRING ? mechanism->seen.rateJoint : worst->owner;
    if (!run->isTrial && !corrected.isLimitChanged) {
        double* most = &mechanism->engine->statistics.velocityErrorMax;
        *most = fmax(*most, corrected.error);
    }
}

// Distance from a singular position.
static void notePivots(rbStepMechanism* mechanism, const rbSolver* solver)
{
    int rows = solver->redundantRows;
    int* most = &mechanism->seen.redundantMost;
    int* least = &mechanism->node.redundantLeast;
    mechanism->seen.pivotWorst = fmin(mechanism->seen.pivotWorst, solver->pivotLeast);
    mechanism->node.pivotUsual = fmax(mechanism->node.pivotUsual, solver->pivotLeast);
    *most = rows > *most ? rows : *most;
    *least = rows < *least ? rows : *least;
}

static void stopRates(const rbStepRun* run, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    RB_ASSERT(!(h < 0.0));
    rbStep_Renew(mechanism, h, false);
    if (h > 0.0) {
        notePivots(mechanism, mechanism->inner->solver);
    }
    if (mechanism->engine->settings.hasVelocityCorrection) {
        applyFirst(mechanism, h, false);
        correctVelocities(run, h);
    }
}

void rbStep_StopRates(const rbStepRun* run, double time)
{
    rbStep_ContinueErrors(run->mechanism);
    rbStep_SetSpeeds(run->mechanism, time, time);
    stopRates(run, 0.0);
}

// The end of a step. Loads that depend on velocity are evaluated at the resulting ones, by
// iteration. isShared: contacts act, too, and rows may have got impulses in collisions.
static void pushAtEnd(const rbStepRun* run, double time, double h, bool isShared)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism* m = &mechanism->m;
    double last = INFINITY;
    for (int row = 0; isShared && mechanism->traits.hasLoads && row < m->rowCount; ++row) {
        mechanism->rows.totals[row] += m->impulses[row];
        m->impulses[row] = 0.0;
    }
    if (mechanism->traits.hasLoads) {
        rbStep_Save(mechanism, mechanism->copies.scratch);
    }
    double power = rbStep_Forces(run, time);
    for (int k = 0; k < LOAD_ITERATIONS; ++k) {
        if (k > 0) {
            rbStep_Restore(mechanism, mechanism->copies.scratch);
            refresh(mechanism);
            memset(m->impulses, 0, (isShared ? (size_t)m->rowCount : 0) * sizeof(double));
        }
        kickBodies(mechanism, 0.5 * h);
        kickDrives(mechanism, h, STAGE_END);
        if (isShared) {
            pushRows(mechanism, fmax(h, 0.0), false); // collisions may have brought rows to limits
            correctVelocities(run, fmax(h, 0.0));
        } else {
            stopRates(run, h);
        }
        if (!mechanism->traits.hasLoads) {
            break;
        }
        double change = 0.0;
        for (int i = 0; i < mechanism->dynamicCount; ++i) {
            rbMechBody* body = &m->bodies[i];
            change = fmax(change, rbLength(rbSub(body->aheadVelocity, body->velocity)));
            body->aheadVelocity = body->velocity;
        }
        power = rbStep_Forces(run, time);
        if (k > 0 && (change <= DBL_EPSILON * (1.0 + largestSpeed(m)) || change >= last)) {
            break;
        }
        last = k > 0 ? change : INFINITY;
    }
    mechanism->work[RB_WORK_LOAD] += 0.5 * h * power;
}

static void takeAhead(rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        mechanism->m.bodies[i].pose = mechanism->m.bodies[i].ahead;
    }
}

static void flyToEnd(rbStepMechanism* mechanism, double time)
{
    rbMechanism* m = &mechanism->m;
    takeAhead(mechanism);
    rbStep_PlaceFixed(mechanism, time, -1);
    RB_VALIDATE(rbStepValid_IsMechanism(mechanism));
    rbStep_ContinueErrors(mechanism);
    rbMechanism_Refresh(m);
    mechanism->isRefreshed = true;
}

// The forces of a share of the step, motors, and the explicit share of damping; all of the step:
// instead of that, rows at their limits.
static void pushAtStart(const rbStepRun* run, double time, double h, double share)
{
    rbStepMechanism* mechanism = run->mechanism;
    RB_ASSERT(h > 0.0 && (share == 0.5 || share == 1.0));
    mechanism->m.duration = h;
    rbStep_PlaceFixed(mechanism, time, 1);
    refresh(mechanism);
    double power = rbStep_Forces(run, time);
    mechanism->work[RB_WORK_LOAD] += share * h * power + 0.5 * share * h * torquePower(run);
    rezero(mechanism);
    noteRates(mechanism);
    rbStep_SetSpeeds(mechanism, time, time + h);
    noteFar(mechanism);
    if (share < 1.0) {
        kickDrives(mechanism, h, STAGE_START);
    } else {
        applyFirst(mechanism, 2.0 * h, false);
        kickDrives(mechanism, 2.0 * h, STAGE_BACKWARD);
    }
    kickBodies(mechanism, share * h);
}

static void accountForStart(const rbStepRun* run, double h)
{
    run->mechanism->work[RB_WORK_LOAD] += 0.25 * h * torquePower(run);
    addWork(run->mechanism, h, true);
}

static void accountForEnd(const rbStepRun* run, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    mechanism->work[RB_WORK_LOAD] += 0.25 * h * torquePower(run);
    addWork(mechanism, h, false);
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->rows.totals[row] += mechanism->m.impulses[row];
    }
}

bool rbStep_Basic(const rbStepRun* run, double time, double h, bool isAnchored)
{
    RB_ASSERT(h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism* m = &mechanism->m;
    // Springs and limited rows support only the symmetric scheme.
    bool isMiddle =
        mechanism->engine->settings.scheme == RB_SCHEME_MIDDLE && !mechanism->traits.hasSoft;
    rbCorrector* corrector = isAnchored ? mechanism->anchor : mechanism->inner;
    pushAtStart(run, time, h, 0.5);
    rbStep_PlaceFixed(mechanism, time + h, 0);
    double ahead = h;
    if (isMiddle) { // the impulses act half a step later
        ahead = 0.5 * h;
        rbMechanism_LookAhead(m, ahead);
        flyToEnd(mechanism, time + ahead);
    }
    allowLeftover(mechanism);
    setCompliance(mechanism, ahead, STAGE_START);
    if (mechanism->traits.hasSoft || isMiddle || (isAnchored && !mechanism->isAnchored)) {
        rbCorrector_Factor(corrector, m);
    }
    applyFirst(mechanism, h, true);
    if (!correctPositions(run, ahead, corrector).isMet) {
        return false;
    }
    keepImpulses(mechanism, h, 0.5);
    accountForStart(run, h);
    flyToEnd(mechanism, time + h);
    noteRates(mechanism);
    rbStep_SetSpeeds(mechanism, time + h, time + h);
    mechanism->work[RB_WORK_LOAD] += 0.25 * h * torquePower(run);
    pushAtEnd(run, time + h, h, false);
    accountForEnd(run, h);
    mechanism->engine->statistics.substeps += run->isTrial ? 0 : 1;
    return true;
}

//--------------------------------------------------------------------------------------------------
// A step in parts

void rbStep_ClearTotals(rbStepMechanism* mechanism)
{
    memset(mechanism->work, 0, sizeof mechanism->work);
    memset(mechanism->rows.totals, 0, (size_t)mechanism->m.rowCount * sizeof(double));
}

// Velocities before what acts in a stage.
static void noteStart(rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        mechanism->m.bodies[i].startVelocity = mechanism->m.bodies[i].velocity;
        mechanism->m.bodies[i].startMomentum = mechanism->m.bodies[i].momentum;
    }
}

void rbStep_BeginBasic(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    mechanism->isRefreshed = mechanism->isPushed = false;
    rbStep_ClearTotals(mechanism);
    rbStep_PlaceFixed(mechanism, time, 1);
    rbStep_RunMotors(run, time, h);
    noteStart(mechanism);
    pushAtStart(run, time, h, 0.5);
    allowLeftover(mechanism);
    rbStep_Renew(mechanism, h, true);
    rbStep_PlaceFixed(mechanism, time + h, 0);
    applyFirst(mechanism, h, true);
    (void)correctPositions(run, h, mechanism->inner);
}

void rbStep_Renew(rbStepMechanism* mechanism, double h, bool isStart)
{
    setCompliance(mechanism, h, isStart ? STAGE_START : STAGE_END);
    rbCorrector_Factor(mechanism->inner, &mechanism->m);
}

bool rbStep_SweepPositions(const rbStepRun* run, double h)
{
    return correctPositions(run, h, run->mechanism->inner).iterations > 0;
}

void rbStep_FlyBasic(const rbStepRun* run, double time, double h)
{
    RB_ASSERT(h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism_LookAhead(&mechanism->m, h);
    keepImpulses(mechanism, h, 0.5);
    // Forces do work with the final velocities.
    rbStepContacts_ReturnSpeeds(mechanism->engine->contacts, mechanism);
    accountForStart(run, h);
    flyToEnd(mechanism, time + h);
    rbStep_SetSpeeds(mechanism, time + h, time + h);
    rbStep_Renew(mechanism, h, false);
    memset(mechanism->m.impulses, 0, (size_t)mechanism->m.rowCount * sizeof(double));
}

void rbStep_KickBasic(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (mechanism->isPushed) {
        correctVelocities(run, 0.0);
        return;
    }
    noteRates(mechanism);
    noteStart(mechanism);
    mechanism->work[RB_WORK_LOAD] += 0.25 * h * torquePower(run);
    pushAtEnd(run, time, h, true);
}

void rbStep_KickEarly(const rbStepRun* run, double time, double h, double part)
{
    RB_ASSERT(h > 0.0 && !run->mechanism->isPushed);
    for (int row = 0; row < run->mechanism->m.rowCount; ++row) {
        run->mechanism->rows.drives[row].elastic *= part;
    }
    rbStep_Renew(run->mechanism, fmax(part * h, 0.0), false);
    rbStep_KickBasic(run, time, part * h);
}

void rbStep_CloseEarly(const rbStepRun* run, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    accountForEnd(run, h);
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->m.impulses[row] = mechanism->rows.drives[row].elastic = 0.0;
    }
    mechanism->isPushed = true;
    rbStep_Renew(mechanism, 0.0, false);
    noteRates(mechanism);
}

void rbStep_WakeBasic(const rbStepRun* run, double time, double h)
{
    RB_ASSERT(h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism* m = &mechanism->m;
    mechanism->isRefreshed = mechanism->isPushed = false;
    rbStep_ClearTotals(mechanism);
    m->duration = h;
    rbStep_PlaceFixed(mechanism, time, 1);
    refresh(mechanism);
    rezero(mechanism);
    rbStep_SetSpeeds(mechanism, time, time);
    rbStep_Renew(mechanism, h, false);
    for (int row = 0; row < m->rowCount; ++row) {
        m->impulses[row] = 0.0;
        mechanism->rows.drives[row].elastic = 0.0;
        mechanism->rows.drives[row].force = 0.0;
        mechanism->rows.limits[row] = RB_LIMIT_FREE;
    }
    noteRates(mechanism);
}

double rbStep_SweepRates(const rbStepRun* run, double h)
{
    RB_ASSERT(h > 0.0);
    rbStepMechanism* mechanism = run->mechanism;
    h = mechanism->isPushed ? 0.0 : h;
    const rbCorrection correction = {.h = h};
    double most = 0.0;
    rbMeasureRows(mechanism->inner, &mechanism->m, &correction, true);
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        double rate = fabs(mechanism->inner->residual[row]);
        most = rate <= most ? most : rate;
    }
    correctVelocities(run, h);
    return most;
}

void rbStep_EndBasic(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    RB_ASSERT(h > 0.0 && time > mechanism->grid.time);
    accountForEnd(run, mechanism->isPushed ? 0.0 : h);
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->rows.forces[row] = mechanism->rows.totals[row] / h;
    }
    for (int i = 0; i < RB_WORK_COUNT; ++i) {
        mechanism->node.work[i] += mechanism->work[i];
        mechanism->shownWork[i] = mechanism->node.work[i];
    }
    mechanism->grid.time = time;
    mechanism->isAnchored = false;
    rbStep_FollowFreedoms(mechanism);
    rbStep_CountErrors(mechanism);
}

//--------------------------------------------------------------------------------------------------
// A step that look-ahead cannot make

// Settling solves all conditions together.
static rbCorrector* getSettler(rbStepMechanism* mechanism)
{
    if (mechanism->inner->solver->cutCount == 0) {
        return mechanism->inner;
    }
    if (mechanism->settler == NULL) {
        mechanism->settler = rbCreateCorrector(RB_SOLVER_DIRECT, &mechanism->m);
    }
    return mechanism->settler;
}

// The largest remaining error.
static double settlePositions(const rbStepRun* run, double h, double softness)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbCorrector* settler = getSettler(mechanism);
    RB_ASSERT(settler->solver->cutCount == 0 && mechanism->m.rowCount <= mechanism->copies.size);
    double rounding = DBL_EPSILON * fmax(mechanism->size, 1.0);
    rbCorrection correction = {
        .h = h,
        .tolerance = fmax(rbStep_GetTolerance(mechanism->engine), FLOOR_ROUNDINGS * rounding),
        .iterationsMax = SETTLE_ITERATIONS,
        .impulseMax = INFINITY,
        .isBackward = true,
        .expected = mechanism->copies.scratch,
        .softness = softness,
    };
    for (int row = 0; row < mechanism->m.rowCount; ++row) {
        mechanism->copies.scratch[row] = h * mechanism->rows.guesses[row];
    }
    setCompliance(mechanism, h, STAGE_BACKWARD);
    return solveStage(run, settler, &correction, STAGE_BACKWARD).error;
}

double rbStep_Settle(const rbStepRun* run, double time, double h, double softness)
{
    rbStepMechanism* mechanism = run->mechanism;
    rbMechanism* m = &mechanism->m;
    m->leftover = 0.0;
    pushAtStart(run, time, h, 1.0);
    rbMechanism_LookAhead(m, h);
    takeAhead(mechanism);
    rbStep_PlaceFixed(mechanism, time + h, 0);
    rbStep_PlaceFixed(mechanism, time + h, -1);
    double error = settlePositions(run, h, softness);
    rbMechanism_Refresh(m);
    mechanism->isRefreshed = true;
    keepImpulses(mechanism, h, 1.0);
    accountForStart(run, 2.0 * h);
    rbStep_StopRates(run, time + h);
    mechanism->engine->statistics.substeps += run->isTrial ? 0 : 1;
    return error;
}
