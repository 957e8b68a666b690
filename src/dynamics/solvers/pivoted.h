// Factorization of small dense symmetric positive semi-definite matrices with diagonal pivoting, A
// = P L D L^T P^T, in caller-owned memory. The small systems of solver.h (n <= 6), the diagonal
// blocks of the direct solver and the merged joints of the tree solver are based on it.
//
// A pivot is compared with the original diagonal of its row: the Schur complements of a positive
// semi-definite matrix carry rounding errors of about DBL_EPSILON times that diagonal, whatever the
// current size of the pivot. Rows whose pivots fall below RB_PIVOT_DROP of it are dropped: x is 0
// there.
#pragma once

#include <stdbool.h>

// For loops whose sizes are constants at the place of use.
#define RB_FIXED_INLINE static inline __attribute__((always_inline))

// The given order of rows is kept while all pivots stay above this fraction of their diagonals:
// pivoting serves to find dependent rows, and above this there are none.
#define RB_PIVOT_NATURAL 1e-3

typedef struct rbPivoted {
    double* l;         // column major n x n, strictly lower part, rows in the order of pivots
    double* invPivots; // 0: dropped
    int* order;        // row of the k-th pivot, unless the given order is kept
    int size;
    bool isNatural; // the given order is kept
} rbPivoted;

// Smallest of pivots relative to diagonals, as a fraction: dividing once at the end.
typedef struct rbLeastRatio {
    double pivot, diagonal;
} rbLeastRatio;

RB_FIXED_INLINE void rbLeastRatio_Take(rbLeastRatio* least, double pivot, double diagonal)
{
    if (pivot * least->diagonal < least->pivot * diagonal) {
        *least = (rbLeastRatio){pivot, diagonal};
    }
}

// Subtracts pivot k from the rest of the lower half, and leaves column k of L.
RB_FIXED_INLINE void rbEliminatePivot(double* restrict l, double inv, int k, int n)
{
    for (int j = k + 1; j < n; ++j) {
        double ratio = l[k * n + j] * inv;
        for (int i = j; i < n; ++i) {
            l[j * n + i] -= ratio * l[k * n + i];
        }
    }
    for (int i = k + 1; i < n; ++i) {
        l[k * n + i] *= inv;
    }
}

// Factors a column major matrix with its rows in the given order. False if a pivot is too small to
// continue without pivoting; l and invPivots are then undefined.
RB_FIXED_INLINE bool rbFactorNatural(const double* matrix, const double* diagonals,
                                     double* restrict l, double* restrict invPivots, int n,
                                     rbLeastRatio* least)
{
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            l[j * n + i] = matrix[j * n + i];
        }
    }
    for (int k = 0; k < n; ++k) {
        double pivot = l[k * n + k];
        if (!(pivot > RB_PIVOT_NATURAL * diagonals[k])) {
            return false;
        }
        rbLeastRatio_Take(least, pivot, diagonals[k]);
        invPivots[k] = 1.0 / pivot;
        rbEliminatePivot(l, invPivots[k], k, n);
    }
    return true;
}

// x = A^-1 x with that factor.
RB_FIXED_INLINE void rbSolveNatural(const double* restrict l, const double* restrict invPivots,
                                    double* restrict x, int n)
{
    for (int k = 0; k < n; ++k) {
        for (int i = k + 1; i < n; ++i) {
            x[i] -= l[k * n + i] * x[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        // Dropped rows become zero here, so that they do not affect the kept ones.
        double value = x[k] * invPivots[k];
        for (int i = k + 1; i < n; ++i) {
            value -= l[k * n + i] * x[i];
        }
        x[k] = value;
    }
}

// The same with the rows in the order of pivots; returns the number of dropped ones.
int rbPivoted_MakeSorted(rbPivoted* factor, const double* matrix, const double* diagonals,
                         rbLeastRatio* least);
// work: size doubles.
void rbPivoted_SolveSorted(const rbPivoted* factor, double* x, double* work);

// Computes factor->l, invPivots and order, which the caller has allocated, from a column major
// matrix whose lower half is read; returns the number of dropped rows. diagonals: the reference for
// pivots. n: the size.
RB_FIXED_INLINE int rbPivoted_Make(rbPivoted* factor, const double* matrix, const double* diagonals,
                                   rbLeastRatio* least, int n)
{
    rbLeastRatio before = *least;
    factor->isNatural = rbFactorNatural(matrix, diagonals, factor->l, factor->invPivots, n, least);
    if (factor->isNatural) {
        return 0;
    }
    *least = before;
    return rbPivoted_MakeSorted(factor, matrix, diagonals, least);
}

// x = A^+ x: on the kept rows, 0 on the others; work: n doubles.
RB_FIXED_INLINE void rbPivoted_Solve(const rbPivoted* factor, double* x, double* work, int n)
{
    if (factor->isNatural) {
        rbSolveNatural(factor->l, factor->invPivots, x, n);
    } else {
        rbPivoted_SolveSorted(factor, x, work);
    }
}
