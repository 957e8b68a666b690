#include "peers/peer_rays_ours.h"

#include "base/core/memory.h"
#include "base/core/timer.h"

#include <rattleback/shape.h>

#include <math.h>

typedef struct rbRaysOurs {
    rbGeometry* geometry;
    rbRay* rays;
    rbRayHit* hits;
    int count;
} rbRaysOurs;

static void freeRays(rbRaysOurs* state)
{
    rbFree(state->rays, (size_t)state->count * sizeof *state->rays);
    rbFree(state->hits, (size_t)state->count * sizeof *state->hits);
    state->count = 0;
}

static void* create(const rbPeerMesh* mesh, double* buildTime)
{
    RB_ASSERT(sizeof(rbVec3) == sizeof mesh->vertices[0]);
    rbMeshDef def = {
        .vertices = (const rbVec3*)mesh->vertices,
        .vertexCount = mesh->vertexCount,
        .indices = &mesh->triangles[0][0],
        .faceCount = mesh->triangleCount,
    };
    double start = rbGetThreadTime();
    rbGeometry* geometry = rbCreateMesh(&def, NULL);
    *buildTime = rbGetThreadTime() - start;
    if (geometry == NULL) {
        return NULL;
    }
    rbRaysOurs* state = rbAllocZero(1, sizeof *state);
    state->geometry = geometry;
    return state;
}

static void destroy(void* data)
{
    rbRaysOurs* state = data;
    freeRays(state);
    rbDestroyGeometry(state->geometry);
    rbFree(state, sizeof *state);
}

static void setRays(void* data, const rbPeerRay* rays, int count)
{
    rbRaysOurs* state = data;
    freeRays(state);
    state->rays = rbAlloc((size_t)count * sizeof *state->rays);
    state->hits = rbAlloc((size_t)count * sizeof *state->hits);
    state->count = count;
    for (int i = 0; i < count; ++i) {
        const double* o = rays[i].origin;
        const double* d = rays[i].direction;
        state->rays[i] = (rbRay){{o[0], o[1], o[2]}, {d[0], d[1], d[2]}, INFINITY};
    }
}

static void cast(void* data, double* distances)
{
    rbRaysOurs* state = data;
    for (int i = 0; i < state->count; ++i) {
        rbRayHit hit;
        bool isHit = rbGeometry_CastRay(state->geometry, &state->rays[i], &hit);
        distances[i] = isHit ? hit.t : (double)INFINITY;
    }
}

static void castMany(void* data, double* distances)
{
    rbRaysOurs* state = data;
    (void)rbGeometry_CastRays(state->geometry, state->rays, state->count, state->hits);
    for (int i = 0; i < state->count; ++i) {
        distances[i] = state->hits[i].t;
    }
}

static void castAny(void* data, double* distances)
{
    rbRaysOurs* state = data;
    for (int i = 0; i < state->count; ++i) {
        bool isHit = rbGeometry_IsHit(state->geometry, &state->rays[i]);
        distances[i] = isHit ? 0.0 : (double)INFINITY;
    }
}

static const rbRayPeerRow rows[] = {
    {"", create, destroy, setRays, cast},
    {"packets", create, destroy, setRays, castMany},
    {"any hit", create, destroy, setRays, castAny},
};

const rbRayPeer rbRayPeerOurs = {"rattleback", rows, 3};
