/// @file
/// Modules: shared libraries that a program loads at its start and that add rows to its tables by
/// name: shapes, joints, forces, motors, contact laws, laws of restitution, probes, outputs and
/// verbs.
///
/// A module exports one function, rbModule_Register, and links nothing of Rattleback: it gets a
/// table of functions from the program that loads it, so there is no second copy of the library in
/// the process. The macro RB_MODULE writes that function:
///
///     static rbStatus registerRows(const rbModuleHost* host, rbError* error)
///     {
///         return host->registerForce(&windRow, error);
///     }
///     RB_MODULE(registerRows)
///
/// Compile it with the flags of the library, which keep bits the same everywhere:
///
///     cc -std=c17 -O2 $(pkg-config --variable=module_cflags rattleback) wind.c -o wind.so
///
/// Scenes, recordings and checkpoints know rows by their names. A module is never unloaded. A
/// module of another version is refused before any of its functions is called. See
/// docs/own-modules.md and examples/modules.
///
/// In the library rattleback_io.
#ifndef RATTLEBACK_MODULE_H
#define RATTLEBACK_MODULE_H

#include <rattleback/base.h>
#include <rattleback/output.h>
#include <rattleback/rattleback.h>
#include <rattleback/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------ rows
// Shapes: rbConvexShapeRow in shape.h. Forces: rbForceRow in body.h. Motors: rbMotorRow in joint.h.
// Contact laws: rbContactLawRow in contact.h. Laws of restitution: rbRestitutionRow in impact.h.
// Probes: rbProbeRow in scene.h.

/// A type of joint, stacked from basic types. All rows of this header and all that they point to
/// are borrowed for the rest of the process.
typedef struct rbJointRow {
    const char* name;     ///< in scenes and messages: "planar"
    const char* meaning;  ///< a sentence for users
    const char* parts[2]; ///< basic types by name, see rbJointType: "plane", "direction"; the
                          ///< second may be NULL
    const char* freedoms[RB_JOINT_FREEDOMS_MAX]; ///< freedoms with springs, motors and limits:
                                                 ///< "angle" or "travel" about the axis; NULL: none
} rbJointRow;

/// A run, as an output sees it. Valid during the call.
typedef struct rbOutputView {
    const rbScene* scene; ///< what runs
    const rbWorld* world; ///< now
    const rbFrame* frame; ///< poses and velocities of all bodies now; NULL when there is no frame
    const double* values; ///< time (s) and then the probes of the scene; NULL when there are none
    int valueCount;       ///< of values
    uint64_t hash;        ///< of the final state, at finish; else 0
} rbOutputView;

/// A file that 'rattleback run' can write.
typedef struct rbOutputRow {
    const char* name;     ///< its word in the summary: "height"
    const char* option;   ///< the option that asks for it: "--height"
    const char* argument; ///< what the help calls its value: "FILE"
    const char* help;     ///< a sentence for the help
    /// A writer of your own for a path, or NULL with an error.
    void* (*open)(const rbOutputView* view, const char* path, rbError* error);
    /// Writes the state at an output time. NULL: nothing is written then.
    rbStatus (*writeFrame)(void* writer, const rbOutputView* view, rbError* error);
    /// Completes the file and frees the writer, even on failure.
    rbStatus (*finish)(void* writer, const rbOutputView* view, rbError* error);
    /// Frees the writer and leaves no incomplete file.
    void (*abandon)(void* writer);
} rbOutputRow;

/// An option of a verb.
typedef struct rbVerbOption {
    const char* name;     ///< with its dashes: "--turns"
    const char* argument; ///< what the help calls its value; NULL: a flag
    const char* help;     ///< a clause for the help
} rbVerbOption;

/// The command line of a verb.
typedef struct rbVerbInput {
    const char* const* words;   ///< those that are not options
    int wordCount;              ///< of words
    const char* const* options; ///< values by the index of the option; NULL: not given; "": a flag
                                ///< that was given; the last one counts
} rbVerbInput;

/// Maximum number of options of a verb of a module.
#define RB_VERB_OPTIONS_MAX 16

/// A verb of the program: 'rattleback VERB'.
typedef struct rbVerbRow {
    const char* name;            ///< "period"
    const char* words;           ///< what the usage line calls its words: "SCENE"; "" for none
    const char* help;            ///< a clause for the list of verbs
    int wordMin;                 ///< smallest number of words
    int wordMax;                 ///< largest
    const rbVerbOption* options; ///< optionCount options; --help and --module exist anyway
    int optionCount;             ///< at most RB_VERB_OPTIONS_MAX
    const char* const* examples; ///< at least one, ends with NULL
    /// Prints its result to standard output. OK: exit code 0; NOT_FOUND: 1, the answer is no;
    /// NUMERICAL and LIMIT: 3; others: 2. A failure prints the message of the error.
    rbStatus (*run)(const rbVerbInput* input, rbError* error);
} rbVerbRow;

// ------------------------------------------------------------------------------------------- host

/// Functions of the library that modules call through the host, under their own names:
/// host->rbWorld_GetTime(world).
// clang-format off
#define RB_MODULE_FUNCTIONS(X) \
    X(rbGetVersion) X(rbStatus_Text) X(rbError_Set) X(rbError_Format) \
    X(rbReadScene) X(rbDestroyScene) X(rbScene_Override) X(rbScene_GetInfo) \
    X(rbScene_CreateWorld) X(rbScene_PrepareWorld) X(rbScene_GetProbeColumns) \
    X(rbScene_EvaluateProbes) X(rbDestroyWorld) \
    X(rbWorld_Advance) X(rbWorld_AdvanceTo) X(rbWorld_GetTime) X(rbWorld_GetGravity) \
    X(rbWorld_GetLedger) X(rbWorld_GetHash) X(rbWorld_GetError) \
    X(rbWorld_GetBodyCount) X(rbWorld_GetBodyIds) X(rbWorld_FindBody) X(rbWorld_FindJoint) \
    X(rbWorld_GetContacts) X(rbWorld_GetEvents) X(rbWorld_ClearEvents) X(rbWorld_CastRay) \
    X(rbBody_GetName) X(rbBody_GetType) X(rbBody_GetState) X(rbBody_SetState) X(rbBody_GetMass) \
    X(rbBody_ApplyImpulse) X(rbBody_GetContactForce) X(rbJoint_GetState) X(rbJoint_SetMotorTarget)
// clang-format on

/// Structs whose sizes a module and the program that loads it must share.
// clang-format off
#define RB_MODULE_STRUCTS(X) \
    X(rbModuleHost) X(rbError) X(rbParameter) X(rbConvexShapeRow) X(rbMassProperties) \
    X(rbJointRow) X(rbForceRow) X(rbForceDef) X(rbForceInput) \
    X(rbMotorRow) X(rbMotorDef) X(rbMotorInput) X(rbContactLawRow) X(rbContactLawInput) \
    X(rbRestitutionRow) X(rbRestitutionInput) X(rbProbeRow) X(rbProbeInput) X(rbOutputRow) X(rbOutputView) X(rbFrame) \
    X(rbVerbRow) X(rbVerbInput) X(rbBodyState) X(rbLedger) X(rbStepReport)
// clang-format on

/// Indices of these structs.
typedef enum rbModuleStruct {
/// @cond generated
#define RB_MODULE_STRUCT_INDEX(type) RB_MODULE_STRUCT_##type,
    RB_MODULE_STRUCTS(RB_MODULE_STRUCT_INDEX)
#undef RB_MODULE_STRUCT_INDEX
    /// @endcond
    RB_MODULE_STRUCT_COUNT ///< number of them
} rbModuleStruct;

/// What a module was compiled with.
typedef struct rbModuleBuild {
    uint32_t abi;                           ///< RB_ABI_VERSION of its headers
    uint32_t structCount;                   ///< RB_MODULE_STRUCT_COUNT of its headers
    uint32_t sizes[RB_MODULE_STRUCT_COUNT]; ///< bytes, of RB_MODULE_STRUCTS
} rbModuleBuild;

/// What a program hands to a module: all that it may call. Valid for the rest of the process. The
/// registration functions are those of the library: INVALID for an incomplete row or a name that is
/// taken, LIMIT if the table is full, always with a message.
typedef struct rbModuleHost {
    uint32_t abi; ///< RB_ABI_VERSION of the program

    rbStatus (*registerShape)(const rbConvexShapeRow* row, rbError* error); ///< a convex solid
    rbStatus (*registerJoint)(const rbJointRow* row, rbError* error);       ///< a type of joint
    rbStatus (*registerForce)(const rbForceRow* row, rbError* error);       ///< a kind of force
    rbStatus (*registerMotor)(const rbMotorRow* row, rbError* error);       ///< a kind of motor
    /// A contact method of the step engine; UNSUPPORTED in a program without the laboratory.
    rbStatus (*registerContactLaw)(const rbContactLawRow* row, rbError* error);
    /// How bodies rebound, in both engines.
    rbStatus (*registerRestitution)(const rbRestitutionRow* row, rbError* error);
    rbStatus (*registerProbe)(const rbProbeRow* row, rbError* error);   ///< a quantity of probes
    rbStatus (*registerOutput)(const rbOutputRow* row, rbError* error); ///< a file of 'run'
    rbStatus (*registerVerb)(const rbVerbRow* row, rbError* error);     ///< a verb of the program

    // Elementary functions with the same bits on every machine; those of the C library differ
    // between machines. sqrt and fabs of the C library are fine.
    double (*sin)(double x);             ///< of any finite angle, rad
    double (*cos)(double x);             ///< likewise
    double (*atan2)(double y, double x); ///< rad, in [-pi, pi]
    double (*acos)(double x);            ///< rad, in [0, pi]
    double (*exp)(double x);             ///< e^x
    double (*log)(double x);             ///< natural logarithm
    double (*pow)(double x, double y);   ///< exp(y log(x)) for x > 0; 0 for x = 0 and y > 0

    /// @cond generated
#if defined(__cplusplus)
#define RB_MODULE_MEMBER(name) decltype(::name)* name;
#else
#define RB_MODULE_MEMBER(name) __typeof__(name)* name;
#endif
    RB_MODULE_FUNCTIONS(RB_MODULE_MEMBER)
#undef RB_MODULE_MEMBER
    /// @endcond
} rbModuleHost;

/// Fills in what this module was compiled with; used by RB_MODULE.
static inline void rbModuleBuild_Fill(rbModuleBuild* build)
{
/// @cond generated
#define RB_MODULE_SIZE(type) build->sizes[RB_MODULE_STRUCT_##type] = (uint32_t)sizeof(type);
    build->abi = (uint32_t)RB_ABI_VERSION;
    build->structCount = (uint32_t)RB_MODULE_STRUCT_COUNT;
    RB_MODULE_STRUCTS(RB_MODULE_SIZE)
#undef RB_MODULE_SIZE
    /// @endcond
}

/// Adds the rows of a module. A failure ends the loading, with its message.
typedef rbStatus rbModuleFn(const rbModuleHost* host, rbError* error);

#if defined(_WIN32)
/// Exports the function of a module.
#define RB_MODULE_EXPORT
#else
/// Exports the function of a module.
#define RB_MODULE_EXPORT __attribute__((visibility("default")))
#endif

/// The one function that a module exports; RB_MODULE writes it. First called with host NULL: then
/// it only fills in the build, which the program compares with its own. Then called with a host, to
/// add the rows of the module.
RB_MODULE_EXPORT rbStatus rbModule_Register(const rbModuleHost* host, rbModuleBuild* build,
                                            rbError* error);

/// Writes rbModule_Register of a module; registerRows is its rbModuleFn.
#define RB_MODULE(registerRows)                                                                \
    rbStatus rbModule_Register(const rbModuleHost* host, rbModuleBuild* build, rbError* error) \
    {                                                                                          \
        if (host == NULL) {                                                                    \
            rbModuleBuild_Fill(build);                                                         \
            return RB_STATUS_OK;                                                               \
        }                                                                                      \
        return registerRows(host, error);                                                      \
    }

// ---------------------------------------------------------------------------------------- loading

/// Maximum number of modules of a process.
#define RB_MODULES_MAX 64

/// Loads a module and lets it add its rows. A path without a folder means the current folder. Call
/// it from one thread before the first world is created. A module that is loaded already is not
/// loaded again. NOT_FOUND if there is no such file; UNSUPPORTED if it is not a shared library, not
/// a module, of another version, or compiled with fast-math; else what its registration returns.
/// The message names the module and the remedy. After a failure, rows it added before stay.
RB_API rbStatus rbLoadModule(const char* path, rbError* error);

/// Adds a contact law: rbRegisterContactLaw of lab_contact.h.
typedef rbStatus rbContactLawFn(const rbContactLawRow* row, rbError* error);
/// Lets modules add contact laws. They need the library rattleback_lab: a program that links it
/// calls rbRegisterLaboratory and then rbSetModuleContactLaws(rbRegisterContactLaw).
RB_API void rbSetModuleContactLaws(rbContactLawFn* registerFn);

/// Number of loaded modules.
RB_API int rbGetModuleCount(void);
/// The path of the index-th module as it was given; NULL if there are not so many.
RB_API const char* rbGetModulePath(int index);
/// Writes the rows that modules added, such as: force "wind", shape "bicone". Returns the length of
/// the complete text; what does not fit is left out.
RB_API size_t rbDescribeModules(char* text, size_t capacity);

/// The index-th output that modules added, for programs with outputs; NULL if there are not so
/// many.
RB_API const rbOutputRow* rbGetModuleOutput(int index);
/// The index-th verb that modules added, for programs with verbs; NULL if there are not so many.
RB_API const rbVerbRow* rbGetModuleVerb(int index);

#ifdef __cplusplus
}
#endif

#endif
