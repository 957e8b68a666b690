#include "joint_samples.h"

#include "base/math/quaternion.h"
#include "lab/math/axis_angle.h"
#include "rb_test.h"

// The allowed motion of B relative to A.
typedef enum Shift {
    SHIFT_NONE,
    SHIFT_AXIS,
    SHIFT_PLANE,
    SHIFT_ALL,
    SHIFT_SPHERE,
    SHIFT_TUBE
} Shift;
typedef enum Turn {
    TURN_NONE,
    TURN_AXIS,
    TURN_TWO,
    TURN_ALL
} Turn;

typedef struct SampleRow {
    const char* name;
    rbJointType type;
    Shift shift;
    Turn turn;
    int freedomOfShift; // the component that changes with a motion along or about the axis; -1:
                        // none
    int freedomOfTurn;
    int partCount; // of RB_JOINT_PARTS
    rbJointType parts[3];
} SampleRow;

static const SampleRow rows[SAMPLE_COUNT] = {
    {"ball", RB_JOINT_BALL, SHIFT_NONE, TURN_ALL, -1, -1, 0, {0}},
    {"line", RB_JOINT_LINE, SHIFT_AXIS, TURN_ALL, -1, -1, 0, {0}},
    {"plane", RB_JOINT_PLANE, SHIFT_PLANE, TURN_ALL, -1, -1, 0, {0}},
    {"distance", RB_JOINT_DISTANCE, SHIFT_SPHERE, TURN_ALL, -1, -1, 0, {0}},
    {"line-distance", RB_JOINT_LINE_DISTANCE, SHIFT_TUBE, TURN_ALL, -1, -1, 0, {0}},
    {"plane-distance", RB_JOINT_PLANE_DISTANCE, SHIFT_PLANE, TURN_ALL, -1, -1, 0, {0}},
    {"translation", RB_JOINT_TRANSLATION, SHIFT_ALL, TURN_NONE, -1, -1, 0, {0}},
    {"direction", RB_JOINT_DIRECTION, SHIFT_ALL, TURN_AXIS, -1, -1, 0, {0}},
    {"double-rotation", RB_JOINT_DOUBLE_ROTATION, SHIFT_ALL, TURN_TWO, -1, -1, 0, {0}},
    {"hinge", RB_JOINT_HINGE, SHIFT_NONE, TURN_AXIS, -1, 0, 0, {0}},
    {"hinge-points", RB_JOINT_HINGE_POINTS, SHIFT_NONE, TURN_AXIS, -1, 0, 0, {0}},
    {"cylindrical", RB_JOINT_CYLINDRICAL, SHIFT_AXIS, TURN_AXIS, 0, 1, 0, {0}},
    {"prismatic", RB_JOINT_PRISMATIC, SHIFT_AXIS, TURN_NONE, 0, -1, 0, {0}},
    {"universal", RB_JOINT_UNIVERSAL, SHIFT_NONE, TURN_TWO, -1, 0, 0, {0}},
    {"fixed", RB_JOINT_FIXED, SHIFT_NONE, TURN_NONE, -1, -1, 0, {0}},
    {"plane + direction (planar)",
     RB_JOINT_PARTS,
     SHIFT_PLANE,
     TURN_AXIS,
     -1,
     -1,
     2,
     {RB_JOINT_PLANE, RB_JOINT_DIRECTION}},
    {"line + double rotation",
     RB_JOINT_PARTS,
     SHIFT_AXIS,
     TURN_TWO,
     -1,
     -1,
     2,
     {RB_JOINT_LINE, RB_JOINT_DOUBLE_ROTATION}},
    {"line + plane (a ball)",
     RB_JOINT_PARTS,
     SHIFT_NONE,
     TURN_ALL,
     -1,
     -1,
     2,
     {RB_JOINT_LINE, RB_JOINT_PLANE}},
    {"distance + translation",
     RB_JOINT_PARTS,
     SHIFT_SPHERE,
     TURN_NONE,
     -1,
     -1,
     2,
     {RB_JOINT_DISTANCE, RB_JOINT_TRANSLATION}},
};

rbVec3 rbSampleVector(rbRandom* random, double size)
{
    double x = size * rbRandom_Symmetric(random);
    double y = size * rbRandom_Symmetric(random);
    return rbMakeVec3(x, y, size * rbRandom_Symmetric(random));
}

rbTransform rbSampleTransform(rbRandom* random, double size)
{
    rbVec3 p = rbSampleVector(random, size);
    return (rbTransform){p, rbRandom_Quat(random)};
}

static rbRowPose makePose(rbTransform t)
{
    rbQuat q = rbNormalizeQuat(t.q);
    return (rbRowPose){t.p, q, rbMatFromQuat(q)};
}

rbRowPose rbMovePose(const rbRowPose* pose, rbVec3 shift, rbVec3 turn)
{
    rbTransform t = {rbAdd(pose->position, shift), rbMulQuat(rbQuat_Exp(turn), pose->orientation)};
    return makePose(t);
}

rbRowPose rbCarryPose(const rbRowPose* pose, rbTransform motion)
{
    return makePose(rbMulTransforms(motion, (rbTransform){pose->position, pose->orientation}));
}

// Moves B by a rigid motion that rotates about a world point.
static void turnAbout(rbTransform* b, rbVec3 point, rbVec3 axis, double angle)
{
    rbQuat q = rbQuat_FromAxisAngle(axis, angle);
    b->p = rbAdd(point, rbRotate(q, rbSub(b->p, point)));
    b->q = rbMulQuat(q, b->q);
}

static bool isDistanceType(rbJointType type)
{
    return type == RB_JOINT_DISTANCE || type == RB_JOINT_LINE_DISTANCE ||
           type == RB_JOINT_PLANE_DISTANCE;
}

// A definition that is satisfied at the current poses of the bodies.
static void define(JointSample* sample, const SampleRow* row, rbRandom* random)
{
    rbJointDef* def = &sample->def;
    *def = (rbJointDef){.type = row->type, .distance = -1.0, .forceMax = INFINITY};
    def->anchorA = rbSampleVector(random, 1.0);
    rbVec3 point = rbTransformPoint(sample->bodyA, def->anchorA);
    def->axisA = rbScale(rbRandom_Range(random, 0.1, 10.0), rbRandom_Direction(random));
    rbVec3 axis = rbNormalize(rbRotate(sample->bodyA.q, def->axisA));
    bool isApart =
        isDistanceType(row->type) || (row->partCount > 0 && isDistanceType(row->parts[0]));
    if (isApart) {
        // At least 0.5 m, and 0.2 m from the line.
        rbVec3 direction = rbRandom_Direction(random);
        while (fabs(rbDot(direction, axis)) > 0.9) {
            direction = rbRandom_Direction(random);
        }
        point = rbAddScaled(point, rbRandom_Range(random, 0.5, 2.0), direction);
    }
    def->anchorB = rbInvTransformPoint(sample->bodyB, point);
    if (row->turn == TURN_TWO) {
        // At 30 to 150 degrees.
        rbVec3 across = rbPerpendicular(axis);
        double angle = RB_PI * rbRandom_Range(random, 1.0 / 6.0, 5.0 / 6.0);
        rbVec3 second = rbRotate(rbQuat_FromAxisAngle(across, angle), axis);
        def->axisB = rbInvRotate(sample->bodyB.q, second);
    } else if (rbRandom_Unit(random) < 0.5) {
        def->axisB = rbInvRotate(sample->bodyB.q, rbScale(2.0, axis));
    }
    for (int i = 0; i < row->partCount; ++i) {
        sample->parts[i] =
            (rbJointPart){row->parts[i], def->anchorA, def->anchorB, def->axisA, def->axisB, -1.0};
    }
    def->parts = sample->parts;
    def->partCount = row->partCount;
}

// Moves B as the joint allows.
static void move(JointSample* sample, const SampleRow* row, rbTransform* b, rbRandom* random)
{
    const rbJointDef* def = &sample->def;
    rbVec3 a = rbTransformPoint(sample->bodyA, def->anchorA);
    rbVec3 x = rbNormalize(rbRotate(sample->bodyA.q, def->axisA));
    double amount = rbRandom_Range(random, -2.0, 2.0);
    double angle = rbRandom_Range(random, -3.1, 3.1);
    double angle2 = rbRandom_Range(random, -3.1, 3.1);
    rbVec3 shift = RB_VEC3_ZERO;
    if (row->shift == SHIFT_AXIS || row->shift == SHIFT_TUBE) {
        shift = rbScale(amount, x);
    } else if (row->shift == SHIFT_PLANE) {
        shift = rbCross(x, rbSampleVector(random, 2.0));
    } else if (row->shift == SHIFT_ALL) {
        shift = rbSampleVector(random, 2.0);
    }
    b->p = rbAdd(b->p, shift);
    if (row->shift == SHIFT_SPHERE || row->shift == SHIFT_TUBE) {
        rbQuat kept = b->q;
        turnAbout(b, a, row->shift == SHIFT_TUBE ? x : rbRandom_Direction(random), angle);
        if (row->turn == TURN_NONE) {
            rbVec3 point = rbTransformPoint(*b, def->anchorB);
            b->q = kept;
            b->p = rbSub(point, rbRotate(b->q, def->anchorB));
        }
    }
    rbVec3 point = rbTransformPoint(*b, def->anchorB);
    if (row->turn == TURN_AXIS) {
        turnAbout(b, point, x, angle);
    } else if (row->turn == TURN_ALL) {
        turnAbout(b, point, rbRandom_Direction(random), angle);
    } else if (row->turn == TURN_TWO) {
        // B about its own axis, then the cross and B with it about A's.
        turnAbout(b, point, rbNormalize(rbRotate(b->q, def->axisB)), angle2);
        turnAbout(b, point, x, angle);
    }
    if (row->freedomOfShift >= 0) {
        sample->moved[row->freedomOfShift] = amount;
    }
    if (row->freedomOfTurn >= 0) {
        sample->moved[row->freedomOfTurn] = angle;
        if (row->turn == TURN_TWO) {
            sample->moved[1] = angle2;
        }
    }
}

JointSample rbSampleJoint(rbRandom* random, int index)
{
    const SampleRow* row = &rows[index];
    JointSample sample = {.name = row->name};
    sample.bodyA = rbSampleTransform(random, 2.0);
    sample.bodyB = rbSampleTransform(random, 2.0);
    sample.principalA = rbSampleTransform(random, 0.5);
    sample.principalB = rbSampleTransform(random, 0.5);
    define(&sample, row, random);
    rbJointSide sideA = {"A", sample.bodyA, sample.principalA};
    rbJointSide sideB = {"B", sample.bodyB, sample.principalB};
    rbError error = {0};
    if (rbJointModel_Make(&sample.model, &sample.def, &sideA, &sideB, &error) != RB_STATUS_OK) {
        fail_msg("%s: %s", row->name, error.message);
    }
    sample.def.parts = NULL; // they would point into a copy
    sample.madeA = makePose(rbMulTransforms(sample.bodyA, sample.principalA));
    sample.madeB = makePose(rbMulTransforms(sample.bodyB, sample.principalB));
    rbTransform b = sample.bodyB;
    move(&sample, row, &b, random);
    rbTransform motion = rbSampleTransform(random, 3.0);
    sample.poseA = rbCarryPose(&sample.madeA, motion);
    rbRowPose poseB = makePose(rbMulTransforms(b, sample.principalB));
    sample.poseB = rbCarryPose(&poseB, motion);
    if (rbRandom_Unit(random) < 0.5) {
        rbQuat q = sample.poseB.orientation; // the same rotation
        sample.poseB.orientation = (rbQuat){-q.w, -q.x, -q.y, -q.z};
    }
    return sample;
}
