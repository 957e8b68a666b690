// Geometries of a scene: a table of types, each with its keys and the function that builds it.
#include "collision/geometry/shape_ops.h"
#include "io/scene/mesh_file.h"
#include "io/scene/nearest_name.h"
#include "io/scene/scene_keys.h"
#include "io/scene/scene_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The argument of the functions of the table.
typedef struct Builder {
    rbScene* scene;
    rbReader* reader;
    const rbGeometryFields* fields;
    const json_t* json;
    rbMeshUse use;    // of the row, for types that are meshes
    int depth;        // number of enclosing compounds
    double leafCount; // leaves of the result, counted through compounds
    rbGeometry* result;
} Builder;

static rbStatus buildGeometry(Builder* outer, const json_t* json, rbGeometry** geometry);

// Nested compounds multiply: 8 levels of 10 parts are 1e8 parts from 1 kB of text.
#define LEAVES_MAX 1e6

// Takes the result of an rbCreate function; its error becomes one of the scene.
static rbStatus take(Builder* b, rbGeometry* geometry)
{
    b->result = geometry;
    if (geometry != NULL) {
        return RB_STATUS_OK;
    }
    rbStatus status = b->reader->error->status;
    return rbReader_Adopt(b->reader, status != RB_STATUS_OK ? status : RB_STATUS_INVALID, NULL);
}

// Reads points [[x, y, z], ...] under a key; the caller frees them with rbFree.
static rbStatus readPoints(Builder* b, const char* key, const json_t* array, rbVec3** points,
                           int* count)
{
    RB_ASSERT(json_is_array(array));
    RB_ASSERT(*points == NULL);
    rbReader_Push(b->reader, key);
    size_t size = json_array_size(array);
    if (size == 0) {
        return rbReader_Fail(b->reader, RB_STATUS_INVALID, "the list of points is empty");
    }
    if (size > RB_MESH_VERTICES_MAX) {
        return rbReader_Fail(b->reader, RB_STATUS_LIMIT, "%zu points; the limit is %d", size,
                             RB_MESH_VERTICES_MAX);
    }
    *points = rbAlloc(size * sizeof(rbVec3));
    *count = (int)size;
    for (size_t i = 0; i < size; ++i) {
        rbReader_PushIndex(b->reader, i);
        double v[3];
        rbStatus status =
            rbReadNumbers(b->reader, json_array_get(array, i), v, 3, RB_SCENE_LENGTH_MAX);
        if (status != RB_STATUS_OK) {
            rbFree(*points, size * sizeof(rbVec3));
            *points = NULL;
            return status;
        }
        (*points)[i] = (rbVec3){v[0], v[1], v[2]};
        rbReader_Pop(b->reader);
    }
    rbReader_Pop(b->reader);
    return RB_STATUS_OK;
}

// Opens another file of a mesh (a glTF buffer), named relative to the scene.
static rbStatus attachFile(const char* name, const void** bytes, size_t* size, void* context,
                           rbError* error)
{
    return rbScene_Attach(context, name, bytes, size, error);
}

static rbStatus buildFromFile(Builder* b)
{
    RB_ASSERT(b->fields->file != NULL);
    RB_ASSERT(b->use < RB_MESH_USE_COUNT);
    const rbGeometryFields* fields = b->fields;
    rbMeshOptions options = rbDefaultMeshOptions();
    options.use = b->use;
    options.scale = fields->scale;
    if (strcmp(fields->up, "y") != 0 && strcmp(fields->up, "z") != 0) {
        rbReader_Push(b->reader, "up");
        return rbReader_Fail(b->reader, RB_STATUS_INVALID,
                             "found the string \"%.20s\"; expected \"z\" or \"y\"", fields->up);
    }
    options.up = fields->up[0];
    rbError* error = b->reader->error;
    rbMeshSource source = {.name = fields->file, .fileFn = attachFile, .context = b->scene};
    rbReader_Push(b->reader, "file");
    rbStatus status = rbScene_Attach(b->scene, source.name, &source.bytes, &source.size, error);
    rbGeometry* geometry =
        status == RB_STATUS_OK ? rbMakeMeshGeometry(&source, &options, error) : NULL;
    if (geometry == NULL) {
        // The message of the mesh reader, with its file and line.
        char text[sizeof error->message];
        char line[32] = "";
        if (error->line > 0) {
            (void)snprintf(line, sizeof line, ", line %d", error->line);
        }
        (void)snprintf(text, sizeof text, "%s", error->message);
        return rbReader_Fail(b->reader, error->status, "mesh file \"%.120s\"%s: %s", fields->file,
                             line, text);
    }
    rbReader_Pop(b->reader);
    b->result = geometry;
    return RB_STATUS_OK;
}

static rbStatus buildHull(Builder* b)
{
    const rbGeometryFields* fields = b->fields;
    if ((fields->points != NULL) == (fields->file != NULL)) {
        return rbReader_Fail(b->reader, RB_STATUS_INVALID,
                             "a hull needs either \"points\" or \"file\"");
    }
    if (fields->file != NULL) {
        return buildFromFile(b);
    }
    rbVec3* points = NULL;
    int count = 0;
    rbStatus status = readPoints(b, "points", fields->points, &points, &count);
    if (status == RB_STATUS_OK) {
        status = take(b, rbCreateHull(points, count, b->reader->error));
        rbFree(points, (size_t)count * sizeof *points);
    }
    return status;
}

// Vertices and faces given in the JSON text.
typedef struct Lists {
    rbVec3* vertices;
    int* faceSizes;
    int* indices;
    int vertexCount, faceCount, indexCount;
} Lists;

static void freeLists(Lists* lists)
{
    rbFree(lists->vertices, (size_t)lists->vertexCount * sizeof(rbVec3));
    rbFree(lists->faceSizes, (size_t)lists->faceCount * sizeof(int));
    rbFree(lists->indices, (size_t)lists->indexCount * sizeof(int));
}

// Counts the corners of all faces and checks their types and total.
static rbStatus measureFaces(Builder* b, const json_t* array, Lists* lists)
{
    size_t faceCount = json_array_size(array);
    size_t cornerCount = 0;
    if (faceCount == 0) {
        return rbReader_Fail(b->reader, RB_STATUS_INVALID, "the list of faces is empty");
    }
    for (size_t f = 0; f < faceCount; ++f) {
        const json_t* face = json_array_get(array, f);
        if (!json_is_array(face) || json_array_size(face) < 3) {
            char found[96];
            rbDescribeJson(face, found, sizeof found);
            rbReader_PushIndex(b->reader, f);
            return rbReader_Fail(b->reader, RB_STATUS_INVALID,
                                 "found %s; a face is an array of at least 3 vertex indices",
                                 found);
        }
        cornerCount += json_array_size(face);
    }
    if (cornerCount > RB_MESH_ELEMENTS_MAX) {
        return rbReader_Fail(b->reader, RB_STATUS_LIMIT, "%zu face corners; the limit is %d",
                             cornerCount, RB_MESH_ELEMENTS_MAX);
    }
    lists->faceCount = (int)faceCount;
    lists->indexCount = (int)cornerCount;
    lists->faceSizes = rbAlloc(faceCount * sizeof(int));
    lists->indices = rbAlloc(cornerCount * sizeof(int));
    return RB_STATUS_OK;
}

static rbStatus readFaces(Builder* b, const json_t* array, Lists* lists)
{
    RB_ASSERT(lists->vertexCount > 0);
    rbReader_Push(b->reader, "faces");
    rbStatus status = measureFaces(b, array, lists);
    int used = 0;
    for (int f = 0; f < lists->faceCount && status == RB_STATUS_OK; ++f) {
        const json_t* face = json_array_get(array, (size_t)f);
        lists->faceSizes[f] = (int)json_array_size(face);
        for (int i = 0; i < lists->faceSizes[f]; ++i) {
            const json_t* corner = json_array_get(face, (size_t)i);
            json_int_t index = json_integer_value(corner);
            if (!json_is_integer(corner) || index < 0 || index >= lists->vertexCount) {
                char found[96];
                rbDescribeJson(corner, found, sizeof found);
                rbReader_PushIndex(b->reader, (size_t)f);
                rbReader_PushIndex(b->reader, (size_t)i);
                return rbReader_Fail(b->reader, RB_STATUS_INVALID,
                                     "found %s; expected a vertex index from 0 to %d", found,
                                     lists->vertexCount - 1);
            }
            lists->indices[used++] = (int)index;
        }
    }
    if (status == RB_STATUS_OK) {
        RB_ASSERT(used == lists->indexCount);
        rbReader_Pop(b->reader);
    }
    return status;
}

// Polyhedron, mesh and soup, from lists or a file.
static rbStatus buildFaces(Builder* b)
{
    const rbGeometryFields* fields = b->fields;
    bool hasLists = fields->vertices != NULL && fields->faces != NULL;
    bool hasSome = fields->vertices != NULL || fields->faces != NULL;
    if (hasSome ? (!hasLists || fields->file != NULL) : fields->file == NULL) {
        return rbReader_Fail(b->reader, RB_STATUS_INVALID,
                             "a %s needs either \"vertices\" and \"faces\", or \"file\"",
                             fields->type);
    }
    if (fields->file != NULL) {
        return buildFromFile(b);
    }
    Lists lists = {0};
    rbStatus status =
        readPoints(b, "vertices", fields->vertices, &lists.vertices, &lists.vertexCount);
    if (status == RB_STATUS_OK) {
        status = readFaces(b, fields->faces, &lists);
    } else {
        lists.vertexCount = 0;
    }
    if (status == RB_STATUS_OK) {
        rbMeshDef def = {lists.vertices, lists.vertexCount, lists.faceSizes, lists.indices,
                         lists.faceCount};
        status = take(b, rbMakeGeometryOfDef(&def, b->use, b->reader->error));
    }
    freeLists(&lists);
    return status;
}

// Reads a polygon of coordinate pairs; the caller frees it with rbFree.
static rbStatus readProfile(Builder* b, double (**profile)[2], int* count)
{
    const json_t* array = b->fields->profile;
    size_t size = json_array_size(array);
    rbReader_Push(b->reader, "profile");
    if (size < 3 || size > RB_PROFILE_POINTS_MAX) {
        return rbReader_Fail(b->reader, RB_STATUS_INVALID,
                             "the profile has %zu points; expected 3 to %d", size,
                             RB_PROFILE_POINTS_MAX);
    }
    *count = (int)size;
    *profile = rbAlloc(size * sizeof **profile);
    for (size_t i = 0; i < size; ++i) {
        rbReader_PushIndex(b->reader, i);
        rbStatus status = rbReadNumbers(b->reader, json_array_get(array, i), (*profile)[i], 2,
                                        RB_SCENE_LENGTH_MAX);
        if (status != RB_STATUS_OK) {
            rbFree(*profile, size * sizeof **profile);
            return status;
        }
        rbReader_Pop(b->reader);
    }
    rbReader_Pop(b->reader);
    return RB_STATUS_OK;
}

// Extrusions and revolutions become polyhedra.
static rbStatus buildFromProfile(Builder* b)
{
    double(*profile)[2] = NULL;
    int count = 0;
    rbError* error = b->reader->error;
    rbStatus status = readProfile(b, &profile, &count);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbOwnedMesh mesh = {0};
    bool isExtrusion = strcmp(b->fields->type, "extrusion") == 0;
    if (isExtrusion) {
        status =
            rbExtrudeProfile((const double(*)[2])profile, count, b->fields->height, &mesh, error);
    } else if ((double)count * (double)b->fields->segments > RB_TRIANGLES_MAX) {
        status = rbError_Set(error, RB_STATUS_LIMIT,
                             "%d points times %d segments; the limit is "
                             "%d",
                             count, (int)b->fields->segments, RB_TRIANGLES_MAX);
    } else {
        status = rbRevolveProfile((const double(*)[2])profile, count, (int)b->fields->segments,
                                  &mesh, error);
    }
    rbFree(profile, (size_t)count * sizeof *profile);
    if (status != RB_STATUS_OK) {
        return rbReader_Adopt(b->reader, status, NULL);
    }
    rbMeshDef def = rbOwnedMesh_GetDef(&mesh);
    status = take(b, rbCreatePolyhedron(&def, error));
    rbFreeMesh(&mesh);
    return status;
}

static rbStatus readPart(Builder* b, const json_t* json, rbCompoundChild* child)
{
    rbPartFields fields = {.orientation = RB_QUAT_IDENTITY};
    rbStatus status = rbReadFields(b->reader, json, &rbPartKeys, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbGeometry* geometry = NULL;
    rbReader_Push(b->reader, "geometry");
    status = buildGeometry(b, fields.geometry, &geometry);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbReader_Pop(b->reader);
    *child = (rbCompoundChild){geometry, {fields.position, fields.orientation}, fields.density};
    if (b->leafCount > LEAVES_MAX) {
        return rbReader_Fail(b->reader, RB_STATUS_LIMIT,
                             "the compound has more than %.0f parts in all its levels", LEAVES_MAX);
    }
    return RB_STATUS_OK;
}

static rbStatus buildCompound(Builder* b)
{
    size_t count = json_array_size(b->fields->parts);
    rbReader_Push(b->reader, "parts");
    if (count == 0 || count > RB_COMPOUND_CHILDREN_MAX) {
        return rbReader_Fail(b->reader, RB_STATUS_INVALID, "%zu parts; expected 1 to %d", count,
                             RB_COMPOUND_CHILDREN_MAX);
    }
    rbCompoundChild* children = rbAllocZero(count, sizeof *children);
    rbStatus status = RB_STATUS_OK;
    for (size_t i = 0; i < count && status == RB_STATUS_OK; ++i) {
        rbReader_PushIndex(b->reader, i);
        status = readPart(b, json_array_get(b->fields->parts, i), &children[i]);
        if (status == RB_STATUS_OK) {
            rbReader_Pop(b->reader);
        }
    }
    if (status == RB_STATUS_OK) {
        rbReader_Pop(b->reader);
        status = take(b, rbCreateCompound(children, (int)count, b->reader->error));
    }
    // The compound has its own references.
    for (size_t i = 0; i < count; ++i) {
        rbDestroyGeometry((rbGeometry*)children[i].geometry);
    }
    rbFree(children, count * sizeof *children);
    return status;
}

// Limit for all tessellations of a scene: a short text must not exhaust the memory.
#define TESSELLATED_FACES_MAX ((double)RB_TRIANGLES_MAX)

static rbStatus buildTessellation(Builder* b)
{
    const rbGeometryFields* fields = b->fields;
    rbReader* reader = b->reader;
    rbCutFields cut = {.offset = 0.0};
    rbStatus status = RB_STATUS_OK;
    if (fields->cut != NULL) {
        rbReader_Push(reader, "cut");
        status = rbReadFields(reader, fields->cut, &rbCutKeys, &cut);
        if (status != RB_STATUS_OK) {
            return status;
        }
        rbReader_Pop(reader);
    }
    b->scene->tessellatedFaces += (double)fields->faceCount;
    if (b->scene->tessellatedFaces > TESSELLATED_FACES_MAX) {
        rbReader_Push(reader, "faces");
        return rbReader_Fail(reader, RB_STATUS_LIMIT,
                             "the tessellations of the scene have %.10g faces so far; the limit is "
                             "%.10g",
                             b->scene->tessellatedFaces, TESSELLATED_FACES_MAX);
    }
    rbGeometry* solid = NULL;
    rbReader_Push(reader, "of");
    status = buildGeometry(b, fields->of, &solid);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbReader_Pop(reader);
    rbSolidCut plane = {cut.normal, cut.offset};
    status = take(b, rbTessellate(solid, (int)fields->faceCount,
                                  fields->cut != NULL ? &plane : NULL, reader->error));
    rbDestroyGeometry(solid);
    return status;
}

typedef struct GeometryRow {
    const rbObjectKind* kind; // its schema name is the type name
    rbStatus (*build)(Builder* b);
    rbMeshUse use;
} GeometryRow;

static const GeometryRow rows[] = {
    {&rbHullKeys, buildHull, RB_MESH_USE_HULL},
    {&rbPolyhedronKeys, buildFaces, RB_MESH_USE_POLYHEDRON},
    {&rbMeshKeys, buildFaces, RB_MESH_USE_TRIANGLES},
    {&rbSoupKeys, buildFaces, RB_MESH_USE_SOUP},
    {&rbExtrusionKeys, buildFromProfile, 0},
    {&rbRevolutionKeys, buildFromProfile, 0},
    {&rbCompoundKeys, buildCompound, 0},
    {&rbTessellationKeys, buildTessellation, 0},
};
#define ROW_COUNT ((int)(sizeof rows / sizeof rows[0]))

// Shape types described by numbers, then those of the rows above.
typedef struct Known {
    const char* names[RB_SHAPE_COUNT + RB_REGISTERED_MAX + ROW_COUNT];
    int count;
} Known;

static void listKnown(Known* known)
{
    known->count = 0;
    for (int i = 0; i < rbShapeType_GetCount(); ++i) {
        if (rbGetShapeOps((rbShapeType)i)->parameters != NULL) {
            known->names[known->count++] = rbShapeType_Name((rbShapeType)i);
        }
    }
    for (int i = 0; i < ROW_COUNT; ++i) {
        known->names[known->count++] = rows[i].kind->name;
    }
}

static const char* getKnownName(int index, const void* context)
{
    return ((const Known*)context)->names[index];
}

static const GeometryRow* findRow(const char* type)
{
    for (int i = 0; i < ROW_COUNT; ++i) {
        if (strcmp(rows[i].kind->name, type) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static rbStatus failUnknownType(rbReader* reader, const json_t* type)
{
    if (type == NULL) {
        return rbReader_Fail(reader, RB_STATUS_INVALID,
                             "a geometry needs the key \"type\", such as \"sphere\" or \"box\"");
    }
    rbReader_Push(reader, "type");
    if (!json_is_string(type)) {
        char found[96];
        rbDescribeJson(type, found, sizeof found);
        return rbReader_Fail(reader, RB_STATUS_INVALID, "found %s; expected a geometry type",
                             found);
    }
    const char* word = json_string_value(type);
    Known known;
    listKnown(&known);
    const char* nearest = rbFindNearestName(word, getKnownName, known.count, &known);
    char list[400] = "; expected one of";
    size_t used = strlen(list);
    for (int i = 0; i < known.count && used < sizeof list; ++i) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s %s", i > 0 ? "," : "",
                                 known.names[i]);
    }
    char hint[96];
    return rbReader_Fail(reader, RB_STATUS_INVALID, "unknown shape \"%.60s\"%s" RB_MODULE_HINT "%s",
                         word, rbSuggest(hint, sizeof hint, nearest), nearest == NULL ? list : "");
}

// Builds a shape described by numbers, using its row of the table of shapes.
static rbStatus buildOfNumbers(Builder* b, rbShapeType type)
{
    rbTableKind kind;
    rbShapeNumberFields fields = {.type = NULL};
    (void)rbMakeShapeKind(type, &kind);
    rbStatus status = rbReadFields(b->reader, b->json, &kind.kind, &fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    b->reader->error->status = RB_STATUS_OK;
    return take(b, rbCreateGeometryOfType(type, fields.numbers, b->reader->error));
}

static rbStatus buildOfRow(Builder* b, const GeometryRow* row, rbGeometryFields* fields)
{
    rbStatus status = rbReadFields(b->reader, b->json, row->kind, fields);
    if (status != RB_STATUS_OK) {
        return status;
    }
    b->reader->error->status = RB_STATUS_OK;
    return row->build(b);
}

static bool findShapeOfNumbers(const char* name, rbShapeType* type)
{
    *type = rbShapeType_Find(name);
    return (int)*type < rbShapeType_GetCount() && rbGetShapeOps(*type)->parameters != NULL;
}

// Builds an inline object; the caller owns the result.
static rbStatus buildInline(Builder* outer, const json_t* json, rbGeometry** geometry)
{
    rbReader* reader = outer->reader;
    const json_t* type = json_object_get(json, "type");
    const char* name = json_is_string(type) ? json_string_value(type) : "";
    const GeometryRow* row = findRow(name);
    rbShapeType shape;
    bool isOfNumbers = findShapeOfNumbers(name, &shape);
    if (row == NULL && !isOfNumbers) {
        return failUnknownType(reader, type);
    }
    if (outer->depth > RB_COMPOUND_DEPTH_MAX) {
        return rbReader_Fail(reader, RB_STATUS_LIMIT, "compounds are nested deeper than %d",
                             RB_COMPOUND_DEPTH_MAX);
    }
    rbGeometryFields fields = {.scale = 1.0, .up = "z", .segments = 32, .faceCount = 5000};
    Builder b = {.scene = outer->scene,
                 .reader = reader,
                 .fields = &fields,
                 .json = json,
                 .use = row != NULL ? row->use : 0,
                 .depth = outer->depth + 1};
    rbStatus status = isOfNumbers ? buildOfNumbers(&b, shape) : buildOfRow(&b, row, &fields);
    RB_ASSERT((status == RB_STATUS_OK) == (b.result != NULL));
    *geometry = b.result;
    outer->leafCount += b.leafCount > 1.0 ? b.leafCount : 1.0;
    return status;
}

static const char* getNamedGeometry(int index, const void* context)
{
    return ((const rbScene*)context)->namedGeometries.data[index].name;
}

static int compareNames(const void* a, const void* b)
{
    return strcmp(((const rbNamedGeometry*)a)->name, ((const rbNamedGeometry*)b)->name);
}

static rbNamedGeometry* findNamed(rbScene* scene, const char* name)
{
    if (scene->namedGeometries.count == 0) {
        return NULL;
    }
    rbNamedGeometry wanted = {.name = name};
    return bsearch(&wanted, scene->namedGeometries.data, (size_t)scene->namedGeometries.count,
                   sizeof wanted, compareNames);
}

// Gives a geometry to the scene; returns its index.
static int addGeometry(rbScene* scene, rbGeometry* geometry, double leafCount)
{
    RB_ASSERT(geometry != NULL);
    RB_ASSERT(leafCount >= 1.0);
    rbSceneGeometry entry = {geometry, leafCount};
    rbArray_Push(scene->geometries, entry);
    return scene->geometries.count - 1;
}

// Builds a named geometry at its first use. Its errors refer to its own place in the file.
static rbStatus buildNamed(Builder* outer, rbNamedGeometry* named)
{
    RB_ASSERT(!named->isBuilding);
    RB_ASSERT(named->index < 0);
    rbScene* scene = outer->scene;
    rbReader* reader = outer->reader;
    rbReader inner = {.error = reader->error, .file = reader->file};
    rbReader_Push(&inner, "geometries");
    rbReader_Push(&inner, named->name);
    rbReader_SetSubject(&inner, "geometry", named->name);
    Builder b = {.scene = scene, .reader = &inner, .depth = outer->depth};
    named->isBuilding = true;
    rbGeometry* geometry = NULL;
    rbStatus status = RB_STATUS_OK;
    if (json_is_object(named->json)) {
        status = buildInline(&b, named->json, &geometry);
    } else {
        char found[96];
        rbDescribeJson(named->json, found, sizeof found);
        status =
            rbReader_Fail(&inner, RB_STATUS_INVALID, "found %s; expected an object {...}", found);
    }
    named->isBuilding = false;
    if (status == RB_STATUS_OK) {
        named->index = addGeometry(scene, geometry, b.leafCount);
    }
    return status;
}

// Finds the index of a geometry by its name.
static rbStatus resolveName(Builder* outer, const char* name, int* index)
{
    rbNamedGeometry* named = findNamed(outer->scene, name);
    if (named == NULL) {
        char hint[96];
        const char* nearest = rbFindNearestName(name, getNamedGeometry,
                                                outer->scene->namedGeometries.count, outer->scene);
        return rbReader_Fail(outer->reader, RB_STATUS_NOT_FOUND,
                             "there is no geometry \"%.60s\" in \"geometries\"%s", name,
                             rbSuggest(hint, sizeof hint, nearest));
    }
    if (named->isBuilding) {
        return rbReader_Fail(outer->reader, RB_STATUS_INVALID,
                             "the geometry \"%.60s\" contains itself; break the cycle", name);
    }
    if (named->index < 0) {
        rbStatus status = buildNamed(outer, named);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    *index = named->index;
    return RB_STATUS_OK;
}

// Builds a part of a compound: the caller owns one reference.
static rbStatus buildGeometry(Builder* outer, const json_t* json, rbGeometry** geometry)
{
    if (!json_is_string(json)) {
        return buildInline(outer, json, geometry);
    }
    int index = -1;
    rbStatus status = resolveName(outer, json_string_value(json), &index);
    if (status == RB_STATUS_OK) {
        const rbSceneGeometry* found = &outer->scene->geometries.data[index];
        *geometry = rbGeometry_Retain(found->geometry);
        outer->leafCount += found->leafCount;
    }
    return status;
}

rbStatus rbReadGeometry(rbScene* scene, rbReader* reader, const json_t* json, int* index)
{
    RB_ASSERT(json != NULL);
    RB_ASSERT(index != NULL);
    Builder outer = {.scene = scene, .reader = reader};
    if (json_is_string(json)) {
        return resolveName(&outer, json_string_value(json), index);
    }
    rbGeometry* geometry = NULL;
    rbStatus status = buildInline(&outer, json, &geometry);
    if (status == RB_STATUS_OK) {
        *index = addGeometry(scene, geometry, outer.leafCount);
    }
    return status;
}

rbStatus rbReadNamedGeometries(rbScene* scene, rbReader* reader, const json_t* object)
{
    RB_ASSERT(scene->namedGeometries.count == 0);
    const char* name = NULL;
    json_t* value = NULL;
    json_object_foreach((json_t*)object, name, value)
    {
        rbNamedGeometry named = {.name = name, .json = value, .index = -1};
        rbArray_Push(scene->namedGeometries, named);
    }
    if (scene->namedGeometries.count > 0) {
        qsort(scene->namedGeometries.data, (size_t)scene->namedGeometries.count,
              sizeof(rbNamedGeometry), compareNames);
    }
    Builder outer = {.scene = scene, .reader = reader};
    for (int i = 0; i < scene->namedGeometries.count; ++i) {
        int index = -1;
        rbStatus status = resolveName(&outer, scene->namedGeometries.data[i].name, &index);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    return RB_STATUS_OK;
}
