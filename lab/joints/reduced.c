// Reduced coordinates: the state, its motion, steps and energy. reduced_tree.c builds the tree,
// reduced_forward.c computes accelerations.
#include "lab/joints/reduced.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"
#include "base/math/quaternion.h"
#include "lab/joints/classical_state.h"
#include "lab/joints/reduced_state.h"
#include "lab/math/axis_angle.h"
#include "lab/math/rotations.h"

rbReduced* rbCreateReduced(const rbMechanism* mechanism, rbError* error)
{
    rbReduced* reduced = rbAllocZero(1, sizeof *reduced);
    reduced->bodyCount = mechanism->bodyCount;
    reduced->links = rbAllocZero((size_t)mechanism->bodyCount, sizeof *reduced->links);
    reduced->linkOfBody = rbAllocZero((size_t)mechanism->bodyCount, sizeof(int));
    reduced->bases = rbAllocZero((size_t)mechanism->bodyCount, sizeof *reduced->bases);
    if (rbReduced_BuildTree(reduced, mechanism, error) != RB_STATUS_OK) {
        rbDestroyReduced(reduced);
        return NULL;
    }
    int count = reduced->coordinateCount + reduced->speedCount;
    reduced->state = rbAllocZero((size_t)count, sizeof(double));
    reduced->stateCount = count;
    rbRunge_Make(&reduced->runge, 4, count);
    rbDriven_Make(&reduced->driven, mechanism);
    rbReduced_Read(reduced, mechanism);
    return reduced;
}

void rbDestroyReduced(rbReduced* reduced)
{
    if (reduced == NULL) {
        return;
    }
    size_t bodies = (size_t)reduced->bodyCount;
    rbRunge_Free(&reduced->runge);
    rbDriven_Free(&reduced->driven);
    rbFree(reduced->state, (size_t)reduced->stateCount * sizeof(double));
    rbFree(reduced->links, bodies * sizeof *reduced->links);
    rbFree(reduced->linkOfBody, bodies * sizeof(int));
    rbFree(reduced->bases, bodies * sizeof *reduced->bases);
    rbFree(reduced, sizeof *reduced);
}

void rbReduced_SetOrder(rbReduced* reduced, int order)
{
    RB_ASSERT(order >= 1);
    rbRunge_Free(&reduced->runge);
    rbRunge_Make(&reduced->runge, order, reduced->stateCount);
}

int rbReduced_GetFreedomCount(const rbReduced* reduced)
{
    return reduced->speedCount;
}

static rbQuat getQuat(const double* x)
{
    return rbNormalizeQuat((rbQuat){x[0], x[1], x[2], x[3]});
}

static void putQuat(double* x, rbQuat q)
{
    x[0] = q.w;
    x[1] = q.x;
    x[2] = q.y;
    x[3] = q.z;
}

static rbVec3 getVec3(const double* x)
{
    return rbMakeVec3(x[0], x[1], x[2]);
}

static void putVec3(double* x, rbVec3 v)
{
    x[0] = v.x;
    x[1] = v.y;
    x[2] = v.z;
}

static const rbReducedLink* getParent(const rbReduced* reduced, const rbReducedLink* link)
{
    return link->parent >= 0 ? &reduced->links[link->parent] : &reduced->bases[link->parentBody];
}

// Places a link relative to its parent: its pose, and the directions in which its speeds move it.
static void placeBall(rbReducedLink* link, const rbReducedLink* parent, const double* x)
{
    link->orientation = getQuat(x);
    link->toJoint = rbRotate(parent->orientation, link->pointParent);
    link->fromJoint = rbNeg(rbRotate(link->orientation, link->pointChild));
    rbVec3 r = link->fromJoint;
    // v = w x r, column by column.
    link->axes[0] = (rbSpatial){{1.0, 0.0, 0.0}, {0.0, -r.z, r.y}};
    link->axes[1] = (rbSpatial){{0.0, 1.0, 0.0}, {r.z, 0.0, -r.x}};
    link->axes[2] = (rbSpatial){{0.0, 0.0, 1.0}, {-r.y, r.x, 0.0}};
}

static void placeHinge(rbReducedLink* link, const rbReducedLink* parent, const double* x)
{
    rbQuat turn = rbQuat_FromAxisAngle(link->axisParent, x[0]);
    link->orientation =
        rbNormalizeQuat(rbMulQuat(parent->orientation, rbMulQuat(turn, link->relative)));
    link->toJoint = rbRotate(parent->orientation, link->pointParent);
    link->fromJoint = rbNeg(rbRotate(link->orientation, link->pointChild));
    link->axis = rbRotate(parent->orientation, link->axisParent);
    link->axes[0] = (rbSpatial){link->axis, rbCross(link->axis, link->fromJoint)};
}

static void placePrismatic(rbReducedLink* link, const rbReducedLink* parent, const double* x)
{
    link->orientation = rbNormalizeQuat(rbMulQuat(parent->orientation, link->relative));
    link->axis = rbRotate(parent->orientation, link->axisParent);
    link->toJoint = rbAddScaled(rbRotate(parent->orientation, link->pointParent), x[0], link->axis);
    link->fromJoint = rbNeg(rbRotate(link->orientation, link->pointChild));
    link->axes[0] = (rbSpatial){RB_VEC3_ZERO, link->axis};
}

static void placeFixed(rbReducedLink* link, const rbReducedLink* parent, const double* x)
{
    (void)x;
    link->orientation = rbNormalizeQuat(rbMulQuat(parent->orientation, link->relative));
    link->toJoint = rbRotate(parent->orientation, link->pointParent);
    link->fromJoint = rbNeg(rbRotate(link->orientation, link->pointChild));
}

static void placeFree(rbReducedLink* link, const rbReducedLink* parent, const double* x)
{
    (void)parent;
    link->orientation = getQuat(&x[3]);
    link->toJoint = getVec3(x);
    link->fromJoint = RB_VEC3_ZERO;
    for (int i = 0; i < 3; ++i) {
        rbVec3 unit = {i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
        link->axes[i] = (rbSpatial){unit, RB_VEC3_ZERO};
        link->axes[3 + i] = (rbSpatial){RB_VEC3_ZERO, unit};
    }
}

// Derivatives of coordinates.
static void writeTurn(const rbReducedLink* link, const double* x, double* derivative)
{
    rbVec3 w = link->motion.w;
    rbQuat spin = {0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
    putQuat(derivative, rbMulQuat(spin, (rbQuat){x[0], x[1], x[2], x[3]}));
}

static void rateSpeed(const rbReducedLink* link, const double* x, const double* u,
                      double* derivative)
{
    (void)link;
    (void)x;
    derivative[0] = u[0];
}

static void rateBall(const rbReducedLink* link, const double* x, const double* u,
                     double* derivative)
{
    (void)u;
    writeTurn(link, x, derivative);
}

static void rateFree(const rbReducedLink* link, const double* x, const double* u,
                     double* derivative)
{
    putVec3(derivative, getVec3(&u[3]));
    writeTurn(link, &x[3], &derivative[3]);
}

// Computes coordinates from the pose of a child.
static void readBall(const rbReducedLink* link, const rbReducedLink* parent, const rbRowPose* pose,
                     double* x)
{
    (void)link;
    (void)parent;
    putQuat(x, pose->orientation);
}

static void readHinge(const rbReducedLink* link, const rbReducedLink* parent, const rbRowPose* pose,
                      double* x)
{
    // parent^-1 child relative^-1 is a rotation about the axis, plus what the joint does not allow.
    rbQuat seen = rbMulQuat(rbConjugate(parent->orientation), pose->orientation);
    rbQuat turn = rbMulQuat(seen, rbConjugate(link->relative));
    double sine = rbDot(rbMakeVec3(turn.x, turn.y, turn.z), link->axisParent);
    x[0] = 2.0 * rbAtan2(turn.w < 0.0 ? -sine : sine, fabs(turn.w));
}

static void readPrismatic(const rbReducedLink* link, const rbReducedLink* parent,
                          const rbRowPose* pose, double* x)
{
    rbVec3 to = rbAdd(parent->position, rbRotate(parent->orientation, link->pointParent));
    rbVec3 child = rbAdd(pose->position, rbRotate(pose->orientation, link->pointChild));
    x[0] = rbDot(rbSub(child, to), rbRotate(parent->orientation, link->axisParent));
}

static void readFree(const rbReducedLink* link, const rbReducedLink* parent, const rbRowPose* pose,
                     double* x)
{
    (void)link;
    (void)parent;
    putVec3(x, pose->position);
    putQuat(&x[3], pose->orientation);
}

typedef struct LinkOps {
    int coordinates;
    int speeds;
    void (*place)(rbReducedLink* link, const rbReducedLink* parent, const double* x);
    // NULL: there are no coordinates.
    void (*rate)(const rbReducedLink* link, const double* x, const double* u, double* derivative);
    void (*read)(const rbReducedLink* link, const rbReducedLink* parent, const rbRowPose* pose,
                 double* x);
} LinkOps;

static const LinkOps linkTable[RB_LINK_COUNT] = {
    [RB_LINK_BALL] = {4, 3, placeBall, rateBall, readBall},
    [RB_LINK_HINGE] = {1, 1, placeHinge, rateSpeed, readHinge},
    [RB_LINK_PRISMATIC] = {1, 1, placePrismatic, rateSpeed, readPrismatic},
    [RB_LINK_FIXED] = {0, 0, placeFixed, NULL, NULL},
    [RB_LINK_FREE] = {7, 6, placeFree, rateFree, readFree},
};

int rbLinkKind_GetCoordinates(rbLinkKind kind)
{
    RB_ASSERT((unsigned)kind < RB_LINK_COUNT);
    return linkTable[kind].coordinates;
}

int rbLinkKind_GetSpeeds(rbLinkKind kind)
{
    RB_ASSERT((unsigned)kind < RB_LINK_COUNT);
    return linkTable[kind].speeds;
}

static void readBases(rbReduced* reduced, const rbMechanism* mechanism)
{
    for (int i = 0; i < mechanism->bodyCount; ++i) {
        const rbMechBody* body = &mechanism->bodies[i];
        if (!body->isDynamic) {
            rbReducedLink* base = &reduced->bases[i];
            base->position = body->pose.position;
            base->orientation = body->pose.orientation;
            base->motion = (rbSpatial){body->angularVelocity, body->velocity};
        }
    }
}

// Pose of one link and the quantities that depend on it.
static void placeLink(const rbReduced* reduced, rbReducedLink* link, const double* x)
{
    const rbReducedLink* parent = getParent(reduced, link);
    linkTable[link->kind].place(link, parent, &x[link->firstCoordinate]);
    link->fromParent = rbAdd(link->toJoint, link->fromJoint);
    link->position = rbAdd(parent->position, link->fromParent);
}

static void moveLink(const rbReduced* reduced, rbReducedLink* link, const double* u)
{
    const rbReducedLink* parent = getParent(reduced, link);
    rbSpatial motion = rbShiftMotion(parent->motion, link->fromParent);
    for (int i = 0; i < link->speedCount; ++i) {
        motion = rbAddScaledSpatial(motion, u[link->firstSpeed + i], link->axes[i]);
    }
    link->motion = motion;
}

static void finishInertia(rbReducedLink* link)
{
    rbMat3 rotation = rbMatFromQuat(link->orientation);
    link->inertia = rbSym3_FromPrincipal(link->moments, rotation);
}

void rbReduced_Place(rbReduced* reduced, const double* state)
{
    const double* u = &state[reduced->coordinateCount];
    for (int i = 0; i < reduced->linkCount; ++i) {
        rbReducedLink* link = &reduced->links[i];
        placeLink(reduced, link, state);
        moveLink(reduced, link, u);
        finishInertia(link);
    }
}

// Speeds of a link that best match a motion: least squares of S u = motion, weighted by the body's
// own inertia. Exact if the joint allows the motion.
static void readSpeeds(const rbReducedLink* link, rbSpatial rest, double* u)
{
    double matrix[36];
    double right[6];
    int n = link->speedCount;
    rbMat3 inertia = rbMatFromSym(link->inertia);
    for (int i = 0; i < n; ++i) {
        rbSpatial force = {rbMulMV(inertia, link->axes[i].w), rbScale(link->mass, link->axes[i].v)};
        for (int j = 0; j < n; ++j) {
            matrix[i * 6 + j] = rbDotSpatial(force, link->axes[j]);
        }
        right[i] = rbDotSpatial(force, rest);
    }
    rbReduced_SolveSmall(matrix, n, right);
    for (int i = 0; i < n; ++i) {
        u[i] = right[i];
    }
}

void rbReduced_Read(rbReduced* reduced, const rbMechanism* mechanism)
{
    RB_ASSERT(mechanism->bodyCount == reduced->bodyCount);
    double* x = reduced->state;
    double* u = &reduced->state[reduced->coordinateCount];
    readBases(reduced, mechanism);
    for (int i = 0; i < reduced->linkCount; ++i) {
        rbReducedLink* link = &reduced->links[i];
        const rbMechBody* body = &mechanism->bodies[link->body];
        const rbReducedLink* parent = getParent(reduced, link);
        if (linkTable[link->kind].read != NULL) {
            linkTable[link->kind].read(link, parent, &body->pose, &x[link->firstCoordinate]);
        }
        placeLink(reduced, link, x);
        finishInertia(link);
        rbVec3 local = rbInvRotate(body->pose.orientation, body->momentum);
        rbVec3 w = rbRotate(body->pose.orientation, rbMulEach(body->invMoments, local));
        rbSpatial carried = rbShiftMotion(parent->motion, link->fromParent);
        rbSpatial rest = {rbSub(w, carried.w), rbSub(body->velocity, carried.v)};
        readSpeeds(link, rest, &u[link->firstSpeed]);
        moveLink(reduced, link, u);
    }
}

void rbReduced_Write(const rbReduced* reduced, rbMechanism* mechanism)
{
    RB_ASSERT(mechanism->bodyCount == reduced->bodyCount);
    for (int i = 0; i < reduced->linkCount; ++i) {
        const rbReducedLink* link = &reduced->links[i];
        rbMechBody* body = &mechanism->bodies[link->body];
        body->pose.position = link->position;
        body->pose.orientation = link->orientation;
        body->pose.rotation = rbMatFromQuat(link->orientation);
        body->velocity = link->motion.v;
        body->momentum = rbMulSV(link->inertia, link->motion.w);
    }
}

typedef struct StageContext {
    rbReduced* reduced;
    rbMechanism* mechanism;
    rbMechForceFn* forces;
    void* context;
    double h;
} StageContext;

static void readBaseAccelerations(rbReduced* reduced, double time)
{
    for (int i = 0; i < reduced->driven.count; ++i) {
        rbReducedLink* base = &reduced->bases[reduced->driven.bodies[i].body];
        rbDriven_GetAcceleration(&reduced->driven, i, time, &base->acceleration.v,
                                 &base->acceleration.w);
    }
}

static void evaluateStage(void* context, double t, const double* x, double* derivative)
{
    StageContext* stage = context;
    rbReduced* reduced = stage->reduced;
    rbMechanism* mechanism = stage->mechanism;
    const double* u = &x[reduced->coordinateCount];
    if (reduced->driven.count > 0) {
        // The callback places the bases, on which the links depend.
        stage->forces(stage->context, mechanism, t);
        readBases(reduced, mechanism);
        readBaseAccelerations(reduced, t);
    }
    rbReduced_Place(reduced, x);
    rbReduced_Write(reduced, mechanism);
    stage->forces(stage->context, mechanism, t);
    if (reduced->hasSoftRows) {
        rbMechanism_Refresh(mechanism);
        rbAddSoftForces(mechanism, stage->h, true);
    }
    for (int i = 0; i < reduced->linkCount; ++i) {
        const rbMechBody* body = &mechanism->bodies[reduced->links[i].body];
        reduced->links[i].load = (rbSpatial){body->torque, body->force};
    }
    rbReduced_FindAccelerations(reduced, u, &derivative[reduced->coordinateCount]);
    for (int i = 0; i < reduced->linkCount; ++i) {
        const rbReducedLink* link = &reduced->links[i];
        if (linkTable[link->kind].rate != NULL) {
            linkTable[link->kind].rate(link, &x[link->firstCoordinate], &u[link->firstSpeed],
                                       &derivative[link->firstCoordinate]);
        }
    }
}

// Normalizes the quaternions.
static void normalizeState(rbReduced* reduced)
{
    for (int i = 0; i < reduced->linkCount; ++i) {
        const rbReducedLink* link = &reduced->links[i];
        double* x = &reduced->state[link->firstCoordinate];
        if (link->kind == RB_LINK_BALL) {
            putQuat(x, getQuat(x));
        } else if (link->kind == RB_LINK_FREE) {
            putQuat(&x[3], getQuat(&x[3]));
        }
    }
}

void rbReduced_Step(rbReduced* reduced, rbMechanism* mechanism, double time, double h,
                    rbMechForceFn* forces, void* context)
{
    RB_ASSERT(h > 0.0);
    RB_ASSERT(mechanism->bodyCount == reduced->bodyCount);
    StageContext stage = {reduced, mechanism, forces, context, h};
    rbDriven_Start(&reduced->driven, mechanism, time, h, forces, context);
    rbRunge_Step(&reduced->runge, evaluateStage, &stage, time, h, reduced->state);
    normalizeState(reduced);
    if (reduced->driven.count > 0) {
        forces(context, mechanism, time + h);
        readBases(reduced, mechanism);
    }
    rbReduced_Place(reduced, reduced->state);
    rbReduced_Write(reduced, mechanism);
}

double rbReduced_Energy(const rbReduced* reduced, rbVec3 gravity)
{
    double energy = 0.0;
    for (int i = 0; i < reduced->linkCount; ++i) {
        const rbReducedLink* link = &reduced->links[i];
        rbVec3 momentum = rbMulSV(link->inertia, link->motion.w);
        energy += 0.5 * link->mass * rbLengthSquared(link->motion.v) +
                  0.5 * rbDot(link->motion.w, momentum) -
                  link->mass * rbDot(gravity, link->position);
    }
    return energy;
}

// The row in the table of methods.
static rbStatus check(const rbMechanism* mechanism, rbError* error)
{
    rbReduced* reduced = rbCreateReduced(mechanism, error);
    rbStatus status = reduced != NULL ? RB_STATUS_OK : RB_STATUS_INVALID;
    rbDestroyReduced(reduced);
    return status;
}

static void create(rbClassical* classical, const rbMechanism* mechanism)
{
    classical->reduced = rbCreateReduced(mechanism, NULL);
    RB_ASSERT(classical->reduced != NULL);
    rbReduced_SetOrder(classical->reduced, classical->order);
}

static void destroy(rbClassical* classical)
{
    rbDestroyReduced(classical->reduced);
}

// The start of the step is read from the bodies, so that a step is a function of them alone: steps
// that were tried and undone leave no trace. Reading costs one rounding per step.
static void step(rbClassical* classical, rbMechanism* mechanism, double time, double h,
                 rbMechForceFn* forces, void* context)
{
    rbReduced_Read(classical->reduced, mechanism);
    rbReduced_Step(classical->reduced, mechanism, time, h, forces, context);
}

const rbClassicalOps rbReducedOps = {
    .name = "reduced", .check = check, .create = create, .destroy = destroy, .step = step};
