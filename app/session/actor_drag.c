// Drags: a pointer pulls a body.
//
// The step engine has velocity joints (B-30), which yield to joints and contacts. A point is held
// by a joint that removes translations; the manipulators also hold the orientation, with a
// velocity-only joint that removes rotations: two joints, since forces and torques have separate
// limits. The other engines do not support joints: there every move is an impulse that gives the
// held point the target velocity immediately.
//
// The target velocity is the displacement to the target divided by a time T. With a force of at
// most F on a mass m, the body can stop within the remaining distance s only if (s/T)^2 / 2 <= s
// F/m: hence T is at least sqrt(s m / (2 F)); otherwise bodies would oscillate about the pointer.
#include "base/math/elementary.h"
#include "io/scene/scene_keys.h"
#include "session/actor_state.h"

#include <math.h>
#include <string.h>

// m/s^2: the acceleration that a drag without forceMax can give to the body, plus that for all
// bodies connected to it. About ten times gravity, and slightly more than gravity: strong enough to
// lift and throw, too weak to tear through a wall. With far larger forces the look-ahead of joints
// does not converge.
#define OWN_ACCELERATION 100.0
#define ALL_ACCELERATION 12.0
#define ACCELERATION_MAX 1000.0 // m/s^2, of all together: a larger forceMax is refused

static const char* const kindNames[RB_DRAG_KIND_COUNT] = {
    [RB_DRAG_POINT] = "point",
    [RB_DRAG_TRANSLATE] = "translate",
    [RB_DRAG_ROTATE] = "rotate",
};

// The key that a move of a kind needs.
static const char* const moveKeys[RB_DRAG_KIND_COUNT] = {
    [RB_DRAG_POINT] = "point",
    [RB_DRAG_TRANSLATE] = "position",
    [RB_DRAG_ROTATE] = "orientation",
};

int rbActor_GetDragCount(const rbActor* actor)
{
    return actor->drags.count;
}

rbDragView rbActor_GetDrag(const rbActor* actor, const rbWorld* world, int index)
{
    RB_ASSERT(index >= 0 && index < actor->drags.count);
    const rbDrag* drag = &actor->drags.data[index];
    rbTransform transform = rbBody_GetState(world, drag->bodyId).transform;
    rbDragView view = {.drag = drag->number,
                       .body = rbActor_FindBody(actor, drag->bodyId),
                       .kind = drag->kind,
                       .point = rbTransformPoint(transform, drag->localPoint)};
    return view;
}

static int findDrag(const rbActor* actor, int64_t number)
{
    for (int i = 0; i < actor->drags.count; ++i) {
        if (actor->drags.data[i].number == number) {
            return i;
        }
    }
    return -1;
}

static void removeDrag(rbActor* actor, int index)
{
    int after = actor->drags.count - index - 1;
    if (after > 0) {
        memmove(&actor->drags.data[index], &actor->drags.data[index + 1],
                (size_t)after * sizeof *actor->drags.data);
    }
    actor->drags.count -= 1;
}

void rbActor_ForgetDrags(rbActor* actor, rbBodyId bodyId)
{
    for (int i = actor->drags.count - 1; i >= 0; --i) {
        if (RB_ID_EQUALS(actor->drags.data[i].bodyId, bodyId)) {
            removeDrag(actor, i);
        }
    }
}

// ------------------------------------------------------------------------------------------- start

// Radius of gyration about the center of mass, m: makes forces and torques comparable.
static double getGyration(const rbWorld* world, rbBodyId bodyId)
{
    rbVec3 moments = rbBody_GetPrincipalMoments(world, bodyId, NULL);
    double mass = rbBody_GetMass(world, bodyId).mass;
    return sqrt((moments.x + moments.y + moments.z) / (3.0 * mass));
}

// Mass of the dynamic bodies connected to a body by joints of the scene.
typedef struct Cluster {
    RB_ARRAY(rbBodyId) bodies;
    double mass;
} Cluster;

static void addToCluster(Cluster* cluster, const rbWorld* world, rbBodyId bodyId)
{
    if (RB_IS_NULL(bodyId) || rbBody_GetType(world, bodyId) != RB_BODY_DYNAMIC) {
        return;
    }
    for (int i = 0; i < cluster->bodies.count; ++i) {
        if (RB_ID_EQUALS(cluster->bodies.data[i], bodyId)) {
            return;
        }
    }
    rbArray_Push(cluster->bodies, bodyId);
    cluster->mass += rbBody_GetMass(world, bodyId).mass;
}

// At most this many bodies are weighed: more would only make the drag stronger.
#define CLUSTER_MAX 256

// hasJoints: whether the body itself has any.
static double weighCluster(const rbActor* actor, const rbWorld* world, rbBodyId bodyId,
                           bool* hasJoints)
{
    *hasJoints = false;
    Cluster cluster = {.mass = 0.0};
    addToCluster(&cluster, world, bodyId);
    for (int i = 0; i < cluster.bodies.count && cluster.bodies.count < CLUSTER_MAX; ++i) {
        rbBodyId own = cluster.bodies.data[i];
        for (int j = 0; j < actor->joints.count && cluster.bodies.count < CLUSTER_MAX; ++j) {
            rbJointId jointId = actor->joints.data[j];
            if (!rbJoint_IsValid(world, jointId)) {
                continue;
            }
            rbBodyId a = rbJoint_GetBodyA(world, jointId);
            rbBodyId b = rbJoint_GetBodyB(world, jointId);
            *hasJoints = *hasJoints || (i == 0 && (RB_ID_EQUALS(a, own) || RB_ID_EQUALS(b, own)));
            if (RB_ID_EQUALS(a, own)) {
                addToCluster(&cluster, world, b);
            } else if (RB_ID_EQUALS(b, own)) {
                addToCluster(&cluster, world, a);
            }
        }
    }
    double mass = cluster.mass;
    rbArray_Free(cluster.bodies);
    return mass;
}

static rbStatus chooseKind(const rbActionCommand* command, rbDragKind* kind)
{
    for (int i = 0; i < RB_DRAG_KIND_COUNT; ++i) {
        if (strcmp(kindNames[i], command->fields->kind) == 0) {
            *kind = (rbDragKind)i;
            return RB_STATUS_OK;
        }
    }
    return rbActionCommand_Fail(
        command,
        "unknown kind \"%.40s\" of drag; choose \"point\", \"translate\" or "
        "\"rotate\"",
        command->fields->kind);
}

// Number, kind, body: checks made before anything is created.
static rbStatus validateDrag(const rbActionCommand* command, rbDrag* drag)
{
    const rbActor* actor = command->actor;
    rbStatus status = chooseKind(command, &drag->kind);
    if (status == RB_STATUS_OK) {
        status = rbActionCommand_FindBody(command, "dragged", &drag->bodyId);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (drag->kind == RB_DRAG_POINT && !rbActionCommand_HasKey(command, "point")) {
        return rbActionCommand_Fail(
            command, "a drag of the kind \"point\" needs the key \"point\", the held point "
                     "on the body");
    }
    if (findDrag(actor, command->fields->drag) >= 0) {
        return rbActionCommand_Fail(
            command,
            "the drag number %d is already open; end it first, or use a new "
            "number",
            (int)command->fields->drag);
    }
    for (int i = 0; i < actor->drags.count; ++i) {
        if (RB_ID_EQUALS(actor->drags.data[i].bodyId, drag->bodyId)) {
            return rbActionCommand_Fail(
                command, "body \"%s\" is already being dragged; wait until it is released",
                rbBody_GetName(command->world, drag->bodyId));
        }
    }
    if (actor->drags.count >= RB_ACTION_DRAGS_MAX) {
        return rbActionCommand_Fail(command,
                                    "%d bodies are already being dragged, which is the limit",
                                    RB_ACTION_DRAGS_MAX);
    }
    return RB_STATUS_OK;
}

// The point of the body that the manipulators move: its origin, or its center of mass.
static rbVec3 getHeldPoint(const rbActionCommand* command, const rbDrag* drag)
{
    rbBodyState state = rbBody_GetState(command->world, drag->bodyId);
    switch (drag->kind) {
    case RB_DRAG_TRANSLATE:
        return state.transform.p;
    case RB_DRAG_ROTATE:
        return state.center;
    case RB_DRAG_POINT:
    case RB_DRAG_KIND_COUNT:
        break;
    }
    return command->fields->point;
}

// When stops or contacts share a mechanism with a drag that its joints prevent, the direct solver
// finds no split of the forces and the steps miss their tolerance; sweeps converge to one.
static rbSolverType chooseSolver(const rbActionCommand* command)
{
    bool hasContacts = rbWorld_HasContacts(command->world) ||
                       rbWorld_GetContactStatistics(command->world).limitedJoints > 0;
    return hasContacts ? RB_SOLVER_ITERATIVE : RB_SOLVER_AUTO;
}

// Like rbWorld_StartDrag, but with a separate solver.
static rbJointId makeJoint(const rbActionCommand* command, const rbDrag* drag, rbJointType type,
                           rbVec3 point)
{
    rbJointDef def = rbDefaultJointDef();
    def.type = type;
    def.bodyB = drag->bodyId;
    def.isVelocityOnly = true;
    def.forceMax = type == RB_JOINT_BALL ? drag->forceMax : drag->torqueMax;
    def.solver = chooseSolver(command);
    rbJointDef_SetAnchor(&def, command->world, point);
    return rbCreateJoint(command->world, &def, command->reader->error);
}

static rbStatus makeJoints(const rbActionCommand* command, rbDrag* drag, rbVec3 point)
{
    // The joints of a body determine how it turns while it translates, and how it translates while
    // it turns.
    bool isPointHeld = drag->kind != RB_DRAG_ROTATE || !drag->hasJoints;
    bool isTurnHeld =
        drag->kind == RB_DRAG_ROTATE || (drag->kind == RB_DRAG_TRANSLATE && !drag->hasJoints);
    if (isPointHeld) {
        drag->jointId = makeJoint(command, drag, RB_JOINT_BALL, point);
    }
    bool isMade = !isPointHeld || !RB_IS_NULL(drag->jointId);
    if (isMade && isTurnHeld) {
        drag->turnId = makeJoint(command, drag, RB_JOINT_TRANSLATION, point);
        isMade = !RB_IS_NULL(drag->turnId);
    }
    if (!isMade && !RB_IS_NULL(drag->jointId)) {
        command->actor->wasTouched = true;
        rbDestroyJoint(command->world, drag->jointId);
    }
    return isMade ? RB_STATUS_OK : command->reader->error->status;
}

static rbStatus chooseForce(const rbActionCommand* command, rbDrag* drag)
{
    double own = rbBody_GetMass(command->world, drag->bodyId).mass;
    double most = ACCELERATION_MAX * drag->mass;
    drag->forceMax = OWN_ACCELERATION * own + ALL_ACCELERATION * drag->mass;
    if (rbActionCommand_HasKey(command, "forceMax")) {
        drag->forceMax = command->fields->forceMax;
    }
    drag->torqueMax =
        fmin(drag->forceMax, OWN_ACCELERATION * own) * getGyration(command->world, drag->bodyId);
    return drag->forceMax <= most
               ? RB_STATUS_OK
               : rbActionCommand_Fail(
                     command,
                     "forceMax is %.6g N; for body \"%s\" and those connected to it at most %.6g "
                     "N are accepted",
                     drag->forceMax, rbBody_GetName(command->world, drag->bodyId), most);
}

rbStatus rbStartDragCommand(const rbActionCommand* command)
{
    rbActor* actor = command->actor;
    rbDrag drag = {.number = (int)command->fields->drag};
    rbStatus status = validateDrag(command, &drag);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbVec3 point = getHeldPoint(command, &drag);
    drag.localPoint =
        rbInvTransformPoint(rbBody_GetState(command->world, drag.bodyId).transform, point);
    drag.mass = weighCluster(actor, command->world, drag.bodyId, &drag.hasJoints);
    status = chooseForce(command, &drag);
    if (status == RB_STATUS_OK && rbScene_GetInfo(actor->scene)->engineTraits.isStepped) {
        actor->hasOtherStructure = true;
        status = makeJoints(command, &drag, point);
    }
    if (status == RB_STATUS_OK) {
        rbArray_Push(actor->drags, drag);
    }
    return status;
}

// -------------------------------------------------------------------------------------------- move

// The rotation vector of the shortest turn from one orientation to another, rad, world axes.
static rbVec3 getTurn(rbQuat from, rbQuat to)
{
    rbQuat q = rbMulQuat(to, rbConjugate(from));
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    rbVec3 axis = {sign * q.x, sign * q.y, sign * q.z};
    double sine = rbLength(axis);
    if (sine < 1e-12) {
        return rbScale(2.0, axis);
    }
    return rbScale(2.0 * rbAtan2(sine, sign * q.w) / sine, axis);
}

// The target motion of the body: velocity of the held point and angular velocity.
typedef struct Wish {
    rbVec3 linear;  // m/s
    rbVec3 angular; // rad/s
} Wish;

static Wish getWish(const rbActionCommand* command, const rbDrag* drag)
{
    rbBodyState state = rbBody_GetState(command->world, drag->bodyId);
    rbVec3 held = rbTransformPoint(state.transform, drag->localPoint);
    Wish wish = {RB_VEC3_ZERO, RB_VEC3_ZERO};
    double way = 0.0;
    if (drag->kind == RB_DRAG_ROTATE) {
        wish.angular = getTurn(state.transform.q, command->fields->orientation);
        way = rbLength(wish.angular) * getGyration(command->world, drag->bodyId);
    } else {
        rbVec3 target =
            drag->kind == RB_DRAG_POINT ? command->fields->point : command->fields->position;
        wish.linear = rbSub(target, held);
        way = rbLength(wish.linear);
    }
    double braking = sqrt(0.5 * way * drag->mass / drag->forceMax);
    double rate = 1.0 / fmax(command->fields->duration, braking);
    wish.linear = rbScale(rate, wish.linear);
    wish.angular = rbScale(rate, wish.angular);
    return wish;
}

// The world inertia tensor times a vector, or its inverse times it.
static rbVec3 mulInertia(const rbWorld* world, rbBodyId bodyId, rbVec3 v, bool isInverse)
{
    rbTransform frame;
    rbVec3 moments = rbBody_GetPrincipalMoments(world, bodyId, &frame);
    rbQuat q = rbMulQuat(rbBody_GetState(world, bodyId).transform.q, frame.q);
    rbVec3 local = rbInvRotate(q, v);
    if (isInverse) {
        moments = (rbVec3){1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z};
    }
    return rbRotate(q, rbMulEach(moments, local));
}

// Solves K x = b by Cramer's rule; K is symmetric and positive.
static rbVec3 solve(const rbVec3 columns[3], rbVec3 b)
{
    rbVec3 c12 = rbCross(columns[1], columns[2]);
    double scale = 1.0 / rbDot(columns[0], c12);
    rbVec3 x = {scale * rbDot(b, c12), scale * rbDot(columns[0], rbCross(b, columns[2])),
                scale * rbDot(columns[0], rbCross(columns[1], b))};
    return x;
}

static rbVec3 limit(rbVec3 v, double most)
{
    double length = rbLength(v);
    return length > most ? rbScale(most / length, v) : v;
}

// The impulse at a point that changes its velocity by a given one: K = 1/m - r x I^-1 r x.
static rbVec3 getPointImpulse(const rbWorld* world, rbBodyId bodyId, rbVec3 point, rbVec3 change)
{
    static const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    rbVec3 arm = rbSub(point, rbBody_GetState(world, bodyId).center);
    double inverseMass = 1.0 / rbBody_GetMass(world, bodyId).mass;
    rbVec3 columns[3];
    for (int i = 0; i < 3; ++i) {
        rbVec3 spin = mulInertia(world, bodyId, rbCross(arm, axes[i]), true);
        columns[i] = rbAdd(rbScale(inverseMass, axes[i]), rbCross(spin, arm));
    }
    return solve(columns, change);
}

// Engines without joints: the impulse of a move, limited to what the force can do until the next
// move, which comes after half the duration. Half of gravity's impulse until then is compensated in
// advance, so that the mean velocity is the target velocity.
static void kick(const rbActionCommand* command, const rbDrag* drag, const Wish* wanted)
{
    rbWorld* world = command->world;
    rbBodyState state = rbBody_GetState(world, drag->bodyId);
    double interval = 0.5 * command->fields->duration;
    double most = drag->forceMax * interval;
    Wish changed = *wanted;
    changed.linear = rbAddScaled(changed.linear, -0.5 * interval, rbWorld_GetGravity(world));
    const Wish* wish = &changed;
    if (drag->kind == RB_DRAG_POINT) {
        rbVec3 held = rbTransformPoint(state.transform, drag->localPoint);
        rbVec3 change = rbSub(wish->linear, rbBody_GetPointVelocity(world, drag->bodyId, held));
        rbVec3 impulse = limit(getPointImpulse(world, drag->bodyId, held, change), most);
        rbBody_ApplyImpulse(world, drag->bodyId, impulse, held);
        return;
    }
    double mass = rbBody_GetMass(world, drag->bodyId).mass;
    rbVec3 turn =
        mulInertia(world, drag->bodyId, rbSub(wish->angular, state.angularVelocity), false);
    rbVec3 impulse = rbScale(mass, rbSub(wish->linear, state.linearVelocity));
    turn = limit(turn, most * getGyration(world, drag->bodyId));
    rbBody_ApplyImpulse(world, drag->bodyId, limit(impulse, most), state.center);
    rbBody_ApplyAngularImpulse(world, drag->bodyId, turn);
}

static rbStatus failNoDrag(const rbActionCommand* command)
{
    return rbActionCommand_Fail(command,
                                "there is no open drag number %d; start one with \"drag-start\"",
                                (int)command->fields->drag);
}

rbStatus rbMoveDragCommand(const rbActionCommand* command)
{
    int index = findDrag(command->actor, command->fields->drag);
    if (index < 0) {
        return failNoDrag(command);
    }
    const rbDrag* drag = &command->actor->drags.data[index];
    const char* key = moveKeys[drag->kind];
    if (!rbActionCommand_HasKey(command, key)) {
        return rbActionCommand_Fail(command,
                                    "a drag of the kind \"%s\" needs the key \"%s\" to move",
                                    kindNames[drag->kind], key);
    }
    Wish wish = getWish(command, drag);
    if (!(rbLength(wish.linear) <= RB_SCENE_SPEED_MAX) ||
        !(rbLength(wish.angular) <= RB_SCENE_SPEED_MAX)) {
        return rbActionCommand_Fail(command, "the target is too far away for %g s",
                                    command->fields->duration);
    }
    if (RB_IS_NULL(drag->jointId) && RB_IS_NULL(drag->turnId)) {
        kick(command, drag, &wish);
        return RB_STATUS_OK;
    }
    rbStatus status = RB_STATUS_OK;
    if (!RB_IS_NULL(drag->jointId)) {
        status = rbJoint_SetVelocity(command->world, drag->jointId, wish.linear, RB_VEC3_ZERO,
                                     command->reader->error);
    }
    if (status == RB_STATUS_OK && !RB_IS_NULL(drag->turnId)) {
        status = rbJoint_SetVelocity(command->world, drag->turnId, RB_VEC3_ZERO, wish.angular,
                                     command->reader->error);
    }
    return status;
}

rbStatus rbEndDragCommand(const rbActionCommand* command)
{
    int index = findDrag(command->actor, command->fields->drag);
    if (index < 0) {
        return failNoDrag(command);
    }
    rbJointId jointId = command->actor->drags.data[index].jointId;
    rbJointId turnId = command->actor->drags.data[index].turnId;
    command->actor->hasOtherStructure = !RB_IS_NULL(jointId) || !RB_IS_NULL(turnId);
    if (!RB_IS_NULL(jointId)) {
        rbDestroyJoint(command->world, jointId);
    }
    if (!RB_IS_NULL(turnId)) {
        rbDestroyJoint(command->world, turnId);
    }
    removeDrag(command->actor, index);
    return RB_STATUS_OK;
}
