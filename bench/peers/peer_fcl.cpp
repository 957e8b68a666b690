// FCL: distance, signed distance and collide with contact, by its libccd solver and by its own.
//
// Public functions with the tolerances they accept. The independent solver keeps the last direction
// between collide calls; nothing else is kept. Some calls end the process on some shapes (an
// assertion), so the suite runs every call in its own process.
#include "peer.h"

#include <cmath>
#include <exception>
#include <fcl/narrowphase/collision.h>
#include <fcl/narrowphase/distance.h>
#include <memory>
#include <vector>

namespace
{

using Transform = fcl::Transform3<double>;

struct Pair {
    Transform a, b;
};

struct State {
    std::shared_ptr<fcl::CollisionGeometry<double>> geometry;
    std::vector<Pair, Eigen::aligned_allocator<Pair>> pairs;
    std::vector<fcl::Vector3<double>> guesses;
    fcl::DistanceResult<double> distance;
    fcl::CollisionResult<double> collision;
};

std::shared_ptr<fcl::CollisionGeometry<double>> makeGeometry(const rbPeerShape* shape)
{
    const double* size = shape->size;
    if (shape->kind == RB_PEER_BOX) {
        return std::make_shared<fcl::Box<double>>(2.0 * size[0], 2.0 * size[1], 2.0 * size[2]);
    }
    if (shape->kind == RB_PEER_ELLIPSOID) {
        return std::make_shared<fcl::Ellipsoid<double>>(size[0], size[1], size[2]);
    }
    auto vertices = std::make_shared<std::vector<fcl::Vector3<double>>>();
    for (int i = 0; i < shape->pointCount; ++i) {
        vertices->emplace_back(shape->points[i][0], shape->points[i][1], shape->points[i][2]);
    }
    auto faces = std::make_shared<std::vector<int>>();
    int corner = 0;
    for (int face = 0; face < shape->faceCount; ++face) {
        faces->push_back(shape->faceSizes[face]);
        for (int i = 0; i < shape->faceSizes[face]; ++i) {
            faces->push_back(shape->indices[corner++]);
        }
    }
    return std::make_shared<fcl::Convex<double>>(vertices, shape->faceCount, faces);
}

Transform makeTransform(const rbPeerPose& pose)
{
    const double* q = pose.quaternion;
    Transform transform = Transform::Identity();
    transform.linear() = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
    transform.translation() =
        fcl::Vector3<double>(pose.position[0], pose.position[1], pose.position[2]);
    return transform;
}

void forget(void* data)
{
    for (fcl::Vector3<double>& guess : static_cast<State*>(data)->guesses) {
        guess = fcl::Vector3<double>(1.0, 0.0, 0.0);
    }
}

void* create(const rbPeerShape* shape, const rbPeerPair* pairs, int pairCount, int slotCount)
{
    std::unique_ptr<State> state(new State);
    try {
        state->geometry = makeGeometry(shape);
    } catch (const std::exception&) {
        return nullptr;
    }
    state->geometry->computeLocalAABB();
    for (int i = 0; i < pairCount; ++i) {
        state->pairs.push_back({makeTransform(pairs[i].a), makeTransform(pairs[i].b)});
    }
    state->guesses.resize(static_cast<size_t>(slotCount));
    forget(state.get());
    return state.release();
}

void destroy(void* data)
{
    delete static_cast<State*>(data);
}

double measure(const rbPeerRow* row, State* state, int pair, fcl::GJKSolverType solver)
{
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    fcl::DistanceRequest<double> request(true, row->result == RB_PEER_DEPTH, 0.0, 0.0,
                                         row->tolerance, solver);
    state->distance.clear();
    try {
        return fcl::distance(state->geometry.get(), poses.a, state->geometry.get(), poses.b,
                             request, state->distance);
    } catch (const std::exception&) {
        return NAN;
    }
}

double measureCcd(const rbPeerRow* row, void* data, int pair, int)
{
    return measure(row, static_cast<State*>(data), pair, fcl::GST_LIBCCD);
}

double measureIndependent(const rbPeerRow* row, void* data, int pair, int)
{
    return measure(row, static_cast<State*>(data), pair, fcl::GST_INDEP);
}

double collide(const rbPeerRow* row, State* state, int pair, int slot, fcl::GJKSolverType solver)
{
    const Pair& poses = state->pairs[static_cast<size_t>(pair)];
    bool hasContact = row->result == RB_PEER_DEPTH;
    fcl::CollisionRequest<double> request(1, hasContact, 1, false, true, solver, row->tolerance);
    if (slot >= 0) {
        request.enable_cached_gjk_guess = true;
        request.cached_gjk_guess = state->guesses[static_cast<size_t>(slot)];
    }
    state->collision.clear();
    try {
        fcl::collide(state->geometry.get(), poses.a, state->geometry.get(), poses.b, request,
                     state->collision);
    } catch (const std::exception&) {
        return NAN;
    }
    if (slot >= 0) {
        state->guesses[static_cast<size_t>(slot)] = state->collision.cached_gjk_guess;
    }
    if (!hasContact) {
        return state->collision.isCollision() ? -1.0 : 1.0;
    }
    return state->collision.isCollision() ? -state->collision.getContact(0).penetration_depth : 0.0;
}

double collideCcd(const rbPeerRow* row, void* data, int pair, int)
{
    return collide(row, static_cast<State*>(data), pair, -1, fcl::GST_LIBCCD);
}

double collideIndependent(const rbPeerRow* row, void* data, int pair, int slot)
{
    return collide(row, static_cast<State*>(data), pair, slot, fcl::GST_INDEP);
}

const rbPeerRow rows[] = {
    {"distance, ccd 1e-6", RB_PEER_DISTANCE, 1e-6, measureCcd, 0},
    {"distance, ccd 1e-12", RB_PEER_DISTANCE, 1e-12, measureCcd, 0},
    {"distance, indep 1e-6", RB_PEER_DISTANCE, 1e-6, measureIndependent, 0},
    {"distance, indep 1e-10", RB_PEER_DISTANCE, 1e-10, measureIndependent, 0},
    {"signed, ccd 1e-6", RB_PEER_DEPTH, 1e-6, measureCcd, 0},
    {"signed, ccd 1e-12", RB_PEER_DEPTH, 1e-12, measureCcd, 0},
    {"signed, indep 1e-6", RB_PEER_DEPTH, 1e-6, measureIndependent, 0},
    {"collide, ccd 1e-6", RB_PEER_DEPTH, 1e-6, collideCcd, 0},
    {"collide, ccd 1e-10", RB_PEER_DEPTH, 1e-10, collideCcd, 0},
    {"collide, indep 1e-6", RB_PEER_DEPTH, 1e-6, collideIndependent, 0},
    {"collide, indep 1e-10", RB_PEER_DEPTH, 1e-10, collideIndependent, 0},
    {"collide, ccd", RB_PEER_BOOL, 1e-6, collideCcd, 0},
    {"collide, indep", RB_PEER_BOOL, 1e-6, collideIndependent, 0},
};

const rbPeer peer = {"fcl", rows, sizeof rows / sizeof rows[0], create, forget, destroy};

} // namespace

const rbPeer* rbGetPeer(void)
{
    return &peer;
}
