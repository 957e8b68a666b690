// A recording as a simulation of the server: it can be played, paused, stepped and searched, but
// not changed.
#pragma once

#include "server/server.h"

// Fills a store with the frames and events of a recording; its scene supplies the shapes, its
// actions those of added bodies. Takes ownership of the recording and the scene, even on failure. A
// recording that is cut off or damaged shows its intact part, and the state says so. INVALID when
// it has no frame.
rbStatus rbMakeRecordingSimulation(rbRecording* recording, rbScene* scene, rbSimulation* simulation,
                                   rbError* error);
