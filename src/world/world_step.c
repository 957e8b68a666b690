// The step engine of a world: registering bodies, joints and springs, starting it, and advancing
// it.
#include "dynamics/solvers/step_method.h"
#include "world/world_engine.h"
#include "world/world_joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------ registration

#define DEFINE_GETTER(type, name, value) RB_DEFINE_GETTER(type, name, (const rbWorld* world), value)
DEFINE_GETTER(rbStepEngine*, rbWorld_GetStepEngine,
              world->def.engine == RB_ENGINE_STEP ? world->engine : NULL)
DEFINE_GETTER(const rbStepEngine*, rbWorld_GetReadyStepEngine,
              world->isEngineReady ? rbWorld_GetStepEngine(world) : NULL)
DEFINE_GETTER(rbStepHost, rbWorld_GetStepHost,
              ((rbStepHost){.motions = world->motions.data, .states = world->states.data}))

static void registerJoint(const rbWorld* world, rbStepEngine* engine, int index)
{
    const rbJoint* joint = world->joints.data[index];
    if (joint == NULL) {
        rbStepEngine_SetJoint(engine, index, NULL);
        return;
    }
    rbStepJointDef def = {.bodyA = joint->bodyA,
                          .bodyB = joint->bodyB,
                          .model = &joint->model,
                          .motors = joint->motors,
                          .isVelocityOnly = joint->def.isVelocityOnly,
                          .linearVelocity = joint->def.linearVelocity,
                          .angularVelocity = joint->def.angularVelocity,
                          .forceMax = joint->def.forceMax,
                          .solver = joint->def.solver,
                          .limits = joint->limits.models,
                          .limitCount = joint->limits.count,
                          .gapAllowed = joint->gap};
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX; ++i) {
        def.freedoms[i] = joint->def.freedoms[i];
        def.freedomPositions[i] = joint->positions[i];
        def.limitPositions[i] = joint->limitPositions[i];
    }
    rbStepEngine_SetJoint(engine, index, &def);
}

static void registerSpring(const rbWorld* world, rbStepEngine* engine, int index)
{
    const rbSpring* spring = world->springs.data[index];
    if (spring == NULL) {
        rbStepEngine_SetSpring(engine, index, NULL);
        return;
    }
    rbStepSpringDef def = {.bodyA = spring->bodyA,
                           .bodyB = spring->bodyB,
                           .model = &spring->model,
                           .restLength = spring->def.restLength,
                           .stiffness = spring->def.stiffness,
                           .damping = spring->def.damping};
    rbStepEngine_SetSpring(engine, index, &def);
}

// Registers everything except one joint; -1: no exception.
static void registerAll(const rbWorld* world, rbStepEngine* engine, int without)
{
    for (int i = 0; i < world->bodies.count; ++i) {
        const rbBody* body = &world->bodies.data[i];
        rbStepBodyDef def = {
            .isDynamic = body->hasMass, .path = body->path, .radius = body->radius};
        rbStepEngine_SetBody(engine, i, rbWorld_IsBodyAlive(world, i) ? &def : NULL);
    }
    for (int i = 0; i < world->joints.count; ++i) {
        if (i != without) {
            registerJoint(world, engine, i);
        }
    }
    for (int i = 0; i < world->springs.count; ++i) {
        registerSpring(world, engine, i);
    }
}

// ---------------------------------------------------------------------------------------- starting

// The gap of a joint, for messages.
static void writeGap(char text[80], double position, double angle)
{
    if (angle > 0.0 && position > 0.0) {
        (void)snprintf(text, 80, "%.6g m and %.6g rad", position, angle);
    } else if (angle > 0.0) {
        (void)snprintf(text, 80, "%.6g rad", angle);
    } else {
        (void)snprintf(text, 80, "%.6g m", position);
    }
}

// Whether all joints can hold when one is left out. Does not change the world.
static bool holdsWithout(const rbWorld* world, int joint)
{
    rbStepSettings settings = world->def.step;
    settings.isAssembleAllowed = true;
    rbStepEngine* engine = rbCreateStepEngine(&settings);
    registerAll(world, engine, joint);
    size_t size = (size_t)world->states.count * sizeof *world->states.data;
    rbMotionState* states = rbAlloc(size);
    memcpy(states, world->states.data, size);
    rbStepHost host = rbWorld_GetStepHost(world);
    host.states = states;
    rbStartGap gap = {.joint = -1, .other = -1};
    rbStatus status = rbStepEngine_Start(engine, &host, world->time, &gap, NULL);
    rbFree(states, size);
    rbDestroyStepEngine(engine);
    return status == RB_STATUS_OK;
}

static bool isNeighbor(const rbJoint* a, const rbJoint* b)
{
    bool isAtA = b->bodyA >= 0 && (b->bodyA == a->bodyA || b->bodyA == a->bodyB);
    bool isAtB = b->bodyB >= 0 && (b->bodyB == a->bodyA || b->bodyB == a->bodyB);
    return isAtA || isAtB;
}

// The joint that conflicts with one that cannot hold: without it the others can. Joints at the same
// bodies are tried first, and only this many: the result is only for a message.
#define OPPONENTS_MAX 64

static int findOpponent(const rbWorld* world, int joint)
{
    const rbJoint* own = world->joints.data[joint];
    int tried = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < world->joints.count && tried < OPPONENTS_MAX; ++i) {
            const rbJoint* other = world->joints.data[i];
            if (other == NULL || i == joint || isNeighbor(own, other) != (pass == 0)) {
                continue;
            }
            tried += 1;
            if (holdsWithout(world, i)) {
                return i;
            }
        }
    }
    return -1;
}

static rbStatus nameGap(const rbWorld* world, const rbStartGap* gap, rbError* error)
{
    char gapText[80];
    char others[80] = "";
    const rbJoint* joint = world->joints.data[gap->joint];
    const char* name = RB_LABEL_JOINT(world, gap->joint);
    const char* a = RB_LABEL_BODY(world, joint->bodyA);
    const char* b = RB_LABEL_BODY(world, joint->bodyB);
    writeGap(gapText, gap->position, gap->angle);
    int other = gap->isStuck && gap->other < 0 ? findOpponent(world, gap->joint) : gap->other;
    RB_INVALID_IF(gap->isStuck && other >= 0, error,
                  "joint \"%s\" between \"%s\" and \"%s\" is open by %s at the start and cannot be "
                  "closed: it and joint \"%s\" contradict each other; remove one of them, or "
                  "change its anchors or axes",
                  name, a, b, gapText, RB_LABEL_JOINT(world, other));
    RB_INVALID_IF(
        gap->isStuck, error,
        "joint \"%s\" between \"%s\" and \"%s\" is open by %s at the start and cannot be closed: "
        "it contradicts the other joints; remove it, or change its anchors or axes",
        name, a, b, gapText);
    if (gap->count > 1) {
        (void)snprintf(others, sizeof others, " (%d more joints are open)", gap->count - 1);
    }
    return rbError_Set(
        error, RB_STATUS_INVALID,
        "joint \"%s\" between \"%s\" and \"%s\" is open by %s at the start%s; move the bodies "
        "together, or let them be assembled (in a scene \"step\": {\"assemble\": true})",
        name, a, b, gapText, others);
}

// Total energy, to measure the effect of assembly, and of looking between nodes.
static double sumEnergy(void* context)
{
    const rbWorld* world = context;
    double sum = rbWorld_GetElasticEnergy(world, RB_ALL_BODIES);
    for (int i = 0; i < world->bodies.count; ++i) {
        sum += rbWorld_BodyEnergy(world, i, NULL);
    }
    return sum;
}

// Bodies that the engine has stopped moving continue in free flight from where they are.
static void takeOwnership(rbWorld* world)
{
    rbArray_Reserve(world->owned, world->bodies.count);
    while (world->owned.count < world->bodies.count) {
        world->owned.data[world->owned.count++] = 0;
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        bool isOwned = rbWorld_IsBodyAlive(world, i) && rbStepEngine_Owns(world->engine, i);
        bool isLetGo = world->owned.data[i] != 0 && !isOwned;
        world->owned.data[i] = isOwned ? 1 : 0;
        if (isLetGo && world->bodies.data[i].hasMass) {
            rbWorld_StartFlight(world, i);
        }
    }
}

// Joint limits are contacts: they need contacts in the engine and compatible step settings.
static rbStatus prepareLimits(rbWorld* world, const rbContactSettings* contact, rbError* error)
{
    const rbStepSettings* step = &world->def.step;
    int index = 0;
    while (index < world->joints.count &&
           (world->joints.data[index] == NULL || world->joints.data[index]->limits.count == 0)) {
        index += 1;
    }
    if (index == world->joints.count) {
        return RB_STATUS_OK;
    }
    const char* name = RB_LABEL_JOINT(world, index);
    RB_REFUSE_IF(step->order != 2, RB_STATUS_UNSUPPORTED, error,
                 "joint \"%s\" has limits, and step.order is %d; with limits it must be 2, since "
                 "stops make velocities jump",
                 name, step->order);
    RB_REFUSE_IF(
        step->method != RB_METHOD_IMPULSES, RB_STATUS_UNSUPPORTED, error,
        "joint \"%s\" has limits, and step.method is \"%s\"; with limits it must be \"impulses\"",
        name, rbStepMethod_Name(step->method));
    rbStepEngine_NeedLimits(world->engine, contact);
    return RB_STATUS_OK;
}

// A controller that is sampled once per step makes errors that error control does not see.
static rbStatus checkMotors(const rbWorld* world, rbError* error)
{
    for (int i = 0; world->def.step.errorMax > 0.0 && i < world->joints.count; ++i) {
        const rbJoint* joint = world->joints.data[i];
        for (int k = 0; joint != NULL && k < RB_JOINT_FREEDOMS_MAX; ++k) {
            rbMotorType type = joint->def.freedoms[k].motor.type;
            RB_REFUSE_IF(
                rbMotorType_IsServo(type), RB_STATUS_UNSUPPORTED, error,
                "joint \"%s\" has a motor of type \"%s\", and step.accuracy is \"exact\"; this "
                "motor is sampled once per step, whatever its size: use \"engineering\" with the "
                "step of the controller, or a motor of type \"%s\"",
                RB_LABEL_JOINT(world, i), rbMotorType_Name(type),
                rbMotorType_Name(RB_MOTOR_VELOCITY));
        }
    }
    return RB_STATUS_OK;
}

// A joint that begins outside of its limits.
static rbStatus nameLimit(const rbWorld* world, const rbStartLimit* limit, rbError* error)
{
    const rbJoint* joint = world->joints.data[limit->joint];
    const rbLimitModel* model = &joint->limits.models[limit->freedom];
    const char* unit = model->freedom.kind == RB_FREEDOM_TRAVEL ? "m" : "rad";
    return rbError_Set(error, RB_STATUS_INVALID,
                       "joint \"%s\" is at %.6g %s at the start, outside of its limits, %.6g to "
                       "%.6g %s; move its bodies or its limits",
                       RB_LABEL_JOINT(world, limit->joint), limit->position, unit, model->lower,
                       model->upper, unit);
}

static rbStatus registerBodies(rbWorld* world, rbError* error)
{
    rbContactSettings contact;
    RB_TRY(rbWorld_ListSensors(world, error));
    RB_TRY(rbWorld_PrepareContacts(world, &contact, error));
    if (world->engine == NULL) {
        world->engine = rbCreateStepEngine(&world->def.step);
        rbStepEngine_SetContacts(world->engine, &contact);
    } else {
        rbStepEngine_SetSettings(world->engine, &world->def.step);
        if (world->areContactsOther || world->hasContacts != contact.isEnabled) {
            rbStepEngine_ChangeContacts(world->engine, &contact);
        }
    }
    world->areContactsOther = false;
    world->hasContacts = contact.isEnabled;
    registerAll(world, world->engine, -1);
    RB_TRY(prepareLimits(world, &contact, error));
    RB_TRY(checkMotors(world, error));
    return rbWorld_RegisterContacts(world, error);
}

static void finishStart(rbWorld* world)
{
    takeOwnership(world);
    world->isEngineReady = true;
    world->touched.count = 0;
    rbWorld_ReserveContacts(world);
}

static rbStatus startEngine(rbWorld* world, rbError* error)
{
    RB_TRY(registerBodies(world, error));
    double before = sumEnergy(world);
    rbStepHost host = rbWorld_GetStepHost(world);
    rbStartGap gap = {.joint = -1, .other = -1, .limit = {.joint = -1}};
    rbStatus status = rbStepEngine_Start(world->engine, &host, world->time, &gap, error);
    if (status != RB_STATUS_OK && gap.joint >= 0) {
        return nameGap(world, &gap, error);
    }
    if (status != RB_STATUS_OK && gap.overlap.count > 0) {
        return rbWorld_NameOverlap(world, &gap.overlap, "contact", error);
    }
    if (status != RB_STATUS_OK) {
        return gap.limit.joint >= 0 ? nameLimit(world, &gap.limit, error) : status;
    }
    world->assembleWork += sumEnergy(world) - before;
    finishStart(world);
    return RB_STATUS_OK;
}

// Saves for the next start what only the engine knows: unwrapped angles, and the gaps that the run
// has left in joints.
static void leaveEngine(rbWorld* world)
{
    RB_EACH_LINK(Joint, joint, world) {
        for (int f = 0; f < joint->model.freedomCount; ++f) {
            joint->positions[f] = rbWorld_GetFreedomPosition(world, joint, f);
        }
        for (int f = 0; f < joint->limits.count; ++f) {
            joint->limitPositions[f] = rbWorld_GetLimitPosition(world, joint, f);
        }
        joint->gap = rbWorld_GetLeftGap(world, joint);
    }
}

static void destroyEngine(rbWorld* world)
{
    rbDestroyStepEngine(world->engine);
    rbWorld_FreeMerged(world);
    world->engine = NULL;
}

// --------------------------------------------------------------------------------------- advancing

// Registers what users changed since the last advance. The engine makes velocities consistent with
// the joints at once, which does work: on bodies that were set or pushed against joints, or through
// drags and motors whose speed was changed.
static void registerTouched(rbWorld* world, const rbStepHost* host)
{
    if (world->touched.count == 0) {
        return;
    }
    double before = sumEnergy(world);
    for (int i = 0; i < world->touched.count; ++i) {
        int what = world->touched.data[i];
        if (what >= 0 && rbStepEngine_Owns(world->engine, what)) {
            rbStepEngine_TouchBody(world->engine, host, what, world->time);
        }
    }
    double between = sumEnergy(world);
    for (int i = 0; i < world->touched.count; ++i) {
        int what = world->touched.data[i];
        if (what < 0 && world->joints.data[-1 - what] != NULL) {
            registerJoint(world, world->engine, -1 - what);
            rbStepEngine_TouchJoint(world->engine, host, -1 - what, world->time);
        }
    }
    world->assembleWork += between - before;
    world->stepWork.motor += sumEnergy(world) - between;
    world->touched.count = 0;
}

// Mechanisms whose bodies differ by more are reported when a step misses its tolerance.
#define SPREAD_MOST 1e10

static bool writeSpread(const rbWorld* world, int joint, char* text, size_t size)
{
    int light, heavy;
    double spread = rbStepEngine_GetSpread(world->engine, joint, &light, &heavy);
    if (!(spread > SPREAD_MOST)) {
        return false;
    }
    const char* lightName = RB_LABEL_BODY(world, light);
    if (light == heavy) {
        (void)snprintf(
            text, size,
            "\"%s\" turns about its thin axis %.1e times as easily as about its other axes",
            lightName, spread);
    } else {
        (void)snprintf(text, size, "\"%s\" yields to joints %.1e times as easily as \"%s\"",
                       lightName, spread, RB_LABEL_BODY(world, heavy));
    }
    return true;
}

// Reports the joint with the largest error, and a movable body of it.
static rbStatus nameShortfall(rbWorld* world, rbStatus status, double time, rbBodyId* failedBody)
{
    rbStepStatistics s = rbStepEngine_GetStatistics(world->engine);
    int index = (int)s.worstJoint.index1 - 1;
    if (status == RB_STATUS_NUMERICAL && s.unmetSteps == 0 &&
        rbWorld_NameContactMiss(world, time, &world->engineError)) {
        return status;
    }
    if (status == RB_STATUS_NUMERICAL && s.inaccurateSteps > 0) {
        return rbError_Set(&world->engineError, status,
                           "the error of the motion is estimated as %.3g m before t = %.9g s, and "
                           "step.errorMax is %g m; set a larger errorMax, or another order",
                           s.accuracyEstimate, time, world->def.step.errorMax);
    }
    if (index < 0 || index >= world->joints.count || world->joints.data[index] == NULL) {
        return rbError_Set(
            &world->engineError, status,
            status == RB_STATUS_LIMIT
                ? "the state of a body stopped being finite after t = %.9g s; use smaller steps"
                : "a tolerance of the step engine was missed before t = %.9g s; use smaller steps",
            time);
    }
    char gap[80];
    const rbJoint* joint = world->joints.data[index];
    const char* name = RB_LABEL_JOINT(world, index);
    const char* a = RB_LABEL_BODY(world, joint->bodyA);
    const char* b = RB_LABEL_BODY(world, joint->bodyB);
    bool isAMoved = joint->bodyA >= 0 && world->bodies.data[joint->bodyA].hasMass;
    *failedBody = isAMoved ? joint->def.bodyA : joint->def.bodyB;
    writeGap(gap, s.positionErrorMax, s.angleErrorMax);
    if (status == RB_STATUS_LIMIT) {
        return rbError_Set(
            &world->engineError, status,
            "the state of a body stopped being finite after t = %.9g s; the joint with the largest "
            "error was \"%s\" between \"%s\" and \"%s\", %s; use smaller steps",
            time, name, a, b, gap);
    }
    char spread[2 * RB_NAME_CAPACITY + 120];
    if (writeSpread(world, index, spread, sizeof spread)) {
        return rbError_Set(&world->engineError, status,
                           "joint \"%s\" was off by %s before t = %.9g s: %s, more than double "
                           "precision resolves; use more similar masses, or a thicker body",
                           name, gap, time, spread);
    }
    return rbError_Set(&world->engineError, status,
                       "a joint was not held to the tolerance of %g m and rad before t = %.9g s; "
                       "the largest error so far: \"%s\" between \"%s\" and \"%s\", %s; use "
                       "smaller steps, more iterations or a larger tolerance",
                       world->def.step.tolerance, time, name, a, b, gap);
}

void rbWorld_WriteStepJournal(void* context, const rbEvent* happened)
{
    rbWorld* world = context;
    if (world->events.count < world->def.step.journalMax) {
        rbWorld_WriteJournal(world, happened);
    } else {
        if (world->unwrittenEvents == 0) {
            rbWorld_Log(world, RB_LOG_WARNING,
                        "at %g s: the journal is full with %d events, later ones are only counted; "
                        "read it and call rbWorld_ClearEvents more often, or raise step.journalMax",
                        happened->time, world->def.step.journalMax);
        }
        world->unwrittenEvents += 1;
    }
}

static rbStatus advanceEngine(rbWorld* world, double time, double* reached, rbBodyId* failedBody)
{
    rbStepHost host = rbWorld_GetStepHost(world);
    host.journal = world->def.event.isJournalOff ? NULL : rbWorld_WriteStepJournal;
    host.node = rbWorld_NoteNode;
    host.energy = sumEnergy;
    host.context = world;
    int64_t unmetBefore = rbStepEngine_GetStatistics(world->engine).unmetSteps;
    registerTouched(world, &host);
    // where the last bodies that could collide are gone, no step will tell that their touches ended
    for (int kind = 0; kind < RB_TOUCH_COUNT && !world->hasContacts; ++kind) {
        if (world->touches[kind].count > 0) {
            world->foundTouches.count = 0;
            rbWorld_MergeTouches(world, (rbTouchKind)kind, world->time);
        }
    }
    rbStatus status = rbStepEngine_Advance(world->engine, &host, time, reached);
    rbWorld_ReserveContacts(world);
    if (status == RB_STATUS_NUMERICAL && world->def.step.accuracy == RB_ACCURACY_GAME) {
        status = RB_STATUS_OK; // no tolerance is promised; the statistics have what was missed
    }
    int failed = rbStepEngine_GetFailedBody(world->engine);
    if (status == RB_STATUS_LIMIT && failed >= 0) {
        *failedBody = rbWorld_BodyIdOf(world, failed);
        return rbError_Set(&world->engineError, RB_STATUS_LIMIT,
                           "the state of the mechanism with body \"%s\" stopped being finite after "
                           "t = %.9g s; all bodies are as they were then; use smaller steps, or "
                           "check the forces on it",
                           RB_LABEL_BODY(world, failed), *reached);
    }
    status = status != RB_STATUS_OK ? nameShortfall(world, status, *reached, failedBody) : status;
    // the first step that missed its tolerance goes into the journal, at its own time, whatever the
    // slices in which the world is advanced
    if (status == RB_STATUS_NUMERICAL && unmetBefore == 0 && !RB_IS_NULL(*failedBody)) {
        rbWorld_AddEvent(world, RB_EVENT_TOLERANCE, rbWorld_BodyIndex(world, *failedBody), 0.0);
        world->events.data[world->events.count - 1].time =
            rbWorld_GetStepStatistics(world).unmetTime;
    }
    return status;
}

rbStepStatistics rbWorld_GetStepStatistics(const rbWorld* world)
{
    const rbStepEngine* engine = rbWorld_GetStepEngine(world);
    if (engine == NULL) {
        return (rbStepStatistics){0};
    }
    rbStepStatistics statistics = rbStepEngine_GetStatistics(engine);
    // The engine uses indices.
    statistics.worstJoint = rbWorld_JointIdOf(world, (int)statistics.worstJoint.index1 - 1);
    return statistics;
}

// --------------------------------------------------------------------------------------- snapshots

// Starts the engine for a snapshot: the gaps of joints stay as they were.
static bool startForSnapshot(rbWorld* world)
{
    if (registerBodies(world, NULL) != RB_STATUS_OK) {
        return false;
    }
    rbStepHost host = rbWorld_GetStepHost(world);
    bool isStarted =
        rbStepEngine_Start(world->engine, &host, world->time, NULL, NULL) == RB_STATUS_OK;
    if (isStarted) {
        finishStart(world);
    }
    return isStarted;
}

static bool prepareLoad(rbWorld* world, size_t size)
{
    if (!world->isEngineReady && !startForSnapshot(world)) {
        return false;
    }
    // The size of the contact cache varies.
    rbByteStream counted = {0};
    rbStepEngine_Move(world->engine, &counted);
    if (!rbStepEngine_HasContacts(world->engine) && counted.size != size) {
        return false;
    }
    for (int i = 0; i < world->joints.count; ++i) {
        registerJoint(world, world->engine, i); // restores targets and velocities
    }
    return true;
}

static void moveEngine(rbWorld* world, rbByteStream* stream)
{
    rbStepEngine_Move(world->engine, stream);
    if (stream->isLoading) {
        rbWorld_ReserveContacts(world);
    }
}

// ----------------------------------------------------------------------------------------- the row

#define ADD_WORK(name) accounts->step.name += work.name;

static void addWork(const rbWorld* world, rbEngineAccounts* accounts)
{
    rbStepWork work = rbStepEngine_GetWork(world->engine);
    RB_STEP_WORKS(ADD_WORK)
}

static bool isResting(const rbWorld* world, int index)
{
    return world->isEngineReady && rbStepEngine_IsResting(world->engine, index);
}

// Error of the period below 1 %: (w h)^2 / 12.
#define STEP_TURN 0.35

rbStiffSpring rbWorld_FindStiffSpring(const rbWorld* world)
{
    rbStiffSpring found = {.period = INFINITY, .stepMax = INFINITY};
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    if (engine == NULL) {
        return found;
    }
    rbStepStiff stiff = rbStepEngine_GetStiff(engine);
    if (stiff.count > 0) {
        found.count = stiff.count;
        found.period = stiff.period;
        found.stepMax = STEP_TURN * stiff.period / (2.0 * RB_PI);
    }
    found.spring = rbWorld_SpringIdOf(world, stiff.spring);
    found.joint = rbWorld_JointIdOf(world, stiff.joint);
    return found;
}

// Springs that oscillate too fast for the steps explain any drift.
static int describeStiff(const rbWorld* world, const rbLedger* ledger, double scale, char* text,
                         size_t capacity)
{
    rbStiffSpring stiff = rbWorld_FindStiffSpring(world);
    double allowed = world->def.step.energyTolerance;
    if (stiff.count == 0 || fabs(ledger->energyDrift) <= allowed * scale) {
        return 0;
    }
    bool isSpring = !RB_IS_NULL(stiff.spring);
    return snprintf(
        text, capacity,
        "%s \"%s\" is too stiff for steps of %g s: its period is %.2g s, and the energy has "
        "drifted by %.2g J, %.2g %% of the energy there was (allowed %.2g %%), before t = %.9g s; "
        "take steps of at most %.2g s, a softer spring, or a joint instead of it",
        isSpring ? "spring" : "joint",
        isSpring ? rbSpring_GetName(world, stiff.spring) : rbJoint_GetName(world, stiff.joint),
        world->def.step.step, stiff.period, ledger->energyDrift,
        100.0 * fabs(ledger->energyDrift) / scale, 100.0 * allowed, world->time, stiff.stepMax);
}

size_t rbWorld_DescribeNumericalEnergy(const rbWorld* world, double scale, char* text,
                                       size_t capacity)
{
    rbLedger ledger = rbWorld_GetLedger(world);
    double most = scale > 0.0 ? scale : ledger.energyScale;
    double allowed = world->def.step.energyTolerance * most;
    bool isPromised = rbWorld_GetEngineRow(world)->traits.isStepped && allowed > 0.0 &&
                      world->def.step.accuracy != RB_ACCURACY_GAME;
    if (!isPromised || fabs(ledger.numericalEnergy) <= allowed) {
        return 0;
    }
    int length = describeStiff(world, &ledger, most, text, capacity);
    if (length == 0) {
        length = snprintf(
            text, capacity,
            "steps of %g s have %s %.3g J that no cause explains, %.2g of the energy there was "
            "(step.energyTolerance %g), before t = %.9g s: parting %.2g J, settling %.2g J, solver "
            "%.2g J, late arrival %.2g J, integration %.2g J; take smaller steps, or allow more",
            world->def.step.step, ledger.numericalEnergy > 0.0 ? "given" : "taken",
            fabs(ledger.numericalEnergy), fabs(ledger.numericalEnergy) / most,
            world->def.step.energyTolerance, world->time, ledger.partedWork, ledger.settledWork,
            ledger.truncatedWork, ledger.lateWork, ledger.energyDrift);
    }
    return length > 0 ? (size_t)length : 0;
}

const rbEngineRow rbStepEngineRow = {
    .name = "step",
    .traits = {.isStepped = true, .holdsJoints = true},
    RB_ENGINE_FUNCTIONS,
    .reset = destroyEngine,
    .leave = leaveEngine,
};
