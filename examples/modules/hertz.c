// A contact law: Hertz's, F = k d^(3/2). Without damping, a ball of mass m that arrives at the
// speed v sinks by (5 m v^2 / (4 k))^(2/5) and leaves at the same speed.
#include <rattleback/module.h>

#include <math.h>

#define STIFFNESS 1e7 // N/m^1.5

static double push(const rbContactLawInput* input)
{
    return STIFFNESS * input->depth * sqrt(input->depth);
}

static const rbContactLawRow row = {"hertz", "Elastic spheres: k d^(3/2), k = 1e7 N/m^1.5.", 2e-5,
                                    push};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    return host->registerContactLaw(&row, error);
}
RB_MODULE(registerRows)
