// Joints and springs of a world: creation, queries, changes; drags. Both are links between two
// bodies, and share their names.
#include "world/world_joint.h"

#include "base/math/elementary.h"
#include "world/world_engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ------------------------------------------------------------------------------------------- links

// A joint or spring to be created.
typedef struct Link {
    const char* what; // "joint", "spring"
    const char* name; // may be NULL; for messages it becomes another then
    rbBodyId bodyA;
    rbBodyId bodyB;
} Link;

static const char* const typeNames[RB_BODY_TYPE_COUNT] = {
    [RB_BODY_STATIC] = "static", [RB_BODY_KINEMATIC] = "kinematic", [RB_BODY_DYNAMIC] = "dynamic"};

static bool isDynamic(const rbWorld* world, int index)
{
    return index >= 0 && world->bodies.data[index].type == RB_BODY_DYNAMIC;
}

static const char* typeOf(const rbWorld* world, int index)
{
    return index < 0 ? "static" : typeNames[world->bodies.data[index].type];
}

// Name of a joint (2 i) or spring (2 i + 1) for the table of names; the context is the world.
static const char* nameOfLink(int index, const void* context)
{
    const rbWorld* world = context;
    return index % 2 == 0 ? world->joints.data[index / 2]->name
                          : world->springs.data[index / 2]->name;
}

#define RB_REQUIRE_JOINT(world, id, error) \
    RB_REQUIRE(rbJoint_IsValid(world, id), "joint", id, error)

// The functions that find joints and springs, which differ only in their arrays and in whether the
// index of a name is even (0) or odd (1).
#define DEFINE_FINDERS(Link, link, isOdd)                                                         \
    rb##Link##Id rbWorld_##Link##IdOf(const rbWorld* world, int index)                            \
    {                                                                                             \
        bool isAlive =                                                                            \
            index >= 0 && index < world->link##s.count && world->link##s.data[index] != NULL;     \
        uint32_t generation = isAlive ? world->link##Ids.generations.data[index] : 0;             \
        return (rb##Link##Id){isAlive ? (uint32_t)index + 1u : 0, generation};                    \
    }                                                                                             \
    bool rb##Link##_IsValid(const rbWorld* world, rb##Link##Id link##Id)                          \
    {                                                                                             \
        return rbIdPool_IsAlive(&world->link##Ids, link##Id.index1, link##Id.generation);         \
    }                                                                                             \
    static rb##Link* get##Link(const rbWorld* world, rb##Link##Id link##Id)                       \
    {                                                                                             \
        RB_ASSERT(rb##Link##_IsValid(world, link##Id));                                           \
        return world->link##s.data[link##Id.index1 - 1];                                          \
    }                                                                                             \
    RB_DEFINE_GETTER(const char*, rb##Link##_GetName, (const rbWorld* world, rb##Link##Id id),    \
                     get##Link(world, id)->name)                                                  \
    RB_DEFINE_GETTER(rbBodyId, rb##Link##_GetBodyA, (const rbWorld* world, rb##Link##Id id),      \
                     get##Link(world, id)->def.bodyA)                                             \
    RB_DEFINE_GETTER(rbBodyId, rb##Link##_GetBodyB, (const rbWorld* world, rb##Link##Id id),      \
                     get##Link(world, id)->def.bodyB)                                             \
    int rbWorld_Get##Link##Ids(const rbWorld* world, rb##Link##Id* ids, int capacity)             \
    {                                                                                             \
        int count = 0;                                                                            \
        for (int i = 0; i < world->link##s.count && count < capacity; ++i) {                      \
            if (world->link##s.data[i] != NULL) {                                                 \
                ids[count++] = rbWorld_##Link##IdOf(world, i);                                    \
            }                                                                                     \
        }                                                                                         \
        return count;                                                                             \
    }                                                                                             \
    rb##Link##Id rbWorld_Find##Link(const rbWorld* world, const char* name)                       \
    {                                                                                             \
        int index = rbNameTable_Find(&world->linkNames, name, nameOfLink, world);                 \
        return rbWorld_##Link##IdOf(world, index % 2 == (isOdd) ? index / 2 : -1);                \
    }                                                                                             \
    const char* rbWorld_Label##Link(const rbWorld* world, int index, char text[RB_NAME_CAPACITY]) \
    {                                                                                             \
        RB_ASSERT(world->link##s.data[index] != NULL);                                            \
        return rbChooseLabel(world->link##s.data[index]->name, #link, index, text);               \
    }
DEFINE_FINDERS(Joint, joint, 0)
DEFINE_FINDERS(Spring, spring, 1)

// Checks that the name is short enough and unique among joints and springs, that the bodies exist,
// differ, and one is dynamic; -1 is the world.
static rbStatus validateLink(const rbWorld* world, Link* link, int* indexA, int* indexB,
                             rbError* error)
{
    if (link->name == NULL || link->name[0] == '\0') {
        link->name = "(without a name)";
    } else {
        const char* name = link->name;
        RB_REFUSE_IF(strlen(name) >= RB_NAME_CAPACITY, RB_STATUS_LIMIT, error,
                     "the name \"%.40s...\" of a %s has %zu bytes; the limit is %d", name,
                     link->what, strlen(name), RB_NAME_CAPACITY - 1);
        int other = rbNameTable_Find(&world->linkNames, name, nameOfLink, world);
        RB_INVALID_IF(other >= 0, error,
                      "%s \"%s\": a %s of this name already exists; give each its own name",
                      link->what, name, other % 2 == 0 ? "joint" : "spring");
    }
    const rbBodyId ids[2] = {link->bodyA, link->bodyB};
    int indices[2];
    for (int i = 0; i < 2; ++i) {
        indices[i] = (int)ids[i].index1 - 1;
        RB_INVALID_IF(!RB_IS_NULL(ids[i]) && !rbBody_IsValid(world, ids[i]), error,
                      "%s \"%s\": its body %s does not exist or was destroyed; make the body "
                      "first, or use the null id for the world",
                      link->what, link->name, i == 0 ? "A" : "B");
    }
    int a = indices[0], b = indices[1];
    RB_INVALID_IF(a == b, error,
                  "%s \"%s\" joins \"%s\" to itself; give it two bodies, or a body and the world",
                  link->what, link->name, RB_LABEL_BODY(world, a));
    RB_INVALID_IF(!isDynamic(world, a) && !isDynamic(world, b), error,
                  "%s \"%s\" joins \"%s\" (%s) and \"%s\" (%s), and can move neither; one of them "
                  "must be a dynamic body",
                  link->what, link->name, RB_LABEL_BODY(world, a), typeOf(world, a),
                  RB_LABEL_BODY(world, b), typeOf(world, b));
    for (int i = 0; i < 2; ++i) {
        RB_INVALID_IF(isDynamic(world, indices[i]) && !world->bodies.data[indices[i]].hasMass,
                      error,
                      "%s \"%s\": the dynamic body \"%s\" has no mass yet; give it a shape or a "
                      "mass before its joints",
                      link->what, link->name, RB_LABEL_BODY(world, indices[i]));
    }
    *indexA = a;
    *indexB = b;
    return RB_STATUS_OK;
}

const char* rbChooseLabel(const char* name, const char* what, int index,
                          char text[RB_NAME_CAPACITY])
{
    (void)snprintf(text, RB_NAME_CAPACITY, "%s %d", what, index);
    return name[0] != '\0' ? name : text;
}

// Pose of a body's frame, and its center of mass with principal axes, at the world's time; -1 is
// the world.
static rbTransform getFrame(const rbWorld* world, int index)
{
    return index < 0 ? RB_TRANSFORM_IDENTITY
                     : rbWorld_PublicState(world, index, &world->states.data[index]).transform;
}

static rbRowPose getRowPose(const rbWorld* world, int index)
{
    rbRowPose pose = {.orientation = {1.0, 0.0, 0.0, 0.0}};
    if (index >= 0) {
        pose.position = world->states.data[index].position;
        pose.orientation = world->states.data[index].orientation;
    }
    pose.rotation = rbMatFromQuat(pose.orientation);
    return pose;
}

rbTransform rbWorld_GetPrincipal(const rbWorld* world, int index)
{
    return index < 0 ? RB_TRANSFORM_IDENTITY : world->principals.data[index];
}

// Converts an anchor from the frame of a body to its principal frame.
static rbVec3 toPrincipal(const rbWorld* world, int index, rbVec3 anchor)
{
    return index < 0 ? anchor : rbInvTransformPoint(world->principals.data[index], anchor);
}

static void getVelocities(const rbWorld* world, int index, rbVec3* linear, rbVec3* angular)
{
    const rbMotionState* state = index >= 0 ? &world->states.data[index] : NULL;
    *linear = state != NULL ? state->velocity : RB_VEC3_ZERO;
    *angular = state != NULL ? rbRotate(state->orientation, state->spin) : RB_VEC3_ZERO;
}

// Rate of a row with the present velocities of its bodies.
static double getRowRate(const rbWorld* world, int indexA, int indexB, const rbRow* row)
{
    rbVec3 vA, wA, vB, wB;
    getVelocities(world, indexA, &vA, &wA);
    getVelocities(world, indexB, &vB, &wB);
    return rbDot(row->linear, rbSub(vB, vA)) + rbDot(row->angularB, wB) - rbDot(row->angularA, wA);
}

// ----------------------------------------------------------------------------------------- springs

void rbInitSpringDef(rbSpringDef* def, uint32_t abi, size_t size)
{
    if (rbStampDef(def, RB_KIND_SPRING, sizeof *def, abi, size)) {
        def->restLength = -1.0;
    }
}

static rbStatus validateNumbers(const rbSpringDef* def, const char* name, rbError* error)
{
    double squares = rbLengthSquared(def->anchorA) + rbLengthSquared(def->anchorB);
    RB_INVALID_IF(!isfinite(squares), error,
                  "spring \"%s\": its anchors (%g, %g, %g) and (%g, %g, %g) m must be finite", name,
                  def->anchorA.x, def->anchorA.y, def->anchorA.z, def->anchorB.x, def->anchorB.y,
                  def->anchorB.z);
    RB_INVALID_IF(
        !isfinite((1.0 + fabs(def->stiffness)) * (squares + def->restLength * def->restLength)),
        error,
        "spring \"%s\": the rest length %g m and the energy of the spring must be finite; a "
        "negative length means the present distance",
        name, def->restLength);
    bool isFine = isfinite(def->stiffness) && def->stiffness >= 0.0 && isfinite(def->damping) &&
                  def->damping >= 0.0;
    RB_INVALID_IF(
        !isFine, error,
        "spring \"%s\": stiffness %g N/m and damping %g N s/m must be finite and not negative",
        name, def->stiffness, def->damping);
    RB_INVALID_IF(def->stiffness == 0.0 && def->damping == 0.0, error,
                  "spring \"%s\" has neither stiffness nor damping; give it one of them", name);
    return RB_STATUS_OK;
}

static double lengthOf(const rbWorld* world, const rbSpring* spring)
{
    rbRowPose poseA = getRowPose(world, spring->bodyA);
    rbRowPose poseB = getRowPose(world, spring->bodyB);
    double length;
    rbSpringModel_Errors(&spring->model, &poseA, &poseB, &length);
    return length;
}

static double getSpringEnergy(const rbWorld* world, const rbSpring* spring)
{
    double stretch = lengthOf(world, spring) - spring->def.restLength;
    return 0.5 * spring->def.stiffness * stretch * stretch;
}

static void remakeSpring(const rbWorld* world, rbSpring* spring)
{
    spring->model.pointA = toPrincipal(world, spring->bodyA, spring->def.anchorA);
    spring->model.pointB = toPrincipal(world, spring->bodyB, spring->def.anchorB);
}

static rbStatus validateSpring(const rbWorld* world, const rbSpringDef* def, int* bodyA, int* bodyB,
                               rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_SPRING, error));
    Link link = {"spring", def->name, def->bodyA, def->bodyB};
    RB_TRY(validateLink(world, &link, bodyA, bodyB, error));
    return validateNumbers(def, link.name, error);
}

rbSpringId rbCreateSpring(rbWorld* world, const rbSpringDef* def, rbError* error)
{
    RB_ENTER(world);
    rbError reason = {0};
    int bodyA, bodyB;
    if (validateSpring(world, def, &bodyA, &bodyB, &reason) != RB_STATUS_OK) {
        rbWorld_LogRefusal(world, "a spring", &reason, error);
        return (rbSpringId){0, 0};
    }
    rbWorld_NoteChange(world);
    rbSpring* spring = rbAllocZero(1, sizeof *spring);
    spring->def = *def;
    spring->bodyA = bodyA;
    spring->bodyB = bodyB;
    if (def->name != NULL) {
        (void)snprintf(spring->name, sizeof spring->name, "%s", def->name);
    }
    spring->def.name = spring->name;
    remakeSpring(world, spring);
    if (def->restLength < 0.0) {
        spring->def.restLength = lengthOf(world, spring);
    }
    spring->index = rbIdPool_Take(&world->springIds);
    rbArray_Put(world->springs, spring->index, spring); // NOLINT(bugprone-sizeof-expression)
    rbNameTable_Insert(&world->linkNames, spring->name, 2 * spring->index + 1);
    world->springCount += 1;
    world->isElastic = true;
    world->energyReference += getSpringEnergy(world, spring);
    return rbWorld_SpringIdOf(world, spring->index);
}

RB_DEFINE_GETTER(rbSpringDef, rbSpring_GetDef, (const rbWorld* world, rbSpringId id),
                 getSpring(world, id)->def)

rbStatus rbSpring_SetLaw(rbWorld* world, rbSpringId springId, double stiffness, double damping,
                         double restLength, rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE(rbSpring_IsValid(world, springId), "spring", springId, error);
    rbSpring* spring = getSpring(world, springId);
    rbSpringDef def = spring->def;
    def.stiffness = stiffness;
    def.damping = damping;
    def.restLength = restLength;
    RB_TRY(validateNumbers(&def, RB_LABEL_SPRING(world, spring->index), error));
    rbWorld_NoteChange(world);
    world->energyReference -= getSpringEnergy(world, spring);
    def.restLength = restLength < 0.0 ? lengthOf(world, spring) : restLength;
    spring->def = def;
    world->energyReference += getSpringEnergy(world, spring);
    return RB_STATUS_OK;
}

rbSpringState rbSpring_GetState(const rbWorld* world, rbSpringId springId)
{
    const rbSpring* spring = getSpring(world, springId);
    rbRowPose poseA = getRowPose(world, spring->bodyA);
    rbRowPose poseB = getRowPose(world, spring->bodyB);
    rbRow row;
    rbSpringState state = {0};
    rbSpringModel_Rows(&spring->model, &poseA, &poseB, &row);
    rbSpringModel_Errors(&spring->model, &poseA, &poseB, &state.length);
    state.pointA = rbAdd(poseA.position, rbMulMV(poseA.rotation, spring->model.pointA));
    state.pointB = rbAdd(poseB.position, rbMulMV(poseB.rotation, spring->model.pointB));
    state.speed = getRowRate(world, spring->bodyA, spring->bodyB, &row);
    state.energy = getSpringEnergy(world, spring);
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    if (engine != NULL) {
        state.force = rbStepEngine_GetSpringForce(engine, spring->index);
    } else {
        // No step yet: use the law of the spring itself.
        state.force = spring->def.stiffness * (state.length - spring->def.restLength) +
                      spring->def.damping * state.speed;
    }
    return state;
}

// ------------------------------------------------------------------------------------------ joints

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

// Frame of a body that a definition refers to. If there is no such body, which rbCreateJoint
// reports, that of the world.
static rbTransform frameOf(const rbWorld* world, rbBodyId bodyId)
{
    return getFrame(world, rbBody_IsValid(world, bodyId) ? (int)bodyId.index1 - 1 : -1);
}

void rbJointDef_SetAnchor(rbJointDef* def, const rbWorld* world, rbVec3 point)
{
    RB_USE_STANDARD_FLOAT_MODE();
    def->anchorA = rbInvTransformPoint(frameOf(world, def->bodyA), point);
    def->anchorB = rbInvTransformPoint(frameOf(world, def->bodyB), point);
}

void rbJointDef_SetAxis(rbJointDef* def, const rbWorld* world, rbVec3 axis)
{
    RB_USE_STANDARD_FLOAT_MODE();
    def->axisA = rbInvRotate(frameOf(world, def->bodyA).q, axis);
    def->axisB = rbInvRotate(frameOf(world, def->bodyB).q, axis);
}

// The model from the definition, the poses of the bodies at the creation of the joint, and their
// present principal frames.
static rbStatus makeModel(const rbWorld* world, rbJoint* joint, const rbJointDef* def,
                          rbError* error)
{
    int a = joint->bodyA, b = joint->bodyB;
    rbJointSide sideA = {RB_LABEL_BODY(world, a), joint->startA, rbWorld_GetPrincipal(world, a)};
    rbJointSide sideB = {RB_LABEL_BODY(world, b), joint->startB, rbWorld_GetPrincipal(world, b)};
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

// Position of a freedom of a joint, angles not unwrapped.
static double rawPosition(const rbWorld* world, const rbJoint* joint, const rbFreedomModel* freedom)
{
    rbRowPose poseA = getRowPose(world, joint->bodyA);
    rbRowPose poseB = getRowPose(world, joint->bodyB);
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

static double getJointEnergy(const rbWorld* world, const rbJoint* joint)
{
    double sum = 0.0;
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        const rbFreedomDef* freedom = &joint->def.freedoms[i];
        if (freedom->stiffness > 0.0) {
            double stretch = rbWorld_GetFreedomPosition(world, joint, i) - freedom->rest;
            sum += 0.5 * freedom->stiffness * stretch * stretch;
        }
    }
    return sum;
}

// The energy of the springs of a joint comes, in the accounting too.
static void addElastic(rbWorld* world, const rbJoint* joint)
{
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        world->isElastic = world->isElastic || joint->def.freedoms[i].stiffness > 0.0;
    }
    world->energyReference += getJointEnergy(world, joint);
}

// Sets the bodies and the model of a joint.
static rbStatus validateJoint(const rbWorld* world, const rbJointDef* def, rbJoint* joint,
                              rbError* error)
{
    RB_TRY(RB_CHECK_COOKIE(def, RB_KIND_JOINT, error));
    Link link = {"joint", def->name, def->bodyA, def->bodyB};
    RB_TRY(validateLink(world, &link, &joint->bodyA, &joint->bodyB, error));
    RB_TRY(validateVelocities(def, link.name, error));
    joint->startA = getFrame(world, joint->bodyA);
    joint->startB = getFrame(world, joint->bodyB);
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
    joint->index = rbIdPool_Take(&world->jointIds);
    rbArray_Put(world->joints, joint->index, joint); // NOLINT(bugprone-sizeof-expression)
    rbNameTable_Insert(&world->linkNames, joint->name, 2 * joint->index);
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        joint->positions[i] = rawPosition(world, joint, &joint->model.freedoms[i]);
    }
    findLimitPositions(world, joint);
    world->jointCount += 1;
    addElastic(world, joint);
    return rbWorld_JointIdOf(world, joint->index);
}

// Their energy leaves the accounting with them, and others may take their slots.
#define DEFINE_DESTROYERS(Link, link, isOdd, freeLink)                          \
    static void destroy##Link(rbWorld* world, rb##Link* link)                   \
    {                                                                           \
        int index = link->index;                                                \
        rbWorld_NoteChange(world);                                              \
        world->energyReference -= get##Link##Energy(world, link);               \
        rbNameTable_Remove(&world->linkNames, link->name, 2 * index + (isOdd)); \
        world->link##s.data[index] = NULL;                                      \
        if (rbWorld_GetStepEngine(world) != NULL) {                             \
            rbStepEngine_Set##Link(world->engine, index, NULL);                 \
        }                                                                       \
        world->link##Count -= 1;                                                \
        rbIdPool_Release(&world->link##Ids, index);                             \
        freeLink;                                                               \
    }                                                                           \
    void rbDestroy##Link(rbWorld* world, rb##Link##Id id)                       \
    {                                                                           \
        RB_ENTER(world);                                                        \
        destroy##Link(world, get##Link(world, id));                             \
    }
DEFINE_DESTROYERS(Joint, joint, 0, freeJoint(joint))
DEFINE_DESTROYERS(Spring, spring, 1, rbFree(spring, sizeof *spring))

// --------------------------------------------------------------------------------------- of bodies

// RB_EACH_LINK for those that are attached to a body; RB_ALL_BODIES: to any.
#define EACH_LINK_OF(Type, link, world, index) \
    RB_EACH_LINK(Type, link, world)            \
        if ((index) < 0 || link->bodyA == (index) || link->bodyB == (index))

void rbWorld_DestroyLinksOf(rbWorld* world, int index)
{
    EACH_LINK_OF(Joint, joint, world, index) {
        destroyJoint(world, joint);
    }
    EACH_LINK_OF(Spring, spring, world, index) {
        destroySpring(world, spring);
    }
}

void rbWorld_RemakeLinksOf(rbWorld* world, int index)
{
    EACH_LINK_OF(Joint, joint, world, index) {
        // The definition was validated at the creation of the joint.
        rbStatus status = makeModel(world, joint, &joint->def, NULL);
        RB_ASSERT(status == RB_STATUS_OK);
        (void)status;
    }
    EACH_LINK_OF(Spring, spring, world, index) {
        remakeSpring(world, spring);
    }
}

void rbWorld_FreeLinks(rbWorld* world)
{
    RB_EACH_LINK(Joint, joint, world) {
        freeJoint(joint);
    }
    RB_EACH_LINK(Spring, spring, world) {
        rbFree(spring, sizeof *spring);
    }
    rbArray_FreeAll(world->joints, world->springs); // NOLINT(bugprone-sizeof-expression)
    rbNameTable_Free(&world->linkNames);
    rbIdPool_Free(&world->jointIds);
    rbIdPool_Free(&world->springIds);
}

double rbWorld_GetElasticEnergy(const rbWorld* world, int index)
{
    double sum = 0.0;
    if (!world->isElastic) {
        return sum; // it is asked for at every change of a state
    }
    EACH_LINK_OF(Spring, spring, world, index) {
        sum += getSpringEnergy(world, spring);
    }
    EACH_LINK_OF(Joint, joint, world, index) {
        sum += getJointEnergy(world, joint);
    }
    return sum;
}

// ----------------------------------------------------------------------------------------- queries
// of joints

RB_DEFINE_GETTER(rbJointType, rbJoint_GetType, (const rbWorld* world, rbJointId id),
                 getJoint(world, id)->def.type)
RB_DEFINE_GETTER(void*, rbJoint_GetUserData, (const rbWorld* world, rbJointId id),
                 getJoint(world, id)->def.userData)

void rbJoint_SetUserData(rbWorld* world, rbJointId jointId, void* userData)
{
    getJoint(world, jointId)->def.userData = userData;
}

// Of the last advance; zero if the engine is not ready.
static rbStepJointResult getResult(const rbWorld* world, const rbJoint* joint)
{
    const rbStepEngine* engine = rbWorld_GetReadyStepEngine(world);
    rbStepHost host = rbWorld_GetStepHost(world);
    return engine != NULL ? rbStepEngine_GetJoint(engine, &host, joint->index)
                          : (rbStepJointResult){0};
}

double rbWorld_GetFreedomPosition(const rbWorld* world, const rbJoint* joint, int freedom)
{
    RB_ASSERT(0 <= freedom && freedom < joint->model.freedomCount);
    double raw = rawPosition(world, joint, &joint->model.freedoms[freedom]);
    return joint->model.freedoms[freedom].kind != RB_FREEDOM_ANGLE
               ? raw
               : rbNearestTurn(raw, rbWorld_GetReadyStepEngine(world) != NULL
                                        ? getResult(world, joint).freedomPositions[freedom]
                                        : joint->positions[freedom]);
}

double rbWorld_GetLimitPosition(const rbWorld* world, const rbJoint* joint, int freedom)
{
    RB_ASSERT(0 <= freedom && freedom < joint->limits.count);
    if (rbWorld_GetReadyStepEngine(world) != NULL) {
        return getResult(world, joint).limitPositions[freedom];
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

double rbWorld_GetLeftGap(const rbWorld* world, const rbJoint* joint)
{
    if (rbWorld_GetReadyStepEngine(world) == NULL) {
        return joint->gap;
    }
    for (int i = 0; i < world->touched.count; ++i) {
        int body = world->touched.data[i];
        if (body >= 0 && (body == joint->bodyA || body == joint->bodyB)) {
            return NODE_GAP_FACTOR * getResult(world, joint).gap;
        }
    }
    rbJointState state = {0};
    rbRowPose poseA = getRowPose(world, joint->bodyA);
    rbRowPose poseB = getRowPose(world, joint->bodyB);
    measureErrors(joint, &poseA, &poseB, &state);
    return GAP_ROUNDING * fmax(state.positionError, state.angleError);
}

rbJointState rbJoint_GetState(const rbWorld* world, rbJointId jointId)
{
    // Destroying a body destroys its joints, so the caller may not know that an id is stale.
    if (!rbJoint_IsValid(world, jointId)) {
        return (rbJointState){.freedomCount = 0};
    }
    const rbJoint* joint = getJoint(world, jointId);
    rbRowPose poseA = getRowPose(world, joint->bodyA);
    rbRowPose poseB = getRowPose(world, joint->bodyB);
    rbJointState state = {.freedomCount = joint->model.freedomCount};
    rbStepJointResult result = getResult(world, joint);
    rbJointModel_Points(&joint->model, &poseA, &poseB, &state.pointA, &state.pointB, &state.axis);
    if (!joint->def.isVelocityOnly) {
        measureErrors(joint, &poseA, &poseB, &state);
    }
    state.force = result.force;
    state.torque = result.torque;
    for (int i = 0; i < joint->model.freedomCount; ++i) {
        rbRow row;
        rbFreedomModel_Rows(&joint->model.freedoms[i], &poseA, &poseB, &row);
        state.freedomPositions[i] = rbWorld_GetFreedomPosition(world, joint, i);
        state.freedomVelocities[i] = getRowRate(world, joint->bodyA, joint->bodyB, &row);
        state.freedomForces[i] = result.freedomForces[i];
        if (joint->def.freedoms[i].motor.type != RB_MOTOR_NONE) {
            state.motorTargets[i] = rbMotorModel_Target(&joint->motors[i], world->time);
        }
    }
    state.limitCount = joint->limits.count;
    for (int i = 0; i < joint->limits.count; ++i) {
        state.limitPositions[i] = rbWorld_GetLimitPosition(world, joint, i);
        state.limitForces[i] = result.limitForces[i];
    }
    return state;
}

// ----------------------------------------------------------------------------------------- changes

static rbStatus validateFreedomNumber(const rbJoint* joint, const char* name, int freedom,
                                      rbError* error)
{
    RB_INVALID_IF(freedom < 0 || freedom >= joint->model.freedomCount, error,
                  "joint \"%s\" has %d freedoms that take a motor; there is no number %d", name,
                  joint->model.freedomCount, freedom);
    return RB_STATUS_OK;
}

rbStatus rbJoint_SetMotorTarget(rbWorld* world, rbJointId jointId, int freedom, double target,
                                rbError* error)
{
    RB_ENTER(world);
    RB_REQUIRE_JOINT(world, jointId, error);
    rbJoint* joint = getJoint(world, jointId);
    const char* name = RB_LABEL_JOINT(world, joint->index);
    RB_TRY(validateFreedomNumber(joint, name, freedom, error));
    RB_INVALID_IF(joint->def.freedoms[freedom].motor.type == RB_MOTOR_NONE, error,
                  "joint \"%s\" has no motor on freedom %d; give it one in its definition", name,
                  freedom);
    RB_INVALID_IF(!isfinite(target), error,
                  "joint \"%s\": the target %g of its motor is not finite", name, target);
    joint->isTargetSet[freedom] = true;
    rbJoint_ChooseMotor(joint, freedom, target);
    rbWorld_NoteJoint(world, joint->index);
    return RB_STATUS_OK;
}

rbFreedomDef rbJoint_GetFreedom(const rbWorld* world, rbJointId jointId, int freedom)
{
    const rbJoint* joint = getJoint(world, jointId);
    RB_ASSERT(freedom >= 0 && freedom < RB_JOINT_FREEDOMS_MAX);
    return joint->def.freedoms[freedom];
}

bool rbJoint_IsFreedomAngle(const rbWorld* world, rbJointId jointId, int freedom)
{
    const rbJoint* joint = getJoint(world, jointId);
    RB_ASSERT(freedom >= 0 && freedom < joint->model.freedomCount);
    return joint->model.freedoms[freedom].kind == RB_FREEDOM_ANGLE;
}

rbStatus rbJoint_SetFreedom(rbWorld* world, rbJointId jointId, int freedom, const rbFreedomDef* def,
                            rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(def != NULL);
    RB_REQUIRE_JOINT(world, jointId, error);
    rbJoint* joint = getJoint(world, jointId);
    const char* name = RB_LABEL_JOINT(world, joint->index);
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
    // the energy reference moves with that of the springs
    world->energyReference -= getJointEnergy(world, joint);
    bool isOther = joint->def.freedoms[freedom].motor.type != def->motor.type;
    joint->def.freedoms[freedom] = *def;
    joint->isTargetSet[freedom] = def->motor.scheduleCount == 0;
    rbJoint_DefineMotor(joint, freedom, &def->motor);
    addElastic(world, joint);
    if (isOther && rbWorld_GetStepEngine(world) != NULL) {
        rbStepEngine_ResetMotor(world->engine, joint->index, freedom);
    }
    return rbWorld_EndTrial(world, &trial, error);
}

// rad or m: a joint that rests on its stop exceeds it by less.
#define LIMIT_EXCESS 1e-6

rbLimitDef rbJoint_GetLimit(const rbWorld* world, rbJointId jointId, int freedom)
{
    const rbJoint* joint = getJoint(world, jointId);
    RB_ASSERT(freedom >= 0 && freedom < RB_JOINT_FREEDOMS_MAX);
    return joint->def.limits[freedom];
}

rbStatus rbJoint_SetLimit(rbWorld* world, rbJointId jointId, int freedom, const rbLimitDef* limit,
                          rbError* error)
{
    RB_ENTER(world);
    RB_ASSERT(limit != NULL);
    RB_REQUIRE_JOINT(world, jointId, error);
    rbJoint* joint = getJoint(world, jointId);
    const char* name = RB_LABEL_JOINT(world, joint->index);
    RB_INVALID_IF(freedom < 0 || freedom >= RB_JOINT_FREEDOMS_MAX, error,
                  "joint \"%s\" has no limit number %d", name, freedom);
    rbJoint changed = *joint;
    changed.def.limits[freedom] = *limit;
    RB_TRY(makeModel(world, &changed, &changed.def, error));
    bool hadLimits = joint->limits.count > 0;
    rbWorldTrial trial = rbWorld_BeginTrial(world);
    rbWorld_NoteChange(world); // the engine stores the positions first
    memcpy(changed.limitPositions, joint->limitPositions, sizeof changed.limitPositions);
    if (!hadLimits && changed.limits.count > 0) {
        findLimitPositions(world, &changed);
        memcpy(changed.limitPositions, joint->positions,
               (size_t)joint->model.freedomCount * sizeof *joint->positions);
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
    RB_REQUIRE_JOINT(world, jointId, error);
    rbJoint* joint = getJoint(world, jointId);
    const char* name = RB_LABEL_JOINT(world, joint->index);
    RB_INVALID_IF(
        !joint->def.isVelocityOnly, error,
        "joint \"%s\" holds positions; only a velocity-only joint can be given a velocity", name);
    rbJointDef changed = joint->def;
    changed.linearVelocity = linearVelocity;
    changed.angularVelocity = angularVelocity;
    RB_TRY(validateVelocities(&changed, name, error));
    joint->def = changed;
    rbWorld_NoteJoint(world, joint->index);
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
    RB_REQUIRE_JOINT(world, dragId, NULL);
    const rbJoint* joint = getJoint(world, dragId);
    RB_ASSERT(joint->def.isVelocityOnly && joint->bodyA < 0);
    rbTransform frame = getFrame(world, joint->bodyB);
    rbVec3 way = rbSub(worldPoint, rbTransformPoint(frame, joint->def.anchorB));
    return rbJoint_SetVelocity(world, dragId, rbScale(1.0 / duration, way), RB_VEC3_ZERO, NULL);
}
