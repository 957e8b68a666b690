// Lists of actions, as JSON lines and back.
#include "session/actions.h"

#include "base/core/memory.h"
#include "io/output/output_file.h"
#include "io/scene/file_bytes.h"
#include "io/scene/reader.h"

#include <rattleback/output.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTIONS_FILE_MAX ((size_t)1 << 30) // bytes
#define HEAD_SIZE (RB_NUMBER_TEXT_SIZE + 16)

void rbActions_Cut(rbActions* actions, int count)
{
    RB_ASSERT(count >= 0);
    while (actions->count > count) {
        const rbAction* last = &actions->data[--actions->count];
        rbFree(last->text, last->size + 1);
    }
}

void rbActions_Free(rbActions* actions)
{
    rbActions_Cut(actions, 0);
    rbArray_Free(*actions);
}

void rbActions_Add(rbActions* actions, double time, const char* text)
{
    RB_ASSERT(isfinite(time));
    RB_ASSERT(actions->count == 0 || actions->data[actions->count - 1].time <= time);
    size_t size = strlen(text);
    rbAction action = {.time = time, .text = rbAlloc(size + 1), .size = size};
    memcpy(action.text, text, size + 1);
    rbArray_Push(*actions, action);
}

// -------------------------------------------------------------------------------------- reading

static rbStatus failLine(rbError* error, int line, rbStatus status, const char* text)
{
    if (error != NULL) {
        error->line = line;
        error->column = 0;
    }
    return rbError_Set(error, status, "%s", text);
}

static rbStatus parseLine(rbActions* actions, const char* text, size_t size, int line,
                          rbError* error)
{
    static const rbJsonLimits limits = {RB_ACTION_DEPTH_MAX, "an action is a JSON object"};
    rbError inner = {0};
    if (size > RB_ACTION_SIZE_MAX) {
        return failLine(error, line, RB_STATUS_LIMIT,
                        "the line has more than 65536 bytes, the limit");
    }
    json_t* root = rbParseJson(text, size, &limits, &inner);
    if (root == NULL) {
        return failLine(error, line, inner.status, inner.message);
    }
    const json_t* time = json_object_get(root, "time");
    double last = actions->count > 0 ? actions->data[actions->count - 1].time : 0.0;
    rbStatus status = RB_STATUS_OK;
    if (!json_is_object(root) || !json_is_number(time)) {
        status =
            failLine(error, line, RB_STATUS_INVALID,
                     "a line must be an object with a \"time\", {\"time\": 1.5, \"do\": \"push\", "
                     "...}");
    } else if (!(json_number_value(time) >= last)) {
        status = failLine(error, line, RB_STATUS_INVALID,
                          "its time is negative or before that of the previous line; times must "
                          "start at 0 or later and not decrease");
    } else {
        double value = json_number_value(time);
        (void)json_object_del(root, "time");
        char* action = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
        RB_ASSERT(action != NULL);
        rbActions_Add(actions, value, action);
        free(action); // jansson's
    }
    json_decref(root);
    return status;
}

static bool isBlank(const char* text, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (strchr(" \t\r", text[i]) == NULL || text[i] == '\0') {
            return false;
        }
    }
    return true;
}

rbStatus rbActions_Parse(rbActions* actions, const char* text, size_t size, rbError* error)
{
    int before = actions->count;
    int line = 0;
    size_t place = 0;
    while (place < size) {
        const char* end = memchr(text + place, '\n', size - place);
        size_t length = end != NULL ? (size_t)(end - text) - place : size - place;
        line += 1;
        rbStatus status = RB_STATUS_OK;
        if (actions->count >= RB_ACTIONS_MAX) {
            status = failLine(error, line, RB_STATUS_LIMIT,
                              "there are more than 1e7 actions, the limit");
        } else if (!isBlank(text + place, length)) {
            status = parseLine(actions, text + place, length, line, error);
        }
        if (status != RB_STATUS_OK) {
            rbActions_Cut(actions, before);
            return status;
        }
        place += length + 1;
    }
    return RB_STATUS_OK;
}

rbStatus rbActions_Read(rbActions* actions, const char* path, rbError* error)
{
    void* bytes = NULL;
    size_t size = 0;
    rbStatus status = rbReadFileBytes(path, ACTIONS_FILE_MAX, &bytes, &size, error);
    if (status == RB_STATUS_OK) {
        rbError_SetPlace(error, path, "");
        status = rbActions_Parse(actions, bytes, size, error);
    }
    rbFree(bytes, size);
    return status;
}

// -------------------------------------------------------------------------------------- writing

// The text of an action is a non-empty object: {"do": ...}.
static int writeHead(char head[HEAD_SIZE], double time)
{
    char number[RB_NUMBER_TEXT_SIZE];
    (void)rbFormatNumber(time, number);
    return snprintf(head, HEAD_SIZE, "{\"time\":%s,", number);
}

char* rbActions_Format(const rbActions* actions, size_t* size)
{
    char head[HEAD_SIZE];
    size_t total = 0;
    for (int i = 0; i < actions->count; ++i) {
        RB_ASSERT(actions->data[i].text[0] == '{');
        total += (size_t)writeHead(head, actions->data[i].time) + actions->data[i].size;
    }
    char* text = rbAlloc(total + 1);
    char* place = text;
    for (int i = 0; i < actions->count; ++i) {
        const rbAction* action = &actions->data[i];
        int length = writeHead(head, action->time);
        memcpy(place, head, (size_t)length);
        place += length;
        memcpy(place, action->text + 1, action->size - 1);
        place += action->size - 1;
        *place++ = '\n';
    }
    RB_ASSERT((size_t)(place - text) == total);
    *place = '\0';
    *size = total;
    return text;
}

rbStatus rbActions_Write(const rbActions* actions, const char* path, rbError* error)
{
    rbOutputFile* file = rbAllocZero(1, sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        size_t size = 0;
        char* text = rbActions_Format(actions, &size);
        rbOutputFile_Write(file, text, size);
        rbFree(text, size + 1);
        status = rbOutputFile_Commit(file, error);
    }
    rbFree(file, sizeof *file);
    return status;
}
