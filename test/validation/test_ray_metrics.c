// The measures of ray prediction, compared with the tables of the thesis and closed forms.
#include "ray_metrics.h"
#include "rb_test.h"

#include <rattleback/collision.h>

#include <math.h>

typedef struct Printed {
    rbVec3 found;
    double agreement; // per cent
} Printed;

// Table 4.3 prints points and normals of a sphere that a pyramid meets with its base
static void agreementIsThatOfTheTableOfTheBase(void** state)
{
    (void)state;
    const rbVec3 point = {0.0, -3.0, 0.0};
    const rbVec3 normal = {0.0, 1.0, 0.0};
    const Printed points[6] = {
        {{0.481052, -3.123795, -0.029230}, 86.91},  {{-0.265349, -3.038136, 0.066396}, 90.52},
        {{-0.126160, -3.025491, -0.185515}, 90.77}, {{-0.128035, -3.012249, 0.089186}, 93.35},
        {{-0.055113, -3.002302, -0.039514}, 96.97}, {{0.006193, -3.005737, 0.106779}, 96.52}};
    const Printed normals[6] = {
        {{0.481052, 0.876205, -0.029230}, 84.10},  {{-0.265349, 0.961864, 0.066396}, 89.66},
        {{-0.126160, 0.974509, -0.185515}, 90.20}, {{-0.128035, 0.987751, 0.089186}, 93.08},
        {{-0.055113, 0.997698, -0.039514}, 96.92}, {{0.006193, 0.994264, 0.106779}, 96.39}};
    for (int i = 0; i < 6; ++i) {
        checkNear(rbRateAgreement(points[i].found, point), points[i].agreement, 0.01);
        checkNear(rbRateAgreement(normals[i].found, normal), normals[i].agreement, 0.01);
    }
}

// Table 4.2. Three rows are misprinted there: 33.33 for 2 and 4 rays, 72.44 for 20.
static void agreementIsThatOfTheTableOfTheSpheres(void** state)
{
    (void)state;
    const rbVec3 point = {0.86602540378443865, 0.0, 0.5};
    const Printed rows[13] = {
        {{0.000004, 0.000004, 1.0}, 50.00},       {{0.802912, 0.192630, 0.564115}, 88.398},
        {{0.795225, 0.020316, 0.605974}, 90.78},  {{0.748536, -0.056796, 0.660657}, 85.58},
        {{0.884598, -0.067007, 0.461516}, 94.64}, {{0.833790, 0.120164, 0.538846}, 92.78},
        {{0.811021, -0.096548, 0.576995}, 90.50}, {{0.847291, 0.212607, 0.486720}, 92.55},
        {{0.857209, -0.086824, 0.507596}, 96.50}, {{0.878944, -0.181635, 0.440983}, 90.45},
        {{0.882034, -0.076942, 0.464862}, 94.67}, {{0.849775, -0.039302, 0.525678}, 96.49},
        {{0.871279, -0.081736, 0.483934}, 96.20}};
    for (int i = 0; i < 13; ++i) {
        checkNear(rbRateAgreement(rows[i].found, point), rows[i].agreement, 0.01);
    }
    checkNear(rbRateAgreement(point, point), 100.0, 1e-12);
    checkNear(rbRateAgreement(rbNeg(point), point), 100.0, 1e-12); // insensitive to signs
}

// RX-10: a unit ball approaches from (3, 0, 1) along -x to one at the origin. If it is reported to
// meet it in (0.8, 0, 0.6) after 1.4 m, when the centers are sqrt(1.6^2 + 1) apart, it overlaps
// there
static void errorsAreThoseOfTheClosedForm(void** state)
{
    (void)state;
    rbError error = {0};
    rbGeometry* ball = rbCreateSphere(1.0, &error);
    assert_non_null(ball);
    void* scratch = test_malloc(rbGetSeparationScratchSize());
    const rbStraightPair pair = {.geometries = {ball, ball},
                                 .starts = {{{3.0, 0.0, 1.0}, {1.0, 0.0, 0.0, 0.0}},
                                            {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}},
                                 .velocities = {{-1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
                                 .duration = 3.0};
    const rbStraightContact truth = {.isHit = true,
                                     .time = 3.0 - sqrt(3.0),
                                     .way = 3.0 - sqrt(3.0),
                                     .point = {0.5 * sqrt(3.0), 0.0, 0.5},
                                     .normal = {0.5 * sqrt(3.0), 0.0, 0.5}};
    const rbStraightContact found = {.isHit = true,
                                     .time = 1.4,
                                     .way = 1.4,
                                     .point = {0.8, 0.0, 0.6},
                                     .normal = {0.8, 0.0, 0.6}};
    rbRayErrors errors = rbMeasureRayErrors(&pair, &found, &truth, scratch);
    checkNear(errors.excess, 1.4 - (3.0 - sqrt(3.0)), 1e-15);
    checkNear(errors.depth, 2.0 - sqrt(1.6 * 1.6 + 1.0), 1e-12);
    checkNear(errors.position, hypot(0.8 - 0.5 * sqrt(3.0), 0.1), 1e-15);
    checkNear(errors.angle, (asin(0.6) - asin(0.5)) * 57.295779513082321, 1e-12);
    checkNear(errors.agreement, errors.normalAgreement, 0.0);
    errors = rbMeasureRayErrors(&pair, &truth, &truth, scratch);
    checkNear(errors.depth, 0.0, 1e-12);
    checkNear(errors.position + errors.angle + errors.excess, 0.0, 0.0);
    const rbStraightContact none = {0};
    assert_true(isnan(rbMeasureRayErrors(&pair, &none, &truth, scratch).excess));
    test_free(scratch);
    rbDestroyGeometry(ball);
}

RB_TEST_GROUP(test_ray_metrics, cmocka_unit_test(agreementIsThatOfTheTableOfTheBase),
              cmocka_unit_test(agreementIsThatOfTheTableOfTheSpheres),
              cmocka_unit_test(errorsAreThoseOfTheClosedForm));
