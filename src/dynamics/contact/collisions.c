// Collisions of several points together (B-66, B-68 to B-72, B-74, B-79).
//
// A round takes the closed points that approach at restSpeed or faster and resolves them by their
// law. Points that these impulses make collide belong to the next round. Rounds end when nothing
// collides, or at a cap: two elastic walls throw a ball that touches both to and fro forever. The
// velocity stage of the contacts stops what still approaches then, without rebound.
//
// A point whose bodies collide nowhere else in the round is an impact as in the event engine, to
// the last digit (rbResolveImpact). Points that share bodies are resolved together (hits.h).
//
// The impulses of shock propagation do not act on bodies at rest; the velocities bound its energy
// in the same way as that of a phase.
#include "dynamics/contact/collisions.h"

#include "base/core/memory.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/hits.h"
#include "dynamics/impact/energy_line.h"

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
#define SWEEP_SHARE 0.5 // part of the tolerance left by sweeps; scaling back may use the rest
#define SHOCK_SWEEPS_LEAST 10 // on a level

// A body of the groups where shock propagation may end a round.
typedef struct Saved {
    int body;
    bool isFrozen;
    rbVec3 velocities[2]; // at the start of the round, after its sweeps
    rbVec3 spins[2];
    rbSym3 factor; // of its inertia
} Saved;

struct rbCollisions {
    RB_ARRAY(rbHit) hits;
    RB_ARRAY(rbHitGroup) groups;
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
    double restSpeed; // m/s
    rbHits all;       // of this round
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

// -------------------------------------------------------------------------------------- hits

static const rbSym3 none = {0};

// Takes over the masses of the bodies, as impulses act on them now.
static void prepareHit(const Call* call, rbHit* hit)
{
    const rbContactSet* set = call->run->set;
    RB_ASSERT(hit->point >= 0 && hit->point < set->pointCount);
    const rbContact* contact = &set->contacts[hit->contact];
    const rbContactPoint* point = &set->points[hit->point];
    for (int i = 0; i < 2; ++i) {
        rbContactBody* body = &call->run->bodies[i == 0 ? contact->bodyA : contact->bodyB];
        hit->sides[i] = (rbHitSide){.velocity = &body->velocity,
                                    .spin = &body->spin,
                                    .inverseMass = body->isFrozen ? 0.0 : body->invMass,
                                    .inverseInertia = body->isFrozen ? &none : &body->invInertia,
                                    .arm = i == 0 ? point->armA : point->armB};
    }
    rbHit_Prepare(hit);
}

static const rbContact* getGroupContact(const Call* call, int group)
{
    int first = call->memory->groups.data[group].firstHit;
    return &call->run->set->contacts[call->memory->hits.data[first].contact];
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
    const rbHitGroup* last = &call->memory->groups.data[end - 1];
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
        for (int i = 0; i < sweepsMax && worst > call->all.tolerance; ++i) {
            rbPoll();
            worst = rbHits_Sweep(&call->all, first, end);
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
        rbHit* hit = &memory->hits.data[i];
        rbVec3 change = rbSub(hit->p, hit->last);
        hit->p = part > 0.0 ? rbAddScaled(hit->last, part, change) : hit->last;
    }
}

// Shock propagation (B-74), after sweeps that did not meet the targets.
static void propagate(void* context)
{
    Call* call = context;
    rbCollisions* memory = call->memory;
    RB_ASSERT(memory->groups.count > 0 && memory->saved.count > 0);
    for (int i = 0; i < memory->hits.count; ++i) {
        memory->hits.data[i].last = memory->hits.data[i].p;
    }
    rbEnergyLine line = drawLine(call, 0);
    double rise = rbEnergyLine_GetRise(&line);
    for (int i = 0; i < memory->saved.count; ++i) {
        Saved* saved = &memory->saved.data[i];
        saved->velocities[1] = call->run->bodies[saved->body].velocity;
        saved->spins[1] = call->run->bodies[saved->body].spin;
    }
    call->all.sweeps += (climbLevels(call) - 1) / memory->groups.count + 1;
    boundShock(call, rise < 0.0 ? -rise : 0.0);
    prepareGroups(call, 0, memory->groups.count);
}

// ------------------------------------------------------------------------------------ work

// The work of friction is a mean over a phase; where it is positive, it is not friction's.
static rbCollisionNote sumGroup(const Call* call, const rbHitGroup* group)
{
    const rbHit* hits = call->memory->hits.data + group->firstHit;
    rbCollisionNote note = {.contact = hits->contact, .law = hits->law};
    double sum = 0.0;
    double works = 0.0;
    for (int i = 0; i < group->hitCount; ++i) {
        const rbHit* hit = &hits[i];
        note.impulse = rbAdd(note.impulse, rbMulMV(hit->frame, hit->p));
        note.arm = rbAddScaled(note.arm, hit->p.z, hit->sides[0].arm);
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
static void noteRound(Call* call)
{
    double booked = 0.0;
    for (int g = 0; g < call->memory->groups.count; ++g) {
        rbCollisionNote note = sumGroup(call, &call->memory->groups.data[g]);
        booked += note.normalWork + note.frictionWork;
        note.isEnergyRaised = call->all.isRaised && note.normalWork + note.frictionWork > 0.0;
        note.history = note.isEnergyRaised ? RB_PHASE_GAINS : RB_PHASE_NONE;
        addNote(call, &note);
    }
    if (call->all.isShocked) {
        rbEnergyLine line = drawLine(call, 0);
        call->done.normalWork += rbEnergyLine_GetRise(&line) - booked;
    }
}

// ---------------------------------------------------------------------------------- points

static void addHit(Call* call, const rbContact* contact, rbImpactLaw law, int point)
{
    rbHit hit = {.contact = (int)(contact - call->run->set->contacts),
                 .point = point,
                 .law = law,
                 .frame = {contact->tangents[0], contact->tangents[1], contact->normal},
                 .belt = contact->hasBelt ? contact->belt : RB_VEC3_ZERO,
                 .friction = contact->friction,
                 .stiction = contact->stiction};
    prepareHit(call, &hit);
    rbVec3 u = rbHit_GetVelocity(&hit);
    hit.approach = -rbDot(u, contact->normal);
    rbVec3 slip = rbAddScaled(u, hit.approach, contact->normal);
    hit.isSticking = rbLength(slip) <= call->all.tolerance;
    hit.restitution = rbRestitutionLaw_Apply(
        call->settings->restitution,
        &(rbRestitutionInput){contact->restitution, hit.approach, hit.normalShare});
    if (hit.normalShare > 0.0) {
        rbArray_Push(call->memory->hits, hit);
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
    rbImpactLaw law = getLaw(call, index);
    rbHitGroup group = {.firstHit = call->memory->hits.count};
    for (int i = contact->firstPoint; i < contact->firstPoint + contact->pointCount; ++i) {
        const rbContactPoint* point = &set->points[i];
        double speed = shared + rbDot(point->armB, turnB) - rbDot(point->armA, turnA);
        if (point->isClosed && speed <= -(call->restSpeed + point->curving)) {
            addHit(call, contact, law, i);
        }
    }
    group.hitCount = call->memory->hits.count - group.firstHit;
    if (group.hitCount > 0) {
        rbArray_Push(call->memory->groups, group);
    }
}

// Collects the points that collide. Returns whether there are any.
static bool gather(Call* call)
{
    const rbContactRun* run = call->run;
    call->memory->hits.count = 0;
    call->memory->groups.count = 0;
    int count = rbContactRun_GetCount(run);
    for (int i = 0; i < count; ++i) {
        int index = rbContactRun_GetContact(run, i);
        RB_ASSERT(index >= 0 && index < run->set->contactCount);
        addGroup(call, index);
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
static bool resolveSingle(Call* call, rbHit* hit)
{
    rbSym3 k = rbHit_GetMatrix(hit);
    double determinant = k.xx * (k.yy * k.zz - k.yz * k.yz) - k.xy * (k.xy * k.zz - k.yz * k.xz) +
                         k.xz * (k.xy * k.yz - k.yy * k.xz);
    double trace = k.xx + k.yy + k.zz;
    if (!(determinant > RB_HIT_SINGULAR * trace * trace * trace)) {
        return false;
    }
    bool isHeld = hit->isSticking && hit->stiction > hit->friction;
    rbImpactInput input = {.matrix = k,
                           .velocity = rbMulMtV(hit->frame, rbHit_GetVelocity(hit)),
                           .restitution = hit->restitution,
                           .friction = isHeld ? hit->stiction : hit->friction,
                           .law = hit->law};
    rbImpactResult result;
    rbResolveImpact(&input, &result);
    if (isHeld && result.history != RB_PHASE_STICK) { // it slides
        input.friction = hit->friction;
        rbResolveImpact(&input, &result);
    }
    RB_ASSERT(result.impulse.z >= 0.0);
    rbHit_SetImpulse(hit, result.impulse);
    rbCollisionNote note = {.contact = hit->contact,
                            .law = hit->law,
                            .arm = hit->sides[0].arm,
                            .impulse = rbMulMV(hit->frame, result.impulse),
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
static void resolveSingles(Call* call)
{
    rbCollisions* memory = call->memory;
    countUses(call);
    if (call->run->sweepJoints != NULL || memory->bound.facets > 0) {
        return;
    }
    int groupCount = 0;
    int hitCount = 0;
    for (int g = 0; g < memory->groups.count; ++g) {
        rbHitGroup group = memory->groups.data[g];
        const rbContact* contact = getGroupContact(call, g);
        bool isSingle = group.hitCount == 1 && memory->uses.data[contact->bodyA] <= 1 &&
                        memory->uses.data[contact->bodyB] <= 1;
        if (isSingle && resolveSingle(call, &memory->hits.data[group.firstHit])) {
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

static bool sweepJoints(void* context, double* error)
{
    const rbContactRun* run = ((const Call*)context)->run;
    return run->sweepJoints(run->context, error);
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
           call->all.sweeps >= (int64_t)SWEEPS_TIMES * sweepsMax;
}

rbCollisionsDone rbCollisions_Resolve(rbCollisions* collisions, const rbContactSettings* settings,
                                      const rbContactRun* run)
{
    RB_ASSERT(collisions != NULL && settings != NULL && run != NULL && run->set != NULL);
    RB_ASSERT(settings->sweepsMax > 0 && settings->velocityTolerance >= 0.0);
    RB_ASSERT(settings->law < RB_IMPACT_LAW_COUNT && settings->cone < RB_CONE_COUNT);
    RB_ASSERT(run->bodies != NULL || rbContactRun_GetCount(run) == 0);
    RB_ASSERT(run->order == NULL || run->orderCount >= 0);
    double allowed = rbContactRun_GetTolerance(run, settings, true);
    double tolerance = SWEEP_SHARE * allowed;
    collisions->bound = rbMakeFrictionBound(settings);
    collisions->notes.count = 0;
    Call call = {
        .memory = collisions,
        .settings = settings,
        .run = run,
        .restSpeed = rbGetRestSpeed(settings),
        .all = {.bound = &collisions->bound,
                .allowed = allowed,
                .tolerance = tolerance,
                .rounding = tolerance,
                .sweepsMax = settings->sweepsMax,
                .sweepJoints = run->sweepJoints != NULL ? sweepJoints : NULL,
                .propagate = propagate,
                .shockAfter = settings->shockAfter},
        .done.isMet = true,
    };
    call.all.context = &call;
    int roundsMax = ROUNDS_LEAST + ROUNDS_EACH * rbContactRun_GetCount(run);
    double fastest = INFINITY;
    for (; gather(&call); call.done.rounds += 1) {
        if (isAtCap(&call, &roundsMax, &fastest)) {
            call.done.collisions -= collisions->hits.count;
            call.done.approachLeft = findFastest(&call);
            call.done.isMet = false;
            break;
        }
        resolveSingles(&call);
        if (collisions->groups.count == 0) {
            call.all.sweeps += 1;
        } else {
            saveBodies(&call);
            call.all.hits = collisions->hits.data;
            call.all.hitCount = collisions->hits.count;
            call.all.groups = collisions->groups.data;
            call.all.groupCount = collisions->groups.count;
            call.done.isMet = rbHits_Resolve(&call.all) && call.done.isMet;
            noteRound(&call);
        }
    }
    call.done.sweeps = call.all.sweeps;
    call.done.error = call.all.error;
    call.done.jointError = call.all.jointError;
    return call.done;
}
