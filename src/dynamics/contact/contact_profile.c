// Matrices in profile storage, see contact_profile.h.
#include "dynamics/contact/contact_profile.h"

#include "base/math/dot.h"

#include <math.h>
#include <string.h>

#define B RB_PROFILE_BLOCK

void rbProfile_Free(rbProfile* profile)
{
    rbArray_Free(profile->firsts);
    rbArray_Free(profile->offsets);
    rbArray_Free(profile->lower);
    rbArray_Free(profile->upper);
}

// ----------------------------------------------------------------------------------------- pattern

void rbProfile_Begin(rbProfile* profile, int blockCount)
{
    RB_ASSERT(blockCount >= 0);
    profile->blockCount = blockCount;
    rbArray_Reserve(profile->firsts, blockCount);
    profile->firsts.count = blockCount;
    for (int i = 0; i < blockCount; ++i) {
        profile->firsts.data[i] = i;
    }
}

void rbProfile_Couple(rbProfile* profile, int a, int b)
{
    if (a >= 0 && b >= 0) {
        int low = a < b ? a : b;
        int high = a < b ? b : a;
        RB_ASSERT(high < profile->blockCount);
        int* first = &profile->firsts.data[high];
        *first = low < *first ? low : *first;
    }
}

bool rbProfile_Finish(rbProfile* profile, size_t entriesMax)
{
    size_t sum = 0;
    rbArray_Reserve(profile->offsets, B * profile->blockCount);
    profile->offsets.count = B * profile->blockCount;
    for (int i = 0; i < profile->blockCount; ++i) {
        for (int k = 0; k < B; ++k) {
            profile->offsets.data[B * i + k] = sum;
            sum += (size_t)(B * (i - profile->firsts.data[i]) + k + 1);
        }
        if (sum > entriesMax) {
            return false;
        }
    }
    rbArray_Reserve(profile->lower, (int)sum);
    profile->lower.count = (int)sum;
    return true;
}

// ------------------------------------------------------------------------------------------ values

void rbProfile_Clear(rbProfile* profile)
{
    profile->isSymmetric = true;
    memset(profile->lower.data, 0, (size_t)profile->lower.count * sizeof(double));
}

static size_t placeOf(const rbProfile* profile, int row, int column)
{
    int first = B * profile->firsts.data[row / B];
    RB_ASSERT(column >= first && column <= row);
    return profile->offsets.data[row] + (size_t)(column - first);
}

double* rbProfile_At(rbProfile* profile, int row, int column)
{
    return &profile->lower.data[placeOf(profile, row, column)];
}

// Adds factor * g h^T to the half stored in entries, g and h being rows over two blocks.
static void addOuter(const rbProfile* profile, double* entries, const int blocks[2],
                     const double g[12], const double h[12], double factor)
{
    for (int sideI = 0; sideI < 2; ++sideI) {
        for (int sideJ = 0; sideJ < 2; ++sideJ) {
            int i = blocks[sideI];
            int j = blocks[sideJ];
            if (i < 0 || j < 0 || j > i) {
                continue;
            }
            for (int k = 0; k < B; ++k) {
                double left = factor * g[B * sideI + k];
                int last = i == j ? k : B - 1;
                double* to = &entries[placeOf(profile, B * i + k, B * j)];
                for (int l = 0; l <= last; ++l) {
                    to[l] += left * h[B * sideJ + l];
                }
            }
        }
    }
}

void rbProfile_AddSquare(rbProfile* profile, const int blocks[2], const double g[12], double factor)
{
    addOuter(profile, profile->lower.data, blocks, g, g, factor);
}

void rbProfile_Split(rbProfile* profile)
{
    rbArray_Reserve(profile->upper, profile->lower.count);
    profile->upper.count = profile->lower.count;
    memcpy(profile->upper.data, profile->lower.data, (size_t)profile->lower.count * sizeof(double));
    profile->isSymmetric = false;
}

void rbProfile_AddProduct(rbProfile* profile, const int blocks[2], const double g[12],
                          const double h[12], double factor)
{
    RB_ASSERT(!profile->isSymmetric);
    addOuter(profile, profile->lower.data, blocks, g, h, factor);
    addOuter(profile, profile->upper.data, blocks, h, g, factor);
}

// ------------------------------------------------------------------------------------- elimination

// Rows of L from their first columns, D on the diagonal.
static bool factorSymmetric(rbProfile* profile)
{
    int n = B * profile->blockCount;
    const size_t* offsets = profile->offsets.data;
    for (int i = 0; i < n; ++i) {
        int firstI = B * profile->firsts.data[i / B];
        double* rowI = &profile->lower.data[offsets[i]];
        // g_ij = l_ij d_j
        for (int j = firstI; j < i; ++j) {
            int firstJ = B * profile->firsts.data[j / B];
            const double* rowJ = &profile->lower.data[offsets[j]];
            int from = firstI > firstJ ? firstI : firstJ;
            rowI[j - firstI] -=
                rbDotArrays(rowI + (from - firstI), rowJ + (from - firstJ), (size_t)(j - from));
        }
        double pivot = rowI[i - firstI];
        for (int j = firstI; j < i; ++j) {
            int firstJ = B * profile->firsts.data[j / B];
            double g = rowI[j - firstI];
            double l = g / profile->lower.data[offsets[j] + (size_t)(j - firstJ)];
            pivot -= l * g;
            rowI[j - firstI] = l;
        }
        if (!(pivot > 0.0)) {
            return false;
        }
        rowI[i - firstI] = pivot;
    }
    return true;
}

// L with a diagonal of ones in the rows of the lower half, U in the columns of the upper half.
static bool factorSplit(rbProfile* profile)
{
    int n = B * profile->blockCount;
    const size_t* offsets = profile->offsets.data;
    for (int i = 0; i < n; ++i) {
        int firstI = B * profile->firsts.data[i / B];
        double* rowI = &profile->lower.data[offsets[i]];
        double* columnI = &profile->upper.data[offsets[i]];
        for (int j = firstI; j < i; ++j) {
            int firstJ = B * profile->firsts.data[j / B];
            const double* rowJ = &profile->lower.data[offsets[j]];
            const double* columnJ = &profile->upper.data[offsets[j]];
            int from = firstI > firstJ ? firstI : firstJ;
            size_t count = (size_t)(j - from);
            columnI[j - firstI] -=
                rbDotArrays(rowJ + (from - firstJ), columnI + (from - firstI), count);
            double left = rbDotArrays(rowI + (from - firstI), columnJ + (from - firstJ), count);
            rowI[j - firstI] = (rowI[j - firstI] - left) / columnJ[j - firstJ];
        }
        double pivot = columnI[i - firstI] - rbDotArrays(rowI, columnI, (size_t)(i - firstI));
        if (!(fabs(pivot) > 0.0) || !isfinite(pivot)) {
            return false;
        }
        columnI[i - firstI] = pivot;
    }
    return true;
}

bool rbProfile_Factor(rbProfile* profile)
{
    return profile->isSymmetric ? factorSymmetric(profile) : factorSplit(profile);
}

void rbProfile_Solve(const rbProfile* profile, double* x)
{
    int n = B * profile->blockCount;
    const size_t* offsets = profile->offsets.data;
    const double* upper = profile->isSymmetric ? profile->lower.data : profile->upper.data;
    for (int i = 0; i < n; ++i) {
        int first = B * profile->firsts.data[i / B];
        x[i] -= rbDotArrays(&profile->lower.data[offsets[i]], x + first, (size_t)(i - first));
    }
    for (int i = 0; profile->isSymmetric && i < n; ++i) {
        int first = B * profile->firsts.data[i / B];
        x[i] /= profile->lower.data[offsets[i] + (size_t)(i - first)];
    }
    for (int i = n - 1; i >= 0; --i) {
        int first = B * profile->firsts.data[i / B];
        const double* column = &upper[offsets[i]];
        if (!profile->isSymmetric) {
            x[i] /= column[i - first];
        }
        for (int k = first; k < i; ++k) {
            x[k] -= column[k - first] * x[i];
        }
    }
}
