// Arc length of a curve as published: a table of chords and its inverse, and tangents by difference
// quotients. Kept for comparison; rbPath measures by quadrature and is exact to about 1e-12, while
// with ten chords per piece lengths are too short by about a thousandth.
#pragma once

#include <rattleback/vecmath.h>

// Samples per piece as published, and the number at which the error falls to 1e-5.
#define RB_PATH_TABLE_PUBLISHED 10
#define RB_PATH_TABLE_DEFAULT 100
// Half the step of difference quotients, m.
#define RB_PATH_TABLE_STEP 0.01

// The sum of the chords up to a parameter of a piece.
typedef struct rbPathTableRow {
    double u;
    int piece;
    double length; // m
} rbPathTableRow;

// Parameter and piece of a traveled length by bisection and interpolation between two rows. Rows
// ascend in length; the first has length 0. A length outside is clamped to the nearest end.
double rbLookUpTravel(const rbPathTableRow* rows, int count, double travel, int* piece);

typedef struct rbPathTable rbPathTable;
// pieces: Bezier points, borrowed for the life of the table; samples of each.
rbPathTable* rbPathTable_Create(const rbVec3 (*pieces)[4], int pieceCount, int samples);
void rbPathTable_Destroy(rbPathTable* table); // NULL is accepted

double rbPathTable_GetLength(const rbPathTable* table); // m
const rbPathTableRow* rbPathTable_GetRows(const rbPathTable* table, int* count);
rbVec3 rbPathTable_GetPosition(const rbPathTable* table, double travel);
// Not of unit length: the difference of the positions one step ahead and behind; one-sided at the
// ends of the curve.
rbVec3 rbPathTable_GetTangent(const rbPathTable* table, double travel);
