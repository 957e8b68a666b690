#include "io/output/certificate.h"

#include "base/core/memory.h"
#include "io/output/bytes.h"
#include "io/output/certificate_columns.h"
#include "io/output/certificate_contacts.h"
#include "io/output/output_file.h"

#include <math.h>
#include <zstd.h>

#define BLOCK_WORDS 131072u // a block is written when it holds this many
#define HEADER_SIZE 40
#define STATE_WORDS 13
#define COMPRESSION_LEVEL 9
#define COLUMN_BLOCK 1024u // bytes of a plane that get statistics of their own
#define COLUMN_BLOCKS ((size_t)8 * RB_COLUMNS)
#define BLOCK_OVERHEAD 32u
// Digits of forces, points and errors of joints that no check needs: docs/certificate.md
#define FORCE_BITS 37
#define ERROR_BITS 44
#define POINT_BITS 20 // below the tolerance of contacts
#define CODEC_PLANES 0u
#define CODEC_COLUMNS 1u

typedef enum Record {
    RECORD_EVENT = 1,
    RECORD_FLIGHT,
    RECORD_CONTACTS,
    RECORD_JOINTS,
    RECORD_SPRINGS,
    RECORD_NODE,
    RECORD_PATH,
} Record;

#define TAG(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

typedef struct GeometryRow {
    const rbGeometry* geometry;
} GeometryRow;

struct rbCertificate {
    rbOutputFile file;
    RB_ARRAY(uint64_t) words;
    rbColumns* columns; // of the records
    ZSTD_CCtx* compressor;
    rbContactCoder* contacts;
    RB_ARRAY(unsigned char) planes;
    RB_ARRAY(unsigned char) stored;
    RB_ARRAY(rbBodyId) bodyIds;
    RB_ARRAY(int) bodyOfIndex; // number of a body by the index of its id
    RB_ARRAY(uint64_t) last;   // the states in the last node, STATE_WORDS each
    RB_ARRAY(rbContactView) views;
    RB_ARRAY(rbJointId) jointIds;
    RB_ARRAY(rbSpringId) springIds;
    RB_ARRAY(GeometryRow) geometries;
    uint64_t checksum; // of the header before
    uint32_t sequence;
    double step;       // s, of the step engine; 0: another engine
    double nodeTime;   // s, of the last node
    int pointExponent; // points are multiples of 2^pointExponent m
};

// ----------------------------------------------------------------------------------------- blocks

// FNV-1a, continued from a value.
static uint64_t hashBytes(uint64_t hash, const unsigned char* bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

#define HASH_START 0xcbf29ce484222325u

static void putWord(rbCertificate* c, uint64_t word)
{
    rbArray_Push(c->words, word);
}

static void putNumber(rbCertificate* c, double value)
{
    putWord(c, rbBitsOfDouble(value));
}

static void putVector(rbCertificate* c, rbVec3 v)
{
    putNumber(c, v.x);
    putNumber(c, v.y);
    putNumber(c, v.z);
}

static void putQuat(rbCertificate* c, rbQuat q)
{
    putNumber(c, q.w);
    putNumber(c, q.x);
    putNumber(c, q.y);
    putNumber(c, q.z);
}

static void putText(rbCertificate* c, const char* text)
{
    size_t length = strlen(text);
    putWord(c, length);
    for (size_t i = 0; i < length; i += 8) {
        unsigned char bytes[8] = {0};
        memcpy(bytes, text + i, length - i < 8 ? length - i : 8);
        putWord(c, rbGetWord64(bytes));
    }
}

// The head of a record; its size is filled in by endRecord.
static int beginRecord(rbCertificate* c, Record kind)
{
    putWord(c, (uint64_t)kind);
    return c->words.count - 1;
}

static void endRecord(rbCertificate* c, int start)
{
    uint64_t size = (uint64_t)(c->words.count - start - 1);
    c->words.data[start] |= size << 32;
}

// The words as eight planes, the lowest bytes first.
static void makePlanes(const uint64_t* words, size_t count, unsigned char* planes)
{
    for (size_t i = 0; i < count; ++i) {
        for (size_t plane = 0; plane < 8; ++plane) {
            planes[plane * count + i] = (unsigned char)(words[i] >> (8 * plane));
        }
    }
}

// Feeds bytes to the frame in c->stored; ends its block after them, or the frame.
static void compressPart(rbCertificate* c, ZSTD_inBuffer in, ZSTD_outBuffer* out, bool isLast)
{
    size_t left;
    do {
        left = ZSTD_compressStream2(c->compressor, out, &in, isLast ? ZSTD_e_end : ZSTD_e_flush);
        RB_ASSERT(!ZSTD_isError(left) && (left == 0 || out->pos < out->size));
    } while (left > 0);
}

// One frame of zstd. Records: each long column of a plane is a block of it, with statistics of its
// own.
static size_t compress(rbCertificate* c, size_t size, size_t count, bool isRecords)
{
    rbArray_Reserve(c->stored, (int)(ZSTD_compressBound(size) + COLUMN_BLOCKS * BLOCK_OVERHEAD));
    ZSTD_outBuffer out = {c->stored.data, (size_t)c->stored.capacity, 0};
    size_t done = 0;
    for (size_t plane = 0; plane < 8 && isRecords; ++plane) {
        const size_t* starts = rbColumns_GetStarts(c->columns);
        for (int i = 0; i < RB_COLUMNS; ++i) {
            size_t end = RB_COLUMNS_HEAD + plane * count + starts[i + 1];
            if (end - done >= COLUMN_BLOCK && end < size) {
                compressPart(c, (ZSTD_inBuffer){c->planes.data + done, end - done, 0}, &out, false);
                done = end;
            }
        }
    }
    compressPart(c, (ZSTD_inBuffer){c->planes.data + done, size - done, 0}, &out, true);
    return out.pos;
}

// Writes the words as a block. A block is complete or not there.
static void writeBlock(rbCertificate* c, uint32_t tag)
{
    bool isRecords = tag == TAG('R', 'E', 'C', 'S');
    size_t count = (size_t)c->words.count;
    size_t size = 8 * count + (isRecords ? RB_COLUMNS_HEAD : 0);
    rbArray_Reserve(c->planes, (int)size);
    if (isRecords) {
        rbColumns_Code(c->columns, c->words.data, count, c->planes.data);
    } else {
        makePlanes(c->words.data, count, c->planes.data);
    }
    size_t used = compress(c, size, count, isRecords);
    unsigned char header[HEADER_SIZE] = {0};
    rbPutWord32(header, tag);
    rbPutWord32(header + 4, c->sequence++);
    rbPutWord32(header + 8, isRecords ? CODEC_COLUMNS : CODEC_PLANES);
    rbPutWord32(header + 12, (uint32_t)size);
    rbPutWord32(header + 16, (uint32_t)used);
    rbPutWord64(header + 24, hashBytes(HASH_START, c->stored.data, used));
    c->checksum = hashBytes(c->checksum, header, 32);
    rbPutWord64(header + 32, c->checksum);
    rbOutputFile_Write(&c->file, header, sizeof header);
    rbOutputFile_Write(&c->file, c->stored.data, used);
    c->words.count = 0;
}

static rbStatus writeIfFull(rbCertificate* c, rbError* error)
{
    if (c->words.count >= (int)BLOCK_WORDS) {
        writeBlock(c, TAG('R', 'E', 'C', 'S'));
        return rbOutputFile_Flush(&c->file, error);
    }
    return RB_STATUS_OK;
}

// ------------------------------------------------------------------------------------------ model

static uint64_t numberOf(const rbCertificate* c, rbBodyId id)
{
    bool isKnown = !RB_IS_NULL(id) && (int)id.index1 <= c->bodyOfIndex.count;
    return isKnown ? (uint64_t)(uint32_t)c->bodyOfIndex.data[id.index1 - 1] : UINT32_MAX;
}

// The number of a geometry in the list of the file; children come before their compounds.
static int listGeometry(rbCertificate* c, const rbGeometry* geometry)
{
    for (int i = 0; i < c->geometries.count; ++i) {
        if (c->geometries.data[i].geometry == geometry) {
            return i;
        }
    }
    int count = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &count);
    for (int i = 0; i < count; ++i) {
        (void)listGeometry(c, children[i].geometry);
    }
    rbArray_Push(c->geometries, ((GeometryRow){geometry}));
    return c->geometries.count - 1;
}

static void putMesh(rbCertificate* c, const rbMeshDef* mesh)
{
    putWord(c, (uint64_t)mesh->vertexCount);
    for (int i = 0; i < mesh->vertexCount; ++i) {
        putVector(c, mesh->vertices[i]);
    }
    putWord(c, (uint64_t)mesh->faceCount);
    int corner = 0;
    for (int f = 0; f < mesh->faceCount; ++f) {
        int size = mesh->faceSizes != NULL ? mesh->faceSizes[f] : 3;
        putWord(c, (uint64_t)size);
        for (int i = 0; i < size; ++i) {
            putWord(c, (uint64_t)mesh->indices[corner++]);
        }
    }
}

static void putTransform(rbCertificate* c, rbTransform transform)
{
    putVector(c, transform.p);
    putQuat(c, transform.q);
}

// The lengths of a primitive in the order of its definition; those it lacks are zero.
static rbVec3 lengthsOf(const rbShapeData* data)
{
    if (data->type == RB_SHAPE_SPHERE) {
        return rbMakeVec3(data->sphere.radius, 0.0, 0.0);
    }
    if (data->type == RB_SHAPE_BOX) {
        return data->box.halfExtents;
    }
    if (data->type == RB_SHAPE_ELLIPSOID) {
        return data->ellipsoid.semiAxes;
    }
    if (data->type == RB_SHAPE_CONE) {
        return rbMakeVec3(data->cone.radius, data->cone.height, 0.0);
    }
    return data->type == RB_SHAPE_CAPSULE
               ? rbMakeVec3(data->capsule.radius, data->capsule.halfLength, 0.0)
               : rbMakeVec3(data->cylinder.radius, data->cylinder.halfLength, 0.0);
}

static void putGeometry(rbCertificate* c, const rbGeometry* geometry)
{
    rbShapeData data = rbGeometry_GetData(geometry);
    rbMeshDef mesh;
    int count = 0;
    const rbCompoundChild* children = rbGeometry_GetChildren(geometry, &count);
    int start = c->words.count;
    putWord(c, (uint64_t)data.type);
    putNumber(c, rbGeometry_GetRadius(geometry, RB_VEC3_ZERO));
    if (data.type == RB_SHAPE_PLANE) {
        putVector(c, data.plane.normal);
        putNumber(c, data.plane.offset);
    } else if (data.type < RB_SHAPE_HULL) {
        putVector(c, lengthsOf(&data));
    } else if (rbGeometry_GetMesh(geometry, &mesh)) {
        putMesh(c, &mesh);
    } else if (count > 0) {
        putWord(c, (uint64_t)count);
        for (int i = 0; i < count; ++i) {
            putWord(c, (uint64_t)listGeometry(c, children[i].geometry));
            putNumber(c, children[i].density);
            putTransform(c, children[i].transform);
        }
    }
    uint64_t hash = HASH_START;
    for (int i = start; i < c->words.count; ++i) {
        unsigned char bytes[8];
        rbPutWord64(bytes, c->words.data[i]);
        hash = hashBytes(hash, bytes, sizeof bytes);
    }
    putWord(c, hash);
}

static void putState(rbCertificate* c, const rbBodyState* state)
{
    putVector(c, state->center);
    putQuat(c, state->transform.q);
    putVector(c, state->linearVelocity);
    putVector(c, state->angularVelocity);
}

static void putShapes(rbCertificate* c, const rbWorld* world, rbBodyId id)
{
    int count = rbBody_GetShapeCount(world, id);
    putWord(c, (uint64_t)count);
    for (int i = 0; i < count; ++i) {
        rbShapeDef shape = rbBody_GetShape(world, id, i);
        putWord(c, (uint64_t)listGeometry(c, rbWorld_GetGeometry(world, shape.geometry)));
        putWord(c, shape.isSensor ? 1u : 0u);
        putTransform(c, shape.transform);
        putNumber(c, shape.material.density);
        putNumber(c, shape.material.restitution);
        putNumber(c, shape.material.friction);
        putNumber(c, shape.material.stiction);
        putWord(c, (uint64_t)shape.material.kind);
        putWord(c, (uint64_t)shape.groups | (uint64_t)shape.mask << 32);
        putVector(c, shape.surfaceVelocity);
    }
}

// Whether a body has the mass of its shapes; an explicit one may be any.
static bool isOfShapes(const rbWorld* world, rbBodyId id, const rbMassProperties* mass)
{
    double sum = 0.0;
    double trace = 0.0; // of the inertia about the center of the body
    rbVec3 center = RB_VEC3_ZERO;
    for (int i = 0; i < rbBody_GetShapeCount(world, id); ++i) {
        rbShapeDef shape = rbBody_GetShape(world, id, i);
        rbMassProperties own = {0};
        const rbGeometry* geometry = rbWorld_GetGeometry(world, shape.geometry);
        if (shape.isSensor ||
            rbGeometry_GetMass(geometry, shape.material.density, &own, NULL) != RB_STATUS_OK) {
            continue;
        }
        own = rbMassProperties_Transform(&own, shape.transform);
        rbVec3 arm = rbSub(own.center, mass->center);
        sum += own.mass;
        center = rbAddScaled(center, own.mass, arm);
        trace +=
            own.inertia.xx + own.inertia.yy + own.inertia.zz + 2.0 * own.mass * rbDot(arm, arm);
    }
    double expected = mass->inertia.xx + mass->inertia.yy + mass->inertia.zz;
    return mass->mass > 0.0 && fabs(sum - mass->mass) <= 1e-12 * mass->mass &&
           fabs(trace - expected) <= 1e-9 * expected &&
           rbDot(center, center) <= 1e-18 * mass->mass * expected;
}

static void putBody(rbCertificate* c, const rbWorld* world, rbBodyId id)
{
    rbMassProperties mass = rbBody_GetMass(world, id);
    rbBodyState state = rbBody_GetState(world, id);
    putText(c, rbBody_GetName(world, id));
    putWord(c, (uint64_t)rbBody_GetType(world, id));
    putWord(c, (uint64_t)rbBody_GetMotion(world, id, NULL));
    putNumber(c, mass.mass);
    putVector(c, mass.center);
    putNumber(c, mass.inertia.xx);
    putNumber(c, mass.inertia.yy);
    putNumber(c, mass.inertia.zz);
    putNumber(c, mass.inertia.xy);
    putNumber(c, mass.inertia.xz);
    putNumber(c, mass.inertia.yz);
    putWord(c, isOfShapes(world, id, &mass) ? 1u : 0u);
    putNumber(c, rbBody_GetGrowth(world, id));
    putWord(c, rbBody_IsResting(world, id) ? 1u : 0u);
    putState(c, &state);
    putShapes(c, world, id);
}

static void putForces(rbCertificate* c, const rbWorld* world)
{
    int count = rbWorld_GetForces(world, NULL, 0);
    size_t size = (size_t)count * sizeof(rbForceDef);
    rbForceDef* forces = rbAlloc(size);
    (void)rbWorld_GetForces(world, forces, count);
    putWord(c, (uint64_t)count);
    for (int i = 0; i < count; ++i) {
        const rbForceDef* force = &forces[i];
        putWord(c, (uint64_t)force->type | numberOf(c, force->body) << 32);
        putVector(c, force->force);
        putVector(c, force->torque);
        putNumber(c, force->linear);
        putNumber(c, force->quadratic);
        putNumber(c, force->angular);
        putVector(c, force->center);
        putNumber(c, force->strength);
    }
    rbFree(forces, size);
}

static void putPairs(rbCertificate* c, const rbWorld* world)
{
    int start = c->words.count;
    uint64_t count = 0;
    putWord(c, 0);
    for (int a = 0; a < RB_MATERIAL_KINDS_MAX; ++a) {
        for (int b = a; b < RB_MATERIAL_KINDS_MAX; ++b) {
            rbMaterialPair pair;
            if (rbWorld_GetMaterialPair(world, a, b, &pair)) {
                putWord(c, (uint64_t)a | (uint64_t)b << 32);
                putNumber(c, pair.restitution);
                putNumber(c, pair.friction);
                putWord(c, (uint64_t)pair.law);
                count += 1;
            }
        }
    }
    c->words.data[start] = count;
}

// Whether springs, friction, motors or stops act along the freedoms of a joint.
static bool isDriven(const rbWorld* world, rbJointId id)
{
    rbJointState state = rbJoint_GetState(world, id);
    bool isAny = rbJoint_GetConditionCount(world, id) == 0;
    for (int i = 0; i < state.freedomCount; ++i) {
        rbFreedomDef freedom = rbJoint_GetFreedom(world, id, i);
        isAny = isAny || freedom.stiffness > 0.0 || freedom.damping > 0.0 ||
                freedom.friction > 0.0 || freedom.motor.type != RB_MOTOR_NONE;
    }
    for (int i = 0; i < state.limitCount; ++i) {
        rbLimitDef limit = rbJoint_GetLimit(world, id, i);
        isAny = isAny || isfinite(limit.lower) || isfinite(limit.upper);
    }
    return isAny;
}

static void putJoint(rbCertificate* c, const rbWorld* world, rbJointId id)
{
    rbHeldPart parts[RB_JOINT_PARTS_MAX];
    int count = rbJoint_GetHeldParts(world, id, parts);
    putText(c, rbJoint_GetName(world, id));
    putWord(c, numberOf(c, rbJoint_GetBodyA(world, id)) | numberOf(c, rbJoint_GetBodyB(world, id))
                                                              << 32);
    putWord(c, (uint64_t)rbJoint_GetType(world, id));
    putWord(c, isDriven(world, id) ? 1u : 0u);
    putWord(c, (uint64_t)count);
    for (int i = 0; i < count; ++i) {
        putWord(c, (uint64_t)parts[i].type);
        putVector(c, parts[i].anchorA);
        putVector(c, parts[i].anchorB);
        putVector(c, parts[i].axisA);
        putVector(c, parts[i].axisB);
        putQuat(c, parts[i].relative);
        putNumber(c, parts[i].distance);
    }
}

static void putSpring(rbCertificate* c, const rbWorld* world, rbSpringId id)
{
    rbSpringDef def = rbSpring_GetDef(world, id);
    putWord(c, numberOf(c, def.bodyA) | numberOf(c, def.bodyB) << 32);
    putVector(c, def.anchorA);
    putVector(c, def.anchorB);
    putNumber(c, def.restLength);
    putNumber(c, def.stiffness);
    putNumber(c, def.damping);
}

static void putSettings(rbCertificate* c, const rbWorld* world)
{
    rbEventSettings event = rbWorld_GetEventSettings(world);
    rbStepSettings step = rbWorld_GetStepSettings(world);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    rbContactTolerance allowed = rbContactSettings_GetTolerance(&contact);
    rbEngineType engine = rbWorld_GetEngineType(world);
    bool isStepped = engine == RB_ENGINE_STEP;
    putText(c, rbGetVersion());
    putWord(c, (uint64_t)engine);
    putNumber(c, rbWorld_GetTime(world));
    putVector(c, rbWorld_GetGravity(world));
    putVector(c, rbWorld_GetPeriodicBox(world));
    putWord(c, (uint64_t)(isStepped ? contact.law : event.law));
    putWord(c, (uint64_t)(isStepped ? contact.restitutionRule : event.combineRestitution));
    putWord(c, (uint64_t)(isStepped ? contact.frictionRule : event.combineFriction));
    putNumber(c, isStepped ? allowed.gap : rbWorld_GetEventStatistics(world).tolerance);
    putNumber(c, event.contactTime);
    putWord(c, (uint64_t)event.order);
    putWord(c, (uint64_t)event.lasting);
    putWord(c, event.detector == RB_DETECTOR_EXACT ? 1u : 0u);
    putWord(c, (uint64_t)step.accuracy);
    putNumber(c, step.step);
    putWord(c, (uint64_t)step.order);
    putNumber(c, step.tolerance);
    putNumber(c, step.errorMax);
    putWord(c,
            step.method == RB_METHOD_IMPULSES && contact.method == RB_CONTACT_IMPULSES ? 1u : 0u);
    putWord(c, rbWorld_HasContacts(world) ? 1u : 0u);
    putNumber(c, contact.shell);
    putNumber(c, allowed.speed);
    putNumber(c, contact.restSpeed);
    putWord(c, contact.areNeighborsMeeting ? 1u : 0u);
}

static void listBodies(rbCertificate* c, const rbWorld* world)
{
    int count = rbWorld_GetBodyCount(world);
    rbArray_Reserve(c->bodyIds, count);
    c->bodyIds.count = rbWorld_GetBodyIds(world, c->bodyIds.data, count);
    for (int i = 0; i < count; ++i) {
        int index = (int)c->bodyIds.data[i].index1 - 1;
        while (c->bodyOfIndex.count <= index) {
            rbArray_Push(c->bodyOfIndex, -1);
        }
        c->bodyOfIndex.data[index] = i;
        for (int k = 0; k < STATE_WORDS; ++k) {
            rbArray_Push(c->last, UINT64_MAX); // bits of no state
        }
    }
    rbArray_Reserve(c->jointIds, rbWorld_GetJointCount(world));
    c->jointIds.count = rbWorld_GetJointIds(world, c->jointIds.data, c->jointIds.capacity);
    rbArray_Reserve(c->springIds, rbWorld_GetSpringCount(world));
    c->springIds.count = rbWorld_GetSpringIds(world, c->springIds.data, c->springIds.capacity);
}

// Whether a pair of bodies connected by a joint collides is not part of the held parts: such pairs
// are not claimed to be apart.
static void writeModel(rbCertificate* c, const rbWorld* world)
{
    putSettings(c, world);
    for (int i = 0; i < c->bodyIds.count; ++i) {
        for (int k = 0; k < rbBody_GetShapeCount(world, c->bodyIds.data[i]); ++k) {
            rbShapeDef shape = rbBody_GetShape(world, c->bodyIds.data[i], k);
            (void)listGeometry(c, rbWorld_GetGeometry(world, shape.geometry));
        }
    }
    putWord(c, (uint64_t)c->geometries.count);
    for (int i = 0; i < c->geometries.count; ++i) {
        putGeometry(c, c->geometries.data[i].geometry);
    }
    putWord(c, (uint64_t)c->bodyIds.count);
    for (int i = 0; i < c->bodyIds.count; ++i) {
        putBody(c, world, c->bodyIds.data[i]);
    }
    putForces(c, world);
    putPairs(c, world);
    putWord(c, (uint64_t)c->jointIds.count);
    for (int i = 0; i < c->jointIds.count; ++i) {
        putJoint(c, world, c->jointIds.data[i]);
    }
    putWord(c, (uint64_t)c->springIds.count);
    for (int i = 0; i < c->springIds.count; ++i) {
        putSpring(c, world, c->springIds.data[i]);
    }
    writeBlock(c, TAG('M', 'O', 'D', 'L'));
}

// ---------------------------------------------------------------------------------------- records

static void writeEvent(rbCertificate* c, const rbEvent* event)
{
    int start = beginRecord(c, RECORD_EVENT);
    putNumber(c, event->time);
    putWord(c, (uint64_t)event->kind | (uint64_t)event->law << 32);
    putWord(c, numberOf(c, event->bodyA) | numberOf(c, event->bodyB) << 32);
    putNumber(c, event->energyChange);
    putNumber(c, event->energyBefore);
    putNumber(c, event->frictionWork);
    putVector(c, event->point);
    putVector(c, event->normal);
    putVector(c, event->impulse);
    putNumber(c, event->approachSpeed);
    putWord(c, event->history);
    endRecord(c, start);
}

// Where a body on a path is when something hits it: the verifier has no path.
static void writePath(rbCertificate* c, const rbWorld* world, rbBodyId id, double time)
{
    if (RB_IS_NULL(id) || rbBody_GetType(world, id) != RB_BODY_KINEMATIC) {
        return;
    }
    rbBodyState state = rbBody_GetStateAt(world, id, time);
    int start = beginRecord(c, RECORD_PATH);
    putNumber(c, time);
    putWord(c, numberOf(c, id));
    putState(c, &state);
    endRecord(c, start);
}

static void writeFlight(rbCertificate* c, const rbFlightStart* flight)
{
    int start = beginRecord(c, RECORD_FLIGHT);
    putNumber(c, flight->time);
    putWord(c, numberOf(c, flight->body) | (flight->isHeld ? (uint64_t)1 << 32 : 0u));
    putState(c, &flight->state);
    endRecord(c, start);
}

// Rounds to a multiple of 2^exponent: digits that no check needs are left out of the file.
static double roundTo(double value, int exponent)
{
    double scaled = ldexp(value, -exponent);
    return fabs(scaled) < 0x1p52 ? ldexp(rint(scaled), exponent) : value;
}

static void putRounded(rbCertificate* c, rbVec3 v, int exponent)
{
    putNumber(c, roundTo(v.x, exponent));
    putNumber(c, roundTo(v.y, exponent));
    putNumber(c, roundTo(v.z, exponent));
}

// A force or torque, to FORCE_BITS of its largest component.
static void putForce(rbCertificate* c, rbVec3 v)
{
    double largest = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    putRounded(c, v, largest > 0.0 ? ilogb(largest) - FORCE_BITS : 0);
}

static void writeContacts(rbCertificate* c, const rbWorld* world)
{
    int count = rbWorld_GetContacts(world, NULL, 0);
    rbArray_Reserve(c->views, count);
    count = rbWorld_GetContacts(world, c->views.data, c->views.capacity);
    for (int i = 0; i < count; ++i) {
        const rbContactView* view = &c->views.data[i];
        const rbBodyState states[2] = {rbBody_GetState(world, view->bodyA),
                                       rbBody_GetState(world, view->bodyB)};
        uint64_t pair = numberOf(c, view->bodyA) | numberOf(c, view->bodyB) << 32;
        rbContactCoder_Add(c->contacts, pair, view, states);
    }
    int wordCount;
    const uint64_t* words = rbContactCoder_Take(c->contacts, &wordCount);
    if (wordCount > 0) {
        int start = beginRecord(c, RECORD_CONTACTS);
        for (int i = 0; i < wordCount; ++i) {
            putWord(c, words[i]);
        }
        endRecord(c, start);
    }
}

static void writeLinks(rbCertificate* c, const rbWorld* world)
{
    if (c->jointIds.count > 0) {
        int start = beginRecord(c, RECORD_JOINTS);
        for (int i = 0; i < c->jointIds.count; ++i) {
            rbJointState state = rbJoint_GetState(world, c->jointIds.data[i]);
            putForce(c, state.force);
            putForce(c, state.torque);
            putRounded(c, state.pointA, c->pointExponent);
            putNumber(c, roundTo(state.positionError, -ERROR_BITS));
            putNumber(c, roundTo(state.angleError, -ERROR_BITS));
        }
        endRecord(c, start);
    }
    if (c->springIds.count > 0) {
        int start = beginRecord(c, RECORD_SPRINGS);
        for (int i = 0; i < c->springIds.count; ++i) {
            rbSpringState state = rbSpring_GetState(world, c->springIds.data[i]);
            putNumber(c, state.force);
            putNumber(c, state.length);
            putNumber(c, state.energy);
        }
        endRecord(c, start);
    }
}

// Whether a time is on the grid of the steps.
static bool isOnGrid(const rbCertificate* c, double time)
{
    return c->step > 0.0 && rbGetStepTime((int64_t)llround(time / c->step), c->step) == time;
}

static void putLedger(rbCertificate* c, const rbWorld* world)
{
    rbLedger ledger = rbWorld_GetLedger(world);
    const double numbers[] = {ledger.kineticLinear, ledger.kineticAngular, ledger.potential,
                              ledger.springEnergy,  ledger.energy,         ledger.work,
                              ledger.impactWork,    ledger.frictionWork,   ledger.microWork,
                              ledger.motorWork,     ledger.dissipation,    ledger.restWork,
                              ledger.energyDrift};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        putNumber(c, numbers[i]);
    }
    putVector(c, ledger.momentum);
    putVector(c, ledger.angularMomentum);
}

// The states that changed since the last node.
static void writeNode(rbCertificate* c, const rbWorld* world)
{
    double time = rbWorld_GetTime(world);
    bool isGrid = isOnGrid(c, time);
    if (isGrid) {
        writeContacts(c, world);
    }
    writeLinks(c, world);
    int start = beginRecord(c, RECORD_NODE);
    putNumber(c, time);
    putWord(c, isGrid ? 1u : 0u);
    putLedger(c, world);
    for (int i = 0; i < c->bodyIds.count; ++i) {
        rbBodyState s = rbBody_GetState(world, c->bodyIds.data[i]);
        const double numbers[STATE_WORDS] = {
            s.center.x,         s.center.y,         s.center.z,          s.transform.q.w,
            s.transform.q.x,    s.transform.q.y,    s.transform.q.z,     s.linearVelocity.x,
            s.linearVelocity.y, s.linearVelocity.z, s.angularVelocity.x, s.angularVelocity.y,
            s.angularVelocity.z};
        uint64_t words[STATE_WORDS];
        memcpy(words, numbers, sizeof words);
        uint64_t* last = &c->last.data[(size_t)STATE_WORDS * (size_t)i];
        if (memcmp(last, words, sizeof words) != 0) {
            putWord(c, (uint64_t)i);
            putState(c, &s);
            memcpy(last, words, sizeof words);
        }
    }
    endRecord(c, start);
    c->nodeTime = time;
}

// ------------------------------------------------------------------------------------- interface

static void freeWriter(rbCertificate* c)
{
    rbArray_Free(c->words);
    rbArray_Free(c->planes);
    rbArray_Free(c->stored);
    rbArray_Free(c->bodyIds);
    rbArray_Free(c->bodyOfIndex);
    rbArray_Free(c->last);
    rbArray_Free(c->views);
    rbArray_Free(c->jointIds);
    rbArray_Free(c->springIds);
    rbArray_Free(c->geometries);
    rbDestroyColumns(c->columns);
    rbDestroyContactCoder(c->contacts);
    (void)ZSTD_freeCCtx(c->compressor);
    rbFree(c, sizeof *c);
}

// The verifier knows the restitution of the materials only.
static bool hasUnknownLaw(const rbWorld* world, rbError* error)
{
    rbRestitutionLaw law = rbWorld_GetEngineType(world) == RB_ENGINE_STEP
                               ? rbWorld_GetContactSettings(world).restitution
                               : rbWorld_GetEventSettings(world).restitution;
    if (law != RB_RESTITUTION_CONSTANT) {
        (void)rbError_Set(
            error, RB_STATUS_UNSUPPORTED,
            "a certificate cannot be checked with the law of restitution \"%s\", which "
            "a module added; use \"constant\"",
            rbRestitutionLaw_Name(law));
    }
    return law != RB_RESTITUTION_CONSTANT;
}

static rbStatus startCompressor(rbCertificate* c, rbError* error)
{
    c->compressor = ZSTD_createCCtx();
    if (c->compressor == NULL) {
        return rbError_Set(error, RB_STATUS_LIMIT, "out of memory for compressing a certificate");
    }
    (void)ZSTD_CCtx_setParameter(c->compressor, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
    return RB_STATUS_OK;
}

rbCertificate* rbCreateCertificate(const char* path, const rbWorld* world, rbError* error)
{
    if (hasUnknownLaw(world, error)) {
        return NULL;
    }
    rbCertificate* c = rbAllocZero(1, sizeof *c);
    rbContactSettings contact = rbWorld_GetContactSettings(world);
    double tolerance = rbContactSettings_GetTolerance(&contact).gap;
    c->columns = rbCreateColumns(rbWorld_GetBodyCount(world));
    c->contacts = rbCreateContactCoder(tolerance);
    if (startCompressor(c, error) != RB_STATUS_OK ||
        rbOutputFile_Open(&c->file, path, error) != RB_STATUS_OK) {
        freeWriter(c);
        return NULL;
    }
    c->file.enableKeepPart = true;
    bool isStepped = rbWorld_GetEngineType(world) == RB_ENGINE_STEP;
    c->step = isStepped ? rbWorld_GetStepSettings(world).step : 0.0;
    c->nodeTime = -INFINITY;
    c->pointExponent = ilogb(tolerance) - POINT_BITS;
    unsigned char signature[24] = {0x89, 'R', 'B', 'C', '\r', '\n', 0x1a, '\n'};
    rbPutWord32(signature + 8, RB_CERTIFICATE_VERSION);
    c->checksum = hashBytes(HASH_START, signature, 16);
    rbPutWord64(signature + 16, c->checksum);
    rbOutputFile_Write(&c->file, signature, sizeof signature);
    listBodies(c, world);
    writeModel(c, world);
    if (rbOutputFile_Flush(&c->file, error) != RB_STATUS_OK) {
        rbCertificate_Abandon(c);
        return NULL;
    }
    return c;
}

rbStatus rbCertificate_Note(rbCertificate* c, const rbWorld* world, rbError* error)
{
    int eventCount = 0;
    int flightCount = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &eventCount);
    const rbFlightStart* flights = rbWorld_GetFlightStarts(world, &flightCount);
    rbStatus status = RB_STATUS_OK;
    int flight = 0;
    for (int i = 0; i <= eventCount && status == RB_STATUS_OK; ++i) {
        for (; flight < flightCount && flights[flight].eventCount <= i; ++flight) {
            writeFlight(c, &flights[flight]);
        }
        if (i < eventCount) {
            writePath(c, world, events[i].bodyA, events[i].time);
            writePath(c, world, events[i].bodyB, events[i].time);
            writeEvent(c, &events[i]);
        }
        status = writeIfFull(c, error);
    }
    double time = rbWorld_GetTime(world);
    if (isOnGrid(c, time) && time != c->nodeTime) {
        writeNode(c, world);
    }
    return status == RB_STATUS_OK ? writeIfFull(c, error) : status;
}

rbStatus rbCertificate_Frame(rbCertificate* c, const rbWorld* world, rbError* error)
{
    if (rbWorld_GetTime(world) != c->nodeTime) {
        writeNode(c, world);
    }
    return writeIfFull(c, error);
}

rbStatus rbCertificate_Finish(rbCertificate* c, const rbWorld* world, uint64_t hash, rbError* error)
{
    if (c->words.count > 0) {
        writeBlock(c, TAG('R', 'E', 'C', 'S'));
    }
    rbEventStatistics event = rbWorld_GetEventStatistics(world);
    rbContactStatistics contact = rbWorld_GetContactStatistics(world);
    rbStepStatistics step = rbWorld_GetStepStatistics(world);
    putNumber(c, rbWorld_GetTime(world));
    putWord(c, hash);
    putNumber(c, event.overlapMax);
    putNumber(c, contact.deepest);
    putNumber(c, step.positionErrorMax);
    putNumber(c, step.angleErrorMax);
    putNumber(c, contact.jointErrorMax);
    putWord(c, (uint64_t)event.impacts);
    putWord(c, (uint64_t)event.microcollisions);
    putWord(c, (uint64_t)contact.collisions);
    putWord(c, (uint64_t)contact.unmetSteps);
    putNumber(c, contact.gapErrorMax);
    putNumber(c, contact.speedErrorMax);
    writeBlock(c, TAG('D', 'O', 'N', 'E'));
    rbStatus status = rbOutputFile_Commit(&c->file, error);
    freeWriter(c);
    return status;
}

void rbCertificate_Abandon(rbCertificate* c)
{
    if (c->words.count > 0) {
        writeBlock(c, TAG('R', 'E', 'C', 'S'));
        (void)rbOutputFile_Flush(&c->file, NULL);
    }
    rbOutputFile_Abandon(&c->file);
    freeWriter(c);
}
