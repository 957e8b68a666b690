// Algebra of mass properties: moving, combining, principal axes, plausibility.
#include "base/math/matrix3.h"
#include "base/math/quaternion.h"

#include <rattleback/shape.h>

// Off-diagonal inertia below this fraction of the trace is the rounding of a symmetric body;
// rotating such a body by an arbitrary angle (its moments are equal) would be useless.
#define DIAGONAL_TOLERANCE 1e-14
#define TRIANGLE_TOLERANCE 1e-12

rbMassProperties rbMassProperties_Transform(const rbMassProperties* properties,
                                            rbTransform transform)
{
    RB_ASSERT(properties != NULL);
    rbMassProperties moved = *properties;
    moved.center = rbTransformPoint(transform, properties->center);
    moved.inertia = rbSym3_RotateByQuat(properties->inertia, transform.q);
    return moved;
}

// inertia + mass (|d|^2 E - d d^T)
static rbSym3 shiftInertia(rbSym3 i, double mass, rbVec3 d)
{
    return (rbSym3){i.xx + mass * (d.y * d.y + d.z * d.z),
                    i.yy + mass * (d.x * d.x + d.z * d.z),
                    i.zz + mass * (d.x * d.x + d.y * d.y),
                    i.xy - mass * d.x * d.y,
                    i.xz - mass * d.x * d.z,
                    i.yz - mass * d.y * d.z};
}

rbSym3 rbMassProperties_GetInertiaAbout(const rbMassProperties* properties, rbVec3 point)
{
    RB_ASSERT(properties != NULL);
    return shiftInertia(properties->inertia, properties->mass, rbSub(point, properties->center));
}

rbMassProperties rbMassProperties_Add(const rbMassProperties* a, const rbMassProperties* b)
{
    RB_ASSERT(a != NULL && b != NULL);
    RB_ASSERT(a->mass >= 0.0 && b->mass >= 0.0);
    if (!(b->mass > 0.0)) {
        return *a;
    }
    if (!(a->mass > 0.0)) {
        return *b;
    }
    rbMassProperties sum = {0};
    sum.volume = a->volume + b->volume;
    sum.mass = a->mass + b->mass;
    // both parallel axis terms together are the reduced mass at the distance of the centers
    rbVec3 apart = rbSub(b->center, a->center);
    double share = b->mass / sum.mass;
    sum.center = rbAddScaled(a->center, share, apart);
    rbSym3 i = {a->inertia.xx + b->inertia.xx, a->inertia.yy + b->inertia.yy,
                a->inertia.zz + b->inertia.zz, a->inertia.xy + b->inertia.xy,
                a->inertia.xz + b->inertia.xz, a->inertia.yz + b->inertia.yz};
    sum.inertia = shiftInertia(i, a->mass * share, apart);
    return sum;
}

void rbMassProperties_Principal(const rbMassProperties* properties, rbVec3* moments,
                                rbTransform* principalFrame)
{
    RB_ASSERT(properties != NULL && moments != NULL && principalFrame != NULL);
    rbSym3 i = properties->inertia;
    principalFrame->p = properties->center;
    double small = DIAGONAL_TOLERANCE * (fabs(i.xx) + fabs(i.yy) + fabs(i.zz));
    if (fabs(i.xy) <= small && fabs(i.xz) <= small && fabs(i.yz) <= small) {
        *moments = rbMakeVec3(i.xx, i.yy, i.zz);
        principalFrame->q = RB_QUAT_IDENTITY;
        return;
    }
    rbEigen3 eigen = rbSym3_Diagonalize(i);
    *moments = eigen.values;
    principalFrame->q = rbQuat_FromMat(eigen.axes);
}

rbStatus rbMassProperties_Validate(const rbMassProperties* properties, rbError* error)
{
    RB_ASSERT(properties != NULL);
    rbSym3 i = properties->inertia;
    if (!isfinite(properties->mass) || !rbIsFinite3(properties->center) || !isfinite(i.xx) ||
        !isfinite(i.yy) || !isfinite(i.zz) || !isfinite(i.xy) || !isfinite(i.xz) ||
        !isfinite(i.yz)) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "mass, center or inertia is not finite; finite numbers are accepted");
    }
    if (!(properties->mass > 0.0)) {
        return rbError_Set(error, RB_STATUS_INVALID, "the mass is %g kg; it must be above 0",
                           properties->mass);
    }
    rbVec3 m;
    rbTransform frame;
    rbMassProperties_Principal(properties, &m, &frame);
    if (!(m.x > 0.0 && m.y > 0.0 && m.z > 0.0)) {
        return rbError_Set(
            error, RB_STATUS_INVALID,
            "the principal moments of inertia are %g, %g and %g kg m^2; all must be above 0", m.x,
            m.y, m.z);
    }
    double sum = m.x + m.y + m.z;
    double largest = m.x > m.y ? m.x : m.y;
    largest = m.z > largest ? m.z : largest;
    if (largest > (sum - largest) + TRIANGLE_TOLERANCE * sum) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the principal moments of inertia are %g, %g and %g kg m^2; no body has "
                           "a moment larger than the sum of the other two",
                           m.x, m.y, m.z);
    }
    return RB_STATUS_OK;
}
