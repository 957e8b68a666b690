// From contacts to packed rows and back: masses at the points, biases of a stage, warm start,
// bodies that are frozen. Internal to the solver of contacts.
#ifndef RB_CONTACT_CONTACT_ROWS_H
#define RB_CONTACT_CONTACT_ROWS_H

#include "base/core/memory.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/contact_sweep.h"

// Of a slot, what a sweep does not touch.
typedef struct rbRowsBody {
    rbVec3 velocity; // at the start of the stage
    rbVec3 spin;
    rbSym3 factor; // G of I^-1 = G G^T, lower triangular
    int index;     // of the host
    // of shock propagation:
    int level;     // at which it was looked at first, 0: not yet
    int ground;    // what it stands on in the end, of the host; -1: nothing
    rbVec3 way;    // m, from the center of that
    bool isFrozen; // rests: stands still for those above
} rbRowsBody;

// Rows of one island: where they are. Bodies of islands are apart.
typedef struct rbRowsPack {
    int firstContact, contactCount;
    int firstPoint, pointCount;
    int firstTurn, turnCount;
    int firstBody, bodyCount; // slots
    int orderCount;           // of the run that it was packed from
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

// Forgets all packs: a new set of so many contacts.
void rbContactRows_Clear(rbContactRows* rows, int contactCount);
// The pack of a run, made now or by an earlier stage; allocates only when there is more than ever.
rbRowsPack rbContactRows_Pack(rbContactRows* rows, const rbContactRun* run);
// Its rows have to be made anew before they are used again.
void rbContactRows_Spend(rbContactRows* rows, const rbContactRun* run);

// Takes velocities, gaps or targets, and the sums of impulses for a stage. False: something of it
// is not finite.
bool rbContactRows_Begin(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         const rbContactSettings* settings, bool isVelocity);
// First guess: kept of the sums has acted already, added of them acts now, by the part of it that
// leaves the least energy: a guess that does not fit does no harm.
void rbContactRows_Guess(rbContactRows* rows, const rbRowsPack* pack, bool isVelocity, double kept,
                         double added);

// Masses of the normals of a contact of the rows, lessened by what joints take from them; kept
// above a small part of what they are.
void rbContactRows_React(rbContactRows* rows, int contact, const double* reaction);

// Velocities made anew from the sums of impulses: mixing leaves rounding errors in them. isKept:
// the sums that the host has had acted before the stage.
void rbContactRows_Renew(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         bool isVelocity, bool isKept);

// Velocities to the host, and after others have changed them there back again.
void rbContactRows_Show(const rbContactRows* rows, const rbRowsPack* pack, rbContactBody* bodies);
void rbContactRows_Fetch(rbContactRows* rows, const rbRowsPack* pack, const rbContactBody* bodies);

// Impulses and velocities to the host.
void rbContactRows_Finish(const rbContactRows* rows, const rbRowsPack* pack,
                          const rbContactRun* run);

// Bodies of a contact that are marked as frozen become immovable in its rows, with the velocities
// that they have.
void rbContactRows_Freeze(rbContactRows* rows, int contact);

#endif
