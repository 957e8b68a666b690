// A verb: 'rattleback period SCENE BODY' measures the time between two passes of a body through its
// lowest point.
#include <rattleback/module.h>

#include <stdio.h>
#include <stdlib.h>

static const rbModuleHost* library;

// Upward zero crossings of the vertical speed, by the secant between two samples.
static double findPeriod(rbWorld* world, rbBodyId body, double duration, int* count)
{
    double step = 1e-3;
    double first = 0.0;
    double last = 0.0;
    double before = library->rbBody_GetState(world, body).linearVelocity.z;
    *count = 0;
    for (int k = 1; k * step <= duration; ++k) {
        (void)library->rbWorld_AdvanceTo(world, k * step);
        double speed = library->rbBody_GetState(world, body).linearVelocity.z;
        if (before < 0.0 && speed >= 0.0) {
            last = (k - speed / (speed - before)) * step;
            first = *count == 0 ? last : first;
            *count += 1;
        }
        before = speed;
    }
    return *count > 1 ? (last - first) / (*count - 1) : 0.0;
}

static rbStatus run(const rbVerbInput* input, rbError* error)
{
    rbScene* scene = library->rbReadScene(input->words[0], error);
    rbWorld* world = scene != NULL ? library->rbScene_CreateWorld(scene, error) : NULL;
    rbStatus status = world != NULL ? RB_STATUS_OK : error->status;
    int count = 0;
    if (status == RB_STATUS_OK) {
        rbBodyId body = library->rbWorld_FindBody(world, input->words[1]);
        double duration = input->options[0] != NULL ? atof(input->options[0]) : 10.0;
        if (RB_IS_NULL(body)) {
            status = library->rbError_Set(error, RB_STATUS_INVALID, "there is no body \"%s\"",
                                          input->words[1]);
        } else {
            double period = findPeriod(world, body, duration, &count);
            status = count > 1 ? RB_STATUS_OK
                               : library->rbError_Set(error, RB_STATUS_NOT_FOUND,
                                                      "\"%s\" does not swing in %g s",
                                                      input->words[1], duration);
            if (status == RB_STATUS_OK) {
                printf("%.9f s\n", period);
            }
        }
    }
    library->rbDestroyWorld(world);
    library->rbDestroyScene(scene);
    return status;
}

static const rbVerbOption options[] = {{"--time", "SECONDS", "how long to look; 10"}};
static const char* const examples[] = {"rattleback period pendulum.json bob --module period.so",
                                       NULL};
static const rbVerbRow row = {"period",
                              "SCENE BODY",
                              "measures the time between two passes through the lowest point",
                              2,
                              2,
                              options,
                              1,
                              examples,
                              run};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    library = host;
    return host->registerVerb(&row, error);
}
RB_MODULE(registerRows)
