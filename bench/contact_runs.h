// Runs of a pile by any engine: time of a step, and what the end looks like.
#ifndef RB_CONTACT_RUNS_H
#define RB_CONTACT_RUNS_H

#include "contact_scenes.h"

// Our engine as a table like the peers': the settings of a row are a rbContactSettings.
extern const rbContactPeer rbContactPeerOurs;

typedef struct rbContactRun {
    const rbContactScene* scene;
    const rbContactPeer* peer;
    const rbContactPeerRow* row;
    double step;   // s
    int warmCount; // steps before the clock starts
    int stepCount; // in all
    double budget; // s of CPU
} rbContactRun;

typedef enum rbContactRunEnd {
    RB_PILE_DONE,
    RB_PILE_REFUSED,    // the engine does not take the scene
    RB_PILE_BLOWN_UP,   // a state is not finite
    RB_PILE_GAVE_UP,    // the engine did not go on: no room for contacts, a state it refuses
    RB_PILE_OUT_OF_TIME // the budget was spent
} rbContactRunEnd;

typedef struct rbContactRunResult {
    rbContactRunEnd end;
    double time;                    // s, simulated
    double mean;                    // s of CPU, of a timed step
    double p99;                     // s, 99 of 100 steps were faster
    double most;                    // s, of the slowest
    int pointCount;                 // of contact at the end, as the engine counts them
    rbContactVerdict verdict;       // of the end
    rbContactStatistics statistics; // of ours
    rbError error;                  // of ours
} rbContactRunResult;

rbContactRunResult rbRunContacts(const rbContactRun* run);

// "refused", "first 2.1 s only", ...; empty when it ran through.
const char* rbContactRunResult_Describe(const rbContactRunResult* result, char text[64]);

// Mean, 99th percentile and largest of durations, which are sorted.
typedef struct rbDurations {
    double mean;
    double p99;
    double most;
} rbDurations;
rbDurations rbSummarizeDurations(double* durations, int count);

#endif
