// Piles that must stay at rest: freezing off, steps of 1/60 s. Speeds and displacements are
// measured after every step; those of points include the rotation of the bodies.
//
// The errors that the stages of a step leave at every gap add up over the height of a pile:
// tolerances are a hundredth or less of the bound for the whole.
#include "case_contacts.h"

#include <math.h>

#define RATE 60 // steps per second

// The shortest time during which nothing may move, and the bounds.
typedef struct Stillness {
    const char* name;
    double radius;       // m, of the points whose displacement counts
    int seconds;         // measured
    int settling;        // seconds before the measurement
    double speed;        // m/s; INFINITY: not checked
    double displacement; // m; INFINITY: not checked
} Stillness;

static void runStillness(rbValidation* validation, rbPile* pile, const Stillness* plan)
{
    int64_t first = (int64_t)plan->settling * RATE;
    int64_t last = first + (int64_t)plan->seconds * RATE;
    double speed = 0.0;
    double way = 0.0;
    rbPile_NoteStart(pile);
    if (first > 0 && rbPile_Advance(pile, first)) {
        rbValidation_Print(validation, "    %s: settled by %.2g m in %d s\n", plan->name,
                           rbPile_GetDisplacement(pile, plan->radius), plan->settling);
        rbPile_NoteStart(pile);
    }
    for (int64_t k = first + 1; k <= last && rbPile_Advance(pile, k); ++k) {
        speed = rbWorseError(speed, rbPile_GetSpeed(pile, plan->radius));
        way = rbWorseError(way, rbPile_GetDisplacement(pile, plan->radius));
    }
    if (rbCheckPile(validation, pile, plan->name)) {
        char text[96];
        (void)snprintf(text, sizeof text, "speed in %d s, m/s", plan->seconds);
        if (isfinite(plan->speed)) {
            rbAddPileBound(validation, plan->name, text, speed, plan->speed);
        } else {
            rbValidation_Print(validation, "    %s: %s: %.2g\n", plan->name, text, speed);
        }
        (void)snprintf(text, sizeof text, "displacement in %d s, m", plan->seconds);
        if (isfinite(plan->displacement)) {
            rbAddPileBound(validation, plan->name, text, way, plan->displacement);
        } else {
            rbValidation_Print(validation, "    %s: %s: %.2g\n", plan->name, text, way);
        }
    }
    rbPrintPile(validation, pile, plan->name);
    rbPile_Free(pile);
}

static rbWorldDef makeDef(double tolerance, double velocityTolerance)
{
    rbWorldDef def = rbPileWorldDef(1.0 / RATE);
    def.contact.tolerance = tolerance;
    def.contact.velocityTolerance = velocityTolerance;
    return def;
}

// Half the diagonal of a cube of 1 m.
#define CUBE_RADIUS 0.86602540378443864676

// A pile and how long it must stand.
typedef struct StillCase {
    Stillness plan;
    int quickSeconds;
    double tolerance;         // m
    double velocityTolerance; // m/s
    rbPile (*make)(const rbWorldDef* def);
} StillCase;

static rbPile makeColumn(const rbWorldDef* def)
{
    return rbMakeColumn(def, 20);
}

static rbPile makePyramid(const rbWorldDef* def)
{
    return rbMakePyramid(def, 20);
}

static rbPile makeSlopeBlock(const rbWorldDef* def)
{
    return rbMakeSlopeBlock(def, RB_PI / 18.0, 0.5);
}

static rbPile makeArch(const rbWorldDef* def)
{
    return rbMakeArch(def, 25, 0.5);
}

static rbPile makeCardHouse(const rbWorldDef* def)
{
    return rbMakeCardHouse(def, 0.5);
}

static rbPile makeHeavy(const rbWorldDef* def)
{
    return rbMakeHeavyOnLight(def, 1000.0, 1.0);
}

// name, radius, seconds, settling, speed, displacement; quick; tolerances; builder. The stones and
// the cards do not start flush like the boxes; they may settle first. They pass if none has moved
// by a thousandth of its size since then.
static const StillCase stillCases[] = {
    {{"1000 kg on 1 kg", CUBE_RADIUS, 60, 0, 1e-6, 1e-6}, 2, 1e-9, 1e-10, makeHeavy},
    {{"block at 10 deg, friction 0.5", CUBE_RADIUS, 3600, 0, INFINITY, 1e-6},
     60,
     1e-9,
     1e-10,
     makeSlopeBlock},
    {{"column of 20", CUBE_RADIUS, 60, 0, 1e-6, 1e-6}, 2, 1e-9, 1e-10, makeColumn},
    {{"pyramid of 210", CUBE_RADIUS, 60, 0, 1e-6, INFINITY}, 1, 1e-8, 1e-9, makePyramid},
    {{"arch of 25, friction 0.5", 0.75, 30, 1, INFINITY, 1e-3}, 1, 1e-9, 1e-10, makeArch},
    {{"house of 14 cards, friction 0.5", 0.1, 30, 1, INFINITY, 1e-4},
     1,
     1e-9,
     1e-10,
     makeCardHouse},
};

static void runCase(rbValidation* validation, const StillCase* row)
{
    Stillness plan = row->plan;
    rbWorldDef def = makeDef(row->tolerance, row->velocityTolerance);
    if (validation->isQuick) {
        plan.seconds = row->quickSeconds;
        plan.settling = 0;
    }
    rbPile pile = row->make(&def);
    runStillness(validation, &pile, &plan);
}

static void run(rbValidation* validation)
{
    for (size_t i = 0; i < sizeof stillCases / sizeof stillCases[0]; ++i) {
        runCase(validation, &stillCases[i]);
    }
}

const rbValidationCase rbCaseContactStillness = {
    .name = "contact-stillness",
    .group = "contacts",
    .help = "column, pyramid, block on an incline, arch, card house, heavy on light: at 60 Hz",
    .source = "nothing moves",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};

// ------------------------------------------------------------------------------------- one hour

static void runHour(rbValidation* validation)
{
    static const StillCase hour = {
        {"column of 20", CUBE_RADIUS, 3600, 0, 1e-6, 1e-6}, 2, 1e-9, 1e-10, makeColumn};
    runCase(validation, &hour);
}

// Not in the group: this single run takes as long as the whole group.
const rbValidationCase rbCaseContactHour = {
    .name = "contact-hour",
    .help = "a column of 20 cubes for one hour at 60 Hz",
    .source = "nothing moves",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = runHour,
};
