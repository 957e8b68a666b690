// Pairs of shapes that touch: when they begin and end.
//
// The world keeps the pairs that touch in the order of bodies and shapes; an engine reports those
// of a step in the same order. One pass over both finds what is new and what has ended. A pair is
// known by the ids of its bodies, so that a destroyed body ends its pairs at the next step, and one
// that takes its place begins others.
#include "world/world_touch.h"

#include <string.h>

static const char* const kindNames[RB_CONTACT_EVENT_COUNT] = {
    [RB_CONTACT_BEGIN] = "begin",
    [RB_CONTACT_END] = "end",
    [RB_SENSOR_BEGIN] = "sensor begin",
    [RB_SENSOR_END] = "sensor end",
};

const char* rbContactEventKind_Name(rbContactEventKind kind)
{
    return (unsigned)kind < RB_CONTACT_EVENT_COUNT ? kindNames[kind] : "unknown";
}

const rbContactEvent* rbWorld_GetContactEvents(const rbWorld* world, int* count)
{
    RB_ASSERT(count != NULL);
    *count = world->contactEvents.count;
    return world->contactEvents.data;
}

static int compareIds(rbBodyId p, rbBodyId q)
{
    if (p.index1 != q.index1) {
        return p.index1 < q.index1 ? -1 : 1;
    }
    return p.generation == q.generation ? 0 : (p.generation < q.generation ? -1 : 1);
}

// Order of two pairs: < 0 if the first one comes first.
static int compare(const rbTouchSlot* p, const rbTouchSlot* q)
{
    int order = compareIds(p->bodyA, q->bodyA);
    order = order != 0 ? order : compareIds(p->bodyB, q->bodyB);
    order = order != 0 ? order : (p->shapeA > q->shapeA) - (p->shapeA < q->shapeA);
    return order != 0 ? order : (p->shapeB > q->shapeB) - (p->shapeB < q->shapeB);
}

static void addEvent(rbWorld* world, double time, rbContactEventKind kind, const rbTouchSlot* touch)
{
    rbContactEvent event;
    memset(&event, 0, sizeof event); // padding too: events can be compared as bytes
    event.time = time;
    event.kind = kind;
    event.bodyA = touch->bodyA;
    event.bodyB = touch->bodyB;
    event.shapeA = touch->shapeA;
    event.shapeB = touch->shapeB;
    event.point = touch->point;
    event.normal = touch->normal;
    event.approachSpeed = touch->approachSpeed;
    event.impulse = touch->impulse;
    rbArray_Push(world->contactEvents, event);
}

// A pair that touched before continues.
static void continueTouch(rbTouchSlot* touch, const rbTouchSlot* now)
{
    touch->impulse = rbAdd(touch->impulse, now->impulse);
    touch->isClosed = now->isClosed;
    if (now->isClosed != 0) {
        touch->point = now->point;
        touch->normal = now->normal;
    }
}

void rbWorld_MergeTouches(rbWorld* world, rbTouchKind kind, double time)
{
    static const rbContactEventKind begins[] = {RB_CONTACT_BEGIN, RB_SENSOR_BEGIN};
    static const rbContactEventKind ends[] = {RB_CONTACT_END, RB_SENSOR_END};
    rbTouchArray before = world->touches[kind];
    int old = 0;
    world->nextTouches.count = 0;
    for (int i = 0; i < world->foundTouches.count; ++i) {
        const rbTouchSlot* now = &world->foundTouches.data[i];
        // pairs that are not in the list have ended
        for (; old < before.count && compare(&before.data[old], now) < 0; ++old) {
            addEvent(world, time, ends[kind], &before.data[old]);
        }
        bool isKnown = old < before.count && compare(&before.data[old], now) == 0;
        if (!isKnown && now->isBearing == 0) {
            continue;
        }
        rbTouchSlot touch = *now;
        if (isKnown) {
            touch = before.data[old++];
            continueTouch(&touch, now);
        } else {
            addEvent(world, time, begins[kind], &touch);
        }
        if (touch.isClosed != 0) {
            rbArray_Push(world->nextTouches, touch);
        } else {
            addEvent(world, time, ends[kind], &touch);
        }
    }
    for (; old < before.count; ++old) {
        addEvent(world, time, ends[kind], &before.data[old]);
    }
    world->touches[kind] = world->nextTouches; // both keep their memory
    world->nextTouches = before;
}

static rbTouchSlot makeTouch(const rbWorld* world, const rbEngineTouch* told)
{
    rbTouchSlot touch;
    memset(&touch, 0, sizeof touch); // snapshots hold it as bytes
    touch.bodyA = rbWorld_BodyIdOf(world, told->a);
    touch.bodyB = rbWorld_BodyIdOf(world, told->b);
    touch.shapeA = rbBody_FindSolid(&world->bodies.data[told->a], told->partA);
    touch.shapeB = rbBody_FindSolid(&world->bodies.data[told->b], told->partB);
    touch.point = told->point;
    touch.normal = told->normal;
    touch.impulse = told->impulse;
    touch.approachSpeed = told->approachSpeed;
    touch.isBearing = told->isBearing ? 1 : 0;
    touch.isClosed = told->isClosed ? 1 : 0;
    return touch;
}

void rbWorld_NoteNode(void* context, const rbEngineNode* node)
{
    rbWorld* world = context;
    world->foundTouches.count = 0;
    for (int i = 0; i < node->touchCount; ++i) {
        rbArray_Push(world->foundTouches, makeTouch(world, &node->touches[i]));
    }
    rbWorld_MergeTouches(world, RB_TOUCH_CONTACT, node->time);
    if (world->sensorBodies.count + world->touches[RB_TOUCH_SENSOR].count == 0) {
        return;
    }
    rbArray_Reserve(world->sensorStates, world->bodies.count);
    for (int i = 0; i < world->bodies.count; ++i) {
        world->sensorStates.data[i] = world->states.data[i];
        world->sensorStates.data[i].position = node->places[i].pose.position;
        world->sensorStates.data[i].orientation = node->places[i].pose.orientation;
    }
    rbWorld_CheckSensors(world, node->time, world->sensorStates.data);
}
