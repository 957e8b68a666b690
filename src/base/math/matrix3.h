// 3x3 matrices: inverses and eigenvectors (B-09, L-07).
//
// Matrices hold their columns, see vecmath.h. Nothing here allocates; every function is a fixed
// sequence of operations for a given input.
#pragma once

#include <rattleback/vecmath.h>

#define RB_MAT3_IDENTITY ((rbMat3){{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}})

// Component or column 0, 1 or 2.
static inline double rbGetComponent(rbVec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

// Largest magnitude of a component.
static inline double rbLargestComponent(rbVec3 v)
{
    rbVec3 a = rbAbs3(v);
    double m = a.x > a.y ? a.x : a.y;
    return m > a.z ? m : a.z;
}

static inline rbVec3 rbMat3_GetColumn(rbMat3 m, int column)
{
    return column == 0 ? m.cx : column == 1 ? m.cy : m.cz;
}

static inline rbSym3 rbSymFromDiagonal(rbVec3 d)
{
    return (rbSym3){d.x, d.y, d.z, 0.0, 0.0, 0.0};
}

static inline rbSym3 rbAddSym(rbSym3 a, rbSym3 b)
{
    return (rbSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

static inline rbSym3 rbScaleSym(double f, rbSym3 a)
{
    return (rbSym3){f * a.xx, f * a.yy, f * a.zz, f * a.xy, f * a.xz, f * a.yz};
}

// Inverse and solution of s x = b. The matrix is scaled to a unit diagonal (by powers of two) and
// factored as L D L^T: the accuracy depends on the condition of the scaled matrix only, so bodies
// of very different sizes are handled well. False, and the result unchanged, when the matrix is not
// positive definite to working precision.
bool rbSym3_Invert(rbSym3 s, rbSym3* inverse);
bool rbSym3_Solve(rbSym3 s, rbVec3 b, rbVec3* x);

// r s r^T: a tensor given in a frame whose axes are the columns of r.
rbSym3 rbSym3_Rotate(rbSym3 s, rbMat3 r);

// r diag(d) r^T, as for an inertia tensor in its principal frame.
rbSym3 rbSym3_FromPrincipal(rbVec3 d, rbMat3 r);

typedef struct rbEigen3 {
    rbVec3 values; // unsorted; values.x belongs to axes.cx and so on
    rbMat3 axes;   // orthonormal columns, determinant +1
    int sweeps;    // of the Jacobi iteration
    bool converged;
} rbEigen3;

// s = axes diag(values) axes^T by cyclic Jacobi rotations; each value is good to a few eps times
// the largest. A diagonal matrix is returned unchanged, in its order, with the identity as axes.
rbEigen3 rbSym3_Diagonalize(rbSym3 s);
