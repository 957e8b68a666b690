#include "impact_cases.h"

#include "base/math/matrix3.h"
#include "lab/math/random3.h"

#include <math.h>

static const rbPlanarImpact planarImpacts[] = {
    {"reverse slip, newton", .6, -.8, .3, .5, -.2, -1, RB_IMPACT_NEWTON, -0.2076626088,
     0.8649202676, 0.4391103677, 0.5, -0.2410572083},
    {"reverse slip, poisson", .6, -.8, .3, .5, -.2, -1, RB_IMPACT_POISSON, -0.2008715227,
     0.8422833141, 0.4263431259, 0.4626943005, -0.2490147568},
    {"reverse slip, stronge", .6, -.8, .3, .5, -.2, -1, RB_IMPACT_STRONGE, -0.2013921102,
     0.8440186056, 0.4273218303, 0.4655540609, -0.2484315697},
    {"slip then stick, newton", .6, -.8, .6, .5, -.2, -1, RB_IMPACT_NEWTON, -0.436, 1.023, 0, 0.5,
     -0.21215},
    {"slip then stick, poisson", .6, -.8, .6, .5, -.2, -1, RB_IMPACT_POISSON, -0.4182465753, 0.987,
     0, 0.4506849315, -0.2292623288},
    {"slip then stick, stronge", .6, -.8, .6, .5, -.2, -1, RB_IMPACT_STRONGE, -0.4190896509,
     0.9887095698, 0, 0.4530268079, -0.2284898496},
    {"energy created, newton", .6, -.8, .6, 1, -.6, -1, RB_IMPACT_NEWTON, -0.408, 1.244, 0, 1,
     0.1224},
    {"no energy created, stronge", .6, -.8, .6, 1, -.6, -1, RB_IMPACT_STRONGE, -0.3202609425,
     1.0660846889, 0, 0.7562803958, -0.0338345865},
};

const rbPlanarImpact* rbGetPlanarImpacts(int* count)
{
    *count = (int)(sizeof planarImpacts / sizeof planarImpacts[0]);
    return planarImpacts;
}

// A planar K with the tangent rotated by angle from x; across is the entry out of the plane.
static rbSym3 turnMatrix(double tt, double nn, double tn, double across, double angle)
{
    double c = cos(angle);
    double s = sin(angle);
    rbSym3 k = {tt * c * c + across * s * s,
                tt * s * s + across * c * c,
                nn,
                (tt - across) * c * s,
                tn * c,
                tn * s};
    return k;
}

rbImpactInput rbMakePlanarInput(const rbPlanarImpact* impact, double angle)
{
    double tt = 1.0 + 3.0 * impact->ry * impact->ry;
    double nn = 1.0 + 3.0 * impact->rx * impact->rx;
    double tn = -3.0 * impact->rx * impact->ry;
    rbImpactInput input = {
        .matrix = turnMatrix(tt, nn, tn, 2.0, angle),
        .velocity = rbMakeVec3(impact->vt * cos(angle), impact->vt * sin(angle), impact->vn),
        .restitution = impact->restitution,
        .friction = impact->friction,
        .law = impact->law,
    };
    return input;
}

rbImpactInput rbMakeRodInput(double angle, double friction)
{
    // The end is at r = (cos, -sin) from the center, so K_tn = 3 sin cos: sliding forward jams.
    double rx = cos(angle);
    double ry = -sin(angle);
    rbImpactInput input = {
        .matrix = turnMatrix(1.0 + 3.0 * ry * ry, 1.0 + 3.0 * rx * rx, -3.0 * rx * ry, 1.5, 0.0),
        .velocity = rbMakeVec3(1.0, 0.0, -1.0),
        .restitution = 0.5,
        .friction = friction,
        .law = RB_IMPACT_STRONGE,
    };
    return input;
}

double rbGetRodThreshold(double angle)
{
    double c = cos(angle);
    return (1.0 + 3.0 * c * c) / (3.0 * sin(angle) * c);
}

rbSym3 rbMakeRandomMatrix(rbRandom* random, double spread)
{
    for (;;) {
        rbVec3 b[3];
        double scale[3];
        for (int i = 0; i < 3; ++i) {
            b[i] = rbMakeVec3(rbRandom_Symmetric(random), rbRandom_Symmetric(random),
                              rbRandom_Symmetric(random));
            scale[i] = spread > 0.0 ? pow(10.0, spread * rbRandom_Symmetric(random)) : 1.0;
        }
        double volume = fabs(rbDot(b[0], rbCross(b[1], b[2])));
        if (volume > 0.05 * rbLength(b[0]) * rbLength(b[1]) * rbLength(b[2])) {
            rbSym3 k = {
                rbDot(b[0], b[0]) * scale[0] * scale[0], rbDot(b[1], b[1]) * scale[1] * scale[1],
                rbDot(b[2], b[2]) * scale[2] * scale[2], rbDot(b[0], b[1]) * scale[0] * scale[1],
                rbDot(b[0], b[2]) * scale[0] * scale[2], rbDot(b[1], b[2]) * scale[1] * scale[2]};
            return k;
        }
    }
}

rbImpactBody rbMakeRandomBody(rbRandom* random)
{
    double mass = pow(10.0, rbRandom_Symmetric(random));
    double a[3];
    for (int i = 0; i < 3; ++i) {
        a[i] = mass * pow(10.0, -1.5 * rbRandom_Unit(random));
    }
    rbVec3 inverse = {1.0 / (a[1] + a[2]), 1.0 / (a[2] + a[0]), 1.0 / (a[0] + a[1])};
    rbImpactBody body = {
        .inverseMass = 1.0 / mass,
        .inverseInertia =
            rbSym3_Rotate(rbSymFromDiagonal(inverse), rbMatFromQuat(rbRandom_Quat(random))),
        .center = rbScale(rbRandom_Range(random, 0.1, 1.5), rbRandom_Direction(random)),
        .velocity = rbScale(rbRandom_Unit(random), rbRandom_Direction(random)),
        .angularVelocity = rbScale(2.0 * rbRandom_Unit(random), rbRandom_Direction(random)),
    };
    return body;
}

rbImpactInput rbMakeRandomImpact(rbRandom* random, double spread)
{
    rbImpactInput input = {.friction = pow(10.0, rbRandom_Range(random, -1.7, 0.7))};
    if (rbRandom_Index(random, 2) == 0) {
        rbImpactBody a = rbMakeRandomBody(random);
        rbImpactBody b = rbMakeRandomBody(random);
        rbImpactBody ground = {0};
        rbMat3 frame = rbMakeContactFrame(rbRandom_Direction(random));
        const rbImpactBody* partner = rbRandom_Index(random, 2) == 0 ? &ground : &a;
        input.matrix = rbMakeCollisionMatrix(partner, &b, RB_VEC3_ZERO, &frame);
        input.velocity = rbMulMtV(frame, rbGetRelativeVelocity(partner, &b, RB_VEC3_ZERO));
    } else {
        input.matrix = rbMakeRandomMatrix(random, spread);
        input.velocity = rbRandom_Direction(random);
    }
    input.velocity.z = -fabs(input.velocity.z);
    int kind = rbRandom_Index(random, 8);
    double slip = kind == 0 ? 0.0 : kind == 1 ? 1e-3 : kind == 2 ? 30.0 : 1.0;
    input.velocity.x *= slip;
    input.velocity.y *= slip;
    kind = rbRandom_Index(random, 6);
    input.restitution = kind == 0 ? 0.0 : kind == 1 ? 1.0 : rbRandom_Unit(random);
    return input;
}

rbImpactsReport rbSwingCradle(rbImpactOrder order, double velocities[RB_CRADLE_BALLS])
{
    rbImpactBody balls[RB_CRADLE_BALLS];
    rbImpactContact contacts[RB_CRADLE_BALLS - 1];
    for (int i = 0; i < RB_CRADLE_BALLS; ++i) {
        double turning = 2.5 / 0.25; // 1/(2/5 m r^2), m = 1, r = 1/2
        balls[i] = (rbImpactBody){.inverseMass = 1.0,
                                  .inverseInertia = {turning, turning, turning, 0.0, 0.0, 0.0},
                                  .center = rbMakeVec3(i, 0.0, 0.0)};
        if (i > 0) {
            contacts[i - 1] = (rbImpactContact){.a = i - 1,
                                                .b = i,
                                                .point = rbMakeVec3(i - 0.5, 0.0, 0.0),
                                                .normal = rbMakeVec3(1.0, 0.0, 0.0),
                                                .restitution = 1.0,
                                                .friction = 0.3,
                                                .law = RB_IMPACT_STRONGE};
        }
    }
    balls[0].velocity.x = 1.0;
    rbImpactsReport report = rbResolveImpacts(balls, contacts, RB_CRADLE_BALLS - 1, order);
    for (int i = 0; i < RB_CRADLE_BALLS; ++i) {
        velocities[i] = balls[i].velocity.x;
    }
    return report;
}

rbImpactCheck rbCheckImpact(const rbImpactInput* input, const rbImpactResult* result)
{
    const rbSym3* k = &input->matrix;
    rbVec3 p = result->impulse;
    rbVec3 size = rbAbs3(p);
    rbVec3 miss = rbSub(rbSub(result->velocity, input->velocity), rbMulSV(*k, p));
    double terms[3] = {
        fabs(input->velocity.x) + k->xx * size.x + fabs(k->xy) * size.y + fabs(k->xz) * size.z,
        fabs(input->velocity.y) + fabs(k->xy) * size.x + k->yy * size.y + fabs(k->yz) * size.z,
        fabs(input->velocity.z) + fabs(k->xz) * size.x + fabs(k->yz) * size.y + k->zz * size.z};
    double works = fabs(result->compressionWork) + fabs(result->frictionWork);
    double total = result->normalWork + result->frictionWork;
    double identity = 0.5 * rbDot(rbAdd(result->velocity, input->velocity), p);
    // The identity sums products of every component.
    double identityTerms = works;
    for (int i = 0; i < 3; ++i) {
        double u = i == 0   ? input->velocity.x + result->velocity.x
                   : i == 1 ? input->velocity.y + result->velocity.y
                            : input->velocity.z + result->velocity.z;
        identityTerms += fabs(u) * (i == 0 ? size.x : i == 1 ? size.y : size.z);
    }
    rbImpactCheck check = {
        .cone = hypot(p.x, p.y) - input->friction * p.z,
        .motion =
            fmax(fabs(miss.x) / terms[0], fmax(fabs(miss.y) / terms[1], fabs(miss.z) / terms[2])),
        .work = fabs(total - identity) / identityTerms,
        .energy = total / works,
        .isApproaching = !(result->velocity.z >= 0.0),
        .isFinite = rbIsFinite3(p) && rbIsFinite3(result->velocity) && isfinite(total),
    };
    check.cone /= input->friction * p.z;
    return check;
}
