// Reading a scene: a world from a scene file, given as the first argument, or from the text below.
// Prints where the bodies are at the end and how much energy the numerics lost.
#include <rattleback/rattleback.h>
#include <rattleback/scene.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    "{\"rattleback\": 1, \"name\": \"two balls\", \"engine\": \"event\", \"duration\": 2,"
    " \"world\": {\"gravity\": [0, 0, 0]},"
    " \"materials\": {\"steel\": {\"density\": 7800, \"restitution\": 1}},"
    " \"geometries\": {\"ball\": {\"type\": \"sphere\", \"radius\": 0.1}},"
    " \"bodies\": ["
    "  {\"name\": \"fast\", \"position\": [-1, 0, 0], \"velocity\": [1, 0, 0],"
    "   \"shapes\": [{\"geometry\": \"ball\", \"material\": \"steel\"}]},"
    "  {\"name\": \"still\", \"shapes\": [{\"geometry\": \"ball\", \"material\": \"steel\"}]}]}";

int main(int argc, char** argv)
{
    static rbError error; // static, so that it starts as "no error"
    char message[1024];
    rbScene* scene =
        argc > 1 ? rbReadScene(argv[1], &error) : rbReadSceneText(text, strlen(text), NULL, &error);
    rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, &error) : NULL;
    if (world == NULL) {
        rbError_Format(&error, message, sizeof message);
        fprintf(stderr, "%s\n", message);
        rbDestroyScene(scene);
        return 2;
    }
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    rbStepReport report = rbWorld_AdvanceTo(world, info->duration);
    printf("%s: %d bodies, engine %s, %g s\n", info->name, info->bodyCount, info->engine,
           report.time);
    rbBodyId ids[10];
    int count = rbWorld_GetBodyIds(world, ids, 10);
    for (int i = 0; i < count && i < 10; ++i) {
        rbBodyState state = rbBody_GetState(world, ids[i]);
        printf("  %-10s at (%.4f, %.4f, %.4f) m with %.4f m/s\n", rbBody_GetName(world, ids[i]),
               state.center.x, state.center.y, state.center.z, rbLength(state.linearVelocity));
    }
    printf("energy lost by the numerics: %.1e J of %.4g J\n", fabs(report.ledger.energyDrift),
           report.ledger.energy);
    bool isRight = report.status == RB_STATUS_OK;
    if (argc == 1) {
        // Equal balls exchange their velocities: the first stops where they touch, the second goes
        // on.
        rbBodyState first = rbBody_GetState(world, rbWorld_FindBody(world, "fast"));
        rbBodyState second = rbBody_GetState(world, rbWorld_FindBody(world, "still"));
        isRight = isRight && rbLength(first.linearVelocity) < 1e-12 &&
                  fabs(first.center.x + 0.2) < 1e-5 &&
                  fabs(second.linearVelocity.x - 1.0) < 1e-12 && fabs(second.center.x - 1.2) < 1e-5;
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
    return isRight ? 0 : 1;
}
