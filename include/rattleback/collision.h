// Distance, depth and contact of two convex shapes: stateless and pure, usable without a world.
//
// All queries take the pose of B relative to A and answer in the frame of A. The signed distance is
// positive for a gap and negative for overlap (then its size is the penetration depth: the shortest
// translation that parts the bodies). The normal points from A to B.
#ifndef RATTLEBACK_COLLISION_H
#define RATTLEBACK_COLLISION_H

#include <rattleback/base.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#ifdef __cplusplus
extern "C" {
#endif

// Why a query stopped.
#define RB_STOP_MAP(X)                                      \
    X(CLOSED_FORM, "closed form")                           \
    X(CONVERGED, "bounds within the tolerance")             \
    X(ROUNDING, "no further progress in double precision")  \
    X(APART, "farther apart than asked for")                \
    X(TOUCHES, "overlap found, nothing more was asked for") \
    X(ITERATIONS, "iteration limit")                        \
    X(STORAGE, "scratch memory full")

typedef enum rbStopReason {
#define RB_STOP_ENUM(name, text) RB_STOP_##name,
    RB_STOP_MAP(RB_STOP_ENUM)
#undef RB_STOP_ENUM
    RB_STOP_COUNT
} rbStopReason;

RB_API const char* rbStopReason_Text(rbStopReason reason);

// Answer of a distance or depth query, in the frame of A.
typedef struct rbSeparation {
    double distance; // m, signed, between the bounds; belongs to the points and the normal
    double lower;    // m; lower <= true signed distance <= upper
    double upper;    // m
    rbVec3 pointA;   // on the surface of A
    rbVec3 pointB;   // on the surface of B; pointB - pointA = distance * normal
    rbVec3 normal;   // unit, from A to B
    int iterations;
    rbStopReason reason;
    int childA; // part of A where A is a compound (of the outermost), otherwise 0
    int childB;
} rbSeparation;

// How a pair is measured.
typedef enum rbPairMethod {
    RB_PAIR_AUTO,        // closed form where there is one, else iterative
    RB_PAIR_CLOSED_FORM, // UNSUPPORTED where there is none
    RB_PAIR_ITERATIVE,   // GJK for the distance, EPA for the depth; not for planes
    RB_PAIR_COUNT
} rbPairMethod;

RB_API const char* rbPairMethod_Name(rbPairMethod method); // "auto", "closed", "iterative"
RB_API rbPairMethod rbPairMethod_Find(const char* name);   // RB_PAIR_COUNT if unknown

// What is measured. Make it with rbDefaultSeparationInput.
typedef struct rbSeparationInput {
    uint32_t cookie;
    const rbGeometry* geometryA; // borrowed for the call
    const rbGeometry* geometryB;
    rbTransform transformBtoA; // unit quaternion
    double radiusA;            // m, >= 0: rounds the shape by a ball of this radius
    double radiusB;
    double relativeTolerance; // of the bounds; default 1e-12 apart, 1e-8 in depth (0: these)
    rbPairMethod method;
} rbSeparationInput;

RB_API rbSeparationInput rbDefaultSeparationInput(void);

// What a query leaves for the next one of the same pair: makes it cheaper, never changes the answer
// beyond its bounds. Zero initialisation is an empty cache. Not for compounds.
typedef struct rbSeparationCache {
    double opaque[24];
} rbSeparationCache;

// Bytes of scratch memory a query may need (about 130 kB), aligned to 16; the caller owns it and
// may reuse it for every query of one thread.
RB_API size_t rbGetSeparationScratchSize(void);

// Signed distance, witnesses and normal of two shapes: spheres, boxes, capsules, cylinders, cones,
// ellipsoids, hulls, planes against those, and compounds of them (the least distance of the parts).
// Allocates nothing. cache may be NULL. UNSUPPORTED, with a sentence, for meshes, soups, polyhedra
// and two planes; INVALID for poses that are not finite or not of unit length. A result whose
// reason is ITERATIONS or STORAGE still holds: its bounds are wide, but true.
RB_API rbStatus rbMeasureSeparation(const rbSeparationInput* input, rbSeparationCache* cache,
                                    void* scratch, rbSeparation* separation, rbError* error);

#ifdef __cplusplus
}
#endif

#endif
