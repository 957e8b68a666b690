// Our own rays as a table like those of the peers, linked into the program.
#pragma once

#include "peers/peer_rays.h"

// One ray at a time, then rays in packets.
extern const rbRayPeer rbRayPeerOurs;
