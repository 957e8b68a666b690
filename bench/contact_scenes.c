#include "contact_scenes.h"

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/math/elementary.h"
#include "peers/peer_pose.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81   // m/s^2
#define DENSITY 1000.0 // kg/m^3
#define HULL_POINTS 16
#define HULL_COUNT 8
#define CELLS 128 // of the hills, along an edge, 1 m each

const double rbWallPivot[3] = {0.0, 12.0, 1.2};

// All values in these scenes are valid: a refusal is a bug in this file.
static void expect(bool isTrue)
{
    RB_ASSERT(isTrue);
    (void)isTrue;
}

// ---------------------------------------------------------------------------------------- builder

static rbContactScene makeScene(const char* name, int movingCount, int colliderCount)
{
    rbContactScene scene = {
        .name = name,
        .gravity = {0.0, -GRAVITY, 0.0},
        .friction = 0.5,
        .stiction = 0.5,
        .colliderCount = colliderCount,
        .movingCount = movingCount,
    };
    scene.colliders = rbAllocZero((size_t)colliderCount, sizeof *scene.colliders);
    scene.bodies = rbAllocZero((size_t)movingCount, sizeof *scene.bodies);
    return scene;
}

void rbDestroyContactScene(rbContactScene* scene)
{
    for (int i = 0; i < scene->colliderCount; ++i) {
        rbPeerCollider* collider = &scene->colliders[i];
        int indexCount = 0;
        for (int f = 0; f < collider->faceCount; ++f) {
            indexCount += collider->faceSizes[f];
        }
        rbFree((void*)collider->points, (size_t)collider->pointCount * sizeof *collider->points);
        rbFree((void*)collider->faceSizes, (size_t)collider->faceCount * sizeof(int));
        rbFree((void*)collider->indices, (size_t)indexCount * sizeof(int));
        rbDestroyGeometry(collider->ours);
    }
    rbFree(scene->colliders, (size_t)scene->colliderCount * sizeof *scene->colliders);
    rbFree(scene->bodies,
           (size_t)(scene->movingCount > scene->bodyCount ? scene->movingCount : scene->bodyCount) *
               sizeof *scene->bodies);
    rbFree(scene->walls, (size_t)scene->wallCount * sizeof *scene->walls);
    rbFree(scene->joints, (size_t)scene->jointCount * sizeof *scene->joints);
    *scene = (rbContactScene){0};
}

static void copyVec(const rbVec3 v, double to[3])
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static rbVec3 toVec(const double v[3])
{
    return rbMakeVec3(v[0], v[1], v[2]);
}

static const rbTransform noMove = {.q = {1.0, 0.0, 0.0, 0.0}};

static rbPeerCollider makeBox(rbVec3 half)
{
    rbPeerCollider collider = {.kind = RB_PEER_COLLIDER_BOX, .ours = rbCreateBox(half, NULL)};
    expect(collider.ours != NULL);
    copyVec(half, collider.size);
    collider.oursPose = rbWritePeerPose(noMove);
    return collider;
}

static rbPeerCollider makeSphere(double radius)
{
    rbPeerCollider collider = {
        .kind = RB_PEER_COLLIDER_SPHERE, .size = {radius}, .ours = rbCreateSphere(radius, NULL)};
    expect(collider.ours != NULL);
    collider.oursPose = rbWritePeerPose(noMove);
    return collider;
}

// Along y; the library's own capsules are along z.
static rbPeerCollider makeCapsule(double radius, double half)
{
    rbPeerCollider collider = {
        .kind = RB_PEER_COLLIDER_CAPSULE,
        .size = {radius, half},
        .ours = rbCreateCapsule(radius, half, NULL),
    };
    expect(collider.ours != NULL);
    rbTransform turn = {.q = {0.70710678118654752, -0.70710678118654752, 0.0, 0.0}};
    turn.q = rbNormalizeQuat(turn.q);
    collider.oursPose = rbWritePeerPose(turn);
    return collider;
}

// Copies points and faces of a geometry that has them.
static void copyMesh(rbPeerCollider* collider)
{
    rbMeshDef mesh;
    bool hasMesh = rbGeometry_GetMesh(collider->ours, &mesh);
    expect(hasMesh);
    int indexCount = 0;
    for (int f = 0; f < mesh.faceCount; ++f) {
        indexCount += mesh.faceSizes != NULL ? mesh.faceSizes[f] : 3;
    }
    double(*points)[3] = rbAlloc((size_t)mesh.vertexCount * sizeof *points);
    int* sizes = rbAlloc((size_t)mesh.faceCount * sizeof *sizes);
    int* indices = rbAlloc((size_t)indexCount * sizeof *indices);
    for (int i = 0; i < mesh.vertexCount; ++i) {
        copyVec(mesh.vertices[i], points[i]);
    }
    for (int f = 0; f < mesh.faceCount; ++f) {
        sizes[f] = mesh.faceSizes != NULL ? mesh.faceSizes[f] : 3;
    }
    memcpy(indices, mesh.indices, (size_t)indexCount * sizeof *indices);
    collider->points = (const double(*)[3])points;
    collider->pointCount = mesh.vertexCount;
    collider->faceSizes = sizes;
    collider->faceCount = mesh.faceCount;
    collider->indices = indices;
    collider->oursPose = rbWritePeerPose(noMove);
}

// The hull of points in the frame of its principal axes at its center of mass.
static rbPeerCollider makeHull(rbVec3* points, int count)
{
    rbGeometry* raw = rbCreateHull(points, count, NULL);
    expect(raw != NULL);
    rbMassProperties mass;
    rbVec3 moments;
    rbTransform frame;
    rbStatus status = rbGeometry_GetMass(raw, DENSITY, &mass, NULL);
    expect(status == RB_STATUS_OK);
    rbMassProperties_Principal(&mass, &moments, &frame);
    for (int i = 0; i < count; ++i) {
        points[i] = rbInvTransformPoint(frame, points[i]);
    }
    rbDestroyGeometry(raw);
    rbPeerCollider collider = {.kind = RB_PEER_COLLIDER_HULL,
                               .ours = rbCreateHull(points, count, NULL)};
    expect(collider.ours != NULL);
    copyMesh(&collider);
    return collider;
}

// A homogeneous body; mass 0: use the common density.
static rbPeerContactBody makeBody(const rbContactScene* scene, int collider, double mass,
                                  rbTransform pose)
{
    rbPeerContactBody body = {.collider = collider, .pose = rbWritePeerPose(pose)};
    rbMassProperties properties;
    const rbPeerCollider* shape = &scene->colliders[collider];
    rbStatus status = rbGeometry_GetMass(shape->ours, DENSITY, &properties, NULL);
    expect(status == RB_STATUS_OK);
    properties = rbMassProperties_Transform(&properties, rbReadPeerPose(&shape->oursPose));
    double factor = mass > 0.0 ? mass / properties.mass : 1.0;
    body.mass = factor * properties.mass;
    body.moments[0] = factor * properties.inertia.xx;
    body.moments[1] = factor * properties.inertia.yy;
    body.moments[2] = factor * properties.inertia.zz;
    return body;
}

// Adds a static body, as a box.
static void addStaticBox(rbContactScene* scene, rbVec3 half, rbTransform pose)
{
    int colliders = scene->colliderCount;
    scene->colliders = rbGrow(scene->colliders, (size_t)colliders * sizeof *scene->colliders,
                              (size_t)(colliders + 1) * sizeof *scene->colliders);
    scene->colliders[colliders] = makeBox(half);
    ++scene->colliderCount;
    int bodies = scene->bodyCount > scene->movingCount ? scene->bodyCount : scene->movingCount;
    scene->bodies = rbGrow(scene->bodies, (size_t)bodies * sizeof *scene->bodies,
                           (size_t)(bodies + 1) * sizeof *scene->bodies);
    scene->bodies[bodies] =
        (rbPeerContactBody){.collider = colliders, .pose = rbWritePeerPose(pose)};
    scene->bodyCount = bodies + 1;
}

static void addWall(rbContactScene* scene, rbVec3 normal, double offset)
{
    int count = scene->wallCount;
    scene->walls = rbGrow(scene->walls, (size_t)count * sizeof *scene->walls,
                          (size_t)(count + 1) * sizeof *scene->walls);
    copyVec(normal, scene->walls[count].normal);
    scene->walls[count].offset = offset;
    ++scene->wallCount;
}

static rbTransform at(double x, double y, double z)
{
    rbTransform t = noMove;
    t.p = rbMakeVec3(x, y, z);
    return t;
}

// A box of 2 m with its top at y = 0.
static void addFloor(rbContactScene* scene, double half)
{
    addStaticBox(scene, rbMakeVec3(half, 1.0, half), at(0.0, -1.0, 0.0));
    addWall(scene, rbMakeVec3(0.0, 1.0, 0.0), 0.0);
}

// Four boxes, 2 m thick and 60 m high, about a square of the stated width.
static void addWalls(rbContactScene* scene, double width)
{
    double inner = 0.5 * width;
    for (int side = -1; side <= 1; side += 2) {
        addStaticBox(scene, rbMakeVec3(1.0, 30.0, inner + 2.0), at(side * (inner + 1.0), 30.0, 0));
        addStaticBox(scene, rbMakeVec3(inner + 2.0, 30.0, 1.0), at(0, 30.0, side * (inner + 1.0)));
        addWall(scene, rbMakeVec3(-side, 0.0, 0.0), -inner);
        addWall(scene, rbMakeVec3(0.0, 0.0, -side), -inner);
    }
}

// ----------------------------------------------------------------------------------- random values

static rbVec3 drawDirection(rbRandom* random)
{
    double z = rbRandom_Symmetric(random);
    double angle = 2.0 * RB_PI * rbRandom_Unit(random);
    double r = sqrt(1.0 - z * z);
    return rbMakeVec3(r * rbCos(angle), r * rbSin(angle), z);
}

static rbQuat drawTurn(rbRandom* random)
{
    double a = rbRandom_Unit(random);
    double b = 2.0 * RB_PI * rbRandom_Unit(random);
    double c = 2.0 * RB_PI * rbRandom_Unit(random);
    rbQuat q = {.x = sqrt(1.0 - a) * rbSin(b),
                .y = sqrt(1.0 - a) * rbCos(b),
                .z = sqrt(a) * rbSin(c),
                .w = sqrt(a) * rbCos(c)};
    return rbNormalizeQuat(q);
}

// ------------------------------------------------------------------------------------------ scenes

// Place of the index-th body of a grid about the y axis: x runs fastest, then z, then y.
static rbTransform atGrid(int index, int side, double spacing, double lowest)
{
    int row = index / side;
    int layer = row / side;
    double middle = 0.5 * (side - 1);
    return at((index % side - middle) * spacing, lowest + spacing * layer,
              (row % side - middle) * spacing);
}

rbContactScene rbMakePyramidScene(int rows)
{
    rbContactScene scene = makeScene("pyramid", rows * (rows + 1) / 2, 1);
    scene.colliders[0] = makeBox(rbMakeVec3(0.5, 0.5, 0.5));
    int count = 0;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < rows - i; ++j) {
            double x = (j - 0.5 * (rows - i - 1)) * 1.05;
            scene.bodies[count++] = makeBody(&scene, 0, 0.0, at(x, 0.5 + i, 0.0));
        }
    }
    addFloor(&scene, 200.0);
    return scene;
}

rbContactScene rbMakeSpheresScene(int side)
{
    rbContactScene scene = makeScene("spheres", side * side * side, 1);
    scene.colliders[0] = makeSphere(0.5);
    rbRandom random = {1};
    double middle = 0.5 * (side - 1);
    for (int i = 0; i < scene.movingCount; ++i) {
        double x = (i % side - middle) * 1.1 + 0.02 * rbRandom_Symmetric(&random);
        double z = (i / side % side - middle) * 1.1 + 0.02 * rbRandom_Symmetric(&random);
        int layer = i / (side * side);
        scene.bodies[i] = makeBody(&scene, 0, 0.0, at(x, 2.0 + 1.5 * layer, z));
    }
    addFloor(&scene, 50.0);
    addWalls(&scene, 1.1 * side + 0.4);
    return scene;
}

rbContactScene rbMakeMixedScene(int side, int layers)
{
    rbContactScene scene = makeScene("mixed", side * side * layers, 2 + HULL_COUNT);
    rbRandom random = {2};
    scene.colliders[0] = makeBox(rbMakeVec3(0.5, 0.4, 0.3));
    scene.colliders[1] = makeCapsule(0.3, 0.35);
    for (int k = 0; k < HULL_COUNT; ++k) {
        rbVec3 points[HULL_POINTS];
        for (int i = 0; i < HULL_POINTS; ++i) {
            points[i] = rbScale(0.5, drawDirection(&random));
        }
        scene.colliders[2 + k] = makeHull(points, HULL_POINTS);
    }
    for (int i = 0; i < scene.movingCount; ++i) {
        rbTransform pose = atGrid(i, side, 1.3, 1.5);
        pose.q = drawTurn(&random);
        int collider = i % 3 < 2 ? i % 3 : 2 + i / 3 % HULL_COUNT;
        scene.bodies[i] = makeBody(&scene, collider, 0.0, pose);
    }
    addFloor(&scene, 50.0);
    addWalls(&scene, 1.3 * side + 0.6);
    return scene;
}

double rbGetHillHeight(double x, double z)
{
    return rbSin(0.2 * x) * rbCos(0.23 * z) + 0.3 * rbSin(0.9 * x + 0.5 * z);
}

static rbPeerCollider makeHills(void)
{
    int side = CELLS + 1;
    size_t vertexSize = (size_t)side * (size_t)side * sizeof(rbVec3);
    size_t indexSize = (size_t)6 * CELLS * CELLS * sizeof(int);
    rbVec3* vertices = rbAlloc(vertexSize);
    int* indices = rbAlloc(indexSize);
    int* next = indices;
    for (int j = 0; j < side; ++j) {
        for (int i = 0; i < side; ++i) {
            double x = i - 0.5 * CELLS;
            double z = j - 0.5 * CELLS;
            vertices[j * side + i] = rbMakeVec3(x, rbGetHillHeight(x, z), z);
        }
    }
    for (int j = 0; j < CELLS; ++j) {
        for (int i = 0; i < CELLS; ++i) {
            // upward: z x x is y
            int corner = j * side + i;
            const int corners[6] = {corner, corner + side + 1, corner + 1,
                                    corner, corner + side,     corner + side + 1};
            memcpy(next, corners, sizeof corners);
            next += 6;
        }
    }
    rbMeshDef def = {.vertices = vertices,
                     .vertexCount = side * side,
                     .indices = indices,
                     .faceCount = 2 * CELLS * CELLS};
    rbPeerCollider collider = {.kind = RB_PEER_COLLIDER_MESH, .ours = rbCreateMesh(&def, NULL)};
    expect(collider.ours != NULL);
    copyMesh(&collider);
    rbFree(vertices, vertexSize);
    rbFree(indices, indexSize);
    return collider;
}

rbContactScene rbMakeTerrainScene(void)
{
    rbContactScene scene = makeScene("terrain", 1000, 2);
    scene.isTerrain = true;
    scene.colliders[0] = makeBox(rbMakeVec3(0.5, 0.5, 0.5));
    scene.colliders[1] = makeHills();
    rbRandom random = {3};
    for (int i = 0; i < scene.movingCount; ++i) {
        rbTransform pose = atGrid(i, 10, 1.8, 4.0);
        pose.q = drawTurn(&random);
        scene.bodies[i] = makeBody(&scene, 0, 0.0, pose);
    }
    scene.bodies = rbGrow(scene.bodies, 1000 * sizeof *scene.bodies, 1001 * sizeof *scene.bodies);
    scene.bodies[1000] = (rbPeerContactBody){.collider = 1, .pose = rbWritePeerPose(noMove)};
    scene.bodyCount = 1001;
    return scene;
}

// The end faces of the k-th box of a doll and the next one are joined.
static rbPeerJoint joinBoxes(int first, int k)
{
    rbPeerJoint joint = {.bodyA = first + k, .bodyB = first + k + 1, .isHinge = true};
    copyVec(rbMakeVec3(0.25, 0.0, 0.0), joint.anchorA);
    copyVec(rbMakeVec3(-0.25, 0.0, 0.0), joint.anchorB);
    rbVec3 axis = k % 2 == 0 ? rbMakeVec3(0.0, 0.0, 1.0) : rbMakeVec3(0.0, 1.0, 0.0);
    copyVec(axis, joint.axisA);
    copyVec(axis, joint.axisB);
    return joint;
}

rbContactScene rbMakeRagdollScene(int layers)
{
    int dolls = 100 * layers;
    rbContactScene scene = makeScene("ragdolls", 4 * dolls, 1);
    scene.colliders[0] = makeBox(rbMakeVec3(0.25, 0.1, 0.1));
    scene.joints = rbAllocZero(3 * (size_t)dolls, sizeof *scene.joints);
    rbRandom random = {4};
    for (int i = 0; i < dolls; ++i) {
        rbTransform middle = atGrid(i, 10, 2.5, 0.0);
        double half = RB_PI * rbRandom_Unit(&random);
        middle.q = (rbQuat){.w = rbCos(half), .y = rbSin(half)};
        middle.p.x += 0.2 * rbRandom_Symmetric(&random);
        int layer = i / 100;
        middle.p.y = 1.0 + 0.5 * layer;
        middle.p.z += 0.2 * rbRandom_Symmetric(&random);
        for (int k = 0; k < 4; ++k) {
            rbTransform pose = middle;
            pose.p = rbTransformPoint(middle, rbMakeVec3(0.5 * k - 0.75, 0.0, 0.0));
            scene.bodies[4 * i + k] = makeBody(&scene, 0, 0.0, pose);
            if (k < 3) {
                scene.joints[scene.jointCount++] = joinBoxes(4 * i, k);
            }
        }
    }
    addFloor(&scene, 200.0);
    return scene;
}

// side^3 unit cubes, with random orientations if requested.
static rbContactScene makeCubes(const char* name, int side, double spacing, double lowest,
                                bool areTurned)
{
    rbContactScene scene = makeScene(name, side * side * side, 1);
    scene.colliders[0] = makeBox(rbMakeVec3(0.5, 0.5, 0.5));
    rbRandom random = {7};
    for (int i = 0; i < scene.movingCount; ++i) {
        rbTransform pose = atGrid(i, side, spacing, lowest);
        pose.q = areTurned ? drawTurn(&random) : noMove.q;
        scene.bodies[i] = makeBody(&scene, 0, 0.0, pose);
    }
    return scene;
}

rbContactScene rbMakeCubesScene(int side)
{
    rbContactScene scene = makeCubes("cubes", side, 1.8, 1.5, true);
    addFloor(&scene, 100.0);
    return scene;
}

rbContactScene rbMakeFunnelScene(int side)
{
    const double hole = 4.0;   // m, half width
    const double top = 10.0;   // m, half width
    const double bottom = 5.0; // m, above the floor
    const double thick = 0.5;  // m, half of a slab
    double rise = top - hole;  // at 45 degrees
    rbContactScene scene = makeCubes("funnel", side, 1.8, bottom + rise + 1.0, true);
    scene.friction = 0.05;
    scene.stiction = 0.05;
    scene.restitution = 0.8;
    double c = 0.70710678118654752;
    double halfSlope = 0.5 * rise / c;
    for (int k = 0; k < 4; ++k) {
        // slab on the +x side, rotated about y: its middle, pushed out by half its thickness
        rbQuat lean = {.w = rbCos(RB_PI / 8.0), .z = rbSin(RB_PI / 8.0)};
        rbQuat turn = {.w = rbCos(k * RB_PI / 4.0), .y = rbSin(k * RB_PI / 4.0)};
        rbVec3 middle =
            rbMakeVec3(0.5 * (hole + top) + thick * c, bottom + 0.5 * rise - thick * c, 0.0);
        rbTransform pose = {rbRotate(turn, middle), rbNormalizeQuat(rbMulQuat(turn, lean))};
        addStaticBox(&scene, rbMakeVec3(halfSlope, thick, top), pose);
    }
    addFloor(&scene, 100.0);
    return scene;
}

rbContactScene rbMakeWallScene(int courses, double gap)
{
    int bricks = 0;
    for (int i = 0; i < courses; ++i) {
        bricks += i % 2 == 0 ? 11 : 10;
    }
    rbContactScene scene = makeScene("wall", bricks + 1, 2);
    scene.friction = 0.1;
    scene.stiction = 0.2;
    scene.restitution = 0.1;
    scene.colliders[0] = makeBox(rbMakeVec3(0.5, 0.15, 0.2));
    scene.colliders[1] = makeSphere(1.0);
    int count = 0;
    for (int i = 0; i < courses; ++i) {
        int length = i % 2 == 0 ? 11 : 10;
        for (int j = 0; j < length; ++j) {
            double x = (j - 0.5 * (length - 1)) * (1.0 + gap);
            rbTransform pose = at(x, 0.15 + gap + i * (0.3 + gap), 0.0);
            scene.bodies[count++] = makeBody(&scene, 0, 1.0, pose);
        }
    }
    rbTransform pose = noMove;
    pose.p = rbAdd(toVec(rbWallPivot), rbMakeVec3(0.0, 0.0, 8.0));
    scene.bodies[count] = makeBody(&scene, 1, 10.0, pose);
    addFloor(&scene, 100.0);
    return scene;
}

// ------------------------------------------------------------------------------------------ worlds

static rbBodyId addBody(rbWorld* world, const rbContactScene* scene, int index,
                        const rbGeometryId* geometries, rbError* error)
{
    const rbPeerContactBody* from = &scene->bodies[index];
    rbMassProperties mass = {
        .mass = from->mass,
        .inertia = {.xx = from->moments[0], .yy = from->moments[1], .zz = from->moments[2]},
    };
    rbTransform pose = rbReadPeerPose(&from->pose);
    rbBodyDef def = rbDefaultBodyDef();
    def.type = from->mass > 0.0 ? RB_BODY_DYNAMIC : RB_BODY_STATIC;
    def.mass = from->mass > 0.0 ? &mass : NULL;
    def.position = pose.p;
    def.orientation = pose.q;
    def.linearVelocity = toVec(from->velocity);
    def.angularVelocity = toVec(from->angularVelocity);
    rbBodyId id = rbCreateBody(world, &def, error);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = geometries[from->collider];
    shape.transform = rbReadPeerPose(&scene->colliders[from->collider].oursPose);
    shape.material.friction = scene->friction;
    shape.material.stiction = scene->stiction;
    shape.material.restitution = scene->restitution;
    if (rbBody_IsValid(world, id)) {
        (void)rbCreateShape(world, id, &shape, error);
    }
    return id;
}

static bool addJoints(rbWorld* world, const rbContactScene* scene, const rbBodyId* ids,
                      rbError* error)
{
    for (int i = 0; i < scene->jointCount; ++i) {
        const rbPeerJoint* from = &scene->joints[i];
        rbJointDef def = rbDefaultJointDef();
        def.type = RB_JOINT_HINGE;
        def.bodyA = from->bodyA >= 0 ? ids[from->bodyA] : def.bodyA;
        def.bodyB = ids[from->bodyB];
        def.anchorA = toVec(from->anchorA);
        def.anchorB = toVec(from->anchorB);
        def.axisA = toVec(from->axisA);
        def.axisB = toVec(from->axisB);
        if (!rbJoint_IsValid(world, rbCreateJoint(world, &def, error))) {
            return false;
        }
    }
    return true;
}

rbWorld* rbContactScene_CreateWorld(const rbContactScene* scene, double step,
                                    const rbContactSettings* settings, rbBodyId* ids,
                                    rbError* error)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = RB_ENGINE_STEP;
    def.step.step = step;
    def.step.accuracy = settings->substeps > 0 ? RB_ACCURACY_GAME : RB_ACCURACY_ENGINEERING;
    def.step.tolerance = 1e-6; // the gap that peers are compared at
    def.contact = *settings;
    return rbContactScene_CreateWorldBy(scene, def, ids, error);
}

rbWorld* rbContactScene_CreateWorldBy(const rbContactScene* scene, rbWorldDef def, rbBodyId* ids,
                                      rbError* error)
{
    def.gravity = toVec(scene->gravity);
    def.bodyCapacity = scene->bodyCount;
    rbWorld* world = rbCreateWorld(&def, error);
    if (world == NULL) {
        return NULL;
    }
    rbWorld_EnableJournal(world, false);
    size_t size = (size_t)scene->colliderCount * sizeof(rbGeometryId);
    rbGeometryId* geometries = rbAlloc(size);
    for (int i = 0; i < scene->colliderCount; ++i) {
        geometries[i] = rbWorld_AddGeometry(world, rbGeometry_Retain(scene->colliders[i].ours));
    }
    size_t idSize = (size_t)scene->bodyCount * sizeof(rbBodyId);
    rbBodyId* made = ids != NULL ? ids : rbAlloc(idSize);
    bool isDone = true;
    for (int i = 0; i < scene->bodyCount && isDone; ++i) {
        made[i] = addBody(world, scene, i, geometries, error);
        isDone = rbBody_IsValid(world, made[i]) && rbBody_GetShapeCount(world, made[i]) == 1;
    }
    isDone = isDone && addJoints(world, scene, made, error);
    if (ids == NULL) {
        rbFree(made, idSize);
    }
    rbFree(geometries, size);
    if (!isDone) {
        rbDestroyWorld(world);
        return NULL;
    }
    return world;
}
