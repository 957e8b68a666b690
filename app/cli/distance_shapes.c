// Shapes on the command line of `rattleback distance`: words, mesh files, geometries in JSON.
//
// Words are read by io/scene/shape_words.c, as in pair files. A shape in JSON becomes a scene of
// one body, so that the code for scene files reads and validates it.
#include "base/core/memory.h"
#include "cli/distance.h"
#include "collision/geometry/shape_ops.h"
#include "io/scene/file_bytes.h"
#include "io/scene/shape_words.h"

#include <rattleback/scene.h>
#include <rattleback/world.h>

#include <string.h>
#include <strings.h>

#define JSON_TEXT_MAX (1 << 20) // characters of a shape in JSON

// How a mesh file may be interpreted.
static const struct {
    rbShapeType type;
    rbMeshUse use;
} uses[] = {
    {RB_SHAPE_MESH, RB_MESH_USE_TRIANGLES},
    {RB_SHAPE_SOUP, RB_MESH_USE_SOUP},
    {RB_SHAPE_POLYHEDRON, RB_MESH_USE_POLYHEDRON},
    {RB_SHAPE_HULL, RB_MESH_USE_HULL},
};
#define USE_COUNT ((int)(sizeof uses / sizeof uses[0]))

static const char* getUseName(int index)
{
    return rbShapeType_Name(uses[index].type);
}

// ------------------------------------------------------------------------------------------ makers

static rbGeometry* readMeshFile(const char* path, rbMeshUse use, rbError* error)
{
    rbMeshOptions options = rbDefaultMeshOptions();
    options.use = use;
    return rbReadMesh(path, &options, error);
}

// "hull:FILE" and the like.
static rbGeometry* readNamedShape(rbShapeType type, const char* name, void* context, rbError* error)
{
    (void)context;
    for (int i = 0; i < USE_COUNT; ++i) {
        if (uses[i].type == type) {
            return readMeshFile(name, uses[i].use, error);
        }
    }
    (void)rbError_Set(
        error, RB_STATUS_UNSUPPORTED,
        "a %s has no short form on the command line; give it in JSON as in a scene, or "
        "define it in a pair file",
        rbShapeType_Name(type));
    return NULL;
}

// The location of a mistake within the geometry, not within the scene around it, which has width
// columns before it.
static void forgetScene(rbError* error, int width)
{
    static const char around[] = "/bodies/0/shapes/0/geometry";
    size_t length = sizeof around - 1;
    if (error->line == 1 && error->column > width) {
        error->column -= width;
    }
    if (strncmp(error->place, around, length) == 0) {
        memmove(error->place, error->place + length, strlen(error->place + length) + 1);
    }
}

static rbGeometry* makeShapeOfJson(const char* json, size_t length, const rbSceneSource* source,
                                   rbError* error)
{
    static const char before[] = "{\"rattleback\": 1, \"bodies\": [{\"name\": \"shape\", "
                                 "\"type\": \"static\", \"shapes\": [{\"geometry\": ";
    static const char after[] = "}]}]}";
    if (length > JSON_TEXT_MAX) {
        (void)rbError_Set(error, RB_STATUS_LIMIT, "the shape has %zu characters; the limit is %d",
                          length, JSON_TEXT_MAX);
        return NULL;
    }
    size_t size = sizeof before + length + sizeof after;
    char* text = rbAlloc(size);
    int used = snprintf(text, size, "%s%.*s%s", before, (int)length, json, after);
    rbScene* scene = rbReadSceneText(text, (size_t)used, source, error);
    rbFree(text, size);
    rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, error) : NULL;
    rbDestroyScene(scene);
    if (world == NULL) {
        forgetScene(error, (int)sizeof before - 1);
        return NULL;
    }
    rbBodyId body = rbWorld_FindBody(world, "shape");
    rbGeometry* geometry =
        rbGeometry_Retain(rbWorld_GetGeometry(world, rbBody_GetShape(world, body, 0).geometry));
    rbDestroyWorld(world);
    return geometry;
}

// A file that contains one geometry of a scene.
static rbGeometry* readJsonFile(const char* path, rbError* error)
{
    void* bytes = NULL;
    size_t size = 0;
    if (rbReadFileBytes(path, JSON_TEXT_MAX, &bytes, &size, error) != RB_STATUS_OK) {
        return NULL;
    }
    if (size == 0) {
        rbError_SetPlace(error, path, "");
        (void)rbError_Set(error, RB_STATUS_INVALID,
                          "the file is empty; it must contain a geometry as in a scene");
        return NULL;
    }
    const char* slash = strrchr(path, '/');
    char* folder = rbCopyText(path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    rbSceneSource source = {.name = path, .folder = folder};
    rbGeometry* geometry = makeShapeOfJson(bytes, size, &source, error);
    rbFreeString(folder);
    rbFree(bytes, size);
    return geometry;
}

// -----------------------------------------------------------------------------------------
// choosing

static bool endsWith(const char* text, const char* extension)
{
    size_t length = strlen(text);
    size_t tail = strlen(extension);
    return length > tail + 1 && text[length - tail - 1] == '.' &&
           strcasecmp(text + length - tail, extension) == 0;
}

// A path, not words: "cube.obj", "./sphere". The reader of words rejects anything else.
static bool isPath(const char* text)
{
    return text[0] != '{' && strchr(text, ':') == NULL && strpbrk(text, "./") != NULL;
}

// A path, but not of a geometry in JSON.
static bool isMeshPath(const char* text)
{
    return isPath(text) && !endsWith(text, "json");
}

bool rbIsMeshPath(const char* text)
{
    const char* extension = NULL;
    bool isKnown = false;
    for (int i = 0; (extension = rbGetMeshExtension(i)) != NULL && !isKnown; ++i) {
        isKnown = isPath(text) && endsWith(text, extension);
    }
    return isKnown;
}

static rbGeometry* makeShape(const rbShapeWord* shape, rbMeshUse use, rbError* error)
{
    const char* text = shape->text;
    if (text[0] == '{') {
        rbSceneSource source = {.name = shape->letter == 'A' ? "A" : "B"};
        return makeShapeOfJson(text, strlen(text), &source, error);
    }
    if (isMeshPath(text)) {
        return readMeshFile(text, use, error);
    }
    return isPath(text) ? readJsonFile(text, error)
                        : rbMakeShapeOfWords(text, strlen(text), readNamedShape, NULL, error);
}

// Applies --as, --as-a and --as-b to a file. Returns false after a mistake.
static bool readUse(const rbArguments* arguments, const rbShapeWord* shape, rbMeshUse* use)
{
    const char* own = shape->letter == 'A' ? "--as-a" : "--as-b";
    int index = 0;
    if (!rbArguments_GetName(arguments, "--as", getUseName, USE_COUNT, &index) ||
        !rbArguments_GetName(arguments, own, getUseName, USE_COUNT, &index)) {
        return false;
    }
    if (rbArguments_Has(arguments, own) && !isMeshPath(shape->text)) {
        (void)rbFail("%s applies to a mesh file; %c is '%.80s'", own, shape->letter, shape->text);
        return false;
    }
    *use = uses[index].use;
    return true;
}

void rbFreeShapeWords(rbShapeWord shapes[2])
{
    for (int i = 0; i < 2; ++i) {
        rbDestroyGeometry(shapes[i].geometry);
        shapes[i].geometry = NULL;
    }
}

bool rbReadShapeWords(const rbArguments* arguments, rbShapeWord shapes[2])
{
    for (int i = 0; i < 2; ++i) {
        const char* text = arguments->words[i];
        shapes[i] = (rbShapeWord){.letter = (char)('A' + i), .text = text};
    }
    if (rbArguments_Has(arguments, "--as") && !isMeshPath(shapes[0].text) &&
        !isMeshPath(shapes[1].text)) {
        (void)rbFail("--as applies to mesh files; neither A nor B is one");
        return false;
    }
    rbMeshUse lastUse = RB_MESH_USE_TRIANGLES;
    for (int i = 0; i < 2; ++i) {
        rbMeshUse use = RB_MESH_USE_TRIANGLES;
        rbError error = {0};
        if (!readUse(arguments, &shapes[i], &use)) {
            rbFreeShapeWords(shapes);
            return false;
        }
        bool isSame = i == 1 && use == lastUse && strcmp(shapes[0].text, shapes[1].text) == 0;
        shapes[i].geometry =
            isSame ? rbGeometry_Retain(shapes[0].geometry) : makeShape(&shapes[i], use, &error);
        lastUse = use;
        if (shapes[i].geometry != NULL) {
            continue;
        }
        if (error.file[0] != '\0') {
            (void)rbFailWith(&error);
        } else {
            (void)rbFail("%s", error.message);
        }
        rbFreeShapeWords(shapes);
        return false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------
// describing

static bool isOfTriangles(const rbGeometry* geometry)
{
    return rbGeometry_GetFamily(geometry) == RB_FAMILY_TRIANGLES;
}

bool rbHasTriangles(const rbGeometry* geometry)
{
    int count = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &count);
    bool hasOne = isOfTriangles(geometry);
    for (int i = 0; i < count && !hasOne; ++i) {
        // parts of parts are not searched: they may have some
        hasOne = isOfTriangles(children[i].geometry) ||
                 rbGeometry_GetType(children[i].geometry) == RB_SHAPE_COMPOUND;
    }
    return hasOne;
}

// Why a mesh is a surface and not a solid.
static void describeSurface(const rbMeshDef* mesh, char* text, size_t capacity)
{
    rbMeshReport report = rbValidateMesh(mesh, NULL, 0);
    long long open = report.counts[RB_MESH_ISSUE_OPEN_EDGE];
    if (open > 0) {
        (void)snprintf(text, capacity, "open surface: %lld edge%s with only one face", open,
                       open == 1 ? "" : "s");
        return;
    }
    char reason[256];
    rbMeshReport_Describe(&report, reason, sizeof reason);
    (void)snprintf(text, capacity, "closed, but not a solid: %s", reason);
}

static void describeShape(const rbShapeWord* shape, char* text, size_t capacity)
{
    const rbGeometry* geometry = shape->geometry;
    const char* name = rbShapeType_Name(rbGeometry_GetType(geometry));
    int partCount = 0;
    (void)rbGeometry_GetChildren(geometry, &partCount);
    rbMeshDef mesh;
    if (partCount > 0) {
        (void)snprintf(text, capacity, "%s of %d part%s", name, partCount,
                       partCount == 1 ? "" : "s");
        return;
    }
    if (!rbGeometry_GetMesh(geometry, &mesh)) {
        bool isWords = shape->text[0] != '{' && !isPath(shape->text);
        (void)snprintf(text, capacity, "%s", isWords ? shape->text : name);
        return;
    }
    rbShapeType type = rbGeometry_GetType(geometry);
    char kind[320] = "no inside";
    if (rbGeometry_IsSolid(geometry)) {
        (void)snprintf(kind, sizeof kind, "%s", type == RB_SHAPE_HULL ? "convex" : "closed");
    } else if (type == RB_SHAPE_MESH) {
        describeSurface(&mesh, kind, sizeof kind);
    }
    (void)snprintf(text, capacity, "%s, %d %s%s, %s", name, mesh.faceCount,
                   type == RB_SHAPE_MESH ? "triangle" : "face", mesh.faceCount == 1 ? "" : "s",
                   kind);
}

void rbPrintShapeWord(const rbShapeWord* shape)
{
    char text[512];
    describeShape(shape, text, sizeof text);
    // words of numbers describe themselves
    bool isFile = shape->text[0] != '{' && strcmp(text, shape->text) != 0;
    (void)printf("%c           %s%s%s%s\n", shape->letter, text, isFile ? " (" : "",
                 isFile ? shape->text : "", isFile ? ")" : "");
}

void rbJson_ShapeWord(rbJson* json, const rbShapeWord* shape)
{
    static const char* const keys[2] = {"a", "b"};
    const rbGeometry* geometry = shape->geometry;
    char text[512];
    describeShape(shape, text, sizeof text);
    rbJson_BeginObject(json, keys[shape->letter - 'A']);
    rbJson_Text(json, "type", rbShapeType_Name(rbGeometry_GetType(geometry)));
    rbJson_Text(json, "given", shape->text);
    rbJson_Text(json, "description", text);
    rbMeshDef mesh;
    if (rbGeometry_GetMesh(geometry, &mesh)) {
        rbJson_Integer(json, "vertices", mesh.vertexCount);
        rbJson_Integer(json, "faces", mesh.faceCount);
    }
    rbJson_Bool(json, "solid", rbGeometry_IsSolid(geometry));
    rbJson_End(json);
}
