// Springs of a scene, and the names of joints and springs, which share a namespace.
#include "io/scene/nearest_name.h"
#include "io/scene/scene_joints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --------------------------------------------------------------------------------------- springs

static rbStatus readAnchors(rbReader* reader, const json_t* json, const rbSpringFields* fields,
                            rbSceneSpring* spring)
{
    static const char* const keys[2] = {"anchorA", "anchorB"};
    const rbVec3 given[2] = {fields->anchorA, fields->anchorB};
    for (int i = 0; i < 2; ++i) {
        if (spring->ends[i].body < 0 && json_object_get(json, keys[i]) == NULL) {
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "a spring to the world needs \"%s\": [x, y, z], the point of the "
                                 "world",
                                 keys[i]);
        }
        spring->anchors[i] = (rbSceneVector){RB_VECTOR_LOCAL, given[i]};
    }
    return RB_STATUS_OK;
}

static rbStatus readSpring(rbScene* scene, rbReader* reader, const json_t* json, int index)
{
    rbSpringFields fields = {.restLength = -1.0};
    rbSceneSpring spring = {.def = rbDefaultSpringDef()};
    (void)snprintf(spring.name, sizeof spring.name, "spring%d", index);
    const char* given = json_string_value(json_object_get(json, "name"));
    rbReader_SetSubject(reader, "spring", given != NULL ? given : spring.name);
    rbStatus status = rbReadFields(reader, json, &rbSpringKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (fields.name != NULL) {
        (void)snprintf(spring.name, sizeof spring.name, "%s", fields.name);
    }
    status = rbReadGrid(reader, fields.repeat, spring.name, &spring.grid);
    if (status == RB_STATUS_OK) {
        status = rbReadEnds(scene, reader, &fields.ends, &spring.grid, spring.ends);
    }
    if (status == RB_STATUS_OK) {
        status = readAnchors(reader, json, &fields, &spring);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (spring.grid.copyCount > RB_SCENE_JOINTS_MAX - scene->info.springCount) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the scene has too many springs; the limit is "
                             "%d",
                             RB_SCENE_JOINTS_MAX);
    }
    spring.def.restLength = fields.restLength;
    spring.def.stiffness = fields.stiffness;
    spring.def.damping = fields.damping;
    scene->info.springCount += spring.grid.copyCount;
    scene->info.anchorCount += rbAreEndsAnchored(scene, spring.ends) ? spring.grid.copyCount : 0;
    rbArray_Push(scene->springs, spring);
    return RB_STATUS_OK;
}

// ----------------------------------------------------------------------------------------- names

static int compareNames(const void* a, const void* b)
{
    const rbSceneLinkName* linkA = a;
    const rbSceneLinkName* linkB = b;
    int order = strcmp(linkA->name, linkB->name);
    return order != 0 ? order : (linkA->index > linkB->index) - (linkA->index < linkB->index);
}

static const rbSceneGrid* getGrid(const rbScene* scene, const rbSceneLinkName* link)
{
    return link->index >= 0 ? &scene->joints.data[link->index].grid
                            : &scene->springs.data[-1 - link->index].grid;
}

// The first entry with a name, given with its length; NULL if there is none.
static const rbSceneLinkName* findName(const rbScene* scene, const char* name, size_t length)
{
    int low = 0;
    int high = scene->linksByName.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const char* other = scene->linksByName.data[middle].name;
        int order = strncmp(other, name, length);
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // Longer names with the same beginning come after the exact one.
    const rbSceneLinkName* found =
        low < scene->linksByName.count ? &scene->linksByName.data[low] : NULL;
    return found != NULL && strncmp(found->name, name, length) == 0 && found->name[length] == '\0'
               ? found
               : NULL;
}

void rbScene_WriteLinkPlace(const rbScene* scene, int index, char* place, size_t capacity)
{
    RB_ASSERT(index < scene->joints.count && -1 - index < scene->springs.count);
    const rbSceneJoint* joint = index >= 0 ? &scene->joints.data[index] : NULL;
    (void)snprintf(place, capacity, "/%s/%d",
                   joint == NULL     ? "springs"
                   : joint->tree < 0 ? "joints"
                                     : "trees",
                   joint != NULL ? joint->listIndex : -1 - index);
}

// The error is at the later of the two in the file: springs come after joints.
static rbStatus failTaken(const rbScene* scene, rbReader* reader, const rbSceneLinkName* a,
                          const rbSceneLinkName* b)
{
    bool isCopy = strcmp(a->name, b->name) != 0;
    bool isALater =
        a->index >= 0 ? b->index >= 0 && a->index > b->index : b->index >= 0 || a->index < b->index;
    const rbSceneLinkName* later = isALater ? a : b;
    const rbSceneLinkName* former = isALater ? b : a;
    char places[2][32];
    rbScene_WriteLinkPlace(scene, former->index, places[0], sizeof places[0]);
    rbScene_WriteLinkPlace(scene, later->index, places[1], sizeof places[1]);
    reader->partCount = 0;
    rbReader_SetSubject(reader, NULL, NULL);
    rbStatus status = rbReader_Fail(
        reader, RB_STATUS_INVALID,
        isCopy ? "the name \"%s\" conflicts with %s because of copies; choose another one"
               : "the name \"%s\" is used by %s too; joints and springs need different names",
        later->name, places[0]);
    rbError_SetPlace(reader->error, NULL, places[1]);
    return status;
}

// Sorts the names and refuses duplicates; none may be that of a copy, such as "ball[1]".
static rbStatus indexNames(rbScene* scene, rbReader* reader)
{
    RB_ASSERT(scene->linksByName.count == 0);
    for (int i = 0; i < scene->joints.count; ++i) {
        rbArray_Push(scene->linksByName, ((rbSceneLinkName){scene->joints.data[i].name, i}));
    }
    for (int i = 0; i < scene->springs.count; ++i) {
        rbArray_Push(scene->linksByName, ((rbSceneLinkName){scene->springs.data[i].name, -1 - i}));
    }
    int count = scene->linksByName.count;
    rbSceneLinkName* links = scene->linksByName.data;
    if (count > 0) {
        qsort(links, (size_t)count, sizeof *links, compareNames);
    }
    for (int i = 0; i < count; ++i) {
        size_t length = 0;
        int copy = 0;
        const rbSceneLinkName* group = NULL;
        if (rbSplitCopyName(links[i].name, &length, &copy)) {
            group = findName(scene, links[i].name, length);
        }
        bool isCopy = group != NULL && getGrid(scene, group)->isRepeated &&
                      copy < getGrid(scene, group)->copyCount;
        if (i > 0 && strcmp(links[i].name, links[i - 1].name) == 0) {
            return failTaken(scene, reader, &links[i - 1], &links[i]);
        }
        if (isCopy) {
            return failTaken(scene, reader, group, &links[i]);
        }
    }
    return RB_STATUS_OK;
}

bool rbScene_FindLink(const rbScene* scene, const char* name, bool* isSpring, int* index, int* copy)
{
    RB_ASSERT(name != NULL);
    size_t length = strlen(name);
    const rbSceneLinkName* found = findName(scene, name, length);
    *copy = 0;
    if (found != NULL) {
        *copy = getGrid(scene, found)->isRepeated ? -1 : 0;
    } else if (rbSplitCopyName(name, &length, copy)) {
        found = findName(scene, name, length);
        if (found != NULL &&
            (!getGrid(scene, found)->isRepeated || *copy >= getGrid(scene, found)->copyCount)) {
            found = NULL;
        }
    }
    if (found == NULL) {
        return false;
    }
    *isSpring = found->index < 0;
    *index = *isSpring ? -1 - found->index : found->index;
    return true;
}

static const char* getLinkName(int index, const void* context)
{
    return ((const rbScene*)context)->linksByName.data[index].name;
}

const char* rbScene_GetNearestLink(const rbScene* scene, const char* name)
{
    // A suggestion is not worth searching more names.
    int count = scene->linksByName.count < 100000 ? scene->linksByName.count : 100000;
    return rbFindNearestName(name, getLinkName, count, scene);
}

rbStatus rbReadSprings(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->springs.count == 0);
    rbStatus status = rbNeedStepEngine(scene, reader, array, "springs");
    for (size_t i = 0; i < json_array_size(array) && status == RB_STATUS_OK; ++i) {
        if (i == RB_SCENE_JOINTS_MAX) {
            return rbReader_Fail(reader, RB_STATUS_LIMIT, "too many springs; the limit is %d",
                                 RB_SCENE_JOINTS_MAX);
        }
        rbReader_PushIndex(reader, i);
        status = readSpring(scene, reader, json_array_get(array, i), (int)i);
        if (status == RB_STATUS_OK) {
            rbReader_SetSubject(reader, NULL, NULL);
            rbReader_Pop(reader);
        }
    }
    return status == RB_STATUS_OK ? indexNames(scene, reader) : status;
}
