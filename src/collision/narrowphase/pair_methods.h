// The pair table: measures two shapes that are not compounds by the requested method.
#ifndef RB_NARROWPHASE_PAIR_METHODS_H
#define RB_NARROWPHASE_PAIR_METHODS_H

#include "collision/convex/epa.h"
#include "collision/convex/gjk.h"
#include "collision/narrowphase/mesh_convex.h"
#include "collision/narrowphase/mesh_pair.h"

// The data that a measurement of the table needs.
typedef struct rbPairQuery {
    const rbSeparationInput* input;
    rbGjkCache* cache;      // NULL: none
    rbMethodMemory* memory; // of the cache, for a registered method
    rbFront* front;         // of the cache, for meshes
    rbEpaScratch* scratch;  // NULL: no depth is needed
    rbError* error;
} rbPairQuery;

// Two shapes that are not compounds, as parts of the shapes of the input.
typedef struct rbPairLeaf {
    const rbGeometry* a;
    const rbGeometry* b;
    rbTransform transformBtoA; // of these
    int childA, childB;        // of the outermost compounds
    bool isPart;               // the remaining fields are valid: otherwise these are the shapes of
                               // the input
    rbTransform partToA;       // from the frame of this a to that of the input's
    double rounding;           // m, rounding of the relative position due to the products of poses
} rbPairLeaf;

// The convex bodies of a leaf and their difference.
typedef struct rbPairBodies {
    rbConvex a, b;
    rbCso cso;
} rbPairBodies;

// Rejected, with the reason in the error of the query, if the method does not support the pair.
rbStatus rbMeasurePair(const rbPairQuery* query, const rbPairLeaf* leaf, rbSeparation* separation);
// Are the shapes at most margin m apart, by the registered method of the input?
rbStatus rbTestPairRegistered(const rbPairQuery* query, const rbPairLeaf* leaf, double margin,
                              bool* overlaps);
// Whether auto measures the pair by a closed form and nothing else.
bool rbIsMeasuredByClosedForm(const rbPairLeaf* leaf);

// The input of the kernels. Rejected if a shape is not convex.
rbStatus rbMakePairBodies(const rbPairQuery* query, const rbPairLeaf* leaf, rbPairBodies* bodies);
rbMeshPair rbMakeMeshPair(const rbPairQuery* query, const rbPairLeaf* leaf);
// A mesh and a convex shape or a plane, whichever comes first: the mesh is A for their kernels.
rbMeshConvex rbMakeMeshConvex(const rbPairQuery* query, const rbPairLeaf* leaf);
void rbMeasureMixed(const rbMeshConvex* pair, rbSeparation* separation);

#endif
