// An island for contact_newton.c and contact_hybrid.c: its bodies, points, links and masses, the
// algebra of both, and what they found.
#include "base/math/matrix3.h"
#include "dynamics/contact/contact_newton_state.h"

#include <string.h>

#define DOF RB_BLOCK

// The bodies of a contact of the run, or, after these, of a link, -1: the world.
static void getPair(const rbContactRun* run, const rbNewtonTask* task, int i, int hosts[2])
{
    if (i < run->orderCount) {
        const rbContact* contact = &run->set->contacts[rbContactRun_GetContact(run, i)];
        hosts[0] = contact->bodyA;
        hosts[1] = contact->bodyB;
    } else {
        hosts[0] = task->links[i - run->orderCount].bodyA;
        hosts[1] = task->links[i - run->orderCount].bodyB;
    }
}

static void findBodies(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    newton->bodies.count = 0;
    for (int i = 0; i < 2 * (run->orderCount + task->linkCount); ++i) {
        int hosts[2];
        getPair(run, task, i / 2, hosts);
        int body = hosts[i % 2];
        rbArray_Fill(newton->locals1, body + 1, 0);
        if (body >= 0 && rbContactBody_IsMoved(&run->bodies[body]) &&
            newton->locals1.data[body] == 0) {
            rbArray_Push(newton->bodies, body);
            newton->locals1.data[body] = newton->bodies.count;
        }
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

// -------------------------------------------------------------------------------------------- rows

static void writeRow(double row[12], rbVec3 direction, rbVec3 turnA, rbVec3 turnB)
{
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
        if (hosts[side] >= 0 && rbContactBody_IsMoved(&run->bodies[hosts[side]])) {
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
                       .locals = {localOf(newton, contact->bodyA), localOf(newton, contact->bodyB)},
                       .point = point,
                       .sliding = contact->friction,
                       .sticking = fmax(contact->stiction, contact->friction)};
    const rbVec3 axes[3] = {contact->normal, contact->tangents[0], contact->tangents[1]};
    for (int k = 0; k < 3; ++k) {
        writeRow(p.rows[k], axes[k], rbCross(point->armA, axes[k]), rbCross(point->armB, axes[k]));
    }
    double normal = responseOf(run, contact->bodyA, contact->bodyB, p.rows[0]);
    double tangential = fmax(responseOf(run, contact->bodyA, contact->bodyB, p.rows[1]),
                             responseOf(run, contact->bodyA, contact->bodyB, p.rows[2]));
    if (!(normal > 0.0)) {
        return;
    }
    RB_ASSERT(p.sticking >= p.sliding && p.sliding >= 0.0);
    p.mass[0] = 1.0 / normal;
    p.mass[1] = 1.0 / fmax(tangential, normal);
    p.bias[0] = normalBias;
    p.bias[1] = slipPart * point->slip[0];
    p.bias[2] = slipPart * point->slip[1];
    if (slipPart > 0.0) {
        rbVec3 carry =
            rbContactPoint_GetCarry(point, &run->bodies[contact->bodyA],
                                    &run->bodies[contact->bodyB], run->h, run->restSpeed);
        p.bias[1] += rbDot(carry, contact->tangents[0]);
        p.bias[2] += rbDot(carry, contact->tangents[1]);
    }
    if (run->leads != NULL) {
        const rbSlipLead* lead = &run->leads[point - run->set->points];
        p.bias[1] += lead->slip[0];
        p.bias[2] += lead->slip[1];
        bool isLed = lead->slip[0] != 0.0 || lead->slip[1] != 0.0;
        p.sliding *= isLed ? lead->part : 1.0;
        p.sticking = isLed ? p.sliding : p.sticking;
    }
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

// Resistance to rolling (turn 0: along both tangents) or spinning (2: about the normal), carried by
// the points of the contact starting at first.
static void addTurn(rbContactNewton* newton, const rbContactRun* run, rbContact* contact, int turn,
                    int first, int count)
{
    const rbContactPoint* point = &run->set->points[contact->firstPoint];
    double armA = rbContactBody_IsMoved(&run->bodies[contact->bodyA]) ? rbLength(point->armA) : 0.0;
    double armB = rbContactBody_IsMoved(&run->bodies[contact->bodyB]) ? rbLength(point->armB) : 0.0;
    double reach = fmax(armA, armB);
    double length = turn == 0 ? contact->rolling : contact->spinning;
    if (!(reach > 0.0) || !(length > 0.0) || count == 0) {
        return;
    }
    rbNewtonPoint p = {.contact = contact,
                       .locals = {localOf(newton, contact->bodyA), localOf(newton, contact->bodyB)},
                       .reach = reach,
                       .turn = turn,
                       .first = first,
                       .count = count,
                       .sliding = length / reach,
                       .sticking = length / reach};
    const rbVec3 axes[3] = {contact->tangents[0], contact->tangents[1], contact->normal};
    for (int k = 0; k < (turn == 0 ? 2 : 1); ++k) {
        rbVec3 arm = rbScale(reach, axes[turn + k]);
        writeRow(p.rows[1 + k], RB_VEC3_ZERO, arm, arm);
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
        rbContact* contact = &run->set->contacts[rbContactRun_GetContact(run, i)];
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
            rbNewtonLink l = {
                .link = link,
                .locals = {localOf(newton, link->bodyA), localOf(newton, link->bodyB)},
                .mass = 1.0 / response,
                .held = link->impulse};
            rbArray_Push(newton->links, l);
        }
    }
}

static void findMasses(rbContactNewton* newton, const rbContactRun* run)
{
    int count = newton->bodies.count;
    rbArray_Reserve(newton->masses, count);
    double** vectors[] = {&newton->velocities, &newton->starts,   &newton->trial,
                          &newton->kept,       &newton->residual, &newton->change};
    int vectorCount = (int)(sizeof vectors / sizeof *vectors);
    rbArray_Reserve(newton->vectors, vectorCount * DOF * count);
    for (int i = 0; i < vectorCount; ++i) {
        *vectors[i] = newton->vectors.data + (size_t)(i * DOF * count);
    }
    for (int i = 0; i < count; ++i) {
        const rbContactBody* body = &run->bodies[newton->bodies.data[i]];
        rbSym3 inertia;
        if (!rbSym3_Invert(body->invInertia, &inertia)) {
            inertia = (rbSym3){1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
        }
        newton->masses.data[i] = (rbNewtonMass){1.0 / body->invMass, inertia};
        double motion[DOF] = {body->velocity.x, body->velocity.y, body->velocity.z,
                              body->spin.x,     body->spin.y,     body->spin.z};
        memcpy(&newton->starts[DOF * (size_t)i], motion, sizeof motion);
    }
    rbNewton_Copy(newton, newton->velocities, newton->starts);
}

bool rbNewton_Begin(rbContactNewton* newton, const rbContactRun* run, const rbNewtonTask* task)
{
    RB_ASSERT(run->orderCount >= 0 && run->orderCount <= run->set->contactCount);
    newton->run = run;
    findBodies(newton, run, task);
    if (newton->bodies.count == 0 || newton->bodies.count > RB_BLOCK_MATRIX_MAX) {
        return false;
    }
    rbBlockMatrix_Begin(&newton->matrix, newton->bodies.count);
    // the pattern: pairs of bodies of the island that touch or are joined
    for (int i = 0; i < run->orderCount + task->linkCount; ++i) {
        int hosts[2];
        getPair(run, task, i, hosts);
        int a = localOf(newton, hosts[0]);
        int b = localOf(newton, hosts[1]);
        if (a >= 0 && b >= 0 && a != b) {
            rbBlockMatrix_Couple(&newton->matrix, a, b);
        }
    }
    rbBlockMatrix_Finish(&newton->matrix);
    findPoints(newton, run, task->isOfPositions, task->partSpeed);
    findLinks(newton, run, task);
    findMasses(newton, run);
    return true;
}

// ----------------------------------------------------------------------------------------- algebra

// The matrix of the masses alone.
static void beginMatrix(rbContactNewton* newton)
{
    rbBlockMatrix_Clear(&newton->matrix);
    for (int i = 0; i < newton->bodies.count; ++i) {
        const rbNewtonMass* m = &newton->masses.data[i];
        const double diagonal[DOF] = {m->mass,       m->mass,       m->mass,
                                      m->inertia.xx, m->inertia.yy, m->inertia.zz};
        double* to = rbBlockMatrix_GetDiagonal(&newton->matrix, i);
        for (int k = 0; k < DOF; ++k) {
            to[DOF * k + k] = diagonal[k];
        }
        to[DOF * 4 + 3] = to[DOF * 3 + 4] = m->inertia.xy;
        to[DOF * 5 + 3] = to[DOF * 3 + 5] = m->inertia.xz;
        to[DOF * 5 + 4] = to[DOF * 4 + 5] = m->inertia.yz;
    }
}

void rbNewton_FindResidual(rbContactNewton* newton, const double* velocities)
{
    double* residual = newton->residual;
    for (int i = 0; i < newton->bodies.count; ++i) {
        rbNewtonMass m = newton->masses.data[i];
        double* to = &residual[DOF * (size_t)i];
        double change[DOF];
        for (int k = 0; k < DOF; ++k) {
            change[k] = newton->starts[DOF * i + k] - velocities[DOF * i + k];
        }
        rbVec3 turn = rbMulSV(m.inertia, rbMakeVec3(change[3], change[4], change[5]));
        for (int k = 0; k < 3; ++k) {
            to[k] = m.mass * change[k];
        }
        memcpy(to + 3, &turn, sizeof turn);
    }
    for (int i = 0; i < newton->points.count; ++i) {
        const rbNewtonPoint* p = &newton->points.data[i];
        for (int row = 0; row < 3; ++row) {
            rbNewton_AddTo(p->locals, p->rows[row], p->x[row] - p->start[row], residual);
        }
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const rbNewtonLink* l = &newton->links.data[i];
        rbNewton_AddTo(l->locals, l->link->row, l->x - l->link->impulse, residual);
    }
}

// Rows of both tangents, turned by the direction of sliding: along it, or across.
static void turnRows(const rbNewtonPoint* p, bool isAcross, double row[12])
{
    double first = isAcross ? -p->slide[1] : p->slide[0];
    double second = isAcross ? p->slide[0] : p->slide[1];
    for (int k = 0; k < 12; ++k) {
        row[k] = first * p->rows[1][k] + second * p->rows[2][k];
    }
}

static void assemble(rbContactNewton* newton)
{
    rbBlockMatrix* matrix = &newton->matrix;
    bool isSplit = false;
    beginMatrix(newton);
    for (int i = 0; i < newton->points.count; ++i) {
        const rbNewtonPoint* p = &newton->points.data[i];
        rbBlockMatrix_AddSquare(matrix, p->locals, p->rows[0], p->d[0]);
        if (!rbNewtonPoint_IsSliding(p)) {
            rbBlockMatrix_AddSquare(matrix, p->locals, p->rows[1], p->d[1]);
            rbBlockMatrix_AddSquare(matrix, p->locals, p->rows[2], p->d[1]);
        } else {
            double across[12];
            turnRows(p, true, across);
            rbBlockMatrix_AddSquare(matrix, p->locals, across, p->d[1]);
            isSplit = isSplit || p->d[0] > 0.0;
        }
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const rbNewtonLink* l = &newton->links.data[i];
        rbBlockMatrix_AddSquare(matrix, l->locals, l->link->row, l->d);
    }
    if (!newton->isCoupled || !isSplit) {
        return;
    }
    // The rim follows the normal impulse.
    rbBlockMatrix_Split(matrix);
    for (int i = 0; i < newton->points.count; ++i) {
        const rbNewtonPoint* p = &newton->points.data[i];
        if (rbNewtonPoint_IsSliding(p) && p->d[0] > 0.0) {
            double along[12];
            turnRows(p, false, along);
            rbBlockMatrix_AddProduct(matrix, p->locals, along, p->rows[0], p->friction * p->d[0]);
        }
    }
}

bool rbNewton_FindChange(rbContactNewton* newton, int* rounds)
{
    assemble(newton);
    *rounds += 1;
    if (!rbBlockMatrix_Factor(&newton->matrix)) {
        return false;
    }
    rbNewton_Copy(newton, newton->change, newton->residual);
    rbBlockMatrix_Solve(&newton->matrix, newton->change);
    return true;
}

void rbNewton_Hold(rbContactNewton* newton)
{
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        memcpy(p->held, p->x, sizeof p->held);
    }
    for (int i = 0; i < newton->links.count; ++i) {
        newton->links.data[i].held = newton->links.data[i].x;
    }
}

// ------------------------------------------------------------------------------------------ result

// An impulse along a row over two bodies.
static void applyRow(const rbContactRun* run, int bodyA, int bodyB, const double row[12],
                     double impulse)
{
    const int hosts[2] = {bodyA, bodyB};
    for (int side = 0; side < 2; ++side) {
        const double* part = row + 6 * (size_t)side;
        if (hosts[side] >= 0 && rbContactBody_IsMoved(&run->bodies[hosts[side]])) {
            rbContactBody* body = &run->bodies[hosts[side]];
            rbVec3 linear = rbMakeVec3(part[0], part[1], part[2]);
            rbVec3 turn = rbMakeVec3(part[3], part[4], part[5]);
            body->velocity = rbAddScaled(body->velocity, body->invMass * impulse, linear);
            body->spin = rbAddScaled(body->spin, impulse, rbMulSV(body->invInertia, turn));
        }
    }
}

// Velocities exactly as the impulses produce them, so that momentum is conserved.
void rbNewton_Apply(rbContactNewton* newton)
{
    const rbContactRun* run = newton->run;
    for (int i = 0; i < newton->points.count; ++i) {
        rbNewtonPoint* p = &newton->points.data[i];
        // Inside the cone to the last bit.
        double limit = p->sticking * p->x[0];
        double length = sqrt(p->x[1] * p->x[1] + p->x[2] * p->x[2]);
        double scale = length > limit ? limit / length : 1.0;
        double x[3] = {p->x[0], scale * p->x[1], scale * p->x[2]};
        if (p->point == NULL) {
            for (int k = 0; k < (p->turn == 0 ? 2 : 1); ++k) {
                p->contact->turning[p->turn + k] = p->reach * x[1 + k];
                applyRow(run, p->contact->bodyA, p->contact->bodyB, p->rows[1 + k],
                         x[1 + k] - p->start[1 + k]);
            }
            continue;
        }
        rbVec3 impulse = rbJoinImpulse(p->contact->normal, p->contact->tangents, x[0] - p->start[0],
                                       x[1] - p->start[1], x[2] - p->start[2]);
        rbContact_ApplyImpulse(run->bodies, p->contact, p->point, impulse);
        memcpy(p->point->impulse, x, sizeof x);
        p->point->isSticking = !rbNewtonPoint_IsSliding(p) && x[0] > 0.0;
    }
    for (int i = 0; i < newton->links.count; ++i) {
        const rbNewtonLink* l = &newton->links.data[i];
        applyRow(run, l->link->bodyA, l->link->bodyB, l->link->row, l->x - l->link->impulse);
        l->link->impulse = l->x;
    }
}
