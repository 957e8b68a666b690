// Coplanar triangles become faces by growing regions from the largest triangle down: its plane is
// the best known one, and every triangle is used once, so that a sliver between two faces joins one
// of them and never merges the two faces.
#include "collision/geometry/hull_faces.h"

#include "collision/geometry/half_edge.h"
#include "collision/geometry/polyhedron.h"

#include <stdlib.h>
#include <string.h>

typedef struct Region {
    int* loop; // into the common array
    int size;
} Region;

typedef struct Sized {
    double area;
    int triangle;
} Sized;

typedef struct Merger {
    const rbVec3* points;
    int pointCount;
    rbIndex3* triangles;
    int triangleCount;
    double tolerance;
    int* neighbors; // 3 per triangle, across the side that starts at corner k
    int* regionOf;  // per triangle, -1 none yet
    Region* regions;
    int regionCount;
    int* loops; // of all regions, one after the other
    int* uses;  // per point: regions whose loop passes it
} Merger;

static int compareTriangles(const void* a, const void* b)
{
    const int* v = ((const rbIndex3*)a)->v;
    const int* w = ((const rbIndex3*)b)->v;
    for (int k = 0; k < 3; ++k) {
        if (v[k] != w[k]) {
            return v[k] < w[k] ? -1 : 1;
        }
    }
    return 0;
}

static int compareSizes(const void* a, const void* b)
{
    const Sized* s = a;
    const Sized* t = b;
    if (s->area != t->area) {
        return s->area > t->area ? -1 : 1;
    }
    return s->triangle < t->triangle ? -1 : (s->triangle > t->triangle ? 1 : 0);
}

static int compareRegions(const void* a, const void* b)
{
    const Region* r = a;
    const Region* s = b;
    for (int i = 0; i < r->size && i < s->size; ++i) {
        if (r->loop[i] != s->loop[i]) {
            return r->loop[i] < s->loop[i] ? -1 : 1;
        }
    }
    return r->size < s->size ? -1 : (r->size > s->size ? 1 : 0);
}

// Orients the triangles outward, rotates each to begin with its smallest index, and sorts them.
static void canonizeTriangles(Merger* m)
{
    rbMeshDef def = {m->points, m->pointCount, NULL, m->triangles[0].v, m->triangleCount};
    bool isInsideOut = rbComputeMeshMass(&def).volume < 0.0;
    for (int t = 0; t < m->triangleCount; ++t) {
        int* v = m->triangles[t].v;
        int first = v[0] < v[1] ? (v[0] < v[2] ? 0 : 2) : (v[1] < v[2] ? 1 : 2);
        int a = v[first];
        int b = v[(first + 1) % 3];
        int c = v[(first + 2) % 3];
        v[0] = a;
        v[1] = isInsideOut ? c : b;
        v[2] = isInsideOut ? b : c;
    }
    qsort(m->triangles, (size_t)m->triangleCount, sizeof(rbIndex3), compareTriangles);
}

static bool findNeighbors(Merger* m)
{
    rbMeshDef def = {m->points, m->pointCount, NULL, m->triangles[0].v, m->triangleCount};
    int count = 3 * m->triangleCount;
    rbHalfEdge* halfEdges = rbSortHalfEdges(&def, count);
    bool isClosed = true;
    for (int i = 0; i < count && isClosed;) {
        int end = rbGetEdgeEnd(halfEdges, count, i);
        isClosed = end - i == 2 && halfEdges[i].isForward != halfEdges[i + 1].isForward;
        if (isClosed) {
            m->neighbors[halfEdges[i].corner] = halfEdges[i + 1].face;
            m->neighbors[halfEdges[i + 1].corner] = halfEdges[i].face;
        }
        i = end;
    }
    rbFree(halfEdges, (size_t)count * sizeof(rbHalfEdge));
    return isClosed;
}

static rbVec3 getVectorArea(const Merger* m, int triangle)
{
    return rbComputeNewell(m->points, m->triangles[triangle].v, 3);
}

static bool liesInPlane(const Merger* m, int triangle, rbVec3 n, rbVec3 origin)
{
    bool isIn = true;
    for (int k = 0; k < 3 && isIn; ++k) {
        rbVec3 v = rbSub(m->points[m->triangles[triangle].v[k]], origin);
        isIn = fabs(rbDot(n, v)) <= m->tolerance;
    }
    return isIn;
}

static void growRegion(Merger* m, int seed, int region, int* stack)
{
    rbVec3 n = rbNormalize(getVectorArea(m, seed));
    rbVec3 origin = m->points[m->triangles[seed].v[0]];
    int depth = 0;
    m->regionOf[seed] = region;
    stack[depth++] = seed;
    while (depth > 0) {
        int t = stack[--depth];
        for (int k = 0; k < 3; ++k) {
            int next = m->neighbors[3 * t + k];
            if (m->regionOf[next] < 0 && liesInPlane(m, next, n, origin)) {
                m->regionOf[next] = region;
                stack[depth++] = next;
            }
        }
    }
    RB_ASSERT(depth == 0);
}

static void growRegions(Merger* m)
{
    size_t sizedBytes = (size_t)m->triangleCount * sizeof(Sized);
    size_t stackBytes = (size_t)m->triangleCount * sizeof(int);
    Sized* sized = rbAlloc(sizedBytes);
    int* stack = rbAlloc(stackBytes);
    for (int t = 0; t < m->triangleCount; ++t) {
        sized[t] = (Sized){rbLengthSquared(getVectorArea(m, t)), t};
        m->regionOf[t] = -1;
    }
    qsort(sized, (size_t)m->triangleCount, sizeof(Sized), compareSizes);
    for (int i = 0; i < m->triangleCount; ++i) {
        if (m->regionOf[sized[i].triangle] < 0) {
            growRegion(m, sized[i].triangle, m->regionCount++, stack);
        }
    }
    rbFree(sized, sizedBytes);
    rbFree(stack, stackBytes);
}

// Chains the boundary of a region from the steps next[vertex]; false if it is not one loop.
static bool chainLoop(Merger* m, Region* region, int start, const int* next, int stepCount)
{
    int vertex = start;
    do {
        if (region->size >= stepCount) {
            return false;
        }
        region->loop[region->size++] = vertex;
        ++m->uses[vertex];
        vertex = next[vertex];
    } while (vertex != start);
    return region->size == stepCount;
}

// Boundary loops of all regions. Triangles are listed by region first.
static bool traceLoops(Merger* m)
{
    size_t stepBytes = (size_t)m->pointCount * sizeof(int);
    size_t startBytes = ((size_t)m->regionCount + 1) * sizeof(int);
    size_t listBytes = (size_t)m->triangleCount * sizeof(int);
    int* next = rbAlloc(stepBytes);
    int* stamp = rbAllocZero((size_t)m->pointCount, sizeof(int));
    int* starts = rbAllocZero((size_t)m->regionCount + 1, sizeof(int));
    int* list = rbAlloc(listBytes);
    for (int t = 0; t < m->triangleCount; ++t) {
        ++starts[m->regionOf[t] + 1];
    }
    for (int r = 0; r < m->regionCount; ++r) {
        starts[r + 1] += starts[r];
    }
    for (int t = m->triangleCount - 1; t >= 0; --t) {
        list[--starts[m->regionOf[t] + 1]] = t; // leaves starts[r + 1] at the beginning of region r
    }
    bool isGood = true;
    int* free = m->loops;
    for (int r = 0; r < m->regionCount && isGood; ++r) {
        int end = r + 1 < m->regionCount ? starts[r + 2] : m->triangleCount;
        int stepCount = 0;
        int smallest = m->pointCount;
        for (int i = starts[r + 1]; i < end; ++i) {
            const int* v = m->triangles[list[i]].v;
            for (int k = 0; k < 3; ++k) {
                if (m->regionOf[m->neighbors[3 * list[i] + k]] != r) {
                    isGood = isGood && stamp[v[k]] != r + 1;
                    stamp[v[k]] = r + 1;
                    next[v[k]] = v[(k + 1) % 3];
                    smallest = v[k] < smallest ? v[k] : smallest;
                    ++stepCount;
                }
            }
        }
        m->regions[r] = (Region){free, 0};
        isGood =
            isGood && stepCount >= 3 && chainLoop(m, &m->regions[r], smallest, next, stepCount);
        free += m->regions[r].size;
    }
    rbFree(next, stepBytes);
    rbFree(stamp, stepBytes);
    rbFree(starts, startBytes);
    rbFree(list, listBytes);
    return isGood;
}

// Removes points on straight edges (two faces only), numbers the rest and sorts the faces.
static bool writeMesh(Merger* m, rbOwnedMesh* mesh)
{
    int* numbers = m->uses; // becomes the new index, -1 for removed points
    int vertexCount = 0;
    for (int i = 0; i < m->pointCount; ++i) {
        numbers[i] = m->uses[i] >= 3 ? vertexCount++ : -1;
    }
    int indexCount = 0;
    for (int r = 0; r < m->regionCount; ++r) {
        Region* region = &m->regions[r];
        int size = 0;
        int smallest = 0;
        for (int i = 0; i < region->size; ++i) {
            int number = numbers[region->loop[i]];
            if (number >= 0) {
                region->loop[size] = number;
                smallest = number < region->loop[smallest] ? size : smallest;
                ++size;
            }
        }
        if (size < 3) {
            return false;
        }
        region->size = size;
        indexCount += size;
        // the first corner may have been removed: rotate to the smallest again, by three reversals
        const int cuts[3][2] = {{0, smallest}, {smallest, size}, {0, size}};
        for (int c = 0; c < 3; ++c) {
            for (int i = cuts[c][0], j = cuts[c][1] - 1; i < j; ++i, --j) {
                int swapped = region->loop[i];
                region->loop[i] = region->loop[j];
                region->loop[j] = swapped;
            }
        }
    }
    qsort(m->regions, (size_t)m->regionCount, sizeof(Region), compareRegions);
    mesh->vertexCount = vertexCount;
    mesh->faceCount = m->regionCount;
    mesh->indexCount = indexCount;
    mesh->vertices = rbAlloc((size_t)vertexCount * sizeof(rbVec3));
    mesh->faceSizes = rbAlloc((size_t)m->regionCount * sizeof(int));
    mesh->indices = rbAlloc((size_t)indexCount * sizeof(int));
    for (int i = 0; i < m->pointCount; ++i) {
        if (numbers[i] >= 0) {
            mesh->vertices[numbers[i]] = m->points[i];
        }
    }
    int* corner = mesh->indices;
    for (int r = 0; r < m->regionCount; ++r) {
        mesh->faceSizes[r] = m->regions[r].size;
        memcpy(corner, m->regions[r].loop, (size_t)m->regions[r].size * sizeof(int));
        corner += m->regions[r].size;
    }
    return true;
}

bool rbMakeHullFaces(const rbVec3* points, int pointCount, rbIndex3* triangles, int triangleCount,
                     double tolerance, rbOwnedMesh* mesh)
{
    RB_ASSERT(pointCount >= 4 && triangleCount >= 4);
    RB_ASSERT(tolerance > 0.0);
    *mesh = (rbOwnedMesh){0};
    size_t triangleBytes = (size_t)triangleCount * sizeof(int);
    size_t regionBytes = (size_t)triangleCount * sizeof(Region);
    Merger m = {.points = points,
                .pointCount = pointCount,
                .triangles = triangles,
                .triangleCount = triangleCount,
                .tolerance = tolerance,
                .neighbors = rbAlloc(3 * triangleBytes),
                .regionOf = rbAlloc(triangleBytes),
                .regions = rbAlloc(regionBytes),
                .loops = rbAlloc(3 * triangleBytes),
                .uses = rbAllocZero((size_t)pointCount, sizeof(int))};
    canonizeTriangles(&m);
    bool isGood = findNeighbors(&m);
    if (isGood) {
        growRegions(&m);
        isGood = traceLoops(&m) && writeMesh(&m, mesh);
    }
    rbFree(m.neighbors, 3 * triangleBytes);
    rbFree(m.regionOf, triangleBytes);
    rbFree(m.regions, regionBytes);
    rbFree(m.loops, 3 * triangleBytes);
    rbFree(m.uses, (size_t)pointCount * sizeof(int));
    return isGood;
}
