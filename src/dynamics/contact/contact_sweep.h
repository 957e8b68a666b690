// Rows of contacts, packed in the order of the sweeps, and the sweep over them. Internal to the
// solver of contacts.
//
// The velocities that a stage adds are stored separately from the velocities it starts with, and
// the spin is scaled: with the inverse inertia I^-1 = G G^T a body rotates with w = w0 + G y. A row
// j of an angular direction c is then G^T c both for what it measures (j.y) and for what it moves
// (y += p j), which halves the memory traffic of a sweep. The biases contain the start of the
// stage. An immovable body has slot 0 and rows of zeros.
#pragma once

#include "base/core/lanes.h"
#include "dynamics/contact/contact.h"

#include <rattleback/contact.h>

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
    double friction;                         // the bound in this stage: disc + friction P
    double disc;                             // N s
    double slideStep;                        // 1 / largest eigenvalue of t K t
    int index;                               // of the point in the set
    int isSticking;
} rbSweepPoint;

typedef struct rbSweepContact {
    rbVec3 normal;
    rbVec3 tangents[2];
    bool isRough; // there is friction
    double invMassA;
    double invMassB;
    int slotA;
    int slotB;
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

typedef struct rbFrictionBound {
    const double (*corners)[2]; // of the pyramid in the unit circle, cornerCount of them; closed
    int cornerCount;            // 0: the exact cone
} rbFrictionBound;

typedef struct rbSweep {
    rbSweepContact* contacts;
    rbSweepPoint* points;
    rbSweepTurn* turns;
    rbRowBody* bodies;
    rbFrictionBound bound;
    bool isVelocity; // stage: closed points only
} rbSweep;

// Misses found in a sweep, each before its impulse acted.
typedef struct rbSweepTally {
    double normalError;  // m/s
    double tangentError; // m/s
    int worst;           // contact of the sweep, -1: none
} rbSweepTally;

// Projects the impulses of contacts first to last - 1 onto their cones; velocities are then to be
// recomputed.
void rbSweep_Project(const rbSweep* sweep, int first, int last);

// Visits contacts first to last - 1.
rbSweepTally rbSweep_Run(const rbSweep* sweep, int first, int last);

static inline double rbSweepSix_Dot(const rbSweepSix* j, const rbSweepSix* y)
{
    rbLanePair sum = j->a * y->a + j->b * y->b + j->c * y->c;
    return sum[0] + sum[1];
}

static inline void rbSweepSix_AddScaled(rbSweepSix* y, double p, const rbSweepSix* j)
{
    rbLanePair both = rbLanePair_Both(p);
    y->a += both * j->a;
    y->b += both * j->b;
    y->c += both * j->c;
}

static inline rbSweepSix rbSweepSix_Gather(const rbRowBody* a, const rbRowBody* b)
{
    rbSweepSix y = {{a->spin[0], a->spin[1]}, {a->spin[2], b->spin[0]}, {b->spin[1], b->spin[2]}};
    return y;
}

static inline void rbSweepSix_Scatter(const rbSweepSix* y, rbRowBody* a, rbRowBody* b)
{
    a->spin[0] = y->a[0];
    a->spin[1] = y->a[1];
    a->spin[2] = y->b[0];
    b->spin[0] = y->b[1];
    b->spin[1] = y->c[0];
    b->spin[2] = y->c[1];
}

static inline rbVec3 rbSweepBody_Velocity(const rbRowBody* body)
{
    return rbMakeVec3(body->velocity[0], body->velocity[1], body->velocity[2]);
}

static inline void rbSweepBody_Push(rbRowBody* body, double scale, rbVec3 p)
{
    body->velocity[0] += scale * p.x;
    body->velocity[1] += scale * p.y;
    body->velocity[2] += scale * p.z;
}
