// Runs of a mechanism by any engine: time, largest joint error, largest energy error.
#ifndef RB_JOINT_RUNS_H
#define RB_JOINT_RUNS_H

#include "joint_scenes.h"

// Our engine as a table like the peers': the settings of a row are a rbStepSettings, whose step is
// that of the run.
extern const rbJointPeer rbJointPeerOurs;

typedef struct rbJointRun {
    const rbJointScene* scene;
    const rbJointPeer* peer;
    const rbJointPeerRow* row;
    double step;        // s
    int stepsPerSample; // errors are looked at after so many steps
    double duration;    // s
    double budget;      // s of CPU; 0: no limit
} rbJointRun;

typedef enum rbJointRunEnd {
    RB_RUN_DONE,
    RB_RUN_REFUSED,    // the engine does not take the mechanism
    RB_RUN_BLOWN_UP,   // a state is not finite, or the energy beyond all measure, or it gave up
    RB_RUN_OUT_OF_TIME // the budget was spent
} rbJointRunEnd;

typedef struct rbJointRunResult {
    rbJointRunEnd end;
    double time;                 // s, simulated
    double timeFactor;           // s of CPU for a simulated second
    double gap;                  // m, largest distance of the anchors of a joint
    double energyError;          // largest, in parts of the scene's scale
    rbStepStatistics statistics; // of ours
} rbJointRunResult;

rbJointRunResult rbRunJoints(const rbJointRun* run);

// "blown up at 3.4 s", "first 2.1 s"; empty when it ran through.
const char* rbJointRunResult_Describe(const rbJointRunResult* result, char text[48]);

// The step settings of the default world.
rbStepSettings rbGetDefaultStepSettings(void);

#endif
