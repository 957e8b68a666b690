// A mesh over a half space: only its vertices matter, and the tree finds the low ones.
#include "collision/geometry/box_tree_queries.h"
#include "collision/narrowphase/collide.h"
#include "collision/narrowphase/manifold.h"
#include "collision/narrowphase/mesh_convex.h"

#include <float.h>
#include <math.h>

// Points waiting to be reduced.
#define POINTS_MAX 64
// Vertices closer to each other than this fraction of the size are merged.
#define SAME_POINT 1e-9

// Data collected during the traversal.
typedef struct Sweep {
    const rbGeometry* mesh;
    rbVec3 up;    // unit, out of the half space
    double cut;   // m, higher vertices are skipped
    int triangle; // containing the lowest vertex so far, -1: none
    int corner;
    // for contacts
    double radius;                  // m, rounding radius of the mesh
    const rbSeparation* separation; // NULL: only the lowest vertex is needed
    rbManifold* manifold;
    rbManifoldPoint points[POINTS_MAX];
    int count;
} Sweep;

// Keeps the relevant points and frees capacity.
static void reduce(Sweep* sweep)
{
    rbReduceRegion(sweep->points, sweep->count, sweep->manifold);
    sweep->count = sweep->manifold->count;
    for (int i = 0; i < sweep->count; ++i) {
        sweep->points[i] = sweep->manifold->points[i];
    }
}

static void addPoint(Sweep* sweep, rbVec3 vertex, double height, int index)
{
    const rbSeparation* s = sweep->separation;
    vertex = rbAddScaled(vertex, sweep->radius, s->normal);
    double distance = s->distance + height - sweep->radius - rbDot(sweep->up, s->pointA);
    for (int i = 0; i < sweep->count; ++i) {
        double apart = rbDistance(sweep->points[i].pointA, vertex);
        if (apart <= SAME_POINT * sweep->mesh->radius) {
            return;
        }
    }
    if (sweep->count == POINTS_MAX) {
        reduce(sweep);
    }
    sweep->points[sweep->count++] =
        (rbManifoldPoint){vertex, rbAddScaled(vertex, distance, s->normal), distance,
                          rbMakeFeatureId(RB_MEETING_VERTEX_A, index, 0)};
}

static void visitTriangle(Sweep* sweep, int triangle)
{
    rbVec3 corners[3];
    rbGetMeshTriangle(sweep->mesh, triangle, corners);
    const rbPolyhedron* p = sweep->mesh->polyhedron;
    int origin = rbGetMeshOrigin(sweep->mesh, triangle);
    for (int k = 0; k < 3; ++k) {
        double height = rbDot(sweep->up, corners[k]);
        if (!(height <= sweep->cut)) {
            continue;
        }
        if (sweep->separation != NULL) {
            addPoint(sweep, corners[k], height, p->triangles[origin].v[k]);
        } else {
            sweep->cut = height;
            sweep->triangle = triangle;
            sweep->corner = k;
        }
    }
}

static void run(Sweep* sweep)
{
    rbReachWalk walk;
    rbReachWalk_Start(&walk, sweep->mesh->polyhedron->tree, rbNeg(sweep->up));
    const rbTriangleBlock* block;
    while ((block = rbReachWalk_Next(&walk, -sweep->cut)) != NULL) {
        int first = RB_BOX_WIDTH * (int)(block - walk.tree->blocks);
        for (int i = 0; i < RB_BOX_WIDTH && block->origins[i] >= 0; ++i) {
            visitTriangle(sweep, first + i);
        }
    }
}

void rbMeasureMeshPlane(const rbGeometry* mesh, const rbGeometry* plane, rbTransform transform,
                        rbSeparation* separation)
{
    RB_ASSERT(plane->type == RB_SHAPE_PLANE && mesh->polyhedron->tree != NULL);
    rbVec3 up = rbRotate(transform.q, plane->data.plane.normal);
    Sweep sweep = {.mesh = mesh, .up = up, .cut = INFINITY, .triangle = -1};
    run(&sweep);
    RB_ASSERT(sweep.triangle >= 0);
    rbVec3 corners[3];
    rbGetMeshTriangle(mesh, sweep.triangle, corners);
    rbVec3 lowest = corners[sweep.corner];
    double distance = rbDot(up, rbSub(lowest, transform.p)) - plane->data.plane.offset;
    double scale = rbLength(lowest) + rbLength(transform.p) + fabs(plane->data.plane.offset);
    *separation = rbMakeClosedForm(distance, rbNeg(up), lowest, scale);
    separation->faceA = rbGetMeshFace(mesh, sweep.triangle);
    separation->faceB = -1;
}

void rbFindMeshPlaneContacts(const rbMeshConvex* pair, const rbSeparation* separation,
                             double threshold, rbManifold* manifold)
{
    rbVec3 up = rbNeg(separation->normal);
    *manifold = (rbManifold){
        .normal = separation->normal, .childA = separation->childA, .childB = separation->childB};
    Sweep sweep = {.mesh = pair->mesh,
                   .up = up,
                   .radius = pair->radiusMesh,
                   .separation = separation,
                   .manifold = manifold};
    // the witness is a vertex: it comes first and is kept
    double base = rbDot(up, separation->pointA) + pair->radiusMesh;
    sweep.cut = base + fmax(threshold - separation->distance, 0.0);
    run(&sweep);
    rbReduceRegion(sweep.points, sweep.count, manifold);
    RB_ASSERT(manifold->count > 0);
}
