// A world as points and lines.
//
// Shapes are drawn as the edges of their triangles, so a new shape needs nothing here. An edge
// between two coplanar triangles is left out: a box shows its twelve edges, not the diagonals.
#include "collision/geometry/half_edge.h"
#include "world/world_state.h"

#include <rattleback/debug_draw.h>

#include <math.h>

#define COLOR_RESTING 0x9f9f9fu
#define COLOR_BOUNDS 0x5f7fbfu
#define COLOR_CENTER 0xffffffu
#define COLOR_X 0xff3f3fu
#define COLOR_Y 0x3fff3fu
#define COLOR_Z 0x3f7fffu
#define COLOR_JOINT 0x3fdfdfu
#define COLOR_SPRING 0xdfdf3fu
#define COLOR_CONTACT 0xff5f00u
#define COLOR_NORMAL 0xffffffu
#define COLOR_FORCE 0xff00ffu

void rbInitDebugDraw(rbDebugDraw* draw, uint32_t abi, size_t size)
{
    if (rbStampDef(draw, RB_KIND_DEBUG_DRAW, sizeof *draw, abi, size)) {
        draw->enableShapes = true;
        draw->enableContacts = true;
        draw->enableJoints = true;
        draw->deviation = 0.05;
        draw->planeHalfSize = 10.0;
        draw->axisLength = 0.1;
    }
}

static void drawPoint(const rbDebugDraw* draw, rbVec3 position, uint32_t color)
{
    if (draw->drawPoint != NULL) {
        draw->drawPoint(position, color, draw->context);
    }
}

static void drawLine(const rbDebugDraw* draw, rbVec3 start, rbVec3 end, uint32_t color)
{
    if (draw->drawLine != NULL) {
        draw->drawLine(start, end, color, draw->context);
    }
}

// ------------------------------------------------------------------------------------------ shapes

static rbVec3 normalOf(const rbTriangles* triangles, int index)
{
    const int* corners = triangles->triangles[index];
    rbVec3 a = triangles->vertices[corners[0]];
    return rbNormalize(rbCross(rbSub(triangles->vertices[corners[1]], a),
                               rbSub(triangles->vertices[corners[2]], a)));
}

static void drawEdges(const rbDebugDraw* draw, const rbTriangles* triangles, rbTransform transform,
                      uint32_t color)
{
    rbMeshDef mesh = {.vertices = triangles->vertices,
                      .vertexCount = triangles->vertexCount,
                      .indices = triangles->triangles[0],
                      .faceCount = triangles->triangleCount};
    int count = 3 * triangles->triangleCount;
    rbHalfEdge* edges = rbSortHalfEdges(&mesh, count);
    for (int i = 0; i < count;) {
        int end = rbGetEdgeEnd(edges, count, i);
        rbVec3 normal = normalOf(triangles, edges[i].face);
        bool isFlat = false; // the adjacent triangles are coplanar
        for (int k = i + 1; k < end; ++k) {
            isFlat = isFlat || rbDot(normal, normalOf(triangles, edges[k].face)) > 1.0 - 1e-9;
        }
        if (!isFlat) {
            drawLine(draw, rbTransformPoint(transform, triangles->vertices[edges[i].low]),
                     rbTransformPoint(transform, triangles->vertices[edges[i].high]), color);
        }
        i = end;
    }
    rbFree(edges, (size_t)count * sizeof *edges);
}

static rbStatus drawGeometry(const rbDebugDraw* draw, const rbGeometry* geometry,
                             rbTransform transform, uint32_t color, rbError* error)
{
    double radius = rbGeometry_GetRadius(geometry, RB_VEC3_ZERO);
    double size = isfinite(radius) ? radius : draw->planeHalfSize;
    rbTriangles triangles;
    rbStatus status = rbGeometry_Triangulate(geometry, draw->deviation * size, draw->planeHalfSize,
                                             &triangles, error);
    if (status == RB_STATUS_OK) {
        drawEdges(draw, &triangles, transform, color);
        rbFreeTriangles(&triangles);
    }
    return status;
}

// One bit of the number per axis.
static rbVec3 cornerOf(const rbBounds* bounds, int number)
{
    return rbMakeVec3((number & 1) != 0 ? bounds->upper.x : bounds->lower.x,
                      (number & 2) != 0 ? bounds->upper.y : bounds->lower.y,
                      (number & 4) != 0 ? bounds->upper.z : bounds->lower.z);
}

// The edges of a box join corners whose numbers differ in one bit.
static void drawBounds(const rbDebugDraw* draw, rbBounds bounds)
{
    bool isFinite = rbIsFinite3(bounds.lower) && rbIsFinite3(bounds.upper);
    for (int i = 0; i < 8 && isFinite; ++i) {
        for (int bit = 1; bit < 8; bit *= 2) {
            if ((i & bit) == 0) {
                drawLine(draw, cornerOf(&bounds, i), cornerOf(&bounds, i | bit), COLOR_BOUNDS);
            }
        }
    }
}

static uint32_t colorOf(const rbWorld* world, int index)
{
    static const uint32_t colors[RB_BODY_TYPE_COUNT] = {
        [RB_BODY_STATIC] = 0x7f9f7fu,
        [RB_BODY_KINEMATIC] = 0xcf9fcfu,
        [RB_BODY_DYNAMIC] = 0xdfaf6fu,
    };
    rbBodyType type = world->bodies.data[index].type;
    return type == RB_BODY_DYNAMIC && rbBody_IsResting(world, rbWorld_BodyIdOf(world, index))
               ? COLOR_RESTING
               : colors[type];
}

static rbStatus drawBody(const rbWorld* world, int index, const rbDebugDraw* draw, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    rbBodyState state = rbBody_GetState(world, rbWorld_BodyIdOf(world, index));
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < body->shapes.count && status == RB_STATUS_OK; ++i) {
        const rbShapeDef* shape = &body->shapes.data[i].def;
        const rbGeometry* geometry = rbWorld_GetGeometry(world, shape->geometry);
        rbTransform transform = rbMulTransforms(state.transform, shape->transform);
        if (draw->enableShapes) {
            status = drawGeometry(draw, geometry, transform, colorOf(world, index), error);
        }
        if (draw->enableBounds) {
            drawBounds(draw, rbGeometry_GetBounds(geometry, transform));
        }
    }
    if (draw->enableCenters && body->hasMass) {
        drawPoint(draw, state.center, COLOR_CENTER);
        rbTransform frame = rbMulTransforms(state.transform, world->principals.data[index]);
        double length = draw->axisLength;
        drawLine(draw, frame.p, rbTransformPoint(frame, rbMakeVec3(length, 0.0, 0.0)), COLOR_X);
        drawLine(draw, frame.p, rbTransformPoint(frame, rbMakeVec3(0.0, length, 0.0)), COLOR_Y);
        drawLine(draw, frame.p, rbTransformPoint(frame, rbMakeVec3(0.0, 0.0, length)), COLOR_Z);
    }
    return status;
}

// ---------------------------------------------------------------------------- joints and contacts

static void drawLinks(const rbWorld* world, const rbDebugDraw* draw)
{
    RB_EACH_LINK(Joint, joint, world) {
        rbJointState state = rbJoint_GetState(world, rbWorld_JointIdOf(world, joint->index));
        drawPoint(draw, state.pointA, COLOR_JOINT);
        drawPoint(draw, state.pointB, COLOR_JOINT);
        drawLine(draw, state.pointA, state.pointB, COLOR_JOINT);
        drawLine(draw, rbAddScaled(state.pointA, -draw->axisLength, state.axis),
                 rbAddScaled(state.pointA, draw->axisLength, state.axis), COLOR_JOINT);
    }
    RB_EACH_LINK(Spring, spring, world) {
        rbSpringState state = rbSpring_GetState(world, rbWorld_SpringIdOf(world, spring->index));
        drawLine(draw, state.pointA, state.pointB, COLOR_SPRING);
    }
}

static void drawContacts(const rbWorld* world, const rbDebugDraw* draw)
{
    int count = rbWorld_GetContacts(world, NULL, 0);
    rbContactView* views = rbAlloc((size_t)count * sizeof *views);
    (void)rbWorld_GetContacts(world, views, count);
    for (int i = 0; i < count; ++i) {
        rbVec3 point = views[i].point;
        drawPoint(draw, point, COLOR_CONTACT);
        drawLine(draw, point, rbAddScaled(point, draw->axisLength, views[i].normal), COLOR_NORMAL);
        if (draw->forceScale > 0.0) {
            drawLine(draw, point, rbAddScaled(point, draw->forceScale, views[i].force),
                     COLOR_FORCE);
        }
    }
    rbFree(views, (size_t)count * sizeof *views);
}

rbStatus rbWorld_Draw(const rbWorld* world, const rbDebugDraw* draw, rbError* error)
{
    RB_ENTER(world);
    RB_TRY(RB_CHECK_COOKIE(draw, RB_KIND_DEBUG_DRAW, error));
    rbStatus status = RB_STATUS_OK;
    RB_INVALID_IF(!(draw->deviation > 0.0) || !(draw->planeHalfSize > 0.0) ||
                      !(draw->axisLength > 0.0) || !(draw->forceScale >= 0.0),
                  error,
                  "debug draw: deviation %g, planeHalfSize %g m and axisLength %g m must be "
                  "positive, and forceScale %g m/N must not be negative",
                  draw->deviation, draw->planeHalfSize, draw->axisLength, draw->forceScale);
    for (int i = 0; i < world->bodies.count && status == RB_STATUS_OK; ++i) {
        if (rbWorld_IsBodyAlive(world, i)) {
            status = drawBody(world, i, draw, error);
        }
    }
    if (draw->enableJoints) {
        drawLinks(world, draw);
    }
    if (draw->enableContacts) {
        drawContacts(world, draw);
    }
    return status;
}
