#include "cli/sweep_grid.h"

#include "base/core/memory.h"
#include "base/math/elementary.h"

#include <rattleback/output.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 4

static char* copyText(const char* text, size_t length)
{
    char* copy = rbAlloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void freeText(char* text)
{
    rbFree(text, strlen(text) + 1);
}

// -------------------------------------------------------------------------------------- ranges

typedef struct Range {
    double from;
    double to;
    int count;
    bool isLog;
} Range;

// A finite number that takes up a whole part.
static bool readNumber(const char* text, size_t length, double* number)
{
    char part[64];
    char* end = NULL;
    if (length == 0 || length >= sizeof part || isspace((unsigned char)text[0])) {
        return false;
    }
    memcpy(part, text, length);
    part[length] = '\0';
    *number = strtod(part, &end);
    return *end == '\0' && isfinite(*number);
}

// Whether a text looks like a range: three or four parts, the first two of them numbers.
static bool readRange(const char* text, Range* range, const char** complaint)
{
    const char* parts[PARTS_MAX];
    size_t lengths[PARTS_MAX];
    int count = 0;
    for (const char* rest = text; rest != NULL && count < PARTS_MAX; ++count) {
        parts[count] = rest;
        lengths[count] = strcspn(rest, ":");
        rest = rest[lengths[count]] == ':' ? rest + lengths[count] + 1 : NULL;
    }
    double number = 0.0;
    if (count < 3 || !readNumber(parts[0], lengths[0], &range->from) ||
        !readNumber(parts[1], lengths[1], &range->to)) {
        return false;
    }
    range->isLog = count == 4 && lengths[3] == 3 && strncmp(parts[3], "log", 3) == 0;
    bool isWhole = readNumber(parts[2], lengths[2], &number) && number == floor(number);
    *complaint = !isWhole || number < 2.0 || number > RB_SWEEP_POINTS_MAX
                     ? "the number of values must be an integer from 2 to 100000"
                 : count == 4 && !range->isLog ? "only log may follow the number of values"
                 : range->isLog && !(range->from > 0.0 && range->to > 0.0)
                     ? "a logarithmic range needs two positive ends"
                     : NULL;
    range->count = isWhole && *complaint == NULL ? (int)number : 0;
    return true;
}

// The ends are exact.
static double getValue(const Range* range, int index)
{
    int last = range->count - 1;
    double part = (double)index / last;
    double inner = range->isLog ? range->from * rbExp(part * rbLog(range->to / range->from))
                                : range->from + (range->to - range->from) * part;
    return index == 0 ? range->from : index == last ? range->to : inner;
}

static void fillRange(rbSweepAxis* axis, const Range* range)
{
    axis->values = rbAllocZero((size_t)range->count, sizeof *axis->values);
    axis->count = range->count;
    for (int i = 0; i < range->count; ++i) {
        char text[RB_NUMBER_TEXT_SIZE];
        int length = rbFormatNumber(getValue(range, i), text);
        axis->values[i] = copyText(text, (size_t)length);
    }
}

// --------------------------------------------------------------------------------------- lists

// The length of the first value of a list: up to a comma outside of brackets and quotes.
static size_t findEnd(const char* text)
{
    int depth = 0;
    bool isQuoted = false;
    size_t i = 0;
    for (; text[i] != '\0' && (text[i] != ',' || depth > 0 || isQuoted); ++i) {
        isQuoted = text[i] == '"' ? !isQuoted : isQuoted;
        depth += text[i] == '[' || text[i] == '{' ? 1 : 0;
        depth -= text[i] == ']' || text[i] == '}' ? 1 : 0;
        if (isQuoted && text[i] == '\\' && text[i + 1] != '\0') {
            ++i;
        }
    }
    return i;
}

static bool fillList(rbSweepAxis* axis, const char* text)
{
    int count = 1;
    for (const char* rest = text; rest[findEnd(rest)] == ','; rest += findEnd(rest) + 1) {
        ++count;
    }
    axis->values = rbAllocZero((size_t)count, sizeof *axis->values);
    const char* rest = text;
    bool isGood = true;
    for (axis->count = 0; axis->count < count; ++axis->count) {
        size_t length = findEnd(rest);
        isGood = isGood && length > 0;
        axis->values[axis->count] = copyText(rest, length);
        rest += length + 1;
    }
    return isGood;
}

// ---------------------------------------------------------------------------------------- grid

static rbStatus readAxis(rbSweepGrid* grid, const char* text, rbError* error)
{
    const char* equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0') {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "--vary '%.100s' is not KEY=A:B:N, KEY=A:B:N:log or KEY=V1,V2,...; for "
                           "example --vary materials.rubber.friction=0:1:11",
                           text);
    }
    size_t length = (size_t)(equals - text);
    for (int i = 0; i < grid->axisCount; ++i) {
        if (strlen(grid->axes[i].key) == length && strncmp(grid->axes[i].key, text, length) == 0) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "--vary %.100s is given twice; give all values of a key in one list",
                               grid->axes[i].key);
        }
    }
    if (grid->axisCount == RB_SWEEP_KEYS_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "more than %d keys vary; the table would be "
                           "huge",
                           RB_SWEEP_KEYS_MAX);
    }
    rbSweepAxis* axis = &grid->axes[grid->axisCount++];
    Range range = {0};
    const char* complaint = NULL;
    axis->key = copyText(text, length);
    if (!readRange(equals + 1, &range, &complaint)) {
        complaint = fillList(axis, equals + 1) ? NULL : "a value of the list is empty";
    } else if (complaint == NULL) {
        fillRange(axis, &range);
    }
    return complaint == NULL
               ? RB_STATUS_OK
               : rbError_Set(error, RB_STATUS_INVALID, "--vary '%.100s': %s", text, complaint);
}

rbStatus rbSweepGrid_Read(rbSweepGrid* grid, const rbArguments* arguments, rbError* error)
{
    *grid = (rbSweepGrid){.pointCount = 1};
    for (int i = 0; i < arguments->valueCount; ++i) {
        if (strcmp(arguments->values[i].option->name, "--vary") != 0) {
            continue;
        }
        rbStatus status = readAxis(grid, arguments->values[i].value, error);
        if (status != RB_STATUS_OK) {
            return status;
        }
        int count = grid->axes[grid->axisCount - 1].count;
        if (grid->pointCount > RB_SWEEP_POINTS_MAX / count) {
            return rbError_Set(error, RB_STATUS_LIMIT,
                               "the grid has more than %d points; take fewer values",
                               RB_SWEEP_POINTS_MAX);
        }
        grid->pointCount *= count;
    }
    return grid->axisCount > 0
               ? RB_STATUS_OK
               : rbError_Set(
                     error, RB_STATUS_INVALID,
                     "sweep needs what to vary; for example --vary world.gravity.2=-9:-1:5");
}

void rbSweepGrid_Free(rbSweepGrid* grid)
{
    for (int i = 0; i < grid->axisCount; ++i) {
        rbSweepAxis* axis = &grid->axes[i];
        for (int k = 0; k < axis->count; ++k) {
            freeText(axis->values[k]);
        }
        rbFree(axis->values, (size_t)axis->count * sizeof *axis->values);
        freeText(axis->key);
    }
    *grid = (rbSweepGrid){0};
}

const char* rbSweepGrid_GetValue(const rbSweepGrid* grid, int point, int axis)
{
    RB_ASSERT(point >= 0 && point < grid->pointCount && axis >= 0 && axis < grid->axisCount);
    for (int i = grid->axisCount - 1; i > axis; --i) {
        point /= grid->axes[i].count;
    }
    return grid->axes[axis].values[point % grid->axes[axis].count];
}
