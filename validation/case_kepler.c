// The Kepler problem with eccentricity 0.6 as a smooth force problem: a body attracted to the
// origin. Starts at the pericenter, a = 1, k = 1: r = 1 - e, v = sqrt((1 + e) / (1 - e)).
#include "flights.h"
#include "validation.h"

#define ECCENTRICITY 0.6
#define END_TIME 5.0 // s, past the apocenter, before the next pericenter
#define HALVINGS 6

// Position at a time from Kepler's equation E - e sin E = t.
static rbVec3 getTruth(double time)
{
    double anomaly = time;
    for (int i = 0; i < 50; ++i) {
        anomaly -=
            (anomaly - ECCENTRICITY * sin(anomaly) - time) / (1.0 - ECCENTRICITY * cos(anomaly));
    }
    return rbMakeVec3(cos(anomaly) - ECCENTRICITY,
                      sqrt(1.0 - ECCENTRICITY * ECCENTRICITY) * sin(anomaly), 0.0);
}

static rbWorld* makeOrbit(rbMotionSettings motion, rbBodyId* bodyId)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.gravity = RB_VEC3_ZERO;
    rbWorld* world = rbCreateWorld(&worldDef, NULL);
    rbMassProperties mass = {.mass = 1.0, .inertia = {.xx = 1.0, .yy = 1.0, .zz = 1.0}};
    rbBodyDef def = rbDefaultBodyDef();
    def.type = RB_BODY_DYNAMIC;
    def.mass = &mass;
    def.position = rbMakeVec3(1.0 - ECCENTRICITY, 0.0, 0.0);
    def.linearVelocity = rbMakeVec3(0.0, sqrt((1.0 + ECCENTRICITY) / (1.0 - ECCENTRICITY)), 0.0);
    def.motion = motion;
    *bodyId = rbCreateBody(world, &def, NULL);
    rbForceDef force = rbDefaultForceDef();
    force.type = RB_FORCE_CENTRAL;
    force.strength = 1.0;
    (void)rbCreateForce(world, &force, NULL);
    return world;
}

static double measureError(rbMotionSettings motion)
{
    rbBodyId bodyId;
    rbWorld* world = makeOrbit(motion, &bodyId);
    (void)rbWorld_AdvanceTo(world, END_TIME);
    double error = rbDistance(rbBody_GetState(world, bodyId).center, getTruth(END_TIME));
    rbDestroyWorld(world);
    return error;
}

// Order of a row with fixed steps by halving the step.
static void checkFixed(rbValidation* validation, rbMotionType type, double step, int expected)
{
    const char* name = rbMotionType_Name(type);
    rbValidation_Print(validation, "  convergence of %s at t = %g s\n    %12s %12s %8s\n", name,
                       END_TIME, "step [s]", "error [m]", "order");
    double before = 0.0;
    double order = NAN;
    for (int i = 0; i < HALVINGS; ++i) {
        double error = measureError(rbMakeMotion(type, step, 8, 1e-12));
        order = i > 0 ? log2(before / error) : NAN;
        rbValidation_Print(validation, i == 0 ? "    %12.5g %12.3e\n" : "    %12.5g %12.3e %8.3f\n",
                           step, error, order);
        before = error;
        step *= 0.5;
    }
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity, "order of %s", name);
    rbValidation_Add(validation, quantity, order, expected, 0.25);
}

// The error of the adaptive row must follow the tolerance: slope 1 in the logarithms, because the
// steps follow h^5 = tolerance and the solution kept is of order 5.
static void checkAdaptive(rbValidation* validation)
{
    rbValidation_Print(validation, "  cash-karp at t = %g s\n    %12s %12s\n", END_TIME,
                       "tolerance", "error [m]");
    double first = 0.0;
    double last = 0.0;
    for (int digits = 5; digits <= 11; ++digits) {
        double tolerance = pow(10.0, -digits);
        last = measureError(rbMakeMotion(RB_MOTION_CASH_KARP, 1e-3, 8, tolerance));
        first = digits == 5 ? last : first;
        rbValidation_Print(validation, "    %12.0e %12.3e\n", tolerance, last);
    }
    rbValidation_Add(validation, "cash-karp: digits of error per digit of tolerance",
                     log10(first / last) / 6.0, 1.0, 0.2);
    rbValidation_AddBound(validation, "cash-karp: error [m] at tolerance 1e-11", last, 1e-8);
}

// Taylor series need the derivatives of the loads, which are available only for constant loads: the
// row is rejected openly, by falling back to another one and reporting it.
static void checkTaylor(rbValidation* validation)
{
    rbBodyId bodyId;
    rbWorld* world = makeOrbit(rbMakeMotion(RB_MOTION_TAYLOR, 1e-3, 8, 1e-12), &bodyId);
    bool isFallback = false;
    rbMotionType motion = rbBody_GetMotion(world, bodyId, &isFallback);
    rbDestroyWorld(world);
    rbValidation_Print(
        validation, "  taylor: not supported for loads that depend on the state; uses %s instead\n",
        rbMotionType_Name(motion));
    rbValidation_SetTruth(validation, RB_TRUTH_LIMIT);
    rbValidation_Add(validation, "taylor: rejected for state-dependent loads, and reported",
                     isFallback && motion != RB_MOTION_TAYLOR ? 1.0 : 0.0, 1.0, 0.0);
}

static void run(rbValidation* validation)
{
    checkFixed(validation, RB_MOTION_RK4, 0.02, 4);
    checkFixed(validation, RB_MOTION_EULER, 0.0005, 1);
    checkAdaptive(validation);
    checkTaylor(validation);
}

const rbValidationCase rbCaseKepler = {
    .name = "kepler",
    .help = "orbit with eccentricity 0.6: orders of the integrators on a smooth force problem",
    .source = "closed form: Kepler's equation",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
