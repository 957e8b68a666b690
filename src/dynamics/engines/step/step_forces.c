// Forces on the bodies of a mechanism besides its rows: loads, paths, motors.
#include "base/math/angle.h"
#include "dynamics/engines/step/step_state.h"

static rbMotionState motionState(const rbMechBody* body, const rbRowMass* mass)
{
    rbMotionState state = {.position = body->pose.position,
                           .orientation = body->pose.orientation,
                           .velocity = body->velocity,
                           .spin = rbMulMtV(body->pose.rotation, rbMechBody_GetSpin(body, mass))};
    return state;
}

void rbStep_Forces(const rbStepRun* run, double time, double* power)
{
    rbMechanism* m = &run->mechanism->m;
    *power = 0.0;
    if (!run->mechanism->traits.hasLoads && run->mechanism->isForceKnown) {
        return;
    }
    run->mechanism->isForceKnown = true;
    for (int i = 0; i < m->bodyCount; ++i) {
        rbMechBody* body = &m->bodies[i];
        if (!body->isDynamic) {
            continue;
        }
        const rbMotionBody* motion = &run->host->motions[body->index];
        rbVec3 force = rbScale(body->mass, motion->acceleration);
        rbVec3 torque = motion->torque;
        if (motion->load != NULL) {
            rbLoad load = {.power = 0.0};
            rbMotionState state = motionState(body, &m->masses[i]);
            motion->load(motion, &state, time, &load);
            force = rbAdd(force, load.force);
            torque = rbAdd(torque, load.torque);
            *power += load.power;
        }
        body->force = force;
        body->torque = torque;
    }
}

void rbStep_PlaceFixed(const rbStepRun* run, double time, bool isAhead)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (!mechanism->traits.hasPaths) {
        return;
    }
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        const rbPath* path =
            body->index >= 0 ? run->engine->bodies.data[body->index].def.path : NULL;
        if (body->isDynamic || path == NULL) {
            continue;
        }
        rbTransform pose;
        rbVec3 velocity;
        rbVec3 angularVelocity;
        rbPath_Evaluate(path, time, &pose, &velocity, &angularVelocity);
        rbRowPose* place = isAhead ? &body->ahead : &body->pose;
        place->position = pose.p;
        place->orientation = pose.q;
        place->rotation = rbMatFromQuat(pose.q);
        *(isAhead ? &body->aheadVelocity : &body->velocity) = velocity;
        *(isAhead ? &body->aheadAngularVelocity : &body->angularVelocity) = angularVelocity;
    }
}

void rbStep_RunMotors(const rbStepRun* run, double time, double h)
{
    rbStepMechanism* mechanism = run->mechanism;
    if (!mechanism->isRefreshed) {
        rbMechanism_Refresh(&mechanism->m);
        mechanism->isRefreshed = true;
    }
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        const rbBlockInfo* info = &mechanism->infos[i];
        if (info->role != RB_ROLE_FREEDOM) {
            continue;
        }
        rbStepJointSlot* joint = &run->engine->joints.data[info->owner];
        const rbMotorModel* motor =
            joint->def.motors != NULL ? &joint->def.motors[info->freedom] : NULL;
        if (motor == NULL ||
            (motor->def.type != RB_MOTOR_POSITION && motor->def.type != RB_MOTOR_SPEED)) {
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
    rbVec3 spin = def->angularVelocity;
    bool isTranslation = rbLengthSquared(row->linear) > 0.0;
    if (!isTranslation) {
        return rbDot(row->angularB, spin);
    }
    double speed = rbDot(row->linear, def->linearVelocity);
    bool isTurning = rbLengthSquared(spin) > 0.0;
    return isTurning ? speed + rbDot(rbSub(row->angularB, rbCross(arm, row->linear)), spin) : speed;
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

void rbStep_SetSpeeds(const rbStepRun* run, double timeA, double timeB)
{
    rbStepMechanism* mechanism = run->mechanism;
    for (int i = 0; i < mechanism->m.blockCount; ++i) {
        const rbRowBlock* block = &mechanism->m.blocks[i];
        const rbBlockInfo* info = &mechanism->infos[i];
        if (block->kind != RB_ROW_TRAVEL || info->role == RB_ROLE_FRICTION) {
            continue;
        }
        const rbStepJointDef* def = &run->engine->joints.data[info->owner].def;
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

// Springs damped by more than this fraction of critical damping settle by themselves.
#define SWING_DAMPING 0.1
// Oscillations below this fraction of the size do not count.
#define SWING_LEAST 1e-6

double rbStep_GetSpringSwing(const rbStepMechanism* mechanism)
{
    const rbMechanism* m = &mechanism->m;
    double fastest = 0.0;
    for (int i = 0; mechanism->traits.hasSoft && i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (block->kind != RB_ROW_SPRING || !(block->stiffness > 0.0)) {
            continue;
        }
        const rbRow* row = &m->rows[block->firstRow];
        double response = rbCoupleRows(&m->masses[block->bodyA], row, 1.0, row, 1.0) +
                          rbCoupleRows(&m->masses[block->bodyB], row, -1.0, row, -1.0);
        double swing = sqrt(block->stiffness * response);
        double rate;
        rbMechanism_Rates(m, i, &rate);
        rate = fmax(fabs(rate), fabs(mechanism->rows.drives[block->firstRow].rateBefore));
        bool isCalm = rate <= SWING_LEAST * mechanism->size * swing;
        bool isDamped = block->damping * response > 2.0 * SWING_DAMPING * swing;
        if (!isCalm && !isDamped) {
            fastest = fmax(fastest, swing);
        }
    }
    return fastest;
}

void rbStep_Rezero(rbStepMechanism* mechanism)
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
            if (block->isAngle && ((block->angleMask >> k) & 1u) != 0) {
                change = rbWrapAngle(change);
            }
            *place += change;
        }
    }
    // Rows at the end of a step must not depend on the poses at its start.
    rbStep_Rezero(mechanism);
}
