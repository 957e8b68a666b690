// The table of methods that keep bodies apart.
#include "dynamics/engines/step/contact_method.h"

#include "base/core/registered_rows.h"

RB_DEFINE_TABLE(rbContactMethod, const rbContactMethodRow* rbContactMethodRow_Get,
                RB_CONTACT_METHOD_COUNT, NULL)
RB_DEFINE_WORDS(rbContactMethod, "method of contact", rbContactMethod_GetCount(),
                index == RB_CONTACT_IMPULSES ? "impulses"
                                             : rbContactMethodRow_Get((rbContactMethod)index)->name)

rbStatus rbRegisterContactMethod(const rbContactMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->check != NULL && row->countParts != NULL && row->advance != NULL &&
              row->look != NULL);
    return RB_REGISTER_ROW(rbContactMethod, "contact method", row, error);
}

static rbReactionFn* jointReaction;

void rbSetJointReaction(rbReactionFn* function)
{
    jointReaction = function;
}

rbReactionFn* rbGetJointReaction(void)
{
    return jointReaction;
}
