// Bracketed root of a function of one variable.
#pragma once

#include <stdbool.h>

typedef double rbRootFn(double x, void* context);

typedef enum rbRootEnd {
    RB_ROOT_FOUND,          // f is zero at x or the bracket is within the tolerance
    RB_ROOT_NO_SIGN_CHANGE, // f has the same sign at both ends; x is the end where |f| is smaller
    RB_ROOT_NAN,            // f returned NaN; x is the better end of the bracket so far
    RB_ROOT_TOO_MANY        // maxIterations were not enough
} rbRootEnd;

typedef struct rbRootResult {
    double x;       // the end of the last bracket where |f| is smaller
    double f;       // f(x)
    double other;   // the other end of the last bracket; f changes sign between x and other
    int iterations; // evaluations of f beyond the two ends
    rbRootEnd end;
} rbRootResult;

// Finds a sign change of f between a and b (in any order). Ends when the bracket is narrower than
// tolerance or than two units in the last place of x; a tolerance of 0 selects the latter.
// Converges superlinearly for smooth functions; the bracket at least halves every four evaluations.
// f is never evaluated outside [a, b]; it may be discontinuous or infinite.
rbRootResult rbFindRoot(rbRootFn* f, void* context, double a, double b, double tolerance,
                        int maxIterations);
