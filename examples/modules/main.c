// A program that loads modules: its scene has a shape, a force and a probe that the library does
// not know. The body must follow the closed form of drag in air that swings.
#include <rattleback/lab.h>
#include <rattleback/lab_contact.h>
#include <rattleback/module.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char sceneText[] =
    "{\"rattleback\": 1, \"duration\": 2, \"world\": {\"gravity\": [0, 0, 0]},\n"
    " \"output\": {\"probes\": [{\"body\": \"top\", \"quantity\": \"position\"},\n"
    "                         {\"body\": \"top\", \"quantity\": \"tilt\"}]},\n"
    " \"bodies\": [{\"name\": \"top\", \"mass\": 2, \"spin\": [0.5, 0, 0], \"shapes\": [\n"
    "     {\"geometry\": {\"type\": \"bicone\", \"radius\": 0.3, \"height\": 0.5}}]}],\n"
    " \"forces\": [{\"type\": \"gust\", \"velocity\": [4, 0, 0], \"drag\": 3, \"frequency\": 5}]}";

static const char* const names[] = {"bicone", "planar", "gust",    "bang",  "hertz",
                                    "bronze", "tilt",   "highest", "period"};

// The modules lie in the folder of the program.
static int loadAll(const char* program, rbError* error)
{
    const char* slash = strrchr(program, '/');
    int length = slash != NULL ? (int)(slash - program) + 1 : 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s%s.so", length, program, names[i]);
        if (rbLoadModule(path, error) != RB_STATUS_OK) {
            return 0;
        }
    }
    return 1;
}

// v' = a (u sin(w t) - v) from rest, integrated once more.
static double getTruth(double t)
{
    double a = 3.0 / 2.0;
    double u = 4.0;
    double w = 5.0;
    return a * u / (a * a + w * w) *
           (a / w * (1.0 - cos(w * t)) - sin(w * t) + w / a * (1.0 - exp(-a * t)));
}

int main(int argc, char** argv)
{
    static rbError error; // static, so that it starts as "no error"
    (void)argc;
    // Contact laws are of the laboratory, which a program may leave out.
    rbStatus status = rbRegisterLaboratory(&error);
    rbSetModuleContactLaws(rbRegisterContactLaw);
    if (status != RB_STATUS_OK || !loadAll(argv[0], &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    rbScene* scene = rbReadSceneText(sceneText, strlen(sceneText), NULL, &error);
    rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, &error) : NULL;
    if (world == NULL) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    double worst = 0.0;
    for (int k = 1; k <= 20; ++k) {
        double values[4] = {0.0, 0.0, 0.0, 0.0};
        (void)rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.1));
        (void)rbScene_EvaluateProbes(scene, world, values, 4);
        worst = fmax(worst, fabs(values[0] - getTruth(0.1 * k)));
        worst = fmax(worst, fabs(values[3] - 0.05 * k)); // it turns about x at 0.5 rad/s
    }
    char rows[400];
    (void)rbDescribeModules(rows, sizeof rows);
    printf("%d modules: %s\n", rbGetModuleCount(), rows);
    printf("drag in gusts: off by at most %.1e in %g s\n", worst, rbWorld_GetTime(world));
    rbDestroyWorld(world);
    rbDestroyScene(scene);
    return worst < 1e-7 && rbGetModuleCount() == 9 ? 0 : 1;
}
