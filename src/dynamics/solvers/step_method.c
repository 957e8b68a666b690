// The table of methods that enforce the conditions of joints.
#include "dynamics/solvers/step_method.h"

#include "base/core/registered_rows.h"

RB_DEFINE_TABLE(rbStepMethod, const rbStepMethodRow* rbStepMethodRow_Get, RB_METHOD_COUNT, NULL)
RB_DEFINE_WORDS(rbStepMethod, "method", rbStepMethod_GetCount(),
                index == RB_METHOD_IMPULSES ? "impulses"
                                            : rbStepMethodRow_Get((rbStepMethod)index)->name)

rbStatus rbRegisterStepMethod(const rbStepMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->create != NULL && row->destroy != NULL && row->step != NULL);
    return RB_REGISTER_ROW(rbStepMethod, "step method", row, error);
}
