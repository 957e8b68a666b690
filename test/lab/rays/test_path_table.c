// The table of chords of published paths, and the bound on the acceleration along exact ones.
#include "lab/rays/path_bend.h"
#include "lab/rays/path_table.h"
#include "rb_test.h"

#include <math.h>

// The curve of the seventh published scene: inner tangents are the full differences of neighbors.
static rbPath* makeSeventh(double speed)
{
    static const rbVec3 points[3] = {{0.0, 0.0, 0.0}, {-5.0, -5.0, 0.0}, {-10.0, 0.0, 0.0}};
    rbPathDef def = rbDefaultPathDef();
    def.type = RB_PATH_CURVE;
    def.points = points;
    def.pointCount = 3;
    def.speed = speed;
    def.tangentFactor = 1.0;
    def.startTangent = rbMakeVec3(1.0, 0.0, 0.0);
    def.endTangent = rbMakeVec3(0.0, 1.0, 0.0);
    rbTransform start = {{-5.0, 5.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    rbError error = {0};
    rbPath* path = rbPath_Create(&def, start, &error);
    assert_non_null(path);
    return path;
}

// The worked example of the publication: 0.61 m between two rows of its table.
//
static void lookUpOfThePublishedExample(void** state)
{
    (void)state;
    const rbPathTableRow rows[] = {
        {0.0, 0, 0.0}, {0.4, 0, 0.502465}, {0.5, 0, 0.717651}, {1.0, 0, 2.0}};
    int piece = -1;
    double u = rbLookUpTravel(rows, 4, 0.61, &piece);
    // f = (0.61 - 0.502465) / (0.717651 - 0.502465) = 0.4997305, rounded before it was used
    checkNear(u, 0.4 + 0.1 * 0.107535 / 0.215186, 1e-15);
    checkNear(u, 0.4499731, 1e-7);
    assert_int_equal(piece, 0);
    checkNear(rbLookUpTravel(rows, 4, -1.0, &piece), 0.0, 0.0);
    checkNear(rbLookUpTravel(rows, 4, 9.0, &piece), 1.0, 0.0);
}

// Between the last row of a piece and the first of the next the parameter starts at 0.
//
static void lookUpAcrossAJoint(void** state)
{
    (void)state;
    const rbPathTableRow rows[] = {{0.0, 0, 0.0}, {1.0, 0, 2.0}, {0.5, 1, 3.0}, {1.0, 1, 5.0}};
    int piece = -1;
    checkNear(rbLookUpTravel(rows, 4, 2.25, &piece), 0.125, 0.0);
    assert_int_equal(piece, 1);
    checkNear(rbLookUpTravel(rows, 4, 4.0, &piece), 0.75, 0.0);
    checkNear(rbLookUpTravel(rows, 4, 1.0, &piece), 0.5, 0.0);
    assert_int_equal(piece, 0);
}

// Ten chords measure the first piece as 7.536588 m and the exact length is 7.545735 m (0.12 %); a
// hundred chords are a hundred times better, since the error of chords is quadratic.
//
static void tenChordsAreShortByAThousandth(void** state)
{
    (void)state;
    rbPath* path = makeSeventh(1.0);
    int count = 0;
    const rbVec3(*pieces)[4] = rbPath_GetPieces(path, &count);
    assert_int_equal(count, 3);
    checkNear(rbPath_GetLength(path), 23.207596, 5e-7);
    rbPathTable* coarse = rbPathTable_Create(pieces, count, RB_PATH_TABLE_PUBLISHED);
    rbPathTable* fine = rbPathTable_Create(pieces, count, RB_PATH_TABLE_DEFAULT);
    int rows = 0;
    double ten = rbPathTable_GetRows(coarse, &rows)[10].length;
    assert_int_equal(rows, 31);
    double hundred = rbPathTable_GetRows(fine, &rows)[100].length;
    checkNear(ten, 7.536588, 5e-7);
    double ratio = (7.545735 - ten) / (7.545735 - hundred);
    checkNear(ratio, 100.0, 10.0);
    checkBelow(fabs(hundred - 7.545735) / 7.545735, 2e-5);
    // Positions by the table: the joint is where its own length places it.
    checkBelow(rbDistance(rbPathTable_GetPosition(coarse, ten), rbMakeVec3(0.0, 0.0, 0.0)), 1e-12);
    double worst = 0.0;
    for (int i = 0; i <= 1000; ++i) {
        double travel = 23.2 * i / 1000.0;
        rbTransform pose;
        rbVec3 velocity;
        rbVec3 spin;
        rbPath_Evaluate(path, travel, &pose, &velocity, &spin);
        worst = fmax(worst, rbDistance(rbPathTable_GetPosition(fine, travel), pose.p));
    }
    print_message("positions by a hundred chords per piece: off by %.2e m at most\n", worst);
    checkBelow(worst, 2e-3);
    rbPathTable_Destroy(coarse);
    rbPathTable_Destroy(fine);
    rbPath_Destroy(path);
}

// The difference quotient points along the exact direction to within the rotation over its step,
// and at the ends it is one-sided.
//
static void tangentByDifferences(void** state)
{
    (void)state;
    rbPath* path = makeSeventh(1.0);
    int count = 0;
    const rbVec3(*pieces)[4] = rbPath_GetPieces(path, &count);
    rbPathTable* table = rbPathTable_Create(pieces, count, RB_PATH_TABLE_DEFAULT);
    double length = rbPathTable_GetLength(table);
    for (int i = 0; i <= 200; ++i) {
        double travel = length * i / 200.0;
        rbTransform pose;
        rbVec3 velocity;
        rbVec3 spin;
        rbPath_Evaluate(path, fmin(travel, rbPath_GetLength(path) * (1.0 - 1e-9)), &pose, &velocity,
                        &spin);
        rbVec3 tangent = rbPathTable_GetTangent(table, travel);
        double bound = 0.03 + 0.02 * rbPath_GetAcceleration(path, fmax(travel - 0.02, 0.0),
                                                            travel + 0.02, 1e-6);
        checkBelow(rbDistance(rbNormalize(tangent), velocity), bound);
    }
    checkNear(rbLength(rbPathTable_GetTangent(table, 5.0)), 0.02, 1e-4);
    // Within the first chord, 0.013 m, the parameter rate is three tenths higher at the end than at
    // the start, which interpolation does not capture.
    checkNear(rbLength(rbPathTable_GetTangent(table, 0.0)), 0.01, 2e-4);
    checkNear(rbLength(rbPathTable_GetTangent(table, length)), 0.01, 2e-4);
    rbPathTable_Destroy(table);
    rbPath_Destroy(path);
}

// The bound holds for second differences of positions anywhere, and no chord deviates from the path
// by more than a t^2 / 8.
// RX-09
static void accelerationIsBounded(void** state)
{
    (void)state;
    rbPath* path = makeSeventh(2.0);
    double duration = rbPath_GetLength(path) / 2.0;
    double h = 0.01;
    double ratio = 0.0;
    for (int i = 0; i < 1000; ++i) {
        double time = h + (duration - 2.0 * h) * i / 1000.0;
        double bound = rbPath_GetAcceleration(path, time - h, time + h, 1e-6);
        rbTransform poses[3];
        for (int k = 0; k < 3; ++k) {
            rbVec3 velocity;
            rbVec3 spin;
            rbPath_Evaluate(path, time + (k - 1) * h, &poses[k], &velocity, &spin);
        }
        rbVec3 middle = rbScale(0.5, rbAdd(poses[0].p, poses[2].p));
        double sagitta = rbDistance(middle, poses[1].p);
        checkBelow(sagitta, bound * 4.0 * h * h / 8.0 + 1e-12);
        ratio = fmax(ratio, sagitta / (bound * 4.0 * h * h / 8.0));
    }
    print_message("sagitta of chords: up to %.2f of the bound\n", ratio);
    assert_true(ratio > 0.5); // and the bound is not trivially large
    checkNear(rbPath_GetTravel(path, 1.0), 2.0, 1e-15);
    rbPath_Destroy(path);
}

RB_TEST_GROUP(test_path_table, cmocka_unit_test(lookUpOfThePublishedExample),
              cmocka_unit_test(lookUpAcrossAJoint),
              cmocka_unit_test(tenChordsAreShortByAThousandth),
              cmocka_unit_test(tangentByDifferences), cmocka_unit_test(accelerationIsBounded));
