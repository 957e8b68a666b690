// Bullet: the discrete world with its sequential impulses and default broad phase.
//
// Built with the single and with the double precision libraries, like peer_bullet.cpp. No damping,
// no sleeping; margins as Bullet ships them, which inflates hulls by 0.04 m. Bullet multiplies the
// coefficients of a pair, so each body gets the square root.
#include "peer_contacts.h"
#include "read_bullet.h"

#include <btBulletDynamicsCommon.h>
#include <cmath>
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
    std::vector<std::unique_ptr<btTriangleMesh>> meshes;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
    size_t movingCount = 0;
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

std::unique_ptr<btCollisionShape> makeShape(State& state, const rbPeerCollider& from)
{
    switch (from.kind) {
    case RB_PEER_COLLIDER_SPHERE:
        return std::make_unique<btSphereShape>(narrow(from.size[0]));
    case RB_PEER_COLLIDER_CAPSULE:
        return std::make_unique<btCapsuleShape>(narrow(from.size[0]), narrow(2 * from.size[1]));
    case RB_PEER_COLLIDER_HULL: {
        auto hull = std::make_unique<btConvexHullShape>();
        for (int i = 0; i < from.pointCount; ++i) {
            hull->addPoint(toVector(from.points[i]), false);
        }
        hull->recalcLocalAabb();
        return hull;
    }
    case RB_PEER_COLLIDER_MESH: {
        auto mesh = std::make_unique<btTriangleMesh>();
        for (int f = 0; f < from.faceCount; ++f) {
            const int* corners = from.indices + static_cast<ptrdiff_t>(3) * f;
            mesh->addTriangle(toVector(from.points[corners[0]]), toVector(from.points[corners[1]]),
                              toVector(from.points[corners[2]]));
        }
        state.meshes.push_back(std::move(mesh));
        return std::make_unique<btBvhTriangleMeshShape>(state.meshes.back().get(), true);
    }
    case RB_PEER_COLLIDER_CYLINDER:
        return std::make_unique<btCylinderShapeZ>(
            btVector3(narrow(from.size[0]), narrow(from.size[0]), narrow(from.size[1])));
    case RB_PEER_COLLIDER_BOX:
    case RB_PEER_COLLIDER_COUNT:
        break;
    }
    return std::make_unique<btBoxShape>(toVector(from.size));
}

void addBody(State& state, const rbContactScene& scene, const rbPeerContactBody& from)
{
    btRigidBody::btRigidBodyConstructionInfo info(
        narrow(from.mass), nullptr, state.shapes[static_cast<size_t>(from.collider)].get(),
        toVector(from.moments));
    const double* q = from.pose.quaternion;
    info.m_startWorldTransform.setRotation(
        {narrow(q[1]), narrow(q[2]), narrow(q[3]), narrow(q[0])});
    info.m_startWorldTransform.setOrigin(toVector(from.pose.position));
    info.m_linearDamping = 0;
    info.m_angularDamping = 0;
    info.m_friction = narrow(std::sqrt(scene.friction));
    info.m_restitution = narrow(std::sqrt(scene.restitution));
    auto body = std::make_unique<btRigidBody>(info);
    if (from.mass > 0) {
        body->setLinearVelocity(toVector(from.velocity));
        body->setAngularVelocity(toVector(from.angularVelocity));
        body->setActivationState(DISABLE_DEACTIVATION);
    }
    state.world.addRigidBody(body.get());
    state.bodies.push_back(std::move(body));
}

void addHinge(State& state, const rbPeerJoint& from)
{
    btRigidBody& body = *state.bodies[static_cast<size_t>(from.bodyB)];
    btVector3 anchor = toVector(from.anchorB);
    btVector3 axis = toVector(from.axisB);
    if (from.bodyA >= 0) {
        btRigidBody& other = *state.bodies[static_cast<size_t>(from.bodyA)];
        state.joints.push_back(std::make_unique<btHingeConstraint>(
            other, body, toVector(from.anchorA), anchor, toVector(from.axisA), axis));
    } else {
        state.joints.push_back(std::make_unique<btHingeConstraint>(body, anchor, axis));
    }
    state.world.addConstraint(state.joints.back().get(), true);
}

void* create(const rbContactScene* scene, const rbContactPeerRow* row, double step)
{
    auto state = std::make_unique<State>();
    state->world.setGravity(toVector(scene->gravity));
    state->world.getSolverInfo().m_numIterations = row->iterations;
    state->step = narrow(step);
    state->movingCount = static_cast<size_t>(scene->movingCount);
    for (int i = 0; i < scene->colliderCount; ++i) {
        state->shapes.push_back(makeShape(*state, scene->colliders[i]));
    }
    for (int i = 0; i < scene->bodyCount; ++i) {
        addBody(*state, *scene, scene->bodies[i]);
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        addHinge(*state, scene->joints[i]);
    }
    return state.release();
}

bool advance(void* context)
{
    State& state = *static_cast<State*>(context);
    state.world.stepSimulation(state.step, 0);
    return true;
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (size_t i = 0; i < state.movingCount; ++i) {
        readBulletBody(*state.bodies[i], states[i]);
    }
}

int countPoints(void* context)
{
    State& state = *static_cast<State*>(context);
    int count = 0;
    for (int i = 0; i < state.dispatcher.getNumManifolds(); ++i) {
        count += state.dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    }
    return count;
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbContactPeerRow rows[] = {
    {"10 iterations", 0, 10, 0, nullptr},
};

const rbContactPeer peer = {
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
    countPoints,
    destroy,
};

} // namespace

const rbContactPeer* rbGetContactPeer(void)
{
    return &peer;
}
