// Where rays start: points of spheres, triangles and round surfaces as functions of their index,
// and the enumeration of all starts of an emitter that face the motion.
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "lab/rays/ray_emitter.h"

// Golden angle of sunflowers, rad: pi (3 - sqrt 5).
#define GOLDEN_ANGLE 2.39996322972865332

// Steps of the most uniform sequence in the unit square: powers of the inverse of the real root of
// x^3 = x + 1.
#define SPREAD_X 0.75487766624669276
#define SPREAD_Y 0.56984029099805327

// Increment of splitmix64: the state after i draws is the seed plus i of these.
#define RANDOM_STEP 0x9E3779B97F4A7C15u

// ------------------------------------------------------------------------------------ spheres

static int countRows(int count)
{
    int rows = (int)sqrt((double)count);
    return rows * rows < count ? rows + 1 : rows;
}

int rbCountSphereDirections(rbRayPattern pattern, int count)
{
    if (pattern != RB_RAYS_LATTICE || count <= 0) {
        return count > 0 ? count : 0;
    }
    // all rays of row 0 coincide at the pole
    int rows = countRows(count);
    return 1 + (rows - 1) * rows;
}

// equal angles, hence denser toward the pole; the largest angle is below 90 degrees, so the
// rim is never sampled. Counts that are not squares give more points. Even rows are rotated by 180
// degrees, as in the published figures but not in the text.
static rbVec3 getLatticeDirection(int count, int i)
{
    double k = sqrt((double)count);
    int rows = countRows(count);
    int row = 1 + (i - 1) / rows;
    int column = (i - 1) % rows;
    double theta = row * (0.5 * RB_PI / k);
    double phi = column * (2.0 * RB_PI / k) + (row % 2 == 0 ? RB_PI : 0.0);
    double sinTheta, cosTheta, sinPhi, cosPhi;
    rbSinCos(theta, &sinTheta, &cosTheta);
    rbSinCos(phi, &sinPhi, &cosPhi);
    return rbMakeVec3(sinTheta * cosPhi, cosTheta, sinTheta * sinPhi);
}

rbVec3 rbGetSphereDirection(rbRayPattern pattern, int count, int i)
{
    if (i == 0) {
        return rbMakeVec3(0.0, 1.0, 0.0); // the foremost point
    }
    if (pattern == RB_RAYS_LATTICE) {
        return getLatticeDirection(count, i);
    }
    // uniform over the disc seen along the motion
    double square = (i + 0.5) / count;
    double sine, cosine;
    rbSinCos(i * GOLDEN_ANGLE, &sine, &cosine);
    double rho = sqrt(square);
    return rbMakeVec3(rho * cosine, sqrt(1.0 - square), rho * sine);
}

// --------------------------------------------------------------------------- triangles, surfaces

static double getFraction(double x)
{
    return x - (double)(int64_t)x;
}

// Point i of a sequence that fills the unit square uniformly, shifted by the seed.
static void getSpreadPoint(uint64_t seed, int i, double* x, double* y)
{
    rbRandom random = {seed};
    *x = getFraction(rbRandom_Unit(&random) + i * SPREAD_X);
    *y = getFraction(rbRandom_Unit(&random) + i * SPREAD_Y);
}

rbVec3 rbRayPart_GetTrianglePoint(const rbRayPart* part, rbRayPattern pattern, int triangle, int i)
{
    const int* v = part->mesh.triangles[triangle];
    rbVec3 a = part->mesh.vertices[v[0]];
    rbVec3 ab = rbSub(part->mesh.vertices[v[1]], a);
    rbVec3 ac = rbSub(part->mesh.vertices[v[2]], a);
    double x, y;
    if (pattern == RB_RAYS_LATTICE) {
        // R-23, denser toward the second corner
        uint64_t index = (uint64_t)part->pointStarts[triangle] + (uint64_t)i;
        rbRandom random = {part->seed + 2 * index * RANDOM_STEP};
        x = rbRandom_Unit(&random);
        y = (1.0 - x) * rbRandom_Unit(&random);
    } else {
        rbRandom random = {part->seed ^ ((uint64_t)triangle * RANDOM_STEP)};
        getSpreadPoint(rbRandom_Bits(&random), i, &x, &y);
        if (x + y > 1.0) {
            x = 1.0 - x;
            y = 1.0 - y;
        }
    }
    return rbAddScaled(rbAddScaled(a, x, ab), y, ac);
}

// A profile from (r0, z0) to (r1, z1) revolved, x and y in [0, 1): the area grows with r.
static void getConicPoint(const double profile[4], double x, double y, rbVec3* point,
                          rbVec3* normal)
{
    double r0 = profile[0];
    double r1 = profile[2];
    double r = sqrt(r0 * r0 + x * (r1 * r1 - r0 * r0));
    double f = r1 != r0 ? (r - r0) / (r1 - r0) : x;
    double z = profile[1] + f * (profile[3] - profile[1]);
    double sine, cosine;
    rbSinCos(2.0 * RB_PI * y, &sine, &cosine);
    *point = rbMakeVec3(r * cosine, r * sine, z);
    rbVec3 n = rbNormalize(rbMakeVec3(profile[3] - profile[1], r0 - r1, 0.0));
    *normal = rbMakeVec3(n.x * cosine, n.x * sine, n.y);
}

// Rejects points of the unit sphere where the map to the ellipsoid stretches areas less.
static void getEllipsoidPoint(const rbRayPart* part, int i, rbVec3* point, rbVec3* normal)
{
    rbVec3 a = part->data.ellipsoid.semiAxes;
    rbVec3 areas = {a.y * a.z, a.z * a.x, a.x * a.y};
    double largest = areas.x > areas.y ? areas.x : areas.y;
    largest = areas.z > largest ? areas.z : largest;
    rbRandom random = {part->seed ^ ((uint64_t)i * RANDOM_STEP)};
    random.state = rbRandom_Bits(&random);
    rbVec3 unit;
    rbVec3 stretch;
    do {
        unit.z = rbRandom_Symmetric(&random);
        double sine, cosine;
        rbSinCos(2.0 * RB_PI * rbRandom_Unit(&random), &sine, &cosine);
        double r = sqrt(1.0 - unit.z * unit.z);
        unit.x = r * cosine;
        unit.y = r * sine;
        stretch = rbMulEach(areas, unit);
    } while (rbRandom_Unit(&random) * largest > rbLength(stretch));
    *point = rbMulEach(a, unit);
    *normal = rbNormalize(stretch);
}

static void getCapsulePoint(const rbRodData* rod, double x, double y, rbVec3* point, rbVec3* normal)
{
    // equal slices along the axis have equal areas, including the ends (Archimedes)
    double z = (2.0 * x - 1.0) * (rod->halfLength + rod->radius);
    double center = z > rod->halfLength    ? rod->halfLength
                    : z < -rod->halfLength ? -rod->halfLength
                                           : z;
    double u = (z - center) / rod->radius;
    u = u > 1.0 ? 1.0 : u < -1.0 ? -1.0 : u;
    double r = sqrt(1.0 - u * u);
    double sine, cosine;
    rbSinCos(2.0 * RB_PI * y, &sine, &cosine);
    *normal = rbMakeVec3(r * cosine, r * sine, u);
    *point = rbAddScaled(rbMakeVec3(0.0, 0.0, center), rod->radius, *normal);
}

void rbRayPart_GetRoundPoint(const rbRayPart* part, int i, rbVec3* point, rbVec3* normal)
{
    const rbShapeData* data = &part->data;
    if (data->type == RB_SHAPE_ELLIPSOID) {
        getEllipsoidPoint(part, i, point, normal);
        return;
    }
    double x, y;
    getSpreadPoint(part->seed, i, &x, &y);
    if (data->type == RB_SHAPE_CAPSULE) {
        getCapsulePoint(&data->capsule, x, y, point, normal);
        return;
    }
    // profiles run upward on the outside, outward below and inward above
    bool isCone = data->type == RB_SHAPE_CONE;
    double r = isCone ? data->cone.radius : data->cylinder.radius;
    double half = isCone ? 0.5 * data->cone.height : data->cylinder.halfLength;
    double profiles[3][4] = {
        {0.0, -half, r, -half}, {r, -half, isCone ? 0.0 : r, half}, {r, half, 0.0, half}};
    double slant = isCone ? sqrt(r * r + 4.0 * half * half) : 4.0 * half;
    double areas[3] = {r, slant, isCone ? 0.0 : r}; // divided by pi r
    double rest = x * (areas[0] + areas[1] + areas[2]);
    int region = rest < areas[0] ? 0 : rest < areas[0] + areas[1] ? 1 : 2;
    for (int k = 0; k < region; ++k) {
        rest -= areas[k];
    }
    double fraction = areas[region] > 0.0 ? rest / areas[region] : 0.0;
    getConicPoint(profiles[region], fraction < 1.0 ? fraction : 1.0, y, point, normal);
}

// -------------------------------------------------------------------------------------- motion

rbRayMotion rbMakeRayMotion(rbTransform from, rbTransform to)
{
    rbRayMotion motion = {.from = from, .to = to};
    motion.isParallel =
        from.q.w == to.q.w && from.q.x == to.q.x && from.q.y == to.q.y && from.q.z == to.q.z;
    motion.step = rbSub(to.p, from.p);
    return motion;
}

rbRayStart rbMakeRayStart(const rbRayMotion* motion, rbVec3 point, rbVec3 normal)
{
    rbRayStart start = {.point = point, .normal = normal};
    start.from = rbTransformPoint(motion->from, point);
    start.step =
        motion->isParallel ? motion->step : rbSub(rbTransformPoint(motion->to, point), start.from);
    return start;
}

// ------------------------------------------------------------------------------------ the walk

typedef struct Walk {
    const rbRayEmitter* emitter;
    const rbRayMotion* motion;
    const rbRayPart* part;
    rbRayStartFn* fn;
    void* context;
} Walk;

// The displacement of a start in the frame of its part.
static rbVec3 getWayInPart(const Walk* walk, const rbRayStart* start)
{
    return rbInvRotate(walk->part->pose.q, rbInvRotate(walk->motion->from.q, start->step));
}

static rbRayStart makeStart(const Walk* walk, rbVec3 pointInPart, rbVec3 normalInPart)
{
    const rbTransform* pose = &walk->part->pose;
    return rbMakeRayStart(walk->motion, rbTransformPoint(*pose, pointInPart),
                          rbRotate(pose->q, normalInPart));
}

// A point with a normal: passed on if it faces the motion.
static void offerFacing(const Walk* walk, rbVec3 pointInPart, rbVec3 normalInPart)
{
    rbRayStart start = makeStart(walk, pointInPart, normalInPart);
    if (walk->part->isTwoSided || rbDot(getWayInPart(walk, &start), normalInPart) > 0.0) {
        walk->fn(walk->context, &start);
    }
}

// R-22 rotates the y axis to the motion by two rotations; sines and cosines are computed from its
// components, so that the pole is exactly the foremost point.
static rbVec3 turnToMotion(rbVec3 q, rbVec3 way)
{
    double across = sqrt(way.x * way.x + way.z * way.z);
    double sinTheta = across;
    double cosTheta = way.y;
    double cosPhi = across > 0.0 ? way.x / across : 1.0;
    double sinPhi = across > 0.0 ? way.z / across : 0.0;
    double x = q.x * cosTheta + q.y * sinTheta;
    double y = -q.x * sinTheta + q.y * cosTheta;
    return rbMakeVec3(x * cosPhi - q.z * sinPhi, y, x * sinPhi + q.z * cosPhi);
}

// A sphere looks the same in every orientation: all its rays follow the displacement of its center.
static void walkSphere(const Walk* walk)
{
    const rbRayPart* part = walk->part;
    rbRayStart center = makeStart(walk, RB_VEC3_ZERO, RB_VEC3_ZERO);
    rbVec3 way = rbNormalize(rbInvRotate(walk->motion->from.q, center.step));
    rbRayPattern pattern = walk->emitter->settings.pattern;
    for (int i = 0; i < part->surfaceCount; ++i) {
        rbVec3 q = part->directions != NULL
                       ? part->directions[i]
                       : rbGetSphereDirection(pattern, part->requestedCount, i);
        rbRayStart start = {.normal = i == 0 ? way : turnToMotion(q, way), .step = center.step};
        start.point = rbAddScaled(part->pose.p, part->data.sphere.radius, start.normal);
        start.from = rbTransformPoint(walk->motion->from, start.point);
        walk->fn(walk->context, &start);
    }
}

// Rims are where faces and round sides meet: passed on if either faces the motion.
static void walkRim(const Walk* walk, double r, double z, rbVec3 sideNormal)
{
    double axis = z < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < walk->part->rimCount; ++i) {
        double sine, cosine;
        rbSinCos(2.0 * RB_PI * i / walk->part->rimCount, &sine, &cosine);
        rbRayStart start = makeStart(walk, rbMakeVec3(r * cosine, r * sine, z), RB_VEC3_ZERO);
        rbVec3 side = {sideNormal.x * cosine, sideNormal.x * sine, sideNormal.z};
        rbVec3 way = getWayInPart(walk, &start);
        if (way.z * axis > 0.0 || rbDot(way, side) > 0.0) {
            walk->fn(walk->context, &start);
        }
    }
}

static void walkRound(const Walk* walk)
{
    const rbRayPart* part = walk->part;
    const rbShapeData* data = &part->data;
    if (data->type == RB_SHAPE_CYLINDER) {
        rbVec3 side = {1.0, 0.0, 0.0};
        walkRim(walk, data->cylinder.radius, -data->cylinder.halfLength, side);
        walkRim(walk, data->cylinder.radius, data->cylinder.halfLength, side);
    } else if (data->type == RB_SHAPE_CONE) {
        rbVec3 side = rbNormalize(rbMakeVec3(data->cone.height, 0.0, data->cone.radius));
        walkRim(walk, data->cone.radius, -0.5 * data->cone.height, side);
        rbRayStart apex =
            makeStart(walk, rbMakeVec3(0.0, 0.0, 0.5 * data->cone.height), RB_VEC3_ZERO);
        walk->fn(walk->context, &apex);
    }
    rbRayStart center = makeStart(walk, RB_VEC3_ZERO, RB_VEC3_ZERO);
    rbVec3 foremost = rbGeometry_GetSupport(part->geometry, getWayInPart(walk, &center));
    rbRayStart front = makeStart(walk, foremost, RB_VEC3_ZERO);
    walk->fn(walk->context, &front);
    for (int i = 0; i < part->surfaceCount; ++i) {
        rbVec3 point;
        rbVec3 normal;
        rbRayPart_GetRoundPoint(part, i, &point, &normal);
        offerFacing(walk, point, normal);
    }
}

static void walkVertices(const Walk* walk)
{
    const rbRayPart* part = walk->part;
    for (int i = 0; i < part->mesh.vertexCount; ++i) {
        rbRayStart start = makeStart(walk, part->mesh.vertices[i], RB_VEC3_ZERO);
        rbVec3 way = getWayInPart(walk, &start);
        bool isFacing = part->isTwoSided;
        int end = part->vertexFaceStarts[i + 1];
        for (int k = part->vertexFaceStarts[i]; k < end && !isFacing; ++k) {
            isFacing = rbDot(part->normals[part->vertexFaces[k]], way) > 0.0;
        }
        if (isFacing) {
            walk->fn(walk->context, &start);
        }
    }
}

static void walkEdges(const Walk* walk)
{
    const rbRayPart* part = walk->part;
    int count = walk->emitter->settings.edgeCount;
    for (int i = 0; i < part->edgeCount && count > 0; ++i) {
        const rbRayEdge* edge = &part->edges[i];
        rbVec3 a = part->mesh.vertices[edge->v0];
        rbVec3 along = rbSub(part->mesh.vertices[edge->v1], a);
        for (int k = 1; k <= count; ++k) {
            rbVec3 point = rbAddScaled(a, (double)k / (count + 1), along);
            rbRayStart start = makeStart(walk, point, RB_VEC3_ZERO);
            rbVec3 way = getWayInPart(walk, &start);
            if (part->isTwoSided || rbDot(part->normals[edge->face0], way) > 0.0 ||
                (edge->face1 >= 0 && rbDot(part->normals[edge->face1], way) > 0.0)) {
                walk->fn(walk->context, &start);
            }
        }
    }
}

static void walkTriangles(const Walk* walk)
{
    const rbRayPart* part = walk->part;
    rbRayPattern pattern = walk->emitter->settings.pattern;
    rbVec3 way = RB_VEC3_ZERO;
    if (walk->motion->isParallel) {
        rbRayStart any = makeStart(walk, RB_VEC3_ZERO, RB_VEC3_ZERO);
        way = getWayInPart(walk, &any);
    }
    for (int f = 0; f < part->mesh.triangleCount; ++f) {
        rbVec3 normal = part->normals[f];
        if (walk->motion->isParallel && !part->isTwoSided && !(rbDot(normal, way) > 0.0)) {
            continue; // the whole triangle faces away
        }
        int count = part->pointStarts[f + 1] - part->pointStarts[f];
        for (int i = 0; i < count; ++i) {
            offerFacing(walk, rbRayPart_GetTrianglePoint(part, pattern, f, i), normal);
        }
    }
}

void rbRayEmitter_ForEachStart(const rbRayEmitter* emitter, const rbRayMotion* motion,
                               rbRayStartFn* fn, void* context)
{
    for (int i = 0; i < emitter->partCount; ++i) {
        Walk walk = {emitter, motion, &emitter->parts[i], fn, context};
        if (walk.part->data.type == RB_SHAPE_SPHERE) {
            walkSphere(&walk);
        } else if (walk.part->isFaceted) {
            walkVertices(&walk);
            walkEdges(&walk);
            walkTriangles(&walk);
        } else {
            walkRound(&walk);
        }
    }
}
