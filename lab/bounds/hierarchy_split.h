// Splitting a run of faces into two: the rules for axis and place as table rows (L-44, L-45).
#pragma once

#include "lab/bounds/hierarchy.h"

// The builder's data about the faces. faces[] is permuted in place; the rest is indexed by face of
// the mesh or is scratch memory.
typedef struct rbSplitter {
    const rbHierarchyDef* def;
    const rbVolumeRow* row;
    const rbPolyhedron* mesh;
    int* faces;
    rbVec3* references; // m, by face: center of the smallest sphere
    rbBounds* boxes;    // by face; RB_SPLIT_SURFACE only, otherwise NULL
    double* keys;       // by face: position along the axis
    int* spare;         // faceCount: the order before a trial
    int* marks;         // by vertex: the last gathering that included it
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

// Gathers the vertices of a run, each once, into points and corners. O(corners).
void rbSplitter_Gather(rbSplitter* splitter, rbFaceRun run);

// Principal axes of the gathered points.
rbMat3 rbSplitter_GetAxes(const rbSplitter* splitter);

// Permutes a run of at least two faces and returns the size of its first part: 1 to count - 1. With
// isForced the run is halved, whatever the rule.
int rbSplitter_Part(rbSplitter* splitter, rbFaceRun run, bool isForced);
