// MuJoCo: free bodies and its soft contacts as shipped, with the Euler integrator.
//
// Rows: Newton with a friction pyramid (the default), on scenes of a few hundred bodies only;
// conjugate gradients with the exact cone; for small scenes "stiff", Newton with the exact cone and
// the stiffest contacts that the step allows, whose damping gives the restitution, for MuJoCo has
// none of its own. Bodies on a hinge are in reduced coordinates. Meshes that are not convex are
// refused, because MuJoCo replaces them by their hulls.
#include "peer_contacts.h"
#include "read_mujoco.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mujoco/mujoco.h>
#include <string>
#include <vector>

namespace
{

enum Option {
    OPTION_NEWTON,
    OPTION_GRADIENTS,
    OPTION_STIFF
};

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
    std::vector<int> ids; // of the moving bodies
};

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

std::string bodyName(int index)
{
    return "b" + std::to_string(index);
}

std::string writeGeom(const rbPeerCollider& collider, int index, const rbPeerPose* pose)
{
    static const char* const types[RB_PEER_COLLIDER_COUNT] = {"sphere", "box",  "capsule",
                                                              "mesh",   "mesh", "cylinder"};
    static const int sizes[RB_PEER_COLLIDER_COUNT] = {1, 3, 2, 0, 0, 2};
    std::string xml = std::string("<geom type=\"") + types[collider.kind] + "\"";
    if (sizes[collider.kind] > 0) {
        xml += format("size", collider.size, sizes[collider.kind]);
    } else {
        xml += " mesh=\"m" + std::to_string(index) + "\"";
    }
    if (collider.kind == RB_PEER_COLLIDER_CAPSULE) { // MuJoCo's capsules are along z
        pose = &collider.oursPose;
    }
    if (pose != nullptr) {
        xml += format("pos", pose->position, 3) + format("quat", pose->quaternion, 4);
    }
    return xml + "/>";
}

std::string writeAssets(const rbContactScene& scene)
{
    std::string xml = "<asset>";
    for (int i = 0; i < scene.colliderCount; ++i) {
        const rbPeerCollider& collider = scene.colliders[i];
        if (collider.kind == RB_PEER_COLLIDER_HULL) {
            xml += "<mesh name=\"m" + std::to_string(i) + "\"" +
                   format("vertex", &collider.points[0][0], 3 * collider.pointCount) + "/>";
        }
    }
    return xml + "</asset>";
}

// Room for contacts. MuJoCo counts the bytes of its dense arrays in 32 bits, which limits it to
// about 8600 rows for a thousand bodies: with the mixed pile it gives up as soon as more are
// needed.
std::string writeSizes(const rbContactScene& scene, int option)
{
    int points = scene.movingCount <= 300 ? 9 * scene.movingCount + 8 : 2850;
    int rows = (option == OPTION_NEWTON ? 4 : 3) * points;
    char text[128];
    (void)std::snprintf(text, sizeof text, "<size njmax=\"%d\" nconmax=\"%d\"/>", rows, points);
    return text;
}

// A contact is a spring and a damper with a time constant of at least two steps; less damping lets
// it rebound, then the swing must be resolved by the step.
std::string writeSoftness(const rbContactScene& scene, double step)
{
    double damping = 1;
    double constant = 2 * step;
    if (scene.restitution > 0) {
        double logarithm = std::log(scene.restitution);
        damping = -logarithm / std::sqrt(mjPI * mjPI + logarithm * logarithm);
        constant = std::fmax(constant, step / (0.3 * damping));
    }
    const double reference[2] = {constant, damping};
    const double impedance[3] = {0.9999, 0.9999, 0.001};
    return format("solref", reference, 2) + format("solimp", impedance, 3);
}

std::string writeJoint(const rbContactScene& scene, int body)
{
    for (int i = 0; i < scene.jointCount; ++i) {
        if (scene.joints[i].bodyB == body) {
            return "<joint type=\"hinge\"" + format("pos", scene.joints[i].anchorB, 3) +
                   format("axis", scene.joints[i].axisB, 3) + "/>";
        }
    }
    return "<freejoint/>";
}

std::string writeModel(const rbContactScene& scene, int option, double step)
{
    const double friction[3] = {scene.friction, 0.005, 0.0001};
    std::string xml = "<mujoco><compiler angle=\"radian\" boundmass=\"0\" boundinertia=\"0\"/>" +
                      writeSizes(scene, option) + "<option" + format("timestep", &step, 1) +
                      format("gravity", scene.gravity, 3) +
                      (option == OPTION_GRADIENTS ? " solver=\"CG\" cone=\"elliptic\"" : "") +
                      (option == OPTION_STIFF ? " cone=\"elliptic\" tolerance=\"1e-14\"" : "") +
                      "/><default><geom" + format("friction", friction, 3) +
                      (option == OPTION_STIFF ? writeSoftness(scene, step) : std::string()) +
                      "/></default>" + writeAssets(scene) + "<worldbody>";
    for (int i = 0; i < scene.bodyCount; ++i) {
        const rbPeerContactBody& body = scene.bodies[i];
        const rbPeerCollider& collider = scene.colliders[body.collider];
        if (body.mass <= 0) {
            xml += writeGeom(collider, body.collider, &body.pose);
            continue;
        }
        const double origin[3] = {0, 0, 0};
        xml += "<body name=\"" + bodyName(i) + "\"" + format("pos", body.pose.position, 3) +
               format("quat", body.pose.quaternion, 4) + ">" + writeJoint(scene, i) + "<inertial" +
               format("pos", origin, 3) + format("mass", &body.mass, 1) +
               format("diaginertia", body.moments, 3) + "/>" +
               writeGeom(collider, body.collider, nullptr) + "</body>";
    }
    return xml + "</worldbody></mujoco>";
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

void keepSilent(const char*)
{
}

void setVelocity(State& state, const rbPeerContactBody& body, int id)
{
    double inverse[4];
    mju_negQuat(inverse, body.pose.quaternion);
    mjtNum* velocity = &state.data->qvel[state.model->body_dofadr[id]];
    if (state.model->body_dofnum[id] < 6) { // on a hinge; such bodies start at rest
        return;
    }
    mju_copy3(velocity, body.velocity);
    mju_rotVecQuat(velocity + 3, body.angularVelocity, inverse);
}

void* create(const rbContactScene* scene, const rbContactPeerRow* row, double step)
{
    mju_user_warning = keepSilent;
    for (int i = 0; i < scene->colliderCount; ++i) {
        if (scene->colliders[i].kind == RB_PEER_COLLIDER_MESH) {
            return nullptr;
        }
    }
    for (int i = 0; i < scene->jointCount; ++i) {
        if (scene->joints[i].bodyA >= 0) {
            return nullptr; // the hinges here are those to the world
        }
    }
    auto state = std::make_unique<State>();
    state->model.reset(compile(writeModel(*scene, row->option, step)));
    if (!state->model) {
        return nullptr;
    }
    state->data.reset(mj_makeData(state->model.get()));
    if (!state->data) {
        return nullptr;
    }
    for (int i = 0; i < scene->movingCount; ++i) {
        state->ids.push_back(mj_name2id(state->model.get(), mjOBJ_BODY, bodyName(i).c_str()));
        setVelocity(*state, scene->bodies[i], state->ids.back());
    }
    return state.release();
}

// A run that MuJoCo considered bad and restarted has failed, and so has one without room for all
// contacts.
bool advance(void* context)
{
    State& state = *static_cast<State*>(context);
    mj_step(state.model.get(), state.data.get());
    const mjData& data = *state.data;
    for (int kind :
         {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_CONTACTFULL, mjWARN_CNSTRFULL}) {
        if (data.warning[kind].number > 0) {
            return false;
        }
    }
    return true;
}

void read(void* context, rbPeerBodyState* states)
{
    State& state = *static_cast<State*>(context);
    readMujocoBodies(state.model.get(), state.data.get(), state.ids, states);
}

int countPoints(void* context)
{
    return static_cast<State*>(context)->data->ncon;
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbContactPeerRow rows[] = {
    {"Newton", OPTION_NEWTON, 0, 300, nullptr},
    {"CG elliptic", OPTION_GRADIENTS, 0, 0, nullptr},
    {"stiff", OPTION_STIFF, 0, 8, nullptr},
};

const rbContactPeer peer = {
    "mujoco",    rows,    static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read,
    countPoints, destroy,
};

} // namespace

const rbContactPeer* rbGetContactPeer(void)
{
    return &peer;
}
