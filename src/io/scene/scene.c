// Scenes: parsing, validating, overriding, and information about a scene.
#include "base/core/float_mode.h"
#include "io/scene/file_bytes.h"
#include "io/scene/foreign_format.h"
#include "io/scene/scene_joints.h"
#include "world/world_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Defaults for what a scene may omit.
#define DEFAULT_DURATION 10.0     // s
#define DEFAULT_OUTPUT_COUNT 1000 // outputs in a run without output.step

const char* rbScene_CopyString(rbScene* scene, const char* text)
{
    RB_ASSERT(text != NULL);
    size_t size = strlen(text) + 1;
    char* copy = rbArena_Alloc(&scene->strings, size);
    memcpy(copy, text, size);
    return copy;
}

// -------------------------------------------------------------------------------------- parsing

static json_t* parseText(const char* text, size_t size, const char* file, rbError* error)
{
    RB_ASSERT(file != NULL);
    RB_ASSERT(error != NULL);
    static const rbJsonLimits limits = {
        RB_SCENE_DEPTH_MAX, "a scene is a JSON object, {\"rattleback\": 1, \"bodies\": [...]}"};
    rbError_SetPlace(error, file, "");
    error->line = 0;
    error->column = 0;
    if (size > RB_SCENE_FILE_SIZE_MAX) {
        (void)rbError_Set(error, RB_STATUS_LIMIT, "is too large; the limit is %zu MB",
                          RB_SCENE_FILE_SIZE_MAX >> 20);
        return NULL;
    }
    return rbIsForeignFormat(text, size, error) ? NULL : rbParseJson(text, size, &limits, error);
}

// -------------------------------------------------------------------------------------- validation

static rbStatus validateEngine(rbReader* reader, const char* word, rbEngineType* engine)
{
    int index = 0;
    rbStatus status = rbReadWord(reader, "engine", word, &rbEngineTypeWords, &index);
    *engine = (rbEngineType)index;
    return status;
}

static rbStatus validateVersion(rbReader* reader, int64_t version)
{
    if (version == RB_SCENE_VERSION) {
        return RB_STATUS_OK;
    }
    rbReader_Push(reader, "rattleback");
    return rbReader_Fail(reader, RB_STATUS_UNSUPPORTED,
                         "version %lld of the format is unknown; this program reads version %d",
                         (long long)version, RB_SCENE_VERSION);
}

// Reads the simple values of the scene.
static rbStatus readHead(rbScene* scene, rbReader* reader, rbSceneFields* fields)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    *fields = (rbSceneFields){.version = RB_SCENE_VERSION,
                              .name = scene->stem,
                              .title = "",
                              .theme = "",
                              .shows = "",
                              .why = "",
                              .engine = rbEngineType_Name(worldDef.engine),
                              .duration = DEFAULT_DURATION,
                              .seed = 1};
    rbEngineType engine = worldDef.engine;
    rbStatus status = rbReadFields(reader, scene->root, &rbSceneKeys, fields);
    if (status == RB_STATUS_OK) {
        status = validateVersion(reader, fields->version);
    }
    if (status == RB_STATUS_OK) {
        status = validateEngine(reader, fields->engine, &engine);
    }
    if (status == RB_STATUS_OK && fields->detector != NULL) {
        status = rbReadDetector(reader, fields->detector, &worldDef.event.detector);
    }
    scene->info = (rbSceneInfo){.name = fields->name,
                                .title = fields->title,
                                .theme = fields->theme,
                                .shows = fields->shows,
                                .why = fields->why,
                                .engine = fields->engine,
                                .file = scene->file,
                                .duration = fields->duration,
                                .seed = (uint64_t)fields->seed,
                                .gravity = worldDef.gravity,
                                .periodicBox = worldDef.periodicBox,
                                .motion = worldDef.motion,
                                .engineType = engine,
                                .engineTraits = rbEngineType_GetTraits(engine),
                                .event = worldDef.event,
                                .step = worldDef.step,
                                .contact = worldDef.contact};
    return status;
}

static rbStatus readOutput(rbScene* scene, rbReader* reader, const json_t* json,
                           const json_t** probes)
{
    rbOutputFields fields = {.step = scene->info.duration / DEFAULT_OUTPUT_COUNT};
    rbStatus status =
        json != NULL ? rbReadFields(reader, json, &rbOutputKeys, &fields) : RB_STATUS_OK;
    scene->info.outputStep = fields.step;
    *probes = fields.probes;
    if (status == RB_STATUS_OK && scene->info.duration / fields.step > 1e9) {
        rbReader_Push(reader, "step");
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "output.step %.10g s over a duration of %.10g s gives %.3g outputs; "
                             "the limit is 1e9",
                             fields.step, scene->info.duration, scene->info.duration / fields.step);
    }
    return status;
}

typedef rbStatus SectionFn(rbScene* scene, rbReader* reader, const json_t* json);

// Validates the tree and fills the scene from it. The order matters: bodies refer to materials and
// geometries; trees make bodies; forces, joints and springs refer to bodies, probes to all three.
static rbStatus validateScene(rbScene* scene, rbError* error)
{
    RB_ASSERT(scene->root != NULL);
    RB_ASSERT(scene->bodies.count == 0);
    rbReader reader = {.error = error, .file = scene->file};
    rbSceneFields fields;
    rbStatus status = readHead(scene, &reader, &fields);
    const json_t* probes = NULL;
    if (status == RB_STATUS_OK) {
        rbReader_Push(&reader, "output");
        status = readOutput(scene, &reader, fields.output, &probes);
        reader.partCount = status == RB_STATUS_OK ? 0 : reader.partCount;
    }
    if (status == RB_STATUS_OK) {
        status = rbReadSceneRows(&reader, scene->root, &rbSceneKeys, scene);
    }
    const struct {
        const char* key;
        SectionFn* read;
        const json_t* json;
    } sections[] = {
        {"world", rbReadWorld, fields.world},
        {"motion", rbReadMotion, fields.motion},
        {"event", rbReadEvent, fields.event},
        {"step", rbReadStep, fields.step},
        {"contact", rbReadContact, fields.contact},
        {"materials", rbReadMaterials, fields.materials},
        {"materialPairs", rbReadMaterialPairs, fields.materialPairs},
        {"geometries", rbReadNamedGeometries, fields.geometries},
        {"bodies", rbReadBodies, fields.bodies},
        {"trees", rbReadTrees, fields.trees},
        {"forces", rbReadForces, fields.forces},
        {"joints", rbReadJoints, fields.joints},
        {"springs", rbReadSprings, fields.springs},
    };
    for (size_t i = 0; i < sizeof sections / sizeof sections[0] && status == RB_STATUS_OK; ++i) {
        rbReader_Push(&reader, sections[i].key);
        status = sections[i].read(scene, &reader, sections[i].json);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(&reader);
        }
    }
    if (status == RB_STATUS_OK) {
        rbReader_Push(&reader, "output");
        rbReader_Push(&reader, "probes");
        status = rbReadProbes(scene, &reader, probes);
    }
    scene->info.geometryCount = scene->geometries.count;
    scene->info.materialCount = scene->materials.count;
    scene->info.materialPairCount = scene->materialPairs.count;
    scene->info.attachmentCount = scene->attachments.count;
    return status;
}

// ------------------------------------------------------------------------------- creation and use

// Where a scene comes from.
typedef struct Origin {
    const char* file;
    const char* folder;
    rbSceneFileFn* fileFn;
    void* fileContext;
    const rbScene* former;
} Origin;

// The file name without folder and extension.
static char* copyStem(const char* file)
{
    const char* slash = strrchr(file, '/');
    const char* start = slash != NULL ? slash + 1 : file;
    const char* dot = strchr(start, '.');
    size_t length = dot != NULL && dot > start ? (size_t)(dot - start) : strlen(start);
    return rbCopyText(start, length);
}

// Makes a scene from a tree; takes ownership of the tree.
static rbScene* makeScene(json_t* root, const Origin* origin, rbError* error)
{
    RB_ASSERT(root != NULL);
    RB_ASSERT(origin->file != NULL);
    rbScene* scene = rbAllocZero(1, sizeof *scene);
    scene->root = root;
    scene->file = rbCopyText(origin->file, strlen(origin->file));
    scene->folder = rbCopyText(origin->folder, strlen(origin->folder));
    scene->stem = copyStem(origin->file);
    scene->fileFn = origin->fileFn;
    scene->fileContext = origin->fileContext;
    scene->former = origin->former;
    rbStatus status = validateScene(scene, error);
    scene->former = NULL;
    if (status != RB_STATUS_OK) {
        rbDestroyScene(scene);
        return NULL;
    }
    scene->text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (scene->text == NULL) {
        (void)rbError_Set(error, RB_STATUS_LIMIT, "the scene cannot be written as text");
        rbDestroyScene(scene);
        return NULL;
    }
    scene->textSize = strlen(scene->text);
    return scene;
}

rbScene* rbReadSceneText(const char* text, size_t size, const rbSceneSource* source, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(text != NULL || size == 0);
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    rbSceneSource none = {0};
    source = source != NULL ? source : &none;
    Origin origin = {.file = source->name != NULL ? source->name : "scene",
                     .folder = source->folder != NULL ? source->folder : "",
                     .fileFn = source->fileFn,
                     .fileContext = source->context};
    json_t* root = parseText(text, size, origin.file, error);
    return root != NULL ? makeScene(root, &origin, error) : NULL;
}

rbScene* rbReadScene(const char* path, rbError* error)
{
    RB_ASSERT(path != NULL);
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    void* bytes = NULL;
    size_t size = 0;
    error->line = 0;
    error->column = 0;
    if (rbReadFileBytes(path, RB_SCENE_FILE_SIZE_MAX, &bytes, &size, error) != RB_STATUS_OK) {
        return NULL;
    }
    const char* slash = strrchr(path, '/');
    char* folder = rbCopyText(path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    rbSceneSource source = {.name = path, .folder = folder};
    rbScene* scene = rbReadSceneText(bytes, size, &source, error);
    rbFreeString(folder);
    rbFree(bytes, size);
    return scene;
}

void rbDestroyScene(rbScene* scene)
{
    if (scene == NULL) {
        return;
    }
    for (int i = 0; i < scene->bodies.count; ++i) {
        const rbPathDef* path = &scene->bodies.data[i].path;
        rbFree((void*)path->points, (size_t)path->pointCount * sizeof(rbVec3));
    }
    for (int i = 0; i < scene->geometries.count; ++i) {
        rbDestroyGeometry(scene->geometries.data[i].geometry);
    }
    for (int i = 0; i < scene->attachments.count; ++i) {
        rbSceneAttachment* attachment = &scene->attachments.data[i];
        rbFree(attachment->name, attachment->nameSize);
        rbFree(attachment->bytes, attachment->size);
    }
    rbArray_Free(scene->materials);
    rbArray_Free(scene->materialPairs);
    rbArray_Free(scene->geometries);
    rbArray_Free(scene->namedGeometries);
    rbArray_Free(scene->shapes);
    rbArray_Free(scene->visuals);
    rbArray_Free(scene->bodies);
    rbArray_Free(scene->bodiesByName);
    rbArray_Free(scene->forces);
    rbArray_Free(scene->trees);
    rbArray_Free(scene->joints);
    rbArray_Free(scene->springs);
    rbArray_Free(scene->linksByName);
    rbArray_Free(scene->probes);
    rbArray_Free(scene->columns);
    rbArray_Free(scene->attachments);
    rbArena_Free(&scene->strings);
    rbFreeString(scene->file);
    rbFreeString(scene->folder);
    rbFreeString(scene->stem);
    free(scene->text); // allocated by jansson
    json_decref(scene->generated);
    json_decref(scene->root);
    rbFree(scene, sizeof *scene);
}

rbStatus rbScene_Override(rbScene* scene, const char* assignment, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(scene != NULL);
    RB_ASSERT(assignment != NULL);
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    error->line = 0;
    error->column = 0;
    json_t* root = json_deep_copy(scene->root);
    if (root == NULL) {
        return rbError_Set(error, RB_STATUS_LIMIT, "the scene cannot be copied");
    }
    rbStatus status = rbOverrideJson(root, assignment, error);
    if (status != RB_STATUS_OK) {
        json_decref(root);
        return status;
    }
    Origin origin = {.file = scene->file,
                     .folder = scene->folder,
                     .fileFn = scene->fileFn,
                     .fileContext = scene->fileContext,
                     .former = scene};
    rbScene* changed = makeScene(root, &origin, error);
    if (changed == NULL) {
        return error->status;
    }
    rbScene old = *scene;
    *scene = *changed;
    *changed = old;
    rbDestroyScene(changed);
    return RB_STATUS_OK;
}

static void keepKey(const rbScene* scene, json_t* root, const char* key)
{
    json_t* value = json_object_get(scene->root, key);
    if (value != NULL) {
        (void)json_object_set(root, key, value);
    }
}

// A scene with only what a body may refer to, and the body; takes ownership of the body.
static json_t* makeRootAround(const rbScene* scene, json_t* body)
{
    static const char* const kept[] = {"rattleback", "engine",        "world",   "motion",
                                       "event",      "step",          "contact", "materials",
                                       "geometries", "materialPairs", "detector"};
    json_t* root = json_object();
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i) {
        keepKey(scene, root, kept[i]);
    }
    const rbSceneRow* row = NULL;
    for (int i = 0; (row = rbGetSceneRow(i)) != NULL; ++i) {
        if (row->object[0] == '\0') {
            keepKey(scene, root, row->key.name);
        }
    }
    json_t* bodies = json_array();
    (void)json_array_append_new(bodies, body);
    (void)json_object_set_new(root, "bodies", bodies);
    return root;
}

// The files of the scene are attachments of the former one; there are no others.
static const void* refuseFile(const char* name, size_t* size, void* context)
{
    (void)name;
    (void)context;
    *size = 0;
    return NULL;
}

rbBodyId rbScene_AddBody(const rbScene* scene, rbWorld* world, const char* text, size_t size,
                         const char* name, rbError* error)
{
    RB_USE_STANDARD_FLOAT_MODE();
    RB_ASSERT(scene != NULL && world != NULL && name != NULL);
    static const rbJsonLimits limits = {RB_SCENE_DEPTH_MAX,
                                        "a body is a JSON object, {\"shapes\": [...]}"};
    const rbBodyId none = {0, 0};
    rbError ignored = {0};
    error = error != NULL ? error : &ignored;
    rbError_SetPlace(error, "", "");
    json_t* body = rbParseJson(text, size, &limits, error);
    if (body == NULL) {
        return none;
    }
    if (json_is_object(body) && json_object_get(body, "name") == NULL) {
        (void)json_object_set_new(body, "name", json_string(name));
    }
    Origin origin = {.file = "", .folder = "", .fileFn = refuseFile, .former = scene};
    rbScene* around = makeScene(makeRootAround(scene, body), &origin, error);
    if (around == NULL) {
        return none;
    }
    rbBodyId bodyId = none;
    if (around->info.bodyCount == 1) {
        bodyId = rbMakeBody(around, world, error);
    } else {
        (void)rbError_Set(error, RB_STATUS_INVALID,
                          "this gives %d bodies; add one at a time, without \"repeat\" "
                          "or \"scatter\"",
                          around->info.bodyCount);
    }
    rbDestroyScene(around);
    return bodyId;
}

const rbSceneInfo* rbScene_GetInfo(const rbScene* scene)
{
    RB_ASSERT(scene != NULL);
    return &scene->info;
}

const char* rbScene_GetText(const rbScene* scene, size_t* size)
{
    RB_ASSERT(scene != NULL);
    if (size != NULL) {
        *size = scene->textSize;
    }
    return scene->text;
}
