// Contact springs compared with impulses (B-83): their cost and error, for a column of five cubes
// and for a cube that brakes on a floor.
//
// The column has a closed form with springs as well: the k-th interface from the top carries k
// weights on four points of stiffness m w^2, where m is the mass of a cube on the floor and half of
// it between two, and w^2 is 9.81 m/s^2 over the depth.
#include "case_contacts.h"

#include <rattleback/lab_contact.h>

#include <math.h>
#include <string.h>
#include <time.h>

#define CUBES 5
#define FRICTION 0.5
#define SPEED 2.0 // m/s, of the braking cube

// A method to keep bodies apart.
typedef struct Way {
    const char* name;
    const char* method;
    double depth; // m, of springs
} Way;

static const Way ways[] = {
    {"impulses", "impulses", 1e-3},
    {"springs of 1 mm", "penalty", 1e-3},
    {"springs of 0.1 mm", "penalty", 1e-4},
};
#define WAY_COUNT ((int)(sizeof ways / sizeof ways[0]))

// s, CPU time of this process.
static double getCpuTime(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static rbWorldDef makeDef(const Way* way, double step)
{
    rbWorldDef def = rbPileWorldDef(step);
    rbPenaltySettings penalty = rbDefaultPenaltySettings();
    penalty.depth = way->depth;
    def.contact.method = rbContactMethod_Find(way->method);
    rbContactSettings_SetPenalty(&def.contact, &penalty);
    return def;
}

static void printCost(const rbValidation* validation, const rbPile* pile, const char* name,
                      double seconds)
{
    if (pile->error.status == RB_STATUS_OK) {
        rbStepStatistics s = rbWorld_GetStepStatistics(pile->world);
        double steps = fmax(1.0, (double)s.steps);
        rbValidation_Print(validation, "    %s: %.4f ms per step, %.0f sub-steps per step\n", name,
                           1e3 * seconds / steps, (double)s.substeps / steps);
    }
}

static void runColumn(rbValidation* validation, const Way* way)
{
    const double step = 1.0 / 60.0;
    rbWorldDef def = makeDef(way, step);
    rbPile pile = rbMakeColumn(&def, CUBES);
    rbPile_NoteStart(&pile);
    double start = getCpuTime();
    (void)rbPile_Advance(&pile, 120);
    double seconds = getCpuTime() - start;
    char name[64];
    (void)snprintf(name, sizeof name, "column of %d, %s", CUBES, way->name);
    if (rbCheckPile(validation, &pile, name)) {
        double sunk = pile.starts[CUBES].z - rbPile_GetState(&pile, CUBES).center.z;
        double truth = 0.0;
        for (int k = 1; k <= CUBES && strcmp(way->method, "penalty") == 0; ++k) {
            truth += way->depth * k / 4.0 * (k == CUBES ? 1.0 : 2.0);
        }
        char text[96];
        (void)snprintf(text, sizeof text, "%s: top sinks, m", name);
        rbValidation_Add(validation, text, sunk, truth, fmax(1e-6, 1e-6 * truth));
        rbValidation_Print(validation, "    %s: speed %.2g m/s at the end\n", name,
                           rbPile_GetSpeed(&pile, 1.0));
    }
    printCost(validation, &pile, name, seconds);
    rbPile_Free(&pile);
}

static void runBraking(rbValidation* validation, const Way* way)
{
    const double step = 1.0 / 240.0;
    const double truth = SPEED * SPEED / (2.0 * FRICTION * RB_PILE_GRAVITY);
    rbWorldDef def = makeDef(way, step);
    rbPile pile = rbMakeSlopeBlock(&def, 0.0, FRICTION);
    if (pile.error.status == RB_STATUS_OK) {
        (void)rbBody_SetState(pile.world, pile.bodies[1], rbPile_GetState(&pile, 1).transform,
                              rbMakeVec3(SPEED, 0.0, 0.0), RB_VEC3_ZERO, &pile.error);
    }
    double start = getCpuTime();
    (void)rbPile_Advance(&pile, 240);
    double seconds = getCpuTime() - start;
    char name[64];
    (void)snprintf(name, sizeof name, "braking cube, %s", way->name);
    if (rbCheckPile(validation, &pile, name)) {
        char text[96];
        (void)snprintf(text, sizeof text, "%s: distance, m", name);
        rbValidation_Add(validation, text, rbPile_GetState(&pile, 1).center.x, truth, 1e-3);
    }
    printCost(validation, &pile, name, seconds);
    rbPile_Free(&pile);
}

static void run(rbValidation* validation)
{
    for (int i = 0; i < WAY_COUNT; ++i) {
        runColumn(validation, &ways[i]);
    }
    for (int i = 0; i < WAY_COUNT; ++i) {
        runBraking(validation, &ways[i]);
    }
}

const rbValidationCase rbCaseContactPenalty = {
    .name = "contact-penalty",
    .group = "contacts",
    .help = "contact springs compared with impulses: sinking, braking, cost",
    .source = "closed forms: springs in series, v^2 / 2 mu g",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
