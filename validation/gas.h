// A gas of equal hard bodies in the periodic box, simulated by the event engine: for validation,
// tests and benchmarks.
//
// The bodies start on a cubic lattice, all with the same speed in random directions and without
// total momentum; after a few collisions per body the initial state is forgotten.
#pragma once

#include "base/core/random.h"

#include <rattleback/world.h>

typedef struct rbHardGasDef {
    rbGeometry* geometry; // ownership is transferred; NULL: spheres of the radius
    double radius;        // m, of spheres
    int edge;             // bodies along an edge of the lattice: edge^3 of them
    double fraction;      // of the box that the bodies fill at the start
    double speed;         // m/s, initial root mean square
    double spin;          // rad/s, of every body at the start
    double restitution;
    double friction;
    double growth; // m/s, of the radius
    rbEventSettings event;
    uint64_t seed;
} rbHardGasDef;

typedef struct rbHardGas {
    rbWorld* world;
    int count;
    double edge;        // m, of the box
    double mass;        // kg, of a body
    double radius;      // m, of a sphere at time 0
    double growth;      // m/s
    rbVec3* velocities; // m/s, scratch
} rbHardGas;

// 1000 spheres of unit diameter and mass about 1, fraction 0.3, speed 1 m/s, elastic, no friction.
rbHardGasDef rbDefaultHardGasDef(void);
// The world is NULL and the error states the reason when the engine rejects it.
rbHardGas rbCreateHardGas(const rbHardGasDef* def, rbError* error);
void rbDestroyHardGas(rbHardGas* gas);

// The current fraction of the box filled by spheres.
double rbHardGas_GetFraction(const rbHardGas* gas);
// m^2/s^2: mean square of a component of the velocity, without the overall drift.
double rbHardGas_GetTemperature(const rbHardGas* gas);
// Scales all velocities to this root mean square and removes the overall drift.
void rbHardGas_Rescale(rbHardGas* gas, double speed);

// Mean pressure over an interval of time.
typedef struct rbGasPressure {
    double reduced;     // Z = p V / (N k T)
    double temperature; // m^2/s^2, mean of both ends
    int64_t collisions;
    rbStatus status; // of the advance
} rbGasPressure;

// Advances and measures: Z = 1 + virial / (2 E t) (1 - 1/N), the factor because the drift takes
// three degrees of freedom from the thermal energy E.
rbGasPressure rbHardGas_MeasurePressure(rbHardGas* gas, double duration);
// Time in which each body takes part in this many collisions, estimated from the last measured
// pressure.
double rbHardGas_GetTimeOfCollisions(const rbHardGas* gas, double perBody, double reducedPressure);

// Moments of the speeds at the world's time.
typedef struct rbSpeedMoments {
    double mean;
    double variance;
    double median;
    double skewness;
} rbSpeedMoments;

rbSpeedMoments rbHardGas_GetSpeedMoments(const rbHardGas* gas);

// Grows the spheres until the reduced pressure is reached (Lubachevsky and Stillinger). Velocities
// are rescaled so that the growth of the diameter remains the given fraction of the thermal speed.
typedef struct rbPacking {
    double fraction;
    double reducedPressure; // over the last interval
    int64_t collisions;
    double time;
    rbStatus status;
} rbPacking;

rbPacking rbHardGas_Compress(rbHardGas* gas, double speed, double pressureMax);
