// Grains that flow down a rough incline, steadily: how fast, against the height of the flow.
//
// The incline is periodic along the flow and across it; gravity is tilted instead. On inclines well
// above the angle of repose the mean velocity rises as the height to the power 3/2 (Pouliquen 1999,
// Silbert and others 2001), and below that angle grains that flow come to rest. The flows measured
// here are thin: within them the velocity rises about linearly with the height, as in thin flows of
// Silbert and others (2003), and not yet as Bagnold's law has it.
//
// Stresses in the bulk are averaged too: in a steady flow the balance of momentum, along the
// incline and normal to it, gives their ratio, the slope, whatever the law of the grains.
#include "granular_worlds.h"
#include "line_fit.h"
#include "validation.h"

#include <math.h>

#define HEIGHTS_MAX 3
#define BLOCKS 8
#define SAMPLE_TIME 0.5
#define RADIANS (RB_PI / 180.0)
#define FLOW_ANGLE 24.0 // degrees
#define STOP_ANGLE 17.0 // published angles of repose of thick layers: 19 to 21 degrees
#define STOP_TIME 150.0
#define AT_REST 1e-5    // mean kinetic energy of a grain: a velocity of 0.004
#define PER_HEIGHT 1.1  // grains of a flow of height 1, about, on an area of 1
#define BED 2.0         // height of the layers at the floor, not counted in the bulk
#define SURFACE 2.0     // the same below the surface
#define RESOLUTION 0.25 // of a height, either way: the floor is a rough one

typedef struct Chute {
    double length, width;
    int heightCount;
    double heights[HEIGHTS_MAX];  // ascending, about; measured when grains flow
    double settling[HEIGHTS_MAX]; // time until the flow is steady
    double blockTime;
} Chute;

static const Chute quickChute = {10.5, 5.25, 2, {6.0, 10.0}, {80.0, 160.0}, 8.0};
static const Chute fullChute = {10.5, 7.35, 3, {7.0, 11.0, 17.0}, {120.0, 220.0, 420.0}, 20.0};

typedef struct Flow {
    double height;
    double speed, speedError;
    double ratio, ratioError; // of the shear stress over the normal stress
    double fraction;          // solid, in the bulk
} Flow;

static void tilt(rbGrainBed* bed, double angle)
{
    bed->def.gravity = rbMakeVec3(sin(angle * RADIANS), 0.0, -cos(angle * RADIANS));
    rbGrainBed_Start(bed);
}

static rbGrainBed fillChute(const Chute* chute, double height)
{
    rbGrainBed bed = rbOpenGrainBed();
    double x = 0.5 * chute->length;
    double y = 0.5 * chute->width;
    int count = (int)(PER_HEIGHT * chute->length * chute->width * height);
    bed.def.periodicBox = rbMakeVec3(chute->length, chute->width, 0.0);
    bed.def.high.z = 2.0 * height;
    rbGrainBed_GlueFloor(&bed, x, chute->width, true, 1001);
    rbGrainBed_Fill(&bed, (rbBounds){{-x, -y, 0.6}, {x, y, 3.0 * height}}, count, 1);
    return bed;
}

static Flow measure(rbGrainBed* bed, const Chute* chute, double wantedHeight)
{
    Flow flow = {.height = 0.0};
    double speeds[BLOCKS] = {0.0};
    double ratios[BLOCKS] = {0.0};
    int samples = (int)(chute->blockTime / SAMPLE_TIME);
    double x = 0.5 * chute->length;
    double y = 0.5 * chute->width;
    rbBounds bulk = {{-x, -y, BED}, {x, y, wantedHeight - SURFACE}};
    rbBounds all = {{-x, -y, -1.0}, {x, y, 1e3}};
    double volume = 0.0;
    for (int i = 0; i < BLOCKS; ++i) {
        double shear = 0.0;
        double normal = 0.0;
        for (int k = 0; k < samples && rbGrainBed_IsGood(bed); ++k) {
            rbGrainBed_Advance(bed, SAMPLE_TIME);
            rbClusterAverage inside = rbCluster_Average(bed->cluster, bulk);
            rbClusterAverage whole = rbCluster_Average(bed->cluster, all);
            // what is below pushes what is above upwards, and against the flow
            shear -= inside.stress.cx.z;
            normal += inside.stress.cz.z;
            speeds[i] += whole.velocity.x / samples;
            flow.fraction += inside.solidFraction / (samples * BLOCKS);
            volume = whole.solidFraction * (all.upper.z - all.lower.z);
        }
        ratios[i] = shear / normal;
    }
    flow.height = volume / flow.fraction;
    flow.speed = rbMeanOf(speeds, BLOCKS, &flow.speedError);
    flow.ratio = rbMeanOf(ratios, BLOCKS, &flow.ratioError);
    return flow;
}

static void compare(rbValidation* validation, const Flow* flows, int count)
{
    double x[HEIGHTS_MAX];
    double y[HEIGHTS_MAX];
    double errors[HEIGHTS_MAX];
    for (int i = 0; i < count; ++i) {
        x[i] = log(flows[i].height);
        y[i] = log(flows[i].speed);
        errors[i] = flows[i].speedError / flows[i].speed;
        char quantity[96];
        (void)snprintf(quantity, sizeof quantity, "shear over normal stress, height %.1f d",
                       flows[i].height);
        rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
        rbValidation_Add(validation, quantity, flows[i].ratio, tan(FLOW_ANGLE * RADIANS),
                         3.0 * flows[i].ratioError);
        rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    }
    rbLine line = rbFitLine(x, y, errors, count);
    double span = x[count - 1] - x[0];
    double resolution = 1.5 * RESOLUTION * (exp(-x[0]) - exp(-x[count - 1])) / span;
    rbValidation_Add(validation, "exponent of the mean velocity over the height", line.slope, 1.5,
                     3.0 * line.slopeError + resolution);
}

static void runIncline(rbValidation* validation)
{
    const Chute* chute = validation->isQuick ? &quickChute : &fullChute;
    Flow flows[HEIGHTS_MAX];
    rbError error = {0};
    bool isAtRest = false;
    for (int i = 0; i < chute->heightCount && error.status == RB_STATUS_OK; ++i) {
        rbGrainBed bed = fillChute(chute, chute->heights[i]);
        tilt(&bed, FLOW_ANGLE);
        rbGrainBed_Advance(&bed, chute->settling[i]);
        flows[i] = measure(&bed, chute, chute->heights[i]);
        rbValidation_Print(
            validation,
            "  %d grains, height %.2f d: velocity %.4f +- %.4f sqrt(g d), shear over "
            "normal stress %.4f +- %.4f, solid fraction %.3f\n",
            bed.count, flows[i].height, flows[i].speed, flows[i].speedError, flows[i].ratio,
            flows[i].ratioError, flows[i].fraction);
        if (i == 0) { // grains that flow
            rbGrainBed_Read(&bed);
            tilt(&bed, STOP_ANGLE);
            isAtRest = rbGrainBed_Settle(&bed, AT_REST, STOP_TIME) > 0.0;
        }
        error = bed.error;
        rbCloseGrainBed(&bed);
    }
    if (error.status == RB_STATUS_OK) {
        compare(validation, flows, chute->heightCount);
        rbValidation_Add(validation, "flows that stop below the angle of repose, at 17 degrees",
                         isAtRest, 1.0, 0.0);
    } else {
        rbValidation_Print(validation, "  %s\n", error.message);
        rbValidation_AddLimit(validation, "the grains flow", NAN, 0.0);
    }
}

const rbValidationCase rbCaseGranularIncline = {
    .name = "granular-incline",
    .group = "granular",
    .help = "grains flow down a rough incline: velocity against height, and stresses",
    .source =
        "Pouliquen 1999, Silbert and others 2001: velocity as h^(3/2), at rest below 19 degrees",
    .truth = RB_TRUTH_PUBLISHED,
    .run = runIncline,
};
