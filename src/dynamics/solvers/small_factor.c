// Small dense factorizations, see pivoted.h and solver.h.
#include "base/core/memory.h"
#include "dynamics/solvers/pivoted.h"
#include "dynamics/solvers/solver.h"

// Swaps rows and columns i and j of a full n x n matrix.
static void exchange(double* a, int n, int i, int j)
{
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

// Subtracts pivot k from the rest, in both halves, and leaves column k of L.
static void eliminate(rbPivoted* factor, int k)
{
    int n = factor->size;
    double* l = factor->l;
    double inv = factor->invPivots[k];
    for (int j = k + 1; j < n; ++j) {
        double ratio = l[k * n + j] * inv;
        for (int i = j; i < n; ++i) {
            double value = l[j * n + i] - ratio * l[k * n + i];
            l[j * n + i] = value;
            l[i * n + j] = value;
        }
    }
    for (int i = k + 1; i < n; ++i) {
        l[k * n + i] *= inv;
    }
}

void rbPivoted_MakeSorted(rbPivoted* factor, const double* matrix, const double* diagonals)
{
    int n = factor->size, kept = 0;
    double* l = factor->l;
    rbLeastRatio least = {1.0, 1.0};
    for (int j = 0; j < n; ++j) {
        factor->order[j] = j;
        factor->invPivots[j] = 0.0;
        for (int i = j; i < n; ++i) {
            l[j * n + i] = matrix[j * n + i];
            l[i * n + j] = matrix[j * n + i];
        }
    }
    for (; kept < n; ++kept) {
        int k = kept, best = findPivot(factor, diagonals, k);
        if (best < 0) {
            break;
        }
        double pivot = l[best * n + best], diagonal = diagonals[factor->order[best]];
        if (!(pivot > RB_PIVOT_DROP * diagonal)) {
            break;
        }
        if (best != k) {
            exchange(l, n, k, best);
            int row = factor->order[k];
            factor->order[k] = factor->order[best];
            factor->order[best] = row;
        }
        rbLeastRatio_Take(&least, pivot, diagonal);
        factor->invPivots[k] = 1.0 / pivot;
        eliminate(factor, k);
    }
    // The remainder of dropped columns is rounding; L must be finite and reproducible.
    for (int k = kept; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            l[k * n + i] = 0.0;
        }
    }
    factor->dropped = n - kept;
    factor->pivotLeast = least.pivot / least.diagonal;
}

void rbPivoted_Solve(const rbPivoted* factor, const double* r, double* x, double* work)
{
    int n = factor->size;
    const double* l = factor->l;
    RB_ASSERT(n > 0);
    for (int k = 0; k < n; ++k) {
        work[k] = r[factor->order[k]];
    }
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            work[i] -= l[k * n + i] * work[k];
        }
    }
    for (int k = n; k-- > 0;) {
        // Dropped rows become zero here, so that they do not affect the kept ones.
        double value = work[k] * factor->invPivots[k];
        for (int i = k + 1; i < n; ++i) {
            value -= l[k * n + i] * work[i];
        }
        work[k] = value;
    }
    for (int k = 0; k < n; ++k) {
        x[factor->order[k]] = work[k];
    }
}

static rbPivoted viewOf(rbSmallFactor* factor)
{
    return (rbPivoted){.l = factor->l,
                       .invPivots = factor->invPivots,
                       .order = factor->order,
                       .size = factor->size};
}

void rbSmallFactor_Make(rbSmallFactor* factor, const double* matrix, int n, const double* diagonals)
{
    RB_ASSERT(n >= 1 && n <= RB_BLOCK_ROWS_MAX);
    double own[RB_BLOCK_ROWS_MAX];
    if (!diagonals) {
        for (int i = 0; i < n; ++i) {
            own[i] = matrix[i * n + i];
        }
        diagonals = own;
    }
    factor->size = n;
    rbPivoted view = viewOf(factor);
    rbLeastRatio least = {1.0, 1.0};
    if (rbFactorNatural(matrix, diagonals, view.l, view.invPivots, n, &least)) {
        for (int k = 0; k < n; ++k) {
            view.order[k] = k;
        }
        view.pivotLeast = least.pivot / least.diagonal;
    } else {
        rbPivoted_MakeSorted(&view, matrix, diagonals);
    }
    factor->dropped = view.dropped;
    factor->pivotLeast = view.pivotLeast;
}

void rbSmallFactor_Solve(const rbSmallFactor* factor, const double* r, double* x)
{
    RB_ASSERT(factor->size >= 1 && factor->size <= RB_BLOCK_ROWS_MAX);
    double work[RB_BLOCK_ROWS_MAX];
    // Solving only reads; there is no const version of the view.
    rbPivoted view = viewOf((rbSmallFactor*)factor);
    rbPivoted_Solve(&view, r, x, work);
}
