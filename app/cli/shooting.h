// Pictures and videos of a run.
#ifndef RB_CLI_SHOOTING_H
#define RB_CLI_SHOOTING_H

#include "cli/cli.h"
#include "render/view.h"

#include <rattleback/scene.h>

// What to shoot and how; made from the options of the command line.
typedef struct rbShootingPlan {
    const char* png;
    const char* mp4;
    double pngTime; // s; INFINITY: the end
    double speed;   // simulated over video time
    int rate;       // pictures a second of the video
    int width, height;
    bool isLookingFrom, isLookingAt;
    rbVec3 lookFrom, lookAt;
} rbShootingPlan;

// false, with a sentence on stderr, when an option makes no sense.
bool rbShootingPlan_Read(rbShootingPlan* plan, const rbArguments* arguments);

typedef struct rbShooting rbShooting;

rbShooting* rbCreateShooting(const rbShootingPlan* plan, const rbSceneInfo* info,
                             const rbWorld* world, rbError* error);
// Looks at the world: draws what is due.
rbStatus rbShooting_Take(rbShooting* shooting, const rbWorld* world, rbError* error);
// Draws what is due at the end, completes the files and frees.
rbStatus rbShooting_Finish(rbShooting* shooting, const rbWorld* world, rbError* error);
void rbShooting_Abandon(rbShooting* shooting); // NULL is fine

#endif
