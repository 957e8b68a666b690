// Our own rays as a table like those of the peers, linked into the program.
#pragma once

#include "peers/peer_rays.h"

// The first hit, then any hit.
extern const rbRayPeer rbRayPeerOurs;
