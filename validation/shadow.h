// Shadow comparison of the convex methods (G-41): every pair is measured by all methods, the first
// of which is the reference; differences beyond the bounds are counted and logged for replay.
#pragma once

#include "error_statistics.h"
#include "pairs/pair_log.h"

#include <rattleback/collision.h>

// Opinions on a pair besides the reference.
typedef enum rbOpinion {
    RB_OPINION_ITERATIVE, // GJK and EPA
    RB_OPINION_SWAPPED,   // the same with A and B swapped, where there is no closed form
    RB_OPINION_FEATURES,  // closest features, where the pair has them; depths if available
    RB_OPINION_SUPPORT,   // a plane and the support point of the other body
    RB_OPINION_MPR,       // detection only
    RB_OPINION_COUNT
} rbOpinion;

const char* rbOpinion_Name(rbOpinion opinion);

// Sphere to hull.
#define RB_SHADOW_TYPES (RB_SHAPE_HULL + 1)

// Called with every result before it is compared; tests inject errors with it.
typedef void rbTamperFn(void* context, rbOpinion opinion, rbSeparation* separation);

typedef struct rbShadow {
    // set by the caller
    double size;         // m, of a body: the reference length for errors
    const char* logPath; // incidents are written there; NULL: not written
    rbTamperFn* tamper;  // may be NULL
    void* tamperContext;
    // computed here
    void* scratch;
    rbPairLog* log; // opened by the first incident
    long long pairTests, planeTests, calls, collisions, planeCollisions;
    long long ambiguous;      // collisions whose direction of least depth is not unique
    long long undecided;      // detections that differ where the bounds include both signs
    long long disagreements;  // detections that differ beyond the bounds
    long long missed;         // of these: missed contacts of the reference
    long long contradictions; // bounds that exclude each other
    long long incidents;      // logged or not
    double gapError;          // largest difference of distances of separate bodies, relative to the
                              // size
    rbErrorStatistics errors[RB_OPINION_COUNT]; // degrees, relative to the size, relative to the
                                                // size
    // The same by the types of the shapes, the smaller first; without feature walking.
    rbErrorStatistics byTypes[RB_SHADOW_TYPES][RB_SHADOW_TYPES];
} rbShadow;

rbShadow rbMakeShadow(double size, const char* logPath);
// Writes the log if there were incidents, worst first, and frees everything.
rbStatus rbFreeShadow(rbShadow* shadow, rbError* error);

// Measures a pair by all methods, compares, and returns the result of the reference: closed form if
// there is one, otherwise the method auto.
rbSeparation rbShadow_Measure(rbShadow* shadow, const rbGeometry* a, const rbGeometry* b,
                              rbTransform transformBtoA);
