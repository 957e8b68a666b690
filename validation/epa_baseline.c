#include "epa_baseline.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define POINTS_MAX 200
#define FACES_MAX 800
#define START_ROUNDS 100
#define EPSILON_ABSOLUTE 1e-4
#define EPSILON_RELATIVE 1e-8
// Relative to the scale: minimum height of a point above a face that it sees.
#define VISIBLE 1e-14
// Barycentric weight below zero that still counts as inside.
#define INSIDE 1e-9

typedef struct Face {
    int v[3]; // counter-clockwise from outside
} Face;

typedef struct Polytope {
    const rbCso* cso;
    const rbBaselineSettings* settings;
    rbCsoPoint points[POINTS_MAX];
    Face faces[FACES_MAX];
    int pointCount, faceCount;
    bool isFull;
} Polytope;

// The feature of the polytope nearest to the origin.
typedef struct Nearest {
    int face;
    double squared;    // |v|^2, sign of the plane distance
    rbVec3 v;          // nearest point
    rbVec3 direction;  // the next search direction
    double weights[3]; // of v; zero for corners that do not contribute
} Nearest;

static rbCsoPoint support(const rbCso* cso, rbVec3 direction)
{
    rbVec3 u = rbNormalize(direction);
    rbCsoPoint p = rbCso_Support(cso, u, NULL);
    p.a = rbAddScaled(p.a, cso->a->radius, u);
    p.b = rbAddScaled(p.b, -cso->b->radius, u);
    p.w = rbSub(p.a, p.b);
    return p;
}

static rbVec3 corner(const Polytope* p, int face, int i)
{
    return p->points[p->faces[face].v[i]].w;
}

static rbVec3 normalOf(const Polytope* p, int face)
{
    rbVec3 a = corner(p, face, 0);
    return rbCross(rbSub(corner(p, face, 1), a), rbSub(corner(p, face, 2), a));
}

// ---------------------------------------------------------------------------------------- start

static void setTetrahedron(Polytope* p)
{
    static const Face faces[4] = {{{0, 1, 2}}, {{0, 3, 1}}, {{0, 2, 3}}, {{1, 3, 2}}};
    p->faceCount = 4;
    for (int i = 0; i < 4; ++i) {
        p->faces[i] = faces[i];
    }
    rbVec3 away = rbSub(p->points[3].w, p->points[0].w);
    if (rbDot(normalOf(p, 0), away) > 0.0) {
        for (int i = 0; i < 4; ++i) {
            int swap = p->faces[i].v[1];
            p->faces[i].v[1] = p->faces[i].v[2];
            p->faces[i].v[2] = swap;
        }
    }
}

// A tetrahedron of support points around the origin (G-26); false if there is none.
static bool findStart(Polytope* p)
{
    static const rbVec3 directions[4] = {
        {1.0, 0.9, 0.8}, {1.0, -0.9, -0.8}, {-1.0, 0.9, -0.7}, {-1.0, -0.8, 0.9}};
    static const int opposite[4] = {3, 2, 1, 0};
    for (int i = 0; i < 4; ++i) {
        p->points[i] = support(p->cso, directions[i]);
    }
    p->pointCount = 4;
    for (int round = 0; round < START_ROUNDS; ++round) {
        setTetrahedron(p);
        int worst = -1;
        double lowest = 0.0;
        for (int i = 0; i < 4; ++i) {
            double distance = rbDot(rbNormalize(normalOf(p, i)), corner(p, i, 0));
            if (distance < lowest) {
                lowest = distance;
                worst = i;
            }
        }
        if (worst < 0) {
            return true;
        }
        rbVec3 normal = normalOf(p, worst);
        rbCsoPoint w = support(p->cso, normal);
        if (rbDot(w.w, normal) < 0.0) {
            return false;
        }
        p->points[opposite[worst]] = w;
    }
    return false;
}

// -------------------------------------------------------------------------------- nearest feature

static bool isLess(double a, double b)
{
    return a < b || fabs(a - b) < DBL_EPSILON;
}

static void nearestOfEdge(const Polytope* p, int i, Nearest* nearest)
{
    rbVec3 a = corner(p, nearest->face, i);
    rbVec3 b = corner(p, nearest->face, (i + 1) % 3);
    rbVec3 ab = rbSub(b, a);
    double t = -rbDot(a, ab) / rbLengthSquared(ab);
    t = t < 0.0 || fabs(t) < DBL_EPSILON ? 0.0 : t;
    t = t > 1.0 || fabs(t - 1.0) < DBL_EPSILON ? 1.0 : t;
    rbVec3 v = rbAddScaled(a, t, ab);
    if (rbLengthSquared(v) < nearest->squared) {
        nearest->squared = rbLengthSquared(v);
        nearest->v = v;
        nearest->weights[i] = 1.0 - t;
        nearest->weights[(i + 1) % 3] = t;
        nearest->weights[(i + 2) % 3] = 0.0;
    }
}

// By Cramer's rule: a + s ab + t ac, inside if 0 <= s, t and s + t <= 1 up to DBL_EPSILON.
static Nearest nearestByCramer(const Polytope* p, int face)
{
    Nearest nearest = {.face = face, .squared = INFINITY};
    rbVec3 a = corner(p, face, 0);
    rbVec3 ab = rbSub(corner(p, face, 1), a);
    rbVec3 ac = rbSub(corner(p, face, 2), a);
    double uu = rbDot(ab, ab), vv = rbDot(ac, ac), uv = rbDot(ab, ac);
    double ua = rbDot(a, ab), va = rbDot(a, ac);
    double s = (va * uv - vv * ua) / (vv * uu - uv * uv);
    double t = (-s * uv - va) / vv;
    if (isLess(0.0, s) && isLess(s, 1.0) && isLess(0.0, t) && isLess(t, 1.0) &&
        isLess(s + t, 1.0)) {
        nearest.v = rbAddScaled(rbAddScaled(a, s, ab), t, ac);
        nearest.squared = rbLengthSquared(nearest.v);
        nearest.weights[0] = 1.0 - s - t;
        nearest.weights[1] = s;
        nearest.weights[2] = t;
    } else {
        for (int i = 0; i < 3; ++i) {
            nearestOfEdge(p, i, &nearest);
        }
    }
    nearest.direction = nearest.v;
    return nearest;
}

// By the plane of the face where it contains the foot point, otherwise by its edges.
static Nearest nearestByPlane(const Polytope* p, int face)
{
    Nearest nearest = {.face = face, .squared = INFINITY};
    rbVec3 normal = normalOf(p, face);
    double area = rbLength(normal);
    double scale = p->cso->scale;
    if (!(area > DBL_EPSILON * DBL_EPSILON * scale * scale)) {
        return nearest;
    }
    rbVec3 unit = rbScale(1.0 / area, normal);
    double distance = rbDot(unit, corner(p, face, 0));
    rbVec3 foot = rbScale(distance, unit);
    bool isInside = true;
    for (int i = 0; i < 3; ++i) {
        rbVec3 b = rbSub(corner(p, face, (i + 1) % 3), foot);
        rbVec3 c = rbSub(corner(p, face, (i + 2) % 3), foot);
        nearest.weights[i] = rbDot(unit, rbCross(b, c)) / area;
        isInside = isInside && nearest.weights[i] >= -INSIDE;
        nearest.weights[i] = fmax(nearest.weights[i], 0.0);
    }
    if (isInside) {
        nearest.direction = unit;
        nearest.v = foot;
        nearest.squared = distance * fabs(distance);
        return nearest;
    }
    for (int i = 0; i < 3; ++i) {
        nearestOfEdge(p, i, &nearest);
    }
    nearest.direction = nearest.v;
    return nearest;
}

static Nearest findNearest(const Polytope* p)
{
    Nearest best = {.face = -1, .squared = INFINITY};
    for (int i = 0; i < p->faceCount; ++i) {
        Nearest one =
            p->settings->enableBareEquality ? nearestByCramer(p, i) : nearestByPlane(p, i);
        best = one.squared < best.squared ? one : best;
    }
    return best;
}

// ----------------------------------------------------------------------------------------- growth

static void addFace(Polytope* p, int a, int b, int c)
{
    p->isFull = p->isFull || p->faceCount >= FACES_MAX;
    if (!p->isFull) {
        p->faces[p->faceCount++] = (Face){{a, b, c}};
    }
}

static void removeFace(Polytope* p, int face)
{
    p->faces[face] = p->faces[--p->faceCount];
}

// Replaces the face by three, or the face and its neighbor across an edge by two each.
static void split(Polytope* p, const Nearest* nearest, int w)
{
    Face face = p->faces[nearest->face];
    int edge = -1;
    for (int i = 0; i < 3; ++i) {
        edge = nearest->weights[(i + 2) % 3] == 0.0 ? i : edge;
    }
    removeFace(p, nearest->face);
    for (int i = 0; i < 3; ++i) {
        if (i != edge) {
            addFace(p, face.v[i], face.v[(i + 1) % 3], w);
        }
    }
    for (int k = 0; edge >= 0 && k < p->faceCount; ++k) {
        Face other = p->faces[k];
        for (int i = 0; i < 3; ++i) {
            if (other.v[i] == face.v[(edge + 1) % 3] && other.v[(i + 1) % 3] == face.v[edge]) {
                removeFace(p, k);
                addFace(p, other.v[(i + 1) % 3], other.v[(i + 2) % 3], w);
                addFace(p, other.v[(i + 2) % 3], other.v[i], w);
                return;
            }
        }
    }
}

static bool hasEdge(const Face* faces, int count, int from, int to)
{
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < 3; ++i) {
            if (faces[k].v[i] == from && faces[k].v[(i + 1) % 3] == to) {
                return true;
            }
        }
    }
    return false;
}

// Removes all faces that see the point, and joins the horizon to the point.
static void growHull(Polytope* p, const Nearest* nearest, int w)
{
    static const int seenMax = 256;
    Face seen[256];
    int seenCount = 0;
    rbVec3 point = p->points[w].w;
    for (int k = p->faceCount - 1; k >= 0; --k) {
        rbVec3 normal = rbNormalize(normalOf(p, k));
        double height = rbDot(normal, rbSub(point, corner(p, k, 0)));
        if (k == nearest->face || height > VISIBLE * p->cso->scale) {
            p->isFull = p->isFull || seenCount >= seenMax;
            if (p->isFull) {
                return;
            }
            seen[seenCount++] = p->faces[k];
            removeFace(p, k);
        }
    }
    for (int k = 0; k < seenCount; ++k) {
        for (int i = 0; i < 3; ++i) {
            int from = seen[k].v[i];
            int to = seen[k].v[(i + 1) % 3];
            if (!hasEdge(seen, seenCount, to, from)) {
                addFace(p, from, to, w);
            }
        }
    }
}

// ----------------------------------------------------------------------------------------- result

static int compareLengths(const void* a, const void* b)
{
    double x = rbLengthSquared(((const rbCsoPoint*)a)->w);
    double y = rbLengthSquared(((const rbCsoPoint*)b)->w);
    return (x > y) - (x < y);
}

static rbVec3 findPoint(Polytope* p, const Nearest* nearest)
{
    rbVec3 sum = RB_VEC3_ZERO;
    if (p->settings->enableMeanPoint) {
        qsort(p->points, (size_t)p->pointCount, sizeof(rbCsoPoint), compareLengths);
        int half = (p->pointCount + 1) / 2;
        for (int i = 0; i < half; ++i) {
            sum = rbAddScaled(sum, 0.5 / half, rbAdd(p->points[i].a, p->points[i].b));
        }
        return sum;
    }
    for (int i = 0; i < 3; ++i) {
        const rbCsoPoint* c = &p->points[p->faces[nearest->face].v[i]];
        sum = rbAddScaled(sum, 0.5 * nearest->weights[i], rbAdd(c->a, c->b));
    }
    return sum;
}

static bool isEnd(const Polytope* p, const Nearest* nearest, const rbCsoPoint* w)
{
    // since the direction has the length of v, both forms use squares
    double d = sqrt(fabs(nearest->squared));
    double height = rbDot(w->w, rbNormalize(nearest->direction)) * d;
    double open = height - nearest->squared;
    if (p->settings->enableAbsoluteEnd) {
        return open < EPSILON_ABSOLUTE;
    }
    return open < EPSILON_RELATIVE * nearest->squared ||
           open < 4.0 * DBL_EPSILON * d * p->cso->scale;
}

static rbBaselineResult expand(Polytope* p)
{
    rbBaselineResult result = {.isContact = true};
    Nearest nearest;
    for (;; ++result.iterations) {
        nearest = findNearest(p);
        bool isTouch = p->settings->enableBareEquality && nearest.squared < DBL_EPSILON;
        if (nearest.face < 0 || isTouch) {
            break;
        }
        rbCsoPoint w = support(p->cso, nearest.direction);
        if (isEnd(p, &nearest, &w)) {
            break;
        }
        if (p->pointCount >= POINTS_MAX) {
            result.isExhausted = true;
            break;
        }
        p->points[p->pointCount] = w;
        (p->settings->enableSplit ? split : growHull)(p, &nearest, p->pointCount++);
        if (p->isFull) {
            result.isExhausted = true;
            break;
        }
    }
    result.normal = rbNormalize(nearest.direction);
    result.depth = sqrt(fabs(nearest.squared));
    if (nearest.face >= 0 && !p->isFull) {
        result.point = findPoint(p, &nearest);
    }
    return result;
}

rbBaselineResult rbRunBaseline(const rbCso* cso, const rbBaselineSettings* settings)
{
    static const rbBaselineResult apart = {0};
    Polytope p = {.cso = cso, .settings = settings};
    return findStart(&p) ? expand(&p) : apart;
}
