// Targets, sweeps, and the energy of phases, see hits.h.
#include "dynamics/contact/hits.h"

#include "base/core/memory.h"
#include "dynamics/impact/energy_line.h"

#include <math.h>

#define PASSES_MAX 64      // over the points of one contact in a sweep; a face needs about 20
#define PASS_SHARE 0.01    // part of the tolerance left by these
#define JOINT_SWEEPS_MAX 8 // after impulses were scaled back

// ------------------------------------------------------------------------------ one point

rbSym3 rbHit_GetMatrix(const rbHit* hit)
{
    rbSym3 k = {0};
    for (int i = 0; i < 2; ++i) {
        const rbHitSide* side = &hit->sides[i];
        rbAddToCollisionMatrix(&k, side->inverseMass, side->inverseInertia, side->arm, &hit->frame);
    }
    return k;
}

void rbHit_Prepare(rbHit* hit)
{
    rbSym3 k = rbHit_GetMatrix(hit);
    hit->normalShare = k.zz > 0.0 ? 1.0 / k.zz : 0.0;
    double largest = rbFindLargest(k.xx, k.yy, k.xy);
    hit->tangentialShare = largest > 0.0 ? 1.0 / largest : 0.0;
    double determinant = k.xx * k.yy - k.xy * k.xy;
    bool isRegular = determinant > RB_HIT_SINGULAR * largest * largest;
    hit->inverse[0] = isRegular ? k.yy / determinant : 0.0;
    hit->inverse[1] = isRegular ? -k.xy / determinant : 0.0;
    hit->inverse[2] = isRegular ? k.xx / determinant : 0.0;
}

static rbVec3 getPointVelocity(const rbHitSide* side)
{
    return rbAdd(*side->velocity, rbCross(*side->spin, side->arm));
}

rbVec3 rbHit_GetVelocity(const rbHit* hit)
{
    rbVec3 u = rbSub(getPointVelocity(&hit->sides[1]), getPointVelocity(&hit->sides[0]));
    return rbAdd(u, hit->belt);
}

void rbHit_SetImpulse(rbHit* hit, rbVec3 p)
{
    rbVec3 change = rbMulMV(hit->frame, rbSub(p, hit->p));
    for (int i = 0; i < 2; ++i) {
        const rbHitSide* side = &hit->sides[i];
        rbVec3 own = i == 0 ? rbNeg(change) : change;
        *side->velocity = rbAddScaled(*side->velocity, side->inverseMass, own);
        rbVec3 turn = rbMulSV(*side->inverseInertia, rbCross(side->arm, own));
        *side->spin = rbAdd(*side->spin, turn);
    }
    hit->p = p;
}

static double getNormalSpeed(const rbHit* hit)
{
    return rbDot(rbHit_GetVelocity(hit), hit->frame.cz);
}

// Toward the target, with no less than the least. Returns the miss before, m/s.
static double pushHit(rbHit* hit)
{
    if (hit->normalShare == 0.0) {
        return 0.0;
    }
    double speed = getNormalSpeed(hit);
    double p = fmax(hit->least, hit->p.z + hit->normalShare * (hit->target - speed));
    double change = p - hit->p.z;
    if (change != 0.0) {
        rbHit_SetImpulse(hit, rbMakeVec3(hit->p.x, hit->p.y, p));
    }
    return fabs(change) / hit->normalShare;
}

// The friction of p at the nearest point of its bound; false: it was inside.
static bool clampFriction(const rbHits* all, double limit, rbVec3* p)
{
    double q[2] = {p->x, p->y};
    bool isOutside = rbFrictionBound_Project(all->bound, limit, q);
    p->x = q[0];
    p->y = q[1];
    return isOutside;
}

// The impulse with the friction that a point needs for the current P and velocities. Returns how
// far it is from that, m/s.
static double findFriction(const rbHits* all, const rbHit* hit, rbVec3* p, bool* isSticking)
{
    *p = hit->p;
    *isSticking = hit->isSticking;
    if (hit->tangentialShare == 0.0 || (hit->friction <= 0.0 && hit->stiction <= 0.0)) {
        return 0.0;
    }
    rbVec3 u = rbMulMtV(hit->frame, rbHit_GetVelocity(hit));
    const double* k = hit->inverse;
    double limit = hit->friction * hit->p.z;
    double stuck = hit->isSticking ? fmax(hit->stiction * hit->p.z, limit) : limit;
    p->x = hit->p.x - k[0] * u.x - k[1] * u.y;
    p->y = hit->p.y - k[1] * u.x - k[2] * u.y;
    *isSticking = k[0] > 0.0 && !clampFriction(all, stuck, p);
    if (!*isSticking) {
        p->x = hit->p.x - hit->tangentialShare * u.x;
        p->y = hit->p.y - hit->tangentialShare * u.y;
        clampFriction(all, limit, p);
    }
    return rbDistance(*p, hit->p) / hit->tangentialShare;
}

// ---------------------------------------------------------------------------------- sweeps

// Brings all points of a contact to their targets, then friction. Returns the largest miss before.
static double sweepGroup(const rbHits* all, const rbHitGroup* group)
{
    RB_ASSERT(group->firstHit + group->hitCount <= all->hitCount);
    rbHit* hits = all->hits + group->firstHit;
    double first = 0.0;
    for (int pass = 0; pass < PASSES_MAX; ++pass) {
        double worst = 0.0;
        for (int i = 0; i < group->hitCount; ++i) {
            worst = fmax(worst, pushHit(&hits[i]));
        }
        first = pass == 0 ? worst : first;
        if (group->hitCount == 1 || worst <= PASS_SHARE * all->tolerance) {
            break;
        }
    }
    for (int i = 0; i < group->hitCount; ++i) {
        rbVec3 p;
        double miss = findFriction(all, &hits[i], &p, &hits[i].isSticking);
        if (miss > 0.0) {
            rbHit_SetImpulse(&hits[i], p);
        }
        first = fmax(first, miss);
    }
    return first;
}

double rbHits_Sweep(const rbHits* all, int first, int end)
{
    RB_ASSERT(first <= end && end <= all->groupCount);
    double worst = 0.0;
    for (int g = first; g < end; ++g) {
        worst = fmax(worst, sweepGroup(all, &all->groups[g]));
    }
    return worst;
}

// One sweep of the joints (B-79); remembers what they missed before it.
static bool sweepJoints(rbHits* all)
{
    double error = 0.0;
    bool areDone = all->sweepJoints == NULL || all->sweepJoints(all->context, &error);
    all->jointMiss = areDone ? 0.0 : error;
    return areDone;
}

// A conjugate step after a sweep. A sweep that changed more than the previous one restarts the
// directions. Returns the square of the change made by the sweep.
static double accelerate(rbHits* all, double lastSquare)
{
    double square = 0.0;
    for (int i = 0; i < all->hitCount; ++i) {
        square += rbLengthSquared(rbSub(all->hits[i].p, all->hits[i].last));
    }
    double part = lastSquare > 0.0 ? square / lastSquare : INFINITY;
    for (int i = 0; i < all->hitCount; ++i) {
        rbHit* hit = &all->hits[i];
        rbVec3 change = rbSub(hit->p, hit->last);
        if (part <= 1.0) { // within the cone
            rbVec3 p = rbAddScaled(hit->p, part, hit->ahead);
            p.z = fmax(hit->least, p.z);
            double friction = hit->isSticking ? fmax(hit->stiction, hit->friction) : hit->friction;
            clampFriction(all, friction * p.z, &p);
            rbHit_SetImpulse(hit, p);
        }
        hit->ahead = part <= 1.0 ? rbAddScaled(change, part, hit->ahead) : RB_VEC3_ZERO;
    }
    return square;
}

// Largest miss of a target; changes nothing.
static double measure(const rbHits* all)
{
    double worst = 0.0;
    for (int i = 0; i < all->hitCount; ++i) {
        const rbHit* hit = &all->hits[i];
        double miss = hit->target - getNormalSpeed(hit);
        worst = fmax(worst, hit->p.z > hit->least ? fabs(miss) : miss);
    }
    return worst;
}

// What a phase misses, measured on its final impulses and velocities.
static void noteErrors(rbHits* all)
{
    double worst = measure(all);
    for (int i = 0; i < all->hitCount; ++i) {
        rbVec3 p;
        bool isSticking;
        worst = fmax(worst, findFriction(all, &all->hits[i], &p, &isSticking));
    }
    all->error = fmax(all->error, worst);
    all->jointError = fmax(all->jointError, all->jointMiss);
}

// The sweeps of a phase. Returns whether all targets are met.
static bool sweepToTargets(rbHits* all, int sweepsMax)
{
    bool isMet = false;
    bool isJointed = all->sweepJoints != NULL;
    double square = 0.0;
    double worst = INFINITY;
    for (int i = 0; i < sweepsMax && !isMet; ++i) {
        rbPoll();
        for (int k = 0; k < all->hitCount; ++k) {
            all->hits[k].last = all->hits[k].p;
            all->hits[k].ahead = i == 0 ? RB_VEC3_ZERO : all->hits[k].ahead;
        }
        worst = rbHits_Sweep(all, 0, all->groupCount);
        all->sweeps += 1;
        // A later point may have disturbed an earlier one, so the final error is measured.
        isMet = sweepJoints(all) && worst <= all->tolerance && measure(all) <= all->tolerance;
        if (!isJointed && !isMet && i + 1 < sweepsMax) {
            square = accelerate(all, square);
        }
    }
    // friction that cycles within the tolerance is not a miss
    bool isWithin = measure(all) <= all->tolerance && worst <= all->allowed && !isJointed;
    return isMet || isWithin;
}

// ---------------------------------------------------------------------------------- phases

// A phase begins with the current impulses and velocities.
static void beginPhase(const rbHits* all)
{
    for (int i = 0; i < all->hitCount; ++i) {
        rbHit* hit = &all->hits[i];
        hit->before = rbHit_GetVelocity(hit);
        hit->start = hit->p;
    }
}

// The energy over a scale of all impulses of a phase. isEnded: the hits add its works, normal and
// of friction, to theirs.
static rbEnergyLine sumWorks(const rbHits* all, bool isEnded)
{
    rbEnergyLine line = {0};
    for (int i = 0; i < all->hitCount; ++i) {
        rbHit* hit = &all->hits[i];
        rbVec3 p = rbSub(hit->p, hit->start);
        rbVec3 before = rbMulMtV(hit->frame, hit->before);
        rbVec3 change = rbSub(rbMulMtV(hit->frame, rbHit_GetVelocity(hit)), before);
        rbVec3 mean = rbAddScaled(before, 0.5, change);
        if (isEnded) {
            hit->works[0] += p.z * mean.z;
            hit->works[1] += p.x * mean.x + p.y * mean.y;
        }
        line.slope += rbDot(p, before);
        line.square += 0.5 * rbDot(p, change);
    }
    return line;
}

// Scales the impulses of a phase back until they raise the energy by no more than room. Returns
// whether it did.
static bool boundPhase(rbHits* all, double room)
{
    rbEnergyLine line = sumWorks(all, false);
    double rise = rbEnergyLine_GetRise(&line);
    if (!(rise > room) || !isfinite(rise)) {
        return false;
    }
    double part = rbEnergyLine_FindPart(&line, room);
    RB_ASSERT(room >= 0.0 && part >= 0.0 && part <= 1.0);
    for (int i = 0; i < all->hitCount; ++i) {
        rbHit* hit = &all->hits[i];
        rbHit_SetImpulse(hit, rbAddScaled(hit->start, part, rbSub(hit->p, hit->start)));
    }
    for (int i = 0; i < JOINT_SWEEPS_MAX && !sweepJoints(all); ++i) {
        rbPoll();
    }
    return true;
}

// Adds the works of a phase to those of the hits. Returns the rise of the energy.
static double endPhase(const rbHits* all)
{
    rbEnergyLine line = sumWorks(all, true);
    return rbEnergyLine_GetRise(&line);
}

// Of the first phase; isNewton: those of Newton's law, whatever the laws are. Returns whether there
// are others.
static bool setTargets(rbHits* all, bool isNewton)
{
    bool hasOthers = false;
    for (int i = 0; i < all->hitCount; ++i) {
        rbHit* hit = &all->hits[i];
        rbImpactLaw law = isNewton ? RB_IMPACT_NEWTON : hit->law;
        hit->target = rbImpactLaw_GetTarget(law, hit->restitution, -hit->approach);
        hasOthers = hasOthers || !rbGetImpactLaw(hit->law)->isOfVelocity;
    }
    return hasOthers;
}

// The first phase. Shock propagation ends it where the sweeps before it do not: it meets Newton's
// targets, because a frozen body accepts no e P, and so do they then.
static bool compress(rbHits* all)
{
    bool hasOthers = setTargets(all, false);
    bool isMet = sweepToTargets(all, all->shockAfter > 0 ? all->shockAfter : all->sweepsMax);
    if (!isMet && all->shockAfter > 0) {
        (void)setTargets(all, true);
        if (hasOthers) {
            (void)sweepToTargets(all, all->shockAfter);
        }
        (void)boundPhase(all, 0.0);
        all->isShocked = true;
        all->propagate(all->context);
        isMet = measure(all) <= all->tolerance;
    }
    noteErrors(all);
    return isMet;
}

// Whether a law that may raise the energy may do so here. Newton's does not where all hits
// approach, without friction and with one restitution.
static bool canGain(const rbHits* all)
{
    bool mayGain = false, hasReason = false;
    for (int i = 0; i < all->hitCount; ++i) {
        const rbHit* hit = &all->hits[i];
        mayGain = mayGain || rbGetImpactLaw(hit->law)->mayGain;
        hasReason = hasReason || hit->friction > 0.0 || hit->stiction > 0.0 ||
                    hit->approach < 0.0 || hit->restitution != all->hits[0].restitution;
    }
    return mayGain && hasReason;
}

// Adds the impulses of restitution to those of compression. Returns whether there are any; room
// receives the most energy that they may return.
static bool beginRestitution(const rbHits* all, double* room)
{
    bool isAny = false;
    beginPhase(all);
    for (int i = 0; i < all->hitCount; ++i) {
        rbHit* hit = &all->hits[i];
        double share = rbImpactLaw_GetShare(hit->law, hit->restitution);
        if (share > 0.0 && hit->p.z > 0.0) {
            isAny = true;
            *room += rbImpactLaw_GetReturn(hit->law, hit->restitution, hit->works[0]);
            hit->least = (1.0 + share) * hit->p.z;
            rbHit_SetImpulse(hit, rbMakeVec3(hit->p.x, hit->p.y, hit->least));
        }
    }
    return isAny;
}

bool rbHits_Resolve(rbHits* all)
{
    all->isShocked = false;
    beginPhase(all);
    bool isMet = compress(all);
    bool mayGain = canGain(all) && isMet && !all->isShocked;
    if (!mayGain && !all->isShocked && boundPhase(all, 0.0)) {
        double error = measure(all);
        all->error = fmax(all->error, error);
        isMet = isMet && error <= all->allowed;
    }
    double rise = endPhase(all);
    double room = 0.0;
    if (!all->isShocked && beginRestitution(all, &room)) {
        isMet = sweepToTargets(all, all->sweepsMax) && isMet;
        noteErrors(all);
        (void)boundPhase(all, fmin(room, fmax(0.0, -rise)));
        rise += endPhase(all);
    }
    double rounding = 0.0;
    for (int i = 0; i < all->hitCount; ++i) {
        rounding += all->rounding * rbLength(all->hits[i].p);
    }
    all->isRaised = mayGain && rise > rounding;
    // Where shock propagation or joints took part, other impulses acted, too.
    RB_ASSERT(mayGain || all->isShocked || all->sweepJoints != NULL || !(rise > rounding));
    return isMet;
}
