// Packing of contacts into rows, and sweeps over them, see contact_rows.h.
#include "dynamics/contact/contact_rows.h"

#include "dynamics/impact/impact_law.h"

#include <math.h>
#include <string.h>

// A determinant of t K t below this fraction of its product of diagonals is rounding.
#define DETERMINANT_LEAST 1e-12
// A guess whose best scale is this close to 1 is used unscaled, so that rest stays rest.
#define GUESS_PLAY 0.05
#define GUESS_MOST 1.5

void rbContactRows_Free(rbContactRows* rows)
{
    rbArray_FreeAll(rows->packs, rows->packOf, rows->contacts, rows->points, rows->turns);
    rbArray_FreeAll(rows->bodies, rows->starts, rows->slots);
}

static inline double dotSix(const rbSweepSix* j, const rbSweepSix* y)
{
    rbLanePair sum = j->a * y->a + j->b * y->b + j->c * y->c;
    return sum[0] + sum[1];
}

static inline void addSix(rbSweepSix* y, double p, const rbSweepSix* j)
{
    rbLanePair both = rbLanePair_Both(p);
    y->a += both * j->a;
    y->b += both * j->b;
    y->c += both * j->c;
}

static inline rbSweepSix gatherSix(const rbRowBody* a, const rbRowBody* b)
{
    rbSweepSix y = {{a->spin[0], a->spin[1]}, {a->spin[2], b->spin[0]}, {b->spin[1], b->spin[2]}};
    return y;
}

static inline void scatterSix(const rbSweepSix* y, rbRowBody* a, rbRowBody* b)
{
    a->spin[0] = y->a[0];
    a->spin[1] = y->a[1];
    a->spin[2] = y->b[0];
    b->spin[0] = y->b[1];
    b->spin[1] = y->c[0];
    b->spin[2] = y->c[1];
}

static inline void pushBody(rbRowBody* body, double scale, rbVec3 p)
{
    body->velocity[0] += scale * p.x;
    body->velocity[1] += scale * p.y;
    body->velocity[2] += scale * p.z;
}

static rbSweepSix makeSix(rbVec3 a, rbVec3 b)
{
    rbSweepSix six = {{a.x, a.y}, {a.z, b.x}, {b.y, b.z}};
    return six;
}

static int addSlot(rbContactRows* rows, const rbContactRun* run, int index)
{
    const rbContactBody* body = &run->bodies[index];
    RB_ASSERT(index >= 0);
    if (!rbContactBody_IsMovable(body)) {
        return 0;
    }
    rbArray_Fill(rows->slots, index + 1, 0);
    if (rows->slots.data[index] == 0) {
        rbRowBody added = {.invMass = body->invMass};
        rbRowsBody start = {.factor = rbFactorInertia(&body->invInertia), .index = index};
        rows->slots.data[index] = rows->bodies.count;
        rbArray_Push(rows->bodies, added);
        rbArray_Push(rows->starts, start);
    }
    return rows->slots.data[index];
}

// Reciprocals of masses from the rows; zero for immovable bodies or on overflow.
static void weighPoint(rbSweepPoint* point, double massSum)
{
    const rbSweepSix* r = point->rows;
    double kn = massSum + dotSix(&r[0], &r[0]);
    double k11 = massSum + dotSix(&r[1], &r[1]);
    double k22 = massSum + dotSix(&r[2], &r[2]);
    double k12 = dotSix(&r[1], &r[2]);
    bool isFit = kn > 0.0 && k11 > 0.0 && k22 > 0.0 && isfinite(kn + k11 + k22);
    point->invNormal = isFit && isfinite(1.0 / kn) ? 1.0 / kn : 0.0;
    RB_ASSERT(point->invNormal >= 0.0);
    point->slideStep = 0.0;
    memset(point->invTangents, 0, sizeof(point->invTangents));
    if (point->invNormal == 0.0) {
        return;
    }
    double largest = rbFindLargest(k11, k22, k12);
    double det = k11 * k22 - k12 * k12;
    bool isSound = isfinite(largest) && isfinite(1.0 / largest);
    point->slideStep = isSound ? 1.0 / largest : 0.0;
    if (isSound && det > DETERMINANT_LEAST * k11 * k22 && isfinite(det)) {
        point->invTangents[0] = k22 / det;
        point->invTangents[1] = k11 / det;
        point->invTangents[2] = -k12 / det;
    } else {
        point->invTangents[0] = point->slideStep;
        point->invTangents[1] = point->slideStep;
    }
}

// Masses of all points of a contact, and between their normals.
static void weighContact(rbContactRows* rows, const rbSweepContact* contact)
{
    RB_ASSERT(contact->firstPoint + contact->pointCount <= rows->points.count);
    rbSweepPoint* points = &rows->points.data[contact->firstPoint];
    double massSum = contact->invMasses[0] + contact->invMasses[1];
    for (int i = 0; i < contact->pointCount; ++i) {
        weighPoint(&points[i], massSum);
        for (int j = 0; j <= i; ++j) {
            double k = massSum + dotSix(&points[i].rows[0], &points[j].rows[0]);
            points[i].coupling[j] = k;
            points[j].coupling[i] = k;
        }
    }
}

// A normal that joints block completely must not get an infinite impulse.
#define REACTION_MOST 0.999999

// Masses of the normals of a contact, reduced by the effect of joints; kept above a small fraction
// of their value.
static void react(rbContactRows* rows, const rbContactRun* run, const rbSweepContact* packed)
{
    double table[RB_MANIFOLD_POINTS_MAX * RB_MANIFOLD_POINTS_MAX];
    run->react(run->context, packed->index, table);
    weighContact(rows, packed);
    rbSweepPoint* points = &rows->points.data[packed->firstPoint];
    int first = run->set->contacts[packed->index].firstPoint;
    for (int i = 0; i < packed->pointCount; ++i) {
        for (int j = 0; j < packed->pointCount; ++j) {
            // Rows have closed points first, the table is in the order of the set.
            int at = RB_MANIFOLD_POINTS_MAX * (points[i].index - first) + (points[j].index - first);
            double most = i == j ? REACTION_MOST * points[i].coupling[i] : INFINITY;
            points[i].coupling[j] -= fmin(table[at], most);
        }
        double kn = points[i].coupling[i];
        points[i].invNormal = points[i].invNormal > 0.0 && isfinite(1.0 / kn) ? 1.0 / kn : 0.0;
    }
}

static void weighTurn(rbSweepTurn* turn)
{
    const rbSweepSix* r = turn->rows;
    double k11 = dotSix(&r[0], &r[0]);
    double k22 = dotSix(&r[1], &r[1]);
    double k12 = dotSix(&r[0], &r[1]);
    double kn = dotSix(&r[2], &r[2]);
    double largest = rbFindLargest(k11, k22, k12);
    turn->rollingStep = largest > 0.0 && isfinite(1.0 / largest) ? 1.0 / largest : 0.0;
    turn->invSpinning = kn > 0.0 && isfinite(1.0 / kn) ? 1.0 / kn : 0.0;
}

static void packPoint(rbContactRows* rows, const rbContactRun* run, const rbSweepContact* contact,
                      int index)
{
    const rbContactPoint* from = &run->set->points[index];
    const rbSym3* ga = &rows->starts.data[contact->slots[0]].factor;
    const rbSym3* gb = &rows->starts.data[contact->slots[1]].factor;
    rbSweepPoint point = {.index = index};
    for (int i = 0; i < 3; ++i) {
        rbVec3 a = rbMulFactorTransposed(ga, rbCross(from->armA, rbNeg(contact->axes[i])));
        rbVec3 b = rbMulFactorTransposed(gb, rbCross(from->armB, contact->axes[i]));
        point.rows[i] = makeSix(a, b);
    }
    rbArray_Push(rows->points, point);
}

static void packTurn(rbContactRows* rows, const rbContactRun* run, rbSweepContact* contact,
                     const rbContact* from)
{
    const rbSym3* ga = &rows->starts.data[contact->slots[0]].factor;
    const rbSym3* gb = &rows->starts.data[contact->slots[1]].factor;
    rbVec3 axes[3] = {from->tangents[0], from->tangents[1], from->normal};
    rbSweepTurn turn = {.rolling = from->rolling, .spinning = from->spinning};
    RB_ASSERT(from->rolling >= 0.0 && from->spinning >= 0.0);
    for (int i = 0; i < 3; ++i) {
        turn.rows[i] =
            makeSix(rbMulFactorTransposed(ga, rbNeg(axes[i])), rbMulFactorTransposed(gb, axes[i]));
    }
    weighTurn(&turn);
    const rbContactPoint* point = &run->set->points[from->firstPoint];
    double reachA = contact->slots[0] > 0 ? rbLength(point->armA) : 0.0;
    double reachB = contact->slots[1] > 0 ? rbLength(point->armB) : 0.0;
    turn.reach = reachA > reachB ? reachA : reachB;
    contact->turn = rows->turns.count;
    rbArray_Push(rows->turns, turn);
}

static void packContact(rbContactRows* rows, const rbContactRun* run, int index)
{
    const rbContact* from = &run->set->contacts[index];
    RB_ASSERT(from->pointCount >= 0 && from->firstPoint + from->pointCount <= run->set->pointCount);
    RB_ASSERT(from->pointCount <= RB_MANIFOLD_POINTS_MAX);
    RB_ASSERT(from->stiction >= from->friction);
    rbSweepContact contact = {
        .axes = {from->normal, from->tangents[0], from->tangents[1]},
        .isRough = from->stiction > 0.0,
        .slots = {addSlot(rows, run, from->bodyA), addSlot(rows, run, from->bodyB)},
        .firstPoint = rows->points.count,
        .pointCount = from->pointCount,
        .turn = -1,
        .index = index,
        .level = from->level};
    if ((contact.slots[0] == 0 && contact.slots[1] == 0) || from->pointCount == 0) {
        return;
    }
    contact.invMasses[0] = rows->bodies.data[contact.slots[0]].invMass;
    contact.invMasses[1] = rows->bodies.data[contact.slots[1]].invMass;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < from->pointCount; ++i) {
            bool isClosed = run->set->points[from->firstPoint + i].isClosed;
            if (isClosed == (pass == 0)) {
                packPoint(rows, run, &contact, from->firstPoint + i);
                contact.closedCount += isClosed;
            }
        }
    }
    weighContact(rows, &contact);
    if (from->rolling > 0.0 || from->spinning > 0.0) {
        packTurn(rows, run, &contact, from);
    }
    rbArray_Push(rows->contacts, contact);
}

void rbContactRows_Clear(rbContactRows* rows, int contactCount)
{
    for (int i = 1; i < rows->starts.count; ++i) {
        rows->slots.data[rows->starts.data[i].index] = 0;
    }
    rows->packs.count = 0;
    rows->contacts.count = 0;
    rows->points.count = 0;
    rows->turns.count = 0;
    rows->bodies.count = 0;
    rows->starts.count = 0;
    rbArray_Push(rows->bodies, (rbRowBody){0});
    rbArray_Push(rows->starts, (rbRowsBody){.index = -1});
    rbArray_SetCount(rows->packOf, contactCount);
    for (int i = 0; i < contactCount; ++i) {
        rows->packOf.data[i] = 0;
    }
}

static rbRowsPack makePack(rbContactRows* rows, const rbContactRun* run, int count)
{
    rbRowsPack pack = {.firstContact = rows->contacts.count,
                       .firstPoint = rows->points.count,
                       .firstTurn = rows->turns.count,
                       .firstBody = rows->bodies.count,
                       .orderCount = count,
                       .number = rows->packs.count};
    for (int i = 0; i < count; ++i) {
        packContact(rows, run, rbContactRun_GetContact(run, i));
    }
    pack.contactCount = rows->contacts.count - pack.firstContact;
    pack.pointCount = rows->points.count - pack.firstPoint;
    pack.turnCount = rows->turns.count - pack.firstTurn;
    pack.bodyCount = rows->bodies.count - pack.firstBody;
    return pack;
}

// Whether the same bodies can move as when the pack was made.
static bool isCurrent(const rbContactRows* rows, const rbContactRun* run, const rbRowsPack* pack)
{
    for (int i = 0; i < pack->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[rbContactRun_GetContact(run, i)];
        const int hosts[2] = {contact->bodyA, contact->bodyB};
        for (int k = 0; k < 2; ++k) {
            bool hasSlot = rbContactRows_GetSlot(rows, hosts[k]) > 0;
            if (rbContactBody_IsMovable(&run->bodies[hosts[k]]) != hasSlot) {
                return false;
            }
        }
    }
    return !pack->isSpent;
}

rbRowsPack rbContactRows_Pack(rbContactRows* rows, const rbContactRun* run)
{
    int count = rbContactRun_GetCount(run);
    if (count == 0) {
        return (rbRowsPack){.firstBody = 1, .number = -1};
    }
    int first = rbContactRun_GetContact(run, 0);
    RB_ASSERT(first >= 0 && first < rows->packOf.count);
    int found = rows->packOf.data[first] - 1;
    const rbRowsPack* old = found >= 0 ? &rows->packs.data[found] : NULL;
    if (old != NULL && old->orderCount == count) {
        if (isCurrent(rows, run, old)) {
            return *old;
        }
        // its slots are released; those of another pack stay unchanged
        for (int i = old->firstBody; i < old->firstBody + old->bodyCount; ++i) {
            rows->slots.data[rows->starts.data[i].index] = 0;
        }
    }
    rbRowsPack pack = makePack(rows, run, count);
    rows->packOf.data[first] = pack.number + 1;
    rbArray_Push(rows->packs, pack);
    return pack;
}

static void beginPoint(rbSweepPoint* point, const rbContactRun* run, const rbContact* contact,
                       double partSpeed, bool isVelocity)
{
    RB_ASSERT(point->index >= 0 && point->index < run->set->pointCount);
    const rbContactPoint* from = &run->set->points[point->index];
    rbVec3 u = rbContact_RelativeVelocity(run->bodies, contact, from);
    memcpy(point->impulse, from->impulse, sizeof point->impulse);
    point->isSticking = from->isSticking;
    point->isLeft = false;
    point->bias[0] = rbDot(u, contact->normal);
    point->bias[1] = rbDot(u, contact->tangents[0]);
    point->bias[2] = rbDot(u, contact->tangents[1]);
    point->slip[0] = 0.0;
    point->slip[1] = 0.0;
    point->friction = rbContactPoint_ChooseFriction(from, contact, run->set, run->bodies);
    if (isVelocity) {
        point->bias[0] -= from->target;
    } else {
        point->bias[0] += rbContactPoint_GetPart(from, run->h, partSpeed);
        point->slip[0] = from->slip[0] / run->h;
        point->slip[1] = from->slip[1] / run->h;
        rbVec3 carry =
            rbContactPoint_GetCarry(from, &run->bodies[contact->bodyA],
                                    &run->bodies[contact->bodyB], run->h, run->restSpeed);
        point->bias[1] += rbDot(carry, contact->tangents[0]);
        point->bias[2] += rbDot(carry, contact->tangents[1]);
    }
    const double* lead = run->leads != NULL ? run->leads[point->index].slip : NULL;
    point->isLed = lead != NULL && (lead[0] != 0.0 || lead[1] != 0.0);
    if (point->isLed) {
        memcpy(point->slip, lead, sizeof point->slip);
        point->friction *= run->leads[point->index].part;
    }
}

// The points that take part in a stage.
static int countPoints(const rbSweepContact* contact, bool isVelocity)
{
    return isVelocity ? contact->closedCount : contact->pointCount;
}

// Applies all sums of a contact; returns the power of those that hold on the biases, W s: friction
// of points that slide, and what resists rolling, do not stop what they act against. acted: less
// the sums that had acted in the host; NULL: none.
static double actContact(rbContactRows* rows, const rbSweepContact* contact, int count,
                         const rbContactSet* acted)
{
    const double none[3] = {0.0, 0.0, 0.0};
    rbRowBody* a = &rows->bodies.data[contact->slots[0]];
    rbRowBody* b = &rows->bodies.data[contact->slots[1]];
    rbSweepSix y = gatherSix(a, b);
    double sums[3] = {0.0, 0.0, 0.0};
    double work = 0.0;
    for (int i = 0; i < count; ++i) {
        const rbSweepPoint* point = &rows->points.data[contact->firstPoint + i];
        const double* before = acted != NULL ? acted->points[point->index].impulse : none;
        for (int k = 0; k < 3; ++k) {
            double p = point->impulse[k] - before[k];
            sums[k] += p;
            bool isHolding = k == 0 || point->isSticking;
            work += isHolding ? p * (point->bias[k] + (k > 0 ? point->slip[k - 1] : 0.0)) : 0.0;
            addSix(&y, p, &point->rows[k]);
        }
    }
    if (contact->turn >= 0) {
        const rbSweepTurn* turn = &rows->turns.data[contact->turn];
        const double* before = acted != NULL ? acted->contacts[contact->index].turning : none;
        for (int k = 0; k < 3; ++k) {
            addSix(&y, turn->impulse[k] - before[k], &turn->rows[k]);
        }
    }
    rbVec3 p = rbJoinImpulse(contact->axes[0], &contact->axes[1], sums[0], sums[1], sums[2]);
    scatterSix(&y, a, b);
    pushBody(a, -contact->invMasses[0], p);
    pushBody(b, contact->invMasses[1], p);
    return work;
}

// The power of the sums of a contact that do not hold, with all applied, W s.
static double slidingPower(const rbContactRows* rows, const rbSweepContact* contact, int count)
{
    const rbRowBody* a = &rows->bodies.data[contact->slots[0]];
    const rbRowBody* b = &rows->bodies.data[contact->slots[1]];
    rbSweepSix y = gatherSix(a, b);
    rbVec3 v = rbSub(rbSweepBody_Velocity(b), rbSweepBody_Velocity(a));
    double power = 0.0;
    for (int i = 0; i < count; ++i) {
        const rbSweepPoint* point = &rows->points.data[contact->firstPoint + i];
        for (int k = 1; k < 3 && !point->isSticking; ++k) {
            power += point->impulse[k] * (rbDot(v, contact->axes[k]) + dotSix(&point->rows[k], &y));
        }
    }
    for (int k = 0; contact->turn >= 0 && k < 3; ++k) {
        const rbSweepTurn* turn = &rows->turns.data[contact->turn];
        power += turn->impulse[k] * dotSix(&turn->rows[k], &y);
    }
    return power;
}

// Best scale of the applied impulses: the energy after a scale s is work s + energy s^2 / 2;
// minimize it, as far as they hold. Friction that slides would ask for as much as it can get.
static double chooseScale(const rbContactRows* rows, const rbRowsPack* pack, double work,
                          bool isVelocity)
{
    double energy = 0.0;
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        energy -= slidingPower(rows, contact, countPoints(contact, isVelocity));
    }
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[i];
        rbVec3 v = rbSweepBody_Velocity(body);
        rbVec3 y = rbMakeVec3(body->spin[0], body->spin[1], body->spin[2]);
        energy += body->invMass > 0.0 ? rbDot(v, v) / body->invMass : 0.0;
        energy += rbDot(y, y);
    }
    double scale = energy > 0.0 ? -work / energy : 0.0;
    if (!(scale > 0.0)) {
        return 0.0;
    }
    if (fabs(scale - 1.0) < GUESS_PLAY) {
        return 1.0;
    }
    return scale < GUESS_MOST ? scale : GUESS_MOST;
}

// First guess: the sums of a position stage act now; those of a velocity stage have acted and act
// again. Scaled for the smallest energy: a poor guess does no harm.
static void guess(rbContactRows* rows, const rbRowsPack* pack, bool isVelocity)
{
    double work = 0.0;
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        work += actContact(rows, contact, countPoints(contact, isVelocity), NULL);
    }
    double scale = chooseScale(rows, pack, work, isVelocity);
    for (int i = 0; scale != 1.0 && i < pack->bodyCount; ++i) {
        rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
        for (int k = 0; k < 3; ++k) {
            body->spin[k] *= scale;
            body->velocity[k] *= scale;
        }
    }
    double factor = (isVelocity ? 1.0 : 0.0) + scale;
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        int count = countPoints(contact, isVelocity);
        for (int k = 0; k < count; ++k) {
            rbSweepPoint* point = &rows->points.data[contact->firstPoint + k];
            point->impulse[0] *= factor;
            point->impulse[1] *= factor;
            point->impulse[2] *= factor;
        }
        for (int k = 0; contact->turn >= 0 && k < 3; ++k) {
            rows->turns.data[contact->turn].impulse[k] *= factor;
        }
    }
}

bool rbContactRows_Begin(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         double partSpeed, bool isVelocity, bool isGuessed)
{
    RB_ASSERT(isVelocity || run->h > 0.0);
    RB_ASSERT(pack->firstBody > 0 && pack->firstBody + pack->bodyCount <= rows->bodies.count);
    RB_ASSERT(pack->firstContact + pack->contactCount <= rows->contacts.count);
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        rbRowBody* body = &rows->bodies.data[i];
        *body = (rbRowBody){.invMass = body->invMass};
        rbRowsBody* start = &rows->starts.data[i];
        start->velocity = run->bodies[start->index].velocity;
        start->spin = run->bodies[start->index].spin;
        start->level = 0;
        start->ground = -1;
        start->isFrozen = false;
    }
    rows->bodies.data[0] = (rbRowBody){0};
    double sum = 0.0;
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* packed = &rows->contacts.data[pack->firstContact + i];
        const rbContact* contact = &run->set->contacts[packed->index];
        for (int k = 0; k < packed->pointCount; ++k) {
            rbSweepPoint* point = &rows->points.data[packed->firstPoint + k];
            beginPoint(point, run, contact, partSpeed, isVelocity);
            sum += point->bias[0] + point->bias[1] + point->bias[2];
            sum += point->impulse[0] + point->impulse[1] + point->impulse[2];
        }
        if (packed->turn >= 0) {
            rbSweepTurn* turn = &rows->turns.data[packed->turn];
            rbVec3 spin = rbSub(run->bodies[contact->bodyB].spin, run->bodies[contact->bodyA].spin);
            memcpy(turn->impulse, contact->turning, sizeof(turn->impulse));
            turn->bias[0] = rbDot(spin, contact->tangents[0]);
            turn->bias[1] = rbDot(spin, contact->tangents[1]);
            turn->bias[2] = rbDot(spin, contact->normal);
        }
        if (run->react != NULL) {
            react(rows, run, packed);
        }
    }
    if (isGuessed && isfinite(sum)) {
        guess(rows, pack, isVelocity);
    }
    return isfinite(sum);
}

// ------------------------------------------------------------------------------------------ sweeps
// The sweep: projected Gauss-Seidel over the points of contacts, normals of a contact first, then
// its friction, then rolling and spinning.
//
// Friction at a point with the sum P: the impulse that stops it is used if it lies in the cone.
// Otherwise it slides, T' = projection of T - r u on the disc of radius friction * P, with r the
// reciprocal of the largest eigenvalue of t K t. A fixed point of this has T on the rim against the
// very u that it leaves, whatever the masses are.

// Passes over the normals of a contact in a visit; 20 boxes need 30 sweeps with 2, 13
// with 4 and with 6.
#define NORMAL_PASSES 4

// A contact being visited.
typedef struct Visit {
    rbSweepSix y;
    double massSum;        // 1/kg, of both
    double speeds[3];      // of the centers of mass along normal and tangents
    double pushes[3];      // N s, increments of all points
    double normalError;    // m/s
    double tangentSquared; // (m/s)^2
} Visit;

// The normals of a contact: computes their misses from the rows once, then a few passes to and fro
// on the small matrix n K n between them. These cost little and save sweeps: they settle the
// resistance of a face against tilting.
static inline void visitNormals(Visit* visit, rbSweepPoint* points, int count)
{
    double misses[RB_MANIFOLD_POINTS_MAX];
    double dps[RB_MANIFOLD_POINTS_MAX];
    for (int i = 0; i < count; ++i) {
        const rbSweepPoint* point = &points[i];
        misses[i] = visit->speeds[0] + dotSix(&point->rows[0], &visit->y) + point->bias[0];
        dps[i] = 0.0;
        RB_ASSERT(point->impulse[0] >= 0.0);
        double held = point->impulse[0] * point->coupling[i];
        double error = misses[i] < 0.0 ? -misses[i] : (misses[i] < held ? misses[i] : held);
        visit->normalError = error > visit->normalError ? error : visit->normalError;
    }
    int passes = count > 1 ? NORMAL_PASSES : 1;
    for (int pass = 0; pass < passes; ++pass) {
        for (int k = 0; k < count; ++k) {
            int i = (pass & 1) != 0 ? count - 1 - k : k;
            rbSweepPoint* point = &points[i];
            double sum = point->impulse[0] - point->invNormal * misses[i];
            sum = sum > 0.0 ? sum : 0.0;
            double dp = sum - point->impulse[0];
            point->impulse[0] = sum;
            dps[i] += dp;
            for (int j = 0; j < count; ++j) {
                misses[j] += dp * point->coupling[j];
            }
        }
    }
    for (int i = 0; i < count; ++i) {
        addSix(&visit->y, dps[i], &points[i].rows[0]);
        visit->pushes[0] += dps[i];
    }
}

static inline void visitFriction(Visit* visit, const rbFrictionBound* bound, rbSweepPoint* point)
{
    double u1 = visit->speeds[1] + dotSix(&point->rows[1], &visit->y) + point->bias[1];
    double u2 = visit->speeds[2] + dotSix(&point->rows[2], &visit->y) + point->bias[2];
    double s1 = u1 + point->slip[0];
    double s2 = u2 + point->slip[1];
    const double* m = point->invTangents;
    double old[2] = {point->impulse[1], point->impulse[2]};
    double sum[2] = {old[0] - (m[0] * s1 + m[2] * s2), old[1] - (m[2] * s1 + m[1] * s2)};
    double radius = point->friction * point->impulse[0];
    bool isSticking = !rbFrictionBound_Project(bound, radius, sum);
    if (!isSticking && !point->isLed && (point->slip[0] != 0.0 || point->slip[1] != 0.0)) {
        // Friction cannot undo the slip: it is left for this stage. If it were left for this visit
        // only, such points would change their minds forever.
        point->slip[0] = 0.0;
        point->slip[1] = 0.0;
        point->isLeft = true;
        s1 = u1;
        s2 = u2;
        sum[0] = old[0] - (m[0] * s1 + m[2] * s2);
        sum[1] = old[1] - (m[2] * s1 + m[1] * s2);
        isSticking = !rbFrictionBound_Project(bound, radius, sum);
    }
    double error = s1 * s1 + s2 * s2;
    if (!isSticking) {
        sum[0] = old[0] - point->slideStep * s1;
        sum[1] = old[1] - point->slideStep * s2;
        isSticking = !rbFrictionBound_Project(bound, radius, sum);
        double change =
            (sum[0] - old[0]) * (sum[0] - old[0]) + (sum[1] - old[1]) * (sum[1] - old[1]);
        double square = point->slideStep * point->slideStep;
        error = square > 0.0 ? change / square : 0.0;
    }
    double d1 = sum[0] - old[0];
    double d2 = sum[1] - old[1];
    point->impulse[1] = sum[0];
    point->impulse[2] = sum[1];
    point->isSticking = isSticking;
    addSix(&visit->y, d1, &point->rows[1]);
    addSix(&visit->y, d2, &point->rows[2]);
    visit->speeds[1] += d1 * visit->massSum;
    visit->speeds[2] += d2 * visit->massSum;
    visit->pushes[1] += d1;
    visit->pushes[2] += d2;
    visit->tangentSquared = error > visit->tangentSquared ? error : visit->tangentSquared;
}

// Of rolling.
static const rbFrictionBound disc = {.facets = 0};

static void visitTurn(Visit* visit, rbSweepTurn* turn, double normalSum)
{
    RB_ASSERT(!(normalSum < 0.0));
    double rates[3];
    for (int i = 0; i < 3; ++i) {
        rates[i] = dotSix(&turn->rows[i], &visit->y) + turn->bias[i];
    }
    double sum[3] = {turn->impulse[0] - turn->rollingStep * rates[0],
                     turn->impulse[1] - turn->rollingStep * rates[1],
                     turn->impulse[2] - turn->invSpinning * rates[2]};
    (void)rbFrictionBound_Project(&disc, turn->rolling * normalSum, sum);
    double most = turn->spinning * normalSum;
    sum[2] = sum[2] > most ? most : (sum[2] < -most ? -most : sum[2]);
    double steps[3] = {turn->rollingStep, turn->rollingStep, turn->invSpinning};
    double error = 0.0;
    for (int i = 0; i < 3; ++i) {
        double d = sum[i] - turn->impulse[i];
        double rate = steps[i] > 0.0 ? d / steps[i] : 0.0;
        turn->impulse[i] = sum[i];
        addSix(&visit->y, d, &turn->rows[i]);
        error += rate * rate;
    }
    error *= turn->reach * turn->reach;
    visit->tangentSquared = error > visit->tangentSquared ? error : visit->tangentSquared;
}

static inline void visitContact(const rbSweep* sweep, int index, rbSweepTally* tally)
{
    const rbSweepContact* contact = &sweep->rows->contacts.data[index];
    int count = countPoints(contact, sweep->isVelocity);
    RB_ASSERT(count <= RB_MANIFOLD_POINTS_MAX);
    rbSweepPoint* points = &sweep->rows->points.data[contact->firstPoint];
    rbRowBody* a = &sweep->rows->bodies.data[contact->slots[0]];
    rbRowBody* b = &sweep->rows->bodies.data[contact->slots[1]];
    rbVec3 v = rbSub(rbSweepBody_Velocity(b), rbSweepBody_Velocity(a));
    Visit visit = {.y = gatherSix(a, b),
                   .massSum = contact->invMasses[0] + contact->invMasses[1],
                   .speeds = {rbDot(v, contact->axes[0]), rbDot(v, contact->axes[1]),
                              rbDot(v, contact->axes[2])}};
    visitNormals(&visit, points, count);
    if (contact->isRough) {
        for (int i = 0; i < count; ++i) {
            visitFriction(&visit, sweep->bound, &points[i]);
        }
    }
    if (contact->turn >= 0) {
        double normalSum = 0.0;
        for (int i = 0; i < count; ++i) {
            normalSum += points[i].impulse[0];
        }
        visitTurn(&visit, &sweep->rows->turns.data[contact->turn], normalSum);
    }
    rbVec3 p = rbJoinImpulse(contact->axes[0], &contact->axes[1], visit.pushes[0], visit.pushes[1],
                             visit.pushes[2]);
    scatterSix(&visit.y, a, b);
    pushBody(a, -contact->invMasses[0], p);
    pushBody(b, contact->invMasses[1], p);
    if (visit.normalError > tally->normalError) {
        tally->normalError = visit.normalError;
        tally->worst = index;
    }
    if (visit.tangentSquared > tally->tangentError) {
        tally->tangentError = visit.tangentSquared;
        tally->worst =
            visit.tangentSquared > tally->normalError * tally->normalError ? index : tally->worst;
    }
}

// The sums of a contact onto their cones.
static void projectSums(const rbSweep* sweep, const rbSweepContact* contact)
{
    int count = countPoints(contact, sweep->isVelocity);
    double normalSum = 0.0;
    for (int k = contact->firstPoint; k < contact->firstPoint + count; ++k) {
        rbSweepPoint* point = &sweep->rows->points.data[k];
        point->impulse[0] = point->impulse[0] > 0.0 ? point->impulse[0] : 0.0;
        double radius = point->friction * point->impulse[0];
        (void)rbFrictionBound_Project(sweep->bound, radius, &point->impulse[1]);
        normalSum += point->impulse[0];
    }
    if (contact->turn >= 0) {
        rbSweepTurn* turn = &sweep->rows->turns.data[contact->turn];
        double most = turn->spinning * normalSum;
        (void)rbFrictionBound_Project(&disc, turn->rolling * normalSum, turn->impulse);
        turn->impulse[2] = fmax(-most, fmin(most, turn->impulse[2]));
    }
}

rbSweepTally rbSweep_Run(const rbSweep* sweep, int first, int last)
{
    RB_ASSERT(first >= 0 && first <= last);
    RB_ASSERT(last <= sweep->rows->contacts.count);
    rbSweepTally tally = {.worst = -1};
    for (int i = first; i < last; ++i) {
        visitContact(sweep, i, &tally);
    }
    tally.tangentError = sqrt(tally.tangentError);
    return tally;
}

void rbContactRows_Renew(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         const rbSweep* sweep, bool isKept)
{
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        rows->bodies.data[i] = (rbRowBody){.invMass = rows->bodies.data[i].invMass};
    }
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        projectSums(sweep, contact);
        (void)actContact(rows, contact, countPoints(contact, sweep->isVelocity),
                         isKept ? run->set : NULL);
    }
}

// Velocities to the host.
static void show(const rbContactRows* rows, const rbRowsPack* pack, rbContactBody* bodies)
{
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[i];
        const rbRowsBody* start = &rows->starts.data[i];
        rbContactBody* to = &bodies[start->index];
        to->velocity = rbAdd(start->velocity, rbSweepBody_Velocity(body));
        to->spin = rbAdd(start->spin, rbMulFactor(&start->factor, body->spin));
    }
}

bool rbContactRows_SweepJoints(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run)
{
    double jointError = 0.0;
    show(rows, pack, run->bodies);
    bool areDone = run->sweepJoints(run->context, &jointError);
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        rbRowBody* body = &rows->bodies.data[i];
        const rbRowsBody* start = &rows->starts.data[i];
        rbVec3 v = rbSub(run->bodies[start->index].velocity, start->velocity);
        rbVec3 y =
            rbSolveFactor(&start->factor, rbSub(run->bodies[start->index].spin, start->spin));
        memcpy(body->velocity, &v, sizeof(v));
        memcpy(body->spin, &y, sizeof(y));
    }
    return areDone;
}

void rbContactRows_Finish(const rbContactRows* rows, const rbRowsPack* pack,
                          const rbContactRun* run)
{
    RB_ASSERT(pack->firstPoint + pack->pointCount <= rows->points.count);
    for (int i = 0; i < pack->pointCount; ++i) {
        const rbSweepPoint* point = &rows->points.data[pack->firstPoint + i];
        rbContactPoint* to = &run->set->points[point->index];
        memcpy(to->impulse, point->impulse, sizeof(to->impulse));
        to->isSticking = point->isSticking;
        if (point->isLeft) { // for good: slip that adds up to more would never be undone
            to->slip[0] = 0.0;
            to->slip[1] = 0.0;
        }
    }
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        if (contact->turn >= 0) {
            memcpy(run->set->contacts[contact->index].turning,
                   rows->turns.data[contact->turn].impulse, 3 * sizeof(double));
        }
    }
    show(rows, pack, run->bodies);
}

// Moves what one side of a row measures into its bias and clears that side.
static double foldSide(rbSweepSix* row, const rbSweepSix* y, bool isB)
{
    rbSweepSix side = isB ? (rbSweepSix){{0.0, 0.0}, {0.0, row->b[1]}, row->c}
                          : (rbSweepSix){row->a, {row->b[0], 0.0}, {0.0, 0.0}};
    double folded = dotSix(&side, y);
    row->a -= side.a;
    row->b -= side.b;
    row->c -= side.c;
    return folded;
}

static void freezeSide(rbContactRows* rows, rbSweepContact* contact, int isB)
{
    rbRowBody* a = &rows->bodies.data[contact->slots[0]];
    rbRowBody* b = &rows->bodies.data[contact->slots[1]];
    rbSweepSix y = gatherSix(a, b);
    rbVec3 v = isB ? rbSweepBody_Velocity(b) : rbNeg(rbSweepBody_Velocity(a));
    RB_ASSERT(contact->slots[isB] > 0);
    contact->invMasses[isB] = 0.0;
    contact->slots[isB] = 0;
    for (int i = 0; i < contact->pointCount; ++i) {
        rbSweepPoint* point = &rows->points.data[contact->firstPoint + i];
        for (int k = 0; k < 3; ++k) {
            point->bias[k] += foldSide(&point->rows[k], &y, isB) + rbDot(v, contact->axes[k]);
        }
    }
    weighContact(rows, contact);
    if (contact->turn >= 0) {
        rbSweepTurn* turn = &rows->turns.data[contact->turn];
        for (int k = 0; k < 3; ++k) {
            turn->bias[k] += foldSide(&turn->rows[k], &y, isB);
        }
        weighTurn(turn);
    }
}

void rbContactRows_Freeze(rbContactRows* rows, int contact)
{
    RB_ASSERT(contact >= 0 && contact < rows->contacts.count);
    rbSweepContact* packed = &rows->contacts.data[contact];
    for (int isB = 0; isB < 2; ++isB) {
        int slot = packed->slots[isB];
        if (slot > 0 && rows->starts.data[slot].isFrozen) {
            freezeSide(rows, packed, isB);
        }
    }
}
