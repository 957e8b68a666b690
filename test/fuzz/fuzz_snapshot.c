// Fuzzes snapshots: any bytes, and true ones with a few words replaced and the checksum corrected.
// A refusal has a message and changes nothing. What is accepted may be nonsense, but the world
// stays usable: it advances or says why not, and a true snapshot brings everything back.
//
// An input is the number of a world, then edits of eight bytes: place and new word.
#include "base/core/hash.h"

#include <rattleback/rattleback.h>

#include <stdlib.h>
#include <string.h>

#define WORLD_COUNT 5
#define CHECKSUM_PLACE 8u // in the header of a snapshot: magic, version, checksum, ...
#define CHECKED_PLACE 16u
#define POLLS_MAX 3000

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

typedef struct Case {
    rbWorld* world;
    unsigned char* bytes; // a true snapshot
    unsigned char* forged;
    size_t size;
    uint64_t hash;  // at the snapshot
    uint64_t later; // after an advance from there
} Case;

static void require(bool isTrue)
{
    if (!isTrue) {
        abort();
    }
}

static rbBodyId addBody(rbWorld* world, rbGeometry* geometry, rbBodyType type, rbVec3 place)
{
    rbBodyDef def = rbDefaultBodyDef();
    def.type = type;
    def.position = place;
    if (type == RB_BODY_DYNAMIC) {
        def.angularVelocity = rbMakeVec3(0.3, 0.2 + place.x, 0.5);
    }
    rbBodyId body = rbCreateBody(world, &def, NULL);
    rbShapeDef shape = rbDefaultShapeDef();
    shape.geometry = rbWorld_AddGeometry(world, geometry);
    shape.material.restitution = 0.2;
    require(!RB_IS_NULL(rbCreateShape(world, body, &shape, NULL)));
    return body;
}

static rbGeometry* makeTetrahedron(double size)
{
    const rbVec3 points[] = {{0.0, 0.0, 0.0}, {size, 0.0, 0.0}, {0.0, size, 0.0}, {0.0, 0.0, size}};
    static const int triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    rbMeshDef mesh = {.vertices = points, .vertexCount = 4, .indices = triangles, .faceCount = 4};
    return rbCreateMesh(&mesh, NULL);
}

static void addBodies(rbWorld* world, bool hasMeshes)
{
    (void)addBody(world, rbCreatePlane(rbMakeVec3(0.0, 0.0, 1.0), 0.0, NULL), RB_BODY_STATIC,
                  rbMakeVec3(0.0, 0.0, 0.0));
    for (int i = 0; i < 3; ++i) {
        rbVec3 place = {0.05 * i, 0.01 * i, 0.2 + 0.35 * i};
        (void)addBody(world, rbCreateBox(rbMakeVec3(0.15, 0.12, 0.1), NULL), RB_BODY_DYNAMIC,
                      place);
        place.x += 0.6;
        (void)addBody(world, hasMeshes ? makeTetrahedron(0.3) : rbCreateSphere(0.12, NULL),
                      RB_BODY_DYNAMIC, place);
    }
}

// Two bodies on a hinge with limits and a motor.
static void addHinge(rbWorld* world)
{
    rbBodyId a = addBody(world, rbCreateBox(rbMakeVec3(0.2, 0.05, 0.05), NULL), RB_BODY_DYNAMIC,
                         rbMakeVec3(-1.0, 0.0, 1.0));
    rbJointDef joint = rbDefaultJointDef();
    joint.type = RB_JOINT_HINGE;
    joint.bodyB = a;
    joint.anchorA = rbMakeVec3(-1.2, 0.0, 1.0);
    joint.anchorB = rbMakeVec3(-0.2, 0.0, 0.0);
    joint.axisA = joint.axisB = rbMakeVec3(0.0, 1.0, 0.0);
    joint.limits[0] = (rbLimitDef){.lower = -0.1, .upper = 0.1};
    require(!RB_IS_NULL(rbCreateJoint(world, &joint, NULL)));
}

static rbWorld* makeWorld(int number)
{
    rbWorldDef def = rbDefaultWorldDef();
    def.engine = number == 0                  ? RB_ENGINE_FLIGHT
                 : number == 1 || number == 2 ? RB_ENGINE_EVENT
                                              : RB_ENGINE_STEP;
    def.contact.freezeSpeed = number == 4 ? 0.05 : 0.0;
    rbWorld* world = rbCreateWorld(&def, NULL);
    require(world != NULL);
    addBodies(world, number == 2 || number == 4);
    if (number >= 3) {
        addHinge(world);
    }
    return world;
}

static void prepare(Case* c, int number)
{
    c->world = makeWorld(number);
    (void)rbWorld_Advance(c->world, 0.3);
    c->size = rbWorld_GetSnapshotSize(c->world);
    c->bytes = malloc(c->size);
    c->forged = malloc(c->size);
    require(rbWorld_TakeSnapshot(c->world, c->bytes, c->size, NULL) == RB_STATUS_OK);
    c->hash = rbWorld_GetHash(c->world);
    (void)rbWorld_Advance(c->world, 0.02);
    c->later = rbWorld_GetHash(c->world);
}

static bool isLate(void* context)
{
    int* polls = context;
    return ++*polls > POLLS_MAX;
}

// Accepted nonsense may take long: it is stopped. Assertions would end it, so that only the preset
// fuzz-release advances.
static void advance(rbWorld* world)
{
#ifdef RB_ENABLE_ASSERT
    (void)isLate;
#else
    int polls = 0;
    rbStop before = rbUseStop((rbStop){.stopFn = isLate, .context = &polls});
    (void)rbWorld_Advance(world, 0.01);
    (void)rbUseStop(before);
#endif
    (void)rbWorld_GetHash(world);
    (void)rbWorld_GetLedger(world);
}

static void restoreTrue(const Case* c)
{
    rbError error = {0};
    rbStatus status = rbWorld_RestoreSnapshot(c->world, c->bytes, c->size, &error);
    require(status == RB_STATUS_OK);
    require(rbWorld_GetHash(c->world) == c->hash);
}

static void restoreForged(const Case* c, const unsigned char* bytes, size_t size)
{
    rbError error = {0};
    uint64_t before = rbWorld_GetHash(c->world);
    if (rbWorld_RestoreSnapshot(c->world, bytes, size, &error) == RB_STATUS_OK) {
        advance(c->world);
        restoreTrue(c);
        return;
    }
    require(error.message[0] != '\0');
    require(rbWorld_GetHash(c->world) == before);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Case cases[WORLD_COUNT];
    if (size == 0) {
        return 0;
    }
    Case* c = &cases[data[0] % WORLD_COUNT];
    if (c->world == NULL) {
        prepare(c, data[0] % WORLD_COUNT);
    }
    restoreTrue(c);
    restoreForged(c, data + 1, size - 1);
    memcpy(c->forged, c->bytes, c->size);
    for (size_t i = 1; i + 8 <= size; i += 8) {
        uint32_t place = 0, word = 0;
        memcpy(&place, data + i, 4);
        memcpy(&word, data + i + 4, 4);
        place = CHECKED_PLACE + place % (uint32_t)((c->size - CHECKED_PLACE) / 4) * 4;
        memcpy(c->forged + place, &word, 4);
    }
    uint64_t checksum =
        rbHashBytes(RB_HASH_SEED, c->forged + CHECKED_PLACE, c->size - CHECKED_PLACE);
    memcpy(c->forged + CHECKSUM_PLACE, &checksum, sizeof checksum);
    restoreForged(c, c->forged, c->size);
    if (data[0] / WORLD_COUNT % 8 == 0) { // what was refused left nothing behind that shows later
        restoreTrue(c);
        (void)rbWorld_Advance(c->world, 0.02);
        require(rbWorld_GetHash(c->world) == c->later);
    }
    return 0;
}
