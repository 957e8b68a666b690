// Rows of contacts, packed in the order of the sweeps, and the sweep over them: masses at the
// points, biases of a stage, warm start, frozen bodies. Internal to the solver of contacts.
//
// The velocities that a stage adds are stored separately from the velocities it starts with, and
// the spin is scaled: with the inverse inertia I^-1 = G G^T a body rotates with w = w0 + G y. A row
// j of an angular direction c is then G^T c both for what it measures (j.y) and for what it moves
// (y += p j), which halves the memory traffic of a sweep. The biases contain the start of the
// stage. An immovable body has slot 0 and rows of zeros.
#pragma once

#include "base/core/lanes.h"
#include "base/core/memory.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/contact_solver.h"
#include "dynamics/contact/friction_bound.h"

// Added by the stage so far. One cache line.
typedef struct rbRowBody {
    double spin[3]; // y
    double velocity[3];
    double invMass;
    double unused;
} rbRowBody;

// Six doubles: y of A, y of B.
typedef struct rbSweepSix {
    rbLanePair a, b, c;
} rbSweepSix;

typedef struct rbSweepPoint {
    rbSweepSix rows[3]; // normal, tangents
    double impulse[3];  // N s, sums
    double bias[3]; // m/s: u at the start of the stage, and for the normal the requirement of gap
                    // or target
    double slip[2]; // m/s: to be undone where it sticks
    double coupling[RB_MANIFOLD_POINTS_MAX]; // n K n with the points of the contact
    double invNormal;                        // 1 / n K n; 0: inert
    double invTangents[3];                   // (t K t)^-1: 11, 22, 12
    double friction;                         // the bound in this stage: friction P
    double slideStep;                        // 1 / largest eigenvalue of t K t
    int index;                               // of the point in the set
    bool isSticking;
    bool isLed;  // slip is a lead, see contact_solver.h
    bool isLeft; // friction could not undo the slip
} rbSweepPoint;

typedef struct rbSweepContact {
    rbVec3 axes[3];      // normal, tangents
    bool isRough;        // there is friction
    double invMasses[2]; // of A and B
    int slots[2];        // of A and B
    int firstPoint;
    int pointCount;  // closed ones first
    int closedCount; // these take part in the velocity stage
    int turn;        // rolling and spinning friction, -1: none
    int index;       // of the contact in the set
    int level;
} rbSweepContact;

// Rolling and spinning friction of a contact.
typedef struct rbSweepTurn {
    rbSweepSix rows[3]; // along the tangents, about the normal
    double impulse[3];  // N m s
    double bias[3];     // rad/s
    double rolling;     // m
    double spinning;    // m
    double rollingStep; // 1 / largest eigenvalue
    double invSpinning;
    double reach; // m: turns a rate into a speed, for the errors
} rbSweepTurn;

// Misses found in a sweep, each before its impulse acted.
typedef struct rbSweepTally {
    double normalError;  // m/s
    double tangentError; // m/s
    int worst;           // contact of the sweep, -1: none
} rbSweepTally;

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
    int number;               // of packs; -1: it is empty
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

typedef struct rbSweep {
    const rbContactRows* rows;
    const rbFrictionBound* bound;
    bool isVelocity; // stage: closed points only
} rbSweep;

void rbContactRows_Free(rbContactRows* rows);

// Drops all packs: a new set with this many contacts.
void rbContactRows_Clear(rbContactRows* rows, int contactCount);
// The pack of a run, made now or by an earlier stage; allocates only when there is more than ever.
rbRowsPack rbContactRows_Pack(rbContactRows* rows, const rbContactRun* run);

// Loads velocities, gaps or targets, the sums of impulses and the reactions of joints for a stage.
// isGuessed: the sums of a position stage act now as a first guess; those of a velocity stage have
// acted and act again. False: some value is not finite.
bool rbContactRows_Begin(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         double partSpeed, bool isVelocity, bool isGuessed);

// Visits contacts first to last - 1.
rbSweepTally rbSweep_Run(const rbSweep* sweep, int first, int last);
// Sweeps joints with the velocities that contacts left; returns whether they are done.
bool rbContactRows_SweepJoints(rbContactRows* rows, const rbRowsPack* pack,
                               const rbContactRun* run);
// Projects the sums of impulses onto their cones, and recomputes velocities from them: mixing
// leaves rounding errors in these. isKept: the sums that had acted in the host before the stage.
void rbContactRows_Renew(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         const rbSweep* sweep, bool isKept);

// Impulses and velocities to the host.
void rbContactRows_Finish(const rbContactRows* rows, const rbRowsPack* pack,
                          const rbContactRun* run);

// Bodies of a contact that are marked as frozen become immovable in its rows, with their current
// velocities.
void rbContactRows_Freeze(rbContactRows* rows, int contact);

static inline rbVec3 rbSweepBody_Velocity(const rbRowBody* body)
{
    return rbMakeVec3(body->velocity[0], body->velocity[1], body->velocity[2]);
}

// The slot of a body; 0: immovable.
static inline int rbContactRows_GetSlot(const rbContactRows* rows, int body)
{
    return body < rows->slots.count ? rows->slots.data[body] : 0;
}
