// ODE: quickstep (iterative, the default 20 iterations, or more) and the direct step.
//
// No damping, no collisions, error reduction and constraint softness as ODE ships them.
#include "peer_joints.h"
#include "read_ode.h"

#include <memory>
#include <ode/ode.h>
#include <vector>

namespace
{

enum Option {
    OPTION_QUICK,
    OPTION_DIRECT
};

struct State {
    dWorldID world = nullptr;
    std::vector<dBodyID> bodies;
    dReal step = 0;
    int option = OPTION_QUICK;
};

bool startOde()
{
    return dInitODE2(0) != 0 && dAllocateODEDataForThread(dAllocateMaskAll) != 0;
}

// ODE's messages only say "numerical error": the rows report that already.
void keepSilent(int, const char*, va_list)
{
}

dBodyID addBody(dWorldID world, const rbPeerBody& from)
{
    dBodyID body = dBodyCreate(world);
    dMass mass;
    dMassSetZero(&mass);
    dMassSetParameters(&mass, from.mass, 0, 0, 0, from.moments[0], from.moments[1], from.moments[2],
                       0, 0, 0);
    dBodySetMass(body, &mass);
    const double* p = from.pose.position;
    const double* q = from.pose.quaternion;
    const dQuaternion quaternion = {q[0], q[1], q[2], q[3]};
    dBodySetPosition(body, p[0], p[1], p[2]);
    dBodySetQuaternion(body, quaternion);
    dBodySetLinearVel(body, from.velocity[0], from.velocity[1], from.velocity[2]);
    dBodySetAngularVel(body, from.angularVelocity[0], from.angularVelocity[1],
                       from.angularVelocity[2]);
    return body;
}

void addJoint(const State& state, const rbPeerJoint& from)
{
    dBodyID a = from.bodyA < 0 ? nullptr : state.bodies[static_cast<size_t>(from.bodyA)];
    dBodyID b = state.bodies[static_cast<size_t>(from.bodyB)];
    dVector3 point;
    dVector3 axis;
    dBodyGetRelPointPos(b, from.anchorB[0], from.anchorB[1], from.anchorB[2], point);
    dBodyVectorToWorld(b, from.axisB[0], from.axisB[1], from.axisB[2], axis);
    dJointID joint = from.isHinge ? dJointCreateHinge(state.world, nullptr)
                                  : dJointCreateBall(state.world, nullptr);
    dJointAttach(joint, a, b);
    if (from.isHinge) {
        dJointSetHingeAnchor(joint, point[0], point[1], point[2]);
        dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
    } else {
        dJointSetBallAnchor(joint, point[0], point[1], point[2]);
    }
}

void* create(const rbJointScene* scene, const rbJointPeerRow* row, double step)
{
    static const bool isStarted = startOde();
    if (!isStarted) {
        return nullptr;
    }
    dSetMessageHandler(keepSilent);
    auto state = std::make_unique<State>();
    state->world = dWorldCreate();
    state->step = step;
    state->option = row->option;
    dWorldSetGravity(state->world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    if (row->iterations > 0) {
        dWorldSetQuickStepNumIterations(state->world, row->iterations);
    }
    for (int i = 0; i < scene->bodyCount; ++i) {
        state->bodies.push_back(addBody(state->world, scene->bodies[i]));
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
        int isDone = state.option == OPTION_QUICK ? dWorldQuickStep(state.world, state.step)
                                                  : dWorldStep(state.world, state.step);
        if (isDone == 0) {
            return false;
        }
    }
    return true;
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (size_t i = 0; i < state.bodies.size(); ++i) {
        readOdeBody(state.bodies[i], states[i]);
    }
}

void destroy(void* context)
{
    State* state = static_cast<State*>(context);
    dWorldDestroy(state->world);
    delete state;
}

const rbJointPeerRow rows[] = {
    {"quickstep 20", OPTION_QUICK, 20, false, false, nullptr},
    {"quickstep 100", OPTION_QUICK, 100, false, false, nullptr},
    {"direct step", OPTION_DIRECT, 0, false, false, nullptr},
};

const rbJointPeer peer = {
    "ode", rows, static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read, destroy,
};

} // namespace

const rbJointPeer* rbGetJointPeer(void)
{
    return &peer;
}
