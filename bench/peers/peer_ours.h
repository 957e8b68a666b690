// Our own calls as a table like those of the peers, linked into the program.
#ifndef RB_PEER_OURS_H
#define RB_PEER_OURS_H

#include "peers/peer.h"

extern const rbPeer rbPeerOurs;

#endif
