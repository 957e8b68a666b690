// MuJoCo in two configurations: free bodies held by "connect" constraints, which are soft by
// design, and trees in reduced coordinates, whose joints cannot open and whose loops are closed by
// connect.
//
// Rows: connect as shipped (Newton), and stiff (time constant of two steps, the least MuJoCo
// allows, and impedance 0.9999); the tree with the semi-implicit Euler integrator and with RK4. A
// hinge between free bodies is two connects, one meter apart on the axis. No collisions, no
// damping.
#include "peer_joints.h"
#include "read_mujoco.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mujoco/mujoco.h>
#include <string>
#include <vector>

namespace
{

enum Option {
    OPTION_CONNECT,
    OPTION_STIFF,
    OPTION_TREE,
    OPTION_TREE_RK4
};

// The XML parser refuses elements nested deeper than 100.
constexpr int depthMax = 92;

struct ModelDelete {
    void operator()(mjModel* model) const
    {
        mj_deleteModel(model);
    }
};
struct DataDelete {
    void operator()(mjData* data) const
    {
        mj_deleteData(data);
    }
};

struct State {
    std::unique_ptr<mjModel, ModelDelete> model;
    std::unique_ptr<mjData, DataDelete> data;
    std::vector<int> ids; // of the bodies
};

// The tree found by a traversal from the world: the parent joint of each body, and the order of the
// visits.
struct Tree {
    std::vector<int> parentJoint;
    std::vector<int> depth;
    std::vector<std::vector<int>> children;
    std::vector<int> roots;
    std::vector<bool> isLoop; // for each joint
};

// ------------------------------------------------------------------------------------- the model

std::string format(const char* name, const double* values, int count)
{
    std::string text = std::string(" ") + name + "=\"";
    for (int i = 0; i < count; ++i) {
        char number[32];
        (void)std::snprintf(number, sizeof number, "%s%.17g", i > 0 ? " " : "", values[i]);
        text += number;
    }
    return text + "\"";
}

void rotate(const double q[4], const double v[3], double result[3])
{
    mju_rotVecQuat(result, v, q);
}

std::string bodyName(int index)
{
    return "b" + std::to_string(index);
}

std::string inertial(const rbPeerBody& body)
{
    const double origin[3] = {0, 0, 0};
    return "<inertial" + format("pos", origin, 3) + format("mass", &body.mass, 1) +
           format("diaginertia", body.moments, 3) + "/>";
}

Tree findTree(const rbJointScene& scene)
{
    Tree tree;
    auto count = static_cast<size_t>(scene.bodyCount);
    tree.parentJoint.assign(count, -1);
    tree.depth.assign(count, 0);
    tree.children.resize(count);
    tree.isLoop.assign(static_cast<size_t>(scene.jointCount), true);
    std::vector<int> front = {-1};
    for (size_t at = 0; at < front.size(); ++at) {
        int body = front[at];
        for (int i = 0; i < scene.jointCount; ++i) {
            const rbPeerJoint& joint = scene.joints[i];
            int other = joint.bodyA == body ? joint.bodyB : joint.bodyA;
            bool touches = joint.bodyA == body || joint.bodyB == body;
            if (!touches || other < 0 || tree.parentJoint[static_cast<size_t>(other)] >= 0) {
                continue;
            }
            auto o = static_cast<size_t>(other);
            tree.parentJoint[o] = i;
            tree.isLoop[static_cast<size_t>(i)] = false;
            tree.depth[o] = body < 0 ? 1 : tree.depth[static_cast<size_t>(body)] + 1;
            (body < 0 ? tree.roots : tree.children[static_cast<size_t>(body)]).push_back(other);
            front.push_back(other);
        }
    }
    return tree;
}

// A body of the tree and its descendants; depth is bounded by depthMax.
// NOLINTNEXTLINE(misc-no-recursion)
void writeBranch(const rbJointScene& scene, const Tree& tree, int index, const rbPeerPose* parent,
                 std::string& xml)
{
    const rbPeerBody& body = scene.bodies[index];
    double position[3];
    double quaternion[4];
    if (parent != nullptr) {
        double difference[3];
        double inverse[4];
        mju_sub3(difference, body.pose.position, parent->position);
        mju_negQuat(inverse, parent->quaternion);
        rotate(inverse, difference, position);
        mju_mulQuat(quaternion, inverse, body.pose.quaternion);
    } else {
        mju_copy3(position, body.pose.position);
        mju_copy4(quaternion, body.pose.quaternion);
    }
    xml += "<body name=\"" + bodyName(index) + "\"" + format("pos", position, 3) +
           format("quat", quaternion, 4) + ">" + inertial(body);
    const rbPeerJoint& joint = scene.joints[tree.parentJoint[static_cast<size_t>(index)]];
    bool isB = joint.bodyB == index;
    xml += std::string("<joint type=\"") + (joint.isHinge ? "hinge" : "ball") + "\"" +
           format("pos", isB ? joint.anchorB : joint.anchorA, 3) +
           (joint.isHinge ? format("axis", isB ? joint.axisB : joint.axisA, 3) : std::string()) +
           "/>";
    for (int child : tree.children[static_cast<size_t>(index)]) {
        writeBranch(scene, tree, child, &body.pose, xml);
    }
    xml += "</body>";
}

void writeConnect(const rbPeerJoint& joint, double along, const std::string& softness,
                  std::string& xml)
{
    double anchor[3];
    mju_addScl3(anchor, joint.anchorB, joint.axisB, along);
    xml += "<connect body1=\"" + bodyName(joint.bodyB) + "\"" +
           (joint.bodyA >= 0 ? " body2=\"" + bodyName(joint.bodyA) + "\"" : std::string()) +
           format("anchor", anchor, 3) + softness + "/>";
}

std::string writeModel(const rbJointScene& scene, int option, double step, const Tree& tree)
{
    bool isTree = option == OPTION_TREE || option == OPTION_TREE_RK4;
    std::string softness;
    if (option == OPTION_STIFF || isTree) {
        const double reference[2] = {2.0 * step, 1.0};
        const double impedance[3] = {0.9999, 0.9999, 0.001};
        softness = format("solref", reference, 2) + format("solimp", impedance, 3);
    }
    std::string xml = "<mujoco><compiler angle=\"radian\" boundmass=\"0\" boundinertia=\"0\"/>"
                      "<size njmax=\"6000\" nconmax=\"10\"/><option" +
                      format("timestep", &step, 1) + format("gravity", scene.gravity, 3) +
                      (option == OPTION_TREE_RK4 ? " integrator=\"RK4\"" : "") + "/><worldbody>";
    if (isTree) {
        for (int root : tree.roots) {
            writeBranch(scene, tree, root, nullptr, xml);
        }
    }
    for (int i = 0; i < scene.bodyCount && !isTree; ++i) {
        xml += "<body name=\"" + bodyName(i) + "\"" +
               format("pos", scene.bodies[i].pose.position, 3) +
               format("quat", scene.bodies[i].pose.quaternion, 4) + "><freejoint/>" +
               inertial(scene.bodies[i]) + "</body>";
    }
    xml += "</worldbody><equality>";
    for (int i = 0; i < scene.jointCount; ++i) {
        if (!isTree || tree.isLoop[static_cast<size_t>(i)]) {
            writeConnect(scene.joints[i], 0.0, softness, xml);
            if (scene.joints[i].isHinge && !isTree) {
                writeConnect(scene.joints[i], 1.0, softness, xml);
            }
        }
    }
    return xml + "</equality></mujoco>";
}

mjModel* compile(const std::string& xml)
{
    // megabytes of names: too large for the stack
    std::unique_ptr<mjVFS> files(new mjVFS);
    mj_defaultVFS(files.get());
    (void)mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(xml.size()));
    int file = mj_findFileVFS(files.get(), "model.xml");
    std::memcpy(files->filedata[file], xml.data(), xml.size());
    char message[500] = "";
    mjModel* model = mj_loadXML("model.xml", files.get(), message, sizeof message);
    if (model == nullptr) {
        (void)std::fprintf(stderr, "rattleback: MuJoCo refuses a model: %s\n", message);
    }
    mj_deleteVFS(files.get());
    return model;
}

// ---------------------------------------------------------------------------------------- states

// Joint velocity of a body of the tree from its own and its parent's angular velocity.
void setTreeVelocity(State& state, const rbJointScene& scene, const Tree& tree, int index)
{
    auto i = static_cast<size_t>(index);
    const rbPeerJoint& joint = scene.joints[tree.parentJoint[i]];
    const rbPeerBody& body = scene.bodies[index];
    bool isB = joint.bodyB == index;
    int parent = isB ? joint.bodyA : joint.bodyB;
    double relative[3];
    mju_copy3(relative, body.angularVelocity);
    if (parent >= 0) {
        mju_sub3(relative, relative, scene.bodies[parent].angularVelocity);
    }
    double inverse[4];
    double local[3];
    mju_negQuat(inverse, body.pose.quaternion);
    rotate(inverse, relative, local);
    int freedom = state.model->body_dofadr[state.ids[i]];
    if (joint.isHinge) {
        state.data->qvel[freedom] = mju_dot3(local, isB ? joint.axisB : joint.axisA);
    } else {
        mju_copy3(&state.data->qvel[freedom], local);
    }
}

void setFreeVelocity(State& state, const rbJointScene& scene, int index)
{
    const rbPeerBody& body = scene.bodies[index];
    double inverse[4];
    mju_negQuat(inverse, body.pose.quaternion);
    mjtNum* velocity =
        &state.data->qvel[state.model->body_dofadr[state.ids[static_cast<size_t>(index)]]];
    mju_copy3(velocity, body.velocity);
    rotate(inverse, body.angularVelocity, velocity + 3);
}

void keepSilent(const char*)
{
}

void* create(const rbJointScene* scene, const rbJointPeerRow* row, double step)
{
    mju_user_warning = keepSilent;
    Tree tree = findTree(*scene);
    bool isTree = row->isReduced;
    for (int depth : tree.depth) {
        if (isTree && depth > depthMax) {
            return nullptr;
        }
    }
    auto state = std::make_unique<State>();
    state->model.reset(compile(writeModel(*scene, row->option, step, tree)));
    if (!state->model) {
        return nullptr;
    }
    state->data.reset(mj_makeData(state->model.get()));
    for (int i = 0; i < scene->bodyCount; ++i) {
        state->ids.push_back(mj_name2id(state->model.get(), mjOBJ_BODY, bodyName(i).c_str()));
        if (isTree) {
            setTreeVelocity(*state, *scene, tree, i);
        } else {
            setFreeVelocity(*state, *scene, i);
        }
    }
    mj_forward(state->model.get(), state->data.get());
    return state.release();
}

// A run that MuJoCo considered bad and restarted has failed.
bool advance(void* context, int stepCount)
{
    State& state = *static_cast<State*>(context);
    for (int i = 0; i < stepCount; ++i) {
        mj_step(state.model.get(), state.data.get());
    }
    const mjData& data = *state.data;
    return data.warning[mjWARN_BADQPOS].number == 0 && data.warning[mjWARN_BADQVEL].number == 0 &&
           data.warning[mjWARN_BADQACC].number == 0;
}

void read(void* context, rbPeerBodyState* states)
{
    State& state = *static_cast<State*>(context);
    readMujocoBodies(state.model.get(), state.data.get(), state.ids, states);
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbJointPeerRow rows[] = {
    {"connect", OPTION_CONNECT, 0, false, false, nullptr},
    {"connect stiff", OPTION_STIFF, 0, false, false, nullptr},
    {"reduced, Euler", OPTION_TREE, 0, true, false, nullptr},
    {"reduced, RK4", OPTION_TREE_RK4, 0, true, false, nullptr},
};

const rbJointPeer peer = {
    "mujoco", rows, static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read, destroy,
};

} // namespace

const rbJointPeer* rbGetJointPeer(void)
{
    return &peer;
}
