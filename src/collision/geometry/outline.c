#include "collision/geometry/outline.h"

#include <rattleback/base.h>

#include <math.h>

static void getEnd(const rbOutline* outline, double* r, double* z)
{
    const rbOutlinePiece* last = &outline->pieces[outline->count > 0 ? outline->count - 1 : 0];
    *r = outline->count > 0 ? last->r : 0.0;
    *z = outline->count > 0 ? last->z : outline->startZ;
}

void rbOutline_AddLine(rbOutline* outline, double r, double z)
{
    RB_ASSERT(outline->count < RB_OUTLINE_PIECES_MAX);
    double fromR = 0.0;
    double fromZ = 0.0;
    getEnd(outline, &fromR, &fromZ);
    double length = sqrt((r - fromR) * (r - fromR) + (z - fromZ) * (z - fromZ));
    if (length > 0.0) {
        outline->pieces[outline->count++] = (rbOutlinePiece){.r = r, .z = z, .length = length};
    }
}

// endR and endZ are given so that they are exact where they should be.
void rbOutline_AddArc(rbOutline* outline, rbOutlinePiece arc)
{
    RB_ASSERT(outline->count < RB_OUTLINE_PIECES_MAX);
    RB_ASSERT(arc.angleB > arc.angleA);
    arc.isArc = true;
    arc.length = arc.radius * (arc.angleB - arc.angleA);
    outline->pieces[outline->count++] = arc;
}
