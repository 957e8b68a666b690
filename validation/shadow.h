// Shadow comparison of the convex methods (G-41): every pair is measured by all methods, the first
// of which is the reference; what differs beyond its bounds is counted and logged for replay.
#ifndef RB_SHADOW_H
#define RB_SHADOW_H

#include "error_statistics.h"
#include "pairs/pair_log.h"

#include <rattleback/collision.h>

// Opinions on a pair beside the reference.
typedef enum rbOpinion {
    RB_OPINION_ITERATIVE, // GJK and EPA
    RB_OPINION_SWAPPED,   // the same with A and B exchanged, where there is no closed form
    RB_OPINION_FEATURES,  // closest features, where the pair has them; depths if it knows them
    RB_OPINION_SUPPORT,   // a plane and the support point of the other body
    RB_OPINION_MPR,       // detection only
    RB_OPINION_COUNT
} rbOpinion;

const char* rbOpinion_Name(rbOpinion opinion);

// Sphere to hull.
#define RB_SHADOW_TYPES (RB_SHAPE_HULL + 1)

// Called with every answer before it is compared; tests plant errors with it.
typedef void rbTamperFn(void* context, rbOpinion opinion, rbSeparation* separation);

typedef struct rbShadow {
    // set by the caller
    double size;         // m, of a body: what errors are relative to
    const char* logPath; // incidents go there; NULL: nowhere
    rbTamperFn* tamper;  // may be NULL
    void* tamperContext;
    // made here
    void* scratch;
    rbPairLog* log; // opened by the first incident
    long long pairTests, planeTests, calls, collisions, planeCollisions;
    long long ambiguous;      // collisions whose direction of least depth is not unique
    long long undecided;      // detections that differ where the bounds hold both signs
    long long disagreements;  // detections that differ beyond the bounds
    long long missed;         // of these: contacts of the reference not seen
    long long contradictions; // bounds that exclude each other
    long long incidents;      // logged or not
    double gapError;          // largest difference of distances of bodies apart, of the size
    rbErrorStatistics errors[RB_OPINION_COUNT]; // degrees, of the size, of the size
    // The same by the types of the shapes, the smaller first; without feature walking.
    rbErrorStatistics byTypes[RB_SHADOW_TYPES][RB_SHADOW_TYPES];
} rbShadow;

rbShadow rbMakeShadow(double size, const char* logPath);
// Writes the log if there were incidents, worst first, and frees everything.
rbStatus rbFreeShadow(rbShadow* shadow, rbError* error);

// Measures a pair by all methods, compares, and gives the answer of the reference: closed form
// where there is one, else the method auto.
rbSeparation rbShadow_Measure(rbShadow* shadow, const rbGeometry* a, const rbGeometry* b,
                              rbTransform transformBtoA);

#endif
