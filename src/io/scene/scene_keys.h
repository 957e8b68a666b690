// The keys of every object of a scene file, as tables, and the structs they are read into. This is
// the only list of the format's keys: the reader uses it, and a test compares it with
// docs/scene.schema.json.
#pragma once

#include "io/scene/reader.h"
#include "io/scene/scene_look.h"

// Largest values accepted; they keep every product of the dynamics far from overflow.
#define RB_SCENE_LENGTH_MAX RB_LENGTH_MAX // m
#define RB_SCENE_SPEED_MAX 1e12           // m/s and rad/s
#define RB_SCENE_TIME_MAX 1e12            // s
#define RB_SCENE_MASS_MAX 1e30            // kg, and kg/m^3
#define RB_SCENE_LOAD_MAX 1e30            // N, N m, m^3/s^2
#define RB_SCENE_TREE_DEPTH_MAX 20        // levels of a tree
#define RB_TESSELLATION_FACES_MAX 1000000 // of one tessellation

typedef struct rbSceneFields {
    const char* schema;
    int64_t version;
    const char* name;
    const char* title;
    const char* theme;
    const char* shows;
    const char* why;
    const char* engine;
    const char* detector;
    double duration;
    int64_t seed;
    const json_t* output;
    const json_t* world;
    const json_t* motion;
    const json_t* event;
    const json_t* step;
    const json_t* contact;
    const json_t* materials;
    const json_t* materialPairs;
    const json_t* geometries;
    const json_t* bodies;
    const json_t* forces;
    const json_t* trees;
    const json_t* joints;
    const json_t* springs;
} rbSceneFields;

typedef struct rbOutputFields {
    double step;
    const json_t* probes;
} rbOutputFields;

typedef struct rbProbeFields {
    const char* name;
    const char* body;
    const char* joint;
    const char* spring;
    const char* quantity;
    const char* with;
    const char* statistic;
    const json_t* within;
    rbVec3 point;
    int64_t freedom;
} rbProbeFields;

// The two bodies of a joint or a spring.
typedef struct rbEndsFields {
    const json_t* bodies;
    const char* bodyA;
    const char* bodyB;
} rbEndsFields;

// The place of a joint or of a part of one.
typedef struct rbPlaceFields {
    rbVec3 anchor, anchorA, anchorB;
    rbVec3 axis, axisA, axisB;
    const json_t* axes;
    double distance;
} rbPlaceFields;

typedef struct rbFreedomFields {
    double stiffness, rest, damping, friction;
    double lower, upper, restitution; // of the limits
    const json_t* motor;
} rbFreedomFields;

// Joints, and the joint of a tree.
typedef struct rbJointFields {
    const char* name;
    const char* type;
    rbEndsFields ends;
    rbPlaceFields place;
    rbQuat orientation;
    const json_t* velocityOnly;
    rbFreedomFields freedom;
    const json_t* freedoms;
    double cone;         // rad, of a ball joint
    const json_t* twist; // [lower, upper]
    const json_t* parts;
    const json_t* repeat;
    bool areNeighborsMeeting;
    const char* solver; // NULL: not given
} rbJointFields;

typedef struct rbJointPartFields {
    const char* type;
    rbPlaceFields place;
} rbJointPartFields;

typedef struct rbVelocityOnlyFields {
    rbVec3 linear, angular;
    double forceMax;
} rbVelocityOnlyFields;

typedef struct rbMotorFields {
    const char* type;
    double gain, integralTime, derivativeTime, window, forceMax, target;
    const json_t* schedule;
} rbMotorFields;

typedef struct rbSpringFields {
    const char* name;
    rbEndsFields ends;
    rbVec3 anchorA, anchorB;
    double restLength, stiffness, damping;
    const json_t* repeat;
} rbSpringFields;

typedef struct rbTreeFields {
    const char* name;
    const char* parent;
    int64_t depth;
    rbVec3 start, direction, side;
    double length, ratio, width, density, angle, turn;
    const json_t* joint;
} rbTreeFields;

typedef struct rbMaterialPairFields {
    const json_t* materials;
    double restitution;
    double friction;
    const char* law;
} rbMaterialPairFields;

typedef struct rbAxisAngleFields {
    rbVec3 axis;
    double angle;
} rbAxisAngleFields;

// For all geometry types not described by numbers alone; each type has its own table.
typedef struct rbGeometryFields {
    const char* type;
    double height, scale;
    int64_t segments;
    const char* file;
    const char* up;
    const json_t* points;
    const json_t* vertices;
    const json_t* faces;
    const json_t* profile;
    const json_t* parts;
    const json_t* of;
    const json_t* cut;
    int64_t faceCount;
} rbGeometryFields;

typedef struct rbCutFields {
    rbVec3 normal;
    double offset;
} rbCutFields;

typedef struct rbPartFields {
    const json_t* geometry;
    rbVec3 position;
    rbQuat orientation;
    double density;
} rbPartFields;

typedef struct rbShapeFields {
    const json_t* geometry;
    const json_t* material;
    rbVec3 position;
    rbQuat orientation;
    int64_t groups, mask;
    rbVec3 surfaceVelocity;
    bool isSensor;
} rbShapeFields;

// How a body or a visual looks.
typedef struct rbLookFields {
    const char* color;
    double opacity;
    double roughness;
    const json_t* texture;
} rbLookFields;

typedef struct rbTextureFields {
    const char* type;
    double size;
    const char* color;
} rbTextureFields;

// Drawn with a body, without mass and contacts.
typedef struct rbVisualFields {
    const json_t* geometry;
    rbVec3 position;
    rbQuat orientation;
    rbLookFields look;
} rbVisualFields;

typedef struct rbBodyFields {
    const char* name;
    const char* type;
    rbVec3 position;
    rbQuat orientation;
    rbVec3 velocity;
    rbVec3 spin;
    rbVec3 spinLocal;
    double mass;
    rbVec3 center;
    const json_t* inertia;
    const json_t* shapes;
    const json_t* motion;
    const json_t* path;
    double growth;
    rbLookFields look;
    const json_t* visuals;
    const char* viewGroup;
    const json_t* repeat;
    const json_t* scatter;
} rbBodyFields;

// scene_look.c: how a body looks, its visuals and its group.
typedef struct rbSceneBody rbSceneBody;
rbStatus rbReadLooks(rbScene* scene, rbReader* reader, const json_t* json,
                     const rbBodyFields* fields, rbSceneBody* body);

// For all path types; each type has its own table.
typedef struct rbPathFields {
    const char* type;
    double speed;
    rbVec3 end;
    rbVec3 direction;
    const json_t* points;
    rbVec3 startTangent;
    rbVec3 endTangent;
    double tangentFactor;
    bool isClosed;
    rbVec3 spin;
    double startTime;
} rbPathFields;

typedef struct rbRepeatFields {
    const json_t* count;
    rbVec3 spacing;
} rbRepeatFields;

typedef struct rbScatterFields {
    int64_t count;
    rbVec3 box;
    double speed;
    double spin;
} rbScatterFields;

// For all force types; the keys besides type and body come from the row.
typedef struct rbForceFields {
    const char* type;
    const char* body;
    rbForceDef def;
} rbForceFields;

extern const rbObjectKind rbSceneKeys;
extern const rbObjectKind rbOutputKeys;
extern const rbObjectKind rbProbeKeys;
extern const rbObjectKind rbWorldKeys;
extern const rbObjectKind rbMotionKeys;
extern const rbObjectKind rbEventKeys;
extern const rbObjectKind rbStepKeys, rbContactKeys;
extern const rbObjectKind rbJointKeys, rbJointPartKeys, rbVelocityOnlyKeys, rbFreedomKeys;
extern const rbObjectKind rbMotorKeys, rbSpringKeys, rbTreeKeys, rbTreeJointKeys;
extern const rbObjectKind rbMaterialKeys; // into rbMaterial
extern const rbObjectKind rbMaterialPairKeys;
extern const rbObjectKind rbAxisAngleKeys;
extern const rbObjectKind rbPartKeys;
extern const rbObjectKind rbShapeKeys;
extern const rbObjectKind rbVisualKeys;
extern const rbObjectKind rbTextureKeys;
extern const rbObjectKind rbBodyKeys;
extern const rbObjectKind rbRepeatKeys;
extern const rbObjectKind rbScatterKeys;
extern const rbObjectKind rbHullKeys, rbPolyhedronKeys, rbMeshKeys;
extern const rbObjectKind rbSoupKeys, rbExtrusionKeys, rbRevolutionKeys, rbCompoundKeys;
extern const rbObjectKind rbTessellationKeys, rbCutKeys;
extern const rbObjectKind rbPathLineKeys, rbPathCurveKeys, rbPathRotationKeys;

// The keys of an object that a row of another table describes.
#define RB_TABLE_KEYS_MAX (RB_PARAMETERS_MAX + 2)
typedef struct rbTableKind {
    rbObjectKind kind; // points to the members below
    rbKey keys[RB_TABLE_KEYS_MAX];
    char name[48];
    char what[48];
} rbTableKind;

// Starts without keys; messages list keys in the order they are added.
void rbTableKind_Start(rbTableKind* kind, const char* name, const char* what);
void rbTableKind_AddKey(rbTableKind* kind, rbKey key);
// offset: of the table's struct within the fields.
void rbTableKind_AddParameters(rbTableKind* kind, const rbParameter* parameters, int count,
                               size_t offset);

// For shapes described by numbers.
typedef struct rbShapeNumberFields {
    const char* type;
    double numbers[RB_PARAMETERS_MAX];
} rbShapeNumberFields;

// Into rbShapeNumberFields; false: this shape is not described by numbers.
bool rbMakeShapeKind(rbShapeType type, rbTableKind* kind);
// Into rbForceFields; false: scenes do not have this force.
bool rbMakeForceKind(rbForceType type, rbTableKind* kind);

// All of them; NULL past the end. Each call rebuilds those of tables: not thread-safe.
const rbObjectKind* rbGetObjectKind(int index);
