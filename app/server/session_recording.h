// A recording as a simulation of the server: it is played, paused, stepped and sought, and nothing
// in it can be changed.
#ifndef RB_SERVER_SESSION_RECORDING_H
#define RB_SERVER_SESSION_RECORDING_H

#include "server/server.h"

// Fills a store with the frames and events of a recording; its scene gives the shapes, its actions
// those of bodies that were added. Takes over the recording and the scene, also on failure. A
// recording that is cut off or damaged shows what it has, and the state says so. INVALID when it
// has no frame.
rbStatus rbMakeRecordingSimulation(rbRecording* recording, rbScene* scene, rbSimulation* simulation,
                                   rbError* error);

#endif
