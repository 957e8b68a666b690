// Small dense factorizations, see pivoted.h and solver.h.
#include "base/math/dot.h"
#include "dynamics/solvers/pivoted.h"
#include "dynamics/solvers/solver.h"

#include <string.h>

// Swaps rows and columns i and j of a symmetric n x n matrix whose lower half is up to date.
static void exchange(double* a, int n, int i, int j)
{
    for (int k = 0; k < n * n; ++k) {
        a[k] = k % n < k / n ? a[k % n * n + k / n] : a[k];
    }
    for (int k = 0; k < n; ++k) {
        double t = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = t;
    }
    for (int k = 0; k < n; ++k) {
        double t = a[k * n + i];
        a[k * n + i] = a[k * n + j];
        a[k * n + j] = t;
    }
}

// The row, starting at k, whose pivot is largest relative to its diagonal; -1: none is positive.
static int findPivot(const rbPivoted* factor, const double* diagonals, int k)
{
    int n = factor->size, best = -1;
    double bestPivot = 0.0, bestDiagonal = 1.0;
    for (int i = k; i < n; ++i) {
        double pivot = factor->l[i * n + i], diagonal = diagonals[factor->order[i]];
        if (diagonal > 0.0 && pivot * bestDiagonal > bestPivot * diagonal) {
            best = i;
            bestPivot = pivot;
            bestDiagonal = diagonal;
        }
    }
    return best;
}

int rbPivoted_MakeSorted(rbPivoted* factor, const double* matrix, const double* diagonals,
                         rbLeastRatio* least)
{
    int n = factor->size, kept = 0;
    double* l = factor->l;
    for (int j = 0; j < n; ++j) {
        factor->order[j] = j;
        factor->invPivots[j] = 0.0;
    }
    memcpy(l, matrix, (size_t)n * (size_t)n * sizeof *l);
    for (; kept < n; ++kept) {
        int best = findPivot(factor, diagonals, kept);
        if (best < 0) {
            break;
        }
        double pivot = l[best * n + best], diagonal = diagonals[factor->order[best]];
        if (!(pivot > RB_PIVOT_DROP * diagonal)) {
            break;
        }
        exchange(l, n, kept, best);
        int row = factor->order[kept];
        factor->order[kept] = factor->order[best];
        factor->order[best] = row;
        rbLeastRatio_Take(least, pivot, diagonal);
        factor->invPivots[kept] = 1.0 / pivot;
        rbEliminatePivot(l, factor->invPivots[kept], kept, n);
    }
    // The remainder of dropped columns is rounding; L must be finite and reproducible.
    for (int k = kept; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            l[k * n + i] = 0.0;
        }
    }
    return n - kept;
}

void rbPivoted_SolveSorted(const rbPivoted* factor, double* x, double* work)
{
    RB_ASSERT(factor->size > 0);
    for (int k = 0; k < factor->size; ++k) {
        work[k] = x[factor->order[k]];
    }
    rbSolveNatural(factor->l, factor->invPivots, work, factor->size);
    for (int k = 0; k < factor->size; ++k) {
        x[factor->order[k]] = work[k];
    }
}

static rbPivoted viewOf(rbSmallFactor* factor)
{
    return (rbPivoted){.l = factor->l,
                       .invPivots = factor->invPivots,
                       .order = factor->order,
                       .size = factor->size,
                       .isNatural = factor->isNatural};
}

void rbSmallFactor_Make(rbSmallFactor* factor, const double* matrix, int n)
{
    RB_ASSERT(n >= 1 && n <= RB_BLOCK_ROWS_MAX);
    double own[RB_BLOCK_ROWS_MAX];
    for (int i = 0; i < n; ++i) {
        own[i] = matrix[i * n + i];
    }
    factor->size = n;
    factor->isNatural = false;
    rbPivoted view = viewOf(factor);
    rbLeastRatio least = {1.0, 1.0};
    factor->dropped = rbPivoted_Make(&view, matrix, own, &least, n);
    factor->isNatural = view.isNatural;
    factor->pivotLeast = least.pivot / least.diagonal;
}

void rbSmallFactor_Solve(const rbSmallFactor* factor, const double* r, double* x)
{
    RB_ASSERT(factor->size >= 1 && factor->size <= RB_BLOCK_ROWS_MAX);
    double work[RB_BLOCK_ROWS_MAX];
    memcpy(x, r, (size_t)factor->size * sizeof *x);
    // Solving only reads; there is no const version of the view.
    rbPivoted view = viewOf((rbSmallFactor*)factor);
    rbPivoted_Solve(&view, x, work, factor->size);
}
