// Scenes of spheres and walls as clusters, for runs on the ranks of MPI.
#pragma once

#include <rattleback/cluster.h>
#include <rattleback/scene.h>

typedef struct rbRankScene {
    rbWorld* world;     // of the whole scene: it knows the paths of the walls
    rbCluster* cluster; // borrows the world
    double radiusMax;   // m; before the scene is read: at least this
    rbMaterial materials[RB_CLUSTER_MATERIALS_MAX];
    int materialCount;
    rbBounds region; // m, of all spheres and bounded walls
    bool isGas;      // elastic spheres without gravity or walls: the law "elastic"
} rbRankScene;

// The walls, materials and settings of a scene; spheres only if hasSpheres: a checkpoint has its
// own. Refuses what domains do not support, with the body and the remedy. Collective.
rbStatus rbRankScene_Read(rbRankScene* read, rbRanks* ranks, const rbScene* scene, bool hasSpheres,
                          rbError* error);
// The index of the material of a sphere or wall; -1: none has it.
int rbRankScene_FindMaterial(const rbRankScene* read, const rbMaterial* material);
void rbRankScene_Free(rbRankScene* read);
