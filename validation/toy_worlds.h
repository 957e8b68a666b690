// The spinning toys (toy_oracle.h) as worlds of the event engine or of the step engine, and their
// motion as a table.
//
// One body on the plane z = 0, restitution 0, in contact at the start: as an exact shape and as a
// mesh of at least RB_TOY_FACES_MIN triangles. Mass, center and inertia are those of the toy in
// both.
#pragma once

#include "base/core/memory.h"
#include "toy_oracle.h"

#include <rattleback/world.h>

#define RB_TOY_FACES_MIN 5000

typedef enum rbToyForm {
    RB_TOY_EXACT, // sphere, ellipsoid; for the disc, the base of a cone, which is its one rim
    RB_TOY_MESH,  // triangles with their corners on the exact surface
    RB_TOY_FORM_COUNT
} rbToyForm;

// The axis of the body through the poles of a mesh of an ellipsoid.
typedef enum rbToyPole {
    RB_TOY_POLE_Z,
    RB_TOY_POLE_X,
    RB_TOY_POLE_Y,
    RB_TOY_POLE_COUNT
} rbToyPole;

typedef struct rbToySetting {
    rbToyForm form;
    rbToyPole pole;
    double tolerance; // m; 0: the engine's default
    double deviation; // m, of a mesh from the surface; 0: the coarsest with RB_TOY_FACES_MIN
    double step;      // s: of the step engine; 0: the event engine
    int facets;       // of its friction pyramid; 0: the exact cone
} rbToySetting;

typedef struct rbToyWorld {
    rbWorld* world;
    rbBodyId body;
    rbToy toy;
    int faceCount;    // of the mesh; 0 for exact shapes
    double deviation; // m, largest distance of the mesh from the exact surface; 0 for exact shapes
} rbToyWorld;

// NULL world and an error when the library rejects it.
rbToyWorld rbMakeToyWorld(const rbToy* toy, const rbToySetting* setting, rbError* error);
void rbFreeToyWorld(rbToyWorld* toyWorld);

// The values measured at a time.
typedef struct rbToySample {
    double time;
    double cosine;  // of the angle between the requested body axis and the vertical
    double spin;    // rad/s, vertical
    double energy;  // J, above the plane
    double jellett; // L . (R n - a e), meaningful for the tippe top
    rbVec3 up;      // vertical in the body's frame
} rbToySample;

typedef struct rbToyTrace {
    RB_ARRAY(rbToySample) samples;
    rbEventStatistics statistics;
    double microGain;   // J, total energy added by microcollisions
    double energyDrift; // J, discrepancy of the energy ledger
    double cpu;         // s
    int faceCount;      // of the mesh
    rbStatus status;
} rbToyTrace;

// Samples at the multiples of step up to the duration; fewer when the engine stops.
void rbTraceToy(const rbToyWorld* toyWorld, rbVec3 axis, double duration, double step,
                rbToyTrace* trace);
void rbFreeToyTrace(rbToyTrace* trace);

// The sample nearest to a time.
const rbToySample* rbToyTrace_At(const rbToyTrace* trace, double time);
// First time when the cosine (or the spin) falls or rises through a level; negative: never.
double rbToyTrace_FindCosine(const rbToyTrace* trace, double level);
double rbToyTrace_FindSpin(const rbToyTrace* trace, double level);
// Largest rise above an earlier energy, J.
double rbToyTrace_GetRise(const rbToyTrace* trace);
// Largest relative change of Jellett's integral.
double rbToyTrace_GetJellettDrift(const rbToyTrace* trace);
