// The table of bounding volumes, their names, and functions shared by all rows.
//
// Rejected: inner volumes (L-31). They would prove that solids overlap; but distances are measured
// between surfaces here, and a body inside another one has a positive distance.
#include "base/core/words.h"
#include "lab/bounds/volume_rows.h"

static const rbVolumeRow* const rows[] = {
    [RB_VOLUME_SPHERE] = &rbVolumeRowSphere, [RB_VOLUME_AABB] = &rbVolumeRowAabb,
    [RB_VOLUME_OBB] = &rbVolumeRowObb,       [RB_VOLUME_OBB_REGIONS] = &rbVolumeRowObbRegions,
    [RB_VOLUME_FDH14] = &rbVolumeRowFdh14,   [RB_VOLUME_FDH18] = &rbVolumeRowFdh18,
    [RB_VOLUME_FDH26] = &rbVolumeRowFdh26,   [RB_VOLUME_RSS] = &rbVolumeRowRss,
};

_Static_assert(sizeof rows / sizeof rows[0] == RB_VOLUME_COUNT, "a row for every volume");

const rbVolumeRow* rbGetVolumeRow(rbVolumeType type)
{
    RB_ASSERT((unsigned)type < RB_VOLUME_COUNT);
    RB_ASSERT(rows[type]->size <= RB_VOLUME_SIZE_MAX);
    return rows[type];
}

RB_DEFINE_WORDS(rbVolumeType, "bounding volume", RB_VOLUME_COUNT, rows[index]->name)

// Rounding units, relative to the size, that bound the error of a moved point and of a bound
// computed from it. An element of R has an error of 4 half units, a product R x + t by 3 (4 + 3) of
// them times |x| <= sqrt(3) size + |t|, a bound by a few units of the distance: about 60 in all.
#define SLACK_UNITS 128.0

void rbPrepareVolumeMotion(rbTransform transform, double size, rbVolumeMotion* motion)
{
    RB_ASSERT(rbIsFinite3(transform.p));
    RB_ASSERT(size >= 0.0);
    double excess = fabs(rbDotQuat(transform.q, transform.q) - 1.0);
    RB_ASSERT(excess <= 1e-5);
    rbMat3 r = rbMatFromQuat(transform.q);
    rbVec3 eps = rbMakeVec3(8.0 * DBL_EPSILON, 8.0 * DBL_EPSILON, 8.0 * DBL_EPSILON);
    motion->rotation = r;
    motion->absRotation.cx = rbAdd(rbAbs3(r.cx), eps);
    motion->absRotation.cy = rbAdd(rbAbs3(r.cy), eps);
    motion->absRotation.cz = rbAdd(rbAbs3(r.cz), eps);
    motion->translation = transform.p;
    motion->size = size;
    rbVec3 t = rbAbs3(transform.p);
    motion->slack = (SLACK_UNITS * DBL_EPSILON + 4.0 * excess) * (size + (t.x + t.y + t.z));
    motion->termStarts[0] = 0;
}

rbBounds rbFindPointBounds(const rbVec3* points, int count)
{
    RB_ASSERT(points != NULL);
    RB_ASSERT(count >= 1);
    rbBounds bounds = {points[0], points[0]};
    for (int i = 1; i < count; i++) {
        bounds.lower = rbMin3(bounds.lower, points[i]);
        bounds.upper = rbMax3(bounds.upper, points[i]);
    }
    return bounds;
}
