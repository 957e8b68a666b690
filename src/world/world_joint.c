// Joints of a world: creation, queries, changes of targets; drags.
#include "world/world_joint.h"

#include "base/math/angle.h"
#include "world/world_engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void rbInitJointDef(rbJointDef* def, uint32_t abi, size_t size)
{
    if (!rbStampDef(def, RB_KIND_JOINT, sizeof *def, abi, size)) {
        return;
    }
    def->type = RB_JOINT_BALL;
    def->distance = -1.0;
    def->forceMax = INFINITY;
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        def->freedoms[i].motor.forceMax = INFINITY;
        def->limits[i] = (rbLimitDef){.lower = -INFINITY, .upper = INFINITY};
    }
}

// Frame of a body that a definition refers to; false if there is no such body.
static bool findFrame(const rbWorld* world, rbBodyId bodyId, rbTransform* frame)
{
    if (!RB_IS_NULL(bodyId) && !rbBody_IsValid(world, bodyId)) {
        return false; // rbCreateJoint reports it
    }
    *frame = rbWorld_GetFrame(world, (int)bodyId.index1 - 1);
    return true;
}

void rbJointDef_SetAnchor(rbJointDef* def, const rbWorld* world, rbVec3 point)
{
    RB_USE_STANDARD_FLOAT_MODE();
    rbTransform frame;
    if (findFrame(world, def->bodyA, &frame)) {
        def->anchorA = rbInvTransformPoint(frame, point);
    }
    if (findFrame(world, def->bodyB, &frame)) {
        def->anchorB = rbInvTransformPoint(frame, point);
    }
}

void rbJointDef_SetAxis(rbJointDef* def, const rbWorld* world, rbVec3 axis)
{
    RB_USE_STANDARD_FLOAT_MODE();
    rbTransform frame;
    if (findFrame(world, def->bodyA, &frame)) {
        def->axisA = rbInvRotate(frame.q, axis);
    }
    if (findFrame(world, def->bodyB, &frame)) {
        def->axisB = rbInvRotate(frame.q, axis);
    }
}

// ---------------------------------------------------------------------------------------- creation

static int indexOf(const rbWorld* world, rbJointId jointId)
{
    RB_ASSERT(rbJoint_IsValid(world, jointId));
    (void)world;
    return (int)jointId.index1 - 1;
}

// The principal frame of a body in its own frame; of the world itself: none.
static rbTransform principalOf(const rbWorld* world, int index)
{
    return index < 0 ? RB_TRANSFORM_IDENTITY : world->principals.data[index];
}

// The model from the definition, the poses of the bodies at the creation of the joint, and their
// present principal frames.
static rbStatus makeModel(const rbWorld* world, rbJoint* joint, const rbJointDef* def,
                          rbError* error)
{
    int a = joint->bodyA, b = joint->bodyB;
    rbJointSide sideA = {RB_LABEL_BODY(world, a), joint->startA, principalOf(world, a)};
    rbJointSide sideB = {RB_LABEL_BODY(world, b), joint->startB, principalOf(world, b)};
    RB_TRY(rbJointModel_Make(&joint->model, def, &sideA, &sideB, error));
    return rbMakeLimits(&joint->limits, def, &joint->model, &sideA, &sideB, error);
}

static rbStatus validateVelocities(const rbJointDef* def, const char* name, rbError* error)
{
    RB_INVALID_IF(!rbIsFinite3(def->linearVelocity) || !rbIsFinite3(def->angularVelocity), error,
                  "joint \"%s\": velocity (%g, %g, %g) m/s and angular velocity (%g, %g, %g) rad/s "
                  "must be finite",
                  name, def->linearVelocity.x, def->linearVelocity.y, def->linearVelocity.z,
                  def->angularVelocity.x, def->angularVelocity.y, def->angularVelocity.z);
    RB_INVALID_IF((int)def->solver < 0 || (int)def->solver >= rbSolverType_GetCount(), error,
                  "joint \"%s\": there is no solver number %d", name, (int)def->solver);
    RB_INVALID_IF(!(def->forceMax > 0.0), error,
                  "joint \"%s\": forceMax is %g N; it must be positive, or infinite for no limit",
                  name, def->forceMax);
    RB_INVALID_IF(
        !def->isVelocityOnly && (rbLengthSquared(def->linearVelocity) > 0.0 ||
                                 rbLengthSquared(def->angularVelocity) > 0.0),
        error,
        "joint \"%s\" has a velocity but holds positions; make it velocity-only, or use a motor",
        name);
    return RB_STATUS_OK;
}

void rbJoint_ChooseMotor(rbJoint* joint, int freedom, double target)
{
    rbMotorModel* motor = &joint->motors[freedom];
    *motor = joint->definedMotors[freedom];
    if (joint->isTargetSet[freedom]) {
        motor->points = NULL;
        motor->pointCount = 0;
        motor->def.schedule = NULL;
        motor->def.scheduleCount = 0;
        motor->def.target = target;
    }
    joint->def.freedoms[freedom].motor = motor->def;
}

void rbJoint_DefineMotor(rbJoint* joint, int freedom, const rbMotorDef* def)
{
    rbMotorModel* own = &joint->definedMotors[freedom];
    own->def = *def;
    own->def.schedule = own->points;
    own->def.scheduleCount = own->pointCount;
    rbJoint_ChooseMotor(joint, freedom, def->target);
}

// Copies everything that the definition points to.
static void copyDef(rbJoint* joint, const rbJointDef* def)
{
    joint->def = *def;
    if (def->name != NULL) {
        (void)snprintf(joint->name, sizeof joint->name, "%s", def->name);
    }
    joint->def.name = joint->name;
    joint->def.parts = NULL;
    if (def->type == RB_JOINT_PARTS) {
        RB_ASSERT(def->partCount <= RB_JOINT_PARTS_MAX);
        memcpy(joint->parts, def->parts, (size_t)def->partCount * sizeof *def->parts);
        joint->def.parts = joint->parts;
    }
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        rbMotorModel_Make(&joint->definedMotors[i], &def->freedoms[i].motor);
        rbJoint_ChooseMotor(joint, i, 0.0);
    }
}

static void freeJoint(rbJoint* joint)
{
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        rbMotorModel_Free(&joint->definedMotors[i]);
    }
    rbFree(joint, sizeof *joint);
}

bool rbJoint_IsElastic(const rbJoint* joint)
{
    bool isElastic = false;
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        isElastic = isElastic || joint->def.freedoms[i].stiffness > 0.0;
    }
    return isElastic;
}

// Position of a freedom of a joint, angles not unwrapped.
static double rawPosition(const rbWorld* world, const rbJoint* joint, const rbFreedomModel* freedom)
{
    rbRowPose poseA = rbWorld_GetRowPose(world, joint->bodyA);
    rbRowPose poseB = rbWorld_GetRowPose(world, joint->bodyB);
    double position;
    rbFreedomModel_Errors(freedom, &poseA, &poseB, &position);
    return position;
}

// Positions of the limits at the present poses; angles start in the turn of the limits.
static void findLimitPositions(const rbWorld* world, rbJoint* joint)
{
    for (int i = 0; i < joint->limits.count; ++i) {
        const rbLimitModel* limit = &joint->limits.models[i];
        double raw = rawPosition(world, joint, &limit->freedom);
        joint->limitPositions[i] = rbLimitModel_ChooseTurn(limit, raw);
        if (i < joint->model.freedomCount) {
            joint->positions[i] = joint->limitPositions[i];
        }
    }
}

double rbWorld_GetJointEnergy(const rbWorld* world, int index)
{
    const rbJoint* joint = world->joints.data[index];
    double sum = 0.0;
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        const rbFreedomDef* freedom = &joint->def.freedoms[i];
        if (freedom->stiffness > 0.0) {
            double stretch = rbWorld_GetFreedomPosition(world, index, i) - freedom->rest;
            sum += 0.5 * freedom->stiffness * stretch * stretch;
        }
    }
    return sum;
}

// Sets the bodies and the model of a joint.
static rbStatus validateJoint(const rbWorld* world, const rbJointDef* def, rbJoint* joint,
                              rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_JOINT, error));
    rbLink link = {"joint", def->name, def->bodyA, def->bodyB};
    RB_TRY(rbWorld_ValidateLink(world, &link, &joint->bodyA, &joint->bodyB, error));
    RB_TRY(validateVelocities(def, link.name, error));
    joint->startA = rbWorld_GetFrame(world, joint->bodyA);
    joint->startB = rbWorld_GetFrame(world, joint->bodyB);
    return makeModel(world, joint, def, error);
}

rbJointId rbCreateJoint(rbWorld* world, const rbJointDef* def, rbError* error)
{
    RB_ENTER(world);
    rbError reason = {0};
    rbJoint* joint = rbAllocZero(1, sizeof *joint);
    if (validateJoint(world, def, joint, &reason) != RB_STATUS_OK) {
        rbFree(joint, sizeof *joint);
        rbWorld_LogRefusal(world, "a joint", &reason, error);
        return (rbJointId){0, 0};
    }
    rbWorld_NoteChange(world);
    copyDef(joint, def);
    int index = rbIdPool_Take(&world->jointIds);
    rbArray_Put(world->joints, index, joint); // NOLINT(bugprone-sizeof-expression)
    rbNameTable_Insert(&world->linkNames, joint->name, 2 * index);
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        joint->positions[i] = rawPosition(world, joint, &joint->model.freedoms[i]);
    }
    findLimitPositions(world, joint);
    world->jointCount += 1;
    if (rbJoint_IsElastic(joint)) {
        world->elasticCount += 1;
        world->energyReference += rbWorld_GetJointEnergy(world, index);
    }
    return rbWorld_JointIdOf(world, index);
}

static void destroyAt(rbWorld* world, int index)
{
    rbJoint* joint = world->joints.data[index];
    RB_ASSERT(joint != NULL);
    rbWorld_NoteChange(world);
    if (rbJoint_IsElastic(joint)) {
        // The energy of its springs leaves the accounting with it.
        world->elasticCount -= 1;
        world->energyReference -= rbWorld_GetJointEnergy(world, index);
    }
    rbNameTable_Remove(&world->linkNames, joint->name, 2 * index);
    world->joints.data[index] = NULL;
    if (rbWorld_GetStepEngine(world) != NULL) {
        rbStepEngine_SetJoint(world->engine, index, NULL); // another joint may take its slot
    }
    world->jointCount -= 1;
    rbIdPool_Release(&world->jointIds, index);
    freeJoint(joint);
}

void rbDestroyJoint(rbWorld* world, rbJointId jointId)
{
    RB_ENTER(world);
    destroyAt(world, indexOf(world, jointId));
}

void rbWorld_DestroyLinksOf(rbWorld* world, int index)
{
    for (int i = 0; i < world->joints.count; ++i) {
        const rbJoint* joint = world->joints.data[i];
        if (joint != NULL && (joint->bodyA == index || joint->bodyB == index)) {
            destroyAt(world, i);
        }
    }
    for (int i = 0; i < world->springs.count; ++i) {
        const rbSpring* spring = world->springs.data[i];
        if (spring != NULL && (spring->bodyA == index || spring->bodyB == index)) {
            rbWorld_DestroySpringAt(world, i);
        }
    }
}

void rbWorld_RemakeLinksOf(rbWorld* world, int index)
{
    for (int i = 0; i < world->joints.count; ++i) {
        rbJoint* joint = world->joints.data[i];
        if (joint != NULL && (index < 0 || joint->bodyA == index || joint->bodyB == index)) {
            // The definition was validated at the creation of the joint.
            rbStatus status = makeModel(world, joint, &joint->def, NULL);
            RB_ASSERT(status == RB_STATUS_OK);
            (void)status;
        }
    }
    for (int i = 0; i < world->springs.count; ++i) {
        rbSpring* spring = world->springs.data[i];
        if (spring != NULL && (index < 0 || spring->bodyA == index || spring->bodyB == index)) {
            rbSpring_Remake(world, spring);
        }
    }
}

void rbWorld_FreeLinks(rbWorld* world)
{
    for (int i = 0; i < world->joints.count; ++i) {
        if (world->joints.data[i] != NULL) {
            freeJoint(world->joints.data[i]);
        }
    }
    for (int i = 0; i < world->springs.count; ++i) {
        rbFree(world->springs.data[i], sizeof(rbSpring));
    }
    rbArray_FreeAll(world->joints, world->springs); // NOLINT(bugprone-sizeof-expression)
    rbNameTable_Free(&world->linkNames);
    rbIdPool_Free(&world->jointIds);
    rbIdPool_Free(&world->springIds);
}

// ----------------------------------------------------------------------------------------- queries

#define DEFINE_GETTER(type, name, member)                                   \
    RB_DEFINE_GETTER(type, name, (const rbWorld* world, rbJointId jointId), \
                     world->joints.data[indexOf(world, jointId)]->member)
DEFINE_GETTER(const char*, rbJoint_GetName, name)
DEFINE_GETTER(rbJointType, rbJoint_GetType, def.type)
DEFINE_GETTER(rbBodyId, rbJoint_GetBodyA, def.bodyA)
DEFINE_GETTER(rbBodyId, rbJoint_GetBodyB, def.bodyB)
DEFINE_GETTER(void*, rbJoint_GetUserData, def.userData)

void rbJoint_SetUserData(rbWorld* world, rbJointId jointId, void* userData)
{
    world->joints.data[indexOf(world, jointId)]->def.userData = userData;
}

// Of the last advance; zero if the engine is not ready.
static rbStepJointResult getResult(const rbWorld* world, int index)
{
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    rbStepHost host = rbWorld_GetStepHost(world);
    return engine != NULL ? rbStepEngine_GetJoint(engine, &host, index) : (rbStepJointResult){0};
}

double rbWorld_GetFreedomPosition(const rbWorld* world, int index, int freedom)
{
    const rbJoint* joint = world->joints.data[index];
    RB_ASSERT(0 <= freedom && freedom < joint->model.freedomCount);
    double raw = rawPosition(world, joint, &joint->model.freedoms[freedom]);
    return joint->model.freedoms[freedom].kind != RB_FREEDOM_ANGLE
               ? raw
               : rbNearestTurn(raw, rbWorld_GetReadyStepEngine(world) != NULL
                                        ? getResult(world, index).freedomPositions[freedom]
                                        : joint->positions[freedom]);
}

double rbWorld_GetLimitPosition(const rbWorld* world, int index, int freedom)
{
    const rbJoint* joint = world->joints.data[index];
    RB_ASSERT(0 <= freedom && freedom < joint->limits.count);
    if (rbWorld_GetReadyStepEngine(world) != NULL) {
        return getResult(world, index).limitPositions[freedom];
    }
    const rbLimitModel* limit = &joint->limits.models[freedom];
    double raw = rawPosition(world, joint, &limit->freedom);
    return rbLimitModel_IsTurning(limit) ? rbNearestTurn(raw, joint->limitPositions[freedom]) : raw;
}

// Errors of the constraints, in meters and in radians separately.
static void measureErrors(const rbJoint* joint, const rbRowPose* poseA, const rbRowPose* poseB,
                          rbJointState* state)
{
    double errors[RB_BLOCK_ROWS_MAX];
    double squares[2] = {0.0, 0.0};
    rbJointModel_Errors(&joint->model, poseA, poseB, errors);
    for (int i = 0; i < joint->model.rowCount; ++i) {
        squares[joint->model.angleMask >> i & 1u] += errors[i] * errors[i];
    }
    state->positionError = sqrt(squares[0]);
    state->angleError = sqrt(squares[1]);
}

// Between nodes a gap can exceed that of the last node.
#define NODE_GAP_FACTOR 2.0
// Measured again at the same poses, it may be rounded differently.
#define GAP_ROUNDING 1.000001

double rbWorld_GetLeftGap(const rbWorld* world, int index)
{
    const rbJoint* joint = world->joints.data[index];
    if (rbWorld_GetReadyStepEngine(world) == NULL) {
        return joint->gap;
    }
    for (int i = 0; i < world->touched.count; ++i) {
        int body = world->touched.data[i];
        if (body >= 0 && (body == joint->bodyA || body == joint->bodyB)) {
            return NODE_GAP_FACTOR * getResult(world, index).gap;
        }
    }
    rbJointState state = {0};
    rbRowPose poseA = rbWorld_GetRowPose(world, joint->bodyA);
    rbRowPose poseB = rbWorld_GetRowPose(world, joint->bodyB);
    measureErrors(joint, &poseA, &poseB, &state);
    return GAP_ROUNDING * fmax(state.positionError, state.angleError);
}

rbJointState rbJoint_GetState(const rbWorld* world, rbJointId jointId)
{
    // Destroying a body destroys its joints, so the caller may not know that an id is stale.
    if (!rbJoint_IsValid(world, jointId)) {
        return (rbJointState){.freedomCount = 0};
    }
    int index = indexOf(world, jointId);
    const rbJoint* joint = world->joints.data[index];
    rbRowPose poseA = rbWorld_GetRowPose(world, joint->bodyA);
    rbRowPose poseB = rbWorld_GetRowPose(world, joint->bodyB);
    rbJointState state = {.freedomCount = joint->model.freedomCount};
    rbStepJointResult result = getResult(world, index);
    rbJointModel_Points(&joint->model, &poseA, &poseB, &state.pointA, &state.pointB, &state.axis);
    if (!joint->def.isVelocityOnly) {
        measureErrors(joint, &poseA, &poseB, &state);
    }
    state.force = result.force;
    state.torque = result.torque;
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        rbRow row;
        rbFreedomModel_Rows(&joint->model.freedoms[i], &poseA, &poseB, &row);
        state.freedomPositions[i] = rbWorld_GetFreedomPosition(world, index, i);
        state.freedomVelocities[i] = rbWorld_GetRowRate(world, joint->bodyA, joint->bodyB, &row);
        state.freedomForces[i] = result.freedomForces[i];
        if (joint->def.freedoms[i].motor.type != RB_MOTOR_NONE) {
            state.motorTargets[i] = rbMotorModel_Target(&joint->motors[i], world->time);
        }
    }
    state.limitCount = joint->limits.count;
    for (int i = 0; i < joint->limits.count; ++i) {
        state.limitPositions[i] = rbWorld_GetLimitPosition(world, index, i);
        state.limitForces[i] = result.limitForces[i];
    }
    return state;
}

// ----------------------------------------------------------------------------------------- changes

static rbStatus validateFreedomNumber(const rbJoint* joint, const char* name, int freedom,
                                      rbError* error)
{
    if (freedom >= 0 && freedom < joint->model.freedomCount) {
        return RB_STATUS_OK;
    }
    return rbError_Set(error, RB_STATUS_INVALID,
                       "joint \"%s\" has %d freedoms that take a motor; there is no number %d",
                       name, joint->model.freedomCount, freedom);
}

rbStatus rbJoint_SetMotorTarget(rbWorld* world, rbJointId jointId, int freedom, double target,
                                rbError* error)
{
    RB_ENTER(world);
    int index = indexOf(world, jointId);
    rbJoint* joint = world->joints.data[index];
    const char* name = RB_LABEL_JOINT(world, index);
    RB_TRY(validateFreedomNumber(joint, name, freedom, error));
    RB_INVALID_IF(joint->def.freedoms[freedom].motor.type == RB_MOTOR_NONE, error,
                  "joint \"%s\" has no motor on freedom %d; give it one in its definition", name,
                  freedom);
    RB_INVALID_IF(!isfinite(target), error,
                  "joint \"%s\": the target %g of its motor is not finite", name, target);
    joint->isTargetSet[freedom] = true;
    rbJoint_ChooseMotor(joint, freedom, target);
    rbWorld_NoteJoint(world, index);
    return RB_STATUS_OK;
}

rbFreedomDef rbJoint_GetFreedom(const rbWorld* world, rbJointId jointId, int freedom)
{
    const rbJoint* joint = world->joints.data[indexOf(world, jointId)];
    RB_ASSERT(freedom >= 0 && freedom < RB_JOINT_FREEDOMS_MAX);
    return joint->def.freedoms[freedom];
}

bool rbJoint_IsFreedomAngle(const rbWorld* world, rbJointId jointId, int freedom)
{
    const rbJoint* joint = world->joints.data[indexOf(world, jointId)];
    RB_ASSERT(freedom >= 0 && freedom < joint->model.freedomCount);
    return joint->model.freedoms[freedom].kind == RB_FREEDOM_ANGLE;
}

// Changes what acts along a freedom; the energy reference moves with that of its springs.
static void changeFreedom(rbWorld* world, int index, int freedom, const rbFreedomDef* def)
{
    rbJoint* joint = world->joints.data[index];
    world->energyReference -= rbWorld_GetJointEnergy(world, index);
    world->elasticCount -= rbJoint_IsElastic(joint) ? 1 : 0;
    bool isOther = joint->def.freedoms[freedom].motor.type != def->motor.type;
    joint->def.freedoms[freedom] = *def;
    joint->isTargetSet[freedom] = def->motor.scheduleCount == 0;
    rbJoint_DefineMotor(joint, freedom, &def->motor);
    world->energyReference += rbWorld_GetJointEnergy(world, index);
    world->elasticCount += rbJoint_IsElastic(joint) ? 1 : 0;
    if (isOther && rbWorld_GetStepEngine(world) != NULL) {
        rbStepEngine_ResetMotor(world->engine, index, freedom);
    }
}

rbStatus rbJoint_SetFreedom(rbWorld* world, rbJointId jointId, int freedom, const rbFreedomDef* def,
                            rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(def != NULL);
    int index = indexOf(world, jointId);
    rbJoint* joint = world->joints.data[index];
    const char* name = RB_LABEL_JOINT(world, index);
    RB_TRY(validateFreedomNumber(joint, name, freedom, error));
    const rbMotorModel* own = &joint->definedMotors[freedom];
    RB_REFUSE_IF(def->motor.scheduleCount > 0 && (def->motor.schedule != own->points ||
                                                  def->motor.scheduleCount != own->pointCount),
                 RB_STATUS_UNSUPPORTED, error,
                 "joint \"%s\": a schedule of set points belongs to its definition; move the "
                 "target of its motor instead",
                 name);
    rbJoint changed = *joint;
    changed.def.freedoms[freedom] = *def;
    RB_TRY(makeModel(world, &changed, &changed.def, error));
    rbWorldTrial trial = rbWorld_BeginTrial(world);
    rbWorld_NoteChange(world);
    changeFreedom(world, index, freedom, def);
    return rbWorld_EndTrial(world, &trial, error);
}

// rad or m: a joint that rests on its stop exceeds it by less.
#define LIMIT_EXCESS 1e-6

rbLimitDef rbJoint_GetLimit(const rbWorld* world, rbJointId jointId, int freedom)
{
    const rbJoint* joint = world->joints.data[indexOf(world, jointId)];
    RB_ASSERT(freedom >= 0 && freedom < RB_JOINT_FREEDOMS_MAX);
    return joint->def.limits[freedom];
}

rbStatus rbJoint_SetLimit(rbWorld* world, rbJointId jointId, int freedom, const rbLimitDef* limit,
                          rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(limit != NULL);
    int index = indexOf(world, jointId);
    rbJoint* joint = world->joints.data[index];
    const char* name = RB_LABEL_JOINT(world, index);
    RB_INVALID_IF(freedom < 0 || freedom >= RB_JOINT_FREEDOMS_MAX, error,
                  "joint \"%s\" has no limit number %d", name, freedom);
    rbJoint changed = *joint;
    changed.def.limits[freedom] = *limit;
    RB_TRY(makeModel(world, &changed, &changed.def, error));
    bool hadLimits = joint->limits.count > 0;
    rbWorldTrial trial = rbWorld_BeginTrial(world);
    rbWorld_NoteChange(world); // the engine stores the positions first
    memcpy(changed.positions, joint->positions, sizeof changed.positions);
    memcpy(changed.limitPositions, joint->limitPositions, sizeof changed.limitPositions);
    if (!hadLimits && changed.limits.count > 0) {
        findLimitPositions(world, &changed);
        memcpy(changed.limitPositions, joint->positions,
               (size_t)joint->model.freedomCount * sizeof *joint->positions);
        memcpy(changed.positions, joint->positions, sizeof changed.positions);
    }
    const rbLimitModel* made = &changed.limits.models[freedom];
    double position = changed.limitPositions[freedom];
    double excess = fmax(made->lower - position, position - made->upper);
    if (changed.limits.count > 0 && !(excess <= LIMIT_EXCESS)) {
        rbWorld_UndoTrial(world, &trial);
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "joint \"%s\" is at %.6g now, outside of limits %.6g to %.6g; move its bodies first",
            name, position, made->lower, made->upper);
    }
    joint->def.limits[freedom] = *limit;
    joint->limits = changed.limits;
    memcpy(joint->limitPositions, changed.limitPositions, sizeof joint->limitPositions);
    return rbWorld_EndTrial(world, &trial, error);
}

rbStatus rbJoint_SetVelocity(rbWorld* world, rbJointId jointId, rbVec3 linearVelocity,
                             rbVec3 angularVelocity, rbError* error)
{
    RB_ENTER(world);
    int index = indexOf(world, jointId);
    rbJoint* joint = world->joints.data[index];
    const char* name = RB_LABEL_JOINT(world, index);
    RB_INVALID_IF(
        !joint->def.isVelocityOnly, error,
        "joint \"%s\" holds positions; only a velocity-only joint can be given a velocity", name);
    rbJointDef changed = joint->def;
    changed.linearVelocity = linearVelocity;
    changed.angularVelocity = angularVelocity;
    RB_TRY(validateVelocities(&changed, name, error));
    joint->def = changed;
    rbWorld_NoteJoint(world, index);
    return RB_STATUS_OK;
}

// The dragged body is B: constraint rows act at B's point, which moves with it.
rbJointId rbWorld_StartDrag(rbWorld* world, rbBodyId bodyId, rbVec3 worldPoint, double forceMax,
                            rbError* error)
{
    RB_ENTER(world);
    rbJointId null = {0, 0};
    if (RB_IS_NULL(bodyId)) {
        (void)rbError_Set(error, RB_STATUS_INVALID, "the world cannot be dragged; name a body");
        return null;
    }
    rbJointDef def = rbDefaultJointDef();
    def.type = RB_JOINT_BALL;
    def.bodyB = bodyId;
    def.isVelocityOnly = true;
    def.forceMax = forceMax;
    rbJointDef_SetAnchor(&def, world, worldPoint);
    return rbCreateJoint(world, &def, error);
}

rbStatus rbWorld_MoveDrag(rbWorld* world, rbJointId dragId, rbVec3 worldPoint, double duration)
{
    RB_ENTER(world);
    if (!(duration > 0.0) || !isfinite(duration) || !rbIsFinite3(worldPoint)) {
        return RB_STATUS_INVALID;
    }
    const rbJoint* joint = world->joints.data[indexOf(world, dragId)];
    RB_ASSERT(joint->def.isVelocityOnly && joint->bodyA < 0);
    rbTransform frame = rbWorld_GetFrame(world, joint->bodyB);
    rbVec3 way = rbSub(worldPoint, rbTransformPoint(frame, joint->def.anchorB));
    return rbJoint_SetVelocity(world, dragId, rbScale(1.0 / duration, way), RB_VEC3_ZERO, NULL);
}
