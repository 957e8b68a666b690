// ODE: quickstep with the default 20 iterations, hash space, at most 8 contacts a pair, friction as
// a pyramid scaled by the normal force. Error reduction and constraint softness as ODE ships them.
// The direct step, for small scenes, solves the same conditions exactly.
#include "peer_contacts.h"
#include "read_ode.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <ode/ode.h>
#include <vector>

namespace
{

enum Option {
    OPTION_QUICK,
    OPTION_DIRECT
};

constexpr int contactsMax = 8;

// Data that ODE keeps pointers to.
struct Hull {
    std::vector<dReal> planes;
    std::vector<dReal> points;
    std::vector<unsigned int> polygons;
    int faceCount = 0;
};

struct State {
    dWorldID world = nullptr;
    dSpaceID space = nullptr;
    dJointGroupID joints = nullptr;
    std::vector<dBodyID> bodies; // the moving bodies
    std::vector<std::unique_ptr<Hull>> hulls;
    std::vector<dTriMeshDataID> meshes;
    dReal step = 0;
    int option = OPTION_QUICK;
    dReal friction = 0;
    dReal restitution = 0;
    int pointCount = 0;
};

bool startOde()
{
    return dInitODE2(0) != 0 && dAllocateODEDataForThread(dAllocateMaskAll) != 0;
}

void keepSilent(int, const char*, va_list)
{
}

// Planes (n, d) with n.x = d of all faces, by the first three corners of each.
std::unique_ptr<Hull> makeHull(const rbPeerCollider& from)
{
    auto hull = std::make_unique<Hull>();
    hull->faceCount = from.faceCount;
    for (int i = 0; i < from.pointCount; ++i) {
        hull->points.insert(hull->points.end(), from.points[i], from.points[i] + 3);
    }
    const int* corner = from.indices;
    for (int f = 0; f < from.faceCount; ++f) {
        const double* a = from.points[corner[0]];
        const double* b = from.points[corner[1]];
        const double* c = from.points[corner[2]];
        dVector3 u = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        dVector3 v = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        dVector3 n = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                      u[0] * v[1] - u[1] * v[0]};
        double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        double offset = 0;
        for (int k = 0; k < 3; ++k) {
            hull->planes.push_back(n[k] / length);
            offset += n[k] / length * a[k];
        }
        hull->planes.push_back(offset);
        hull->polygons.push_back(static_cast<unsigned int>(from.faceSizes[f]));
        for (int k = 0; k < from.faceSizes[f]; ++k) {
            hull->polygons.push_back(static_cast<unsigned int>(*corner++));
        }
    }
    return hull;
}

dGeomID makeMesh(State& state, const rbPeerCollider& from)
{
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(data, from.points, 3 * sizeof(double), from.pointCount,
                                from.indices, 3 * from.faceCount, 3 * sizeof(int));
    state.meshes.push_back(data);
    return dCreateTriMesh(state.space, data, nullptr, nullptr, nullptr);
}

dGeomID makeGeom(State& state, const rbPeerCollider& from, size_t index)
{
    switch (from.kind) {
    case RB_PEER_COLLIDER_SPHERE:
        return dCreateSphere(state.space, from.size[0]);
    case RB_PEER_COLLIDER_CAPSULE:
        return dCreateCapsule(state.space, from.size[0], 2 * from.size[1]);
    case RB_PEER_COLLIDER_HULL: {
        const Hull& hull = *state.hulls[index];
        return dCreateConvex(state.space, hull.planes.data(),
                             static_cast<unsigned int>(hull.faceCount), hull.points.data(),
                             static_cast<unsigned int>(hull.points.size() / 3),
                             hull.polygons.data());
    }
    case RB_PEER_COLLIDER_MESH:
        return makeMesh(state, from);
    case RB_PEER_COLLIDER_CYLINDER:
        return dCreateCylinder(state.space, from.size[0], 2 * from.size[1]);
    case RB_PEER_COLLIDER_BOX:
    case RB_PEER_COLLIDER_COUNT:
        break;
    }
    return dCreateBox(state.space, 2 * from.size[0], 2 * from.size[1], 2 * from.size[2]);
}

void addBody(State& state, const rbContactScene& scene, const rbPeerContactBody& from)
{
    const rbPeerCollider& collider = scene.colliders[from.collider];
    dGeomID geom = makeGeom(state, collider, static_cast<size_t>(from.collider));
    const double* p = from.pose.position;
    const double* q = from.pose.quaternion;
    const dQuaternion quaternion = {q[0], q[1], q[2], q[3]};
    if (from.mass <= 0) {
        dGeomSetPosition(geom, p[0], p[1], p[2]);
        dGeomSetQuaternion(geom, quaternion);
        return;
    }
    dBodyID body = dBodyCreate(state.world);
    dMass mass;
    dMassSetZero(&mass);
    dMassSetParameters(&mass, from.mass, 0, 0, 0, from.moments[0], from.moments[1], from.moments[2],
                       0, 0, 0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, p[0], p[1], p[2]);
    dBodySetQuaternion(body, quaternion);
    dBodySetLinearVel(body, from.velocity[0], from.velocity[1], from.velocity[2]);
    dBodySetAngularVel(body, from.angularVelocity[0], from.angularVelocity[1],
                       from.angularVelocity[2]);
    dGeomSetBody(geom, body);
    if (collider.kind == RB_PEER_COLLIDER_CAPSULE) { // ODE's capsules are along z
        const double* o = collider.oursPose.quaternion;
        const dQuaternion turn = {o[0], o[1], o[2], o[3]};
        dGeomSetOffsetQuaternion(geom, turn);
    }
    state.bodies.push_back(body);
}

void addHinge(const State& state, const rbPeerJoint& from)
{
    dBodyID body = state.bodies[static_cast<size_t>(from.bodyB)];
    dVector3 axis;
    dBodyVectorToWorld(body, from.axisB[0], from.axisB[1], from.axisB[2], axis);
    dJointID joint = dJointCreateHinge(state.world, nullptr);
    dJointAttach(joint, nullptr, body);
    dJointSetHingeAnchor(joint, from.anchorA[0], from.anchorA[1], from.anchorA[2]);
    dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
}

void* create(const rbContactScene* scene, const rbContactPeerRow* row, double step)
{
    static const bool isStarted = startOde();
    bool isJoined = std::any_of(scene->joints, scene->joints + scene->jointCount,
                                [](const rbPeerJoint& joint) { return joint.bodyA >= 0; });
    if (!isStarted || isJoined) {
        return nullptr; // the hinges here are those to the world
    }
    dSetMessageHandler(keepSilent);
    auto state = std::make_unique<State>();
    state->world = dWorldCreate();
    state->space = dHashSpaceCreate(nullptr);
    state->joints = dJointGroupCreate(0);
    state->step = step;
    state->option = row->option;
    state->friction = scene->friction;
    state->restitution = scene->restitution;
    dWorldSetGravity(state->world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    if (row->iterations > 0) {
        dWorldSetQuickStepNumIterations(state->world, row->iterations);
    }
    for (int i = 0; i < scene->colliderCount; ++i) {
        bool isHull = scene->colliders[i].kind == RB_PEER_COLLIDER_HULL;
        state->hulls.push_back(isHull ? makeHull(scene->colliders[i]) : nullptr);
    }
    for (int i = 0; i < scene->bodyCount; ++i) {
        addBody(*state, *scene, scene->bodies[i]);
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        addHinge(*state, scene->joints[i]);
    }
    return state.release();
}

void makeContacts(void* context, dGeomID a, dGeomID b)
{
    State& state = *static_cast<State*>(context);
    dBodyID bodyA = dGeomGetBody(a);
    dBodyID bodyB = dGeomGetBody(b);
    if (bodyA == nullptr && bodyB == nullptr) {
        return;
    }
    dContact contacts[contactsMax];
    int count = dCollide(a, b, contactsMax, &contacts[0].geom, sizeof(dContact));
    for (int i = 0; i < count; ++i) {
        contacts[i].surface = {};
        contacts[i].surface.mode = dContactApprox1;
        contacts[i].surface.mu = state.friction;
        if (state.restitution > 0) {
            contacts[i].surface.mode |= dContactBounce;
            contacts[i].surface.bounce = state.restitution;
        }
        dJointAttach(dJointCreateContact(state.world, state.joints, &contacts[i]), bodyA, bodyB);
    }
    state.pointCount += count;
}

bool advance(void* context)
{
    State& state = *static_cast<State*>(context);
    state.pointCount = 0;
    dSpaceCollide(state.space, &state, makeContacts);
    int isDone = state.option == OPTION_QUICK ? dWorldQuickStep(state.world, state.step)
                                              : dWorldStep(state.world, state.step);
    dJointGroupEmpty(state.joints);
    return isDone != 0;
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (size_t i = 0; i < state.bodies.size(); ++i) {
        readOdeBody(state.bodies[i], states[i]);
    }
}

int countPoints(void* context)
{
    return static_cast<State*>(context)->pointCount;
}

void destroy(void* context)
{
    State* state = static_cast<State*>(context);
    dJointGroupDestroy(state->joints);
    dSpaceDestroy(state->space);
    dWorldDestroy(state->world);
    for (dTriMeshDataID mesh : state->meshes) {
        dGeomTriMeshDataDestroy(mesh);
    }
    delete state;
}

const rbContactPeerRow rows[] = {
    {"quickstep 20", OPTION_QUICK, 20, 0, nullptr},
    {"direct step", OPTION_DIRECT, 0, 8, nullptr},
};

const rbContactPeer peer = {
    "ode",       rows,    static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read,
    countPoints, destroy,
};

} // namespace

const rbContactPeer* rbGetContactPeer(void)
{
    return &peer;
}
