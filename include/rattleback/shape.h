/// @file
/// Geometry of bodies. Immutable shapes with bounds, support function, inside test, ray casts, mass
/// and triangles; meshes with validation; extrusion and revolution.
///
/// Frames and units: meters, kilograms; every query is in the frame of the shape unless it takes a
/// transform. Axes of revolution are z. A geometry never changes after its creation, so any number
/// of bodies and threads may share it; it is reference counted.
///
/// Creation returns NULL for bad values and fills the error with a message that names the value and
/// the accepted range. Lengths may be from RB_LENGTH_MIN to RB_LENGTH_MAX, coordinates up to
/// RB_LENGTH_MAX in magnitude.
#ifndef RATTLEBACK_SHAPE_H
#define RATTLEBACK_SHAPE_H

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Smallest length of a shape, m. Inertia is proportional to the fifth power of length; these
/// limits keep every product far from underflow and overflow.
#define RB_LENGTH_MIN 1e-15
/// Largest length of a shape and largest coordinate, m.
#define RB_LENGTH_MAX 1e12

/// Maximum number of vertices, faces, or corners of all faces of a mesh.
#define RB_MESH_ELEMENTS_MAX (1 << 26)
/// Maximum number of corners of one face.
#define RB_FACE_CORNERS_MAX (1 << 14)
/// Maximum number of points of a hull.
#define RB_HULL_POINTS_MAX (1 << 20)
/// Maximum number of children of a compound.
#define RB_COMPOUND_CHILDREN_MAX (1 << 16)
/// Maximum levels of nested compounds.
#define RB_COMPOUND_DEPTH_MAX 8
/// Maximum number of triangles of a triangulation.
#define RB_TRIANGLES_MAX (1 << 22)
/// Maximum number of vertices of a profile.
#define RB_PROFILE_POINTS_MAX 8192

/// Kinds of geometry.
typedef enum rbShapeType {
    RB_SHAPE_SPHERE,     ///< ball
    RB_SHAPE_BOX,        ///< rectangular box
    RB_SHAPE_CAPSULE,    ///< points within a radius of a segment
    RB_SHAPE_CYLINDER,   ///< circular cylinder
    RB_SHAPE_CONE,       ///< circular cone
    RB_SHAPE_ELLIPSOID,  ///< ellipsoid
    RB_SHAPE_PLANE,      ///< half space
    RB_SHAPE_HULL,       ///< convex polyhedron
    RB_SHAPE_POLYHEDRON, ///< closed, with polygonal and possibly non-convex faces
    RB_SHAPE_MESH,       ///< triangles, closed or open
    RB_SHAPE_SOUP,       ///< polygons without connectivity
    RB_SHAPE_COMPOUND,   ///< several geometries as one
    RB_SHAPE_COUNT
} rbShapeType;

/// Name of a type as scenes spell it ("sphere", "box", ...), never NULL.
RB_API const char* rbShapeType_Name(rbShapeType type);

/// Type of a name; rbShapeType_GetCount() if unknown.
RB_API rbShapeType rbShapeType_Find(const char* name);

/// Number of types: RB_SHAPE_COUNT and the registered ones.
RB_API int rbShapeType_GetCount(void);

/// A geometry; opaque, immutable and reference counted.
typedef struct rbGeometry rbGeometry;

// ---------------------------------------------------------------------------------------- creation

/// A ball about the origin.
RB_API rbGeometry* rbCreateSphere(double radius, rbError* error);

/// A box about the origin, halfExtents along the axes.
RB_API rbGeometry* rbCreateBox(rbVec3 halfExtents, rbError* error);

/// All points within radius of the segment from (0,0,-halfLength) to (0,0,halfLength). halfLength
/// may be 0, which is a sphere.
RB_API rbGeometry* rbCreateCapsule(double radius, double halfLength, rbError* error);

/// x^2 + y^2 <= radius^2, |z| <= halfLength.
RB_API rbGeometry* rbCreateCylinder(double radius, double halfLength, rbError* error);

/// Circular cone with its base at z = -height/2 and its apex at z = +height/2: the origin is
/// halfway up the axis. The center of mass is at z = -height/4.
RB_API rbGeometry* rbCreateCone(double radius, double height, rbError* error);

/// An ellipsoid about the origin, semi-axes along x, y and z.
RB_API rbGeometry* rbCreateEllipsoid(rbVec3 semiAxes, rbError* error);

/// The half space normal . x <= offset. The normal is normalized (offset is divided by the same
/// length); it must not be zero.
RB_API rbGeometry* rbCreatePlane(rbVec3 normal, double offset, rbError* error);

/// Convex hull of points. The bits depend neither on the order of the points nor on the hull
/// library: vertices are sorted, coplanar triangles merged into faces, planes computed by our own
/// sums. Points must not all lie in a plane. UNSUPPORTED in a library built without RB_QHULL.
RB_API rbGeometry* rbCreateHull(const rbVec3* points, int count, rbError* error);

/// Indexed polygons. Face f has faceSizes[f] corners; the corners of all faces follow each other in
/// indices, counter-clockwise seen from outside.
typedef struct rbMeshDef {
    const rbVec3* vertices; ///< m, vertexCount points
    int vertexCount;        ///< number of vertices
    const int* faceSizes;   ///< NULL: every face is a triangle
    const int* indices;     ///< vertices of all faces, one face after the other
    int faceCount;          ///< number of faces
} rbMeshDef;

/// Boundary representation with planar polygonal faces, which may be non-convex (without holes).
/// Must be valid in the sense of rbValidateMesh, which includes closed and outward oriented.
RB_API rbGeometry* rbCreatePolyhedron(const rbMeshDef* def, rbError* error);

/// Triangle mesh; polygons are split into triangles. Closed, manifold, outward meshes are solids;
/// others are surfaces, without mass and inside. Rejects indices out of range, non-finite vertices,
/// faces without area, and closed meshes that are inside out.
RB_API rbGeometry* rbCreateMesh(const rbMeshDef* def, rbError* error);

/// Polygon soup: only indices, coordinates and areas are checked; connectivity is unknown. No mass,
/// no inside.
RB_API rbGeometry* rbCreateSoup(const rbMeshDef* def, rbError* error);

/// A part of a compound: a geometry at a pose; transform maps the frame of the part to the frame of
/// the compound. density in kg/m^3; 0 or less inherits the density of the compound.
typedef struct rbCompoundChild {
    const rbGeometry* geometry; ///< the part
    rbTransform transform;      ///< from the frame of the part to the frame of the compound
    double density;             ///< kg/m^3; 0 or less: that of the compound
} rbCompoundChild;

/// Several geometries as one; keeps references to them. The mass is the sum of the parts: overlaps
/// count twice.
RB_API rbGeometry* rbCreateCompound(const rbCompoundChild* children, int count, rbError* error);

/// Adds an owner. Returns the geometry.
RB_API rbGeometry* rbGeometry_Retain(const rbGeometry* geometry);

/// Removes an owner; the last one frees the geometry. NULL is fine.
RB_API void rbDestroyGeometry(rbGeometry* geometry);

// -------------------------------------------------------------------------------------- parameters

/// Parameters of the primitives, m.
typedef struct rbSphereData {
    double radius; ///< m
} rbSphereData;

/// A box.
typedef struct rbBoxData {
    rbVec3 halfExtents; ///< m, half of the edge lengths along x, y and z
} rbBoxData;

/// A capsule or a cylinder.
typedef struct rbRodData {
    double radius;     ///< m
    double halfLength; ///< m, half the length of the axis; for a capsule without the caps
} rbRodData;

/// A cone.
typedef struct rbConeData {
    double radius; ///< m, of the base
    double height; ///< m, from the base to the apex
} rbConeData;

/// An ellipsoid.
typedef struct rbEllipsoidData {
    rbVec3 semiAxes; ///< m, along x, y and z
} rbEllipsoidData;

/// A half space normal . x <= offset.
typedef struct rbPlaneData {
    rbVec3 normal; ///< unit
    double offset; ///< m
} rbPlaneData;

/// Mass properties; the inertia is about the center, in the axes of the frame of the center.
typedef struct rbMassProperties {
    double volume;  ///< m^3
    double mass;    ///< kg
    rbVec3 center;  ///< m
    rbSym3 inertia; ///< kg m^2; off-diagonal elements as in the matrix, Ixy = -int xy dm
} rbMassProperties;

/// Creates a shape that is described by numbers: the parameters of its type in order, as scenes
/// give them (a box by its full edge lengths). NULL with a message for values that are not
/// accepted, and for types that are not described by numbers. error may be NULL.
RB_API rbGeometry* rbCreateGeometryOfType(rbShapeType type, const double* numbers, rbError* error);

/// A user-defined convex solid: a row of the table of shapes. Its functions receive the parameter
/// values and must be pure: the same arguments give the same bits.
typedef struct rbConvexShapeRow {
    const char* name;              ///< in scenes and messages: "superellipsoid"
    const char* meaning;           ///< a sentence for users
    const rbParameter* parameters; ///< offsets in an array of RB_PARAMETERS_MAX numbers
    int parameterCount; ///< at least 1; all together have at most RB_PARAMETERS_MAX numbers
    bool isRound;       ///< curved everywhere: neither faces nor edges
    /// INVALID with a message for values that are not accepted. NULL: all in the ranges are.
    rbStatus (*check)(const double* numbers, rbError* error);
    /// A point of the solid (m) that is farthest in a direction whose largest component has the
    /// magnitude 1. The origin must lie in the solid.
    rbVec3 (*support)(const double* numbers, rbVec3 direction);
    /// Mass properties for a density (kg/m^3).
    rbMassProperties (*getMass)(const double* numbers, double density);
} rbConvexShapeRow;

/// Adds a convex solid to the table; scenes, the command line and rbShapeType_Find then know it by
/// its name. Distances, depths and contacts are found by GJK and EPA, rays by steps of GJK; viewers
/// get triangles. The row is borrowed for the rest of the process. Call it from one thread before
/// the first world is created. INVALID for an incomplete row or a name that is empty or taken,
/// LIMIT if the table is full. error may be NULL. See docs/adding-a-shape.md.
RB_API rbStatus rbRegisterConvexShape(const rbConvexShapeRow* row, rbError* error);

/// Parameters of a primitive; only the member of its type is set.
typedef struct rbShapeData {
    rbShapeType type; ///< which member is set
    union {
        rbSphereData sphere;               ///< RB_SHAPE_SPHERE
        rbBoxData box;                     ///< RB_SHAPE_BOX
        rbRodData capsule;                 ///< m, RB_SHAPE_CAPSULE
        rbRodData cylinder;                ///< m, RB_SHAPE_CYLINDER
        rbConeData cone;                   ///< RB_SHAPE_CONE
        rbEllipsoidData ellipsoid;         ///< RB_SHAPE_ELLIPSOID
        rbPlaneData plane;                 ///< RB_SHAPE_PLANE
        double numbers[RB_PARAMETERS_MAX]; ///< registered shapes, defined by their row
    };
} rbShapeData;

/// Type of a geometry.
RB_API rbShapeType rbGeometry_GetType(const rbGeometry* geometry);
/// Parameters of a primitive; for other types only the type is set.
RB_API rbShapeData rbGeometry_GetData(const rbGeometry* geometry);

/// Vertices and faces of a hull, polyhedron, mesh or soup, borrowed for the life of the geometry.
/// False, and an empty mesh, for other types.
RB_API bool rbGeometry_GetMesh(const rbGeometry* geometry, rbMeshDef* mesh);

/// Children of a compound, borrowed; count is 0 for other types.
RB_API const rbCompoundChild* rbGeometry_GetChildren(const rbGeometry* geometry, int* count);

/// By type: spheres through hulls are convex.
RB_API bool rbGeometry_IsConvex(const rbGeometry* geometry);

/// False for planes and for compounds that contain one.
RB_API bool rbGeometry_IsBounded(const rbGeometry* geometry);

/// True if there is an inside: false for soups and surfaces; true for compounds if all children are
/// solid.
RB_API bool rbGeometry_IsSolid(const rbGeometry* geometry);

/// Hash of type and content; equal content gives equal hashes on every machine.
RB_API uint64_t rbGeometry_GetHash(const rbGeometry* geometry);

// ----------------------------------------------------------------------------------------- queries

/// An axis-aligned box.
typedef struct rbBounds {
    rbVec3 lower; ///< m, corner with the smallest coordinates
    rbVec3 upper; ///< m, corner with the largest coordinates
} rbBounds;

/// Axis-aligned box of the shape moved by transform, tight to rounding. Planes have infinite
/// bounds, except along an axis that is exactly parallel to their moved normal.
RB_API rbBounds rbGeometry_GetBounds(const rbGeometry* geometry, rbTransform transform);

/// A point of the shape farthest in a direction, which need not be a unit vector; zero gives some
/// point. For meshes, soups and compounds this is the support of the convex hull. For planes it is
/// the point of the plane nearest to the origin, for any direction: the true one is at infinity.
RB_API rbVec3 rbGeometry_GetSupport(const rbGeometry* geometry, rbVec3 direction);

/// Is the point in the solid? The boundary counts as inside. Surfaces and soups contain nothing.
/// Meshes count crossings of a ray, O(log faces), or use the winding number if these are in doubt.
RB_API bool rbGeometry_Contains(const rbGeometry* geometry, rbVec3 point);

/// Largest distance from the given point to a point of the shape, INFINITY for planes.
RB_API double rbGeometry_GetRadius(const rbGeometry* geometry, rbVec3 point);

/// Points origin + t direction with 0 <= t <= tMax. direction need not be a unit vector; a zero
/// direction hits nothing.
typedef struct rbRay {
    rbVec3 origin;    ///< m
    rbVec3 direction; ///< need not be a unit vector
    double tMax;      ///< INFINITY is fine
} rbRay;

/// Where a ray hits a shape.
typedef struct rbRayHit {
    double t;      ///< parameter of the ray at the hit
    rbVec3 point;  ///< origin + t direction
    rbVec3 normal; ///< outward unit normal of the surface; for a soup the normal of the face
    int feature; ///< face of a polyhedral shape; box: 2*axis + (positive side); cylinder, cone and
                 ///< capsule: 0 side, 1 lower end, 2 upper end; otherwise 0
    int child;   ///< index in the (outermost) compound, otherwise 0
} rbRayHit;

/// First point of the surface along the ray. A ray that starts inside hits where it leaves: the
/// normal then points along the direction. A ray within a flat face does not hit that face. O(log
/// faces) for meshes.
RB_API bool rbGeometry_CastRay(const rbGeometry* geometry, const rbRay* ray, rbRayHit* hit);

/// Does the ray hit the surface anywhere? The same answer as rbGeometry_CastRay, often sooner.
RB_API bool rbGeometry_IsHit(const rbGeometry* geometry, const rbRay* ray);

/// Casts many rays at once: hits[i] is what rbGeometry_CastRay gives for rays[i], bit for bit;
/// where a ray does not hit, t is INFINITY. At a large mesh they take turns, so that one
/// proceeds while another waits for memory: incoherent rays cost less than one by one. Returns the
/// number of hits.
RB_API int rbGeometry_CastRays(const rbGeometry* geometry, const rbRay* rays, int count,
                               rbRayHit* hits);

/// First point of the surface with tMin <= t <= ray->tMax. tMin may be negative, and then so may t:
/// points behind the origin. -INFINITY is fine for bounded shapes; planes are then not hit. With
/// tMin 0 the same as rbGeometry_CastRay.
RB_API bool rbGeometry_CastLine(const rbGeometry* geometry, const rbRay* ray, double tMin,
                                rbRayHit* hit);

/// The same for points where the line enters from outside: the normal is against the direction.
/// Faces parallel to the direction are never hit; of several faces that meet at the hit, the first.
RB_API bool rbGeometry_CastFront(const rbGeometry* geometry, const rbRay* ray, double tMin,
                                 rbRayHit* hit);

// -------------------------------------------------------------------------------------------- mass

/// Mass properties of a homogeneous body of the given density > 0 (children of compounds may have
/// their own). Exact formulas. UNSUPPORTED for planes, soups and surfaces.
RB_API rbStatus rbGeometry_GetMass(const rbGeometry* geometry, double density,
                                   rbMassProperties* properties, rbError* error);

/// The same body moved by a transform.
RB_API rbMassProperties rbMassProperties_Transform(const rbMassProperties* properties,
                                                   rbTransform transform);

/// Combines two bodies in the same frame (parallel axes). A mass of 0 adds nothing.
RB_API rbMassProperties rbMassProperties_Add(const rbMassProperties* a, const rbMassProperties* b);

/// Inertia about another point of the same frame.
RB_API rbSym3 rbMassProperties_GetInertiaAbout(const rbMassProperties* properties, rbVec3 point);

/// Principal moments and frame: q maps principal axes to the frame of the properties, p is the
/// center. If the inertia is already diagonal (to 1e-14 of its trace), q is exactly the identity
/// and the order is kept.
RB_API void rbMassProperties_Principal(const rbMassProperties* properties, rbVec3* moments,
                                       rbTransform* principalFrame);

/// Are these physically possible? Finite, mass > 0, inertia positive definite, each principal
/// moment at most the sum of the others (1e-12 relative; a flat plate is the limit and allowed).
RB_API rbStatus rbMassProperties_Validate(const rbMassProperties* properties, rbError* error);

// --------------------------------------------------------------------------------- mesh validation

/// Kinds of issues: name, whether it makes a polyhedron invalid (otherwise a note), label, phrase
/// for one and for many.
#define RB_MESH_ISSUE_MAP(X)                                                                       \
    X(EMPTY, true, "empty", "there are no vertices or no faces", "nothing")                        \
    X(TOO_LARGE, true, "too large", "more elements than are accepted",                             \
      "faces or totals exceed the limits")                                                         \
    X(INDEX, true, "index out of range", "one corner refers to no vertex",                         \
      "corners refer to no vertex")                                                                \
    X(NOT_FINITE, true, "not finite",                                                              \
      "one vertex has a coordinate that is not a number or too large",                             \
      "vertices have a coordinate that is not a number or too large")                              \
    X(DUPLICATE_VERTEX, true, "duplicate vertices", "one vertex coincides with another one",       \
      "vertices coincide with another one")                                                        \
    X(UNUSED_VERTEX, false, "unused", "one vertex belongs to no face",                             \
      "vertices belong to no face")                                                                \
    X(DEGENERATE_FACE, true, "degenerate",                                                         \
      "one face has fewer than three corners, a repeated corner or no area",                       \
      "faces have fewer than three corners, a repeated corner or no area")                         \
    X(DUPLICATE_FACE, true, "duplicate faces", "one face has the vertices of another face",        \
      "faces have the vertices of another face")                                                   \
    X(EDGE_TWICE, true, "winding", "one edge is visited twice by the same face",                   \
      "edges are visited twice by the same face")                                                  \
    X(OPEN_EDGE, true, "open", "one edge belongs to one face only",                                \
      "edges belong to one face only")                                                             \
    X(NON_MANIFOLD_EDGE, true, "non-manifold", "one edge belongs to more than two faces",          \
      "edges belong to more than two faces")                                                       \
    X(ORIENTATION, true, "inconsistent orientation",                                               \
      "one edge is traversed in the same direction by both faces",                                 \
      "edges are traversed in the same direction by both faces")                                   \
    X(NON_MANIFOLD_VERTEX, true, "non-manifold", "the faces at one vertex form more than one fan", \
      "vertices have faces that form more than one fan")                                           \
    X(NON_PLANAR_FACE, true, "not planar", "one face has corners outside its plane",               \
      "faces have corners outside their plane")                                                    \
    X(CROSSING_FACE, true, "crossing", "the outline of one face crosses itself",                   \
      "faces have an outline that crosses itself")                                                 \
    X(INSIDE_OUT, true, "inside out", "the enclosed volume is not positive", "nothing")            \
    X(SEVERAL_COMPONENTS, false, "several components", "the faces form one component",             \
      "components are formed by the faces")

/// Defects of meshes; RB_MESH_ISSUE_MAP has the text of each kind.
typedef enum rbMeshIssueKind {
#define RB_MESH_ISSUE_ENUM(name, isError, label, one, many) RB_MESH_ISSUE_##name,
    RB_MESH_ISSUE_MAP(RB_MESH_ISSUE_ENUM)
#undef RB_MESH_ISSUE_ENUM
    RB_MESH_ISSUE_COUNT
} rbMeshIssueKind;

/// One issue and its place; members that do not apply are -1.
typedef struct rbMeshIssue {
    rbMeshIssueKind kind; ///< what is wrong
    int face;             ///< first face concerned
    int otherFace;        ///< second face concerned
    int vertexA;          ///< first vertex of an edge, or the vertex
    int vertexB;          ///< second vertex of an edge
} rbMeshIssue;

/// Result of rbValidateMesh.
typedef struct rbMeshReport {
    long long counts[RB_MESH_ISSUE_COUNT];   ///< components for SEVERAL_COMPONENTS
    rbMeshIssue firsts[RB_MESH_ISSUE_COUNT]; ///< the first of each kind
    long long issueCount;                    ///< of all kinds; may exceed the capacity given
    int storedCount;                         ///< issues written
    int vertexCount;                         ///< vertices of the mesh
    int faceCount;                           ///< faces of the mesh
    int componentCount;                      ///< of faces connected by common vertices
    long long edgeCount;                     ///< edges of the mesh
    double diameter;                         ///< diagonal of the bounding box, m
    double volume;                           ///< signed; 0 unless the mesh is closed
    bool isClosed;                           ///< every edge in two faces or more
    bool isSolid; ///< closed, two faces an edge, consistently oriented, positive volume: has mass
    bool isValid; ///< no issues except notes
} rbMeshReport;

/// Validates a mesh and writes the first issues, ordered by kind and place. issues may be NULL if
/// capacity is 0. Indices out of range and faces with fewer than three corners end the validation,
/// because edges are then undefined. Faces are planar within 1e-9 of the diameter. Intersections of
/// different faces are not detected. O(vertices + corners), and the square of the corners of one
/// face.
RB_API rbMeshReport rbValidateMesh(const rbMeshDef* def, rbMeshIssue* issues, int capacity);

/// Short text of a kind ("open", "non-manifold", ...; "unknown").
RB_API const char* rbMeshIssueKind_Text(rbMeshIssueKind kind);
/// True if the kind makes a mesh invalid.
RB_API bool rbMeshIssueKind_IsError(rbMeshIssueKind kind);

/// One message: the most serious issue with its count and first place, or, for a valid mesh, a
/// description of it.
RB_API void rbMeshReport_Describe(const rbMeshReport* report, char* text, size_t capacity);

// ---------------------------------------------------------------------------- made meshes, display

/// A mesh owned by the caller, who frees it with rbFreeMesh.
typedef struct rbOwnedMesh {
    rbVec3* vertices; ///< m
    int* faceSizes;   ///< corners of each face
    int* indices;     ///< vertices of all faces, one face after the other
    int vertexCount;  ///< number of vertices
    int faceCount;    ///< number of faces
    int indexCount;   ///< corners of all faces
} rbOwnedMesh;

/// The mesh as a definition, borrowed.
RB_API rbMeshDef rbOwnedMesh_GetDef(const rbOwnedMesh* mesh);
/// Frees the arrays.
RB_API void rbFreeMesh(rbOwnedMesh* mesh);

/// Prism over a simple polygon in the plane z = 0, from z = 0 to z = height. The polygon may have
/// either orientation; one that touches or crosses itself is rejected.
RB_API rbStatus rbExtrudeProfile(const double (*profileXY)[2], int count, double height,
                                 rbOwnedMesh* mesh, rbError* error);

/// Solid of revolution about z of a simple closed polygon of points (r, z), r >= 0, with the given
/// number of segments >= 3; vertices lie on the exact surface. Edges on the axis (r = 0) vanish; a
/// single point on the axis would pinch the solid and is rejected.
RB_API rbStatus rbRevolveProfile(const double (*profileRZ)[2], int count, int segments,
                                 rbOwnedMesh* mesh, rbError* error);

/// Triangles for display, owned by the caller, outward oriented.
typedef struct rbTriangles {
    rbVec3* vertices;    ///< m
    int (*triangles)[3]; ///< indices into vertices, counter-clockwise seen from outside
    int vertexCount;     ///< number of vertices
    int triangleCount;   ///< number of triangles
} rbTriangles;

/// Triangles no farther than deviation > 0 from the surface of round shapes, and vice versa; flat
/// shapes are exact. Planes become a square of half size planeHalfSize. LIMIT if more than
/// RB_TRIANGLES_MAX triangles would be needed.
RB_API rbStatus rbGeometry_Triangulate(const rbGeometry* geometry, double deviation,
                                       double planeHalfSize, rbTriangles* triangles,
                                       rbError* error);
/// Frees the arrays.
RB_API void rbFreeTriangles(rbTriangles* triangles);

#ifdef __cplusplus
}
#endif

#endif
