// The distance of two copies of a mesh by brute force: the reference where engines disagree.
//
// Shares no code with any engine. Triangles are skipped only if the bounding balls of triangles and
// bodies prove them too far away.
#pragma once

#include "peers/peer_mesh.h"

// Distance of the surfaces in meters, 0 if they cross. guess is an assumed answer, finite and >= 0:
// a good guess makes the search fast, a wrong one does no harm. O(n^2) in the triangles near the
// other body.
double rbMeasureMeshesByForce(const rbPeerMesh* mesh, const rbPeerPair* pair, double guess);
