// Random systems of rows for the tests of solvers, and a dense reference in long double.
#pragma once

#include "base/core/random.h"
#include "dynamics/solvers/solver.h"

typedef enum SystemShape {
    SHAPE_CHAIN, // hangs from a static body
    SHAPE_TREE,  // random, free
    SHAPE_HUB,   // one body carries all others
    SHAPE_RING,  // closed through a static body
    SHAPE_NET,   // square net, hung up at two corners
    SHAPE_ANY,   // random pairs, several between the same two bodies, static bodies among them
    SHAPE_COUNT
} SystemShape;

typedef struct SystemOptions {
    SystemShape shape;
    int bodyCount; // dynamic bodies
    int rowsMin;   // of a block
    int rowsMax;
    double massDecades; // masses are spread over this many powers of ten
    double softShare;   // of rows with finite compliance
    double outShare;    // of inactive rows
} SystemOptions;

typedef struct TestSystem {
    rbRowSystem view;
    rbRowMass* masses;
    rbVec3* centers;
    rbRowBlock* blocks;
    rbRow* rows;
    double* compliance;
    int blockCapacity;
} TestSystem;

// Empty, with bodies: body 0 is static, all others dynamic with random masses and places.
TestSystem makeBodies(rbRandom* random, int dynamicCount, double massDecades);
// Rows of a joint at a point: translations along the first of three axes, then rotations about
// them.
void addBlock(TestSystem* system, int bodyA, int bodyB, rbVec3 point, const rbVec3 axes[3],
              int rowCount);
// The five rows of a hinge.
void addHinge(TestSystem* system, int bodyA, int bodyB, rbVec3 point, rbVec3 axis);
TestSystem makeSystem(rbRandom* random, const SystemOptions* options);
void freeSystem(TestSystem* system);

// M = B W B^T + C, row major, from B and W in full. Inactive rows are zero.
long double* makeDense(const TestSystem* test);
// Gaussian elimination with complete pivoting; false if M is singular to about 1e-15.
bool solveDense(const TestSystem* test, const double* r, double* x);

// Random numbers, and M times random numbers, which is consistent for a redundant system. The
// caller frees them.
double* randomRight(rbRandom* random, int count);
double* consistentRight(rbRandom* random, const long double* dense, int count);

// Random options: half of the systems with blocks of one size, a third with springs, a third with
// inactive rows.
SystemOptions randomOptions(rbRandom* random, int bodiesMost, double massDecades);

// Largest |M x - r| of an active row whose block is not cut, relative to the sum of the sizes of
// its terms.
double findResidual(const TestSystem* test, const long double* dense, const rbSolver* solver,
                    const double* r, const double* x);
