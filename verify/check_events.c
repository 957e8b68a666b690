// Checks of events and of the flights between them.
#include "verify/checks.h"

// Bounds in units of the rounding of the quantities involved. Closed forms in doubles lose some
// digits: a flight about the middle axis in the gallery is off by more than 30.
#define FLIGHT_ROUNDING 200.0
#define IMPACT_ROUNDING 200.0
// Relative error of integrators with steps, which the engine uses under varying loads and torques.
#define INTEGRATED 1e-9
#define LAW_ERROR 1e-8
#define CONE_ROUNDING 64.0
// Of the largest speed in any impact so far: what is left of it by cancellation is rounding.
#define FLOOR_ROUNDING 16.0

#define PHASE_GAINS 8u

static bool hasPhase(uint64_t history, unsigned phase)
{
    for (; history != 0 && (history & 15u) != phase; history >>= 4) {
    }
    return history != 0;
}

// The state of a body at a time: of its flight, or after the impulses at this time.
static rbVState stateAt(rbVChecker* c, uint32_t index, double time)
{
    const rbVBody* body = &c->model.bodies[index];
    rbVTrack* track = &c->tracks[index];
    if (body->type != RB_V_DYNAMIC) {
        return track->now;
    }
    if (track->isPushed && track->pushTime == time) {
        return track->moved;
    }
    rbVFlight_Advance(&track->flight, body, time);
    return rbVFlight_Get(&track->flight, body);
}

bool rbVIsIntegrable(const rbVBody* body)
{
    return !body->hasVarying && body->motion != RB_V_MOTION_EULER &&
           body->motion != RB_V_MOTION_RK4;
}

// Relative error that a flight may have.
static double flightError(const rbVBody* body, const rbVFlight* flight)
{
    double rounding = FLIGHT_ROUNDING * EPS * (1.0 + flight->angle);
    return body->motion <= RB_V_MOTION_EXACT ? rounding : rounding + INTEGRATED;
}

// Compares a recorded state with the flight; velocities with those after the impulses.
void rbVCheckState(rbVChecker* c, uint32_t index, double time, const rbVState* state)
{
    const rbVBody* body = &c->model.bodies[index];
    rbVTrack* track = &c->tracks[index];
    if (!rbVIsIntegrable(body)) {
        RB_V_SKIP(c, FLIGHT, "varying forces, or an integrator of low order");
        return;
    }
    rbVFlight_Advance(&track->flight, body, time);
    rbVState own = rbVFlight_Get(&track->flight, body);
    double part = flightError(body, &track->flight);
    double span = time - track->flight.start;
    double way = length3(own.center) + length3(own.v) * span +
                 length3(body->acceleration) * span * span + body->reach;
    RB_V_CHECK(c, FLIGHT, CERTIFIED, index, RB_V_NONE, length3(sub3(state->center, own.center)),
               part * way, "position, m");
    RB_V_CHECK(c, FLIGHT, CERTIFIED, index, RB_V_NONE, angle4(state->q, own.q), part * 4.0,
               "orientation");
    rbVState after = own;
    rbVClaim claim = track->isPushed ? RB_V_CLAIM_IMPULSE : RB_V_CLAIM_FLIGHT;
    double moreSpeed = 0.0;
    double moreSpin = 0.0;
    if (track->isPushed) {
        after = track->moved;
        moreSpeed = track->impulseSum / body->mass;
        moreSpin = track->spinSum * (body->inverse.xx + body->inverse.yy + body->inverse.zz);
        part += IMPACT_ROUNDING * EPS;
    }
    double speed = length3(own.v) + length3(body->acceleration) * span + moreSpeed;
    rbVFinding f = {claim, RB_V_CERTIFIED, index, RB_V_NONE, 0.0, part * speed, "velocity, m/s"};
    f.value = length3(sub3(state->v, after.v));
    rbVChecker_Find(c, &f);
    f.value = length3(sub3(state->w, after.w));
    f.bound = part * (4.0 * length3(own.w) * (1.0 + track->flight.angle) + moreSpin);
    f.detail = "angular velocity, rad/s";
    rbVChecker_Find(c, &f);
}

static void checkHeld(rbVChecker* c, uint32_t index, const rbVState* state)
{
    const rbVBody* body = &c->model.bodies[index];
    rbVTrack* track = &c->tracks[index];
    rbVState before = stateAt(c, index, c->time);
    track->restEnergy = rbVKineticEnergy(body, &before);
    track->hasRested = true;
    RB_V_CHECK(c, REST, CERTIFIED, index, RB_V_NONE, length3(state->v) + length3(state->w), 0.0,
               "speed of a body at rest");
    if (rbVIsIntegrable(body)) {
        RB_V_CHECK(c, REST, CERTIFIED, index, RB_V_NONE,
                   length3(sub3(state->center, before.center)),
                   FLIGHT_ROUNDING * EPS * (length3(before.center) + body->reach) +
                       length3(before.v) * FLIGHT_ROUNDING * EPS,
                   "moved when it came to rest, m");
    }
}

// Rest and release have their events.
void rbVCheckAnnounced(rbVChecker* c, uint32_t index)
{
    if (c->tracks[index].hasRested || c->tracks[index].hasWoken) {
        RB_V_CHECK(c, REST, CERTIFIED, index, RB_V_NONE, 1.0, 0.0,
                   "put to rest or released without an event");
    }
}

void rbVCheckFlightStart(rbVChecker* c, uint32_t index, const rbVState* state, bool isHeld)
{
    rbVCheckGroup(c);
    const rbVBody* body = &c->model.bodies[index];
    rbVTrack* track = &c->tracks[index];
    c->report->flights += 1;
    rbVCheckAnnounced(c, index);
    RB_V_CHECK(c, ORDER, CERTIFIED, index, RB_V_NONE,
               track->isPushed ? fabs(c->time - track->pushTime) : 0.0, 0.0,
               "flight that begins after its impulse, s");
    track->hasWoken = track->flight.isHeld && !isHeld;
    if (isHeld && !track->flight.isHeld) {
        checkHeld(c, index, state);
    } else {
        rbVCheckState(c, index, c->time, state);
    }
    rbVFlight_Begin(&track->flight, body, c->time, state, isHeld);
    track->now = *state;
    c->tracks[index].span.speed = fmax(c->tracks[index].span.speed, length3(state->v));
    c->tracks[index].span.spin = fmax(c->tracks[index].span.spin, rbVGetSpinMax(body, state, 0.0));
    rbVAddLeg(c, index, c->time, isHeld);
    track->isPushed = false;
    track->impulseSum = 0.0;
    track->spinSum = 0.0;
}

static double combine(uint32_t rule, double a, double b)
{
    const double results[6] = {sqrt(a * b), a * b, a + b, 0.5 * (a + b), fmin(a, b), fmax(a, b)};
    return results[rule];
}

typedef struct Surface {
    double restitution, friction;
    double sticking; // friction of contacts, the larger of sliding and sticking
    uint32_t law;
} Surface;

#define SURFACES_MAX 64

static Surface surfaceOf(const rbVModel* m, const rbVShape* a, const rbVShape* b)
{
    Surface s = {fmin(1.0, combine(m->restitutionRule, a->restitution, b->restitution)),
                 combine(m->frictionRule, a->friction, b->friction), 0.0, m->law};
    bool isFound = false;
    for (uint32_t i = 0; i < m->pairCount && !isFound; ++i) {
        const rbVMaterialPair* p = &m->pairs[i];
        isFound = (p->kindA == a->kind && p->kindB == b->kind) ||
                  (p->kindA == b->kind && p->kindB == a->kind);
        if (isFound) {
            s = (Surface){p->restitution, p->friction, 0.0,
                          p->law < RB_V_LAW_COUNT ? p->law : m->law};
        }
    }
    s.sticking = fmax(s.friction, combine(m->frictionRule, fmax(a->friction, a->stiction),
                                          fmax(b->friction, b->stiction)));
    return s;
}

// What the materials of two bodies can be at a point: one for each pair of their shapes.
static int listSurfaces(const rbVModel* m, uint32_t a, uint32_t b, Surface* list)
{
    int count = 0;
    const rbVBody* bodyA = &m->bodies[a];
    const rbVBody* bodyB = &m->bodies[b];
    for (uint32_t i = 0; i < bodyA->shapeCount; ++i) {
        for (uint32_t k = 0; k < bodyB->shapeCount && count < SURFACES_MAX; ++k) {
            Surface s = surfaceOf(m, &bodyA->shapes[i], &bodyB->shapes[k]);
            bool isKnown = bodyA->shapes[i].isSensor || bodyB->shapes[k].isSensor;
            for (int n = 0; n < count; ++n) {
                isKnown = isKnown ||
                          (list[n].restitution == s.restitution && list[n].friction == s.friction &&
                           list[n].sticking == s.sticking && list[n].law == s.law);
            }
            if (!isKnown) {
                list[count++] = s;
            }
        }
    }
    return count;
}

double rbVGetFriction(const rbVModel* m, uint32_t a, uint32_t b)
{
    Surface list[SURFACES_MAX];
    double most = 0.0;
    for (int i = listSurfaces(m, a, b, list) - 1; i >= 0; --i) {
        most = fmax(most, list[i].sticking);
    }
    return most;
}

void rbVCheckCone(rbVChecker* c, rbVClaim claim, const rbVCone* p)
{
    double normal = dot3(p->push, p->normal);
    double across = length3(addScaled3(p->push, -normal, p->normal));
    double rounding = p->rounding * length3(p->push);
    double most = p->friction * fmax(normal, 0.0) + rounding;
    if (claim == RB_V_CLAIM_CONE && c->model.engine == RB_V_STEP && !(across <= most)) {
        RB_V_SKIP(c, CONE, "impacts of a step: differences of impulses");
    } else {
        rbVChecker_Find(c, &(rbVFinding){claim, RB_V_CERTIFIED, p->a, p->b, across, most,
                                         "friction, N or N s"});
    }
    rbVChecker_Find(c, &(rbVFinding){claim, RB_V_CERTIFIED, p->a, p->b, -normal, rounding,
                                     "pull along the normal, N or N s"});
}

static void checkCone(rbVChecker* c, const rbVEvent* e)
{
    Surface list[SURFACES_MAX];
    int count = listSurfaces(&c->model, e->a, e->b, list);
    double friction = 0.0;
    bool isLaw = false;
    for (int i = 0; i < count; ++i) {
        friction = fmax(friction, list[i].friction);
        isLaw = isLaw || list[i].law == e->law;
    }
    rbVCheckCone(c, RB_V_CLAIM_CONE,
                 &(rbVCone){e->a, e->b, e->impulse, e->normal, friction, CONE_ROUNDING * EPS});
    RB_V_CHECK(c, CONE, CERTIFIED, e->a, e->b, fabs(length3(e->normal) - 1.0), 16.0 * EPS,
               "length of the normal, less 1");
    if (!isLaw) {
        RB_V_CHECK(c, CONE, CERTIFIED, e->a, e->b, e->law, -1.0,
                   "law that no pair of materials has");
    }
}

typedef struct Pair {
    const rbVBody* bodies[2];
    rbVState states[2];
    rbV3 frame[3];
    rbVImpact impact;
} Pair;

// In a periodic box a body collides as the image that is nearest to the point.
static double nearestImage(double edge, double center, double at)
{
    return edge > 0.0 ? center + edge * round((at - center) / edge) : center;
}

static void openPair(rbVChecker* c, const rbVEvent* e, Pair* p)
{
    const uint32_t both[2] = {e->a, e->b};
    rbV3 edges = c->model.periodic;
    for (int i = 0; i < 2; ++i) {
        rbVState s = stateAt(c, both[i], e->time);
        s.center = make3(nearestImage(edges.x, s.center.x, e->point.x),
                         nearestImage(edges.y, s.center.y, e->point.y),
                         nearestImage(edges.z, s.center.z, e->point.z));
        p->bodies[i] = &c->model.bodies[both[i]];
        p->states[i] = s;
    }
    c->fastest = fmax(c->fastest, length3(p->states[0].v) + length3(p->states[1].v));
    p->impact = rbVMakeImpact(p->bodies, p->states, e, p->frame);
}

// What the velocities before an impact lose to rounding.
static double speedError(const rbVChecker* c, const rbVEvent* e, const Pair* p)
{
    double sum = FLOOR_ROUNDING * EPS * c->fastest;
    const uint32_t both[2] = {e->a, e->b};
    for (int i = 0; i < 2; ++i) {
        const rbVBody* body = p->bodies[i];
        const rbVState* s = &p->states[i];
        const rbVTrack* track = &c->tracks[both[i]];
        double part = flightError(body, &track->flight) + IMPACT_ROUNDING * EPS;
        double speed = length3(s->v) + length3(sub3(e->point, s->center)) * length3(s->w) +
                       track->impulseSum * body->inverseMass;
        sum += body->type == RB_V_STATIC ? 0.0 : part * speed;
        // the point is known to rounding only
        sum += length3(s->w) * EPS * 16.0 * length3(e->point);
    }
    return sum;
}

// How an impulse compares with its law.
typedef struct Match {
    double miss;   // N s, the difference from the law, and
    double bound;  // what it may be
    double work;   // J, of friction, by the law
    bool isByRule; // with the restitution of the materials
} Match;

static Match matchLaw(const rbVChecker* c, const rbVEvent* e, Pair* p)
{
    double rounding = 4.0 * speedError(c, e, p) / p->impact.k[2][2]; // N s
    Surface list[SURFACES_MAX];
    int count = listSurfaces(&c->model, e->a, e->b, list);
    rbV3 impulse = {dot3(e->impulse, p->frame[0]), dot3(e->impulse, p->frame[1]),
                    dot3(e->impulse, p->frame[2])};
    Match best = {.miss = INFINITY};
    // the law; bounces that have ended; those of a pair that loses no more
    for (int k = 0; k < 3 && !(best.miss <= best.bound); ++k) {
        for (int i = 0; i < count && !(best.miss <= best.bound); ++i) {
            p->impact.restitution = k == 0 ? list[i].restitution : k - 1.0;
            p->impact.friction = list[i].friction;
            p->impact.law = (rbVLaw)e->law;
            rbVImpactResult r;
            rbVResolveImpact(&p->impact, &r);
            double miss = length3(sub3(r.impulse, impulse));
            if (r.isKnown && list[i].law == e->law && miss < best.miss) {
                best = (Match){miss, LAW_ERROR * length3(r.impulse) + rounding, r.frictionWork,
                               k == 0};
            }
        }
    }
    return best;
}

static void applyEvent(rbVChecker* c, const rbVEvent* e, Pair* p)
{
    const uint32_t both[2] = {e->a, e->b};
    for (int i = 0; i < 2; ++i) {
        rbVTrack* track = &c->tracks[both[i]];
        rbVPush(p->bodies[i], &p->states[i], e->point, scale3(i == 0 ? -1.0 : 1.0, e->impulse));
        if (p->bodies[i]->type == RB_V_DYNAMIC) {
            double size = length3(e->impulse);
            track->moved = p->states[i];
            track->isPushed = true;
            track->pushTime = e->time;
            track->impulseSum += size;
            track->spinSum += length3(sub3(e->point, p->states[i].center)) * size;
        }
    }
}

static rbV3 relativeSpeed(const Pair* p, rbV3 point)
{
    return sub3(rbVPointVelocity(&p->states[1], point), rbVPointVelocity(&p->states[0], point));
}

// The velocities before an impact: approach, and energy of a single one.
static rbV3 checkBefore(rbVChecker* c, const rbVEvent* e)
{
    Pair p;
    openPair(c, e, &p);
    rbVCheckTouch(c, e, p.states);
    double error = speedError(c, e, &p);
    RB_V_CHECK(c, APPROACH, CERTIFIED, e->a, e->b, fabs(e->approach + p.impact.u.z), error,
               "approach speed, m/s");
    if (c->groupCount == 1) {
        double mass = p.bodies[0]->mass + p.bodies[1]->mass;
        double energy = rbVKineticEnergy(p.bodies[0], &p.states[0]) +
                        rbVKineticEnergy(p.bodies[1], &p.states[1]);
        RB_V_CHECK(c, APPROACH, CERTIFIED, e->a, e->b, fabs(e->energyBefore - energy),
                   INTEGRATED * energy + error * (sqrt(8.0 * energy * mass) + error * mass),
                   "energy before an impact, J");
    }
    return relativeSpeed(&p, e->point);
}

// The impacts of one instant. After several, or a microcollision, none approaches; the energy is
// the sum.
static void checkImpacts(rbVChecker* c, const rbVEvent* events, int count, const Match* match)
{
    const rbVEvent* first = &events[0];
    bool isMicro = first->kind == RB_V_EVENT_MICRO;
    rbVClaim claim = isMicro ? RB_V_CLAIM_MICRO : RB_V_CLAIM_TOGETHER;
    double work = 0.0;
    double claimed = 0.0;
    double friction = 0.0;
    double bound = IMPACT_ROUNDING * EPS * fabs(first->energyBefore);
    double allowed = 0.0; // of the work of friction
    rbV3 before[RB_V_GROUP_MAX];
    Pair p;
    for (int i = 0; i < count; ++i) {
        before[i] = checkBefore(c, &events[i]);
    }
    for (int i = 0; i < count; ++i) {
        openPair(c, &events[i], &p);
        applyEvent(c, &events[i], &p);
    }
    for (int i = 0; i < count; ++i) {
        const rbVEvent* e = &events[i];
        openPair(c, e, &p);
        double error = speedError(c, e, &p);
        rbV3 after = relativeSpeed(&p, e->point);
        double speeds = length3(before[i]) + length3(after);
        if (isMicro || count > 1) {
            // points that nearly touch may leave later: they only get slower
            double left = isMicro ? fmax(e->approach, 0.0) : 1e-6 * speeds;
            rbVChecker_Find(c, &(rbVFinding){claim, RB_V_CERTIFIED, e->a, e->b,
                                             -dot3(after, e->normal), error + left,
                                             "approach left, m/s"});
        }
        work += 0.5 * dot3(e->impulse, add3(before[i], after));
        claimed += e->energyChange;
        friction += e->frictionWork;
        bound += 2.0 * length3(e->impulse) * (error + (count > 1 ? 1e-9 * length3(before[i]) : 0));
        allowed += 4.0 * LAW_ERROR * length3(e->impulse) * speeds;
    }
    RB_V_CHECK(c, WORK, CERTIFIED, first->a, first->b, fabs(claimed - work), bound,
               "energy of impacts, J");
    bool isRaised = first->law == RB_V_NEWTON && hasPhase(first->history, PHASE_GAINS);
    if (!isMicro && count == 1) {
        RB_V_CHECK(c, WORK, CERTIFIED, first->a, first->b, fabs(friction - match->work),
                   bound + allowed, "work of friction, J");
    } else if (!isMicro) {
        RB_V_SKIP(c, LAW, "restitution of impacts at several points at once");
    }
    if (count == 1 && (isRaised || p.bodies[0]->growth + p.bodies[1]->growth != 0.0)) {
        RB_V_SKIP(c, GAIN, "Newton's law raised the energy, as it says, or bodies grow");
    } else if (!isMicro) {
        RB_V_CHECK(c, GAIN, CERTIFIED, first->a, first->b, work, bound, "energy gained, J");
    }
    c->works[isMicro ? RB_V_MICROS : RB_V_IMPACTS] += work - friction;
    c->works[RB_V_FRICTION] += friction;
    c->workScale += fabs(work) + fabs(friction) + bound / IMPACT_ROUNDING;
}

void rbVCheckGroup(rbVChecker* c)
{
    int count = c->groupCount;
    int done = 0;
    while (done < count) {
        const rbVEvent* e = &c->group[done];
        const rbVBody* bodies = c->model.bodies;
        if (!rbVIsIntegrable(&bodies[e->a]) || !rbVIsIntegrable(&bodies[e->b])) {
            RB_V_SKIP(c, LAW, "impact of a body whose flight is not checked");
            done += 1;
            continue;
        }
        Pair p;
        openPair(c, e, &p);
        bool isMicro = e->kind == RB_V_EVENT_MICRO;
        Match match = isMicro ? (Match){.miss = INFINITY} : matchLaw(c, e, &p);
        int taken = isMicro || !(match.miss <= match.bound) ? count - done : 1;
        if (!isMicro && taken == 1) {
            rbVClass class = match.isByRule ? RB_V_CERTIFIED : RB_V_SAMPLED;
            rbVChecker_Find(c, &(rbVFinding){RB_V_CLAIM_LAW, class, e->a, e->b, match.miss,
                                             match.bound, "impulse other than its law's, N s"});
        }
        checkImpacts(c, e, taken, &match);
        done += taken;
    }
    c->groupCount = 0;
}

void rbVCheckEvent(rbVChecker* c, const rbVEvent* e)
{
    bool isImpact = e->kind == RB_V_EVENT_IMPACT || e->kind == RB_V_EVENT_MICRO;
    const rbVEvent* first = &c->group[0];
    if (!isImpact || e->time != first->time || e->kind != first->kind ||
        e->energyBefore != first->energyBefore || c->groupCount == RB_V_GROUP_MAX) {
        rbVCheckGroup(c);
    }
    c->report->events += 1;
    if (isImpact) {
        c->impacts += e->kind == RB_V_EVENT_IMPACT ? 1 : 0;
        c->micros += e->kind == RB_V_EVENT_MICRO ? 1 : 0;
        checkCone(c, e);
        if (c->model.engine == RB_V_EVENT) {
            c->group[c->groupCount++] = *e;
        } else {
            c->tracks[e->a].load.isStruck = c->tracks[e->b].load.isStruck = true;
        }
    } else if (e->kind == RB_V_EVENT_REST && e->a != RB_V_NONE && c->model.engine == RB_V_EVENT) {
        rbVTrack* track = &c->tracks[e->a];
        RB_V_CHECK(c, REST, CERTIFIED, e->a, RB_V_NONE,
                   track->hasRested ? fabs(e->energyChange + track->restEnergy) : 1e300,
                   1e-9 * track->restEnergy + 1e-300, "energy taken, J");
        c->works[RB_V_RESTS] += e->energyChange;
        c->workScale += fabs(e->energyChange);
        track->hasRested = false;
    } else if (e->kind == RB_V_EVENT_WAKE && e->a != RB_V_NONE) {
        c->tracks[e->a].hasWoken = false;
    }
}
