// The writer and the verifier have a table of the columns each, as they share no code. What one
// codes the other must decode to the same words, whatever the records are; the tables and the
// rules of the slots are then the same.
#include "base/core/random.h"
#include "io/output/certificate_columns.h"
#include "rb_test.h"
#include "verify/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 7,
    KEYS = 5,
    FIELDS = 21 + 14, // of a record, at most
    WORDS = 4000,
    BLOCKS = 3
};

// The layout of docs/certificate.md, "Columns".
static const struct Kind {
    int single, group;
    int key; // -1: none
    int id;  // 1: the field after the key counts the groups of the same key
    int column;
} kinds[KINDS + 1] = {
    [1] = {0, 17, 2, 0, 1},   [2] = {0, 15, 1, 0, 18}, [3] = {0, 12, 0, 1, 33},
    [4] = {0, 11, -1, 0, 45}, [5] = {0, 3, -1, 0, 56}, [6] = {21, 14, 0, 0, 59},
    [7] = {0, 15, 1, 0, 94},
};

// Words that a field of a key has had: every field goes up by a step of its own, so that the
// prediction by key is exact and the one by column is not.
typedef struct Sequences {
    uint64_t last[KINDS + 1][KEYS][FIELDS];
    uint64_t step[KINDS + 1][KEYS][FIELDS];
} Sequences;

static uint64_t advance(Sequences* s, int kind, int key, int field)
{
    s->last[kind][key][field] += s->step[kind][key][field];
    return s->last[kind][key][field];
}

// Appends a random record; returns the words it takes, 0: no room.
static size_t addRecord(Sequences* s, rbRandom* random, uint64_t* words, size_t room)
{
    int kind = 1 + rbRandom_Index(random, KINDS);
    const struct Kind* k = &kinds[kind];
    int groups = rbRandom_Index(random, 4);
    size_t size = (size_t)k->single + (size_t)groups * (size_t)k->group;
    if (size + 1 > room) {
        return 0;
    }
    words[0] = (uint64_t)kind | (uint64_t)size << 32;
    for (int i = 0; i < k->single; ++i) {
        words[1 + i] = advance(s, kind, 0, i);
    }
    uint64_t* at = &words[1 + k->single];
    // a group without a key is identified by its position
    for (int g = 0; g < groups; ++g, at += k->group) {
        int key = k->key < 0 ? g : rbRandom_Index(random, KEYS);
        for (int i = 0; i < k->group; ++i) {
            at[i] =
                i == k->key ? (uint64_t)key * 0x100000001u : advance(s, kind, key, k->single + i);
        }
    }
    return size + 1;
}

static void wordsOfTheWriterAreReadAgain(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(7)};
    int byKey = 0; // columns predicted by their key
    for (int n = 0; n < rbTest_Count(5, 100); ++n) {
        static Sequences s;
        static uint64_t words[WORDS];
        static uint64_t decoded[WORDS];
        static unsigned char bytes[RB_COLUMNS_HEAD + 8 * WORDS];
        uint64_t* all = &s.last[0][0][0];
        for (size_t i = 0; i < sizeof s / sizeof *all; ++i) {
            memcpy((unsigned char*)&s + i * sizeof *all, &(uint64_t){rbRandom_Bits(&random)},
                   sizeof *all);
        }
        rbColumns* writer = rbCreateColumns(1 + rbRandom_Index(&random, 2000));
        struct rbVColumns* reader = NULL;
        for (int block = 0; block < BLOCKS; ++block) { // contexts go on from block to block
            size_t count = 0;
            size_t added;
            while ((added = addRecord(&s, &random, &words[count], WORDS - count)) > 0) {
                count += added;
            }
            rbColumns_Code(writer, words, count, bytes);
            memset(decoded, 0, sizeof decoded);
            assert_true(rbVColumns_Decode(&reader, bytes, decoded, count));
            assert_memory_equal(decoded, words, count * sizeof *words);
            for (int i = 0; i < 109; ++i) {
                byKey += bytes[5 + i] > 3 ? 1 : 0;
            }
        }
        rbDestroyColumns(writer);
        free(reader);
    }
    assert_true(byKey > 100); // otherwise the slots were not tested
}

// The rows of the table of layouts in a source file, as text.
static char* readTable(const char* path)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    char* start = strstr(text, "layouts[KINDS] = {");
    assert_non_null(start);
    char* end = strstr(start, "};");
    assert_non_null(end);
    *end = '\0';
    char* table = malloc((size_t)(end - start) + 1);
    memcpy(table, start, (size_t)(end - start) + 1);
    return table;
}

// Contexts that are never used can differ without a trace in what is read: the rows are compared
// too.
static void theTablesAreTheSame(void** state)
{
    (void)state;
    char* writer = readTable(RB_SOURCE_DIR "/src/io/output/certificate_columns.c");
    char* reader = readTable(RB_SOURCE_DIR "/verify/columns.c");
    assert_string_equal(writer, reader);
    for (int kind = 1; kind <= KINDS; ++kind) {
        char row[64];
        const struct Kind* k = &kinds[kind];
        (void)snprintf(row, sizeof row, "[%d] = {%d, %d, %d, %d, %d,", kind, k->single, k->group,
                       k->key, k->id, k->column);
        assert_non_null(strstr(reader, row));
    }
    free(writer);
    free(reader);
}

// The first and the last column of every kind hold what the documentation says.
static void columnsAreWhereTheDocumentationSaysTheyAre(void** state)
{
    (void)state;
    for (int kind = 1; kind <= KINDS; ++kind) {
        const struct Kind* k = &kinds[kind];
        size_t size = (size_t)k->single + (size_t)k->group;
        uint64_t words[1 + FIELDS] = {(uint64_t)kind | (uint64_t)size << 32};
        unsigned char bytes[RB_COLUMNS_HEAD + 8 * (1 + FIELDS)];
        for (size_t i = 0; i < size; ++i) {
            words[1 + i] = 1 + i;
        }
        rbColumns* writer = rbCreateColumns(1);
        rbColumns_Code(writer, words, 1 + size, bytes);
        // one column after the other: a record of one group keeps the order of its words
        for (size_t i = 0; i < size; ++i) {
            assert_int_equal(bytes[RB_COLUMNS_HEAD + 1 + i], 2 * (1 + i));
        }
        rbDestroyColumns(writer);
        // a mode without meaning is refused where it stands, and so is that of a slot before a key
        for (int column = 0; column < 109; ++column) {
            bool hasKey = column >= k->column + k->single + k->key + k->id + 1 &&
                          column < k->column + k->single + k->group;
            bool isUsed = column == 0 || (column >= k->column && column < k->column + (int)size);
            for (int mode = 3; mode <= 8; ++mode) {
                uint64_t decoded[1 + FIELDS];
                struct rbVColumns* reader = NULL;
                bytes[5 + column] = (unsigned char)mode;
                bool isGood = mode <= 3 || (mode <= 7 && (hasKey || !isUsed));
                assert_int_equal(rbVColumns_Decode(&reader, bytes, decoded, 1 + size), isGood);
                free(reader);
            }
            bytes[5 + column] = 0;
        }
    }
}

RB_TEST_GROUP(prop_columns, cmocka_unit_test(wordsOfTheWriterAreReadAgain),
              cmocka_unit_test(theTablesAreTheSame),
              cmocka_unit_test(columnsAreWhereTheDocumentationSaysTheyAre));
