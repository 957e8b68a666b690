// Finds the peer modules next to the program.
#pragma once

#include "peers/peer.h"
#include "peers/peer_contacts.h"
#include "peers/peer_joints.h"
#include "peers/peer_mesh.h"
#include "peers/peer_rays.h"

#define RB_PEERS_MAX 9

// Loads the modules that were built and returns their tables; they stay loaded until the program
// ends. A module that exists but cannot be loaded is named on stderr. Returns the count.
int rbLoadPeers(const rbPeer* peers[RB_PEERS_MAX]);

// The same for the mesh tables; modules without one are skipped.
int rbLoadMeshPeers(const rbMeshPeer* peers[RB_PEERS_MAX]);

// The same for the libraries that cast rays.
int rbLoadRayPeers(const rbRayPeer* peers[RB_PEERS_MAX]);

// The same for the engines with joints.
int rbLoadJointPeers(const rbJointPeer* peers[RB_PEERS_MAX]);

// The same for the engines with contacts, which are those with joints.
int rbLoadContactPeers(const rbContactPeer* peers[RB_PEERS_MAX]);
