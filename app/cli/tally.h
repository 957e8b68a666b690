// Totals of a run: bodies, steps, events, and how well energy and momentum were conserved.
#pragma once

#include "cli/cli.h"
#include "cli/mechanisms.h"

#include <rattleback/scene.h>

// Deviation of the conserved quantities from theory, relative to their size. Gravity's share is
// subtracted: p = p0 + M g t and L = L0 + (M c0 t + p0 t^2 / 2) x g. Momenta are NaN when other
// forces act or when bodies collide with or are joined to fixed ones, whose impulse is not known
// here. Angular momentum is also NaN in a periodic box, and spin when bodies collide, because they
// are not conserved there.
typedef struct rbDrift {
    double energy;          // relative to the largest energy seen
    double momentum;        // relative to the largest momentum possible at the kinetic energy
    double angularMomentum; // about the origin, relative to the largest seen; for mechanisms, to
                            // the largest possible at the kinetic energy
    double spin;            // of the bodies about their centers, relative to the sum of magnitudes
} rbDrift;

typedef struct rbTally {
    const rbSceneInfo* info;
    rbLedger start;
    rbLedger end;
    rbVec3 massMoment; // sum of m c at the start, kg m
    double energyScale;
    double energyThere;     // J, largest energyScale of the ledger
    double energyDriftMost; // J
    double momentumScale;
    double angularScale;
    double spinScale;
    double turnScale; // kg m^2: sum of m r^2 about the origin at the start, moments of bodies too
    rbMechanismFacts mechanisms;       // of the step engine, at the start
    rbMotorWarnings motors;            // likewise
    const struct rbFindings* findings; // about the scene; NULL: not examined
    rbDrift drift;                     // at the end
    rbDrift driftMax;                  // largest magnitudes at any output time
    int motionCounts[RB_MOTION_COUNT];
    int fallbackCount;
    int64_t frames;
    int64_t integratorSteps;
    int64_t rejectedSteps;
    int64_t eventCounts[RB_EVENT_COUNT];
    int64_t eventCount;  // of all kinds
    int actionCount;     // user actions applied
    rbBodyId failedBody; // first that missed its tolerance
    bool hasContacts;    // of the step engine
    bool isMissed;       // a tolerance was missed, of a body or of joints
    double failedTime;
    bool isBroken;   // the energy is no longer a finite number
    double wallTime; // s, of the simulation and its output
    uint64_t hash;   // of the final state
    bool isStopped;  // by a signal
    rbError ending;  // why the engine stopped early; status OK if it did not
    rbError miss;    // what the first advance that missed a tolerance said
} rbTally;

// Call before the first advance, with the ids of all bodies.
void rbTally_Init(rbTally* tally, const rbSceneInfo* info, const rbWorld* world,
                  const rbBodyId* bodyIds, int bodyCount);
// Adds an advance; the world is at an output time.
void rbTally_Add(rbTally* tally, const rbStepReport* report, const rbWorld* world);
// Counts events of the journal.
void rbTally_AddEvents(rbTally* tally, const rbEvent* events, int count);

// Files written, for the summary.
typedef struct rbWrittenFile {
    const char* kind;
    const char* path;
    double bytes; // 0 if unknown
} rbWrittenFile;

// The summary as text and as JSON; the world is at the end of the run.
void rbTally_Print(const rbTally* tally, const rbWorld* world, FILE* file);
void rbTally_PrintFiles(const rbWrittenFile* files, int count, FILE* file);
void rbTally_WriteJson(const rbTally* tally, const rbWorld* world, const rbWrittenFile* files,
                       int fileCount, FILE* file);
