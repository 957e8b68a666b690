#include "base/math/quaternion.h"

#include "base/math/elementary.h"

#include <rattleback/base.h>

#define SERIES_LIMIT 1e-5    // square below which two terms of a series are exact to the last digit
#define OPPOSITE_LIMIT 1e-14 // |a + b| below which its direction is only rounding error

rbQuat rbQuat_FromMat(rbMat3 r)
{
    // 4 w^2 = 1 + trace, 4 x^2 = 1 + r11 - r22 - r33 and so on; the largest is at least 1.
    double xx = r.cx.x, yy = r.cy.y, zz = r.cz.z;
    double trace = xx + yy + zz;
    RB_ASSERT(fabs(rbDot(r.cx, rbCross(r.cy, r.cz)) - 1.0) < 1e-3);
    rbQuat q;
    if (trace >= xx && trace >= yy && trace >= zz) {
        q = (rbQuat){1.0 + trace, r.cy.z - r.cz.y, r.cz.x - r.cx.z, r.cx.y - r.cy.x};
    } else if (xx >= yy && xx >= zz) {
        q = (rbQuat){r.cy.z - r.cz.y, 1.0 + xx - yy - zz, r.cx.y + r.cy.x, r.cx.z + r.cz.x};
    } else if (yy >= zz) {
        q = (rbQuat){r.cz.x - r.cx.z, r.cx.y + r.cy.x, 1.0 + yy - xx - zz, r.cy.z + r.cz.y};
    } else {
        q = (rbQuat){r.cx.y - r.cy.x, r.cx.z + r.cz.x, r.cy.z + r.cz.y, 1.0 + zz - xx - yy};
    }
    q = q.w < 0.0 ? (rbQuat){-q.w, -q.x, -q.y, -q.z} : q;
    return rbNormalizeQuat(q);
}

rbQuat rbQuat_Between(rbVec3 a, rbVec3 b)
{
    RB_ASSERT(rbIsUnit(a));
    RB_ASSERT(rbIsUnit(b));
    // With h = a + b: cos(angle/2) = |h|/2 and a x b = a x h. For nearly opposite vectors h is
    // exact where 1 + a.b would have lost its digits.
    rbVec3 h = rbAdd(a, b);
    double length = rbLength(h);
    if (length < OPPOSITE_LIMIT) {
        rbVec3 p = rbPerpendicular(a);
        return (rbQuat){0.0, p.x, p.y, p.z};
    }
    rbVec3 u = rbScale(1.0 / length, rbCross(a, h));
    rbQuat q = {0.5 * length, u.x, u.y, u.z};
    return rbNormalizeQuat(q);
}

rbQuat rbQuat_Exp(rbVec3 rotationVector)
{
    RB_ASSERT(rbIsFinite3(rotationVector));
    rbVec3 v = rotationVector;
    double square = rbLengthSquared(v);
    double w, factor; // factor: sin(angle/2)/angle
    if (square < SERIES_LIMIT) {
        w = 1.0 - square * (1.0 / 8.0 - square * (1.0 / 384.0 - square * (1.0 / 46080.0)));
        factor = 0.5 - square * (1.0 / 48.0 - square * (1.0 / 3840.0 - square * (1.0 / 645120.0)));
    } else {
        double angle = sqrt(square);
        double s;
        rbSinCos(0.5 * angle, &s, &w);
        factor = s / angle;
    }
    return (rbQuat){w, factor * v.x, factor * v.y, factor * v.z};
}
