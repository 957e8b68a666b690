// Combining the constants of two materials into that of a pair: rows of a table.
#include "dynamics/impact/impact_words.h"

#include <math.h>

static double multiply(double a, double b)
{
    return a * b;
}

static double add(double a, double b)
{
    return a + b;
}

// The square roots first: a product of two small numbers would underflow.
static double takeGeometricMean(double a, double b)
{
    return a == b ? a : sqrt(a) * sqrt(b);
}

static double takeMean(double a, double b)
{
    return 0.5 * a + 0.5 * b;
}

static double takeLess(double a, double b)
{
    return a < b ? a : b;
}

static double takeMore(double a, double b)
{
    return a > b ? a : b;
}

typedef struct CombineRow {
    const char* name;
    double (*combine)(double a, double b);
} CombineRow;

static const CombineRow rows[RB_COMBINE_COUNT] = {
    [RB_COMBINE_PRODUCT] = {"product", multiply},
    [RB_COMBINE_SUM] = {"sum", add},
    [RB_COMBINE_GEOMETRIC] = {"geometric", takeGeometricMean},
    [RB_COMBINE_MEAN] = {"mean", takeMean},
    [RB_COMBINE_MIN] = {"min", takeLess},
    [RB_COMBINE_MAX] = {"max", takeMore},
};

RB_DEFINE_WORDS(rbCombineRule, "rule of combination", RB_COMBINE_COUNT, rows[index].name)

double rbCombineRule_Apply(rbCombineRule rule, double a, double b)
{
    RB_ASSERT((int)rule >= 0 && rule < RB_COMBINE_COUNT);
    RB_ASSERT(a >= 0.0);
    RB_ASSERT(b >= 0.0);
    return rows[rule].combine(a, b);
}

double rbCombineRestitution(rbCombineRule rule, double a, double b)
{
    double e = rbCombineRule_Apply(rule, a, b);
    return e < 1.0 ? e : 1.0;
}
