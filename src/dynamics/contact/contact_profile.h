// The matrix of an island that is solved as a whole: one block of 6 x 6 for every body and every
// pair of bodies that touch or are joined. It is stored row by row from the first column in use
// (its profile) and factored in place. Symmetric and positive definite, or with a symmetric pattern
// only.
#ifndef RB_CONTACT_CONTACT_PROFILE_H
#define RB_CONTACT_CONTACT_PROFILE_H

#include "base/core/memory.h"

#include <stdbool.h>

#define RB_PROFILE_BLOCK 6

typedef struct rbProfile {
    int blockCount;
    RB_ARRAY(int) firsts;     // per block: its first column of blocks
    RB_ARRAY(size_t) offsets; // per scalar row: its first entry
    RB_ARRAY(double) lower;   // rows of the lower half, with the diagonal
    RB_ARRAY(double) upper;   // columns of the upper half likewise; if it is not symmetric
    bool isSymmetric;
} rbProfile;

void rbProfile_Free(rbProfile* profile);

// Pattern: Begin, Couple for every pair (indices of blocks, negative ones are ignored), Finish.
void rbProfile_Begin(rbProfile* profile, int blockCount);
void rbProfile_Couple(rbProfile* profile, int a, int b);
// False if there are more entries than that.
bool rbProfile_Finish(rbProfile* profile, size_t entriesMax);

// Values: Clear, symmetric ones first, then Split if it is not symmetric, then the others.
void rbProfile_Clear(rbProfile* profile);
double* rbProfile_At(rbProfile* profile, int row, int column); // column <= row, lower half
// Adds factor * g g^T, g being a row over two blocks.
void rbProfile_AddSquare(rbProfile* profile, const int blocks[2], const double g[12],
                         double factor);
void rbProfile_Split(rbProfile* profile);
// Adds factor * g h^T.
void rbProfile_AddProduct(rbProfile* profile, const int blocks[2], const double g[12],
                          const double h[12], double factor);

// L D L^T, or L U. False if a pivot is not positive, or zero.
bool rbProfile_Factor(rbProfile* profile);
void rbProfile_Solve(const rbProfile* profile, double* x); // right side in, solution out

#endif
