// Steps in which the active set of contacts is held: the same points touch, stick and slide from
// the start to the end. Their conditions are then equations, and the error of the step has only
// even powers of its size, so that runs of such steps can be combined to higher orders
// (step_contact_order.c).
//
// At the start half of the forces, and impulses that leave no gap and no slip at the end of the
// flight, both measured there; at the end half of the forces, and impulses that leave no approach
// and no slip rate. Sliding friction acts against the slip at the start of the step in the first
// stage, and against that at its end in the last: each part is the mirror image of the other in
// time. Where points depend on each other (a box on its four corners), the least impulses are
// taken.
#include "dynamics/engines/step/step_contact_state.h"

#include <float.h>
#include <string.h>

// Points of a contact that bears touch within this gap, m, and this speed, m/s.
#define NEAR_GAP 1e-7
#define NEAR_SPEED 1e-5
// m/s: slower slip has no direction.
#define SLIDE_LEAST 1e-9
// Rounds of a stage, and what is left in units of rounding at most.
#define ROUNDS_MAX 60
#define LEFT_MOST 1e4
// Cosine of the angle by which friction that slides may turn.
#define TURN_MOST 0.5
// Singular values below this fraction of the largest are zero.
#define SINGULAR 1e-8
#define JACOBI_SWEEPS 30
// Part of the bound by which friction may exceed it: rounding.
#define CONE_PLAY 1e-9
// Probes of a pair.
#define PROBES_MAX 64
// Fraction of the fall in a step: closing larger gaps would need impulses that pull.
#define GAP_PART 0.1
// m: open points that come closer touch; those that are closed, if they approach faster, m/s.
#define TOUCH_PLAY 1e-10
#define TOUCH_SPEED 1e-9

// Rows of points that are held at once.
#define ROWS_MAX 96

// A point that touches throughout a step.
typedef struct HeldPoint {
    const rbContact* contact; // of the set of the current stage
    rbContactPoint* point;
    const rbMechBody* bodies[2];
    rbVec3 place;      // m, world
    rbVec3 locals[2];  // m, in the frames of the bodies, at the start of the step
    rbVec3 push;       // impulse of a unit of the normal one: where it slides, with its friction
    rbVec3 friction;   // its tangential part at the start of the step
    double gap;        // m, to be left at the end of the flight
    double impulse[3]; // N s, of the current stage
    double total[3];   // of both, along the axes of the last
    bool isSticking;
    bool isDropped; // would pull: another point bears its share, or it opens
} HeldPoint;

// Equations of a stage, factored.
typedef struct HeldRows {
    int count;
    int points[ROWS_MAX];
    int axes[ROWS_MAX];
    double left[ROWS_MAX * ROWS_MAX];  // K V, by columns
    double right[ROWS_MAX * ROWS_MAX]; // V
    double squares[ROWS_MAX];          // of the singular values; 0: none
    double errors[ROWS_MAX];
} HeldRows;

struct rbHeldSet {
    RB_ARRAY(HeldPoint) points;
    RB_ARRAY(unsigned char) isHeldPoint; // per point of the set
    RB_ARRAY(rbContactBody) still;       // the bodies, at rest
    bool isGapKept;                      // gaps that earlier steps left stay
    HeldRows rows;
};

rbHeldSet* rbCreateHeldSet(void)
{
    return rbAllocZero(1, sizeof(rbHeldSet));
}

void rbDestroyHeldSet(rbHeldSet* held)
{
    if (held != NULL) {
        rbArray_FreeAll(held->points, held->isHeldPoint, held->still);
        rbFree(held, sizeof *held);
    }
}

// ----------------------------------------------------------------------------------------- points

static rbVec3 slipRate(const rbStepContacts* c, const HeldPoint* held)
{
    return rbContact_RelativeVelocity(c->bodies.data, held->contact, held->point);
}

// The normal or a tangent.
static rbVec3 axisOf(const HeldPoint* held, int axis)
{
    RB_ASSERT(axis >= 0 && axis < 3);
    return axis == 0 ? held->contact->normal : held->contact->tangents[axis - 1];
}

static rbVec3 pushOf(const HeldPoint* held, int axis)
{
    return axis == 0 ? held->push : axisOf(held, axis);
}

static void push(rbStepContacts* c, const HeldPoint* held, rbVec3 p)
{
    RB_ASSERT(rbIsFinite3(p));
    rbContact_ApplyImpulse(c->bodies.data, held->contact, held->point, p);
}

// The direction of friction; false: there is no slip.
static bool aimFriction(const rbStepContacts* c, HeldPoint* held)
{
    RB_ASSERT(!(held->contact->friction < 0.0));
    rbVec3 normal = held->contact->normal;
    held->push = normal;
    if (held->isSticking || !(held->contact->friction > 0.0)) {
        return true;
    }
    rbVec3 u = slipRate(c, held);
    u = rbAddScaled(u, -rbDot(u, normal), normal);
    double speed = rbLength(u);
    if (!(speed > SLIDE_LEAST)) {
        return false;
    }
    held->push = rbAddScaled(normal, -held->contact->friction / speed, u);
    return true;
}

// A point of the set.
static void placePoint(const rbStepContacts* c, HeldPoint* held, int contact, int point)
{
    RB_ASSERT(contact >= 0 && contact < c->set.contactCount);
    held->contact = &c->set.contacts[contact];
    held->point = &c->set.points[point];
    RB_ASSERT(point >= held->contact->firstPoint &&
              point < held->contact->firstPoint + held->contact->pointCount);
    held->bodies[0] = rbContactStep_GetBody(c, held->contact->bodyA);
    held->bodies[1] = rbContactStep_GetBody(c, held->contact->bodyB);
    RB_ASSERT(held->bodies[0] != NULL && held->bodies[1] != NULL);
    held->place = rbAdd(held->bodies[0]->pose.position, held->point->armA);
    held->gap = c->order.held->isGapKept ? held->point->gap : 0.0;
    memset(held->impulse, 0, sizeof held->impulse);
}

static void clearMarks(rbStepContacts* c)
{
    rbArray_Reserve(c->order.held->isHeldPoint, c->set.pointCount);
    for (int k = 0; k < c->set.pointCount; ++k) {
        c->order.held->isHeldPoint.data[k] = 0;
    }
}

static bool isBearing(const rbStepContacts* c, const rbContact* contact)
{
    bool isAny = false;
    for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
        isAny = isAny || c->set.points[k].impulse[0] > 0.0;
    }
    return isAny;
}

static bool addPoint(rbStepContacts* c, int contact, int point)
{
    const rbContact* from = &c->set.contacts[contact];
    const rbContactPoint* at = &c->set.points[point];
    HeldPoint held;
    memset(&held, 0, sizeof held);
    placePoint(c, &held, contact, point);
    rbVec3 u = slipRate(c, &held);
    double approach = rbDot(u, from->normal);
    bool isLoaded = at->impulse[0] > 0.0;
    if (!isLoaded && !(at->isClosed && fabs(at->gap) <= NEAR_GAP && fabs(approach) <= NEAR_SPEED)) {
        return true;
    }
    double slip = rbLength(rbAddScaled(u, -approach, from->normal));
    held.isSticking = from->stiction > 0.0 && (isLoaded ? at->isSticking : slip <= NEAR_SPEED);
    held.locals[0] = rbMulMtV(held.bodies[0]->pose.rotation, at->armA);
    held.locals[1] = rbMulMtV(held.bodies[1]->pose.rotation, at->armB);
    if (!aimFriction(c, &held) || (held.isSticking && from->hasBelt)) {
        return false;
    }
    held.friction = rbSub(held.push, from->normal);
    c->order.held->isHeldPoint.data[point] = 1;
    rbArray_Push(c->order.held->points, held);
    return true;
}

bool rbHeldStep_Collect(rbStepContacts* c)
{
    c->order.held->points.count = 0;
    clearMarks(c);
    bool isHeld = rbContactFreeze_GetCount(c->rest.freeze) == 0;
    for (int i = 0; i < c->set.contactCount && isHeld; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        if (!isBearing(c, contact)) {
            continue;
        }
        isHeld =
            i < c->found.contactCount && !(contact->rolling > 0.0) && !(contact->spinning > 0.0);
        for (int k = 0; k < contact->pointCount && isHeld; ++k) {
            isHeld = addPoint(c, i, contact->firstPoint + k);
        }
    }
    return isHeld && 3 * c->order.held->points.count <= ROWS_MAX;
}

// -------------------------------------------------------------------------------------- equations

// Turns two columns of left until they are orthogonal; size: the sum of all squares. False: they
// are so already.
static bool turnColumns(HeldRows* rows, int p, int q, double size)
{
    RB_ASSERT(p < q && q < rows->count);
    size_t n = (size_t)rows->count;
    double* a = &rows->left[(size_t)p * n];
    double* b = &rows->left[(size_t)q * n];
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (size_t k = 0; k < n; ++k) {
        aa += a[k] * a[k];
        bb += b[k] * b[k];
        ab += a[k] * b[k];
    }
    // columns of rounding stay as they are
    if (!(fabs(ab) > DBL_EPSILON * (sqrt(aa * bb) + DBL_EPSILON * size))) {
        return false;
    }
    double zeta = 0.5 * (bb - aa) / ab;
    double t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double cosine = 1.0 / sqrt(1.0 + t * t);
    double sine = cosine * t;
    double* va = &rows->right[(size_t)p * n];
    double* vb = &rows->right[(size_t)q * n];
    for (size_t k = 0; k < n; ++k) {
        double x = a[k];
        a[k] = cosine * x - sine * b[k];
        b[k] = sine * x + cosine * b[k];
        x = va[k];
        va[k] = cosine * x - sine * vb[k];
        vb[k] = sine * x + cosine * vb[k];
    }
    return true;
}

// Singular values by one-sided Jacobi rotations.
static void decompose(HeldRows* rows)
{
    int n = rows->count;
    RB_ASSERT(n >= 0 && n <= ROWS_MAX);
    double size = 0.0;
    for (int k = 0; k < n * n; ++k) {
        size += rows->left[k] * rows->left[k];
    }
    bool isTurned = true;
    for (int sweep = 0; sweep < JACOBI_SWEEPS && isTurned; ++sweep) {
        isTurned = false;
        for (int p = 0; p < n; ++p) {
            for (int q = p + 1; q < n; ++q) {
                isTurned = turnColumns(rows, p, q, size) || isTurned;
            }
        }
    }
    double most = 0.0;
    for (int p = 0; p < n; ++p) {
        rows->squares[p] = 0.0;
        for (int k = 0; k < n; ++k) {
            double x = rows->left[(size_t)p * (size_t)n + (size_t)k];
            rows->squares[p] += x * x;
        }
        most = fmax(most, rows->squares[p]);
    }
    for (int p = 0; p < n; ++p) {
        rows->squares[p] = rows->squares[p] > SINGULAR * SINGULAR * most ? rows->squares[p] : 0.0;
    }
}

// How much an impulse along a row changes the rate of another: measured, with bodies at rest.
static void fillColumn(rbHeldSet* held, size_t j)
{
    RB_ASSERT(j < (size_t)held->rows.count);
    HeldRows* rows = &held->rows;
    size_t n = (size_t)rows->count;
    const HeldPoint* pushed = &held->points.data[rows->points[j]];
    rbVec3 p = pushOf(pushed, rows->axes[j]);
    rbContact_ApplyImpulse(held->still.data, pushed->contact, pushed->point, p);
    for (size_t i = 0; i < n; ++i) {
        const HeldPoint* measured = &held->points.data[rows->points[i]];
        rbVec3 u = rbContact_RelativeVelocity(held->still.data, measured->contact, measured->point);
        u = rbSub(u, measured->contact->belt);
        rows->left[j * n + i] = rbDot(u, axisOf(measured, rows->axes[i]));
    }
    rbContact_ApplyImpulse(held->still.data, pushed->contact, pushed->point, rbNeg(p));
}

static void factor(rbStepContacts* c)
{
    rbHeldSet* held = c->order.held;
    HeldRows* rows = &held->rows;
    rows->count = 0;
    for (int i = 0; i < held->points.count; ++i) {
        const HeldPoint* point = &held->points.data[i];
        for (int axis = 0; !point->isDropped && axis < (point->isSticking ? 3 : 1); ++axis) {
            rows->points[rows->count] = i;
            rows->axes[rows->count] = axis;
            rows->count += 1;
        }
    }
    rbArray_Assign(held->still, c->bodies.data, c->bodies.count);
    for (int i = 0; i < held->still.count; ++i) {
        held->still.data[i].velocity = held->still.data[i].spin = RB_VEC3_ZERO;
    }
    size_t n = (size_t)rows->count;
    memset(rows->right, 0, n * n * sizeof(double));
    for (size_t j = 0; j < n; ++j) {
        rows->right[j * n + j] = 1.0;
        fillColumn(held, j);
    }
    decompose(rows);
}

// Impulses that change the rates of the rows by minus their errors times a scale.
static void pushRows(rbStepContacts* c, double scale)
{
    rbHeldSet* held = c->order.held;
    HeldRows* rows = &held->rows;
    size_t n = (size_t)rows->count;
    double x[ROWS_MAX] = {0.0};
    for (size_t p = 0; p < n; ++p) {
        double along = 0.0;
        for (size_t k = 0; k < n; ++k) {
            along += rows->left[p * n + k] * rows->errors[k];
        }
        along = rows->squares[p] > 0.0 ? -scale * along / rows->squares[p] : 0.0;
        for (size_t k = 0; k < n; ++k) {
            x[k] += along * rows->right[p * n + k];
        }
    }
    for (size_t k = 0; k < n; ++k) {
        HeldPoint* point = &held->points.data[rows->points[k]];
        point->impulse[rows->axes[k]] += x[k];
        push(c, point, rbScale(x[k], pushOf(point, rows->axes[k])));
    }
}

// ----------------------------------------------------------------------------------------- stages

// Where a point would be at the end of the flight if it were fixed to its body.
static rbVec3 placeAhead(const HeldPoint* held)
{
    const rbMechBody* mover = held->bodies[held->bodies[1]->isDynamic ? 1 : 0];
    return rbAdd(held->place, rbSub(mover->ahead.position, mover->pose.position));
}

// Where a point of a pair is at the end of the flight: the nearest of its probes.
static const rbContactProbe* findProbe(const HeldPoint* point, const rbContactProbe* probes,
                                       int count)
{
    const rbContactProbe* best = NULL;
    double least = INFINITY;
    rbVec3 place = placeAhead(point);
    for (int i = 0; i < count; ++i) {
        double distance = rbLengthSquared(rbSub(probes[i].point, place));
        if (distance < least) {
            least = distance;
            best = &probes[i];
        }
    }
    return best;
}

// The path of the point of contact over a body in the flight, seen halfway.
static rbVec3 pathOver(const HeldPoint* point, int side, rbVec3 end)
{
    RB_ASSERT(side == 0 || side == 1);
    const rbMechBody* body = point->bodies[side];
    rbQuat a = body->pose.orientation;
    rbQuat b = body->ahead.orientation;
    double sign = rbDotQuat(a, b) < 0.0 ? -1.0 : 1.0;
    rbQuat sum = {a.w + sign * b.w, a.x + sign * b.x, a.y + sign * b.y, a.z + sign * b.z};
    rbVec3 local = rbMulMtV(body->ahead.rotation, rbSub(end, body->ahead.position));
    return rbMulMV(rbMatFromQuat(rbNormalizeQuat(sum)), rbSub(local, point->locals[side]));
}

// Gaps and slips at the end of the flight; returns the largest, INFINITY: a point is not found
// there.
static double measureFlight(rbStepContacts* c)
{
    double most = 0.0;
    HeldRows* rows = &c->order.held->rows;
    const rbContact* contact = NULL;
    int count = 0;
    rbArray_Reserve(c->flight.probes, PROBES_MAX);
    for (int i = 0; i < rows->count; ++i) {
        const HeldPoint* point = &c->order.held->points.data[rows->points[i]];
        RB_ASSERT(point->contact != NULL);
        if (point->contact != contact) {
            contact = point->contact;
            const int bodies[2] = {contact->bodyA, contact->bodyB};
            const rbRowPose poses[2] = {point->bodies[0]->ahead, point->bodies[1]->ahead};
            double within = c->places.data[bodies[0]].reach + c->places.data[bodies[1]].reach;
            count = rbContactPairs_Measure(c->pairs, bodies, poses, within + NEAR_GAP,
                                           c->flight.probes.data, PROBES_MAX);
            count = count < PROBES_MAX ? count : PROBES_MAX;
        }
        const rbContactProbe* probe = findProbe(point, c->flight.probes.data, count);
        if (probe == NULL) {
            return INFINITY;
        }
        rbVec3 normal = rbNormalize(rbAdd(point->contact->normal, probe->normal));
        rbVec3 slip = rbSub(pathOver(point, 0, probe->point), pathOver(point, 1, probe->point));
        slip = rbAddScaled(slip, -rbDot(slip, normal), normal);
        rows->errors[i] = rows->axes[i] == 0 ? probe->gap - point->gap
                                             : rbDot(slip, axisOf(point, rows->axes[i]));
        most = fabs(rows->errors[i]) <= most ? most : fabs(rows->errors[i]);
    }
    return most;
}

// Rates of the rows; returns the largest.
static double measureRates(rbStepContacts* c)
{
    HeldRows* rows = &c->order.held->rows;
    double most = 0.0;
    for (int i = 0; i < rows->count; ++i) {
        const HeldPoint* point = &c->order.held->points.data[rows->points[i]];
        rows->errors[i] = rbDot(slipRate(c, point), axisOf(point, rows->axes[i]));
        most = fabs(rows->errors[i]) <= most ? most : fabs(rows->errors[i]);
    }
    return most;
}

// m/s or m, of the speeds or coordinates: their rounding limits what can be met.
static double unitOf(const rbHeldSet* held, bool isOfRates)
{
    double unit = 1.0;
    for (int i = 0; i < held->points.count; ++i) {
        const HeldPoint* point = &held->points.data[i];
        for (int side = 0; side < 2; ++side) {
            rbVec3 size = isOfRates ? point->bodies[side]->velocity : point->place;
            unit = fmax(unit, rbLength(size));
        }
    }
    return unit;
}

// Where all bodies that are not frozen fly.
static void lookAhead(rbStepContacts* c, double h)
{
    for (int i = 0; i < c->own.loose.count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        const rbPath* path = c->engine->bodies.data[body->index].def.path;
        if (body->isDynamic) {
            rbMechBody_LookAhead(body, h);
        } else if (path != NULL) {
            rbStep_FollowPath(path, c->grid.time + h, body, true);
        } else {
            body->ahead = body->pose;
        }
    }
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbMechanism_LookAhead(&c->engine->mechanisms.data[i].m, h);
    }
}

// Joints after contacts changed velocities.
static void sweepJoints(rbStepContacts* c, const rbStepHost* host, double h, bool isOfRates)
{
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        rbJointSweep joints = {c, host, &island, h, isOfRates};
        double left;
        (void)rbContactStep_SweepJoints(&joints, &left);
    }
}

// Turns friction that acts already against the slip that it leaves; returns by how much velocities
// changed, m/s, or INFINITY where nothing slips any more.
static double turnFriction(rbStepContacts* c)
{
    rbHeldSet* held = c->order.held;
    double most = 0.0;
    for (int i = 0; i < held->points.count; ++i) {
        HeldPoint* point = &held->points.data[i];
        rbVec3 old = point->push;
        if (!aimFriction(c, point)) {
            return INFINITY;
        }
        rbVec3 change = rbScale(point->impulse[0], rbSub(point->push, old));
        double mobility = point->bodies[0]->invMass + point->bodies[1]->invMass;
        RB_ASSERT(mobility > 0.0);
        most = fmax(most, mobility * rbLength(change));
        push(c, point, change);
    }
    return most;
}

// Solves a stage by rounds: equations of contacts, then joints. False: it does not converge.
static bool solve(rbStepContacts* c, const rbStepHost* host, double h, bool isOfRates)
{
    rbHeldSet* held = c->order.held;
    RB_ASSERT(h > 0.0 && 3 * held->points.count <= ROWS_MAX);
    double unit = unitOf(held, isOfRates);
    double last = INFINITY;
    factor(c);
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        rbPoll();
        double turned = isOfRates ? turnFriction(c) : 0.0;
        if (!(turned < INFINITY)) {
            return false;
        }
        rbContactStep_TakeBodies(c);
        if (round > 0 && turned > 0.0) {
            factor(c);
        }
        if (!isOfRates) {
            lookAhead(c, h);
        }
        double error = isOfRates ? measureRates(c) : measureFlight(c);
        if (!(error < INFINITY)) {
            return false;
        }
        error = fmax(error, turned);
        if (error <= LEFT_MOST * DBL_EPSILON * unit && !(error < 0.5 * last)) {
            return true;
        }
        last = error;
        pushRows(c, isOfRates ? 1.0 : 1.0 / h);
        sweepJoints(c, host, h, isOfRates);
    }
    return false;
}

// Drops the point that pulls most; false: none does.
static bool dropPulling(rbStepContacts* c)
{
    rbHeldSet* held = c->order.held;
    HeldPoint* worst = NULL;
    double most = 0.0;
    for (int i = 0; i < held->points.count; ++i) {
        HeldPoint* point = &held->points.data[i];
        if (point->impulse[0] < most) {
            most = point->impulse[0];
            worst = point;
        }
    }
    if (worst == NULL) {
        return false;
    }
    for (int axis = 0; axis < 3; ++axis) {
        push(c, worst, rbScale(-worst->impulse[axis], pushOf(worst, axis)));
        worst->impulse[axis] = 0.0;
    }
    RB_ASSERT(!worst->isDropped);
    worst->isDropped = true;
    return true;
}

// Whether what sticks can be held by friction: over the points of a contact, which share it.
static bool isInCones(const rbStepContacts* c)
{
    const rbHeldSet* held = c->order.held;
    double bound = 0.0;
    double needed = 0.0;
    for (int i = 0; i < held->points.count; ++i) {
        const HeldPoint* point = &held->points.data[i];
        if (point->isSticking) {
            const double* t = &point->impulse[1];
            needed += sqrt(t[0] * t[0] + t[1] * t[1]);
            bound += point->contact->stiction * point->impulse[0];
        }
        bool isLast =
            i + 1 == held->points.count || held->points.data[i + 1].contact != point->contact;
        if (isLast) {
            if (needed > (1.0 + CONE_PLAY) * bound) {
                return false;
            }
            needed = bound = 0.0;
        }
    }
    return true;
}

// ----------------------------------------------------------------------------------------- energy

static void account(rbStepContacts* c, bool isStart)
{
    rbContactAccounts* sums = &c->accounts.sums;
    for (int i = 0; i < c->order.held->points.count; ++i) {
        HeldPoint* held = &c->order.held->points.data[i];
        rbVec3 p = rbJoinImpulse(held->push, held->contact->tangents, held->impulse[0],
                                 held->impulse[1], held->impulse[2]);
        double impulse[3];
        for (int axis = 0; axis < 3; ++axis) {
            impulse[axis] = rbDot(p, axisOf(held, axis));
            held->total[axis] = (isStart ? 0.0 : held->total[axis]) + impulse[axis];
        }
        rbContactWorks works = rbContactStep_GetWorks(c, held->contact, held->point, impulse);
        sums->lasting += works.normal;
        sums->friction += works.friction;
        sums->motor += works.motor;
    }
}

// ----------------------------------------------------------------------------------------- forces

static void kick(rbStepContacts* c, rbMechBody* body, double h)
{
    RB_ASSERT(body->isDynamic);
    body->velocity = rbAddScaled(body->velocity, h * body->invMass, body->force);
    body->momentum = rbAddScaled(body->momentum, h, body->torque);
    c->flight.kicks.data[body->index] =
        rbScale(c->engine->settings.step * body->invMass, body->force);
}

// Forces on loose bodies, and the work of those without a potential at the current velocities.
static void loadBodies(rbStepContacts* c, const rbStepHost* host, double h)
{
    for (int i = 0; i < c->own.loose.count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        if (body->isDynamic) {
            rbLoad load = rbContactStep_LoadBody(host, body, c->grid.time);
            rbVec3 spin = c->bodies.data[body->index].spin;
            c->accounts.sums.load +=
                0.5 * h * (rbDot(load.paid, body->velocity) + rbDot(body->torque, spin));
        }
    }
}

static void pushAtStart(rbStepContacts* c, const rbStepHost* host, double h)
{
    loadBodies(c, host, h);
    for (int i = 0; i < c->own.loose.count; ++i) {
        if (c->own.loose.data[i].isDynamic) {
            kick(c, &c->own.loose.data[i], 0.5 * h);
        }
    }
    rbContactStep_EachMechanism(c, host, rbStep_BeginBasic, h);
}

static void fly(rbStepContacts* c, const rbStepHost* host, double h)
{
    lookAhead(c, h);
    for (int i = 0; i < c->order.held->points.count; ++i) {
        c->order.held->points.data[i].place = placeAhead(&c->order.held->points.data[i]);
    }
    for (int i = 0; i < c->own.loose.count; ++i) {
        c->own.loose.data[i].pose = c->own.loose.data[i].ahead;
    }
    rbContactStep_EachMechanism(c, host, rbStep_FlyBasic, h);
    c->grid.time += h;
    rbContactStep_PlaceFixed(c, c->grid.time, 0.0);
    c->trial.isFlown = false;
}

// Forces of the end, at the velocities that result: by iteration where they depend on them.
static bool pushAtEnd(rbStepContacts* c, const rbStepHost* host, double h)
{
    bool isLoaded = false;
    for (int i = 0; i < c->own.loose.count; ++i) {
        rbMechBody* body = &c->own.loose.data[i];
        isLoaded = isLoaded || (body->isDynamic && host->motions[body->index].load != NULL);
        body->lentVelocity = body->velocity;
        body->lentMomentum = body->momentum;
    }
    rbContactStep_EachMechanism(c, host, rbStep_KickBasic, h);
    double change = INFINITY;
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        rbPoll();
        double last = change;
        change = 0.0;
        for (int i = 0; i < c->own.loose.count; ++i) {
            rbMechBody* body = &c->own.loose.data[i];
            if (body->isDynamic) {
                (void)rbContactStep_LoadBody(host, body, c->grid.time);
                rbVec3 velocity = body->velocity;
                body->velocity = body->lentVelocity;
                body->momentum = body->lentMomentum;
                kick(c, body, 0.5 * h);
                change = fmax(change, rbDistance(velocity, body->velocity));
            }
        }
        for (int i = 0; i < c->order.held->points.count; ++i) {
            memset(c->order.held->points.data[i].impulse, 0,
                   sizeof c->order.held->points.data[i].impulse);
        }
        rbContactStep_ShowBodies(c);
        rbContactStep_OpenAccounts(c, host, c->grid.time, h, 0.0);
        if (!solve(c, host, h, true)) {
            return false;
        }
        if (!isLoaded || c->engine->mechanisms.count > 0 || (round > 1 && !(change < last))) {
            break;
        }
    }
    loadBodies(c, host, h);
    return true;
}

// -------------------------------------------------------------------------------------------- step

// Finds the held points among the contacts of the end.
static bool follow(rbStepContacts* c)
{
    clearMarks(c);
    for (int i = 0; i < c->order.held->points.count; ++i) {
        HeldPoint* held = &c->order.held->points.data[i];
        double least = INFINITY;
        int contact = -1;
        int point = -1;
        for (int k = 0; k < c->found.contactCount; ++k) {
            const rbContact* from = &c->set.contacts[k];
            bool isSame =
                from->bodyA == held->bodies[0]->index && from->bodyB == held->bodies[1]->index;
            for (int j = from->firstPoint; isSame && j < from->firstPoint + from->pointCount; ++j) {
                rbVec3 at = rbAdd(c->places.data[from->bodyA].pose.position, c->set.points[j].armA);
                double distance = rbLengthSquared(rbSub(at, held->place));
                if (c->order.held->isHeldPoint.data[j] == 0 && distance < least) {
                    least = distance;
                    contact = k;
                    point = j;
                }
            }
        }
        if (point < 0 || c->set.contacts[contact].isIdle ||
            (held->isDropped && c->set.points[point].gap > NEAR_GAP)) {
            return false;
        }
        c->order.held->isHeldPoint.data[point] = 1;
        placePoint(c, held, contact, point);
        if (!aimFriction(c, held)) {
            return false;
        }
    }
    return true;
}

// The results as the set has them, for the next step and for reports.
static void writeSet(rbStepContacts* c)
{
    for (int i = 0; i < c->set.pointCount; ++i) {
        rbContactPoint* point = &c->set.points[i];
        memset(point->impulse, 0, sizeof point->impulse);
        memset(point->passing, 0, sizeof point->passing);
        memset(point->slip, 0, sizeof point->slip);
        point->isSticking = false;
    }
    for (int i = 0; i < c->order.held->points.count; ++i) {
        const HeldPoint* held = &c->order.held->points.data[i];
        RB_ASSERT(c->order.held->isHeldPoint.data[held->point - c->set.points] != 0);
        memcpy(held->point->impulse, held->total, sizeof held->point->impulse);
        held->point->isSticking = held->isSticking;
    }
    rbContactStep_ShowBodies(c);
    rbStepLimits_Keep(c);
}

// Whether the set was the same throughout: nothing pulls, nothing else touches, what slides still
// does, and not back.
static bool isSame(const rbStepContacts* c)
{
    for (int i = 0; i < c->order.held->points.count; ++i) {
        const HeldPoint* held = &c->order.held->points.data[i];
        rbVec3 friction = rbSub(held->push, held->contact->normal);
        if (held->total[0] < 0.0 ||
            rbDot(friction, held->friction) < TURN_MOST * rbLengthSquared(held->friction)) {
            return false;
        }
    }
    for (int i = 0; i < c->set.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            // the law of impact is for points that are open before
            bool isTouching =
                point->gap < -TOUCH_PLAY ||
                (point->isClosed && rbContactStep_NormalSpeed(c, contact, point) < -TOUCH_SPEED);
            if (c->order.held->isHeldPoint.data[k] == 0 && isTouching) {
                return false;
            }
        }
    }
    return true;
}

#ifdef RB_ENABLE_VALIDATE
// Normals are unit vectors, and no impulse of a stage pulls.
static bool isDirected(const rbHeldSet* held)
{
    for (int i = 0; i < held->points.count; ++i) {
        const HeldPoint* point = &held->points.data[i];
        if (fabs(rbLength(point->contact->normal) - 1.0) > 1e-9 || point->impulse[0] < 0.0) {
            return false;
        }
    }
    return true;
}
#endif

bool rbHeldStep_Make(rbStepContacts* c, const rbStepHost* host, double h)
{
    RB_ASSERT(h > 0.0 && c->solvers.substeps == NULL && c->method.row == NULL);
    memset(c->flight.late.data, 0, (size_t)c->flight.late.count * sizeof(double));
    memset(c->flight.kinds.data, RB_FLIGHT_PLAIN, (size_t)c->flight.kinds.count);
    memset(c->rest.isWoken.data, 0, (size_t)c->rest.isWoken.count);
    if (!rbHeldStep_Collect(c)) {
        return false;
    }
    pushAtStart(c, host, h);
    rbContactStep_ShowBodies(c);
    rbContactStep_OpenAccounts(c, host, c->grid.time, h, -1.0);
    do {
        if (!solve(c, host, h, false)) {
            return false;
        }
    } while (dropPulling(c));
    if (!isInCones(c)) {
        return false;
    }
    account(c, true);
    RB_VALIDATE(isDirected(c->order.held));
    fly(c, host, h);
    c->stage.part = rbContactStep_PartOf(c, h);
    rbStepContacts_Find(c);
    if (!follow(c) || !pushAtEnd(c, host, h) || !isInCones(c)) {
        return false;
    }
    account(c, false);
    rbContactStep_EachMechanism(c, host, rbStep_EndBasic, h);
    writeSet(c);
    return isSame(c);
}

void rbHeldStep_Plan(rbStepContacts* c, double h)
{
    RB_ASSERT(h > 0.0);
    double gap = 0.0;
    double pull = 0.0; // m/s^2
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            gap = point->impulse[0] > 0.0 ? fmax(gap, fabs(point->gap)) : gap;
        }
        double kickA = rbLength(c->flight.kicks.data[contact->bodyA]);
        double kickB = rbLength(c->flight.kicks.data[contact->bodyB]);
        pull = fmax(pull, fmax(kickA, kickB) / c->engine->settings.step);
    }
    c->order.held->isGapKept = gap > GAP_PART * pull * h * h;
}

double rbHeldStep_GetReach(const rbStepContacts* c)
{
    double least = INFINITY;
    for (int i = 0; i < c->found.contactCount; ++i) {
        const rbContact* contact = &c->set.contacts[i];
        for (int k = contact->firstPoint; k < contact->firstPoint + contact->pointCount; ++k) {
            const rbContactPoint* point = &c->set.points[k];
            double approach = -rbContactStep_NormalSpeed(c, contact, point);
            if (approach > 0.0 && !(point->impulse[0] > 0.0)) {
                least = fmin(least, (fmax(point->gap, 0.0) + TOUCH_PLAY) / approach);
            }
        }
    }
    return least;
}
