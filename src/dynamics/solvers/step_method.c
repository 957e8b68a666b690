// The table of methods that enforce the conditions of joints.
#include "dynamics/solvers/step_method.h"

#include "base/core/registered_rows.h"

#include <string.h>

static rbRegisteredRows registered; // of rbStepMethodRow

int rbStepMethod_GetCount(void)
{
    return RB_METHOD_COUNT + registered.count;
}

const rbStepMethodRow* rbStepMethodRow_Get(rbStepMethod method)
{
    RB_ASSERT((int)method >= 0 && (int)method < rbStepMethod_GetCount());
    return method < RB_METHOD_COUNT ? NULL : registered.rows[method - RB_METHOD_COUNT];
}

const char* rbStepMethod_Name(rbStepMethod method)
{
    if ((int)method < 0 || (int)method >= rbStepMethod_GetCount()) {
        return "unknown";
    }
    return method == RB_METHOD_IMPULSES ? "impulses" : rbStepMethodRow_Get(method)->name;
}

rbStepMethod rbStepMethod_Find(const char* name)
{
    RB_ASSERT(name != NULL);
    int method = RB_METHOD_IMPULSES;
    while (method < rbStepMethod_GetCount() &&
           strcmp(name, rbStepMethod_Name((rbStepMethod)method)) != 0) {
        ++method;
    }
    return (rbStepMethod)method;
}

rbStatus rbRegisterStepMethod(const rbStepMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->create != NULL && row->destroy != NULL && row->step != NULL);
    bool isKnown = row->name != NULL && (int)rbStepMethod_Find(row->name) < rbStepMethod_GetCount();
    rbNewRow newRow = {"step method", row->name, row, isKnown};
    return rbRegisteredRows_Add(&registered, &newRow, error);
}
