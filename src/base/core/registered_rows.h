// Rows added to a table of methods at start-up, after the built-in ones.
//
// Every choice of method is a table row. The built-in rows of a table are numbered by its
// enumeration; registered rows are numbered from its COUNT, in the order of registration, and are
// found by name like the others. Rows are registered by one thread before the first world is
// created; after that, tables are read-only. Nothing is allocated or copied: rows must live as long
// as the process.
#pragma once

#include "base/core/status.h"

#include <stdbool.h>

// The registered rows of one table. Zero initialization makes it empty.
typedef struct rbRegisteredRows {
    const void* rows[RB_REGISTERED_MAX];
    int count;
} rbRegisteredRows;

// A row to register.
typedef struct rbNewRow {
    const char* kind; // kind of table, for messages: "broad phase"
    const char* name; // as in scenes and options, not empty
    const void* row;
    bool isKnown; // whether the table has a row of this name
} rbNewRow;

// Appends a row. INVALID with a message if the name is empty or known, LIMIT if the table is full.
rbStatus rbRegisteredRows_Add(rbRegisteredRows* rows, const rbNewRow* row, rbError* error);

// The table of an enumeration: type##Rows, type##_GetCount and the getter of a row, given by its
// declaration without parameters; builtIn is the row of the value "index" below theCount.
#define RB_DEFINE_TABLE(type, getter, theCount, builtIn)                                       \
    static rbRegisteredRows type##Rows;                                                        \
    int type##_GetCount(void)                                                                  \
    {                                                                                          \
        return (int)(theCount) + type##Rows.count;                                             \
    }                                                                                          \
    getter(type value)                                                                         \
    {                                                                                          \
        int index = (int)value;                                                                \
        RB_ASSERT(index >= 0 && index < type##_GetCount());                                    \
        return index < (int)(theCount) ? (builtIn) : type##Rows.rows[index - (int)(theCount)]; \
    }

// Appends a row, which has a name, to such a table; type##_Find finds it by that name.
#define RB_REGISTER_ROW(type, kind, row, error)                                                \
    rbRegisteredRows_Add(                                                                      \
        &type##Rows,                                                                           \
        &(rbNewRow){(kind), (row)->name, (row),                                                \
                    (row)->name != NULL && (int)type##_Find((row)->name) < type##_GetCount()}, \
        (error))
