// Journals as CSV tables or JSON lines. Numbers go through rbFormatNumber, so equal journals
// give equal files.
#include "io/output/journal.h"

#include "base/core/memory.h"
#include "io/output/continuation.h"
#include "io/output/output_file.h"

#include <math.h>
#include <string.h>

struct rbJournal {
    bool isJson;
    rbOutputFile file;
};

// The columns: every cell holds a text or a number.
typedef struct Column {
    const char* name; // of the column and of the key
    const char* unit; // "" for none
    bool isText;
    bool isOfContact; // empty without a contact
    size_t offset;    // in Cells
} Column;

// A row with derived values.
typedef struct Cells {
    rbJournalRow row;
    double energyAfter;
} Cells;

#define AT(member) offsetof(Cells, row) + offsetof(rbJournalRow, member)
static const Column columns[] = {
    {"time", "s", false, false, AT(time)},
    {"kind", "", true, false, AT(kind)},
    {"bodyA", "", true, false, AT(bodyA)},
    {"bodyB", "", true, false, AT(bodyB)},
    {"law", "", true, false, AT(law)},
    {"point.x", "m", false, true, AT(point.x)},
    {"point.y", "m", false, true, AT(point.y)},
    {"point.z", "m", false, true, AT(point.z)},
    {"normal.x", "", false, true, AT(normal.x)},
    {"normal.y", "", false, true, AT(normal.y)},
    {"normal.z", "", false, true, AT(normal.z)},
    {"impulse.x", "N s", false, true, AT(impulse.x)},
    {"impulse.y", "N s", false, true, AT(impulse.y)},
    {"impulse.z", "N s", false, true, AT(impulse.z)},
    {"approachSpeed", "m/s", false, true, AT(approachSpeed)},
    {"energyBefore", "J", false, true, AT(energyBefore)},
    {"energyAfter", "J", false, true, offsetof(Cells, energyAfter)},
    {"energyChange", "J", false, false, AT(energyChange)},
    {"frictionWork", "J", false, true, AT(frictionWork)},
    {"history", "", true, false, AT(history)},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static bool endsWith(const char* text, const char* end)
{
    size_t length = strlen(text);
    size_t endLength = strlen(end);
    return length >= endLength && strcmp(text + length - endLength, end) == 0;
}

rbJournal* rbCreateJournal(const char* path, rbError* error)
{
    RB_ASSERT(path != NULL);
    rbJournal* journal = rbAlloc(sizeof *journal);
    journal->isJson = endsWith(path, ".jsonl");
    if (rbOutputFile_Open(&journal->file, path, error) != RB_STATUS_OK) {
        rbFree(journal, sizeof *journal);
        return NULL;
    }
    for (size_t i = 0; i < COLUMN_COUNT && !journal->isJson; ++i) {
        const Column* column = &columns[i];
        rbOutputFile_Print(&journal->file, "%s%s%s%s%s", i > 0 ? "," : "", column->name,
                           column->unit[0] != '\0' ? " [" : "", column->unit,
                           column->unit[0] != '\0' ? "]" : "");
    }
    if (!journal->isJson) {
        rbOutputFile_Text(&journal->file, "\n");
    }
    return journal;
}

rbStatus rbJournal_Save(rbJournal* journal, rbStateStream* stream, rbError* error)
{
    return rbOutputFile_Save(&journal->file, stream, error);
}

rbJournal* rbContinueJournal(const char* path, rbStateStream* stream, rbError* error)
{
    RB_ASSERT(path != NULL);
    rbJournal* journal = rbAlloc(sizeof *journal);
    journal->isJson = endsWith(path, ".jsonl");
    if (rbOutputFile_Continue(&journal->file, path, stream, error) != RB_STATUS_OK) {
        rbFree(journal, sizeof *journal);
        return NULL;
    }
    return journal;
}

// A cell as in RFC 4180: quoted if it holds a comma, a quote or a line end, quotes doubled.
static void writeCell(rbOutputFile* file, const char* text)
{
    bool isQuoted = strpbrk(text, ",\"\r\n") != NULL;
    rbOutputFile_Text(file, isQuoted ? "\"" : "");
    for (const char* c = text; *c != '\0'; ++c) {
        rbOutputFile_Write(file, "\"\"", *c == '"' ? 1 : 0);
        rbOutputFile_Write(file, c, 1);
    }
    rbOutputFile_Text(file, isQuoted ? "\"" : "");
}

static void writeString(rbOutputFile* file, const char* text)
{
    rbOutputFile_Text(file, "\"");
    for (const char* c = text; *c != '\0'; ++c) {
        if ((unsigned char)*c < 0x20) {
            rbOutputFile_Print(file, "\\u%04x", (unsigned)(unsigned char)*c);
            continue;
        }
        rbOutputFile_Write(file, "\\", *c == '"' || *c == '\\' ? 1 : 0);
        rbOutputFile_Write(file, c, 1);
    }
    rbOutputFile_Text(file, "\"");
}

// The number of a column; false if the row has none.
static bool getNumber(const Cells* cells, const Column* column, double* number)
{
    memcpy(number, (const char*)cells + column->offset, sizeof *number);
    return !column->isOfContact || cells->row.hasContact;
}

static const char* getText(const Cells* cells, const Column* column)
{
    const char* text = NULL;
    memcpy(&text, (const char*)cells + column->offset, sizeof text);
    return text;
}

static void writeTableRow(rbJournal* journal, const Cells* cells)
{
    rbOutputFile* file = &journal->file;
    for (size_t i = 0; i < COLUMN_COUNT; ++i) {
        double number = 0.0;
        rbOutputFile_Text(file, i > 0 ? "," : "");
        if (columns[i].isText) {
            const char* text = getText(cells, &columns[i]);
            writeCell(file, text != NULL ? text : "");
        } else if (getNumber(cells, &columns[i], &number)) {
            char text[RB_NUMBER_TEXT_SIZE];
            (void)rbFormatNumber(number, text);
            rbOutputFile_Text(file, text);
        }
    }
    rbOutputFile_Text(file, "\n");
}

// Keys without a value are left out; JSON has no NaN: such a number is null.
static void writeJsonRow(rbJournal* journal, const Cells* cells)
{
    rbOutputFile* file = &journal->file;
    const char* separator = "{";
    for (size_t i = 0; i < COLUMN_COUNT; ++i) {
        double number = 0.0;
        const char* word = columns[i].isText ? getText(cells, &columns[i]) : NULL;
        if (columns[i].isText ? word == NULL : !getNumber(cells, &columns[i], &number)) {
            continue;
        }
        rbOutputFile_Print(file, "%s\"%s\": ", separator, columns[i].name);
        separator = ", ";
        if (word != NULL) {
            writeString(file, word);
        } else {
            char text[RB_NUMBER_TEXT_SIZE];
            (void)rbFormatNumber(number, text);
            rbOutputFile_Text(file, isfinite(number) ? text : "null");
        }
    }
    rbOutputFile_Text(file, "}\n");
}

rbStatus rbJournal_Write(rbJournal* journal, const rbJournalRow* row, rbError* error)
{
    RB_ASSERT(journal != NULL);
    RB_ASSERT(row != NULL && row->kind != NULL);
    const Cells cells = {*row, row->energyBefore + row->energyChange};
    if (journal->isJson) {
        writeJsonRow(journal, &cells);
    } else {
        writeTableRow(journal, &cells);
    }
    // Rows are buffered: only a failure is worth a system call here.
    return journal->file.errorNumber == 0 ? RB_STATUS_OK
                                          : rbOutputFile_Flush(&journal->file, error);
}

rbStatus rbJournal_Finish(rbJournal* journal, rbError* error)
{
    RB_ASSERT(journal != NULL);
    rbStatus status = rbOutputFile_Commit(&journal->file, error);
    rbFree(journal, sizeof *journal);
    return status;
}

void rbJournal_Abandon(rbJournal* journal)
{
    if (journal != NULL) {
        rbOutputFile_Abandon(&journal->file);
        rbFree(journal, sizeof *journal);
    }
}
