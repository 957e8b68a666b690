// The contact region of two shapes made of triangles, as manifolds.
//
// Where the surfaces are separate, the points are the local closest pairs (pairs of points that no
// small shift of either along its surface brings closer) and, where faces are parallel within 3
// degrees, the corners of the region they share. In overlap the same is computed for the bodies
// separated by the translation found by rbEstimateMeshDepth, and the translation is subtracted from
// the distances.
//
// Points with one normal (within 8 degrees) in one plane form a manifold, wherever they lie in it:
// for a rigid body the contact of two feet on one floor is that of their hull. Of each plane at
// most four points are kept: the deepest, the farthest from it, and the two that span the largest
// area.
#pragma once

#include "collision/narrowphase/mesh_pair.h"

// Appends the manifolds of two meshes, the deepest first, in the frame of A: the points at most
// threshold m apart of the bodies rounded by the radii. More points than the scratch holds (a few
// hundred) are thinned out while they are collected: four of each plane are kept, and if there are
// too many planes, the deepest are kept. Where more than 2000 pairs of triangles are within the
// threshold, only the deepest part of the region is examined (down to 1/256 of the reach, then up
// to 8000 pairs): the cost is bounded. Bodies that no short translation separates (a peg in its
// hole, links of a chain) get a manifold for every place where the surfaces meet, along the normal
// of that place; its distances are estimates. If nothing better is found in overlap, the only point
// is that of the estimate.
void rbFindMeshContacts(const rbMeshPair* pair, double threshold, double radiusA, double radiusB,
                        rbContactList* list);
