// Refusals: a function that validates its input reads as the list of what it refuses.
#pragma once

#include <rattleback/base.h>

// Leaves a function that returns rbStatus, with a message, if a condition holds. A plain if: a loop
// around it would count as complexity.
#define RB_REFUSE_IF(condition, status, error, ...)         \
    if (condition) {                                        \
        return rbError_Set((error), (status), __VA_ARGS__); \
    }                                                       \
    (void)0

// The same for bad input.
#define RB_INVALID_IF(condition, error, ...) \
    RB_REFUSE_IF(condition, RB_STATUS_INVALID, error, __VA_ARGS__)

// Leaves a function that returns a pointer, with NULL, for bad input.
#define RB_NULL_IF(condition, error, ...)                           \
    if (condition) {                                                \
        (void)rbError_Set((error), RB_STATUS_INVALID, __VA_ARGS__); \
        return NULL;                                                \
    }                                                               \
    (void)0

// Leaves it with the status of a call that fails.
#define RB_TRY(call)                 \
    do {                             \
        rbStatus tried = (call);     \
        if (tried != RB_STATUS_OK) { \
            return tried;            \
        }                            \
    } while (0)
