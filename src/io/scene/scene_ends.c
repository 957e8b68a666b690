// The two bodies of a joint or a spring, by names that may contain the indices of a copy.
#include "io/scene/scene_joints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD_NAME "world"

static const char* const endKeys[2] = {"bodyA", "bodyB"};

// ---------------------------------------------------------------------------------------- copies

rbStatus rbReadGrid(rbReader* reader, const json_t* repeat, const char* name, rbSceneGrid* grid)
{
    RB_ASSERT(name != NULL);
    *grid = (rbSceneGrid){.count = {1, 1, 1}, .copyCount = 1};
    if (repeat == NULL) {
        return RB_STATUS_OK;
    }
    rbRepeatFields fields = {0};
    rbReader_Push(reader, "repeat");
    rbStatus status = rbReadFields(reader, repeat, &rbRepeatKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    double v[3];
    double product = 1.0;
    rbReader_Push(reader, "count");
    status = rbReadNumbers(reader, fields.count, v, 3, 0.0);
    for (size_t i = 0; i < 3 && status == RB_STATUS_OK; ++i) {
        if (floor(v[i]) != v[i] || v[i] < 1.0) {
            rbReader_PushIndex(reader, i);
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "found %.10g; expected an integer of at least 1", v[i]);
        }
        product *= v[i];
        grid->count[i] = v[i] <= RB_SCENE_JOINTS_MAX ? (int)v[i] : RB_SCENE_JOINTS_MAX;
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (product > RB_SCENE_JOINTS_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "%.10g copies; the limit is %d", product,
                             RB_SCENE_JOINTS_MAX);
    }
    grid->isRepeated = true;
    grid->copyCount = (int)product;
    grid->spacing = fields.spacing;
    char number[24];
    int digits = snprintf(number, sizeof number, "[%d]", grid->copyCount - 1);
    if (strlen(name) + (size_t)digits > RB_SCENE_NAME_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the names of the copies, %s%s, are longer than %d bytes", name,
                             number, RB_SCENE_NAME_MAX);
    }
    rbReader_Pop(reader);
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static void getCell(const rbSceneGrid* grid, int copy, int cell[3])
{
    RB_ASSERT(copy >= 0 && copy < grid->copyCount);
    cell[0] = copy % grid->count[0];
    cell[1] = copy / grid->count[0] % grid->count[1];
    cell[2] = copy / grid->count[0] / grid->count[1];
}

rbVec3 rbSceneGrid_GetOffset(const rbSceneGrid* grid, int copy)
{
    int cell[3];
    getCell(grid, copy, cell);
    return rbMulEach(grid->spacing, (rbVec3){(double)cell[0], (double)cell[1], (double)cell[2]});
}

void rbSceneGrid_WriteName(const rbSceneGrid* grid, const char* base, int copy, char* name)
{
    RB_ASSERT(copy >= 0 && copy < grid->copyCount);
    char number[16] = "";
    if (grid->isRepeated) {
        (void)snprintf(number, sizeof number, "[%d]", copy);
    }
    // Lengths were validated when the grid was read.
    RB_ASSERT(strlen(base) + strlen(number) <= RB_SCENE_NAME_MAX);
    (void)snprintf(name, RB_SCENE_NAME_MAX + 1, "%s%s", base, number);
}

bool rbSceneEnd_Find(const rbScene* scene, const rbSceneEnd* end, const rbSceneGrid* grid, int copy,
                     int* body)
{
    *body = -1;
    if (end->body < 0) {
        return true;
    }
    const rbSceneBody* found = &scene->bodies.data[end->body];
    int cell[3];
    int64_t values[3] = {0, 0, 0};
    getCell(grid, copy, cell);
    for (int i = 0; i < end->termCount; ++i) {
        const rbIndexTerm* term = &end->terms[i];
        values[i] = (term->variable < 0 ? 0 : (int64_t)cell[term->variable]) + term->offset;
        if (values[i] < 0 || (end->termCount == 3 && values[i] >= found->repeatCount[i])) {
            return false;
        }
    }
    int64_t index = values[0];
    if (end->termCount == 3) {
        index += found->repeatCount[0] * (values[1] + found->repeatCount[1] * values[2]);
    } else if (end->isParent) {
        index = copy / 2;
    }
    if (index >= found->copyCount) {
        return false;
    }
    *body = found->firstIndex + (int)index;
    return true;
}

bool rbAreEndsAnchored(const rbScene* scene, const rbSceneEnd ends[2])
{
    for (int i = 0; i < 2; ++i) {
        if (ends[i].body < 0 || scene->bodies.data[ends[i].body].type != RB_BODY_DYNAMIC) {
            return true;
        }
    }
    return false;
}

// ----------------------------------------------------------------------------------------- names

// Reads "x+1", "z", "7"; false if it is none of these. Moves *at past it.
static bool readTerm(const char** at, rbIndexTerm* term)
{
    const char* c = *at;
    *term = (rbIndexTerm){.variable = -1};
    char* end = NULL;
    if (*c >= 'x' && *c <= 'z') {
        term->variable = *c - 'x';
        *at = c + 1;
        if (c[1] != '+' && c[1] != '-') {
            return true;
        }
        c += 1;
        if (c[1] < '0' || c[1] > '9') {
            return false;
        }
    } else if (*c < '0' || *c > '9') {
        return false;
    }
    long number = strtol(c, &end, 10);
    if (number < -RB_SCENE_BODIES_MAX || number > RB_SCENE_BODIES_MAX) {
        return false;
    }
    term->offset = (int)number;
    *at = end;
    return true;
}

// Splits "knot[x+1,y,0]" into the length of "knot" and its terms; false if it has no such suffix.
static bool splitTerms(const char* name, size_t* length, rbSceneEnd* end)
{
    const char* at = strrchr(name, '[');
    if (at == NULL) {
        return false;
    }
    *length = (size_t)(at - name);
    end->termCount = 0;
    do {
        at += 1;
        if (end->termCount == 3 || !readTerm(&at, &end->terms[end->termCount])) {
            return false;
        }
        end->termCount += 1;
    } while (*at == ',');
    return strcmp(at, "]") == 0;
}

static rbStatus failAbsent(const rbScene* scene, rbReader* reader, const char* name)
{
    char hint[96];
    const char* nearest = rbScene_GetNearestBody(scene, name);
    return rbReader_Fail(reader, RB_STATUS_NOT_FOUND, "there is no body \"%.60s\"%s%s", name,
                         rbSuggest(hint, sizeof hint, nearest),
                         nearest == NULL ? "; \"world\" means the world" : "");
}

static rbStatus failGroup(rbReader* reader, const rbSceneBody* body)
{
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "\"%s\" means %d bodies; name one of them, such as \"%s[0]\", or with "
                         "\"repeat\" one for each copy, such as \"%s[x]\"",
                         body->name, body->copyCount, body->name, body->name);
}

rbStatus rbReadEnd(const rbScene* scene, rbReader* reader, const char* name, rbSceneEnd* end)
{
    RB_ASSERT(name != NULL);
    *end = (rbSceneEnd){.body = -1};
    int copy = 0;
    bool isFound = rbScene_FindBody(scene, name, &end->body, &copy);
    if (strcmp(name, WORLD_NAME) == 0) {
        return !isFound ? RB_STATUS_OK
                        : rbReader_Fail(reader, RB_STATUS_INVALID,
                                        "\"world\" means the world here, but a body "
                                        "has this name; rename the body");
    }
    if (isFound) {
        const rbSceneBody* body = &scene->bodies.data[end->body];
        if (copy < 0) {
            return failGroup(reader, body);
        }
        end->termCount = body->copyKind != RB_COPY_NONE ? 1 : 0;
        end->terms[0] = (rbIndexTerm){.variable = -1, .offset = copy};
        return RB_STATUS_OK;
    }
    size_t length = 0;
    char base[RB_SCENE_NAME_MAX + 1];
    if (!splitTerms(name, &length, end) || length > RB_SCENE_NAME_MAX) {
        return failAbsent(scene, reader, name);
    }
    memcpy(base, name, length);
    base[length] = '\0';
    if (!rbScene_FindBody(scene, base, &end->body, &copy)) {
        return failAbsent(scene, reader, base);
    }
    const rbSceneBody* body = &scene->bodies.data[end->body];
    if (body->copyKind == RB_COPY_NONE) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "the body \"%s\" has no copies; name it without \"[...]\"", base);
    }
    if (end->termCount != 1 && (end->termCount != 3 || body->copyKind != RB_COPY_REPEAT)) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "\"%.60s\" has %d indices; expected one, the index of the copy, or "
                             "three, its position in the grid of \"repeat\"",
                             name, end->termCount);
    }
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------validation

static rbStatus validateCopy(const rbScene* scene, rbReader* reader, const rbSceneEnd ends[2],
                             const rbSceneGrid* grid, int copy)
{
    int bodies[2];
    for (int i = 0; i < 2; ++i) {
        if (!rbSceneEnd_Find(scene, &ends[i], grid, copy, &bodies[i])) {
            const rbSceneBody* body = &scene->bodies.data[ends[i].body];
            return rbReader_Fail(reader, RB_STATUS_NOT_FOUND,
                                 "%s of copy %d does not exist: \"%s\" has only %d copies",
                                 endKeys[i], copy, body->name, body->copyCount);
        }
    }
    if (bodies[0] >= 0 && bodies[0] == bodies[1]) {
        char name[RB_SCENE_NAME_MAX + 1];
        const rbSceneBody* body = &scene->bodies.data[ends[0].body];
        rbSceneBody_WriteName(body, bodies[0] - body->firstIndex, name);
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "both ends are on the body \"%s\"; give two bodies, or a body and "
                             "\"world\"",
                             name);
    }
    return RB_STATUS_OK;
}

static rbStatus validateEnds(const rbScene* scene, rbReader* reader, const rbSceneEnd ends[2],
                             const rbSceneGrid* grid)
{
    bool isMoved = false;
    for (int i = 0; i < 2; ++i) {
        isMoved = isMoved ||
                  (ends[i].body >= 0 && scene->bodies.data[ends[i].body].type == RB_BODY_DYNAMIC);
    }
    if (!isMoved) {
        const char* names[2];
        for (int i = 0; i < 2; ++i) {
            names[i] = ends[i].body >= 0 ? scene->bodies.data[ends[i].body].name : WORLD_NAME;
        }
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "it can move neither \"%s\" nor \"%s\"; one of the two must be "
                             "a dynamic body",
                             names[0], names[1]);
    }
    rbStatus status = RB_STATUS_OK;
    for (int copy = 0; copy < grid->copyCount && status == RB_STATUS_OK; ++copy) {
        status = validateCopy(scene, reader, ends, grid, copy);
    }
    return status;
}

rbStatus rbReadEnds(const rbScene* scene, rbReader* reader, const rbEndsFields* fields,
                    const rbSceneGrid* grid, rbSceneEnd ends[2])
{
    const char* names[2] = {fields->bodyA, fields->bodyB};
    bool isArray = fields->bodies != NULL;
    if (isArray && (names[0] != NULL || names[1] != NULL)) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "both \"bodies\" and \"bodyA\" or \"bodyB\" are given; give "
                             "only \"bodies\": [A, B] or the other two");
    }
    for (size_t i = 0; i < 2 && isArray; ++i) {
        names[i] = json_string_value(json_array_get(fields->bodies, i));
        if (json_array_size(fields->bodies) != 2 || names[i] == NULL) {
            char found[96];
            rbDescribeJson(fields->bodies, found, sizeof found);
            rbReader_Push(reader, "bodies");
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "found %s; expected the names of two bodies, [A, B]", found);
        }
    }
    if (names[0] == NULL && names[1] == NULL) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "it needs \"bodies\": [A, B], the names of two bodies, or of one and "
                             "\"world\"");
    }
    int depth = reader->partCount;
    for (size_t i = 0; i < 2; ++i) {
        if (isArray) {
            rbReader_Push(reader, "bodies");
            rbReader_PushIndex(reader, i);
        } else {
            rbReader_Push(reader, endKeys[i]);
        }
        rbStatus status =
            rbReadEnd(scene, reader, names[i] != NULL ? names[i] : WORLD_NAME, &ends[i]);
        if (status != RB_STATUS_OK) {
            return status;
        }
        reader->partCount = depth;
    }
    rbReader_Push(reader, isArray ? "bodies" : names[0] != NULL ? endKeys[0] : endKeys[1]);
    rbStatus status = validateEnds(scene, reader, ends, grid);
    reader->partCount = status == RB_STATUS_OK ? depth : reader->partCount;
    return status;
}
