// A force: drag in air that swings, c (u sin(w t) - v).
#include <rattleback/module.h>

static const rbModuleHost* library; // for its sine, which has the same bits everywhere

// Numbers: amplitude of the air's velocity (m/s), drag (N s/m), angular frequency (rad/s).
static void addGust(const rbForceDef* def, const rbForceInput* input, rbVec3* force, rbVec3* torque)
{
    double swing = library->sin(def->numbers[4] * input->time);
    (void)torque;
    force->x += def->numbers[3] * (def->numbers[0] * swing - input->linearVelocity.x);
    force->y += def->numbers[3] * (def->numbers[1] * swing - input->linearVelocity.y);
    force->z += def->numbers[3] * (def->numbers[2] * swing - input->linearVelocity.z);
}

#define AT(index) (offsetof(rbForceDef, numbers) + (index) * sizeof(double))

static const rbParameter parameters[] = {
    {"velocity", AT(0), 3, -1e3, 1e3, false, true, "m/s", "amplitude of the air", NULL},
    {"drag", AT(3), 1, 0.0, 1e9, false, true, "N s/m", "force for each m/s of relative speed",
     NULL},
    {"frequency", AT(4), 1, 0.0, 1e6, false, true, "rad/s", "of the swing", NULL},
};

static const rbForceRow row = {
    "gust", "Drag in air that swings to and fro.", parameters, 3, NULL, NULL, addGust, NULL, NULL};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    library = host;
    return host->registerForce(&row, error);
}
RB_MODULE(registerRows)
