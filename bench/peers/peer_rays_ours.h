// Our own rays as a table like those of the peers, linked into the program.
#ifndef RB_PEER_RAYS_OURS_H
#define RB_PEER_RAYS_OURS_H

#include "peers/peer_rays.h"

// One ray at a time, then rays in packets.
extern const rbRayPeer rbRayPeerOurs;

#endif
