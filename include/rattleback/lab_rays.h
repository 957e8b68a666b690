/// @file
/// Collision prediction by rays: a moving body shoots rays from its surface along its motion
/// relative to another body; the shortest that hits says how far it can go. Stateless and pure,
/// usable without a world.
///
/// What rays find is sampled: the way that is free is never underestimated, and what passes between
/// two rays is missed. rbSweepShapes (collision.h) is exact and says by how much.
#ifndef RATTLEBACK_LAB_RAYS_H
#define RATTLEBACK_LAB_RAYS_H

#include <rattleback/base.h>
#include <rattleback/shape.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where rays start.
typedef enum rbRayPattern {
    RB_RAYS_UNIFORM, ///< by area: spheres over the disc seen along the motion, others over their
                     ///< faces
    RB_RAYS_LATTICE, ///< as published: spheres by equal angles about the motion, denser at the
                     ///< front; triangles denser toward one corner
    RB_RAYS_PATTERN_COUNT
} rbRayPattern;

RB_API const char* rbRayPattern_Name(rbRayPattern pattern); ///< "uniform", "lattice"
RB_API rbRayPattern rbRayPattern_Find(const char* name);    ///< RB_RAYS_PATTERN_COUNT if unknown

/// Most rays of a body.
#define RB_RAYS_COUNT_MAX 10000000

/// Make it with rbDefaultRaySettings.
typedef struct rbRaySettings {
    rbRayPattern pattern; ///< uniform
    int count;            ///< rays of a body, beside those of vertices and edges (and rims), shared
                          ///< by area or as published evenly, one for every triangle at least
    /// (unless bundles follow) and part; 0: vertices only; 0 to RB_RAYS_COUNT_MAX; 100
    bool isPerTriangle; ///< false; true: count is that of every triangle
    int edgeCount;      ///< points within every edge of a polyhedral shape, 0 to 1000; 0
    bool isOneWay;      ///< false: both bodies shoot, each at the other; true: only the first
    int refineRounds;   ///< bundles about the shortest ray, each a quarter as wide, 0 to 64; 0.
                        ///< They go where lengths and normals of those before say that the way
                        ///< is shortest, and end when that is known to the tolerance; without a
                        ///< coarse hit one is aimed where both bodies pass. 16 rays of each body
                        ///< and 8 rounds of 8 find convex bodies' way to 1e-9 m
    int refineCount;    ///< rays of a bundle, 1 to 10000; 16
    int raysMax;        ///< bundles end when a prediction has shot so many rays in all; 0: no limit
    double tolerance;   ///< m: curves and turns are cut until no chord of a point's way is farther
                        ///< from it, > 0; 1e-6
    uint64_t seed;      ///< of random points; 10
} rbRaySettings;

/// The defaults that the comments of the members state.
RB_API rbRaySettings rbDefaultRaySettings(void);
/// INVALID with a sentence that names the value.
RB_API rbStatus rbRaySettings_Check(const rbRaySettings* settings, rbError* error);

/// The points of a body that shoot, made once, in the frame of the geometry.
typedef struct rbRayEmitter rbRayEmitter;
/// Any shape but planes, which have no end: UNSUPPORTED. Keeps a reference to the geometry.
RB_API rbRayEmitter* rbCreateRayEmitter(const rbGeometry* geometry, const rbRaySettings* settings,
                                        rbError* error);
RB_API void rbDestroyRayEmitter(rbRayEmitter* emitter);        ///< NULL is fine
RB_API int rbRayEmitter_GetCount(const rbRayEmitter* emitter); ///< rays of a shot at most

/// Where a body is at a time.
typedef rbTransform rbRayPoseFn(const void* context, double time);

/// A body and its motion over an interval of time.
typedef struct rbRayBody {
    const rbGeometry* geometry;  ///< borrowed; planes do not shoot
    const rbRayEmitter* emitter; ///< of this geometry; NULL: it is shot at only
    rbRayPoseFn* pose;           ///< NULL: stands at the transform below
    const void* context;         ///< passed to pose
    rbTransform transform;       ///< of a body that stands
    rbVec3 center;     ///< m, frame of the geometry: a point that moves at most at speedMax
    double speedMax;   ///< m/s, of the center
    double spinMax;    ///< rad/s
    double curvature;  ///< m/s^2, bound on the acceleration of the center: 0 on a line at constant
                       ///< speed
    double spinChange; ///< rad/s^2, bound on the angular acceleration: 0 about a fixed axis at
                       ///< constant speed; spinMax^2 suffices for a body free of torques
} rbRayBody;

/// One ray, in the world at its start, for those who want to draw it.
typedef struct rbRayTrace {
    rbVec3 start;   ///< m
    rbVec3 end;     ///< m, of the hit, or of the ray
    bool isHit;     ///< it hit the other body
    bool isReverse; ///< shot by B
    bool isRefined; ///< of a bundle about the shortest ray
} rbRayTrace;

/// Called for every ray that is cast.
typedef void rbRayTraceFn(void* context, const rbRayTrace* trace);

/// What a pair remembers from one prediction to the next: the shortest ray, which is tried first.
/// Zero initialization is empty.
typedef struct rbRayTrack {
    bool isSet;     ///< true: the others are set
    bool isReverse; ///< cast by B
    rbVec3 start;   ///< m, in the frame of the geometry that shot
} rbRayTrack;

/// Work of predictions, added to.
typedef struct rbRayCounts {
    int64_t predictions; ///< made
    int64_t outOfReach;  ///< ended by the first early-out (R-28)
    int64_t passing;     ///< by the third (R-30)
    int64_t pieces;      ///< of the way, on which rays were shot; those out of reach are not
    int64_t rays;        ///< cast
    int64_t hits;        ///< of the rays
} rbRayCounts;

/// Answer of rbPredictByRays.
typedef struct rbRayPrediction {
    bool isHit;     ///< true: the bodies touch within the interval
    bool isInside;  ///< bodies overlap at the start, by more than touch (1e-9 of the size): isHit,
                    ///< time is the start, way 0, and point and normal are estimates
    bool isReverse; ///< the shortest ray was shot by B
    double time;    ///< s, of contact, between start and end
    double way;     ///< m, length of the shortest ray
    rbVec3 point;   ///< m, world, at the time of contact
    rbVec3 normal;  ///< unit, outward of B at the point (R-13), whoever shot: of the surface that
                    ///< was hit or shot from; where edges or vertices of both meet it is that of a
                    ///< face beside
} rbRayPrediction;

/// Input of rbPredictByRays: two bodies and an interval of time.
typedef struct rbRayQuery {
    const rbRayBody* bodyA;        ///< borrowed
    const rbRayBody* bodyB;        ///< borrowed
    double start;                  ///< s
    double end;                    ///< s
    const rbRaySettings* settings; ///< borrowed
    rbRayTrack* track;             ///< may be NULL
    rbRayCounts* counts;           ///< may be NULL
    rbRayTraceFn* trace;           ///< may be NULL: told of every ray
    void* traceContext;            ///< passed to trace
    void* scratch; ///< as of rbMeasureSeparation; NULL: allocated where bodies overlap at the start
} rbRayQuery;

/// When and where the bodies of a query touch, by rays in the frame of the body that is shot at,
/// along the chords of the ways of their starts: lines, curves and turns alike (R-26, R-27, R-33,
/// Bodies that touch hit at the start if they approach, and do not if they part or
/// rest. INVALID with a sentence for poses or times that are not finite; LIMIT where the tolerance
/// would cut the way into more than ten million pieces.
RB_API rbStatus rbPredictByRays(const rbRayQuery* query, rbRayPrediction* prediction,
                                rbError* error);

#ifdef __cplusplus
}
#endif

#endif
