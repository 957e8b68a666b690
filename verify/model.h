// The content of a certificate as the verifier holds it. Fields are those of docs/certificate.md.
#pragma once

#include "verify/numbers.h"
#include "verify/verify.h"

#include <stddef.h>

#define RB_V_NONE UINT32_MAX // no body
#define RB_V_NAME_SIZE 64
#define RB_V_PARTS_MAX 6

typedef enum rbVEngine {
    RB_V_FLIGHT,
    RB_V_EVENT,
    RB_V_STEP
} rbVEngine;

typedef enum rbVBodyType {
    RB_V_STATIC,
    RB_V_KINEMATIC,
    RB_V_DYNAMIC
} rbVBodyType;

typedef enum rbVShapeType {
    RB_V_SPHERE,
    RB_V_BOX,
    RB_V_CAPSULE,
    RB_V_CYLINDER,
    RB_V_CONE,
    RB_V_ELLIPSOID,
    RB_V_PLANE,
    RB_V_HULL,
    RB_V_POLYHEDRON,
    RB_V_MESH,
    RB_V_SOUP,
    RB_V_COMPOUND
} rbVShapeType;

typedef enum rbVLaw {
    RB_V_NEWTON,
    RB_V_POISSON,
    RB_V_STRONGE,
    RB_V_LAW_COUNT
} rbVLaw;

typedef enum rbVMotion {
    RB_V_MOTION_EXACT = 1,
    RB_V_MOTION_RK4 = 3,
    RB_V_MOTION_EULER = 5
} rbVMotion;

typedef enum rbVEventKind {
    RB_V_EVENT_IMPACT = 4,
    RB_V_EVENT_MICRO,
    RB_V_EVENT_REST = 7,
    RB_V_EVENT_WAKE,
    RB_V_EVENT_KINDS = 12
} rbVEventKind;

typedef struct rbVState {
    rbV3 center;
    rbV4 q; // of the body's frame
    rbV3 v; // of the center
    rbV3 w; // world axes
} rbVState;

typedef struct rbVChild {
    uint32_t geometry;
    double density; // kg/m^3; not positive: that of the compound
    rbVPose pose;
} rbVChild;

typedef struct rbVGeometry {
    uint32_t type;
    double numbers[4]; // lengths; of a plane normal and offset
    rbV3* vertices;
    uint32_t vertexCount;
    uint32_t* corners; // of all faces
    uint32_t* faceSizes;
    uint32_t faceCount;
    rbVChild* children;
    uint32_t childCount;
} rbVGeometry;

typedef struct rbVShape {
    uint32_t geometry, isSensor;
    rbVPose pose;
    double density, restitution, friction, stiction;
    uint32_t kind, groups, mask;
} rbVShape;

typedef struct rbVBody {
    char name[RB_V_NAME_SIZE];
    uint32_t type, motion;
    double mass, inverseMass; // 0: impulses do not move it
    rbV3 center;              // of mass, in the body's frame
    rbVSym inertia;           // about the center, axes of the body's frame
    rbVSym inverse;           // of the inertia
    uint32_t isFromShapes;    // mass, center and inertia
    double growth;
    uint32_t isHeld; // at the start
    rbVState start;
    rbVShape* shapes;
    uint32_t shapeCount;
    // What acts on it all the time.
    rbV3 acceleration; // gravity and constant forces
    rbV3 force;        // constant ones
    rbV3 torque;       // constant, world axes
    bool hasVarying;   // forces that the verifier does not integrate
    bool isLinked;     // by a joint or a spring
    bool isDriven;     // by a joint that is
    double reach;      // m, farthest point of its shapes from the center
    bool isBounded;
} rbVBody;

typedef struct rbVForce {
    uint32_t type; // 0 constant, 1 drag, 2 central, others: not known here
    uint32_t body;
    rbV3 force, torque;
    rbV3 center;
    double strength;
} rbVForce;

typedef struct rbVMaterialPair {
    uint32_t kindA, kindB;
    double restitution, friction;
    uint32_t law;
} rbVMaterialPair;

typedef struct rbVPart {
    uint32_t type;
    rbV3 anchorA, anchorB, axisA, axisB;
    rbV4 relative;
    double distance;
} rbVPart;

typedef struct rbVJoint {
    uint32_t a, b, partCount, isDriven; // springs, friction, motors or stops act along its freedoms
    rbVPart parts[RB_V_PARTS_MAX];
} rbVJoint;

typedef struct rbVSpring {
    uint32_t a, b;
    rbV3 anchorA, anchorB;
    double rest, stiffness;
} rbVSpring;

typedef struct rbVModel {
    uint32_t engine;
    double startTime;
    rbV3 gravity, periodic;
    uint32_t law, restitutionRule, frictionRule;
    uint32_t isExactDetector, accuracy, stepOrder;
    double tolerance, step;
    double jointTolerance;
    uint32_t isImpulses, hasContacts;
    double shell;
    rbVGeometry* geometries;
    rbVBody* bodies;
    rbVForce* forces;
    rbVMaterialPair* pairs;
    rbVJoint* joints;
    rbVSpring* springs;
    uint32_t geometryCount, bodyCount, forceCount, pairCount, jointCount, springCount;
    struct rbVMemory* memory; // all that was made for it
} rbVModel;

typedef struct rbVEvent {
    double time;
    uint32_t kind, law, a, b;
    double energyChange, energyBefore, frictionWork;
    rbV3 point, normal, impulse;
    double approach;
    uint64_t history;
} rbVEvent;

typedef struct rbVContact {
    uint32_t a, b;
    rbV3 point, normal, force;
    double gap;
} rbVContact;

typedef struct rbVJointForce {
    rbV3 force, torque, point;
    double positionError, angleError;
    bool isClosed; // it was, once
} rbVJointForce;

typedef struct rbVSpringForce {
    double force, length, energy;
} rbVSpringForce;

// The energies of a node, in the order of its record.
typedef enum rbVEnergy {
    RB_V_LINEAR,
    RB_V_ANGULAR,
    RB_V_POTENTIAL,
    RB_V_SPRINGS,
    RB_V_TOTAL,
    RB_V_WORK, // from here on by cause
    RB_V_IMPACTS,
    RB_V_FRICTION,
    RB_V_MICROS,
    RB_V_MOTORS,
    RB_V_DISSIPATION,
    RB_V_RESTS,
    RB_V_DRIFT, // what they leave
    RB_V_ENERGY_COUNT
} rbVEnergy;

typedef struct rbVLedger {
    double energies[RB_V_ENERGY_COUNT];
    rbV3 momentum, angularMomentum;
} rbVLedger;

// Words of a block, read one after the other. Beyond the end: zeros, and isBad.
typedef struct rbVWords {
    const uint64_t* words;
    size_t count, place;
    bool isBad;
} rbVWords;

typedef enum rbVBlock {
    RB_V_BLOCK_MODEL,
    RB_V_BLOCK_RECORDS,
    RB_V_BLOCK_DONE,
    RB_V_BLOCK_END, // the file ends after a whole block
    RB_V_BLOCK_CUT, // it ends within a block
    RB_V_BLOCK_BAD  // checksum, size or tag
} rbVBlock;

typedef struct rbVReader {
    FILE* file;
    uint64_t checksum;
    uint32_t sequence;
    unsigned char* stored;
    unsigned char* planes;
    uint64_t* words;
    struct rbVColumns* columns;
    rbVWords block;
    char* message; // of RB_V_VERIFY_MESSAGE
} rbVReader;

// Writes a message; false.
__attribute__((format(printf, 2, 3))) bool rbVFail(char* message, const char* format, ...);

// A word of count bytes, the lowest first, each stride after the one before.
uint64_t rbVWordOf(const unsigned char* bytes, unsigned count, size_t stride);

// Opens a certificate; false with a message.
bool rbVReader_Open(rbVReader* reader, const char* path);
void rbVReader_Close(rbVReader* reader);
rbVBlock rbVReader_Next(rbVReader* reader);

// Words that were regrouped in columns, in their order again; false: impossible. The first call
// makes the contexts, which the caller frees.
#define RB_V_COLUMNS_HEAD 114u // bytes before the planes
bool rbVColumns_Decode(struct rbVColumns** columns, const unsigned char* bytes, uint64_t* words,
                       size_t count);

// Takes what the letters of the format say into pointers; anything else sets isBad:
//   n  number, finite (double)     v  vector (rbV3)     q  quaternion of unit length (rbV4)
//   s  state (rbVState)            p  pose (rbVPose)    t  text (char[RB_V_NAME_SIZE])
//   i  integer, and its limit (uint32_t*, uint32_t)     w  word (uint64_t)
//   h  halves of a word (uint32_t, uint32_t)            .  a word that no check uses
//   g  exponent of a grid, and the number on it (int, double*)
void rbVWords_Take(rbVWords* words, const char* format, ...);

// Zeroed memory for count things, at least one, that is freed with the model; NULL: there is none.
void* rbVMake(rbVModel* model, size_t count, size_t size);
// Reads the model and checks that it is possible; false with a message.
bool rbVModel_Read(rbVModel* model, rbVWords* words, char* message);
void rbVModel_Free(rbVModel* model);
