// The table of methods that keep bodies apart.
#include "dynamics/engines/step/contact_method.h"

#include "base/core/registered_rows.h"

static rbRegisteredRows registered; // of rbContactMethodRow

int rbContactMethod_GetCount(void)
{
    return RB_CONTACT_METHOD_COUNT + registered.count;
}

const rbContactMethodRow* rbContactMethodRow_Get(rbContactMethod method)
{
    RB_ASSERT((int)method >= 0 && (int)method < rbContactMethod_GetCount());
    return method < RB_CONTACT_METHOD_COUNT ? NULL
                                            : registered.rows[method - RB_CONTACT_METHOD_COUNT];
}

RB_DEFINE_WORDS(rbContactMethod, "method of contact", rbContactMethod_GetCount(),
                index == RB_CONTACT_IMPULSES ? "impulses"
                                             : rbContactMethodRow_Get((rbContactMethod)index)->name)

rbStatus rbRegisterContactMethod(const rbContactMethodRow* row, rbError* error)
{
    RB_ASSERT(row != NULL);
    RB_ASSERT(row->check != NULL && row->countParts != NULL && row->advance != NULL &&
              row->look != NULL);
    bool isKnown =
        row->name != NULL && (int)rbContactMethod_Find(row->name) < rbContactMethod_GetCount();
    rbNewRow newRow = {"contact method", row->name, row, isKnown};
    return rbRegisteredRows_Add(&registered, &newRow, error);
}
