// Sparse matrices of 6 x 6 blocks, one for every body and every pair of bodies that are coupled:
// symmetric and positive definite, or with a symmetric pattern only.
//
// Bodies are eliminated in the order of minimum degree, found on a table of bits: the row of a body
// holds its neighbors among those that remain, and eliminating it joins its row to theirs. At that
// point its row is also its column of the factor. Ties go to the lower index, so the order depends
// on nothing but the pattern. The table costs n^2 / 8 bytes (a heap of 1000 bodies: 125 kB, 1.7 ms
// for 15,200 blocks, 16 ms to factor these) and allocates only when there are more bodies than
// ever. AMD (direct.c) allocates in every call, and the order would depend on whether the library
// is there.
#pragma once

#include "base/core/memory.h"

#include <stdbool.h>
#include <stdint.h>

#define RB_BLOCK 6
// Larger matrices are refused: their table of bits has 8 MB, and a factor takes seconds.
#define RB_BLOCK_MATRIX_MAX 8192

typedef struct rbBlockMatrix {
    int count;                 // blocks on the diagonal
    int words;                 // of a row of bits
    RB_ARRAY(uint64_t) bits;   // neighbors of each block
    RB_ARRAY(int) degrees;     // of these; -1: eliminated
    RB_ARRAY(int) places;      // of each block in the order of elimination
    RB_ARRAY(int) starts;      // entries of column j: starts[j] .. starts[j + 1] - 1
    RB_ARRAY(int) rows;        // places, ascending within a column
    RB_ARRAY(double) diagonal; // 36 of each place, row major: values, then its factors
    RB_ARRAY(double) lower;    // 36 of each entry, row major
    RB_ARRAY(double) upper;    // of the transposed upper half, if it is not symmetric
    RB_ARRAY(double) inverses; // 36 of each place: inverse of L, or of L and of U^T behind it
    RB_ARRAY(double) work;     // of a solve
    bool isSymmetric;
} rbBlockMatrix;

void rbBlockMatrix_Free(rbBlockMatrix* matrix);

// The entry of a row in a column of a sparse matrix, which has it: rows[starts[column] ..
// starts[column + 1] - 1] ascend.
int rbFindEntry(const int* starts, const int* rows, int row, int column);

// Pattern: Begin, Couple for every pair (negative indices are ignored), Finish.
void rbBlockMatrix_Begin(rbBlockMatrix* matrix, int count); // up to RB_BLOCK_MATRIX_MAX
void rbBlockMatrix_Couple(rbBlockMatrix* matrix, int a, int b);
void rbBlockMatrix_Finish(rbBlockMatrix* matrix);

// Values: Clear, symmetric ones first, then Split if it is not symmetric, then the others.
void rbBlockMatrix_Clear(rbBlockMatrix* matrix);
double* rbBlockMatrix_GetDiagonal(rbBlockMatrix* matrix, int block); // 36, row major
// Adds factor * g g^T, g being a row over two blocks.
void rbBlockMatrix_AddSquare(rbBlockMatrix* matrix, const int blocks[2], const double g[12],
                             double factor);
void rbBlockMatrix_Split(rbBlockMatrix* matrix);
// Adds factor * g h^T.
void rbBlockMatrix_AddProduct(rbBlockMatrix* matrix, const int blocks[2], const double g[12],
                              const double h[12], double factor);

// Products of blocks that a symmetric factorization takes, about 0.04 us each; twice that for L U.
double rbBlockMatrix_GetWork(const rbBlockMatrix* matrix);
// L L^T, or L U. False if a pivot is not positive, or zero.
bool rbBlockMatrix_Factor(rbBlockMatrix* matrix);
void rbBlockMatrix_Solve(rbBlockMatrix* matrix, double* x); // right side in, solution out
