// The sweep: projected Gauss-Seidel over the points of contacts, normals of a contact first, then
// its friction, then rolling and spinning.
//
// Friction at a point with the sum P: the impulse that stops it is used if it lies in the cone.
// Otherwise it slides, T' = projection of T - r u on the disc of radius friction * P, with r the
// reciprocal of the largest eigenvalue of t K t. A fixed point of this has T on the rim against the
// very u that it leaves, whatever the masses are.
#include "dynamics/contact/contact_sweep.h"

#include <math.h>

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

// The point of the polygon of a pyramid closest to q, which lies outside of it. Corners times
// radius.
static void projectOnPolygon(const rbFrictionBound* bound, double radius, double q[2])
{
    RB_ASSERT(bound->cornerCount >= 3);
    double best[2] = {0.0, 0.0};
    double bestDistance = INFINITY;
    for (int i = 0; i < bound->cornerCount; ++i) {
        double from[2] = {radius * bound->corners[i][0], radius * bound->corners[i][1]};
        double edge[2] = {radius * bound->corners[i + 1][0] - from[0],
                          radius * bound->corners[i + 1][1] - from[1]};
        double length2 = edge[0] * edge[0] + edge[1] * edge[1];
        double along = (q[0] - from[0]) * edge[0] + (q[1] - from[1]) * edge[1];
        double part = length2 > 0.0 ? along / length2 : 0.0;
        part = part < 0.0 ? 0.0 : (part > 1.0 ? 1.0 : part);
        double at[2] = {from[0] + part * edge[0], from[1] + part * edge[1]};
        double distance = (q[0] - at[0]) * (q[0] - at[0]) + (q[1] - at[1]) * (q[1] - at[1]);
        if (distance < bestDistance) {
            bestDistance = distance;
            best[0] = at[0];
            best[1] = at[1];
        }
    }
    q[0] = best[0];
    q[1] = best[1];
}

static bool isInPolygon(const rbFrictionBound* bound, double radius, const double q[2])
{
    for (int i = 0; i < bound->cornerCount; ++i) {
        const double* from = bound->corners[i];
        const double* to = bound->corners[i + 1];
        double edge[2] = {to[0] - from[0], to[1] - from[1]};
        double side = edge[0] * (q[1] - radius * from[1]) - edge[1] * (q[0] - radius * from[0]);
        if (side < 0.0) {
            return false;
        }
    }
    return true;
}

// Whether q lies within the friction bound at a radius.
static inline bool isWithin(const rbFrictionBound* bound, double radius, const double q[2])
{
    bool isInDisc = q[0] * q[0] + q[1] * q[1] <= radius * radius;
    return isInDisc && (bound->cornerCount == 0 || isInPolygon(bound, radius, q));
}

// Projects q onto it; false: it was inside.
static inline bool project(const rbFrictionBound* bound, double radius, double q[2])
{
    if (bound->cornerCount > 0) {
        if (isInPolygon(bound, radius, q)) {
            return false;
        }
        projectOnPolygon(bound, radius, q);
        return true;
    }
    double square = q[0] * q[0] + q[1] * q[1];
    if (square <= radius * radius) {
        return false;
    }
    double scale = radius / sqrt(square);
    q[0] *= scale;
    q[1] *= scale;
    return true;
}

// The normals of a contact: computes their misses from the rows once, then a few passes to and fro
// on the small matrix n K n between them. These cost little and save sweeps: they settle the
// resistance of a face against tilting.
static inline void visitNormals(Visit* visit, rbSweepPoint* points, int count)
{
    double misses[RB_MANIFOLD_POINTS_MAX];
    double dps[RB_MANIFOLD_POINTS_MAX];
    for (int i = 0; i < count; ++i) {
        const rbSweepPoint* point = &points[i];
        misses[i] = visit->speeds[0] + rbSweepSix_Dot(&point->rows[0], &visit->y) + point->bias[0];
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
        rbSweepSix_AddScaled(&visit->y, dps[i], &points[i].rows[0]);
        visit->pushes[0] += dps[i];
    }
}

static inline void visitFriction(Visit* visit, const rbFrictionBound* bound, rbSweepPoint* point)
{
    double u1 = visit->speeds[1] + rbSweepSix_Dot(&point->rows[1], &visit->y) + point->bias[1];
    double u2 = visit->speeds[2] + rbSweepSix_Dot(&point->rows[2], &visit->y) + point->bias[2];
    double s1 = u1 + point->slip[0];
    double s2 = u2 + point->slip[1];
    const double* m = point->invTangents;
    double old[2] = {point->impulse[1], point->impulse[2]};
    double sum[2] = {old[0] - (m[0] * s1 + m[2] * s2), old[1] - (m[2] * s1 + m[1] * s2)};
    double radius = point->disc + point->friction * point->impulse[0];
    bool isSticking = isWithin(bound, radius, sum);
    if (!isSticking && (point->slip[0] != 0.0 || point->slip[1] != 0.0)) {
        // Friction cannot undo the slip: it is left for this stage. If it were left for this visit
        // only, such points would change their minds forever.
        point->slip[0] = 0.0;
        point->slip[1] = 0.0;
        s1 = u1;
        s2 = u2;
        sum[0] = old[0] - (m[0] * s1 + m[2] * s2);
        sum[1] = old[1] - (m[2] * s1 + m[1] * s2);
        isSticking = isWithin(bound, radius, sum);
    }
    double error = s1 * s1 + s2 * s2;
    if (!isSticking) {
        sum[0] = old[0] - point->slideStep * s1;
        sum[1] = old[1] - point->slideStep * s2;
        isSticking = !project(bound, radius, sum);
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
    rbSweepSix_AddScaled(&visit->y, d1, &point->rows[1]);
    rbSweepSix_AddScaled(&visit->y, d2, &point->rows[2]);
    visit->speeds[1] += d1 * visit->massSum;
    visit->speeds[2] += d2 * visit->massSum;
    visit->pushes[1] += d1;
    visit->pushes[2] += d2;
    visit->tangentSquared = error > visit->tangentSquared ? error : visit->tangentSquared;
}

static void visitTurn(Visit* visit, rbSweepTurn* turn, double normalSum)
{
    RB_ASSERT(!(normalSum < 0.0));
    double rates[3];
    for (int i = 0; i < 3; ++i) {
        rates[i] = rbSweepSix_Dot(&turn->rows[i], &visit->y) + turn->bias[i];
    }
    const rbFrictionBound disc = {NULL, 0};
    double sum[3] = {turn->impulse[0] - turn->rollingStep * rates[0],
                     turn->impulse[1] - turn->rollingStep * rates[1],
                     turn->impulse[2] - turn->invSpinning * rates[2]};
    (void)project(&disc, turn->rolling * normalSum, sum);
    double most = turn->spinning * normalSum;
    sum[2] = sum[2] > most ? most : (sum[2] < -most ? -most : sum[2]);
    double steps[3] = {turn->rollingStep, turn->rollingStep, turn->invSpinning};
    double error = 0.0;
    for (int i = 0; i < 3; ++i) {
        double d = sum[i] - turn->impulse[i];
        double rate = steps[i] > 0.0 ? d / steps[i] : 0.0;
        turn->impulse[i] = sum[i];
        rbSweepSix_AddScaled(&visit->y, d, &turn->rows[i]);
        error += rate * rate;
    }
    error *= turn->reach * turn->reach;
    visit->tangentSquared = error > visit->tangentSquared ? error : visit->tangentSquared;
}

static inline void visitContact(const rbSweep* sweep, int index, rbSweepTally* tally)
{
    const rbSweepContact* contact = &sweep->contacts[index];
    int count = sweep->isVelocity ? contact->closedCount : contact->pointCount;
    RB_ASSERT(count <= RB_MANIFOLD_POINTS_MAX);
    rbSweepPoint* points = &sweep->points[contact->firstPoint];
    rbRowBody* a = &sweep->bodies[contact->slotA];
    rbRowBody* b = &sweep->bodies[contact->slotB];
    rbVec3 v = rbSub(rbSweepBody_Velocity(b), rbSweepBody_Velocity(a));
    Visit visit = {.y = rbSweepSix_Gather(a, b),
                   .massSum = contact->invMassA + contact->invMassB,
                   .speeds = {rbDot(v, contact->normal), rbDot(v, contact->tangents[0]),
                              rbDot(v, contact->tangents[1])}};
    visitNormals(&visit, points, count);
    if (contact->isRough) {
        for (int i = 0; i < count; ++i) {
            visitFriction(&visit, &sweep->bound, &points[i]);
        }
    }
    if (contact->turn >= 0) {
        double normalSum = 0.0;
        for (int i = 0; i < count; ++i) {
            normalSum += points[i].impulse[0];
        }
        visitTurn(&visit, &sweep->turns[contact->turn], normalSum);
    }
    rbVec3 p = rbJoinImpulse(contact->normal, contact->tangents, visit.pushes[0], visit.pushes[1],
                             visit.pushes[2]);
    rbSweepSix_Scatter(&visit.y, a, b);
    rbSweepBody_Push(a, -contact->invMassA, p);
    rbSweepBody_Push(b, contact->invMassB, p);
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

void rbSweep_Project(const rbSweep* sweep, int first, int last)
{
    RB_ASSERT(first >= 0 && first <= last);
    const rbFrictionBound disc = {NULL, 0};
    for (int i = first; i < last; ++i) {
        const rbSweepContact* contact = &sweep->contacts[i];
        int count = sweep->isVelocity ? contact->closedCount : contact->pointCount;
        double normalSum = 0.0;
        for (int k = contact->firstPoint; k < contact->firstPoint + count; ++k) {
            rbSweepPoint* point = &sweep->points[k];
            point->impulse[0] = point->impulse[0] > 0.0 ? point->impulse[0] : 0.0;
            double radius = point->disc + point->friction * point->impulse[0];
            (void)project(&sweep->bound, radius, &point->impulse[1]);
            normalSum += point->impulse[0];
        }
        if (contact->turn >= 0) {
            rbSweepTurn* turn = &sweep->turns[contact->turn];
            double most = turn->spinning * normalSum;
            (void)project(&disc, turn->rolling * normalSum, turn->impulse);
            turn->impulse[2] = fmax(-most, fmin(most, turn->impulse[2]));
        }
    }
}

rbSweepTally rbSweep_Run(const rbSweep* sweep, int first, int last)
{
    RB_ASSERT(first >= 0 && first <= last);
    RB_ASSERT(sweep->contacts != NULL || first == last);
    rbSweepTally tally = {.worst = -1};
    for (int i = first; i < last; ++i) {
        visitContact(sweep, i, &tally);
    }
    tally.tangentError = sqrt(tally.tangentError);
    return tally;
}
