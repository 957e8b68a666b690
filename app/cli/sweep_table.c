#define _XOPEN_SOURCE 700

#include "cli/sweep_table.h"

#include "base/core/memory.h"
#include "io/output/output_file.h"
#include "io/scene/file_bytes.h"

#include <rattleback/output.h>
#include <rattleback/scene.h>

#include <inttypes.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- cells

void rbSweepRow_Text(FILE* file, const char* text)
{
    bool isQuoted = strpbrk(text, ",\"\r\n") != NULL;
    (void)fputs(isQuoted ? ",\"" : ",", file);
    for (const char* c = text; *c != '\0'; ++c) {
        if (*c == '"') {
            (void)fputc('"', file);
        }
        (void)fputc((unsigned char)*c < ' ' ? ' ' : *c, file); // a row is one line
    }
    (void)fputs(isQuoted ? "\"" : "", file);
}

void rbSweepRow_Number(FILE* file, double value)
{
    char text[RB_NUMBER_TEXT_SIZE];
    (void)rbFormatNumber(value, text);
    (void)fprintf(file, ",%s", text);
}

// A cell of the file, without a comma; control characters do not occur in keys and values.
static void writeCell(rbOutputFile* file, const char* text, bool isFirst)
{
    char cell[2200];
    FILE* memory = fmemopen(cell, sizeof cell, "w");
    if (memory != NULL) {
        rbSweepRow_Text(memory, text);
        (void)fclose(memory);
        rbOutputFile_Text(file, cell + (isFirst ? 1 : 0));
    }
}

// ------------------------------------------------------------------------------------ the table

static void writeHeader(FILE* file, const rbSweepGrid* grid, const rbScene* scene)
{
    static const char* const fixed[] = {"status",
                                        "message",
                                        "time [s]",
                                        "hash",
                                        "energy [J]",
                                        "numericalEnergy [J]",
                                        "relativeNumericalEnergy",
                                        "met"};
    static const char* const kinds[] = {"end", "min", "max"};
    for (int i = 0; i < grid->axisCount; ++i) {
        rbSweepRow_Text(file, grid->axes[i].key);
    }
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; ++i) {
        rbSweepRow_Text(file, fixed[i]);
    }
    int count = 0;
    const rbProbeColumn* columns = rbScene_GetProbeColumns(scene, &count);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            char name[400];
            (void)snprintf(name, sizeof name, "%.300s.%s [%.60s]", columns[i].name, kinds[k],
                           columns[i].unit);
            rbSweepRow_Text(file, name);
        }
    }
    rbSweepRow_Text(file, "scene");
}

void rbSweepTable_Init(rbSweepTable* table, const rbSweepGrid* grid, const rbScene* scene,
                       uint64_t identity)
{
    int columnCount = rbScene_GetInfo(scene)->columnCount;
    size_t capacity = 1024 * ((size_t)grid->axisCount + 1) + 1536 * (size_t)columnCount + 1024;
    *table = (rbSweepTable){.grid = grid,
                            .header = rbAllocZero(1, capacity),
                            .rows = rbAllocZero((size_t)grid->pointCount, sizeof *table->rows),
                            .capacities =
                                rbAllocZero((size_t)grid->pointCount, sizeof *table->capacities)};
    (void)snprintf(table->identity, sizeof table->identity, "%016" PRIx64, identity);
    FILE* file = fmemopen(table->header, capacity, "w");
    if (file != NULL) {
        writeHeader(file, grid, scene);
        (void)fclose(file);
    }
    // without the comma of the first cell, in a block of its own size
    size_t size = strlen(table->header);
    char* header = rbAllocZero(1, size + 1);
    memcpy(header, table->header + 1, size);
    rbFree(table->header, capacity);
    table->header = header;
}

void rbSweepTable_Free(rbSweepTable* table)
{
    for (int i = 0; i < table->grid->pointCount; ++i) {
        rbFree(table->rows[i], table->capacities[i]);
    }
    size_t count = (size_t)table->grid->pointCount;
    rbFree(table->rows, count * sizeof *table->rows);
    rbFree(table->capacities, count * sizeof *table->capacities);
    rbFree(table->header, strlen(table->header) + 2);
}

void rbSweepTable_Put(rbSweepTable* table, int point, char* text, size_t capacity)
{
    RB_ASSERT(table->rows[point] == NULL);
    table->rows[point] = text;
    table->capacities[point] = capacity;
}

rbSweepStatus rbSweepTable_GetStatus(const rbSweepTable* table, int point)
{
    const char* word = table->rows[point] + 1;
    return rbSweepStatus_Find(word, strcspn(word, ","));
}

rbStatus rbSweepTable_Write(const rbSweepTable* table, const char* path, rbError* error)
{
    rbOutputFile* file = rbAllocZero(1, sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        rbOutputFile_Text(file, table->header);
        rbOutputFile_Text(file, "\n");
        for (int i = 0; i < table->grid->pointCount; ++i) {
            for (int k = 0; table->rows[i] != NULL && k < table->grid->axisCount; ++k) {
                writeCell(file, rbSweepGrid_GetValue(table->grid, i, k), k == 0);
            }
            if (table->rows[i] != NULL) {
                rbOutputFile_Text(file, table->rows[i]);
                rbOutputFile_Text(file, ",");
                rbOutputFile_Text(file, table->identity);
                rbOutputFile_Text(file, "\n");
            }
        }
        status = rbOutputFile_Commit(file, error);
    }
    rbFree(file, sizeof *file);
    return status;
}

// -------------------------------------------------------------------------------------- reading

// Copies a cell without its quotes; returns the rest of the line: a comma or the end.
static const char* takeCell(const char* line, char* cell, size_t capacity)
{
    size_t used = 0;
    bool isQuoted = *line == '"';
    line += isQuoted ? 1 : 0;
    while (*line != '\0' && *line != '\n' && (isQuoted || *line != ',')) {
        if (isQuoted && *line == '"' && line[1] != '"') {
            ++line;
            break;
        }
        line += isQuoted && *line == '"' ? 1 : 0;
        if (used + 1 < capacity) {
            cell[used++] = *line;
        }
        ++line;
    }
    cell[used] = '\0';
    return line;
}

// The point whose values a line begins with, -1 if none; rest: what follows them.
static int findPoint(const rbSweepTable* table, const char* line, const char** rest)
{
    const rbSweepGrid* grid = table->grid;
    int point = 0;
    for (int k = 0; k < grid->axisCount; ++k) {
        char cell[1024];
        const rbSweepAxis* axis = &grid->axes[k];
        int value = 0;
        line = takeCell(line + (k > 0 && *line == ',' ? 1 : 0), cell, sizeof cell);
        while (value < axis->count && strcmp(axis->values[value], cell) != 0) {
            ++value;
        }
        if (value == axis->count || *line != ',') {
            return -1;
        }
        point = point * axis->count + value;
    }
    *rest = line;
    return point;
}

static rbStatus readLine(rbSweepTable* table, const char* line, size_t length, int number,
                         rbError* error)
{
    const char* rest = NULL;
    int point = findPoint(table, line, &rest);
    size_t tail = strlen(table->identity) + 1;
    size_t size = point >= 0 ? length - (size_t)(rest - line) : 0;
    bool isOurs = size > tail && strncmp(line + length - tail + 1, table->identity, tail - 1) == 0;
    if (point < 0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "line %d has values that are not in this grid; choose another --out, "
                           "or a grid that contains the rows of the table",
                           number);
    }
    if (!isOurs || table->rows[point] != NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           isOurs ? "line %d has the values of a row before it; choose another "
                                    "--out"
                                  : "line %d is of another scene, or of other modules or "
                                    "settings; choose another --out, or delete the table",
                           number);
    }
    size -= tail;
    char* text = rbAllocZero(1, size + 1);
    memcpy(text, rest, size);
    rbSweepTable_Put(table, point, text, size + 1);
    if (rbSweepTable_GetStatus(table, point) >= RB_SWEEP_STOPPED) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "line %d has no status of a run; choose another --out", number);
    }
    return RB_STATUS_OK;
}

static rbStatus readText(rbSweepTable* table, const char* text, int* count, rbError* error)
{
    size_t length = strcspn(text, "\n");
    if (length != strlen(table->header) || strncmp(text, table->header, length) != 0 ||
        text[length] != '\n') {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "it exists and is not a table of this study: its columns are others; "
                           "choose another --out, or delete it");
    }
    rbStatus status = RB_STATUS_OK;
    int number = 1;
    for (text += length + 1; *text != '\0' && status == RB_STATUS_OK; text += length + 1) {
        length = strcspn(text, "\n");
        if (text[length] != '\n') {
            return rbError_Set(error, RB_STATUS_CORRUPT,
                               "its last line is cut off; delete that line");
        }
        status = readLine(table, text, length, ++number, error);
        *count += status == RB_STATUS_OK ? 1 : 0;
    }
    return status;
}

#define TABLE_SIZE_MAX ((size_t)1 << 30) // bytes; also ends the reading of an endless device

rbStatus rbSweepTable_Read(rbSweepTable* table, const char* path, int* count, rbError* error)
{
    void* bytes = NULL;
    size_t size = 0;
    rbError reason = {0};
    *count = 0;
    rbStatus status = rbReadFileBytes(path, TABLE_SIZE_MAX, &bytes, &size, &reason);
    if (status == RB_STATUS_NOT_FOUND) {
        return RB_STATUS_OK;
    }
    if (status == RB_STATUS_OK) {
        char* text = rbCopyText(bytes != NULL ? bytes : "", size);
        status = readText(table, text, count, &reason);
        rbFree(text, size + 1);
    }
    rbFree(bytes, size);
    *error = status == RB_STATUS_OK ? *error : reason;
    return status;
}
