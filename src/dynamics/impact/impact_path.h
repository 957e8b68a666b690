// One impact in progress, for impact.c and other methods of sliding.
//
// An impact is a path over the normal impulse p_z. It is divided into pieces with a known solution:
// straight ones (sticking, sliding in a constant direction, no friction) in closed form, curved
// ones as Taylor series, or by another method that the input names. A goal ends the current phase:
// greatest compression, or the condition of the law. It is a value of one of three quantities, so
// that a piece does not depend on the law.
#pragma once

#include "dynamics/impact/impact_law.h"

typedef enum rbImpactQuantity {
    RB_QUANTITY_VELOCITY, // u_z
    RB_QUANTITY_IMPULSE,  // p_z
    RB_QUANTITY_WORK,     // of the normal impulse
    RB_QUANTITY_COUNT
} rbImpactQuantity;

typedef enum rbImpactMode {
    RB_MODE_COMPRESSION,
    RB_MODE_RESTITUTION,
    RB_MODE_LIFT, // the law is satisfied, but u_z has not yet reached its least value
    RB_MODE_DONE
} rbImpactMode;

typedef struct rbImpactPath {
    rbSym3 k;
    double mu, e;
    rbImpactLaw law;
    double startSpeed; // -u_z at the start, > 0
    double leastSpeed; // least u_z after the impact; 0 except for microcollisions

    double x, y, z;    // u
    double px, py, pz; // p
    double work;       // of p_z since the mode began: e^2 of compression may be tiny compared with
                       // it
    double workBefore; // of p_z in the modes before
    double frictionWork;

    rbImpactMode mode;
    rbImpactQuantity quantity; // the goal
    double goal;
    double modeImpulse;        // p_z where the mode began
    double compressionImpulse; // over all compressions; the work is <= 0
    double compressionWork;
    double restitutionImpulse; // of restitutions interrupted by compression
    double restitutionWork;

    int steps;
    bool isInaccurate;
} rbImpactPath;

// The goal is reached: starts the next mode.
void rbImpactPath_PassGoal(rbImpactPath* path);

// The quantity of the goal.
static inline double* rbImpactPath_GetValue(rbImpactPath* path)
{
    return path->quantity == RB_QUANTITY_VELOCITY  ? &path->z
           : path->quantity == RB_QUANTITY_IMPULSE ? &path->pz
                                                   : &path->work;
}

// Its remainder.
static inline double rbImpactPath_GetGap(const rbImpactPath* path)
{
    return path->goal - *rbImpactPath_GetValue((rbImpactPath*)path);
}

// The direction of sliding and its rates.
typedef struct rbSlip {
    double speed;               // r = |u_t|
    double cosine, sine;        // of its direction
    double f;                   // du_z/dp_z
    double g;                   // dr/dp_z
    double h;                   // r times the rate at which the direction turns over p_z
    double hNoise;              // rounding error of h
    double hSlope;              // dh/dtheta; negative: the direction attracts
    double along, across, turn; // d.A d, d'.A d', d'.A d of the direction d and d' across it
    double pull, side;          // w.d, w.d'
} rbSlip;

rbSlip rbMeasureSlip(const rbImpactPath* path);

// One run of another method. False, without any change, where it is not suitable.
struct rbSlideMethod {
    bool (*walk)(rbImpactPath* path, const rbSlip* slip);
};
