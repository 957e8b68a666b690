// Jolt: sequential impulses, 10 velocity and 2 position iterations as shipped; single precision,
// one thread.
//
// Convex radii as shipped: boxes and hulls have edges rounded by up to 5 cm. Jointed bodies do not
// touch each other.
#include "peer_contacts.h"
#include "read_jolt.h"

#include <Jolt/Physics/Collision/ContactListener.h>
#include <Jolt/Physics/Collision/GroupFilter.h>
#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <Jolt/Physics/Collision/Shape/CapsuleShape.h>
#include <Jolt/Physics/Collision/Shape/ConvexHullShape.h>
#include <Jolt/Physics/Collision/Shape/CylinderShape.h>
#include <Jolt/Physics/Collision/Shape/MeshShape.h>
#include <Jolt/Physics/Collision/Shape/RotatedTranslatedShape.h>
#include <Jolt/Physics/Collision/Shape/SphereShape.h>
#include <memory>

namespace
{

// The group of a body is the index of the body it is joined to as the second one.
struct JointFilter final : JPH::GroupFilter {
    bool CanCollide(const JPH::CollisionGroup& a, const JPH::CollisionGroup& b) const override
    {
        return a.GetGroupID() != b.GetSubGroupID() && b.GetGroupID() != a.GetSubGroupID();
    }
};

struct Counter final : JPH::ContactListener {
    int points = 0;

    void OnContactAdded(const JPH::Body& /*a*/, const JPH::Body& /*b*/,
                        const JPH::ContactManifold& manifold,
                        JPH::ContactSettings& /*settings*/) override
    {
        points += static_cast<int>(manifold.mRelativeContactPointsOn1.size());
    }
    void OnContactPersisted(const JPH::Body& a, const JPH::Body& b,
                            const JPH::ContactManifold& manifold,
                            JPH::ContactSettings& settings) override
    {
        OnContactAdded(a, b, manifold, settings);
    }
};

struct State : JoltWorld {
    std::vector<JPH::RefConst<JPH::Shape>> shapes;
    JPH::Ref<JointFilter> filter = new JointFilter;
    int movingCount = 0;

    using JoltWorld::JoltWorld;
};

JPH::RefConst<JPH::Shape> makeHull(const rbPeerCollider& from)
{
    JPH::Array<JPH::Vec3> points;
    for (int i = 0; i < from.pointCount; ++i) {
        points.push_back(toJolt(from.points[i]));
    }
    JPH::ShapeSettings::ShapeResult result = JPH::ConvexHullShapeSettings(points).Create();
    return result.IsValid() ? result.Get() : nullptr;
}

JPH::RefConst<JPH::Shape> makeMesh(const rbPeerCollider& from)
{
    JPH::VertexList points;
    for (int i = 0; i < from.pointCount; ++i) {
        const double* p = from.points[i];
        points.push_back({narrow(p[0]), narrow(p[1]), narrow(p[2])});
    }
    JPH::IndexedTriangleList triangles;
    for (int f = 0; f < from.faceCount; ++f) {
        const int* c = from.indices + ptrdiff_t(3) * f;
        triangles.push_back({static_cast<JPH::uint32>(c[0]), static_cast<JPH::uint32>(c[1]),
                             static_cast<JPH::uint32>(c[2])});
    }
    JPH::ShapeSettings::ShapeResult result =
        JPH::MeshShapeSettings(std::move(points), std::move(triangles)).Create();
    return result.IsValid() ? result.Get() : nullptr;
}

JPH::RefConst<JPH::Shape> makeShape(const rbPeerCollider& from)
{
    float radius = narrow(from.size[0]);
    switch (from.kind) {
    case RB_PEER_COLLIDER_SPHERE:
        return new JPH::SphereShape(radius);
    case RB_PEER_COLLIDER_CAPSULE:
        return new JPH::CapsuleShape(narrow(from.size[1]), radius);
    case RB_PEER_COLLIDER_HULL:
        return makeHull(from);
    case RB_PEER_COLLIDER_MESH:
        return makeMesh(from);
    case RB_PEER_COLLIDER_CYLINDER: // along y
        return new JPH::RotatedTranslatedShape(
            JPH::Vec3::sZero(), JPH::Quat::sRotation(JPH::Vec3::sAxisX(), 0.5F * JPH::JPH_PI),
            new JPH::CylinderShape(narrow(from.size[1]), radius));
    case RB_PEER_COLLIDER_BOX:
    case RB_PEER_COLLIDER_COUNT:
        break;
    }
    JPH::Vec3 half = toJolt(from.size);
    return new JPH::BoxShape(half, std::min(JPH::cDefaultConvexRadius, 0.5F * half.ReduceMin()));
}

void addBody(State& state, const rbContactScene& scene, int index)
{
    const rbPeerContactBody& from = scene.bodies[index];
    bool isMoving = from.mass > 0.0;
    JPH::BodyCreationSettings settings(
        state.shapes[static_cast<size_t>(from.collider)], JPH::RVec3(toJolt(from.pose.position)),
        toJolt(from.pose), isMoving ? JPH::EMotionType::Dynamic : JPH::EMotionType::Static,
        isMoving ? joltMoving : joltStatic);
    settings.mFriction = narrow(scene.friction);
    settings.mRestitution = narrow(scene.restitution);
    if (isMoving) {
        setJoltMotion(settings, from.mass, from.moments, from.velocity, from.angularVelocity);
    }
    JPH::CollisionGroup::GroupID partner = JPH::CollisionGroup::cInvalidGroup;
    for (int i = 0; i < scene.jointCount; ++i) {
        if (scene.joints[i].bodyB == index && scene.joints[i].bodyA >= 0) {
            partner = static_cast<JPH::CollisionGroup::GroupID>(scene.joints[i].bodyA);
        }
    }
    if (scene.jointCount > 0) {
        settings.mCollisionGroup = JPH::CollisionGroup(
            state.filter, partner, static_cast<JPH::CollisionGroup::SubGroupID>(index));
    }
    state.addBody(settings);
}

void* create(const rbContactScene* scene, const rbContactPeerRow* /*row*/, double step)
{
    auto state = std::make_unique<State>(scene->bodyCount, scene->gravity, step);
    state->movingCount = scene->movingCount;
    for (int i = 0; i < scene->colliderCount; ++i) {
        state->shapes.push_back(makeShape(scene->colliders[i]));
        if (state->shapes.back() == nullptr) {
            return nullptr;
        }
    }
    for (int i = 0; i < scene->bodyCount; ++i) {
        addBody(*state, *scene, i);
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        state->addJoint(scene->joints[i]);
    }
    state->system.OptimizeBroadPhase();
    return state.release();
}

bool advance(void* context)
{
    return static_cast<State*>(context)->advance();
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (int i = 0; i < state.movingCount; ++i) {
        state.read(i, states[i]);
    }
}

// It reports contacts only while it steps: one more step, after everything is measured.
int countPoints(void* context)
{
    State& state = *static_cast<State*>(context);
    Counter counter;
    state.system.SetContactListener(&counter);
    (void)state.advance();
    state.system.SetContactListener(nullptr);
    return counter.points;
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbContactPeerRow rows[] = {
    {"10 and 2 iterations", 0, 0, 0, nullptr},
};

const rbContactPeer peer = {
    "jolt",      rows,    static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read,
    countPoints, destroy,
};

} // namespace

const rbContactPeer* rbGetContactPeer(void)
{
    return &peer;
}
