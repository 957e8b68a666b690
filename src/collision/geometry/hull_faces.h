// From the triangles of a convex hull, in any order, to canonical polygonal faces.
#ifndef RB_GEOMETRY_HULL_FACES_H
#define RB_GEOMETRY_HULL_FACES_H

#include "collision/geometry/triangle_sink.h"

// points sorted, distinct; triangles oriented consistently either way. tolerance is the distance
// within which points count as coplanar. Vertices inside a merged face or on a straight edge are
// dropped. The result is outward oriented, vertices in the order of the points, loops beginning at
// their smallest index, faces in lexicographic order. False if the triangles are not those of a
// hull.
bool rbMakeHullFaces(const rbVec3* points, int pointCount, rbIndex3* triangles, int triangleCount,
                     double tolerance, rbOwnedMesh* mesh);

#endif
