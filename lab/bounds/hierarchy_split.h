// Parting a run of faces into two: the rules of axis and place as rows of tables (L-44, L-45).
#ifndef RB_BOUNDS_HIERARCHY_SPLIT_H
#define RB_BOUNDS_HIERARCHY_SPLIT_H

#include "lab/bounds/hierarchy.h"

// What a builder knows of the faces. faces[] is permuted in place; the rest is by face of the mesh
// or scratch.
typedef struct rbSplitter {
    const rbHierarchyDef* def;
    const rbVolumeRow* row;
    const rbPolyhedron* mesh;
    int* faces;
    rbVec3* references; // m, by face: center of the smallest sphere
    rbBounds* boxes;    // by face; RB_SPLIT_SURFACE only, otherwise NULL
    double* keys;       // by face: place on the axis
    int* spare;         // faceCount: the order before a trial
    int* marks;         // by vertex: the last gathering that met it
    int markCount;
    rbVec3* points; // of the last gathering
    int* corners;   // of the mesh, one for every point
    int pointCount;
} rbSplitter;

// A run of faces[].
typedef struct rbFaceRun {
    int first, count;
} rbFaceRun;

rbSplitter rbMakeSplitter(const rbHierarchyDef* def, const rbPolyhedron* mesh, int* faces);
void rbFreeSplitter(rbSplitter* splitter);

// The vertices of a run, each once, into points and corners. O(corners).
void rbSplitter_Gather(rbSplitter* splitter, rbFaceRun run);

// Principal axes of the gathered points.
rbMat3 rbSplitter_GetAxes(const rbSplitter* splitter);

// Permutes a run of at least two faces and returns how many belong to its first part: 1 to
// count - 1. With isForced the parts are of equal number, whatever the rule.
int rbSplitter_Part(rbSplitter* splitter, rbFaceRun run, bool isForced);

#endif
