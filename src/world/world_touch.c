// Pairs of shapes that touch: when they begin and end.
//
// The world keeps the pairs that touch in the order of bodies and shapes; the engine reports those
// of a step in the same order. One pass over both finds what is new and what has ended. A pair is
// known by the ids of its bodies, so that a destroyed body ends its pairs at the next step, and one
// that takes its place begins others.
#include "world/world_touch.h"

#include "base/core/words.h"

#include <string.h>

static const char* const kindNames[RB_CONTACT_EVENT_COUNT] = {
    [RB_CONTACT_BEGIN] = "begin",
    [RB_CONTACT_END] = "end",
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

// Order of two pairs: < 0 if the first one comes first.
static int compare(const rbTouchSlot* p, const rbTouchSlot* q)
{
    const int64_t keys[6][2] = {{p->bodyA.index1, q->bodyA.index1},
                                {p->bodyA.generation, q->bodyA.generation},
                                {p->bodyB.index1, q->bodyB.index1},
                                {p->bodyB.generation, q->bodyB.generation},
                                {p->shapeA, q->shapeA},
                                {p->shapeB, q->shapeB}};
    for (int i = 0; i < 6; ++i) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
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

static rbTouchSlot makeTouch(const rbWorld* world, const rbEngineTouch* told)
{
    rbTouchSlot touch;
    memset(&touch, 0, sizeof touch); // snapshots hold it as bytes
    touch.bodyA = rbWorld_BodyIdOf(world, told->a);
    touch.bodyB = rbWorld_BodyIdOf(world, told->b);
    touch.shapeA = told->partA;
    touch.shapeB = told->partB;
    touch.point = told->point;
    touch.normal = told->normal;
    touch.impulse = told->impulse;
    touch.approachSpeed = told->approachSpeed;
    return touch;
}

// A pair that touched before continues.
static void continueTouch(rbTouchSlot* touch, const rbTouchSlot* now, bool isClosed)
{
    touch->impulse = rbAdd(touch->impulse, now->impulse);
    if (isClosed) {
        touch->point = now->point;
        touch->normal = now->normal;
    }
}

void rbWorld_NoteTouches(void* context, double time, const rbEngineTouch* touches, int count)
{
    rbWorld* world = context;
    int old = 0;
    world->nextTouches.count = 0;
    for (int i = 0; i <= count; ++i) {
        rbTouchSlot now = {0};
        if (i < count) {
            now = makeTouch(world, &touches[i]);
        }
        // pairs that are not in the list have ended
        while (old < world->touches.count &&
               (i == count || compare(&world->touches.data[old], &now) < 0)) {
            addEvent(world, time, RB_CONTACT_END, &world->touches.data[old]);
            old += 1;
        }
        if (i == count) {
            break;
        }
        bool isKnown = old < world->touches.count && compare(&world->touches.data[old], &now) == 0;
        bool isTouching = touches[i].isClosed && (isKnown || touches[i].isBearing);
        rbTouchSlot touch = isKnown ? world->touches.data[old] : now;
        if (isKnown) {
            continueTouch(&touch, &now, touches[i].isClosed);
            old += 1;
        } else if (touches[i].isBearing) {
            addEvent(world, time, RB_CONTACT_BEGIN, &touch);
        }
        if (isTouching) {
            rbArray_Push(world->nextTouches, touch);
        } else if (isKnown || touches[i].isBearing) {
            addEvent(world, time, RB_CONTACT_END, &touch);
        }
    }
    // swap: both keep their memory
    rbTouchSlot* data = world->touches.data;
    int capacity = world->touches.capacity;
    world->touches.data = world->nextTouches.data;
    world->touches.count = world->nextTouches.count;
    world->touches.capacity = world->nextTouches.capacity;
    world->nextTouches.data = data;
    world->nextTouches.count = 0;
    world->nextTouches.capacity = capacity;
}
