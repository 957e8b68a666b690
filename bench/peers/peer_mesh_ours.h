// Our own meshes as a table like those of the peers, linked into the program.
#ifndef RB_PEER_MESH_OURS_H
#define RB_PEER_MESH_OURS_H

#include "peers/peer_mesh.h"

extern const rbMeshPeer rbMeshPeerOurs;

#endif
