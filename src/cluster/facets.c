#include "cluster/facets.h"

#include "base/core/status.h"

#include <math.h>

// ---------------------------------------------------------------------------------------- creation

static rbStatus addTriangles(rbFacets* facets, const rbGeometry* geometry, rbTransform pose,
                             int material, rbError* error)
{
    rbTriangles mesh = {0};
    RB_TRY(rbGeometry_Triangulate(geometry, 1.0, 1.0, &mesh, error));
    for (int i = 0; i < mesh.triangleCount; ++i) {
        rbFacet facet = {.type = RB_FACET_TRIANGLE, .material = material, .pose = pose};
        for (int k = 0; k < 3; ++k) {
            facet.corners[k] = rbTransformPoint(pose, mesh.vertices[mesh.triangles[i][k]]);
        }
        rbArray_Push(*facets, facet);
    }
    rbFreeTriangles(&mesh);
    return RB_STATUS_OK;
}

static rbStatus addChildren(rbFacets* facets, const rbGeometry* geometry, rbTransform pose,
                            int material, rbError* error)
{
    int count = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &count);
    for (int i = 0; i < count; ++i) {
        RB_TRY(rbFacets_Add(facets, children[i].geometry,
                            rbMulTransforms(pose, children[i].transform), material, error));
    }
    return RB_STATUS_OK;
}

rbStatus rbFacets_Add(rbFacets* facets, const rbGeometry* geometry, rbTransform pose, int material,
                      rbError* error)
{
    rbShapeData data = rbGeometry_GetData(geometry);
    rbFacet facet = {.material = material, .pose = pose};
    switch (data.type) {
    case RB_SHAPE_PLANE:
        facet.type = RB_FACET_PLANE;
        facet.corners[0] = rbRotate(pose.q, data.plane.normal);
        facet.offset = data.plane.offset + rbDot(facet.corners[0], pose.p);
        break;
    case RB_SHAPE_SPHERE:
        facet.type = RB_FACET_BALL;
        facet.corners[0].x = data.sphere.radius;
        break;
    case RB_SHAPE_BOX:
        facet.type = RB_FACET_BOX;
        facet.corners[0] = data.box.halfExtents;
        break;
    case RB_SHAPE_CAPSULE:
        facet.type = RB_FACET_CAPSULE;
        facet.corners[0] = rbMakeVec3(data.capsule.radius, 0.0, data.capsule.halfLength);
        break;
    case RB_SHAPE_CYLINDER:
        facet.type = RB_FACET_CYLINDER;
        facet.corners[0] = rbMakeVec3(data.cylinder.radius, 0.0, data.cylinder.halfLength);
        break;
    case RB_SHAPE_COMPOUND:
        return addChildren(facets, geometry, pose, material, error);
    case RB_SHAPE_HULL:
    case RB_SHAPE_POLYHEDRON:
    case RB_SHAPE_MESH:
    case RB_SHAPE_SOUP:
        return addTriangles(facets, geometry, pose, material, error);
    case RB_SHAPE_CONE:
    case RB_SHAPE_ELLIPSOID:
    case RB_SHAPE_COUNT:
    default:
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "a wall cannot be a %s; use planes, boxes, spheres, capsules, "
                           "cylinders, hulls or meshes",
                           rbShapeType_Name(data.type));
    }
    rbArray_Push(*facets, facet);
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------ closest
// point

// From the closest point of a curve or surface without inside, and a radius around it.
static rbClosest around(rbVec3 center, rbVec3 closest, double radius, rbVec3 fallback)
{
    rbVec3 d = rbSub(center, closest);
    double length = rbLength(d);
    rbVec3 normal = length > 0.0 ? rbScale(1.0 / length, d) : fallback;
    return (rbClosest){rbAddScaled(closest, radius, normal), normal, length - radius};
}

static rbClosest closestOfBox(rbVec3 half, rbVec3 c)
{
    rbVec3 inside = rbMax3(rbMin3(c, half), rbNeg(half));
    rbVec3 depth = rbSub(half, rbAbs3(c));
    if (depth.x < 0.0 || depth.y < 0.0 || depth.z < 0.0) {
        return around(c, inside, 0.0, rbMakeVec3(0.0, 0.0, 1.0));
    }
    rbClosest closest = {c, RB_VEC3_ZERO, 0.0};
    int axis = depth.x <= depth.y && depth.x <= depth.z ? 0 : depth.y <= depth.z ? 1 : 2;
    double sign = (&c.x)[axis] < 0.0 ? -1.0 : 1.0;
    (&closest.normal.x)[axis] = sign;
    (&closest.point.x)[axis] = sign * (&half.x)[axis];
    closest.distance = -(&depth.x)[axis];
    return closest;
}

static rbClosest closestOfCylinder(double radius, double halfLength, rbVec3 c)
{
    double across = sqrt(c.x * c.x + c.y * c.y);
    rbVec3 out =
        across > 0.0 ? rbMakeVec3(c.x / across, c.y / across, 0.0) : rbMakeVec3(1.0, 0.0, 0.0);
    // in the plane through the axis and the point it is a rectangle; y is never the nearest
    rbClosest flat =
        closestOfBox(rbMakeVec3(radius, radius, halfLength), rbMakeVec3(across, 0.0, c.z));
    rbClosest closest = {rbScale(flat.point.x, out), rbScale(flat.normal.x, out), flat.distance};
    closest.point.z = flat.point.z;
    closest.normal.z = flat.normal.z;
    return closest;
}

// The closest point of the triangle a b c, by the regions of its corners and edges.
static rbVec3 closestOfTriangle(const rbVec3* corners, rbVec3 p)
{
    rbVec3 ab = rbSub(corners[1], corners[0]);
    rbVec3 ac = rbSub(corners[2], corners[0]);
    rbVec3 ap = rbSub(p, corners[0]);
    double d1 = rbDot(ab, ap);
    double d2 = rbDot(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) {
        return corners[0];
    }
    rbVec3 bp = rbSub(p, corners[1]);
    double d3 = rbDot(ab, bp);
    double d4 = rbDot(ac, bp);
    if (d3 >= 0.0 && d4 <= d3) {
        return corners[1];
    }
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        return rbAddScaled(corners[0], d1 / (d1 - d3), ab);
    }
    rbVec3 cp = rbSub(p, corners[2]);
    double d5 = rbDot(ab, cp);
    double d6 = rbDot(ac, cp);
    if (d6 >= 0.0 && d5 <= d6) {
        return corners[2];
    }
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        return rbAddScaled(corners[0], d2 / (d2 - d6), ac);
    }
    double va = d3 * d6 - d5 * d4;
    if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        double part = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return rbAddScaled(corners[1], part, rbSub(corners[2], corners[1]));
    }
    double scale = 1.0 / (va + vb + vc);
    return rbAddScaled(rbAddScaled(corners[0], vb * scale, ab), vc * scale, ac);
}

static rbVec3 normalOfTriangle(const rbVec3* corners)
{
    return rbNormalize(rbCross(rbSub(corners[1], corners[0]), rbSub(corners[2], corners[0])));
}

rbClosest rbFacet_FindClosest(const rbFacet* facet, rbVec3 point)
{
    const rbVec3* numbers = &facet->corners[0];
    if (facet->type == RB_FACET_TRIANGLE) {
        return around(point, closestOfTriangle(facet->corners, point), 0.0,
                      normalOfTriangle(facet->corners));
    }
    if (facet->type == RB_FACET_PLANE) {
        double distance = rbDot(*numbers, point) - facet->offset;
        return (rbClosest){rbAddScaled(point, -distance, *numbers), *numbers, distance};
    }
    rbVec3 c = rbInvTransformPoint(facet->pose, point);
    rbVec3 up = rbMakeVec3(0.0, 0.0, 1.0);
    rbClosest closest;
    if (facet->type == RB_FACET_BALL) {
        closest = around(c, RB_VEC3_ZERO, numbers->x, up);
    } else if (facet->type == RB_FACET_BOX) {
        closest = closestOfBox(*numbers, c);
    } else if (facet->type == RB_FACET_CAPSULE) {
        closest = around(c, rbMakeVec3(0.0, 0.0, fmin(fmax(c.z, -numbers->z), numbers->z)),
                         numbers->x, rbMakeVec3(1.0, 0.0, 0.0));
    } else {
        closest = closestOfCylinder(numbers->x, numbers->z, c);
    }
    closest.point = rbTransformPoint(facet->pose, closest.point);
    closest.normal = rbRotate(facet->pose.q, closest.normal);
    return closest;
}

rbBounds rbFacet_GetBounds(const rbFacet* facet)
{
    if (facet->type == RB_FACET_TRIANGLE) {
        const rbVec3* c = facet->corners;
        return (rbBounds){rbMin3(c[0], rbMin3(c[1], c[2])), rbMax3(c[0], rbMax3(c[1], c[2]))};
    }
    double reach = (double)INFINITY;
    if (facet->type == RB_FACET_BOX) {
        reach = rbLength(facet->corners[0]);
    } else if (facet->type != RB_FACET_PLANE) {
        reach = facet->corners[0].x + facet->corners[0].z; // radius and half length
    }
    rbVec3 size = rbMakeVec3(reach, reach, reach);
    return (rbBounds){rbSub(facet->pose.p, size), rbAdd(facet->pose.p, size)};
}
