// One impact: the order of its phases, the scale of its velocities, and microcollisions.
//
// A phase of sliding ends the impact or stops; after a stop there is one more phase, sticking or
// sliding in a constant direction, to the end. So every history is one of: smooth; slide; slide,
// stick; slide, reverse; stick; reverse.
//
// An impact is homogeneous in the velocities: only extreme ones are scaled, by a power of two.
#include "base/core/words.h"
#include "base/math/matrix3.h"
#include "dynamics/impact/impact_path.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define STEPS_MAX 400
// Impulses outside the friction cone by less than this fraction count as on it.
#define CONE_ROUNDING 1e-13
#define CONE_NEAR 1e-9
#define FRICTION_MAX 1e60 // larger values have the same effect
#define PLAIN_SPEED_MIN 1e-60
#define PLAIN_SPEED_MAX 1e60
#define SLIP_EXPONENT_MAX 200 // of |u_t|/|u_z|, binary; beyond, u_t keeps its direction
// Below this fraction of the approach speed a slip counts as stopped. Far below rounding, because
// the remainder of a slip may matter more when K is badly scaled.
#define STOPPED_RATIO 0x1p-200

static const char* const phaseNames[RB_PHASE_COUNT] = {
    [RB_PHASE_NONE] = "",           [RB_PHASE_SLIDE] = "slide",   [RB_PHASE_STICK] = "stick",
    [RB_PHASE_REVERSE] = "reverse", [RB_PHASE_SMOOTH] = "smooth", [RB_PHASE_RETURN] = "return",
    [RB_PHASE_BOOST] = "boost",     [RB_PHASE_RAY] = "ray",       [RB_PHASE_GAINS] = "gainsEnergy",
};
RB_DEFINE_NAME(rbImpactPhase, RB_PHASE_COUNT, phaseNames[index])

const char* rbImpactHistory_Format(uint32_t history, char text[RB_IMPACT_HISTORY_SIZE])
{
    int length = 0;
    text[0] = '\0';
    for (uint32_t rest = history; rest != 0; rest >>= 4) {
        uint32_t phase = rest & 15u;
        RB_ASSERT(phase < RB_PHASE_COUNT);
        const char* name = phase < RB_PHASE_COUNT ? phaseNames[phase] : "?";
        int room = RB_IMPACT_HISTORY_SIZE - length;
        int written = snprintf(text + length, (size_t)room, "%s%s", length > 0 ? ", " : "", name);
        RB_ASSERT(written >= 0 && written < room);
        length += written < room ? written : room - 1;
    }
    return text;
}

static void addPhase(uint32_t* history, rbImpactPhase phase)
{
    int shift = 0;
    while (shift < 28 && (*history >> shift) != 0) {
        shift += 4;
    }
    *history |= (uint32_t)phase << shift;
}

// True when the direction of sliding cannot turn by more than rounding, for any direction.
static bool isIsotropic(const rbImpactPath* path)
{
    const rbSym3* k = &path->k;
    double turn = fabs(k->xz) + fabs(k->yz) + path->mu * (fabs(k->xx - k->yy) + fabs(k->xy));
    return turn <= 4.0 * DBL_EPSILON * path->mu * (k->xx < k->yy ? k->xx : k->yy);
}

// True when the remaining turn of the direction is negligible: it is constant, or it settles so
// fast that the p_z remaining until the stop, r/|g|, changes by less than the rounding of p_z.
static bool isStraight(const rbImpactPath* path, const rbSlip* slip)
{
    if (fabs(slip->h) <= slip->hNoise || isIsotropic(path)) {
        return true;
    }
    bool isSettling = slip->g < 0.0 && fabs(slip->h) < -1e-3 * slip->hSlope;
    return isSettling &&
           slip->speed * fabs(slip->h) <= 0.25 * DBL_EPSILON * path->pz * (slip->g * slip->hSlope);
}

// Slides to the stop or the end.
static void slide(rbImpactPath* path, const rbSlideMethod* method)
{
    double stopped = STOPPED_RATIO * path->startSpeed;
    while (path->mode != RB_MODE_DONE) {
        rbSlip slip = rbMeasureSlip(path);
        if (slip.speed <= stopped) {
            path->x = path->y = 0.0;
            return;
        }
        bool isTooLong = path->steps >= STEPS_MAX && method == NULL;
        path->isInaccurate = path->isInaccurate || isTooLong;
        if (isTooLong || isStraight(path, &slip)) {
            rbSlip settled = isTooLong ? slip : rbSettleSlip(path, &slip);
            rbStraightPiece piece = rbMakeSlidingPiece(path, &settled);
            rbWalkStraight(path, &piece);
        } else if (method == NULL || !method->walk(path, &slip)) {
            rbWalkCurved(path, &slip);
        }
    }
}

static uint32_t walk(rbImpactPath* path, const rbSlideMethod* method)
{
    uint32_t history = 0;
    if (path->x != 0.0 || path->y != 0.0) {
        addPhase(&history, RB_PHASE_SLIDE);
        slide(path, method);
    }
    if (path->mode != RB_MODE_DONE) {
        rbImpactPhase phase = RB_PHASE_NONE;
        rbStraightPiece piece = rbMakePieceAfterStop(path, &phase);
        addPhase(&history, phase);
        rbWalkStraight(path, &piece);
    }
    return history;
}

// Makes p and u consistent along one axis: by changing p where that is within the rounding of p,
// otherwise by changing u; a point that sticks keeps u = 0.
static void agree(double miss, double stiffness, double noise, double* p, double* u)
{
    if (fabs(miss) <= noise * stiffness) {
        *p += miss / stiffness;
    } else if (*u != 0.0) {
        *u -= miss;
    }
}

// The remainder u - u0 - K p of the integration matters when K is badly scaled: along a stiff axis
// the rounding of p is a large part of u, along a soft one the rounding of u is a large part of p.
static void polish(rbImpactPath* path, rbVec3 u0)
{
    const rbSym3* k = &path->k;
    double noise = 16.0 * DBL_EPSILON * (path->mu < 1.0 ? 1.0 : path->mu) * path->pz;
    for (int i = 0; i < 2; ++i) {
        double miss = path->x - (u0.x + (k->xx * path->px + k->xy * path->py + k->xz * path->pz));
        agree(miss, k->xx, noise, &path->px, &path->x);
        miss = path->y - (u0.y + (k->xy * path->px + k->yy * path->py + k->yz * path->pz));
        agree(miss, k->yy, noise, &path->py, &path->y);
    }
    // Rounding may have moved the impulse out of the cone.
    double tangential = sqrt(path->px * path->px + path->py * path->py);
    double limit = path->mu * path->pz;
    if (tangential > limit && limit > 0.0) {
        double factor = limit / tangential * (1.0 - DBL_EPSILON);
        path->px *= factor;
        path->py *= factor;
    }
}

// Velocities whose squares neither underflow nor overflow.
static bool isPlain(rbVec3 u)
{
    return -u.z >= PLAIN_SPEED_MIN && -u.z <= PLAIN_SPEED_MAX && fabs(u.x) <= PLAIN_SPEED_MAX &&
           fabs(u.y) <= PLAIN_SPEED_MAX;
}

// The unit of velocity in which the impact is computed, a power of two; u becomes the velocity in
// it.
// *isGrazing: the tangential velocity was not preserved.
static double chooseUnit(const rbImpactInput* input, rbVec3* u, bool* isGrazing)
{
    *isGrazing = false;
    if (isPlain(*u)) {
        return 1.0;
    }
    double slip = fmax(fabs(u->x), fabs(u->y));
    int exponent = 0;
    int slipExponent = 0;
    (void)frexp(u->z, &exponent);
    (void)frexp(slip, &slipExponent);
    int tangentialExponent = exponent;
    if (slip > 0.0 && slipExponent - exponent > SLIP_EXPONENT_MAX) {
        // Grazing. Unless it jams, the impact is over before u_t has changed: any multiple will do.
        double cosine = ldexp(u->x, -slipExponent);
        double sine = ldexp(u->y, -slipExponent);
        double length = sqrt(cosine * cosine + sine * sine);
        double pull = (input->matrix.xz * cosine + input->matrix.yz * sine) / length;
        tangentialExponent = slipExponent - SLIP_EXPONENT_MAX;
        *isGrazing = input->friction * pull < input->matrix.zz;
        exponent = *isGrazing ? exponent : tangentialExponent;
    }
    u->x = ldexp(u->x, -tangentialExponent);
    u->y = ldexp(u->y, -tangentialExponent);
    u->z = ldexp(u->z, -exponent);
    u->z = u->z < -DBL_MIN ? u->z : -DBL_MIN;
    return ldexp(1.0, exponent);
}

static void assertInput(const rbImpactInput* input)
{
    (void)input; // in builds without asserts
    RB_ASSERT(rbIsFinite3(input->velocity));
    RB_ASSERT(input->matrix.xx > 0.0 && input->matrix.yy > 0.0 && input->matrix.zz > 0.0);
    RB_ASSERT(isfinite(input->matrix.xx + input->matrix.yy + input->matrix.zz));
    RB_ASSERT(isfinite(input->matrix.xy + input->matrix.xz + input->matrix.yz));
    RB_ASSERT(input->restitution >= 0.0 && isfinite(input->restitution));
    RB_ASSERT(input->friction >= 0.0);
    RB_ASSERT((int)input->law >= 0 && input->law < RB_IMPACT_LAW_COUNT);
}

// Without friction the laws agree (U-7).
static void resolveSmooth(const rbImpactInput* input, double leastSpeed, rbImpactResult* result)
{
    const rbSym3* k = &input->matrix;
    rbVec3 u = input->velocity;
    double after = fmax(-input->restitution * u.z, leastSpeed);
    double p = (after - u.z) / k->zz;
    result->impulse = rbMakeVec3(0.0, 0.0, p);
    result->velocity = rbMakeVec3(u.x + k->xz * p, u.y + k->yz * p, after);
    result->compressionWork = 0.5 * u.z * (-u.z / k->zz);
    result->normalWork = 0.5 * p * (after + u.z);
    result->history = RB_PHASE_SMOOTH;
}

// True when neither the direction of sliding nor the normal velocity is affected by the coupling in
// K by more than rounding, as at the surface of a sphere.
static bool isDecoupled(const rbImpactInput* input)
{
    const rbSym3* k = &input->matrix;
    double least = fmin(k->xx, k->yy);
    double coupling = (fabs(k->xz) + fabs(k->yz)) * fmax(1.0, input->friction);
    return fabs(k->xx - k->yy) + fabs(k->xy) <= 16.0 * DBL_EPSILON * least &&
           coupling <= 8.0 * DBL_EPSILON * fmin(least, k->zz);
}

// Spheres (U-6): the normal and the tangential motion are decoupled and the laws agree.
static void resolveDecoupled(const rbImpactInput* input, double leastSpeed, rbImpactResult* result)
{
    const rbSym3* k = &input->matrix;
    rbVec3 u = input->velocity;
    double mu = input->friction;
    double after = fmax(-input->restitution * u.z, leastSpeed);
    double p = (after - u.z) / k->zz;
    double slip = sqrt(u.x * u.x + u.y * u.y);
    double stop = slip / k->xx; // the tangential impulse that ends sliding
    double tangential = fmin(mu * p, stop);
    double left = mu * p < stop ? slip - k->xx * tangential : 0.0;
    double x = slip > 0.0 ? u.x / slip : 0.0;
    double y = slip > 0.0 ? u.y / slip : 0.0;
    result->impulse = rbMakeVec3(-tangential * x, -tangential * y, p);
    result->velocity = rbMakeVec3(left * x, left * y, after);
    result->compressionWork = 0.5 * u.z * (-u.z / k->zz);
    result->normalWork = 0.5 * p * (after + u.z);
    result->frictionWork = -0.5 * tangential * (slip + left);
    uint32_t sliding = slip > 0.0 ? RB_PHASE_SLIDE : RB_PHASE_NONE;
    result->history = mu * p < stop ? sliding
                      : slip > 0.0  ? sliding | (uint32_t)RB_PHASE_STICK << 4
                                    : (uint32_t)RB_PHASE_STICK;
}

// L-98: the total work is not positive for a law that keeps the energy.
static bool raisesEnergy(const rbImpactPath* path)
{
    double total = path->workBefore + path->frictionWork;
    return total > 1e-12 * (fabs(path->compressionWork) + fabs(path->frictionWork));
}

// The tangential velocity and its work, from the impulse.
static void finishGrazing(const rbImpactInput* input, rbImpactResult* result)
{
    rbVec3 p = result->impulse;
    rbVec3 change = rbMulSV(input->matrix, p);
    result->velocity.x = input->velocity.x + change.x;
    result->velocity.y = input->velocity.y + change.y;
    result->frictionWork = 0.5 * (p.x * (input->velocity.x + result->velocity.x) +
                                  p.y * (input->velocity.y + result->velocity.y));
}

static void resolve(const rbImpactInput* input, double leastSpeed, rbImpactResult* result)
{
    if (input->friction == 0.0) {
        resolveSmooth(input, leastSpeed, result);
        return;
    }
    if (isDecoupled(input) && isPlain(input->velocity)) {
        resolveDecoupled(input, leastSpeed, result);
        return;
    }
    rbVec3 u = input->velocity;
    bool isGrazing = false;
    double unit = chooseUnit(input, &u, &isGrazing);
    rbImpactPath path = {
        .k = input->matrix,
        .mu = input->friction < FRICTION_MAX ? input->friction : FRICTION_MAX,
        .e = input->restitution,
        .law = input->law,
        .leastSpeed = leastSpeed / unit,
        .x = u.x,
        .y = u.y,
        .z = u.z,
    };
    rbImpactPath_Begin(&path);
    result->isJam = rbMeasureSlip(&path).f < 0.0;
    result->history = walk(&path, input->slideMethod);
    polish(&path, u);
    bool keepsEnergy = !rbGetImpactLaw(input->law)->mayGain && input->restitution <= 1.0;
    (void)keepsEnergy;
    RB_ASSERT(!keepsEnergy || leastSpeed > 0.0 || path.isInaccurate || !raisesEnergy(&path));

    result->impulse = rbScale(unit, rbMakeVec3(path.px, path.py, path.pz));
    result->velocity = rbScale(unit, rbMakeVec3(path.x, path.y, path.z));
    if (input->law == RB_IMPACT_NEWTON) { // exactly, in any unit
        result->velocity.z = fmax(-input->restitution * input->velocity.z, leastSpeed);
    }
    result->normalWork = unit * (unit * path.workBefore);
    result->frictionWork = unit * (unit * path.frictionWork);
    result->compressionWork = unit * (unit * path.compressionWork);
    if (isGrazing) {
        finishGrazing(input, result);
    }
    result->steps = path.steps;
    result->isEnergyRaised = raisesEnergy(&path);
    result->isInaccurate = path.isInaccurate;
}

void rbResolveImpact(const rbImpactInput* input, rbImpactResult* result)
{
    RB_ASSERT(input != NULL && result != NULL);
    assertInput(input);
    *result = (rbImpactResult){.velocity = input->velocity};
    if (input->velocity.z < 0.0) {
        resolve(input, 0.0, result);
    }
    if (result->isEnergyRaised) {
        addPhase(&result->history, RB_PHASE_GAINS);
    }
}

// Where the coefficients of the quadratic cancel, its root may lie outside the cone by more than
// rounding: then it is reduced along the difference itself.
static double backIntoCone(double friction, rbVec3 stop, rbVec3 swing, double share)
{
    rbVec3 p = rbAddScaled(stop, share, swing);
    double tangential = sqrt(p.x * p.x + p.y * p.y);
    double outside = tangential - friction * p.z;
    bool isNear = outside > CONE_ROUNDING * tangential && outside < CONE_NEAR * tangential;
    if (!isNear || !(p.z > 0.0)) {
        return share;
    }
    double slope = (p.x * swing.x + p.y * swing.y) / tangential - friction * swing.z;
    return slope > 0.0 ? fmax(0.0, share - outside / slope) : share;
}

// Reverses the velocity: the normal part to the given speed, the tangential part to -share times
// itself, with the largest share up to 1 that the friction cone allows. A share below 1 dissipates
// energy at first, but over a few microcollisions of a sticking contact it grows to 1: then the
// point oscillates about rest, without creep and without energy loss. False if the point must
// slide.
static bool returnVelocity(const rbImpactInput* input, double speed, rbImpactResult* result)
{
    rbVec3 u = input->velocity;
    rbVec3 stop;  // impulse that stops the tangential part
    rbVec3 swing; // impulse that reverses it as well
    if (!rbSym3_Solve(input->matrix, rbMakeVec3(-u.x, -u.y, speed - u.z), &stop) ||
        !rbSym3_Solve(input->matrix, rbMakeVec3(-u.x, -u.y, 0.0), &swing)) {
        return false;
    }
    // |stop_t + s swing_t|^2 - mu^2 (stop_z + s swing_z)^2 = a s^2 + 2 b s + c
    double mu2 = input->friction * input->friction;
    double a = swing.x * swing.x + swing.y * swing.y - mu2 * swing.z * swing.z;
    double b = stop.x * swing.x + stop.y * swing.y - mu2 * stop.z * swing.z;
    double c = stop.x * stop.x + stop.y * stop.y - mu2 * stop.z * stop.z;
    if (c > 0.0 || !(stop.z > 0.0)) {
        return false;
    }
    double share = 1.0;
    if (a + 2.0 * b + c > 0.0) {
        // outside at 1, not at 0: one root between, in the form without cancellation
        double root = sqrt(fmax(0.0, b * b - a * c));
        share = b > 0.0 ? -c / (b + root) : (root - b) / a;
        share = fmin(1.0, fmax(0.0, share * (1.0 - 1e-15)));
    }
    share = backIntoCone(input->friction, stop, swing, share);
    rbVec3 p = rbAddScaled(stop, share, swing);
    double frictionWork = 0.5 * (1.0 - share) * (u.x * p.x + u.y * p.y);
    if (!(p.z > 0.0) || frictionWork > 0.0) {
        return false;
    }
    result->impulse = p;
    result->velocity = rbMakeVec3(-share * u.x, -share * u.y, speed);
    result->frictionWork = frictionWork;
    result->normalWork = 0.5 * (speed + u.z) * p.z;
    result->history = share < 1.0 ? RB_PHASE_RETURN | (RB_PHASE_SLIDE << 4) : RB_PHASE_RETURN;
    return true;
}

void rbResolveMicrocollision(const rbImpactInput* input, const rbMicrocollision* micro,
                             rbImpactResult* result)
{
    RB_ASSERT(input != NULL && result != NULL);
    assertInput(input);
    RB_ASSERT(micro->depth >= 0.0 && micro->depth <= 1.0);
    RB_ASSERT(micro->boostMax >= 0.0);
    RB_ASSERT(micro->leastSpeed >= 0.0);
    *result = (rbImpactResult){.velocity = input->velocity};
    if (!(input->velocity.z < 0.0)) {
        return;
    }
    // In a jam the impulse that stops the slip is always in the cone, however fast the slip: the
    // compression it causes provides the normal impulse. Reversed, a rod that slides at 1 m/s would
    // leave backward at 1 m/s, and boosted, the work of that compression would return many times.
    double speed = fmax(-input->velocity.z, micro->leastSpeed);
    bool isJam = rbIsSlidingIntoJam(input, speed);
    if (!isJam && returnVelocity(input, speed, result)) {
        return;
    }
    rbImpactInput boosted = *input;
    double boost = (micro->boostMax - input->restitution) * (micro->depth * micro->depth);
    boosted.restitution += boost > 0.0 && !isJam ? boost : 0.0;
    resolve(&boosted, micro->leastSpeed, result);
    result->history = (result->history << 4) | RB_PHASE_BOOST;
}

double rbGetJamThreshold(const rbImpactInput* input)
{
    RB_ASSERT(input != NULL);
    rbVec3 u = input->velocity;
    double size = fmax(fabs(u.x), fabs(u.y));
    if (size == 0.0) {
        return INFINITY;
    }
    double x = u.x / size;
    double y = u.y / size;
    double pull = (input->matrix.xz * x + input->matrix.yz * y) / sqrt(x * x + y * y);
    return pull > 0.0 ? input->matrix.zz / pull : INFINITY;
}

bool rbIsSlidingIntoJam(const rbImpactInput* input, double speed)
{
    RB_ASSERT(input != NULL);
    RB_ASSERT(speed >= 0.0);
    rbVec3 u = input->velocity;
    double slip = sqrt(u.x * u.x + u.y * u.y);
    return slip > input->friction * speed && input->friction > rbGetJamThreshold(input);
}
