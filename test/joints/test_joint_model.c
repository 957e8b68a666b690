// Creating joints: names, validation of definitions, values derived from the current poses,
// degenerate cases, accuracy of small and large errors.
#include "dynamics/joints/part_ops.h"
#include "joint_samples.h"
#include "lab/math/axis_angle.h"
#include "rb_test.h"

#include <math.h>
#include <string.h>

static rbRowPose poseOf(rbTransform t)
{
    return (rbRowPose){t.p, t.q, rbMatFromQuat(t.q)};
}

static rbJointSide sideOf(const char* name, rbTransform transform)
{
    return (rbJointSide){name, transform, RB_TRANSFORM_IDENTITY};
}

static rbJointDef baseDef(rbJointType type)
{
    return (rbJointDef){.name = "elbow",
                        .type = type,
                        .axisA = {0.0, 0.0, 1.0},
                        .distance = -1.0,
                        .forceMax = INFINITY};
}

static rbStatus makeAtIdentity(rbJointModel* model, const rbJointDef* def, rbError* error)
{
    rbJointSide sideA = sideOf("upper arm", RB_TRANSFORM_IDENTITY);
    rbJointSide sideB = sideOf("fore arm", RB_TRANSFORM_IDENTITY);
    return rbJointModel_Make(model, def, &sideA, &sideB, error);
}

static rbJointModel mustMake(const rbJointDef* def)
{
    rbJointModel model;
    rbError error = {0};
    if (makeAtIdentity(&model, def, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return model;
}

// B-25
static void namesComeBackAndAliasesAreKnown(void** state)
{
    (void)state;
    for (int type = 0; type < RB_JOINT_COUNT; ++type) {
        assert_int_equal(rbJointType_Find(rbJointType_Name((rbJointType)type)), type);
    }
    static const struct {
        const char* alias;
        rbJointType type;
    } aliases[] = {
        {"spherical", RB_JOINT_BALL},
        {"revolute", RB_JOINT_HINGE},
        {"rail-hinge", RB_JOINT_CYLINDRICAL},
        {"rail", RB_JOINT_PRISMATIC},
        {"slider", RB_JOINT_PRISMATIC},
        {"cardan", RB_JOINT_UNIVERSAL},
        {"weld", RB_JOINT_FIXED},
        {"fixation", RB_JOINT_FIXED},
        {"rod", RB_JOINT_DISTANCE},
    };
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; ++i) {
        assert_int_equal(rbJointType_Find(aliases[i].alias), aliases[i].type);
    }
    assert_int_equal(rbJointType_Find("Hinge"), RB_JOINT_COUNT);
    assert_int_equal(rbJointType_Find(""), RB_JOINT_COUNT);
}

static void rowCountsAreThoseOfTheSpecification(void** state)
{
    (void)state;
    static const int counts[RB_JOINT_COUNT] = {3, 2, 1, 1, 1, 1, 3, 2, 1, 5, 5, 4, 5, 4, 6, 0};
    static const uint32_t masks[RB_JOINT_COUNT] = {0, 0,    0, 0,    0,    0,   7,    3,
                                                   1, 0x18, 0, 0x0c, 0x1c, 0x8, 0x38, 0};
    for (int type = 0; type < RB_JOINT_PARTS; ++type) {
        assert_int_equal(rbJointType_GetRowCount((rbJointType)type), counts[type]);
        rbJointDef def = baseDef((rbJointType)type);
        def.anchorB = rbMakeVec3(1.0, 0.5, 0.0);
        bool isTwo = type == RB_JOINT_DOUBLE_ROTATION || type == RB_JOINT_UNIVERSAL;
        def.axisB = isTwo ? rbMakeVec3(1.0, 0.0, 0.0) : RB_VEC3_ZERO;
        rbJointModel model = mustMake(&def);
        assert_int_equal(model.rowCount, counts[type]);
        assert_int_equal(model.angleMask, masks[type]);
    }
    assert_int_equal(rbJointType_GetRowCount(RB_JOINT_PARTS), 0);
}

static const rbSetPoint fallingPoints[] = {{0.0, 1.0}, {2.0, 1.0}, {2.0, 3.0}};
static const rbSetPoint badPoints[] = {{0.0, NAN}};
static const rbJointPart sevenRows[] = {{.type = RB_JOINT_BALL},
                                        {.type = RB_JOINT_TRANSLATION},
                                        {.type = RB_JOINT_PLANE, .axisA = {1.0, 0.0, 0.0}}};
static const rbJointPart stackedPart[] = {{.type = RB_JOINT_HINGE}};
static const rbJointPart axislessPart[] = {{.type = RB_JOINT_PLANE}};

static void asFree(rbJointDef* def, const rbJointPart* parts, int count)
{
    def->type = RB_JOINT_PARTS;
    def->parts = parts;
    def->partCount = count;
}

// One mistake in an otherwise good hinge with a motor.
static void makeMistake(rbJointDef* def, int mistake)
{
    rbMotorDef* motor = &def->freedoms[0].motor;
    switch (mistake) {
    case 0:
        def->axisA = RB_VEC3_ZERO;
        break;
    case 1:
        def->axisA.x = NAN;
        break;
    case 2:
        def->anchorB.y = INFINITY;
        break;
    case 3:
        def->orientation = (rbQuat){2.0, 0.0, 0.0, 0.0};
        break;
    case 4:
        def->type = RB_JOINT_UNIVERSAL;
        break; // axisB zero
    case 5:
        def->type = RB_JOINT_UNIVERSAL;
        def->axisB = rbMakeVec3(0.0, 1e-9, -3.0);
        break;
    case 6:
        asFree(def, sevenRows, 3);
        break;
    case 7:
        asFree(def, NULL, 2);
        break;
    case 8:
        asFree(def, stackedPart, 1);
        break;
    case 9:
        asFree(def, axislessPart, 1);
        break;
    case 10:
        def->freedoms[0].stiffness = -2.0;
        break;
    case 11:
        def->freedoms[0].damping = NAN;
        break;
    case 12:
        def->freedoms[0].friction = INFINITY;
        break;
    case 13:
        def->freedoms[1].stiffness = 5.0;
        break;
    case 14:
        motor->gain = 0.0;
        break;
    case 15:
        motor->forceMax = 0.0;
        break;
    case 16:
        motor->integralTime = -1.0;
        break;
    case 17:
        motor->target = NAN;
        break;
    case 18:
        motor->schedule = fallingPoints;
        motor->scheduleCount = 3;
        break;
    case 19:
        motor->schedule = badPoints;
        motor->scheduleCount = 1;
        break;
    case 20:
        motor->scheduleCount = 3;
        break;
    case 21:
        def->type = RB_JOINT_DISTANCE; // the anchors coincide
        motor->type = RB_MOTOR_NONE;
        break;
    case 22:
        def->type = (rbJointType)77;
        break;
    case 23:
        motor->type = (rbMotorType)9;
        break;
    case 24:
        def->type = RB_JOINT_LINE_DISTANCE;
        def->distance = 0.0;
        break;
    case 25:
        def->type = RB_JOINT_PLANE_DISTANCE;
        def->distance = INFINITY;
        break;
    default:
        def->type = RB_JOINT_BALL;
        break; // has no degree of freedom for the motor
    }
}

// B-28: including bad motors.
static void mistakesAreNamedWithValueAndRemedy(void** state)
{
    (void)state;
    static const char* const words[] = {
        "axisA is zero; give",
        "axisA is [nan, 0, 1]; give",
        "anchorB is [0, inf, 0]; give",
        "orientation [2, 0, 0, 0] is not a unit quaternion; give",
        "axisB is zero; give",
        "parallel now (sine of their angle 3.33",
        "more than the 6 freedoms there are; leave part 3 out",
        "it has 0 parts; give",
        "part 1 is of type 9; parts are",
        "axisA is zero; give",
        "stiffness is -2; give",
        "damping is nan; give",
        "friction is inf; give a finite number",
        "along freedom 2, but this type has 1; use",
        "gain of its motor is 0; give a finite number above 0",
        "forceMax of its motor is 0; give",
        "integralTime of its motor is -1; give",
        "target of its motor is nan; give a finite number",
        "set point 3 of its motor is at 2 s, not after 2 s; give",
        "set point 1 of its motor is nan at 0 s; give",
        "3 set points; give",
        "distance to hold is 0 m, which has no direction; give more than 0 or use type ball",
        "type 77 does not exist",
        "motor type 9 does not exist",
        "distance to hold is 0 m, which has no direction; give more than 0 or use type line",
        "distance is inf; give meters",
        "along freedom 1, but this type has 0; use",
    };
    rbJointDef good = baseDef(RB_JOINT_HINGE);
    good.freedoms[0].motor =
        (rbMotorDef){.type = RB_MOTOR_POSITION, .gain = 10.0, .forceMax = INFINITY};
    mustMake(&good);
    for (int i = 0; i < (int)(sizeof words / sizeof words[0]); ++i) {
        rbJointDef def = good;
        makeMistake(&def, i);
        rbJointModel model;
        rbError error = {0};
        assert_int_equal(makeAtIdentity(&model, &def, &error), RB_STATUS_INVALID);
        assert_int_equal(error.status, RB_STATUS_INVALID);
        static const char* const always[] = {"joint \"elbow\"", "\"upper arm\"", "\"fore arm\""};
        for (int k = 0; k < 3; ++k) {
            if (strstr(error.message, always[k]) == NULL) {
                fail_msg("mistake %d: no %s in: %s", i, always[k], error.message);
            }
        }
        if (strstr(error.message, words[i]) == NULL) {
            fail_msg("mistake %d: not \"%s\" but: %s", i, words[i], error.message);
        }
        // The error may be omitted.
        assert_int_equal(makeAtIdentity(&model, &def, NULL), RB_STATUS_INVALID);
    }
}

static void axesOfAnyLengthAreAccepted(void** state)
{
    (void)state;
    static const double lengths[] = {1e-300, 1e-5, 1.0, 1e10, 1e300};
    for (int i = 0; i < 5; ++i) {
        rbJointDef def = baseDef(RB_JOINT_HINGE);
        def.axisA = rbScale(lengths[i], rbMakeVec3(3.0, 0.0, 4.0));
        rbJointModel model = mustMake(&def);
        checkNear(rbDistance(model.parts[1].axisA, rbMakeVec3(0.6, 0.0, 0.8)), 0.0, 1e-15);
        checkNear(rbDistance(model.parts[1].axisB, rbMakeVec3(0.6, 0.0, 0.8)), 0.0, 1e-15);
    }
}

// B-17, B-24, E-02: the joint holds the stated orientation of the bodies' frames, wherever their
// principal frames are and whatever the poses are when the joint is created.
static void theStatedOrientationIsHeld(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(620)};
    for (int i = 0; i < rbTest_Count(1000, 50000); ++i) {
        rbJointSide sideA = {"A", rbSampleTransform(&random, 1.0), rbSampleTransform(&random, 1.0)};
        rbJointSide sideB = {"B", rbSampleTransform(&random, 1.0), rbSampleTransform(&random, 1.0)};
        rbJointDef def = baseDef(i % 2 == 0 ? RB_JOINT_TRANSLATION : RB_JOINT_FIXED);
        def.orientation = rbRandom_Quat(&random);
        def.anchorA = rbSampleVector(&random, 1.0);
        def.anchorB = rbSampleVector(&random, 1.0);
        rbJointModel model;
        assert_int_equal(rbJointModel_Make(&model, &def, &sideA, &sideB, NULL), RB_STATUS_OK);
        rbTransform a = rbSampleTransform(&random, 1.0);
        rbTransform b = {RB_VEC3_ZERO, rbMulQuat(a.q, def.orientation)};
        b.p = rbSub(rbTransformPoint(a, def.anchorA), rbRotate(b.q, def.anchorB));
        rbRowPose poseA = poseOf(rbMulTransforms(a, sideA.principal));
        rbRowPose poseB = poseOf(rbMulTransforms(b, sideB.principal));
        double errors[6];
        rbJointModel_Errors(&model, &poseA, &poseB, errors);
        for (int k = 0; k < model.rowCount; ++k) {
            checkNear(errors[k], 0.0, 5e-15);
        }
    }
}

// B-20, B-21: the angle is zero at the stated orientation, not at the initial poses.
static void anglesCountFromTheStatedOrientation(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(621)};
    for (int i = 0; i < rbTest_Count(1000, 50000); ++i) {
        rbTransform a = rbSampleTransform(&random, 1.0);
        rbJointDef def = baseDef(i % 2 == 0 ? RB_JOINT_HINGE : RB_JOINT_CYLINDRICAL);
        def.axisA = rbRandom_Direction(&random);
        def.orientation = rbRandom_Quat(&random);
        double angle = rbRandom_Range(&random, -3.1, 3.1);
        rbQuat turn = rbQuat_FromAxisAngle(rbRotate(a.q, def.axisA), angle);
        rbTransform b = {a.p, rbMulQuat(turn, rbMulQuat(a.q, def.orientation))};
        rbJointSide sideA = {"A", a, rbSampleTransform(&random, 1.0)};
        rbJointSide sideB = {"B", b, rbSampleTransform(&random, 1.0)};
        rbJointModel model;
        assert_int_equal(rbJointModel_Make(&model, &def, &sideA, &sideB, NULL), RB_STATUS_OK);
        rbRowPose poseA = poseOf(rbMulTransforms(a, sideA.principal));
        rbRowPose poseB = poseOf(rbMulTransforms(b, sideB.principal));
        double position;
        const rbFreedomModel* freedom = &model.freedoms[model.freedomCount - 1];
        rbFreedomModel_Errors(freedom, &poseA, &poseB, &position);
        checkNear(position, angle, 1e-14);
    }
}

// B-16: the stated distance is held, with its sign for a plane; a negative one means the current
// distance.
static void statedDistancesAreHeld(void** state)
{
    (void)state;
    static const rbJointType types[] = {RB_JOINT_DISTANCE, RB_JOINT_LINE_DISTANCE,
                                        RB_JOINT_PLANE_DISTANCE};
    static const double now[] = {7.0, 3.605551275463989, -6.0}; // of (2, 3, -6): sqrt 13 from z
    for (int i = 0; i < 3; ++i) {
        rbJointDef def = baseDef(types[i]);
        def.anchorB = rbMakeVec3(2.0, 3.0, -6.0);
        rbRowPose pose = poseOf(RB_TRANSFORM_IDENTITY);
        double error;
        rbJointModel model = mustMake(&def);
        rbJointModel_Errors(&model, &pose, &pose, &error);
        checkNear(error, 0.0, 1e-15);
        checkNear(model.parts[0].distance, now[i], 1e-15);
        def.distance = 0.5;
        model = mustMake(&def);
        rbJointModel_Errors(&model, &pose, &pose, &error);
        checkNear(error, now[i] - 0.5, 1e-15);
    }
    rbJointDef def = baseDef(RB_JOINT_PLANE_DISTANCE);
    def.distance = 0.0; // a plane
    mustMake(&def);
}

// Angles from tiny to nearly pi, across the switch from the series to the arc.
// B-17, B-18, B-19, E-12
static void errorsAreTheAnglesTurned(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(622)};
    rbJointDef translation = baseDef(RB_JOINT_TRANSLATION);
    rbJointDef direction = baseDef(RB_JOINT_DIRECTION);
    rbJointDef angle = baseDef(RB_JOINT_DOUBLE_ROTATION);
    angle.axisB = rbMakeVec3(1.0, 0.0, 1.0); // 45 degrees from z
    rbJointModel models[3] = {mustMake(&translation), mustMake(&direction), mustMake(&angle)};
    rbRowPose pose = poseOf(RB_TRANSFORM_IDENTITY);
    for (int i = 0; i < rbTest_Count(5000, 200000); ++i) {
        double turned = exp(rbRandom_Range(&random, log(1e-13), log(3.14)));
        rbVec3 axis = rbRandom_Direction(&random);
        double errors[6];
        rbRowPose b = rbMovePose(&pose, RB_VEC3_ZERO, rbScale(turned, axis));
        // Rounding of the pose is 1e-16; an arc of it grows with the angle.
        double tolerance = 4e-16 + 2e-15 * turned;
        rbJointModel_Errors(&models[0], &pose, &b, errors);
        rbVec3 vector = rbMakeVec3(errors[0], errors[1], errors[2]);
        checkNear(rbDistance(vector, rbScale(turned, axis)), 0.0, tolerance);

        rbVec3 across = rbNormalize(rbMakeVec3(axis.x, axis.y, 0.0));
        b = rbMovePose(&pose, RB_VEC3_ZERO, rbScale(turned, across));
        rbJointModel_Errors(&models[1], &pose, &b, errors);
        const rbPartModel* part = &models[1].parts[0];
        checkNear(errors[0], turned * rbDot(across, part->crossA[0]), tolerance);
        checkNear(errors[1], turned * rbDot(across, part->crossA[1]), tolerance);

        // From z toward x about y: the angle grows up to 135 degrees more, then falls.
        b = rbMovePose(&pose, RB_VEC3_ZERO, rbMakeVec3(0.0, turned, 0.0));
        rbJointModel_Errors(&models[2], &pose, &b, errors);
        double expected = turned < 0.75 * RB_PI ? turned : 1.5 * RB_PI - turned;
        checkNear(errors[0], expected, tolerance);
    }
}

static void checkRowsAndErrors(const rbJointModel* model, const rbRowPose* a, const rbRowPose* b)
{
    rbRow rows[6];
    double errors[6];
    rbJointModel_Rows(model, a, b, rows);
    rbJointModel_Errors(model, a, b, errors);
    for (int i = 0; i < model->rowCount; ++i) {
        assert_true(isfinite(errors[i]));
        bool isAngle = (model->angleMask >> i & 1u) != 0;
        // Unit directions: an impulse can always act.
        checkNear(rbLength(isAngle ? rows[i].angularA : rows[i].linear), 1.0, 1e-15);
        assert_true(rbIsFinite3(rows[i].angularA) && rbIsFinite3(rows[i].angularB));
    }
}

// B-16, B-18, B-19, B-31: opposite axes, points that coincide, parallel axes, half turns.
static void degenerateCasesAreDefined(void** state)
{
    (void)state;
    rbRowPose a = poseOf(RB_TRANSFORM_IDENTITY);
    rbTransform halfTurn = {RB_VEC3_ZERO, {0.0, 1.0, 0.0, 0.0}};
    rbRowPose b = poseOf(halfTurn);
    double errors[6];

    rbJointDef def = baseDef(RB_JOINT_DIRECTION);
    rbJointModel model = mustMake(&def);
    checkRowsAndErrors(&model, &a, &b);
    rbJointModel_Errors(&model, &a, &b, errors);
    checkNear(hypot(errors[0], errors[1]), RB_PI, 1e-15);

    def = baseDef(RB_JOINT_TRANSLATION);
    model = mustMake(&def);
    checkRowsAndErrors(&model, &a, &b);
    rbJointModel_Errors(&model, &a, &b, errors);
    checkNear(fabs(errors[0]), RB_PI, 1e-15);

    def = baseDef(RB_JOINT_DOUBLE_ROTATION);
    def.axisB = rbMakeVec3(1.0, 0.0, 0.0);
    model = mustMake(&def);
    rbTransform quarter = {RB_VEC3_ZERO, {sqrt(0.5), 0.0, sqrt(0.5), 0.0}};
    b = poseOf(quarter); // takes x to -z
    checkRowsAndErrors(&model, &a, &b);
    rbJointModel_Errors(&model, &a, &b, errors);
    checkNear(errors[0], 0.5 * RB_PI, 1e-15);

    static const rbJointType types[] = {RB_JOINT_DISTANCE, RB_JOINT_LINE_DISTANCE};
    for (int i = 0; i < 2; ++i) {
        def = baseDef(types[i]);
        def.distance = 2.0;
        model = mustMake(&def);
        checkRowsAndErrors(&model, &a, &a);
        rbJointModel_Errors(&model, &a, &a, errors);
        checkNear(errors[0], -2.0, 0.0);
    }

    rbSpringModel spring = {RB_VEC3_ZERO, RB_VEC3_ZERO};
    rbRow row;
    rbSpringModel_Rows(&spring, &a, &a, &row);
    rbSpringModel_Errors(&spring, &a, &a, errors);
    checkNear(errors[0], 0.0, 0.0);
    checkNear(rbLength(row.linear) + rbLength(row.angularA) + rbLength(row.angularB), 0.0, 0.0);

    // A cross whose axes have become parallel: the angles of a universal joint.
    def = baseDef(RB_JOINT_UNIVERSAL);
    def.axisB = rbMakeVec3(1.0, 0.0, 0.0);
    model = mustMake(&def);
    for (int i = 0; i < 2; ++i) {
        rbFreedomModel_Rows(&model.freedoms[i], &a, &b, &row);
        rbFreedomModel_Errors(&model.freedoms[i], &a, &b, errors);
        assert_true(isfinite(errors[0]) && rbIsFinite3(row.angularA));
    }
}

// B-14, B-15: the points for display.
static void shownPointsAreFootPoints(void** state)
{
    (void)state;
    static const struct {
        rbJointType type;
        rbVec3 foot, axis;
    } cases[] = {
        {RB_JOINT_BALL, {1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}},
        {RB_JOINT_LINE, {1.0, 1.0, 5.0}, {0.0, 0.0, 1.0}},
        {RB_JOINT_PLANE, {2.0, 3.0, 1.0}, {0.0, 0.0, 1.0}},
        {RB_JOINT_DISTANCE, {1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}},
        {RB_JOINT_PRISMATIC, {1.0, 1.0, 5.0}, {0.0, 0.0, 1.0}},
        {RB_JOINT_HINGE, {1.0, 1.0, 1.0}, {0.0, 0.0, 1.0}},
        {RB_JOINT_DIRECTION, {1.0, 1.0, 1.0}, {0.0, 0.0, 1.0}},
        {RB_JOINT_FIXED, {1.0, 1.0, 1.0}, {0.0, 0.0, 0.0}},
    };
    rbRowPose pose = poseOf(RB_TRANSFORM_IDENTITY);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbJointDef def = baseDef(cases[i].type);
        def.anchorA = rbMakeVec3(1.0, 1.0, 1.0);
        def.anchorB = rbMakeVec3(2.0, 3.0, 5.0);
        rbJointModel model = mustMake(&def);
        rbVec3 a;
        rbVec3 b;
        rbVec3 axis;
        rbJointModel_Points(&model, &pose, &pose, &a, &b, &axis);
        checkNear(rbDistance(a, cases[i].foot), 0.0, 1e-15);
        checkNear(rbDistance(b, def.anchorB), 0.0, 0.0);
        checkNear(rbDistance(axis, cases[i].axis), 0.0, 1e-15);
    }
}

// B-31, E-04: the row of a spring is the rate of its length, so that a force along it against the
// rate removes energy from the bodies.
static void theRowOfASpringIsTheRateOfItsLength(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(623)};
    const double step = 1e-4;
    for (int i = 0; i < rbTest_Count(2000, 100000); ++i) {
        rbRowPose a = poseOf(rbSampleTransform(&random, 1.0));
        rbRowPose b = poseOf(rbSampleTransform(&random, 1.0));
        rbSpringModel spring = {rbSampleVector(&random, 1.0), rbSampleVector(&random, 1.0)};
        rbVec3 v[4];
        for (int k = 0; k < 4; ++k) {
            v[k] = rbSampleVector(&random, 1.0);
        }
        double length;
        rbSpringModel_Errors(&spring, &a, &b, &length);
        rbVec3 pointA = rbAdd(a.position, rbMulMV(a.rotation, spring.pointA));
        rbVec3 pointB = rbAdd(b.position, rbMulMV(b.rotation, spring.pointB));
        checkNear(length, rbDistance(pointA, pointB), 1e-14);
        if (length < 0.3) {
            continue; // curves too much for the differences
        }
        rbRow row;
        rbSpringModel_Rows(&spring, &a, &b, &row);
        double rate = rbDot(row.linear, rbSub(v[1], v[0])) + rbDot(row.angularB, v[3]) -
                      rbDot(row.angularA, v[2]);
        double lengths[2];
        for (int k = 0; k < 2; ++k) {
            double time = k == 0 ? -step : step;
            rbRowPose movedA = rbMovePose(&a, rbScale(time, v[0]), rbScale(time, v[2]));
            rbRowPose movedB = rbMovePose(&b, rbScale(time, v[1]), rbScale(time, v[3]));
            rbSpringModel_Errors(&spring, &movedA, &movedB, &lengths[k]);
        }
        // step^2 times a third derivative of some hundred.
        checkNear((lengths[1] - lengths[0]) / (2.0 * step), rate, 1e-5);
    }
}

// What each joint takes away, and what it leaves to drive and to limit: of six degrees of freedom a
// hinge leaves one angle, a cylindrical joint an angle and a travel, a weld nothing.
// B-13, B-14, B-15, B-16, B-17, B-18, B-19, B-20, B-21, B-22, B-23, B-24
static void typesRemoveTheirDegreesOfFreedom(void** state)
{
    (void)state;
    static const struct {
        rbJointType type;
        int removed;
        int freedoms;
    } rows[] = {
        {RB_JOINT_BALL, 3, 0},
        {RB_JOINT_LINE, 2, 0},
        {RB_JOINT_PLANE, 1, 0},
        {RB_JOINT_DISTANCE, 1, 0},
        {RB_JOINT_LINE_DISTANCE, 1, 0},
        {RB_JOINT_PLANE_DISTANCE, 1, 0},
        {RB_JOINT_TRANSLATION, 3, 0},
        {RB_JOINT_DIRECTION, 2, 0},
        {RB_JOINT_DOUBLE_ROTATION, 1, 0},
        {RB_JOINT_HINGE, 5, 1},
        {RB_JOINT_HINGE_POINTS, 5, 1},
        {RB_JOINT_CYLINDRICAL, 4, 2},
        {RB_JOINT_PRISMATIC, 5, 1},
        {RB_JOINT_UNIVERSAL, 4, 2},
        {RB_JOINT_FIXED, 6, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(rbJointType_GetRowCount(rows[i].type), rows[i].removed);
        assert_int_equal(rbJointTypeRow_Get(rows[i].type)->freedomCount, rows[i].freedoms);
    }
}

// An angle is counted in the turn in which it lies between its limits, if there is one.
static void turnsAreChosenBetweenTheLimits(void** state)
{
    (void)state;
    double turn = 2.0 * RB_PI;
    rbRandom random = {rbTest_Seed(61)};
    int chosenCount = 0;
    for (int i = 0; i < rbTest_Count(500, 50000); ++i) {
        rbLimitModel limit = {.freedom.kind = i % 2 == 0 ? RB_FREEDOM_ANGLE : RB_FREEDOM_TWIST};
        limit.lower = rbRandom_Range(&random, -20.0, 10.0);
        limit.upper = limit.lower + rbRandom_Range(&random, 0.0, 12.0);
        double angle = rbRandom_Range(&random, -40.0, 40.0);
        double chosen = rbLimitModel_ChooseTurn(&limit, angle);
        bool isIn = angle >= limit.lower && angle <= limit.upper;
        bool isPossible = false;
        for (int k = -20; k <= 20; ++k) {
            double other = angle + k * turn;
            isPossible = isPossible || (other > limit.lower + 1e-9 && other < limit.upper - 1e-9);
        }
        if (isIn || chosen == angle) {
            assert_true(chosen == angle);
            assert_false(isPossible && !isIn);
        } else {
            double turns = (chosen - angle) / turn;
            checkNear(turns, nearbyint(turns), 1e-12);
            assert_true(chosen >= limit.lower && chosen <= limit.upper);
            chosenCount += 1;
        }
        // What is no angle has no turns.
        limit.freedom.kind = RB_FREEDOM_TRAVEL;
        assert_true(rbLimitModel_ChooseTurn(&limit, angle) == angle);
    }
    assert_true(chosenCount > 0);
}

RB_TEST_GROUP(test_joint_model, cmocka_unit_test(typesRemoveTheirDegreesOfFreedom),
              cmocka_unit_test(namesComeBackAndAliasesAreKnown),
              cmocka_unit_test(rowCountsAreThoseOfTheSpecification),
              cmocka_unit_test(mistakesAreNamedWithValueAndRemedy),
              cmocka_unit_test(axesOfAnyLengthAreAccepted),
              cmocka_unit_test(theStatedOrientationIsHeld),
              cmocka_unit_test(anglesCountFromTheStatedOrientation),
              cmocka_unit_test(statedDistancesAreHeld), cmocka_unit_test(errorsAreTheAnglesTurned),
              cmocka_unit_test(degenerateCasesAreDefined),
              cmocka_unit_test(shownPointsAreFootPoints),
              cmocka_unit_test(turnsAreChosenBetweenTheLimits),
              cmocka_unit_test(theRowOfASpringIsTheRateOfItsLength));
