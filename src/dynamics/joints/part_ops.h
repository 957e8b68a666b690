// The nine basic parts as rows of a table: the freedoms a part removes and its rows.
#pragma once

#include "dynamics/joints/joint_model.h"

#define RB_BASIC_JOINT_COUNT 9
_Static_assert(RB_JOINT_DOUBLE_ROTATION + 1 == RB_BASIC_JOINT_COUNT, "the basic types come first");

typedef void rbPartRowsFn(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                          rbRow* rows);
typedef void rbPartErrorsFn(const rbPartModel* part, const rbRowPose* poseA, const rbRowPose* poseB,
                            double* errors);

// The axes that a definition must specify for a type.
typedef enum rbAxisUse {
    RB_AXIS_NONE,
    RB_AXIS_COMMON, // one axis; B's defaults to A's at the current poses
    RB_AXIS_TWO,    // an axis of A and another one of B
} rbAxisUse;

typedef struct rbPartOps {
    int rowCount;
    uint32_t angleMask;
    rbAxisUse axisUse;
    bool hasDistance;
    bool isDistanceSigned; // zero and negative distances are accepted
    rbPartRowsFn* rows;
    rbPartErrorsFn* errors;
} rbPartOps;

extern const rbPartOps rbPartTable[RB_BASIC_JOINT_COUNT];

// Inline: look-ahead calls this a few hundred times per step.
static inline const rbPartOps* rbPartOps_Get(rbJointType type)
{
    RB_ASSERT((int)type >= 0 && type < RB_BASIC_JOINT_COUNT);
    return &rbPartTable[type];
}

#define RB_STACK_MAX 2

// A type of joint: the parts it is composed of and the measured freedoms it leaves.
typedef struct rbJointTypeRow {
    const char* name;
    const char* aliases[3];
    int partCount; // 0: PARTS, given by the definition
    rbJointType parts[RB_STACK_MAX];
    rbAxisUse axisUse;
    int freedomCount;
    rbFreedomKind freedoms[RB_JOINT_FREEDOMS_MAX];
} rbJointTypeRow;

const rbJointTypeRow* rbJointTypeRow_Get(rbJointType value);

// Adds a type stacked from basic parts, at start-up (base/core/registered_rows.h). Refused: no or
// too many parts, a name that is known, a full table.
rbStatus rbRegisterJointType(const rbJointTypeRow* row, rbError* error);
