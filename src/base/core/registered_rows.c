#include "base/core/registered_rows.h"

rbStatus rbRegisteredRows_Add(rbRegisteredRows* rows, const rbNewRow* row, rbError* error)
{
    RB_ASSERT(rows != NULL && row != NULL && row->row != NULL);
    if (row->name == NULL || row->name[0] == '\0') {
        return rbError_Set(error, RB_STATUS_INVALID, "a %s to be registered needs a name",
                           row->kind);
    }
    if (row->isKnown) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "there is already a %s named \"%s\"; register it under another name",
                           row->kind, row->name);
    }
    if (rows->count == RB_REGISTERED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the %s \"%s\" does not fit: a table holds at most %d registered rows",
                           row->kind, row->name, RB_REGISTERED_MAX);
    }
    rows->rows[rows->count++] = row->row;
    return RB_STATUS_OK;
}
