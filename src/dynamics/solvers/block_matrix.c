// Sparse matrices of 6 x 6 blocks, see block_matrix.h.
#include "dynamics/solvers/block_matrix.h"

#include "base/core/lanes.h"

#include <math.h>
#include <string.h>

#define B RB_BLOCK
#define BB 36

static const size_t blockBytes = (size_t)BB * sizeof(double);

void rbBlockMatrix_Free(rbBlockMatrix* matrix)
{
    rbArray_FreeAll(matrix->bits, matrix->degrees, matrix->places, matrix->starts, matrix->rows);
    rbArray_FreeAll(matrix->diagonal, matrix->lower, matrix->upper, matrix->inverses, matrix->work);
}

// ----------------------------------------------------------------------------------------- pattern

static uint64_t* bitsOf(const rbBlockMatrix* matrix, int block)
{
    return matrix->bits.data + (size_t)block * (size_t)matrix->words;
}

static void setBit(uint64_t* bits, int at)
{
    bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

static void clearBit(uint64_t* bits, int at)
{
    bits[at >> 6] &= ~((uint64_t)1 << (at & 63));
}

static int countBits(const uint64_t* bits, int words)
{
    int sum = 0;
    for (int i = 0; i < words; ++i) {
        sum += __builtin_popcountll(bits[i]);
    }
    return sum;
}

void rbBlockMatrix_Begin(rbBlockMatrix* matrix, int count)
{
    RB_ASSERT(count >= 0 && count <= RB_BLOCK_MATRIX_MAX);
    matrix->count = count;
    matrix->words = (count + 63) / 64;
    int size = count * matrix->words;
    rbArray_Reserve(matrix->bits, size);
    memset(matrix->bits.data, 0, (size_t)size * sizeof(uint64_t));
}

void rbBlockMatrix_Couple(rbBlockMatrix* matrix, int a, int b)
{
    RB_ASSERT(a < matrix->count && b < matrix->count);
    if (a >= 0 && b >= 0 && a != b) {
        setBit(bitsOf(matrix, a), b);
        setBit(bitsOf(matrix, b), a);
    }
}

// The remaining neighbors of a block become neighbors of each other, and are its column.
static void eliminate(rbBlockMatrix* matrix, int block)
{
    const uint64_t* own = bitsOf(matrix, block);
    for (int word = 0; word < matrix->words; ++word) {
        for (uint64_t left = own[word]; left != 0; left &= left - 1) {
            int other = 64 * word + __builtin_ctzll(left);
            uint64_t* bits = bitsOf(matrix, other);
            for (int i = 0; i < matrix->words; ++i) {
                bits[i] |= own[i];
            }
            clearBit(bits, block);
            clearBit(bits, other);
            matrix->degrees.data[other] = countBits(bits, matrix->words);
            rbArray_Push(matrix->rows, other);
        }
    }
    matrix->degrees.data[block] = -1;
}

static void sortColumn(int* rows, int count)
{
    for (int i = 1; i < count; ++i) {
        int row = rows[i];
        int k = i;
        for (; k > 0 && rows[k - 1] > row; --k) {
            rows[k] = rows[k - 1];
        }
        rows[k] = row;
    }
}

void rbBlockMatrix_Finish(rbBlockMatrix* matrix)
{
    int n = matrix->count;
    rbArray_Reserve(matrix->degrees, n);
    rbArray_Reserve(matrix->places, n);
    rbArray_Reserve(matrix->starts, n + 1);
    matrix->rows.count = 0;
    for (int i = 0; i < n; ++i) {
        matrix->degrees.data[i] = countBits(bitsOf(matrix, i), matrix->words);
    }
    for (int j = 0; j < n; ++j) {
        int block = -1;
        for (int i = 0; i < n; ++i) {
            int degree = matrix->degrees.data[i];
            block = degree >= 0 && (block < 0 || degree < matrix->degrees.data[block]) ? i : block;
        }
        matrix->places.data[block] = j;
        matrix->starts.data[j] = matrix->rows.count;
        eliminate(matrix, block);
    }
    matrix->starts.data[n] = matrix->rows.count;
    for (int k = 0; k < matrix->rows.count; ++k) {
        matrix->rows.data[k] = matrix->places.data[matrix->rows.data[k]];
    }
    for (int j = 0; j < n; ++j) {
        int first = matrix->starts.data[j];
        sortColumn(matrix->rows.data + first, matrix->starts.data[j + 1] - first);
    }
    rbArray_Reserve(matrix->diagonal, BB * n);
    rbArray_Reserve(matrix->inverses, 2 * BB * n);
    rbArray_Reserve(matrix->work, B * n);
    rbArray_Reserve(matrix->lower, BB * matrix->rows.count);
    matrix->isSymmetric = true;
}

int rbFindEntry(const int* starts, const int* rows, int row, int column)
{
    int low = starts[column], high = starts[column + 1] - 1;
    RB_ASSERT(row > column && low <= high);
    while (low < high) {
        int middle = low + (high - low) / 2;
        low = rows[middle] < row ? middle + 1 : low;
        high = rows[middle] < row ? high : middle;
    }
    RB_ASSERT(rows[low] == row);
    return low;
}

// ------------------------------------------------------------------------------------------ values

// A block of an array of them.
static double* blockAt(double* values, int index)
{
    return values + (size_t)BB * (size_t)index;
}

void rbBlockMatrix_Clear(rbBlockMatrix* matrix)
{
    size_t entries = (size_t)matrix->rows.count;
    matrix->isSymmetric = true;
    memset(matrix->diagonal.data, 0, (size_t)matrix->count * blockBytes);
    if (entries > 0) {
        memset(matrix->lower.data, 0, entries * blockBytes);
    }
}

double* rbBlockMatrix_GetDiagonal(rbBlockMatrix* matrix, int block)
{
    RB_ASSERT(block >= 0 && block < matrix->count);
    return blockAt(matrix->diagonal.data, matrix->places.data[block]);
}

// to += factor g h^T.
static void addOuter(double* to, const double g[B], const double h[B], double factor)
{
    for (int a = 0; a < B; ++a) {
        double left = factor * g[a];
        for (int b = 0; b < B; ++b) {
            to[B * a + b] += left * h[b];
        }
    }
}

// Adds factor * g h^T to the diagonal blocks, and to the half of the others stored in values.
static void addRows(rbBlockMatrix* matrix, const int blocks[2], const double* g, const double* h,
                    double factor)
{
    int places[2];
    for (int side = 0; side < 2; ++side) {
        places[side] = blocks[side] >= 0 ? matrix->places.data[blocks[side]] : -1;
        if (places[side] >= 0) {
            addOuter(blockAt(matrix->diagonal.data, places[side]), g + (size_t)B * (size_t)side,
                     h + (size_t)B * (size_t)side, factor);
        }
    }
    if (places[0] < 0 || places[1] < 0 || places[0] == places[1]) {
        return;
    }
    int high = places[1] > places[0] ? 1 : 0;
    const double* gHigh = g + (size_t)B * (size_t)high;
    const double* gLow = g + (size_t)B * (size_t)(1 - high);
    const double* hHigh = h + (size_t)B * (size_t)high;
    const double* hLow = h + (size_t)B * (size_t)(1 - high);
    int entry = rbFindEntry(matrix->starts.data, matrix->rows.data, places[high], places[1 - high]);
    addOuter(blockAt(matrix->lower.data, entry), gHigh, hLow, factor);
    if (!matrix->isSymmetric) {
        addOuter(blockAt(matrix->upper.data, entry), hHigh, gLow, factor);
    }
}

void rbBlockMatrix_AddSquare(rbBlockMatrix* matrix, const int blocks[2], const double g[12],
                             double factor)
{
    RB_ASSERT(matrix->isSymmetric);
    if (factor != 0.0) {
        addRows(matrix, blocks, g, g, factor);
    }
}

void rbBlockMatrix_Split(rbBlockMatrix* matrix)
{
    int size = BB * matrix->rows.count;
    rbArray_Reserve(matrix->upper, size);
    if (size > 0) {
        memcpy(matrix->upper.data, matrix->lower.data, (size_t)size * sizeof(double));
    }
    matrix->isSymmetric = false;
}

void rbBlockMatrix_AddProduct(rbBlockMatrix* matrix, const int blocks[2], const double g[12],
                              const double h[12], double factor)
{
    RB_ASSERT(!matrix->isSymmetric);
    addRows(matrix, blocks, g, h, factor);
}

// ----------------------------------------------------------------------------------- small blocks

// Inverse of a lower triangle.
static void invertLower(const double l[BB], double inverse[BB])
{
    memset(inverse, 0, blockBytes);
    for (int j = 0; j < B; ++j) {
        inverse[B * j + j] = 1.0 / l[B * j + j];
        for (int i = j + 1; i < B; ++i) {
            double sum = 0.0;
            for (int k = j; k < i; ++k) {
                sum += l[B * i + k] * inverse[B * k + j];
            }
            inverse[B * i + j] = -sum / l[B * i + i];
        }
    }
}

// C of C C^T = d, whose lower half is used; its inverse.
static bool factorSymmetric(const double d[BB], double inverse[BB])
{
    double c[BB] = {0.0};
    for (int i = 0; i < B; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = d[B * i + j];
            for (int k = 0; k < j; ++k) {
                sum -= c[B * i + k] * c[B * j + k];
            }
            if (j < i) {
                c[B * i + j] = sum / c[B * j + j];
            } else if (!(sum > 0.0) || !isfinite(sum)) {
                return false;
            } else {
                c[B * i + i] = sqrt(sum);
            }
        }
    }
    invertLower(c, inverse);
    return true;
}

// L with a diagonal of ones and U of L U = d; the inverses of L and of U^T.
static bool factorSplit(const double d[BB], double inverseL[BB], double inverseUt[BB])
{
    double l[BB] = {0.0};
    double ut[BB] = {0.0};
    for (int i = 0; i < B; ++i) {
        l[B * i + i] = 1.0;
        for (int j = 0; j < i; ++j) {
            double sumL = d[B * i + j], sumU = d[B * j + i];
            for (int k = 0; k < j; ++k) {
                sumL -= l[B * i + k] * ut[B * j + k];
                sumU -= l[B * j + k] * ut[B * i + k];
            }
            l[B * i + j] = sumL / ut[B * j + j];
            ut[B * i + j] = sumU;
        }
        double pivot = d[B * i + i];
        for (int k = 0; k < i; ++k) {
            pivot -= l[B * i + k] * ut[B * i + k];
        }
        if (!(fabs(pivot) > 0.0) || !isfinite(pivot)) {
            return false;
        }
        ut[B * i + i] = pivot;
    }
    invertLower(l, inverseL);
    invertLower(ut, inverseUt);
    return true;
}

static void transpose(const double from[BB], double to[BB])
{
    for (int a = 0; a < B; ++a) {
        for (int b = 0; b < B; ++b) {
            to[B * b + a] = from[B * a + b];
        }
    }
}

// to -= l m, row major; sums over the inner index in its order.
static inline void subtractProduct(double* restrict to, const double* restrict l,
                                   const double* restrict m)
{
    const size_t n = B;
    for (size_t a = 0; a < n; ++a) {
        double* row = to + n * a;
        rbLanePair s0 = rbLanePair_Load(row);
        rbLanePair s1 = rbLanePair_Load(row + 2), s2 = rbLanePair_Load(row + 4);
        for (size_t k = 0; k < n; ++k) {
            rbLanePair x = rbLanePair_Both(l[n * a + k]);
            s0 -= x * rbLanePair_Load(m + n * k);
            s1 -= x * rbLanePair_Load(m + n * k + 2);
            s2 -= x * rbLanePair_Load(m + n * k + 4);
        }
        memcpy(row, &s0, sizeof s0);
        memcpy(row + 2, &s1, sizeof s1);
        memcpy(row + 4, &s2, sizeof s2);
    }
}

// block = block * inverse^T, inverse being a lower triangle given transposed.
static void multiplyRight(double block[BB], const double inverseT[BB])
{
    double result[BB] = {0.0};
    subtractProduct(result, block, inverseT);
    for (int i = 0; i < BB; ++i) {
        block[i] = -result[i];
    }
}

// ------------------------------------------------------------------------------------- elimination

// L_ij = M_ij U_j^-1 and U_ji^T = M_ji^T L_j^-T of a column.
static void scaleColumn(rbBlockMatrix* matrix, int j)
{
    const double* inverse = blockAt(matrix->inverses.data, 2 * j);
    double forLower[BB], forUpper[BB];
    transpose(matrix->isSymmetric ? inverse : inverse + BB, forLower);
    transpose(inverse, forUpper);
    for (int p = matrix->starts.data[j]; p < matrix->starts.data[j + 1]; ++p) {
        multiplyRight(blockAt(matrix->lower.data, p), forLower);
        if (!matrix->isSymmetric) {
            multiplyRight(blockAt(matrix->upper.data, p), forUpper);
        }
    }
}

// Subtracts a column from those after it: M_ik -= L_ij U_jk.
static void spreadColumn(rbBlockMatrix* matrix, int j)
{
    const int* rows = matrix->rows.data;
    double* lower = matrix->lower.data;
    double* upper = matrix->isSymmetric ? lower : matrix->upper.data;
    int last = matrix->starts.data[j + 1];
    for (int p = matrix->starts.data[j]; p < last; ++p) {
        double rightLower[BB], rightUpper[BB];
        int k = rows[p];
        transpose(blockAt(upper, p), rightLower);
        subtractProduct(blockAt(matrix->diagonal.data, k), blockAt(lower, p), rightLower);
        if (!matrix->isSymmetric) {
            transpose(blockAt(lower, p), rightUpper);
        }
        // The rows of column j below k are among those of column k, both ascending.
        int to = matrix->starts.data[k];
        for (int q = p + 1; q < last; ++q) {
            while (rows[to] != rows[q]) {
                ++to;
            }
            subtractProduct(blockAt(lower, to), blockAt(lower, q), rightLower);
            if (!matrix->isSymmetric) {
                subtractProduct(blockAt(upper, to), blockAt(upper, q), rightUpper);
            }
        }
    }
}

double rbBlockMatrix_GetWork(const rbBlockMatrix* matrix)
{
    double sum = 0.0;
    for (int j = 0; j < matrix->count; ++j) {
        double length = (double)(matrix->starts.data[j + 1] - matrix->starts.data[j]);
        sum += 0.5 * length * (length + 3.0);
    }
    return sum;
}

bool rbBlockMatrix_Factor(rbBlockMatrix* matrix)
{
    for (int j = 0; j < matrix->count; ++j) {
        double* inverse = blockAt(matrix->inverses.data, 2 * j);
        const double* d = blockAt(matrix->diagonal.data, j);
        bool isGood = matrix->isSymmetric ? factorSymmetric(d, inverse)
                                          : factorSplit(d, inverse, inverse + BB);
        if (!isGood) {
            return false;
        }
        scaleColumn(matrix, j);
        spreadColumn(matrix, j);
    }
    return true;
}

// to -= block x.
static void subtractVector(double to[B], const double block[BB], const double x[B])
{
    for (int a = 0; a < B; ++a) {
        double sum = 0.0;
        for (int k = 0; k < B; ++k) {
            sum += block[B * a + k] * x[k];
        }
        to[a] -= sum;
    }
}

// x = inverse x, a lower triangle.
static void applyLower(const double inverse[BB], double x[B])
{
    for (int a = B - 1; a >= 0; --a) {
        double sum = 0.0;
        for (int k = 0; k <= a; ++k) {
            sum += inverse[B * a + k] * x[k];
        }
        x[a] = sum;
    }
}

// x = inverse^T x.
static void applyUpper(const double inverse[BB], double x[B])
{
    for (int a = 0; a < B; ++a) {
        double sum = 0.0;
        for (int k = a; k < B; ++k) {
            sum += inverse[B * k + a] * x[k];
        }
        x[a] = sum;
    }
}

void rbBlockMatrix_Solve(rbBlockMatrix* matrix, double* x)
{
    int n = matrix->count;
    double* y = matrix->work.data;
    RB_ASSERT(x != NULL && matrix->work.capacity >= B * n);
    double* upper = matrix->isSymmetric ? matrix->lower.data : matrix->upper.data;
    const size_t size = (size_t)B * sizeof(double);
    for (int i = 0; i < n; ++i) {
        memcpy(y + (size_t)B * (size_t)matrix->places.data[i], x + (size_t)B * (size_t)i, size);
    }
    for (int j = 0; j < n; ++j) {
        applyLower(blockAt(matrix->inverses.data, 2 * j), y + (size_t)B * (size_t)j);
        for (int p = matrix->starts.data[j]; p < matrix->starts.data[j + 1]; ++p) {
            subtractVector(y + (size_t)B * (size_t)matrix->rows.data[p],
                           blockAt(matrix->lower.data, p), y + (size_t)B * (size_t)j);
        }
    }
    for (int j = n - 1; j >= 0; --j) {
        double* own = y + (size_t)B * (size_t)j;
        for (int p = matrix->starts.data[j]; p < matrix->starts.data[j + 1]; ++p) {
            const double* block = blockAt(upper, p);
            const double* other = y + (size_t)B * (size_t)matrix->rows.data[p];
            for (int a = 0; a < B; ++a) {
                for (int k = 0; k < B; ++k) {
                    own[k] -= block[B * a + k] * other[a];
                }
            }
        }
        applyUpper(matrix->isSymmetric ? blockAt(matrix->inverses.data, 2 * j)
                                       : blockAt(matrix->inverses.data, 2 * j) + BB,
                   own);
    }
    for (int i = 0; i < n; ++i) {
        memcpy(x + (size_t)B * (size_t)i, y + (size_t)B * (size_t)matrix->places.data[i], size);
    }
}
