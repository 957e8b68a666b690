// Sends the messages that a client lacks. Structure comes first and in order: hello, scene, the
// meshes, bodies added and deleted, what to discard. The rest alternates: after a frame everything
// else that waits is sent before the next frame, so a slow client gets everything, only with fewer
// frames.
#include "session/stream.h"

#include "io/output/bytes.h"
#include "session/store_state.h"

#include <rattleback/lab_ray_detector.h>

#include <string.h>

#define STATE_INTERVAL 0.1   // s of wall time between states while time advances
#define DETAIL_INTERVAL 0.05 // s between details of the selected body
#define EVENTS_MAX 1000      // in a message
#define EVENTS_BACKLOG 65536 // older ones are skipped for a client that connects late
#define ROWS_BYTES 65536     // of samples in a message
#define ROWS_BACKLOG 8192    // a client that connects late gets this many rows, evenly spaced
#define NO_TIME (-1e300)

void rbStreamCursor_Free(rbStreamCursor* cursor)
{
    rbFree(cursor->bodies, (size_t)cursor->bodyCapacity * sizeof *cursor->bodies);
    cursor->bodies = NULL;
    cursor->bodyCount = 0;
    cursor->bodyCapacity = 0;
}

void rbStreamCursor_Restart(rbStreamCursor* cursor)
{
    cursor->hasHello = false;
    cursor->hasScene = false;
    cursor->selectedBody1 = 0;
    cursor->bodyCount = 0;
}

void rbStreamCursor_Select(rbStreamCursor* cursor, int body)
{
    cursor->selectedBody1 = body + 1;
    cursor->detailVersion = cursor->frameVersion - 1;
    cursor->detailTime = NO_TIME;
}

void rbStreamCursor_SetOverlays(rbStreamCursor* cursor, bool hasContacts, bool hasJoints,
                                bool hasRays)
{
    cursor->hasContacts = hasContacts;
    cursor->hasJoints = hasJoints;
    cursor->hasRays = hasRays;
    cursor->contactsVersion = cursor->frameVersion - 1;
    cursor->jointsVersion = cursor->frameVersion - 1;
    cursor->raysVersion = cursor->frameVersion - 1;
}

static const rbStoredFrame* getShown(const rbStore* store)
{
    const rbStoredFrame* frame = store->shown >= 0 ? store->frames.data[store->shown].frame : NULL;
    bool isOutline = frame != NULL && store->whole != NULL && store->whole->number == frame->number;
    return isOutline ? store->whole : frame;
}

// Whether this body exists at the time shown. It may have been created later, or deleted.
static bool isThere(const rbStoredFrame* frame, int body)
{
    return frame != NULL && body < frame->bodyCount && isfinite(frame->positions[body].x);
}

// --------------------------------------------------------------------------------------- structure

static const char* certificate = NULL; // set before any client comes

void rbStream_SetCertificate(const char* json)
{
    certificate = json;
}

void rbStream_WriteHello(const rbStreamCursor* cursor, const char* scene, rbMessage* message)
{
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "type", "hello");
    rbMessage_PutNumber(message, "protocol", RB_PROTOCOL_VERSION);
    rbMessage_PutString(message, "program", rbGetVersion());
    rbMessage_PutNumber(message, "client", cursor->client);
    rbMessage_PutString(message, "kind", cursor->kind != NULL ? cursor->kind : "live");
    rbMessage_PutString(message, "scene", scene);
    if (certificate != NULL) {
        rbMessage_Key(message, "certificate");
        rbMessage_Text(message, certificate);
    }
    rbMessage_Text(message, "}");
}

static bool nextHello(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->hasHello) {
        return false;
    }
    rbStream_WriteHello(cursor, rbScene_GetInfo(store->scene)->name, message);
    cursor->hasHello = true;
    return true;
}

static void putList(rbMessage* message, const char* key)
{
    rbMessage_Key(message, key);
    rbMessage_Text(message, "[");
}

static void putBytes(rbMessage* message, const char* json, size_t size)
{
    rbMessage_Comma(message);
    rbMessage_Bytes(message, json, size);
}

// The client has only the description of this scene.
static void resetCursor(const rbStore* store, rbStreamCursor* cursor)
{
    uint32_t before = store->shownVersion - 1;
    cursor->hasScene = true;
    cursor->geometryKnown = store->geometries.count;
    cursor->geometrySent = 0;
    cursor->dropNext = store->dropCount;
    cursor->linkVersion = 0;
    cursor->parametersVersion = 0;
    cursor->bodiesVersion = before;
    cursor->playVersion = store->playVersion - 1;
    cursor->shownVersion = before;
    cursor->frameVersion = before;
    cursor->contactsVersion = before;
    cursor->jointsVersion = before;
    cursor->raysVersion = before;
    cursor->detailVersion = before;
    cursor->jumpVersion = store->jumpVersion;
    cursor->stateTime = NO_TIME;
    cursor->detailTime = NO_TIME;
    cursor->eventNext = 0;
    cursor->sampleNext = 0;
    cursor->hasSamples = false;
    cursor->turn = 0;
}

// Space for the client's state of all bodies.
static void growBodies(const rbStore* store, rbStreamCursor* cursor)
{
    int count = store->bodies.count;
    if (count > cursor->bodyCapacity) {
        int capacity = count > 2 * cursor->bodyCapacity ? count : 2 * cursor->bodyCapacity;
        cursor->bodies =
            rbGrow(cursor->bodies, (size_t)cursor->bodyCapacity * sizeof *cursor->bodies,
                   (size_t)capacity * sizeof *cursor->bodies);
        cursor->bodyCapacity = capacity;
    }
    for (int i = cursor->bodyCount; i < count; ++i) {
        memset(&cursor->bodies[i], 0, sizeof cursor->bodies[i]);
    }
    cursor->bodyCount = count;
}

static void putGeometries(const rbStore* store, int first, rbMessage* message)
{
    putList(message, "geometries");
    for (int i = first; i < store->geometries.count; ++i) {
        putBytes(message, store->geometries.data[i].json, store->geometries.data[i].jsonSize);
    }
    rbMessage_Text(message, "]");
}

static bool nextScene(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->hasScene) {
        return false;
    }
    const rbStoredFrame* frame = getShown(store);
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "type", "scene");
    putBytes(message, (const char*)rbMessage_GetBytes(&store->head), store->head.size);
    putList(message, "bodies");
    cursor->bodyCount = 0;
    growBodies(store, cursor);
    for (int i = 0; i < store->bodies.count; ++i) {
        const rbStoredBody* body = &store->bodies.data[i];
        cursor->bodies[i].isKnown = isThere(frame, i);
        if (cursor->bodies[i].isKnown) {
            putBytes(message, body->json, body->jsonSize);
        }
    }
    rbMessage_Text(message, "]");
    putGeometries(store, 0, message);
    putBytes(message, (const char*)rbMessage_GetBytes(&store->tail), store->tail.size);
    rbMessage_Text(message, "}");
    resetCursor(store, cursor);
    return true;
}

static bool nextMesh(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    while (cursor->geometrySent < cursor->geometryKnown) {
        const rbMessage* mesh = &store->geometries.data[cursor->geometrySent++].mesh;
        if (mesh->size > 0) {
            rbMessage_Clear(message, false);
            rbMessage_Bytes(message, rbMessage_GetBytes(mesh), mesh->size);
            return true;
        }
    }
    return false;
}

// Bodies at the time shown that the client does not have, and vice versa.
static bool nextBodies(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->bodiesVersion == store->shownVersion) {
        return false;
    }
    const rbStoredFrame* frame = getShown(store);
    cursor->bodiesVersion = store->shownVersion;
    growBodies(store, cursor);
    int first = 0;
    while (first < cursor->bodyCount && cursor->bodies[first].isKnown == isThere(frame, first)) {
        ++first;
    }
    if (first == cursor->bodyCount) {
        return false;
    }
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "type", "bodies");
    putList(message, "added");
    for (int i = first; i < cursor->bodyCount; ++i) {
        if (isThere(frame, i) && !cursor->bodies[i].isKnown) {
            putBytes(message, store->bodies.data[i].json, store->bodies.data[i].jsonSize);
        }
    }
    rbMessage_Text(message, "]");
    putList(message, "deleted");
    for (int i = first; i < cursor->bodyCount; ++i) {
        if (!isThere(frame, i) && cursor->bodies[i].isKnown) {
            rbMessage_Comma(message);
            rbMessage_Number(message, i);
        }
        cursor->bodies[i].hasPose = cursor->bodies[i].hasPose && isThere(frame, i);
        cursor->bodies[i].isKnown = isThere(frame, i);
    }
    rbMessage_Text(message, "]");
    putGeometries(store, cursor->geometryKnown, message);
    rbMessage_Text(message, "}");
    cursor->geometryKnown = store->geometries.count;
    return true;
}

static void putAlive(rbMessage* message, const char* key, const rbStoredLink* links, int count)
{
    putList(message, key);
    for (int i = 0; i < count; ++i) {
        if (links[i].isAlive) {
            rbMessage_Comma(message);
            rbMessage_Number(message, i);
        }
    }
    rbMessage_Text(message, "]");
}

static bool nextLinks(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->linkVersion == store->linkVersion) {
        return false;
    }
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "type", "links");
    putAlive(message, "joints", store->joints.data, store->joints.count);
    putAlive(message, "springs", store->springs.data, store->springs.count);
    rbMessage_Text(message, "}");
    cursor->linkVersion = store->linkVersion;
    return true;
}

// ------------------------------------------------------------------------------------------ binary

static void beginBinary(rbMessage* message, rbMessageType type, uint32_t flags, uint32_t word)
{
    rbMessage_Clear(message, false);
    rbMessage_Word32(message, (uint32_t)type | flags << 8);
    rbMessage_Word32(message, word);
}

static const rbRecordedEvent* getEvent(const rbStore* store, int64_t number)
{
    return &store->events[number % RB_STORE_EVENTS_MAX];
}

static bool nextDrop(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->dropNext == store->dropCount) {
        return false;
    }
    int64_t missed = store->dropCount - cursor->dropNext;
    double time = missed > RB_STORE_DROPS_KEPT ? store->earliestDrop : INFINITY;
    for (int64_t i = 0; i < missed && i < RB_STORE_DROPS_KEPT; ++i) {
        double drop = store->drops[(store->dropCount - 1 - i) % RB_STORE_DROPS_KEPT];
        time = drop < time ? drop : time;
    }
    beginBinary(message, RB_MESSAGE_DROP, 0, 0);
    rbMessage_Double(message, time);
    cursor->dropNext = store->dropCount;
    // Everything after that time must be sent, even what the client had.
    int index = 0;
    while (index < store->frames.count && store->frames.data[index].frame->time <= time) {
        ++index;
    }
    uint64_t number = index < store->frames.count ? store->frames.data[index].frame->number
                                                  : store->frameCounter + 1;
    cursor->sampleNext = cursor->sampleNext < number ? cursor->sampleNext : number;
    int64_t event = store->eventEnd;
    while (event > store->eventFirst && getEvent(store, event - 1)->time > time) {
        --event;
    }
    cursor->eventNext = cursor->eventNext < event ? cursor->eventNext : event;
    return true;
}

static void writeEvent(rbMessage* message, const rbRecordedEvent* event)
{
    rbMessage_Double(message, event->time);
    rbMessage_Word32(message, event->kind);
    rbMessage_Word32(message, event->bodyA);
    rbMessage_Word32(message, event->bodyB);
    rbMessage_Word32(message, event->history);
    rbMessage_Double(message, event->energyChange);
    for (int i = 0; i < 3; ++i) {
        rbMessage_Double(message, event->values[i]); // energyBefore, frictionWork, approachSpeed
    }
    for (int i = 3; i < RB_RECORDED_VALUES; ++i) {
        rbMessage_Float(message, event->values[i]); // point, normal, impulse
    }
    rbMessage_Word32(message, event->law);
}

static bool nextEvents(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->eventNext >= store->eventEnd) {
        return false;
    }
    int64_t oldest = store->eventFirst;
    if (!cursor->isUnbounded && store->eventEnd - oldest > EVENTS_BACKLOG) {
        oldest = store->eventEnd - EVENTS_BACKLOG;
    }
    bool isCut = cursor->eventNext < oldest;
    int64_t first = isCut ? oldest : cursor->eventNext;
    int64_t count = store->eventEnd - first < EVENTS_MAX ? store->eventEnd - first : EVENTS_MAX;
    beginBinary(message, RB_MESSAGE_EVENTS, isCut ? 1 : 0, (uint32_t)count);
    rbMessage_Double(message, (double)first);
    for (int64_t i = first; i < first + count; ++i) {
        writeEvent(message, getEvent(store, i));
    }
    cursor->eventNext = first + count;
    return true;
}

static bool nextSamples(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    int first = rbStore_FindFrame(store, cursor->sampleNext);
    int waiting = store->frames.count - first;
    if (waiting <= 0) {
        return false;
    }
    size_t rowBytes = ((size_t)store->columnCount + 1) * sizeof(double);
    int rowsMax = (int)(ROWS_BYTES / rowBytes) + 1;
    int stride = cursor->isUnbounded ? 1 : (waiting - 1) / ROWS_BACKLOG + 1;
    int rows = 0;
    beginBinary(message, RB_MESSAGE_SAMPLES, cursor->hasSamples ? 0 : 1, 0);
    for (int i = first; i < store->frames.count && rows < rowsMax; i += stride) {
        const rbStoredFrame* frame = store->frames.data[i].frame;
        rbMessage_Double(message, frame->time);
        for (int k = 0; k < store->columnCount; ++k) {
            rbMessage_Double(message, frame->samples[k]);
        }
        cursor->sampleNext = frame->number + 1;
        ++rows;
    }
    unsigned char* bytes = rbMessage_GetBytes(message);
    bytes[2] = (unsigned char)(store->columnCount & 255);
    bytes[3] = (unsigned char)(store->columnCount >> 8);
    rbPutWord32(bytes + 4, (uint32_t)rows);
    cursor->hasSamples = true;
    return true;
}

// An overlay of the frame shown, as stored.
static void writeOverlay(rbMessage* message, rbMessageType type, const rbStoredFrame* frame,
                         int count)
{
    beginBinary(message, type, 0, (uint32_t)count);
    rbMessage_Double(message, frame->time);
}

static bool nextContacts(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    const rbStoredFrame* frame = getShown(store);
    if (!cursor->hasContacts || cursor->contactsVersion == store->shownVersion) {
        return false;
    }
    cursor->contactsVersion = store->shownVersion;
    if (frame == NULL) {
        return false;
    }
    writeOverlay(message, RB_MESSAGE_CONTACTS, frame, frame->contactCount);
    rbMessage_Bytes(message, frame->contacts, (size_t)frame->contactCount * RB_STORE_CONTACT_BYTES);
    return true;
}

static bool nextJoints(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    const rbStoredFrame* frame = getShown(store);
    if (!cursor->hasJoints || cursor->jointsVersion == store->shownVersion) {
        return false;
    }
    cursor->jointsVersion = store->shownVersion;
    if (frame == NULL) {
        return false;
    }
    writeOverlay(message, RB_MESSAGE_JOINTS, frame, frame->jointCount);
    rbMessage_Bytes(message, frame->joints, (size_t)frame->jointCount * RB_STORE_JOINT_BYTES);
    return true;
}

// Only for scenes whose contacts are found by rays: others have no rays.
static bool nextRays(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    const rbStoredFrame* frame = getShown(store);
    bool isByRays = rbEventSettings_IsByRays(&rbScene_GetInfo(store->scene)->event);
    if (!cursor->hasRays || !isByRays || cursor->raysVersion == store->shownVersion) {
        return false;
    }
    cursor->raysVersion = store->shownVersion;
    if (frame == NULL) {
        return false;
    }
    writeOverlay(message, RB_MESSAGE_RAYS, frame, frame->rayCount);
    rbMessage_Bytes(message, frame->rays, (size_t)frame->rayCount * RB_STORE_RAY_BYTES);
    return true;
}

// ------------------------------------------------------------------------------------------ frames

// The wire has 20 bits for a component between -1/sqrt2 and 1/sqrt2.
#define QUAT_BITS 20
#define QUAT_MAX ((1 << QUAT_BITS) - 1)
#define SQRT2 1.4142135623730951

uint64_t rbPackQuat(rbQuat q)
{
    double values[4] = {q.w, q.x, q.y, q.z};
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(isfinite(length) && length > 0.0)) {
        values[0] = 1.0;
        values[1] = values[2] = values[3] = 0.0;
        length = 1.0;
    }
    int largest = 0;
    for (int i = 1; i < 4; ++i) {
        largest = fabs(values[i]) > fabs(values[largest]) ? i : largest;
    }
    double scale = (values[largest] < 0.0 ? -1.0 : 1.0) / length;
    uint64_t bits = (uint64_t)largest;
    for (int i = 0; i < 4; ++i) {
        if (i != largest) {
            double part = floor((values[i] * scale * SQRT2 + 1.0) * (0.5 * QUAT_MAX) + 0.5);
            part = part < 0.0 ? 0.0 : part > QUAT_MAX ? QUAT_MAX : part;
            bits = bits << QUAT_BITS | (uint64_t)part;
        }
    }
    return bits;
}

rbQuat rbUnpackQuat(uint64_t bits)
{
    double values[4];
    int largest = (int)(bits >> (3 * QUAT_BITS)) & 3;
    double rest = 1.0;
    int shift = 2 * QUAT_BITS;
    for (int i = 0; i < 4; ++i) {
        if (i != largest) {
            double part = (double)((bits >> shift) & QUAT_MAX);
            values[i] = (part / (0.5 * QUAT_MAX) - 1.0) / SQRT2;
            rest -= values[i] * values[i];
            shift -= QUAT_BITS;
        }
    }
    values[largest] = sqrt(rest > 0.0 ? rest : 0.0);
    rbQuat q = {values[0], values[1], values[2], values[3]};
    return q;
}

// Puts the pose of a body into a message unless the client already has it.
static bool writePose(const rbStoredFrame* frame, int body, rbClientBody* known, rbMessage* message)
{
    rbVec3 p = frame->positions[body];
    const float position[3] = {(float)p.x, (float)p.y, (float)p.z};
    uint32_t bits[3];
    memcpy(bits, position, sizeof bits);
    uint64_t orientation = rbPackQuat(frame->orientations[body]);
    if (known->hasPose && known->orientation == orientation &&
        memcmp(known->position, bits, sizeof bits) == 0) {
        return false;
    }
    unsigned char* bytes = rbMessage_Extend(message, 24);
    rbPutWord32(bytes, (uint32_t)body);
    for (int i = 0; i < 3; ++i) {
        rbPutWord32(bytes + 4 + (size_t)4 * (size_t)i, bits[i]);
    }
    rbPutWord64(bytes + 16, orientation);
    memcpy(known->position, bits, sizeof bits);
    known->orientation = orientation;
    known->hasPose = true;
    return true;
}

static bool nextFrame(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    const rbStoredFrame* frame = getShown(store);
    if (frame == NULL || cursor->frameVersion == store->shownVersion) {
        return false;
    }
    bool isJump = cursor->jumpVersion != store->jumpVersion;
    uint32_t count = 0;
    uint32_t known = 0;
    beginBinary(message, RB_MESSAGE_FRAME, isJump ? 2u : 0u, (uint32_t)frame->number);
    rbMessage_Double(message, frame->time);
    rbMessage_Word32(message, 0); // count, below
    rbMessage_Word32(message, 0);
    for (int i = 0; i < frame->bodyCount; ++i) {
        if (cursor->bodies[i].isKnown) {
            ++known;
            count += writePose(frame, i, &cursor->bodies[i], message) ? 1 : 0;
        }
    }
    unsigned char* bytes = rbMessage_GetBytes(message);
    bytes[1] = (unsigned char)(bytes[1] | (count == known ? 1 : 0));
    rbPutWord32(bytes + 16, count);
    cursor->frameVersion = store->shownVersion;
    cursor->jumpVersion = store->jumpVersion;
    return true;
}

// ---------------------------------------------------------------------------------- state, details

// Whether enough time has passed since the last message of a kind. While time stands still every
// change is sent immediately: no later message would carry it.
static bool isDue(const rbStore* store, const rbStreamCursor* cursor, double last, double interval)
{
    return cursor->isUnbounded || !store->play.isPlaying || cursor->now - last >= interval;
}

static bool nextState(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    bool isNew = cursor->playVersion != store->playVersion;
    bool isLater = cursor->shownVersion != store->shownVersion &&
                   isDue(store, cursor, cursor->stateTime, STATE_INTERVAL);
    if (!isNew && !isLater) {
        return false;
    }
    const rbPlayState* play = &store->play;
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "type", "state");
    rbMessage_PutNumber(message, "time", rbStore_GetShownTime(store));
    rbMessage_PutNumber(message, "endTime", rbStore_GetEndTime(store));
    rbMessage_PutBool(message, "playing", play->isPlaying);
    rbMessage_PutNumber(message, "speed", play->speed);
    rbMessage_PutNumber(message, "frameStep", play->frameStep);
    rbMessage_PutNumber(message, "realTime", play->realTimeFactor);
    rbMessage_PutBool(message, "busy", play->isBusy);
    rbMessage_PutBool(message, "canAct", play->canAct);
    rbMessage_PutBool(message, "looping", play->isLooping);
    rbMessage_PutBool(message, "ended", play->hasEnded);
    rbMessage_PutNumber(message, "undo", play->undoCount);
    rbMessage_PutNumber(message, "redo", play->redoCount);
    rbMessage_PutString(message, "sentence", play->sentence);
    rbMessage_Text(message, "}");
    cursor->playVersion = store->playVersion;
    cursor->shownVersion = store->shownVersion;
    cursor->stateTime = cursor->now;
    return true;
}

static bool nextParameters(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    if (cursor->parametersVersion == store->parametersVersion) {
        return false;
    }
    rbMessage_Clear(message, true);
    rbMessage_Bytes(message, rbMessage_GetBytes(&store->parameters), store->parameters.size);
    cursor->parametersVersion = store->parametersVersion;
    return true;
}

static double getFloat(const unsigned char* bytes)
{
    uint32_t bits = rbGetWord32(bytes);
    float value = 0.0F;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The total contact force on a body, from the contacts of the frame.
static rbVec3 sumContacts(const rbStoredFrame* frame, uint32_t body, int* count)
{
    rbVec3 sum = RB_VEC3_ZERO;
    *count = 0;
    for (int i = 0; i < frame->contactCount; ++i) {
        const unsigned char* contact = frame->contacts + (size_t)i * RB_STORE_CONTACT_BYTES;
        bool isA = rbGetWord32(contact) == body;
        bool isB = rbGetWord32(contact + 4) == body;
        if (isA || isB) {
            rbVec3 force = {getFloat(contact + 32), getFloat(contact + 36), getFloat(contact + 40)};
            sum = isB ? rbAdd(sum, force) : rbSub(sum, force);
            ++*count;
        }
    }
    return sum;
}

static void writeDetail(const rbStore* store, const rbStoredFrame* frame, int number,
                        rbMessage* message)
{
    const rbStoredBody* body = &store->bodies.data[number];
    rbVec3 spin = frame->angularVelocities[number];
    rbQuat q = frame->orientations[number];
    rbVec3 arm = rbRotate(q, body->mass.center);
    rbVec3 velocity = rbAdd(frame->linearVelocities[number], rbCross(spin, arm));
    rbVec3 spinLocal = rbInvRotate(q, spin);
    rbVec3 momentLocal = rbMulSV(body->mass.inertia, spinLocal);
    double linear = 0.5 * body->mass.mass * rbDot(velocity, velocity);
    double angular = 0.5 * rbDot(spinLocal, momentLocal);
    int contactCount = 0;
    rbVec3 force = sumContacts(frame, (uint32_t)number, &contactCount);
    rbMessage_Clear(message, true);
    rbMessage_Text(message, "{");
    rbMessage_PutString(message, "type", "detail");
    rbMessage_PutNumber(message, "body", number);
    rbMessage_PutNumber(message, "time", frame->time);
    rbMessage_PutVec3(message, "position", frame->positions[number]);
    rbMessage_PutQuat(message, "orientation", q);
    rbMessage_PutVec3(message, "center", rbAdd(frame->positions[number], arm));
    rbMessage_PutVec3(message, "velocity", velocity);
    rbMessage_PutVec3(message, "angularVelocity", spin);
    rbMessage_PutVec3(message, "angularVelocityLocal", spinLocal);
    rbMessage_PutNumber(message, "mass", body->mass.mass);
    rbMessage_PutNumber(message, "kineticLinear", linear);
    rbMessage_PutNumber(message, "kineticAngular", angular);
    rbMessage_PutNumber(message, "kinetic", linear + angular);
    rbMessage_PutVec3(message, "momentum", rbScale(body->mass.mass, velocity));
    rbMessage_PutVec3(message, "angularMomentum", rbRotate(q, momentLocal));
    rbMessage_PutVec3(message, "contactForce", force);
    rbMessage_PutNumber(message, "contacts", contactCount);
    rbMessage_Text(message, "}");
}

static bool nextDetail(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    int number = cursor->selectedBody1 - 1;
    const rbStoredFrame* frame = getShown(store);
    if (number < 0 || !isThere(frame, number) || cursor->detailVersion == store->shownVersion ||
        !isDue(store, cursor, cursor->detailTime, DETAIL_INTERVAL)) {
        return false;
    }
    writeDetail(store, frame, number, message);
    cursor->detailVersion = store->shownVersion;
    cursor->detailTime = cursor->now;
    return true;
}

// -------------------------------------------------------------------------------------------- next

typedef bool NextFn(const rbStore* store, rbStreamCursor* cursor, rbMessage* message);

// In this order, each before anything that follows.
static NextFn* const structure[] = {nextHello,  nextScene, nextMesh,
                                    nextBodies, nextLinks, nextDrop};
#define STRUCTURE_COUNT (sizeof structure / sizeof structure[0])

// These alternate.
static NextFn* const flow[] = {nextFrame,      nextState,  nextEvents, nextSamples, nextContacts,
                               nextParameters, nextJoints, nextRays,   nextDetail};
#define FLOW_COUNT ((int)(sizeof flow / sizeof flow[0]))

bool rbStream_Next(const rbStore* store, rbStreamCursor* cursor, rbMessage* message)
{
    bool isFound = false;
    rbStore_Lock(store);
    for (size_t i = 0; i < STRUCTURE_COUNT && !isFound; ++i) {
        isFound = structure[i](store, cursor, message);
    }
    for (int i = 0; i < FLOW_COUNT && !isFound; ++i) {
        int turn = (cursor->turn + i) % FLOW_COUNT;
        isFound = flow[turn](store, cursor, message);
        if (isFound) {
            cursor->turn = (turn + 1) % FLOW_COUNT;
        }
    }
    rbStore_Unlock(store);
    return isFound;
}
