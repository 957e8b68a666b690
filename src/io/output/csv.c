// CSV tables and the formatting of numbers.
#include "base/core/memory.h"
#include "io/output/continuation.h"
#include "io/output/output_file.h"

#include <rattleback/output.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rbCsv {
    int columnCount;
    rbOutputFile file;
};

// Replaces the decimal separator of the locale, whatever its characters, by a point: it is the only
// part of a printed number that is not a digit, a sign or an e.
static int useDecimalPoint(char* text)
{
    int length = 0;
    bool isAfterSeparator = false;
    for (const char* p = text; *p != '\0'; ++p) {
        bool isOwn = (*p >= '0' && *p <= '9') || *p == '+' || *p == '-' || *p == 'e';
        if (isOwn) {
            text[length++] = *p;
        } else if (!isAfterSeparator) {
            text[length++] = '.';
        }
        isAfterSeparator = !isOwn;
    }
    text[length] = '\0';
    return length;
}

int rbFormatNumber(double value, char* text)
{
    RB_ASSERT(text != NULL);
    if (!isfinite(value)) {
        const char* word = isnan(value) ? "nan" : (value > 0.0 ? "inf" : "-inf");
        return snprintf(text, RB_NUMBER_TEXT_SIZE, "%s", word);
    }
    // 15 digits suffice for numbers typed by people, 17 for every double. Printing and reading use
    // the same locale, so the test holds in any locale.
    for (int digits = 15; digits <= 17; ++digits) {
        int length = snprintf(text, RB_NUMBER_TEXT_SIZE, "%.*g", digits, value);
        RB_ASSERT(length > 0 && length < RB_NUMBER_TEXT_SIZE);
        (void)length;
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    return useDecimalPoint(text);
}

// Quotes a cell if it holds a comma, a quote or a line end; quotes inside are doubled.
static void writeCell(rbOutputFile* file, const char* text)
{
    for (const char* p = text; *p != '\0'; ++p) {
        if (*p == '"') {
            rbOutputFile_Write(file, "\"", 1);
        }
        rbOutputFile_Write(file, p, 1);
    }
}

static void writeHeaderCell(rbOutputFile* file, const rbCsvColumn* column)
{
    bool hasUnit = column->unit != NULL && column->unit[0] != '\0';
    bool isQuoted = strpbrk(column->name, ",\"\r\n") != NULL ||
                    (hasUnit && strpbrk(column->unit, ",\"\r\n") != NULL);
    const char* quote = isQuoted ? "\"" : "";
    rbOutputFile_Text(file, quote);
    writeCell(file, column->name);
    if (hasUnit) {
        rbOutputFile_Text(file, " [");
        writeCell(file, column->unit);
        rbOutputFile_Text(file, "]");
    }
    rbOutputFile_Text(file, quote);
}

rbCsv* rbCreateCsv(const char* path, const rbCsvColumn* columns, int columnCount, rbError* error)
{
    RB_ASSERT(path != NULL);
    RB_ASSERT(columns != NULL);
    RB_ASSERT(columnCount > 0);
    rbCsv* csv = rbAlloc(sizeof *csv);
    csv->columnCount = columnCount;
    if (rbOutputFile_Open(&csv->file, path, error) != RB_STATUS_OK) {
        rbFree(csv, sizeof *csv);
        return NULL;
    }
    for (int i = 0; i < columnCount; ++i) {
        RB_ASSERT(columns[i].name != NULL);
        rbOutputFile_Text(&csv->file, i > 0 ? "," : "");
        writeHeaderCell(&csv->file, &columns[i]);
    }
    rbOutputFile_Text(&csv->file, "\n");
    return csv;
}

rbStatus rbCsv_Save(rbCsv* csv, rbStateStream* stream, rbError* error)
{
    return rbOutputFile_Save(&csv->file, stream, error);
}

rbCsv* rbContinueCsv(const char* path, int columnCount, rbStateStream* stream, rbError* error)
{
    RB_ASSERT(path != NULL);
    RB_ASSERT(columnCount > 0);
    rbCsv* csv = rbAlloc(sizeof *csv);
    csv->columnCount = columnCount;
    if (rbOutputFile_Continue(&csv->file, path, stream, error) != RB_STATUS_OK) {
        rbFree(csv, sizeof *csv);
        return NULL;
    }
    return csv;
}

rbStatus rbCsv_WriteRow(rbCsv* csv, const double* values, rbError* error)
{
    RB_ASSERT(csv != NULL);
    RB_ASSERT(values != NULL);
    for (int i = 0; i < csv->columnCount; ++i) {
        char text[RB_NUMBER_TEXT_SIZE + 1];
        text[0] = ',';
        int length = rbFormatNumber(values[i], text + 1);
        int skip = i > 0 ? 0 : 1;
        rbOutputFile_Write(&csv->file, text + skip, (size_t)(length + 1 - skip));
    }
    rbOutputFile_Write(&csv->file, "\n", 1);
    // Rows are buffered: only a failure is worth a system call here.
    return csv->file.errorNumber == 0 ? RB_STATUS_OK : rbOutputFile_Flush(&csv->file, error);
}

rbStatus rbCsv_Finish(rbCsv* csv, rbError* error)
{
    RB_ASSERT(csv != NULL);
    rbStatus status = rbOutputFile_Commit(&csv->file, error);
    rbFree(csv, sizeof *csv);
    return status;
}

void rbCsv_Abandon(rbCsv* csv)
{
    if (csv != NULL) {
        rbOutputFile_Abandon(&csv->file);
        rbFree(csv, sizeof *csv);
    }
}
