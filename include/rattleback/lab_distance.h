/// @file
/// Exact distance of bodies that need not be convex, by branch and bound over hierarchies of
/// bounding volumes: every method of the literature by name, with its work counted.
///
/// This is the laboratory: it compares volumes, trees and traversals, and it stops at a budget with
/// bounds that hold. For everyday queries use rbMeasureSeparation of collision.h, which has its
/// own, faster tree in every mesh. All queries take the pose of B relative to A and answer in the
/// frame of A. Distances are between surfaces: a body inside another one has a positive distance.
#ifndef RATTLEBACK_LAB_DISTANCE_H
#define RATTLEBACK_LAB_DISTANCE_H

#include <rattleback/base.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of bounding volumes.
typedef enum rbVolumeType {
    RB_VOLUME_SPHERE,      ///< smallest sphere
    RB_VOLUME_AABB,        ///< box along the axes of the body
    RB_VOLUME_OBB,         ///< box along the principal axes of the hull; bound by separating axes
    RB_VOLUME_OBB_REGIONS, ///< the same box, its exact distance by region codes: slow
    RB_VOLUME_FDH14,       ///< 14 fixed directions: axes and diagonals of the cube
    RB_VOLUME_FDH18,       ///< axes and face diagonals
    RB_VOLUME_FDH26,       ///< all of them
    RB_VOLUME_RSS,         ///< rectangle swept by a sphere
    RB_VOLUME_COUNT
} rbVolumeType;

RB_API const char* rbVolumeType_Name(rbVolumeType type); ///< "sphere", "aabb", "obb", ...
RB_API rbVolumeType rbVolumeType_Find(const char* name); ///< RB_VOLUME_COUNT if unknown

/// Axis along which faces are divided. A face goes to the side of its reference point, the center
/// of its smallest sphere.
typedef enum rbSplitAxis {
    RB_SPLIT_SUM,           ///< of x, y, z the axis with the smallest sum of the children's volumes
    RB_SPLIT_MAX,           ///< the axis with the smallest larger child volume
    RB_SPLIT_VARIANCE,      ///< the axis along which the reference points vary most
    RB_SPLIT_PRINCIPAL_SUM, ///< as RB_SPLIT_SUM, of the principal axes of the vertices
    RB_SPLIT_PRINCIPAL_MAX, ///< as RB_SPLIT_MAX, of the principal axes
    RB_SPLIT_PRINCIPAL_VARIANCE, ///< as RB_SPLIT_VARIANCE, of the principal axes
    RB_SPLIT_SURFACE, ///< x, y or z and the place by the surface-area heuristic; ignores the place
    RB_SPLIT_COUNT
} rbSplitAxis;

/// Where on the axis a run is split.
typedef enum rbSplitPlace {
    RB_SPLIT_MEAN,   ///< through the reference point nearest to their mean
    RB_SPLIT_MEDIAN, ///< halves of equal number
    RB_SPLIT_PLACE_COUNT
} rbSplitPlace;

/// Names as options spell them ("sum", "principal-variance", "surface", ...; "mean", "median"),
/// never NULL; Find returns the COUNT of its enumeration if the name is unknown.
RB_API const char* rbSplitAxis_Name(rbSplitAxis axis);
/// RB_SPLIT_COUNT if unknown.
RB_API rbSplitAxis rbSplitAxis_Find(const char* name);
/// Name of a place rule, never NULL.
RB_API const char* rbSplitPlace_Name(rbSplitPlace place);
/// Place rule of a name; RB_SPLIT_PLACE_COUNT if unknown.
RB_API rbSplitPlace rbSplitPlace_Find(const char* name);

/// How a hierarchy is built. Make it with rbDefaultHierarchyDef: obb, surface, degree 2, leaves of
/// one face, 64 levels.
typedef struct rbHierarchyDef {
    uint32_t cookie;     ///< set by rbDefaultHierarchyDef
    rbVolumeType volume; ///< kind of bounding volume
    rbSplitAxis axis;    ///< axis along which nodes are split
    rbSplitPlace place;  ///< where on that axis
    int degree;   ///< maximum children per node, 2 to 8: runs are split until there are as many
    int leafSize; ///< maximum faces per leaf, >= 1
    int depthMax; ///< maximum levels, 1 to RB_HIERARCHY_DEPTH_MAX; leaves exceed leafSize only if
                  ///< the faces do not fit into this many levels
} rbHierarchyDef;

/// Maximum children per node.
#define RB_HIERARCHY_DEGREE_MAX 8
/// Maximum levels of a hierarchy.
#define RB_HIERARCHY_DEPTH_MAX 64

/// Fills in the defaults; called by rbDefaultHierarchyDef.
RB_API void rbInitHierarchyDef(rbHierarchyDef* def, uint32_t abi, size_t size);
/// The default settings, see rbHierarchyDef.
static inline rbHierarchyDef rbDefaultHierarchyDef(void)
{
    rbHierarchyDef def;
    rbInitHierarchyDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}

/// A tree of bounding volumes; opaque and immutable.
typedef struct rbHierarchy rbHierarchy;

/// Builds a hierarchy over the faces of a hull, polyhedron, mesh or soup and keeps a reference to
/// it. NULL with a message for other shapes and bad values. O(n log n) for volumes that are fitted
/// in linear time. It never changes: any number of threads may query it.
RB_API rbHierarchy* rbCreateHierarchy(const rbGeometry* geometry, const rbHierarchyDef* def,
                                      rbError* error);
RB_API void rbDestroyHierarchy(rbHierarchy* hierarchy); ///< NULL is fine

/// Size and shape of a hierarchy.
typedef struct rbHierarchyInfo {
    int faceCount;    ///< faces of the geometry
    int nodeCount;    ///< nodes, leaves included
    int leafCount;    ///< leaves
    int depth;        ///< levels, 1: the root is a leaf
    int leafSizeMax;  ///< faces of the largest leaf
    size_t bytes;     ///< without the geometry
    double volumeSum; ///< m^3, of the volumes of all nodes: smaller is better
} rbHierarchyInfo;

/// Size and shape of a hierarchy.
RB_API rbHierarchyInfo rbHierarchy_GetInfo(const rbHierarchy* hierarchy);

/// Order in which pairs of nodes are opened.
typedef enum rbTraversal {
    RB_TRAVERSAL_NAIVE,          ///< all pairs of faces: the oracle
    RB_TRAVERSAL_INDIFFERENT,    ///< depth first in fixed order, moving a volume for every pair
    RB_TRAVERSAL_UPDATE_MINIMAL, ///< depth first in fixed order, moving as few volumes as possible
    RB_TRAVERSAL_LOCAL,          ///< depth first, the nearest child pair first
    RB_TRAVERSAL_GLOBAL,         ///< the nearest of all pairs first
    RB_TRAVERSAL_COUNT
} rbTraversal;

RB_API const char* rbTraversal_Name(rbTraversal traversal); ///< "naive", "indifferent", ...
/// RB_TRAVERSAL_COUNT if unknown.
RB_API rbTraversal rbTraversal_Find(const char* name);

/// Which node of a pair is opened. A leaf is never opened; the other node is opened instead.
typedef enum rbExpansion {
    RB_EXPANSION_BOTH,   ///< both at once
    RB_EXPANSION_LARGER, ///< the one with the larger radius
    RB_EXPANSION_HYBRID, ///< both, unless one radius is more than twice the other
    RB_EXPANSION_COUNT
} rbExpansion;

RB_API const char* rbExpansion_Name(rbExpansion expansion); ///< "both", "larger", "hybrid"
/// RB_EXPANSION_COUNT if unknown.
RB_API rbExpansion rbExpansion_Find(const char* name);

/// The sorted sequence of the global traversal. All types give the same answer with the same work;
/// they differ in time and memory.
typedef enum rbSequence {
    RB_SEQUENCE_HEAP,      ///< binary heap
    RB_SEQUENCE_SKIP_LIST, ///< skip list
    RB_SEQUENCE_LIST,      ///< insertion sort from the near end
    RB_SEQUENCE_COUNT
} rbSequence;

RB_API const char* rbSequence_Name(rbSequence sequence); ///< "heap", "skip-list", "list"
/// RB_SEQUENCE_COUNT if unknown.
RB_API rbSequence rbSequence_Find(const char* name);

/// Work of a query (L-49).
typedef struct rbDistanceWork {
    long long volumeTests;     ///< n_D
    long long elementaryTests; ///< n_B: pairs of faces
    long long volumeUpdates;   ///< n_A: volumes moved into the frame of the other body
    long long representatives; ///< upper bounds from representatives
    long long opened;          ///< pairs of nodes opened
    int queueMax;              ///< longest sequence of the global traversal, 0 for others
} rbDistanceWork;

/// Closest pair of the last call (L-68): the distance of its faces in the new pose is the first
/// upper bound. Zero initialization is empty. Belongs to one pair of geometries; faces that do not
/// exist are ignored, those of other bodies only make the start worse.
typedef struct rbPairMemory {
    bool isSet;    ///< true: the other members are set
    rbVec3 localA; ///< m, in the frame of A; written, not read
    rbVec3 localB; ///< m, in the frame of B; written, not read
    int faceA;     ///< closest face of A
    int faceB;     ///< closest face of B
} rbPairMemory;

/// Why a search for the distance ended.
typedef enum rbSearchStop {
    RB_SEARCH_DONE,    ///< exact
    RB_SEARCH_QUALITY, ///< within the requested relative error
    RB_SEARCH_BUDGET,  ///< the budget is exhausted
    RB_SEARCH_COUNT
} rbSearchStop;

RB_API const char* rbSearchStop_Name(rbSearchStop stop); ///< "done", "quality", "budget"

/// Answer of rbMeasureDistance.
typedef struct rbDistanceResult {
    double distance;     ///< m, of the points; an upper bound
    double lower;        ///< m; lower <= true distance <= distance, equal when done
    rbVec3 pointA;       ///< m, in the frame of A, on the surface of A
    rbVec3 pointB;       ///< m, in the frame of A, on the surface of B
    int faceA;           ///< face of A's mesh that pointA lies on
    int faceB;           ///< face of B's mesh that pointB lies on
    rbSearchStop stop;   ///< why the search ended
    rbDistanceWork work; ///< what it took
} rbDistanceResult;

/// Receives the bounds at every iteration of the global traversal; upper is INFINITY until a pair
/// of points is known. The last call has the bounds of the result.
typedef void rbBoundsWatcher(void* context, double lower, double upper);

/// Input of a distance query. Make it with rbDefaultDistanceInput: global, both, heap,
/// representatives, no error, no budget. a and b must be set.
typedef struct rbDistanceInput {
    uint32_t cookie;           ///< set by rbDefaultDistanceInput
    const rbHierarchy* a;      ///< first body
    const rbHierarchy* b;      ///< second body; same kind of volume as a
    rbTransform transformBtoA; ///< from the frame of B to the frame of A; a unit quaternion
    rbTraversal traversal;     ///< order in which pairs of nodes are opened
    rbExpansion expansion;     ///< which node of a pair is opened
    rbSequence sequence;       ///< queue of the global traversal
    bool usesRepresentatives;  ///< upper bounds at inner nodes (L-67)
    /// 0 <= relativeError < 1; 0: exact. Global: stops as soon as (distance - lower) / distance
    /// does not exceed it (L-70); other trees: pairs that could gain no more than that are skipped
    /// (L-71). In both cases (1 - relativeError) distance <= lower <= true distance <= distance.
    double relativeError;
    /// In elementary tests, 0: none; global only, because the other traversals have no lower bound
    /// before they end (L-69). The cost of the next pair of nodes is known before it is processed,
    /// so only the tests of the roots and of the memory can exceed the budget.
    double budget;
    double volumeTestCost;    ///< >= 0, in elementary tests, for the budget; default 0.4
    double volumeUpdateCost;  ///< the same; default 0.1
    rbPairMemory* memory;     ///< read and written; NULL: none
    rbBoundsWatcher* watcher; ///< of the global traversal; NULL: none
    void* watcherContext;     ///< passed to watcher
} rbDistanceInput;

/// Fills in the defaults; called by rbDefaultDistanceInput.
RB_API void rbInitDistanceInput(rbDistanceInput* input, uint32_t abi, size_t size);
/// Global traversal, both nodes opened, heap, representatives, no error, no budget, no hierarchies.
static inline rbDistanceInput rbDefaultDistanceInput(void)
{
    rbDistanceInput input;
    rbInitDistanceInput(&input, RB_ABI_VERSION, sizeof input);
    return input;
}

/// Distance between the surfaces. INVALID with a message for values out of range, hierarchies of
/// different volumes, and a budget with a traversal other than global. Allocates for the sequence
/// of the global traversal and for faces of more than 64 corners, otherwise nothing.
RB_API rbStatus rbMeasureDistance(const rbDistanceInput* input, rbDistanceResult* result,
                                  rbError* error);

/// Do the surfaces intersect (L-72)? Opens only pairs whose volumes intersect; ends at the first
/// intersecting pair of faces. relativeError, usesRepresentatives, memory and watcher are ignored,
/// a budget is rejected. work may be NULL.
RB_API rbStatus rbTestSurfaces(const rbDistanceInput* input, bool* meet, rbDistanceWork* work,
                               rbError* error);

#ifdef __cplusplus
}
#endif

#endif
