// Runs of a mechanism by any engine: time, largest joint error, largest energy error.
#pragma once

#include "joint_scenes.h"

// Our engine as a table like those of the peers: the settings of a row are a rbStepSettings, whose
// step is that of the run.
extern const rbJointPeer rbJointPeerOurs;

typedef struct rbJointRun {
    const rbJointScene* scene;
    const rbJointPeer* peer;
    const rbJointPeerRow* row;
    double step;        // s
    int stepsPerSample; // errors are measured every so many steps
    double duration;    // s
    double budget;      // s of CPU; 0: no limit
} rbJointRun;

typedef enum rbJointRunEnd {
    RB_RUN_DONE,
    RB_RUN_REFUSED,    // the engine does not accept the mechanism
    RB_RUN_BLOWN_UP,   // a state is not finite, or the energy exploded, or the engine gave up
    RB_RUN_OUT_OF_TIME // the budget was used up
} rbJointRunEnd;

typedef struct rbJointRunResult {
    rbJointRunEnd end;
    double time;                 // s, simulated
    double timeFactor;           // s of CPU per simulated second
    double gap;                  // m, largest distance of the anchors of a joint
    double energyError;          // largest, relative to the scene's scale
    rbStepStatistics statistics; // our engine only
} rbJointRunResult;

rbJointRunResult rbRunJoints(const rbJointRun* run);

// "blown up at 3.4 s", "first 2.1 s"; empty for a complete run.
const char* rbJointRunResult_Describe(const rbJointRunResult* result, char text[48]);

// The step settings of the default world.
rbStepSettings rbGetDefaultStepSettings(void);
