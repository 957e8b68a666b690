// A glTF 2.0 file in its binary form: a header, the structure as JSON, then all numbers. y is up in
// glTF: a node at the root turns our z to it. A body is a node with a node for each shape; bodies
// that move have a channel for translation and one for rotation, bodies that are not always there a
// channel of steps for their scale, 0 or 1.
#include "io/output/output_file.h"
#include "render/animation.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLOAT_TYPE = 5126,     // of a component
    VERTEX_BUFFER = 34962, // target of a buffer view
    CHUNK_ALIGNMENT = 4
};
#define HALF_ROOT 0.70710678118654752 // sine and cosine of 45 degrees
#define DIGITS 9                      // a float is the same after reading

// Accessors of the positions of a geometry, plain and with the second tone; the normals come next.
// -1: there are none.
typedef struct Tones {
    bool isMade;
    int plain, marked;
} Tones;

// What a mesh shows; geometry -1: a plane, shared by nobody.
typedef struct MeshKey {
    int geometry, finish;
} MeshKey;

typedef struct Glb {
    rbAnimation* animation;
    json_t *accessors, *views, *meshes, *nodes, *samplers, *channels;
    RB_ARRAY(unsigned char) bytes;
    Tones* tones; // of each geometry
    RB_ARRAY(MeshKey) meshKeys;
} Glb;

static int lastIndex(const json_t* array)
{
    return (int)json_array_size(array) - 1;
}

static void putFloat(Glb* glb, double value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    for (int i = 0; i < 4; ++i) {
        rbArray_Push(glb->bytes, (unsigned char)(bits >> (8 * i)));
    }
}

static json_t* makeNumbers(const double* values, int count)
{
    json_t* array = json_array();
    for (int i = 0; i < count; ++i) {
        (void)json_array_append_new(array, json_real((double)(float)values[i]));
    }
    return array;
}

static json_t* makeVector(rbVec3 v)
{
    const double values[3] = {v.x, v.y, v.z};
    return makeNumbers(values, 3);
}

// glTF has the scalar part last
static json_t* makeRotation(rbQuat q)
{
    const double values[4] = {q.x, q.y, q.z, q.w};
    return makeNumbers(values, 4);
}

// A view of the bytes from `start` to the end, and an accessor of all its elements.
static int addAccessor(Glb* glb, size_t start, int count, const char* type, bool isVertices)
{
    json_t* view = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)start,
                             "byteLength", (json_int_t)((size_t)glb->bytes.count - start));
    if (isVertices) {
        (void)json_object_set_new(view, "target", json_integer(VERTEX_BUFFER));
    }
    (void)json_array_append_new(glb->views, view);
    (void)json_array_append_new(
        glb->accessors, json_pack("{s:i, s:i, s:i, s:s}", "bufferView", lastIndex(glb->views),
                                  "componentType", FLOAT_TYPE, "count", count, "type", type));
    return lastIndex(glb->accessors);
}

static void setBounds(Glb* glb, int accessor, const double* low, const double* high, int count)
{
    json_t* object = json_array_get(glb->accessors, (size_t)accessor);
    (void)json_object_set_new(object, "min", makeNumbers(low, count));
    (void)json_object_set_new(object, "max", makeNumbers(high, count));
}

// Positions and normals of corners, three for each triangle.
static int addVertices(Glb* glb, const rbVec3* positions, const rbVec3* normals, int count)
{
    double low[3] = {INFINITY, INFINITY, INFINITY};
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    size_t start = (size_t)glb->bytes.count;
    for (int i = 0; i < count; ++i) {
        const double values[3] = {positions[i].x, positions[i].y, positions[i].z};
        for (int k = 0; k < 3; ++k) {
            low[k] = values[k] < low[k] ? values[k] : low[k];
            high[k] = values[k] > high[k] ? values[k] : high[k];
            putFloat(glb, values[k]);
        }
    }
    int accessor = addAccessor(glb, start, count, "VEC3", true);
    setBounds(glb, accessor, low, high, 3);
    start = (size_t)glb->bytes.count;
    for (int i = 0; i < count; ++i) {
        putFloat(glb, normals[i].x);
        putFloat(glb, normals[i].y);
        putFloat(glb, normals[i].z);
    }
    (void)addAccessor(glb, start, count, "VEC3", true);
    return accessor;
}

// The triangles of a geometry that have the second tone, or those that have not; -1: none.
static int addTone(Glb* glb, int geometry, bool isMarked)
{
    const rbSurface* surface = rbAnimation_GetSurface(glb->animation, geometry);
    const rbTriangles* t = &surface->triangles;
    size_t size = 3 * (size_t)t->triangleCount * sizeof(rbVec3);
    rbVec3* positions = rbAlloc(size);
    rbVec3* normals = rbAlloc(size);
    int count = 0;
    for (int i = 0; i < t->triangleCount; ++i) {
        for (int k = 0; k < 3 && rbAnimation_IsMarked(glb->animation, geometry, i) == isMarked;
             ++k) {
            rbFloat3 n = surface->normals[i][k];
            positions[count] = t->vertices[t->triangles[i][k]];
            normals[count++] = rbMakeVec3(n.x, n.y, n.z);
        }
    }
    int accessor = count > 0 ? addVertices(glb, positions, normals, count) : -1;
    rbFree(positions, size);
    rbFree(normals, size);
    return accessor;
}

static json_t* makePrimitive(int accessor, int finish)
{
    return json_pack("{s:{s:i, s:i}, s:i}", "attributes", "POSITION", accessor, "NORMAL",
                     accessor + 1, "material", finish);
}

// The mesh of a geometry with a finish, shared by all bodies that have both.
static int findMesh(Glb* glb, int geometry, int finish)
{
    rbAnimation* animation = glb->animation;
    finish = rbAnimation_GetSideFinish(animation, finish,
                                       !animation->model.geometries.data[geometry].isSolid);
    for (int i = 0; i < glb->meshKeys.count; ++i) {
        const MeshKey* known = &glb->meshKeys.data[i];
        if (known->geometry == geometry && known->finish == finish) {
            return i;
        }
    }
    Tones* tones = &glb->tones[geometry];
    if (!tones->isMade) {
        *tones = (Tones){true, addTone(glb, geometry, false), 0};
        tones->marked = addTone(glb, geometry, true);
    }
    json_t* primitives = json_array();
    if (tones->plain >= 0) {
        (void)json_array_append_new(primitives, makePrimitive(tones->plain, finish));
    }
    if (tones->marked >= 0) {
        int mark = rbAnimation_GetMarkFinish(animation, finish);
        (void)json_array_append_new(primitives, makePrimitive(tones->marked, mark));
    }
    (void)json_array_append_new(glb->meshes, json_pack("{s:o}", "primitives", primitives));
    const MeshKey key = {geometry, finish};
    rbArray_Push(glb->meshKeys, key);
    return lastIndex(glb->meshes);
}

static int addSquare(Glb* glb, int plane, int finish)
{
    static const int order[6] = {0, 1, 2, 0, 2, 3};
    rbVec3 corners[4];
    rbVec3 positions[6];
    rbVec3 normals[6];
    rbAnimation_GetSquare(glb->animation, plane, corners);
    for (int i = 0; i < 6; ++i) {
        positions[i] = corners[order[i]];
        normals[i] = glb->animation->model.planes.data[plane].normal;
    }
    int accessor = addVertices(glb, positions, normals, 6);
    json_t* primitives = json_array();
    (void)json_array_append_new(primitives, makePrimitive(accessor, finish));
    (void)json_array_append_new(glb->meshes, json_pack("{s:o}", "primitives", primitives));
    const MeshKey key = {-1, plane};
    rbArray_Push(glb->meshKeys, key);
    return lastIndex(glb->meshes);
}

// Nodes of the shapes of all bodies, as lists of children.
static void addShapes(Glb* glb, json_t** children)
{
    const rbPictureModel* model = &glb->animation->model;
    for (int i = 0; i < model->shapes.count; ++i) {
        const rbShownShape* shape = &model->shapes.data[i];
        int mesh = findMesh(glb, shape->geometry, glb->animation->finishOf[shape->paint]);
        (void)json_array_append_new(glb->nodes,
                                    json_pack("{s:i, s:o, s:o}", "mesh", mesh, "translation",
                                              makeVector(shape->transform.p), "rotation",
                                              makeRotation(shape->transform.q)));
        (void)json_array_append_new(children[shape->body], json_integer(lastIndex(glb->nodes)));
    }
    for (int i = 0; i < model->planes.count; ++i) {
        int body = model->planes.data[i].body;
        int mesh = addSquare(glb, i, glb->animation->finishOf[body]);
        (void)json_array_append_new(glb->nodes, json_pack("{s:i}", "mesh", mesh));
        (void)json_array_append_new(children[body], json_integer(lastIndex(glb->nodes)));
    }
}

// ---------------------------------------------------------------------------------------- motion

static void addChannel(Glb* glb, int node, const char* path, int output, bool isStep)
{
    (void)json_array_append_new(glb->samplers,
                                json_pack("{s:i, s:i, s:s}", "input", 0, "output", output,
                                          "interpolation", isStep ? "STEP" : "LINEAR"));
    (void)json_array_append_new(glb->channels, json_pack("{s:i, s:{s:i, s:s}}", "sampler",
                                                         lastIndex(glb->samplers), "target", "node",
                                                         node, "path", path));
}

// Positions, then rotations with signs that make neighbors similar.
static void addMotion(Glb* glb, int body, int node)
{
    const rbAnimation* animation = glb->animation;
    int frames = animation->times.count;
    size_t start = (size_t)glb->bytes.count;
    for (int i = 0; i < frames; ++i) {
        rbVec3 p = rbAnimation_GetPose(animation, body, i).p;
        putFloat(glb, p.x);
        putFloat(glb, p.y);
        putFloat(glb, p.z);
    }
    addChannel(glb, node, "translation", addAccessor(glb, start, frames, "VEC3", false), false);
    start = (size_t)glb->bytes.count;
    rbQuat last = rbAnimation_GetPose(animation, body, 0).q;
    for (int i = 0; i < frames; ++i) {
        rbQuat q = rbAnimation_GetPose(animation, body, i).q;
        double side = q.w * last.w + q.x * last.x + q.y * last.y + q.z * last.z;
        double sign = side < 0.0 ? -1.0 : 1.0;
        last = (rbQuat){sign * q.w, sign * q.x, sign * q.y, sign * q.z};
        putFloat(glb, last.x);
        putFloat(glb, last.y);
        putFloat(glb, last.z);
        putFloat(glb, last.w);
    }
    addChannel(glb, node, "rotation", addAccessor(glb, start, frames, "VEC4", false), false);
}

static void addPresence(Glb* glb, int body, int node)
{
    int frames = glb->animation->times.count;
    size_t start = (size_t)glb->bytes.count;
    for (int i = 0; i < frames; ++i) {
        double scale = rbAnimation_Exists(glb->animation, body, i) ? 1.0 : 0.0;
        putFloat(glb, scale);
        putFloat(glb, scale);
        putFloat(glb, scale);
    }
    addChannel(glb, node, "scale", addAccessor(glb, start, frames, "VEC3", false), true);
}

// The times of all frames: the first accessor.
static void addTimes(Glb* glb)
{
    const rbAnimation* animation = glb->animation;
    int frames = animation->times.count;
    for (int i = 0; i < frames; ++i) {
        putFloat(glb, animation->times.data[i]);
    }
    int accessor = addAccessor(glb, 0, frames, "SCALAR", false);
    setBounds(glb, accessor, &animation->times.data[0], &animation->times.data[frames - 1], 1);
}

static json_t* makeMaterials(const rbAnimation* animation)
{
    json_t* materials = json_array();
    for (int i = 0; i < animation->finishes.count; ++i) {
        const rbFinish* finish = &animation->finishes.data[i];
        rbFloat3 color = rbLinearColor(finish->color);
        const double base[4] = {color.x, color.y, color.z, finish->opacity};
        json_t* material =
            json_pack("{s:{s:o, s:f, s:f}, s:b}", "pbrMetallicRoughness", "baseColorFactor",
                      makeNumbers(base, 4), "metallicFactor", 0.0, "roughnessFactor",
                      finish->roughness, "doubleSided", finish->isDoubleSided);
        if (finish->opacity < 1.0) {
            (void)json_object_set_new(material, "alphaMode", json_string("BLEND"));
        }
        (void)json_array_append_new(materials, material);
    }
    return materials;
}

static json_t* makeName(const char* name)
{
    json_t* text = json_string(name); // NULL: not UTF-8
    return text != NULL ? text : json_string("?");
}

static void addBodies(Glb* glb, const char* const* names)
{
    const rbAnimation* animation = glb->animation;
    int count = animation->model.bodyCount;
    json_t** children = rbAllocZero((size_t)count, sizeof(json_t*));
    for (int i = 0; i < count; ++i) {
        children[i] = json_array();
    }
    addShapes(glb, children);
    json_t* all = json_array();
    for (int i = 0; i < count; ++i) {
        rbTransform pose = rbAnimation_GetPose(animation, i, 0);
        json_t* node = json_pack("{s:o, s:o, s:o}", "name", makeName(names[i]), "translation",
                                 makeVector(pose.p), "rotation", makeRotation(pose.q));
        if (json_array_size(children[i]) > 0) {
            (void)json_object_set(node, "children", children[i]);
        }
        json_decref(children[i]);
        (void)json_array_append_new(glb->nodes, node);
        int index = lastIndex(glb->nodes);
        (void)json_array_append_new(all, json_integer(index));
        if (rbAnimation_Moves(animation, i)) {
            addMotion(glb, i, index);
        }
        if (!rbAnimation_IsAlways(animation, i)) {
            addPresence(glb, i, index);
        }
    }
    rbFree(children, (size_t)count * sizeof(json_t*));
    const rbQuat turn = {HALF_ROOT, -HALF_ROOT, 0.0, 0.0};
    (void)json_array_append_new(glb->nodes,
                                json_pack("{s:o, s:o, s:o}", "name", makeName(animation->title),
                                          "rotation", makeRotation(turn), "children", all));
}

// Takes over the parts of glb.
static json_t* makeRoot(Glb* glb)
{
    json_t* root =
        json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}], s:o, s:o, s:o, s:o, s:o, s:[{s:I}]}", "asset",
                  "version", "2.0", "generator", "rattleback", "scene", 0, "scenes", "nodes",
                  lastIndex(glb->nodes), "nodes", glb->nodes, "meshes", glb->meshes, "materials",
                  makeMaterials(glb->animation), "accessors", glb->accessors, "bufferViews",
                  glb->views, "buffers", "byteLength", (json_int_t)glb->bytes.count);
    if (json_array_size(glb->channels) > 0) {
        (void)json_object_set_new(root, "animations",
                                  json_pack("[{s:s, s:O, s:O}]", "name", "run", "samplers",
                                            glb->samplers, "channels", glb->channels));
    }
    if (json_array_size(glb->meshes) == 0) { // an empty list is not allowed
        (void)json_object_del(root, "meshes");
        (void)json_object_del(root, "materials");
    }
    json_decref(glb->samplers);
    json_decref(glb->channels);
    return root;
}

static void putWord(rbOutputFile* file, size_t value)
{
    unsigned char bytes[4];
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
    rbOutputFile_Write(file, bytes, sizeof bytes);
}

static void putChunk(rbOutputFile* file, const char* type, const void* bytes, size_t size, char pad)
{
    size_t left = (CHUNK_ALIGNMENT - size % CHUNK_ALIGNMENT) % CHUNK_ALIGNMENT;
    const char pads[CHUNK_ALIGNMENT] = {pad, pad, pad, pad};
    putWord(file, size + left);
    rbOutputFile_Write(file, type, 4);
    rbOutputFile_Write(file, bytes, size);
    rbOutputFile_Write(file, pads, left);
}

static rbStatus writeGlb(const Glb* glb, const char* text, const char* path, rbError* error)
{
    size_t textSize = strlen(text);
    size_t size = (size_t)glb->bytes.count;
    const size_t heads = 28; // of the file and of two chunks
    size_t total = heads + (textSize + 3) / 4 * 4 + (size + 3) / 4 * 4;
    rbOutputFile* file = rbAlloc(sizeof *file);
    rbStatus status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        rbOutputFile_Write(file, "glTF", 4);
        putWord(file, 2);
        putWord(file, total);
        putChunk(file, "JSON", text, textSize, ' ');
        putChunk(file, "BIN", glb->bytes.data, size, '\0');
        status = rbOutputFile_Commit(file, error);
    }
    rbFree(file, sizeof *file);
    return status;
}

// Bytes of the numbers, at most: refused before they are made.
static double estimateBytes(rbAnimation* animation)
{
    double bytes = 28.0 * animation->times.count * animation->model.bodyCount;
    for (int i = 0; i < animation->model.geometries.count; ++i) {
        bytes += 72.0 * rbAnimation_GetSurface(animation, i)->triangles.triangleCount;
    }
    return bytes;
}

rbStatus rbAnimation_WriteGltf(rbAnimation* animation, const char* path, rbError* error)
{
    RB_ASSERT(animation->times.count > 0);
    if (estimateBytes(animation) > (double)(RB_ANIMATION_BYTES_MAX - 1)) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "the animation needs %.0f MB, more than a .glb file has; use a lower "
                           "--fps or a shorter --duration",
                           1e-6 * estimateBytes(animation));
    }
    int geometryCount = animation->model.geometries.count;
    Glb glb = {.animation = animation,
               .accessors = json_array(),
               .views = json_array(),
               .meshes = json_array(),
               .nodes = json_array(),
               .samplers = json_array(),
               .channels = json_array(),
               .tones = rbAllocZero((size_t)geometryCount, sizeof *glb.tones)};
    addTimes(&glb);
    addBodies(&glb, (const char* const*)animation->names);
    json_t* root = makeRoot(&glb);
    char* text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(root);
    rbStatus status = writeGlb(&glb, text, path, error);
    free(text); // jansson's
    rbFree(glb.tones, (size_t)geometryCount * sizeof *glb.tones);
    rbArray_Free(glb.bytes);
    rbArray_Free(glb.meshKeys);
    return status;
}
