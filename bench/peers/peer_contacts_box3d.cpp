// Box3D: soft contacts in four small steps, as shipped; single precision, one thread.
//
// No damping, no sleeping. Contacts count those within its speculative distance.
#include "peer_contacts.h"
#include "read_box3d.h"

#include <memory>
#include <vector>

namespace
{

struct State {
    b3WorldId world = b3_nullWorldId;
    std::vector<b3HullData*> hulls;
    std::vector<b3MeshData*> meshes;
    std::vector<b3BodyId> bodies;
    b3BodyId ground = b3_nullBodyId;
    size_t movingCount = 0;
    int substeps = 0;
    float step = 0.0F;

    ~State()
    {
        b3DestroyWorld(world);
        for (b3HullData* hull : hulls) {
            b3DestroyHull(hull);
        }
        for (b3MeshData* mesh : meshes) {
            b3DestroyMesh(mesh);
        }
    }
};

std::vector<b3Vec3> toPoints(const rbPeerCollider& from)
{
    std::vector<b3Vec3> points;
    for (int i = 0; i < from.pointCount; ++i) {
        points.push_back(toBox3d(from.points[i]));
    }
    return points;
}

void addMesh(State& state, b3BodyId body, const b3ShapeDef& def, const rbPeerCollider& from)
{
    std::vector<b3Vec3> points = toPoints(from);
    std::vector<int32_t> corners(from.indices, from.indices + ptrdiff_t(3) * from.faceCount);
    b3MeshDef mesh = {};
    mesh.vertices = points.data();
    mesh.vertexCount = from.pointCount;
    mesh.indices = corners.data();
    mesh.triangleCount = from.faceCount;
    mesh.identifyEdges = true; // no catching on inner edges
    state.meshes.push_back(b3CreateMesh(&mesh, nullptr, 0));
    b3CreateMeshShape(body, &def, state.meshes.back(), {1.0F, 1.0F, 1.0F});
}

void addShape(State& state, b3BodyId body, const rbContactScene& scene, const rbPeerCollider& from)
{
    b3ShapeDef def = b3DefaultShapeDef();
    def.baseMaterial.friction = narrow(scene.friction);
    def.baseMaterial.restitution = narrow(scene.restitution);
    float radius = narrow(from.size[0]);
    if (from.kind == RB_PEER_COLLIDER_SPHERE) {
        b3Sphere sphere = {{0.0F, 0.0F, 0.0F}, radius};
        b3CreateSphereShape(body, &def, &sphere);
    } else if (from.kind == RB_PEER_COLLIDER_CAPSULE) {
        b3Capsule capsule = {
            {0.0F, narrow(from.size[1]), 0.0F}, {0.0F, narrow(-from.size[1]), 0.0F}, radius};
        b3CreateCapsuleShape(body, &def, &capsule);
    } else if (from.kind == RB_PEER_COLLIDER_BOX) {
        b3BoxHull box = b3MakeBoxHull(radius, narrow(from.size[1]), narrow(from.size[2]));
        b3CreateHullShape(body, &def, &box.base);
    } else if (from.kind == RB_PEER_COLLIDER_HULL) {
        std::vector<b3Vec3> points = toPoints(from);
        state.hulls.push_back(b3CreateHull(points.data(), from.pointCount, from.pointCount));
        b3CreateHullShape(body, &def, state.hulls.back());
    } else {
        addMesh(state, body, def, from);
    }
}

void* create(const rbContactScene* scene, const rbContactPeerRow* row, double step)
{
    for (int i = 0; i < scene->colliderCount; ++i) {
        if (scene->colliders[i].kind == RB_PEER_COLLIDER_CYLINDER) {
            return nullptr; // it has prisms only
        }
    }
    auto state = std::make_unique<State>();
    state->world = makeBox3dWorld(scene->gravity);
    state->substeps = row->iterations;
    state->step = narrow(step);
    state->movingCount = static_cast<size_t>(scene->movingCount);
    for (int i = 0; i < scene->bodyCount; ++i) {
        const rbPeerContactBody& from = scene->bodies[i];
        b3BodyId body = makeBox3dBody(state->world, from.pose, from.mass > 0.0);
        addShape(*state, body, *scene, scene->colliders[from.collider]);
        if (from.mass > 0.0) {
            setBox3dMotion(body, from.mass, from.moments, from.velocity, from.angularVelocity);
        }
        state->bodies.push_back(body);
    }
    state->ground = makeBox3dBody(state->world, {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}, false);
    for (int i = 0; i < scene->jointCount; ++i) {
        const rbPeerJoint& joint = scene->joints[i];
        b3BodyId a =
            joint.bodyA >= 0 ? state->bodies[static_cast<size_t>(joint.bodyA)] : state->ground;
        addBox3dJoint(state->world, a, state->bodies[static_cast<size_t>(joint.bodyB)], joint);
    }
    return state.release();
}

bool advance(void* context)
{
    State& state = *static_cast<State*>(context);
    b3World_Step(state.world, state.step, state.substeps);
    return true;
}

void read(void* context, rbPeerBodyState* states)
{
    const State& state = *static_cast<const State*>(context);
    for (size_t i = 0; i < state.movingCount; ++i) {
        readBox3dBody(state.bodies[i], states[i]);
    }
}

// A contact of two moving bodies is in the list of both.
int countPoints(void* context)
{
    const State& state = *static_cast<const State*>(context);
    std::vector<b3ContactData> contacts;
    int count = 0;
    int countTwice = 0;
    for (size_t i = 0; i < state.movingCount; ++i) {
        contacts.resize(static_cast<size_t>(b3Body_GetContactCapacity(state.bodies[i])));
        int found = b3Body_GetContactData(state.bodies[i], contacts.data(),
                                          static_cast<int>(contacts.size()));
        for (int k = 0; k < found; ++k) {
            const b3ContactData& contact = contacts[static_cast<size_t>(k)];
            bool isMoving = b3Body_GetType(b3Shape_GetBody(contact.shapeIdA)) == b3_dynamicBody &&
                            b3Body_GetType(b3Shape_GetBody(contact.shapeIdB)) == b3_dynamicBody;
            for (int m = 0; m < contact.manifoldCount; ++m) {
                (isMoving ? countTwice : count) += contact.manifolds[m].pointCount;
            }
        }
    }
    return count + countTwice / 2;
}

void destroy(void* context)
{
    delete static_cast<State*>(context);
}

const rbContactPeerRow rows[] = {
    {"4 substeps", 0, 4, 0, nullptr},
};

const rbContactPeer peer = {
    "box3d",     rows,    static_cast<int>(sizeof rows / sizeof rows[0]), create, advance, read,
    countPoints, destroy,
};

} // namespace

const rbContactPeer* rbGetContactPeer(void)
{
    return &peer;
}
