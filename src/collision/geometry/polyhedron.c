// Construction of the boundary representation.
#include "collision/geometry/polyhedron.h"

#include "base/core/disjoint_sets.h"
#include "base/core/memory.h"
#include "collision/geometry/half_edge.h"
#include "collision/geometry/polygon.h"

#include <string.h>

rbVec3 rbComputeNewell(const rbVec3* vertices, const int* loop, int count)
{
    RB_ASSERT(count >= 3);
    rbVec3 origin = vertices[loop[0]];
    rbVec3 sum = RB_VEC3_ZERO;
    rbVec3 a = rbSub(vertices[loop[1]], origin);
    for (int i = 2; i < count; ++i) {
        rbVec3 b = rbSub(vertices[loop[i]], origin);
        sum = rbAdd(sum, rbCross(a, b));
        a = b;
    }
    return sum;
}

rbMeshDef rbPolyhedron_GetDef(const rbPolyhedron* polyhedron)
{
    RB_ASSERT(polyhedron != NULL);
    return (rbMeshDef){polyhedron->vertices, polyhedron->vertexCount, polyhedron->faceSizes,
                       polyhedron->indices, polyhedron->faceCount};
}

static void* copyArray(const void* source, int count, size_t size)
{
    void* copy = rbAlloc((size_t)count * size);
    memcpy(copy, source, (size_t)count * size);
    return copy;
}

// Drops the coordinate along which the normal is longest, keeping the orientation.
static void projectLoop(const rbPolyhedron* p, int face, double (*points)[2])
{
    rbVec3 n = p->normals[face];
    rbVec3 size = rbAbs3(n);
    const int* loop = p->indices + p->faceStarts[face];
    rbVec3 origin = p->vertices[loop[0]];
    for (int i = 0; i < p->faceSizes[face]; ++i) {
        rbVec3 v = rbSub(p->vertices[loop[i]], origin);
        double a, b, along;
        if (size.x >= size.y && size.x >= size.z) {
            a = v.y;
            b = v.z;
            along = n.x;
        } else if (size.y >= size.z) {
            a = v.z;
            b = v.x;
            along = n.y;
        } else {
            a = v.x;
            b = v.y;
            along = n.z;
        }
        points[i][0] = a;
        points[i][1] = along > 0.0 ? b : -b;
    }
}

bool rbPolyhedron_IsFaceCrossing(const rbPolyhedron* polyhedron, int face)
{
    RB_ASSERT(face >= 0 && face < polyhedron->faceCount);
    int count = polyhedron->faceSizes[face];
    size_t size = (size_t)count * sizeof(double[2]);
    double(*points)[2] = rbAlloc(size);
    projectLoop(polyhedron, face, points);
    int sides[2];
    bool isCrossing = rbFindPolygonCrossing((const double(*)[2])points, count, sides);
    rbFree(points, size);
    return isCrossing;
}

static void cutIntoTriangles(rbPolyhedron* p)
{
    int largest = 3;
    for (int f = 0; f < p->faceCount; ++f) {
        largest = p->faceSizes[f] > largest ? p->faceSizes[f] : largest;
    }
    p->triangleCount = p->indexCount - 2 * p->faceCount;
    RB_ASSERT(p->triangleCount > 0);
    p->triangles = rbAlloc((size_t)p->triangleCount * sizeof(rbIndex3));
    p->faceOfTriangle = rbAlloc((size_t)p->triangleCount * sizeof(int));
    size_t pointBytes = (size_t)largest * sizeof(double[2]);
    size_t scratchBytes = (size_t)largest * sizeof(int[3]);
    double(*points)[2] = rbAlloc(pointBytes);
    int(*scratch)[3] = rbAlloc(scratchBytes);
    int next = 0;
    for (int f = 0; f < p->faceCount; ++f) {
        int size = p->faceSizes[f];
        const int* loop = p->indices + p->faceStarts[f];
        rbIndex3* triangles = p->triangles + next;
        triangles[0] = (rbIndex3){{0, 1, 2}};
        if (size > 3) {
            projectLoop(p, f, points);
            rbClipEars((const double(*)[2])points, size, scratch, triangles);
        }
        for (int i = 0; i < size - 2; ++i) {
            for (int k = 0; k < 3; ++k) {
                triangles[i].v[k] = loop[triangles[i].v[k]];
            }
            p->faceOfTriangle[next + i] = f;
        }
        next += size - 2;
    }
    RB_ASSERT(next == p->triangleCount);
    rbFree(points, pointBytes);
    rbFree(scratch, scratchBytes);
}

static void computePlanes(rbPolyhedron* p)
{
    p->normals = rbAlloc((size_t)p->faceCount * sizeof(rbVec3));
    p->offsets = rbAlloc((size_t)p->faceCount * sizeof(double));
    for (int f = 0; f < p->faceCount; ++f) {
        const int* loop = p->indices + p->faceStarts[f];
        rbVec3 n = rbNormalize(rbComputeNewell(p->vertices, loop, p->faceSizes[f]));
        // the mean of the corners is nearest to all of them; taken relative to the first one
        rbVec3 first = p->vertices[loop[0]];
        double sum = 0.0;
        for (int i = 1; i < p->faceSizes[f]; ++i) {
            sum += rbDot(n, rbSub(p->vertices[loop[i]], first));
        }
        p->normals[f] = n;
        p->offsets[f] = rbDot(n, first) + sum / (double)p->faceSizes[f];
    }
}

static void computeStarts(rbPolyhedron* p)
{
    p->faceStarts = rbAlloc(((size_t)p->faceCount + 1) * sizeof(int));
    p->faceStarts[0] = 0;
    for (int f = 0; f < p->faceCount; ++f) {
        p->faceStarts[f + 1] = p->faceStarts[f] + p->faceSizes[f];
    }
    RB_ASSERT(p->faceStarts[p->faceCount] == p->indexCount);
}

static void computeBounds(rbPolyhedron* p)
{
    p->lower = p->vertices[p->indices[0]];
    p->upper = p->lower;
    for (int i = 1; i < p->indexCount; ++i) {
        p->lower = rbMin3(p->lower, p->vertices[p->indices[i]]);
        p->upper = rbMax3(p->upper, p->vertices[p->indices[i]]);
    }
    p->scale = rbMaxOf(rbLargestComponent(p->lower), rbLargestComponent(p->upper));
}

// Number of edges, or -1 if one belongs to more than two faces or is traversed twice in one
// direction.
static int countEdges(const rbHalfEdge* halfEdges, int halfEdgeCount)
{
    int count = 0;
    int end = 0;
    for (int i = 0; i < halfEdgeCount; i = end) {
        end = rbGetEdgeEnd(halfEdges, halfEdgeCount, i);
        bool hasTwo = end - i == 2;
        if (end - i > 2 || (hasTwo && halfEdges[i].isForward == halfEdges[i + 1].isForward)) {
            return -1;
        }
        ++count;
    }
    return count;
}

// Omits the edges if the faces are not manifold. A manifold mesh of polygons may become
// non-manifold when it is triangulated: a diagonal can coincide with an existing edge.
static void computeEdges(rbPolyhedron* p)
{
    rbMeshDef def = rbPolyhedron_GetDef(p);
    rbHalfEdge* halfEdges = rbSortHalfEdges(&def, p->indexCount);
    int count = countEdges(halfEdges, p->indexCount);
    if (count < 0) {
        rbFree(halfEdges, (size_t)p->indexCount * sizeof(rbHalfEdge));
        return;
    }
    p->edgeCount = count;
    p->edges = rbAlloc((size_t)count * sizeof(rbEdge));
    p->edgeOfCorner = rbAlloc((size_t)p->indexCount * sizeof(int));
    p->vertexEdgeStarts = rbAllocZero((size_t)p->vertexCount + 1, sizeof(int));
    p->vertexEdges = rbAlloc(2 * (size_t)count * sizeof(int));
    int edge = 0;
    for (int i = 0; i < p->indexCount; ++edge) {
        int end = rbGetEdgeEnd(halfEdges, p->indexCount, i);
        const rbHalfEdge* h = &halfEdges[i];
        bool hasTwo = end - i == 2;
        rbEdge made = {h->isForward ? h->low : h->high, h->isForward ? h->high : h->low, h->face,
                       hasTwo ? h[1].face : -1};
        p->edges[edge] = made;
        ++p->vertexEdgeStarts[h->low + 1];
        ++p->vertexEdgeStarts[h->high + 1];
        for (; i < end; ++i) {
            p->edgeOfCorner[halfEdges[i].corner] = edge;
        }
    }
    rbFree(halfEdges, (size_t)p->indexCount * sizeof(rbHalfEdge));
    for (int v = 0; v < p->vertexCount; ++v) {
        p->vertexEdgeStarts[v + 1] += p->vertexEdgeStarts[v];
    }
    // filled from the back, so that the starts end at their initial values
    int* cursor = copyArray(p->vertexEdgeStarts + 1, p->vertexCount, sizeof(int));
    for (int e = count - 1; e >= 0; --e) {
        p->vertexEdges[--cursor[p->edges[e].v0]] = e;
        p->vertexEdges[--cursor[p->edges[e].v1]] = e;
    }
    rbFree(cursor, (size_t)p->vertexCount * sizeof(int));
}

// Makes every triangle a face.
static void replaceFacesByTriangles(rbPolyhedron* p)
{
    size_t cornerBytes = 3 * (size_t)p->triangleCount * sizeof(int);
    rbFree(p->indices, (size_t)p->indexCount * sizeof(int));
    rbFree(p->faceSizes, (size_t)p->faceCount * sizeof(int));
    rbFree(p->faceStarts, ((size_t)p->faceCount + 1) * sizeof(int));
    rbFree(p->normals, (size_t)p->faceCount * sizeof(rbVec3));
    rbFree(p->offsets, (size_t)p->faceCount * sizeof(double));
    p->faceCount = p->triangleCount;
    p->indexCount = 3 * p->triangleCount;
    p->indices = rbAlloc(cornerBytes);
    p->faceSizes = rbAlloc((size_t)p->faceCount * sizeof(int));
    for (int f = 0; f < p->faceCount; ++f) {
        p->faceSizes[f] = 3;
        p->faceOfTriangle[f] = f;
        for (int k = 0; k < 3; ++k) {
            p->indices[3 * f + k] = p->triangles[f].v[k];
        }
    }
    computeStarts(p);
    computePlanes(p);
}

rbPolyhedron* rbCreateBrep(const rbMeshDef* def, bool wantIncidence, bool trianglesOnly)
{
    RB_ASSERT(def->vertexCount > 0 && def->faceCount > 0);
    rbPolyhedron* p = rbAllocZero(1, sizeof *p);
    p->vertexCount = def->vertexCount;
    p->faceCount = def->faceCount;
    p->indexCount = (int)rbCountCorners(def);
    p->vertices = copyArray(def->vertices, p->vertexCount, sizeof(rbVec3));
    p->indices = copyArray(def->indices, p->indexCount, sizeof(int));
    p->faceSizes = rbAlloc((size_t)p->faceCount * sizeof(int));
    for (int f = 0; f < p->faceCount; ++f) {
        p->faceSizes[f] = rbGetFaceSize(def, f);
        RB_ASSERT(p->faceSizes[f] >= 3);
    }
    computeStarts(p);
    computePlanes(p);
    computeBounds(p);
    cutIntoTriangles(p);
    if (trianglesOnly && p->triangleCount != p->faceCount) {
        replaceFacesByTriangles(p);
    }
    if (wantIncidence) {
        computeEdges(p);
    }
    return p;
}

static void findParts(rbPolyhedron* p)
{
    size_t bytes = (size_t)p->vertexCount * sizeof(int);
    int* parents = rbAlloc(bytes);
    for (int v = 0; v < p->vertexCount; ++v) {
        parents[v] = v;
    }
    for (int f = 0; f < p->faceCount; ++f) {
        const int* loop = p->indices + p->faceStarts[f];
        for (int k = 1; k < p->faceSizes[f]; ++k) {
            // the smaller one stays, so that the result does not depend on the order of faces
            (void)rbSets_Join(parents, loop[0], loop[k]);
        }
    }
    // a root that no corner refers to belongs to no face
    bool* isUsed = rbAllocZero((size_t)p->vertexCount, sizeof(bool));
    for (int i = 0; i < p->indexCount; ++i) {
        int root = rbSets_Find(parents, p->indices[i]);
        p->partCount += isUsed[root] ? 0 : 1;
        isUsed[root] = true;
    }
    p->partVertices = rbAlloc((size_t)p->partCount * sizeof(int));
    int count = 0;
    for (int v = 0; v < p->vertexCount; ++v) {
        if (isUsed[v]) {
            p->partVertices[count++] = v;
        }
    }
    RB_ASSERT(count == p->partCount);
    rbFree(isUsed, (size_t)p->vertexCount * sizeof(bool));
    rbFree(parents, bytes);
}

rbGeometry* rbAllocMeshGeometry(rbShapeType type, rbPolyhedron* polyhedron)
{
    rbGeometry* geometry = rbAllocGeometry(type);
    geometry->polyhedron = polyhedron;
    findParts(polyhedron);
    polyhedron->tree =
        rbCreateBoxTree(polyhedron->vertices, polyhedron->triangles, polyhedron->triangleCount);
    rbBoxTree_SetFaces(polyhedron->tree, polyhedron->faceOfTriangle);
    return geometry;
}

void rbDestroyBrep(rbPolyhedron* p)
{
    if (p == NULL) {
        return;
    }
    size_t faces = (size_t)p->faceCount;
    size_t corners = (size_t)p->indexCount;
    rbFree(p->vertices, (size_t)p->vertexCount * sizeof(rbVec3));
    rbFree(p->faceSizes, faces * sizeof(int));
    rbFree(p->indices, corners * sizeof(int));
    rbFree(p->faceStarts, (faces + 1) * sizeof(int));
    rbFree(p->normals, faces * sizeof(rbVec3));
    rbFree(p->offsets, faces * sizeof(double));
    rbFree(p->edges, (size_t)p->edgeCount * sizeof(rbEdge));
    rbFree(p->edgeOfCorner, corners * sizeof(int));
    rbFree(p->vertexEdgeStarts, ((size_t)p->vertexCount + 1) * sizeof(int));
    rbFree(p->vertexEdges, 2 * (size_t)p->edgeCount * sizeof(int));
    rbFree(p->triangles, (size_t)p->triangleCount * sizeof(rbIndex3));
    rbFree(p->faceOfTriangle, (size_t)p->triangleCount * sizeof(int));
    rbDestroySupportTable(p->supports);
    rbDestroyBoxTree(p->tree);
    rbFree(p->partVertices, (size_t)p->partCount * sizeof(int));
    rbFree(p, sizeof *p);
}
