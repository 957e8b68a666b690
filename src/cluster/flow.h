// Inlets and outlets: what comes and goes does not depend on the ranks. Uids are those of the inlet
// and its counter; sizes follow from uids, and places from uids and steps.
#pragma once

#include "cluster/domain.h"

#define RB_FLOW_MAX RB_CLUSTER_FLOWS_MAX

// Of all ranks; all have the same.
typedef struct rbFlowState {
    int64_t inserted[RB_FLOW_MAX];       // by each inlet
    int64_t removed[RB_FLOW_MAX];        // by each outlet
    rbExactSum removedMass[RB_FLOW_MAX]; // kg
} rbFlowState;

typedef struct rbFlow {
    rbClusterInlet inlets[RB_FLOW_MAX];
    rbBounds outlets[RB_FLOW_MAX];
    int inletCount, outletCount;
    rbFlowState state;
} rbFlow;

struct rbCluster;

// What is due at the beginning of a step; collective. Rebuilds the domain if anything has changed.
void rbFlow_Run(struct rbCluster* cluster);
