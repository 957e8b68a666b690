#include "convex_reference.h"

#include <math.h>
#include <stdlib.h>

// --------------------------------------------------------------------------------------- polytopes

static rbVec3 faceCorner(const rbBenchShape* shape, int first, int corner)
{
    return shape->points.data[shape->indices.data[first + corner]];
}

// Normals by Newell's sum, which works for polygons with any number of corners.
static void finishFaces(rbBenchShape* shape)
{
    int first = 0;
    for (int face = 0; face < shape->faceSizes.count; ++face) {
        int size = shape->faceSizes.data[face];
        rbVec3 sum = RB_VEC3_ZERO;
        for (int i = 0; i < size; ++i) {
            sum = rbAdd(sum, rbCross(faceCorner(shape, first, i),
                                     faceCorner(shape, first, (i + 1) % size)));
        }
        rbVec3 normal = rbNormalize(sum);
        rbArray_Push(shape->normals, normal);
        rbArray_Push(shape->offsets, rbDot(normal, faceCorner(shape, first, 0)));
        first += size;
    }
}

// The face that contains the edge from vertex a to vertex b in this direction.
static int findFace(const rbBenchShape* shape, int a, int b)
{
    int first = 0;
    for (int face = 0; face < shape->faceSizes.count; ++face) {
        int size = shape->faceSizes.data[face];
        for (int i = 0; i < size; ++i) {
            if (shape->indices.data[first + i] == a &&
                shape->indices.data[first + (i + 1) % size] == b) {
                return face;
            }
        }
        first += size;
    }
    return -1;
}

// The edge from vertex a to vertex b, with a face on its left. Every edge is visited from both
// ends.
static void addEdge(rbBenchShape* shape, int a, int b, int left)
{
    int right = findFace(shape, b, a);
    if (right < 0) {
        return;
    }
    rbArray_Push(shape->neighbors, b);
    if (a < b) {
        rbReferenceEdge edge = {
            .vertex = a,
            .normals = {shape->normals.data[left], shape->normals.data[right]},
        };
        edge.direction = rbNormalize(rbCross(edge.normals[1], edge.normals[0]));
        rbArray_Push(shape->edges, edge);
    }
}

static void finishEdges(rbBenchShape* shape)
{
    for (int a = 0; a < shape->points.count; ++a) {
        rbArray_Push(shape->neighborStart, shape->neighbors.count);
        int first = 0;
        for (int face = 0; face < shape->faceSizes.count; ++face) {
            int size = shape->faceSizes.data[face];
            for (int i = 0; i < size; ++i) {
                if (shape->indices.data[first + i] == a) {
                    addEdge(shape, a, shape->indices.data[first + (i + 1) % size], face);
                }
            }
            first += size;
        }
    }
    rbArray_Push(shape->neighborStart, shape->neighbors.count);
}

void rbBenchShape_Finish(rbBenchShape* shape)
{
    finishFaces(shape);
    finishEdges(shape);
    _Static_assert(sizeof(rbVec3) == 3 * sizeof(double), "peers read points as triples");
    shape->peer.points = (const double(*)[3])(const void*)shape->points.data;
    shape->peer.pointCount = shape->points.count;
    shape->peer.faceSizes = shape->faceSizes.data;
    shape->peer.faceCount = shape->faceSizes.count;
    shape->peer.indices = shape->indices.data;
    shape->peer.neighborStart = shape->neighborStart.data;
    shape->peer.neighbors = shape->neighbors.data;
    shape->peer.ours = shape->geometry;
}

static double maxAlong(const rbBenchShape* shape, rbVec3 direction)
{
    double best = -INFINITY;
    for (int i = 0; i < shape->points.count; ++i) {
        best = fmax(best, rbDot(shape->points.data[i], direction));
    }
    return best;
}

static void addFacet(rbReference* reference, rbVec3 normal, double width)
{
    rbArray_Push(reference->normals, normal);
    rbArray_Push(reference->widths, width);
}

static void addFaces(rbReference* reference)
{
    const rbBenchShape* shape = reference->shape;
    for (int i = 0; i < shape->normals.count; ++i) {
        rbVec3 normal = shape->normals.data[i];
        rbVec3 inB = rbNeg(rbMulMtV(reference->rotation, normal));
        addFacet(reference, normal, shape->offsets.data[i] + maxAlong(shape, inB));
        rbVec3 inA = rbNeg(rbMulMV(reference->rotation, normal));
        addFacet(reference, inA, shape->offsets.data[i] + maxAlong(shape, inA));
    }
}

// An edge of A and one of B span a facet of A - B where the arc of normals of the first crosses the
// arc of the negated normals of the second. directionB, c, d: of B, in the frame of A.
static void addEdgePair(rbReference* reference, const rbReferenceEdge* edgeA,
                        const rbReferenceEdge* edgeB, const rbReferenceEdge* turnedB)
{
    double c = rbDot(turnedB->normals[0], edgeA->direction);
    double d = rbDot(turnedB->normals[1], edgeA->direction);
    if (c * d >= 0.0) {
        return;
    }
    double a = rbDot(edgeA->normals[0], turnedB->direction);
    double b = rbDot(edgeA->normals[1], turnedB->direction);
    if (a * b >= 0.0 || c * b <= 0.0) {
        return;
    }
    const rbVec3* points = reference->shape->points.data;
    rbVec3 normal = rbNormalize(rbCross(edgeA->direction, turnedB->direction));
    // between the normals of the edge of A, hence on their side
    if (rbDot(normal, rbAdd(edgeA->normals[0], edgeA->normals[1])) < 0.0) {
        normal = rbNeg(normal);
    }
    rbVec3 pointB = rbMulMV(reference->rotation, points[edgeB->vertex]);
    addFacet(reference, normal, rbDot(normal, rbSub(points[edgeA->vertex], pointB)));
}

static void addEdgePairs(rbReference* reference)
{
    const rbBenchShape* shape = reference->shape;
    int count = shape->edges.count;
    for (int j = 0; j < count; ++j) {
        const rbReferenceEdge* edgeB = &shape->edges.data[j];
        rbReferenceEdge turned = {
            .normals = {rbNeg(rbMulMV(reference->rotation, edgeB->normals[0])),
                        rbNeg(rbMulMV(reference->rotation, edgeB->normals[1]))},
            .direction = rbMulMV(reference->rotation, edgeB->direction),
        };
        for (int i = 0; i < count; ++i) {
            addEdgePair(reference, &shape->edges.data[i], edgeB, &turned);
        }
    }
}

rbReference rbReference_Make(const rbBenchShape* shape, rbQuat rotation)
{
    rbReference reference = {.shape = shape, .rotation = rbMatFromQuat(rotation)};
    if (shape->peer.kind != RB_PEER_ELLIPSOID) {
        addFaces(&reference);
        addEdgePairs(&reference);
    }
    return reference;
}

void rbReference_Free(rbReference* reference)
{
    rbArray_Free(reference->normals);
    rbArray_Free(reference->widths);
}

// -------------------------------------------------------------------------------------- ellipsoids

// Value, gradient and Hessian of the overlap h_A(n) + h_B(-n) - n.t as a function of n in space.
// The width of an ellipsoid is h = |D n|: gradient D^2 n / h, Hessian (D^2 - g g^T) / h.
typedef struct rbOverlapJet {
    double value;
    rbVec3 gradient;
    rbMat3 hessian;
} rbOverlapJet;

// Adds the width of an ellipsoid whose axes are the columns of a rotation.
static void addWidth(rbOverlapJet* jet, const double semiAxes[3], rbMat3 rotation, rbVec3 normal)
{
    rbVec3 local = rbMulMtV(rotation, normal);
    rbVec3 squares = {semiAxes[0] * semiAxes[0], semiAxes[1] * semiAxes[1],
                      semiAxes[2] * semiAxes[2]};
    double width = sqrt(rbDot(rbMulEach(squares, local), local));
    rbVec3 gradient = rbMulMV(rotation, rbScale(1.0 / width, rbMulEach(squares, local)));
    jet->value += width;
    jet->gradient = rbAdd(jet->gradient, gradient);
    const rbVec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    rbVec3* columns[3] = {&jet->hessian.cx, &jet->hessian.cy, &jet->hessian.cz};
    for (int i = 0; i < 3; ++i) {
        rbVec3 inBody = rbMulMtV(rotation, axes[i]);
        rbVec3 column = rbMulMV(rotation, rbMulEach(squares, inBody));
        column = rbAddScaled(column, -rbDot(gradient, axes[i]), gradient);
        *columns[i] = rbAddScaled(*columns[i], 1.0 / width, column);
    }
}

static rbOverlapJet evaluateOverlap(const rbReference* reference, rbVec3 normal, rbVec3 t)
{
    const rbMat3 identity = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    rbOverlapJet jet = {.value = -rbDot(normal, t), .gradient = rbNeg(t)};
    addWidth(&jet, reference->shape->peer.size, identity, normal);
    addWidth(&jet, reference->shape->peer.size, reference->rotation, normal);
    return jet;
}

// Minimizes the overlap on the unit sphere by Newton steps in the tangent plane. The Hessian there
// is that of space minus the radial slope; where it is not positive definite, the negative gradient
// is used. Steps are halved until the value decreases.
static rbVec3 minimizeOverlap(const rbReference* reference, rbVec3 normal, rbVec3 t)
{
    rbOverlapJet jet = evaluateOverlap(reference, normal, t);
    for (int round = 0; round < 200; ++round) {
        rbVec3 u = rbPerpendicular(normal);
        rbVec3 v = rbCross(normal, u);
        double gu = rbDot(jet.gradient, u);
        double gv = rbDot(jet.gradient, v);
        if (gu * gu + gv * gv < 1e-30) {
            break;
        }
        double radial = rbDot(jet.gradient, normal);
        rbVec3 hu = rbMulMV(jet.hessian, u);
        double uu = rbDot(u, hu) - radial;
        double uv = rbDot(v, hu);
        double vv = rbDot(v, rbMulMV(jet.hessian, v)) - radial;
        double determinant = uu * vv - uv * uv;
        double su = -gu;
        double sv = -gv;
        if (determinant > 1e-12 && uu > 0.0) {
            su = (-gu * vv + gv * uv) / determinant;
            sv = (-gv * uu + gu * uv) / determinant;
        }
        double length = 1.0;
        bool isBetter = false;
        for (int halving = 0; halving < 40 && !isBetter; ++halving) {
            rbVec3 step = rbAdd(rbScale(length * su, u), rbScale(length * sv, v));
            rbVec3 next = rbNormalize(rbAdd(normal, step));
            rbOverlapJet nextJet = evaluateOverlap(reference, next, t);
            if (nextJet.value < jet.value) {
                normal = next;
                jet = nextJet;
                isBetter = true;
            }
            length *= 0.5;
        }
        if (!isBetter) {
            break;
        }
    }
    return normal;
}

static double findLeastOverlap(const rbReference* reference, rbVec3 t)
{
    double best = INFINITY;
    for (int x = -2; x <= 2; ++x) {
        for (int y = -2; y <= 2; ++y) {
            for (int z = -2; z <= 2; ++z) {
                // the surface of a cube of 5 x 5 x 5 points
                if (abs(x) == 2 || abs(y) == 2 || abs(z) == 2) {
                    rbVec3 start = rbNormalize(rbMakeVec3(x, y, z));
                    rbVec3 end = minimizeOverlap(reference, start, t);
                    best = fmin(best, rbReference_GetOverlap(reference, end, t));
                }
            }
        }
    }
    return best;
}

// -------------------------------------------------------------------------------------------- both

double rbReference_GetOverlap(const rbReference* reference, rbVec3 normal, rbVec3 t)
{
    const rbBenchShape* shape = reference->shape;
    if (shape->peer.kind == RB_PEER_ELLIPSOID) {
        return evaluateOverlap(reference, normal, t).value;
    }
    rbVec3 inB = rbNeg(rbMulMtV(reference->rotation, normal));
    return maxAlong(shape, normal) + maxAlong(shape, inB) - rbDot(normal, t);
}

double rbReference_GetDepth(const rbReference* reference, rbVec3 t)
{
    if (reference->shape->peer.kind == RB_PEER_ELLIPSOID) {
        return findLeastOverlap(reference, t);
    }
    double best = INFINITY;
    for (int i = 0; i < reference->normals.count; ++i) {
        best = fmin(best, reference->widths.data[i] - rbDot(reference->normals.data[i], t));
    }
    return best;
}

rbVec3 rbReference_Polish(const rbReference* reference, rbVec3 normal, rbVec3 t)
{
    bool isSmooth = reference->shape->peer.kind == RB_PEER_ELLIPSOID;
    return isSmooth ? minimizeOverlap(reference, normal, t) : normal;
}
