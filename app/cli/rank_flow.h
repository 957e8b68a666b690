// Inlets, outlets and regions of a run on the ranks of MPI, from the command line, and the table of
// what they measure.
#pragma once

#include "cli/cli.h"
#include "cli/rank_scene.h"

#include <stdio.h>

#define RB_RANK_REGIONS_MAX 16

typedef struct rbRankFlow {
    rbBounds regions[RB_RANK_REGIONS_MAX];
    int regionCount, inletCount, outletCount;
    FILE* table; // on rank 0; NULL: none
    double lastTime;
    double lastMass[RB_CLUSTER_FLOWS_MAX]; // kg, that had left by each outlet
} rbRankFlow;

// The largest radius of all inlets, m; 0: there are none.
rbStatus rbRankFlow_FindRadius(const rbArguments* arguments, double* radiusMax, rbError* error);
// Adds inlets and outlets to a cluster, with materials of the scene.
rbStatus rbRankFlow_Read(rbRankFlow* flow, const rbArguments* arguments, rbRankScene* read,
                         const rbScene* scene, rbError* error);
// Opens the table, on rank 0.
rbStatus rbRankFlow_Open(rbRankFlow* flow, const char* path, rbError* error);
// Measures, and adds a line to the table. Collective.
void rbRankFlow_Write(rbRankFlow* flow, rbCluster* cluster, double time);
rbStatus rbRankFlow_Close(rbRankFlow* flow, const char* path, rbError* error);
