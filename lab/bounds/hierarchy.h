// A tree over the faces of a body, each node with a bounding volume (L-41): a laboratory for
// comparing volumes, split rules and traversals. Engines and users normally use the box tree of
// geometry/box_tree.h.
//
// Places: faces are permuted so that those of a node are a run; the place of a face is its index in
// that order. Corners of faces are copied in the order of places, so that a leaf reads one piece of
// memory. The children of a node are contiguous and come after it.
#pragma once

#include "collision/geometry/polyhedron.h"
#include "lab/bounds/facet.h"
#include "lab/bounds/volume.h"

#define RB_REPRESENTATIVES_MAX 6

typedef struct rbHierarchyNode {
    int firstChild, childCount; // childCount 0: a leaf
    int firstFace, faceCount;   // places
    rbVec3 center;              // m, of the volume, in the frame of the body
    double radius;              // m, of the faces about the center: determines which node is larger
    // extreme vertices of the faces along their principal axes (L-67); indices of corners
    int representatives[RB_REPRESENTATIVES_MAX];
    int representativeCount; // 1 to RB_REPRESENTATIVES_MAX
} rbHierarchyNode;

struct rbHierarchy {
    rbHierarchyDef def;
    const rbVolumeRow* row;
    rbGeometry* geometry; // retained
    const rbPolyhedron* mesh;
    rbHierarchyNode* nodes; // the root is node 0
    double* volumes;        // row->size per node
    int* faces;             // of the mesh, by place
    int* placeOfFace;       // the inverse
    int* cornerStarts;      // by place, faceCount + 1, into corners
    rbVec3* corners;        // m, in the frame of the body
    int faceCount;
    int nodeCount;
    int leafCount;
    int depth;      // levels
    int cornersMax; // of a face
};

static inline const double* rbHierarchy_GetVolume(const rbHierarchy* hierarchy, int node)
{
    return hierarchy->volumes + (ptrdiff_t)node * hierarchy->row->size;
}

// The face at a place, in the frame of the body; borrows its corners.
static inline rbFacet rbHierarchy_GetFacet(const rbHierarchy* hierarchy, int place)
{
    int first = hierarchy->cornerStarts[place];
    int face = hierarchy->faces[place];
    rbFacet facet = {hierarchy->corners + first, hierarchy->cornerStarts[place + 1] - first,
                     hierarchy->mesh->normals[face], hierarchy->mesh->offsets[face]};
    return facet;
}

// Place of the face that a corner belongs to, O(log n).
int rbHierarchy_FindPlaceOfCorner(const rbHierarchy* hierarchy, int corner);

// Does the tree satisfy the description at the top of this file: every face in one leaf, the runs
// of children contiguous, every vertex inside the volumes above it and no farther than their radii?
// O(n depth), for tests.
bool rbHierarchy_IsValid(const rbHierarchy* hierarchy);
