// The shape table: one row per type, one file per shape. Also the internals of rbGeometry and the
// helpers that shape files share.
//
// Adding a shape: docs/adding-a-shape.md. The generic tests of test_all_shapes.c then cover it.
#pragma once

#include "base/core/status.h"
#include "base/math/matrix3.h"
#include "collision/geometry/triangle_sink.h"

#include <rattleback/shape.h>

#include <stdatomic.h>

struct rbPolyhedron;

struct rbGeometry {
    rbShapeType type;
    atomic_int references;
    uint64_t hash;
    rbShapeData data;                // primitives
    struct rbPolyhedron* polyhedron; // hull, polyhedron, mesh, soup
    rbCompoundChild* children;       // compound
    int childCount;
    int depth;     // nesting levels of compounds, 0 if this is not one
    double radius; // m, largest distance of a point from the origin, if bounded
    bool isSolid, isBounded;
};

// A solid whose center is on the z axis and whose inertia is diagonal.
typedef struct rbSolidMass {
    double volume;  // m^3
    double centerZ; // m
    rbVec3 inertia; // m^2, about the center, per unit of mass
} rbSolidMass;

// What a shape is to algorithms that treat a few families of shapes apart. Rows of a new shape
// choose the family whose algorithms fit.
typedef enum rbShapeFamily {
    RB_FAMILY_BALL,      // a point and a radius: data.sphere
    RB_FAMILY_ROD,       // a segment of the z axis and a radius: data.capsule
    RB_FAMILY_BOX,       // data.box
    RB_FAMILY_SMOOTH,    // any other convex solid, by its support function
    RB_FAMILY_HULL,      // a convex polyhedron
    RB_FAMILY_TRIANGLES, // a polyhedron that need not be convex
    RB_FAMILY_PLANE,     // a half space: data.plane
    RB_FAMILY_COMPOUND,  // children
    RB_FAMILY_COUNT
} rbShapeFamily;

// Corners of a feature. Larger faces of hulls are thinned out evenly.
#define RB_FEATURE_CORNERS_MAX 32

// A feature of a shape that meets others in contact: a point, a segment or a convex polygon.
typedef struct rbContactFeature {
    int count;                              // 1 point, 2 segment, more: polygon, counter-clockwise
    rbVec3 corners[RB_FEATURE_CORNERS_MAX]; // seen from outside
    int vertexIds[RB_FEATURE_CORNERS_MAX];
    int edgeIds[RB_FEATURE_CORNERS_MAX]; // of the side from a corner to the next
    int faceId;
    rbVec3 normal; // unit, of a polygon; otherwise the direction asked for
} rbContactFeature;

// The feature of a shape that faces a unit direction, at a point of its surface; feature->normal is
// the direction. NULL in a row: the point.
typedef void rbShapeFeatureFn(const rbGeometry* geometry, rbVec3 direction, rbVec3 point,
                              rbContactFeature* feature);

#define RB_OUTLINE_PIECES_MAX 4

// A piece of an outline: from the end of the one before to (r, z), along a line, or along an arc
// about a point of the axis between two angles from the plane of the equator.
typedef struct rbOutlinePiece {
    bool isArc;
    double r, z;           // its end
    double center, radius; // of an arc
    double angleA, angleB; // rad
    double length;         // m
} rbOutlinePiece;

// The outline of a solid of revolution about z, for tessellation: a chain of lines and arcs in the
// half plane r >= 0, from the axis to the axis, upward.
typedef struct rbOutline {
    double startZ; // m; it starts at (0, startZ)
    double radius; // m, largest r
    rbOutlinePiece pieces[RB_OUTLINE_PIECES_MAX];
    int count;
} rbOutline;

typedef struct rbShapeOps {
    const char* name;
    const char* meaning; // a sentence for users; shapes described by numbers only
    rbShapeFamily family;
    bool isConvex;
    bool isRound; // curved everywhere: no faces, no edges
    // Shapes described by numbers: their parameters as in scenes and messages (offsets in an array
    // of RB_PARAMETERS_MAX numbers). NULL: no such shape.
    const rbParameter* parameters;
    int parameterCount;
    const char* example; // numbers for a message; NULL: all are 1
    // One of three: the names of data.numbers of a primitive, all lengths, and which of them (bit
    // i) are half of the parameter; a function; the row of a registered shape.
    const char* lengths[3];
    unsigned halved;
    rbGeometry* (*create)(const double* numbers, rbError* error);
    const rbConvexShapeRow* convex;
    rbSolidMass (*solid)(const rbGeometry* geometry);
    // Where there is no solid.
    rbStatus (*mass)(const rbGeometry* geometry, double density, rbMassProperties* properties,
                     rbError* error);
    // The direction has its largest component of magnitude 1.
    rbVec3 (*support)(const rbGeometry* geometry, rbVec3 direction);
    rbBounds (*bounds)(const rbGeometry* geometry, rbTransform transform);
    double (*radius)(const rbGeometry* geometry, rbVec3 point);
    bool (*contains)(const rbGeometry* geometry, rbVec3 point);
    // Of a unit direction; the caller fills in point and child. NULL: it has faces or children.
    bool (*castRay)(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit);
    // NULL: by its semi-axes, or its outline, made of lines.
    void (*triangulate)(const rbGeometry* geometry, const rbTriangulation* settings,
                        rbTriangleSink* sink);
    uint64_t (*hash)(const rbGeometry* geometry, uint64_t hash); // NULL: of data.numbers
    void (*release)(rbGeometry* geometry); // NULL if only the struct must be freed
    rbShapeFeatureFn* feature;
    // Of a solid of revolution about z. NULL: it is tessellated by cutting its triangles.
    void (*outline)(const rbGeometry* geometry, rbOutline* outline);
    // The semi-axes of a ball or an ellipsoid about the origin; NULL: not such a shape.
    rbVec3 (*getSemiAxes)(const rbGeometry* geometry);
} rbShapeOps;

// A parameter that is a length: of a number, or of the three of a vector, from an index on.
#define RB_SHAPE_LENGTH(theKey, index, theCount, theMeaning)                              \
    .key = (theKey), .offset = (index) * sizeof(double), .count = (theCount), .low = 0.0, \
    .high = RB_LENGTH_MAX, .isLowOpen = true, .isRequired = true, .unit = "m",            \
    .meaning = (theMeaning)
#define RB_SHAPE_PARAMETERS(list) \
    .parameters = (list), .parameterCount = (int)(sizeof(list) / sizeof((list)[0]))

// What solid primitives have in common, and their functions.
#define RB_SOLID_PRIMITIVE(Shape)                                                         \
    .isConvex = true, .solid = massOf##Shape, .support = supportOf##Shape,                \
    .bounds = boundsOf##Shape, .radius = radiusOf##Shape, .contains = containedIn##Shape, \
    .castRay = castRayAt##Shape

// How many numbers describe shapes of a row.
int rbShapeOps_CountNumbers(const rbShapeOps* ops);
// The numbers that describe a geometry, for types that have parameters. Returns their count.
int rbGeometry_GetNumbers(const rbGeometry* geometry, double numbers[RB_PARAMETERS_MAX]);

// The table: the enumerator of a type and its row.
// clang-format off
#define RB_SHAPE_ROWS(X) \
    X(RB_SHAPE_SPHERE, rbSphereOps) \
    X(RB_SHAPE_BOX, rbBoxOps) \
    X(RB_SHAPE_CAPSULE, rbCapsuleOps) \
    X(RB_SHAPE_CYLINDER, rbCylinderOps) \
    X(RB_SHAPE_CONE, rbConeOps) \
    X(RB_SHAPE_ELLIPSOID, rbEllipsoidOps) \
    X(RB_SHAPE_PLANE, rbPlaneOps) \
    X(RB_SHAPE_HULL, rbHullOps) \
    X(RB_SHAPE_POLYHEDRON, rbPolyhedronOps) \
    X(RB_SHAPE_MESH, rbMeshOps) \
    X(RB_SHAPE_SOUP, rbSoupOps) \
    X(RB_SHAPE_COMPOUND, rbCompoundOps)
// clang-format on
#define RB_DECLARE_SHAPE_ROW(type, row) extern const rbShapeOps row;
RB_SHAPE_ROWS(RB_DECLARE_SHAPE_ROW)
#undef RB_DECLARE_SHAPE_ROW

// Row of a type.
const rbShapeOps* rbGetShapeOps(rbShapeType value);

// Adds a row to the table, at start-up (base/core/registered_rows.h). Refused: a name that is
// known, a full table.
rbStatus rbRegisterShapeOps(const rbShapeOps* ops, rbError* error);

static inline rbShapeFamily rbGeometry_GetFamily(const rbGeometry* geometry)
{
    return rbGetShapeOps(geometry->type)->family;
}

// A new geometry with one reference, zeroed except for the type.
rbGeometry* rbAllocGeometry(rbShapeType type);

// Completes a geometry: computes the hash. Every creation function calls it last.
rbGeometry* rbFinishGeometry(rbGeometry* geometry);

// A primitive from its lengths, as in data.numbers; NULL with a message unless all are in the
// accepted range.
rbGeometry* rbCreatePrimitive(rbShapeType type, const double* lengths, rbError* error);

// INVALID with a message unless the length is in the accepted range (which includes 0 if
// zeroIsFine).
rbStatus rbCheckLength(double length, bool zeroIsFine, const char* what, rbError* error);

// Corner i of a box has the signs of the bits of i: x, y, z.
static inline rbVec3 rbGetBoxCorner(rbVec3 halfExtents, int i)
{
    return rbMakeVec3((i & 1) != 0 ? halfExtents.x : -halfExtents.x,
                      (i & 2) != 0 ? halfExtents.y : -halfExtents.y,
                      (i & 4) != 0 ? halfExtents.z : -halfExtents.z);
}

// The triangles of its corners, counter-clockwise from outside.
#define RB_BOX_TRIANGLES 12
extern const rbIndex3 rbBoxTriangles[RB_BOX_TRIANGLES];

// Box about a center of the given half size.
rbBounds rbMakeBounds(rbVec3 center, rbVec3 halfSize);

// Box of the points with the indices.
rbBounds rbBoundPoints(const rbVec3* points, const int* indices, int count);

// Half size of the box of a disc of radius r about the origin, normal to the rotated z axis.
rbVec3 rbDiscExtents(rbQuat q, double radius);

// A ray whose direction is a unit vector, where t is a length. False if the direction is zero.
// t / largest / length is the parameter of the ray as given.
typedef struct rbUnitRay {
    rbRay ray;
    double largest, length;
} rbUnitRay;
bool rbMakeUnitRay(const rbRay* ray, rbUnitRay* unit);

// Sine of the angle within which a side or cap still counts as flush; points that are too far apart
// are left out by the threshold of the query anyway.
#define RB_FLUSH_SINE 0.05

void rbContactFeature_Add(rbContactFeature* feature, rbVec3 corner, int vertexId, int edgeId);

// A round cap at a height: an inscribed octagon at fixed places of the rim, so that its ids stay.
// The witness of a query adds the lowest point of the rim where it lies between them.
void rbContactFeature_AddRim(rbContactFeature* feature, double radius, double z);

// Adds the triangles of a shape to a sink.
void rbAddTriangles(const rbGeometry* geometry, const rbTriangulation* settings,
                    rbTriangleSink* sink);

// A line from the end of the outline to (r, z); nothing if it has no length.
void rbOutline_AddLine(rbOutline* outline, double r, double z);
// An arc; its end is given too, so that it is exact where it should be.
void rbOutline_AddArc(rbOutline* outline, rbOutlinePiece arc);

uint64_t rbHashVec3(uint64_t hash, rbVec3 v);

static inline double rbMinOf(double a, double b)
{
    return a < b ? a : b;
}

static inline double rbMaxOf(double a, double b)
{
    return a > b ? a : b;
}

// Narrows the fractions of a step at which a point on its way is in [low, high], relative to its
// start. inverse: of the step along this axis, infinite where there is none.
static inline void rbEnterSlab(double low, double high, double inverse, double span[2])
{
    if (isinf(inverse)) {
        span[0] = low > 0.0 || high < 0.0 ? (double)INFINITY : span[0];
        return;
    }
    double t0 = low * inverse, t1 = high * inverse;
    span[0] = rbMaxOf(span[0], rbMinOf(t0, t1));
    span[1] = rbMinOf(span[1], rbMaxOf(t0, t1));
}

// Least radius of curvature of an ellipsoid: a ball of this radius rolls freely inside it.
static inline double rbGetRollingRadius(rbVec3 semiAxes)
{
    double least = fmin(semiAxes.x, fmin(semiAxes.y, semiAxes.z));
    return least * least / fmax(semiAxes.x, fmax(semiAxes.y, semiAxes.z));
}

// Are all coordinates accepted? Not NaN.
static inline bool rbIsPlace(rbVec3 v)
{
    return fabs(v.x) <= RB_LENGTH_MAX && fabs(v.y) <= RB_LENGTH_MAX && fabs(v.z) <= RB_LENGTH_MAX;
}
