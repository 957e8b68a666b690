// Collisions of several points together (B-66, B-68 to B-72, B-74, B-79).
//
// A round takes the closed points that approach at restSpeed or faster and resolves them by their
// law. Points that these impulses make collide belong to the next round. Rounds end when nothing
// collides, or at a cap: two elastic walls throw a ball that touches both to and fro forever. The
// velocity stage of the contacts stops what still approaches then, without rebound.
//
// A point whose bodies collide nowhere else in the round is an impact as in the event engine, to
// the last digit (rbResolveImpact). Points that share bodies are solved together, in the phases of
// impact_law.h: sweeps meet the targets of a phase, with the impulses so far as the least. Where
// joints hold the bodies, they are swept, too.
//
// Several points of one contact (a face on a face) are solved together by separate passes in every
// sweep, before friction acts. Otherwise the first point would turn the body, friction there would
// act against a sliding motion that does not exist, and a cube that lands flat would not leave
// flat.
//
// Sweeps alone need a number that grows with the square of the height of a pile: between them the
// impulses move on along conjugate directions (after Silcowitz, Niebe, Erleben 2009), clamped.
//
// Friction works on sums: T stays in the cone of the sum P, so it follows P down as well as up (the
// signed increment of eq. 5.8). A point that can be stopped within the cone of sliding friction
// sticks. A sticking point starts to slide at the cone of static friction. Rolling and spinning
// friction do not act in a collision.
//
// Energy. In a phase that ends with its targets met, P pushes against what has stopped and T
// against what still slides: it takes energy. Restitution returns no more than it may: its impulses
// are scaled back, W(s) = a s + b s^2 over the scale s. So are those of a phase that a cap ends.
// Only Newton's law, where there is friction or more than one restitution, acts as it is stated and
// may raise the energy; the record says so. The impulses of shock propagation do not act on bodies
// at rest; the velocities bound it in the same way.
#include "dynamics/contact/collisions.h"

#include "base/core/memory.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/friction_bound.h"
#include "dynamics/impact/energy_line.h"
#include "dynamics/impact/impact_law.h"

#include <math.h>

// Height of a fall that ends in contact: the default of restSpeed.
#define FALL_DISTANCE 1e-5 // m, the default shell
#define FALL_GRAVITY 9.81  // m/s^2

// A pulse runs through n contacts in n rounds, several pulses follow each other, and a body caught
// between two others moves to and fro until restitution has slowed it down. So there is a number of
// rounds per contact plus a constant. A ball between a pin and the floor keeps 0.94 of its speed in
// a round: more follow while the approach slows down, until they are as many as the allowed sweeps.
#define ROUNDS_LEAST 16
#define ROUNDS_EACH 16
#define ROUNDS_MORE 64
#define SLOWING 0.9     // of the approach speed, in as many rounds more
#define SWEEPS_TIMES 8  // the sweep limit of a stage holds per round; this many times it for all
#define PASSES_MAX 64   // over the points of one contact in a sweep; a face needs about 20
#define SWEEP_SHARE 0.5 // part of the tolerance left by sweeps; scaling back may use the rest
#define PASS_SHARE 0.01 // part of the tolerance left by these
#define SHOCK_SWEEPS_LEAST 10 // on a level
#define JOINT_SWEEPS_MAX 8    // after impulses were scaled back
#define PLAIN_SWEEPS 100      // over the points of a single contact, before they are accelerated
#define DRIFT_GROWTH 1.1      // squared changes of sweeps that grow by less than this are steady
#define SINGULAR 1e-10 // of the square of the larger: below it a tangential matrix is not inverted

// One point that collides in this round.
typedef struct Hit {
    int contact;
    int point;
    bool isSticking;
    double target;          // m/s, of u.n, in this phase
    double least;           // N s, of p.z
    double normalShare;     // 1/K, normal; 0: nothing moves it
    rbVec3 p;               // N s, along the tangents and the normal
    double inverse[3];      // xx, xy, yy of the inverse of the tangential K; zero if singular
    double tangentialShare; // 1/largest eigenvalue of it
    double approach;        // m/s, before the round
    rbVec3 before;          // m/s, u at the start of the phase
    rbVec3 start;           // N s, p there
    double works[2];        // J, normal and of friction, in the phases before
    rbVec3 last;            // N s, p before a sweep
    rbVec3 ahead;           // N s, of the conjugate step
} Hit;

// The hits of one contact.
typedef struct Group {
    int contact;
    int firstHit;
    int hitCount;
} Group;

// A body of the groups where shock propagation may end a round.
typedef struct Saved {
    int body;
    bool isFrozen;
    rbVec3 velocities[2]; // at the start of the round, after its sweeps
    rbVec3 spins[2];
    rbSym3 factor; // of its inertia
} Saved;

struct rbCollisions {
    RB_ARRAY(Hit) hits;
    RB_ARRAY(Group) groups;
    RB_ARRAY(Saved) saved; // bodies of the groups
    RB_ARRAY(int) uses;    // by body: its groups in this round; -1: it is saved
    RB_ARRAY(rbCollisionNote) notes;
    rbFrictionBound bound;
};

// One call.
typedef struct Call {
    rbCollisions* memory;
    const rbContactSettings* settings;
    const rbContactRun* run;
    double allowed;   // m/s
    double tolerance; // m/s, of sweeps
    double restSpeed; // m/s
    bool isShocked;   // in this round
    double jointMiss; // m/s, of the last sweep of joints; 0: they were done
    rbCollisionsDone done;
} Call;

rbCollisions* rbCreateCollisions(void)
{
    return rbAllocZero(1, sizeof(rbCollisions));
}

void rbDestroyCollisions(rbCollisions* collisions)
{
    if (collisions == NULL) {
        return;
    }
    rbArray_FreeAll(collisions->hits, collisions->groups, collisions->saved, collisions->uses);
    rbArray_Free(collisions->notes);
    rbFree(collisions, sizeof *collisions);
}

double rbGetRestSpeed(const rbContactSettings* settings)
{
    RB_ASSERT(settings->restSpeed >= 0.0);
    return settings->restSpeed > 0.0 ? settings->restSpeed
                                     : sqrt(2.0 * FALL_GRAVITY * FALL_DISTANCE);
}

// ------------------------------------------------------------------------------------ masses

static rbMat3 getFrame(const rbContact* contact)
{
    return (rbMat3){contact->tangents[0], contact->tangents[1], contact->normal};
}

// K of a point along the tangents and the normal, as impulses act now.
static rbSym3 makeMatrix(const rbContactRun* run, const rbContact* contact,
                         const rbContactPoint* point)
{
    rbMat3 frame = getFrame(contact);
    const rbContactBody* a = &run->bodies[contact->bodyA];
    const rbContactBody* b = &run->bodies[contact->bodyB];
    rbSym3 k = {0};
    if (!a->isFrozen) {
        rbAddToCollisionMatrix(&k, a->invMass, &a->invInertia, point->armA, &frame);
    }
    if (!b->isFrozen) {
        rbAddToCollisionMatrix(&k, b->invMass, &b->invInertia, point->armB, &frame);
    }
    return k;
}

static void prepareHit(const Call* call, Hit* hit)
{
    RB_ASSERT(hit->point >= 0 && hit->point < call->run->set->pointCount);
    rbSym3 k = makeMatrix(call->run, &call->run->set->contacts[hit->contact],
                          &call->run->set->points[hit->point]);
    hit->normalShare = k.zz > 0.0 ? 1.0 / k.zz : 0.0;
    double largest = rbFindLargest(k.xx, k.yy, k.xy);
    hit->tangentialShare = largest > 0.0 ? 1.0 / largest : 0.0;
    double determinant = k.xx * k.yy - k.xy * k.xy;
    bool isRegular = determinant > SINGULAR * largest * largest;
    hit->inverse[0] = isRegular ? k.yy / determinant : 0.0;
    hit->inverse[1] = isRegular ? -k.xy / determinant : 0.0;
    hit->inverse[2] = isRegular ? k.xx / determinant : 0.0;
}

static const rbContact* getGroupContact(const Call* call, int group)
{
    return &call->run->set->contacts[call->memory->groups.data[group].contact];
}

static const rbContact* getContact(const Call* call, const Hit* hit)
{
    return &call->run->set->contacts[hit->contact];
}

static rbVec3 getVelocity(const Call* call, const Hit* hit)
{
    return rbContact_RelativeVelocity(call->run->bodies, getContact(call, hit),
                                      &call->run->set->points[hit->point]);
}

// Changes the impulse of a hit, and with it the velocities.
static void setImpulse(const Call* call, Hit* hit, rbVec3 p)
{
    const rbContact* contact = getContact(call, hit);
    rbVec3 change = rbMulMV(getFrame(contact), rbSub(p, hit->p));
    rbContact_ApplyImpulse(call->run->bodies, contact, &call->run->set->points[hit->point], change);
    hit->p = p;
}

// The impulse of a hit at a part of the way from another.
static rbVec3 getBetween(const Hit* hit, rbVec3 from, double part)
{
    return rbAddScaled(from, part, rbSub(hit->p, from));
}

// ------------------------------------------------------------------------------ one point

// Toward the target, with no less than the least. Returns the miss before, m/s.
static double pushHit(const Call* call, Hit* hit)
{
    if (hit->normalShare == 0.0) {
        return 0.0;
    }
    double speed = rbDot(getVelocity(call, hit), getContact(call, hit)->normal);
    double p = fmax(hit->least, hit->p.z + hit->normalShare * (hit->target - speed));
    double change = p - hit->p.z;
    if (change != 0.0) {
        setImpulse(call, hit, rbMakeVec3(hit->p.x, hit->p.y, p));
    }
    return fabs(change) / hit->normalShare;
}

// The friction of p at the nearest point of its bound; false: it was inside.
static bool clampFriction(const Call* call, double limit, rbVec3* p)
{
    double q[2] = {p->x, p->y};
    bool isOutside = rbFrictionBound_Project(&call->memory->bound, limit, q);
    p->x = q[0];
    p->y = q[1];
    return isOutside;
}

// The impulse with the friction that a point needs for the current P and velocities. Returns how
// far it is from that, m/s.
static double findFriction(const Call* call, const Hit* hit, rbVec3* p, bool* isSticking)
{
    const rbContact* contact = getContact(call, hit);
    *p = hit->p;
    *isSticking = hit->isSticking;
    if (hit->tangentialShare == 0.0 || (contact->friction <= 0.0 && contact->stiction <= 0.0)) {
        return 0.0;
    }
    rbVec3 u = rbMulMtV(getFrame(contact), getVelocity(call, hit));
    const double* k = hit->inverse;
    double limit = contact->friction * hit->p.z;
    double stuck = hit->isSticking ? fmax(contact->stiction * hit->p.z, limit) : limit;
    p->x = hit->p.x - k[0] * u.x - k[1] * u.y;
    p->y = hit->p.y - k[1] * u.x - k[2] * u.y;
    *isSticking = k[0] > 0.0 && !clampFriction(call, stuck, p);
    if (!*isSticking) {
        p->x = hit->p.x - hit->tangentialShare * u.x;
        p->y = hit->p.y - hit->tangentialShare * u.y;
        clampFriction(call, limit, p);
    }
    return rbDistance(*p, hit->p) / hit->tangentialShare;
}

// ---------------------------------------------------------------------------------- sweeps

// Brings all points of a contact to their targets, then friction. Returns the largest miss before.
static double sweepGroup(const Call* call, const Group* group)
{
    RB_ASSERT(group->firstHit + group->hitCount <= call->memory->hits.count);
    Hit* hits = call->memory->hits.data + group->firstHit;
    double first = 0.0;
    for (int pass = 0; pass < PASSES_MAX; ++pass) {
        double worst = 0.0;
        for (int i = 0; i < group->hitCount; ++i) {
            worst = fmax(worst, pushHit(call, &hits[i]));
        }
        first = pass == 0 ? worst : first;
        if (group->hitCount == 1 || worst <= PASS_SHARE * call->tolerance) {
            break;
        }
    }
    for (int i = 0; i < group->hitCount; ++i) {
        rbVec3 p;
        double miss = findFriction(call, &hits[i], &p, &hits[i].isSticking);
        if (miss > 0.0) {
            setImpulse(call, &hits[i], p);
        }
        first = fmax(first, miss);
    }
    return first;
}

// The contacts first .. end - 1.
static double sweep(const Call* call, int first, int end)
{
    RB_ASSERT(first <= end && end <= call->memory->groups.count);
    double worst = 0.0;
    for (int g = first; g < end; ++g) {
        worst = fmax(worst, sweepGroup(call, &call->memory->groups.data[g]));
    }
    return worst;
}

// One sweep of the joints (B-79); the call remembers what they missed before it.
static bool sweepJoints(Call* call)
{
    double error = 0.0;
    bool areDone =
        call->run->sweepJoints == NULL || call->run->sweepJoints(call->run->context, &error);
    call->jointMiss = areDone ? 0.0 : error;
    return areDone;
}

static void rememberHits(rbCollisions* memory, bool isFirst)
{
    for (int i = 0; i < memory->hits.count; ++i) {
        Hit* hit = &memory->hits.data[i];
        hit->last = hit->p;
        hit->ahead = isFirst ? RB_VEC3_ZERO : hit->ahead;
    }
}

// Moves the impulse of a hit along its direction by a fraction, within the cone.
static void moveHit(const Call* call, Hit* hit, double part)
{
    const rbContact* contact = getContact(call, hit);
    rbVec3 p = rbAddScaled(hit->p, part, hit->ahead);
    p.z = fmax(hit->least, p.z);
    double friction =
        hit->isSticking ? fmax(contact->stiction, contact->friction) : contact->friction;
    clampFriction(call, friction * p.z, &p);
    setImpulse(call, hit, p);
}

// A conjugate step after a sweep. A sweep that changed more than the previous one restarts the
// directions. Returns the square of the change made by the sweep.
static double accelerate(Call* call, double lastSquare, double growthMax)
{
    rbCollisions* memory = call->memory;
    double square = 0.0;
    for (int i = 0; i < memory->hits.count; ++i) {
        square += rbLengthSquared(rbSub(memory->hits.data[i].p, memory->hits.data[i].last));
    }
    double part = lastSquare > 0.0 ? square / lastSquare : INFINITY;
    part = part > 1.0 && part <= growthMax ? 1.0 : part;
    for (int i = 0; i < memory->hits.count; ++i) {
        Hit* hit = &memory->hits.data[i];
        rbVec3 change = rbSub(hit->p, hit->last);
        if (part <= 1.0) {
            moveHit(call, hit, part);
        }
        hit->ahead = part <= 1.0 ? rbAddScaled(change, part, hit->ahead) : RB_VEC3_ZERO;
    }
    return square;
}

// Largest miss of a target; changes nothing.
static double measure(const Call* call)
{
    double worst = 0.0;
    for (int i = 0; i < call->memory->hits.count; ++i) {
        const Hit* hit = &call->memory->hits.data[i];
        double miss = hit->target - rbDot(getVelocity(call, hit), getContact(call, hit)->normal);
        worst = fmax(worst, hit->p.z > hit->least ? fabs(miss) : miss);
    }
    return worst;
}

// What the round misses, measured on its final impulses and velocities.
static void noteErrors(Call* call)
{
    double worst = measure(call);
    for (int i = 0; i < call->memory->hits.count; ++i) {
        rbVec3 p;
        bool isSticking;
        worst = fmax(worst, findFriction(call, &call->memory->hits.data[i], &p, &isSticking));
    }
    call->done.error = fmax(call->done.error, worst);
    call->done.jointError = fmax(call->done.jointError, call->jointMiss);
}

// By the law, from the approach before the round.
static double getRestitution(const Call* call, const Hit* hit)
{
    return rbRestitutionLaw_Apply(
        call->settings->restitution,
        &(rbRestitutionInput){getContact(call, hit)->restitution, hit->approach, hit->normalShare});
}

// Of the first phase.
static void setTargets(const Call* call, rbImpactLaw law)
{
    for (int i = 0; i < call->memory->hits.count; ++i) {
        Hit* hit = &call->memory->hits.data[i];
        hit->target = rbImpactLaw_GetTarget(law, getRestitution(call, hit), -hit->approach);
    }
}

static void saveBodies(Call* call)
{
    rbCollisions* memory = call->memory;
    memory->saved.count = 0;
    for (int i = 0; call->settings->shockAfter > 0 && i < 2 * memory->groups.count; ++i) {
        const rbContact* contact = getGroupContact(call, i / 2);
        int index = i % 2 == 0 ? contact->bodyA : contact->bodyB;
        const rbContactBody* body = &call->run->bodies[index];
        if (memory->uses.data[index] >= 0) {
            Saved saved = {.body = index,
                           .isFrozen = body->isFrozen,
                           .velocities = {body->velocity},
                           .spins = {body->spin},
                           .factor = rbFactorInertia(&body->invInertia)};
            rbArray_Push(memory->saved, saved);
            memory->uses.data[index] = -1;
        }
    }
}

// From the velocities saved first or second to the current ones.
static rbEnergyLine drawLine(const Call* call, int from)
{
    rbEnergyLine line = {0};
    for (int i = 0; i < call->memory->saved.count; ++i) {
        const Saved* saved = &call->memory->saved.data[i];
        const rbContactBody* body = &call->run->bodies[saved->body];
        double mass = body->invMass > 0.0 ? 1.0 / body->invMass : 0.0;
        rbEnergyLine_Add(&line, mass, saved->velocities[from], body->velocity);
        rbEnergyLine_Add(&line, 1.0, rbSolveFactor(&saved->factor, saved->spins[from]),
                         rbSolveFactor(&saved->factor, body->spin));
    }
    return line;
}

// Hits of the contacts first .. end - 1, with the current masses.
static void prepareGroups(const Call* call, int first, int end)
{
    const Group* last = &call->memory->groups.data[end - 1];
    for (int i = call->memory->groups.data[first].firstHit; i < last->firstHit + last->hitCount;
         ++i) {
        prepareHit(call, &call->memory->hits.data[i]);
    }
}

// Sweeps over the levels upward, each solved on the frozen bodies of the levels below. Returns the
// number of contacts visited.
static int64_t climbLevels(Call* call)
{
    const rbCollisions* memory = call->memory;
    int sweepsMax = call->settings->shockAfter > SHOCK_SWEEPS_LEAST ? call->settings->shockAfter
                                                                    : SHOCK_SWEEPS_LEAST;
    int64_t visits = 0;
    for (int first = 0, end = 0; first < memory->groups.count; first = end) {
        int level = getGroupContact(call, first)->level;
        while (end < memory->groups.count && getGroupContact(call, end)->level == level) {
            ++end;
        }
        prepareGroups(call, first, end);
        double worst = INFINITY;
        for (int i = 0; i < sweepsMax && worst > call->tolerance; ++i) {
            rbPoll();
            worst = sweep(call, first, end);
            visits += end - first;
        }
        for (int g = first; g < end; ++g) {
            const rbContact* contact = getGroupContact(call, g);
            call->run->bodies[contact->bodyA].isFrozen = true;
            call->run->bodies[contact->bodyB].isFrozen = true;
        }
    }
    return visits;
}

// Keeps the fraction of the change by shock propagation that leaves no more energy than at the
// start of the round; keeps none of it if numbers overflowed.
static void boundShock(Call* call, double room)
{
    rbCollisions* memory = call->memory;
    rbEnergyLine line = drawLine(call, 1);
    double part = isfinite(rbEnergyLine_GetRise(&line)) ? rbEnergyLine_FindPart(&line, room) : 0.0;
    for (int i = 0; i < memory->saved.count; ++i) {
        const Saved* saved = &memory->saved.data[i];
        rbContactBody* body = &call->run->bodies[saved->body];
        body->isFrozen = saved->isFrozen;
        if (part < 1.0) {
            rbVec3 v = saved->velocities[1];
            rbVec3 w = saved->spins[1];
            body->velocity = part > 0.0 ? rbAddScaled(v, part, rbSub(body->velocity, v)) : v;
            body->spin = part > 0.0 ? rbAddScaled(w, part, rbSub(body->spin, w)) : w;
        }
    }
    for (int i = 0; part < 1.0 && i < memory->hits.count; ++i) {
        Hit* hit = &memory->hits.data[i];
        hit->p = part > 0.0 ? getBetween(hit, hit->last, part) : hit->last;
    }
}

// Shock propagation (B-74), after sweeps that did not meet the targets.
static void propagate(Call* call)
{
    rbCollisions* memory = call->memory;
    RB_ASSERT(memory->groups.count > 0 && memory->saved.count > 0);
    rememberHits(memory, false);
    rbEnergyLine line = drawLine(call, 0);
    double rise = rbEnergyLine_GetRise(&line);
    for (int i = 0; i < memory->saved.count; ++i) {
        Saved* saved = &memory->saved.data[i];
        saved->velocities[1] = call->run->bodies[saved->body].velocity;
        saved->spins[1] = call->run->bodies[saved->body].spin;
    }
    call->done.sweeps += (climbLevels(call) - 1) / memory->groups.count + 1;
    boundShock(call, rise < 0.0 ? -rise : 0.0);
    prepareGroups(call, 0, memory->groups.count);
    call->isShocked = true;
}

// ------------------------------------------------------------------------------------ work

// A phase begins with the current impulses and velocities.
static void beginPhase(const Call* call)
{
    for (int i = 0; i < call->memory->hits.count; ++i) {
        Hit* hit = &call->memory->hits.data[i];
        hit->before = getVelocity(call, hit);
        hit->start = hit->p;
    }
}

// The energy over a scale of all impulses of a phase. isEnded: the hits add its works, normal and
// of friction, to theirs.
static rbEnergyLine sumWorks(const Call* call, bool isEnded)
{
    rbEnergyLine line = {0};
    for (int i = 0; i < call->memory->hits.count; ++i) {
        Hit* hit = &call->memory->hits.data[i];
        rbMat3 frame = getFrame(getContact(call, hit));
        rbVec3 p = rbSub(hit->p, hit->start);
        rbVec3 before = rbMulMtV(frame, hit->before);
        rbVec3 change = rbSub(rbMulMtV(frame, getVelocity(call, hit)), before);
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
static bool boundPhase(Call* call, double room)
{
    rbEnergyLine line = sumWorks(call, false);
    double rise = rbEnergyLine_GetRise(&line);
    if (!(rise > room) || !isfinite(rise)) {
        return false;
    }
    double part = rbEnergyLine_FindPart(&line, room);
    RB_ASSERT(room >= 0.0 && part >= 0.0 && part <= 1.0);
    for (int i = 0; i < call->memory->hits.count; ++i) {
        Hit* hit = &call->memory->hits.data[i];
        setImpulse(call, hit, getBetween(hit, hit->start, part));
    }
    for (int i = 0; i < JOINT_SWEEPS_MAX && !sweepJoints(call); ++i) {
        rbPoll();
    }
    return true;
}

// Adds the works of a phase to those of the hits. Returns the rise of the energy.
static double endPhase(const Call* call)
{
    rbEnergyLine line = sumWorks(call, true);
    return rbEnergyLine_GetRise(&line);
}

// The work of friction is a mean over a phase; where it is positive, it is not friction's.
static rbCollisionNote sumGroup(const Call* call, const Group* group, rbImpactLaw law)
{
    const rbContact* contact = &call->run->set->contacts[group->contact];
    rbCollisionNote note = {.contact = group->contact, .law = law};
    double sum = 0.0;
    double works = 0.0;
    for (int i = 0; i < group->hitCount; ++i) {
        const Hit* hit = &call->memory->hits.data[group->firstHit + i];
        note.impulse = rbAdd(note.impulse, rbMulMV(getFrame(contact), hit->p));
        note.arm = rbAddScaled(note.arm, hit->p.z, call->run->set->points[hit->point].armA);
        note.approachSpeed = fmax(note.approachSpeed, hit->approach);
        note.frictionWork += fmin(0.0, hit->works[1]);
        works += hit->works[0] + hit->works[1];
        sum += hit->p.z;
    }
    note.normalWork = works - note.frictionWork;
    note.arm = sum > 0.0 ? rbScale(1.0 / sum, note.arm) : note.arm;
    return note;
}

static void addNote(Call* call, const rbCollisionNote* note)
{
    call->done.normalWork += note->normalWork;
    call->done.frictionWork += note->frictionWork;
    if (note->isEnergyRaised) {
        call->done.energyRaises += 1;
        call->done.energyRaised += note->normalWork + note->frictionWork;
    }
    rbArray_Push(call->memory->notes, *note);
    call->done.notes = call->memory->notes.data;
    call->done.noteCount = call->memory->notes.count;
}

// Records a round. Where shock propagation took part, other impulses acted besides those at the
// points.
static void noteRound(Call* call, rbImpactLaw law, bool isRaised)
{
    double booked = 0.0;
    for (int g = 0; g < call->memory->groups.count; ++g) {
        rbCollisionNote note = sumGroup(call, &call->memory->groups.data[g], law);
        booked += note.normalWork + note.frictionWork;
        note.isEnergyRaised = isRaised && note.normalWork + note.frictionWork > 0.0;
        note.history = note.isEnergyRaised ? RB_PHASE_GAINS : RB_PHASE_NONE;
        addNote(call, &note);
    }
    if (call->isShocked) {
        rbEnergyLine line = drawLine(call, 0);
        call->done.normalWork += rbEnergyLine_GetRise(&line) - booked;
    }
}

// ---------------------------------------------------------------------------------- rounds

// The inner loop of a phase. Returns whether all targets are met.
static bool sweepToTargets(Call* call, int sweepsMax)
{
    bool isMet = false;
    bool isJointed = call->run->sweepJoints != NULL;
    bool isSingle = call->memory->groups.count == 1;
    double square = 0.0;
    double worst = INFINITY;
    for (int i = 0; i < sweepsMax && !isMet; ++i) {
        rbPoll();
        // Two points that stick, on a line that is not quite the same for both bodies: their
        // impulses grow by the same small amount in every sweep, up to the cone.
        bool isSlow = i >= PLAIN_SWEEPS;
        bool isAccelerated = !isJointed && (isSlow || !isSingle);
        if (isAccelerated) {
            rememberHits(call->memory, i == (isSingle ? PLAIN_SWEEPS : 0));
        }
        worst = sweep(call, 0, call->memory->groups.count);
        call->done.sweeps += 1;
        // A later point may have disturbed an earlier one, so the final error is measured.
        isMet = sweepJoints(call) && worst <= call->tolerance && measure(call) <= call->tolerance;
        if (isAccelerated && !isMet && i + 1 < sweepsMax) {
            square = accelerate(call, square, isSlow ? DRIFT_GROWTH : 1.0);
        }
    }
    // friction that cycles within the tolerance is not a miss
    bool isWithin = measure(call) <= call->tolerance && worst <= call->allowed && !isJointed;
    return isMet || isWithin;
}

// The first phase. Shock propagation ends it where the sweeps before it do not: it meets Newton's
// targets, because a frozen body accepts no e P, and so do they then.
static bool compress(Call* call, rbImpactLaw law)
{
    int shockAfter = call->settings->shockAfter;
    setTargets(call, law);
    bool isMet = sweepToTargets(call, shockAfter > 0 ? shockAfter : call->settings->sweepsMax);
    if (!isMet && shockAfter > 0) {
        setTargets(call, RB_IMPACT_NEWTON);
        if (!rbGetImpactLaw(law)->isOfVelocity) {
            (void)sweepToTargets(call, shockAfter);
        }
        (void)boundPhase(call, 0.0);
        propagate(call);
        isMet = measure(call) <= call->tolerance;
    }
    noteErrors(call);
    return isMet;
}

// ---------------------------------------------------------------------------------- points

static void addHit(Call* call, const rbContact* contact, int point)
{
    rbVec3 u =
        rbContact_RelativeVelocity(call->run->bodies, contact, &call->run->set->points[point]);
    double speed = rbDot(u, contact->normal);
    Hit hit = {.contact = (int)(contact - call->run->set->contacts),
               .point = point,
               .approach = -speed,
               .isSticking = rbLength(rbAddScaled(u, -speed, contact->normal)) <= call->tolerance};
    prepareHit(call, &hit);
    if (hit.normalShare > 0.0) {
        rbArray_Push(call->memory->hits, hit);
    }
}

// Collects the colliding points of a contact, if any. Every step checks all points here, so shared
// terms are computed once: u.n = n.(vB - vA) + rB.(n x wB) - rA.(n x wA).
static void addGroup(Call* call, int index)
{
    const rbContactSet* set = call->run->set;
    const rbContact* contact = &set->contacts[index];
    const rbContactBody* a = &call->run->bodies[contact->bodyA];
    const rbContactBody* b = &call->run->bodies[contact->bodyB];
    RB_ASSERT(contact->firstPoint >= 0);
    RB_ASSERT(contact->firstPoint + contact->pointCount <= set->pointCount);
    if (!rbContactBody_IsMovable(a) && !rbContactBody_IsMovable(b)) {
        return;
    }
    double shared = rbDot(contact->normal, rbSub(b->velocity, a->velocity));
    rbVec3 turnA = rbCross(contact->normal, a->spin);
    rbVec3 turnB = rbCross(contact->normal, b->spin);
    Group group = {.contact = index, .firstHit = call->memory->hits.count};
    for (int i = contact->firstPoint; i < contact->firstPoint + contact->pointCount; ++i) {
        const rbContactPoint* point = &set->points[i];
        double speed = shared + rbDot(point->armB, turnB) - rbDot(point->armA, turnA);
        if (point->isClosed && speed <= -call->restSpeed) {
            addHit(call, contact, i);
        }
    }
    group.hitCount = call->memory->hits.count - group.firstHit;
    if (group.hitCount > 0) {
        rbArray_Push(call->memory->groups, group);
    }
}

// The law of a contact. One that has raised the energy in this call goes on by Stronge's: several
// rounds of an instant would multiply the gain, to 1e12 times in a heap.
static rbImpactLaw getLaw(const Call* call, int index)
{
    const rbContact* contact = &call->run->set->contacts[index];
    RB_ASSERT(contact->pairLaw >= 0 && contact->pairLaw <= RB_IMPACT_LAW_COUNT);
    RB_ASSERT(contact->restitution >= 0.0 && contact->restitution <= 1.0);
    for (int i = 0; call->done.energyRaises > 0 && i < call->memory->notes.count; ++i) {
        const rbCollisionNote* note = &call->memory->notes.data[i];
        if (note->contact == index && note->isEnergyRaised) {
            return RB_IMPACT_STRONGE;
        }
    }
    return contact->pairLaw > 0 ? (rbImpactLaw)(contact->pairLaw - 1) : call->settings->law;
}

// Collects the points that collide by a law. Returns whether there are any.
static bool gather(Call* call, rbImpactLaw law)
{
    const rbContactRun* run = call->run;
    call->memory->hits.count = 0;
    call->memory->groups.count = 0;
    int count = rbContactRun_GetCount(run);
    for (int i = 0; i < count; ++i) {
        int index = rbContactRun_GetContact(run, i);
        RB_ASSERT(index >= 0 && index < run->set->contactCount);
        if (getLaw(call, index) == law) {
            addGroup(call, index);
        }
    }
    call->done.collisions += call->memory->hits.count;
    return call->memory->hits.count > 0;
}

// The fastest approach of the points that collide, m/s.
static double findFastest(const Call* call)
{
    double fastest = 0.0;
    for (int i = 0; i < call->memory->hits.count; ++i) {
        fastest = fmax(fastest, call->memory->hits.data[i].approach);
    }
    return fastest;
}

// ------------------------------------------------------------------------------------ laws

static void countUses(const Call* call)
{
    rbCollisions* memory = call->memory;
    for (int pass = 0; pass < 2; ++pass) {
        for (int g = 0; g < memory->groups.count; ++g) {
            const rbContact* contact = getGroupContact(call, g);
            const int bodies[2] = {contact->bodyA, contact->bodyB};
            for (int k = 0; k < 2; ++k) {
                rbArray_Fill(memory->uses, bodies[k] + 1, 0);
                int* uses = &memory->uses.data[bodies[k]];
                bool isMovable = rbContactBody_IsMovable(&call->run->bodies[bodies[k]]);
                *uses = pass == 0 ? 0 : *uses + (isMovable ? 1 : 0);
            }
        }
    }
}

// An impact of two bodies at one point, as in the event engine. False: friction has no solution,
// since a body that can only rotate does not yield in some direction.
static bool resolveSingle(Call* call, const Hit* hit, rbImpactLaw law)
{
    const rbContact* contact = getContact(call, hit);
    const rbContactPoint* point = &call->run->set->points[hit->point];
    rbMat3 frame = getFrame(contact);
    rbSym3 k = makeMatrix(call->run, contact, point);
    double determinant = k.xx * (k.yy * k.zz - k.yz * k.yz) - k.xy * (k.xy * k.zz - k.yz * k.xz) +
                         k.xz * (k.xy * k.yz - k.yy * k.xz);
    double trace = k.xx + k.yy + k.zz;
    if (!(determinant > SINGULAR * trace * trace * trace)) {
        return false;
    }
    bool isHeld = hit->isSticking && contact->stiction > contact->friction;
    rbImpactInput input = {.matrix = k,
                           .velocity = rbMulMtV(frame, getVelocity(call, hit)),
                           .restitution = getRestitution(call, hit),
                           .friction = isHeld ? contact->stiction : contact->friction,
                           .law = law};
    rbImpactResult result;
    rbResolveImpact(&input, &result);
    if (isHeld && result.history != RB_PHASE_STICK) { // it slides
        input.friction = contact->friction;
        rbResolveImpact(&input, &result);
    }
    RB_ASSERT(result.impulse.z >= 0.0);
    rbVec3 p = rbMulMV(frame, result.impulse);
    rbContact_ApplyImpulse(call->run->bodies, contact, point, p);
    rbCollisionNote note = {.contact = hit->contact,
                            .law = law,
                            .arm = point->armA,
                            .impulse = p,
                            .approachSpeed = hit->approach,
                            .normalWork = result.normalWork,
                            .frictionWork = result.frictionWork,
                            .history = result.history,
                            .isEnergyRaised = result.isEnergyRaised};
    addNote(call, &note);
    call->done.isMet = call->done.isMet && !result.isInaccurate;
    return true;
}

// Resolves the points whose bodies collide nowhere else, and removes them from the round.
static void resolveSingles(Call* call, rbImpactLaw law)
{
    rbCollisions* memory = call->memory;
    countUses(call);
    if (call->run->sweepJoints != NULL || memory->bound.facets > 0) {
        return;
    }
    int groupCount = 0;
    int hitCount = 0;
    for (int g = 0; g < memory->groups.count; ++g) {
        Group group = memory->groups.data[g];
        const rbContact* contact = getGroupContact(call, g);
        bool isSingle = group.hitCount == 1 && memory->uses.data[contact->bodyA] <= 1 &&
                        memory->uses.data[contact->bodyB] <= 1;
        if (isSingle && resolveSingle(call, &memory->hits.data[group.firstHit], law)) {
            continue;
        }
        for (int i = 0; i < group.hitCount; ++i) {
            memory->hits.data[hitCount + i] = memory->hits.data[group.firstHit + i];
        }
        group.firstHit = hitCount;
        hitCount += group.hitCount;
        memory->groups.data[groupCount++] = group;
    }
    memory->groups.count = groupCount;
    memory->hits.count = hitCount;
}

// Whether a law that may raise the energy may do so here.
static bool canGain(const Call* call, rbImpactLaw law)
{
    bool canGain = false;
    for (int i = 0; i < call->memory->hits.count; ++i) {
        const rbContact* contact = getContact(call, &call->memory->hits.data[i]);
        double first = getRestitution(call, &call->memory->hits.data[0]);
        canGain = canGain || contact->friction > 0.0 || contact->stiction > 0.0 ||
                  getRestitution(call, &call->memory->hits.data[i]) != first;
    }
    return canGain && rbGetImpactLaw(law)->mayGain;
}

// Adds the impulses of restitution to those of compression. Returns whether there are any; room
// receives the most energy that they may return.
static bool beginRestitution(const Call* call, rbImpactLaw law, double* room)
{
    bool isAny = false;
    beginPhase(call);
    for (int i = 0; i < call->memory->hits.count; ++i) {
        Hit* hit = &call->memory->hits.data[i];
        double e = getRestitution(call, hit);
        double share = rbImpactLaw_GetShare(law, e);
        if (share > 0.0 && hit->p.z > 0.0) {
            isAny = true;
            *room += rbImpactLaw_GetReturn(law, e, hit->works[0]);
            hit->least = (1.0 + share) * hit->p.z;
            setImpulse(call, hit, rbMakeVec3(hit->p.x, hit->p.y, hit->least));
        }
    }
    return isAny;
}

// The points that share bodies. Returns whether all targets are met.
static bool resolveTogether(Call* call, rbImpactLaw law)
{
    beginPhase(call);
    bool isMet = compress(call, law);
    bool mayGain = canGain(call, law) && isMet && !call->isShocked;
    if (!mayGain && !call->isShocked && boundPhase(call, 0.0)) {
        double error = measure(call);
        call->done.error = fmax(call->done.error, error);
        isMet = isMet && error <= call->allowed;
    }
    double rise = endPhase(call);
    double room = 0.0;
    if (!call->isShocked && beginRestitution(call, law, &room)) {
        isMet = sweepToTargets(call, call->settings->sweepsMax) && isMet;
        noteErrors(call);
        (void)boundPhase(call, fmin(room, fmax(0.0, -rise)));
        rise += endPhase(call);
    }
    double rounding = 0.0;
    for (int i = 0; i < call->memory->hits.count; ++i) {
        rounding += call->tolerance * rbLength(call->memory->hits.data[i].p);
    }
    // Where shock propagation or joints took part, other impulses acted, too.
    RB_ASSERT(mayGain || call->isShocked || call->run->sweepJoints != NULL || !(rise > rounding));
    noteRound(call, law, mayGain && rise > rounding);
    return isMet;
}

// ------------------------------------------------------------------------------------- calls

// Whether the rounds end. More of them follow while the approach slows down.
static bool isAtCap(const Call* call, int* roundsMax, double* fastest)
{
    int sweepsMax = call->settings->sweepsMax;
    int bound = sweepsMax > ROUNDS_LEAST ? sweepsMax : ROUNDS_LEAST;
    double approach = findFastest(call);
    if (call->done.rounds >= *roundsMax && approach <= SLOWING * *fastest) {
        *fastest = approach;
        *roundsMax += ROUNDS_MORE;
    }
    return call->done.rounds >= (*roundsMax < bound ? *roundsMax : bound) ||
           call->done.sweeps >= (int64_t)SWEEPS_TIMES * sweepsMax;
}

rbCollisionsDone rbCollisions_Resolve(rbCollisions* collisions, const rbContactSettings* settings,
                                      const rbContactRun* run)
{
    RB_ASSERT(collisions != NULL && settings != NULL && run != NULL && run->set != NULL);
    RB_ASSERT(settings->sweepsMax > 0 && settings->velocityTolerance >= 0.0);
    RB_ASSERT(settings->law < RB_IMPACT_LAW_COUNT && settings->cone < RB_CONE_COUNT);
    RB_ASSERT(run->bodies != NULL || rbContactRun_GetCount(run) == 0);
    RB_ASSERT(run->order == NULL || run->orderCount >= 0);
    Call call = {
        .memory = collisions,
        .settings = settings,
        .run = run,
        .allowed = rbContactRun_GetTolerance(run, settings, true),
        .tolerance = SWEEP_SHARE * rbContactRun_GetTolerance(run, settings, true),
        .restSpeed = rbGetRestSpeed(settings),
        .done.isMet = true,
    };
    collisions->bound = rbMakeFrictionBound(settings);
    collisions->notes.count = 0;
    int roundsMax = ROUNDS_LEAST + ROUNDS_EACH * rbContactRun_GetCount(run);
    double fastest = INFINITY;
    for (bool isQuiet = false; !isQuiet; call.done.rounds += !isQuiet) {
        isQuiet = true;
        for (int law = 0; law < RB_IMPACT_LAW_COUNT; ++law) {
            if (!gather(&call, (rbImpactLaw)law)) {
                continue;
            }
            isQuiet = false;
            if (isAtCap(&call, &roundsMax, &fastest)) {
                call.done.collisions -= collisions->hits.count;
                call.done.approachLeft = findFastest(&call);
                call.done.isMet = false;
                return call.done;
            }
            call.isShocked = false;
            resolveSingles(&call, (rbImpactLaw)law);
            if (collisions->groups.count == 0) {
                call.done.sweeps += 1;
            } else {
                saveBodies(&call);
                call.done.isMet = resolveTogether(&call, (rbImpactLaw)law) && call.done.isMet;
            }
        }
    }
    return call.done;
}
