// The words of records, regrouped for compression: fields of one kind together, each as its
// difference from a prediction. The code is in docs/certificate.md, "Columns".
#pragma once

#include <stddef.h>
#include <stdint.h>

// Bytes before the planes: the number of records, that of slots, and a mode per column.
#define RB_COLUMNS 109
#define RB_COLUMNS_HEAD (4 + 1 + RB_COLUMNS)

typedef struct rbColumns rbColumns;

rbColumns* rbCreateColumns(int bodyCount);
void rbDestroyColumns(rbColumns* columns);
// Codes whole records into RB_COLUMNS_HEAD + 8 * count bytes. What was coded before is the context.
void rbColumns_Code(rbColumns* columns, const uint64_t* words, size_t count, unsigned char* bytes);
// Where the columns of the last code begin in each plane, RB_COLUMNS + 1 numbers.
const size_t* rbColumns_GetStarts(const rbColumns* columns);
