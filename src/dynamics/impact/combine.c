// Combining the constants of two materials into that of a pair.
#include "dynamics/impact/impact_words.h"

#include <math.h>

static const char* const names[RB_COMBINE_COUNT] = {
    [RB_COMBINE_PRODUCT] = "product",
    [RB_COMBINE_SUM] = "sum",
    [RB_COMBINE_GEOMETRIC] = "geometric",
    [RB_COMBINE_MEAN] = "mean",
    [RB_COMBINE_MIN] = "min",
    [RB_COMBINE_MAX] = "max",
};

RB_DEFINE_WORDS(rbCombineRule, "rule of combination", RB_COMBINE_COUNT, names[index])

double rbCombineRule_Apply(rbCombineRule rule, double a, double b)
{
    RB_ASSERT(a >= 0.0);
    RB_ASSERT(b >= 0.0);
    switch (rule) {
    case RB_COMBINE_PRODUCT:
        return a * b;
    case RB_COMBINE_SUM:
        return a + b;
    case RB_COMBINE_GEOMETRIC: // the square roots first: a product of small numbers underflows
        return a == b ? a : sqrt(a) * sqrt(b);
    case RB_COMBINE_MEAN:
        return 0.5 * a + 0.5 * b;
    case RB_COMBINE_MIN:
        return a < b ? a : b;
    case RB_COMBINE_MAX:
        return a > b ? a : b;
    case RB_COMBINE_COUNT:
        break;
    }
    RB_ASSERT(false);
    return 0.0;
}

double rbCombineRestitution(rbCombineRule rule, double a, double b)
{
    double e = rbCombineRule_Apply(rule, a, b);
    return e < 1.0 ? e : 1.0;
}
