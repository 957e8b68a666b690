// The table of a parameter study: a CSV file that is written whole after every row, and read back
// to go on with it.
#pragma once

#include "cli/sweep_run.h"

#include <stdio.h>

typedef struct rbSweepTable {
    const rbSweepGrid* grid;
    char* header;       // the first line
    char identity[20];  // of scene, files and modules: the last cell of every row
    char** rows;        // rows[point]: status and what follows, ",done,..."; NULL: not there
    size_t* capacities; // of these texts
} rbSweepTable;

// An empty table. identity: what all rows must share.
void rbSweepTable_Init(rbSweepTable* table, const rbSweepGrid* grid, const rbScene* scene,
                       uint64_t identity);
void rbSweepTable_Free(rbSweepTable* table);
// Takes the row of a point; owns the text from then on.
void rbSweepTable_Put(rbSweepTable* table, int point, char* text, size_t capacity);
// Reads the rows of a file, if there is one. INVALID with a message if it is not a table of this
// study. count: rows that it has.
rbStatus rbSweepTable_Read(rbSweepTable* table, const char* path, int* count, rbError* error);
// Writes all rows in the order of the grid; "-" is standard output.
rbStatus rbSweepTable_Write(const rbSweepTable* table, const char* path, rbError* error);
// The status of the row of a point, which is there.
rbSweepStatus rbSweepTable_GetStatus(const rbSweepTable* table, int point);

// Cells of a row, each after a comma: a text, quoted if necessary and on one line; a number.
void rbSweepRow_Text(FILE* file, const char* text);
void rbSweepRow_Number(FILE* file, double value);
