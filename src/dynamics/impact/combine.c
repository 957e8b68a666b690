// Combining the constants of two materials into that of a pair, and the laws of restitution.
#include "base/core/registered_rows.h"
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
    RB_ASSERT((unsigned)rule < RB_COMBINE_COUNT);
    const double results[RB_COMBINE_COUNT + 1] = {
        [RB_COMBINE_PRODUCT] = a * b,
        [RB_COMBINE_SUM] = a + b,
        // the square roots first: a product of small numbers underflows
        [RB_COMBINE_GEOMETRIC] = a == b ? a : sqrt(a) * sqrt(b),
        [RB_COMBINE_MEAN] = 0.5 * a + 0.5 * b,
        [RB_COMBINE_MIN] = a < b ? a : b,
        [RB_COMBINE_MAX] = a > b ? a : b,
    };
    return results[(unsigned)rule < RB_COMBINE_COUNT ? rule : RB_COMBINE_COUNT];
}

double rbCombineRestitution(rbCombineRule rule, double a, double b)
{
    double e = rbCombineRule_Apply(rule, a, b);
    return e < 1.0 ? e : 1.0;
}

// ------------------------------------------------------------------------------------- restitution

RB_DEFINE_TABLE(rbRestitutionLaw, static const rbRestitutionRow* getRow, RB_RESTITUTION_COUNT, NULL)
RB_DEFINE_WORDS(rbRestitutionLaw, "law of restitution", rbRestitutionLaw_GetCount(),
                index < RB_RESTITUTION_COUNT ? "constant" : getRow((rbRestitutionLaw)index)->name)

rbStatus rbRegisterRestitution(const rbRestitutionRow* row, rbError* error)
{
    RB_INVALID_IF(row->restitution == NULL, error, "the law of restitution \"%s\" has no function",
                  row->name);
    return RB_REGISTER_ROW(rbRestitutionLaw, "law of restitution", row, error);
}

double rbRestitutionLaw_Apply(rbRestitutionLaw law, const rbRestitutionInput* input)
{
    if (law == RB_RESTITUTION_CONSTANT || !(input->restitution > 0.0 && input->speed > 0.0)) {
        return input->restitution;
    }
    return fmin(1.0, fmax(0.0, getRow(law)->restitution(input))); // NaN: 0
}
