// The table of methods that keep bodies apart.
#include "dynamics/engines/step/contact_method.h"

#include "base/core/registered_rows.h"

#include <string.h>

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

const char* rbContactMethod_Name(rbContactMethod method)
{
    RB_ASSERT((int)method >= 0 && (int)method < rbContactMethod_GetCount());
    return method == RB_CONTACT_IMPULSES ? "impulses" : rbContactMethodRow_Get(method)->name;
}

rbContactMethod rbContactMethod_Find(const char* name)
{
    RB_ASSERT(name != NULL);
    int method = RB_CONTACT_IMPULSES;
    while (method < rbContactMethod_GetCount() &&
           strcmp(name, rbContactMethod_Name((rbContactMethod)method)) != 0) {
        ++method;
    }
    return (rbContactMethod)method;
}

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
