// Penalty method (B-47): springs and dampers replace joints.
//
// Row by row F = -alpha J^T (Omega^2 C + 2 Omega mu C'). alpha is the effective mass of the row,
// 1/diagonal of B W B^T, so that a single row oscillates with the angular frequency Omega, and mu =
// 1 is critical damping for any masses. The C'' of the published formula needs accelerations before
// the forces are known and is omitted, as is usual. Joints yield by about load / (alpha Omega^2);
// RK4 needs Omega h below about 1.
#include "lab/joints/classical_state.h"

static void hold(rbClassical* classical, rbMechanism* mechanism, double time)
{
    (void)time;
    double omega = classical->settings.penaltyFrequency;
    double mu = classical->settings.penaltyDamping;
    RB_ASSERT(omega >= 0.0 && mu >= 0.0);
    double rates[RB_BLOCK_ROWS_MAX];
    double errors[RB_BLOCK_ROWS_MAX];
    rbAddSoftForces(mechanism, classical->h, true);
    for (int i = 0; i < mechanism->blockCount; ++i) {
        const rbRowBlock* block = &mechanism->blocks[i];
        if (block->kind != RB_ROW_HOLD) {
            continue;
        }
        block->errors(block->data, &mechanism->bodies[block->bodyA].pose,
                      &mechanism->bodies[block->bodyB].pose, errors);
        rbMechanism_Rates(mechanism, i, rates);
        for (int row = 0; row < block->rowCount; ++row) {
            double alpha = rbGetRowMass(mechanism, block, row);
            double x = alpha * (omega * omega * errors[row] + 2.0 * omega * mu * rates[row]);
            rbAddRowForce(mechanism, block, row, x);
        }
    }
}

const rbClassicalOps rbPenaltyOps = {.name = "penalty", .hold = hold};
