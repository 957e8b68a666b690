// How joints reduce the response of the normals of contacts (B-81).
//
// A body held by a joint yields less than its own mass implies. Apply a unit impulse at a point of
// a contact, on bodies otherwise at rest; measure the speeds of all its points; correct the joints;
// measure again: the difference is the effect of the joints. The first measurement comes after the
// impulse, otherwise n K n would be counted twice (E-10 of the specification). Velocities are
// linear in impulses, so the factors of the stage can be used, and the mechanism is not changed.
#include "lab/contact/joint_reaction.h"

#include "dynamics/engines/step/contact_method.h"
#include "dynamics/engines/step/step_contact_state.h"

// Saves the bodies of a mechanism and stops them.
static void stopBodies(rbStepContacts* c, rbMechanism* m)
{
    rbArray_Assign(c->solvers.motions, m->bodies, m->bodyCount);
    for (int i = 0; i < m->bodyCount; ++i) {
        m->bodies[i].velocity = RB_VEC3_ZERO;
        m->bodies[i].momentum = RB_VEC3_ZERO;
        m->bodies[i].angularVelocity = RB_VEC3_ZERO;
    }
}

// A body of a contact in a mechanism; NULL: it is not in it.
static rbMechBody* findBody(const rbStepEngine* engine, int mechanism, int body)
{
    if (body >= engine->bodies.count || engine->bodies.data[body].mechanism != mechanism) {
        return NULL;
    }
    rbMechBody* own = rbContactStep_GetBody(engine->contacts, body);
    return own != NULL && own->isDynamic ? own : NULL;
}

static void push(rbMechBody* body, rbVec3 arm, rbVec3 p)
{
    if (body != NULL) {
        body->velocity = rbAddScaled(body->velocity, body->invMass, p);
        body->momentum = rbAdd(body->momentum, rbCross(arm, p));
    }
}

static double speedOf(const rbMechBody* body, const rbContactBody* shown, rbVec3 arm, rbVec3 n)
{
    if (body == NULL) {
        return 0.0;
    }
    rbVec3 spin = rbMulSV(shown->invInertia, body->momentum);
    return rbDot(n, rbAdd(body->velocity, rbCross(spin, arm)));
}

// The bodies of a contact as a mechanism has them.
typedef struct Touch {
    const rbStepContacts* c;
    const rbContact* contact;
    rbMechBody* a; // NULL: not of this mechanism
    rbMechBody* b;
} Touch;

// Speeds of the points, times sign, onto a column of the table.
static void addSpeeds(const Touch* touch, int column, double sign, double* reaction)
{
    const rbContact* contact = touch->contact;
    const rbContactBody* shown = touch->c->bodies.data;
    for (int i = 0; i < contact->pointCount; ++i) {
        const rbContactPoint* point = &touch->c->set.points[contact->firstPoint + i];
        double u = speedOf(touch->b, &shown[contact->bodyB], point->armB, contact->normal) -
                   speedOf(touch->a, &shown[contact->bodyA], point->armA, contact->normal);
        reaction[RB_MANIFOLD_POINTS_MAX * i + column] += sign * u;
    }
}

// Joints of a mechanism stop the velocities along their rows.
static void correct(rbStepMechanism* mechanism)
{
    rbMechanism* m = &mechanism->m;
    rbCorrector* inner = mechanism->inner;
    for (int b = 0; b < m->blockCount; ++b) {
        rbMechanism_Rates(m, b, &inner->residual[m->blocks[b].firstRow]);
    }
    inner->solver->ops->solve(inner->solver, inner->residual, inner->change);
    for (int b = 0; b < m->blockCount; ++b) {
        rbMechanism_Apply(m, b, &inner->change[m->blocks[b].firstRow]);
    }
}

static void addReaction(rbStepEngine* engine, int mechanism, const rbContact* contact,
                        double* reaction)
{
    rbStepContacts* c = engine->contacts;
    rbStepMechanism* own = &engine->mechanisms.data[mechanism];
    Touch touch = {c, contact, findBody(engine, mechanism, contact->bodyA),
                   findBody(engine, mechanism, contact->bodyB)};
    for (int j = 0; j < contact->pointCount; ++j) {
        const rbContactPoint* point = &c->set.points[contact->firstPoint + j];
        stopBodies(c, &own->m);
        push(touch.a, point->armA, rbNeg(contact->normal));
        push(touch.b, point->armB, contact->normal);
        addSpeeds(&touch, j, 1.0, reaction);
        correct(own);
        addSpeeds(&touch, j, -1.0, reaction);
        rbCopyElements(own->m.bodies, c->solvers.motions.data, own->m.bodyCount,
                       sizeof(rbMechBody));
    }
}

void rbMeasureJointReaction(void* context, int contact, double* reaction)
{
    const rbJointSweep* joints = context;
    rbStepEngine* engine = joints->c->engine;
    const rbContact* own = &engine->contacts->set.contacts[contact];
    int bodies[2] = {own->bodyA, own->bodyB};
    int last = -1;
    for (int i = 0; i < RB_MANIFOLD_POINTS_MAX * RB_MANIFOLD_POINTS_MAX; ++i) {
        reaction[i] = 0.0;
    }
    for (int k = 0; k < 2; ++k) {
        int mechanism =
            bodies[k] < engine->bodies.count ? engine->bodies.data[bodies[k]].mechanism : -1;
        if (mechanism >= 0 && mechanism != last) {
            addReaction(engine, mechanism, own, reaction);
            last = mechanism;
        }
    }
}

rbStatus rbRegisterJointReaction(rbError* error)
{
    (void)error; // it cannot fail
    rbSetJointReaction(rbMeasureJointReaction);
    return RB_STATUS_OK;
}
