// How fast a mechanism oscillates under the forces its joints carry.
//
// A joint that pulls a body at an arm r with a force F holds it upright as a taut string does:
// about an axis across the arm with the stiffness r . F. A rod of length L that pulls with T holds
// both of its ends with T/L. Light links between heavy bodies oscillate so fast that a step, which
// feels these forces only at its start and its end, would be unstable at h w > 2 (B-45: the
// look-ahead does not show it before it is too late).
#include "dynamics/engines/step/step_state.h"

// Neighbors that oscillate against each other double the stiffness of a rod.
#define NEIGHBORS 2.0

// Square of the frequency of a body under a force at an arm.
static double turnRate(const rbRowMass* mass, rbVec3 arm, rbVec3 force)
{
    double stiffness = rbDot(arm, force);
    if (!mass->isDynamic || !(stiffness > 0.0)) {
        return 0.0;
    }
    rbVec3 unit = rbNormalize(arm);
    rbVec3 n1 = rbPerpendicular(unit);
    rbVec3 n2 = rbCross(unit, n1);
    double response =
        fmax(rbDot(n1, rbMulSV(mass->invInertia, n1)), rbDot(n2, rbMulSV(mass->invInertia, n2)));
    return stiffness * response;
}

double rbStep_GetSwing(const rbStepMechanism* mechanism, double h)
{
    // Impulses of both ends together: residuals of look-ahead within its tolerance cancel.
    const rbMechanism* m = &mechanism->m;
    double* squares = mechanism->copies.scratch; // per body
    double most = 0.0;
    for (int i = 0; i < m->bodyCount; ++i) {
        squares[i] = 0.0;
    }
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        if (mechanism->infos[i].role != RB_ROLE_JOINT) {
            continue;
        }
        const rbJointModel* model = block->data;
        const rbPartModel* part = &model->parts[0];
        rbVec3 force = RB_VEC3_ZERO; // on A
        for (int k = 0; k < block->rowCount; ++k) {
            int row = block->firstRow + k;
            force = rbAddScaled(force, mechanism->rows.totals[row] / h, m->rows[row].linear);
        }
        const rbMechBody* bodyA = &m->bodies[block->bodyA];
        const rbMechBody* bodyB = &m->bodies[block->bodyB];
        rbVec3 rA = rbMulMV(bodyA->pose.rotation, part->pointA);
        rbVec3 rB = rbMulMV(bodyB->pose.rotation, part->pointB);
        squares[block->bodyA] += turnRate(&m->masses[block->bodyA], rA, force);
        squares[block->bodyB] += turnRate(&m->masses[block->bodyB], rB, rbNeg(force));
        // Positive along the row is a pull.
        double pull = mechanism->rows.totals[block->firstRow] / h;
        if (part->distance > 0.0 && pull > 0.0) {
            double stiffness = NEIGHBORS * pull / part->distance;
            squares[block->bodyA] += stiffness * bodyA->invMass;
            squares[block->bodyB] += stiffness * bodyB->invMass;
        }
    }
    for (int i = 0; i < m->bodyCount; ++i) {
        most = fmax(most, squares[i]);
    }
    return sqrt(most);
}
