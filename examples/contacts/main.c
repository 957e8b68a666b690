// Contacts: a box on a slope. Below the angle of friction it stays, above it slides with g (sin a -
// mu cos a).
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

static const double friction = 0.5;

static rbBodyId addBody(rbWorld* world, rbBodyType type, rbVec3 position, rbGeometry* geometry,
                        rbError* error)
{
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.type = type;
    bodyDef.position = position;
    rbBodyId body = rbCreateBody(world, &bodyDef, error);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    shapeDef.geometry = rbWorld_AddGeometry(world, geometry);
    shapeDef.material.friction = friction;
    shapeDef.material.restitution = 0.0;
    (void)rbCreateShape(world, body, &shapeDef, error);
    return body;
}

// The distance that a box slides in 1 s on a plane inclined by an angle; negative when something
// failed. The slope is level here and gravity is inclined.
static double slide(double angle)
{
    static rbError error; // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.gravity = rbMakeVec3(9.81 * sin(angle), 0.0, -9.81 * cos(angle));
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    addBody(world, RB_BODY_STATIC, rbMakeVec3(0, 0, 0),
            rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, &error), &error);
    rbBodyId box = addBody(world, RB_BODY_DYNAMIC, rbMakeVec3(0, 0, 0.1),
                           rbCreateBox(rbMakeVec3(0.2, 0.2, 0.1), &error), &error);
    double distance = -1.0;
    if (rbWorld_Prepare(world, &error) == RB_STATUS_OK &&
        rbWorld_Advance(world, 1.0).status == RB_STATUS_OK) {
        distance = rbBody_GetState(world, box).center.x;
        static rbBodyId any; // the null id: contacts with any body
        rbVec3 force = rbBody_GetContactForce(world, box, any, NULL);
        printf("slope of %4.1f degrees: slid %.6f m, contact force %.3f of the weight along the "
               "normal\n",
               angle * 180.0 / acos(-1.0), distance,
               force.z / (rbBody_GetMass(world, box).mass * 9.81));
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    rbDestroyWorld(world);
    return distance;
}

int main(void)
{
    double limit = atan(friction);
    double below = slide(limit - 0.1);
    double above = slide(limit + 0.1);
    double expected = 0.5 * 9.81 * (sin(limit + 0.1) - friction * cos(limit + 0.1));
    printf("expected above the angle of friction: %.6f m\n", expected);
    return fabs(below) < 1e-4 && fabs(above - expected) < 5e-3 * expected ? 0 : 1;
}
