// Construction of pairs with known signed distance, and bounds for any other pair.
#include "truth_by_construction.h"

#include "collision/geometry/polyhedron.h"
#include "lab/math/random3.h"
#include "rb_test.h"

#include <float.h>
#include <math.h>

enum {
    SAT_VERTICES_MAX = 10, // of hulls whose separating axes are enumerated
    SAT_AXES_MAX = 40,     // face normals or edge directions of a polytope
    CORNERS_MAX = 64
};

// Components below this fraction count as zero in the search for ties: far above the rounding of
// 113 bits, far below any angle that a pose in double can represent.
static const rbWide tieLimit = 1e-25L;

typedef struct TruthMat {
    TruthVec rows[3];
} TruthMat;

// A convex part in the frame of A.
typedef struct Part {
    const rbGeometry* geometry;
    TruthMat rotation;
    TruthVec position;
    bool isMoved;     // rotation and position are not the identity
    rbWide roundness; // of the ball that is swept around its core, m
} Part;

// ------------------------------------------------------------------------------------ vectors

static TruthVec widen(rbVec3 v)
{
    return (TruthVec){v.x, v.y, v.z};
}

static rbVec3 narrow(TruthVec v)
{
    return rbMakeVec3((double)v.x, (double)v.y, (double)v.z);
}

static rbWide dotL(TruthVec a, TruthVec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static TruthVec addScaledL(TruthVec a, rbWide s, TruthVec b)
{
    return (TruthVec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static TruthVec subL(TruthVec a, TruthVec b)
{
    return (TruthVec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static TruthVec negL(TruthVec a)
{
    return (TruthVec){-a.x, -a.y, -a.z};
}

static TruthVec crossL(TruthVec a, TruthVec b)
{
    return (TruthVec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static rbWide lengthL(TruthVec a)
{
    return rbWideSqrt(dotL(a, a));
}

static TruthVec unitL(TruthVec a)
{
    rbWide s = 1.0L / lengthL(a);
    return (TruthVec){s * a.x, s * a.y, s * a.z};
}

static rbWide maxL(rbWide a, rbWide b)
{
    return a > b ? a : b;
}

static rbWide minL(rbWide a, rbWide b)
{
    return a < b ? a : b;
}

static TruthVec mulL(const TruthMat* m, TruthVec v)
{
    return (TruthVec){dotL(m->rows[0], v), dotL(m->rows[1], v), dotL(m->rows[2], v)};
}

static TruthVec mulTransposedL(const TruthMat* m, TruthVec v)
{
    TruthVec r = {m->rows[0].x * v.x, m->rows[0].y * v.x, m->rows[0].z * v.x};
    r = addScaledL(r, v.y, m->rows[1]);
    return addScaledL(r, v.z, m->rows[2]);
}

// The rotation of a quaternion, which is treated as exactly of unit length.
static TruthMat rotationOf(rbQuat q)
{
    rbWide w = q.w, x = q.x, y = q.y, z = q.z;
    rbWide s = 2.0L / (w * w + x * x + y * y + z * z);
    TruthMat m = {{{1.0L - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                   {s * (x * y + w * z), 1.0L - s * (x * x + z * z), s * (y * z - w * x)},
                   {s * (x * z - w * y), s * (y * z + w * x), 1.0L - s * (x * x + y * y)}}};
    return m;
}

static TruthMat mulMatL(const TruthMat* a, const TruthMat* b)
{
    TruthMat m;
    for (int i = 0; i < 3; ++i) {
        m.rows[i] = mulTransposedL(b, a->rows[i]);
    }
    return m;
}

// -------------------------------------------------------------------------------------- parts

int countParts(const rbGeometry* geometry)
{
    return geometry->type == RB_SHAPE_COMPOUND ? geometry->childCount : 1;
}

static rbWide roundnessOf(const rbGeometry* g)
{
    if (g->type == RB_SHAPE_SPHERE) {
        return g->data.sphere.radius;
    }
    if (g->type == RB_SHAPE_CAPSULE) {
        return g->data.capsule.radius;
    }
    if (g->type == RB_SHAPE_ELLIPSOID) {
        rbVec3 a = g->data.ellipsoid.semiAxes;
        rbWide least = fmin(a.x, fmin(a.y, a.z));
        rbWide most = fmax(a.x, fmax(a.y, a.z));
        return least * least / most;
    }
    return 0.0L;
}

static Part partOf(const rbGeometry* g, int index)
{
    Part part = {.geometry = g, .rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    if (g->type == RB_SHAPE_COMPOUND) {
        const rbCompoundChild* child = &g->children[index];
        part.geometry = child->geometry;
        part.rotation = rotationOf(child->transform.q);
        part.position = widen(child->transform.p);
        part.isMoved = true;
    }
    part.roundness = roundnessOf(part.geometry);
    return part;
}

static void movePart(Part* part, rbTransform t)
{
    TruthMat turn = rotationOf(t.q);
    TruthVec p = widen(t.p);
    part->position = part->isMoved ? addScaledL(mulL(&turn, part->position), 1.0L, p) : p;
    part->rotation = part->isMoved ? mulMatL(&turn, &part->rotation) : turn;
    part->isMoved = true;
}

// Uniform in [-1, 1), or 0 without random numbers.
static rbWide spread(rbRandom* random)
{
    return random != NULL ? (rbWide)rbRandom_Symmetric(random) : 0.0L;
}

static TruthVec discPoint(rbRandom* random, rbWide radius)
{
    rbWide x = spread(random), y = spread(random);
    rbWide length = maxL(1.0L, rbWideSqrt(x * x + y * y));
    return (TruthVec){radius * x / length, radius * y / length, 0.0L};
}

static rbWide sideOf(rbRandom* random, rbWide n, rbWide half)
{
    if (rbWideAbs(n) < tieLimit) {
        return half * spread(random);
    }
    return n > 0.0L ? half : -half;
}

static TruthVec supportOfCone(const rbGeometry* g, TruthVec n, rbRandom* random)
{
    rbWide r = g->data.cone.radius, h = g->data.cone.height;
    rbWide across = rbWideSqrt(n.x * n.x + n.y * n.y);
    TruthVec apex = {0.0L, 0.0L, 0.5L * h};
    TruthVec rim = discPoint(random, r);
    if (across > tieLimit) {
        rim = (TruthVec){r * n.x / across, r * n.y / across, 0.0L};
    }
    rim.z = -0.5L * h;
    rbWide rimIsFarther = r * across - h * n.z;
    if (rbWideAbs(rimIsFarther) < tieLimit * (r + h)) {
        return addScaledL(apex, 0.5L + 0.5L * spread(random), subL(rim, apex));
    }
    return rimIsFarther > 0.0L ? rim : apex;
}

static TruthVec supportOfEllipsoid(const rbGeometry* g, TruthVec n, rbWide roundness)
{
    rbVec3 a = g->data.ellipsoid.semiAxes;
    TruthVec an = {a.x * n.x, a.y * n.y, a.z * n.z};
    rbWide s = 1.0L / lengthL(an);
    TruthVec point = {s * a.x * an.x, s * a.y * an.y, s * a.z * an.z};
    return addScaledL(point, -roundness, n);
}

// Selects the candidates in double and decides among them in rbWide; a random point between
// vertices that are equally far.
static TruthVec supportOfHull(const rbGeometry* g, TruthVec n, rbRandom* random)
{
    const rbPolyhedron* p = g->polyhedron;
    double values[CORNERS_MAX];
    double top = -INFINITY;
    rbVec3 m = narrow(n);
    assert_true(p->vertexCount <= CORNERS_MAX);
    for (int i = 0; i < p->vertexCount; ++i) {
        values[i] = rbDot(m, p->vertices[i]);
        top = fmax(top, values[i]);
    }
    rbWide best = -INFINITY;
    TruthVec sum = {0.0L, 0.0L, 0.0L};
    rbWide weights = 0.0L;
    for (int i = 0; i < p->vertexCount; ++i) {
        if (values[i] < top - 1e-14 * p->scale) {
            continue;
        }
        TruthVec v = widen(p->vertices[i]);
        rbWide value = dotL(n, v);
        if (value < best - tieLimit * p->scale) {
            continue;
        }
        if (value > best + tieLimit * p->scale) {
            weights = 0.0L;
            sum = (TruthVec){0.0L, 0.0L, 0.0L};
            best = value;
        }
        rbWide weight = 1.0L + spread(random);
        weights += weight;
        sum = addScaledL(sum, weight, v);
    }
    if (weights <= 0.0L) { // all weights drawn were 0
        return supportOfHull(g, n, NULL);
    }
    return (TruthVec){sum.x / weights, sum.y / weights, sum.z / weights};
}

// A point of the core of a shape farthest along a unit vector, in the frame of the shape.
static TruthVec coreSupport(const Part* part, TruthVec n, rbRandom* random)
{
    const rbGeometry* g = part->geometry;
    const rbShapeData* data = &g->data;
    switch (g->type) {
    case RB_SHAPE_SPHERE:
        return (TruthVec){0.0L, 0.0L, 0.0L};
    case RB_SHAPE_BOX:
        return (TruthVec){sideOf(random, n.x, data->box.halfExtents.x),
                          sideOf(random, n.y, data->box.halfExtents.y),
                          sideOf(random, n.z, data->box.halfExtents.z)};
    case RB_SHAPE_CAPSULE:
        return (TruthVec){0.0L, 0.0L, sideOf(random, n.z, data->capsule.halfLength)};
    case RB_SHAPE_CYLINDER: {
        rbWide across = rbWideSqrt(n.x * n.x + n.y * n.y);
        rbWide r = data->cylinder.radius;
        TruthVec point = across > tieLimit ? (TruthVec){r * n.x / across, r * n.y / across, 0.0L}
                                           : discPoint(random, r);
        point.z = sideOf(random, n.z, data->cylinder.halfLength);
        return point;
    }
    case RB_SHAPE_CONE:
        return supportOfCone(g, n, random);
    case RB_SHAPE_ELLIPSOID:
        return supportOfEllipsoid(g, n, part->roundness);
    case RB_SHAPE_PLANE: { // its own normal
        TruthVec m = widen(data->plane.normal);
        rbWide s = data->plane.offset / dotL(m, m);
        return (TruthVec){s * m.x, s * m.y, s * m.z};
    }
    case RB_SHAPE_HULL:
        return supportOfHull(g, n, random);
    case RB_SHAPE_POLYHEDRON:
    case RB_SHAPE_MESH:
    case RB_SHAPE_SOUP:
    case RB_SHAPE_COMPOUND:
    case RB_SHAPE_COUNT:
        break;
    }
    fail_msg("no support of a %s", rbShapeType_Name(g->type));
    return (TruthVec){0.0L, 0.0L, 0.0L};
}

// A direction in the frame of the part.
static TruthVec seenFrom(const Part* part, TruthVec n)
{
    return part->isMoved ? mulTransposedL(&part->rotation, n) : n;
}

static TruthVec placePoint(const Part* part, TruthVec local)
{
    return part->isMoved ? addScaledL(mulL(&part->rotation, local), 1.0L, part->position) : local;
}

// The same in the frame of A.
static TruthVec placedSupport(const Part* part, TruthVec n)
{
    return placePoint(part, coreSupport(part, seenFrom(part, n), NULL));
}

// ------------------------------------------------------------------------------------ features

static TruthVec randomUnit(rbRandom* random)
{
    return unitL(widen(rbRandom_Direction(random)));
}

static TruthVec axisVector(int axis, rbWide length)
{
    TruthVec v = {0.0L, 0.0L, 0.0L};
    if (axis == 0) {
        v.x = length;
    } else if (axis == 1) {
        v.y = length;
    } else {
        v.z = length;
    }
    return v;
}

static rbWide randomSign(rbRandom* random)
{
    return rbRandom_Index(random, 2) == 0 ? -1.0L : 1.0L;
}

static TruthFrame featureOfBox(rbRandom* random, TruthFeature feature)
{
    int i = rbRandom_Index(random, 3);
    TruthVec n = axisVector(i, randomSign(random));
    TruthVec tangent = axisVector((i + 1) % 3, randomSign(random));
    if (feature == TRUTH_EDGE) {
        TruthVec other = axisVector((i + 2) % 3, randomSign(random));
        n = unitL(addScaledL(n, rbRandom_Range(random, 0.01, 2.0), other));
    }
    return (TruthFrame){n, tangent};
}

static TruthVec faceNormal(const rbPolyhedron* p, int face)
{
    const int* loop = p->indices + p->faceStarts[face];
    TruthVec origin = widen(p->vertices[loop[0]]);
    TruthVec u = subL(widen(p->vertices[loop[1]]), origin);
    TruthVec v = subL(widen(p->vertices[loop[2]]), origin);
    return unitL(crossL(u, v));
}

static TruthFrame featureOfHull(rbRandom* random, const rbGeometry* g, TruthFeature feature)
{
    const rbPolyhedron* p = g->polyhedron;
    const rbEdge* edge = &p->edges[rbRandom_Index(random, p->edgeCount)];
    TruthVec n = faceNormal(p, edge->faceLeft);
    TruthVec tangent = unitL(subL(widen(p->vertices[edge->v1]), widen(p->vertices[edge->v0])));
    if (feature == TRUTH_EDGE) {
        n = addScaledL(n, rbRandom_Range(random, 0.01, 2.0), faceNormal(p, edge->faceRight));
    }
    return (TruthFrame){unitL(n), tangent};
}

static TruthFrame featureOfRound(rbRandom* random, const rbGeometry* g, TruthFeature feature)
{
    TruthVec round = randomUnit(random);
    round.z = 0.0L;
    round =
        rbRandom_Index(random, 2) == 0 ? axisVector(rbRandom_Index(random, 2), 1.0L) : unitL(round);
    TruthVec axis = {0.0L, 0.0L, randomSign(random)};
    if (feature == TRUTH_FACE && g->type == RB_SHAPE_CYLINDER) {
        return (TruthFrame){axis, round};
    }
    if (feature == TRUTH_FACE && g->type == RB_SHAPE_CONE) {
        return (TruthFrame){{0.0L, 0.0L, -1.0L}, round};
    }
    if (g->type == RB_SHAPE_CONE) { // the line of the side
        rbWide r = g->data.cone.radius, h = g->data.cone.height;
        TruthVec tangent = {r * round.x, r * round.y, -h};
        TruthVec n = {h * round.x, h * round.y, r};
        return (TruthFrame){unitL(n), unitL(tangent)};
    }
    return (TruthFrame){round, axis};
}

TruthFrame pickFeature(rbRandom* random, const rbGeometry* g, TruthFeature feature)
{
    if (g->type == RB_SHAPE_COMPOUND) {
        Part part = partOf(g, rbRandom_Index(random, g->childCount));
        TruthFrame frame = pickFeature(random, part.geometry, feature);
        return (TruthFrame){mulL(&part.rotation, frame.normal),
                            mulL(&part.rotation, frame.tangent)};
    }
    TruthFrame frame = {randomUnit(random), {0.0L, 0.0L, 0.0L}};
    if (g->type == RB_SHAPE_PLANE) {
        frame.normal = unitL(widen(g->data.plane.normal));
    } else if (g->type == RB_SHAPE_ELLIPSOID && feature == TRUTH_FACE) {
        int axis = rbRandom_Index(random, 3);
        frame.normal = axisVector(axis, randomSign(random));
    } else if (feature != TRUTH_VERTEX) {
        if (g->type == RB_SHAPE_BOX) {
            frame = featureOfBox(random, feature);
        } else if (g->type == RB_SHAPE_HULL) {
            frame = featureOfHull(random, g, feature);
        } else if (g->type == RB_SHAPE_CAPSULE || g->type == RB_SHAPE_CYLINDER ||
                   g->type == RB_SHAPE_CONE) {
            frame = featureOfRound(random, g, feature);
        }
    }
    if (frame.tangent.x == 0.0L && frame.tangent.y == 0.0L && frame.tangent.z == 0.0L) {
        frame.tangent = unitL(crossL(frame.normal, randomUnit(random)));
    }
    return frame;
}

static rbQuat quatOfMatrix(const TruthMat* m)
{
    // the largest component first, by which the others are divided
    rbWide xx = m->rows[0].x, yy = m->rows[1].y, zz = m->rows[2].z;
    const rbWide squares[4] = {1.0L + xx + yy + zz, 1.0L + xx - yy - zz, 1.0L - xx + yy - zz,
                               1.0L - xx - yy + zz};
    const rbWide wx = m->rows[2].y - m->rows[1].z, wy = m->rows[0].z - m->rows[2].x;
    const rbWide wz = m->rows[1].x - m->rows[0].y, xy = m->rows[0].y + m->rows[1].x;
    const rbWide xz = m->rows[0].z + m->rows[2].x, yz = m->rows[1].z + m->rows[2].y;
    const rbWide rows[4][4] = {{squares[0], wx, wy, wz},
                               {wx, squares[1], xy, xz},
                               {wy, xy, squares[2], yz},
                               {wz, xz, yz, squares[3]}};
    int most = 0;
    for (int i = 1; i < 4; ++i) {
        most = squares[i] > squares[most] ? i : most;
    }
    const rbWide* r = rows[most];
    rbWide s = 1.0L / rbWideSqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    return (rbQuat){(double)(s * r[0]), (double)(s * r[1]), (double)(s * r[2]), (double)(s * r[3])};
}

rbQuat alignFeatures(TruthFrame a, TruthFrame b)
{
    TruthVec down = negL(b.normal);
    TruthVec sideA = crossL(a.normal, a.tangent);
    TruthVec sideB = crossL(down, b.tangent);
    const TruthMat to = {{a.normal, a.tangent, sideA}};
    const TruthMat from = {{down, b.tangent, sideB}};
    // R from_i = to_i: the sum of to_i from_i^T
    TruthMat r;
    for (int i = 0; i < 3; ++i) {
        TruthVec e = axisVector(i, 1.0L);
        TruthVec column = mulL(&from, e);
        TruthVec mapped = mulTransposedL(&to, column);
        // column i of R; the transpose is built
        r.rows[i] = mapped;
    }
    const TruthMat transposed = {{{r.rows[0].x, r.rows[1].x, r.rows[2].x},
                                  {r.rows[0].y, r.rows[1].y, r.rows[2].y},
                                  {r.rows[0].z, r.rows[1].z, r.rows[2].z}}};
    return quatOfMatrix(&transposed);
}

// ----------------------------------------------------------------------------------- placement

// The part that extends farthest along n, a random farthest point of its core in its own frame, and
// that point in the frame of the whole.
static TruthVec farthestPart(rbRandom* random, const rbGeometry* g, TruthVec n, int* index,
                             TruthVec* local)
{
    rbWide best = -INFINITY;
    TruthVec farthest = {0.0L, 0.0L, 0.0L};
    for (int i = 0; i < countParts(g); ++i) {
        Part part = partOf(g, i);
        TruthVec point = coreSupport(&part, seenFrom(&part, n), random);
        TruthVec placed = addScaledL(placePoint(&part, point), part.roundness, n);
        if (dotL(placed, n) > best) {
            best = dotL(placed, n);
            *index = i;
            *local = point;
            farthest = placed;
        }
    }
    return farthest;
}

void placePair(rbRandom* random, TruthPair* pair, rbQuat q, TruthVec n, double d)
{
    TruthMat turn = rotationOf(q);
    if (pair->b->type == RB_SHAPE_PLANE) {
        n = negL(mulL(&turn, widen(pair->b->data.plane.normal)));
    }
    n = unitL(n);
    TruthVec down = negL(mulTransposedL(&turn, n));
    TruthVec a = farthestPart(random, pair->a, n, &pair->partA, &pair->coreA);
    TruthVec b = farthestPart(random, pair->b, down, &pair->partB, &pair->coreB);
    TruthVec position = addScaledL(subL(a, mulL(&turn, b)), d, n);
    pair->normal = n;
    pair->transformBtoA = (rbTransform){narrow(position), q};
    pair->isPlaced = true;
}

// --------------------------------------------------------------------------------- closed forms

// Ends of the core of a sphere or capsule in the frame of A.
static void segmentOf(const Part* part, TruthVec ends[2])
{
    rbWide half =
        part->geometry->type == RB_SHAPE_CAPSULE ? part->geometry->data.capsule.halfLength : 0.0;
    ends[0] = placePoint(part, (TruthVec){0.0L, 0.0L, -half});
    ends[1] = placePoint(part, (TruthVec){0.0L, 0.0L, half});
}

static rbWide clamp01(rbWide t)
{
    return maxL(0.0L, minL(1.0L, t));
}

static rbWide pointToSegment(TruthVec p, const TruthVec s[2])
{
    TruthVec u = subL(s[1], s[0]);
    rbWide uu = dotL(u, u);
    rbWide t = uu > 0.0L ? clamp01(dotL(subL(p, s[0]), u) / uu) : 0.0L;
    return lengthL(subL(p, addScaledL(s[0], t, u)));
}

// Distance of two segments: the least of the four ends against the other segment and of the common
// perpendicular where both of its feet are inside.
static rbWide segmentDistance(const TruthVec a[2], const TruthVec b[2])
{
    rbWide best = minL(pointToSegment(a[0], b), pointToSegment(a[1], b));
    best = minL(best, minL(pointToSegment(b[0], a), pointToSegment(b[1], a)));
    TruthVec u = subL(a[1], a[0]), v = subL(b[1], b[0]), w = subL(b[0], a[0]);
    TruthVec across = crossL(u, v);
    rbWide square = dotL(across, across);
    if (square > 0.0L) {
        rbWide s = dotL(crossL(w, v), across) / square;
        rbWide t = dotL(crossL(w, u), across) / square;
        if (s >= 0.0L && s <= 1.0L && t >= 0.0L && t <= 1.0L) {
            best = minL(best, rbWideAbs(dotL(w, across)) / rbWideSqrt(square));
        }
    }
    return best;
}

static bool isRoundCore(const rbGeometry* g)
{
    return g->type == RB_SHAPE_SPHERE || g->type == RB_SHAPE_CAPSULE;
}

// How deep a point is inside a cylinder or cone, in its frame; positive inside.
static rbWide depthInside(const rbGeometry* g, TruthVec p)
{
    rbWide across = rbWideSqrt(p.x * p.x + p.y * p.y);
    if (g->type == RB_SHAPE_CYLINDER) {
        return minL(g->data.cylinder.radius - across, g->data.cylinder.halfLength - rbWideAbs(p.z));
    }
    rbWide r = g->data.cone.radius, h = g->data.cone.height;
    rbWide side = (r * (0.5L * h - p.z) - h * across) / rbWideSqrt(r * r + h * h);
    return minL(side, p.z + 0.5L * h);
}

static bool hasPointDepth(const rbGeometry* g)
{
    return g->type == RB_SHAPE_CYLINDER || g->type == RB_SHAPE_CONE;
}

static void boundPointInside(const Part* point, const Part* other, TruthBounds* bounds)
{
    TruthVec local = mulTransposedL(&other->rotation, subL(point->position, other->position));
    rbWide depth = depthInside(other->geometry, local);
    if (depth >= 0.0L) {
        rbWide exact = -depth - point->roundness;
        *bounds = (TruthBounds){exact, exact};
    }
}

// Cylinders whose axes are parallel to the last bit: the difference is a cylinder.
static void boundParallelCylinders(const Part* a, const Part* b, TruthBounds* bounds)
{
    TruthVec axisA = mulL(&a->rotation, (TruthVec){0.0L, 0.0L, 1.0L});
    TruthVec axisB = mulL(&b->rotation, (TruthVec){0.0L, 0.0L, 1.0L});
    if (lengthL(crossL(axisA, axisB)) > tieLimit) {
        return;
    }
    const rbRodData* dataA = &a->geometry->data.cylinder;
    const rbRodData* dataB = &b->geometry->data.cylinder;
    TruthVec between = subL(b->position, a->position);
    rbWide along = dotL(between, axisA);
    rbWide across = lengthL(addScaledL(between, -along, axisA));
    rbWide axial = rbWideAbs(along) - dataA->halfLength - dataB->halfLength;
    rbWide radial = across - dataA->radius - dataB->radius;
    if (axial <= 0.0L && radial <= 0.0L) {
        rbWide exact = maxL(axial, radial);
        *bounds = (TruthBounds){exact, exact};
    }
}

// A ball inside the shape, in its frame.
static rbWide inscribedBall(const rbGeometry* g, TruthVec* center)
{
    *center = (TruthVec){0.0L, 0.0L, 0.0L};
    if (g->type == RB_SHAPE_BOX) {
        rbVec3 h = g->data.box.halfExtents;
        return fmin(h.x, fmin(h.y, h.z));
    }
    if (g->type == RB_SHAPE_CYLINDER) {
        return fmin(g->data.cylinder.radius, g->data.cylinder.halfLength);
    }
    if (g->type == RB_SHAPE_CONE) {
        rbWide r = g->data.cone.radius, h = g->data.cone.height;
        rbWide rho = r * h / (r + rbWideSqrt(r * r + h * h));
        center->z = rho - 0.5L * h;
        return rho;
    }
    if (g->type == RB_SHAPE_ELLIPSOID) {
        rbVec3 a = g->data.ellipsoid.semiAxes;
        return fmin(a.x, fmin(a.y, a.z));
    }
    if (g->type == RB_SHAPE_HULL) {
        const rbPolyhedron* p = g->polyhedron;
        rbVec3 c = rbScale(0.5, rbAdd(p->lower, p->upper));
        double rho = INFINITY;
        for (int f = 0; f < p->faceCount; ++f) {
            rho = fmin(rho, p->offsets[f] - rbDot(p->normals[f], c));
        }
        *center = widen(c);
        return rho - 1e-12 * p->scale; // the error of the planes
    }
    return roundnessOf(g);
}

// ------------------------------------------------------------------------------ separating axes

// Core of a point, segment, box or small hull as vertices, faces and edges, in double; axes are
// recomputed in rbWide where it matters.
typedef struct Polytope {
    const Part* part;
    int vertexCount, faceCount, edgeCount;
    rbVec3 vertices[SAT_VERTICES_MAX]; // frame of A
    rbVec3 normals[SAT_AXES_MAX];
    rbVec3 edges[SAT_AXES_MAX];
} Polytope;

// Faces merged from triangles are planar only to rounding, unless coordinates are simple.
static bool hasExactFaces(const rbPolyhedron* p)
{
    for (int f = 0; f < p->faceCount; ++f) {
        TruthVec n = {0.0L, 0.0L, 0.0L};
        const int* loop = p->indices + p->faceStarts[f];
        for (int k = 3; k < p->faceSizes[f]; ++k) {
            n = k == 3 ? faceNormal(p, f) : n;
            TruthVec v = subL(widen(p->vertices[loop[k]]), widen(p->vertices[loop[0]]));
            if (rbWideAbs(dotL(n, v)) > tieLimit * p->scale) {
                return false;
            }
        }
    }
    return true;
}

static TruthVec localNormal(const rbGeometry* g, int i)
{
    return g->type == RB_SHAPE_HULL ? faceNormal(g->polyhedron, i) : axisVector(i, 1.0L);
}

static TruthVec localEdge(const rbGeometry* g, int i)
{
    if (g->type == RB_SHAPE_HULL) {
        const rbEdge* e = &g->polyhedron->edges[i];
        return subL(widen(g->polyhedron->vertices[e->v1]), widen(g->polyhedron->vertices[e->v0]));
    }
    return g->type == RB_SHAPE_CAPSULE ? axisVector(2, 1.0L) : axisVector(i, 1.0L);
}

static void fillVertices(const Part* part, Polytope* p)
{
    const rbGeometry* g = part->geometry;
    for (int i = 0; i < p->vertexCount; ++i) {
        TruthVec v = {0.0L, 0.0L, 0.0L};
        if (g->type == RB_SHAPE_BOX) {
            rbVec3 h = g->data.box.halfExtents;
            v = (TruthVec){i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z};
        } else if (g->type == RB_SHAPE_CAPSULE) {
            v.z = i == 0 ? -g->data.capsule.halfLength : g->data.capsule.halfLength;
        } else if (g->type == RB_SHAPE_HULL) {
            v = widen(g->polyhedron->vertices[i]);
        }
        p->vertices[i] = narrow(placePoint(part, v));
    }
}

static bool makePolytope(const Part* part, Polytope* p)
{
    const rbGeometry* g = part->geometry;
    p->part = part;
    if (g->type == RB_SHAPE_BOX) {
        p->vertexCount = 8;
        p->faceCount = p->edgeCount = 3;
    } else if (isRoundCore(g)) {
        p->vertexCount = g->type == RB_SHAPE_CAPSULE ? 2 : 1;
        p->faceCount = 0;
        p->edgeCount = p->vertexCount - 1;
    } else if (g->type == RB_SHAPE_HULL && g->polyhedron->vertexCount <= SAT_VERTICES_MAX &&
               hasExactFaces(g->polyhedron)) {
        p->vertexCount = g->polyhedron->vertexCount;
        p->faceCount = g->polyhedron->faceCount;
        p->edgeCount = g->polyhedron->edgeCount;
    } else {
        return false;
    }
    assert_true(p->faceCount <= SAT_AXES_MAX && p->edgeCount <= SAT_AXES_MAX);
    fillVertices(part, p);
    for (int i = 0; i < p->faceCount; ++i) {
        p->normals[i] = narrow(mulL(&part->rotation, localNormal(g, i)));
    }
    for (int i = 0; i < p->edgeCount; ++i) {
        p->edges[i] = narrow(mulL(&part->rotation, unitL(localEdge(g, i))));
    }
    return true;
}

typedef struct AxisSearch {
    const Part* a;
    const Part* b;
    const Polytope* pa;
    const Polytope* pb;
    double scale;
    double floor; // the largest gap is at least this
    rbWide best;
} AxisSearch;

static rbWide coreGap(const Part* a, const Part* b, TruthVec n)
{
    return dotL(n, subL(placedSupport(b, negL(n)), placedSupport(a, n)));
}

static void projectVertices(const Polytope* p, rbVec3 n, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int i = 0; i < p->vertexCount; ++i) {
        double value = rbDot(n, p->vertices[i]);
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

// The exact axis: normal of a face of A or B, or perpendicular to an edge of each. False if there
// is none.
static bool exactAxis(const AxisSearch* search, int ofA, int ofB, TruthVec* axis)
{
    const Part* a = search->a;
    const Part* b = search->b;
    if (ofB < 0) {
        *axis = mulL(&a->rotation, localNormal(a->geometry, ofA));
        return true;
    }
    if (ofA < 0) {
        *axis = mulL(&b->rotation, localNormal(b->geometry, ofB));
        return true;
    }
    TruthVec u = mulL(&a->rotation, localEdge(a->geometry, ofA));
    TruthVec v = mulL(&b->rotation, localEdge(b->geometry, ofB));
    TruthVec across = crossL(u, v);
    if (lengthL(across) < tieLimit * lengthL(u) * lengthL(v)) {
        return false; // parallel: no face of the difference
    }
    *axis = unitL(across);
    return true;
}

// Tests an axis in both directions; error is the angle by which it may be off in double. ofA and
// ofB: faces or edges it belongs to, -1 for none.
static void tryAxis(AxisSearch* search, rbVec3 n, double error, int ofA, int ofB)
{
    double rangeA[2], rangeB[2];
    projectVertices(search->pa, n, rangeA);
    projectVertices(search->pb, n, rangeB);
    const double gaps[2] = {rangeB[0] - rangeA[1], rangeA[0] - rangeB[1]};
    double slack = 8.0 * (error + DBL_EPSILON) * search->scale;
    for (int side = 0; side < 2; ++side) {
        if (gaps[side] + slack < search->floor) {
            continue;
        }
        TruthVec m;
        if (!exactAxis(search, ofA, ofB, &m)) {
            return;
        }
        // an axis so ill-defined that its sign is uncertain is tested in both directions by its
        // slack
        rbWide gap = coreGap(search->a, search->b, side == 0 ? m : negL(m));
        search->best = maxL(search->best, gap);
        search->floor = fmax(search->floor, (double)search->best);
    }
}

// Exact signed distance of overlapping polytopal cores: the largest gap over all candidates.
static void boundByAxes(const Part* a, const Part* b, TruthBounds* bounds)
{
    Polytope pa, pb;
    if (!makePolytope(a, &pa) || !makePolytope(b, &pb)) {
        return;
    }
    double scale = 0.0;
    for (int i = 0; i < pa.vertexCount; ++i) {
        scale = fmax(scale, rbLength(pa.vertices[i]));
    }
    for (int i = 0; i < pb.vertexCount; ++i) {
        scale = fmax(scale, rbLength(pb.vertices[i]));
    }
    AxisSearch search = {a, b, &pa, &pb, scale, -INFINITY, -INFINITY};
    for (int i = 0; i < pa.faceCount; ++i) {
        tryAxis(&search, pa.normals[i], 0.0, i, -1);
    }
    for (int i = 0; i < pb.faceCount; ++i) {
        tryAxis(&search, pb.normals[i], 0.0, -1, i);
    }
    for (int i = 0; i < pa.edgeCount; ++i) {
        for (int k = 0; k < pb.edgeCount; ++k) {
            rbVec3 n = rbCross(pa.edges[i], pb.edges[k]);
            double sine = rbLength(n);
            double error = 4.0 * DBL_EPSILON / fmax(sine, DBL_EPSILON);
            rbVec3 unit = sine > 0.0 ? rbScale(1.0 / sine, n) : rbMakeVec3(1.0, 0.0, 0.0);
            tryAxis(&search, unit, error, i, k);
        }
    }
    rbWide r = a->roundness + b->roundness;
    bounds->lower = maxL(bounds->lower, search.best - r);
    if (search.best <= 0.0L) {
        bounds->upper = minL(bounds->upper, maxL(bounds->lower, search.best - r));
    }
}

// --------------------------------------------------------------------------------------- bounds

static void refine(const Part* a, const Part* b, TruthBounds* bounds)
{
    const rbGeometry* ga = a->geometry;
    const rbGeometry* gb = b->geometry;
    if (isRoundCore(ga) && isRoundCore(gb)) {
        TruthVec endsA[2], endsB[2];
        segmentOf(a, endsA);
        segmentOf(b, endsB);
        rbWide exact = segmentDistance(endsA, endsB) - a->roundness - b->roundness;
        *bounds = (TruthBounds){exact, exact};
        return;
    }
    if (ga->type == RB_SHAPE_SPHERE && hasPointDepth(gb)) {
        boundPointInside(a, b, bounds);
    } else if (gb->type == RB_SHAPE_SPHERE && hasPointDepth(ga)) {
        boundPointInside(b, a, bounds);
    } else if (ga->type == RB_SHAPE_CYLINDER && gb->type == RB_SHAPE_CYLINDER) {
        boundParallelCylinders(a, b, bounds);
    } else {
        boundByAxes(a, b, bounds);
    }
    TruthVec centerA, centerB;
    rbWide balls = inscribedBall(ga, &centerA) + inscribedBall(gb, &centerB);
    rbWide between = lengthL(subL(placePoint(b, centerB), placePoint(a, centerA)));
    bounds->upper = minL(bounds->upper, maxL(bounds->lower, between - balls));
}

// ceiling: parts that are farther than this need not be known accurately.
static TruthBounds boundParts(const TruthPair* pair, int i, int k, rbWide ceiling)
{
    Part a = partOf(pair->a, i);
    Part b = partOf(pair->b, k);
    movePart(&b, pair->transformBtoA);
    rbWide r = a.roundness + b.roundness;
    if (b.geometry->type == RB_SHAPE_PLANE) {
        TruthVec n = negL(unitL(mulL(&b.rotation, widen(b.geometry->data.plane.normal))));
        rbWide exact = coreGap(&a, &b, n) - r;
        return (TruthBounds){exact, exact};
    }
    TruthVec n = pair->normal;
    if (!pair->isPlaced) { // any direction will do
        n = subL(b.position, a.position);
        n = dotL(n, n) > 0.0L ? unitL(n) : axisVector(2, 1.0L);
    }
    TruthVec wA = placedSupport(&a, n);
    TruthVec wB = placedSupport(&b, negL(n));
    TruthBounds bounds = {dotL(n, subL(wB, wA)) - r, 0.0L};
    if (pair->isPlaced && i == pair->partA && k == pair->partB) {
        wA = placePoint(&a, pair->coreA);
        wB = placePoint(&b, pair->coreB);
    }
    // a length rounded to 113 bits may be below its projection
    bounds.upper = maxL(lengthL(subL(wB, wA)) - r, bounds.lower);
    rbWide scale = lengthL(wA) + lengthL(wB) + r;
    if (bounds.upper - bounds.lower > 1e-15L * scale && bounds.lower < ceiling) {
        refine(&a, &b, &bounds);
    }
    return bounds;
}

TruthBounds boundTruth(const TruthPair* pair)
{
    TruthBounds least = {INFINITY, INFINITY};
    if (pair->isPlaced) { // most likely the nearest parts
        least = boundParts(pair, pair->partA, pair->partB, INFINITY);
    }
    for (int i = 0; i < countParts(pair->a); ++i) {
        for (int k = 0; k < countParts(pair->b); ++k) {
            if (pair->isPlaced && i == pair->partA && k == pair->partB) {
                continue;
            }
            TruthBounds bounds = boundParts(pair, i, k, least.upper);
            least.lower = minL(least.lower, bounds.lower);
            least.upper = minL(least.upper, bounds.upper);
        }
    }
    return least;
}

rbWide gapOfParts(const TruthPair* pair, int partA, int partB, rbVec3 direction)
{
    Part a = partOf(pair->a, partA);
    Part b = partOf(pair->b, partB);
    movePart(&b, pair->transformBtoA);
    TruthVec n = unitL(widen(direction));
    return coreGap(&a, &b, n) - a.roundness - b.roundness;
}
