#include "cluster/columns.h"

#include <stddef.h>
#include <string.h>

const rbColumn rbColumns[RB_COLUMN_COUNT] = {
    {"position", RB_COLUMN_DOUBLE, 3, offsetof(rbGrain, position)},
    {"radius", RB_COLUMN_FLOAT, 1, offsetof(rbGrain, radius)},
    {"velocity", RB_COLUMN_FLOAT, 3, offsetof(rbGrain, velocity)},
    {"spin", RB_COLUMN_FLOAT, 3, offsetof(rbGrain, spin)},
    {"orientation", RB_COLUMN_FLOAT, 4, offsetof(rbGrain, orientation)}, // w, x, y, z
    {"uid", RB_COLUMN_UINT64, 1, offsetof(rbGrain, uid)},
};

int rbColumn_GetSize(const rbColumn* column)
{
    return column->components * (column->type == RB_COLUMN_FLOAT ? 4 : 8);
}

void rbColumn_Put(const rbColumn* column, unsigned char* to, const rbGrain* grain)
{
    const unsigned char* from = (const unsigned char*)grain + column->offset;
    if (column->type != RB_COLUMN_FLOAT) {
        memcpy(to, from, (size_t)rbColumn_GetSize(column));
        return;
    }
    for (int i = 0; i < column->components; ++i) {
        double number = 0.0;
        memcpy(&number, from + (size_t)i * sizeof number, sizeof number);
        float value = (float)number;
        memcpy(to + (size_t)i * sizeof value, &value, sizeof value);
    }
}
