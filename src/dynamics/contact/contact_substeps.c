#include "dynamics/contact/contact_substeps.h"

#include "base/core/memory.h"
#include "dynamics/contact/contact_factor.h"
#include "dynamics/contact/contact_wide.h"

#include <stdlib.h>
#include <string.h>

// Sweep limits up to this value mean a game's budget.
#define SWEEPS_CAPPED 30
// Number of sweeps of a small step.
#define SWEEPS_EACH 2
// The springs: their frequency relative to the rate of small steps, and the damping ratio.
#define SPRING_PART 0.125
#define SPRING_DAMPING 10.0
// The fraction of a slip that a step undoes.
#define SLIP_PART 0.1
// Contacts of a body get different colors; if a body has more than this many, the others are
// visited one by one.
#define COLORS 64

// Data of a slot that sweeps do not touch.
typedef struct SlotBody {
    rbSym3 factor;     // G of I^-1 = G G^T
    float start[8];    // velocity and scaled spin at the start of the step
    float base[8];     // added, when the small step began: with its kick, without impulses
    float kick[4];     // m/s, of a small step
    float free[4];     // m/s, what kicks alone have added
    float freeMove[4]; // m, by that
    float mass;        // kg
    uint64_t colors;   // of its contacts
    int index;         // of the host
    int root;          // a slot of its island with a smaller number; itself: the smallest one
    bool isDriven;     // of a root: moving obstacles touch the island
    double power;      // of a root: power of the step's impulses on the velocities without them
    double energy;     // of a root: twice the energy the impulses gave alone
    float scale;       // of a root: fraction of the impulses that is kept
} SlotBody;

// A contact being assigned to a group.
typedef struct Placed {
    int contact;
    int slotA;
    int slotB;
    int key; // color, then number of points, most first
} Placed;

struct rbContactSubsteps {
    rbContactSettings settings;
    RB_ARRAY(rbWideBody) bodies; // by slot
    RB_ARRAY(SlotBody) starts;   // by slot
    RB_ARRAY(int) slots;         // by body of the host, 0: none
    RB_ARRAY(Placed) found;
    RB_ARRAY(Placed) sorted; // by key
    RB_ARRAY(rbWideGroup) groups;
    RB_ARRAY(rbWidePoint) points;
};

#define KEYS ((COLORS + 1) * RB_MANIFOLD_POINTS_MAX)

rbContactSubsteps* rbCreateContactSubsteps(const rbContactSettings* settings)
{
    RB_ASSERT(settings != NULL && settings->sweepsMax > 0);
    rbContactSubsteps* substeps = rbAllocZero(1, sizeof *substeps);
    substeps->settings = *settings;
    return substeps;
}

void rbDestroyContactSubsteps(rbContactSubsteps* substeps)
{
    if (substeps == NULL) {
        return;
    }
    rbArray_Free(substeps->bodies);
    rbArray_Free(substeps->starts);
    rbArray_Free(substeps->slots);
    rbArray_Free(substeps->found);
    rbArray_Free(substeps->sorted);
    rbArray_Free(substeps->groups);
    rbArray_Free(substeps->points);
    rbFree(substeps, sizeof *substeps);
}

// Small steps in a step.
static int countSmall(const rbContactSettings* settings)
{
    int count = settings->sweepsMax / SWEEPS_EACH;
    return count > 0 ? count : 1;
}

bool rbContactSettings_IsCapped(const rbContactSettings* settings)
{
    return settings->sweepsMax <= SWEEPS_CAPPED && settings->cone == RB_CONE_EXACT &&
           settings->shockAfter == 0;
}

bool rbContactSubsteps_CanSolve(const rbContactRun* run, int contact, double restSpeed)
{
    const rbContact* c = &run->set->contacts[contact];
    if (c->rolling > 0.0 || c->spinning > 0.0) {
        return false;
    }
    for (int k = 0; c->restitution > 0.0 && k < c->pointCount; ++k) {
        const rbContactPoint* point = &run->set->points[c->firstPoint + k];
        double u = rbDot(c->normal, rbContact_RelativeVelocity(run->bodies, c, point));
        if (!point->isClosed && u < -restSpeed && point->gap + run->h * u < 0.0) {
            return false;
        }
    }
    return true;
}

// ----------------------------------------------------------------------------------------- packing

static int addSlot(rbContactSubsteps* s, const rbSubstepsTask* task, int index, int count)
{
    const rbContactBody* body = &task->run->bodies[index];
    RB_ASSERT(index >= 0);
    if (!rbContactBody_IsMovable(body)) {
        return 0;
    }
    while (s->slots.count <= index) {
        rbArray_Push(s->slots, 0);
    }
    if (s->slots.data[index] == 0) {
        rbVec3 kick = task->kicks[index];
        rbWideBody added = {
            .velocity = {(float)(-0.5 * kick.x), (float)(-0.5 * kick.y), (float)(-0.5 * kick.z)}};
        double part = 1.0 / (double)count;
        rbSym3 factor = rbFactorInertia(&body->invInertia);
        rbVec3 v = body->velocity;
        rbVec3 y = rbSolveFactor(&factor, body->spin);
        SlotBody start = {
            .factor = factor,
            .start = {(float)v.x, (float)v.y, (float)v.z, 0.0f, (float)y.x, (float)y.y, (float)y.z},
            .mass = body->invMass > 0.0 ? (float)(1.0 / body->invMass) : 0.0f,
            .root = s->bodies.count,
            .kick = {(float)(part * kick.x), (float)(part * kick.y), (float)(part * kick.z)},
            .index = index};
        memcpy(start.free, added.velocity, sizeof start.free);
        s->slots.data[index] = s->bodies.count;
        rbArray_Push(s->bodies, added);
        rbArray_Push(s->starts, start);
    }
    return s->slots.data[index];
}

static int findRoot(rbContactSubsteps* s, int slot)
{
    SlotBody* slots = s->starts.data;
    while (slots[slot].root != slot) {
        slots[slot].root = slots[slots[slot].root].root;
        slot = slots[slot].root;
    }
    return slot;
}

static bool isDriving(const rbContactBody* body)
{
    return rbLengthSquared(body->velocity) > 0.0 || rbLengthSquared(body->spin) > 0.0;
}

// Bodies that touch belong to one island.
static void unite(rbContactSubsteps* s, const rbSubstepsTask* task, const Placed* placed)
{
    const rbContact* contact = &task->run->set->contacts[placed->contact];
    if (placed->slotA > 0 && placed->slotB > 0) {
        int a = findRoot(s, placed->slotA);
        int b = findRoot(s, placed->slotB);
        int low = a < b ? a : b;
        int high = a < b ? b : a;
        s->starts.data[low].isDriven =
            s->starts.data[low].isDriven || s->starts.data[high].isDriven;
        s->starts.data[high].root = low;
    } else {
        int obstacle = placed->slotA > 0 ? contact->bodyB : contact->bodyA;
        SlotBody* root = &s->starts.data[findRoot(s, placed->slotA + placed->slotB)];
        root->isDriven = root->isDriven || isDriving(&task->run->bodies[obstacle]);
    }
}

// The first color that neither body has; COLORS: there is none.
static int chooseColor(rbContactSubsteps* s, int slotA, int slotB)
{
    SlotBody* a = &s->starts.data[slotA];
    SlotBody* b = &s->starts.data[slotB];
    uint64_t taken = (slotA > 0 ? a->colors : 0) | (slotB > 0 ? b->colors : 0);
    if (taken == UINT64_MAX) {
        return COLORS;
    }
    int color = 0;
    for (uint64_t rest = taken; (rest & 1u) != 0; rest >>= 1) {
        ++color;
    }
    a->colors |= (uint64_t)1 << color;
    b->colors |= (uint64_t)1 << color;
    return color;
}

static void placeContacts(rbContactSubsteps* s, const rbSubstepsTask* task, int count)
{
    const rbContactRun* run = task->run;
    int starts[KEYS + 1] = {0};
    int contactCount = run->order != NULL ? run->orderCount : run->set->contactCount;
    s->found.count = 0;
    for (int i = 0; i < contactCount; ++i) {
        int index = run->order != NULL ? run->order[i] : i;
        const rbContact* contact = &run->set->contacts[index];
        RB_ASSERT(contact->pointCount <= RB_MANIFOLD_POINTS_MAX);
        Placed placed = {index, addSlot(s, task, contact->bodyA, count),
                         addSlot(s, task, contact->bodyB, count), 0};
        if ((placed.slotA == 0 && placed.slotB == 0) || contact->pointCount == 0) {
            continue;
        }
        unite(s, task, &placed);
        int color = chooseColor(s, placed.slotA, placed.slotB);
        placed.key = color * RB_MANIFOLD_POINTS_MAX + RB_MANIFOLD_POINTS_MAX - contact->pointCount;
        starts[placed.key + 1] += 1;
        rbArray_Push(s->found, placed);
    }
    for (int i = 0; i < KEYS; ++i) {
        starts[i + 1] += starts[i];
    }
    rbArray_Reserve(s->sorted, s->found.count);
    s->sorted.count = s->found.count;
    for (int i = 0; i < s->found.count; ++i) {
        s->sorted.data[starts[s->found.data[i].key]++] = s->found.data[i];
    }
}

static void setLane(rbQuad to[3], int lane, rbVec3 v)
{
    to[0][lane] = (float)v.x;
    to[1][lane] = (float)v.y;
    to[2][lane] = (float)v.z;
}

static void setFactor(rbQuad to[6], int lane, const rbSym3* g)
{
    const double factors[6] = {g->xx, g->yy, g->zz, g->xy, g->xz, g->yz};
    for (int i = 0; i < 6; ++i) {
        to[i][lane] = (float)factors[i];
    }
}

static double chooseFriction(const rbContactPoint* from, const rbContact* contact, rbVec3 u)
{
    if (contact->friction == contact->stiction) {
        return contact->friction;
    }
    double along = rbDot(u, contact->normal);
    double slide = rbLengthSquared(u) - along * along;
    return rbContactPoint_ChooseFriction(from, contact, slide > 0.0 ? sqrt(slide) : 0.0);
}

// Arms and speeds in world axes, from which rbWideGroup_Build makes rows.
static void packPoint(const rbSubstepsTask* task, const rbContact* contact, int k, double part,
                      rbWidePoint* to, int lane)
{
    const rbContactRun* run = task->run;
    const rbContactPoint* from = &run->set->points[contact->firstPoint + k];
    rbVec3 u = rbContact_RelativeVelocity(run->bodies, contact, from);
    double drift = SLIP_PART / run->h;
    setLane(to->rows[0].a, lane, from->armA);
    setLane(to->rows[0].b, lane, from->armB);
    setLane(to->speeds, lane, u);
    for (int t = 0; t < 3; ++t) {
        to->impulse[t][lane] = (float)(part * from->impulse[t]);
    }
    to->gap[lane] = (float)from->gap;
    to->drift[0][lane] = (float)(drift * from->slip[0]);
    to->drift[1][lane] = (float)(drift * from->slip[1]);
    to->friction[lane] = (float)chooseFriction(from, contact, u);
}

static void packLane(const rbContactSubsteps* s, const rbSubstepsTask* task, const Placed* placed,
                     rbWideGroup* group, rbWideFactors* factors, int lane)
{
    const rbContact* contact = &task->run->set->contacts[placed->contact];
    const rbContactBody* bodies = task->run->bodies;
    setLane(group->axes[0], lane, contact->normal);
    setLane(group->axes[1], lane, contact->tangents[0]);
    setLane(group->axes[2], lane, contact->tangents[1]);
    setFactor(factors->a, lane, &s->starts.data[placed->slotA].factor);
    setFactor(factors->b, lane, &s->starts.data[placed->slotB].factor);
    group->slotA[lane] = placed->slotA;
    group->slotB[lane] = placed->slotB;
    group->contacts[lane] = placed->contact;
    group->counts[lane] = contact->pointCount;
    group->invMassA[lane] = placed->slotA > 0 ? (float)bodies[contact->bodyA].invMass : 0.0f;
    group->invMassB[lane] = placed->slotB > 0 ? (float)bodies[contact->bodyB].invMass : 0.0f;
    // impulses come in as halves, of a step
    double part = 2.0 / (double)countSmall(&s->settings);
    for (int k = 0; k < contact->pointCount; ++k) {
        packPoint(task, contact, k, part, &s->points.data[group->firstPoint + k], lane);
    }
}

// How many of the sorted contacts, starting at the first, share a group: those of one color.
static int countShare(const rbContactSubsteps* s, int first)
{
    int color = s->sorted.data[first].key / RB_MANIFOLD_POINTS_MAX;
    int count = 1;
    while (color < COLORS && count < RB_WIDTH && first + count < s->sorted.count &&
           s->sorted.data[first + count].key / RB_MANIFOLD_POINTS_MAX == color) {
        ++count;
    }
    return count;
}

static void packGroups(rbContactSubsteps* s, const rbSubstepsTask* task)
{
    s->groups.count = 0;
    s->points.count = 0;
    for (int first = 0; first < s->sorted.count;) {
        int count = countShare(s, first);
        const Placed* placed = &s->sorted.data[first];
        rbWideGroup group = {.contacts = {-1, -1, -1, -1}, .firstPoint = s->points.count};
        rbWideFactors factors = {0};
        group.pointCount = RB_MANIFOLD_POINTS_MAX - placed[0].key % RB_MANIFOLD_POINTS_MAX;
        rbArray_Reserve(s->points, s->points.count + group.pointCount);
        s->points.count += group.pointCount;
        rbWidePoint* points = &s->points.data[group.firstPoint];
        if (count < RB_WIDTH || placed[count - 1].key != placed[0].key) {
            memset(points, 0, (size_t)group.pointCount * sizeof *points);
        }
        for (int i = 0; i < count; ++i) {
            packLane(s, task, &placed[i], &group, &factors, i);
        }
        rbWideGroup_Build(&group, &factors, points);
        rbArray_Push(s->groups, group);
        first += count;
    }
}

static void pack(rbContactSubsteps* s, const rbSubstepsTask* task, int count)
{
    for (int i = 1; i < s->starts.count; ++i) {
        s->slots.data[s->starts.data[i].index] = 0;
    }
    s->bodies.count = 0;
    s->starts.count = 0;
    rbArray_Push(s->bodies, (rbWideBody){.velocity = {0.0f}});
    rbArray_Push(s->starts, (SlotBody){.index = -1});
    placeContacts(s, task, count);
    packGroups(s, task);
}

// ------------------------------------------------------------------------------------- small steps

// Forces, and the impulses of the last small step again: their effect on the bodies is known.
// isFirst: those of the last step act.
static void beginSmall(rbContactSubsteps* s, const rbWide* wide, bool isFirst)
{
    for (int i = 1; i < s->bodies.count; ++i) {
        rbWideBody* body = &s->bodies.data[i];
        SlotBody* own = &s->starts.data[i];
        for (int k = 0; k < 4; ++k) {
            float pushed = isFirst ? 0.0f : body->velocity[k] - own->base[k];
            float turned = isFirst ? 0.0f : body->spin[k] - own->base[4 + k];
            own->base[k] = body->velocity[k] + own->kick[k];
            own->base[4 + k] = body->spin[k];
            body->velocity[k] = own->base[k] + pushed;
            body->spin[k] = own->base[4 + k] + turned;
            own->free[k] += own->kick[k];
        }
    }
    if (isFirst) {
        rbWide_Act(wide);
    }
}

// Effect of a step's impulses on a body: twice their energy alone, and their power on the velocity
// without them.
static void addEnergy(SlotBody* root, const rbWideBody* body, const SlotBody* own)
{
    for (int k = 0; k < 4; ++k) {
        double pushed = (double)body->velocity[k] - (double)own->free[k];
        double turned = (double)body->spin[k];
        root->power += (double)own->mass * pushed * ((double)own->start[k] + (double)own->free[k]) +
                       turned * (double)own->start[4 + k];
        root->energy += (double)own->mass * pushed * pushed + turned * turned;
    }
}

// The fraction of a step's impulses by which islands gain no energy: with the fraction s they gain
// s power + s^2 energy / 2. Moving obstacles do work: there it is 1.
static bool chooseScales(rbContactSubsteps* s)
{
    bool areWhole = true;
    for (int i = 1; i < s->starts.count; ++i) {
        s->starts.data[i].power = 0.0;
        s->starts.data[i].energy = 0.0;
    }
    for (int i = 1; i < s->starts.count; ++i) {
        addEnergy(&s->starts.data[findRoot(s, i)], &s->bodies.data[i], &s->starts.data[i]);
    }
    for (int i = 1; i < s->starts.count; ++i) {
        SlotBody* own = &s->starts.data[i];
        bool isBound = own->root == i && !own->isDriven && own->power + 0.5 * own->energy > 0.0;
        double scale = isBound ? -2.0 * own->power / own->energy : 1.0;
        own->scale = scale > 0.0 ? (float)scale : 0.0f;
        areWhole = areWhole && !isBound;
    }
    return areWhole;
}

static void scaleTotals(rbContactSubsteps* s)
{
    for (int i = 0; i < s->groups.count; ++i) {
        const rbWideGroup* group = &s->groups.data[i];
        rbQuad scales = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int lane = 0; lane < RB_WIDTH && group->contacts[lane] >= 0; ++lane) {
            int slot = group->slotA[lane] > 0 ? group->slotA[lane] : group->slotB[lane];
            scales[lane] = s->starts.data[findRoot(s, slot)].scale;
        }
        for (int k = group->firstPoint; k < group->firstPoint + group->pointCount; ++k) {
            for (int t = 0; t < 3; ++t) {
                s->points.data[k].total[t] *= scales;
            }
        }
    }
}

// Contacts without rebound dissipate energy. Where few sweeps have not removed the energy of the
// springs (hundreds of bodies in one place), only the fraction of the impulses is kept that adds
// none. Nothing more is required: a heap that rebounds by the weight of a step must still carry
// itself.
static void boundEnergy(rbContactSubsteps* s)
{
    if (chooseScales(s)) {
        return;
    }
    scaleTotals(s);
    for (int i = 1; i < s->bodies.count; ++i) {
        rbWideBody* body = &s->bodies.data[i];
        const SlotBody* own = &s->starts.data[i];
        float scale = s->starts.data[findRoot(s, i)].scale;
        for (int k = 0; k < 4 && scale != 1.0f; ++k) {
            body->velocity[k] = own->free[k] + scale * (body->velocity[k] - own->free[k]);
            body->spin[k] *= scale;
        }
    }
}

static void fly(rbContactSubsteps* s, float h)
{
    for (int i = 1; i < s->bodies.count; ++i) {
        rbWideBody* body = &s->bodies.data[i];
        SlotBody* own = &s->starts.data[i];
        for (int k = 0; k < 4; ++k) {
            own->freeMove[k] += h * own->free[k];
            body->moved[k] += h * body->velocity[k];
            body->turned[k] += h * body->spin[k];
        }
    }
}

static rbVec3 widen(const float from[3], double scale)
{
    return rbMakeVec3(scale * (double)from[0], scale * (double)from[1], scale * (double)from[2]);
}

static rbVec3 turnOf(const SlotBody* start, const float y[3], double scale)
{
    double wide[3] = {scale * (double)y[0], scale * (double)y[1], scale * (double)y[2]};
    return rbMulFactor(&start->factor, wide);
}

// Whether no impulse has acted on a body.
static bool isUntouched(const rbWideBody* body, const SlotBody* start)
{
    bool isSame = true;
    for (int k = 0; k < 3; ++k) {
        isSame = isSame && body->velocity[k] == start->free[k] && body->spin[k] == 0.0f &&
                 body->moved[k] == start->freeMove[k] && body->turned[k] == 0.0f;
    }
    return isSame;
}

// Returns the work of contacts: the change of kinetic energy not due to the kicks, J.
static double finishBodies(const rbContactSubsteps* s, const rbSubstepsTask* task)
{
    double perStep = 1.0 / task->run->h;
    double work = 0.0;
    for (int i = 1; i < s->bodies.count; ++i) {
        const rbWideBody* body = &s->bodies.data[i];
        const SlotBody* start = &s->starts.data[i];
        rbContactBody* shown = &task->run->bodies[start->index];
        rbContactBody* flight = &task->flights[start->index];
        rbVec3 kick = task->kicks[start->index];
        if (isUntouched(body, start)) {
            continue; // it flies as if alone
        }
        rbVec3 flown = rbAdd(shown->velocity, widen(body->moved, perStep));
        rbVec3 added = rbAddScaled(widen(body->velocity, 1.0), -0.5, kick);
        rbVec3 y = widen(body->spin, 1.0);
        if (!rbIsFinite3(flown) || !rbIsFinite3(added) || !rbIsFinite3(y)) {
            continue; // numbers beyond single precision: it flies on
        }
        rbVec3 before = rbSolveFactor(&start->factor, shown->spin);
        rbVec3 mean = rbAddScaled(shown->velocity, 0.5, added);
        double mass = shown->invMass > 0.0 ? 1.0 / shown->invMass : 0.0;
        work += mass * (rbDot(rbAdd(added, kick), mean) - rbDot(kick, flown)) +
                rbDot(y, rbAddScaled(before, 0.5, y));
        flight->velocity = flown;
        flight->spin = rbAdd(shown->spin, turnOf(start, body->turned, perStep));
        shown->velocity = rbAdd(shown->velocity, added);
        shown->spin = rbAdd(shown->spin, turnOf(start, body->spin, 1.0));
    }
    return work;
}

static void finishPoints(const rbContactSubsteps* s, const rbContactSet* set)
{
    for (int i = 0; i < s->groups.count; ++i) {
        const rbWideGroup* group = &s->groups.data[i];
        for (int lane = 0; lane < RB_WIDTH && group->contacts[lane] >= 0; ++lane) {
            const rbContact* contact = &set->contacts[group->contacts[lane]];
            for (int k = 0; k < contact->pointCount; ++k) {
                const rbWidePoint* from = &s->points.data[group->firstPoint + k];
                rbContactPoint* to = &set->points[contact->firstPoint + k];
                double p[3] = {(double)from->impulse[0][lane], (double)from->impulse[1][lane],
                               (double)from->impulse[2][lane]};
                double most = (double)from->friction[lane] * p[0];
                // strictly inside: a sliding point is on the rim except for rounding
                to->isSticking = p[1] * p[1] + p[2] * p[2] < (1.0 - 1e-5) * most * most;
                for (int t = 0; t < 3; ++t) {
                    to->impulse[t] = (double)from->total[t][lane];
                }
            }
        }
    }
}

static rbWidePass makePass(const rbContactSettings* settings, double dt)
{
    double omega = 2.0 * 3.14159265358979323846 * SPRING_PART / dt;
    double a1 = 2.0 * SPRING_DAMPING + dt * omega;
    double a2 = dt * omega * a1;
    return (rbWidePass){.invStep = (float)(1.0 / dt),
                        .rate = (float)(omega / a1),
                        .partSpeed = (float)settings->partSpeed,
                        .massScale = (float)(a2 / (1.0 + a2)),
                        .impulseScale = (float)(1.0 / (1.0 + a2))};
}

rbSubstepsDone rbContactSubsteps_Solve(rbContactSubsteps* substeps, const rbSubstepsTask* task)
{
    const rbContactSettings* settings = &substeps->settings;
    RB_ASSERT(task->run->set != NULL && task->run->h > 0.0);
    int count = countSmall(settings);
    double dt = task->run->h / (double)count;
    rbSubstepsDone done = {.solved = {.sweeps = SWEEPS_EACH * count, .worst = -1}};
    pack(substeps, task, count);
    rbWide wide = {substeps->bodies.data, substeps->points.data, substeps->groups.data,
                   substeps->groups.count};
    rbWidePass pass = makePass(settings, dt);
    for (int i = 0; i < count; ++i) {
        beginSmall(substeps, &wide, i == 0);
        pass.time = (float)(dt * (double)i);
        rbWide_Push(&wide, &pass);
        fly(substeps, (float)dt);
        pass.time = (float)(dt * (double)(i + 1));
        rbWide_Relax(&wide, &pass);
    }
    boundEnergy(substeps);
    rbWideRest rest = rbWide_Measure(&wide, &pass, task->restSpeed);
    done.solved.gapError = rest.overlap;
    done.solved.worst = rest.worst >= 0 ? substeps->groups.data[rest.worst].contacts[0] : -1;
    done.solved.isMet =
        rest.overlap <= settings->tolerance && rest.approach <= settings->velocityTolerance;
    done.approach = rest.approach;
    done.frictionWork = rest.frictionWork;
    done.impactWork = rest.impactWork;
    finishPoints(substeps, task->run->set);
    done.work = finishBodies(substeps, task);
    return done;
}
