// Portal refinement and the feature walk as pair methods: bounds hold as for every method, but in
// overlap depth, normal and points are estimates.
#include "lab/convex/pair_rows.h"

#include "lab/convex/features.h"
#include "lab/convex/mpr.h"

#include <string.h>

// The convex bodies of an input and their difference.
typedef struct Bodies {
    rbConvex a, b;
    rbCso cso;
} Bodies;

static rbStatus makeBodies(const rbSeparationInput* input, Bodies* bodies)
{
    if (!rbConvex_Make(input->geometryA, input->radiusA, &bodies->a) ||
        !rbConvex_Make(input->geometryB, input->radiusB, &bodies->b)) {
        return RB_STATUS_UNSUPPORTED;
    }
    bodies->cso = rbCso_Make(&bodies->a, &bodies->b, input->transformBtoA);
    return RB_STATUS_OK;
}

static rbStatus measureMpr(const rbSeparationInput* input, rbMethodMemory* memory,
                           rbSeparation* separation)
{
    (void)memory;
    Bodies bodies;
    rbStatus status = makeBodies(input, &bodies);
    if (status == RB_STATUS_OK) {
        rbMprResult result = rbMpr_Penetration(&bodies.cso, NULL);
        *separation = rbMpr_Separation(&result);
        separation->reason = result.overlaps ? RB_STOP_ESTIMATE : separation->reason;
    }
    return status;
}

static rbStatus testMpr(const rbSeparationInput* input, double margin, bool* overlaps)
{
    Bodies bodies;
    rbStatus status = makeBodies(input, &bodies);
    if (status == RB_STATUS_OK) {
        bodies.a.radius += margin;
        *overlaps = rbMpr_Overlaps(&bodies.cso);
    }
    return status;
}

_Static_assert(sizeof(rbFeaturePair) <= sizeof(rbMethodMemory), "the memory of a row holds ours");

static rbStatus measureFeatures(const rbSeparationInput* input, rbMethodMemory* memory,
                                rbSeparation* separation)
{
    const rbGeometry* a = input->geometryA;
    const rbGeometry* b = input->geometryB;
    if (!rbFeatures_Accepts(a) || !rbFeatures_Accepts(b)) {
        return RB_STATUS_UNSUPPORTED;
    }
    rbFeaturePair pair = {0};
    if (memory != NULL) {
        memcpy(&pair, memory, sizeof pair);
    }
    *separation = rbFeatures_Separation(a, b, input->transformBtoA, memory != NULL ? &pair : NULL);
    if (memory != NULL) {
        memcpy(memory, &pair, sizeof pair);
    }
    rbRoundSeparation(separation, input->radiusA, input->radiusB);
    if (separation->reason == RB_STOP_TOUCHES) {
        separation->reason = RB_STOP_ESTIMATE;
    }
    return RB_STATUS_OK;
}

rbStatus rbRegisterLabPairMethods(rbError* error)
{
    static const rbPairMethodRow mpr = {"mpr", measureMpr, testMpr};
    static const rbPairMethodRow features = {"features", measureFeatures, NULL};
    rbStatus status = rbRegisterPairMethod(&mpr, error);
    return status == RB_STATUS_OK ? rbRegisterPairMethod(&features, error) : status;
}
