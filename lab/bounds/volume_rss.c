// A rectangle swept by a sphere (Larsen, Gottschalk, Lin and Manocha, 2000): all points within a
// radius of a rectangle. An oriented box of thickness 0, and a radius.
//
// The bound is that of two boxes, less the radii. Measured: moving and testing take as long as for
// an oriented box; its bounds are as tight on patches of a surface and less tight on point clouds,
// and the exact distance between the rectangles could add a few percent at most. It is kept for
// comparison, not because it is better.
#include "lab/bounds/volume_rows.h"

enum {
    RADIUS = RB_OBB_SIZE,
    SIZE
};

// Points in the frame of the rectangle: x, y in its plane, z across.
typedef struct Frame {
    rbVec3 origin;
    rbMat3 axes;
} Frame;

static rbVec3 toFrame(const Frame* frame, rbVec3 point)
{
    return rbMulMtV(frame->axes, rbSub(point, frame->origin));
}

static double component(rbVec3 v, int i)
{
    return i == 0 ? v.x : (i == 1 ? v.y : v.z);
}

// The center of the points as origin, axes by decreasing extent.
static Frame makeFrame(const rbVec3* points, int count, double* radius)
{
    double box[RB_OBB_SIZE];
    rbFitObb(points, count, rbFindHullAxes(points, count), box);
    int order[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++) {
        for (int k = i; k > 0 && box[RB_OBB_HALF + order[k]] > box[RB_OBB_HALF + order[k - 1]];
             k--) {
            int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    }
    Frame frame;
    frame.origin = rbLoad3(box + RB_OBB_CENTER);
    frame.axes.cx = rbLoad3(box + RB_OBB_AXES + (ptrdiff_t)3 * order[0]);
    frame.axes.cy = rbLoad3(box + RB_OBB_AXES + (ptrdiff_t)3 * order[1]);
    frame.axes.cz = rbLoad3(box + RB_OBB_AXES + (ptrdiff_t)3 * order[2]);
    RB_ASSERT(box[RB_OBB_HALF + order[0]] >= box[RB_OBB_HALF + order[2]]);
    *radius = box[RB_OBB_HALF + order[2]];
    return frame;
}

typedef struct Rectangle {
    double low[2], high[2];
} Rectangle;

// Squared half width of the sphere's cross-section at height z.
static double squaredReach(double radius, double z)
{
    double squared = radius * radius - z * z;
    return squared > 0.0 ? squared : 0.0;
}

// Moves the sides inward as far as the round rim allows.
static Rectangle fitSides(const Frame* frame, const rbVec3* points, int count, double radius)
{
    Rectangle r = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (int k = 0; k < count; k++) {
        rbVec3 p = toFrame(frame, points[k]);
        double reach = sqrt(squaredReach(radius, p.z));
        for (int i = 0; i < 2; i++) {
            double x = component(p, i);
            r.low[i] = x + reach < r.low[i] ? x + reach : r.low[i];
            r.high[i] = x - reach > r.high[i] ? x - reach : r.high[i];
        }
    }
    for (int i = 0; i < 2; i++) {
        if (r.low[i] > r.high[i]) {
            r.low[i] = r.high[i] = 0.5 * (r.low[i] + r.high[i]);
        }
    }
    return r;
}

// Moves corners out along their diagonals until the ball there reaches the points beyond both
// sides: (dx - t)^2 + (dy - t)^2 <= reach^2.
static void fitCorners(const Frame* frame, const rbVec3* points, int count, double radius,
                       Rectangle* r)
{
    for (int k = 0; k < count; k++) {
        rbVec3 p = toFrame(frame, points[k]);
        double squared = squaredReach(radius, p.z);
        double beyond[2];
        for (int i = 0; i < 2; i++) {
            double over = component(p, i) - r->high[i], under = r->low[i] - component(p, i);
            beyond[i] = over > under ? over : under;
        }
        double dx = beyond[0], dy = beyond[1];
        if (!(dx > 0.0 && dy > 0.0 && dx * dx + dy * dy > squared)) {
            continue;
        }
        double root = 2.0 * squared - (dx - dy) * (dx - dy);
        double t = 0.5 * (dx + dy - sqrt(root > 0.0 ? root : 0.0));
        for (int i = 0; i < 2; i++) {
            double* side = component(p, i) > r->high[i] ? &r->high[i] : &r->low[i];
            *side += side == &r->high[i] ? t : -t;
        }
    }
}

static double distanceToRectangle(const double* volume, rbVec3 point)
{
    const double* axes = volume + RB_OBB_AXES;
    rbVec3 x = rbSub(point, rbLoad3(volume + RB_OBB_CENTER));
    double u = fabs(rbDot(rbLoad3(axes), x)) - volume[RB_OBB_HALF];
    double v = fabs(rbDot(rbLoad3(axes + 3), x)) - volume[RB_OBB_HALF + 1];
    double w = rbDot(rbLoad3(axes + 6), x);
    u = u > 0.0 ? u : 0.0;
    v = v > 0.0 ? v : 0.0;
    return sqrt(u * u + v * v + w * w);
}

static void fitRss(const rbVec3* points, int count, double* volume)
{
    RB_ASSERT(count >= 1);
    double radius;
    Frame frame = makeFrame(points, count, &radius);
    Rectangle r = fitSides(&frame, points, count, radius);
    fitCorners(&frame, points, count, radius, &r);
    rbVec3 middle = rbMakeVec3(0.5 * (r.low[0] + r.high[0]), 0.5 * (r.low[1] + r.high[1]), 0.0);
    rbVec3 half = rbMakeVec3(0.5 * (r.high[0] - r.low[0]), 0.5 * (r.high[1] - r.low[1]), 0.0);
    rbStore3(volume + RB_OBB_CENTER, rbAdd(frame.origin, rbMulMV(frame.axes, middle)));
    rbStore3(volume + RB_OBB_AXES, frame.axes.cx);
    rbStore3(volume + RB_OBB_AXES + 3, frame.axes.cy);
    rbStore3(volume + RB_OBB_AXES + 6, frame.axes.cz);
    rbStore3(volume + RB_OBB_HALF, half);
    // from the rounded rectangle, so that nothing protrudes
    double reach = 0.0;
    for (int k = 0; k < count; k++) {
        double d = distanceToRectangle(volume, points[k]);
        reach = d > reach ? d : reach;
    }
    RB_ASSERT(half.x >= 0.0 && half.y >= 0.0);
    RB_ASSERT(isfinite(reach));
    volume[RADIUS] = reach + 32.0 * DBL_EPSILON * (half.x + half.y + reach);
}

static void moveRss(const rbVolumeMotion* motion, const double* volume, double* moved)
{
    rbMoveObb(motion, volume, moved);
    // flat again: the radius absorbs the enlargement of the box
    moved[RB_OBB_HALF + 2] = 0.0;
    moved[RADIUS] = volume[RADIUS] + motion->slack;
}

static double boundRsss(const double* moved, const double* other)
{
    double reach = moved[RADIUS] + other[RADIUS];
    double gap = rbBoundObbs(moved, other) - reach * (1.0 + 2.0 * DBL_EPSILON);
    return gap > 0.0 ? gap * (1.0 - DBL_EPSILON) : 0.0;
}

static rbVec3 centerOfRss(const double* volume)
{
    return rbLoad3(volume + RB_OBB_CENTER);
}

static rbVolumeMeasure measureRss(const double* volume)
{
    double a = 2.0 * volume[RB_OBB_HALF], b = 2.0 * volume[RB_OBB_HALF + 1];
    double r = volume[RADIUS];
    rbVolumeMeasure measure;
    measure.volume = 2.0 * a * b * r + RB_PI * r * r * (a + b) + 4.0 / 3.0 * RB_PI * r * r * r;
    measure.surface = 2.0 * a * b + 2.0 * RB_PI * r * (a + b) + 4.0 * RB_PI * r * r;
    measure.diameter = sqrt(a * a + b * b) + 2.0 * r;
    return measure;
}

static bool rssContains(const double* volume, rbVec3 point, double slack)
{
    return distanceToRectangle(volume, point) <= volume[RADIUS] + slack;
}

const rbVolumeRow rbVolumeRowRss = {
    .name = "rss",
    .size = SIZE,
    .fit = fitRss,
    .prepare = rbPrepareVolumeMotion,
    .move = moveRss,
    .bound = boundRsss,
    .center = centerOfRss,
    .measure = measureRss,
    .contains = rssContains,
};
