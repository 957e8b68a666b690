// Explicit Runge-Kutta steps: the tables and one loop.
#include "lab/joints/runge_kutta.h"

#include "base/core/memory.h"

#include <math.h>
#include <string.h>

static const double fourNodes[4] = {0.0, 0.5, 0.5, 1.0};
// clang-format off
static const double fourCouplings[16] = {
    0.0, 0.0, 0.0, 0.0,
    0.5, 0.0, 0.0, 0.0,
    0.0, 0.5, 0.0, 0.0,
    0.0, 0.0, 1.0, 0.0,
};
// clang-format on
static const double fourWeights[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};

// Cooper and Verner 1972: nodes are those of Lobatto's rule with five points. The compiler folds
// these constants in double precision, the same way everywhere.
#define S 4.58257569495584000659 // sqrt(21)
#define EIGHT_STAGES 11
static const double eightNodes[EIGHT_STAGES] = {0.0,
                                                0.5,
                                                0.5,
                                                (7.0 + S) / 14.0,
                                                (7.0 + S) / 14.0,
                                                0.5,
                                                (7.0 - S) / 14.0,
                                                (7.0 - S) / 14.0,
                                                0.5,
                                                (7.0 + S) / 14.0,
                                                1.0};
// clang-format off
static const double eightCouplings[EIGHT_STAGES * EIGHT_STAGES] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.25, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    1.0 / 7.0, (-7.0 - 3.0 * S) / 98.0, (21.0 + 5.0 * S) / 49.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0,
    (11.0 + S) / 84.0, 0.0, (18.0 + 4.0 * S) / 63.0, (21.0 - S) / 252.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        0.0, 0.0,
    (5.0 + S) / 48.0, 0.0, (9.0 + S) / 36.0, (-231.0 + 14.0 * S) / 360.0, (63.0 - 7.0 * S) / 80.0,
        0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    (10.0 - S) / 42.0, 0.0, (-432.0 + 92.0 * S) / 315.0, (633.0 - 145.0 * S) / 90.0,
        (-504.0 + 115.0 * S) / 70.0, (63.0 - 13.0 * S) / 35.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    1.0 / 14.0, 0.0, 0.0, 0.0, (14.0 - 3.0 * S) / 126.0, (13.0 - 3.0 * S) / 63.0, 1.0 / 9.0, 0.0,
        0.0, 0.0, 0.0,
    1.0 / 32.0, 0.0, 0.0, 0.0, (91.0 - 21.0 * S) / 576.0, 11.0 / 72.0,
        (-385.0 - 75.0 * S) / 1152.0, (63.0 + 13.0 * S) / 128.0, 0.0, 0.0, 0.0,
    1.0 / 14.0, 0.0, 0.0, 0.0, 1.0 / 9.0, (-733.0 - 147.0 * S) / 2205.0, (515.0 + 111.0 * S) / 504.0,
        (-51.0 - 11.0 * S) / 56.0, (132.0 + 28.0 * S) / 245.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0, (-42.0 + 7.0 * S) / 18.0, (-18.0 + 28.0 * S) / 45.0,
        (-273.0 - 53.0 * S) / 72.0, (301.0 + 53.0 * S) / 72.0, (28.0 - 28.0 * S) / 45.0,
        (49.0 - 7.0 * S) / 18.0, 0.0,
};
// clang-format on
static const double eightWeights[EIGHT_STAGES] = {
    1.0 / 20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 49.0 / 180.0, 16.0 / 45.0, 49.0 / 180.0, 1.0 / 20.0,
};

static const rbRungeTable rungeTables[2] = {
    {4, 4, fourNodes, fourCouplings, fourWeights},
    {8, EIGHT_STAGES, eightNodes, eightCouplings, eightWeights},
};

const rbRungeTable* rbRungeTable_Get(int order)
{
    return &rungeTables[order <= 4 ? 0 : 1];
}

void rbRunge_Make(rbRunge* runge, int order, int count)
{
    RB_ASSERT(count >= 0);
    runge->table = rbRungeTable_Get(order);
    runge->count = count;
    runge->stages = rbAllocZero((size_t)runge->table->stages * (size_t)count, sizeof(double));
    runge->x = rbAllocZero((size_t)count, sizeof(double));
}

void rbRunge_Free(rbRunge* runge)
{
    size_t count = (size_t)runge->count;
    if (runge->table != NULL) {
        rbFree(runge->stages, (size_t)runge->table->stages * count * sizeof(double));
        rbFree(runge->x, count * sizeof(double));
    }
    memset(runge, 0, sizeof *runge);
}

// x + h times the weighted sum of the stages; zero weights are skipped.
static void combine(const rbRunge* runge, const double* factors, double h, const double* x,
                    double* sum)
{
    int n = runge->count;
    memmove(sum, x, (size_t)n * sizeof *sum);
    for (int j = 0; j < runge->table->stages; ++j) {
        double factor = h * factors[j];
        const double* stage = &runge->stages[(size_t)j * (size_t)n];
        if (factor == 0.0) {
            continue;
        }
        for (int i = 0; i < n; ++i) {
            sum[i] += factor * stage[i];
        }
    }
}

void rbRunge_Step(rbRunge* runge, rbRungeFn* function, void* context, double t, double h, double* x)
{
    RB_ASSERT(runge->table != NULL);
    RB_ASSERT(isfinite(h));
    const rbRungeTable* table = runge->table;
    for (int i = 0; i < table->stages; ++i) {
        combine(runge, &table->couplings[(size_t)i * (size_t)table->stages], h, x, runge->x);
        function(context, t + table->nodes[i] * h, runge->x,
                 &runge->stages[(size_t)i * (size_t)runge->count]);
    }
    combine(runge, table->weights, h, x, x);
}
