// Free flight: a box thrown with a spin about its middle axis, the unstable one. It flips over and
// over while its center follows a parabola. Nothing is stepped: the state at any time is computed
// from the start of the flight.
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    static rbError error; // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.engine = RB_ENGINE_FLIGHT;
    rbWorld* world = rbCreateWorld(&worldDef, &error);

    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.name = "box";
    bodyDef.type = RB_BODY_DYNAMIC;
    bodyDef.linearVelocity = rbMakeVec3(1.0, 0.0, 8.0);
    bodyDef.angularVelocity = rbMakeVec3(0.05, 6.0, 0.0);
    rbBodyId box = rbCreateBody(world, &bodyDef, &error);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    shapeDef.geometry =
        rbWorld_AddGeometry(world, rbCreateBox(rbMakeVec3(0.05, 0.2, 0.45), &error));
    if (RB_IS_NULL(rbCreateShape(world, box, &shapeDef, &error))) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    rbLedger start = rbWorld_GetLedger(world);
    double heightError = 0.0;
    int flips = 0;
    double side = 1.0;
    for (int k = 1; k <= 500; ++k) {
        rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.02));
        rbBodyState state = rbBody_GetState(world, box);
        double t = rbWorld_GetTime(world);
        heightError = fmax(heightError, fabs(state.center.z - (8.0 * t - 0.5 * 9.81 * t * t)));
        if (state.angularVelocityLocal.y * side < 0.0) {
            side = -side;
            ++flips;
        }
    }
    rbLedger end = rbWorld_GetLedger(world);
    double momentumError =
        rbDistance(end.spinMomentum, start.spinMomentum) / rbLength(start.spinMomentum);
    printf("%d flips in %g s, height off by %.1e m, angular momentum by %.1e of itself, energy by "
           "%.1e of itself\n",
           flips, rbWorld_GetTime(world), heightError, momentumError,
           fabs(end.energyDrift / start.energy));
    rbDestroyWorld(world);
    return flips >= 3 && heightError < 1e-10 && momentumError < 1e-12 &&
                   fabs(end.energyDrift / start.energy) < 1e-10
               ? 0
               : 1;
}
