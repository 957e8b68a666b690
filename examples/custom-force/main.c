// Custom force: a callback pulls a body to the origin like a spring, F = -k x. It must oscillate as
// cos(sqrt(k/m) t).
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

static void pullToOrigin(const rbForceInput* input, rbVec3* force, rbVec3* torque, void* context)
{
    const double* stiffness = (const double*)context;
    (void)torque;
    *force = rbAdd(*force, rbScale(-*stiffness, input->center));
}

int main(void)
{
    double stiffness = 50.0; // N/m
    static rbError error;    // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.gravity = rbMakeVec3(0, 0, 0);
    rbWorld* world = rbCreateWorld(&worldDef, &error);

    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.type = RB_BODY_DYNAMIC;
    bodyDef.position = rbMakeVec3(1, 0, 0);
    rbBodyId body = rbCreateBody(world, &bodyDef, &error);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    shapeDef.geometry = rbWorld_AddGeometry(world, rbCreateSphere(0.1, &error));
    (void)rbCreateShape(world, body, &shapeDef, &error);

    rbForceDef forceDef = rbDefaultForceDef();
    forceDef.type = RB_FORCE_USER;
    forceDef.body = body;
    forceDef.callback = pullToOrigin;
    forceDef.context = &stiffness;
    if (RB_IS_NULL(rbCreateForce(world, &forceDef, &error))) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    double mass = rbBody_GetMass(world, body).mass;
    double frequency = sqrt(stiffness / mass);
    double worst = 0.0;
    for (int k = 1; k <= 100; ++k) {
        rbStepReport report = rbWorld_AdvanceTo(world, rbGetStepTime(k, 0.1));
        worst =
            fmax(worst, fabs(rbBody_GetState(world, body).center.x - cos(frequency * report.time)));
    }
    printf("%.3f kg at %.3f rad/s: off by at most %.1e m in %g s\n", mass, frequency, worst,
           rbWorld_GetTime(world));
    rbDestroyWorld(world);
    return worst < 1e-8 ? 0 : 1;
}
