// A running stage of the contact solver. Internal to the solver of contacts.
#pragma once

#include "dynamics/contact/contact_rows.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/contact_sweep.h"

// A stage as sweeps left it, while shock propagation runs.
typedef struct rbShockMemory {
    RB_ARRAY(rbRowBody) bodies; // of the pack
    RB_ARRAY(double) impulses;  // three of a point, then three of a turn
    RB_ARRAY(int) areSticking;  // by point
    RB_ARRAY(rbRowBody) lower;  // of the pack, before a level
} rbShockMemory;

void rbShockMemory_Free(rbShockMemory* memory);

typedef struct rbContactStage {
    rbContactRows* rows;
    rbShockMemory* shock;
    const rbContactRun* run;
    rbRowsPack pack;
    rbSweep sweep;
    double tolerance;  // m/s
    double moving;     // m/s, see MOVING
    double resting;    // m/s, see REST_PART
    double restSpeed;  // m/s: slower is rest for shock propagation
    bool isKept;       // incoming sums have acted before
    int within;        // first sweep that met the tolerance, 0: none yet
    bool areJointsOff; // they are left out
    bool isReacting;   // joints follow contact by contact
    bool areJointsMet; // in the last sweep
    rbContactSolved solved;
} rbContactStage;

// One sweep over a range of contacts of the rows, and the joints; true: it is enough.
bool rbContactStage_Sweep(rbContactStage* stage, int first, int last, rbSweepTally* tally);

// Instead of many more sweeps: level by level from the bottom (B-74, B-78). Never ends with more
// energy than the stage began with and sweeps left. The rows cannot be used afterward.
void rbContactStage_PropagateShock(rbContactStage* stage);
