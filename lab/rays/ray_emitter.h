// The starts of rays on a body: the contents of an emitter, and the enumeration of the starts that
// face a motion.
#pragma once

#include <rattleback/lab_rays.h>

// An edge of a faceted part with its adjacent triangles; face1 is -1 on an open boundary.
typedef struct rbRayEdge {
    int v0, v1;
    int face0, face1;
} rbRayEdge;

// A geometry, or a child of a compound. Surface points are functions of their index, so ten million
// of them need no memory.
typedef struct rbRayPart {
    const rbGeometry* geometry; // of the part, owned by that of the emitter
    rbTransform pose;           // of the part in the frame of the emitter's geometry
    rbShapeData data;
    double area;        // m^2, of the surface; for spheres of the disc across the motion
    int requestedCount; // requested points
    int surfaceCount;   // points on faces and round surfaces
    int rimCount;       // points on each rim of a cylinder or cone
    bool isFaceted;     // made of triangles
    bool isTwoSided;    // a surface without inside casts from both sides
    uint64_t seed;      // of this part
    rbVec3* directions; // of a sphere's points, motion along y; NULL: too many to store

    // faceted parts, in the frame of the part
    rbTriangles mesh;
    rbVec3* normals;       // per triangle
    int* pointStarts;      // triangleCount + 1: the points of a triangle
    int* vertexFaceStarts; // vertexCount + 1, into vertexFaces
    int* vertexFaces;
    rbRayEdge* edges; // without flat ones
    int edgeCount;
} rbRayPart;

struct rbRayEmitter {
    rbGeometry* geometry;
    rbRaySettings settings;
    rbRayPart* parts;
    int partCount;
    int partCapacity;
    int count;
    double spacing; // m, between neighboring surface points
};

// Motion of the caster in the frame of the target, over a piece of time.
typedef struct rbRayMotion {
    rbTransform from, to;
    bool isParallel; // no rotation: all displacements are equal
    rbVec3 step;     // the common displacement
} rbRayMotion;

// A start and its displacement. The normal is zero at vertices and edges.
typedef struct rbRayStart {
    rbVec3 point;  // m, frame of the casting geometry
    rbVec3 normal; // unit, outward, same frame
    rbVec3 from;   // m, frame of the target
    rbVec3 step;
} rbRayStart;

rbRayMotion rbMakeRayMotion(rbTransform from, rbTransform to);

// The start of a ray at a point of the caster.
rbRayStart rbMakeRayStart(const rbRayMotion* motion, rbVec3 point, rbVec3 normal);

typedef void rbRayStartFn(void* context, const rbRayStart* start);

// Calls fn for every start that faces its motion, in a fixed order: part by part vertices, edges
// and surface points.
void rbRayEmitter_ForEachStart(const rbRayEmitter* emitter, const rbRayMotion* motion,
                               rbRayStartFn* fn, void* context);

// Point i of the surface of a round part (not a sphere), frame of the part, uniform by area.
void rbRayPart_GetRoundPoint(const rbRayPart* part, int i, rbVec3* point, rbVec3* normal);

// Number of starts of a sphere for which count rays were requested, and direction i of them from
// its center for a motion along +y.
int rbCountSphereDirections(rbRayPattern pattern, int count);
rbVec3 rbGetSphereDirection(rbRayPattern pattern, int count, int i);

// Point i of a triangle with the given index and corners.
rbVec3 rbRayPart_GetTrianglePoint(const rbRayPart* part, rbRayPattern pattern, int triangle, int i);
