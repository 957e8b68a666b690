// A motor: full force toward the set point, none within a dead band. Its gain is the force, its
// window the half width of the band.
#include <rattleback/module.h>

static double push(const rbMotorDef* def, const rbMotorInput* input, double memory[2])
{
    double error = input->target - input->position;
    memory[0] += input->step; // the memory is part of snapshots: here, how long it has worked
    return error > def->window ? def->gain : error < -def->window ? -def->gain : 0.0;
}

static const rbMotorRow row = {"bang-bang", "Full force toward the set point.", push};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    return host->registerMotor(&row, error);
}
RB_MODULE(registerRows)
