// A law of restitution: metal that yields. Below the yield speed it rebounds as its materials say,
// above it the restitution falls with the fourth root of the speed (Johnson, Contact Mechanics).
#include <rattleback/module.h>

#define YIELD_SPEED 0.1 // m/s

static const rbModuleHost* library; // for its power, which has the same bits everywhere

static double getRestitution(const rbRestitutionInput* input)
{
    double ratio = input->speed / YIELD_SPEED;
    return ratio > 1.0 ? input->restitution * library->pow(ratio, -0.25) : input->restitution;
}

static const rbRestitutionRow row = {
    "bronze", "Falls with the fourth root of the speed above 0.1 m/s.", getRestitution};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    library = host;
    return host->registerRestitution(&row, error);
}
RB_MODULE(registerRows)
