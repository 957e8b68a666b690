// Ear clipping: a corner is an ear if it turns left and no other corner lies in the closed triangle
// with its neighbors. Only corners that do not turn left need to be tested, because some such
// corner is in the triangle whenever any corner is. Flat corners are never clipped as ears, so that
// no triangle is degenerate and triangulated neighbors still fit edge to edge.
#include "collision/geometry/polygon.h"

#include "base/core/memory.h"

#include <float.h>

double rbGetPolygonArea(const double (*points)[2], int count)
{
    RB_ASSERT(count >= 3);
    double sum = 0.0;
    for (int i = 1; i + 1 < count; ++i) {
        sum += rbOrient2(points[0], points[i], points[i + 1]);
    }
    return 0.5 * sum;
}

// Sign of rbOrient2, 0 within its rounding error.
static int turn(const double a[2], const double b[2], const double c[2])
{
    double left = (b[0] - a[0]) * (c[1] - a[1]), right = (b[1] - a[1]) * (c[0] - a[0]);
    double bound = 4.0 * DBL_EPSILON * (fabs(left) + fabs(right));
    double value = left - right;
    return value > bound ? 1 : (value < -bound ? -1 : 0);
}

static bool boxesMeet(const double a[2], const double b[2], const double c[2], const double d[2])
{
    for (int k = 0; k < 2; ++k) {
        double abMin = a[k] < b[k] ? a[k] : b[k], abMax = a[k] < b[k] ? b[k] : a[k];
        double cdMin = c[k] < d[k] ? c[k] : d[k], cdMax = c[k] < d[k] ? d[k] : c[k];
        if (abMax < cdMin || cdMax < abMin) {
            return false;
        }
    }
    return true;
}

bool rbFindPolygonCrossing(const double (*points)[2], int count, int sides[2])
{
    RB_ASSERT(count >= 3);
    for (int i = 0; i < count; ++i) {
        const double* a = points[i];
        const double* b = points[(i + 1) % count];
        const double* c = points[(i + 2) % count];
        // neighbors: a repeated point, or a fold back
        bool isRepeated = a[0] == b[0] && a[1] == b[1];
        double along = (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]);
        if (isRepeated || (turn(a, b, c) == 0 && along < 0.0)) {
            sides[0] = i;
            sides[1] = (i + 1) % count;
            return true;
        }
        int last = i == 0 ? count - 1 : count;
        for (int j = i + 2; j < last; ++j) {
            const double* d = points[j];
            const double* e = points[(j + 1) % count];
            if (boxesMeet(a, b, d, e) && turn(a, b, d) * turn(a, b, e) <= 0 &&
                turn(d, e, a) * turn(d, e, b) <= 0) {
                sides[0] = i;
                sides[1] = j;
                return true;
            }
        }
    }
    return false;
}

enum {
    NEXT,
    PREVIOUS,
    IS_CONVEX
};

typedef struct Ring {
    const double (*points)[2];
    int (*corners)[3]; // next, previous, whether the corner turns left
} Ring;

static bool turnsLeft(const Ring* ring, int i)
{
    const double(*p)[2] = ring->points;
    return turn(p[ring->corners[i][PREVIOUS]], p[i], p[ring->corners[i][NEXT]]) > 0;
}

static bool isEar(const Ring* ring, int i)
{
    if (!ring->corners[i][IS_CONVEX]) {
        return false;
    }
    int before = ring->corners[i][PREVIOUS], after = ring->corners[i][NEXT];
    const double(*p)[2] = ring->points;
    for (int j = ring->corners[after][NEXT]; j != before; j = ring->corners[j][NEXT]) {
        if (!ring->corners[j][IS_CONVEX] && rbOrient2(p[before], p[i], p[j]) >= 0.0 &&
            rbOrient2(p[i], p[after], p[j]) >= 0.0 && rbOrient2(p[after], p[before], p[j]) >= 0.0) {
            return false;
        }
    }
    return true;
}

// The corner with the largest triangle, for polygons that have no ear left.
static int findLargest(const Ring* ring, int start)
{
    int best = start;
    double largest = -INFINITY;
    int i = start;
    do {
        const double(*p)[2] = ring->points;
        double area = rbOrient2(p[ring->corners[i][PREVIOUS]], p[i], p[ring->corners[i][NEXT]]);
        if (area > largest) {
            largest = area;
            best = i;
        }
        i = ring->corners[i][NEXT];
    } while (i != start);
    return best;
}

bool rbClipEars(const double (*points)[2], int count, int (*scratch)[3], rbIndex3* triangles)
{
    RB_ASSERT(count >= 3);
    Ring ring = {points, scratch};
    for (int i = 0; i < count; ++i) {
        ring.corners[i][NEXT] = i + 1 < count ? i + 1 : 0;
        ring.corners[i][PREVIOUS] = i > 0 ? i - 1 : count - 1;
    }
    for (int i = 0; i < count; ++i) {
        ring.corners[i][IS_CONVEX] = turnsLeft(&ring, i);
    }
    bool isSimple = true;
    int current = 0;
    for (int left = count, triangle = 0; left > 3; --left, ++triangle) {
        rbPoll();
        int tried = 0;
        while (tried < left && !isEar(&ring, current)) {
            current = ring.corners[current][NEXT];
            ++tried;
        }
        if (tried == left) {
            isSimple = false;
            current = findLargest(&ring, current);
        }
        int before = ring.corners[current][PREVIOUS], after = ring.corners[current][NEXT];
        triangles[triangle] = (rbIndex3){{before, current, after}};
        ring.corners[before][NEXT] = after;
        ring.corners[after][PREVIOUS] = before;
        ring.corners[before][IS_CONVEX] = turnsLeft(&ring, before);
        ring.corners[after][IS_CONVEX] = turnsLeft(&ring, after);
        // skipping a corner keeps the triangles from forming one long fan
        current = ring.corners[after][NEXT];
    }
    int before = ring.corners[current][PREVIOUS];
    triangles[count - 3] = (rbIndex3){{before, current, ring.corners[current][NEXT]}};
    return isSimple && (count == 3 || turnsLeft(&ring, current));
}
