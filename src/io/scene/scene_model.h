// A scene in memory: what the files of this folder share. The JSON tree lives as long as the scene;
// most strings point into it.
//
// Bodies with "repeat" or "scatter" stay one template; rbScene_CreateWorld makes the copies.
#pragma once

#include "base/core/memory.h"
#include "io/scene/arena.h"
#include "io/scene/reader.h"
#include "io/scene/scene_look.h"

// A file that the scene refers to, with its bytes.
typedef struct rbSceneAttachment {
    char* name; // as spelled in the scene
    size_t nameSize;
    void* bytes;
    size_t size;
} rbSceneAttachment;

typedef struct rbSceneMaterial {
    const char* name;
    rbMaterial material;
} rbSceneMaterial;

// A named geometry; index -1 until it is built, so that a compound may refer to one that comes
// later in the file.
typedef struct rbNamedGeometry {
    const char* name;
    const json_t* json;
    int index;       // in geometries
    bool isBuilding; // being built: a reference to it now is a cycle
} rbNamedGeometry;

typedef struct rbSceneGeometry {
    rbGeometry* geometry;
    double leafCount; // shapes in it, counted through all levels of compounds
} rbSceneGeometry;

typedef struct rbSceneShape {
    int geometry;
    rbTransform transform;
    rbMaterial material;
    const char* materialName; // NULL: none
    uint32_t groups, mask;
    rbVec3 surfaceVelocity;
    bool isSensor;
} rbSceneShape;

// A shape that is only drawn.
typedef struct rbSceneVisual {
    int geometry;
    rbTransform transform;
    rbLook look; // what it does not give is that of its body
} rbSceneVisual;

// The properties of a pair of materials, by their kinds.
typedef struct rbSceneMaterialPair {
    int kindA, kindB;
    rbMaterialPair pair;
} rbSceneMaterialPair;

typedef enum rbCopyKind {
    RB_COPY_NONE,
    RB_COPY_REPEAT,
    RB_COPY_SCATTER,
    RB_COPY_TREE, // a level of a tree
} rbCopyKind;

typedef struct rbSceneBody {
    char name[RB_SCENE_NAME_MAX + 1];
    rbBodyType type;
    rbVec3 position;
    rbQuat orientation;
    rbVec3 velocity;
    rbVec3 spin; // world axes, or the body's if isSpinLocal
    bool isSpinLocal;
    bool hasMass; // explicit, or scaled to a given mass
    rbMassProperties mass;
    bool hasMotion;
    rbMotionSettings motion;
    double growth;
    rbLook look;
    const char* viewGroup; // NULL: none
    int firstVisual;
    int visualCount;
    bool hasPath;
    rbPathDef path; // owns its path.pointCount points
    int firstShape;
    int shapeCount;
    rbCopyKind copyKind;
    int copyCount;  // 1: no copies
    int firstIndex; // of its first copy among the bodies of the world
    int repeatCount[3];
    rbVec3 repeatSpacing;
    rbVec3 scatterBox;
    double scatterSpeed;
    double scatterSpin;
    int tree; // RB_COPY_TREE
    int level;
} rbSceneBody;

// Copies of a joint or a spring on a grid.
typedef struct rbSceneGrid {
    bool isRepeated; // false: a single one, without an index in its name
    int count[3];
    int copyCount;
    rbVec3 spacing; // m
} rbSceneGrid;

// See scene_joints.h.
typedef struct rbSceneEnd rbSceneEnd;
typedef struct rbSceneJoint rbSceneJoint;
typedef struct rbSceneSpring rbSceneSpring;
typedef struct rbSceneTree rbSceneTree;

// A joint or a spring by its name.
typedef struct rbSceneLinkName {
    const char* name;
    int index; // in joints, or -1 - index in springs
} rbSceneLinkName;

typedef struct rbSceneForce {
    rbForceDef def; // without its body
    int body;       // template, -1: all bodies
    int copy;       // -1: all copies of the template
} rbSceneForce;

struct rbScene {
    json_t* root;
    char* text; // allocated by jansson
    size_t textSize;
    char* file;
    char* folder;
    char* stem; // of file; the name of a scene that gives none
    rbSceneFileFn* fileFn;
    void* fileContext;
    const rbScene* former; // while overriding: its attachments are used first

    rbSceneInfo info;
    RB_ARRAY(rbSceneMaterial) materials; // sorted by name
    RB_ARRAY(rbSceneMaterialPair) materialPairs;
    RB_ARRAY(rbSceneGeometry) geometries;
    RB_ARRAY(rbNamedGeometry) namedGeometries; // sorted by name
    RB_ARRAY(rbSceneShape) shapes;
    RB_ARRAY(rbSceneVisual) visuals;
    RB_ARRAY(rbSceneBody) bodies;
    RB_ARRAY(int) bodiesByName; // indices of bodies, sorted by name
    RB_ARRAY(rbSceneForce) forces;
    RB_ARRAY(rbSceneTree) trees;
    RB_ARRAY(rbSceneJoint) joints;
    RB_ARRAY(rbSceneSpring) springs;
    RB_ARRAY(rbSceneLinkName) linksByName; // joints and springs, sorted by name
    RB_ARRAY(rbProbe) probes;
    RB_ARRAY(rbProbeColumn) columns;
    RB_ARRAY(rbSceneAttachment) attachments;
    rbArena strings;         // generated names and lists of numbers
    json_t* generated;       // bodies of trees: an array, NULL if there are none
    double tessellatedFaces; // of all tessellations
};

// A copy of text that lives as long as the scene.
const char* rbScene_CopyString(rbScene* scene, const char* text);

// scene_geometry.c: all named geometries; then the index of a name or inline object.
rbStatus rbReadNamedGeometries(rbScene* scene, rbReader* reader, const json_t* object);
rbStatus rbReadGeometry(rbScene* scene, rbReader* reader, const json_t* json, int* index);

// scene_material_pairs.c: assigns the kinds of materials.
rbStatus rbReadMaterialPairs(rbScene* scene, rbReader* reader, const json_t* array);

// scene_settings.c: objects that are settings; NULL leaves the defaults.
rbStatus rbReadWorld(rbScene* scene, rbReader* reader, const json_t* object);
rbStatus rbReadMotion(rbScene* scene, rbReader* reader, const json_t* object);
rbStatus rbReadEvent(rbScene* scene, rbReader* reader, const json_t* object);
rbStatus rbReadStep(rbScene* scene, rbReader* reader, const json_t* object);
rbStatus rbReadContact(rbScene* scene, rbReader* reader, const json_t* object);
// How contacts are detected.
rbStatus rbReadDetector(rbReader* reader, const char* word, rbDetector* detector);
// Update existing settings with the keys that the object has.
rbStatus rbReadStepSettings(rbReader* reader, const json_t* object, rbStepSettings* step,
                            rbContactSettings* contact);
rbStatus rbReadContactSettings(rbReader* reader, const json_t* object, rbContactSettings* settings);

// scene_trees.c, scene_joints.c, scene_springs.c. The springs come last and sort all names.
rbStatus rbReadTrees(rbScene* scene, rbReader* reader, const json_t* array);
rbStatus rbReadJoints(rbScene* scene, rbReader* reader, const json_t* array);
rbStatus rbReadSprings(rbScene* scene, rbReader* reader, const json_t* array);
// Finds "elbow" (copy -1 if it has several, else 0) or "ball[3]"; the index is of joints or
// springs.
bool rbScene_FindLink(const rbScene* scene, const char* name, bool* isSpring, int* index,
                      int* copy);
// "/joints/3", "/springs/0" or, for the joints of a tree, "/trees/1": of joint index >= 0 or spring
// -1 - index.
void rbScene_WriteLinkPlace(const rbScene* scene, int index, char* place, size_t capacity);
const char* rbScene_GetNearestLink(const rbScene* scene, const char* name);
// Fails if the list has elements and the engine supports no joints.
rbStatus rbNeedStepEngine(const rbScene* scene, rbReader* reader, const json_t* array,
                          const char* what);
// scene_joint_world.c: all joints and springs, with the ids of all bodies of the world.
rbStatus rbMakeLinks(const rbScene* scene, rbWorld* world, const rbBodyId* bodyIds, rbError* error);

// scene_world.c: creates the one body of a scene in a world of another scene. Null id and an error
// on failure.
rbBodyId rbMakeBody(const rbScene* scene, rbWorld* world, rbError* error);

// scene_tessellation.c: a closed mesh of at least faceCount triangles with its vertices on the
// surface of a solid; cut NULL: whole. NULL and an error on failure.
typedef struct rbSolidCut {
    rbVec3 normal; // the part with normal . x > offset is cut off
    double offset;
} rbSolidCut;
rbGeometry* rbTessellate(const rbGeometry* solid, int faceCount, const rbSolidCut* cut,
                         rbError* error);

// scene_bodies.c
const rbSceneMaterial* rbScene_FindMaterial(const rbScene* scene, const char* name);
rbStatus rbFailMaterial(const rbScene* scene, rbReader* reader, const char* name);
rbStatus rbReadMaterials(rbScene* scene, rbReader* reader, const json_t* object);
rbStatus rbReadMaterialFields(rbReader* reader, const json_t* json, rbMaterial* material);
rbStatus rbReadMaterial(rbScene* scene, rbReader* reader, const json_t* json, rbMaterial* material);
rbStatus rbReadBodies(rbScene* scene, rbReader* reader, const json_t* array);
// Reads a body, named "body<index>" if it has no name; rbIndexBodies sorts all names.
rbStatus rbReadBody(rbScene* scene, rbReader* reader, const json_t* json, size_t index);
rbStatus rbIndexBodies(rbScene* scene, rbReader* reader);
// Splits "box[12]" into the length of "box" and 12; false if the name has no such suffix.
bool rbSplitCopyName(const char* name, size_t* length, int* copy);
// Finds "box" (copy -1 if it has several, else 0) or "box[3]"; then the known name nearest to an
// unknown one, NULL if none is near.
bool rbScene_FindBody(const rbScene* scene, const char* name, int* body, int* copy);
const char* rbScene_GetNearestBody(const rbScene* scene, const char* name);
// Writes the name of a copy, at most RB_SCENE_NAME_MAX bytes and the terminator.
void rbSceneBody_WriteName(const rbSceneBody* body, int copy, char* name);

// scene_path.c
rbStatus rbReadPath(rbReader* reader, const json_t* json, rbSceneBody* body);

// scene_mass.c: mass, center and inertia of a dynamic body, given or from its shapes.
typedef struct rbGivenMass {
    bool hasMass, hasCenter;
    double mass;
    rbVec3 center;
    const json_t* inertia; // NULL if not given
} rbGivenMass;
rbStatus rbReadMass(const rbScene* scene, rbReader* reader, const rbGivenMass* given,
                    rbSceneBody* body);

// scene_forces.c
rbStatus rbReadForces(rbScene* scene, rbReader* reader, const json_t* array);

// scene_probes.c; array NULL: the default probes
rbStatus rbReadProbes(rbScene* scene, rbReader* reader, const json_t* array);

// attachments.c: the bytes of a file that the scene refers to, read once.
rbStatus rbScene_Attach(rbScene* scene, const char* name, const void** bytes, size_t* size,
                        rbError* error);

// override.c: sets or removes one value of the tree.
rbStatus rbOverrideJson(json_t* root, const char* assignment, rbError* error);
