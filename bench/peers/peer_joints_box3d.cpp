// Box3D: spherical and revolute joints in four small steps, as shipped; single precision.
//
// No damping, no sleeping, no collisions.
#include "peer_joints.h"
#include "read_box3d.h"

#include <memory>
#include <vector>

namespace
{

struct State {
    b3WorldId world = b3_nullWorldId;
    std::vector<b3BodyId> bodies;
    int substeps = 0;
    float step = 0.0F;

    ~State()
    {
        b3DestroyWorld(world);
    }
};

void* create(const rbJointScene* scene, const rbJointPeerRow* row, double step)
{
    auto state = std::make_unique<State>();
    state->world = makeBox3dWorld(scene->gravity);
    state->substeps = row->iterations;
    state->step = narrow(step);
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbPeerBody& from = scene->bodies[i];
        b3BodyId body = makeBox3dBody(state->world, from.pose, true);
        b3ShapeDef def = b3DefaultShapeDef();
        def.filter.maskBits = 0;
        const double* half = from.halfExtents;
        b3BoxHull box = b3MakeBoxHull(narrow(half[0]), narrow(half[1]), narrow(half[2]));
        b3CreateHullShape(body, &def, &box.base);
        setBox3dMotion(body, from.mass, from.moments, from.velocity, from.angularVelocity);
        state->bodies.push_back(body);
    }
    b3BodyId ground = makeBox3dBody(state->world, {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}, false);
    for (int i = 0; i < scene->jointCount; ++i) {
        const rbPeerJoint& joint = scene->joints[i];
        b3BodyId a = joint.bodyA >= 0 ? state->bodies[static_cast<size_t>(joint.bodyA)] : ground;
        addBox3dJoint(state->world, a, state->bodies[static_cast<size_t>(joint.bodyB)], joint);
    }
    return state.release();
}

bool advance(void* context, int stepCount)
{
    State& state = *static_cast<State*>(context);
    for (int i = 0; i < stepCount; ++i) {
        b3World_Step(state.world, state.step, state.substeps);
    }
    return true;
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (size_t i = 0; i < state.bodies.size(); ++i) {
        readBox3dBody(state.bodies[i], states[i]);
    }
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbJointPeerRow rows[] = {
    {"4 substeps", 0, 4, false, false, nullptr},
};

const rbJointPeer peer = {
    "box3d", rows, static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read, destroy,
};

} // namespace

const rbJointPeer* rbGetJointPeer(void)
{
    return &peer;
}
