// Rows: the form in which joints, motors, springs and contacts state their conditions, and which
// solvers read. Neither side depends on the other.
//
// A row is a scalar condition between bodies A and B. Its error e grows with the motion of B
// relative to A:
//   de/dt = linear . (vB - vA) + angularB . wB - angularA . wA,
// and an impulse x along it acts on A with +x (linear, angularA) and on B with -x (linear,
// angularB): a positive impulse reduces the error. Angular parts are about the centers of mass; all
// in world axes. (The specification's body 1 is A, its body 2 is B.)
#pragma once

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#define RB_BLOCK_ROWS_MAX 6

// Pose of a body: center of mass and principal axes.
typedef struct rbRowPose {
    rbVec3 position;
    rbQuat orientation;
    rbMat3 rotation; // the same as a matrix
} rbRowPose;

typedef struct rbRow {
    rbVec3 linear, angularA, angularB;
} rbRow;

// The rows of a block at poses, and its errors (m, rad). Pure functions of data and poses.
typedef void rbBlockRowsFn(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                           rbRow* rows);
typedef void rbBlockErrorsFn(const void* data, const rbRowPose* poseA, const rbRowPose* poseB,
                             double* errors);

typedef enum rbRowKind {
    RB_ROW_HOLD,   // the error is zero at the end of the step, and so is its rate
    RB_ROW_TRAVEL, // the error changes by a stated speed times the step; the rate is that speed;
                   // the impulse may be limited (velocity-only joints, dry friction, drives)
    RB_ROW_SPRING, // an elastic force and damping along the row
    RB_ROW_KIND_COUNT
} rbRowKind;

// Rows between the same two bodies that are solved together.
typedef struct rbRowBlock {
    int bodyA; // in the mechanism
    int bodyB;
    int firstRow;
    int rowCount; // 1..6
    rbRowKind kind;
    uint32_t angleMask; // bit i: row i is measured in rad, not m; angles wrap at pi
    rbBlockRowsFn* rows;
    rbBlockErrorsFn* errors;
    const void* data;
    double stiffness; // SPRING: N/m or N m/rad
    double rest;      // SPRING: error at which it is relaxed
    double damping;   // SPRING: N s/m or N m s/rad
    bool isOpposed;   // TRAVEL, one row: the next block prescribes another speed for the same
                      // freedom
    bool isFar;       // the same: more than a quarter of a turn beyond that of its joint in a step
} rbRowBlock;

// Inertia of a body at an instant. Zero for bodies that are not dynamic.
typedef struct rbRowMass {
    double invMass;
    rbSym3 invInertia; // world axes
    bool isDynamic;
} rbRowMass;

// The system of rows of one mechanism at an instant:
//   (B W B^T + C) x = r,
// W the inverse mass matrix, B the rows (+ on A, - on B), C = diag(compliance).
typedef struct rbRowSystem {
    int bodyCount;
    const rbRowMass* masses;
    int blockCount;
    const rbRowBlock* blocks; // ordered; their rows are contiguous
    int rowCount;
    const rbRow* rows;
    const double* compliance; // >= 0, 1/kg or 1/(kg m^2); INFINITY: the row is inactive, x = 0
} rbRowSystem;

// rowI W rowJ^T of two rows of blocks through one body; sides: +1 the body is A of the row's block,
// -1 it is B.
static inline double rbCoupleRows(const rbRowMass* mass, const rbRow* rowI, double sideI,
                                  const rbRow* rowJ, double sideJ)
{
    rbVec3 aI = sideI > 0.0 ? rowI->angularA : rowI->angularB;
    rbVec3 aJ = sideJ > 0.0 ? rowJ->angularA : rowJ->angularB;
    double linear = mass->invMass * rbDot(rowI->linear, rowJ->linear);
    return sideI * sideJ * (linear + rbDot(aI, rbMulSV(mass->invInertia, aJ)));
}
