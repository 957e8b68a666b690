#include "base/core/registered_rows.h"

rbStatus rbRegisteredRows_Add(rbRegisteredRows* rows, const rbNewRow* row, rbError* error)
{
    RB_ASSERT(rows != NULL && row != NULL && row->row != NULL);
    RB_INVALID_IF(row->name == NULL || row->name[0] == '\0', error,
                  "a %s to be registered needs a name", row->kind);
    RB_INVALID_IF(row->isKnown, error,
                  "there is already a %s named \"%s\"; register it under another name", row->kind,
                  row->name);
    RB_REFUSE_IF(rows->count == RB_REGISTERED_MAX, RB_STATUS_LIMIT, error,
                 "the %s \"%s\" does not fit: a table holds at most %d registered rows", row->kind,
                 row->name, RB_REGISTERED_MAX);
    rows->rows[rows->count++] = row->row;
    return RB_STATUS_OK;
}
