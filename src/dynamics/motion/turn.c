// Free rotation of a body in one step, see turn.h.
#include "dynamics/motion/turn.h"

#include "base/math/elementary.h"
#include "base/math/matrix3.h"

#include <rattleback/base.h>

// Below this square of an angle the series for sine and cosine are exact to rounding.
#define SERIES_SQUARE 0.0625

rbTurn rbMakeTurn(rbVec3 moments)
{
    RB_ASSERT(moments.x > 0.0 && moments.y > 0.0 && moments.z > 0.0);
    double inverse[3] = {1.0 / moments.x, 1.0 / moments.y, 1.0 / moments.z};
    // The two axes whose moments differ least become axes 1 and 2.
    int third = 2;
    double least = fabs(inverse[0] - inverse[1]);
    for (int k = 0; k < 2; ++k) {
        double difference = fabs(inverse[(k + 1) % 3] - inverse[(k + 2) % 3]);
        if (difference < least) {
            least = difference;
            third = k;
        }
    }
    int first = (third + 1) % 3, second = (third + 2) % 3;
    return (rbTurn){.invMoment = inverse[first],
                    .difference3 = inverse[third] - inverse[first],
                    .difference2 = inverse[second] - inverse[first],
                    .axis3 = third,
                    .axis2 = second};
}

// cos(sqrt(square)) and sin(sqrt(square))/sqrt(square).
static inline void cosineAndSinc(double square, double* cosine, double* sinc)
{
    if (square < SERIES_SQUARE) {
        double s = square;
        *cosine = 1.0 - s * (0.5 - s * (1.0 / 24.0 -
                                        s * (1.0 / 720.0 -
                                             s * (1.0 / 40320.0 - s * (1.0 / 3628800.0 -
                                                                       s * (1.0 / 479001600.0))))));
        *sinc =
            1.0 -
            s * (1.0 / 6.0 -
                 s * (1.0 / 120.0 -
                      s * (1.0 / 5040.0 - s * (1.0 / 362880.0 - s * (1.0 / 39916800.0 -
                                                                     s * (1.0 / 6227020800.0))))));
        return;
    }
    double angle = sqrt(square);
    double sine;
    rbSinCos(angle, &sine, cosine);
    *sinc = sine / angle;
}

// q times the rotation by an angle about an axis of the body.
static inline rbQuat turnAboutAxis(rbQuat q, int axis, double angle)
{
    double half = 0.5 * angle;
    double c, sinc;
    cosineAndSinc(half * half, &c, &sinc);
    double s = sinc * half;
    if (axis == 0) {
        return (rbQuat){c * q.w - s * q.x, c * q.x + s * q.w, c * q.y + s * q.z, c * q.z - s * q.y};
    }
    if (axis == 1) {
        return (rbQuat){c * q.w - s * q.y, c * q.x - s * q.z, c * q.y + s * q.w, c * q.z + s * q.x};
    }
    return (rbQuat){c * q.w - s * q.z, c * q.x + s * q.y, c * q.y - s * q.x, c * q.z + s * q.w};
}

// A time h of the remainder of the energy about an axis of the body.
static inline rbQuat turnRemainder(rbQuat q, int axis, double difference, rbVec3 momentum, double h)
{
    if (difference == 0.0) {
        return q;
    }
    double along = rbDot(rbMat3_GetColumn(rbMatFromQuat(q), axis), momentum);
    return turnAboutAxis(q, axis, h * difference * along);
}

rbQuat rbTurn_Step(const rbTurn* turn, rbQuat orientation, rbVec3 momentum, double h)
{
    rbQuat q = turnRemainder(orientation, turn->axis2, turn->difference2, momentum, 0.5 * h);
    q = turnRemainder(q, turn->axis3, turn->difference3, momentum, h);
    double half = 0.5 * h * turn->invMoment;
    double c, sinc;
    cosineAndSinc(half * half * rbLengthSquared(momentum), &c, &sinc);
    rbVec3 v = rbScale(sinc * half, momentum);
    rbQuat about = {c, v.x, v.y, v.z};
    q = rbMulQuat(about, q);
    q = turnRemainder(q, turn->axis2, turn->difference2, momentum, 0.5 * h);
    // Back to unit length: the square of the length is 1 to a few eps.
    double scale = 1.5 - 0.5 * rbDotQuat(q, q);
    return (rbQuat){scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}
