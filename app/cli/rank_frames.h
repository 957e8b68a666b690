// Files of spheres that a run on the ranks of MPI writes at its outputs: a folder per format.
#pragma once

#include "cli/cli.h"

#include <rattleback/cluster.h>
#include <rattleback/scene.h>

#define RB_RANK_FORMATS 2

typedef struct rbRankFrames {
    const char* folders[RB_RANK_FORMATS]; // NULL: not wanted
} rbRankFrames;

void rbRankFrames_Read(rbRankFrames* frames, const rbArguments* arguments);
bool rbRankFrames_AreWanted(const rbRankFrames* frames);
// Makes the folders, on rank 0.
void rbRankFrames_Open(const rbRankFrames* frames);
// One output. Collective.
rbStatus rbRankFrames_Write(const rbRankFrames* frames, rbCluster* cluster, const rbSceneInfo* info,
                            int64_t frame, rbError* error);
// The lists of all frames, which ParaView opens, on rank 0.
rbStatus rbRankFrames_Finish(const rbRankFrames* frames, const rbSceneInfo* info, int64_t count,
                             rbError* error);
// The first step that is not before an output.
int64_t rbStepOfFrame(const rbSceneInfo* info, int64_t frame);
