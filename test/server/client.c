#include "client.h"

#include "rb_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reading {
    const unsigned char* bytes;
    size_t size;
    size_t at;
} Reading;

static uint64_t readInteger(Reading* reading, size_t count)
{
    assert_true(reading->at + count <= reading->size);
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) {
        value = value * 256 + reading->bytes[reading->at + i];
    }
    reading->at += count;
    return value;
}

static uint32_t readWord(Reading* reading)
{
    return (uint32_t)readInteger(reading, 4);
}

static double readDouble(Reading* reading)
{
    uint64_t bits = readInteger(reading, 8);
    double value = 0.0;
    memcpy(&value, &bits, 8);
    return value;
}

static float readFloat(Reading* reading)
{
    uint32_t bits = readWord(reading);
    float value = 0.0F;
    memcpy(&value, &bits, 4);
    return value;
}

static void readFloats(Reading* reading, float* values, int count)
{
    for (int i = 0; i < count; ++i) {
        values[i] = readFloat(reading);
    }
}

rbClientModel* rbCreateClientModel(void)
{
    rbClientModel* model = calloc(1, sizeof *model);
    assert_non_null(model);
    return model;
}

void rbDestroyClientModel(rbClientModel* model)
{
    json_t* texts[] = {model->hello,      model->scene,  model->bodies, model->links,  model->state,
                       model->parameters, model->detail, model->reply,  model->viewers};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        json_decref(texts[i]);
    }
    free(model->samples);
    free(model->events);
    free(model);
}

double rbClientModel_GetNumber(const json_t* object, const char* key)
{
    const json_t* value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

// ------------------------------------------------------------------------------------------- text

static void learnBodies(rbClientModel* model, const json_t* list)
{
    size_t index = 0;
    const json_t* body = NULL;
    assert_true(json_is_array(list));
    json_array_foreach(list, index, body)
    {
        int number = (int)rbClientModel_GetNumber(body, "number");
        assert_true(number >= 0 && number < CLIENT_BODIES_MAX);
        assert_false(model->poses[number].isKnown);
        model->poses[number].isKnown = true;
        model->poses[number].hasPose = false;
    }
}

static void takeScene(rbClientModel* model)
{
    memset(model->poses, 0, sizeof model->poses);
    learnBodies(model, json_object_get(model->scene, "bodies"));
    model->columnCount = (int)json_array_size(json_object_get(model->scene, "columns"));
    model->rowCount = 0;
    model->eventCount = 0;
}

static void takeBodies(rbClientModel* model)
{
    learnBodies(model, json_object_get(model->bodies, "added"));
    size_t index = 0;
    const json_t* number = NULL;
    json_array_foreach(json_object_get(model->bodies, "deleted"), index, number)
    {
        int body = (int)json_integer_value(number);
        assert_true(model->poses[body].isKnown);
        model->poses[body].isKnown = false;
    }
}

static void takeText(rbClientModel* model, const void* bytes, size_t size)
{
    json_error_t error;
    json_t* object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        print_error("%s: %.*s\n", error.text, (int)(size < 2000 ? size : 2000), (const char*)bytes);
    }
    assert_true(json_is_object(object));
    const struct {
        const char* type;
        json_t** place;
        void (*take)(rbClientModel* model);
    } rows[] = {
        {"hello", &model->hello, NULL},     {"scene", &model->scene, takeScene},
        {"links", &model->links, NULL},     {"bodies", &model->bodies, takeBodies},
        {"state", &model->state, NULL},     {"parameters", &model->parameters, NULL},
        {"detail", &model->detail, NULL},   {"reply", &model->reply, NULL},
        {"viewers", &model->viewers, NULL},
    };
    const char* type = json_string_value(json_object_get(object, "type"));
    assert_non_null(type);
    bool isFound = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (strcmp(rows[i].type, type) == 0) {
            isFound = true;
            json_decref(*rows[i].place);
            *rows[i].place = object;
            if (rows[i].take != NULL) {
                rows[i].take(model);
            }
        }
    }
    assert_true(isFound);
    ++model->textCount;
}

// ----------------------------------------------------------------------------------------- binary

// largest << 60 | a << 40 | b << 20 | c; others in the order w x y z from [-1/sqrt2, 1/sqrt2].
static void unpackOrientation(uint32_t low, uint32_t high, double* q)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    unsigned largest = (unsigned)(bits >> 60);
    assert_true(largest < 4);
    double sum = 0.0;
    int field = 40;
    for (unsigned i = 0; i < 4; ++i) {
        if (i == largest) {
            continue;
        }
        q[i] = (2.0 * (double)((bits >> field) & 0xfffff) / 1048575.0 - 1.0) * sqrt(0.5);
        sum += q[i] * q[i];
        field -= 20;
    }
    q[largest] = sqrt(sum < 1.0 ? 1.0 - sum : 0.0);
}

static void takeFrame(rbClientModel* model, Reading* reading)
{
    model->frameFlags = reading->bytes[1];
    model->frameNumber = readWord(reading);
    model->time = readDouble(reading);
    uint32_t count = readWord(reading);
    assert_int_equal(readWord(reading), 0);
    assert_true(reading->size == 24 + (size_t)count * 24);
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t body = readWord(reading);
        assert_true(body < CLIENT_BODIES_MAX);
        rbClientPose* pose = &model->poses[body];
        assert_true(pose->isKnown);
        for (int k = 0; k < 3; ++k) {
            pose->position[k] = readFloat(reading);
        }
        uint32_t low = readWord(reading);
        uint32_t high = readWord(reading);
        unpackOrientation(low, high, pose->orientation);
        pose->hasPose = true;
    }
    model->frameBytes += reading->size;
    model->poseSum += count;
}

static void takeEvents(rbClientModel* model, Reading* reading)
{
    uint32_t count = readWord(reading);
    model->eventFlags |= reading->bytes[1];
    double first = readDouble(reading);
    if (model->eventCount == 0) {
        model->firstEvent = first;
    }
    assert_true(first == model->firstEvent + model->eventCount);
    for (uint32_t i = 0; i < count; ++i) {
        if (model->eventCount == model->eventCapacity) {
            model->eventCapacity = 2 * model->eventCapacity + 100;
            model->events =
                realloc(model->events, (size_t)model->eventCapacity * sizeof *model->events);
        }
        rbClientEvent* event = &model->events[model->eventCount++];
        event->time = readDouble(reading);
        event->kind = readWord(reading);
        event->bodyA = readWord(reading);
        event->bodyB = readWord(reading);
        event->history = readWord(reading);
        event->energyChange = readDouble(reading);
        event->energyBefore = readDouble(reading);
        event->frictionWork = readDouble(reading);
        event->approachSpeed = readDouble(reading);
        readFloats(reading, event->point, 3);
        readFloats(reading, event->normal, 3);
        readFloats(reading, event->impulse, 3);
        event->law = readWord(reading);
    }
}

static void takeSamples(rbClientModel* model, Reading* reading)
{
    int columns = reading->bytes[2] + 256 * reading->bytes[3];
    assert_int_equal(columns, model->columnCount);
    if ((reading->bytes[1] & 1) != 0) {
        model->rowCount = 0;
        model->hasReplaced = true;
    }
    assert_true(model->hasReplaced);
    uint32_t rows = readWord(reading);
    size_t width = (size_t)columns + 1;
    for (uint32_t i = 0; i < rows; ++i) {
        if (model->rowCount == model->rowCapacity) {
            model->rowCapacity = 2 * model->rowCapacity + 100;
            model->samples =
                realloc(model->samples, (size_t)model->rowCapacity * width * sizeof(double));
        }
        double time = readDouble(reading);
        if (model->rowCount > 0) {
            double last = model->samples[(size_t)(model->rowCount - 1) * width];
            assert_true(time >= last);
            model->rowCount -= time == last ? 1 : 0; // it replaces that row
        }
        double* row = model->samples + (size_t)model->rowCount++ * width;
        row[0] = time;
        for (int k = 1; k <= columns; ++k) {
            row[k] = readDouble(reading);
        }
    }
}

static void takeContacts(rbClientModel* model, Reading* reading)
{
    model->contactCount = (int)readWord(reading);
    (void)readDouble(reading);
    memset(model->forceSum, 0, sizeof model->forceSum);
    for (int i = 0; i < model->contactCount; ++i) {
        uint32_t bodyA = readWord(reading);
        uint32_t bodyB = readWord(reading);
        float values[10];
        readFloats(reading, values, 10); // point, normal, force, gap
        assert_true(readWord(reading) <= 1);
        if (i == 0) {
            model->contactA = bodyA;
            model->contactB = bodyB;
            memcpy(model->contactNormal, values + 3, sizeof model->contactNormal);
            memcpy(model->contactForce, values + 6, sizeof model->contactForce);
        }
        for (int k = 0; k < 3; ++k) {
            model->forceSum[k] += values[6 + k];
        }
    }
}

static void takeMesh(rbClientModel* model, Reading* reading)
{
    (void)readWord(reading);
    uint32_t vertices = readWord(reading);
    uint32_t triangles = readWord(reading);
    assert_true(reading->size == 16 + 12 * ((size_t)vertices + triangles));
    float* points = calloc(vertices, 3 * sizeof *points);
    readFloats(reading, points, (int)(3 * vertices));
    model->meshVolume = 0.0;
    for (uint32_t i = 0; i < triangles; ++i) {
        const float* p[3];
        for (int k = 0; k < 3; ++k) {
            uint32_t corner = readWord(reading);
            assert_true(corner < vertices);
            p[k] = points + (size_t)3 * corner;
        }
        model->meshVolume += ((double)p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) +
                              (double)p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
                              (double)p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0])) /
                             6.0;
    }
    free(points);
    model->meshVertices = vertices;
    model->meshTriangles = triangles;
    ++model->meshCount;
}

static void takeJoints(rbClientModel* model, Reading* reading)
{
    model->jointCount = (int)readWord(reading);
    (void)readDouble(reading);
    for (int i = 0; i < model->jointCount; ++i) {
        (void)readWord(reading);
        float values[19];
        readFloats(reading, values, 19);
        if (i == 0) {
            memcpy(model->jointPoints, values, sizeof model->jointPoints);
        }
    }
}

static void takeRays(rbClientModel* model, Reading* reading)
{
    model->rayCount = (int)readWord(reading);
    model->rayHits = 0;
    model->rayShortest = 0;
    (void)readDouble(reading);
    for (int i = 0; i < model->rayCount; ++i) {
        float values[6];
        readFloats(reading, values, 6);
        uint32_t flags = readWord(reading);
        assert_true(flags < 16);
        assert_true((flags & 8U) == 0 || (flags & 1U) != 0); // the shortest hits
        model->rayHits += (flags & 1U) != 0 ? 1 : 0;
        if ((flags & 8U) != 0) {
            ++model->rayShortest;
            memcpy(model->shortestRay, values, sizeof values);
        }
    }
}

static void takeDrop(rbClientModel* model, Reading* reading)
{
    assert_int_equal(readWord(reading), 0);
    model->dropTime = readDouble(reading);
    size_t width = (size_t)model->columnCount + 1;
    while (model->rowCount > 0 &&
           model->samples[(size_t)(model->rowCount - 1) * width] > model->dropTime) {
        --model->rowCount;
    }
    while (model->eventCount > 0 && model->events[model->eventCount - 1].time > model->dropTime) {
        --model->eventCount;
    }
}

void rbClientModel_Take(rbClientModel* model, const void* bytes, size_t size, bool isText)
{
    if (isText) {
        takeText(model, bytes, size);
        return;
    }
    void (*const takers[9])(rbClientModel * model, Reading * reading) = {
        NULL,     takeFrame,  takeEvents, takeSamples, takeContacts,
        takeMesh, takeJoints, takeDrop,   takeRays};
    Reading reading = {bytes, size, 4};
    assert_true(size >= 8);
    int type = reading.bytes[0];
    assert_true(type > 0 && type < 9);
    assert_true(type == 3 || (reading.bytes[2] == 0 && reading.bytes[3] == 0));
    if (takers[type] != NULL) {
        takers[type](model, &reading);
    }
    assert_true(reading.at == size);
    ++model->counts[type];
}
