/// @file
/// Distance, depth and contact of two shapes: stateless and pure, usable without a world.
///
/// All queries take the pose of B relative to A and answer in the frame of A. The signed distance
/// is positive for a gap and negative for overlap; its magnitude is then the penetration depth, the
/// length of the shortest translation that separates the bodies (for compounds: that of the deepest
/// pair of parts). The normal points from A to B. Results are meaningful only if the status is OK.
#ifndef RATTLEBACK_COLLISION_H
#define RATTLEBACK_COLLISION_H

#include <rattleback/base.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Why a query stopped.
#define RB_STOP_MAP(X)                                      \
    X(CLOSED_FORM, "closed form")                           \
    X(CONVERGED, "bounds within the tolerance")             \
    X(ROUNDING, "no further progress in double precision")  \
    X(APART, "separated by a plane")                        \
    X(TOUCHES, "overlap found, no depth requested")         \
    X(ESTIMATE, "overlap proven, the depth is an estimate") \
    X(ITERATIONS, "iteration limit, bounds wide but true")  \
    X(STORAGE, "polytope limit, bounds wide but true")      \
    X(SURFACES, "distance of the closest triangles")        \
    X(BUDGET, "budget spent, bounds wide but true")

/// Why a query stopped; RB_STOP_MAP has the text of each reason.
typedef enum rbStopReason {
#define RB_STOP_ENUM(name, text) RB_STOP_##name,
    RB_STOP_MAP(RB_STOP_ENUM)
#undef RB_STOP_ENUM
    RB_STOP_COUNT
} rbStopReason;

/// Text of a reason, never NULL.
RB_API const char* rbStopReason_Text(rbStopReason reason);

/// Answer of a distance or depth query, in the frame of A.
typedef struct rbSeparation {
    double distance; ///< m, signed, between the bounds; belongs to the points and the normal
    double lower;    ///< m; lower <= true signed distance <= upper
    double upper;    ///< m
    rbVec3 pointA;   ///< on the surface of A
    /// On the surface of B; pointB - pointA = distance * normal, to 2e-6 of the size, and to the
    /// width of the bounds where the reason is ITERATIONS, STORAGE or ESTIMATE.
    rbVec3 pointB;
    rbVec3 normal;       ///< unit, from A to B
    int iterations;      ///< of meshes: triangles, or pairs of them, measured
    rbStopReason reason; ///< why the query stopped
    int childA;          ///< part of A if A is a compound (of the outermost one), otherwise 0
    int childB;          ///< the same for B
    int faceA;           ///< of a mesh, soup or polyhedron: face of its point; otherwise -1
    int faceB;           ///< the same for B
} rbSeparation;

/// How a pair is measured. The bounds hold for every method.
typedef enum rbPairMethod {
    RB_PAIR_AUTO,        ///< closed form if there is one, else iterative; meshes by their trees
    RB_PAIR_CLOSED_FORM, ///< UNSUPPORTED if there is none
    RB_PAIR_ITERATIVE,   ///< GJK for the distance, EPA for the depth; not for planes
    RB_PAIR_COUNT        ///< number of built-in methods; registered methods are numbered from here
} rbPairMethod;

RB_API const char* rbPairMethod_Name(rbPairMethod method); ///< "auto", "closed", ...
/// The method of a name; rbPairMethod_GetCount() if it is unknown.
RB_API rbPairMethod rbPairMethod_Find(const char* name);
/// Number of built-in and registered methods; for those of the laboratory see lab.h.
RB_API int rbPairMethod_GetCount(void);

/// Input of a distance query. Make it with rbDefaultSeparationInput.
typedef struct rbSeparationInput {
    uint32_t cookie;             ///< set by rbDefaultSeparationInput
    const rbGeometry* geometryA; ///< borrowed for the call
    const rbGeometry* geometryB; ///< borrowed for the call
    rbTransform transformBtoA;   ///< up to RB_LENGTH_MAX; quaternion of length 1 within 1e-6
    double radiusA;           ///< m, 0 to RB_LENGTH_MAX: rounds the shape by a ball of this radius
    double radiusB;           ///< m, the same for B
    double relativeTolerance; ///< of the bounds; default 1e-12 when separated, 1e-10 for depths (0:
                              ///< these); for meshes 0 means exact
    long long budget;         ///< maximum number of triangles, or pairs of them, to measure for the
                              ///< distance of mesh surfaces, per pair of parts; 0: no limit
    rbPairMethod method;      ///< default auto
    bool isDepthUnwanted; ///< true: no depth is estimated for two overlapping meshes, which would
                          ///< cost several distances: distance 0, no normal, reason TOUCHES
} rbSeparationInput;

/// Fills in the defaults; called by rbDefaultSeparationInput.
RB_API void rbInitSeparationInput(rbSeparationInput* input, uint32_t abi, size_t size);
/// No shapes, identity pose, no rounding, default tolerance, no budget, method auto.
static inline rbSeparationInput rbDefaultSeparationInput(void)
{
    rbSeparationInput input;
    rbInitSeparationInput(&input, RB_ABI_VERSION, sizeof input);
    return input;
}

/// What a query leaves for the next query of the same pair: it makes that cheaper and never changes
/// the answer beyond its bounds. Zero initialization is an empty cache. Not for compounds.
typedef struct rbSeparationCache {
    double opaque[24];     ///< state of the solver
    struct rbFront* front; ///< for pairs of meshes, owned by the caller; NULL: none
} rbSeparationCache;

/// What a registered method stores about a pair in the caller's cache: 32 bytes, initially zero.
/// Another registered method may have written them, so any content must be harmless.
typedef struct rbMethodMemory {
    double values[4]; ///< defined by the method
} rbMethodMemory;

/// Measures two shapes that are not compounds. The input is valid; its quaternion is of unit length
/// to rounding. UNSUPPORTED if the method does not support the pair: the caller is then advised to
/// use "auto". memory is NULL if the caller has no cache. Children and faces of the answer are set
/// afterward. May be called from any thread; must not allocate.
typedef rbStatus rbPairMeasureFn(const rbSeparationInput* input, rbMethodMemory* memory,
                                 rbSeparation* separation);

/// Are two such shapes at most margin >= 0 m apart? Same status as rbPairMeasureFn.
typedef rbStatus rbPairTestFn(const rbSeparationInput* input, double margin, bool* overlaps);

/// A method to be registered. It must live as long as the process.
typedef struct rbPairMethodRow {
    const char* name;         ///< as options spell it; unique among methods
    rbPairMeasureFn* measure; ///< distance, witnesses and bounds that hold
    rbPairTestFn* test;       ///< NULL: by the lower bound of measure
} rbPairMethodRow;

/// Adds a method to the pair table; it gets the next number, starting at RB_PAIR_COUNT. Call it
/// from one thread before the first query. Does not allocate. INVALID, with a message, if the name
/// is empty or taken; LIMIT after RB_REGISTERED_MAX methods. error may be NULL.
RB_API rbStatus rbRegisterPairMethod(const rbPairMethodRow* row, rbError* error);

/// Stores how far the search for the distance of two meshes had to descend: the next query, a small
/// motion later, starts there. Use one per pair of shapes; capacity counts pairs of parts (16 bytes
/// each; RB_FRONT_CAPACITY suffices for meshes of 100,000 triangles). If it is too small, queries
/// are slower, never wrong. Shapes may change between queries; call rbFront_Clear if one is
/// destroyed and another may take its address.
#define RB_FRONT_CAPACITY 16384
/// Search state of two meshes; opaque.
typedef struct rbFront rbFront;
RB_API rbFront* rbCreateFront(int capacity); ///< below 1 counts as 1
RB_API void rbFront_Clear(rbFront* front);   ///< NULL is fine
RB_API void rbDestroyFront(rbFront* front);  ///< NULL is fine

/// Bytes of scratch memory a query may need (about 110 kB), with any alignment; the caller owns it
/// and may reuse it for all queries of one thread.
RB_API size_t rbGetSeparationScratchSize(void);

/// Signed distance, witness points and normal of two shapes of any type, except two planes, which
/// are UNSUPPORTED; compounds count as their nearest parts. INVALID if a pose is not finite or its
/// quaternion not of unit length. Does not allocate. cache may be NULL, scratch must not. A result
/// with reason ITERATIONS, STORAGE or BUDGET still holds: its bounds are wide but true. Compounds
/// cost the product of their part counts, less the pairs whose bounding balls are farther apart
/// than the best.
///
/// Meshes, soups and polyhedra need the method auto (the others are UNSUPPORTED). Closed ones are
/// solids whose surface must not intersect itself (depths may then be wrong): what is inside,
/// without touching the surface, overlaps. When separated, the distance is exact, for soups and
/// surfaces as well; over a plane the depth is exact, too. In overlap the bounds hold and the depth
/// is that of a translation than which no shorter one nearby separates them (not always the least
/// of all: reason ESTIMATE), the same if A and B are exchanged, except for a sphere, a capsule or a
/// rounded shape whose center, axis or core is off the surface: that depth is exact if the reason
/// is SURFACES. Moving a convex shape B by -lower along the normal separates it from a mesh A; a
/// shorter translation in another direction may exist. Time grows roughly with the logarithm of the
/// triangle count: some 10 to 50 us for a convex shape and 10,000 triangles when separated, ten
/// times that in overlap.
RB_API rbStatus rbMeasureSeparation(const rbSeparationInput* input, rbSeparationCache* cache,
                                    void* scratch, rbSeparation* separation, rbError* error);

// ------------------------------------------------------------------------------------- contact

/// Are two shapes at most margin >= 0 m apart? Stops at the first separating plane, the first point
/// that proves contact, the first touching triangles of meshes and the first touching parts of
/// compounds. What rounding leaves open counts as contact: gaps up to about 1e-9 of the size of the
/// bodies. Same status as rbMeasureSeparation, but the answer may be found before a pair of parts
/// that the method does not support. The budget is not used. The front of a cache is used for
/// meshes.
RB_API rbStatus rbTestOverlap(const rbSeparationInput* input, double margin,
                              rbSeparationCache* cache, bool* overlaps, rbError* error);

/// Gap up to which bodies count as touching: about the resolution of positions in double precision
/// for bodies of one meter.
#define RB_CONTACT_THRESHOLD 1e-8

/// Maximum number of points of a manifold.
#define RB_MANIFOLD_POINTS_MAX 4
/// Feature id of the witness points of the separation where no features are known.
#define RB_FEATURE_WITNESS 0u

/// One point of contact, in the frame of A; pointB - pointA = distance * normal.
typedef struct rbManifoldPoint {
    rbVec3 pointA;      ///< on the surface of A
    rbVec3 pointB;      ///< on the surface of B
    double distance;    ///< m, along the normal, negative in overlap
    uint32_t featureId; ///< identifies the features in contact: the same as long as they are
} rbManifoldPoint;

/// The relevant contact points of two touching shapes: for face on face, edge on face or parallel
/// edges the corners of the common region, reduced to four; otherwise the witness points.
typedef struct rbManifold {
    int count;                                      ///< 0: no contact
    rbVec3 normal;                                  ///< unit, from A to B, shared by all points
    rbManifoldPoint points[RB_MANIFOLD_POINTS_MAX]; ///< the first count are set
    int childA; ///< part of A if A is a compound (of the outermost one), otherwise 0
    int childB; ///< the same for B
} rbManifold;

/// Where one body acts on the other: midway between the surfaces.
static inline rbVec3 rbManifoldPoint_GetMiddle(const rbManifoldPoint* point)
{
    return rbScale(0.5, rbAdd(point->pointA, point->pointB));
}

/// Output array for manifolds.
typedef struct rbContactList {
    rbManifold* manifolds; ///< owned by the caller
    int capacity;          ///< size of the array
    int count;             ///< number found; the first capacity of them are stored
} rbContactList;

/// All contacts of two shapes: a manifold for every pair of parts at most threshold m apart (use
/// RB_CONTACT_THRESHOLD), in the order of the parts; convex shapes and planes have at most one. A
/// negative threshold omits contacts that are less deep. Points other than the deepest lie on the
/// surfaces to second order in the tilt of the features. In overlap, methods of the laboratory give
/// a manifold along an estimated normal. Otherwise like rbMeasureSeparation.
///
/// A mesh has a manifold for every direction of contact, starting with the one along the normal of
/// the separation: for a body on a floor of triangles the corners of the common region, whatever
/// the triangulation; a ball in a groove has two. In overlap the points are those where the bodies
/// touch after separation along the normal; depths are estimates like that of rbMeasureSeparation.
/// For a mesh over a plane the points are the vertices that are near enough.
RB_API rbStatus rbFindContacts(const rbSeparationInput* input, double threshold,
                               rbSeparationCache* cache, void* scratch, rbContactList* list,
                               rbError* error);

/// The exact first contact of A with B while A is translated by step (m, in the frame of B).
typedef struct rbShapeSweep {
    bool isHit;      ///< they touch during the step
    bool isInside;   ///< they overlap at the start: fraction 0
    bool isExact;    ///< closed form (spheres, polytopes, meshes); false: to within the tolerance
    double fraction; ///< of the step, 0..1
    rbVec3 point;    ///< m, frame of B, at contact
    rbVec3 normal;   ///< unit, outward of B
} rbShapeSweep;

/// poseA: pose of A in the frame of B at the start. Any shapes except two planes (X-01 to X-03, and
/// repeated distances in the general case). tolerance: m, for the general case; 0: 1e-10 of the
/// size. scratch as for rbMeasureSeparation.
RB_API rbStatus rbSweepShapes(const rbGeometry* geometryA, rbTransform poseA, rbVec3 step,
                              const rbGeometry* geometryB, double tolerance, void* scratch,
                              rbShapeSweep* sweep, rbError* error);

#ifdef __cplusplus
}
#endif

#endif
