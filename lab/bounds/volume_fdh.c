// Fixed directions hulls (k-DOPs) of any set of directions (L-38, L-59): support value D_i along
// each direction; the volume is the intersection of the half spaces d_i . x <= D_i. Motion:
// fdh_dual.c.
//
// The bound is the largest gap along a direction (L-59), or the distance between the boxes if that
// is larger (every set contains the axes): the largest gap alone loses up to 19 % for 14
// directions.
#include "lab/bounds/volume_rows.h"

#include <string.h>

void rbFitFdh(const rbFdhSet* set, const rbVec3* points, int count, double* volume)
{
    RB_ASSERT(points != NULL);
    RB_ASSERT(count >= 1);
    rbBounds bounds = rbFindPointBounds(points, count);
    rbVec3 reach = rbMax3(rbAbs3(bounds.lower), rbAbs3(bounds.upper));
    RB_ASSERT(rbIsFinite3(reach));
    double slack = 4.0 * DBL_EPSILON * (reach.x + reach.y + reach.z);
    for (int i = 0; i < set->count; i += 2) {
        rbVec3 d = set->directions[i];
        double least = rbDot(d, points[0]), most = least;
        for (int k = 1; k < count; k++) {
            double height = rbDot(d, points[k]);
            least = height < least ? height : least;
            most = height > most ? height : most;
        }
        volume[i] = most + slack;
        volume[i + 1] = slack - least;
    }
}

// Reach along a direction and against it.
typedef struct Reaches {
    double along, against;
} Reaches;

static inline Reaches weigh(const rbFdhTerm* term, const double* volume)
{
    int a = term->direction[0], b = term->direction[1], c = term->direction[2];
    double x = term->weight[0], y = term->weight[1], z = term->weight[2];
    return (Reaches){x * volume[a] + y * volume[b] + z * volume[c],
                     x * volume[a ^ 1] + y * volume[b ^ 1] + z * volume[c ^ 1]};
}

static inline void moveFdh(const rbVolumeMotion* motion, int pairCount, const double* volume,
                           double* moved)
{
    RB_ASSERT(moved != volume);
    for (int i = 0; i < pairCount; i++) {
        const rbFdhTerm* term = &motion->terms[motion->termStarts[i]];
        const rbFdhTerm* end = &motion->terms[motion->termStarts[i + 1]];
        Reaches least = weigh(term, volume);
        for (term++; term < end; term++) {
            Reaches r = weigh(term, volume);
            least.along = fmin(r.along, least.along);
            least.against = fmin(r.against, least.against);
        }
        double* slab = moved + (ptrdiff_t)2 * i;
        slab[0] = least.along + (motion->shifts[i] + motion->slack);
        slab[1] = least.against - (motion->shifts[i] - motion->slack);
    }
}

// The gap of a pair of slabs, negative if they overlap.
static inline double gapOf(const double* a, const double* b)
{
    double over = -(a[1] + b[0]), under = -(a[0] + b[1]);
    return fmax(over, under);
}

static inline double boundFdhs(int pairCount, const double* moved, const double* other)
{
    double squared = 0.0;
    for (int i = 0; i < 3; i++) {
        double gap = gapOf(moved + (ptrdiff_t)2 * i, other + (ptrdiff_t)2 * i);
        double clamped = rbClampGap(gap);
        squared += clamped * clamped;
    }
    double most = 0.0;
    for (int i = 3; i < pairCount; i++) {
        double gap = gapOf(moved + (ptrdiff_t)2 * i, other + (ptrdiff_t)2 * i);
        most = fmax(gap, most);
    }
    most = most * most > squared ? most : sqrt(squared);
    return most * (1.0 - 8.0 * DBL_EPSILON);
}

static rbVec3 centerOfFdh(const double* volume)
{
    return rbMakeVec3(0.5 * (volume[0] - volume[1]), 0.5 * (volume[2] - volume[3]),
                      0.5 * (volume[4] - volume[5]));
}

static bool fdhContains(const rbFdhSet* set, const double* volume, rbVec3 point, double slack)
{
    for (int i = 0; i < set->count; i++) {
        if (!(rbDot(set->directions[i], point) <= volume[i] + slack)) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------- measures

// A face while it is being clipped: convex, every cut adds at most one corner.
typedef struct Face {
    rbVec3 corners[RB_FDH_DIRECTIONS_MAX + 8];
    int count;
} Face;

static void cutFace(Face* face, rbVec3 d, double offset)
{
    Face cut;
    cut.count = 0;
    for (int k = 0; k < face->count; k++) {
        rbVec3 a = face->corners[k];
        rbVec3 b = face->corners[k + 1 < face->count ? k + 1 : 0];
        double ha = rbDot(d, a) - offset, hb = rbDot(d, b) - offset;
        if (ha <= 0.0) {
            cut.corners[cut.count++] = a;
        }
        if ((ha < 0.0 && hb > 0.0) || (ha > 0.0 && hb < 0.0)) {
            cut.corners[cut.count++] = rbAddScaled(a, ha / (ha - hb), rbSub(b, a));
        }
    }
    RB_ASSERT(cut.count <= face->count + 1);
    face->count = cut.count;
    memcpy(face->corners, cut.corners, (size_t)cut.count * sizeof cut.corners[0]);
}

// The face of direction i of a volume given by its reaches about its center, with a width of at
// most size.
static void findFace(const rbFdhSet* set, const double* reaches, int i, double size, Face* face)
{
    rbVec3 d = set->directions[i];
    rbVec3 u = rbScale(2.0 * size, rbPerpendicular(d));
    rbVec3 v = rbCross(d, u);
    rbVec3 middle = rbScale(reaches[i], d);
    face->count = 4;
    face->corners[0] = rbAdd(middle, rbAdd(u, v));
    face->corners[1] = rbAdd(middle, rbSub(v, u));
    face->corners[2] = rbSub(middle, rbAdd(u, v));
    face->corners[3] = rbAdd(middle, rbSub(u, v));
    for (int k = 0; k < set->count && face->count > 0; k++) {
        if (k != i) {
            cutFace(face, set->directions[k], reaches[k]);
        }
    }
}

static double areaOf(const Face* face)
{
    rbVec3 sum = RB_VEC3_ZERO;
    for (int k = 2; k < face->count; k++) {
        sum = rbAdd(sum, rbCross(rbSub(face->corners[k - 1], face->corners[0]),
                                 rbSub(face->corners[k], face->corners[0])));
    }
    return 0.5 * rbLength(sum);
}

// Every corner is listed by several faces: only the first one counts it.
static double findDiameter(const rbFdhSet* set, const double* reaches, const Face* faces,
                           double tolerance)
{
    rbVec3 corners[RB_FDH_DIRECTIONS_MAX * (RB_FDH_DIRECTIONS_MAX + 8)];
    int count = 0;
    double squared = 0.0;
    for (int i = 0; i < set->count; i++) {
        for (int k = 0; k < faces[i].count; k++) {
            rbVec3 corner = faces[i].corners[k];
            int j = 0;
            while (j < i && rbDot(set->directions[j], corner) < reaches[j] - tolerance) {
                j++;
            }
            for (int l = 0; j == i && l < count; l++) {
                double s = rbLengthSquared(rbSub(corner, corners[l]));
                squared = s > squared ? s : squared;
            }
            if (j == i) {
                corners[count++] = corner;
            }
        }
    }
    return sqrt(squared);
}

rbVolumeMeasure rbMeasureFdh(const rbFdhSet* set, const double* volume)
{
    RB_ASSERT(set->count <= RB_FDH_DIRECTIONS_MAX);
    double reaches[RB_FDH_DIRECTIONS_MAX] = {0};
    Face faces[RB_FDH_DIRECTIONS_MAX];
    rbVec3 center = centerOfFdh(volume);
    double size = volume[0] + volume[1] + volume[2] + volume[3] + volume[4] + volume[5];
    for (int i = 0; i < set->count; i++) {
        reaches[i] = volume[i] - rbDot(set->directions[i], center);
    }
    rbVolumeMeasure measure = {0};
    for (int i = 0; i < set->count; i++) {
        findFace(set, reaches, i, size, &faces[i]);
        double area = areaOf(&faces[i]);
        measure.surface += area;
        measure.volume += area * reaches[i] / 3.0;
    }
    measure.diameter = findDiameter(set, reaches, faces, 1e-9 * size);
    return measure;
}

// -------------------------------------------------------------------------------------------- rows

// Functions of a row: the set is a compile-time constant there, so the loops are unrolled.
#define FDH_ROW(n)                                                                         \
    static void fit##n(const rbVec3* points, int count, double* volume)                    \
    {                                                                                      \
        rbFitFdh(&rbFdhSet##n, points, count, volume);                                     \
    }                                                                                      \
    static void prepare##n(rbTransform transform, double size, rbVolumeMotion* motion)     \
    {                                                                                      \
        rbPrepareFdhMotion(&rbFdhSet##n, transform, size, motion);                         \
    }                                                                                      \
    static void move##n(const rbVolumeMotion* motion, const double* volume, double* moved) \
    {                                                                                      \
        moveFdh(motion, (n) / 2, volume, moved);                                           \
    }                                                                                      \
    static double bound##n(const double* moved, const double* other)                       \
    {                                                                                      \
        return boundFdhs((n) / 2, moved, other);                                           \
    }                                                                                      \
    static rbVolumeMeasure measure##n(const double* volume)                                \
    {                                                                                      \
        return rbMeasureFdh(&rbFdhSet##n, volume);                                         \
    }                                                                                      \
    static bool contains##n(const double* volume, rbVec3 point, double slack)              \
    {                                                                                      \
        return fdhContains(&rbFdhSet##n, volume, point, slack);                            \
    }                                                                                      \
    const rbVolumeRow rbVolumeRowFdh##n = {.name = "fdh" #n,                               \
                                           .size = (n),                                    \
                                           .fit = fit##n,                                  \
                                           .prepare = prepare##n,                          \
                                           .move = move##n,                                \
                                           .bound = bound##n,                              \
                                           .center = centerOfFdh,                          \
                                           .measure = measure##n,                          \
                                           .contains = contains##n}

FDH_ROW(14);
FDH_ROW(18);
FDH_ROW(26);
