// Records that were regrouped in columns for compression, in their order again. Fields of one kind
// stand together, each as its difference from a prediction by the words before: those of the column
// and those of the column and the same key.
#include "verify/model.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 109
#define KINDS 8u
#define GROUP_FIELDS 87u // of all kinds
#define SLOT_BITS_MAX 16
#define DEPTH 3
#define MODE_BOTH 7 // the last word of the column after a group of the same key, else of the slot

// A record: single fields, then groups.
typedef struct Layout {
    size_t head, group; // words
    int key;            // its field in a group; -1: none
    int id;             // whether the field after it tells groups of the same key apart
    size_t column;      // of the first field
    size_t field;       // groups of the kinds before, words
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

typedef struct rbVColumns {
    uint64_t shared[COLUMNS][DEPTH];
    unsigned slotBits;
    // of the block
    const unsigned char* modes;
    const unsigned char* planes;
    size_t count;
    size_t next[COLUMNS]; // place in the planes
    bool isBad;           // a mode that has no meaning
    uint64_t keyed[];     // DEPTH words for each slot and field of a group
} rbVColumns;

static void remember(uint64_t* h, uint64_t word)
{
    bool isNew = (h[0] | h[1] | h[2]) == 0;
    h[2] = isNew ? word : h[1];
    h[1] = isNew ? word : h[0];
    h[0] = word;
}

// The next word of a column; keyed: the context of the column and slot, or NULL; isSame: the key is
// that of the group before.
static uint64_t takeWord(rbVColumns* c, size_t column, uint64_t* keyed, bool isSame)
{
    size_t at = c->next[column]++;
    uint64_t folded = rbVWordOf(c->planes + at, 8, c->count);
    int mode = c->modes[column];
    c->isBad = c->isBad || mode > (keyed != NULL ? MODE_BOTH : DEPTH);
    mode = mode == MODE_BOTH ? (isSame ? 1 : DEPTH + 1) : mode;
    const uint64_t* h = mode > DEPTH && keyed != NULL ? keyed : c->shared[column];
    const uint64_t guesses[DEPTH + 1] = {0, h[0], 2 * h[0] - h[1], 3 * (h[0] - h[1]) + h[2]};
    uint64_t guess = guesses[mode > DEPTH ? (mode - 1) % DEPTH + 1 : mode];
    uint64_t word = guess + (folded >> 1 ^ (0 - (folded & 1)));
    remember(c->shared[column], word);
    if (keyed != NULL) {
        remember(keyed, word);
    }
    return word;
}

static void takeGroups(rbVColumns* c, const Layout* layout, uint64_t* words, size_t count)
{
    uint64_t last = 0;
    uint64_t ordinal = 0; // among the groups of the same key
    bool isSame = false;
    for (size_t g = 0; g < count; g += layout->group) {
        uint64_t* keyed = NULL;
        for (size_t i = 0; i < layout->group; ++i) {
            if ((int)i == layout->key + layout->id + 1) {
                uint64_t key = layout->key < 0 ? 0 : words[g + (size_t)layout->key];
                isSame = g > 0 && key == last;
                ordinal = layout->id != 0 ? words[g + i - 1] : (isSame ? ordinal + 1 : 0);
                last = key;
                const uint64_t odd = 0x9e3779b97f4a7c15u;
                size_t slot = (size_t)(((key * odd + ordinal) * odd) >> (64 - c->slotBits));
                keyed = &c->keyed[((layout->field << c->slotBits) + slot * layout->group) * DEPTH];
            }
            words[g + i] = takeWord(c, layout->column + layout->head + i,
                                    keyed != NULL ? keyed + i * DEPTH : NULL, isSame);
        }
    }
}

// The heads of all records to their places, and where each column begins; false: impossible.
static bool takeHeads(rbVColumns* c, size_t records, uint64_t* words)
{
    size_t counts[COLUMNS + 1] = {records};
    size_t at = 0;
    for (size_t r = 0; r < records; ++r) {
        if (at >= c->count || c->next[0] >= c->count) {
            return false;
        }
        words[at] = takeWord(c, 0, NULL, false);
        uint64_t kind = words[at] & UINT32_MAX;
        size_t size = (size_t)(words[at] >> 32);
        if (kind == 0 || kind >= KINDS || size > c->count - at - 1 || size < layouts[kind].head ||
            (size - layouts[kind].head) % layouts[kind].group != 0) {
            return false;
        }
        const Layout* l = &layouts[kind];
        for (size_t i = 0; i < l->head + l->group; ++i) {
            counts[l->column + i] += i < l->head ? 1 : (size - l->head) / l->group;
        }
        at += 1 + size;
    }
    size_t start = 0;
    for (int i = 0; i < COLUMNS; ++i) {
        c->isBad = c->isBad || c->modes[i] > MODE_BOTH;
        c->next[i] = start;
        start += counts[i];
    }
    return at == c->count;
}

bool rbVColumns_Decode(rbVColumns** columns, const unsigned char* bytes, uint64_t* words,
                       size_t count)
{
    size_t records = (size_t)rbVWordOf(bytes, 4, 1);
    rbVColumns* c = *columns;
    if (c == NULL && bytes[4] > 0 && bytes[4] <= SLOT_BITS_MAX) {
        c = calloc(1, sizeof *c + ((sizeof(uint64_t) * GROUP_FIELDS * DEPTH) << bytes[4]));
        *columns = c;
    }
    if (c == NULL || (c->slotBits != 0 && c->slotBits != bytes[4])) {
        return false;
    }
    c->slotBits = bytes[4];
    c->modes = bytes + 5;
    c->planes = bytes + RB_V_COLUMNS_HEAD;
    c->count = count;
    memset(c->next, 0, sizeof c->next);
    if (!takeHeads(c, records, words)) {
        return false;
    }
    for (size_t at = 0; at < count;) {
        const Layout* l = &layouts[words[at] & UINT32_MAX];
        size_t size = (size_t)(words[at] >> 32);
        for (size_t i = 0; i < l->head; ++i) {
            words[at + 1 + i] = takeWord(c, l->column + i, NULL, false);
        }
        takeGroups(c, l, &words[at + 1 + l->head], size - l->head);
        at += 1 + size;
    }
    return !c->isBad;
}
