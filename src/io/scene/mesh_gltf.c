// glTF 2.0, .gltf and .glb: every mesh of every node of the scene, with the accumulated
// transforms of the nodes. Coordinates stay as in the file (glTF is y up): the option up = 'y'
// rotates them. Materials, cameras, animations, skins and morph targets are ignored, as are points
// and lines.
#include "io/scene/byte_order.h"
#include "io/scene/gltf_file.h"

#include <stdio.h>
#include <string.h>

// Affine map, rows of [linear part | translation].
typedef struct Matrix {
    double m[3][4];
} Matrix;

static const Matrix identity = {{{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}}};

static Matrix multiply(const Matrix* a, const Matrix* b)
{
    Matrix r;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            r.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] +
                        a->m[i][2] * b->m[2][j] + (j == 3 ? a->m[i][3] : 0.0);
        }
    }
    return r;
}

static rbVec3 apply(const Matrix* a, rbVec3 v)
{
    double r[3];
    for (int i = 0; i < 3; ++i) {
        r[i] = a->m[i][0] * v.x + a->m[i][1] * v.y + a->m[i][2] * v.z + a->m[i][3];
    }
    return (rbVec3){r[0], r[1], r[2]};
}

static double getDeterminant(const Matrix* a)
{
    rbVec3 x = {a->m[0][0], a->m[1][0], a->m[2][0]};
    rbVec3 y = {a->m[0][1], a->m[1][1], a->m[2][1]};
    rbVec3 z = {a->m[0][2], a->m[1][2], a->m[2][2]};
    return rbDot(rbCross(x, y), z);
}

// Reads numbers of a node; if absent, the values stay.
static rbStatus readNumbers(const rbGltf* gltf, const json_t* node, const char* key, double* values,
                            size_t count)
{
    const json_t* array = json_object_get(node, key);
    if (array == NULL) {
        return RB_STATUS_OK;
    }
    bool isValid = json_array_size(array) == count;
    for (size_t i = 0; isValid && i < count; ++i) {
        const json_t* number = json_array_get(array, i);
        isValid = json_is_number(number) && fabs(json_number_value(number)) <= RB_LENGTH_MAX;
        values[i] = json_number_value(number);
    }
    return isValid ? RB_STATUS_OK
                   : rbError_Set(gltf->error, RB_STATUS_INVALID,
                                 "\"%s\" of a node needs %zu numbers, up to 1e12", key, count);
}

// The transform of a node: a column-major matrix, or translation, rotation (x, y, z, w) and scale.
static rbStatus readTransform(const rbGltf* gltf, const json_t* node, Matrix* transform)
{
    double columns[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    double t[3] = {0.0, 0.0, 0.0};
    double r[4] = {0.0, 0.0, 0.0, 1.0};
    double s[3] = {1.0, 1.0, 1.0};
    if (readNumbers(gltf, node, "matrix", columns, 16) != RB_STATUS_OK ||
        readNumbers(gltf, node, "translation", t, 3) != RB_STATUS_OK ||
        readNumbers(gltf, node, "rotation", r, 4) != RB_STATUS_OK ||
        readNumbers(gltf, node, "scale", s, 3) != RB_STATUS_OK) {
        return RB_STATUS_INVALID;
    }
    if (json_object_get(node, "matrix") == NULL) {
        if (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3] < 1e-6) {
            (void)rbError_Set(gltf->error, RB_STATUS_INVALID,
                              "\"rotation\" of a node is (%g, %g, %g, %g), which turns nothing; "
                              "give a unit quaternion x, y, z, w",
                              r[0], r[1], r[2], r[3]);
            return RB_STATUS_INVALID;
        }
        rbMat3 a = rbMatFromQuat(rbNormalizeQuat((rbQuat){r[3], r[0], r[1], r[2]}));
        *transform = (Matrix){{{s[0] * a.cx.x, s[1] * a.cy.x, s[2] * a.cz.x, t[0]},
                               {s[0] * a.cx.y, s[1] * a.cy.y, s[2] * a.cz.y, t[1]},
                               {s[0] * a.cx.z, s[1] * a.cy.z, s[2] * a.cz.z, t[2]}}};
        return RB_STATUS_OK;
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            transform->m[i][j] = columns[4 * j + i];
        }
    }
    return RB_STATUS_OK;
}

static rbStatus addVertices(rbGltf* gltf, rbMeshBuilder* builder, const rbGltfView* view,
                            const Matrix* transform)
{
    if (view->componentType != RB_GLTF_FLOAT) {
        return rbError_Set(gltf->error, RB_STATUS_UNSUPPORTED,
                           "positions have component type %d; only floats (5126) are supported",
                           view->componentType);
    }
    for (size_t i = 0; i < view->count; ++i) {
        const unsigned char* bytes = view->bytes + i * view->stride;
        rbVec3 v = {rbGetFloat(bytes, false), rbGetFloat(bytes + 4, false),
                    rbGetFloat(bytes + 8, false)};
        rbStatus status = rbMeshBuilder_AddVertex(builder, apply(transform, v));
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    return RB_STATUS_OK;
}

// The corners of the k-th triangle of an index list: triangles, strip or fan.
static void getCorners(size_t mode, size_t k, size_t corners[3])
{
    bool isOdd = k % 2 == 1;
    size_t triangle[3] = {3 * k, 3 * k + 1, 3 * k + 2};
    size_t strip[3] = {k, k + 1 + isOdd, k + 2 - isOdd};
    size_t fan[3] = {k + 1, k + 2, 0};
    memcpy(corners, mode == 4 ? triangle : mode == 5 ? strip : fan, sizeof triangle);
}

// Adds the faces of a primitive whose vertices begin at first. Without indices, in vertex order.
static rbStatus addFaces(rbGltf* gltf, rbMeshBuilder* builder, size_t mode,
                         const rbGltfView* indices, int first, bool isMirrored)
{
    RB_ASSERT(mode >= 4 && mode <= 6);
    RB_ASSERT(first >= 0 && first <= builder->vertices.count);
    size_t vertexCount = (size_t)(builder->vertices.count - first);
    size_t count = indices != NULL ? indices->count : vertexCount;
    size_t triangleCount = mode == 4 ? count / 3 : count < 3 ? 0 : count - 2;
    for (size_t k = 0; k < triangleCount; ++k) {
        size_t at[3];
        int corners[3];
        getCorners(mode, k, at);
        for (int i = 0; i < 3; ++i) {
            size_t index = at[i];
            if (indices != NULL) {
                index = (size_t)rbGetUnsigned(indices->bytes + at[i] * indices->stride,
                                              indices->componentSize, false);
            }
            if (index >= vertexCount) {
                return rbError_Set(gltf->error, RB_STATUS_INVALID,
                                   "a triangle uses vertex %zu of %zu", index, vertexCount);
            }
            // A mirroring transform turns faces inside out; the format says to flip them back.
            corners[isMirrored ? 2 - i : i] = first + (int)index;
        }
        rbStatus status = rbMeshBuilder_AddFace(builder, corners, 3);
        if (status != RB_STATUS_OK) {
            return status;
        }
    }
    return RB_STATUS_OK;
}

static rbStatus addPrimitive(rbGltf* gltf, rbMeshBuilder* builder, const json_t* json,
                             const Matrix* transform)
{
    size_t mode = 0;
    size_t position = 0;
    size_t indices = 0;
    const json_t* attributes = json_object_get(json, "attributes");
    bool hasIndices = json_object_get(json, "indices") != NULL;
    if (rbGltf_GetSize(gltf, json, "mode", 4, &mode) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, json, "indices", 0, &indices) != RB_STATUS_OK ||
        rbGltf_GetSize(gltf, attributes, "POSITION", 0, &position) != RB_STATUS_OK) {
        return RB_STATUS_INVALID;
    }
    if (mode < 4 || json_object_get(attributes, "POSITION") == NULL) {
        return RB_STATUS_OK; // points and lines, or no positions
    }
    if (mode > 6) {
        return rbError_Set(gltf->error, RB_STATUS_INVALID, "a primitive has the unknown mode %zu",
                           mode);
    }
    rbGltfView view;
    rbGltfView indexView;
    int first = builder->vertices.count;
    rbStatus status = rbGltf_GetView(gltf, position, "VEC3", &view);
    if (status == RB_STATUS_OK) {
        status = addVertices(gltf, builder, &view, transform);
    }
    if (status == RB_STATUS_OK && hasIndices) {
        status = rbGltf_GetView(gltf, indices, "SCALAR", &indexView);
        if (status == RB_STATUS_OK && indexView.componentType == RB_GLTF_FLOAT) {
            status = rbError_Set(gltf->error, RB_STATUS_INVALID, "indices are floats");
        }
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    return addFaces(gltf, builder, mode, hasIndices ? &indexView : NULL, first,
                    getDeterminant(transform) < 0.0);
}

static rbStatus addMesh(rbGltf* gltf, rbMeshBuilder* builder, const json_t* node,
                        const Matrix* transform)
{
    size_t index = 0;
    if (json_object_get(node, "mesh") == NULL) {
        return RB_STATUS_OK;
    }
    rbStatus status = rbGltf_GetSize(gltf, node, "mesh", 0, &index);
    const json_t* mesh = status == RB_STATUS_OK ? rbGltf_GetElement(gltf, "meshes", index) : NULL;
    if (mesh == NULL) {
        return RB_STATUS_INVALID;
    }
    const json_t* primitives = json_object_get(mesh, "primitives");
    for (size_t i = 0; i < json_array_size(primitives) && status == RB_STATUS_OK; ++i) {
        status = addPrimitive(gltf, builder, json_array_get(primitives, i), transform);
    }
    return status;
}

// A node to visit and the transform of its parent.
typedef struct Visit {
    size_t node;
    Matrix parent;
} Visit;

typedef struct Walk {
    rbGltf* gltf;
    RB_ARRAY(Visit) stack;
    bool* isSeen; // by node: a tree contains each once
    size_t nodeCount;
} Walk;

// Pushes a list of nodes on the stack, last one first, so that the first is visited next.
static rbStatus pushNodes(Walk* walk, const json_t* list, const Matrix* parent)
{
    RB_ASSERT(walk->isSeen != NULL || walk->nodeCount == 0);
    for (size_t i = json_array_size(list); i > 0; --i) {
        const json_t* number = json_array_get(list, i - 1);
        json_int_t index = json_integer_value(number);
        if (!json_is_integer(number) || index < 0 || (size_t)index >= walk->nodeCount ||
            walk->isSeen[index]) {
            return rbError_Set(walk->gltf->error, RB_STATUS_INVALID,
                               "the nodes are not a tree: one is used twice or does not exist");
        }
        walk->isSeen[index] = true;
        Visit visit = {(size_t)index, *parent};
        rbArray_Push(walk->stack, visit);
    }
    return RB_STATUS_OK;
}

// The root nodes of the default scene. Without scenes, all nodes that have no parent.
static rbStatus pushRoots(Walk* walk)
{
    const rbGltf* gltf = walk->gltf;
    size_t scene = 0;
    rbStatus status = rbGltf_GetSize(gltf, gltf->root, "scene", 0, &scene);
    if (status != RB_STATUS_OK) {
        return status;
    }
    if (json_array_size(json_object_get(gltf->root, "scenes")) > 0) {
        const json_t* json = rbGltf_GetElement(gltf, "scenes", scene);
        return json != NULL ? pushNodes(walk, json_object_get(json, "nodes"), &identity)
                            : RB_STATUS_INVALID;
    }
    const json_t* nodes = json_object_get(gltf->root, "nodes");
    bool* isChild = rbAllocZero(walk->nodeCount, sizeof *isChild);
    for (size_t i = 0; i < walk->nodeCount; ++i) {
        const json_t* children = json_object_get(json_array_get(nodes, i), "children");
        for (size_t k = 0; k < json_array_size(children); ++k) {
            json_int_t child = json_integer_value(json_array_get(children, k));
            if (child >= 0 && (size_t)child < walk->nodeCount) {
                isChild[child] = true;
            }
        }
    }
    for (size_t i = walk->nodeCount; i > 0; --i) {
        if (!isChild[i - 1]) {
            walk->isSeen[i - 1] = true;
            Visit visit = {i - 1, identity};
            rbArray_Push(walk->stack, visit);
        }
    }
    rbFree(isChild, walk->nodeCount * sizeof *isChild);
    return RB_STATUS_OK;
}

static rbStatus visitNode(Walk* walk, rbMeshBuilder* builder, const Visit* visit)
{
    const json_t* node = rbGltf_GetElement(walk->gltf, "nodes", visit->node);
    Matrix own;
    if (node == NULL || readTransform(walk->gltf, node, &own) != RB_STATUS_OK) {
        return RB_STATUS_INVALID;
    }
    Matrix transform = multiply(&visit->parent, &own);
    rbStatus status = addMesh(walk->gltf, builder, node, &transform);
    return status == RB_STATUS_OK ? pushNodes(walk, json_object_get(node, "children"), &transform)
                                  : status;
}

rbStatus rbReadGltf(const rbMeshSource* source, rbMeshBuilder* builder)
{
    rbGltf gltf;
    rbStatus status = rbGltf_Open(&gltf, source, builder->error);
    if (status == RB_STATUS_OK) {
        Walk walk = {.gltf = &gltf,
                     .nodeCount = json_array_size(json_object_get(gltf.root, "nodes"))};
        walk.isSeen = rbAllocZero(walk.nodeCount, sizeof *walk.isSeen);
        status = pushRoots(&walk);
        while (status == RB_STATUS_OK && walk.stack.count > 0) {
            Visit visit = walk.stack.data[--walk.stack.count];
            status = visitNode(&walk, builder, &visit);
        }
        rbFree(walk.isSeen, walk.nodeCount * sizeof *walk.isSeen);
        rbArray_Free(walk.stack);
    }
    rbGltf_Close(&gltf);
    return status;
}
