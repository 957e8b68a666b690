// The content of a picture: the surfaces of the shapes of a world, cut into triangles as finely as
// their size on the screen requires, and their poses in one frame.
//
// Lengths in a frame are in radii of the view, from its center, so floats are precise enough.
#pragma once

#include "base/core/memory.h"
#include "render/palette.h"
#include "render/picture.h"

typedef struct rbFloat3 {
    float x, y, z;
} rbFloat3;

static inline rbFloat3 rbToFloat3(rbVec3 v)
{
    return (rbFloat3){(float)v.x, (float)v.y, (float)v.z};
}

static inline float rbDotFloat3(rbFloat3 a, rbFloat3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Triangles with the normals of their corners, smooth across edges that are nearly flat.
typedef struct rbSurface {
    rbTriangles triangles;
    rbFloat3 (*normals)[3]; // one row per triangle
} rbSurface;

#define RB_SURFACE_LEVELS 4 // of detail; 0 is the finest

typedef struct rbShownGeometry {
    const rbGeometry* geometry;
    double radius; // m, about its origin
    bool isSolid;  // back faces are never visible
    rbMarking marking;
    rbSurface* levels[RB_SURFACE_LEVELS]; // created when needed
} rbShownGeometry;

typedef struct rbShownShape {
    int geometry;
    int body;
    int paint;
    rbTransform transform; // in the body's frame
} rbShownShape;

typedef struct rbShownPlane {
    int body;
    rbVec3 normal; // of the half space normal . x <= offset, in the body's frame
    double offset;
} rbShownPlane;

typedef struct rbShownBody {
    rbBodyId id;
    rbBodyType type;
    double radius; // m, of its bounded shapes about its origin; 0: it has none
} rbShownBody;

typedef struct rbPictureModel {
    rbShownBody* bodies;
    int bodyCount;
    RB_ARRAY(rbShownGeometry) geometries;
    RB_ARRAY(rbShownShape) shapes;
    RB_ARRAY(rbShownPlane) planes;
    RB_ARRAY(rbPaint) paints; // of each body, then of visuals
    RB_ARRAY(int) table;      // index + 1 of geometries by address
    int ball;                 // geometry of marks
    rbGeometry* ballGeometry;
} rbPictureModel;

// scene: for looks and visuals; NULL: colors are chosen.
rbStatus rbPictureModel_Init(rbPictureModel* model, const rbWorld* world, const rbScene* scene,
                             rbError* error);
void rbPictureModel_Free(rbPictureModel* model);
// The surface of a geometry at a level.
const rbSurface* rbPictureModel_GetSurface(rbPictureModel* model, int geometry, int level);

#define RB_GLOSS 0.22f // of the highlight of a body of the usual roughness

// A surface with its pose in a frame.
typedef struct rbInstance {
    const rbSurface* surface;
    int firstVertex;   // of the frame
    int firstTriangle; // number of its first triangle in the frame
    rbMat3 rotation;   // of its normals
    rbFloat3 color;    // linear
    rbFloat3 markColor;
    rbMarking marking;
    rbTextureType texture; // replaces the marking
    double textureSize;    // m
    double opacity;        // below 1 it casts no shadow
    bool isSolid;
    bool isGround; // huge and static: it gets a grid
    float gloss;   // of its highlight
} rbInstance;

// normal . x = offset, in units of the frame
typedef struct rbPlaneInstance {
    rbVec3 normal;
    double offset;
    bool isUpward;          // drawn to the horizon; others only near the center of the view
    rbFloat3 color, second; // linear
    rbTextureType texture;
    double textureSize; // 0: no pattern but a grid
} rbPlaneInstance;

#define RB_PLANES_MAX 64

typedef struct rbPictureFrame {
    rbVec3 center; // of the view
    double scale;  // 1 / radius of the view
    rbVec3 up;
    rbVec3 camera; // in units of the frame, as all below
    rbVec3 right, top, forward;
    double tanX, tanY;
    RB_ARRAY(rbFloat3) vertices;
    RB_ARRAY(rbInstance) instances;
    RB_ARRAY(int) owners; // instance of each triangle
    rbPlaneInstance planes[RB_PLANES_MAX];
    int planeCount;
    rbSurface links; // tubes of springs, rods and edges
    int linkVertexCapacity, linkTriangleCapacity;
} rbPictureFrame;

// Fills a frame with what is visible in a view of the world.
void rbPictureFrame_Fill(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world,
                         const rbView* view, const rbPictureDef* def);
void rbPictureFrame_Free(rbPictureFrame* frame);
// The camera alone.
void rbPictureFrame_SetCamera(rbPictureFrame* frame, const rbView* view, int width, int height);
// Joints, springs and the edges of a periodic box, as marks and tubes.
void rbPictureFrame_AddLinks(rbPictureFrame* frame, rbPictureModel* model, const rbWorld* world,
                             bool hasJoints);
// Adds a surface at a pose (m); the vertices are scaled first.
void rbPictureFrame_AddInstance(rbPictureFrame* frame, const rbInstance* instance,
                                rbTransform transform, double scale);

// Linear light of an sRGB color, and back to a byte.
rbFloat3 rbLinearColor(rbColor color);
