// Takes frames: current poses, samples, contacts and joints, copied before locking; and events.
#include "io/output/bytes.h"
#include "session/store_state.h"

#include <rattleback/lab_ray_detector.h>

#include <stddef.h>
#include <string.h>

#define NO_BODY RB_RECORDED_NO_BODY

// ---------------------------------------------------------------------------------------- samples

// The source of the columns other than probes.
typedef struct rbSampleSource {
    rbLedger ledger;
    double jointPosition, jointAngle;       // m and rad, largest now
    double jointPositionMax, jointAngleMax; // since the start
} rbSampleSource;

typedef struct rbColumnRow {
    rbStoreColumn column;
    size_t offset; // of the double in rbSampleSource
} rbColumnRow;

#define LEDGER(field) offsetof(rbSampleSource, ledger.field)
static const rbColumnRow columns[] = {
    {{"kinetic linear", "J", "energy"}, LEDGER(kineticLinear)},
    {{"kinetic angular", "J", "energy"}, LEDGER(kineticAngular)},
    {{"potential", "J", "energy"}, LEDGER(potential)},
    {{"springs", "J", "energy"}, LEDGER(springEnergy)},
    {{"total", "J", "energy"}, LEDGER(energy)},
    {{"work from outside", "J", "energy"}, LEDGER(work)},
    {{"impact work", "J", "energy"}, LEDGER(impactWork)},
    {{"friction work", "J", "energy"}, LEDGER(frictionWork)},
    {{"microcollision work", "J", "energy"}, LEDGER(microWork)},
    {{"motor work", "J", "energy"}, LEDGER(motorWork)},
    {{"dissipation", "J", "energy"}, LEDGER(dissipation)},
    {{"rest work", "J", "energy"}, LEDGER(restWork)},
    {{"drift", "J", "energy"}, LEDGER(energyDrift)},
    {{"momentum x", "kg m/s", "momentum"}, LEDGER(momentum.x)},
    {{"momentum y", "kg m/s", "momentum"}, LEDGER(momentum.y)},
    {{"momentum z", "kg m/s", "momentum"}, LEDGER(momentum.z)},
    {{"angular momentum x", "kg m^2/s", "momentum"}, LEDGER(angularMomentum.x)},
    {{"angular momentum y", "kg m^2/s", "momentum"}, LEDGER(angularMomentum.y)},
    {{"angular momentum z", "kg m^2/s", "momentum"}, LEDGER(angularMomentum.z)},
    {{"joint error", "m", "error"}, offsetof(rbSampleSource, jointPosition)},
    {{"joint angle error", "rad", "error"}, offsetof(rbSampleSource, jointAngle)},
    {{"joint error so far", "m", "error"}, offsetof(rbSampleSource, jointPositionMax)},
    {{"joint angle error so far", "rad", "error"}, offsetof(rbSampleSource, jointAngleMax)},
};
#define COLUMN_COUNT ((int)(sizeof columns / sizeof columns[0]))

int rbGetStoreColumnCount(void)
{
    return COLUMN_COUNT;
}

rbStoreColumn rbGetStoreColumn(int index)
{
    RB_ASSERT(index >= 0 && index < COLUMN_COUNT);
    return columns[index].column;
}

static void fillSamples(const rbSampleSource* source, double* samples)
{
    for (int i = 0; i < COLUMN_COUNT; ++i) {
        memcpy(&samples[i], (const char*)source + columns[i].offset, sizeof samples[i]);
    }
}

// ----------------------------------------------------------------------------- the block of a
// frame

static size_t roundUp(size_t size)
{
    return (size + 15) / 16 * 16;
}

// Takes a part of a block; with block NULL it only counts.
static void* takePart(unsigned char* block, size_t* used, size_t size)
{
    void* part = block != NULL ? block + *used : NULL;
    *used += roundUp(size);
    return part;
}

static void layOut(rbStoredFrame* frame, unsigned char* block, size_t* used, int columnCount)
{
    size_t n = (size_t)frame->bodyCount;
    *used = 0;
    (void)takePart(block, used, sizeof *frame);
    frame->samples = takePart(block, used, (size_t)columnCount * sizeof(double));
    frame->positions = takePart(block, used, n * sizeof(rbVec3));
    frame->orientations = takePart(block, used, n * sizeof(rbQuat));
    frame->linearVelocities = takePart(block, used, n * sizeof(rbVec3));
    frame->angularVelocities = takePart(block, used, n * sizeof(rbVec3));
    frame->contacts = takePart(block, used, (size_t)frame->contactCount * RB_STORE_CONTACT_BYTES);
    frame->joints = takePart(block, used, (size_t)frame->jointCount * RB_STORE_JOINT_BYTES);
    frame->rays = takePart(block, used, (size_t)frame->rayCount * RB_STORE_RAY_BYTES);
}

// The parts of a frame other than its bodies.
typedef struct Extras {
    int contacts;
    int joints;
    int rays;
} Extras;

static rbStoredFrame* makeFrame(const rbStore* store, int bodyCount, Extras extras)
{
    rbStoredFrame layout = {.bodyCount = bodyCount,
                            .contactCount = extras.contacts,
                            .jointCount = extras.joints,
                            .rayCount = extras.rays};
    size_t bytes = 0;
    layOut(&layout, NULL, &bytes, store->columnCount);
    unsigned char* block = rbAlloc(bytes);
    layOut(&layout, block, &bytes, store->columnCount);
    layout.bytes = bytes;
    memcpy(block, &layout, sizeof layout);
    return (rbStoredFrame*)(void*)block;
}

// ---------------------------------------------------------------------------------------- history

// Removes every second frame, except the first, the last and the one shown. The pointers move under
// the lock; the frames are freed afterward.
static void thinHistory(rbStore* store)
{
    int count = store->frames.count;
    if (count < 4 || (store->frameBytes <= store->frameBytesMax && count <= store->frameMax)) {
        return;
    }
    rbFrameSlot* dropped = rbAlloc((size_t)count * sizeof *dropped);
    int droppedCount = 0;
    int kept = 0;
    rbStore_Lock(store);
    for (int i = 0; i < count; ++i) {
        rbStoredFrame* frame = store->frames.data[i].frame;
        if (i % 2 == 1 && i != count - 1 && i != store->shown) {
            dropped[droppedCount++].frame = frame;
        } else {
            store->shown = i == store->shown ? kept : store->shown;
            store->frames.data[kept++].frame = frame;
        }
    }
    store->frames.count = kept;
    rbStore_Unlock(store);
    for (int i = 0; i < droppedCount; ++i) {
        store->frameBytes -= dropped[i].frame->bytes;
        rbFree(dropped[i].frame, dropped[i].frame->bytes);
    }
    rbFree(dropped, (size_t)count * sizeof *dropped);
}

static void appendFrame(rbStore* store, rbStoredFrame* frame, bool isToShow)
{
    rbStoredFrame* replaced = NULL;
    int count = store->frames.count;
    rbStore_Lock(store);
    frame->number = ++store->frameCounter;
    if (count > 0 && store->frames.data[count - 1].frame->time >= frame->time) {
        RB_ASSERT(store->frames.data[count - 1].frame->time == frame->time);
        replaced = store->frames.data[count - 1].frame;
        store->frames.data[count - 1].frame = frame;
    } else {
        rbFrameSlot slot = {frame};
        rbArray_Push(store->frames, slot);
    }
    int last = store->frames.count - 1;
    if (isToShow && store->shown >= 0 && store->shown < last - 1) {
        ++store->jumpVersion;
    }
    store->shown = isToShow ? last : store->shown;
    store->shownVersion += isToShow ? 1 : 0;
    rbStore_Unlock(store);
    store->frameBytes += frame->bytes;
    if (replaced != NULL) {
        store->frameBytes -= replaced->bytes;
        rbFree(replaced, replaced->bytes);
    }
    thinHistory(store);
}

// -------------------------------------------------------------------------------- contacts, joints

static uint32_t numberOf(const rbStore* store, rbBodyId bodyId)
{
    int number = rbStore_FindBody(store, bodyId);
    return number >= 0 ? (uint32_t)number : NO_BODY;
}

// Writes the current contacts into the scratch message; returns how many.
static int takeContacts(rbStore* store, const rbWorld* world)
{
    int count = rbWorld_GetContacts(world, store->contacts.data, store->contacts.capacity);
    if (count > store->contacts.capacity) {
        rbArray_Reserve(store->contacts, count);
        count = rbWorld_GetContacts(world, store->contacts.data, store->contacts.capacity);
    }
    count = count < RB_STORE_OVERLAY_MAX ? count : RB_STORE_OVERLAY_MAX;
    for (int i = 0; i < count; ++i) {
        const rbContactView* contact = &store->contacts.data[i];
        rbMessage* message = &store->scratch;
        rbMessage_Word32(message, numberOf(store, contact->bodyA));
        rbMessage_Word32(message, numberOf(store, contact->bodyB));
        rbMessage_FloatVec3(message, contact->point);
        rbMessage_FloatVec3(message, contact->normal);
        rbMessage_FloatVec3(message, contact->force);
        rbMessage_Float(message, contact->gap);
        rbMessage_Word32(message, contact->isSticking ? 1 : 0);
    }
    return count;
}

static void writeJoint(rbMessage* message, int number, const rbJointState* state)
{
    rbMessage_Word32(message, (uint32_t)number);
    rbMessage_FloatVec3(message, state->pointA);
    rbMessage_FloatVec3(message, state->pointB);
    rbMessage_FloatVec3(message, state->axis);
    rbMessage_FloatVec3(message, state->force);
    rbMessage_FloatVec3(message, state->torque);
    rbMessage_Float(message, state->positionError);
    rbMessage_Float(message, state->angleError);
    for (int k = 0; k < RB_JOINT_FREEDOMS_MAX; ++k) {
        rbMessage_Float(message, k < state->freedomCount ? state->freedomPositions[k] : 0.0);
    }
}

static void setAlive(rbStore* store, rbStoredLink* link, bool isAlive)
{
    if (link->isAlive != isAlive) {
        rbStore_Lock(store);
        link->isAlive = isAlive;
        ++store->linkVersion;
        rbStore_Unlock(store);
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

// State for writing rays into the scratch message.
typedef struct RayTaking {
    rbMessage* message;
    int count;
    int shortest; // -1: none hits
    double way;   // m, length of the shortest
} RayTaking;

#define RAY_HIT 1U
#define RAY_REVERSE 2U
#define RAY_REFINED 4U
#define RAY_SHORTEST 8U
#define RAY_FLAGS_AT 24 // bytes of a ray before its flags

static void takeRay(void* context, const rbRayTrace* ray)
{
    RayTaking* taking = context;
    double way = rbDistance(ray->start, ray->end);
    bool isShortest = ray->isHit && (taking->shortest < 0 || way < taking->way);
    if (taking->count >= RB_STORE_RAYS_MAX && !isShortest) {
        return;
    }
    if (taking->count >= RB_STORE_RAYS_MAX) { // the shortest is shown in any case
        taking->message->size -= RB_STORE_RAY_BYTES;
        taking->count -= 1;
    }
    if (isShortest) {
        taking->shortest = taking->count;
        taking->way = way;
    }
    rbMessage_FloatVec3(taking->message, ray->start);
    rbMessage_FloatVec3(taking->message, ray->end);
    rbMessage_Word32(taking->message, (ray->isHit ? RAY_HIT : 0) |
                                          (ray->isReverse ? RAY_REVERSE : 0) |
                                          (ray->isRefined ? RAY_REFINED : 0));
    taking->count += 1;
}

// The same with the rays of the pair that touches next.
static int takeRays(rbStore* store, const rbWorld* world)
{
    RayTaking taking = {.message = &store->scratch, .shortest = -1};
    size_t before = store->scratch.size;
    if (rbEventSettings_IsByRays(&rbScene_GetInfo(store->scene)->event)) {
        (void)rbWorld_TraceRays(world, takeRay, &taking, NULL);
    }
    if (taking.shortest >= 0) {
        unsigned char* flags = rbMessage_GetBytes(&store->scratch) + before +
                               (size_t)taking.shortest * RB_STORE_RAY_BYTES + RAY_FLAGS_AT;
        rbPutWord32(flags, rbGetWord32(flags) | RAY_SHORTEST);
    }
    return taking.count;
}

// The same for the joints; finds the largest errors and which joints and springs exist.
static int takeJoints(rbStore* store, const rbWorld* world, rbSampleSource* source)
{
    int count = 0;
    for (int i = 0; i < store->joints.count; ++i) {
        rbStoredLink* link = &store->joints.data[i];
        setAlive(store, link, rbJoint_IsValid(world, link->joint));
        if (!link->isAlive) {
            continue;
        }
        rbJointState state = rbJoint_GetState(world, link->joint);
        source->jointPosition = larger(source->jointPosition, state.positionError);
        source->jointAngle = larger(source->jointAngle, state.angleError);
        if (count < RB_STORE_OVERLAY_MAX) {
            writeJoint(&store->scratch, i, &state);
            ++count;
        }
    }
    for (int i = 0; i < store->springs.count; ++i) {
        rbStoredLink* link = &store->springs.data[i];
        setAlive(store, link, rbSpring_IsValid(world, link->spring));
    }
    return count;
}

// ------------------------------------------------------------------------------------------ bodies

static void clearBodies(const rbStoredFrame* frame)
{
    const rbVec3 nothing = {NAN, NAN, NAN};
    for (int i = 0; i < frame->bodyCount; ++i) {
        frame->positions[i] = nothing;
        frame->orientations[i] = (rbQuat){NAN, NAN, NAN, NAN};
        frame->linearVelocities[i] = nothing;
        frame->angularVelocities[i] = nothing;
    }
}

// The mass was set: the body is described again.
static void updateMass(rbStore* store, const rbWorld* world, int number)
{
    rbStoredBody* body = &store->bodies.data[number];
    rbStoredBody fresh = {0};
    if (rbStore_DescribeBody(store, world, body->id, number, &fresh, NULL) == RB_STATUS_OK) {
        rbStoredBody former = *body;
        rbStore_Lock(store);
        *body = fresh;
        rbStore_Unlock(store);
        rbFree(former.json, former.jsonSize);
    }
}

// Reads the fields of all bodies of the world and stores them by number.
static void takeBodies(rbStore* store, const rbWorld* world, const rbStoredFrame* frame)
{
    static const rbBodyField fields[] = {RB_FIELD_POSITION, RB_FIELD_CENTER,
                                         RB_FIELD_LINEAR_VELOCITY, RB_FIELD_ANGULAR_VELOCITY};
    int count = rbWorld_GetBodyCount(world);
    rbArray_Reserve(store->ids, count);
    rbArray_Reserve(store->quats, count);
    (void)rbWorld_GetBodyIds(world, store->ids.data, count);
    for (int i = 0; i < 4; ++i) {
        rbArray_Reserve(store->vectors[i], count);
        rbWorld_ReadField(world, fields[i], (double*)store->vectors[i].data, 0);
    }
    rbWorld_ReadField(world, RB_FIELD_ORIENTATION, (double*)store->quats.data, 0);
    rbArray_Reserve(store->masses, count);
    rbWorld_ReadField(world, RB_FIELD_MASS, store->masses.data, 0);
    clearBodies(frame);
    for (int i = 0; i < count; ++i) {
        int number = rbStore_FindBody(store, store->ids.data[i]);
        if (number < 0) {
            continue;
        }
        if (store->masses.data[i] != store->bodies.data[number].mass.mass) {
            updateMass(store, world, number);
        }
        rbVec3 position = store->vectors[0].data[i];
        rbVec3 spin = store->vectors[3].data[i];
        // the world stores the velocity of the center of mass, frames that of the origin
        rbVec3 arm = rbSub(position, store->vectors[1].data[i]);
        frame->positions[number] = position;
        frame->orientations[number] = store->quats.data[i];
        frame->linearVelocities[number] = rbAdd(store->vectors[2].data[i], rbCross(spin, arm));
        frame->angularVelocities[number] = spin;
    }
}

void rbStore_TakeFrame(rbStore* store, const rbWorld* world)
{
    rbSampleSource source = {.ledger = rbWorld_GetLedger(world)};
    rbStepStatistics statistics = rbWorld_GetStepStatistics(world);
    source.jointPositionMax = statistics.positionErrorMax;
    source.jointAngleMax = statistics.angleErrorMax;
    rbMessage_Clear(&store->scratch, false);
    Extras extras = {.contacts = takeContacts(store, world)};
    extras.joints = takeJoints(store, world, &source);
    extras.rays = takeRays(store, world);
    rbStoredFrame* frame = makeFrame(store, store->bodies.count, extras);
    frame->time = rbWorld_GetTime(world);
    frame->ledger = rbMakeLedgerRow(&source.ledger);
    size_t contactBytes = (size_t)extras.contacts * RB_STORE_CONTACT_BYTES;
    size_t jointBytes = (size_t)extras.joints * RB_STORE_JOINT_BYTES;
    size_t rayBytes = (size_t)extras.rays * RB_STORE_RAY_BYTES;
    RB_ASSERT(contactBytes + jointBytes + rayBytes == store->scratch.size);
    if (store->scratch.size > 0) {
        const unsigned char* bytes = rbMessage_GetBytes(&store->scratch);
        memcpy(frame->contacts, bytes, contactBytes);
        memcpy(frame->joints, bytes + contactBytes, jointBytes);
        memcpy(frame->rays, bytes + contactBytes + jointBytes, rayBytes);
    }
    fillSamples(&source, frame->samples);
    (void)rbScene_EvaluateProbes(store->scene, world, frame->samples + COLUMN_COUNT,
                                 store->probeCount);
    takeBodies(store, world, frame);
    appendFrame(store, frame, true);
}

// Time and samples of a recorded frame.
static void fillRecorded(const rbStore* store, const rbFrame* frame, rbStoredFrame* stored)
{
    stored->time = frame->time;
    stored->ledger = frame->ledger;
    for (int i = 0; i < store->columnCount; ++i) {
        stored->samples[i] = NAN;
    }
    const rbLedgerRow* row = &frame->ledger;
    rbSampleSource source;
    for (size_t i = 0; i < sizeof source / sizeof(double); ++i) {
        const double nothing = NAN;
        memcpy((char*)&source + i * sizeof(double), &nothing, sizeof nothing);
    }
    source.ledger.kineticLinear = row->kineticTranslational;
    source.ledger.kineticAngular = row->kineticRotational;
    source.ledger.potential = row->potential;
    source.ledger.work = row->work;
    source.ledger.energy = row->total;
    source.ledger.momentum = row->momentum;
    source.ledger.angularMomentum = row->angularMomentum;
    fillSamples(&source, stored->samples);
}

static rbStoredFrame* makeRecorded(const rbStore* store, const rbFrame* frame)
{
    RB_ASSERT(frame->bodyCount <= store->bodies.count);
    rbStoredFrame* stored = makeFrame(store, store->bodies.count, (Extras){.contacts = 0});
    fillRecorded(store, frame, stored);
    clearBodies(stored);
    size_t n = (size_t)frame->bodyCount;
    if (n > 0) {
        memcpy(stored->positions, frame->positions, n * sizeof(rbVec3));
        memcpy(stored->orientations, frame->orientations, n * sizeof(rbQuat));
        memcpy(stored->linearVelocities, frame->linearVelocities, n * sizeof(rbVec3));
        memcpy(stored->angularVelocities, frame->angularVelocities, n * sizeof(rbVec3));
    }
    return stored;
}

void rbStore_TakeRecordedFrame(rbStore* store, const rbFrame* frame)
{
    appendFrame(store, makeRecorded(store, frame), true);
}

void rbStore_TakeRecordedOutline(rbStore* store, const rbFrame* frame, int64_t source)
{
    rbStoredFrame* stored = makeFrame(store, 0, (Extras){.contacts = 0});
    fillRecorded(store, frame, stored);
    stored->source = source;
    appendFrame(store, stored, false);
}

void rbStore_ShowRecorded(rbStore* store, int64_t index, const rbFrame* frame)
{
    RB_ASSERT(index >= 0 && index < store->frames.count);
    rbStoredFrame* whole = makeRecorded(store, frame);
    rbStore_Lock(store);
    rbStoredFrame* former = store->whole;
    whole->number = store->frames.data[index].frame->number;
    store->whole = whole;
    rbStore_ShowFrame(store, (int)index);
    rbStore_Unlock(store);
    if (former != NULL) {
        rbFree(former, former->bytes);
    }
}

// ------------------------------------------------------------------------------------------ events

rbLedgerRow rbMakeLedgerRow(const rbLedger* ledger)
{
    return (rbLedgerRow){.kineticTranslational = ledger->kineticLinear,
                         .kineticRotational = ledger->kineticAngular,
                         .potential = ledger->potential,
                         .work = ledger->work,
                         .total = ledger->energy,
                         .momentum = ledger->momentum,
                         .angularMomentum = ledger->angularMomentum};
}

rbRecordedEvent rbMakeRecordedEvent(const rbEvent* event, uint32_t bodyA, uint32_t bodyB)
{
    return (rbRecordedEvent){
        .time = event->time,
        .kind = (uint32_t)event->kind,
        .bodyA = bodyA,
        .bodyB = bodyB,
        .law = (uint32_t)event->law,
        .history = event->history,
        .energyChange = event->energyChange,
        .values = {event->energyBefore, event->frictionWork, event->approachSpeed, event->point.x,
                   event->point.y, event->point.z, event->normal.x, event->normal.y,
                   event->normal.z, event->impulse.x, event->impulse.y, event->impulse.z}};
}

// Makes space for more events in the ring; under the lock.
static void growEvents(rbStore* store, int64_t count)
{
    int64_t wanted = store->eventEnd - store->eventFirst + count;
    wanted = wanted < RB_STORE_EVENTS_MAX ? wanted : RB_STORE_EVENTS_MAX;
    if (wanted <= store->eventCapacity) {
        return;
    }
    // The ring wraps at its full size only: until then it is a plain array.
    int capacity = store->eventCapacity;
    while (capacity < wanted) {
        capacity = capacity == 0 ? 1024 : 2 * capacity;
    }
    store->events = rbGrow(store->events, (size_t)store->eventCapacity * sizeof *store->events,
                           (size_t)capacity * sizeof *store->events);
    store->eventCapacity = capacity;
}

void rbStore_TakeRecordedEvents(rbStore* store, const rbRecordedEvent* events, int count)
{
    rbStore_Lock(store);
    growEvents(store, count);
    for (int i = 0; i < count; ++i) {
        store->events[store->eventEnd++ % RB_STORE_EVENTS_MAX] = events[i];
    }
    if (store->eventEnd - store->eventFirst > RB_STORE_EVENTS_MAX) {
        store->eventFirst = store->eventEnd - RB_STORE_EVENTS_MAX;
    }
    rbStore_Unlock(store);
}

void rbStore_TakeEvents(rbStore* store, rbWorld* world)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    if (count == 0) {
        return;
    }
    rbRecordedEvent* converted = rbAlloc((size_t)count * sizeof *converted);
    for (int i = 0; i < count; ++i) {
        converted[i] = rbMakeRecordedEvent(&events[i], numberOf(store, events[i].bodyA),
                                           numberOf(store, events[i].bodyB));
    }
    rbStore_TakeRecordedEvents(store, converted, count);
    rbFree(converted, (size_t)count * sizeof *converted);
    rbWorld_ClearEvents(world);
}
