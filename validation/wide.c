#include "wide.h"

#include <rattleback/base.h>

#include <string.h>

void rbWide_Solve(rbWide* a, rbWide* b, int n, int stride)
{
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) {
            if (rbWide_Abs(a[i * stride + k]) > rbWide_Abs(a[pivot * stride + k])) {
                pivot = i;
            }
        }
        for (int j = k; j < n && pivot != k; ++j) {
            rbWide kept = a[k * stride + j];
            a[k * stride + j] = a[pivot * stride + j];
            a[pivot * stride + j] = kept;
        }
        rbWide kept = b[k];
        b[k] = b[pivot];
        b[pivot] = kept;
        for (int i = k + 1; i < n; ++i) {
            rbWide factor = a[i * stride + k] / a[k * stride + k];
            for (int j = k; j < n; ++j) {
                a[i * stride + j] -= factor * a[k * stride + j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j) {
            b[i] -= a[i * stride + j] * b[j];
        }
        b[i] /= a[i * stride + i];
    }
}

// Gragg's midpoint rule with 2, 4, .. sub-steps, extrapolated: a column gains two orders.
#define COLUMNS 8
#define STEP_SHRINK 0.5
#define STEP_GROW 1.4
#define STEP_MIN 1e-13 // s

static void stepMidpoint(const rbWideOde* ode, rbWide step, int count, rbWide* change)
{
    rbWide before[RB_WIDE_SIZE_MAX] = {0};
    rbWide now[RB_WIDE_SIZE_MAX] = {0};
    rbWide at[RB_WIDE_SIZE_MAX];
    rbWide rate[RB_WIDE_SIZE_MAX];
    rbWide h = step / count;
    ode->rate(ode->y, rate, ode->context);
    for (int i = 0; i < ode->size; ++i) {
        now[i] = h * rate[i];
    }
    for (int k = 1; k < count; ++k) {
        for (int i = 0; i < ode->size; ++i) {
            at[i] = ode->y[i] + now[i];
        }
        ode->rate(at, rate, ode->context);
        for (int i = 0; i < ode->size; ++i) {
            rbWide next = before[i] + 2 * h * rate[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
    memcpy(change, now, sizeof now);
}

// Change of y over a step by as many columns as the bound asks for; how many, or COLUMNS + 1: all
// of them were not enough.
static int tryStep(const rbWideOde* ode, rbWide step, rbWide change[RB_WIDE_SIZE_MAX])
{
    rbWide table[COLUMNS][RB_WIDE_SIZE_MAX] = {{0}};
    bool isMet = false;
    int j = 0;
    for (; j < COLUMNS && !isMet; ++j) {
        stepMidpoint(ode, step, 2 * (j + 1), table[j]);
        // Aitken and Neville in place: table[k] becomes the entry of the column j - k
        for (int k = j - 1; k >= 0; --k) {
            rbWide ratio = (rbWide)(j + 1) / (k + 1);
            rbWide weight = 1 / (ratio * ratio - 1);
            isMet = k == 0;
            for (int i = 0; i < ode->size; ++i) {
                rbWide next = table[k + 1][i] + weight * (table[k + 1][i] - table[k][i]);
                isMet = isMet && fabs((double)(next - table[k][i])) <= ode->bound; // not for NaN
                table[k][i] = next;
            }
        }
    }
    memcpy(change, table[0], sizeof table[0]);
    return isMet ? j : COLUMNS + 1;
}

double rbWideOde_Step(rbWideOde* ode, double longest)
{
    RB_ASSERT(ode->size > 0 && ode->size <= RB_WIDE_SIZE_MAX);
    RB_ASSERT(longest > 0.0 && ode->step > 0.0 && ode->bound > 0.0);
    rbWide change[RB_WIDE_SIZE_MAX];
    double step = fmin(fmin(ode->step, ode->stepMax), longest);
    int columns = tryStep(ode, step, change);
    while (columns > COLUMNS && step > STEP_MIN) {
        step *= STEP_SHRINK;
        ode->step = step;
        columns = tryStep(ode, step, change);
    }
    for (int i = 0; i < ode->size; ++i) {
        ode->y[i] += change[i];
    }
    ode->time += step;
    if (columns < COLUMNS) {
        ode->step = fmax(ode->step, STEP_GROW * step);
    }
    return step;
}
