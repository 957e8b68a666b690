// Joints as small marks, connections to distant anchors as rods, springs as coils, the edges of a
// periodic box as lines. Sizes are fractions of the radius of the view: visible, but not hiding
// what they hold.
#include "base/math/elementary.h"
#include "render/picture_model.h"

#define MARK_RADIUS 0.017   // of a joint
#define MARK_OF_BODY 0.3    // but at most this fraction of the smaller body
#define PIN_LENGTH 3.0      // of a joint with an axis, in radii of the mark
#define ROD_RADIUS 0.008    // of a rod to a distant anchor
#define WIRE_RADIUS 0.005   // of a spring
#define EDGE_RADIUS 0.003   // of the periodic box
#define COIL_RADIUS 0.035   // of a spring
#define COIL_OF_LENGTH 0.12 // but at most this fraction of its length
#define COIL_TURNS 11
#define COIL_STEPS 14 // pieces per turn
#define COILS_MAX 48  // if there are more, springs are straight
#define SIDES 8       // of a tube
#define LINKS_MAX 4000
#define REACH 1.02 // radii of a body from its center beyond which an anchor is distant

static void reserveLinks(rbPictureFrame* frame, int vertices, int triangles)
{
    rbTriangles* t = &frame->links.triangles;
    int capacity = frame->linkTriangleCapacity;
    t->vertices = rbEnsureArray(t->vertices, &frame->linkVertexCapacity, t->vertexCount + vertices,
                                sizeof *t->vertices);
    t->triangles = rbEnsureArray(t->triangles, &frame->linkTriangleCapacity,
                                 t->triangleCount + triangles, sizeof *t->triangles);
    frame->links.normals =
        rbEnsureArray(frame->links.normals, &capacity, t->triangleCount + triangles,
                      sizeof *frame->links.normals);
}

static void addTriangle(rbPictureFrame* frame, const int corners[3], const rbVec3 normals[3])
{
    rbTriangles* t = &frame->links.triangles;
    for (int k = 0; k < 3; ++k) {
        t->triangles[t->triangleCount][k] = corners[k];
        frame->links.normals[t->triangleCount][k] = rbToFloat3(normals[k]);
    }
    ++t->triangleCount;
}

// A tube from a to b with flat ends.
static void addTube(rbPictureFrame* frame, rbVec3 a, rbVec3 b, double radius)
{
    rbTriangles* t = &frame->links.triangles;
    rbVec3 axis = rbNormalize(rbSub(b, a));
    if (!(rbLength(axis) > 0.5) || !rbIsFinite3(a) || !rbIsFinite3(b)) {
        return;
    }
    reserveLinks(frame, 2 * SIDES, 4 * SIDES - 4);
    rbVec3 e1 = rbPerpendicular(axis);
    rbVec3 e2 = rbCross(axis, e1);
    rbVec3 normals[SIDES];
    int first = t->vertexCount;
    for (int i = 0; i < SIDES; ++i) {
        double s, c;
        rbSinCos(2.0 * RB_PI * i / SIDES, &s, &c);
        normals[i] = rbAdd(rbScale(c, e1), rbScale(s, e2));
        t->vertices[t->vertexCount++] = rbAddScaled(a, radius, normals[i]);
        t->vertices[t->vertexCount++] = rbAddScaled(b, radius, normals[i]);
    }
    for (int i = 0; i < SIDES; ++i) {
        int k = (i + 1) % SIDES;
        const int lower[3] = {first + 2 * i, first + 2 * k, first + 2 * k + 1};
        const int upper[3] = {first + 2 * i, first + 2 * k + 1, first + 2 * i + 1};
        const rbVec3 lowerNormals[3] = {normals[i], normals[k], normals[k]};
        const rbVec3 upperNormals[3] = {normals[i], normals[k], normals[i]};
        addTriangle(frame, lower, lowerNormals);
        addTriangle(frame, upper, upperNormals);
    }
    const rbVec3 ends[2] = {rbNeg(axis), axis};
    for (int i = 1; i < SIDES - 1; ++i) {
        for (int k = 0; k < 2; ++k) {
            const int fan[3] = {first + k, first + 2 * (k == 1 ? i : i + 1) + k,
                                first + 2 * (k == 1 ? i + 1 : i) + k};
            const rbVec3 fanNormals[3] = {ends[k], ends[k], ends[k]};
            addTriangle(frame, fan, fanNormals);
        }
    }
}

static void addCoil(rbPictureFrame* frame, rbVec3 a, rbVec3 b)
{
    double unit = 1.0 / frame->scale;
    rbVec3 arm = rbSub(b, a);
    double length = rbLength(arm);
    double radius = COIL_RADIUS * unit;
    radius = radius < COIL_OF_LENGTH * length ? radius : COIL_OF_LENGTH * length;
    if (!(length > 0.0)) {
        return;
    }
    rbVec3 e1 = rbPerpendicular(rbNormalize(arm));
    rbVec3 e2 = rbCross(rbNormalize(arm), e1);
    rbVec3 last = a;
    int count = COIL_TURNS * COIL_STEPS;
    for (int i = 0; i <= count; ++i) {
        double s, c;
        rbSinCos(2.0 * RB_PI * i / COIL_STEPS, &s, &c);
        double along = 0.1 + 0.8 * i / count; // a tenth at each end is straight
        rbVec3 point = rbAddScaled(a, along, arm);
        double out = i == 0 || i == count ? 0.0 : radius;
        point = rbAdd(point, rbAdd(rbScale(out * c, e1), rbScale(out * s, e2)));
        addTube(frame, last, point, WIRE_RADIUS * unit);
        last = point;
    }
    addTube(frame, last, b, WIRE_RADIUS * unit);
}

static void addSprings(rbPictureFrame* frame, const rbWorld* world)
{
    int count = rbWorld_GetSpringCount(world);
    if (count == 0 || count > LINKS_MAX) {
        return;
    }
    rbSpringId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetSpringIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        rbSpringState state = rbSpring_GetState(world, ids[i]);
        if (count <= COILS_MAX) {
            addCoil(frame, state.pointA, state.pointB);
        } else {
            addTube(frame, state.pointA, state.pointB, WIRE_RADIUS / frame->scale);
        }
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}

static const rbShownBody* findBody(const rbPictureModel* model, rbBodyId id)
{
    // as long as no body was deleted, bodies are in the order of their slots
    int guess = (int)id.index1 - 1;
    if (guess >= 0 && guess < model->bodyCount && RB_ID_EQUALS(model->bodies[guess].id, id)) {
        return &model->bodies[guess];
    }
    for (int i = 0; i < model->bodyCount; ++i) {
        if (RB_ID_EQUALS(model->bodies[i].id, id)) {
            return &model->bodies[i];
        }
    }
    return NULL;
}

// A rod from the center of a body to an anchor outside it.
static void addRod(rbPictureFrame* frame, const rbWorld* world, const rbShownBody* body,
                   rbVec3 point)
{
    rbBodyState state = rbBody_GetState(world, body->id);
    if (rbDistance(state.transform.p, point) > REACH * body->radius) {
        addTube(frame, state.center, point, ROD_RADIUS / frame->scale);
    }
}

static void addMark(rbPictureFrame* frame, rbPictureModel* model, const rbJointState* state,
                    double radius)
{
    if (rbLength(state->axis) > 0.5) {
        rbVec3 arm = rbScale(PIN_LENGTH * radius, state->axis);
        addTube(frame, rbSub(state->pointA, arm), rbAdd(state->pointA, arm), radius);
        return;
    }
    rbInstance instance = {.surface = rbPictureModel_GetSurface(model, model->ball, 2),
                           .color = rbLinearColor(RB_COLOR_LINK),
                           .opacity = 1.0,
                           .isSolid = true,
                           .gloss = RB_GLOSS};
    rbPictureFrame_AddInstance(frame, &instance, (rbTransform){state->pointA, RB_QUAT_IDENTITY},
                               radius);
}

static void addJoint(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world,
                     rbJointId jointId)
{
    rbJointState state = rbJoint_GetState(world, jointId);
    rbJointType type = rbJoint_GetType(world, jointId);
    bool hasPoint = type < RB_JOINT_TRANSLATION || type > RB_JOINT_DOUBLE_ROTATION;
    if (!hasPoint || rbJoint_GetConditionCount(world, jointId) == 0 || !rbIsFinite3(state.pointA) ||
        !rbIsFinite3(state.pointB)) {
        return;
    }
    const rbShownBody* bodies[2] = {findBody(model, rbJoint_GetBodyA(world, jointId)),
                                    findBody(model, rbJoint_GetBodyB(world, jointId))};
    double radius = MARK_RADIUS / frame->scale;
    for (int i = 0; i < 2; ++i) {
        if (bodies[i] != NULL && bodies[i]->type == RB_BODY_DYNAMIC) {
            double most = MARK_OF_BODY * bodies[i]->radius;
            radius = most > 0.0 && most < radius ? most : radius;
            addRod(frame, world, bodies[i], i == 0 ? state.pointA : state.pointB);
        }
    }
    if (type == RB_JOINT_DISTANCE) {
        addTube(frame, state.pointA, state.pointB, ROD_RADIUS / frame->scale);
    }
    addMark(frame, model, &state, radius);
}

static void addJoints(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world)
{
    int count = rbWorld_GetJointCount(world);
    if (count == 0 || count > LINKS_MAX) {
        return;
    }
    rbJointId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetJointIds(world, ids, count);
    for (int i = 0; i < count; ++i) {
        addJoint(frame, model, world, ids[i]);
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}

// The edges of the box along its periodic directions.
static void addPeriodicBox(rbPictureFrame* frame, const rbWorld* world)
{
    rbVec3 half = rbScale(0.5, rbWorld_GetPeriodicBox(world));
    if (!(rbLength(half) > 0.0)) {
        return;
    }
    for (int axis = 0; axis < 3; ++axis) {
        for (int k = 0; k < 4; ++k) {
            double a = k & 1 ? 1.0 : -1.0;
            double b = k & 2 ? 1.0 : -1.0;
            rbVec3 low = axis == 0   ? rbMakeVec3(-1.0, a, b)
                         : axis == 1 ? rbMakeVec3(a, -1.0, b)
                                     : rbMakeVec3(a, b, -1.0);
            rbVec3 high = axis == 0   ? rbMakeVec3(1.0, a, b)
                          : axis == 1 ? rbMakeVec3(a, 1.0, b)
                                      : rbMakeVec3(a, b, 1.0);
            addTube(frame, rbMulEach(low, half), rbMulEach(high, half), EDGE_RADIUS / frame->scale);
        }
    }
}

void rbPictureFrame_AddLinks(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world,
                             bool hasJoints)
{
    RB_ASSERT(frame->scale > 0.0);
    frame->links.triangles.vertexCount = 0;
    frame->links.triangles.triangleCount = 0;
    addPeriodicBox(frame, world);
    if (hasJoints) {
        addSprings(frame, world);
        addJoints(frame, model, world);
    }
    if (frame->links.triangles.triangleCount > 0) {
        rbInstance instance = {.surface = &frame->links,
                               .color = rbLinearColor(RB_COLOR_LINK),
                               .opacity = 1.0,
                               .isSolid = true,
                               .gloss = RB_GLOSS};
        rbPictureFrame_AddInstance(frame, &instance, RB_TRANSFORM_IDENTITY, 1.0);
    }
}
