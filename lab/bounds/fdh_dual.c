// Motion of fixed directions hulls by duality (L-58), and the sets of directions with their bases.
//
// The hull {x : d_j . x <= D_j} rotated by R extends along d_i to
//     max c . x = min sum y_j D_j over y >= 0 with sum y_j d_j = c,    c = R^T d_i.
// The minimum is at a basis of three directions whose cone contains c, and because every D_j is
// tight, at one whose cone contains no other direction. Weights depend on R alone: they are
// computed once per query. Any weights give a true bound, so rounding can only make the bound less
// tight.
//
// The bases are constants: finding them means trying up to 2600 triples, and a table filled at run
// time would be a global variable. A test recomputes them. Only one of two opposite bases is
// listed; for c in the opposite cone the weights have the other sign.
#include "lab/bounds/volume_rows.h"

// Weights less than this below 0 count as 0: c on the boundary of two cones must not fall between
// them.
#define WEIGHT_SLACK (32.0 * DBL_EPSILON)

#define BASES_MAX 96 // of the largest set

#define PAIR(a, b, c)    \
    {(a), (b), (c)},     \
    {                    \
        -(a), -(b), -(c) \
    }
// 1 / sqrt(2) and 1 / sqrt(3), rounded: these numbers define the directions.
#define R2 0.70710678118654752440
#define R3 0.57735026918962576451
#define AXES PAIR(1.0, 0.0, 0.0), PAIR(0.0, 1.0, 0.0), PAIR(0.0, 0.0, 1.0)
#define CORNERS PAIR(R3, R3, R3), PAIR(R3, R3, -R3), PAIR(R3, -R3, R3), PAIR(-R3, R3, R3)
#define EDGES                                                                     \
    PAIR(R2, R2, 0.0), PAIR(R2, -R2, 0.0), PAIR(R2, 0.0, R2), PAIR(R2, 0.0, -R2), \
        PAIR(0.0, R2, R2), PAIR(0.0, R2, -R2)

static const rbVec3 directions14[] = {AXES, CORNERS};
static const rbVec3 directions18[] = {AXES, EDGES};
static const rbVec3 directions26[] = {AXES, CORNERS, EDGES};

static const unsigned char bases14[][3] = {
    {0, 2, 6}, {0, 2, 8},  {0, 3, 10}, {0, 3, 13},  {0, 4, 6},  {0, 4, 10}, {0, 5, 8},  {0, 5, 13},
    {0, 6, 8}, {0, 6, 10}, {0, 8, 13}, {0, 10, 13}, {2, 4, 6},  {2, 4, 12}, {2, 5, 8},  {2, 5, 11},
    {2, 6, 8}, {2, 6, 12}, {2, 8, 11}, {2, 11, 12}, {4, 6, 10}, {4, 6, 12}, {4, 9, 10}, {4, 9, 12},
};

static const unsigned char bases18[][3] = {
    {0, 6, 10},  {0, 6, 12},  {0, 6, 14},  {0, 6, 16},  {0, 8, 10},  {0, 8, 12},  {0, 8, 15},
    {0, 8, 17},  {0, 10, 14}, {0, 10, 17}, {0, 12, 15}, {0, 12, 16}, {2, 6, 10},  {2, 6, 12},
    {2, 6, 14},  {2, 6, 16},  {2, 9, 11},  {2, 9, 13},  {2, 9, 14},  {2, 9, 16},  {2, 10, 14},
    {2, 11, 16}, {2, 12, 16}, {2, 13, 14}, {4, 6, 10},  {4, 6, 14},  {4, 7, 13},  {4, 7, 17},
    {4, 8, 10},  {4, 8, 17},  {4, 9, 13},  {4, 9, 14},  {4, 10, 14}, {4, 10, 17}, {4, 13, 14},
    {4, 13, 17}, {6, 10, 14}, {6, 12, 16}, {8, 10, 17}, {8, 12, 15},
};

static const unsigned char bases26[][3] = {
    {0, 6, 14},   {0, 6, 16},   {0, 6, 18},   {0, 6, 20},   {0, 8, 14},   {0, 8, 16},
    {0, 8, 18},   {0, 8, 20},   {0, 10, 14},  {0, 10, 16},  {0, 10, 18},  {0, 10, 20},
    {0, 13, 14},  {0, 13, 16},  {0, 13, 18},  {0, 13, 20},  {0, 14, 18},  {0, 14, 20},
    {0, 16, 18},  {0, 16, 20},  {2, 6, 14},   {2, 6, 17},   {2, 6, 22},   {2, 6, 24},
    {2, 8, 14},   {2, 8, 17},   {2, 8, 22},   {2, 8, 24},   {2, 11, 14},  {2, 11, 17},
    {2, 11, 22},  {2, 11, 24},  {2, 12, 14},  {2, 12, 17},  {2, 12, 22},  {2, 12, 24},
    {2, 14, 22},  {2, 14, 24},  {2, 17, 22},  {2, 17, 24},  {4, 6, 18},   {4, 6, 21},
    {4, 6, 22},   {4, 6, 25},   {4, 9, 18},   {4, 9, 21},   {4, 9, 22},   {4, 9, 25},
    {4, 10, 18},  {4, 10, 21},  {4, 10, 22},  {4, 10, 25},  {4, 12, 18},  {4, 12, 21},
    {4, 12, 22},  {4, 12, 25},  {4, 18, 22},  {4, 18, 25},  {4, 21, 22},  {4, 21, 25},
    {6, 14, 18},  {6, 14, 20},  {6, 14, 22},  {6, 14, 24},  {6, 16, 18},  {6, 17, 22},
    {6, 18, 22},  {6, 18, 25},  {6, 21, 22},  {8, 14, 18},  {8, 14, 20},  {8, 14, 22},
    {8, 14, 24},  {8, 16, 20},  {8, 17, 24},  {8, 19, 24},  {8, 20, 23},  {8, 20, 24},
    {10, 14, 18}, {10, 15, 25}, {10, 16, 18}, {10, 16, 20}, {10, 16, 23}, {10, 16, 25},
    {10, 18, 22}, {10, 18, 25}, {10, 21, 25}, {12, 14, 22}, {12, 15, 21}, {12, 17, 19},
    {12, 17, 21}, {12, 17, 22}, {12, 17, 24}, {12, 18, 22}, {12, 21, 22}, {12, 21, 25},
};

const rbFdhSet rbFdhSet14 = {
    directions14,
    (int)(sizeof directions14 / sizeof directions14[0]),
    bases14,
    (int)(sizeof bases14 / sizeof bases14[0]),
};
const rbFdhSet rbFdhSet18 = {
    directions18,
    (int)(sizeof directions18 / sizeof directions18[0]),
    bases18,
    (int)(sizeof bases18 / sizeof bases18[0]),
};
const rbFdhSet rbFdhSet26 = {
    directions26,
    (int)(sizeof directions26 / sizeof directions26[0]),
    bases26,
    (int)(sizeof bases26 / sizeof bases26[0]),
};

// The inverse of a basis: the weights of c are its products with the rows.
typedef struct Inverse {
    rbVec3 rows[3];
} Inverse;

static Inverse invertBasis(const rbFdhSet* set, const unsigned char basis[3])
{
    rbVec3 d0 = set->directions[basis[0]];
    rbVec3 d1 = set->directions[basis[1]];
    rbVec3 d2 = set->directions[basis[2]];
    rbVec3 normal = rbCross(d1, d2);
    double scale = 1.0 / rbDot(d0, normal);
    return (Inverse){
        {rbScale(scale, normal), rbScale(scale, rbCross(d2, d0)), rbScale(scale, rbCross(d0, d1))}};
}

// The term of a basis for the direction c; false if its cone and the opposite one do not contain c.
static bool makeTerm(const unsigned char basis[3], const Inverse* inverse, rbVec3 c,
                     rbFdhTerm* term)
{
    double y[3] = {rbDot(inverse->rows[0], c), rbDot(inverse->rows[1], c),
                   rbDot(inverse->rows[2], c)};
    int flip = y[0] + y[1] + y[2] < 0.0 ? 1 : 0;
    for (int k = 0; k < 3; k++) {
        double weight = flip != 0 ? -y[k] : y[k];
        if (weight < -WEIGHT_SLACK) {
            return false;
        }
        term->direction[k] = basis[k] ^ flip;
        term->weight[k] = weight > WEIGHT_SLACK ? weight : 0.0;
    }
    return true;
}

// Directions of weight 0 carry no information: several bases may yield the same term.
static bool isSameTerm(const rbFdhTerm* a, const rbFdhTerm* b)
{
    for (int k = 0; k < 3; k++) {
        bool isFound = a->weight[k] == 0.0;
        for (int l = 0; l < 3; l++) {
            isFound = isFound || (b->weight[l] > 0.0 && b->direction[l] == a->direction[k]);
        }
        if (!isFound) {
            return false;
        }
    }
    return true;
}

static int addTerms(const rbFdhSet* set, const Inverse* inverses, rbVec3 c, rbFdhTerm* terms)
{
    int count = 0;
    for (int i = 0; i < set->baseCount && count < RB_FDH_TERMS_MAX; i++) {
        rbFdhTerm* term = &terms[count];
        if (!makeTerm(set->bases[i], &inverses[i], c, term)) {
            continue;
        }
        int k = 0;
        while (k < count && !isSameTerm(term, &terms[k])) {
            k++;
        }
        count += k == count ? 1 : 0;
    }
    return count;
}

void rbPrepareFdhMotion(const rbFdhSet* set, rbTransform transform, double size,
                        rbVolumeMotion* motion)
{
    RB_ASSERT(set->count <= RB_FDH_DIRECTIONS_MAX);
    RB_ASSERT(set->count % 2 == 0);
    rbPrepareVolumeMotion(transform, size, motion);
    // clamped weights and products add a little more error
    motion->slack *= 2.0;
    Inverse inverses[BASES_MAX];
    RB_ASSERT(set->baseCount <= BASES_MAX);
    for (int i = 0; i < set->baseCount; i++) {
        inverses[i] = invertBasis(set, set->bases[i]);
    }
    int used = 0;
    for (int i = 0; i < set->count / 2; i++) {
        rbVec3 d = set->directions[(ptrdiff_t)2 * i];
        motion->termStarts[i] = used;
        motion->shifts[i] = rbDot(d, transform.p);
        used += addTerms(set, inverses, rbMulMtV(motion->rotation, d), motion->terms + used);
        RB_ASSERT(used > motion->termStarts[i]);
    }
    motion->termStarts[set->count / 2] = used;
}
