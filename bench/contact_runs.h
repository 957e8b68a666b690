// Runs of a pile by any engine: time per step, and the final state.
#pragma once

#include "contact_scenes.h"

// Our engine as a table like those of the peers: the settings of a row are a rbContactSettings.
extern const rbContactPeer rbContactPeerOurs;

typedef struct rbContactRun {
    const rbContactScene* scene;
    const rbContactPeer* peer;
    const rbContactPeerRow* row;
    double step;   // s
    int warmCount; // steps before the clock starts
    int stepCount; // in total
    double budget; // s of CPU
} rbContactRun;

typedef enum rbContactRunEnd {
    RB_PILE_DONE,
    RB_PILE_REFUSED,    // the engine does not accept the scene
    RB_PILE_BLOWN_UP,   // a state is not finite
    RB_PILE_GAVE_UP,    // the engine failed: no room for contacts, or an invalid state
    RB_PILE_OUT_OF_TIME // the budget was used up
} rbContactRunEnd;

typedef struct rbContactRunResult {
    rbContactRunEnd end;
    double time;                    // s, simulated
    double mean;                    // s of CPU per timed step
    double p99;                     // s, 99 of 100 steps were faster
    double most;                    // s, the slowest step
    int pointCount;                 // contacts at the end, as the engine counts them
    rbContactVerdict verdict;       // of the final state
    rbContactStatistics statistics; // our engine only
    rbError error;                  // our engine only
} rbContactRunResult;

rbContactRunResult rbRunContacts(const rbContactRun* run);

// "refused", "first 2.1 s only", ...; empty for a complete run.
const char* rbContactRunResult_Describe(const rbContactRunResult* result, char text[64]);

// Mean, 99th percentile and largest of the durations. Sorts them.
typedef struct rbDurations {
    double mean;
    double p99;
    double most;
} rbDurations;
rbDurations rbSummarizeDurations(double* durations, int count);
