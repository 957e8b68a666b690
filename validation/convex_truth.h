// Distances, depths and times of contact in 113 bits, by cutting planes over directions: a second
// method that knows neither simplices nor polytopes of the difference, for GJK, EPA, closed forms,
// sweeps and rays.
//
// Everything follows from the gap along a direction n, g(n) = min n.b - max n.a over the points of
// both bodies, which is a concave function of n. The distance is the largest g(n) / |n|. Moving A
// along v, contact is where the largest g(n) over the plane n.v = 1 is reached. Both are maxima
// over two numbers, found by ellipsoids that shrink around the maximum (Shor 1977): every
// evaluation cuts off a half.
#pragma once

#include <rattleback/collision.h>

typedef struct rbConvexTruth {
    double distance; // m, negative: depth
    rbVec3 normal;   // unit, from A to B, frame of A
    double slack;    // m: how far the bounds of the search are apart
} rbConvexTruth;

// Of two convex bodies other than planes and registered shapes. Separate bodies: proven to slack.
// Overlapping ones: the least of the local minima that a scan of directions leads to.
rbConvexTruth rbMeasureConvexTruth(const rbGeometry* a, const rbGeometry* b,
                                   rbTransform transformBtoA);

// The gap along a direction (frame of A): m, negative where they overlap along it.
double rbMeasureConvexGap(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                          rbVec3 direction);

typedef struct rbSweepTruth {
    bool isHit;
    bool isInside; // some parts overlap at the start
    double way;    // m
    rbVec3 normal; // unit, outward of B, where they meet
} rbSweepTruth;

// A moves straight along `step` (world, m) without turning. Any solids: meshes by their triangles,
// compounds by their children.
rbSweepTruth rbSweepByTruth(const rbGeometry* a, rbTransform poseA, rbVec3 step,
                            const rbGeometry* b, rbTransform poseB);
