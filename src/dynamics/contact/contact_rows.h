// From contacts to packed rows and back: masses at the points, biases of a stage, warm start,
// frozen bodies. Internal to the solver of contacts.
#pragma once

#include "base/core/memory.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/contact_sweep.h"

// Data of a slot that a sweep does not touch.
typedef struct rbRowsBody {
    rbVec3 velocity; // at the start of the stage
    rbVec3 spin;
    rbSym3 factor; // G of I^-1 = G G^T, lower triangular
    int index;     // of the host
    // for shock propagation:
    int level;     // level at which it was first checked, 0: not yet
    int ground;    // the ground it stands on, of the host; -1: none
    rbVec3 way;    // m, from the center of the ground
    bool isFrozen; // rests: counts as fixed for those above
} rbRowsBody;

// Location of the rows of one island. Islands share no bodies.
typedef struct rbRowsPack {
    int firstContact, contactCount;
    int firstPoint, pointCount;
    int firstTurn, turnCount;
    int firstBody, bodyCount; // slots
    int orderCount;           // of the run it was packed from
    bool isSpent;             // shock propagation has changed its rows
} rbRowsPack;

typedef struct rbContactRows {
    RB_ARRAY(rbRowsPack) packs;
    RB_ARRAY(int) packOf; // by first contact of the run, of the set: 1 + pack, 0: none
    RB_ARRAY(rbSweepContact) contacts;
    RB_ARRAY(rbSweepPoint) points;
    RB_ARRAY(rbSweepTurn) turns;
    RB_ARRAY(rbRowBody) bodies;  // by slot
    RB_ARRAY(rbRowsBody) starts; // by slot
    RB_ARRAY(int) slots;         // by body of the host, 0: none
} rbContactRows;

void rbContactRows_Free(rbContactRows* rows);

// Drops all packs: a new set with this many contacts.
void rbContactRows_Clear(rbContactRows* rows, int contactCount);
// The pack of a run, made now or by an earlier stage; allocates only when there is more than ever.
rbRowsPack rbContactRows_Pack(rbContactRows* rows, const rbContactRun* run);
// Its rows must be rebuilt before they are used again.
void rbContactRows_Spend(rbContactRows* rows, const rbContactRun* run);

// Loads velocities, gaps or targets, and the sums of impulses for a stage. False: some value is not
// finite.
bool rbContactRows_Begin(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         const rbContactSettings* settings, bool isVelocity);
// First guess: the fraction kept of the sums has acted already, the fraction added acts now, scaled
// for the smallest energy: a poor guess does no harm.
void rbContactRows_Guess(rbContactRows* rows, const rbRowsPack* pack, bool isVelocity, double kept,
                         double added);

// Masses of the normals of a contact of the rows, reduced by the effect of joints; kept above a
// small fraction of their value.
void rbContactRows_React(rbContactRows* rows, int contact, const double* reaction);

// Recomputes velocities from the sums of impulses: mixing leaves rounding errors in them. isKept:
// the sums that had acted in the host before the stage.
void rbContactRows_Renew(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         bool isVelocity, bool isKept);

// Writes velocities to the host, and reads them back after they were changed there.
void rbContactRows_Show(const rbContactRows* rows, const rbRowsPack* pack, rbContactBody* bodies);
void rbContactRows_Fetch(rbContactRows* rows, const rbRowsPack* pack, const rbContactBody* bodies);

// Impulses and velocities to the host.
void rbContactRows_Finish(const rbContactRows* rows, const rbRowsPack* pack,
                          const rbContactRun* run);

// Bodies of a contact that are marked as frozen become immovable in its rows, with their current
// velocities.
void rbContactRows_Freeze(rbContactRows* rows, int contact);
