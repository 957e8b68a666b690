// The starts of rays on a body: what an emitter holds, and how the starts that face a motion are
// told one after the other.
#ifndef RB_LAB_RAY_EMITTER_H
#define RB_LAB_RAY_EMITTER_H

#include <rattleback/lab_rays.h>

// An edge of a faceted part with the triangles beside it; face1 is -1 on an open boundary.
typedef struct rbRayEdge {
    int v0, v1;
    int face0, face1;
} rbRayEdge;

// A geometry, or a child of a compound. Surface points are functions of their index, so that ten
// million need no memory.
typedef struct rbRayPart {
    const rbGeometry* geometry; // of the part, held by that of the emitter
    rbTransform pose;           // of the part in the frame of the emitter's geometry
    rbShapeData data;
    double area;        // m^2: of the surface; of spheres of the disc seen along the motion
    int askedCount;     // points asked for
    int surfaceCount;   // points on faces and round surfaces
    int rimCount;       // points on each rim of a cylinder or cone
    bool isFaceted;     // made of triangles
    bool isTwoSided;    // a surface without inside shoots from both sides
    uint64_t seed;      // of this part
    rbVec3* directions; // of a sphere's points about the motion as y axis; NULL: too many to keep

    // faceted parts, in the frame of the part
    rbTriangles mesh;
    rbVec3* normals;       // per triangle
    int* pointStarts;      // triangleCount + 1: the points of a triangle
    int* vertexFaceStarts; // vertexCount + 1, into vertexFaces
    int* vertexFaces;
    rbRayEdge* edges; // that are not flat
    int edgeCount;
} rbRayPart;

struct rbRayEmitter {
    rbGeometry* geometry;
    rbRaySettings settings;
    rbRayPart* parts;
    int partCount;
    int partCapacity;
    int count;
    double spacing; // m, of neighboring surface points
};

// Motion of what shoots in the frame of what is shot at, over a piece of time.
typedef struct rbRayMotion {
    rbTransform from, to;
    bool isParallel; // nothing turns: all ways are the same
    rbVec3 step;     // then the way
} rbRayMotion;

// A start and its way. The normal is zero at vertices and edges.
typedef struct rbRayStart {
    rbVec3 point;  // m, frame of the geometry that shoots
    rbVec3 normal; // unit, outward, same frame
    rbVec3 from;   // m, frame of what is shot at
    rbVec3 step;
} rbRayStart;

rbRayMotion rbMakeRayMotion(rbTransform from, rbTransform to);

// The way of a point of the shooter.
rbRayStart rbMakeRayStart(const rbRayMotion* motion, rbVec3 point, rbVec3 normal);

typedef void rbRayStartFn(void* context, const rbRayStart* start);

// Calls fn with every start that faces its motion, in a fixed order: part by part vertices, edges
// and surface points.
void rbRayEmitter_ForEachStart(const rbRayEmitter* emitter, const rbRayMotion* motion,
                               rbRayStartFn* fn, void* context);

// Point i of the surface of a round part (not a sphere), frame of the part, uniform by area.
void rbRayPart_GetRoundPoint(const rbRayPart* part, int i, rbVec3* point, rbVec3* normal);

// Starts of a sphere of which count rays were asked for, and direction i of them from its center
// for a motion along +y.
int rbCountSphereDirections(rbRayPattern pattern, int count);
rbVec3 rbGetSphereDirection(rbRayPattern pattern, int count, int i);

// Point i of a triangle with the given index and corners.
rbVec3 rbRayPart_GetTrianglePoint(const rbRayPart* part, rbRayPattern pattern, int triangle, int i);

#endif
