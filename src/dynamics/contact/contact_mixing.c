// Mixing of sweeps.
#include "dynamics/contact/contact_mixing.h"

#include "base/math/dot.h"

#include <math.h>

// A sweep that changes more than this times the change of the last one (squared) acts on other
// points: the history is dropped.
#define GROWTH_MAX 1e4
// A column whose component independent of the previous columns is smaller than this adds no
// information.
#define COLUMN_LEAST 1e-10
// Sum of the weights beyond which a mixture is rounding error.
#define MIXED_MOST 1e8
// Unknowns that are mixed together, so that their sums stay in the cache.
#define MIXED_AT_ONCE 1024

void rbMixing_Free(rbMixing* mixing)
{
    rbArray_Free(mixing->start);
    rbArray_Free(mixing->result);
    rbArray_Free(mixing->change);
    rbArray_Free(mixing->mixed);
    rbArray_Free(mixing->results);
    rbArray_Free(mixing->changes);
}

static int unknownCount(const rbRowsPack* pack)
{
    return 6 * pack->bodyCount + 3 * pack->pointCount + 3 * pack->turnCount;
}

// Velocities, the linear ones times the root of the mass, so that squares add up to energies.
static void readVelocities(const rbContactRows* rows, const rbRowsPack* pack, double* to)
{
    for (int i = 0; i < pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        double root = body->invMass > 0.0 ? 1.0 / sqrt(body->invMass) : 0.0;
        for (int k = 0; k < 3; ++k) {
            to[6 * i + k] = body->spin[k];
            to[6 * i + 3 + k] = root * body->velocity[k];
        }
    }
}

void rbMixing_Begin(rbMixing* mixing, const rbContactRows* rows, const rbRowsPack* pack)
{
    RB_ASSERT(pack->bodyCount > 0 && pack->pointCount > 0);
    int speeds = 6 * pack->bodyCount;
    int count = unknownCount(pack);
    rbArray_Reserve(mixing->start, speeds);
    rbArray_Reserve(mixing->change, speeds);
    rbArray_Reserve(mixing->changes, speeds * RB_MIXING_DEPTH);
    rbArray_Reserve(mixing->result, count);
    rbArray_Reserve(mixing->mixed, count);
    rbArray_Reserve(mixing->results, count * RB_MIXING_DEPTH);
    mixing->count = 0;
    mixing->next = 0;
    mixing->hasLast = false;
    mixing->length = 0.0;
    readVelocities(rows, pack, mixing->start.data);
}

void rbMixing_Restart(rbMixing* mixing, const rbContactRows* rows, const rbRowsPack* pack)
{
    readVelocities(rows, pack, mixing->start.data);
}

// Records x' of three unknowns: the difference from the last one goes into a column.
static int noteThree(rbMixing* mixing, const double x[3], int at, double* column)
{
    double* last = &mixing->result.data[at];
    for (int k = 0; k < 3; ++k) {
        if (column != NULL) {
            column[at + k] = x[k] - last[k];
        }
        last[k] = x[k];
    }
    return at + 3;
}

static void noteResult(rbMixing* mixing, const rbContactRows* rows, const rbRowsPack* pack,
                       double* column)
{
    int at = 0;
    for (int i = 0; i < pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        at = noteThree(mixing, body->spin, at, column);
        at = noteThree(mixing, body->velocity, at, column);
    }
    for (int i = 0; i < pack->pointCount; ++i) {
        at = noteThree(mixing, rows->points.data[pack->firstPoint + i].impulse, at, column);
    }
    for (int i = 0; i < pack->turnCount; ++i) {
        at = noteThree(mixing, rows->turns.data[pack->firstTurn + i].impulse, at, column);
    }
}

static int moveThree(const double* values, double x[3], int at)
{
    x[0] = values[at];
    x[1] = values[at + 1];
    x[2] = values[at + 2];
    return at + 3;
}

// Writes unknowns to the rows.
static void writeUnknowns(const double* values, rbContactRows* rows, const rbRowsPack* pack)
{
    int at = 0;
    for (int i = 0; i < pack->bodyCount; ++i) {
        rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        at = moveThree(values, body->spin, at);
        at = moveThree(values, body->velocity, at);
    }
    for (int i = 0; i < pack->pointCount; ++i) {
        at = moveThree(values, rows->points.data[pack->firstPoint + i].impulse, at);
    }
    for (int i = 0; i < pack->turnCount; ++i) {
        at = moveThree(values, rows->turns.data[pack->firstTurn + i].impulse, at);
    }
}

// Least squares by the Gram matrix, eliminated in order of age; columns that add no information are
// left out.
static void solveGram(const rbMixing* mixing, double c[RB_MIXING_DEPTH])
{
    int n = mixing->count;
    RB_ASSERT(n > 0 && n <= RB_MIXING_DEPTH);
    double l[RB_MIXING_DEPTH][RB_MIXING_DEPTH];
    double d[RB_MIXING_DEPTH];
    int order[RB_MIXING_DEPTH];
    for (int i = 0; i < n; ++i) {
        order[i] = (mixing->next - 1 - i + 2 * RB_MIXING_DEPTH) % RB_MIXING_DEPTH;
    }
    for (int i = 0; i < n; ++i) {
        c[order[i]] = mixing->right[order[i]];
        for (int j = 0; j <= i; ++j) {
            double sum = mixing->gram[order[i]][order[j]];
            for (int k = 0; k < j; ++k) {
                sum -= l[i][k] * l[j][k] * d[k];
            }
            if (j < i) {
                l[i][j] = d[j] > 0.0 ? sum / d[j] : 0.0;
            } else {
                d[i] = sum > COLUMN_LEAST * mixing->gram[order[i]][order[i]] ? sum : 0.0;
            }
        }
        for (int j = 0; j < i; ++j) {
            c[order[i]] -= l[i][j] * c[order[j]];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        c[order[i]] = d[i] > 0.0 ? c[order[i]] / d[i] : 0.0;
        for (int j = i + 1; j < n && d[i] > 0.0; ++j) {
            c[order[i]] -= l[j][i] * c[order[j]];
        }
    }
}

// The column of this sweep against the last one, and its products.
static void addColumn(rbMixing* mixing, int speeds, const double* change)
{
    int at = mixing->next;
    RB_ASSERT(at >= 0 && at < RB_MIXING_DEPTH);
    double* column = &mixing->changes.data[(size_t)at * (size_t)speeds];
    for (int i = 0; i < speeds; ++i) {
        column[i] = change[i] - mixing->change.data[i];
    }
    mixing->count = mixing->count < RB_MIXING_DEPTH ? mixing->count + 1 : RB_MIXING_DEPTH;
    mixing->next = (at + 1) % RB_MIXING_DEPTH;
    for (int j = 0; j < mixing->count; ++j) {
        const double* other = &mixing->changes.data[(size_t)j * (size_t)speeds];
        double product = rbDotArrays(column, other, (size_t)speeds);
        mixing->gram[at][j] = product;
        mixing->gram[j][at] = product;
        mixing->right[j] = rbDotArrays(change, other, (size_t)speeds);
    }
}

static void mixRange(rbMixing* mixing, const double c[RB_MIXING_DEPTH], int first, int last,
                     int count)
{
    double* restrict mixed = mixing->mixed.data;
    for (int i = first; i < last; ++i) {
        mixed[i] = mixing->result.data[i];
    }
    for (int j = 0; j < mixing->count; ++j) {
        const double* restrict from = &mixing->results.data[(size_t)j * (size_t)count];
        for (int i = first; i < last; ++i) {
            mixed[i] -= c[j] * from[i];
        }
    }
}

void rbMixing_Mix(rbMixing* mixing, rbContactRows* rows, const rbRowsPack* pack)
{
    int speeds = 6 * pack->bodyCount;
    int count = unknownCount(pack);
    RB_ASSERT(mixing->start.capacity >= speeds && mixing->mixed.capacity >= count);
    // g, in the place of the velocities before the sweep
    double* change = mixing->start.data;
    for (int i = 0; i < pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        double root = body->invMass > 0.0 ? 1.0 / sqrt(body->invMass) : 0.0;
        for (int k = 0; k < 3; ++k) {
            change[6 * i + k] = body->spin[k] - change[6 * i + k];
            change[6 * i + 3 + k] = root * body->velocity[k] - change[6 * i + 3 + k];
        }
    }
    double length = rbDotArrays(change, change, (size_t)speeds);
    bool isLost = mixing->hasLast && !(length <= GROWTH_MAX * mixing->length);
    if (isLost) {
        // back to where the last sweep ended
        mixing->count = 0;
        mixing->next = 0;
        mixing->hasLast = false;
        writeUnknowns(mixing->result.data, rows, pack);
        readVelocities(rows, pack, mixing->start.data);
        return;
    }
    bool hasColumn = mixing->hasLast;
    double* column = hasColumn ? &mixing->results.data[(size_t)mixing->next * (size_t)count] : NULL;
    noteResult(mixing, rows, pack, column);
    if (hasColumn) {
        addColumn(mixing, speeds, change);
    }
    for (int i = 0; i < speeds; ++i) {
        mixing->change.data[i] = change[i];
    }
    mixing->length = length;
    mixing->hasLast = true;
    if (mixing->count > 0) {
        double c[RB_MIXING_DEPTH] = {0.0};
        solveGram(mixing, c);
        double size = 0.0;
        for (int j = 0; j < mixing->count; ++j) {
            size += fabs(c[j]);
        }
        if (!(size <= MIXED_MOST)) {
            // columns equal up to rounding: they add no information
            mixing->count = 0;
            mixing->next = 0;
            readVelocities(rows, pack, mixing->start.data);
            return;
        }
        for (int first = 0; first < count; first += MIXED_AT_ONCE) {
            int last = first + MIXED_AT_ONCE < count ? first + MIXED_AT_ONCE : count;
            mixRange(mixing, c, first, last, count);
        }
        writeUnknowns(mixing->mixed.data, rows, pack);
    }
    readVelocities(rows, pack, mixing->start.data);
}
