// The table of chords: see path_table.h.
#include "lab/rays/path_table.h"

#include "base/core/memory.h"
#include "dynamics/motion/path.h"

struct rbPathTable {
    const rbVec3 (*pieces)[4];
    int rowCount;
    rbPathTableRow* rows;
};

rbPathTable* rbPathTable_Create(const rbVec3 (*pieces)[4], int pieceCount, int samples)
{
    RB_ASSERT(pieces != NULL && pieceCount > 0);
    RB_ASSERT(samples > 0);
    rbPathTable* table = rbAllocZero(1, sizeof *table);
    table->pieces = pieces;
    table->rowCount = pieceCount * samples + 1;
    table->rows = rbAllocZero((size_t)table->rowCount, sizeof table->rows[0]);
    double length = 0.0;
    rbVec3 last = pieces[0][0];
    for (int i = 1; i < table->rowCount; ++i) {
        int piece = (i - 1) / samples;
        double u = (double)(i - piece * samples) / samples;
        rbVec3 next = rbGetBezierPoint(pieces[piece], u);
        length += rbDistance(last, next);
        table->rows[i] = (rbPathTableRow){u, piece, length};
        last = next;
    }
    return table;
}

void rbPathTable_Destroy(rbPathTable* table)
{
    if (table != NULL) {
        rbFree(table->rows, (size_t)table->rowCount * sizeof table->rows[0]);
        rbFree(table, sizeof *table);
    }
}

double rbLookUpTravel(const rbPathTableRow* rows, int count, double travel, int* piece)
{
    RB_ASSERT(count > 1);
    int low = 0;
    int high = count - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (rows[middle].length <= travel) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const rbPathTableRow* a = &rows[low];
    const rbPathTableRow* b = &rows[high];
    double span = b->length - a->length;
    double fraction = span > 0.0 ? (travel - a->length) / span : 0.0;
    fraction = fraction < 0.0 ? 0.0 : (fraction > 1.0 ? 1.0 : fraction);
    // Across a joint the end of one piece is the start of the next.
    double from = a->piece == b->piece ? a->u : 0.0;
    *piece = b->piece;
    return from + fraction * (b->u - from);
}

double rbPathTable_GetLength(const rbPathTable* table)
{
    return table->rows[table->rowCount - 1].length;
}

const rbPathTableRow* rbPathTable_GetRows(const rbPathTable* table, int* count)
{
    *count = table->rowCount;
    return table->rows;
}

rbVec3 rbPathTable_GetPosition(const rbPathTable* table, double travel)
{
    int piece = 0;
    double u = rbLookUpTravel(table->rows, table->rowCount, travel, &piece);
    return rbGetBezierPoint(table->pieces[piece], u);
}

rbVec3 rbPathTable_GetTangent(const rbPathTable* table, double travel)
{
    double length = rbPathTable_GetLength(table);
    double before = travel - RB_PATH_TABLE_STEP;
    double after = travel + RB_PATH_TABLE_STEP;
    before = before < 0.0 ? 0.0 : before;
    after = after > length ? length : after;
    return rbSub(rbPathTable_GetPosition(table, after), rbPathTable_GetPosition(table, before));
}
