// How well rays meet the truth: the agreement that the thesis prints, to stand beside its
// tables, and errors in meters and degrees, which are what counts.
#ifndef RB_VALIDATION_RAY_METRICS_H
#define RB_VALIDATION_RAY_METRICS_H

#include <rattleback/lab_rays.h>

// Agreement of two vectors in per cent as the tables of the thesis have it: the mean over the axes
// of the smaller magnitude over the larger; where one is 0, both are moved away from 0 by 1. It
// changes when the origin is moved and does not see signs.
double rbRateAgreement(rbVec3 found, rbVec3 truth);

// Two bodies on straight ways, without turning. A shoots at B, and B at A unless the settings say
// one way.
typedef struct rbStraightPair {
    const rbGeometry* geometries[2];
    const rbRayEmitter* emitters[2]; // made with the settings of the prediction; NULL: does not
    rbTransform starts[2];           // shoot
    rbVec3 velocities[2];            // m/s
    double duration;                 // s
    void* scratch;                   // as of rbMeasureSeparation, for predictions; may be NULL
} rbStraightPair;

// A contact in the world, by whatever method.
typedef struct rbStraightContact {
    bool isHit;
    bool isInside; // they overlap at the start
    double time;   // s
    double way;    // m, of A relative to B until then: the free path
    rbVec3 point;  // m
    rbVec3 normal; // unit, outward of B
} rbStraightContact;

// Fills the error and returns false when the library refuses. counts may be NULL.
bool rbPredictStraight(const rbStraightPair* pair, const rbRaySettings* settings,
                       rbRayCounts* counts, rbStraightContact* contact, rbError* error);
bool rbSweepStraight(const rbStraightPair* pair, void* scratch, rbStraightContact* contact,
                     rbError* error);

// Both emitters; rbFreeEmitters ends them. Planes get none.
bool rbMakeEmitters(rbStraightPair* pair, const rbRaySettings* settings, rbError* error);
void rbFreeEmitters(rbStraightPair* pair);

// Of contacts that are not hit: all are NaN.
typedef struct rbRayErrors {
    double position;  // m
    double angle;     // degrees, of the normals
    double excess;    // m, found free path less the exact one
    double depth;     // m, of the overlap where rays say that the bodies touch
    double agreement; // per cent, of the points
    double normalAgreement;
} rbRayErrors;

rbRayErrors rbMeasureRayErrors(const rbStraightPair* pair, const rbStraightContact* found,
                               const rbStraightContact* truth, void* scratch);

#endif
