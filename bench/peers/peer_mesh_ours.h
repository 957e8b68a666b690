// Our own meshes as a table like those of the peers, linked into the program.
#pragma once

#include "peers/peer_mesh.h"

extern const rbMeshPeer rbMeshPeerOurs;
