// An island as contact_newton.c and contact_hybrid.c solve it.
#pragma once

#include "base/core/memory.h"
#include "dynamics/contact/contact_newton.h"
#include "dynamics/solvers/block_matrix.h"

#include <string.h>

// A point, or the resistance to rolling or spinning at a contact: the same without a normal, its
// rows turned into speeds by the reach of the contact.
typedef struct rbNewtonPoint {
    rbContact* contact;
    rbContactPoint* point; // NULL: rolling or spinning
    double reach;          // m, of these
    int turn;              // first of contact->turning
    int first;             // points whose normal impulses carry it
    int count;             //
    double sliding;        // friction coefficient while sliding
    double sticking;       //   and while sticking
    int locals[2];         // its bodies of the island, -1: immovable
    double rows[3][12];    // along normal and tangents: of A, then of B
    double bias[3];        // m/s
    double mass[2];        // kg, effective mass of the point: along the normal, across
    double r[2];           // kg: normal, tangential
    double start[3];       // N s, impulses that have acted
    double held[3];        // N s, x of the last round
    double x[3];           // N s, now
    double friction;       // of the disc, in this round
    double disc;           // N s, its radius as held in the round
    double radius;         // N s, now
    double d[2];           // kg, of the last evaluation: of the normal; of both tangents
    double turned;         // part of r[1] that remains in d[1] where it slides
    double slide[2];       // unit, direction of sliding; 0: it sticks
} rbNewtonPoint;

// A point in contact_hybrid.c: how easily it moves. Its bias contains what bodies outside of the
// island do; impulses before a step are held.
typedef struct rbHybridPoint {
    double moves[3][12]; // velocities that a unit impulse along its rows changes
    double k[3];         // 1/kg: mobilities of the normal and the tangents
    double k12;          // between these
    double lambda;       // 1/kg: largest of the tangents
    double target[3];    // N s, after a step
} rbHybridPoint;

typedef struct rbNewtonLink {
    rbContactLink* link;
    int locals[2]; // its bodies of the island, -1: immovable
    double mass;   // kg, effective mass
    double r;      // kg
    double held;   // N s
    double x;      // N s
    double d;      // kg, of the last evaluation
} rbNewtonLink;

// Of a body.
typedef struct rbNewtonMass {
    double mass;    // kg
    rbSym3 inertia; // kg m^2, world axes
} rbNewtonMass;

struct rbContactNewton {
    const rbContactRun* run;
    bool isCoupled; // discs follow the current normal impulses, not those of the last round
    bool isKnown;   // the sets that carry and slide are approximate
    double acted;   // fraction of the impulses of points that has acted already
    double guessed; // fraction that is the first guess of the final impulses
    RB_ARRAY(rbNewtonPoint) points;
    RB_ARRAY(rbHybridPoint) hybridPoints; // of the points, in contact_hybrid.c
    RB_ARRAY(rbNewtonLink) links;
    RB_ARRAY(int) locals1;         // per body of the host: index in the island + 1
    RB_ARRAY(int) bodies;          // of the island
    rbBlockMatrix matrix;          // of the bodies
    RB_ARRAY(rbNewtonMass) masses; // per body
    RB_ARRAY(double) vectors;      // of DOF per body, those below:
    double* velocities;
    double* starts; // v0
    double* trial;
    double* kept; // velocities at the start of a round
    double* residual;
    double* change;
};

// Reads an island: bodies, points, links, masses, velocities and the pattern of the matrix; false:
// there is nothing in it, or it is too large. Either way, call rbNewton_Forget at the end.
bool rbNewton_Begin(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task);
void rbNewton_Forget(rbContactNewton* newton);
// The negative of the slope: J^T (x - x0) - M (v - v0).
void rbNewton_FindResidual(rbContactNewton* newton, const double* velocities);
// Newton's change of the velocities, by the residual and d and slide of all points; false: it
// cannot be found. rounds: one is added.
bool rbNewton_FindChange(rbContactNewton* newton, int* rounds);
// Finds the residual of impulses at other velocities.
typedef void rbNewtonEvaluateFn(void* context, const double* velocities);

typedef struct rbNewtonSearch {
    int changesMax;
    int bisectionsMax; // of a line search
    double least;      // a change that moves no more is the last
} rbNewtonSearch;

// Moves to the minimum, from velocities that are evaluated, by changes and line searches; false: a
// change cannot be found.
bool rbNewton_Minimize(rbContactNewton* newton, const rbNewtonSearch* search,
                       rbNewtonEvaluateFn* evaluate, void* context, int* rounds);
// The impulses x become those held.
void rbNewton_Hold(rbContactNewton* newton);
// Impulses and velocities of the host from x and slide of all points.
void rbNewton_Apply(rbContactNewton* newton);

// Copies a vector of the bodies of the island.
static inline void rbNewton_Copy(const rbContactNewton* newton, double* to, const double* from)
{
    memcpy(to, from, (size_t)(RB_BLOCK * newton->bodies.count) * sizeof(double));
}

// Adds a row times a factor to a vector of the bodies of the island.
static inline void rbNewton_AddTo(const int locals[2], const double row[12], double factor,
                                  double* to)
{
    for (int side = 0; side < 2; ++side) {
        for (int k = 0; locals[side] >= 0 && k < RB_BLOCK; ++k) {
            to[RB_BLOCK * locals[side] + k] += factor * row[6 * side + k];
        }
    }
}

static inline bool rbNewtonPoint_IsSliding(const rbNewtonPoint* p)
{
    return p->slide[0] != 0.0 || p->slide[1] != 0.0;
}

// What the velocity of a body outside of the island contributes to the rate of a row.
static inline double rbNewton_RateOfHost(const rbContactBody* body, const double part[6])
{
    return part[0] * body->velocity.x + part[1] * body->velocity.y + part[2] * body->velocity.z +
           part[3] * body->spin.x + part[4] * body->spin.y + part[5] * body->spin.z;
}

// The velocities that an impulse, along x, y, z and about them, changes.
static inline void rbNewton_Move(const rbContactBody* body, const double p[6], double moves[6])
{
    rbVec3 spin = rbMulSV(body->invInertia, rbMakeVec3(p[3], p[4], p[5]));
    double values[6] = {
        body->invMass * p[0], body->invMass * p[1], body->invMass * p[2], spin.x, spin.y, spin.z};
    memcpy(moves, values, sizeof values);
}
