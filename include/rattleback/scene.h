/// @file
/// Reading of scenes and meshes: JSON scene files become worlds, mesh files become geometry. The
/// scene format is described in docs/scene-format.md and docs/scene.schema.json.
///
/// A scene is read and validated as a whole: rbReadScene returns either a scene from which a world
/// can be created, or NULL and an error that names the file, the place in it, the object, the value
/// and the remedy. An error text of rbError_Format looks like
///     scenes/box.json:12:7: '}' expected near 'mass'
///     scenes/box.json: /bodies/3/mass: body "box": mass is -1 kg; a dynamic body needs ...
#ifndef RATTLEBACK_SCENE_H
#define RATTLEBACK_SCENE_H

#include <rattleback/base.h>
#include <rattleback/body.h>
#include <rattleback/shape.h>
#include <rattleback/world.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Limits, checked before memory is allocated.
#define RB_SCENE_VERSION 1                         ///< the value of the key "rattleback"
#define RB_SCENE_FILE_SIZE_MAX ((size_t)256 << 20) ///< bytes of a scene or a mesh file
#define RB_SCENE_BODIES_MAX 10000000               ///< maximum, after repeat and scatter
#define RB_SCENE_NAME_MAX 63                       ///< maximum bytes of a name
#define RB_SCENE_DEPTH_MAX 64                      ///< maximum nesting of JSON values
/// Maximum number of probes of a scene.
#define RB_SCENE_PROBES_MAX 1024
#define RB_SCENE_JOINTS_MAX 1000000 ///< maximum, after repeat; also for springs
/// Maximum number of vertices of a mesh file.
#define RB_MESH_VERTICES_MAX 50000000
#define RB_SCENE_FORCE_ENTRIES_MAX 10000 ///< maximum of the list "forces"
#define RB_SCENE_FORCES_MAX 100000       ///< maximum, after expanding groups of bodies

typedef struct rbScene rbScene; ///< opaque, immutable except by rbScene_Override

/// Supplies a file that a scene names (a mesh, a buffer of a mesh) instead of the disk. Returns its
/// bytes, borrowed until the reader returns, or NULL if there is no such file. The name is spelled
/// as in the scene.
typedef const void* rbSceneFileFn(const char* name, size_t* size, void* context);

/// Where the text of a scene comes from.
typedef struct rbSceneSource {
    const char* name;   ///< for errors and, without folder and extension, as the name of an unnamed
                        ///< scene; NULL: "scene"
    const char* folder; ///< files named by the scene are relative to it; NULL or "": current folder
    rbSceneFileFn* fileFn; ///< NULL: files are read from the disk
    void* context;         ///< passed to fileFn
} rbSceneSource;

/// Reads a scene file and the mesh files it names. NULL and an error if anything is wrong.
/// error->status: SYNTAX (not JSON), INVALID (a value), NOT_FOUND (a file or a name), IO, LIMIT,
/// UNSUPPORTED (version, engine, mesh format). The error may be NULL.
RB_API rbScene* rbReadScene(const char* path, rbError* error);

/// The same from text of size bytes, which need not be terminated. source may be NULL.
RB_API rbScene* rbReadSceneText(const char* text, size_t size, const rbSceneSource* source,
                                rbError* error);

RB_API void rbDestroyScene(rbScene* scene); ///< NULL is fine

/// Changes one value of the scene and validates everything again; on failure the scene is
/// unchanged. The assignment is PLACE=VALUE. PLACE is a JSON pointer ("/world/gravity/2") or a
/// dotted path ("world.gravity.2"); an array element is given by its index or by its "name"
/// ("bodies.box.spin"). Missing objects in between are created if the format allows them. VALUE is
/// JSON, or a bare string ("motion.type=rk4"); null removes the key. Files named by the changed
/// scene are those read before or, for scenes read from disk, new ones from disk; a scene read with
/// fileFn calls it again, so its context must still exist.
RB_API rbStatus rbScene_Override(rbScene* scene, const char* assignment, rbError* error);

/// Description of a scene. Strings are never NULL and live as long as the scene is neither changed
/// nor destroyed.
typedef struct rbSceneInfo {
    const char* name;   ///< "name", or the stem of the file
    const char* title;  ///< one line; "" if absent, like all that follow
    const char* theme;  ///< "free flight", "forces", "paths", "shapes", "impacts", "rays", "toys",
                        ///< "mechanisms", "rays"
    const char* shows;  ///< what can be seen
    const char* why;    ///< why that is interesting
    const char* engine; ///< "flight", "event", "step"
    const char* file;   ///< where it was read from, as given
    double duration;    ///< s, of the run; > 0, default 10
    double outputStep;  ///< s, between outputs; > 0, default duration / 1000
    uint64_t seed;      ///< of scattered bodies, default 1
    rbVec3 gravity;     ///< m/s^2
    rbVec3 periodicBox; ///< m, 0 = no period
    rbMotionSettings motion;   ///< of bodies without their own
    rbEngineType engineType;   ///< the same as engine
    rbEventSettings event;     ///< of the event engine; read whatever the engine is
    rbStepSettings step;       ///< the same for the step engine
    rbExtraSettings extra;     ///< of keys registered by the program; zero: their defaults
    rbContactSettings contact; ///< of contacts in it
    bool hasContactObject;     ///< the scene has "contact"
    int bodyCount;             ///< after repeat and scatter
    int dynamicCount;          ///< of bodyCount
    int staticCount;           ///< of bodyCount
    int kinematicCount;        ///< of bodyCount
    int shapeCount;            ///< of all bodies
    int geometryCount;         ///< distinct geometries the world will hold
    int materialCount;         ///< named materials
    int materialPairCount;     ///< pairs with coefficients of their own
    int forceCount;            ///< besides gravity
    int jointCount;            ///< after repeat, including those of trees
    int conditionCount;        ///< scalar conditions of these, including redundant ones, without
                               ///< those of velocity-only joints
    int springCount;           ///< after repeat
    int anchorCount;           ///< of these, tied to the world or to a body that is not dynamic
    const char* freeMotor;     ///< first joint with a velocity motor without forceMax; NULL: none
    int probeCount;            ///< given, or the default ones
    int columnCount;           ///< doubles that rbScene_EvaluateProbes writes
    int attachmentCount;       ///< files other than the scene
    bool hasDefaultProbes;     ///< true: the scene defines none

    rbEngineTraits engineTraits; ///< properties of the engine
} rbSceneInfo;

/// The description of the scene; see rbSceneInfo.
RB_API const rbSceneInfo* rbScene_GetInfo(const rbScene* scene);

/// The scene as JSON text after all overrides: 17 digits per number, so reading it again gives the
/// same bits. Null-terminated; size (may be NULL) excludes the terminator. Lives as long as the
/// strings above.
RB_API const char* rbScene_GetText(const rbScene* scene, size_t* size);

/// The index-th file of the scene, 0 <= index < attachmentCount: its name as spelled in the scene
/// and its bytes. With a fileFn that supplies these, reading rbScene_GetText needs no disk.
RB_API void rbScene_GetAttachment(const rbScene* scene, int index, const char** name,
                                  const void** bytes, size_t* size);

/// The index-th named material, 0 <= index < materialCount, in the order of names.
RB_API const rbMaterial* rbScene_GetMaterial(const rbScene* scene, int index, const char** name);
/// The first named material with the same values; -1: none.
RB_API int rbScene_MatchMaterial(const rbScene* scene, const rbMaterial* material);

/// Creates the world of the scene, bodies in file order. May be called any number of times. NULL
/// and an error if memory limits are exceeded or the world rejects a value.
RB_API rbWorld* rbScene_CreateWorld(const rbScene* scene, rbError* error);

/// Prepares a world of the scene for its engine: rbWorld_Prepare, with an error that names the file
/// and, if joints are the cause, their places in it.
RB_API rbStatus rbScene_PrepareWorld(const rbScene* scene, rbWorld* world, rbError* error);

/// Index of the named material of a shape, by the index of its body in the worlds of the scene; -1:
/// the material has no name.
RB_API int rbScene_GetShapeMaterial(const rbScene* scene, int body, int shape);

/// Adds a body to a world of the scene from the JSON text of a body as in the list "bodies",
/// without "repeat" and "scatter". It may use materials, geometries and files of the scene; no
/// other files are read. A body without a name gets the given one. Null id and an error if anything
/// is wrong; then no body is created. rbWorld_Prepare tells whether the engine accepts its place.
RB_API rbBodyId rbScene_AddBody(const rbScene* scene, rbWorld* world, const char* text, size_t size,
                                const char* name, rbError* error);

/// What a probe measures.
typedef enum rbProbeQuantity {
    RB_PROBE_POSITION,               ///< body: origin, m
    RB_PROBE_CENTER,                 ///< body: center of mass, m
    RB_PROBE_ORIENTATION,            ///< body: w x y z
    RB_PROBE_VELOCITY,               ///< body: of the center of mass, m/s
    RB_PROBE_ANGULAR_VELOCITY,       ///< body: world axes, rad/s
    RB_PROBE_ANGULAR_VELOCITY_LOCAL, ///< body: axes of the body's frame, rad/s
    RB_PROBE_POINT,                  ///< body: world position of a point of its frame, m
    RB_PROBE_ENERGY,                 ///< body: kinetic + potential in gravity; world: all; J
    RB_PROBE_KINETIC,                ///< body or world, J
    RB_PROBE_POTENTIAL,              ///< world, J
    RB_PROBE_MOMENTUM,               ///< body or world, kg m/s
    RB_PROBE_ANGULAR_MOMENTUM,       ///< body: about its center of mass; world: about the origin
    RB_PROBE_ENERGY_DRIFT,           ///< world: numerical error, J
    RB_PROBE_IMPACT_WORK,            ///< world: see rbLedger, J
    RB_PROBE_FRICTION_WORK,          ///< world, J
    RB_PROBE_MICRO_WORK,             ///< world, J
    RB_PROBE_REST_WORK,              ///< world, J
    RB_PROBE_IMPACTS,                ///< world: see rbEventStatistics, since the start
    RB_PROBE_MICROCOLLISIONS,        ///< world
    RB_PROBE_MEASUREMENTS,           ///< world
    RB_PROBE_PAIRS,                  ///< world: current nearby pairs
    RB_PROBE_RESTING,                ///< body: 1 while it is held at rest; world: how many are
    RB_PROBE_VIRIAL,                 ///< world, J
    RB_PROBE_ANGLE,                  ///< joint: of a freedom, full turns counted, rad
    RB_PROBE_TRAVEL,                 ///< joint: of a freedom, m
    RB_PROBE_SPEED,               ///< body: of the center of mass, m/s; joint: of a freedom, rad/s
                                  ///< or m/s; spring: rate, m/s
    RB_PROBE_DRIVE,               ///< joint: along a freedom, of spring, damping, friction and
                                  ///< motor, mean over the last step, N m or N
    RB_PROBE_STOP,                ///< joint: along a freedom, of the stops at its limits, mean over
                                  ///< the last step, N m or N
    RB_PROBE_MOTOR_TARGET,        ///< joint: set point of the motor now
    RB_PROBE_FORCE,               ///< joint: on A, mean over the last step, N
    RB_PROBE_TORQUE,              ///< joint: on A in addition to the force, N m
    RB_PROBE_POSITION_ERROR,      ///< joint: how far it is open now, m
    RB_PROBE_ANGLE_ERROR,         ///< joint, rad
    RB_PROBE_POINT_A,             ///< joint or spring: A's anchor in the world, m
    RB_PROBE_POINT_B,             ///< joint or spring: B's anchor
    RB_PROBE_LENGTH,              ///< spring, m
    RB_PROBE_TENSION,             ///< spring: positive pulls, mean over the last step, N
    RB_PROBE_SPRING_ENERGY,       ///< spring or world, J
    RB_PROBE_MOTOR_WORK,          ///< world: see rbLedger, J
    RB_PROBE_DISSIPATION,         ///< world, J
    RB_PROBE_JOINT_ERROR,         ///< world: largest of any joint at the end of a step so far, m
    RB_PROBE_JOINT_ANGLE_ERROR,   ///< world: likewise, rad
    RB_PROBE_SUBSTEPS,            ///< world: see rbStepStatistics, since the start
    RB_PROBE_HALVINGS,            ///< world
    RB_PROBE_POSITION_ITERATIONS, ///< world
    RB_PROBE_ACCURACY_ESTIMATE,   ///< world, m
    RB_PROBE_CONTACTS,            ///< world: points of the last step; body: its own
    RB_PROBE_CONTACT_FORCE,       ///< body: of all its contacts, mean over the last step, N
    RB_PROBE_CONTACT_COLLISIONS,  ///< world: see rbContactStatistics, since the start
    RB_PROBE_CONTACT_SWEEPS,      ///< world: of all stages
    RB_PROBE_DEEPEST,             ///< world: deepest overlap so far, m
    RB_PROBE_FROZEN,              ///< world: bodies currently frozen
    RB_PROBE_MASS,                ///< body, kg
    RB_PROBE_COUNT                ///< number of built-in quantities; registered ones come after
} rbProbeQuantity;

RB_API const char* rbProbeQuantity_Name(rbProbeQuantity quantity); ///< as in scene files

/// What a registered quantity is measured on.
typedef enum rbProbeSubject {
    RB_PROBE_OF_WORLD,  ///< the whole world
    RB_PROBE_OF_BODY,   ///< the body that the probe names
    RB_PROBE_OF_JOINT,  ///< the joint that the probe names
    RB_PROBE_OF_SPRING, ///< the spring that the probe names
    RB_PROBE_SUBJECT_COUNT
} rbProbeSubject;

/// The subject of a registered quantity, at an output time.
typedef struct rbProbeInput {
    const rbWorld* world; ///< now
    rbBodyId body;        ///< null unless the quantity is of a body
    rbJointId joint;      ///< null unless it is of a joint
    rbSpringId spring;    ///< null unless it is of a spring
} rbProbeInput;

/// A quantity that probes measure: a row of the table of quantities.
typedef struct rbProbeRow {
    const char* name;       ///< in scenes and messages: "height"
    const char* meaning;    ///< a sentence for users
    const char* unit;       ///< "m"; "1" for none
    rbProbeSubject subject; ///< what it is measured on
    int columnCount;        ///< 1: a number; 3: a vector; 4: a quaternion w x y z
    /// Writes columnCount values. Must be pure and change nothing.
    void (*measure)(const rbProbeInput* input, double values[4]);
} rbProbeRow;

/// Adds a quantity to the table; probes of scenes then know it by its name. The row is borrowed for
/// the rest of the process. Call it from one thread before the first scene is read. INVALID for an
/// incomplete row or a name that is empty or taken, LIMIT if the table is full. error may be NULL.
RB_API rbStatus rbRegisterProbe(const rbProbeRow* row, rbError* error);

/// What a probe of several bodies says about their values, column by column.
typedef enum rbProbeStatistic {
    RB_STATISTIC_NONE,      ///< a probe of one body, or of none
    RB_STATISTIC_MEAN,      ///< sum over number
    RB_STATISTIC_MIN,       ///< the smallest
    RB_STATISTIC_MAX,       ///< the largest
    RB_STATISTIC_SUM,       ///< of all
    RB_STATISTIC_NUMBER,    ///< how many there are
    RB_STATISTIC_DEVIATION, ///< the standard deviation: root of the mean square from the mean
    RB_STATISTIC_COUNT
} rbProbeStatistic;

RB_API const char* rbProbeStatistic_Name(rbProbeStatistic statistic); ///< "", "mean", ...

/// A probe. Strings live as long as those of rbSceneInfo.
typedef struct rbProbe {
    const char* name;         ///< given, or "box.position", "world.energy"
    rbProbeQuantity quantity; ///< what it measures
    const char* body; ///< name of the body, or of the bodies of a statistic; body, joint and
                      ///< spring NULL: the whole world
    rbProbeStatistic statistic; ///< of all copies of the body that exist
    bool isBounded;             ///< a statistic of the copies with their centers of mass in a box
    rbBounds within;            ///< m, that box
    const char* joint;          ///< name of the joint, else NULL
    const char* spring;         ///< name of the spring, else NULL
    const char* with;           ///< only contacts of the body with this one; NULL: with all
    int freedom;                ///< of the joint
    rbVec3 point;               ///< body frame, m, of RB_PROBE_POINT
    int firstColumn;            ///< its columns in the values of rbScene_EvaluateProbes
    int columnCount;            ///< 1, 3 or 4
} rbProbe;

/// One value of a probe.
typedef struct rbProbeColumn {
    const char* name;  ///< "box.position.x"
    const char* unit;  ///< "m"; "1" for numbers without one
    const char* label; ///< "box.position.x [m]"
    int probe;         ///< index of its probe
} rbProbeColumn;

/// The index-th probe, 0 <= index < probeCount.
RB_API const rbProbe* rbScene_GetProbe(const rbScene* scene, int index);
/// All columnCount columns, in the order of the values. Time is not among them.
RB_API const rbProbeColumn* rbScene_GetProbeColumns(const rbScene* scene, int* count);
/// Evaluates the probes in a world of this scene now. Writes min(columnCount, capacity) values and
/// returns columnCount. Values of a body that no longer exists are NaN, as are statistics of none
/// but sum and number. Does not allocate.
RB_API int rbScene_EvaluateProbes(const rbScene* scene, const rbWorld* world, double* values,
                                  int capacity);

/// How the faces of a mesh file are used.
typedef enum rbMeshUse {
    RB_MESH_USE_TRIANGLES,  ///< a triangle mesh; polygons are cut into triangles
    RB_MESH_USE_POLYHEDRON, ///< a closed solid with polygonal faces as they are in the file
    RB_MESH_USE_SOUP,       ///< polygons without connectivity: not a solid
    RB_MESH_USE_HULL,       ///< the convex hull of the vertices
    RB_MESH_USE_COUNT
} rbMeshUse;

/// How a mesh file is read; make it with rbDefaultMeshOptions.
typedef struct rbMeshOptions {
    rbMeshUse use; ///< default TRIANGLES
    double scale;  ///< m per unit of the file, > 0; 1e-3 for files in mm; default 1
    char up;       ///< 'z' (default): coordinates as in the file; 'y': (x, y, z) becomes (x, -z, y)
} rbMeshOptions;

/// Triangles, scale 1, z up.
RB_API rbMeshOptions rbDefaultMeshOptions(void);

/// Reads a mesh file: .obj, .stl, .ply, .gltf, .glb. Vertices with equal coordinates are merged.
/// NULL and an error that names the file and the defect. options may be NULL.
RB_API rbGeometry* rbReadMesh(const char* path, const rbMeshOptions* options, rbError* error);
/// The same from memory; the extension of the name determines the format.
RB_API rbGeometry* rbReadMeshMemory(const char* name, const void* bytes, size_t size,
                                    const rbMeshOptions* options, rbError* error);

/// The vertices and faces of a file, merged and scaled but not validated; opaque.
typedef struct rbMeshData rbMeshData;
/// Reads the vertices and faces of a file, merged and scaled but not validated: pass the def to
/// rbValidateMesh for a report. NULL and an error if the file cannot be read.
RB_API rbMeshData* rbReadMeshData(const char* path, const rbMeshOptions* options, rbError* error);
/// The same from memory; the extension of the name determines the format.
RB_API rbMeshData* rbReadMeshDataMemory(const char* name, const void* bytes, size_t size,
                                        const rbMeshOptions* options, rbError* error);
RB_API const rbMeshDef* rbMeshData_GetDef(const rbMeshData* data); ///< lives as long as data
RB_API int rbMeshData_GetFileVertexCount(const rbMeshData* data);  ///< before merging
RB_API const char* rbMeshData_GetFormat(const rbMeshData* data);   ///< "obj", "stl", ...
RB_API void rbDestroyMeshData(rbMeshData* data);                   ///< NULL is fine

/// The supported formats, by extension; NULL after the last.
RB_API const char* rbGetMeshExtension(int index);

#ifdef __cplusplus
}
#endif

#endif
