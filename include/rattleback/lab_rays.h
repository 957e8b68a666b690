/// @file
/// Collision prediction by rays: a moving body casts rays from its surface along its motion
/// relative to another body; the shortest ray that hits tells how far the body can move. Stateless
/// and pure, usable without a world.
///
/// Rays sample: the free path is never underestimated, and what passes between two rays is missed.
/// rbSweepShapes (collision.h) is exact and shows the error.
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
    RB_RAYS_UNIFORM, ///< by area: spheres over their disc perpendicular to the motion, others over
                     ///< their faces
    RB_RAYS_LATTICE, ///< as published: spheres at equal angles about the motion, denser at the
                     ///< front; triangles denser toward one corner
    RB_RAYS_PATTERN_COUNT
} rbRayPattern;

RB_API const char* rbRayPattern_Name(rbRayPattern pattern); ///< "uniform", "lattice"
RB_API rbRayPattern rbRayPattern_Find(const char* name);    ///< RB_RAYS_PATTERN_COUNT if unknown

/// Maximum number of rays of a body.
#define RB_RAYS_COUNT_MAX 10000000

// clang-format off
/// The settings of prediction by rays, a row each (see RB_SETTING_FIELD).
///
/// Bundles of refinement go where lengths and normals of the rays before say that the way is
/// shortest; without a coarse hit one is aimed where both bodies pass. 16 rays of each body and 8
/// rounds of 8 find the way of convex bodies to 1e-9 m.
#define RB_RAY_SETTINGS(X) \
    X(rbRayPattern, pattern, "pattern", RB_RAYS_UNIFORM, RB_WORDS(rbRayPattern), "", \
      "where rays start; uniform: in area; lattice: equal angles about the motion as published") \
    X(int, count, "count", 100, RB_FROM(0, RB_RAYS_COUNT_MAX), "", \
      "rays of a body besides those of its vertices and edges, shared by area or as published " \
      "evenly, one for every triangle (unless bundles follow) and part at least; 0: vertices only") \
    X(bool, isPerTriangle, "perTriangle", false, RB_ANY, "", "count is that of every triangle") \
    X(int, edgeCount, "edges", 0, RB_FROM(0, 1000), "", \
      "rays within every edge of a polyhedral shape") \
    X(bool, isOneWay, "oneWay", false, RB_ANY, "", \
      "only the first of a pair casts rays, or the moving one if the other does not move") \
    X(int, refineRounds, "refineRounds", 0, RB_FROM(0, 64), "", \
      "bundles about the shortest ray, each a quarter as wide, until the path is known to the " \
      "tolerance") \
    X(int, refineCount, "refineCount", 16, RB_FROM(1, 10000), "", "rays of a bundle") \
    X(int, raysMax, "raysMax", 0, RB_FROM(0, 2147483647), "", \
      "bundles end when a prediction has cast this many rays in total; 0: no limit") \
    X(double, tolerance, "tolerance", 1e-6, RB_ABOVE(0.0, 1e12), "m", \
      "curves and turns are cut until no chord of a point's path is farther from it") \
    X(uint64_t, seed, "seed", 10, RB_FROM(0, 9007199254740992), "", "seed of random starts")
// clang-format on

/// Make it with rbDefaultRaySettings.
typedef struct rbRaySettings {
    RB_RAY_SETTINGS(RB_SETTING_FIELD)
} rbRaySettings;

/// The defaults of the list.
RB_API rbRaySettings rbDefaultRaySettings(void);
/// INVALID with a message that names the value.
RB_API rbStatus rbRaySettings_Check(const rbRaySettings* settings, rbError* error);

/// The points of a body that cast rays, computed once, in the frame of the geometry.
typedef struct rbRayEmitter rbRayEmitter;
/// Any shape except planes, which are unbounded: UNSUPPORTED. Keeps a reference to the geometry.
RB_API rbRayEmitter* rbCreateRayEmitter(const rbGeometry* geometry, const rbRaySettings* settings,
                                        rbError* error);
RB_API void rbDestroyRayEmitter(rbRayEmitter* emitter);        ///< NULL is fine
RB_API int rbRayEmitter_GetCount(const rbRayEmitter* emitter); ///< maximum rays per cast

/// Pose of a body at a time.
typedef rbTransform rbRayPoseFn(const void* context, double time);

/// A body and its motion over an interval of time.
typedef struct rbRayBody {
    const rbGeometry* geometry;  ///< borrowed; planes cast no rays
    const rbRayEmitter* emitter; ///< of this geometry; NULL: casts no rays
    rbRayPoseFn* pose;           ///< NULL: stays at the transform below
    const void* context;         ///< passed to pose
    rbTransform transform;       ///< of a static body
    rbVec3 center;     ///< m, frame of the geometry: a point whose speed is at most speedMax
    double speedMax;   ///< m/s, of the center
    double spinMax;    ///< rad/s
    double curvature;  ///< m/s^2, bound on the acceleration of the center: 0 on a line at constant
                       ///< speed
    double spinChange; ///< rad/s^2, bound on the angular acceleration: 0 about a fixed axis at
                       ///< constant speed; spinMax^2 suffices for a body free of torques
} rbRayBody;

/// One ray, in world coordinates at its start, for display.
typedef struct rbRayTrace {
    rbVec3 start;   ///< m
    rbVec3 end;     ///< m, of the hit or of the ray
    bool isHit;     ///< it hit the other body
    bool isReverse; ///< cast by B
    bool isRefined; ///< belongs to a bundle around the shortest ray
} rbRayTrace;

/// Called for every ray that is cast.
typedef void rbRayTraceFn(void* context, const rbRayTrace* trace);

/// What a pair remembers between predictions: the shortest ray, which is tried first. Zero
/// initialization is empty.
typedef struct rbRayTrack {
    bool isSet;     ///< true: the other members are set
    bool isReverse; ///< cast by B
    rbVec3 start;   ///< m, in the frame of the casting geometry
} rbRayTrack;

/// Work of predictions, accumulated.
typedef struct rbRayCounts {
    int64_t predictions; ///< made
    int64_t outOfReach;  ///< ended by the first early-out (R-28)
    int64_t passing;     ///< by the third (R-30)
    int64_t pieces;      ///< of the path, on which rays were cast; pieces out of reach do not count
    int64_t rays;        ///< cast
    int64_t hits;        ///< of the rays
} rbRayCounts;

/// Answer of rbPredictByRays.
typedef struct rbRayPrediction {
    bool isHit;     ///< true: the bodies touch within the interval
    bool isInside;  ///< bodies overlap at the start by more than touching (1e-9 of the size):
                    ///< isHit, time is the start, way 0, and point and normal are estimates
    bool isReverse; ///< the shortest ray was cast by B
    double time;    ///< s, of contact, between start and end
    double way;     ///< m, length of the shortest ray
    rbVec3 point;   ///< m, world, at the time of contact
    rbVec3 normal;  ///< unit, outward of B at the point (R-13), whichever body cast the ray: of the
                    ///< surface hit or cast from; where edges or vertices of both meet, that of an
                    ///< adjacent face
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
    rbRayTraceFn* trace;           ///< may be NULL; receives every ray
    void* traceContext;            ///< passed to trace
    void* scratch; ///< as for rbMeasureSeparation; NULL: allocated if bodies overlap at the start
} rbRayQuery;

/// When and where the bodies of a query touch, by rays in the frame of the target body along the
/// chords of the paths of their starting points; handles lines, curves and rotations (R-26, R-27,
/// Bodies that touch at the start hit there if they approach, but not if they
/// separate or rest. INVALID with a message for poses or times that are not finite; LIMIT if the
/// tolerance would divide the path into more than ten million pieces.
RB_API rbStatus rbPredictByRays(const rbRayQuery* query, rbRayPrediction* prediction,
                                rbError* error);

#ifdef __cplusplus
}
#endif

#endif
