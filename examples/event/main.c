// Event engine: a ball dropped onto the ground keeps 0.8 of its speed at each bounce. It bounces
// infinitely often in a finite time and lies still then. Every impact is found at its time and
// written into the journal.
#include <rattleback/rattleback.h>

#include <math.h>
#include <stdio.h>

static rbBodyId addBody(rbWorld* world, rbBodyType type, rbVec3 position, rbGeometry* geometry,
                        rbError* error)
{
    rbBodyDef bodyDef = rbDefaultBodyDef();
    bodyDef.type = type;
    bodyDef.position = position;
    rbBodyId body = rbCreateBody(world, &bodyDef, error);
    rbShapeDef shapeDef = rbDefaultShapeDef();
    shapeDef.geometry = rbWorld_AddGeometry(world, geometry);
    shapeDef.material.restitution = 0.8;
    (void)rbCreateShape(world, body, &shapeDef, error);
    return body;
}

int main(void)
{
    const double height = 1.0, radius = 0.1, gravity = 9.81, restitution = 0.8;
    static rbError error; // static, so that it starts as "no error"
    rbWorldDef worldDef = rbDefaultWorldDef();
    worldDef.engine = RB_ENGINE_EVENT;
    rbWorld* world = rbCreateWorld(&worldDef, &error);
    addBody(world, RB_BODY_STATIC, rbMakeVec3(0, 0, 0),
            rbCreatePlane(rbMakeVec3(0, 0, 1), 0.0, &error), &error);
    rbBodyId ball = addBody(world, RB_BODY_DYNAMIC, rbMakeVec3(0, 0, height + radius),
                            rbCreateSphere(radius, &error), &error);
    if (rbWorld_Prepare(world, &error) != RB_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }

    rbStepReport report = rbWorld_Advance(world, 6.0);
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    double firstFall = sqrt(2.0 * height / gravity);
    double expected = firstFall; // time of the next impact
    double timeError = 0.0;
    int checked = 0;
    for (int i = 0; i < count && checked < 8; ++i) {
        if (events[i].kind == RB_EVENT_IMPACT) {
            timeError = fmax(timeError, fabs(events[i].time - expected));
            ++checked;
            expected += 2.0 * firstFall * pow(restitution, checked);
            if (checked <= 3) {
                printf("impact at %.4f s with %.4f m/s\n", events[i].time, events[i].approachSpeed);
            }
        }
    }
    bool isResting = rbBody_IsResting(world, ball);
    double end = firstFall * (1.0 + restitution) / (1.0 - restitution);
    printf("the series of bounces ends at %.4f s; the ball %s after %g s; times off by at most "
           "%.1e s\n",
           end, isResting ? "lies still" : "still moves", report.time, timeError);
    rbDestroyWorld(world);
    return report.status == RB_STATUS_OK && checked == 8 && timeError < 1e-9 && isResting ? 0 : 1;
}
