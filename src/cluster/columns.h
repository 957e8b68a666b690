// What files show of a sphere: columns, in every format the same ones in the same order.
#pragma once

#include "cluster/domain.h"

typedef enum rbColumnType {
    RB_COLUMN_DOUBLE,
    RB_COLUMN_FLOAT,
    RB_COLUMN_UINT64
} rbColumnType;

typedef struct rbColumn {
    const char* name;
    rbColumnType type;
    int components;
    size_t offset; // in rbGrain, of as many doubles or of one uint64_t
} rbColumn;

// The first one is the position.
#define RB_COLUMN_COUNT 6
extern const rbColumn rbColumns[RB_COLUMN_COUNT];

// Bytes of a value.
int rbColumn_GetSize(const rbColumn* column);
// Writes the value of a sphere.
void rbColumn_Put(const rbColumn* column, unsigned char* to, const rbGrain* grain);
