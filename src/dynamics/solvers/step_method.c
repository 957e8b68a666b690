// The table of methods that enforce the conditions of joints.
#include "dynamics/solvers/step_method.h"

#include "base/core/registered_rows.h"

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

RB_DEFINE_WORDS(rbStepMethod, "method", rbStepMethod_GetCount(),
                index == RB_METHOD_IMPULSES ? "impulses"
                                            : rbStepMethodRow_Get((rbStepMethod)index)->name)

rbStatus rbRegisterStepMethod(const rbStepMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->create != NULL && row->destroy != NULL && row->step != NULL);
    bool isKnown = row->name != NULL && (int)rbStepMethod_Find(row->name) < rbStepMethod_GetCount();
    rbNewRow newRow = {"step method", row->name, row, isKnown};
    return rbRegisteredRows_Add(&registered, &newRow, error);
}
