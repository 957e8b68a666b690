#include "cli/rank_frames.h"

#include "base/core/memory.h"
#include "base/core/status.h"

#include <rattleback/output.h>

#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>

#define PATH_SIZE 4096
#define PATH_FORMAT "%.3000s/%.63s_%06" PRId64 ".%s"

int64_t rbStepOfFrame(const rbSceneInfo* info, int64_t frame)
{
    return (int64_t)ceil((double)frame * info->outputStep / info->step.step * (1.0 - 1e-12));
}

// ------------------------------------------------------------------------------------------- lists

static rbStatus writePvd(const char* folder, const rbSceneInfo* info, int64_t count, rbError* error)
{
    char path[PATH_SIZE];
    char text[RB_NUMBER_TEXT_SIZE];
    (void)snprintf(path, sizeof path, "%.3000s/%.63s.pvd", folder, info->name);
    FILE* file = fopen(path, "wb");
    RB_REFUSE_IF(file == NULL, RB_STATUS_IO, error, "%.3000s: cannot create it", path);
    (void)fprintf(file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                        "byte_order=\"LittleEndian\">\n<Collection>\n");
    for (int64_t i = 0; i < count; ++i) {
        (void)rbFormatNumber((double)rbStepOfFrame(info, i) * info->step.step, text);
        (void)fprintf(file, "<DataSet timestep=\"%s\" part=\"0\" file=\"%s_%06" PRId64 ".vtp\"/>\n",
                      text, info->name, i);
    }
    (void)fprintf(file, "</Collection>\n</VTKFile>\n");
    bool isBad = ferror(file) != 0;
    isBad = fclose(file) != 0 || isBad;
    RB_REFUSE_IF(isBad, RB_STATUS_IO, error, "%.3000s: cannot write it", path);
    return RB_STATUS_OK;
}

static rbStatus writeXdmf(const char* folder, const rbSceneInfo* info, int64_t count,
                          rbError* error)
{
    char path[PATH_SIZE];
    char(*names)[PATH_SIZE] = rbAlloc((size_t)count * PATH_SIZE);
    const char** frames = rbAlloc((size_t)count * sizeof *frames);
    for (int64_t i = 0; i < count; ++i) {
        (void)snprintf(names[i], PATH_SIZE, PATH_FORMAT, folder, info->name, i, "h5");
        frames[i] = names[i];
    }
    (void)snprintf(path, sizeof path, "%.3000s/%.63s.xdmf", folder, info->name);
    rbStatus status = rbWriteXdmf(path, frames, (int)count, error);
    rbFree(frames, (size_t)count * sizeof *frames);
    rbFree(names, (size_t)count * PATH_SIZE);
    return status;
}

// ------------------------------------------------------------------------------------------ frames

static const struct {
    const char* option;
    const char* extension;
    rbStatus (*write)(rbCluster* cluster, const char* path, rbError* error);
    rbStatus (*list)(const char* folder, const rbSceneInfo* info, int64_t count, rbError* error);
} formats[RB_RANK_FORMATS] = {{"--vtk-points", "vtp", rbCluster_WritePoints, writePvd},
                              {"--hdf5", "h5", rbCluster_WriteHdf5, writeXdmf}};

void rbRankFrames_Read(rbRankFrames* frames, const rbArguments* arguments)
{
    for (int i = 0; i < RB_RANK_FORMATS; ++i) {
        frames->folders[i] = rbArguments_Get(arguments, formats[i].option);
    }
}

bool rbRankFrames_AreWanted(const rbRankFrames* frames)
{
    bool isWanted = false;
    for (int i = 0; i < RB_RANK_FORMATS; ++i) {
        isWanted = isWanted || frames->folders[i] != NULL;
    }
    return isWanted;
}

void rbRankFrames_Open(const rbRankFrames* frames)
{
    for (int i = 0; i < RB_RANK_FORMATS; ++i) {
        if (frames->folders[i] != NULL) {
            (void)mkdir(frames->folders[i], 0777); // if that fails, so does the first file
        }
    }
}

rbStatus rbRankFrames_Write(const rbRankFrames* frames, rbCluster* cluster, const rbSceneInfo* info,
                            int64_t frame, rbError* error)
{
    for (int i = 0; i < RB_RANK_FORMATS; ++i) {
        if (frames->folders[i] != NULL) {
            char path[PATH_SIZE];
            (void)snprintf(path, sizeof path, PATH_FORMAT, frames->folders[i], info->name, frame,
                           formats[i].extension);
            RB_TRY(formats[i].write(cluster, path, error));
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbRankFrames_Finish(const rbRankFrames* frames, const rbSceneInfo* info, int64_t count,
                             rbError* error)
{
    for (int i = 0; i < RB_RANK_FORMATS; ++i) {
        if (frames->folders[i] != NULL) {
            RB_TRY(formats[i].list(frames->folders[i], info, count, error));
        }
    }
    return RB_STATUS_OK;
}
