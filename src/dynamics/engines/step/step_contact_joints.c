// Joints in the stages of steps with contacts: their sweeps, their rows for islands that are solved
// as a whole, and their stops.
#include "dynamics/engines/step/step_contact_state.h"

#include <string.h>

void rbContactStep_EachMechanism(rbStepContacts* c, const rbStepHost* host, rbStepPartFn* part,
                                 double h)
{
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepRun run = {
            .mechanism = &c->engine->mechanisms.data[i], .host = host, .isForced = true};
        int first = run.mechanism->m.bodies[0].index;
        RB_ASSERT(first >= 0 && first < c->engine->bodies.count);
        if (!rbContactFreeze_IsFrozen(c->rest.freeze, first)) {
            part(&run, c->grid.time, h);
            RB_VALIDATE(rbStepValid_IsMechanism(run.mechanism));
        }
    }
}

static void takeMechanism(const rbStepContacts* c, rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        rbContactStep_TakeBody(&c->bodies.data[body->index], body);
    }
}

static void showMechanism(rbStepContacts* c, const rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->dynamicCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        rbContactBody* shown = &c->bodies.data[body->index];
        shown->velocity = body->velocity;
        RB_ASSERT(shown->invMass > 0.0);
        shown->spin = rbMulSV(shown->invInertia, body->momentum);
    }
}

// The mechanisms of an island that are not frozen, one by one: next is the body to go on with, at
// first 0. A mechanism comes with its first dynamic body. NULL: that was all.
static rbStepMechanism* nextMechanism(const rbStepContacts* c, const rbContactIsland* island,
                                      int* next)
{
    RB_ASSERT(*next >= 0 && *next <= island->bodyCount);
    while (*next < island->bodyCount) {
        int body = island->bodies[(*next)++];
        int index = c->engine->bodies.data[body].mechanism;
        if (index >= 0 && c->engine->mechanisms.data[index].m.bodies[0].index == body &&
            !rbContactFreeze_IsFrozen(c->rest.freeze, body)) {
            return &c->engine->mechanisms.data[index];
        }
    }
    return NULL;
}

bool rbContactStep_SweepJoints(void* context, double* error)
{
    const rbJointSweep* sweep = context;
    bool isDone = true;
    *error = 0.0;
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(sweep->c, sweep->island, &i)) != NULL;) {
        rbStepRun run = {.mechanism = mechanism, .host = sweep->host, .isForced = true};
        RB_ASSERT(mechanism->m.bodies[0].isDynamic && sweep->h > 0.0);
        takeMechanism(sweep->c, mechanism);
        double tolerance = sweep->isOfRates ? sweep->c->settings.velocityTolerance
                                            : sweep->c->engine->settings.tolerance;
        double own = 0.0;
        if (sweep->isOfRates) {
            own = rbStep_SweepRates(&run, sweep->h);
        } else if (rbStep_SweepPositions(&run, sweep->h)) {
            own = 2.0 * tolerance; // the error before is unknown: too large to be done
        }
        showMechanism(sweep->c, mechanism);
        *error = fmax(*error, own);
        isDone = isDone && own <= tolerance;
    }
    return isDone;
}

bool rbContactStep_HasMechanism(const rbStepContacts* c, const rbContactIsland* island)
{
    for (int i = 0; i < island->bodyCount; ++i) {
        if (c->engine->bodies.data[island->bodies[i]].mechanism >= 0) {
            return true;
        }
    }
    return false;
}

bool rbContactStep_PushMechanisms(rbStepContacts* c, const rbStepHost* host,
                                  const rbContactIsland* island, double h, bool isEnd)
{
    bool isAny = false;
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(c, island, &i)) != NULL;) {
        rbStepRun run = {.mechanism = mechanism, .host = host, .isForced = true};
        bool isDue = !mechanism->isPushed && !rbContactStep_IsWoken(c, mechanism);
        isAny = isAny || isDue;
        if (isDue && isEnd) {
            takeMechanism(c, mechanism);
            rbStep_CloseEarly(&run, h);
        } else if (isDue && host != NULL) {
            rbStep_KickEarly(&run, c->grid.time, h, 1.0);
            showMechanism(c, mechanism);
        }
    }
    return isAny;
}

// Whether the rows of a block give way neither to contacts nor to a limit.
static bool isHolding(const rbMechanism* m, const rbRowBlock* block)
{
    bool isFirm = block->kind != RB_ROW_SPRING;
    for (int row = block->firstRow; row < block->firstRow + block->rowCount; ++row) {
        isFirm = isFirm && m->limits[row] == INFINITY && m->compliance[row] == 0.0;
    }
    return isFirm || block->kind == RB_ROW_HOLD;
}

void rbContactStep_AddQuickJoints(rbStepContacts* c, const rbContactIsland* island)
{
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(c, island, &i)) != NULL;) {
        rbMechanism* m = &mechanism->m;
        for (int b = 0; b < m->blockCount; ++b) {
            const rbRowBlock* block = &m->blocks[b];
            const rbMechBody* bodies[2] = {&m->bodies[block->bodyA], &m->bodies[block->bodyB]};
            if (!isHolding(m, block) || !(bodies[0]->isDynamic || bodies[1]->isDynamic)) {
                continue;
            }
            rbSubstepsJoint joint = {.rowCount = block->rowCount,
                                     .rows = &m->rows[block->firstRow],
                                     .reactions = &mechanism->rows.reactions[block->firstRow]};
            for (int k = 0; k < 2; ++k) {
                joint.bodies[k] =
                    bodies[k]->index >= 0 ? bodies[k]->index : c->engine->bodies.count;
            }
            rbArray_Push(c->solvers.quickJoints, joint);
        }
    }
}

bool rbStepContacts_AreQuick(const rbStepContacts* c)
{
    return c != NULL && c->solvers.substeps != NULL;
}

void rbContactStep_EndMechanism(const rbStepRun* run, double time, double h)
{
    RB_ASSERT(h > 0.0 && run->host != NULL);
    const rbStepRows* rows = &run->mechanism->rows;
    int first = run->mechanism->m.bodies[0].index;
    bool isQuick = run->mechanism->engine->contacts->flight.kinds.data[first] == RB_FLIGHT_QUICK;
    for (int row = 0; row < run->mechanism->m.rowCount; ++row) {
        rows->reactions[row] = isQuick ? rows->reactions[row] : 0.0;
        rows->totals[row] += h * rows->reactions[row];
    }
    rbStep_EndBasic(run, time, h);
}

// Restores impulses and limits of a mechanism to the start of the stage. Its velocities are read
// from those shown.
static void turnBack(const rbStepContacts* c, rbStepMechanism* mechanism, double h)
{
    int rowCount = mechanism->m.rowCount;
    bool isOther = false;
    memcpy(mechanism->m.impulses, mechanism->copies.scratch, (size_t)rowCount * sizeof(double));
    for (int row = 0; row < rowCount; ++row) {
        rbLimitState limit = mechanism->copies.limits[row];
        isOther = isOther || mechanism->rows.limits[row] != limit;
        mechanism->rows.limits[row] = limit;
    }
    if (isOther) {
        rbStep_Renew(mechanism, h, true);
    }
    takeMechanism(c, mechanism);
}

void rbContactStep_NoteMechanisms(rbStepContacts* c)
{
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepMechanism* mechanism = &c->engine->mechanisms.data[i];
        int rowCount = mechanism->m.rowCount;
        RB_ASSERT(rowCount <= mechanism->copies.size);
        memcpy(mechanism->copies.scratch, mechanism->m.impulses, (size_t)rowCount * sizeof(double));
        rbCopyElements(mechanism->copies.limits, mechanism->rows.limits, rowCount,
                       sizeof(rbLimitState));
    }
}

void rbContactStep_TurnIsland(rbStepContacts* c, const rbContactIsland* island, double h)
{
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(c, island, &i)) != NULL;) {
        turnBack(c, mechanism, h);
    }
}

// ------------------------------------------------------------------------------------------- rows

static void addRow(rbStepContacts* c, const rbMechanism* m, const rbRowBlock* block, int k,
                   double residual)
{
    RB_ASSERT(k < block->rowCount && block->firstRow + k < m->rowCount);
    int index = block->firstRow + k;
    const rbRow* row = &m->rows[index];
    const rbMechBody* bodies[2] = {&m->bodies[block->bodyA], &m->bodies[block->bodyB]};
    // An impulse along a row of a joint acts on A with +, along that of a contact with -.
    rbContactLink link = {.bodyA = bodies[0]->index,
                          .bodyB = bodies[1]->index,
                          .row = {-row->linear.x, -row->linear.y, -row->linear.z, -row->angularA.x,
                                  -row->angularA.y, -row->angularA.z, row->linear.x, row->linear.y,
                                  row->linear.z, row->angularB.x, row->angularB.y, row->angularB.z},
                          .compliance = m->compliance[index],
                          .most = INFINITY,
                          .impulse = -m->impulses[index]};
    if (block->kind == RB_ROW_TRAVEL && m->limits[index] < INFINITY) {
        link.most = 0.5 * m->duration * m->limits[index];
    }
    link.bias = residual;
    for (int side = 0; side < 2; ++side) {
        if (bodies[side]->isDynamic) {
            const rbContactBody* shown = &c->bodies.data[bodies[side]->index];
            const double* part = link.row + 6 * (size_t)side;
            link.bias -= part[0] * shown->velocity.x + part[1] * shown->velocity.y +
                         part[2] * shown->velocity.z + part[3] * shown->spin.x +
                         part[4] * shown->spin.y + part[5] * shown->spin.z;
        }
    }
    rbArray_Push(c->solvers.links, link);
}

double rbContactStep_FindLinks(const rbJointSweep* joints, rbNewtonTask* task)
{
    rbStepContacts* c = joints->c;
    double most = 0.0;
    c->solvers.links.count = 0;
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(joints->c, joints->island, &i)) != NULL;) {
        rbMechanism* m = &mechanism->m;
        rbCorrection correction = {.h = mechanism->isPushed ? 0.0 : joints->h};
        rbMeasureRows(mechanism->inner, m, &correction, joints->isOfRates);
        for (int b = 0; b < m->blockCount; ++b) {
            const rbRowBlock* block = &m->blocks[b];
            for (int k = 0; k < block->rowCount; ++k) {
                int row = block->firstRow + k;
                if (m->compliance[row] < INFINITY) {
                    double residual = mechanism->inner->residual[row];
                    addRow(c, m, block, k, residual);
                    const rbContactLink* link = &c->solvers.links.data[c->solvers.links.count - 1];
                    bool isHeld = fabs(link->impulse) >= link->most &&
                                  residual * link->impulse <= 0.0; // it may move on with the push
                    most = isHeld || fabs(residual) <= most ? most : fabs(residual);
                }
            }
        }
    }
    task->links = c->solvers.links.data;
    task->linkCount = c->solvers.links.count;
    RB_ASSERT(!(most < 0.0));
    return joints->isOfRates ? most : most * joints->h;
}

void rbContactStep_TakeLinks(const rbJointSweep* joints)
{
    const rbStepContacts* c = joints->c;
    int next = 0;
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(joints->c, joints->island, &i)) != NULL;) {
        for (int row = 0; row < mechanism->m.rowCount; ++row) {
            if (mechanism->m.compliance[row] < INFINITY) {
                mechanism->m.impulses[row] = -c->solvers.links.data[next++].impulse;
            }
        }
        takeMechanism(joints->c, mechanism);
    }
    RB_ASSERT(next == c->solvers.links.count);
}

double rbContactStep_GetJointTolerance(const rbJointSweep* joints)
{
    return joints->isOfRates ? joints->c->settings.velocityTolerance
                             : rbStep_GetTolerance(joints->c->engine);
}

// ------------------------------------------------------------------------------------------- stops
// Limits of joints in the step engine (B-82): a stop is a contact without friction between the two
// bodies of the joint, behind the contacts of shapes in the set of a node.
//
// For an angle it is as if small bodies on levers, fixed to both bodies, met at the stop: a lever
// of length R along d from the axis x, normal x x d, gap R times the remaining angle. For travel
// the normal is the axis and the gap the remaining distance. Gaps are those of the coordinate
// itself, so R does not change the effect of a stop, only how fast sweeps with joints converge. The
// best choice is the center of percussion, where the joint does not feel the impact.

// A stop takes part if it is nearer than this fraction of the lever, or than this many steps at the
// current speed: forces and motors may make it faster within the step.
#define NEAR_PART 0.25
#define NEAR_STEPS 4.0
// The lever is at most this many times as long as the arm of the center of mass or the radius of
// gyration.
#define LEVER_MOST 3.0
// m: a lever of a body without extent.
#define LEVER_LEAST 1e-3
// m or rad: a start beyond a stop by no more counts as being at the stop.
#define START_EXCESS 1e-6

// A limit at the current poses.
typedef struct Stop {
    const rbLimitModel* model;
    const rbMechBody* a;
    const rbMechBody* b;
    int bodyA; // of the contacts
    int bodyB;
    rbVec3 point;  // m, world: where the levers meet
    rbVec3 rising; // unit: the direction of B's point when the coordinate grows
    double scale;  // m of displacement of the point per unit of the coordinate
    double size;   // m, to decide what is near
    double position;
    double curve; // rad or m: gain of the coordinate in a step beyond its rate times h
} Stop;

// The lever of an angle about a unit axis through a point: toward the center of mass, up to the
// center of percussion, where the joint does not feel the impact.
static void placeLever(Stop* stop, rbVec3 anchor, rbVec3 axis)
{
    const rbMechBody* body = stop->b->isDynamic ? stop->b : stop->a;
    rbVec3 arm = rbSub(body->pose.position, anchor);
    rbVec3 across = rbAddScaled(arm, -rbDot(arm, axis), axis);
    rbVec3 local = rbMulMtV(body->pose.rotation, axis);
    double gyration = sqrt(rbDot(rbMulEach(local, local), body->moments) * body->invMass);
    double distance = rbLength(across);
    double most = LEVER_MOST * fmax(fmax(distance, gyration), LEVER_LEAST);
    bool isArm = distance > 1e-6 * gyration && distance > 0.0;
    rbVec3 d = isArm ? rbScale(1.0 / distance, across) : rbPerpendicular(axis);
    double lever = isArm ? distance + gyration * gyration / distance : most;
    lever = fmin(lever, most);
    stop->point = rbAddScaled(anchor, lever, d);
    stop->rising = rbCross(axis, d);
    stop->size = lever;
    stop->scale *= lever;
}

// A body that rotates with a constant spin moves its axis along a circle: the resulting gain of the
// angle to an axis of the other body in a step.
static double curveOf(const Stop* stop, const rbContactBody* bodies, double h)
{
    rbVec3 a = rbMulMV(stop->a->pose.rotation, stop->model->freedom.axis);
    rbVec3 b = rbMulMV(stop->b->pose.rotation, stop->model->freedom.referenceB);
    rbVec3 w = rbSub(bodies[stop->bodyB].spin, bodies[stop->bodyA].spin);
    double sine = rbLength(rbCross(a, b));
    if (!(sine > 1e-3)) {
        return 0.0;
    }
    double cosine = rbDot(a, b);
    double rate = rbDot(w, rbCross(a, b)) / sine;
    double second = (cosine * (rbDot(w, w) - rate * rate) - rbDot(a, w) * rbDot(b, w)) / sine;
    return 0.5 * h * h * second;
}

static Stop makeStop(const rbStepContacts* c, const rbStepJointSlot* slot, int freedom)
{
    RB_ASSERT(freedom >= 0 && freedom < slot->def.limitCount);
    const rbMechanism* m = &c->engine->mechanisms.data[slot->mechanism].m;
    const rbRowBlock* block = &m->blocks[slot->block];
    int world = c->engine->bodies.count;
    Stop stop = {.model = &slot->def.limits[freedom],
                 .a = &m->bodies[block->bodyA],
                 .b = &m->bodies[block->bodyB],
                 .bodyA = slot->def.bodyA >= 0 ? slot->def.bodyA : world,
                 .bodyB = slot->def.bodyB >= 0 ? slot->def.bodyB : world,
                 .scale = 1.0};
    const rbRowPose* pose = &stop.b->pose;
    rbRow row;
    rbFreedomModel_Rows(&stop.model->freedom, &stop.a->pose, pose, &row);
    stop.position = slot->limitPositions[freedom];
    rbVec3 anchor = rbAdd(pose->position, rbMulMV(pose->rotation, stop.model->anchorB));
    if (stop.model->freedom.kind == RB_FREEDOM_TRAVEL) {
        stop.point = anchor;
        stop.rising = row.linear;
        stop.size = fmax(stop.a->radius, stop.b->radius);
        return stop;
    }
    double length = rbLength(row.angularB);
    stop.scale = 1.0 / length;
    placeLever(&stop, anchor, rbScale(stop.scale, row.angularB));
    if (stop.model->freedom.kind == RB_FREEDOM_SWING) {
        stop.curve = curveOf(&stop, c->bodies.data, c->engine->settings.step);
    }
    return stop;
}

// One of the two stops; false: it is too far away to matter.
static bool makeContact(const rbStepContacts* c, const Stop* stop, bool isUpper, double h,
                        rbContact* contact, rbContactPoint* point)
{
    double left =
        isUpper ? stop->model->upper - stop->position : stop->position - stop->model->lower;
    double gap = stop->scale * left;
    memset(contact, 0, sizeof *contact);
    memset(point, 0, sizeof *point);
    contact->bodyA = stop->bodyA;
    contact->bodyB = stop->bodyB;
    contact->normal = isUpper ? rbNeg(stop->rising) : stop->rising;
    contact->tangents[0] = rbPerpendicular(contact->normal);
    contact->tangents[1] = rbCross(contact->normal, contact->tangents[0]);
    contact->restitution = stop->model->restitution;
    contact->pointCount = 1;
    point->armA = rbSub(stop->point, stop->a->pose.position);
    point->armB = rbSub(stop->point, stop->b->pose.position);
    point->gap = gap + stop->scale * (isUpper ? -stop->curve : stop->curve);
    point->isClosed = gap <= fmax(c->settings.tolerance, c->settings.shell);
    double speed = rbContact_NormalSpeed(c->bodies.data, contact, point);
    return gap <= NEAR_PART * stop->size + NEAR_STEPS * h * fabs(speed);
}

static void addContact(rbStepContacts* c, const rbContact* contact, const rbContactPoint* point)
{
    rbContact* added = &c->set.contacts[c->set.contactCount++];
    *added = *contact;
    added->firstPoint = c->set.pointCount;
    c->set.points[c->set.pointCount++] = *point;
}

static bool isLimited(const rbStepJointSlot* slot)
{
    return slot->isUsed && slot->mechanism >= 0 && slot->def.limitCount > 0;
}

void rbStepLimits_Append(rbStepContacts* c)
{
    double h = c->engine->settings.step;
    c->found = c->set;
    c->own.stops.count = 0;
    c->statistics.limitCount = 0;
    for (int i = 0; c->own.hasLimits && i < c->engine->joints.count; ++i) {
        rbStepJointSlot* slot = &c->engine->joints.data[i];
        for (int k = 0; isLimited(slot) && k < slot->def.limitCount; ++k) {
            const rbLimitModel* limit = &slot->def.limits[k];
            if (!rbLimitModel_IsUsed(limit)) {
                continue;
            }
            const rbMechanism* m = &c->engine->mechanisms.data[slot->mechanism].m;
            const rbRowBlock* block = &m->blocks[slot->block];
            slot->limitPositions[k] =
                rbStep_FollowFreedom(&limit->freedom, slot->limitPositions[k],
                                     &m->bodies[block->bodyA].pose, &m->bodies[block->bodyB].pose);
            Stop stop = makeStop(c, slot, k);
            double beyond =
                fmax(stop.model->lower - stop.position, stop.position - stop.model->upper);
            c->statistics.limitExcess = fmax(c->statistics.limitExcess, beyond);
            for (int side = 0; side < 2; ++side) {
                rbContact contact;
                rbContactPoint point;
                bool isThere = side == 0 ? limit->lower > -INFINITY : limit->upper < INFINITY;
                if (isThere && makeContact(c, &stop, side == 1, h, &contact, &point)) {
                    point.impulse[0] = slot->limitImpulses[k][side] / stop.scale;
                    addContact(c, &contact, &point);
                    rbLimitContact own = {i, k, side == 1, stop.scale};
                    rbArray_Push(c->own.stops, own);
                }
            }
        }
    }
}

void rbStepLimits_PutBack(rbStepContacts* contacts)
{
    rbStepContacts* c = contacts;
    int count = c->own.stops.count;
    RB_ASSERT(count <= c->trial.nodePoints.count && count <= c->trial.nodeContacts.count);
    c->found = c->set;
    for (int i = 0; i < count; ++i) {
        addContact(c, &c->trial.nodeContacts.data[c->trial.nodeContacts.count - count + i],
                   &c->trial.nodePoints.data[c->trial.nodePoints.count - count + i]);
    }
}

void rbStepLimits_Keep(rbStepContacts* c)
{
    rbContactPairs_Keep(c->pairs);
    for (int i = 0; c->own.hasLimits && i < c->engine->joints.count; ++i) {
        memset(c->engine->joints.data[i].limitImpulses, 0,
               sizeof c->engine->joints.data[i].limitImpulses);
    }
    c->statistics.limitCount = 0;
    for (int i = 0; i < c->own.stops.count; ++i) {
        const rbLimitContact* limit = &c->own.stops.data[i];
        double impulse = limit->scale * c->set.points[c->found.pointCount + i].impulse[0];
        c->engine->joints.data[limit->joint].limitImpulses[limit->freedom][limit->isUpper] =
            impulse;
        c->statistics.limitCount += impulse > 0.0 ? 1 : 0;
    }
}

void rbStepLimits_Move(rbStepContacts* c, rbByteStream* stream)
{
    int most = c->own.stops.capacity; // the room in the set, see noteLimits
    RB_MOVE_ARRAY(stream, c->own.stops);
    rbByteStream_CheckRange(stream, &c->own.stops.count, 1, 0, most + 1);
    for (int i = 0; i < c->own.stops.count; ++i) {
        const rbLimitContact* limit = &c->own.stops.data[i];
        rbByteStream_CheckRange(stream, &limit->joint, 1, 0, c->engine->joints.count);
        rbByteStream_CheckRange(stream, &limit->freedom, 1, 0, RB_JOINT_FREEDOMS_MAX);
        rbByteStream_CheckFlags(stream, &limit->isUpper, 1);
    }
    size_t count = (size_t)c->own.stops.count;
    rbByteStream_Move(stream, c->set.contacts + c->found.contactCount,
                      count * sizeof *c->set.contacts);
    rbByteStream_Move(stream, c->set.points + c->found.pointCount, count * sizeof *c->set.points);
    for (size_t i = 0; i < count; ++i) {
        const rbContact* contact = c->set.contacts + c->found.contactCount + i;
        const rbContactPoint* point = c->set.points + c->found.pointCount + i;
        rbByteStream_CheckFlags(stream, &contact->hasBelt, 1);
        rbByteStream_CheckFlags(stream, &contact->isIdle, 1);
        rbByteStream_CheckFlags(stream, &point->isClosed, RB_POINT_FLAGS);
    }
    if (stream->isLoading && c->own.hasLimits) {
        c->set.contactCount = c->found.contactCount + (int)count;
        c->set.pointCount = c->found.pointCount + (int)count;
        rbStepContacts_PrepareSet(c);
    }
}

rbStartLimit rbStepLimits_Validate(const rbStepContacts* c)
{
    rbStartLimit worst = {.joint = -1};
    worst.excess = c != NULL ? fmax(START_EXCESS, c->start.excess) : 0.0;
    for (int i = 0; c != NULL && i < c->engine->joints.count; ++i) {
        const rbStepJointSlot* slot = &c->engine->joints.data[i];
        for (int k = 0; isLimited(slot) && k < slot->def.limitCount; ++k) {
            const rbLimitModel* limit = &slot->def.limits[k];
            double position = slot->limitPositions[k];
            double excess = fmax(limit->lower - position, position - limit->upper);
            if (excess > worst.excess) {
                worst = (rbStartLimit){i, k, position, excess};
            }
        }
    }
    return worst;
}
