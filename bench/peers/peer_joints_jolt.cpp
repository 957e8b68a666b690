// Jolt: point and hinge constraints, 10 velocity and 2 position iterations as shipped; single
// precision.
//
// No damping, no sleeping, no collisions.
#include "peer_joints.h"
#include "read_jolt.h"

#include <Jolt/Physics/Collision/Shape/BoxShape.h>
#include <memory>

namespace
{

void* create(const rbJointScene* scene, const rbJointPeerRow* /*row*/, double step)
{
    auto world = std::make_unique<JoltWorld>(scene->bodyCount, scene->gravity, step);
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbPeerBody& from = scene->bodies[i];
        JPH::BodyCreationSettings settings(new JPH::BoxShape(toJolt(from.halfExtents), 0.0F),
                                           JPH::RVec3(toJolt(from.pose.position)),
                                           toJolt(from.pose), JPH::EMotionType::Dynamic, joltGhost);
        setJoltMotion(settings, from.mass, from.moments, from.velocity, from.angularVelocity);
        world->addBody(settings);
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        world->addJoint(scene->joints[i]);
    }
    world->system.OptimizeBroadPhase();
    return world.release();
}

bool advance(void* context, int stepCount)
{
    JoltWorld& world = *static_cast<JoltWorld*>(context);
    bool isDone = true;
    for (int i = 0; i < stepCount && isDone; ++i) {
        isDone = world.advance();
    }
    return isDone;
}

void read(void* context, rbPeerBodyState* states)
{
    const JoltWorld& world = *static_cast<const JoltWorld*>(context);
    for (size_t i = 0; i < world.bodies.size(); ++i) {
        world.read(static_cast<int>(i), states[i]);
    }
}

void destroy(void* context)
{
    delete static_cast<JoltWorld*>(context);
}

const rbJointPeerRow rows[] = {
    {"10 and 2 iterations", 0, 0, false, false, nullptr},
};

const rbJointPeer peer = {
    "jolt", rows, static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read, destroy,
};

} // namespace

const rbJointPeer* rbGetJointPeer(void)
{
    return &peer;
}
