// All cases, in the order in which they run. Separate from validation.c so that a test can run one
// case without the others.
#include "validation.h"

static const rbValidationCase* const cases[] = {
    &rbCaseTumblingBox,
    &rbCaseKepler,
    &rbCaseFreeTopRandom,
    &rbCaseSeparatrix,
    &rbCaseSymmetricTop,
    &rbCaseMassProperties,
    &rbCaseConvexBlackbox,
    &rbCaseConvexDetection,
    &rbCaseConvexLibccd,
    &rbCaseConvexShadow,
    &rbCaseConvexEpsilon,
    &rbCaseImpacts,
    &rbCaseGasPressure,
    &rbCaseGasMaxwell,
    &rbCaseGasHaff,
    &rbCaseGasPacking,
    &rbCaseToys,
    &rbCaseEvents,
    &rbCaseEventContact,
    &rbCasePendulums,
    &rbCaseFourBar,
    &rbCaseSqueezer,
    &rbCaseBricard,
    &rbCaseHeavyTop,
    &rbCaseGovernor,
    &rbCaseHeavyChain,
    &rbCaseJointChecks,
    &rbCaseJointOrder,
    &rbCaseContactInclines,
    &rbCaseContactRolling,
    &rbCaseContactImpacts,
    &rbCaseContactStillness,
    &rbCaseContactToys,
    &rbCaseContactPenalty,
    &rbCaseContactHour,
    &rbCaseContactPackings,
    &rbCaseRayScenes,
    &rbCaseRayCurves,
    &rbCaseRayFrames,
    &rbCaseRayPairs,
    &rbCaseRayBullet,
    &rbCaseRayConclusions,
#ifdef RB_MPI // spheres on domains
    &rbCaseGranularHopper,
    &rbCaseGranularDrum,
    &rbCaseGranularColumn,
    &rbCaseGranularPacking,
    &rbCaseGranularIncline,
#endif
};

const rbValidationCase* const* rbGetValidationCases(int* count)
{
    *count = (int)(sizeof cases / sizeof cases[0]);
    return cases;
}
