// Other forms of rotations: matrices kept orthonormal (B-05), Euler angles, determinants and
// general inverses (B-09), axis and angle, rotation vectors (B-06, L-08).
#pragma once

#include <rattleback/vecmath.h>

// Matrix of the cross product: rbCrossMatrix(a) b = a x b.
rbMat3 rbCrossMatrix(rbVec3 a);

// A symmetric matrix in full, and the symmetric part (m + m^T)/2 of a full one.
rbMat3 rbMatFromSym(rbSym3 s);
rbSym3 rbSymFromMat(rbMat3 m);

double rbMat3_Determinant(rbMat3 m);
double rbSym3_Determinant(rbSym3 s);

// Inverse by cofactors after scaling rows and columns by powers of two. False, and *inverse
// unchanged, when the matrix is singular to working precision.
bool rbMat3_Invert(rbMat3 m, rbMat3* inverse);

typedef struct rbOrthonormal3 {
    rbMat3 matrix;
    double error; // largest |cosine| between two of the axes, before the last normalization
    int iterations;
    bool converged; // false, and matrix the input, when the input is not right-handed
} rbOrthonormal3;

// The rotation nearest to m, by averaging m with its inverse transpose: r1 <- (r1 + (r2 x r3)/D)/2,
// cyclic, D = r1 . (r2 x r3), until the axes are orthogonal within tolerance; then they are
// normalized.
rbOrthonormal3 rbMat3_Orthonormalize(rbMat3 m, double tolerance);

// R = Rx(a.x) Ry(a.y) Rz(a.z), and back with a.y in [-pi/2, pi/2] and the others in [-pi, pi].
// Where a.y = +-pi/2 the other two are not unique; those returned still give the same matrix.
rbMat3 rbMatFromEuler(rbVec3 angles);
rbVec3 rbEulerFromMat(rbMat3 r);

typedef struct rbAxisAngle {
    rbVec3 axis;  // unit
    double angle; // in [0, pi]
} rbAxisAngle;

// Axis and angle of a unit quaternion, the shorter rotation; the identity has angle 0 and axis (1,
// 0, 0).
rbAxisAngle rbQuat_ToAxisAngle(rbQuat q);

// Rotation matrix about a unit axis (Rodrigues).
rbMat3 rbMatFromAxisAngle(rbVec3 axis, double angle);

// Rotation vector of a unit quaternion, of length at most pi.
rbVec3 rbQuat_Log(rbQuat q);
