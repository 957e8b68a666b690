// An island for contact_newton.c: its bodies, its points, links and masses.
#include "base/math/matrix3.h"
#include "dynamics/contact/contact_newton_state.h"

#include <string.h>

#define DOF RB_BLOCK

static int contactAt(const rbContactRun* run, int i)
{
    return run->order != NULL ? run->order[i] : i;
}

static void addBody(rbContactNewton* newton, const rbContactRun* run, int body)
{
    if (body < 0) {
        return;
    }
    while (newton->locals1.count <= body) {
        rbArray_Push(newton->locals1, 0);
    }
    if (rbNewton_IsMoved(run, body) && newton->locals1.data[body] == 0) {
        rbArray_Push(newton->bodies, body);
        newton->locals1.data[body] = newton->bodies.count;
    }
}

static void findBodies(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    newton->bodies.count = 0;
    for (int i = 0; i < run->orderCount; ++i) {
        const rbContact* contact = &run->set->contacts[contactAt(run, i)];
        addBody(newton, run, contact->bodyA);
        addBody(newton, run, contact->bodyB);
    }
    for (int i = 0; i < task->linkCount; ++i) {
        addBody(newton, run, task->links[i].bodyA);
        addBody(newton, run, task->links[i].bodyB);
    }
}

void rbNewton_Forget(rbContactNewton* newton)
{
    for (int i = 0; i < newton->bodies.count; ++i) {
        newton->locals1.data[newton->bodies.data[i]] = 0;
    }
}

static int localOf(const rbContactNewton* newton, int body)
{
    return body >= 0 ? newton->locals1.data[body] - 1 : -1;
}

// Calls for every pair of bodies of the island that touch or are joined.
typedef void PairFn(rbContactNewton* newton, int a, int b);

static void eachPair(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task,
                     PairFn* call)
{
    for (int i = 0; i < run->orderCount + task->linkCount; ++i) {
        int hosts[2];
        if (i < run->orderCount) {
            const rbContact* contact = &run->set->contacts[contactAt(run, i)];
            hosts[0] = contact->bodyA;
            hosts[1] = contact->bodyB;
        } else {
            hosts[0] = task->links[i - run->orderCount].bodyA;
            hosts[1] = task->links[i - run->orderCount].bodyB;
        }
        int a = localOf(newton, hosts[0]);
        int b = localOf(newton, hosts[1]);
        if (a >= 0 && b >= 0 && a != b) {
            call(newton, a, b);
        }
    }
}

static void couple(rbContactNewton* newton, int a, int b)
{
    rbBlockMatrix_Couple(&newton->matrix, a, b);
}

bool rbNewton_Begin(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    findBodies(newton, run, task);
    if (newton->bodies.count == 0 || newton->bodies.count > RB_BLOCK_MATRIX_MAX) {
        return false;
    }
    rbBlockMatrix_Begin(&newton->matrix, newton->bodies.count);
    eachPair(newton, run, task, couple);
    rbBlockMatrix_Finish(&newton->matrix);
    return true;
}

bool rbContactNewton_CanSolve(rbContactNewton* newton, const rbContactSettings* settings,
                              const rbContactRun* run, const rbNewtonTask* task)
{
    if (settings->cone != RB_CONE_EXACT) {
        return false;
    }
    bool isSmall = rbNewton_Begin(newton, run, task);
    rbNewton_Forget(newton);
    return isSmall;
}

// -------------------------------------------------------------------------------------------- rows

static void writeRow(double row[12], rbVec3 direction, const rbContactPoint* point)
{
    rbVec3 turnA = rbCross(point->armA, direction);
    rbVec3 turnB = rbCross(point->armB, direction);
    double values[12] = {-direction.x, -direction.y, -direction.z, -turnA.x, -turnA.y, -turnA.z,
                         direction.x,  direction.y,  direction.z,  turnB.x,  turnB.y,  turnB.z};
    memcpy(row, values, sizeof values);
}

// The mobility of the point along a row.
static double responseOf(const rbContactRun* run, int bodyA, int bodyB, const double row[12])
{
    double sum = 0.0;
    const int hosts[2] = {bodyA, bodyB};
    for (int side = 0; side < 2; ++side) {
        if (hosts[side] >= 0 && rbNewton_IsMoved(run, hosts[side])) {
            const rbContactBody* body = &run->bodies[hosts[side]];
            const double* part = row + 6 * (size_t)side;
            rbVec3 linear = rbMakeVec3(part[0], part[1], part[2]);
            rbVec3 turn = rbMakeVec3(part[3], part[4], part[5]);
            sum += body->invMass * rbLengthSquared(linear) +
                   rbDot(turn, rbMulSV(body->invInertia, turn));
        }
    }
    return sum;
}

static void addPoint(rbContactNewton* newton, const rbContactRun* run, rbContact* contact,
                     rbContactPoint* point, double normalBias, double slipPart)
{
    rbNewtonPoint p = {.contact = contact,
                       .point = point,
                       .sliding = contact->friction,
                       .sticking = fmax(contact->stiction, contact->friction)};
    rbVec3 u = rbContact_RelativeVelocity(run->bodies, contact, point);
    double across = rbDot(u, contact->normal);
    p.chosen = rbContactPoint_ChooseFriction(point, contact,
                                             sqrt(fmax(0.0, rbDot(u, u) - across * across)));
    p.a = newton->locals1.data[contact->bodyA] - 1;
    p.b = newton->locals1.data[contact->bodyB] - 1;
    writeRow(p.rows[0], contact->normal, point);
    writeRow(p.rows[1], contact->tangents[0], point);
    writeRow(p.rows[2], contact->tangents[1], point);
    double normal = responseOf(run, contact->bodyA, contact->bodyB, p.rows[0]);
    double tangential = fmax(responseOf(run, contact->bodyA, contact->bodyB, p.rows[1]),
                             responseOf(run, contact->bodyA, contact->bodyB, p.rows[2]));
    if (!(normal > 0.0)) {
        return;
    }
    p.mass[0] = 1.0 / normal;
    p.mass[1] = 1.0 / fmax(tangential, normal);
    p.bias[0] = normalBias;
    p.bias[1] = slipPart * point->slip[0];
    p.bias[2] = slipPart * point->slip[1];
    if (contact->hasBelt) {
        p.bias[1] += rbDot(contact->belt, contact->tangents[0]);
        p.bias[2] += rbDot(contact->belt, contact->tangents[1]);
    }
    for (int k = 0; k < 3; ++k) {
        p.start[k] = newton->acted * point->impulse[k];
        p.held[k] = newton->guessed * point->impulse[k];
    }
    rbArray_Push(newton->points, p);
}

static void writeTurn(double row[12], rbVec3 direction, double reach)
{
    double x = reach * direction.x;
    double y = reach * direction.y;
    double z = reach * direction.z;
    double values[12] = {0.0, 0.0, 0.0, -x, -y, -z, 0.0, 0.0, 0.0, x, y, z};
    memcpy(row, values, sizeof values);
}

// Resistance to rolling (turn 0: along both tangents) or spinning (2: about the normal), carried by
// the points of the contact starting at first.
static void addTurn(rbContactNewton* newton, const rbContactRun* run, rbContact* contact, int turn,
                    int first, int count)
{
    const rbContactPoint* point = &run->set->points[contact->firstPoint];
    double armA = rbNewton_IsMoved(run, contact->bodyA) ? rbLength(point->armA) : 0.0;
    double armB = rbNewton_IsMoved(run, contact->bodyB) ? rbLength(point->armB) : 0.0;
    double reach = fmax(armA, armB);
    double length = turn == 0 ? contact->rolling : contact->spinning;
    if (!(reach > 0.0) || !(length > 0.0) || count == 0) {
        return;
    }
    rbNewtonPoint p = {.contact = contact,
                       .reach = reach,
                       .turn = turn,
                       .first = first,
                       .count = count,
                       .sliding = length / reach,
                       .sticking = length / reach};
    p.a = localOf(newton, contact->bodyA);
    p.b = localOf(newton, contact->bodyB);
    writeTurn(p.rows[1], turn == 0 ? contact->tangents[0] : contact->normal, reach);
    if (turn == 0) {
        writeTurn(p.rows[2], contact->tangents[1], reach);
    }
    double response = fmax(responseOf(run, contact->bodyA, contact->bodyB, p.rows[1]),
                           responseOf(run, contact->bodyA, contact->bodyB, p.rows[2]));
    p.mass[0] = 1.0 / response;
    p.mass[1] = 1.0 / response;
    for (int k = 0; k < (turn == 0 ? 2 : 1); ++k) {
        p.start[1 + k] = newton->acted * contact->turning[turn + k] / reach;
        p.held[1 + k] = newton->guessed * contact->turning[turn + k] / reach;
    }
    for (int i = 0; i < p.count; ++i) {
        p.held[0] += newton->points.data[first + i].held[0];
    }
    rbArray_Push(newton->points, p);
}

static void findPoints(rbContactNewton* newton, const rbContactRun* run, bool isOfPositions,
                       double partSpeed)
{
    newton->points.count = 0;
    for (int i = 0; i < run->orderCount; ++i) {
        rbContact* contact = &run->set->contacts[contactAt(run, i)];
        int first = newton->points.count;
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            rbContactPoint* point = &run->set->points[k];
            if (isOfPositions) {
                addPoint(newton, run, contact, point,
                         rbContactPoint_GetPart(point, run->h, partSpeed), 1.0 / run->h);
            } else if (point->isClosed) {
                addPoint(newton, run, contact, point, -point->target, 0.0);
            }
        }
        int count = newton->points.count - first;
        addTurn(newton, run, contact, 0, first, count);
        addTurn(newton, run, contact, 2, first, count);
    }
}

static void findLinks(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    newton->links.count = 0;
    for (int i = 0; i < task->linkCount; ++i) {
        rbContactLink* link = &task->links[i];
        double response = responseOf(run, link->bodyA, link->bodyB, link->row);
        if (response > 0.0) {
            rbNewtonLink l = {.link = link,
                              .a = localOf(newton, link->bodyA),
                              .b = localOf(newton, link->bodyB),
                              .mass = 1.0 / response,
                              .held = link->impulse};
            rbArray_Push(newton->links, l);
        }
    }
}

static void findMasses(rbContactNewton* newton, const rbContactRun* run)
{
    int count = newton->bodies.count;
    rbArray_Reserve(newton->masses, 7 * count);
    rbArray_Reserve(newton->velocities, DOF * count);
    rbArray_Reserve(newton->starts, DOF * count);
    rbArray_Reserve(newton->trial, DOF * count);
    rbArray_Reserve(newton->kept, DOF * count);
    rbArray_Reserve(newton->residual, DOF * count);
    rbArray_Reserve(newton->change, DOF * count);
    for (int i = 0; i < count; ++i) {
        const rbContactBody* body = &run->bodies[newton->bodies.data[i]];
        rbSym3 inertia;
        if (!rbSym3_Invert(body->invInertia, &inertia)) {
            inertia = (rbSym3){1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
        }
        double values[7] = {1.0 / body->invMass, inertia.xx, inertia.yy, inertia.zz,
                            inertia.xy,          inertia.xz, inertia.yz};
        memcpy(&newton->masses.data[7 * (size_t)i], values, sizeof values);
        double motion[DOF] = {body->velocity.x, body->velocity.y, body->velocity.z,
                              body->spin.x,     body->spin.y,     body->spin.z};
        memcpy(&newton->starts.data[DOF * (size_t)i], motion, sizeof motion);
    }
    size_t size = (size_t)(DOF * count) * sizeof(double);
    memcpy(newton->velocities.data, newton->starts.data, size);
}

void rbNewton_Read(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    findPoints(newton, run, task->isOfPositions, task->partSpeed);
    findLinks(newton, run, task);
    findMasses(newton, run);
}
