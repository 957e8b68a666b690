// Responses of bodies to impulses and the full matrix of a system of rows.
#include "lab/joints/row_matrices.h"

#include "base/math/matrix3.h"
#include "lab/math/rotations.h"

#include <string.h>

rbMat3 rbResponse_K(const rbRowMass* mass, rbVec3 rA, rbVec3 rB)
{
    // 1/m - rA* J^-1 rB*
    rbMat3 inner =
        rbMulMM(rbMulMM(rbCrossMatrix(rA), rbMatFromSym(mass->invInertia)), rbCrossMatrix(rB));
    rbMat3 k = {{mass->invMass - inner.cx.x, -inner.cx.y, -inner.cx.z},
                {-inner.cy.x, mass->invMass - inner.cy.y, -inner.cy.z},
                {-inner.cz.x, -inner.cz.y, mass->invMass - inner.cz.z}};
    return k;
}

rbMat3 rbResponse_L(const rbRowMass* mass)
{
    return rbMatFromSym(mass->invInertia);
}

rbMat3 rbResponse_W(const rbRowMass* mass, rbVec3 rA)
{
    return rbMulMM(rbMatFromSym(mass->invInertia), rbCrossMatrix(rA));
}

rbMat3 rbResponse_U(const rbRowMass* mass, rbVec3 rA)
{
    return rbTranspose(rbResponse_W(mass, rA));
}

// Adds the coupling of two blocks through one body to the matrix.
static void addCoupling(const rbRowSystem* system, const rbRowBlock* i, const rbRowBlock* j,
                        int body, double* matrix)
{
    const rbRowMass* mass = &system->masses[body];
    for (int sideI = 0; sideI < 2; ++sideI) {
        for (int sideJ = 0; sideJ < 2; ++sideJ) {
            if ((sideI == 0 ? i->bodyA : i->bodyB) != body ||
                (sideJ == 0 ? j->bodyA : j->bodyB) != body) {
                continue;
            }
            for (int r = i->firstRow; r < i->firstRow + i->rowCount; ++r) {
                for (int c = j->firstRow; c < j->firstRow + j->rowCount; ++c) {
                    matrix[c * system->rowCount + r] +=
                        rbCoupleRows(mass, &system->rows[r], sideI == 0 ? 1.0 : -1.0,
                                     &system->rows[c], sideJ == 0 ? 1.0 : -1.0);
                }
            }
        }
    }
}

void rbRowSystem_Assemble(const rbRowSystem* system, double* matrix)
{
    int n = system->rowCount;
    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    for (int i = 0; i < system->blockCount; ++i) {
        for (int j = 0; j < system->blockCount; ++j) {
            const rbRowBlock* blockI = &system->blocks[i];
            const rbRowBlock* blockJ = &system->blocks[j];
            int bodies[2] = {blockI->bodyA, blockI->bodyB};
            for (int k = 0; k < 2; ++k) {
                bool isShared = blockJ->bodyA == bodies[k] || blockJ->bodyB == bodies[k];
                if (isShared && system->masses[bodies[k]].isDynamic) {
                    addCoupling(system, blockI, blockJ, bodies[k], matrix);
                }
            }
        }
    }
    for (int r = 0; r < n; ++r) {
        if (system->compliance[r] < INFINITY) {
            matrix[r * n + r] += system->compliance[r];
            continue;
        }
        for (int c = 0; c < n; ++c) {
            matrix[c * n + r] = 0.0;
            matrix[r * n + c] = 0.0;
        }
        matrix[r * n + r] = 1.0;
    }
}
