// The search over the trees returns the distance of the surfaces. Whether a solid contains the
// other body, whose surface is then separate from its own, is decided at the nearest points: if the
// surfaces do not intersect, all points of B are on the same side of A.
#include "collision/narrowphase/mesh_pair.h"

#include "collision/narrowphase/mesh_depth.h"
#include "collision/narrowphase/mesh_search.h"

#include <float.h>
#include <math.h>

static rbTreePairResult searchTrees(const rbMeshPair* pair, double limit, double enough)
{
    rbTreePairInput input = {
        .a = pair->a->polyhedron->tree,
        .b = pair->b->polyhedron->tree,
        .transformBtoA = pair->transformBtoA,
        .limit = limit,
        .enough = enough,
        .relativeError = pair->relativeTolerance,
        .budget = pair->budget > 0 ? pair->budget : -1,
        .entries = pair->scratch,
        .capacity = (int)(pair->scratchSize / sizeof(rbTreeEntry)),
        .front = pair->front,
    };
    return rbMeasureTrees(&input);
}

bool rbContainsPart(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid)
{
    const rbPolyhedron* p = other->polyhedron;
    for (int i = 0; solid->isSolid && i < p->partCount; ++i) {
        rbVec3 point = rbTransformPoint(toSolid, p->vertices[p->partVertices[i]]);
        if (rbIsInBounds(solid->polyhedron, point) && rbGeometry_Contains(solid, point)) {
            return true;
        }
    }
    return false;
}

// Corners of a one-part body that are tested before the solid is queried for containment.
#define SAMPLE_COUNT 8

// Could the solid contain the other body, which has one part? Not if a corner is outside its
// bounds.
static bool mayContain(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid)
{
    const rbBoxTree* tree = other->polyhedron->tree;
    for (int i = 0; solid->isSolid && i < SAMPLE_COUNT; ++i) {
        rbVec3 corners[3];
        int block = (int)((long long)i * tree->blockCount / SAMPLE_COUNT);
        rbTriangleBlock_Get(&tree->blocks[block], 0, corners);
        if (!rbIsInBounds(solid->polyhedron, rbTransformPoint(toSolid, corners[0]))) {
            return false;
        }
    }
    return solid->isSolid;
}

// A point of the other body and the nearest one of the surface of a solid, if that is known.
typedef struct NearPoint {
    rbVec3 point, nearest;
    int triangle; // -1: unknown
} NearPoint;

// Does the solid contain a part of the other body, whose surface is separate from its own?
static bool isAround(const rbGeometry* solid, const rbGeometry* other, rbTransform toSolid,
                     const NearPoint* near)
{
    if (other->polyhedron->partCount > 1 || near->triangle < 0) {
        return rbContainsPart(solid, other, toSolid);
    }
    return mayContain(solid, other, toSolid) &&
           rbIsInMesh(solid, near->point, near->nearest, near->triangle);
}

// Does one of two bodies whose surfaces are separate, according to the search, contain a part of
// the other?
static bool isContained(const rbMeshPair* pair, const rbTreePairResult* found)
{
    const rbClosest* closest = &found->closest;
    bool isDone = found->stop == RB_TREE_DONE;
    rbTransform toB = rbInvertTransform(pair->transformBtoA);
    NearPoint inA = {closest->b, closest->a, isDone ? found->triangleA : -1};
    NearPoint inB = {rbTransformPoint(toB, closest->a), rbTransformPoint(toB, closest->b),
                     isDone ? found->triangleB : -1};
    return isAround(pair->a, pair->b, pair->transformBtoA, &inA) ||
           isAround(pair->b, pair->a, toB, &inB);
}

static rbStopReason reasonOf(rbTreeStop stop)
{
    static const rbStopReason reasons[] = {
        [RB_TREE_DONE] = RB_STOP_SURFACES, [RB_TREE_MEETS] = RB_STOP_ESTIMATE,
        [RB_TREE_LIMIT] = RB_STOP_APART,   [RB_TREE_QUALITY] = RB_STOP_CONVERGED,
        [RB_TREE_BUDGET] = RB_STOP_BUDGET,
    };
    return reasons[stop];
}

void rbMeasureMeshes(const rbMeshPair* pair, rbSeparation* separation)
{
    rbTreePairResult found = searchTrees(pair, INFINITY, 0.0);
    const rbClosest* closest = &found.closest;
    bool hasPair = found.triangleA >= 0;
    double distance = hasPair ? sqrt(closest->squared) : found.lower;
    bool isTouching = found.stop == RB_TREE_MEETS;
    bool overlaps = isTouching || (hasPair && isContained(pair, &found));
    *separation = (rbSeparation){
        .distance = distance,
        .lower = found.lower,
        .upper = found.upper,
        .pointA = closest->a,
        .pointB = closest->b,
        .normal = distance > RB_DIRECTION_MIN
                      ? rbScale(1.0 / distance, rbSub(closest->b, closest->a))
                      : RB_VEC3_ZERO,
        .iterations = (int)(found.triangleTests < INT32_MAX ? found.triangleTests : INT32_MAX),
        .reason = reasonOf(found.stop),
        .faceA = rbGetMeshFace(pair->a, found.triangleA),
        .faceB = rbGetMeshFace(pair->b, found.triangleB),
    };
    if (overlaps && pair->isDepthUnwanted) {
        // bounding spheres of the trees are separated by the sum of their radii
        separation->lower =
            -(pair->a->polyhedron->tree->radius + pair->b->polyhedron->tree->radius);
        separation->upper = separation->distance = 0.0;
        separation->normal = RB_VEC3_ZERO;
        separation->reason = RB_STOP_TOUCHES;
    } else if (overlaps) {
        rbEstimateMeshDepth(pair, &found, separation);
    }
}

bool rbTestMeshes(const rbMeshPair* pair, double margin)
{
    const rbBoxTree* a = pair->a->polyhedron->tree;
    const rbBoxTree* b = pair->b->polyhedron->tree;
    double size = a->radius + b->radius + rbLength(pair->transformBtoA.p) + rbLength(a->origin) +
                  rbLength(b->origin);
    // cases undecided because of rounding count as contact
    double limit = margin + 64.0 * DBL_EPSILON * size;
    rbTreePairResult found = searchTrees(pair, limit, limit);
    if (found.triangleA >= 0) {
        return true;
    }
    return rbContainsPart(pair->a, pair->b, pair->transformBtoA) ||
           rbContainsPart(pair->b, pair->a, rbInvertTransform(pair->transformBtoA));
}
