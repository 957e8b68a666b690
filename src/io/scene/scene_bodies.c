// Bodies of a scene: state, shapes, copies; materials and motion settings; lookup by name.
#include "io/scene/nearest_name.h"
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------- materials and motion

static int compareMaterials(const void* a, const void* b)
{
    return strcmp(((const rbSceneMaterial*)a)->name, ((const rbSceneMaterial*)b)->name);
}

static const char* getMaterialName(int index, const void* context)
{
    return ((const rbScene*)context)->materials.data[index].name;
}

rbStatus rbReadMaterialFields(rbReader* reader, const json_t* json, rbMaterial* material)
{
    rbStatus status = rbReadFields(reader, json, &rbMaterialKeys, material);
    if (status != RB_STATUS_OK || json_object_get(json, "stiction") == NULL ||
        material->stiction == -1.0 || material->stiction >= material->friction) {
        return status;
    }
    rbReader_Push(reader, "stiction");
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "stiction %.10g is less than friction %.10g; static friction cannot be "
                         "below sliding friction: raise it, or remove it to use \"friction\"",
                         material->stiction, material->friction);
}

rbStatus rbReadMaterials(rbScene* scene, rbReader* reader, const json_t* object)
{
    RB_ASSERT(scene->materials.count == 0);
    const char* name = NULL;
    json_t* value = NULL;
    json_object_foreach((json_t*)object, name, value)
    {
        rbSceneMaterial material = {.name = name, .material = rbDefaultShapeDef().material};
        rbReader_Push(reader, name);
        rbReader_SetSubject(reader, "material", name);
        rbStatus status = rbReadMaterialFields(reader, value, &material.material);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_SetSubject(reader, NULL, NULL);
        rbReader_Pop(reader);
        rbArray_Push(scene->materials, material);
    }
    if (scene->materials.count > 0) {
        qsort(scene->materials.data, (size_t)scene->materials.count, sizeof(rbSceneMaterial),
              compareMaterials);
    }
    return RB_STATUS_OK;
}

const rbSceneMaterial* rbScene_FindMaterial(const rbScene* scene, const char* name)
{
    RB_ASSERT(name != NULL);
    rbSceneMaterial wanted = {.name = name};
    return scene->materials.count > 0
               ? bsearch(&wanted, scene->materials.data, (size_t)scene->materials.count,
                         sizeof wanted, compareMaterials)
               : NULL;
}

const rbMaterial* rbScene_GetMaterial(const rbScene* scene, int index, const char** name)
{
    RB_ASSERT(index >= 0 && index < scene->materials.count);
    *name = scene->materials.data[index].name;
    return &scene->materials.data[index].material;
}

int rbScene_MatchMaterial(const rbScene* scene, const rbMaterial* material)
{
#define COMPARE(type, member, key, fallback, accepted, unit, meaning) \
    isSame = isSame && own->member == material->member;
    for (int i = 0; i < scene->materials.count; ++i) {
        const rbMaterial* own = &scene->materials.data[i].material;
        bool isSame = true;
        RB_MATERIAL_SETTINGS(COMPARE)
        if (isSame) {
            return i;
        }
    }
    return -1;
}

// The template of a body of the world: the last one that does not begin after it.
static const rbSceneBody* getTemplate(const rbScene* scene, int body)
{
    int low = 0;
    int high = scene->bodies.count - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (scene->bodies.data[middle].firstIndex <= body) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return &scene->bodies.data[low];
}

int rbScene_GetShapeMaterial(const rbScene* scene, int body, int shape)
{
    RB_ASSERT(body >= 0 && body < scene->info.bodyCount);
    const rbSceneBody* own = getTemplate(scene, body);
    RB_ASSERT(shape >= 0 && shape < own->shapeCount);
    const char* name = scene->shapes.data[own->firstShape + shape].materialName;
    const rbSceneMaterial* found = name != NULL ? rbScene_FindMaterial(scene, name) : NULL;
    return found != NULL ? (int)(found - scene->materials.data) : -1;
}

rbStatus rbFailMaterial(const rbScene* scene, rbReader* reader, const char* name)
{
    char hint[96];
    const char* nearest = rbFindNearestName(name, getMaterialName, scene->materials.count, scene);
    return rbReader_Fail(reader, RB_STATUS_NOT_FOUND,
                         "there is no material \"%.60s\" in \"materials\"%s", name,
                         rbSuggest(hint, sizeof hint, nearest));
}

rbStatus rbReadMaterial(rbScene* scene, rbReader* reader, const json_t* json, rbMaterial* material)
{
    RB_ASSERT(json != NULL);
    RB_ASSERT(material != NULL);
    if (!json_is_string(json)) {
        return rbReadMaterialFields(reader, json, material);
    }
    const rbSceneMaterial* found = rbScene_FindMaterial(scene, json_string_value(json));
    if (found == NULL) {
        return rbFailMaterial(scene, reader, json_string_value(json));
    }
    *material = found->material;
    return RB_STATUS_OK;
}

// ---------------------------------------------------------------------------------------- names

void rbSceneBody_WriteName(const rbSceneBody* body, int copy, char* name)
{
    RB_ASSERT(copy >= 0 && copy < body->copyCount);
    if (body->copyKind == RB_COPY_NONE) {
        (void)snprintf(name, RB_SCENE_NAME_MAX + 1, "%s", body->name);
    } else {
        // Lengths were validated when the body was read.
        char number[16];
        (void)snprintf(number, sizeof number, "[%d]", copy);
        size_t length = strlen(body->name);
        RB_ASSERT(length + strlen(number) <= RB_SCENE_NAME_MAX);
        memcpy(name, body->name, length);
        memcpy(name + length, number, strlen(number) + 1);
    }
}

// The template with that name, -1 if there is none.
static int findTemplate(const rbScene* scene, const char* name, size_t length)
{
    int low = 0;
    int high = scene->bodiesByName.count - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        const char* other = scene->bodies.data[scene->bodiesByName.data[middle]].name;
        int order = strncmp(name, other, length);
        order = order == 0 && other[length] != '\0' ? -1 : order;
        if (order == 0) {
            return scene->bodiesByName.data[middle];
        }
        if (order < 0) {
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return -1;
}

bool rbSplitCopyName(const char* name, size_t* length, int* copy)
{
    RB_ASSERT(name != NULL);
    const char* bracket = strrchr(name, '[');
    if (bracket == NULL || bracket[1] < '0' || bracket[1] > '9' ||
        (bracket[1] == '0' && bracket[2] != ']')) {
        return false;
    }
    char* end = NULL;
    long number = strtol(bracket + 1, &end, 10);
    if (strcmp(end, "]") != 0 || number >= RB_SCENE_BODIES_MAX) {
        return false;
    }
    *length = (size_t)(bracket - name);
    *copy = (int)number;
    return true;
}

bool rbScene_FindBody(const rbScene* scene, const char* name, int* body, int* copy)
{
    RB_ASSERT(name != NULL);
    size_t length = strlen(name);
    int found = length <= RB_SCENE_NAME_MAX ? findTemplate(scene, name, length) : -1;
    if (found >= 0) {
        *body = found;
        *copy = scene->bodies.data[found].copyKind == RB_COPY_NONE ? 0 : -1;
        return true;
    }
    int number = 0;
    if (length > RB_SCENE_NAME_MAX || !rbSplitCopyName(name, &length, &number)) {
        return false;
    }
    found = findTemplate(scene, name, length);
    if (found < 0 || scene->bodies.data[found].copyKind == RB_COPY_NONE ||
        number >= scene->bodies.data[found].copyCount) {
        return false;
    }
    *body = found;
    *copy = number;
    return true;
}

static const char* getBodyName(int index, const void* context)
{
    return ((const rbScene*)context)->bodies.data[index].name;
}

const char* rbScene_GetNearestBody(const rbScene* scene, const char* name)
{
    // A suggestion is not worth searching more names.
    int count = scene->bodies.count < 100000 ? scene->bodies.count : 100000;
    return rbFindNearestName(name, getBodyName, count, scene);
}

// An entry of the list sorted for lookup by name.
typedef struct NameEntry {
    const char* name;
    int index;
} NameEntry;

static int compareNameEntries(const void* a, const void* b)
{
    const NameEntry* entryA = a;
    const NameEntry* entryB = b;
    int order = strcmp(entryA->name, entryB->name);
    return order != 0 ? order : (entryA->index > entryB->index) - (entryA->index < entryB->index);
}

static rbStatus failDuplicate(rbReader* reader, int index, const char* name, int former)
{
    rbReader_PushIndex(reader, (size_t)index);
    rbReader_Push(reader, "name");
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "the name \"%s\" is used by /bodies/%d too; bodies need different names",
                         name, former);
}

// Sorts the names and refuses duplicates; a body must not be named like a copy, "box[1]".
rbStatus rbIndexBodies(rbScene* scene, rbReader* reader)
{
    scene->bodiesByName.count = 0;
    int count = scene->bodies.count;
    if (count == 0) {
        return RB_STATUS_OK;
    }
    NameEntry* entries = rbAlloc((size_t)count * sizeof *entries);
    for (int i = 0; i < count; ++i) {
        entries[i] = (NameEntry){scene->bodies.data[i].name, i};
    }
    qsort(entries, (size_t)count, sizeof *entries, compareNameEntries);
    (void)rbArray_Reserve(scene->bodiesByName, count);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        if (i > 0 && strcmp(entries[i].name, entries[i - 1].name) == 0) {
            status = failDuplicate(reader, entries[i].index, entries[i].name, entries[i - 1].index);
        }
        scene->bodiesByName.data[scene->bodiesByName.count++] = entries[i].index;
    }
    rbFree(entries, (size_t)count * sizeof *entries);
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        size_t length = 0;
        int copy = 0;
        const char* name = scene->bodies.data[i].name;
        int former = rbSplitCopyName(name, &length, &copy) ? findTemplate(scene, name, length) : -1;
        if (former >= 0 && scene->bodies.data[former].copyKind != RB_COPY_NONE &&
            copy < scene->bodies.data[former].copyCount) {
            status = failDuplicate(reader, i, name, former);
        }
    }
    return status;
}

// --------------------------------------------------------------------------------------- bodies

// All shapes of a body except sensors collide with the same groups.
static rbStatus validateGroups(const rbScene* scene, rbReader* reader, const rbSceneBody* body,
                               const rbSceneShape* shape)
{
    int solid = 0;
    while (solid < body->shapeCount && scene->shapes.data[body->firstShape + solid].isSensor) {
        solid += 1;
    }
    if (shape->isSensor || solid == body->shapeCount) {
        return RB_STATUS_OK;
    }
    const rbSceneShape* first = &scene->shapes.data[body->firstShape + solid];
    bool isSame = shape->groups == first->groups;
    if (isSame && shape->mask == first->mask) {
        return RB_STATUS_OK;
    }
    rbReader_Push(reader, isSame ? "mask" : "groups");
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "%s is %" PRIu32 ", but that of the first shape is %" PRIu32
                         "; give all shapes of a body the same",
                         isSame ? "mask" : "groups", isSame ? shape->mask : shape->groups,
                         isSame ? first->mask : first->groups);
}

static rbStatus readShapes(rbScene* scene, rbReader* reader, const json_t* array, rbSceneBody* body)
{
    RB_ASSERT(body->shapeCount == 0);
    body->firstShape = scene->shapes.count;
    rbReader_Push(reader, "shapes");
    for (size_t i = 0; i < json_array_size(array); ++i) {
        rbShapeDef usual = rbDefaultShapeDef();
        rbShapeFields fields = {
            .orientation = RB_QUAT_IDENTITY, .groups = usual.groups, .mask = usual.mask};
        rbSceneShape shape = {.material = usual.material};
        rbReader_PushIndex(reader, i);
        rbStatus status = rbReadFields(reader, json_array_get(array, i), &rbShapeKeys, &fields);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Push(reader, "geometry");
        status = rbReadGeometry(scene, reader, fields.geometry, &shape.geometry);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
        if (fields.material != NULL) {
            rbReader_Push(reader, "material");
            status = rbReadMaterial(scene, reader, fields.material, &shape.material);
            if (status != RB_STATUS_OK) {
                return status;
            }
            shape.materialName = json_string_value(fields.material);
            rbReader_Pop(reader);
        }
        shape.transform = (rbTransform){fields.position, fields.orientation};
        shape.groups = (uint32_t)fields.groups;
        shape.mask = (uint32_t)fields.mask;
        shape.surfaceVelocity = fields.surfaceVelocity;
        shape.isSensor = fields.isSensor;
        status = validateGroups(scene, reader, body, &shape);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbArray_Push(scene->shapes, shape);
        body->shapeCount += 1;
        rbReader_Pop(reader);
    }
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus readBodyType(rbReader* reader, const char* word, rbBodyType* type)
{
    static const char* const names[] = {[RB_BODY_STATIC] = "static",
                                        [RB_BODY_KINEMATIC] = "kinematic",
                                        [RB_BODY_DYNAMIC] = "dynamic"};
    _Static_assert(sizeof names / sizeof names[0] == RB_BODY_TYPE_COUNT, "one name per type");
    for (int i = 0; i < RB_BODY_TYPE_COUNT; ++i) {
        if (strcmp(names[i], word) == 0) {
            *type = (rbBodyType)i;
            return RB_STATUS_OK;
        }
    }
    rbReader_Push(reader, "type");
    return rbReader_Fail(reader, RB_STATUS_INVALID,
                         "unknown body type \"%.60s\"; expected \"dynamic\", \"static\" or "
                         "\"kinematic\"",
                         word);
}

// Valid combinations: velocities for dynamic bodies, paths for kinematic ones, growth for the event
// engine.
static rbStatus validateKeys(rbReader* reader, const json_t* json, const rbBodyFields* fields,
                             rbBodyType type, rbEngineType engine)
{
    if (json_object_get(json, "spin") != NULL && json_object_get(json, "spinLocal") != NULL) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "both \"spin\" (world axes) and \"spinLocal\" (body axes) are given; "
                             "give only one");
    }
    bool isMoving =
        !rbIsZero3(fields->velocity) || !rbIsZero3(fields->spin) || !rbIsZero3(fields->spinLocal);
    if (type != RB_BODY_DYNAMIC && isMoving) {
        return rbReader_Fail(
            reader, RB_STATUS_INVALID,
            type == RB_BODY_STATIC
                ? "a static body never moves; make it \"dynamic\" or remove "
                  "\"velocity\" and \"spin\""
                : "a kinematic body follows its \"path\"; give speed and spin there");
    }
    if (type != RB_BODY_KINEMATIC && fields->path != NULL) {
        rbReader_Push(reader, "path");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "only a body of type \"kinematic\" can follow a path");
    }
    if (fields->growth > 0.0 && !rbEngineType_GetTraits(engine).growsBodies) {
        rbReader_Push(reader, "growth");
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "bodies grow only with the engine \"event\"; set \"engine\": "
                             "\"event\" or remove \"growth\"");
    }
    if (fields->repeat != NULL && fields->scatter != NULL) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "both \"repeat\" and \"scatter\" are given; give only one");
    }
    return RB_STATUS_OK;
}

static rbStatus readRepeat(rbReader* reader, const json_t* json, rbSceneBody* body, double* count)
{
    rbRepeatFields fields = {0};
    rbReader_Push(reader, "repeat");
    rbStatus status = rbReadFields(reader, json, &rbRepeatKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    double v[3];
    rbReader_Push(reader, "count");
    status = rbReadNumbers(reader, fields.count, v, 3, 0.0);
    if (status != RB_STATUS_OK) {
        return status;
    }
    *count = 1.0;
    for (size_t i = 0; i < 3; ++i) {
        if (floor(v[i]) != v[i] || v[i] < 1.0) {
            rbReader_PushIndex(reader, i);
            return rbReader_Fail(reader, RB_STATUS_INVALID,
                                 "found %.10g; expected an integer of at least 1", v[i]);
        }
        *count *= v[i];
        body->repeatCount[i] = v[i] <= RB_SCENE_BODIES_MAX ? (int)v[i] : RB_SCENE_BODIES_MAX;
    }
    body->copyKind = RB_COPY_REPEAT;
    body->repeatSpacing = fields.spacing;
    rbReader_Pop(reader);
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

static rbStatus readScatter(rbReader* reader, const json_t* json, rbSceneBody* body, double* count)
{
    rbScatterFields fields = {0};
    rbReader_Push(reader, "scatter");
    rbStatus status = rbReadFields(reader, json, &rbScatterKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (body->type != RB_BODY_DYNAMIC && (fields.speed > 0.0 || fields.spin > 0.0)) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "only dynamic bodies can be given random \"speed\" and \"spin\"");
    }
    *count = (double)fields.count;
    body->copyKind = RB_COPY_SCATTER;
    body->scatterBox = fields.box;
    body->scatterSpeed = fields.speed;
    body->scatterSpin = fields.spin;
    rbReader_Pop(reader);
    return RB_STATUS_OK;
}

// Reads repeat or scatter and checks the number of bodies before any is created.
static rbStatus readCopies(rbScene* scene, rbReader* reader, const rbBodyFields* fields,
                           rbSceneBody* body)
{
    RB_ASSERT(body->copyKind == RB_COPY_NONE);
    RB_ASSERT(scene->info.bodyCount <= RB_SCENE_BODIES_MAX);
    double count = 1.0;
    rbStatus status = RB_STATUS_OK;
    if (fields->repeat != NULL) {
        status = readRepeat(reader, fields->repeat, body, &count);
    } else if (fields->scatter != NULL) {
        status = readScatter(reader, fields->scatter, body, &count);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    if ((double)scene->info.bodyCount + count > RB_SCENE_BODIES_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the scene would have %.10g bodies; the limit is %d",
                             (double)scene->info.bodyCount + count, RB_SCENE_BODIES_MAX);
    }
    double shapeCount = (double)scene->info.shapeCount + count * body->shapeCount;
    if (shapeCount > 2.0 * RB_SCENE_BODIES_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the scene would have %.10g shapes; the limit is %d", shapeCount,
                             2 * RB_SCENE_BODIES_MAX);
    }
    body->copyCount = (int)count;
    body->firstIndex = scene->info.bodyCount;
    scene->info.bodyCount += body->copyCount;
    scene->info.shapeCount += body->copyCount * body->shapeCount;
    char number[24];
    int digits = snprintf(number, sizeof number, "[%d]", body->copyCount - 1);
    if (body->copyKind != RB_COPY_NONE && strlen(body->name) + (size_t)digits > RB_SCENE_NAME_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the names of the copies, %s%s, are longer than %d bytes", body->name,
                             number, RB_SCENE_NAME_MAX);
    }
    return RB_STATUS_OK;
}

// Reads what depends on shapes and other bodies, after the simple fields.
static rbStatus readBodyParts(rbScene* scene, rbReader* reader, const json_t* json,
                              const rbBodyFields* fields, rbSceneBody* body)
{
    rbStatus status = readShapes(scene, reader, fields->shapes, body);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbGivenMass given = {.hasMass = json_object_get(json, "mass") != NULL,
                         .hasCenter = json_object_get(json, "center") != NULL,
                         .mass = fields->mass,
                         .center = fields->center,
                         .inertia = fields->inertia};
    status = rbReadMass(scene, reader, &given, body);
    if (status == RB_STATUS_OK && fields->motion != NULL) {
        rbReader_Push(reader, "motion");
        body->hasMotion = true;
        body->motion = scene->info.motion;
        status = rbReadFields(reader, fields->motion, &rbMotionKeys, &body->motion);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(reader);
        }
    }
    if (status == RB_STATUS_OK && fields->path != NULL) {
        rbReader_Push(reader, "path");
        status = rbReadPath(reader, fields->path, body);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(reader);
        }
    }
    return status == RB_STATUS_OK ? readCopies(scene, reader, fields, body) : status;
}

rbStatus rbReadBody(rbScene* scene, rbReader* reader, const json_t* json, size_t index)
{
    static const rbSceneBody empty = {.orientation = {1.0, 0.0, 0.0, 0.0}, .copyCount = 1};
    rbBodyFields fields = {.type = "dynamic", .orientation = RB_QUAT_IDENTITY};
    char name[RB_SCENE_NAME_MAX + 1];
    (void)snprintf(name, sizeof name, "body%zu", index);
    const json_t* given = json_object_get(json, "name");
    rbReader_SetSubject(reader, "body", json_is_string(given) ? json_string_value(given) : name);
    rbStatus status = rbReadFields(reader, json, &rbBodyKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbBodyType type = RB_BODY_DYNAMIC;
    status = readBodyType(reader, fields.type, &type);
    if (status == RB_STATUS_OK) {
        status = validateKeys(reader, json, &fields, type, scene->info.engineType);
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    // In the array at once, so that what it owns is freed in any case.
    rbArray_Push(scene->bodies, empty);
    rbSceneBody* body = &scene->bodies.data[scene->bodies.count - 1];
    (void)snprintf(body->name, sizeof body->name, "%s", fields.name != NULL ? fields.name : name);
    body->type = type;
    body->position = fields.position;
    body->orientation = fields.orientation;
    body->growth = fields.growth;
    status = rbReadLooks(scene, reader, json, &fields, body);
    if (status != RB_STATUS_OK) {
        return status;
    }
    body->velocity = fields.velocity;
    body->isSpinLocal = json_object_get(json, "spinLocal") != NULL;
    body->spin = body->isSpinLocal ? fields.spinLocal : fields.spin;
    status = readBodyParts(scene, reader, json, &fields, body);
    int* counts[] = {[RB_BODY_STATIC] = &scene->info.staticCount,
                     [RB_BODY_KINEMATIC] = &scene->info.kinematicCount,
                     [RB_BODY_DYNAMIC] = &scene->info.dynamicCount};
    *counts[type] += body->copyCount;
    return status;
}

rbStatus rbReadBodies(rbScene* scene, rbReader* reader, const json_t* array)
{
    RB_ASSERT(scene->bodies.count == 0);
    RB_ASSERT(json_is_array(array));
    for (size_t i = 0; i < json_array_size(array); ++i) {
        rbReader_PushIndex(reader, i);
        rbStatus status = rbReadBody(scene, reader, json_array_get(array, i), i);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_SetSubject(reader, NULL, NULL);
        rbReader_Pop(reader);
    }
    return rbIndexBodies(scene, reader);
}
