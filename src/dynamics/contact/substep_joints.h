// Joints in small steps, see contact_substeps.h.
//
// Before small steps begin, the engine has solved each mechanism as if nothing touched it. Small
// steps then only ask that what contacts and joints add keeps the joints as they are: along its
// rows nothing is displaced, and nothing moves. So motors, springs and errors of the start stay
// with the engine, and rows are linear.
#pragma once

#include "base/core/lanes.h"
#include "dynamics/constraints/rows.h"
#include "dynamics/contact/contact.h"

// What a step has added to a body so far, in single precision; spins are scaled as in
// contact_rows.h. One cache line.
typedef struct rbSubstepBody {
    float velocity[4]; // m/s; [3] unused
    float spin[4];     // y
    float moved[4];    // m, by velocity
    float turned[4];   // by spin
} rbSubstepBody;

static inline rbQuad rbQuad_All(float x)
{
    return (rbQuad){x, x, x, x};
}

static inline void rbQuad_Store(float* to, rbQuad q)
{
    memcpy(to, &q, sizeof q);
}

// Rows to columns.
static inline void rbTransposeQuads(rbQuad q[4])
{
    rbQuad low01 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
    rbQuad low23 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
    rbQuad high01 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
    rbQuad high23 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
    q[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    q[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    q[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    q[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// A body of a joint; immovable ones have the slot 0 and zeros.
typedef struct rbSubstepSide {
    int slot;
    double invMass;
    rbSym3 factor; // G of I^-1 = G G^T
    rbVec3 kick;   // m/s, by forces in the whole step
} rbSubstepSide;

// Two quads of rows.
#define RB_SUBSTEP_ROWS 8

// In lanes: vectors have a fourth component of 0, and rows beyond the last are 0.
typedef struct rbSubstepJoint {
    int slots[2]; // A, B
    int rowCount;
    float invMasses[2];
    float linear[RB_BLOCK_ROWS_MAX][4];
    float angular[RB_BLOCK_ROWS_MAX][2][4];            // G^T of the angular parts of A and B
    float inverse[RB_BLOCK_ROWS_MAX][RB_SUBSTEP_ROWS]; // of the rows' responses, by column
    float kicks[RB_SUBSTEP_ROWS];                      // m/s, of the kicks along the rows
    float impulses[RB_SUBSTEP_ROWS];                   // N s, of a small step
    float totals[RB_SUBSTEP_ROWS];                     // N s, of the step
} rbSubstepJoint;

// A visit to all joints.
typedef struct rbSubstepJointPass {
    float invStep;  // 1/s, of a small step; 0: velocities are stopped, displacements do not count
    float freePart; // what the kicks alone have added, as a fraction of them
} rbSubstepJointPass;

// Without impulses.
void rbSubstepJoint_Make(rbSubstepJoint* joint, const rbRow* rows, int rowCount,
                         const rbSubstepSide sides[2]);
// Applies the impulses of a small step once.
void rbPushSubstepJoints(const rbSubstepJoint* joints, int count, rbSubstepBody* bodies);
// With invStep: after a small step with these velocities nothing will be displaced along the rows.
// Without: impulses have added no speed along them, and they are summed up.
void rbVisitSubstepJoints(rbSubstepJoint* joints, int count, rbSubstepBody* bodies,
                          const rbSubstepJointPass* pass);
