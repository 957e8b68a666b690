// Box against box (G-36); the work is in box_pair.c.
#include "collision/geometry/shape_ops.h"
#include "collision/narrowphase/box_pair.h"
#include "collision/narrowphase/collide.h"

rbSeparation rbCollideBoxBox(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_BOX);
    rbBoxPair pair = rbMakeBoxPair(a->data.box.halfExtents, b->data.box.halfExtents, transformBtoA);
    rbCoreSeparation core = rbMeasureBoxes(&pair);
    return rbMakeClosedForm(core.distance, core.normal, core.pointA, pair.scale);
}

bool rbCollideBoxesByAxes(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA,
                          rbSeparation* separation)
{
    RB_ASSERT(a->type == RB_SHAPE_BOX && b->type == RB_SHAPE_BOX);
    rbBoxPair pair = rbMakeBoxPair(a->data.box.halfExtents, b->data.box.halfExtents, transformBtoA);
    rbCoreSeparation core;
    if (!rbMeasureBoxesByAxes(&pair, &core)) {
        return false;
    }
    *separation = rbMakeClosedForm(core.distance, core.normal, core.pointA, pair.scale);
    return true;
}
