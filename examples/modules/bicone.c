// A shape: two cones base to base, about the z axis.
#include <rattleback/module.h>

#include <math.h>

// Numbers: the radius of the common base and the height of each cone.
static rbVec3 support(const double* numbers, rbVec3 direction)
{
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    rbVec3 point = {0.0, 0.0, direction.z >= 0.0 ? numbers[1] : -numbers[1]};
    if (numbers[0] * across >= numbers[1] * fabs(direction.z)) {
        point.x = numbers[0] * direction.x / across;
        point.y = numbers[0] * direction.y / across;
        point.z = 0.0;
    }
    return point;
}

// A cone of mass m about a diameter of its base: m (3/20 r^2 + h^2/10); about its axis 3/10 m r^2.
static rbMassProperties getMass(const double* numbers, double density)
{
    double r = numbers[0];
    double h = numbers[1];
    rbMassProperties result;
    result.volume = 2.0 / 3.0 * RB_PI * r * r * h;
    result.mass = density * result.volume;
    result.center.x = 0.0;
    result.center.y = 0.0;
    result.center.z = 0.0;
    result.inertia.xx = result.mass * (0.15 * r * r + 0.1 * h * h);
    result.inertia.yy = result.inertia.xx;
    result.inertia.zz = 0.3 * result.mass * r * r;
    result.inertia.xy = 0.0;
    result.inertia.xz = 0.0;
    result.inertia.yz = 0.0;
    return result;
}

static const rbParameter parameters[] = {
    {"radius", 0, 1, 0.0, 1e3, true, true, "m", "of the common base", NULL},
    {"height", sizeof(double), 1, 0.0, 1e3, true, true, "m", "of each cone", NULL},
};

static const rbConvexShapeRow row = {
    "bicone",   "Two cones base to base, about the z axis and the origin.",
    parameters, 2,
    false,      NULL,
    support,    getMass};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    return host->registerShape(&row, error);
}
RB_MODULE(registerRows)
