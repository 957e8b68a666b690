// A probe: the angle between the z axis of a body and the vertical.
#include <rattleback/module.h>

static const rbModuleHost* library;

static void measure(const rbProbeInput* input, double values[4])
{
    rbQuat q = library->rbBody_GetState(input->world, input->body).transform.q;
    double up = 1.0 - 2.0 * (q.x * q.x + q.y * q.y); // z component of its z axis
    values[0] = library->acos(up > 1.0 ? 1.0 : up < -1.0 ? -1.0 : up);
}

static const rbProbeRow row = {
    "tilt", "Angle of the z axis of a body to the vertical.", "rad", RB_PROBE_OF_BODY, 1, measure};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    library = host;
    return host->registerProbe(&row, error);
}
RB_MODULE(registerRows)
