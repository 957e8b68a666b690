// FCL's triangle meshes: exact distance and overlap by its oriented volumes.
//
// The state is one model against itself in two poses, as the suite requires. Zero tolerances make
// the distance exact; the overlap query requests one contact and no points. Nothing is kept between
// queries: FCL has no warm start for meshes. With RSS its overlap test copies the whole model for
// every query, hence the times.
#include "peer_mesh.h"

#include <cmath>
#include <exception>
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>
#include <memory>
#include <vector>

namespace
{

using Transform = fcl::Transform3<double>;
using Vector = fcl::Vector3<double>;

struct Pair {
    Transform a, b;
};

template <typename Volume> struct State {
    fcl::BVHModel<Volume> model;
    std::vector<Pair, Eigen::aligned_allocator<Pair>> pairs;
    fcl::DistanceResult<double> distance;
    fcl::CollisionResult<double> collision;
};

Transform makeTransform(const rbPeerPose& pose)
{
    const double* q = pose.quaternion;
    Transform transform = Transform::Identity();
    transform.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
    transform.translation() = Vector(pose.position[0], pose.position[1], pose.position[2]);
    return transform;
}

template <typename Volume> void* create(const rbPeerMesh* mesh)
{
    std::unique_ptr<State<Volume>> state(new State<Volume>);
    std::vector<Vector> vertices;
    std::vector<fcl::Triangle> triangles;
    vertices.reserve(static_cast<size_t>(mesh->vertexCount));
    triangles.reserve(static_cast<size_t>(mesh->triangleCount));
    for (int i = 0; i < mesh->vertexCount; ++i) {
        vertices.emplace_back(mesh->vertices[i][0], mesh->vertices[i][1], mesh->vertices[i][2]);
    }
    for (int i = 0; i < mesh->triangleCount; ++i) {
        triangles.emplace_back(static_cast<size_t>(mesh->triangles[i][0]),
                               static_cast<size_t>(mesh->triangles[i][1]),
                               static_cast<size_t>(mesh->triangles[i][2]));
    }
    if (state->model.beginModel(mesh->triangleCount, mesh->vertexCount) != fcl::BVH_OK ||
        state->model.addSubModel(vertices, triangles) != fcl::BVH_OK ||
        state->model.endModel() != fcl::BVH_OK) {
        return nullptr;
    }
    return state.release();
}

template <typename Volume> void destroy(void* data)
{
    delete static_cast<State<Volume>*>(data);
}

template <typename Volume> size_t getBytes(const void* data)
{
    const fcl::BVHModel<Volume>& model = static_cast<const State<Volume>*>(data)->model;
    size_t triangleCount = static_cast<size_t>(model.num_tris);
    return sizeof(Vector) * static_cast<size_t>(model.num_vertices) +
           (sizeof(fcl::Triangle) + sizeof(unsigned)) * triangleCount +
           sizeof(fcl::BVNode<Volume>) * static_cast<size_t>(model.getNumBVs());
}

template <typename Volume> void setPairs(void* data, const rbPeerPair* pairs, int pairCount, int)
{
    State<Volume>* state = static_cast<State<Volume>*>(data);
    state->pairs.clear();
    for (int i = 0; i < pairCount; ++i) {
        state->pairs.push_back({makeTransform(pairs[i].a), makeTransform(pairs[i].b)});
    }
}

template <typename Volume> void measure(void* data, int pair, int, rbPeerWitness* witness)
{
    State<Volume>* state = static_cast<State<Volume>*>(data);
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    const fcl::DistanceRequest<double> request(true, false, 0.0, 0.0);
    state->distance.clear();
    try {
        // FCL reports overlap as a negative distance
        witness->distance = std::fmax(0.0, fcl::distance(&state->model, poses.a, &state->model,
                                                         poses.b, request, state->distance));
    } catch (const std::exception&) {
        witness->distance = NAN;
    }
    for (int i = 0; i < 3; ++i) {
        witness->pointA[i] = state->distance.nearest_points[0][i];
        witness->pointB[i] = state->distance.nearest_points[1][i];
    }
}

template <typename Volume> int overlaps(void* data, int pair)
{
    State<Volume>* state = static_cast<State<Volume>*>(data);
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    const fcl::CollisionRequest<double> request(1, false);
    state->collision.clear();
    try {
        return fcl::collide(&state->model, poses.a, &state->model, poses.b, request,
                            state->collision) > 0;
    } catch (const std::exception&) {
        return -1;
    }
}

template <typename Volume> constexpr rbMeshPeerRow makeRow(const char* name)
{
    return {name,
            create<Volume>,
            destroy<Volume>,
            getBytes<Volume>,
            setPairs<Volume>,
            measure<Volume>,
            overlaps<Volume>};
}

const rbMeshPeerRow rows[] = {
    makeRow<fcl::OBBRSS<double>>("OBBRSS"),
    makeRow<fcl::RSS<double>>("RSS"),
    makeRow<fcl::kIOS<double>>("kIOS"),
};

const rbMeshPeer peer = {"fcl", rows, sizeof rows / sizeof rows[0]};

} // namespace

const rbMeshPeer* rbGetMeshPeer(void)
{
    return &peer;
}
