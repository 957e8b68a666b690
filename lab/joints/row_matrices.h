// Full matrices of rows and bodies, for dense methods and for tests of the solvers.
#pragma once

#include "dynamics/constraints/rows.h"

// Responses of a body to an impulse p at point b or an angular impulse l (B-10); r = point -
// center.
//   K: change of velocity of the point a by p at b     L: of the spin by l
//   W: of the spin by p at a                           U: of the velocity of the point a by l
rbMat3 rbResponse_K(const rbRowMass* mass, rbVec3 rA, rbVec3 rB);
rbMat3 rbResponse_L(const rbRowMass* mass);
rbMat3 rbResponse_W(const rbRowMass* mass, rbVec3 rA);
rbMat3 rbResponse_U(const rbRowMass* mass, rbVec3 rA);

// The full matrix B W B^T + C, column major, rowCount x rowCount; infinite compliance gives a unit
// row.
void rbRowSystem_Assemble(const rbRowSystem* system, double* matrix);
