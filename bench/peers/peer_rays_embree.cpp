// Embree's triangles: rays one by one, closest hit, with its default and its robust traversal.
//
// Single precision. The device has one thread, so the build is single-threaded too.
#include "peer_rays.h"

#include <cmath>
#include <ctime>
#include <embree3/rtcore.h>
#include <limits>
#include <memory>
#include <vector>

namespace
{

struct State {
    RTCDevice device = nullptr;
    RTCScene scene = nullptr;
    std::vector<RTCRay> rays;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State()
    {
        if (scene != nullptr) {
            rtcReleaseScene(scene);
        }
        if (device != nullptr) {
            rtcReleaseDevice(device);
        }
    }
};

double getTime()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool copyMesh(const rbPeerMesh* mesh, RTCGeometry geometry)
{
    auto* vertices = static_cast<float*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                3 * sizeof(float), static_cast<size_t>(mesh->vertexCount)));
    auto* indices = static_cast<unsigned*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                3 * sizeof(unsigned), static_cast<size_t>(mesh->triangleCount)));
    if (vertices == nullptr || indices == nullptr) {
        return false;
    }
    for (int i = 0; i < mesh->vertexCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            vertices[3 * i + k] = static_cast<float>(mesh->vertices[i][k]);
        }
    }
    for (int i = 0; i < mesh->triangleCount; ++i) {
        for (int k = 0; k < 3; ++k) {
            indices[3 * i + k] = static_cast<unsigned>(mesh->triangles[i][k]);
        }
    }
    return true;
}

void* createScene(const rbPeerMesh* mesh, bool isRobust, double* buildTime)
{
    std::unique_ptr<State> state(new State);
    state->device = rtcNewDevice("threads=1,set_affinity=0");
    if (state->device == nullptr) {
        return nullptr;
    }
    state->scene = rtcNewScene(state->device);
    rtcSetSceneBuildQuality(state->scene, RTC_BUILD_QUALITY_MEDIUM);
    rtcSetSceneFlags(state->scene, isRobust ? RTC_SCENE_FLAG_ROBUST : RTC_SCENE_FLAG_NONE);
    RTCGeometry geometry = rtcNewGeometry(state->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    bool isCopied = copyMesh(mesh, geometry);
    double start = getTime();
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(state->scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(state->scene);
    *buildTime = getTime() - start;
    bool isGood = isCopied && rtcGetDeviceError(state->device) == RTC_ERROR_NONE;
    return isGood ? state.release() : nullptr;
}

void* create(const rbPeerMesh* mesh, double* buildTime)
{
    return createScene(mesh, false, buildTime);
}

void* createRobust(const rbPeerMesh* mesh, double* buildTime)
{
    return createScene(mesh, true, buildTime);
}

void destroy(void* data)
{
    delete static_cast<State*>(data);
}

void setRays(void* data, const rbPeerRay* rays, int count)
{
    State* state = static_cast<State*>(data);
    state->rays.clear();
    for (int i = 0; i < count; ++i) {
        RTCRay ray{};
        ray.org_x = static_cast<float>(rays[i].origin[0]);
        ray.org_y = static_cast<float>(rays[i].origin[1]);
        ray.org_z = static_cast<float>(rays[i].origin[2]);
        ray.dir_x = static_cast<float>(rays[i].direction[0]);
        ray.dir_y = static_cast<float>(rays[i].direction[1]);
        ray.dir_z = static_cast<float>(rays[i].direction[2]);
        ray.tfar = std::numeric_limits<float>::infinity();
        ray.mask = ~0U;
        state->rays.push_back(ray);
    }
}

void cast(void* data, double* distances)
{
    State* state = static_cast<State*>(data);
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (size_t i = 0; i < state->rays.size(); ++i) {
        RTCRayHit query;
        query.ray = state->rays[i];
        query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
        query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        rtcIntersect1(state->scene, &context, &query);
        distances[i] = query.hit.geomID != RTC_INVALID_GEOMETRY_ID
                           ? static_cast<double>(query.ray.tfar)
                           : std::numeric_limits<double>::infinity();
    }
}

const rbRayPeerRow rows[] = {
    {"", create, destroy, setRays, cast},
    {"robust", createRobust, destroy, setRays, cast},
};

const rbRayPeer peer = {"embree", rows, 2};

} // namespace

const rbRayPeer* rbGetRayPeer(void)
{
    return &peer;
}
