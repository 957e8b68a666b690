// Pairs of shapes that touch in a step, for the host: impulses, approach speed and place, see
// contact_touch.h. Nothing in the step depends on them.
#include "dynamics/engines/step/step_contact_state.h"

// Contacts of shapes, without stops of joints.
static rbContactSet getFound(const rbStepContacts* c)
{
    rbContactSet set = {c->set.contacts, c->foundCount, c->set.points, c->foundPoints};
    return set;
}

static bool isAsked(const rbStepContacts* c, const rbStepHost* host)
{
    return c->settings.hasEvents && host->node != NULL;
}

void rbContactStep_BeginTouches(const rbStepEngine* engine)
{
    rbTouchList_Clear(&engine->contacts->report.touches);
}

void rbContactStep_NoteArriving(const rbStepEngine* engine, const rbStepHost* host)
{
    rbStepContacts* c = engine->contacts;
    if (isAsked(c, host)) {
        rbContactSet set = getFound(c);
        rbTouchList_AddApproaches(&c->report.touches, &set, c->bodies.data);
    }
}

void rbContactStep_AddCollisions(const rbStepEngine* engine, const rbStepHost* host,
                                 const rbCollisionNote* notes, int count)
{
    rbStepContacts* c = engine->contacts;
    if (isAsked(c, host)) {
        rbContactSet set = getFound(c);
        rbTouchList_AddCollisions(&c->report.touches, &set, notes, count);
    }
}

void rbContactStep_AddTouches(const rbStepEngine* engine, const rbStepHost* host,
                              const rbContactBody* start, double sign)
{
    rbStepContacts* c = engine->contacts;
    if (isAsked(c, host)) {
        rbContactSet set = getFound(c);
        rbTouchList_AddImpulses(&c->report.touches, &set, c->bodies.data, start, sign);
    }
}

void rbContactStep_ReportTouches(const rbStepEngine* engine, const rbStepHost* host)
{
    rbStepContacts* c = engine->contacts;
    if (host->node == NULL) {
        return;
    }
    if (isAsked(c, host)) {
        rbContactSet set = getFound(c);
        rbTouchList_Locate(&c->report.touches, &set);
    }
    c->report.reported.count = 0;
    for (int i = 0; i < c->report.touches.touches.count; ++i) {
        const rbTouch* touch = &c->report.touches.touches.data[i];
        const rbMechBody* bodyA = rbContactStep_GetBody(engine, touch->bodyA);
        rbEngineTouch reported = {.a = touch->bodyA,
                                  .b = touch->bodyB,
                                  .partA = touch->partA,
                                  .partB = touch->partB,
                                  .point = rbAdd(bodyA->pose.position, touch->armA),
                                  .normal = touch->normal,
                                  .impulse = touch->impulse,
                                  .approachSpeed = touch->approachSpeed,
                                  .isBearing = touch->isBearing,
                                  .isClosed = touch->gap < INFINITY};
        rbArray_Push(c->report.reported, reported);
    }
    rbEngineNode node = {c->grid.time, c->report.reported.data, c->report.reported.count,
                         c->places.data};
    host->node(host->context, &node);
}
