#include "io/output/certificate_contacts.h"

#include "base/core/memory.h"

#include <math.h>
#include <stdlib.h>

// Digits that no check needs are left out: docs/certificate.md
#define FORCE_BITS 36  // below the largest force of the pair, along a normal or across it
#define NORMAL_BITS 34 // of octahedral coordinates
#define POINT_BITS 18  // below the tolerance of contacts
#define GAP_BITS 12    // fewer than a point has
#define NUMBER_BITS 52
#define EXPONENT_ZERO 2048 // exponents are stored from here on
#define MATCH_MAX 0.02     // change of a contact from step to step, squared, that keeps its number
#define AGE_MAX 100        // steps for which a contact that ended is remembered

// A contact in the axes of the first body, from its center of mass.
typedef struct Row {
    uint64_t pair;
    int order;            // in which it was added
    int id;               // number within its pair; -1: none yet
    int age;              // steps since it acted
    rbVec3 point, normal; // m, unit
    double size;          // m^2, of the distances from the centers of both bodies
    double push;          // N, along the normal
    rbVec3 slip;          // N, across it
    double gap;           // m
    bool isSticking;
} Row;

typedef RB_ARRAY(Row) Rows;

struct rbContactCoder {
    int pointExponent; // of the grid of points
    Rows rows;         // of this step
    Rows last;         // of the steps before, in the order of pairs
    Rows next;
    RB_ARRAY(uint64_t) words;
};

rbContactCoder* rbCreateContactCoder(double tolerance)
{
    rbContactCoder* c = rbAllocZero(1, sizeof *c);
    c->pointExponent = ilogb(tolerance) - POINT_BITS;
    return c;
}

void rbDestroyContactCoder(rbContactCoder* c)
{
    rbArray_Free(c->rows);
    rbArray_Free(c->last);
    rbArray_Free(c->next);
    rbArray_Free(c->words);
    rbFree(c, sizeof *c);
}

void rbContactCoder_Add(rbContactCoder* c, uint64_t pair, const rbContactView* view,
                        const rbBodyState states[2])
{
    rbQuat q = states[0].transform.q;
    rbVec3 armA = rbSub(view->point, states[0].center);
    rbVec3 armB = rbSub(view->point, states[1].center);
    rbVec3 force = rbInvRotate(q, view->force);
    Row row = {.pair = pair,
               .order = c->rows.count,
               .id = -1,
               .point = rbInvRotate(q, armA),
               .normal = rbInvRotate(q, view->normal),
               .size = rbDot(armA, armA) + rbDot(armB, armB),
               .gap = view->gap,
               .isSticking = view->isSticking};
    row.push = rbDot(force, row.normal);
    row.slip = rbAddScaled(force, -row.push, row.normal);
    rbArray_Push(c->rows, row);
}

// ---------------------------------------------------------------------------------------- numbers

static int compareRows(const void* a, const void* b)
{
    const Row* x = a;
    const Row* y = b;
    if (x->pair != y->pair) {
        return x->pair < y->pair ? -1 : 1;
    }
    return x->id != y->id ? (x->id < y->id ? -1 : 1) : (x->order < y->order ? -1 : 1);
}

static int findRunEnd(const Rows* rows, int first, uint64_t pair)
{
    while (first < rows->count && rows->data[first].pair == pair) {
        ++first;
    }
    return first;
}

static bool isTaken(const Rows* rows, int first, int end, int id)
{
    for (int i = first; i < end; ++i) {
        if (rows->data[i].id == id) {
            return true;
        }
    }
    return false;
}

// The contact of the steps before that this one continues: the most similar one; -1: none.
static int findPast(const Rows* last, int first, int end, const Row* row)
{
    double least = MATCH_MAX;
    int best = -1;
    for (int i = first; i < end; ++i) {
        const Row* past = &last->data[i];
        rbVec3 way = rbSub(row->point, past->point);
        rbVec3 turn = rbSub(row->normal, past->normal);
        double change = rbDot(way, way) / row->size + rbDot(turn, turn);
        if (past->age >= 0 && change < least) {
            least = change;
            best = i;
        }
    }
    return best;
}

// Numbers the contacts of a pair, rows from first to end, by those before, which age.
static void numberPair(rbContactCoder* c, int first, int end, int past, int pastEnd)
{
    for (int i = first; i < end; ++i) {
        int found = findPast(&c->last, past, pastEnd, &c->rows.data[i]);
        if (found >= 0) {
            c->rows.data[i].id = c->last.data[found].id;
            c->last.data[found].age = -1;
        }
    }
    for (int i = first; i < end; ++i) {
        Row* row = &c->rows.data[i];
        for (int id = 0; row->id < 0; ++id) {
            bool isUsed = isTaken(&c->last, past, pastEnd, id) || isTaken(&c->rows, first, end, id);
            row->id = isUsed ? -1 : id;
        }
        rbArray_Push(c->next, *row);
    }
    for (int i = past; i < pastEnd; ++i) {
        Row row = c->last.data[i];
        if (row.age >= 0 && row.age < AGE_MAX) {
            row.age += 1;
            rbArray_Push(c->next, row);
        }
    }
}

static void numberAll(rbContactCoder* c)
{
    int i = 0;
    int k = 0;
    c->next.count = 0;
    while (i < c->rows.count || k < c->last.count) {
        uint64_t pair = i < c->rows.count ? c->rows.data[i].pair : UINT64_MAX;
        pair = k < c->last.count && c->last.data[k].pair < pair ? c->last.data[k].pair : pair;
        int end = findRunEnd(&c->rows, i, pair);
        int pastEnd = findRunEnd(&c->last, k, pair);
        numberPair(c, i, end, k, pastEnd);
        i = end;
        k = pastEnd;
    }
    Rows swapped = c->last;
    c->last = c->next;
    c->next = swapped;
}

// ------------------------------------------------------------------------------------------ words

static uint64_t wordOf(double value)
{
    return (uint64_t)(int64_t)value;
}

// A unit vector as a point of an octahedron, whose lower half is folded up.
static void foldNormal(rbVec3 n, double folded[2])
{
    double size = fabs(n.x) + fabs(n.y) + fabs(n.z);
    double x = n.x / size;
    double y = n.y / size;
    folded[0] = rint(ldexp(n.z < 0.0 ? copysign(1.0 - fabs(y), x) : x, NORMAL_BITS));
    folded[1] = rint(ldexp(n.z < 0.0 ? copysign(1.0 - fabs(x), y) : y, NORMAL_BITS));
}

// The frame that a reader finds: tangents and normal.
static void unfoldFrame(const double folded[2], rbVec3 frame[3])
{
    double x = ldexp(folded[0], -NORMAL_BITS);
    double y = ldexp(folded[1], -NORMAL_BITS);
    double z = 1.0 - fabs(x) - fabs(y);
    rbVec3 n = z < 0.0 ? rbMakeVec3(copysign(1.0 - fabs(y), x), copysign(1.0 - fabs(x), y), z)
                       : rbMakeVec3(x, y, z);
    n = rbNormalize(n);
    rbVec3 axis = fabs(n.x) < 0.6 ? rbMakeVec3(1.0, 0.0, 0.0) : rbMakeVec3(0.0, 1.0, 0.0);
    frame[0] = rbNormalize(rbCross(n, axis));
    frame[1] = rbCross(n, frame[0]);
    frame[2] = n;
}

// The friction is rounded toward zero, after it was scaled as the normal force: it stays in the
// cone.
static void putRow(rbContactCoder* c, const Row* row, int exponent)
{
    double push = rint(ldexp(row->push, -exponent));
    if (!(push > 0.0)) {
        return;
    }
    double folded[2];
    rbVec3 frame[3];
    foldNormal(row->normal, folded);
    unfoldFrame(folded, frame);
    double part = fmin(1.0, ldexp(push, exponent) / row->push);
    double far = fmax(fabs(row->point.x), fmax(fabs(row->point.y), fabs(row->point.z)));
    int grid = c->pointExponent;
    grid = far > 0.0 && ilogb(far) - NUMBER_BITS > grid ? ilogb(far) - NUMBER_BITS : grid;
    const uint64_t words[RB_CONTACT_WORDS] = {
        row->pair,
        (uint64_t)row->id,
        (row->isSticking ? 1u : 0u) | (uint64_t)(exponent + EXPONENT_ZERO) << 1 |
            (uint64_t)(grid + EXPONENT_ZERO) << 32,
        wordOf(rint(ldexp(row->point.x, -grid))),
        wordOf(rint(ldexp(row->point.y, -grid))),
        wordOf(rint(ldexp(row->point.z, -grid))),
        wordOf(folded[0]),
        wordOf(folded[1]),
        wordOf(floor(ldexp(row->gap, -grid - GAP_BITS))),
        wordOf(push),
        wordOf(trunc(ldexp(part * rbDot(row->slip, frame[0]), -exponent))),
        wordOf(trunc(ldexp(part * rbDot(row->slip, frame[1]), -exponent)))};
    for (int i = 0; i < RB_CONTACT_WORDS; ++i) {
        rbArray_Push(c->words, words[i]);
    }
}

const uint64_t* rbContactCoder_Take(rbContactCoder* c, int* wordCount)
{
    int count = c->rows.count;
    c->words.count = 0;
    if (count > 1) {
        qsort(c->rows.data, (size_t)count, sizeof(Row), compareRows);
    }
    numberAll(c);
    if (count > 1) {
        qsort(c->rows.data, (size_t)count, sizeof(Row), compareRows);
    }
    for (int i = 0; i < count;) {
        int end = findRunEnd(&c->rows, i, c->rows.data[i].pair);
        double most = 0.0;
        for (int k = i; k < end; ++k) {
            most = fmax(most, fmax(c->rows.data[k].push, rbLength(c->rows.data[k].slip)));
        }
        for (; i < end; ++i) {
            putRow(c, &c->rows.data[i], most > 0.0 ? ilogb(most) - FORCE_BITS : 0);
        }
    }
    c->rows.count = 0;
    *wordCount = c->words.count;
    return c->words.data;
}
