// Our own calls as a table like those of the peers, linked into the program.
#pragma once

#include "peers/peer.h"

extern const rbPeer rbPeerOurs;
