// Faces of boxes, hulls and polyhedra; caps and sides of round shapes as polygons and segments.
//
// Caps of cylinders and cones are inscribed octagons at fixed places of the rim, so that their ids
// stay; the witness of the query adds the lowest point of the rim where it lies between them.
#include "collision/narrowphase/contact_feature.h"

#include "base/math/elementary.h"
#include "collision/geometry/polyhedron.h"
#include "collision/geometry/shape_ops.h"

// Sine of the angle within which a side or cap still counts as flush; points that are too far apart
// are left out by the threshold anyway.
#define FLUSH_SINE 0.05
#define RIM_CORNERS 8
// Faces this near (part of the size) to the witness of a polyhedron hold it.
#define FACE_TOLERANCE 1e-7

typedef void FeatureFn(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                       rbContactFeature* feature);

static void addCorner(rbContactFeature* feature, rbVec3 corner, int vertexId, int edgeId)
{
    RB_ASSERT(feature->count < RB_FEATURE_CORNERS_MAX);
    feature->corners[feature->count] = corner;
    feature->vertexIds[feature->count] = vertexId;
    feature->edgeIds[feature->count] = edgeId;
    ++feature->count;
}

static void featureOfPoint(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                           rbContactFeature* feature)
{
    (void)geometry;
    (void)direction;
    addCorner(feature, point, 0, 0);
}

static void featureOfBox(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                         rbContactFeature* feature)
{
    (void)point;
    rbVec3 h = geometry->data.box.halfExtents;
    const double half[3] = {h.x, h.y, h.z};
    const double d[3] = {direction.x, direction.y, direction.z};
    int i = fabs(d[1]) > fabs(d[0]) ? 1 : 0;
    i = fabs(d[2]) > fabs(d[i]) ? 2 : i;
    int u = (i + 1) % 3;
    int v = (i + 2) % 3;
    bool isPositive = d[i] >= 0.0;
    double n[3] = {0.0, 0.0, 0.0};
    n[i] = isPositive ? 1.0 : -1.0;
    feature->normal = rbMakeVec3(n[0], n[1], n[2]);
    feature->faceId = 2 * i + (isPositive ? 1 : 0);
    static const int around[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
    for (int k = 0; k < 4; ++k) {
        // counter-clockwise seen from outside: the negative face runs the other way round
        const int* here = around[isPositive ? k : 4 - k];
        const int* next = around[isPositive ? k + 1 : 3 - k];
        double c[3];
        c[i] = n[i] * half[i];
        c[u] = here[0] != 0 ? half[u] : -half[u];
        c[v] = here[1] != 0 ? half[v] : -half[v];
        int base = isPositive ? 1 << i : 0;
        int vertex = base | here[0] << u | here[1] << v;
        int other = base | next[0] << u | next[1] << v;
        // an edge is its lower corner and its axis
        int axis = here[0] != next[0] ? u : v;
        addCorner(feature, rbMakeVec3(c[0], c[1], c[2]), vertex, 8 * axis + (vertex & other));
    }
}

static bool isConvexLoop(const rbContactFeature* f)
{
    for (int k = 0; k < f->count; ++k) {
        rbVec3 a = rbSub(f->corners[(k + 1) % f->count], f->corners[k]);
        rbVec3 b = rbSub(f->corners[(k + 2) % f->count], f->corners[(k + 1) % f->count]);
        double turn = rbDot(rbCross(a, b), f->normal);
        if (turn < -1e-9 * rbLength(a) * rbLength(b)) {
            return false;
        }
    }
    return true;
}

// The face most nearly perpendicular to the direction; of a non-convex shape among those that hold
// the point.
static void featureOfPolyhedron(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                                rbContactFeature* feature)
{
    const rbPolyhedron* p = geometry->polyhedron;
    RB_ASSERT(p != NULL && p->edges != NULL);
    bool isHull = geometry->type == RB_SHAPE_HULL;
    int best = -1;
    double largest = -2.0;
    for (int f = 0; f < p->faceCount; ++f) {
        double cosine = rbDot(p->normals[f], direction);
        double off = isHull ? 0.0 : fabs(rbDot(p->normals[f], point) - p->offsets[f]);
        if (cosine > largest && off <= FACE_TOLERANCE * p->scale) {
            largest = cosine;
            best = f;
        }
    }
    if (best < 0) {
        addCorner(feature, point, 0, 0);
        return;
    }
    int size = p->faceSizes[best];
    int kept = size < RB_FEATURE_CORNERS_MAX ? size : RB_FEATURE_CORNERS_MAX;
    for (int k = 0; k < kept; ++k) {
        int corner = p->faceStarts[best] + (int)((long long)k * size / kept);
        int vertex = p->indices[corner];
        addCorner(feature, p->vertices[vertex], vertex, p->edgeOfCorner[corner]);
    }
    feature->normal = p->normals[best];
    feature->faceId = best;
    if (!isHull && !isConvexLoop(feature)) {
        feature->count = 0;
        feature->normal = direction;
        addCorner(feature, point, 0, 0);
    }
}

static void featureOfCapsule(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                             rbContactFeature* feature)
{
    double half = geometry->data.capsule.halfLength;
    rbVec3 out = rbScale(geometry->data.capsule.radius, direction);
    if (fabs(direction.z) > FLUSH_SINE || half == 0.0) {
        addCorner(feature, point, direction.z > 0.0 ? 1 : 0, 0);
        return;
    }
    addCorner(feature, rbMakeVec3(out.x, out.y, out.z - half), 0, 0);
    addCorner(feature, rbMakeVec3(out.x, out.y, out.z + half), 1, 0);
}

static void addRim(rbContactFeature* feature, double radius, double z)
{
    double up = z > 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < RIM_CORNERS; ++k) {
        double s, c;
        rbSinCos(2.0 * RB_PI / RIM_CORNERS * k, &s, &c);
        addCorner(feature, rbMakeVec3(radius * c, up * radius * s, z), k, k);
    }
    feature->normal = rbMakeVec3(0.0, 0.0, up);
    feature->faceId = z > 0.0 ? 2 : 1;
}

static void featureOfCylinder(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                              rbContactFeature* feature)
{
    double radius = geometry->data.cylinder.radius;
    double half = geometry->data.cylinder.halfLength;
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (across <= FLUSH_SINE) {
        addRim(feature, radius, direction.z > 0.0 ? half : -half);
    } else if (fabs(direction.z) <= FLUSH_SINE) {
        double f = radius / across;
        addCorner(feature, rbMakeVec3(f * direction.x, f * direction.y, -half), 0, 0);
        addCorner(feature, rbMakeVec3(f * direction.x, f * direction.y, half), 1, 0);
    } else {
        addCorner(feature, point, 0, 0);
    }
}

static void featureOfCone(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                          rbContactFeature* feature)
{
    double radius = geometry->data.cone.radius;
    double height = geometry->data.cone.height;
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    double slant = sqrt(radius * radius + height * height);
    // sine of the angle between the direction and the normal of the side
    double sine = (height * direction.z - radius * across) / slant;
    if (across <= FLUSH_SINE && direction.z < 0.0) {
        addRim(feature, radius, -0.5 * height);
    } else if (across > 0.0 && fabs(sine) <= FLUSH_SINE) {
        double f = radius / across;
        addCorner(feature, rbMakeVec3(f * direction.x, f * direction.y, -0.5 * height), 0, 0);
        addCorner(feature, rbMakeVec3(0.0, 0.0, 0.5 * height), 1, 0);
    } else {
        addCorner(feature, point, 0, 0);
    }
}

static FeatureFn* const featureTable[RB_SHAPE_COUNT] = {
    [RB_SHAPE_SPHERE] = featureOfPoint,
    [RB_SHAPE_BOX] = featureOfBox,
    [RB_SHAPE_CAPSULE] = featureOfCapsule,
    [RB_SHAPE_CYLINDER] = featureOfCylinder,
    [RB_SHAPE_CONE] = featureOfCone,
    [RB_SHAPE_ELLIPSOID] = featureOfPoint,
    [RB_SHAPE_PLANE] = featureOfPoint,
    [RB_SHAPE_HULL] = featureOfPolyhedron,
    [RB_SHAPE_POLYHEDRON] = featureOfPolyhedron,
    [RB_SHAPE_MESH] = featureOfPoint,
    [RB_SHAPE_SOUP] = featureOfPoint,
    [RB_SHAPE_COMPOUND] = featureOfPoint,
};

void rbFindContactFeature(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                          rbContactFeature* feature)
{
    RB_ASSERT(fabs(rbLengthSquared(direction) - 1.0) < 1e-9);
    feature->count = 0;
    feature->faceId = 0;
    feature->normal = direction;
    featureTable[geometry->type](geometry, direction, point, feature);
    RB_ASSERT(feature->count > 0);
}

void rbMoveContactFeature(rbContactFeature* feature, rbTransform transform)
{
    for (int k = 0; k < feature->count; ++k) {
        feature->corners[k] = rbTransformPoint(transform, feature->corners[k]);
    }
    feature->normal = rbRotate(transform.q, feature->normal);
}
