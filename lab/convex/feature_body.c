// Bodies of the feature walk: tables for boxes, hulls as they are, points and segments.
//
// Indices of a box: corner bits x, y, z; edge 4 * axis + rank of its lower corner; face 2 * axis +
// (positive side). Face loops run counter-clockwise seen from outside.
#include "collision/geometry/shape_ops.h"
#include "lab/convex/features.h"

static const rbEdge boxEdges[12] = {{0, 1, 2, 4}, {2, 3, 4, 3}, {4, 5, 5, 2}, {6, 7, 3, 5},
                                    {0, 2, 4, 0}, {1, 3, 1, 4}, {4, 6, 0, 5}, {5, 7, 5, 1},
                                    {0, 4, 0, 2}, {1, 5, 2, 1}, {2, 6, 3, 0}, {3, 7, 1, 3}};
static const rbVec3 boxNormals[6] = {{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0},  {0.0, -1.0, 0.0},
                                     {0.0, 1.0, 0.0},  {0.0, 0.0, -1.0}, {0.0, 0.0, 1.0}};
static const int boxFaceStarts[7] = {0, 4, 8, 12, 16, 20, 24};
static const int boxFaceVertices[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                        2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const int boxFaceEdges[24] = {8,  6, 10, 4, 5, 11, 7, 9, 0, 9, 2, 8,
                                     10, 3, 11, 1, 4, 1,  5, 0, 2, 7, 3, 6};
static const int boxVertexEdgeStarts[9] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
static const int boxVertexEdges[24] = {0, 4, 8, 0, 5, 9, 1, 4, 10, 1, 5, 11,
                                       2, 6, 8, 2, 7, 9, 3, 6, 10, 3, 7, 11};

static const rbEdge segmentEdges[1] = {{0, 1, -1, -1}};
static const int segmentVertexEdgeStarts[3] = {0, 1, 2};
static const int segmentVertexEdges[2] = {0, 0};
static const int pointVertexEdgeStarts[2] = {0, 0};

typedef void MakeFn(const rbGeometry* geometry, rbFeatureBody* body);

static void makePoint(const rbGeometry* geometry, rbFeatureBody* body)
{
    body->corners[0] = RB_VEC3_ZERO;
    body->vertices = body->corners;
    body->vertexEdgeStarts = pointVertexEdgeStarts;
    body->vertexCount = 1;
    body->radius = geometry->data.sphere.radius;
}

static void makeSegment(const rbGeometry* geometry, rbFeatureBody* body)
{
    double half = geometry->data.capsule.halfLength;
    bool isPoint = half == 0.0;
    body->corners[0] = rbMakeVec3(0.0, 0.0, -half);
    body->corners[1] = rbMakeVec3(0.0, 0.0, half);
    body->vertices = body->corners;
    body->edges = segmentEdges;
    body->vertexEdgeStarts = isPoint ? pointVertexEdgeStarts : segmentVertexEdgeStarts;
    body->vertexEdges = segmentVertexEdges;
    body->vertexCount = isPoint ? 1 : 2;
    body->edgeCount = isPoint ? 0 : 1;
    body->size = half;
    body->radius = geometry->data.capsule.radius;
}

static void makeBox(const rbGeometry* geometry, rbFeatureBody* body)
{
    rbVec3 h = geometry->data.box.halfExtents;
    for (unsigned k = 0; k < 8; ++k) {
        body->corners[k] = rbMakeVec3((k & 1U) != 0 ? h.x : -h.x, (k & 2U) != 0 ? h.y : -h.y,
                                      (k & 4U) != 0 ? h.z : -h.z);
    }
    const double half[3] = {h.x, h.y, h.z};
    for (int f = 0; f < 6; ++f) {
        body->boxOffsets[f] = half[f / 2];
    }
    body->vertices = body->corners;
    body->normals = boxNormals;
    body->offsets = body->boxOffsets;
    body->edges = boxEdges;
    body->vertexEdgeStarts = boxVertexEdgeStarts;
    body->vertexEdges = boxVertexEdges;
    body->faceStarts = boxFaceStarts;
    body->faceVertices = boxFaceVertices;
    body->faceEdges = boxFaceEdges;
    body->vertexCount = 8;
    body->edgeCount = 12;
    body->faceCount = 6;
    body->size = rbLength(h);
}

static void makeHull(const rbGeometry* geometry, rbFeatureBody* body)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL && p->edges != NULL);
    body->vertices = p->vertices;
    body->normals = p->normals;
    body->offsets = p->offsets;
    body->edges = p->edges;
    body->vertexEdgeStarts = p->vertexEdgeStarts;
    body->vertexEdges = p->vertexEdges;
    body->faceStarts = p->faceStarts;
    body->faceVertices = p->indices;
    body->faceEdges = p->edgeOfCorner;
    body->vertexCount = p->vertexCount;
    body->edgeCount = p->edgeCount;
    body->faceCount = p->faceCount;
    body->supports = p->supports;
    body->center = rbScale(0.5, rbAdd(p->lower, p->upper));
    body->size = rbLength(rbMax3(rbAbs3(p->lower), rbAbs3(p->upper)));
}

static MakeFn* const makeTable[RB_FAMILY_COUNT] = {
    [RB_FAMILY_BALL] = makePoint,
    [RB_FAMILY_BOX] = makeBox,
    [RB_FAMILY_ROD] = makeSegment,
    [RB_FAMILY_HULL] = makeHull,
};

bool rbFeatures_Accepts(const rbGeometry* geometry)
{
    return makeTable[rbGeometry_GetFamily(geometry)] != NULL;
}

void rbFeatureBody_Make(const rbGeometry* geometry, rbFeatureBody* body)
{
    RB_ASSERT(rbFeatures_Accepts(geometry));
    body->normals = NULL;
    body->offsets = NULL;
    body->supports = NULL;
    body->edges = NULL;
    body->vertexEdges = NULL;
    body->faceStarts = NULL;
    body->faceVertices = NULL;
    body->faceEdges = NULL;
    body->edgeCount = body->faceCount = 0;
    body->center = RB_VEC3_ZERO;
    body->size = body->radius = 0.0;
    makeTable[rbGeometry_GetFamily(geometry)](geometry, body);
    RB_ASSERT(body->vertexCount >= 1);
}

int rbFeatureBody_Support(const rbFeatureBody* body, rbVec3 direction, int start)
{
    RB_ASSERT(start >= 0 && start < body->vertexCount);
    if (body->normals == boxNormals) {
        return (direction.x >= 0.0 ? 1 : 0) | (direction.y >= 0.0 ? 2 : 0) |
               (direction.z >= 0.0 ? 4 : 0);
    }
    if (body->supports != NULL) {
        return rbSupportTable_Find(body->supports, direction, start);
    }
    int best = 0;
    double highest = rbDot(direction, body->vertices[0]);
    for (int i = 1; i < body->vertexCount; ++i) {
        double height = rbDot(direction, body->vertices[i]);
        if (height > highest) {
            highest = height;
            best = i;
        }
    }
    return best;
}
