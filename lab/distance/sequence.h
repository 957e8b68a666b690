// The sorted sequence of the global traversal (L-66): pairs of nodes by their lower bound, as a
// heap, a skip list or a list, rows of a table (E-08).
//
// Order: the smaller key first; of equal keys the more recent entry first. Where volumes overlap
// all keys are 0, and the most recent entry is the deepest pair: the search then descends directly
// to a pair of faces instead of opening one level after another. The order is total, so every row
// returns the same entries.
#pragma once

#include "base/core/memory.h"
#include "base/core/random.h"

#include <rattleback/lab_distance.h>

typedef struct rbSequenceEntry {
    double key;      // m, lower bound
    unsigned serial; // of the insertion
    int a, b;        // nodes
} rbSequenceEntry;

struct rbSequenceRow;

// Zeroed memory is not a valid sequence; use rbMakePairSequence.
typedef struct rbPairSequence {
    const struct rbSequenceRow* row;
    RB_ARRAY(rbSequenceEntry) entries; // the heap, or a pool in which 0 is the head
    RB_ARRAY(int) links;               // of the pool
    int free;                          // first unused entry of the pool, 0: none
    int count;
    unsigned serial; // of the last insertion
    rbRandom random; // heights of the skip list
} rbPairSequence;

typedef struct rbSequenceRow {
    const char* name;
    void (*start)(rbPairSequence* sequence);
    void (*push)(rbPairSequence* sequence, rbSequenceEntry entry);
    const rbSequenceEntry* (*first)(const rbPairSequence* sequence); // count > 0
    void (*pop)(rbPairSequence* sequence);                           // removes the first
    // Removes entries with keys >= limit; a heap keeps them, because they are never requested.
    void (*cut)(rbPairSequence* sequence, double limit);
} rbSequenceRow;

const rbSequenceRow* rbGetSequenceRow(rbSequence sequence);

rbPairSequence rbMakePairSequence(rbSequence kind);
void rbFreePairSequence(rbPairSequence* sequence);

// Inserts a pair and counts it.
static inline void rbPairSequence_Push(rbPairSequence* sequence, double key, int a, int b)
{
    rbSequenceEntry entry = {key, ++sequence->serial, a, b};
    sequence->row->push(sequence, entry);
}

static inline bool rbPairEntry_IsBefore(const rbSequenceEntry* x, const rbSequenceEntry* y)
{
    return x->key < y->key || (x->key == y->key && x->serial > y->serial);
}
