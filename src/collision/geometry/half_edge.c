#include "collision/geometry/half_edge.h"

#include "base/core/counting_sort.h"
#include "base/core/disjoint_sets.h"
#include "base/core/memory.h"

#include <stddef.h>

long long rbCountCorners(const rbMeshDef* def)
{
    RB_ASSERT(def->faceCount >= 0);
    long long count = 0;
    for (int f = 0; f < def->faceCount; ++f) {
        count += rbGetFaceSize(def, f);
    }
    return count;
}

rbHalfEdge* rbSortHalfEdges(const rbMeshDef* def, int cornerCount)
{
    RB_ASSERT(cornerCount > 0 && def->vertexCount > 0);
    size_t size = (size_t)cornerCount * sizeof(rbHalfEdge);
    rbHalfEdge* halfEdges = rbAlloc(size);
    rbHalfEdge* other = rbAlloc(size);
    int start = 0;
    for (int f = 0; f < def->faceCount; ++f) {
        int faceSize = rbGetFaceSize(def, f);
        for (int i = 0; i < faceSize; ++i) {
            int corner = start + i;
            int next = i + 1 < faceSize ? corner + 1 : start;
            int a = def->indices[corner], b = def->indices[next];
            rbHalfEdge h = {a < b ? a : b, a < b ? b : a, f, corner, next, a < b};
            halfEdges[corner] = h;
        }
        start += faceSize;
    }
    RB_ASSERT(start == cornerCount);
    int* starts = rbAlloc((size_t)(def->vertexCount + 1) * sizeof *starts);
    RB_SORT_BY(high, halfEdges, other, cornerCount, starts, def->vertexCount);
    RB_SORT_BY(low, other, halfEdges, cornerCount, starts, def->vertexCount);
    rbFree(starts, (size_t)(def->vertexCount + 1) * sizeof *starts);
    rbFree(other, size);
    return halfEdges;
}

int rbGetEdgeEnd(const rbHalfEdge* halfEdges, int count, int first)
{
    RB_ASSERT(first >= 0 && first < count);
    int end = first + 1;
    while (end < count && halfEdges[end].low == halfEdges[first].low &&
           halfEdges[end].high == halfEdges[first].high) {
        ++end;
    }
    return end;
}

int* rbFindMeshParts(const rbMeshDef* def, int* count)
{
    size_t vertexCount = (size_t)def->vertexCount;
    int* parents = rbAlloc(vertexCount * sizeof(int));
    bool* isUsed = rbAllocZero(vertexCount, sizeof(bool));
    for (int v = 0; v < def->vertexCount; ++v) {
        parents[v] = v;
    }
    const int* loop = def->indices;
    for (int f = 0; f < def->faceCount; ++f) {
        for (int k = 0; k < rbGetFaceSize(def, f); ++k) {
            isUsed[loop[k]] = true;
            // the smaller one stays, so that the result does not depend on the order of faces
            (void)rbSets_Join(parents, loop[0], loop[k]);
        }
        loop += rbGetFaceSize(def, f);
    }
    *count = 0;
    for (int v = 0; v < def->vertexCount; ++v) {
        *count += isUsed[v] && parents[v] == v ? 1 : 0;
    }
    int* parts = rbAlloc((size_t)*count * sizeof(int));
    for (int v = 0, next = 0; v < def->vertexCount; ++v) {
        if (isUsed[v] && parents[v] == v) {
            parts[next++] = v;
        }
    }
    rbFree(isUsed, vertexCount * sizeof(bool));
    rbFree(parents, vertexCount * sizeof(int));
    return parts;
}
