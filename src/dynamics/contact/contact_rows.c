// Packing of contacts into rows.
#include "dynamics/contact/contact_rows.h"

#include <math.h>
#include <string.h>

// A determinant of t K t below this fraction of its product of diagonals is rounding.
#define DETERMINANT_LEAST 1e-12
// A guess whose best scale is this close to 1 is used unscaled, so that rest stays rest.
#define GUESS_PLAY 0.05
#define GUESS_MOST 1.5

void rbContactRows_Free(rbContactRows* rows)
{
    rbArray_Free(rows->packs);
    rbArray_Free(rows->packOf);
    rbArray_Free(rows->contacts);
    rbArray_Free(rows->points);
    rbArray_Free(rows->turns);
    rbArray_Free(rows->bodies);
    rbArray_Free(rows->starts);
    rbArray_Free(rows->slots);
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
    while (rows->slots.count <= index) {
        rbArray_Push(rows->slots, 0);
    }
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
    double kn = massSum + rbSweepSix_Dot(&r[0], &r[0]);
    double k11 = massSum + rbSweepSix_Dot(&r[1], &r[1]);
    double k22 = massSum + rbSweepSix_Dot(&r[2], &r[2]);
    double k12 = rbSweepSix_Dot(&r[1], &r[2]);
    bool isFit = kn > 0.0 && k11 > 0.0 && k22 > 0.0 && isfinite(kn + k11 + k22);
    point->invNormal = isFit && isfinite(1.0 / kn) ? 1.0 / kn : 0.0;
    point->slideStep = 0.0;
    memset(point->invTangents, 0, sizeof(point->invTangents));
    if (point->invNormal == 0.0) {
        return;
    }
    double half = 0.5 * (k11 - k22);
    double largest = 0.5 * (k11 + k22) + sqrt(half * half + k12 * k12);
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
    double massSum = contact->invMassA + contact->invMassB;
    for (int i = 0; i < contact->pointCount; ++i) {
        weighPoint(&points[i], massSum);
        for (int j = 0; j <= i; ++j) {
            double k = massSum + rbSweepSix_Dot(&points[i].rows[0], &points[j].rows[0]);
            points[i].coupling[j] = k;
            points[j].coupling[i] = k;
        }
    }
}

// A normal that joints block completely must not get an infinite impulse.
#define REACTION_MOST 0.999999

void rbContactRows_React(rbContactRows* rows, int contact, const double* reaction)
{
    const rbSweepContact* packed = &rows->contacts.data[contact];
    const double* table = reaction;
    weighContact(rows, packed);
    rbSweepPoint* points = &rows->points.data[packed->firstPoint];
    int first = points[0].index;
    for (int i = 1; i < packed->pointCount; ++i) {
        first = points[i].index < first ? points[i].index : first;
    }
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
    double k11 = rbSweepSix_Dot(&r[0], &r[0]);
    double k22 = rbSweepSix_Dot(&r[1], &r[1]);
    double k12 = rbSweepSix_Dot(&r[0], &r[1]);
    double kn = rbSweepSix_Dot(&r[2], &r[2]);
    double half = 0.5 * (k11 - k22);
    double largest = 0.5 * (k11 + k22) + sqrt(half * half + k12 * k12);
    turn->rollingStep = largest > 0.0 && isfinite(1.0 / largest) ? 1.0 / largest : 0.0;
    turn->invSpinning = kn > 0.0 && isfinite(1.0 / kn) ? 1.0 / kn : 0.0;
}

static void packPoint(rbContactRows* rows, const rbContactRun* run, const rbSweepContact* contact,
                      int index)
{
    const rbContactPoint* from = &run->set->points[index];
    const rbSym3* ga = &rows->starts.data[contact->slotA].factor;
    const rbSym3* gb = &rows->starts.data[contact->slotB].factor;
    rbVec3 axes[3] = {contact->normal, contact->tangents[0], contact->tangents[1]};
    rbSweepPoint point = {.index = index};
    for (int i = 0; i < 3; ++i) {
        rbVec3 a = rbMulFactorTransposed(ga, rbCross(from->armA, rbNeg(axes[i])));
        rbVec3 b = rbMulFactorTransposed(gb, rbCross(from->armB, axes[i]));
        point.rows[i] = makeSix(a, b);
    }
    rbArray_Push(rows->points, point);
}

static void packTurn(rbContactRows* rows, const rbContactRun* run, rbSweepContact* contact,
                     const rbContact* from)
{
    const rbSym3* ga = &rows->starts.data[contact->slotA].factor;
    const rbSym3* gb = &rows->starts.data[contact->slotB].factor;
    rbVec3 axes[3] = {from->tangents[0], from->tangents[1], from->normal};
    rbSweepTurn turn = {.rolling = from->rolling, .spinning = from->spinning};
    for (int i = 0; i < 3; ++i) {
        turn.rows[i] =
            makeSix(rbMulFactorTransposed(ga, rbNeg(axes[i])), rbMulFactorTransposed(gb, axes[i]));
    }
    weighTurn(&turn);
    const rbContactPoint* point = &run->set->points[from->firstPoint];
    double reachA = contact->slotA > 0 ? rbLength(point->armA) : 0.0;
    double reachB = contact->slotB > 0 ? rbLength(point->armB) : 0.0;
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
    rbSweepContact contact = {.normal = from->normal,
                              .tangents = {from->tangents[0], from->tangents[1]},
                              .isRough = from->stiction > 0.0,
                              .slotA = addSlot(rows, run, from->bodyA),
                              .slotB = addSlot(rows, run, from->bodyB),
                              .firstPoint = rows->points.count,
                              .pointCount = from->pointCount,
                              .turn = -1,
                              .index = index,
                              .level = from->level};
    if ((contact.slotA == 0 && contact.slotB == 0) || from->pointCount == 0) {
        return;
    }
    contact.invMassA = rows->bodies.data[contact.slotA].invMass;
    contact.invMassB = rows->bodies.data[contact.slotB].invMass;
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
    rbArray_Reserve(rows->packOf, contactCount);
    rows->packOf.count = contactCount;
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
                       .orderCount = count};
    for (int i = 0; i < count; ++i) {
        packContact(rows, run, run->order != NULL ? run->order[i] : i);
    }
    pack.contactCount = rows->contacts.count - pack.firstContact;
    pack.pointCount = rows->points.count - pack.firstPoint;
    pack.turnCount = rows->turns.count - pack.firstTurn;
    pack.bodyCount = rows->bodies.count - pack.firstBody;
    return pack;
}

static bool hasSlot(const rbContactRows* rows, int body)
{
    return body < rows->slots.count && rows->slots.data[body] > 0;
}

// Whether the same bodies can move as when the pack was made.
static bool isCurrent(const rbContactRows* rows, const rbContactRun* run, const rbRowsPack* pack)
{
    for (int i = 0; i < pack->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[run->order != NULL ? run->order[i] : i];
        if (rbContactBody_IsMovable(&run->bodies[contact->bodyA]) !=
                hasSlot(rows, contact->bodyA) ||
            rbContactBody_IsMovable(&run->bodies[contact->bodyB]) !=
                hasSlot(rows, contact->bodyB)) {
            return false;
        }
    }
    return !pack->isSpent;
}

static int findPack(const rbContactRows* rows, const rbContactRun* run, int count)
{
    int first = run->order != NULL ? run->order[0] : 0;
    RB_ASSERT(first >= 0 && first < rows->packOf.count);
    int found = rows->packOf.data[first];
    return found > 0 && rows->packs.data[found - 1].orderCount == count ? found - 1 : -1;
}

rbRowsPack rbContactRows_Pack(rbContactRows* rows, const rbContactRun* run)
{
    int count = run->order != NULL ? run->orderCount : run->set->contactCount;
    if (count == 0) {
        return (rbRowsPack){.firstBody = 1};
    }
    int found = findPack(rows, run, count);
    if (found >= 0 && isCurrent(rows, run, &rows->packs.data[found])) {
        return rows->packs.data[found];
    }
    if (found >= 0) {
        // its slots are released; those of another pack stay unchanged
        const rbRowsPack* old = &rows->packs.data[found];
        for (int i = old->firstBody; i < old->firstBody + old->bodyCount; ++i) {
            rows->slots.data[rows->starts.data[i].index] = 0;
        }
    }
    rbRowsPack pack = makePack(rows, run, count);
    rows->packOf.data[run->order != NULL ? run->order[0] : 0] = rows->packs.count + 1;
    rbArray_Push(rows->packs, pack);
    return pack;
}

void rbContactRows_Spend(rbContactRows* rows, const rbContactRun* run)
{
    int found = findPack(rows, run, run->order != NULL ? run->orderCount : run->set->contactCount);
    RB_ASSERT(found >= 0);
    rows->packs.data[found].isSpent = true;
}

static void beginPoint(rbSweepPoint* point, const rbContactRun* run, const rbContact* contact,
                       const rbContactSettings* settings, bool isVelocity)
{
    const rbContactPoint* from = &run->set->points[point->index];
    rbVec3 u = rbContact_RelativeVelocity(run->bodies, contact, from);
    for (int i = 0; i < 3; ++i) {
        point->impulse[i] = from->impulse[i];
    }
    point->isSticking = from->isSticking;
    point->bias[0] = rbDot(u, contact->normal);
    point->bias[1] = rbDot(u, contact->tangents[0]);
    point->bias[2] = rbDot(u, contact->tangents[1]);
    point->slip[0] = 0.0;
    point->slip[1] = 0.0;
    double speed = sqrt(point->bias[1] * point->bias[1] + point->bias[2] * point->bias[2]);
    point->friction = from->isHeld ? 0.0 : rbContactPoint_ChooseFriction(from, contact, speed);
    point->disc = from->isHeld ? from->disc : 0.0;
    if (isVelocity) {
        point->bias[0] -= from->target;
        return;
    }
    point->bias[0] += rbContactPoint_GetPart(from, run->h, settings->partSpeed);
    point->slip[0] = from->slip[0] / run->h;
    point->slip[1] = from->slip[1] / run->h;
}

static void beginTurn(rbSweepTurn* turn, const rbContactRun* run, const rbContact* contact)
{
    rbVec3 spin = rbSub(run->bodies[contact->bodyB].spin, run->bodies[contact->bodyA].spin);
    memcpy(turn->impulse, contact->turning, sizeof(turn->impulse));
    turn->bias[0] = rbDot(spin, contact->tangents[0]);
    turn->bias[1] = rbDot(spin, contact->tangents[1]);
    turn->bias[2] = rbDot(spin, contact->normal);
}

bool rbContactRows_Begin(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         const rbContactSettings* settings, bool isVelocity)
{
    RB_ASSERT(isVelocity || run->h > 0.0);
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
            beginPoint(point, run, contact, settings, isVelocity);
            sum += point->bias[0] + point->bias[1] + point->bias[2];
            sum += point->impulse[0] + point->impulse[1] + point->impulse[2];
        }
        if (packed->turn >= 0) {
            beginTurn(&rows->turns.data[packed->turn], run, contact);
        }
    }
    return isfinite(sum);
}

// Applies all sums of a contact, times scale; returns their power on the biases, W s.
static double actContact(rbContactRows* rows, const rbSweepContact* contact, int count,
                         double scale)
{
    rbRowBody* a = &rows->bodies.data[contact->slotA];
    rbRowBody* b = &rows->bodies.data[contact->slotB];
    rbSweepSix y = rbSweepSix_Gather(a, b);
    double sums[3] = {0.0, 0.0, 0.0};
    double work = 0.0;
    for (int i = 0; i < count; ++i) {
        const rbSweepPoint* point = &rows->points.data[contact->firstPoint + i];
        for (int k = 0; k < 3; ++k) {
            double p = scale * point->impulse[k];
            sums[k] += p;
            work += p * (point->bias[k] + (k > 0 && point->isSticking ? point->slip[k - 1] : 0.0));
            rbSweepSix_AddScaled(&y, p, &point->rows[k]);
        }
    }
    if (contact->turn >= 0) {
        const rbSweepTurn* turn = &rows->turns.data[contact->turn];
        for (int k = 0; k < 3; ++k) {
            double p = scale * turn->impulse[k];
            work += p * turn->bias[k];
            rbSweepSix_AddScaled(&y, p, &turn->rows[k]);
        }
    }
    rbVec3 p = rbJoinImpulse(contact->normal, contact->tangents, sums[0], sums[1], sums[2]);
    rbSweepSix_Scatter(&y, a, b);
    rbSweepBody_Push(a, -contact->invMassA, p);
    rbSweepBody_Push(b, contact->invMassB, p);
    return work;
}

// Best scale of the applied impulses: the energy after a scale s is work s + energy s^2 / 2;
// minimize it.
static double chooseScale(const rbContactRows* rows, const rbRowsPack* pack, double work)
{
    double energy = 0.0;
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

void rbContactRows_Guess(rbContactRows* rows, const rbRowsPack* pack, bool isVelocity, double kept,
                         double added)
{
    RB_ASSERT(kept >= 0.0 && added >= 0.0);
    double scale = 0.0;
    if (added > 0.0) {
        double work = 0.0;
        for (int i = 0; i < pack->contactCount; ++i) {
            const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
            int count = isVelocity ? contact->closedCount : contact->pointCount;
            work += actContact(rows, contact, count, added);
        }
        scale = chooseScale(rows, pack, work);
        for (int i = 0; scale != 1.0 && i < pack->bodyCount; ++i) {
            rbRowBody* body = &rows->bodies.data[pack->firstBody + i];
            for (int k = 0; k < 3; ++k) {
                body->spin[k] *= scale;
                body->velocity[k] *= scale;
            }
        }
    }
    double factor = kept + added * scale;
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        int count = isVelocity ? contact->closedCount : contact->pointCount;
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

// Removes the part of the sums that had acted before the stage, or restores it.
static void keepSums(rbContactRows* rows, const rbSweepContact* contact, const rbContactRun* run,
                     double sums[RB_MANIFOLD_POINTS_MAX + 1][3])
{
    for (int k = 0; k < contact->pointCount; ++k) {
        rbSweepPoint* point = &rows->points.data[contact->firstPoint + k];
        const double* acted = run->set->points[point->index].impulse;
        for (int t = 0; t < 3; ++t) {
            sums[k][t] = point->impulse[t];
            point->impulse[t] -= acted[t];
        }
    }
    const double* turned = run->set->contacts[contact->index].turning;
    for (int t = 0; contact->turn >= 0 && t < 3; ++t) {
        double* impulse = &rows->turns.data[contact->turn].impulse[t];
        sums[RB_MANIFOLD_POINTS_MAX][t] = *impulse;
        *impulse -= turned[t];
    }
}

static void giveSums(rbContactRows* rows, const rbSweepContact* contact,
                     double sums[RB_MANIFOLD_POINTS_MAX + 1][3])
{
    for (int k = 0; k < contact->pointCount; ++k) {
        memcpy(rows->points.data[contact->firstPoint + k].impulse, sums[k], sizeof(sums[k]));
    }
    if (contact->turn >= 0) {
        memcpy(rows->turns.data[contact->turn].impulse, sums[RB_MANIFOLD_POINTS_MAX],
               3 * sizeof(double));
    }
}

void rbContactRows_Renew(rbContactRows* rows, const rbRowsPack* pack, const rbContactRun* run,
                         bool isVelocity, bool isKept)
{
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        rows->bodies.data[i] = (rbRowBody){.invMass = rows->bodies.data[i].invMass};
    }
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        int count = isVelocity ? contact->closedCount : contact->pointCount;
        double sums[RB_MANIFOLD_POINTS_MAX + 1][3];
        if (isKept) {
            keepSums(rows, contact, run, sums);
        }
        (void)actContact(rows, contact, count, 1.0);
        if (isKept) {
            giveSums(rows, contact, sums);
        }
    }
}

void rbContactRows_Show(const rbContactRows* rows, const rbRowsPack* pack, rbContactBody* bodies)
{
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        const rbRowBody* body = &rows->bodies.data[i];
        const rbRowsBody* start = &rows->starts.data[i];
        rbContactBody* to = &bodies[start->index];
        to->velocity = rbAdd(start->velocity, rbSweepBody_Velocity(body));
        to->spin = rbAdd(start->spin, rbMulFactor(&start->factor, body->spin));
    }
}

void rbContactRows_Fetch(rbContactRows* rows, const rbRowsPack* pack, const rbContactBody* bodies)
{
    for (int i = pack->firstBody; i < pack->firstBody + pack->bodyCount; ++i) {
        rbRowBody* body = &rows->bodies.data[i];
        const rbRowsBody* start = &rows->starts.data[i];
        rbVec3 v = rbSub(bodies[start->index].velocity, start->velocity);
        rbVec3 y = rbSolveFactor(&start->factor, rbSub(bodies[start->index].spin, start->spin));
        memcpy(body->velocity, &v, sizeof(v));
        memcpy(body->spin, &y, sizeof(y));
    }
}

void rbContactRows_Finish(const rbContactRows* rows, const rbRowsPack* pack,
                          const rbContactRun* run)
{
    for (int i = 0; i < pack->pointCount; ++i) {
        const rbSweepPoint* point = &rows->points.data[pack->firstPoint + i];
        rbContactPoint* to = &run->set->points[point->index];
        memcpy(to->impulse, point->impulse, sizeof(to->impulse));
        to->isSticking = point->isSticking != 0;
    }
    for (int i = 0; i < pack->contactCount; ++i) {
        const rbSweepContact* contact = &rows->contacts.data[pack->firstContact + i];
        if (contact->turn >= 0) {
            memcpy(run->set->contacts[contact->index].turning,
                   rows->turns.data[contact->turn].impulse, 3 * sizeof(double));
        }
    }
    rbContactRows_Show(rows, pack, run->bodies);
}

// Moves what one side of a row measures into its bias and clears that side.
static double foldSide(rbSweepSix* row, const rbSweepSix* y, bool isB)
{
    rbSweepSix side = isB ? (rbSweepSix){{0.0, 0.0}, {0.0, row->b[1]}, row->c}
                          : (rbSweepSix){row->a, {row->b[0], 0.0}, {0.0, 0.0}};
    double folded = rbSweepSix_Dot(&side, y);
    row->a -= side.a;
    row->b -= side.b;
    row->c -= side.c;
    return folded;
}

static void freezeSide(rbContactRows* rows, rbSweepContact* contact, bool isB)
{
    rbRowBody* a = &rows->bodies.data[contact->slotA];
    rbRowBody* b = &rows->bodies.data[contact->slotB];
    rbSweepSix y = rbSweepSix_Gather(a, b);
    rbVec3 v = isB ? rbSweepBody_Velocity(b) : rbNeg(rbSweepBody_Velocity(a));
    rbVec3 axes[3] = {contact->normal, contact->tangents[0], contact->tangents[1]};
    *(isB ? &contact->invMassB : &contact->invMassA) = 0.0;
    *(isB ? &contact->slotB : &contact->slotA) = 0;
    for (int i = 0; i < contact->pointCount; ++i) {
        rbSweepPoint* point = &rows->points.data[contact->firstPoint + i];
        for (int k = 0; k < 3; ++k) {
            point->bias[k] += foldSide(&point->rows[k], &y, isB) + rbDot(v, axes[k]);
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
    if (packed->slotA > 0 && rows->starts.data[packed->slotA].isFrozen) {
        freezeSide(rows, packed, false);
    }
    if (packed->slotB > 0 && rows->starts.data[packed->slotB].isFrozen) {
        freezeSide(rows, packed, true);
    }
}
