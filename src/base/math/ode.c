#include "base/math/ode.h"

#include <rattleback/base.h>

static const rbOdeMethod methods[] = {
    {.name = "euler", .order = 1, .stages = 1, .weight = {1.0}},
    {
        .name = "rk4",
        .order = 4,
        .stages = 4,
        .node = {0.0, 0.5, 0.5, 1.0},
        .coupling = {{0.0}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}},
        .weight = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0},
    },
    {
        .name = "cash-karp",
        .order = 5,
        .stages = 6,
        .hasErrorEstimate = true,
        .node = {0.0, 1.0 / 5.0, 3.0 / 10.0, 3.0 / 5.0, 1.0, 7.0 / 8.0},
        .coupling = {{0.0},
                     {1.0 / 5.0},
                     {3.0 / 40.0, 9.0 / 40.0},
                     {3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0},
                     {-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0},
                     {1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0,
                      253.0 / 4096.0}},
        .weight = {37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0},
        // fifth minus fourth order
        .errorWeight = {37.0 / 378.0 - 2825.0 / 27648.0, 0.0, 250.0 / 621.0 - 18575.0 / 48384.0,
                        125.0 / 594.0 - 13525.0 / 55296.0, -277.0 / 14336.0,
                        512.0 / 1771.0 - 1.0 / 4.0},
    },
};

#define METHOD_COUNT ((int)(sizeof methods / sizeof methods[0]))

const rbOdeMethod* rbGetOdeMethod(int index)
{
    return 0 <= index && index < METHOD_COUNT ? &methods[index] : NULL;
}

// x + h times the sum of coefficient[j] k[j] over the stages j < count; zero coefficients are
// skipped. The loop over the unknowns is the inner one: the compiler vectorizes it, and the order
// of summation for each unknown stays the same.
static void combine(const double* coefficient, double k[][RB_ODE_UNKNOWNS_MAX], const int counts[2],
                    double h, const double* x, double* out)
{
    int n = counts[1];
    double sum[RB_ODE_UNKNOWNS_MAX] = {0.0};
    for (int j = 0; j < counts[0]; ++j) {
        double c = coefficient[j];
        if (c != 0.0) {
            for (int i = 0; i < n; ++i) {
                sum[i] += c * k[j][i];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        out[i] = x[i] + h * sum[i];
    }
}

void rbOde_Step(const rbOdeMethod* method, const rbOdeSystem* system, double t, double h,
                const double* x, rbOdeStepResult* result)
{
    int n = system->count;
    RB_ASSERT(0 < n && n <= RB_ODE_UNKNOWNS_MAX);
    RB_ASSERT(x != result->x);
    RB_ASSERT(method->stages <= RB_ODE_STAGES_MAX);
    double k[RB_ODE_STAGES_MAX][RB_ODE_UNKNOWNS_MAX];
    double y[RB_ODE_UNKNOWNS_MAX];
    for (int stage = 0; stage < method->stages; ++stage) {
        const int counts[2] = {stage, n};
        combine(method->coupling[stage], k, counts, h, x, y);
        system->function(t + method->node[stage] * h, y, k[stage], system->context);
    }
    const int counts[2] = {method->stages, n};
    combine(method->weight, k, counts, h, x, result->x);
    static const double zero[RB_ODE_UNKNOWNS_MAX] = {0.0};
    combine(method->errorWeight, k, counts, h, zero, result->error);
}
