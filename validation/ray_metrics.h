// Accuracy of rays against the exact result: the agreement that the thesis prints, for
// comparison with its tables, and errors in meters and degrees, which are what matters.
#pragma once

#include <rattleback/lab_rays.h>

// Agreement of two vectors in percent as in the tables of the thesis: the mean over the axes of the
// smaller magnitude over the larger; where one is 0, both are moved away from 0 by 1. It changes
// when the origin is moved and ignores signs.
double rbRateAgreement(rbVec3 found, rbVec3 truth);

// Two bodies on straight paths, without rotation. A casts rays at B, and B at A unless the settings
// select one direction.
typedef struct rbStraightPair {
    const rbGeometry* geometries[2];
    const rbRayEmitter* emitters[2]; // created with the settings of the prediction; NULL:
    rbTransform starts[2];           // casts no rays
    rbVec3 velocities[2];            // m/s
    double duration;                 // s
    void* scratch;                   // as of rbMeasureSeparation, for predictions; may be NULL
} rbStraightPair;

// A contact in the world, by any method.
typedef struct rbStraightContact {
    bool isHit;
    bool isInside; // they overlap at the start
    double time;   // s
    double way;    // m, displacement of A relative to B until then: the free path
    rbVec3 point;  // m
    rbVec3 normal; // unit, outward of B
} rbStraightContact;

// Fills the error and returns false when the library rejects the input. counts may be NULL.
bool rbPredictStraight(const rbStraightPair* pair, const rbRaySettings* settings,
                       rbRayCounts* counts, rbStraightContact* contact, rbError* error);
bool rbSweepStraight(const rbStraightPair* pair, void* scratch, rbStraightContact* contact,
                     rbError* error);

// Creates both emitters; rbFreeEmitters frees them. Planes get none.
bool rbMakeEmitters(rbStraightPair* pair, const rbRaySettings* settings, rbError* error);
void rbFreeEmitters(rbStraightPair* pair);

// All are NaN for contacts that are not hit.
typedef struct rbRayErrors {
    double position;  // m
    double angle;     // degrees, of the normals
    double excess;    // m, found free path minus the exact one
    double depth;     // m, of the overlap at the contact reported by rays
    double agreement; // percent, of the points
    double normalAgreement;
} rbRayErrors;

rbRayErrors rbMeasureRayErrors(const rbStraightPair* pair, const rbStraightContact* found,
                               const rbStraightContact* truth, void* scratch);
