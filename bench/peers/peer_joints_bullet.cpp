// Bullet: the discrete world with its sequential impulses, ball joints as point-to-point
// constraints.
//
// Built with the single and with the double precision libraries, like peer_bullet.cpp. No damping,
// no sleeping, no collisions; everything else as Bullet ships it, except for the iteration count.
#include "peer_joints.h"
#include "read_bullet.h"

#include <btBulletDynamicsCommon.h>
#include <memory>
#include <vector>

namespace
{

struct State {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
    btScalar step = 0;

    ~State()
    {
        for (auto& joint : joints) {
            world.removeConstraint(joint.get());
        }
        for (auto& body : bodies) {
            world.removeRigidBody(body.get());
        }
    }
};

btScalar narrow(double value)
{
    return static_cast<btScalar>(value);
}

btVector3 toVector(const double v[3])
{
    return {narrow(v[0]), narrow(v[1]), narrow(v[2])};
}

void addBody(State& state, const rbPeerBody& from)
{
    state.shapes.push_back(std::make_unique<btBoxShape>(toVector(from.halfExtents)));
    btRigidBody::btRigidBodyConstructionInfo info(
        narrow(from.mass), nullptr, state.shapes.back().get(), toVector(from.moments));
    const double* q = from.pose.quaternion;
    info.m_startWorldTransform.setRotation(
        {narrow(q[1]), narrow(q[2]), narrow(q[3]), narrow(q[0])});
    info.m_startWorldTransform.setOrigin(toVector(from.pose.position));
    info.m_linearDamping = 0;
    info.m_angularDamping = 0;
    auto body = std::make_unique<btRigidBody>(info);
    body->setLinearVelocity(toVector(from.velocity));
    body->setAngularVelocity(toVector(from.angularVelocity));
    body->setActivationState(DISABLE_DEACTIVATION);
    state.world.addRigidBody(body.get(), 0, 0);
    state.bodies.push_back(std::move(body));
}

// Bullet accepts the world as the second body only.
void addJoint(State& state, const rbPeerJoint& from)
{
    btRigidBody& b = *state.bodies[static_cast<size_t>(from.bodyB)];
    btVector3 pointB = toVector(from.anchorB);
    std::unique_ptr<btTypedConstraint> joint;
    if (from.bodyA < 0 && from.isHinge) {
        btVector3 axisB = toVector(from.axisB);
        joint = std::make_unique<btHingeConstraint>(b, pointB, axisB);
    } else if (from.bodyA < 0) {
        joint = std::make_unique<btPoint2PointConstraint>(b, pointB);
    } else {
        btRigidBody& a = *state.bodies[static_cast<size_t>(from.bodyA)];
        btVector3 pointA = toVector(from.anchorA);
        if (from.isHinge) {
            joint = std::make_unique<btHingeConstraint>(a, b, pointA, pointB, toVector(from.axisA),
                                                        toVector(from.axisB));
        } else {
            joint = std::make_unique<btPoint2PointConstraint>(a, b, pointA, pointB);
        }
    }
    state.world.addConstraint(joint.get(), true);
    state.joints.push_back(std::move(joint));
}

void* create(const rbJointScene* scene, const rbJointPeerRow* row, double step)
{
    auto state = std::make_unique<State>();
    state->world.setGravity(toVector(scene->gravity));
    state->world.getSolverInfo().m_numIterations = row->iterations;
    state->step = narrow(step);
    for (int i = 0; i < scene->bodyCount; ++i) {
        addBody(*state, scene->bodies[i]);
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        addJoint(*state, scene->joints[i]);
    }
    return state.release();
}

bool advance(void* context, int stepCount)
{
    State& state = *static_cast<State*>(context);
    for (int i = 0; i < stepCount; ++i) {
        state.world.stepSimulation(state.step, 0);
    }
    return true;
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (size_t i = 0; i < state.bodies.size(); ++i) {
        readBulletBody(*state.bodies[i], states[i]);
    }
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbJointPeerRow rows[] = {
    {"10 iterations", 0, 10, false, false, nullptr},
    {"50 iterations", 0, 50, false, false, nullptr},
};

const rbJointPeer peer = {
#ifdef BT_USE_DOUBLE_PRECISION
    "bullet double",
#else
    "bullet",
#endif
    rows,
    static_cast<int>(sizeof rows / sizeof rows[0]),
    create,
    advance,
    read,
    destroy,
};

} // namespace

const rbJointPeer* rbGetJointPeer(void)
{
    return &peer;
}
