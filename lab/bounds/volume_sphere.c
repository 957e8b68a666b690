// The smallest sphere enclosing points after Welzl (L-33, L-51), expected O(n).
//
// E. Welzl, Smallest enclosing disks (balls and ellipsoids), 1991. The points are shuffled once by
// a generator of fixed seed, so bits depend on the points alone; a point found outside goes to the
// front of the list. The recursion over the support set is a stack of at most four levels.
#include "base/core/memory.h"
#include "base/core/random.h"
#include "lab/bounds/volume_rows.h"

#include <string.h>

enum {
    CENTER = 0,
    RADIUS = 3,
    SIZE = 4
};

#define POINTS_ON_STACK 64
#define SHUFFLE_SEED 0x5bd1e995u
// A point this far outside, relative to the squared radius, counts as inside: rounding must not
// make points on the sphere require a new one. The final radius compensates for it.
#define CONTAINMENT_SLACK 1e-12
// Least sine-like ratio of a support set; the circumsphere of flatter ones is useless.
#define SINGULAR 1e-10

typedef struct Ball {
    rbVec3 center;
    double squared; // m^2; negative: empty
} Ball;

static bool ballThrough3(const rbVec3* p, Ball* ball)
{
    rbVec3 u = rbSub(p[1], p[0]);
    rbVec3 w = rbSub(p[2], p[0]);
    rbVec3 n = rbCross(u, w);
    double uu = rbLengthSquared(u), ww = rbLengthSquared(w), nn = rbLengthSquared(n);
    if (!(nn > SINGULAR * SINGULAR * uu * ww)) {
        return false;
    }
    rbVec3 x = rbAdd(rbScale(ww, rbCross(n, u)), rbScale(uu, rbCross(w, n)));
    x = rbScale(0.5 / nn, x);
    ball->center = rbAdd(p[0], x);
    ball->squared = rbLengthSquared(x);
    return true;
}

static bool ballThrough4(const rbVec3* p, Ball* ball)
{
    rbVec3 u = rbSub(p[1], p[0]);
    rbVec3 v = rbSub(p[2], p[0]);
    rbVec3 w = rbSub(p[3], p[0]);
    rbVec3 vw = rbCross(v, w);
    double det = rbDot(u, vw);
    double uu = rbLengthSquared(u), vv = rbLengthSquared(v), ww = rbLengthSquared(w);
    if (!(det * det > SINGULAR * SINGULAR * uu * vv * ww)) {
        return false;
    }
    rbVec3 x =
        rbAdd(rbScale(uu, vw), rbAdd(rbScale(vv, rbCross(w, u)), rbScale(ww, rbCross(u, v))));
    x = rbScale(0.5 / det, x);
    ball->center = rbAdd(p[0], x);
    ball->squared = rbLengthSquared(x);
    return true;
}

// The smallest ball with 1 to 4 points on its surface; false, and ball unchanged, where they are
// dependent.
static bool ballThrough(const rbVec3* p, int count, Ball* ball)
{
    RB_ASSERT(count >= 1 && count <= 4);
    if (count == 1) {
        ball->center = p[0];
        ball->squared = 0.0;
        return true;
    }
    if (count == 2) {
        ball->center = rbScale(0.5, rbAdd(p[0], p[1]));
        ball->squared = 0.25 * rbLengthSquared(rbSub(p[1], p[0]));
        return true;
    }
    return count == 3 ? ballThrough3(p, ball) : ballThrough4(p, ball);
}

static void moveToFront(rbVec3* points, int index)
{
    rbVec3 point = points[index];
    memmove(points + 1, points, (size_t)index * sizeof *points);
    points[0] = point;
}

// Points within a ball of about unit size about the origin, in random order; they are permuted.
static Ball findSmallestBall(rbVec3* points, int count, long long* tests)
{
    Ball ball = {{0.0, 0.0, 0.0}, -1.0};
    rbVec3 support[4];
    int limits[4] = {count, 0, 0, 0};
    int indices[4] = {0, 0, 0, 0};
    int level = 0; // points known to be on the surface
    for (;;) {
        if (indices[level] == limits[level]) {
            if (level == 0) {
                return ball;
            }
            // the ball of the points before this one and with it on the surface is done
            level--;
            moveToFront(points, indices[level]);
            indices[level]++;
            continue;
        }
        rbVec3 point = points[indices[level]];
        (*tests)++;
        if (rbLengthSquared(rbSub(point, ball.center)) <=
            ball.squared * (1.0 + CONTAINMENT_SLACK) + DBL_MIN) {
            indices[level]++;
            continue;
        }
        support[level] = point;
        if (!ballThrough(support, level + 1, &ball) || level == 3) {
            indices[level]++;
            continue;
        }
        level++;
        RB_ASSERT(level < 4);
        limits[level] = indices[level - 1];
        indices[level] = 0;
    }
}

static double farthest(const rbVec3* points, int count, rbVec3 center)
{
    double squared = 0.0;
    for (int i = 0; i < count; i++) {
        double s = rbLengthSquared(rbSub(points[i], center));
        squared = s > squared ? s : squared;
    }
    return sqrt(squared);
}

void rbFitSphere(const rbVec3* points, int count, double* volume, long long* tests)
{
    RB_ASSERT(volume != NULL);
    rbBounds bounds = rbFindPointBounds(points, count);
    RB_ASSERT(rbIsFinite3(bounds.lower) && rbIsFinite3(bounds.upper));
    rbVec3 base = rbAddScaled(rbScale(0.5, bounds.lower), 0.5, bounds.upper);
    double baseRadius = farthest(points, count, base);
    rbVec3 onStack[POINTS_ON_STACK];
    size_t bytes = (size_t)count * sizeof(rbVec3);
    rbVec3* copy = count <= POINTS_ON_STACK ? onStack : rbAlloc(bytes);
    // relative to the middle and in units of the size: squares neither cancel nor underflow
    double scale = baseRadius > 0.0 ? 1.0 / baseRadius : 1.0;
    rbRandom random = {SHUFFLE_SEED};
    for (int i = 0; i < count; i++) {
        int j = rbRandom_Index(&random, i + 1);
        if (j != i) {
            copy[i] = copy[j];
        }
        copy[j] = rbScale(scale, rbSub(points[i], base));
    }
    long long testCount = 0;
    Ball ball = findSmallestBall(copy, count, &testCount);
    if (copy != onStack) {
        rbFree(copy, bytes);
    }
    if (tests != NULL) {
        *tests = testCount;
    }
    rbVec3 center = rbAddScaled(base, baseRadius, ball.center);
    double radius = farthest(points, count, center);
    // dependent support points may have spoiled it
    if (!(radius <= baseRadius)) {
        center = base;
        radius = baseRadius;
    }
    rbStore3(volume + CENTER, center);
    volume[RADIUS] = radius * (1.0 + 8.0 * DBL_EPSILON);
}

static void fitSphere(const rbVec3* points, int count, double* volume)
{
    rbFitSphere(points, count, volume, NULL);
}

static void moveSphere(const rbVolumeMotion* motion, const double* volume, double* moved)
{
    RB_ASSERT(moved != volume);
    rbVec3 center = rbMulMV(motion->rotation, rbLoad3(volume + CENTER));
    rbStore3(moved + CENTER, rbAdd(center, motion->translation));
    moved[RADIUS] = volume[RADIUS] + motion->slack;
}

static double boundSpheres(const double* moved, const double* other)
{
    double distance = rbDistance(rbLoad3(moved + CENTER), rbLoad3(other + CENTER));
    double reach = moved[RADIUS] + other[RADIUS];
    double gap = distance * (1.0 - 4.0 * DBL_EPSILON) - reach * (1.0 + 2.0 * DBL_EPSILON);
    return gap > 0.0 ? gap * (1.0 - DBL_EPSILON) : 0.0;
}

static rbVec3 centerOfSphere(const double* volume)
{
    return rbLoad3(volume + CENTER);
}

static rbVolumeMeasure measureSphere(const double* volume)
{
    double r = volume[RADIUS];
    rbVolumeMeasure measure = {4.0 / 3.0 * RB_PI * r * r * r, 4.0 * RB_PI * r * r, 2.0 * r};
    return measure;
}

static bool sphereContains(const double* volume, rbVec3 point, double slack)
{
    return rbDistance(point, rbLoad3(volume + CENTER)) <= volume[RADIUS] + slack;
}

const rbVolumeRow rbVolumeRowSphere = {
    .name = "sphere",
    .size = SIZE,
    .fit = fitSphere,
    .prepare = rbPrepareVolumeMotion,
    .move = moveSphere,
    .bound = boundSpheres,
    .center = centerOfSphere,
    .measure = measureSphere,
    .contains = sphereContains,
};
