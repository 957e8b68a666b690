// The distance of two copies of a mesh by brute force: the judge where engines disagree.
//
// Shares no code with any engine. Triangles are left out only if the balls about them and about the
// bodies prove them too far away.
#ifndef RB_BENCH_MESH_REFERENCE_H
#define RB_BENCH_MESH_REFERENCE_H

#include "peers/peer_mesh.h"

// Distance of the surfaces in meters, 0 if they cross. guess is an answer that is believed, finite
// and >= 0: a good one makes it fast, a wrong one does no harm. O(n^2) of the triangles near the
// other body.
double rbMeasureMeshesByForce(const rbPeerMesh* mesh, const rbPeerPair* pair, double guess);

#endif
