// Pairs of shapes that touch, and shapes in sensors: when they begin and end.
//
// The world keeps the pairs that touch in the order of bodies and shapes; an engine reports those
// of a step in the same order. One pass over both finds what is new and what has ended. A pair is
// known by the ids of its bodies, so that a destroyed body ends its pairs at the next step, and one
// that takes its place begins others.
#include "collision/geometry/shape_ops.h"
#include "world/world_engine.h"

#include <rattleback/collision.h>

#include <stdio.h>
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

static int compareIds(rbBodyId p, rbBodyId q)
{
    int order = (p.index1 > q.index1) - (p.index1 < q.index1);
    return order != 0 ? order : (p.generation > q.generation) - (p.generation < q.generation);
}

// Order of two pairs: < 0 if the first one comes first.
static int compare(const rbEngineTouch* p, const rbEngineTouch* q)
{
    const rbContactEvent* a = &p->event;
    const rbContactEvent* b = &q->event;
    int order = compareIds(a->bodyA, b->bodyA);
    order = order != 0 ? order : compareIds(a->bodyB, b->bodyB);
    order = order != 0 ? order : (a->shapeA > b->shapeA) - (a->shapeA < b->shapeA);
    return order != 0 ? order : (a->shapeB > b->shapeB) - (a->shapeB < b->shapeB);
}

static void addEvent(rbWorld* world, double time, rbContactEventKind kind,
                     const rbEngineTouch* touch)
{
    rbContactEvent event;
    memcpy(&event, &touch->event, sizeof event); // padding too: events can be compared as bytes
    event.time = time;
    event.kind = kind;
    rbArray_Push(world->contactEvents, event);
}

void rbWorld_MergeTouches(rbWorld* world, rbTouchKind kind, double time)
{
    static const rbContactEventKind begins[] = {RB_CONTACT_BEGIN, RB_SENSOR_BEGIN};
    static const rbContactEventKind ends[] = {RB_CONTACT_END, RB_SENSOR_END};
    rbTouchArray before = world->touches[kind];
    int old = 0;
    world->nextTouches.count = 0;
    for (int i = 0; i < world->foundTouches.count; ++i) {
        const rbEngineTouch* now = &world->foundTouches.data[i];
        // pairs that are not in the list have ended
        for (; old < before.count && compare(&before.data[old], now) < 0; ++old) {
            addEvent(world, time, ends[kind], &before.data[old]);
        }
        bool isKnown = old < before.count && compare(&before.data[old], now) == 0;
        if (!isKnown && !now->isBearing) {
            continue;
        }
        rbEngineTouch touch = *now;
        if (isKnown) {
            touch = before.data[old++];
            touch.event.impulse = rbAdd(touch.event.impulse, now->event.impulse);
            touch.isClosed = now->isClosed;
            if (now->isClosed) {
                touch.event.point = now->event.point;
                touch.event.normal = now->event.normal;
            }
        } else {
            addEvent(world, time, begins[kind], &touch);
        }
        if (touch.isClosed) {
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

// -------------------------------------------------------------------------------------- sensors
// Shapes that report what overlaps them and do nothing else.
//
// No engine knows them: at the end of a step, or in the event engine at multiples of a time, each
// sensor is compared with the shapes of every other body, first by their balls. Whatever they find,
// the motion stays the same to the bit.

// UNSUPPORTED: a body has what the engine, or its steps without contacts, cannot do.
static rbStatus refuse(const rbWorld* world, int index, const char* what, const char* lack,
                       const char* engines, rbError* error)
{
    bool isStepped = world->def.engine == RB_ENGINE_STEP;
    return rbError_Set(
        error, RB_STATUS_UNSUPPORTED, "body \"%s\" has %s, and the engine \"%s\"%s %s; %s",
        RB_LABEL_BODY(world, index), what, rbEngineType_Name(world->def.engine),
        isStepped ? " without contacts" : "", lack,
        isStepped ? "switch contacts on (in a scene \"contact\": {\"enabled\": true})" : engines);
}

// Conveyors need lasting contacts.
static rbStatus validateBelts(const rbWorld* world, int index, rbError* error)
{
    const rbBody* body = &world->bodies.data[index];
    for (int i = 0; i < body->shapes.count; ++i) {
        rbVec3 belt = body->shapes.data[i].def.surfaceVelocity;
        if (rbLengthSquared(belt) > 0.0) {
            char what[120];
            (void)snprintf(what, sizeof what, "a surfaceVelocity of (%g, %g, %g) m/s", belt.x,
                           belt.y, belt.z);
            return refuse(world, index, what, "has no conveyors",
                          "use the engine \"step\" with contacts", error);
        }
    }
    return RB_STATUS_OK;
}

rbStatus rbWorld_ListSensors(rbWorld* world, rbError* error)
{
    bool hasContacts = world->def.engine == RB_ENGINE_STEP && world->def.contact.isEnabled;
    bool hasSensors = hasContacts || world->def.engine == RB_ENGINE_EVENT;
    world->sensorBodies.count = 0;
    for (int i = 0; i < world->bodies.count && !hasContacts; ++i) {
        RB_TRY(validateBelts(world, i, error));
    }
    for (int i = 0; i < world->bodies.count; ++i) {
        if (!rbBody_HasSensor(&world->bodies.data[i])) {
            continue;
        }
        if (!hasSensors) {
            return refuse(world, i, "a sensor", "does not find what overlaps it",
                          "use the engine \"step\" with contacts, or \"event\"", error);
        }
        rbArray_Push(world->sensorBodies, i);
    }
    return RB_STATUS_OK;
}

// A shape in the world.
typedef struct Placed {
    const rbGeometry* geometry;
    rbTransform transform;
} Placed;

static Placed placeShape(const rbWorld* world, const rbShapeDef* shape, rbTransform frame)
{
    return (Placed){rbWorld_GetGeometry(world, shape->geometry),
                    rbMulTransforms(frame, shape->transform)};
}

static bool canMove(const rbBody* body)
{
    return body->hasMass || body->path != NULL;
}

// Whether two shapes overlap; a pair that cannot be measured does not.
static bool doOverlap(const Placed* a, const Placed* b)
{
    rbSeparationInput input = rbDefaultSeparationInput();
    input.geometryA = a->geometry;
    input.geometryB = b->geometry;
    input.transformBtoA = rbInvMulTransforms(a->transform, b->transform);
    bool overlaps = false;
    rbStatus status = rbTestOverlap(&input, 0.0, NULL, &overlaps, NULL);
    return status == RB_STATUS_OK && overlaps;
}

static void addFound(rbWorld* world, const int bodies[2], int sensor, int shape, rbVec3 center)
{
    rbEngineTouch touch;
    memset(&touch, 0, sizeof touch); // snapshots hold it as bytes
    touch.event.bodyA = rbWorld_BodyIdOf(world, bodies[0]);
    touch.event.bodyB = rbWorld_BodyIdOf(world, bodies[1]);
    touch.event.shapeA = sensor;
    touch.event.shapeB = shape;
    touch.event.point = center;
    touch.isBearing = true;
    touch.isClosed = true;
    rbArray_Push(world->foundTouches, touch);
}

// One sensor of a body and all shapes of another one.
static void checkSensor(rbWorld* world, const int bodies[2], int sensor,
                        const rbMotionState* states)
{
    const rbBody* a = &world->bodies.data[bodies[0]];
    const rbBody* b = &world->bodies.data[bodies[1]];
    const rbShapeDef* own = &a->shapes.data[sensor].def;
    rbTransform frame = rbWorld_PublicState(world, bodies[0], &states[bodies[0]]).transform;
    Placed zone = placeShape(world, own, frame);
    rbVec3 center = states[bodies[1]].position;
    double reach = zone.geometry->radius + b->radius;
    if (rbDistance(zone.transform.p, center) > reach) {
        return;
    }
    rbTransform other = rbWorld_PublicState(world, bodies[1], &states[bodies[1]]).transform;
    for (int i = 0; i < b->shapes.count; ++i) {
        const rbShapeDef* shape = &b->shapes.data[i].def;
        bool isSeen = !shape->isSensor && (own->groups & shape->mask) != 0 &&
                      (shape->groups & own->mask) != 0;
        Placed placed = placeShape(world, shape, other);
        if (isSeen && doOverlap(&zone, &placed)) {
            addFound(world, bodies, sensor, i, center);
        }
    }
}

// The events of sensors from this one on, for the journal.
static void writeJournal(rbWorld* world, int first)
{
    bool isStepped = world->def.engine == RB_ENGINE_STEP;
    for (int i = first; i < world->contactEvents.count && !world->def.event.isJournalOff; ++i) {
        const rbContactEvent* event = &world->contactEvents.data[i];
        if (!rbBody_IsValid(world, event->bodyA) || !rbBody_IsValid(world, event->bodyB)) {
            continue; // destroyed: the journal has bodies that exist
        }
        rbEvent happened = {.time = event->time,
                            .kind = event->kind == RB_SENSOR_BEGIN ? RB_EVENT_SENSOR_BEGIN
                                                                   : RB_EVENT_SENSOR_END,
                            .bodyA = event->bodyA,
                            .bodyB = event->bodyB,
                            .point = event->point};
        (isStepped ? rbWorld_WriteStepJournal : rbWorld_WriteJournal)(world, &happened);
    }
}

void rbWorld_CheckSensors(rbWorld* world, double time, const rbMotionState* states)
{
    int first = world->contactEvents.count;
    world->foundTouches.count = 0;
    for (int i = 0; i < world->sensorBodies.count; ++i) {
        int index = world->sensorBodies.data[i];
        const rbBody* own = &world->bodies.data[index];
        for (int k = 0; k < world->bodies.count; ++k) {
            const rbBody* other = &world->bodies.data[k];
            if (k == index || !(canMove(own) || canMove(other))) {
                continue;
            }
            const int bodies[2] = {index, k};
            for (int s = 0; s < own->shapes.count; ++s) {
                if (own->shapes.data[s].def.isSensor) {
                    checkSensor(world, bodies, s, states);
                }
            }
        }
    }
    rbWorld_MergeTouches(world, RB_TOUCH_SENSOR, time);
    writeJournal(world, first);
}

// ----------------------------------------------------------------------------------------- nodes

void rbWorld_NoteNode(void* context, const rbEngineNode* node)
{
    rbWorld* world = context;
    world->foundTouches.count = 0;
    for (int i = 0; i < node->touchCount; ++i) {
        rbEngineTouch touch = node->touches[i];
        rbContactEvent* event = &touch.event;
        event->bodyA = rbWorld_CompleteId(world, event->bodyA);
        event->bodyB = rbWorld_CompleteId(world, event->bodyB);
        const rbBody* bodyA = &world->bodies.data[event->bodyA.index1 - 1];
        const rbBody* bodyB = &world->bodies.data[event->bodyB.index1 - 1];
        event->shapeA = rbBody_FindSolid(bodyA, event->shapeA);
        event->shapeB = rbBody_FindSolid(bodyB, event->shapeB);
        rbArray_Push(world->foundTouches, touch);
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
