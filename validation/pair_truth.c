// Conditions between a point or axis of A and one of B, with d from A's point to B's, c = w x (w x
// r), a an axis of A and b one of B; rows J and right sides g of J (accelerations) = g:
//     e.d, e fixed:  e.d'' = 0
//     a.d:           a''.d + 2 a'.d' + a.d'' = 0,  a'' = w' x a + w x (w x a)
//     a.b:           a''.b + 2 a'.b' + a.b'' = 0
//     d.d / 2:       d.d'' + d'.d' = 0
// The distance from a line is made of two a.d: sum of u_k u_k'' + u_k'^2, u_k = a_k.d.
#include "pair_truth.h"

#include "wide.h"

#include <rattleback/base.h>

#include <string.h>

#define ROWS_MAX 10
#define BODY_SIZE 13 // unknowns of a body: position, quaternion, velocity, spin
enum {
    POSITION = 2 * BODY_SIZE, // of the freedom
    UNKNOWN_COUNT
};
#define STEP_FIRST 1e-3
#define STEP_MAX 0.05
#define BOUND 1e-19
#define SPEED_STOPPED 1e-13 // rad/s, of a freedom with friction

// A body at one instant; all zero: the world.
typedef struct Frame {
    bool isWorld;
    rbWideTurn turn;
    rbWide3 p, v, w;
} Frame;

typedef struct Row {
    rbWide j[12]; // of the accelerations of both bodies: linear A, angular A, linear B, angular B
    rbWide g;
    rbWide rate; // of the quantity itself
} Row;

typedef enum Mode {
    MODE_SLIDING, // friction opposes the motion
    MODE_STUCK,   // friction holds the freedom
} Mode;

typedef struct Pair {
    rbPairStart start;
    rbJointType type;
    int bodyCount;
    bool isHung;         // A hangs from the origin
    rbWide3 hang;        // m, the origin in the frame of A
    rbWide3 anchors[2];  // in the frames of the bodies
    rbWide3 basis[2][3]; // unit axes in the frames of the bodies, the third along the joint
    rbWide3 other;       // second axis, frame of B, unit
    Mode mode;
    int direction; // +1, -1: of sliding
} Pair;

// ------------------------------------------------------------------------------------------- rows

static rbWide3 turnedTwice(rbWide3 w, rbWide3 v)
{
    return rbWide3_Cross(w, rbWide3_Cross(w, v));
}

static void put(Row* row, int index, rbWide3 v)
{
    row->j[index] += v.x;
    row->j[index + 1] += v.y;
    row->j[index + 2] += v.z;
}

// Points of A and B and what lies between them.
typedef struct Gap {
    rbWide3 r[2]; // from the centers, world
    rbWide3 d;
    rbWide3 rate;
    rbWide3 bend; // d'' without the accelerations
} Gap;

static Gap findGap(const Frame frames[2], const rbWide3 anchors[2])
{
    Gap gap;
    rbWide3 p[2], v[2], c[2];
    for (int i = 0; i < 2; ++i) {
        gap.r[i] = rbWideTurn_Apply(&frames[i].turn, anchors[i]);
        p[i] = rbWide3_Add(frames[i].p, gap.r[i]);
        v[i] = rbWide3_Add(frames[i].v, rbWide3_Cross(frames[i].w, gap.r[i]));
        c[i] = turnedTwice(frames[i].w, gap.r[i]);
    }
    gap.d = rbWide3_Sub(p[1], p[0]);
    gap.rate = rbWide3_Sub(v[1], v[0]);
    gap.bend = rbWide3_Sub(c[1], c[0]);
    return gap;
}

// The part of every row that is e.d'' for a direction e.
static Row alongGap(const Gap* gap, rbWide3 e)
{
    Row row = {{0}, -rbWide3_Dot(e, gap->bend), rbWide3_Dot(e, gap->rate)};
    put(&row, 0, rbWide3_Scale(-1, e));
    put(&row, 3, rbWide3_Cross(e, gap->r[0]));
    put(&row, 6, e);
    put(&row, 9, rbWide3_Cross(gap->r[1], e));
    return row;
}

// a.d with a unit vector of A.
static Row alongAxis(const Frame frames[2], const Gap* gap, rbWide3 a)
{
    Row row = alongGap(gap, a);
    rbWide3 turning = rbWide3_Cross(frames[0].w, a);
    put(&row, 3, rbWide3_Cross(a, gap->d));
    row.g -= rbWide3_Dot(turnedTwice(frames[0].w, a), gap->d) + 2 * rbWide3_Dot(turning, gap->rate);
    row.rate += rbWide3_Dot(turning, gap->d);
    return row;
}

// a.b with vectors of A and of B.
static Row betweenAxes(const Frame frames[2], rbWide3 a, rbWide3 b)
{
    rbWide3 turningA = rbWide3_Cross(frames[0].w, a);
    rbWide3 turningB = rbWide3_Cross(frames[1].w, b);
    Row row = {{0}, 0, 0};
    put(&row, 3, rbWide3_Cross(a, b));
    put(&row, 9, rbWide3_Cross(b, a));
    row.g = -rbWide3_Dot(turnedTwice(frames[0].w, a), b) -
            rbWide3_Dot(a, turnedTwice(frames[1].w, b)) - 2 * rbWide3_Dot(turningA, turningB);
    return row;
}

typedef struct Rows {
    Row rows[ROWS_MAX];
    int count;
} Rows;

static void push(Rows* rows, Row row)
{
    RB_ASSERT(rows->count < ROWS_MAX);
    rows->rows[rows->count++] = row;
}

static void pushBall(Rows* rows, const Gap* gap)
{
    for (int k = 0; k < 3; ++k) {
        push(rows, alongGap(gap, (rbWide3){k == 0, k == 1, k == 2}));
    }
}

static Row distanceFromLine(const Frame frames[2], const Gap* gap, const rbWide3 basis[3])
{
    Row sum = {{0}, 0, 0};
    for (int k = 0; k < 2; ++k) {
        Row row = alongAxis(frames, gap, basis[k]);
        rbWide u = rbWide3_Dot(basis[k], gap->d);
        for (int i = 0; i < 12; ++i) {
            sum.j[i] += u * row.j[i];
        }
        sum.g += u * row.g - row.rate * row.rate;
    }
    return sum;
}

// Which of the conditions a type has.
enum {
    BALL = 1,
    LINE = 2,
    PLANE = 4,
    DISTANCE = 8,
    LINE_DISTANCE = 16,
    TRANSLATION = 32,
    DIRECTION = 64,
    DOUBLE_ROTATION = 128,
};

static const int parts[RB_JOINT_COUNT] = {
    [RB_JOINT_BALL] = BALL,
    [RB_JOINT_LINE] = LINE,
    [RB_JOINT_PLANE] = PLANE,
    [RB_JOINT_DISTANCE] = DISTANCE,
    [RB_JOINT_LINE_DISTANCE] = LINE_DISTANCE,
    [RB_JOINT_PLANE_DISTANCE] = PLANE,
    [RB_JOINT_TRANSLATION] = TRANSLATION,
    [RB_JOINT_DIRECTION] = DIRECTION,
    [RB_JOINT_DOUBLE_ROTATION] = DOUBLE_ROTATION,
    [RB_JOINT_HINGE] = BALL | DIRECTION,
    [RB_JOINT_HINGE_POINTS] = BALL | DIRECTION, // two points of a line on a line
    [RB_JOINT_CYLINDRICAL] = LINE | DIRECTION,
    [RB_JOINT_PRISMATIC] = LINE | TRANSLATION,
    [RB_JOINT_UNIVERSAL] = BALL | DOUBLE_ROTATION,
    [RB_JOINT_FIXED] = BALL | TRANSLATION,
    [RB_JOINT_PARTS] = PLANE | DOUBLE_ROTATION,
};

// The joint and its freedom at one instant.
typedef struct Instant {
    Frame frames[2];
    Gap gap;
    rbWide3 basisA[3]; // world
    rbWide3 basisB[3];
    rbWide3 other;
    Rows rows;
    Row freedom; // travel or angle
} Instant;

static void pushJoint(const Pair* pair, Instant* now)
{
    const Frame* frames = now->frames;
    int has = parts[pair->type];
    if (has & BALL) {
        pushBall(&now->rows, &now->gap);
    }
    if (has & LINE) {
        push(&now->rows, alongAxis(frames, &now->gap, now->basisA[0]));
        push(&now->rows, alongAxis(frames, &now->gap, now->basisA[1]));
    }
    if (has & PLANE) {
        push(&now->rows, alongAxis(frames, &now->gap, now->basisA[2]));
    }
    if (has & DISTANCE) {
        Row row = alongGap(&now->gap, now->gap.d);
        row.g -= rbWide3_Dot(now->gap.rate, now->gap.rate);
        push(&now->rows, row);
    }
    if (has & LINE_DISTANCE) {
        push(&now->rows, distanceFromLine(frames, &now->gap, now->basisA));
    }
    if (has & (TRANSLATION | DIRECTION)) {
        push(&now->rows, betweenAxes(frames, now->basisA[0], now->basisB[2]));
        push(&now->rows, betweenAxes(frames, now->basisA[1], now->basisB[2]));
    }
    if (has & TRANSLATION) {
        push(&now->rows, betweenAxes(frames, now->basisA[0], now->basisB[1]));
    }
    if (has & DOUBLE_ROTATION) {
        push(&now->rows, betweenAxes(frames, now->basisA[2], now->other));
    }
}

// The angle of B about A's axis. In a universal joint the relative spin is x' a + y' b, hence x' =
// (w.a - c w.b) / (1 - c^2), c = a.b constant; of the others the spin is along a.
static Row angleRow(const Pair* pair, const Instant* now)
{
    const Frame* frames = now->frames;
    rbWide3 a = now->basisA[2];
    rbWide3 w = rbWide3_Sub(frames[1].w, frames[0].w);
    rbWide3 dual = a;
    rbWide3 turning = rbWide3_Cross(frames[0].w, a);
    if (pair->type == RB_JOINT_UNIVERSAL) {
        rbWide c = rbWide3_Dot(a, now->other);
        rbWide3 turningB = rbWide3_Cross(frames[1].w, now->other);
        dual = rbWide3_Scale(1 / (1 - c * c), rbWide3_AddScaled(a, -c, now->other));
        turning = rbWide3_Scale(1 / (1 - c * c), rbWide3_AddScaled(turning, -c, turningB));
    }
    Row row = {{0}, -rbWide3_Dot(turning, w), rbWide3_Dot(dual, w)};
    put(&row, 3, rbWide3_Scale(-1, dual));
    put(&row, 9, dual);
    return row;
}

static Frame readFrame(const rbWide* y)
{
    return (Frame){.turn = rbWideTurn_From(&y[3]),
                   .p = {y[0], y[1], y[2]},
                   .v = {y[7], y[8], y[9]},
                   .w = {y[10], y[11], y[12]}};
}

static Instant readInstant(const Pair* pair, const rbWide* y)
{
    static const rbWide identity[4] = {1, 0, 0, 0};
    Instant now = {.frames = {readFrame(y)}};
    if (pair->isHung) {
        const Frame world = {.isWorld = true, .turn = rbWideTurn_From(identity)};
        const Frame both[2] = {now.frames[0], world};
        const rbWide3 anchors[2] = {pair->hang, {0, 0, 0}};
        Gap gap = findGap(both, anchors);
        pushBall(&now.rows, &gap);
        for (int i = 0; i < now.rows.count; ++i) { // the world does not accelerate
            memset(&now.rows.rows[i].j[6], 0, 6 * sizeof(rbWide));
        }
    }
    if (pair->bodyCount == 2) {
        now.frames[1] = readFrame(y + BODY_SIZE);
        now.gap = findGap(now.frames, pair->anchors);
        for (int k = 0; k < 3; ++k) {
            now.basisA[k] = rbWideTurn_Apply(&now.frames[0].turn, pair->basis[0][k]);
            now.basisB[k] = rbWideTurn_Apply(&now.frames[1].turn, pair->basis[1][k]);
        }
        now.other = rbWideTurn_Apply(&now.frames[1].turn, pair->other);
        pushJoint(pair, &now);
        bool isTravel = pair->type == RB_JOINT_PRISMATIC || pair->type == RB_JOINT_CYLINDRICAL;
        now.freedom =
            isTravel ? alongAxis(now.frames, &now.gap, now.basisA[2]) : angleRow(pair, &now);
    }
    return now;
}

// ----------------------------------------------------------------------------------------- forces

static void addSpring(const Pair* pair, const Instant* now, rbWide force[12])
{
    const rbPairStart* s = &pair->start;
    const rbWide3 anchors[2] = {rbWide3_From(s->springs[0]), rbWide3_From(s->springs[1])};
    Gap gap = findGap(now->frames, anchors);
    rbWide length = rbWide3_Length(gap.d);
    Row row = alongGap(&gap, rbWide3_Scale(1 / length, gap.d));
    rbWide pull = s->springStiffness * (length - s->springLength) + s->springDamping * row.rate;
    for (int i = 0; i < 12; ++i) {
        force[i] -= pull * row.j[i];
    }
}

// Force along the freedom; `position` of it.
static rbWide findDrive(const Pair* pair, const Instant* now, rbWide position)
{
    const rbFreedomDef* f = &pair->start.freedom;
    rbWide rate = now->freedom.rate;
    rbWide drive = -f->stiffness * (position - f->rest) - f->damping * rate;
    if (f->stiffness == 0.0) {
        drive = 0;
    }
    if (f->friction > 0.0 && pair->mode == MODE_SLIDING) {
        drive -= f->friction * pair->direction;
    }
    if (f->motor.type == RB_MOTOR_SPEED) {
        drive += f->motor.forceMax; // never reaches its speed
    } else if (f->motor.type == RB_MOTOR_POSITION) {
        drive += f->motor.gain * (f->motor.target - position - f->motor.derivativeTime * rate);
    }
    return drive;
}

// M^-1 applied to forces and torques.
static void applyInverse(const Pair* pair, const Instant* now, const rbWide* force, rbWide* out)
{
    for (int k = 0; k < 2; ++k) {
        const rbMassPlan* body = &pair->start.bodies[k];
        const rbWide* f = force + (k == 0 ? 0 : 6);
        rbWide* a = out + (k == 0 ? 0 : 6);
        if (k >= pair->bodyCount) {
            memset(a, 0, 6 * sizeof(rbWide));
            continue;
        }
        rbWide3 torque = rbWideTurn_Undo(&now->frames[k].turn, (rbWide3){f[3], f[4], f[5]});
        torque.x /= body->moments.x;
        torque.y /= body->moments.y;
        torque.z /= body->moments.z;
        rbWide3 alpha = rbWideTurn_Apply(&now->frames[k].turn, torque);
        for (int i = 0; i < 3; ++i) {
            a[i] = f[i] / body->mass;
        }
        a[3] = alpha.x;
        a[4] = alpha.y;
        a[5] = alpha.z;
    }
}

static void addWeights(const Pair* pair, const Instant* now, rbWide force[12])
{
    for (int k = 0; k < pair->bodyCount; ++k) {
        const rbMassPlan* body = &pair->start.bodies[k];
        const Frame* frame = &now->frames[k];
        rbWide3 w = rbWideTurn_Undo(&frame->turn, frame->w);
        rbWide3 l = {body->moments.x * w.x, body->moments.y * w.y, body->moments.z * w.z};
        rbWide3 gyro = rbWideTurn_Apply(&frame->turn, rbWide3_Cross(l, w));
        rbWide* f = force + (k == 0 ? 0 : 6);
        f[0] += body->mass * pair->start.gravity.x;
        f[1] += body->mass * pair->start.gravity.y;
        f[2] += body->mass * pair->start.gravity.z;
        f[3] += gyro.x;
        f[4] += gyro.y;
        f[5] += gyro.z;
    }
}

// Accelerations; the multiplier of the held freedom if there is one, otherwise 0.
static rbWide accelerate(const Pair* pair, Instant* now, rbWide position, rbWide a[12])
{
    rbWide force[12] = {0};
    rbWide responses[ROWS_MAX][12];
    rbWide matrix[ROWS_MAX * ROWS_MAX];
    rbWide lambda[ROWS_MAX];
    addWeights(pair, now, force);
    bool isHeld = pair->start.freedom.motor.type == RB_MOTOR_VELOCITY || pair->mode == MODE_STUCK;
    if (pair->bodyCount == 2) {
        rbWide drive = findDrive(pair, now, position);
        for (int i = 0; i < 12; ++i) {
            force[i] += drive * now->freedom.j[i];
        }
        if (pair->start.springStiffness > 0.0) {
            addSpring(pair, now, force);
        }
        if (isHeld) {
            push(&now->rows, now->freedom);
        }
    }
    applyInverse(pair, now, force, a);
    int count = now->rows.count;
    for (int r = 0; r < count; ++r) {
        const Row* row = &now->rows.rows[r];
        applyInverse(pair, now, row->j, responses[r]);
        lambda[r] = row->g;
        for (int i = 0; i < 12; ++i) {
            lambda[r] -= row->j[i] * a[i];
        }
        for (int s = 0; s <= r; ++s) {
            rbWide sum = 0;
            for (int i = 0; i < 12; ++i) {
                sum += now->rows.rows[s].j[i] * responses[r][i];
            }
            matrix[r * ROWS_MAX + s] = matrix[s * ROWS_MAX + r] = sum;
        }
    }
    rbWide_Solve(matrix, lambda, count, ROWS_MAX);
    for (int r = 0; r < count; ++r) {
        for (int i = 0; i < 12; ++i) {
            a[i] += lambda[r] * responses[r][i];
        }
    }
    return isHeld ? lambda[count - 1] : 0;
}

static void computeRates(const rbWide* y, rbWide* rate, const void* context)
{
    const Pair* pair = context;
    Instant now = readInstant(pair, y);
    rbWide a[12];
    rate[POSITION] = now.freedom.rate;
    (void)accelerate(pair, &now, y[POSITION], a);
    for (int k = 0; k < 2; ++k) {
        const rbWide* from = y + (size_t)k * BODY_SIZE;
        rbWide* to = rate + (size_t)k * BODY_SIZE;
        for (int i = 0; i < 3; ++i) {
            to[i] = from[7 + i];
            to[7 + i] = a[6 * k + i];
            to[10 + i] = a[6 * k + 3 + i];
        }
        rbWide_RateOfTurn(&from[3], now.frames[k].w, &to[3]);
    }
}

// ---------------------------------------------------------------------------------------- running

// Two unit vectors perpendicular to a unit vector, and itself.
static void makeBasis(rbWide3 axis, rbWide3 basis[3])
{
    rbWide3 seed = {1, 0, 0};
    if (rbWide_Abs(axis.x) > 0.7) {
        seed = (rbWide3){0, 1, 0};
    }
    basis[0] = rbWide3_Unit(rbWide3_Cross(axis, seed));
    basis[1] = rbWide3_Cross(axis, basis[0]);
    basis[2] = axis;
}

static rbWideOde startOde(const Pair* pair)
{
    rbWideOde ode = {.rate = computeRates,
                     .context = pair,
                     .size = UNKNOWN_COUNT,
                     .step = STEP_FIRST,
                     .stepMax = STEP_MAX,
                     .bound = BOUND};
    for (int k = 0; k < 2; ++k) {
        const rbMassPlan* b = &pair->start.bodies[k];
        const double values[BODY_SIZE] = {
            b->center.x,      b->center.y,      b->center.z,   b->orientation.w, b->orientation.x,
            b->orientation.y, b->orientation.z, b->velocity.x, b->velocity.y,    b->velocity.z,
            b->spin.x,        b->spin.y,        b->spin.z};
        for (int i = 0; i < BODY_SIZE; ++i) {
            ode.y[k * BODY_SIZE + i] = values[i];
        }
        if (k >= pair->bodyCount) {
            ode.y[k * BODY_SIZE + 3] = 1;
        }
    }
    return ode;
}

// Ends a slide at the instant when its speed vanishes, by secants of the step; begins one where the
// friction that holds would exceed its limit.
static void switchMode(Pair* pair, rbWideOde* ode, const rbWideOde* before)
{
    rbWide limit = pair->start.freedom.friction;
    if (pair->mode == MODE_SLIDING) {
        rbWide early = readInstant(pair, before->y).freedom.rate * pair->direction;
        rbWide late = readInstant(pair, ode->y).freedom.rate * pair->direction;
        if (late >= 0) {
            return;
        }
        rbWide from = 0, to = ode->time - before->time;
        while (rbWide_Abs(late) > SPEED_STOPPED) { // regula falsi is enough: the speed is smooth
            rbWide at = from + (to - from) * early / (early - late);
            *ode = *before;
            double rest = (double)at;
            while (rest > 0.0) {
                rest -= rbWideOde_Step(ode, rest);
            }
            rbWide speed = readInstant(pair, ode->y).freedom.rate * pair->direction;
            from = speed > 0 ? at : from;
            early = speed > 0 ? speed : early;
            to = speed > 0 ? to : at;
            late = speed > 0 ? late : speed;
            if (rbWide_Abs(speed) <= SPEED_STOPPED) {
                break;
            }
        }
        pair->mode = MODE_STUCK;
        ode->step = STEP_FIRST;
    }
    Instant now = readInstant(pair, ode->y);
    rbWide a[12];
    rbWide held = accelerate(pair, &now, ode->y[POSITION], a);
    if (rbWide_Abs(held) > limit) {
        pair->mode = MODE_SLIDING;
        pair->direction = held > 0 ? -1 : 1;
        ode->step = STEP_FIRST;
    }
}

static rbPairTruth runPair(Pair* pair, double duration)
{
    rbWideOde ode = startOde(pair);
    while (duration - (double)ode.time > 1e-15) {
        rbWideOde before = ode;
        (void)rbWideOde_Step(&ode, duration - (double)ode.time);
        if (pair->start.freedom.friction > 0.0) {
            switchMode(pair, &ode, &before);
        }
    }
    rbPairTruth truth;
    for (int k = 0; k < 2; ++k) {
        const rbWide* y = ode.y + (size_t)k * BODY_SIZE;
        rbWide norm = rbWide_Sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6]);
        truth.centers[k] = rbMakeVec3((double)y[0], (double)y[1], (double)y[2]);
        truth.orientations[k] = (rbQuat){(double)(y[3] / norm), (double)(y[4] / norm),
                                         (double)(y[5] / norm), (double)(y[6] / norm)};
    }
    return truth;
}

// A world point in the frame of a body at the start.
static rbWide3 toFrame(const rbMassPlan* body, rbWide3 point)
{
    rbWideTurn turn = rbWideTurn_FromQuat(body->orientation);
    return rbWideTurn_Undo(&turn, rbWide3_Sub(point, rbWide3_From(body->center)));
}

rbPairTruth rbComputePairTruth(const rbPairPlan* plan, double duration)
{
    Pair pair = {.start = rbGetPairStart(plan),
                 .type = plan->type,
                 .bodyCount = 2,
                 .isHung = !plan->isFree,
                 .direction = 1};
    const rbMassPlan* bodies = pair.start.bodies;
    const rbWide3 origin = {0, 0, 0};
    rbWide3 point = rbWide3_From(pair.start.point);
    bool isApart = (parts[plan->type] & (DISTANCE | LINE_DISTANCE)) != 0 ||
                   plan->type == RB_JOINT_PLANE_DISTANCE;
    rbWide3 pointB = isApart ? rbWide3_Add(point, rbWide3_From(pair.start.offset)) : point;
    rbWide3 basis[3];
    makeBasis(rbWide3_Unit(rbWide3_From(pair.start.axis)), basis);
    pair.hang = toFrame(&bodies[0], origin);
    pair.anchors[0] = toFrame(&bodies[0], point);
    pair.anchors[1] = toFrame(&bodies[1], pointB);
    for (int k = 0; k < 2; ++k) {
        rbWideTurn turn = rbWideTurn_FromQuat(bodies[k].orientation);
        for (int i = 0; i < 3; ++i) {
            pair.basis[k][i] = rbWideTurn_Undo(&turn, basis[i]);
        }
        if (k == 1) {
            pair.other = rbWideTurn_Undo(&turn, rbWide3_Unit(rbWide3_From(pair.start.other)));
        }
    }
    return runPair(&pair, duration);
}

rbPairTruth rbComputeTopTruth(const rbMassPlan* top, double duration)
{
    Pair pair = {.bodyCount = 1, .isHung = true};
    const rbWide3 origin = {0, 0, 0};
    pair.start.bodies[0] = *top;
    pair.start.gravity = rbMakeVec3(0.0, 0.0, -9.81);
    pair.hang = toFrame(top, origin);
    return runPair(&pair, duration);
}
