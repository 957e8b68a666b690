// Joints in the stages of steps with contacts: their sweeps, and their rows for islands that are
// solved as a whole.
#include "dynamics/engines/step/step_valid.h"

#include <string.h>

void rbContactStep_EachMechanism(rbStepContacts* c, const rbStepHost* host, rbStepPartFn* part,
                                 double h)
{
    for (int i = 0; i < c->engine->mechanisms.count; ++i) {
        rbStepRun run = {.engine = c->engine,
                         .mechanism = &c->engine->mechanisms.data[i],
                         .host = host,
                         .isForced = true};
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
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        rbMechBody* body = &mechanism->m.bodies[i];
        if (body->isDynamic) {
            rbContactStep_TakeBody(&c->bodies.data[body->index], body);
        }
    }
}

static void showMechanism(rbStepContacts* c, const rbStepMechanism* mechanism)
{
    for (int i = 0; i < mechanism->m.bodyCount; ++i) {
        const rbMechBody* body = &mechanism->m.bodies[i];
        if (body->isDynamic) {
            rbContactBody* shown = &c->bodies.data[body->index];
            shown->velocity = body->velocity;
            RB_ASSERT(shown->invMass > 0.0);
            shown->spin = rbMulSV(shown->invInertia, body->momentum);
        }
    }
}

// The mechanisms of an island that are not frozen, one by one: next is the body to go on with, at
// first 0. A mechanism comes with its first dynamic body. NULL: that was all.
static rbStepMechanism* nextMechanism(const rbStepContacts* c, const rbContactIsland* island,
                                      int* next)
{
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

// Sweeps all joints of the mechanisms of an island, with the velocities that contacts left.
bool rbContactStep_SweepJoints(void* context, double* error)
{
    const rbJointSweep* sweep = context;
    bool isDone = true;
    *error = 0.0;
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(sweep->c, sweep->island, &i)) != NULL;) {
        rbStepRun run = {.engine = sweep->c->engine,
                         .mechanism = mechanism,
                         .host = sweep->host,
                         .isForced = true};
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
    const rbStepRows* rows = &run->mechanism->rows;
    int first = run->mechanism->m.bodies[0].index;
    bool isQuick = run->engine->contacts->flight.kinds.data[first] == RB_FLIGHT_QUICK;
    for (int row = 0; row < run->mechanism->m.rowCount; ++row) {
        rows->reactions[row] = isQuick ? rows->reactions[row] : 0.0;
        rows->totals[row] += h * rows->reactions[row];
    }
    rbStep_EndBasic(run, time, h);
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
        rbStep_RenewStart(mechanism, h);
    }
    takeMechanism(c, mechanism);
}

static void noteStart(rbStepMechanism* mechanism)
{
    int rowCount = mechanism->m.rowCount;
    RB_ASSERT(rowCount <= mechanism->copies.size);
    memcpy(mechanism->copies.scratch, mechanism->m.impulses, (size_t)rowCount * sizeof(double));
    rbCopyElements(mechanism->copies.limits, mechanism->rows.limits, rowCount,
                   sizeof(rbLimitState));
}

void rbContactStep_TurnIsland(rbStepContacts* c, const rbContactIsland* island, double h,
                              bool isBack)
{
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(c, island, &i)) != NULL;) {
        if (isBack) {
            turnBack(c, mechanism, h);
        } else {
            noteStart(mechanism);
        }
    }
}

void rbContactStep_TurnMechanisms(rbStepContacts* c, double h, bool isBack)
{
    for (int i = 0; i < c->islandCount; ++i) {
        rbContactIsland island = rbContactGraph_GetIsland(c->graph, i);
        rbContactStep_TurnIsland(c, &island, h, isBack);
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

// The residual of a row; one at its limit may move on in the direction of the push.
static double leftOf(const rbContactLink* link, double residual)
{
    bool isHeld = fabs(link->impulse) >= link->most && residual * link->impulse <= 0.0;
    return isHeld ? 0.0 : fabs(residual);
}

double rbContactStep_FindLinks(const rbJointSweep* joints, rbNewtonTask* task)
{
    rbStepContacts* c = joints->c;
    double most = 0.0;
    c->solvers.links.count = 0;
    rbStepMechanism* mechanism;
    for (int i = 0; (mechanism = nextMechanism(joints->c, joints->island, &i)) != NULL;) {
        rbMechanism* m = &mechanism->m;
        rbCorrection correction = {.h = joints->h};
        rbMeasureRows(mechanism->inner, m, &correction, joints->isOfRates);
        for (int b = 0; b < m->blockCount; ++b) {
            const rbRowBlock* block = &m->blocks[b];
            for (int k = 0; k < block->rowCount; ++k) {
                int row = block->firstRow + k;
                if (m->compliance[row] < INFINITY) {
                    double residual = mechanism->inner->residual[row];
                    addRow(c, m, block, k, residual);
                    double left =
                        leftOf(&c->solvers.links.data[c->solvers.links.count - 1], residual);
                    most = left <= most ? most : left;
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
