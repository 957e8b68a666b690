#include "cli/scripts.h"

#include <string.h>

#define SCRIPTS_MAX 16

static struct {
    const rbScriptHost* host;
    const char* paths[SCRIPTS_MAX]; // of argv
    int count;
} scripts;

void rbUseScripts(const rbScriptHost* host)
{
    scripts.host = host;
}

bool rbIsScript(const char* path)
{
    size_t length = strlen(path);
    size_t ending = strlen(RB_SCRIPT_ENDING);
    return length > ending && strcmp(path + length - ending, RB_SCRIPT_ENDING) == 0;
}

rbStatus rbLoadScript(const char* path, rbError* error)
{
    if (scripts.host == NULL) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "module %.150s: this program is built without Python; configure it with "
                           "-DRB_PYTHON=ON, or use build/release/python/rattleback of 'make "
                           "python'",
                           path);
    }
    if (scripts.count == SCRIPTS_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "module %.150s: there are already %d scripts, the limit", path,
                           SCRIPTS_MAX);
    }
    rbStatus status = scripts.host->load(path, error);
    if (status == RB_STATUS_OK) {
        scripts.paths[scripts.count++] = path;
    }
    return status;
}

int rbGetScriptCount(void)
{
    return scripts.count;
}

const char* rbGetScriptPath(int index)
{
    RB_ASSERT(index >= 0 && index < scripts.count);
    return scripts.paths[index];
}

rbStatus rbCallScripts(rbScriptMoment moment, const rbScene* scene, rbWorld* world, rbError* error)
{
    return scripts.count > 0 ? scripts.host->call(moment, scene, world, error) : RB_STATUS_OK;
}
