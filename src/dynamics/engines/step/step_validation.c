// Analysis of mechanisms before they move: which conditions of their joints are redundant, and the
// effective mass of a driven freedom.
//
// Both use the direct solver, whatever solver the steps use, on the conditions of the joints alone:
// motors, springs and velocity-only joints are disabled. A unit impulse along the row j of a
// freedom changes its rate by
//   j W j' - j W B' (B W B')^-1 B W j'
// while the conditions B hold; the inverse of that is the effective mass. (Adding j to the system
// and reading the mass from the inverse would be shorter, but where j depends on redundant
// conditions the solver may drop one of these instead of j.)
#include "dynamics/engines/step/step_state.h"
#include "dynamics/solvers/solver.h"

// A freedom whose response is less than this fraction of its response without joints cannot move:
// the rest is rounding.
#define RESPONSE_LEAST 1e-10

// Disabled rows have infinite compliance.
static double* choosePlay(const rbMechanism* m)
{
    double* compliance = rbAlloc(((size_t)m->rowCount + 1) * sizeof *compliance);
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int k = 0; k < block->rowCount; ++k) {
            compliance[block->firstRow + k] = block->kind == RB_ROW_HOLD ? 0.0 : INFINITY;
        }
    }
    return compliance;
}

static void freePlay(const rbMechanism* m, double* compliance)
{
    rbFree(compliance, ((size_t)m->rowCount + 1) * sizeof *compliance);
}

int rbStepEngine_CountRedundant(const rbStepEngine* engine)
{
    int redundant = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbMechanism* m = &engine->mechanisms.data[i].m;
        if (m->rowCount == 0) {
            continue;
        }
        rbRowSystem system = rbMechanism_GetSystem(m);
        double* compliance = choosePlay(m);
        system.compliance = compliance;
        rbSolver* solver = rbDirectSolver_Create(&system);
        rbDirectSolver_Factor(solver, &system);
        RB_ASSERT(solver->redundantRows >= 0 && solver->redundantRows <= m->rowCount);
        redundant += solver->redundantRows;
        rbDirectSolver_Destroy(solver);
        freePlay(m, compliance);
    }
    return redundant;
}

// rowI W rowJ' of two rows of blocks: through the bodies that they share.
static double couple(const rbMechanism* m, const rbRowBlock* blockI, const rbRow* rowI,
                     const rbRowBlock* blockJ, const rbRow* rowJ)
{
    const int bodiesI[2] = {blockI->bodyA, blockI->bodyB};
    const int bodiesJ[2] = {blockJ->bodyA, blockJ->bodyB};
    double sum = 0.0;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const rbRowMass* mass = &m->masses[bodiesI[i]];
            if (bodiesI[i] == bodiesJ[j] && mass->isDynamic) {
                sum += rbCoupleRows(mass, rowI, i == 0 ? 1.0 : -1.0, rowJ, j == 0 ? 1.0 : -1.0);
            }
        }
    }
    return sum;
}

// The mass that a force along a row between the bodies of a block feels while the joints hold.
static double massAlong(const rbMechanism* m, const rbRowBlock* own, rbRow row)
{
    size_t size = ((size_t)m->rowCount + 1) * sizeof(double);
    double* coupling = rbAllocZero((size_t)m->rowCount + 1, sizeof *coupling);
    double* impulses = rbAllocZero((size_t)m->rowCount + 1, sizeof *impulses);
    for (int i = 0; i < m->blockCount; ++i) {
        const rbRowBlock* block = &m->blocks[i];
        for (int k = 0; k < block->rowCount && block->kind == RB_ROW_HOLD; ++k) {
            int index = block->firstRow + k;
            coupling[index] = couple(m, block, &m->rows[index], own, &row);
        }
    }
    rbRowSystem system = rbMechanism_GetSystem(m);
    double* compliance = choosePlay(m);
    system.compliance = compliance;
    rbSolver* solver = rbDirectSolver_Create(&system);
    rbDirectSolver_Factor(solver, &system);
    rbDirectSolver_Solve(solver, coupling, impulses);
    double alone = couple(m, own, &row, own, &row);
    double response = alone;
    for (int i = 0; i < m->rowCount; ++i) {
        response -= coupling[i] * impulses[i];
    }
    rbDirectSolver_Destroy(solver);
    freePlay(m, compliance);
    rbFree(impulses, size);
    rbFree(coupling, size);
    return response > RESPONSE_LEAST * alone ? 1.0 / response : INFINITY;
}

double rbStepEngine_GetFreedomMass(const rbStepEngine* engine, int joint, int freedom)
{
    RB_ASSERT(joint >= 0 && joint < engine->joints.count);
    const rbStepJointSlot* slot = &engine->joints.data[joint];
    RB_ASSERT(freedom >= 0 && freedom < slot->def.model->freedomCount);
    if (slot->mechanism < 0) {
        return INFINITY;
    }
    const rbMechanism* m = &engine->mechanisms.data[slot->mechanism].m;
    const rbRowBlock* own = &m->blocks[slot->block];
    rbRow row;
    rbFreedomModel_Rows(&slot->def.model->freedoms[freedom], &m->bodies[own->bodyA].pose,
                        &m->bodies[own->bodyB].pose, &row);
    return massAlong(m, own, row);
}

// ------------------------------------------------------------------------------------ springs

// rad per step. A spring is integrated by the midpoint rule, which turns it by 2 atan(w h / 2) in a
// step instead of w h: stable for every w h, but its period is too long by about (w h)^2 / 12, 8 %
// at this limit, and without bound beyond. There the digits of its energy, k x^2 / 2 with x known
// to a rounding of the positions, are lost too.
#define TURN_MOST 1.0
// Springs of which the joints are asked; each costs a factorization of its mechanism.
#define STIFF_MAX 64

rbStepStiff rbStep_FindStiff(const rbStepEngine* engine)
{
    rbStepStiff stiff = {.spring = -1, .joint = -1, .period = INFINITY};
    double most = TURN_MOST / engine->settings.step;
    int asked = 0;
    for (int i = 0; i < engine->mechanisms.count; ++i) {
        const rbStepMechanism* mechanism = &engine->mechanisms.data[i];
        const rbMechanism* m = &mechanism->m;
        for (int k = 0; k < m->blockCount; ++k) {
            const rbRowBlock* block = &m->blocks[k];
            rbRow row = m->rows[block->firstRow];
            double alone = block->kind == RB_ROW_SPRING ? couple(m, block, &row, block, &row) : 0.0;
            // Joints only make bodies heavier.
            if (!(block->stiffness * alone > most * most) || asked >= STIFF_MAX) {
                continue;
            }
            ++asked;
            double response = 1.0 / massAlong(m, block, row);
            double rate = sqrt(block->stiffness * response);
            // One that is damped more than critically creeps.
            if (!(rate > most) || block->damping * response >= 2.0 * rate) {
                continue;
            }
            double period = 2.0 * RB_PI / rate;
            bool isSpring = mechanism->infos[k].role == RB_ROLE_SPRING;
            stiff.count += 1;
            if (period < stiff.period) {
                stiff.period = period;
                stiff.spring = isSpring ? mechanism->infos[k].owner : -1;
                stiff.joint = isSpring ? -1 : mechanism->infos[k].owner;
            }
        }
    }
    return stiff;
}

rbStepStiff rbStepEngine_GetStiff(const rbStepEngine* engine)
{
    return engine->stiff;
}
