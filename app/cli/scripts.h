// Modules that are scripts: hooks before and after the steps of a run. A program has a host for
// them if it embeds their interpreter (app/python), otherwise it refuses them.
#pragma once

#include <rattleback/scene.h>

#include <stdbool.h>

// When the hooks of scripts are called.
typedef enum rbScriptMoment {
    RB_SCRIPT_START,       // the world is prepared
    RB_SCRIPT_BEFORE_STEP, // at times of the grid of steps
    RB_SCRIPT_AFTER_STEP,  // likewise
    RB_SCRIPT_FINISH,      // after the last step
} rbScriptMoment;

typedef struct rbScriptHost {
    rbStatus (*load)(const char* path, rbError* error);
    rbStatus (*call)(rbScriptMoment moment, const rbScene* scene, rbWorld* world, rbError* error);
} rbScriptHost;

#define RB_SCRIPT_ENDING ".py" // of the names of scripts

// The host of this program, which must outlive it; none by default.
void rbUseScripts(const rbScriptHost* host);

bool rbIsScript(const char* path);
// Loads a script. UNSUPPORTED in a program without a host.
rbStatus rbLoadScript(const char* path, rbError* error);
// Number of loaded scripts, and the path of one as it was given.
int rbGetScriptCount(void);
const char* rbGetScriptPath(int index);
// Calls the hooks of all scripts, in their order; OK without scripts.
rbStatus rbCallScripts(rbScriptMoment moment, const rbScene* scene, rbWorld* world, rbError* error);
