// Mechanism: a rod swings on a hinge. The step engine holds the joint to a stated tolerance; the
// period at large amplitude is compared with the exact one, an arithmetic-geometric mean.
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    const double length = 1.0, gravity = 9.81, amplitude = 1.2; // m, m/s^2, rad
    static rbError error; // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.engine = RB_ENGINE_STEP;
    worldDef.step.step = 1e-3;
    worldDef.step.order = 4;
    rbWorld* world = rbCreateWorld(&worldDef, &error);

    // The rod hangs from the origin, turned about y by the amplitude.
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.name = "rod";
    bodyDef.type = RB_BODY_DYNAMIC;
    bodyDef.orientation.w = cos(amplitude / 2.0);
    bodyDef.orientation.y = sin(amplitude / 2.0);
    bodyDef.position =
        rbMakeVec3(-0.5 * length * sin(amplitude), 0.0, -0.5 * length * cos(amplitude));
    rbBodyId rod = rbCreateBody(world, &bodyDef, &error);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    rbVec3 half = rbMakeVec3(0.02, 0.02, 0.5 * length);
    shapeDef.geometry = rbWorld_AddGeometry(world, rbCreateBox(half, &error));
    (void)rbCreateShape(world, rod, &shapeDef, &error);

    rbJointDef jointDef = rbDefaultJointDef();
    jointDef.type = RB_JOINT_HINGE;
    jointDef.bodyB = rod; // bodyA stays null: the world
    rbJointDef_SetAnchor(&jointDef, world, rbMakeVec3(0, 0, 0));
    rbJointDef_SetAxis(&jointDef, world, rbMakeVec3(0, 1, 0));
    rbJointId hinge = rbCreateJoint(world, &jointDef, &error);
    if (RB_IS_NULL(hinge) || rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    // T = 2 pi sqrt(I / (m g d)) / agm(1, cos(amplitude / 2)), I about the hinge, d to the center
    // of mass.
    double inertiaPerMass = (half.x * half.x + half.z * half.z) / 3.0 + 0.25 * length * length;
    double a = 1.0, b = cos(amplitude / 2.0);
    for (int i = 0; i < 8; ++i) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    double period = 2.0 * acos(-1.0) * sqrt(inertiaPerMass / (gravity * 0.5 * length)) / a;

    double jointError = 0.0;
    for (int k = 1; k <= 100; ++k) {
        rbWorld_AdvanceTo(world, period * k / 100.0);
        jointError = fmax(jointError, rbJoint_GetState(world, hinge).positionError);
    }
    // After a period the rod is back: angle 0 relative to the start, at rest.
    rbJointState state = rbJoint_GetState(world, hinge);
    rbLedger ledger = rbWorld_GetLedger(world);
    printf("period %.6f s; then the rod is off by %.1e rad and %.1e rad/s, the hinge by %.1e m, "
           "the energy by %.1e J\n",
           period, fabs(state.freedomPositions[0]), fabs(state.freedomVelocities[0]), jointError,
           fabs(ledger.energyDrift));
    rbDestroyWorld(world);
    return fabs(state.freedomPositions[0]) < 1e-6 && fabs(state.freedomVelocities[0]) < 1e-5 &&
                   jointError < 1e-6
               ? 0
               : 1;
}
