// rattleback info: describes a file. The type is found from the content, not from the name.
#include "base/core/memory.h"
#include "cli/cli.h"
#include "cli/mechanisms.h"
#include "cli/recordings.h"
#include "cli/scenes.h"
#include "cli/settings.h"
#include "cli/tally_contacts.h"
#include "world/world_settings.h"

#include <rattleback/output.h>

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ISSUES_SHOWN 12
#define DENSITY 1000.0 // kg/m^3, water: assumed for the mass of a mesh

typedef struct rbFileBytes {
    char* data; // size bytes and a terminating zero
    size_t size;
} rbFileBytes;

static rbStatus readBytes(const char* path, rbFileBytes* bytes, rbError* error)
{
    rbError_SetPlace(error, path, NULL);
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        return rbError_Set(error, errno == ENOENT ? RB_STATUS_NOT_FOUND : RB_STATUS_IO,
                           "the file cannot be read: %s", strerror(errno));
    }
    size_t capacity = 1 << 16;
    bytes->data = rbAlloc(capacity);
    size_t count = 0;
    while ((count = fread(bytes->data + bytes->size, 1, capacity - bytes->size - 1, file)) > 0) {
        bytes->size += count;
        if (bytes->size > RB_SCENE_FILE_SIZE_MAX) {
            break;
        }
        if (capacity - bytes->size - 1 == 0) {
            bytes->data = rbGrow(bytes->data, capacity, 2 * capacity);
            capacity *= 2;
        }
    }
    bool isBad = ferror(file) != 0;
    (void)fclose(file);
    // the caller frees size + 1 bytes: keep the block at that size
    char* exact = rbAlloc(bytes->size + 1);
    memcpy(exact, bytes->data, bytes->size);
    exact[bytes->size] = '\0';
    rbFree(bytes->data, capacity);
    bytes->data = exact;
    if (isBad) {
        return rbError_Set(error, RB_STATUS_IO, "the file cannot be read: %s", strerror(errno));
    }
    if (bytes->size > RB_SCENE_FILE_SIZE_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT, "the file has more than %zu bytes",
                           RB_SCENE_FILE_SIZE_MAX);
    }
    return RB_STATUS_OK;
}

// -------------------------------------------------------------------------------- what kind it is

static bool beginsWith(const rbFileBytes* bytes, const char* text, size_t length)
{
    return bytes->size >= length && memcmp(bytes->data, text, length) == 0;
}

static bool isRecording(const rbFileBytes* bytes)
{
    return beginsWith(bytes, "\x89RBR", 4);
}

static bool isBinaryGltf(const rbFileBytes* bytes)
{
    return beginsWith(bytes, "glTF", 4);
}

static bool isJson(const rbFileBytes* bytes)
{
    const char* text = bytes->data;
    while (isspace((unsigned char)*text)) {
        ++text;
    }
    return *text == '{';
}

static bool isTextGltf(const rbFileBytes* bytes)
{
    return isJson(bytes) && strstr(bytes->data, "\"asset\"") != NULL &&
           strstr(bytes->data, "\"rattleback\"") == NULL;
}

static bool isPly(const rbFileBytes* bytes)
{
    return beginsWith(bytes, "ply\n", 4) || beginsWith(bytes, "ply\r", 4);
}

// Binary: 80 arbitrary bytes, the number of triangles, 50 bytes per triangle. Text: "solid".
static bool isStl(const rbFileBytes* bytes)
{
    if (bytes->size >= 84) {
        const unsigned char* b = (const unsigned char*)bytes->data + 80;
        uint64_t count = b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24;
        if (bytes->size == 84 + 50 * count) {
            return true;
        }
    }
    return beginsWith(bytes, "solid", 5) && strstr(bytes->data, "facet") != NULL;
}

// Text with a line that starts with "v ".
static bool isObj(const rbFileBytes* bytes)
{
    return memchr(bytes->data, 0, bytes->size) == NULL &&
           (beginsWith(bytes, "v ", 2) || strstr(bytes->data, "\nv ") != NULL);
}

typedef rbExit rbDescribeFn(const char* path, const char* format, const rbFileBytes* bytes,
                            bool isForMachines);
static rbDescribeFn describeRecording, describeMesh, describeScene;

static const struct {
    const char* format;
    bool (*recognize)(const rbFileBytes* bytes);
    rbDescribeFn* describe;
} kinds[] = {
    {"recording", isRecording, describeRecording},
    {"glb", isBinaryGltf, describeMesh},
    {"ply", isPly, describeMesh},
    {"gltf", isTextGltf, describeMesh},
    {"scene", isJson, describeScene},
    {"stl", isStl, describeMesh},
    {"obj", isObj, describeMesh},
};

// ------------------------------------------------------------------------------------- recordings

typedef struct rbRecordingFacts {
    rbRecordingInfo info;
    const rbRecordingHeader* header;
    char scene[64];
    char title[160];
    double firstTime;
    double lastTime;
} rbRecordingFacts;

static rbStatus gatherFacts(rbRecording* recording, rbRecordingFacts* facts, rbError* error)
{
    facts->info = rbRecording_GetInfo(recording);
    facts->header = rbRecording_GetHeader(recording);
    rbScene* scene = rbReadRecordedScene(recording, "the scene inside", NULL);
    (void)snprintf(facts->scene, sizeof facts->scene, "%s",
                   scene != NULL ? rbScene_GetInfo(scene)->name : "unreadable");
    (void)snprintf(facts->title, sizeof facts->title, "%s",
                   scene != NULL ? rbScene_GetInfo(scene)->title : "");
    rbDestroyScene(scene);
    rbFrame frame;
    rbStatus status = RB_STATUS_OK;
    facts->firstTime = facts->lastTime = NAN;
    if (facts->info.frameCount > 0) {
        status = rbRecording_ReadFrame(recording, 0, &frame, error);
        facts->firstTime = frame.time;
    }
    if (status == RB_STATUS_OK && facts->info.frameCount > 0) {
        status = rbRecording_ReadFrame(recording, facts->info.frameCount - 1, &frame, error);
        facts->lastTime = frame.time;
    }
    return status;
}

static void printRecording(const char* path, const rbRecordingFacts* facts)
{
    const rbRecordingInfo* info = &facts->info;
    char size[32];
    (void)printf("%s: a recording, format %d, %s\n", path, info->formatVersion,
                 rbRecordingCondition_Text(info->condition));
    (void)printf("  %-14s%s: %s\n", "scene", rbShow(facts->scene), rbShow(facts->title));
    (void)printf("  %-14srattleback %s\n", "made by", rbShow(facts->header->programVersion));
    (void)printf("  %-14s%d\n", "bodies", facts->header->bodyCount);
    (void)printf("  %-14s%" PRId64 ", t = %.10g s to %.10g s\n", "frames", info->frameCount,
                 facts->firstTime, facts->lastTime);
    (void)printf("  %-14s%" PRId64 "\n", "events", info->eventCount);
    if (info->actionCount > 0) {
        (void)printf("  %-14s%" PRId64 " by the user\n", "actions", info->actionCount);
    }
    (void)printf("  %-14s%d files\n", "attached", facts->header->attachmentCount);
    (void)printf("  %-14s%s\n", "settings", rbShow(facts->header->settingsText));
    (void)printf("  %-14s%s in %" PRId64 " chunks\n", "size",
                 rbFormatBytes((double)info->byteCount, size), info->chunkCount);
    if (info->finalHash != 0) {
        (void)printf("  %-14s%016" PRIx64 "\n", "final hash", info->finalHash);
    }
}

static void printRecordingJson(const char* path, const rbRecordingFacts* facts)
{
    const rbRecordingInfo* info = &facts->info;
    rbJson json = {.file = stdout};
    char hash[32];
    (void)snprintf(hash, sizeof hash, "%016" PRIx64, info->finalHash);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "file", path);
    rbJson_Text(&json, "kind", "recording");
    rbJson_Integer(&json, "formatVersion", info->formatVersion);
    rbJson_Text(&json, "condition", rbRecordingCondition_Text(info->condition));
    rbJson_Text(&json, "trouble", info->trouble != NULL ? info->trouble->message : NULL);
    rbJson_Text(&json, "scene", facts->scene);
    rbJson_Text(&json, "title", facts->title);
    rbJson_Text(&json, "programVersion", facts->header->programVersion);
    rbJson_Text(&json, "settings", facts->header->settingsText);
    rbJson_Integer(&json, "bodies", facts->header->bodyCount);
    rbJson_Integer(&json, "attachments", facts->header->attachmentCount);
    rbJson_Integer(&json, "frames", info->frameCount);
    rbJson_Integer(&json, "events", info->eventCount);
    rbJson_Integer(&json, "actions", info->actionCount);
    rbJson_Number(&json, "firstTime", facts->firstTime);
    rbJson_Number(&json, "lastTime", facts->lastTime);
    rbJson_Integer(&json, "bytes", info->byteCount);
    rbJson_Integer(&json, "chunks", info->chunkCount);
    rbJson_Text(&json, "finalHash", info->finalHash != 0 ? hash : NULL);
    rbJson_End(&json);
}

static rbExit describeRecording(const char* path, const char* format, const rbFileBytes* bytes,
                                bool isForMachines)
{
    (void)format;
    (void)bytes;
    rbError error = {0};
    rbRecording* recording = rbOpenRecording(path, &error);
    rbRecordingFacts facts = {0};
    if (recording == NULL || gatherFacts(recording, &facts, &error) != RB_STATUS_OK) {
        rbCloseRecording(recording);
        return rbFailWith(&error);
    }
    if (isForMachines) {
        printRecordingJson(path, &facts);
    } else {
        printRecording(path, &facts);
    }
    rbExit exit = RB_EXIT_DONE;
    if (facts.info.condition != RB_RECORDING_COMPLETE) {
        (void)fflush(stdout);
        exit = rbFailWith(facts.info.trouble);
    }
    rbCloseRecording(recording);
    return exit;
}

// ----------------------------------------------------------------------------------------- scenes

#define LINKS_SHOWN 40

// The name of a body of a joint.
static const char* getBodyName(const rbWorld* world, rbBodyId bodyId)
{
    return RB_IS_NULL(bodyId) ? "world" : rbBody_GetName(world, bodyId);
}

static void printJoints(const rbWorld* world)
{
    int count = rbWorld_GetJointCount(world);
    rbJointId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetJointIds(world, ids, count);
    for (int i = 0; i < count && i < LINKS_SHOWN; ++i) {
        int conditions = rbJoint_GetConditionCount(world, ids[i]);
        char effect[32] = "constrains only velocity";
        if (conditions > 0) {
            (void)snprintf(effect, sizeof effect, "removes %d", conditions);
        }
        (void)printf("  %-14s%-20s %-16s %s - %s, %s\n", "", rbShow(rbJoint_GetName(world, ids[i])),
                     rbJointType_Name(rbJoint_GetType(world, ids[i])),
                     rbShow(getBodyName(world, rbJoint_GetBodyA(world, ids[i]))),
                     rbShow(getBodyName(world, rbJoint_GetBodyB(world, ids[i]))), effect);
    }
    if (count > LINKS_SHOWN) {
        (void)printf("  %-14s... and %d more\n", "", count - LINKS_SHOWN);
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}

static void printSprings(const rbWorld* world)
{
    int count = rbWorld_GetSpringCount(world);
    rbSpringId* ids = rbAlloc((size_t)count * sizeof *ids);
    (void)rbWorld_GetSpringIds(world, ids, count);
    for (int i = 0; i < count && i < LINKS_SHOWN; ++i) {
        (void)printf("  %-14s%-20s %-16s %s - %s, %g m long\n", "",
                     rbShow(rbSpring_GetName(world, ids[i])), "spring",
                     rbShow(getBodyName(world, rbSpring_GetBodyA(world, ids[i]))),
                     rbShow(getBodyName(world, rbSpring_GetBodyB(world, ids[i]))),
                     rbSpring_GetState(world, ids[i]).length);
    }
    if (count > LINKS_SHOWN) {
        (void)printf("  %-14s... and %d more\n", "", count - LINKS_SHOWN);
    }
    rbFree(ids, (size_t)count * sizeof *ids);
}

// Joints and springs, and the degrees of freedom they leave.
static void printMechanisms(const rbScene* scene)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    rbError error = {0};
    if (info->jointCount + info->springCount == 0) {
        return;
    }
    rbWorld* world = rbScene_CreateWorld(scene, &error);
    if (world == NULL || rbScene_PrepareWorld(scene, world, &error) != RB_STATUS_OK) {
        (void)printf("  %-14s%d joint%s, %d spring%s; the simulation cannot start: %s\n", "joints",
                     info->jointCount, rbPlural(info->jointCount), info->springCount,
                     rbPlural(info->springCount), rbShow(error.message));
    } else {
        rbMechanismFacts facts = rbGetMechanismFacts(info, world);
        char text[160];
        rbDescribeMechanisms(&facts, info, text, sizeof text);
        (void)printf("  %-14s%s\n", "joints", text);
        (void)printf("  %-14s%d of %d left at the start (motors not counted)\n", "freedoms",
                     facts.left, facts.freedoms);
    }
    if (world != NULL) {
        printJoints(world);
        printSprings(world);
    }
    rbDestroyWorld(world);
}

// Those of contacts, if there can be some.
static bool usesContacts(const rbSceneInfo* info)
{
    return info->engineTraits.isStepped && info->contact.isEnabled && info->shapeCount > 1;
}

static void printScene(const rbScene* scene, const char* path)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    (void)printf("%s: a scene, %s\n", rbShow(path), rbShow(info->name));
    (void)printf("  %-14s%s\n", "title", rbShow(info->title));
    (void)printf("  %-14s%s\n", "theme", rbShow(info->theme));
    if (info->shows[0] != '\0') {
        (void)printf("  %-14s%s\n", "shows", rbShow(info->shows));
    }
    if (info->why[0] != '\0') {
        (void)printf("  %-14s%s\n", "why", rbShow(info->why));
    }
    (void)printf("  %-14s%s, %g s, output every %g s\n", "engine", info->engine, info->duration,
                 info->outputStep);
    (void)printf("  %-14s(%g, %g, %g) m/s^2\n", "gravity", info->gravity.x, info->gravity.y,
                 info->gravity.z);
    (void)printf("  %-14s%d (%d dynamic, %d kinematic, %d static)\n", "bodies", info->bodyCount,
                 info->dynamicCount, info->kinematicCount, info->staticCount);
    (void)printf("  %-14s%d of %d geometr%s, %d material%s, %d force%s\n", "shapes",
                 info->shapeCount, info->geometryCount, info->geometryCount == 1 ? "y" : "ies",
                 info->materialCount, rbPlural(info->materialCount), info->forceCount,
                 rbPlural(info->forceCount));
    if (usesContacts(info)) {
        char text[240];
        rbDescribeContactSettings(&info->contact, text, sizeof text);
        (void)printf("  %-14s%s\n", "contacts", text);
    }
    printMechanisms(scene);
    (void)printf("  %-14s%d with %d column%s%s\n", "probes", info->probeCount, info->columnCount,
                 rbPlural(info->columnCount), info->hasDefaultProbes ? " (the default)" : "");
    for (int i = 0; i < info->attachmentCount; ++i) {
        const char* name = NULL;
        const void* data = NULL;
        size_t size = 0;
        char text[32];
        rbScene_GetAttachment(scene, i, &name, &data, &size);
        (void)printf("  %-14s%s (%s)\n", i == 0 ? "files" : "", rbShow(name),
                     rbFormatBytes((double)size, text));
    }
}

// The same as JSON; nothing when the world cannot start.
static void printMechanismsJson(const rbScene* scene, rbJson* json)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    if (info->jointCount + info->springCount == 0) {
        return;
    }
    rbWorld* world = rbScene_CreateWorld(scene, NULL);
    if (world != NULL && rbScene_PrepareWorld(scene, world, NULL) == RB_STATUS_OK) {
        rbMechanismFacts facts = rbGetMechanismFacts(info, world);
        rbJson_Integer(json, "mechanisms", facts.mechanisms);
        rbJson_Integer(json, "conditions", facts.conditions);
        rbJson_Integer(json, "redundantConditions", facts.redundant);
        rbJson_Integer(json, "freedoms", facts.freedoms);
        rbJson_Integer(json, "freedomsLeft", facts.left);
    }
    rbDestroyWorld(world);
}

// Those that the engine of the scene uses.
static void writeSettings(const rbSceneInfo* info, rbJson* json)
{
    if (info->engineType == RB_ENGINE_EVENT) {
        rbJson_Settings(json, &rbEventSettingList, &info->event);
    } else if (info->engineType == RB_ENGINE_STEP) {
        rbJson_Settings(json, &rbStepSettingList, &info->step);
    }
    if (usesContacts(info)) {
        rbJson_Settings(json, &rbContactSettingList, &info->contact);
    }
    rbJson_Settings(json, &rbMotionSettingList, &info->motion);
}

static void printSceneJson(const rbScene* scene, const char* path)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "file", path);
    rbJson_Text(&json, "kind", "scene");
    rbJson_Text(&json, "name", info->name);
    rbJson_Text(&json, "title", info->title);
    rbJson_Text(&json, "theme", info->theme);
    rbJson_Text(&json, "shows", info->shows);
    rbJson_Text(&json, "why", info->why);
    rbJson_Text(&json, "engine", info->engine);
    rbJson_Number(&json, "duration", info->duration);
    rbJson_Number(&json, "outputStep", info->outputStep);
    rbJson_Vec3(&json, "gravity", info->gravity);
    rbJson_Integer(&json, "bodies", info->bodyCount);
    rbJson_Integer(&json, "dynamic", info->dynamicCount);
    rbJson_Integer(&json, "kinematic", info->kinematicCount);
    rbJson_Integer(&json, "static", info->staticCount);
    rbJson_Integer(&json, "shapes", info->shapeCount);
    rbJson_Integer(&json, "geometries", info->geometryCount);
    rbJson_Integer(&json, "materials", info->materialCount);
    rbJson_Integer(&json, "forces", info->forceCount);
    rbJson_Integer(&json, "joints", info->jointCount);
    rbJson_Integer(&json, "springs", info->springCount);
    writeSettings(info, &json);
    printMechanismsJson(scene, &json);
    rbJson_Integer(&json, "probes", info->probeCount);
    rbJson_Integer(&json, "columns", info->columnCount);
    rbJson_BeginArray(&json, "files");
    for (int i = 0; i < info->attachmentCount; ++i) {
        const char* name = NULL;
        const void* data = NULL;
        size_t size = 0;
        rbScene_GetAttachment(scene, i, &name, &data, &size);
        rbJson_Text(&json, NULL, name);
    }
    rbJson_End(&json);
    rbJson_End(&json);
}

static rbExit describeScene(const char* path, const char* format, const rbFileBytes* bytes,
                            bool isForMachines)
{
    (void)format;
    (void)bytes;
    rbError error = {0};
    rbScene* scene = rbReadScene(path, &error);
    if (scene == NULL) {
        return rbFailWith(&error);
    }
    if (isForMachines) {
        printSceneJson(scene, path);
    } else {
        printScene(scene, path);
    }
    rbDestroyScene(scene);
    return RB_EXIT_DONE;
}

// ----------------------------------------------------------------------------------------- meshes

typedef struct rbMeshFacts {
    const char* format;
    int fileVertexCount;
    const rbMeshDef* def;
    rbMeshReport report;
    rbMeshIssue issues[ISSUES_SHOWN];
    double area;
    rbBounds bounds;
    bool hasMass;
    rbMassProperties mass;
    rbVec3 moments;
} rbMeshFacts;

// Sum of the areas of all faces; the vector area of a polygon is half the sum of cross products.
static double measureArea(const rbMeshDef* def)
{
    double area = 0.0;
    const int* corner = def->indices;
    for (int f = 0; f < def->faceCount; ++f) {
        int size = def->faceSizes != NULL ? def->faceSizes[f] : 3;
        rbVec3 sum = RB_VEC3_ZERO;
        rbVec3 a = size > 0 ? def->vertices[corner[0]] : RB_VEC3_ZERO;
        for (int k = 1; k + 1 < size; ++k) {
            sum = rbAdd(sum, rbCross(rbSub(def->vertices[corner[k]], a),
                                     rbSub(def->vertices[corner[k + 1]], a)));
        }
        area += 0.5 * rbLength(sum);
        corner += size;
    }
    return area;
}

static void measureMesh(rbMeshFacts* facts)
{
    const rbMeshDef* def = facts->def;
    facts->report = rbValidateMesh(def, facts->issues, ISSUES_SHOWN);
    bool isReadable = facts->report.counts[RB_MESH_ISSUE_INDEX] == 0 &&
                      facts->report.counts[RB_MESH_ISSUE_TOO_LARGE] == 0;
    facts->area = isReadable ? measureArea(def) : NAN;
    for (int i = 0; i < def->vertexCount; ++i) {
        rbVec3 v = def->vertices[i];
        facts->bounds.lower = i == 0 ? v : rbMin3(facts->bounds.lower, v);
        facts->bounds.upper = i == 0 ? v : rbMax3(facts->bounds.upper, v);
    }
    rbGeometry* geometry = facts->report.isSolid ? rbCreateMesh(def, NULL) : NULL;
    facts->hasMass = geometry != NULL &&
                     rbGeometry_GetMass(geometry, DENSITY, &facts->mass, NULL) == RB_STATUS_OK;
    if (facts->hasMass) {
        rbTransform frame;
        rbMassProperties_Principal(&facts->mass, &facts->moments, &frame);
    }
    rbDestroyGeometry(geometry);
}

static void printMesh(const char* path, const rbMeshFacts* facts)
{
    const rbMeshDef* def = facts->def;
    const rbBounds* bounds = &facts->bounds;
    char verdict[512];
    rbMeshReport_Describe(&facts->report, verdict, sizeof verdict);
    (void)printf("%s: a mesh, format %s\n", path, facts->format);
    (void)printf("  %-14s%d (%d in the file), %d faces, %lld edges, %d components\n", "vertices",
                 def->vertexCount, facts->fileVertexCount, def->faceCount, facts->report.edgeCount,
                 facts->report.componentCount);
    (void)printf("  %-14s%s\n", "verdict", verdict);
    (void)printf("  %-14s%s, %s\n", "surface", facts->report.isClosed ? "closed" : "open",
                 facts->hasMass ? "a solid" : "not a solid: it has no mass");
    for (int kind = 0; kind < RB_MESH_ISSUE_COUNT; ++kind) {
        if (facts->report.counts[kind] > 0) {
            const rbMeshIssue* first = &facts->report.firsts[kind];
            (void)printf("  %-14s%s: %lld, first at face %d, vertex %d\n",
                         rbMeshIssueKind_IsError((rbMeshIssueKind)kind) ? "issue" : "note",
                         rbMeshIssueKind_Text((rbMeshIssueKind)kind), facts->report.counts[kind],
                         first->face, first->vertexA);
        }
    }
    (void)printf("  %-14s(%.9g, %.9g, %.9g) to (%.9g, %.9g, %.9g) m\n", "bounds", bounds->lower.x,
                 bounds->lower.y, bounds->lower.z, bounds->upper.x, bounds->upper.y,
                 bounds->upper.z);
    (void)printf("  %-14s%.12g m^2\n", "area", facts->area);
    if (facts->hasMass) {
        const rbMassProperties* mass = &facts->mass;
        (void)printf("  %-14s%.12g m^3\n", "volume", mass->volume);
        (void)printf("  %-14s%.12g kg at %g kg/m^3\n", "mass", mass->mass, DENSITY);
        (void)printf("  %-14s(%.9g, %.9g, %.9g) m\n", "center", mass->center.x, mass->center.y,
                     mass->center.z);
        (void)printf("  %-14sxx %.9g yy %.9g zz %.9g xy %.9g xz %.9g yz %.9g kg m^2\n", "inertia",
                     mass->inertia.xx, mass->inertia.yy, mass->inertia.zz, mass->inertia.xy,
                     mass->inertia.xz, mass->inertia.yz);
        (void)printf("  %-14s(%.9g, %.9g, %.9g) kg m^2\n", "principal", facts->moments.x,
                     facts->moments.y, facts->moments.z);
    }
}

static void printMassJson(rbJson* json, const rbMeshFacts* facts)
{
    const rbMassProperties* mass = &facts->mass;
    rbJson_BeginObject(json, "massProperties");
    rbJson_Number(json, "density", DENSITY);
    rbJson_Number(json, "volume", mass->volume);
    rbJson_Number(json, "mass", mass->mass);
    rbJson_Vec3(json, "center", mass->center);
    rbJson_BeginObject(json, "inertia");
    rbJson_Number(json, "xx", mass->inertia.xx);
    rbJson_Number(json, "yy", mass->inertia.yy);
    rbJson_Number(json, "zz", mass->inertia.zz);
    rbJson_Number(json, "xy", mass->inertia.xy);
    rbJson_Number(json, "xz", mass->inertia.xz);
    rbJson_Number(json, "yz", mass->inertia.yz);
    rbJson_End(json);
    rbJson_Vec3(json, "principalMoments", facts->moments);
    rbJson_End(json);
}

static void printMeshJson(const char* path, const rbMeshFacts* facts)
{
    rbJson json = {.file = stdout};
    char verdict[512];
    rbMeshReport_Describe(&facts->report, verdict, sizeof verdict);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "file", path);
    rbJson_Text(&json, "kind", "mesh");
    rbJson_Text(&json, "format", facts->format);
    rbJson_Integer(&json, "vertices", facts->def->vertexCount);
    rbJson_Integer(&json, "fileVertices", facts->fileVertexCount);
    rbJson_Integer(&json, "faces", facts->def->faceCount);
    rbJson_Integer(&json, "edges", facts->report.edgeCount);
    rbJson_Integer(&json, "components", facts->report.componentCount);
    rbJson_Bool(&json, "closed", facts->report.isClosed);
    rbJson_Bool(&json, "solid", facts->hasMass);
    rbJson_Bool(&json, "valid", facts->report.isValid);
    rbJson_Text(&json, "verdict", verdict);
    rbJson_BeginArray(&json, "issues");
    for (int i = 0; i < facts->report.storedCount; ++i) {
        const rbMeshIssue* issue = &facts->issues[i];
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "kind", rbMeshIssueKind_Text(issue->kind));
        rbJson_Bool(&json, "error", rbMeshIssueKind_IsError(issue->kind));
        rbJson_Integer(&json, "face", issue->face);
        rbJson_Integer(&json, "otherFace", issue->otherFace);
        rbJson_Integer(&json, "vertexA", issue->vertexA);
        rbJson_Integer(&json, "vertexB", issue->vertexB);
        rbJson_End(&json);
    }
    rbJson_End(&json);
    rbJson_Integer(&json, "issueCount", facts->report.issueCount);
    rbJson_Vec3(&json, "lower", facts->bounds.lower);
    rbJson_Vec3(&json, "upper", facts->bounds.upper);
    rbJson_Number(&json, "area", facts->area);
    if (facts->hasMass) {
        printMassJson(&json, facts);
    }
    rbJson_End(&json);
}

static rbExit describeMesh(const char* path, const char* format, const rbFileBytes* bytes,
                           bool isForMachines)
{
    rbError error = {0};
    const char* dot = strrchr(path, '.');
    char name[32];
    (void)snprintf(name, sizeof name, "mesh.%s", format);
    // Read by its path when the name fits the content, because a glTF file may have other files
    // next to it.
    bool isNamedRight = dot != NULL && strcmp(dot + 1, format) == 0;
    rbMeshData* data = isNamedRight
                           ? rbReadMeshData(path, NULL, &error)
                           : rbReadMeshDataMemory(name, bytes->data, bytes->size, NULL, &error);
    if (data == NULL) {
        rbError_SetPlace(&error, path, NULL);
        return rbFailWith(&error);
    }
    rbMeshFacts* facts = rbAllocZero(1, sizeof *facts);
    facts->format = format;
    facts->fileVertexCount = rbMeshData_GetFileVertexCount(data);
    facts->def = rbMeshData_GetDef(data);
    measureMesh(facts);
    if (isForMachines) {
        printMeshJson(path, facts);
    } else {
        printMesh(path, facts);
    }
    rbFree(facts, sizeof *facts);
    rbDestroyMeshData(data);
    return RB_EXIT_DONE;
}

// ------------------------------------------------------------------------------------------- verb

// What no content gives away is a damaged file of the format of its name: its reader says why.
static rbExit describeByName(const char* path, const rbFileBytes* bytes, bool isForMachines)
{
    const char* dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && bytes->size > 0 && i < sizeof kinds / sizeof kinds[0]; ++i) {
        if (kinds[i].describe == describeMesh && strcmp(dot + 1, kinds[i].format) == 0) {
            return describeMesh(path, kinds[i].format, bytes, isForMachines);
        }
    }
    return rbFail("%s is neither a scene, a recording nor a mesh (OBJ, STL, PLY, glTF)", path);
}

// The path of a file, or of the example scene of that name when there is no such file.
static void findPath(const char* word, char* path, size_t capacity)
{
    (void)snprintf(path, capacity, "%s", word);
    FILE* file = fopen(word, "rb");
    if (file != NULL) {
        (void)fclose(file);
        return;
    }
    rbSceneList* list = rbAlloc(sizeof *list);
    if (rbSceneList_Read(list, NULL) == RB_STATUS_OK) {
        for (int i = 0; i < list->count; ++i) {
            if (strcmp(list->names[i], word) == 0) {
                (void)snprintf(path, capacity, "%s/%s.json", list->folder, word);
            }
        }
    }
    rbFree(list, sizeof *list);
}

static rbExit runInfo(const rbArguments* arguments)
{
    char path[RB_CLI_PATH_MAX + 80];
    findPath(arguments->words[0], path, sizeof path);
    rbFileBytes bytes = {0};
    rbError error = {0};
    bool isForMachines = rbArguments_Has(arguments, "--json");
    rbExit exit = RB_EXIT_USAGE;
    if (readBytes(path, &bytes, &error) != RB_STATUS_OK) {
        exit = rbFailWith(&error);
    } else {
        size_t kind = 0;
        size_t count = sizeof kinds / sizeof kinds[0];
        while (kind < count && !kinds[kind].recognize(&bytes)) {
            ++kind;
        }
        exit = kind < count ? kinds[kind].describe(path, kinds[kind].format, &bytes, isForMachines)
                            : describeByName(path, &bytes, isForMachines);
    }
    rbFree(bytes.data, bytes.data != NULL ? bytes.size + 1 : 0);
    return exit;
}

static const rbOption options[] = {
    {"--json", NULL, "prints the description as JSON"},
    RB_MODULE_OPTION,
};

static const char* const examples[] = {
    "rattleback info tumbling-box",
    "rattleback info part.stl",
    "rattleback info box.rbr --json",
    NULL,
};

const rbVerb rbVerbInfo = {
    .name = "info",
    .words = "FILE",
    .help = "describes a scene, a mesh or a recording",
    .more = "A recording that is cut off or damaged is described as far as it can be read; the "
            "exit code\n"
            "is then 2.",
    .run = runInfo,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
