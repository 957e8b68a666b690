// Checks at nodes: the recorded states against the flights, energies and momenta against the
// accounting, and in the step engine forces against changes of momentum, joints and contacts.
#include "verify/checks.h"

#define SUM_ROUNDING 16.0
// What the sums of a step lose of their largest terms.
#define BALANCE_PART 1e-9
#define MEAN_PART 0.05
#define JOINT_ROUNDING 4000.0
#define FORCE_CONE 1e-12
#define FIRST_ANGLE 6u // of the types of parts: before, errors are distances
#define FREE_ROUNDING 1e-13
#define GAME_ROUNDING 1e-5  // small steps in single precision
#define NUMERICAL_PART 1e-3 // of the energy there is: what numerics may give

typedef struct Sums {
    double linear, angular, potential, potentialSize;
    rbV3 momentum, angularMomentum;
    double momentumSize, angularMomentumSize;
    bool isKnown; // the potential
} Sums;

static double centralPotential(const rbVModel* m, uint32_t index, rbV3 x, bool* isKnown)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < m->forceCount; ++i) {
        const rbVForce* f = &m->forces[i];
        if (f->body != RB_V_NONE && f->body != index) {
            continue;
        }
        if (f->type == 2) {
            sum -= m->bodies[index].mass * f->strength / length3(sub3(x, f->center));
        } else if (f->type > 2) {
            *isKnown = false;
        }
    }
    return sum;
}

static rbV3 spinOf(const rbVBody* b, const rbVState* s)
{
    return turn3(s->q, mulSym(&b->inertia, turnBack3(s->q, s->w)));
}

static Sums sumBodies(const rbVChecker* c)
{
    Sums s = {.isKnown = true};
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        const rbVBody* b = &c->model.bodies[i];
        const rbVState* now = &c->tracks[i].now;
        if (b->type != RB_V_DYNAMIC) {
            continue;
        }
        rbV3 spin = spinOf(b, now);
        rbV3 pull = addScaled3(b->force, b->mass, c->model.gravity);
        double potential =
            -dot3(pull, now->center) +
            (b->hasVarying ? centralPotential(&c->model, i, now->center, &s.isKnown) : 0.0);
        rbV3 momentum = scale3(b->mass, now->v);
        s.linear += 0.5 * dot3(momentum, now->v);
        s.angular += 0.5 * dot3(now->w, spin);
        s.potential += potential;
        s.potentialSize += length3(pull) * length3(now->center) + fabs(potential);
        s.momentum = add3(s.momentum, momentum);
        s.momentumSize += length3(momentum);
        s.angularMomentum = add3(s.angularMomentum, add3(cross3(now->center, momentum), spin));
        s.angularMomentumSize += length3(momentum) * length3(now->center) + length3(spin);
    }
    return s;
}

static void compareSum(rbVChecker* c, rbVClaim claim, double difference, double size,
                       const char* detail)
{
    double count = 8.0 + c->model.bodyCount;
    rbVChecker_Find(c, &(rbVFinding){claim, RB_V_CERTIFIED, RB_V_NONE, RB_V_NONE, fabs(difference),
                                     SUM_ROUNDING * EPS * count * size + 1e-300, detail});
}

static void checkEnergy(rbVChecker* c, const Sums* s)
{
    const rbVLedger* l = &c->ledger;
    const double* e = l->energies;
    double sum = e[RB_V_LINEAR] + e[RB_V_ANGULAR] + e[RB_V_POTENTIAL] + e[RB_V_SPRINGS];
    const struct {
        double difference, size;
        const char* what;
    } rows[6] = {
        {s->linear - e[RB_V_LINEAR], s->linear, "energy of translation, J"},
        {s->angular - e[RB_V_ANGULAR], s->angular, "energy of rotation, J"},
        {length3(sub3(s->momentum, l->momentum)), s->momentumSize, "momentum, kg m/s"},
        {length3(sub3(s->angularMomentum, l->angularMomentum)), s->angularMomentumSize,
         "angular momentum, kg m^2/s"},
        {sum - e[RB_V_TOTAL], s->linear + s->angular + s->potentialSize + fabs(e[RB_V_SPRINGS]),
         "sum of energies, J"},
        {s->potential - e[RB_V_POTENTIAL], s->potentialSize, "potential energy, J"},
    };
    for (int i = 0; i < (s->isKnown ? 6 : 5); ++i) {
        compareSum(c, RB_V_CLAIM_ENERGY, rows[i].difference, rows[i].size, rows[i].what);
    }
    if (!s->isKnown) {
        RB_V_SKIP(c, ENERGY, "the potential of registered forces");
    }
}

// Contacts, dampers and numerics may take energy; they give none. The ledger since the first node.
static void checkGain(rbVChecker* c, const Sums* s, const double* since)
{
    const double* e = c->ledger.energies;
    double gain = since[RB_V_IMPACTS] + since[RB_V_FRICTION] + since[RB_V_MICROS] +
                  since[RB_V_DISSIPATION] + since[RB_V_RESTS] + since[RB_V_DRIFT];
    double there = s->linear + s->angular + fabs(e[RB_V_SPRINGS]) + fabs(e[RB_V_WORK]) +
                   fabs(e[RB_V_MOTORS]) + fabs(e[RB_V_IMPACTS]) + fabs(e[RB_V_FRICTION]) +
                   fabs(e[RB_V_DISSIPATION]);
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        const rbVBody* b = &c->model.bodies[i];
        there += b->type == RB_V_DYNAMIC ? b->mass * length3(b->acceleration) * b->reach : 0.0;
    }
    c->largest = fmax(c->largest, there);
    c->gainStart = c->isOpen ? gain : c->gainStart; // joints that are pulled together
    if (c->model.accuracy == 0) {
        RB_V_SKIP(c, GAIN, "energy from small steps, which grows with the square of the step");
    } else {
        RB_V_CHECK(c, GAIN, SAMPLED, RB_V_NONE, RB_V_NONE, gain - c->gainStart,
                   NUMERICAL_PART * c->largest, "energy from nothing, J");
        RB_V_CHECK(c, GAIN, SAMPLED, RB_V_NONE, RB_V_NONE, since[RB_V_FRICTION],
                   NUMERICAL_PART * 1e-3 * c->largest, "energy from friction, J");
    }
    RB_V_SKIP(c, CAUSE, "works of impacts and friction within steps");
}

static void checkCauses(rbVChecker* c, const Sums* s)
{
    const double* e = c->ledger.energies;
    const double* z = c->firstLedger.energies;
    double since[RB_V_ENERGY_COUNT];
    double size = fabs(e[RB_V_TOTAL]) + fabs(z[RB_V_TOTAL]) + fabs(e[RB_V_POTENTIAL]) +
                  fabs(z[RB_V_POTENTIAL]);
    double works = 0.0;
    for (int i = 0; i < RB_V_ENERGY_COUNT; ++i) {
        bool isCause = i >= RB_V_WORK && i < RB_V_DRIFT;
        since[i] = e[i] - z[i];
        works += isCause ? since[i] : 0.0;
        size += isCause ? fabs(e[i]) : 0.0;
    }
    compareSum(c, RB_V_CLAIM_CAUSE, since[RB_V_TOTAL] - works - since[RB_V_DRIFT], 64.0 * size,
               "energy that no cause explains is not the drift stated, J");
    if (c->model.engine != RB_V_EVENT) {
        checkGain(c, s, since);
        return;
    }
    double scale = 16.0 * (c->workScale + size) * (1.0 + 1e-3 * (double)c->report->events);
    static const rbVEnergy kinds[4] = {RB_V_IMPACTS, RB_V_FRICTION, RB_V_MICROS, RB_V_RESTS};
    static const char* const texts[4] = {"work of impacts, J", "work of friction, J",
                                         "work of microcollisions, J",
                                         "energy of bodies put to rest, J"};
    for (int i = 0; i < 4; ++i) {
        compareSum(c, RB_V_CLAIM_CAUSE, since[kinds[i]] - c->works[kinds[i]], scale, texts[i]);
    }
}

static rbVState stateOf(const rbVChecker* c, uint32_t index)
{
    const rbVState world = {.q = {1.0, 0.0, 0.0, 0.0}};
    return index == RB_V_NONE ? world : c->tracks[index].now;
}

// A point of a body, or of the world, in world axes.
static rbV3 pointOf(const rbVChecker* c, uint32_t index, rbV3 local)
{
    rbVState s = stateOf(c, index);
    rbV3 center = index == RB_V_NONE ? make3(0, 0, 0) : c->model.bodies[index].center;
    return add3(s.center, turn3(s.q, sub3(local, center)));
}

// The error of one part, by its type: a distance (m), or from FIRST_ANGLE on an angle (rad).
static double partError(const rbVPart* p, const rbVState* a, const rbVState* b, rbV3 gap)
{
    rbV3 axisA = turn3(a->q, p->axisA);
    double along = dot3(gap, axisA);
    double across = length3(addScaled3(gap, -along, axisA));
    rbV4 rest = mul4(mul4(conjugate4(a->q), b->q), conjugate4(p->relative));
    rbV3 axisB = turn3(b->q, p->axisB);
    double angle = atan2(length3(cross3(axisA, axisB)), dot3(axisA, axisB));
    const double errors[] = {length3(gap),
                             across,
                             fabs(along - p->distance),
                             fabs(length3(gap) - p->distance),
                             fabs(across - p->distance),
                             fabs(along - p->distance),
                             2.0 * atan2(length3(make3(rest.x, rest.y, rest.z)), fabs(rest.w)),
                             angle,
                             fabs(angle - p->distance)};
    return errors[p->type];
}

static void checkJoints(rbVChecker* c)
{
    c->isOpen = false;
    for (uint32_t i = 0; i < c->model.jointCount && c->hasJointForces; ++i) {
        const rbVJoint* j = &c->model.joints[i];
        rbVJointForce* claim = &c->jointForces[i];
        rbVState a = stateOf(c, j->a);
        rbVState b = stateOf(c, j->b);
        double way = 0.0;
        double angle = 0.0;
        double size = 0.0;
        for (uint32_t k = 0; k < j->partCount; ++k) {
            const rbVPart* p = &j->parts[k];
            rbV3 pointA = pointOf(c, j->a, p->anchorA);
            rbV3 pointB = pointOf(c, j->b, p->anchorB);
            rbV3 gap = sub3(pointB, pointA);
            double* sum = p->type < FIRST_ANGLE ? &way : &angle;
            *sum = hypot(*sum, partError(p, &a, &b, gap));
            size += length3(pointA) + length3(pointB) + length3(a.center) + length3(b.center);
        }
        if (j->partCount == 0) {
            RB_V_SKIP(c, JOINT, "joints that hold velocities only");
            continue;
        }
        RB_V_CHECK(c, JOINT, CERTIFIED, j->a, j->b, fabs(way - claim->positionError),
                   JOINT_ROUNDING * EPS * (1.0 + size), "gap of a joint other than stated, m");
        RB_V_CHECK(c, JOINT, CERTIFIED, j->a, j->b, fabs(angle - claim->angleError),
                   JOINT_ROUNDING * EPS * 4.0, "angle of a joint other than stated, rad");
        // joints that are open at the start are pulled together first
        claim->isClosed = claim->isClosed || way <= 10.0 * c->model.jointTolerance;
        c->isOpen = c->isOpen || way > 10.0 * c->model.jointTolerance;
        if (claim->isClosed) {
            c->jointWorst[0] = fmax(c->jointWorst[0], way);
            c->jointWorst[1] = fmax(c->jointWorst[1], angle);
        }
    }
}

// m, the length of a spring, and its ends.
static double findSpring(const rbVChecker* c, const rbVSpring* s, rbV3 ends[2])
{
    ends[0] = pointOf(c, s->a, s->anchorA);
    ends[1] = pointOf(c, s->b, s->anchorB);
    return length3(sub3(ends[1], ends[0]));
}

static void checkSprings(rbVChecker* c)
{
    for (uint32_t i = 0; i < c->model.springCount && c->hasSpringForces; ++i) {
        const rbVSpring* s = &c->model.springs[i];
        const rbVSpringForce* claim = &c->springForces[i];
        rbV3 ends[2];
        double length = findSpring(c, s, ends);
        double stretch = length - s->rest;
        double own = 0.5 * s->stiffness * stretch * stretch;
        double rounding = JOINT_ROUNDING * EPS * (1.0 + length3(ends[0]) + length3(ends[1]));
        RB_V_CHECK(c, SPRING, CERTIFIED, s->a, s->b, fabs(length - claim->length), rounding,
                   "length of a spring, m");
        RB_V_CHECK(c, SPRING, CERTIFIED, s->a, s->b, fabs(own - claim->energy),
                   s->stiffness * rounding * (fabs(stretch) + rounding), "energy of a spring, J");
    }
}

static void addForce(rbVChecker* c, uint32_t index, rbV3 force, rbV3 torque, rbV3 point)
{
    if (index != RB_V_NONE) {
        rbVLoad* l = &c->tracks[index].load;
        rbV3 arm = sub3(point, c->tracks[index].now.center);
        l->force = add3(l->force, force);
        l->torque = add3(l->torque, add3(torque, cross3(arm, force)));
        l->size += length3(force);
        l->twist += length3(torque) + length3(arm) * length3(force);
    }
}

// A contact as recorded is in the axes of its first body: the normal is a point of an octahedron,
// whose lower half is folded up, the force along normal and tangents.
static void placeContact(const rbVChecker* c, rbVContact* p)
{
    const rbVState* s = &c->tracks[p->a].now;
    rbV3 n = p->normal;
    rbV3 frame[3];
    n.z = 1.0 - fabs(n.x) - fabs(n.y);
    if (n.z < 0.0) {
        n = make3(copysign(1.0 - fabs(n.y), n.x), copysign(1.0 - fabs(n.x), n.y), n.z);
    }
    rbVMakeFrame(scale3(1.0 / length3(n), n), frame);
    rbV3 push = addScaled3(scale3(p->force.x, frame[2]), p->force.y, frame[0]);
    p->force = turn3(s->q, addScaled3(push, p->force.z, frame[1]));
    p->normal = turn3(s->q, frame[2]);
    p->point = add3(s->center, turn3(s->q, p->point));
}

static void checkContacts(rbVChecker* c)
{
    for (uint32_t i = 0; i < c->contactCount; ++i) {
        rbVContact* p = &c->contacts[i];
        placeContact(c, p);
        double friction = rbVGetFriction(&c->model, p->a, p->b);
        double part = c->model.accuracy == 0 ? GAME_ROUNDING : FORCE_CONE;
        rbVCheckCone(c, RB_V_CLAIM_CONTACT,
                     &(rbVCone){p->a, p->b, p->force, p->normal, friction, part});
        addForce(c, p->b, p->force, make3(0, 0, 0), p->point);
        addForce(c, p->a, scale3(-1.0, p->force), make3(0, 0, 0), p->point);
    }
    for (const rbVContact* p = c->contacts; p < c->contacts + c->contactCount; ++p) {
        rbVCheckPushing(c, p, p > c->contacts && p->a == p[-1].a && p->b == p[-1].b);
    }
}

static void addLinks(rbVChecker* c)
{
    for (uint32_t i = 0; i < c->model.jointCount && c->hasJointForces; ++i) {
        const rbVJointForce* j = &c->jointForces[i];
        addForce(c, c->model.joints[i].a, j->force, j->torque, j->point);
        addForce(c, c->model.joints[i].b, scale3(-1.0, j->force), scale3(-1.0, j->torque),
                 j->point);
    }
    for (uint32_t i = 0; i < c->model.springCount && c->hasSpringForces; ++i) {
        const rbVSpring* s = &c->model.springs[i];
        rbV3 ends[2];
        double length = findSpring(c, s, ends);
        rbV3 pull =
            scale3(length > 0.0 ? c->springForces[i].force / length : 0.0, sub3(ends[1], ends[0]));
        addForce(c, s->a, pull, make3(0, 0, 0), ends[0]);
        addForce(c, s->b, scale3(-1.0, pull), make3(0, 0, 0), ends[1]);
    }
}

// Forces are means of a step, in the frames of its end, without what closes joints: where contacts
// turn or end within the step they explain it less exactly.
static void balance(rbVChecker* c, uint32_t i, double left, double size, const char* what)
{
    bool isExact = left <= BALANCE_PART * size;
    if (left <= MEAN_PART * size) {
        rbVChecker_Find(c, &(rbVFinding){RB_V_CLAIM_BALANCE,
                                         isExact ? RB_V_CERTIFIED : RB_V_SAMPLED, i, RB_V_NONE,
                                         left, (isExact ? BALANCE_PART : MEAN_PART) * size, what});
    } else {
        RB_V_SKIP(c, BALANCE, "forces that explain less than 19 of 20 parts of a step");
    }
}

// A body that was near to nothing in a step flew.
static void checkFree(rbVChecker* c, uint32_t i, double h)
{
    const rbVBody* b = &c->model.bodies[i];
    const rbVState* s = &c->tracks[i].node;
    const rbVState* e = &c->tracks[i].now;
    double part = c->model.accuracy == 0 ? GAME_ROUNDING : FREE_ROUNDING;
    double speed = length3(s->v) + h * length3(b->acceleration);
    double spin = length3(spinOf(b, s)) + h * length3(b->torque);
    double phi = h * rbVGetSpinMax(b, s, h);
    rbVFlight flight;
    rbVFlight_Begin(&flight, b, 0.0, s, false);
    rbVFlight_Advance(&flight, b, h);
    rbVState own = rbVFlight_Get(&flight, b);
    if (c->model.accuracy == 0 && !(length3(sub3(e->v, own.v)) <= part * speed)) {
        RB_V_SKIP(c, FLIGHT, "contacts that begin and end within small steps");
        return;
    }
    RB_V_CHECK(c, FLIGHT, CERTIFIED, i, RB_V_NONE, length3(sub3(e->v, own.v)), part * speed,
               "velocity after a free step, m/s");
    RB_V_CHECK(c, FLIGHT, CERTIFIED, i, RB_V_NONE, length3(sub3(e->center, own.center)),
               part * (length3(own.center) + h * speed), "position after a free step, m");
    RB_V_CHECK(c, FLIGHT, CERTIFIED, i, RB_V_NONE, length3(sub3(spinOf(b, e), spinOf(b, &own))),
               part * 8.0 * spin + 1e-300, "angular momentum after a free step, N m s");
    RB_V_CHECK(c, FLIGHT, SAMPLED, i, RB_V_NONE, angle4(own.q, e->q), part * 8.0 + phi * phi * phi,
               "orientation after a free step, rad");
}

static void checkBalance(rbVChecker* c, double h)
{
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        const rbVBody* b = &c->model.bodies[i];
        const rbVTrack* t = &c->tracks[i];
        const rbVLoad* l = &c->tracks[i].load;
        if (b->type != RB_V_DYNAMIC) {
            continue;
        }
        if (!b->isLinked && !b->hasVarying && !l->isStruck && !l->isNear) {
            checkFree(c, i, h);
            continue;
        }
        if (b->hasVarying || b->isDriven || l->isStruck || c->model.stepOrder != 2 ||
            !c->model.isImpulses || c->model.accuracy == 0 || c->stepCount == 0 ||
            (b->isLinked && c->isOpen)) {
            RB_V_SKIP(c, BALANCE,
                      "first step, collisions within steps, varying forces, motors and "
                      "springs of joints, open joints, orders above 2");
            continue;
        }
        rbV3 change = scale3(b->mass, sub3(t->now.v, t->node.v));
        rbV3 cause = scale3(h, addScaled3(l->force, b->mass, b->acceleration));
        balance(c, i, length3(sub3(change, cause)),
                h * (l->size + b->mass * length3(b->acceleration)) +
                    b->mass * (length3(t->now.v) + length3(t->node.v)),
                "momentum that forces do not explain, N s");
        rbV3 spin = spinOf(b, &t->node);
        change = sub3(spinOf(b, &t->now), spin);
        cause = scale3(h, add3(l->torque, b->torque));
        balance(c, i, length3(sub3(change, cause)),
                h * (l->twist + length3(b->torque)) + 2.0 * length3(spin) + length3(change),
                "angular momentum that forces do not explain, N m s");
    }
}

// The first node of a body without joints, which may be pulled together, is its start.
static void checkStart(rbVChecker* c)
{
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        const rbVState* s = &c->model.bodies[i].start;
        const rbVState* n = &c->tracks[i].now;
        if (c->model.bodies[i].type == RB_V_DYNAMIC && !c->model.bodies[i].isLinked &&
            c->time == c->model.startTime) {
            RB_V_CHECK(c, FLIGHT, CERTIFIED, i, RB_V_NONE,
                       length3(sub3(n->center, s->center)) + length3(sub3(n->v, s->v)) +
                           length3(sub3(n->w, s->w)),
                       1e-12 * (1.0 + length3(s->center)), "first node other than the start");
        }
    }
}

void rbVCheckNode(rbVChecker* c, double time, bool isGrid)
{
    c->report->nodes += 1;
    checkJoints(c);
    Sums sums = sumBodies(c);
    checkEnergy(c, &sums);
    if (c->hasLedger) {
        checkCauses(c, &sums);
    } else {
        checkStart(c);
        c->firstLedger = c->ledger;
        c->hasLedger = true;
    }
    bool hasSteps = false;
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        const rbVBody* body = &c->model.bodies[i];
        bool isStepped = c->model.engine == RB_V_STEP && (c->model.hasContacts || body->isLinked);
        if (body->type == RB_V_DYNAMIC && !isStepped) {
            rbVCheckState(c, i, time, &c->tracks[i].now);
        }
        hasSteps = hasSteps || (body->type == RB_V_DYNAMIC && isStepped);
        if (body->type == RB_V_KINEMATIC) {
            RB_V_SKIP(c, PATH, "the certificate has their states, not their paths");
        }
        rbVMeasureWay(c, i, time - c->lastNode);
    }
    checkSprings(c);
    rbVCheckApart(c);
    if (hasSteps && isGrid) {
        checkContacts(c);
        addLinks(c);
        if (c->hasNode) {
            checkBalance(c, time - c->nodeTime);
            c->stepCount += 1;
        }
        c->nodeTime = time;
        c->hasNode = true;
    }
    c->lastNode = time;
    for (uint32_t i = 0; i < c->model.bodyCount; ++i) {
        rbVTrack* t = &c->tracks[i];
        t->node = hasSteps && isGrid ? t->now : t->node;
        t->load = (rbVLoad){0};
        t->legCount = 0;
        rbVAddLeg(c, i, time, t->flight.isHeld);
    }
    c->contactCount = 0;
    c->hasJointForces = false;
    c->hasSpringForces = false;
}
