// Gases and heaps of spheres for the tests of domains; the same bits on any number of ranks.
#pragma once

#include "rb_test.h"

#include <rattleback/cluster.h>

// All ranks of this run, opened once.
rbRanks* rbTestRanks(void);

// A cubic lattice of edge^3 spheres of diameter 1 and mass 1 in a periodic cube, of which they fill
// a tenth, all with speed 10 in directions by uid. stepPart: diameters per step at this speed.
typedef struct rbTestGas {
    int edge;
    double stepPart;
    const char* partition;
    int partitionInterval;
} rbTestGas;

#define RB_TEST_GAS_SPEED 10.0

rbCluster* rbCreateTestGas(rbRanks* ranks, const rbTestGas* gas);
// Steps until a sphere has collided this often on average.
int64_t rbCountGasSteps(const rbTestGas* gas, double collisionsPerBody);

// Spheres of two sizes that fall on a floor, periodic in x and y.
typedef struct rbTestHeap {
    int edge; // edge x edge x layers spheres
    int layers;
    bool isEmpty; // without them
    double friction;
    const char* partition;
    int partitionInterval;
} rbTestHeap;

rbCluster* rbCreateTestHeap(rbRanks* ranks, const rbTestHeap* heap);

void rbAdvanceCluster(rbCluster* cluster, int64_t steps);
