#include "io/output/certificate_columns.h"

#include "base/core/memory.h"
#include "io/output/bytes.h"

#define COLUMNS RB_COLUMNS
#define KINDS 8
#define GROUP_FIELDS 87 // of all kinds
#define SLOT_BITS_MIN 10
#define SLOT_BITS_MAX 16
#define DEPTH 3 // words of a context
#define MODES 8 // none; orders 1 to 3 by the column; orders 1 to 3 by column and slot; both

// A record: single fields, then groups. The key names the thing that a group is about.
typedef struct Layout {
    int head, group; // words
    int key;         // its field in a group; -1: the number of the group
    int id;          // whether the field after the key tells groups of the same key apart
    int column;      // of the first field
    int field;       // groups of the kinds before, words
} Layout;

static const Layout layouts[KINDS] = {
    [1] = {0, 17, 2, 0, 1, 0},    // event
    [2] = {0, 15, 1, 0, 18, 17},  // start of a flight
    [3] = {0, 12, 0, 1, 33, 32},  // contacts
    [4] = {0, 11, -1, 0, 45, 44}, // joints
    [5] = {0, 3, -1, 0, 56, 55},  // springs
    [6] = {21, 14, 0, 0, 59, 58}, // node
    [7] = {0, 15, 1, 0, 94, 72},  // body on a path
};

typedef struct CodedWord {
    uint64_t differences[MODES];
    int column;
} CodedWord;

struct rbColumns {
    uint64_t shared[COLUMNS][DEPTH];
    int slotBits;    // 2^slotBits slots: keys that share one share their contexts
    uint64_t* keyed; // DEPTH words for each slot and field of a group
    uint64_t costs[COLUMNS][MODES];
    size_t starts[COLUMNS + 1]; // of the columns in the planes
    RB_ARRAY(CodedWord) coded;
};

static size_t getKeyedSize(const rbColumns* c)
{
    return (sizeof(uint64_t) * GROUP_FIELDS * DEPTH) << c->slotBits;
}

rbColumns* rbCreateColumns(int bodyCount)
{
    rbColumns* c = rbAllocZero(1, sizeof *c);
    c->slotBits = SLOT_BITS_MIN;
    while (c->slotBits < SLOT_BITS_MAX && 1 << c->slotBits < 64 * bodyCount) {
        c->slotBits += 1;
    }
    c->keyed = rbAllocZero(1, getKeyedSize(c));
    return c;
}

void rbDestroyColumns(rbColumns* c)
{
    rbArray_Free(c->coded);
    rbFree(c->keyed, getKeyedSize(c));
    rbFree(c, sizeof *c);
}

// The polynomial through the last words, as integers modulo 2^64.
static uint64_t predict(const uint64_t* h, int order)
{
    return order == 1 ? h[0] : (order == 2 ? 2 * h[0] - h[1] : 3 * h[0] - 3 * h[1] + h[2]);
}

static void remember(uint64_t* h, uint64_t word)
{
    bool isNew = (h[0] | h[1] | h[2]) == 0;
    h[2] = isNew ? word : h[1];
    h[1] = isNew ? word : h[0];
    h[0] = word;
}

static uint64_t fold(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 != 0 ? UINT64_MAX : 0);
}

static uint64_t countBits(uint64_t word)
{
    return word == 0 ? 0 : 64 - (uint64_t)__builtin_clzll(word);
}

// keyed: the context of the column and slot, or NULL; isSame: the key is that of the group before.
static void addWord(rbColumns* c, int column, uint64_t* keyed, bool isSame, uint64_t word)
{
    uint64_t* shared = c->shared[column];
    CodedWord coded = {{fold(word)}, column};
    for (int order = 1; order <= DEPTH; ++order) {
        coded.differences[order] = fold(word - predict(shared, order));
        coded.differences[DEPTH + order] =
            keyed != NULL ? fold(word - predict(keyed, order)) : UINT64_MAX;
    }
    coded.differences[MODES - 1] = coded.differences[isSame ? 1 : DEPTH + 1];
    for (int mode = 0; mode < MODES; ++mode) {
        c->costs[column][mode] += countBits(coded.differences[mode]);
    }
    remember(shared, word);
    if (keyed != NULL) {
        remember(keyed, word);
    }
    rbArray_Push(c->coded, coded);
}

static void addGroups(rbColumns* c, const Layout* layout, const uint64_t* words, size_t count)
{
    uint64_t last = 0;
    uint64_t ordinal = 0; // among the groups of the same key
    for (size_t g = 0; g < count; g += (size_t)layout->group) {
        uint64_t key = layout->key < 0 ? 0 : words[g + (size_t)layout->key];
        bool isSame = g > 0 && key == last;
        ordinal = layout->id != 0 ? words[g + (size_t)layout->key + 1] : (isSame ? ordinal + 1 : 0);
        last = key;
        const uint64_t odd = 0x9e3779b97f4a7c15u;
        size_t slot = (size_t)(((key * odd + ordinal) * odd) >> (64 - c->slotBits));
        size_t place = ((size_t)layout->field << c->slotBits) + slot * (size_t)layout->group;
        for (int i = 0; i < layout->group; ++i) {
            bool hasSlot = i > layout->key + layout->id;
            uint64_t* keyed = hasSlot ? &c->keyed[(place + (size_t)i) * DEPTH] : NULL;
            addWord(c, layout->column + layout->head + i, keyed, hasSlot && isSame,
                    words[g + (size_t)i]);
        }
    }
}

void rbColumns_Code(rbColumns* c, const uint64_t* words, size_t count, unsigned char* bytes)
{
    uint32_t records = 0;
    c->coded.count = 0;
    memset(c->costs, 0, sizeof c->costs);
    for (size_t at = 0; at < count; ++records) {
        const Layout* layout = &layouts[(uint32_t)words[at]];
        size_t size = (size_t)(words[at] >> 32);
        addWord(c, 0, NULL, false, words[at]);
        for (int i = 0; i < layout->head; ++i) {
            addWord(c, layout->column + i, NULL, false, words[at + 1 + (size_t)i]);
        }
        addGroups(c, layout, &words[at + 1 + (size_t)layout->head], size - (size_t)layout->head);
        at += 1 + size;
    }
    RB_ASSERT(c->coded.count == (int)count);
    size_t next[COLUMNS + 1] = {0};
    for (size_t i = 0; i < count; ++i) {
        next[c->coded.data[i].column + 1] += 1;
    }
    rbPutWord32(bytes, records);
    bytes[4] = (unsigned char)c->slotBits;
    unsigned char* modes = bytes + 5;
    for (int i = 0; i < COLUMNS; ++i) {
        modes[i] = 0;
        for (int mode = 1; mode < MODES; ++mode) {
            bool isBetter = c->costs[i][mode] < c->costs[i][modes[i]];
            modes[i] = isBetter ? (unsigned char)mode : modes[i];
        }
        next[i + 1] += next[i];
    }
    memcpy(c->starts, next, sizeof next);
    unsigned char* planes = bytes + RB_COLUMNS_HEAD;
    for (size_t i = 0; i < count; ++i) {
        const CodedWord* coded = &c->coded.data[i];
        size_t place = next[coded->column]++;
        uint64_t difference = coded->differences[modes[coded->column]];
        for (size_t plane = 0; plane < 8; ++plane) {
            planes[plane * count + place] = (unsigned char)(difference >> (8 * plane));
        }
    }
}

const size_t* rbColumns_GetStarts(const rbColumns* c)
{
    return c->starts;
}
