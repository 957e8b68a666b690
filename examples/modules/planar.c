// A joint: a body slides in a plane and turns about its normal.
#include <rattleback/module.h>

static const rbJointRow row = {"planar",
                               "A point stays in a plane, and an axis along its normal.",
                               {"plane", "direction"},
                               {NULL, NULL}};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    return host->registerJoint(&row, error);
}
RB_MODULE(registerRows)
