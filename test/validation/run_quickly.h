// A validation case as a test: with fewer random cases, every row must pass.
#pragma once

#include "rb_test.h"
#include "validation.h"

static inline void runQuickly(const rbValidationCase* which)
{
    rbValidation validation = {.isQuick = true};
    rbValidation_Run(&validation, which);
    for (int i = 0; i < validation.rows.count; ++i) {
        const rbValidationRow* row = &validation.rows.data[i];
        if (!row->pass) {
            print_error("%s: %s: %.15g, not %.15g within %.2g\n", which->name, row->quantity,
                        row->value, row->truth, row->tolerance);
        }
    }
    int failures = validation.failureCount;
    assert_true(validation.rows.count > 0);
    rbArray_Free(validation.rows);
    assert_int_equal(failures, 0);
}
