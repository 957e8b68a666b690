// Rows and errors of every type over random joints: gradients, invariance, momentum, rank.
#include "joint_samples.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

typedef struct Twist {
    rbVec3 v, w;
} Twist;

static Twist sampleTwist(rbRandom* random)
{
    Twist twist;
    twist.v = rbSampleVector(random, 1.0);
    twist.w = rbSampleVector(random, 1.0);
    return twist;
}

static rbRowPose moveAlong(const rbRowPose* pose, const Twist* twist, double time)
{
    return rbMovePose(pose, rbScale(time, twist->v), rbScale(time, twist->w));
}

static double findRate(const rbRow* row, const Twist* a, const Twist* b)
{
    return rbDot(row->linear, rbSub(b->v, a->v)) + rbDot(row->angularB, b->w) -
           rbDot(row->angularA, a->w);
}

// Rates of errors by central differences of fourth order. With a step h = 2^-14 s rounding
// contributes some 1e-10, the formula h^4/30 f^(5): for a distance d that changes at speed v at
// most 45 v^5/d^4 h^4/30, 2e-9 at the 6 m/s and 0.09 m of the samples.
static void differentiate(rbBlockErrorsFn* errorsFn, const void* data, const rbRowPose* poses,
                          const Twist* twists, double rates[6])
{
    static const double times[4] = {-2.0, -1.0, 1.0, 2.0};
    static const double weights[4] = {1.0, -8.0, 8.0, -1.0};
    const double step = 0x1p-14;
    memset(rates, 0, 6 * sizeof rates[0]);
    for (int k = 0; k < 4; ++k) {
        rbRowPose a = moveAlong(&poses[0], &twists[0], times[k] * step);
        rbRowPose b = moveAlong(&poses[1], &twists[1], times[k] * step);
        double errors[6] = {0};
        errorsFn(data, &a, &b, errors);
        for (int i = 0; i < 6; ++i) {
            rates[i] += weights[k] * errors[i] / (12.0 * step);
        }
    }
}

static double checkGradient(rbBlockRowsFn* rowsFn, rbBlockErrorsFn* errorsFn, const void* data,
                            const rbRowPose* poses, int rowCount, rbRandom* random)
{
    rbRow rows[6];
    double rates[6];
    double worst = 0.0;
    const Twist twists[2] = {sampleTwist(random), sampleTwist(random)};
    rowsFn(data, &poses[0], &poses[1], rows);
    differentiate(errorsFn, data, poses, twists, rates);
    for (int i = 0; i < rowCount; ++i) {
        worst = fmax(worst, fabs(findRate(&rows[i], &twists[0], &twists[1]) - rates[i]));
    }
    return worst;
}

#define GRADIENT_TOLERANCE 1e-8

// B-13, B-14, B-15, B-16, B-17, B-18, B-19, B-20, B-21, B-22, B-23, B-24, B-25
static void rowsAreTheGradientsOfErrorsWhereTheJointHolds(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(601)};
    for (int i = 0; i < rbTest_Count(20000, 1000000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        const rbRowPose poses[2] = {sample.poseA, sample.poseB};
        double worst = checkGradient(rbJointModel_Rows, rbJointModel_Errors, &sample.model, poses,
                                     sample.model.rowCount, &random);
        if (!(worst < GRADIENT_TOLERANCE)) {
            fail_msg("%s: rows are off by %g", sample.name, worst);
        }
    }
}

// B-13, B-14, B-15, B-16, B-19: also where it does not, which assembling needs.
static void rowsOfTranslationsAndAnglesAreGradientsEverywhere(void** state)
{
    (void)state;
    static const rbJointType types[] = {
        RB_JOINT_BALL,          RB_JOINT_LINE,     RB_JOINT_PLANE,          RB_JOINT_PLANE_DISTANCE,
        RB_JOINT_LINE_DISTANCE, RB_JOINT_DISTANCE, RB_JOINT_DOUBLE_ROTATION};
    rbRandom random = {rbTest_Seed(602)};
    for (int i = 0; i < rbTest_Count(7000, 300000); ++i) {
        JointSample sample = rbSampleJoint(&random, (int)types[i % 7]);
        rbVec3 shift = rbSampleVector(&random, 0.02);
        const rbRowPose poses[2] = {
            sample.poseA, rbMovePose(&sample.poseB, shift, rbSampleVector(&random, 0.02))};
        double worst = checkGradient(rbJointModel_Rows, rbJointModel_Errors, &sample.model, poses,
                                     sample.model.rowCount, &random);
        if (!(worst < GRADIENT_TOLERANCE)) {
            fail_msg("%s: rows are off by %g", sample.name, worst);
        }
    }
}

// B-29: joints that hold velocities only restart in every step: far from where they held, rotations
// are measured from the present.
static void rezeroedRotationsHoldAndHaveTheirGradients(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(610)};
    for (int i = 0; i < rbTest_Count(10000, 500000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        rbVec3 turn = rbSampleVector(&random, 3.0);
        const rbRowPose poses[2] = {sample.poseA, rbMovePose(&sample.poseB, RB_VEC3_ZERO, turn)};
        rbJointModel_Rezero(&sample.model, &poses[0], &poses[1]);
        double errors[6];
        rbJointModel_Errors(&sample.model, &poses[0], &poses[1], errors);
        bool isSmooth = true;
        for (int k = 0; k < sample.model.rowCount; ++k) {
            bool isAngle = (sample.model.angleMask >> k & 1u) != 0;
            checkNear(isAngle ? errors[k] : 0.0, 0.0, 1e-14);
        }
        for (int k = 0; k < sample.model.partCount; ++k) {
            // Nearly parallel axes and short distances curve too much for the differences.
            const rbPartModel* part = &sample.model.parts[k];
            isSmooth = isSmooth && part->distance == 0.0;
            isSmooth = isSmooth || (part->type == RB_JOINT_DOUBLE_ROTATION && part->sine > 0.1);
        }
        if (isSmooth) {
            checkBelow(checkGradient(rbJointModel_Rows, rbJointModel_Errors, &sample.model, poses,
                                     sample.model.rowCount, &random),
                       GRADIENT_TOLERANCE);
        }
    }
}

// B-20, B-21, B-22, B-23: freedoms: also when the joint is a little open.
static void rowsOfFreedomsAreTheRatesOfTheirPositions(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(603)};
    int count = 0;
    for (int i = 0; i < rbTest_Count(10000, 500000); ++i) {
        int index = RB_JOINT_HINGE + i % 5;
        JointSample sample = rbSampleJoint(&random, index);
        rbVec3 turn = rbSampleVector(&random, i % 2 == 0 ? 0.0 : 0.05);
        const rbRowPose poses[2] = {sample.poseA, rbMovePose(&sample.poseB, RB_VEC3_ZERO, turn)};
        for (int k = 0; k < sample.model.freedomCount; ++k) {
            double position;
            rbFreedomModel_Errors(&sample.model.freedoms[k], &poses[0], &poses[1], &position);
            if (sample.model.freedoms[k].kind == RB_FREEDOM_ANGLE && fabs(position) > 3.1) {
                continue; // the differences would cross the cut
            }
            double worst = checkGradient(rbFreedomModel_Rows, rbFreedomModel_Errors,
                                         &sample.model.freedoms[k], poses, 1, &random);
            if (!(worst < GRADIENT_TOLERANCE)) {
                fail_msg("%s: freedom %d is off by %g", sample.name, k, worst);
            }
            ++count;
        }
    }
    assert_true(count > 0);
}

// B-20, B-21, B-22, B-23
static void freedomsMeasureHowFarTheBodyWasMoved(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(604)};
    for (int i = 0; i < rbTest_Count(10000, 500000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        for (int k = 0; k < sample.model.freedomCount; ++k) {
            double position;
            rbFreedomModel_Errors(&sample.model.freedoms[k], &sample.poseA, &sample.poseB,
                                  &position);
            // Axes 30 degrees apart double the effect of rounding on an angle.
            checkNear(position, sample.moved[k], 2e-14);
            rbFreedomModel_Errors(&sample.model.freedoms[k], &sample.madeA, &sample.madeB,
                                  &position);
            checkNear(position, 0.0, 2e-14);
        }
    }
}

// B-13, B-14, B-15, B-16, B-17, B-18, B-19, B-20, B-21, B-22, B-23, B-24, B-25
static void jointsHoldOverAllTheyAllow(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(605)};
    for (int i = 0; i < rbTest_Count(20000, 1000000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        double errors[6];
        rbJointModel_Errors(&sample.model, &sample.poseA, &sample.poseB, errors);
        for (int k = 0; k < sample.model.rowCount; ++k) {
            // Rounding of points some 10 m from the origin.
            checkNear(errors[k], 0.0, 2e-14);
        }
    }
}

// bodies that move rigidly together leave every error unchanged, whatever it is; B-17, E-02
static void errorsDoNotSeeCommonMotion(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(606)};
    for (int i = 0; i < rbTest_Count(20000, 1000000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        rbVec3 shift = rbSampleVector(&random, 1.0);
        rbRowPose b = rbMovePose(&sample.poseB, shift, rbSampleVector(&random, 1.0));
        rbTransform motion = rbSampleTransform(&random, 3.0);
        rbRowPose carriedA = rbCarryPose(&sample.poseA, motion);
        rbRowPose carriedB = rbCarryPose(&b, motion);
        double errors[6];
        double carried[6];
        rbJointModel_Errors(&sample.model, &sample.poseA, &b, errors);
        rbJointModel_Errors(&sample.model, &carriedA, &carriedB, carried);
        for (int k = 0; k < sample.model.rowCount; ++k) {
            checkNear(carried[k], errors[k], 2e-13);
        }
    }
}

// an impulse along a row, +x on A and -x on B, conserves momentum and angular momentum about
// the origin; also when the joint is open. B-13, B-14, B-15, B-16, B-31
static void impulsesAlongRowsKeepMomentum(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(607)};
    for (int i = 0; i < rbTest_Count(20000, 1000000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        rbVec3 turn = rbSampleVector(&random, i % 2 == 0 ? 0.0 : 0.3);
        rbRowPose b = rbMovePose(&sample.poseB, turn, turn);
        rbRow rows[9];
        int count = sample.model.rowCount;
        rbJointModel_Rows(&sample.model, &sample.poseA, &b, rows);
        for (int k = 0; k < sample.model.freedomCount; ++k) {
            rbFreedomModel_Rows(&sample.model.freedoms[k], &sample.poseA, &b, &rows[count++]);
        }
        rbSpringModel spring = {sample.model.parts[0].pointA, rbSampleVector(&random, 1.0)};
        rbSpringModel_Rows(&spring, &sample.poseA, &b, &rows[count++]);
        for (int k = 0; k < count; ++k) {
            // The linear parts are one and the same vector by construction.
            rbVec3 a = rbAdd(rbCross(sample.poseA.position, rows[k].linear), rows[k].angularA);
            rbVec3 c = rbAdd(rbCross(b.position, rows[k].linear), rows[k].angularB);
            checkBelow(rbDistance(a, c), 2e-14);
        }
    }
}

// Eigenvalues of a symmetric matrix by Jacobi's rotations.
static void findEigenvalues(double m[6][6], int n, double* values)
{
    for (int sweep = 0; sweep < 30; ++sweep) {
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                double angle = 0.5 * atan2(2.0 * m[p][q], m[q][q] - m[p][p]);
                double c = cos(angle);
                double s = sin(angle);
                for (int k = 0; k < n; ++k) {
                    double x = m[k][p];
                    double y = m[k][q];
                    m[k][p] = c * x - s * y;
                    m[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; ++k) {
                    double x = m[p][k];
                    double y = m[q][k];
                    m[p][k] = c * x - s * y;
                    m[q][k] = s * x + c * y;
                }
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        values[i] = m[i][i];
    }
}

static double coupleRows(const rbRow* a, const rbRow* b)
{
    return 2.0 * rbDot(a->linear, b->linear) + rbDot(a->angularA, b->angularA) +
           rbDot(a->angularB, b->angularB);
}

// B-20, B-21, B-22, B-23, B-24, B-25: the number of removed degrees of freedom equals the number of
// rows.
static void rowsAreIndependent(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(608)};
    for (int i = 0; i < rbTest_Count(4000, 200000); ++i) {
        JointSample sample = rbSampleJoint(&random, i % SAMPLE_COUNT);
        int n = sample.model.rowCount;
        rbRow rows[8];
        rbJointModel_Rows(&sample.model, &sample.poseA, &sample.poseB, rows);
        double m[6][6];
        double values[6];
        double least = INFINITY;
        for (int r = 0; r < n; ++r) {
            for (int c = 0; c < n; ++c) {
                m[r][c] = coupleRows(&rows[r], &rows[c]);
            }
        }
        findEigenvalues(m, n, values);
        for (int k = 0; k < n; ++k) {
            least = fmin(least, values[k]);
        }
        // A rank deficiency gives rounding, 1e-15; long arms make the least eigenvalue small, not
        // tiny.
        if (!(least > 1e-4)) {
            fail_msg("%s: eigenvalue %g", sample.name, least);
        }
        int removed =
            sample.def.type == RB_JOINT_PARTS ? n : rbJointType_GetRowCount(sample.def.type);
        assert_int_equal(n, removed);
    }
}

// B-20: both constructions are the same joint: their rows span the same space.
static void bothHingesTakeAwayTheSame(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(609)};
    for (int i = 0; i < rbTest_Count(1000, 50000); ++i) {
        rbRandom again = random;
        JointSample hinge = rbSampleJoint(&random, RB_JOINT_HINGE);
        JointSample points = rbSampleJoint(&again, RB_JOINT_HINGE_POINTS);
        rbRow rows[6];
        double m[6][6];
        double values[6];
        rbJointModel_Rows(&hinge.model, &hinge.poseA, &hinge.poseB, rows);
        rbRow others[5];
        rbJointModel_Rows(&points.model, &hinge.poseA, &hinge.poseB, others);
        for (int k = 0; k < 5; ++k) {
            // A row of one adds nothing to those of the other.
            rows[5] = others[k];
            double least = INFINITY;
            for (int r = 0; r < 6; ++r) {
                for (int c = 0; c < 6; ++c) {
                    m[r][c] = coupleRows(&rows[r], &rows[c]);
                }
            }
            findEigenvalues(m, 6, values);
            for (int r = 0; r < 6; ++r) {
                least = fmin(least, values[r]);
            }
            checkNear(least, 0.0, 1e-12);
        }
    }
}

// Swing and twist of ball joints, everywhere except where the axes are nearly parallel or opposite.
// B-82
static void rowsOfConesAreTheRatesOfTheirAngles(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(682)};
    double worst = 0.0;
    int count = rbTest_Count(2000, 100000);
    for (int i = 0; i < count; ++i) {
        JointSample sample = rbSampleJoint(&random, RB_JOINT_BALL);
        sample.def.axisA = rbSampleVector(&random, 1.0);
        sample.def.axisB = rbSampleVector(&random, 1.0);
        sample.def.limits[0] = (rbLimitDef){-INFINITY, 3.0, 0.0};
        sample.def.limits[1] = (rbLimitDef){-3.0, 3.0, 0.0};
        rbJointSide sideA = {"a", sample.bodyA, sample.principalA};
        rbJointSide sideB = {"b", sample.bodyB, sample.principalB};
        rbJointLimits limits;
        rbError error = {0};
        assert_int_equal(rbMakeLimits(&limits, &sample.def, &sample.model, &sideA, &sideB, &error),
                         RB_STATUS_OK);
        assert_int_equal(limits.count, 2);
        const rbRowPose poses[2] = {sample.poseA, sample.poseB};
        double swing;
        double twist;
        rbFreedomModel_Errors(&limits.models[0].freedom, &poses[0], &poses[1], &swing);
        rbFreedomModel_Errors(&limits.models[1].freedom, &poses[0], &poses[1], &twist);
        if (swing < 0.1 || swing > RB_PI - 0.3 || fabs(twist) > RB_PI - 0.01) {
            continue;
        }
        for (int k = 0; k < 2; ++k) {
            worst = fmax(worst, checkGradient(rbFreedomModel_Rows, rbFreedomModel_Errors,
                                              &limits.models[k].freedom, poses, 1, &random));
        }
    }
    checkNear(worst, 0.0, GRADIENT_TOLERANCE);
}

RB_TEST_GROUP(prop_joint_rows, cmocka_unit_test(rowsAreTheGradientsOfErrorsWhereTheJointHolds),
              cmocka_unit_test(rowsOfTranslationsAndAnglesAreGradientsEverywhere),
              cmocka_unit_test(rezeroedRotationsHoldAndHaveTheirGradients),
              cmocka_unit_test(rowsOfFreedomsAreTheRatesOfTheirPositions),
              cmocka_unit_test(freedomsMeasureHowFarTheBodyWasMoved),
              cmocka_unit_test(jointsHoldOverAllTheyAllow),
              cmocka_unit_test(errorsDoNotSeeCommonMotion),
              cmocka_unit_test(impulsesAlongRowsKeepMomentum), cmocka_unit_test(rowsAreIndependent),
              cmocka_unit_test(bothHingesTakeAwayTheSame),
              cmocka_unit_test(rowsOfConesAreTheRatesOfTheirAngles));
