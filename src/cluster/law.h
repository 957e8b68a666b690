// Laws of contact on domains: rows of one table. A law changes velocities only, color by color, and
// both owners of a contact compute it with the same bits.
#pragma once

#include "cluster/flow.h"

struct rbCluster;

typedef struct rbLaw {
    const char* name;
    // Refuses values of a definition that the law does not support.
    rbStatus (*checkFn)(const rbClusterDef* def, rbError* error);
    // m: contacts are pairs whose surfaces are closer.
    double (*reachFn)(const rbClusterDef* def);
    // Solves the contacts of a step; collective.
    void (*solveFn)(struct rbCluster* cluster);
} rbLaw;

// Brings spheres to their owners before the first step; does nothing after that.
void rbCluster_Build(struct rbCluster* cluster);
// Time of the present step, s.
double rbCluster_GetTime(const struct rbCluster* cluster);

extern const rbLaw rbLawElastic;
extern const rbLaw rbLawGranular;

// A contact of a step, prepared once; see granular.c.
typedef struct rbRow {
    int a, b, pair; // bodies and near pair, b < 0: a wall
    rbVec3 normal;  // from a to b
    double radiusA, radiusB;
    rbVec3 wallVelocity;   // m/s, where b is a wall
    rbVec3 wallSpin;       // rad/s
    double friction;       // coefficient
    double rolling;        // m, of torque against rolling per normal force
    double target;         // m/s: normal velocity of separation at least
    double normalMass;     // kg
    double tangentialMass; // kg
    double rollingInertia; // kg m^2
    rbVec3 impulse;        // N s, on b
    rbVec3 roll;           // N m s, on b
} rbRow;

struct rbCluster {
    rbRanks* ranks; // borrowed
    rbClusterDef def;
    const rbLaw* law;
    rbDomain domain;
    rbFlow flow;
    rbClusterPair pairs[RB_CLUSTER_MATERIALS_MAX * RB_CLUSTER_MATERIALS_MAX];
    RB_ARRAY(rbRow) rows; // in the order of contacts
    int64_t stepCount;
    int64_t collisions;    // elastic: counted by the owner of the lower uid
    rbExactSum virial;     // J
    double penetrationMax; // m, of this rank
    bool isBuilt;
    uint64_t lostUid; // of a body that is nowhere
    bool hasLost;
    double startTime; // wall clock, s
};
