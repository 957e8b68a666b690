// Loads modules: finds their function, compares what they were compiled with, and hands them the
// registration functions of the tables.
//
// What a module adds is noted by kind and name, so that recordings can say what they need.
#include "base/core/float_mode.h"
#include "base/math/elementary.h"
#include "dynamics/joints/part_ops.h"

#include <rattleback/module.h>

#if !defined(__wasm__)
#include <dlfcn.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRY "rbModule_Register"
#define ROWS_MAX (8 * RB_REGISTERED_MAX)
#define PATH_SIZE 4096
#define BUILD_WORDS 256 // room for the build of a module of any version
#define ABI_OF(version) ((int)((version)&63u))
#define MAJOR_OF(version) ((int)((version) >> 12))
#define MINOR_OF(version) ((int)((version) >> 6 & 63u))

// The tables are of the whole process, as those of the library are.
typedef struct LoadedRow {
    const char* kind;
    const char* name;
} LoadedRow;

typedef struct Modules {
    int count;
    char paths[RB_MODULES_MAX][PATH_SIZE];
    void* handles[RB_MODULES_MAX];
    LoadedRow rows[ROWS_MAX];
    int rowCount;
    const rbOutputRow* outputs[RB_REGISTERED_MAX];
    int outputCount;
    const rbVerbRow* verbs[RB_REGISTERED_MAX];
    int verbCount;
    rbJointTypeRow joints[RB_REGISTERED_MAX];
    int jointCount;
    rbContactLawFn* contactLaws; // NULL: the program has no laboratory
} Modules;

static Modules loaded;

// ------------------------------------------------------------------------------------------ rows

static rbStatus note(rbStatus status, const char* kind, const char* name)
{
    if (status == RB_STATUS_OK && loaded.rowCount < ROWS_MAX) {
        loaded.rows[loaded.rowCount++] = (LoadedRow){kind, name};
    }
    return status;
}

static rbStatus registerShape(const rbConvexShapeRow* row, rbError* error)
{
    return note(rbRegisterConvexShape(row, error), "shape", row->name);
}

static rbStatus registerForce(const rbForceRow* row, rbError* error)
{
    return note(rbRegisterForce(row, error), "force", row->name);
}

static rbStatus registerMotor(const rbMotorRow* row, rbError* error)
{
    return note(rbRegisterMotor(row, error), "motor", row->name);
}

static rbStatus registerRestitution(const rbRestitutionRow* row, rbError* error)
{
    return note(rbRegisterRestitution(row, error), "law of restitution", row->name);
}

static rbStatus registerProbe(const rbProbeRow* row, rbError* error)
{
    return note(rbRegisterProbe(row, error), "probe", row->name);
}

static rbStatus registerContactLaw(const rbContactLawRow* row, rbError* error)
{
    if (loaded.contactLaws == NULL) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the contact law \"%s\" needs the laboratory; a program that links it "
                           "calls rbSetModuleContactLaws first",
                           row->name != NULL ? row->name : "");
    }
    return note(loaded.contactLaws(row, error), "contact law", row->name);
}

static rbStatus failJoint(const rbJointRow* row, const char* why, const char* word, rbError* error)
{
    return rbError_Set(error, RB_STATUS_INVALID, "the joint \"%s\" %s%s%s%s",
                       row->name != NULL ? row->name : "", why, word != NULL ? " \"" : "",
                       word != NULL ? word : "", word != NULL ? "\"" : "");
}

static rbStatus takeParts(const rbJointRow* row, rbJointTypeRow* type, rbError* error)
{
    for (int i = 0; i < 2 && row->parts[i] != NULL; ++i) {
        rbJointType part = rbJointType_Find(row->parts[i]);
        if ((int)part >= RB_BASIC_JOINT_COUNT) {
            return failJoint(row, "has a part that is no basic type:", row->parts[i], error);
        }
        rbAxisUse use = rbPartOps_Get(part)->axisUse;
        type->parts[type->partCount++] = part;
        type->axisUse = use > type->axisUse ? use : type->axisUse;
    }
    return RB_STATUS_OK;
}

static rbStatus takeFreedoms(const rbJointRow* row, rbJointTypeRow* type, rbError* error)
{
    for (int i = 0; i < RB_JOINT_FREEDOMS_MAX && row->freedoms[i] != NULL; ++i) {
        bool isAngle = strcmp(row->freedoms[i], "angle") == 0;
        if (!isAngle && strcmp(row->freedoms[i], "travel") != 0) {
            return failJoint(
                row, "has a freedom other than \"angle\" and \"travel\":", row->freedoms[i], error);
        }
        if (type->axisUse == RB_AXIS_NONE) {
            return failJoint(row, "has a freedom, but no part with an axis for it", NULL, error);
        }
        type->freedoms[type->freedomCount++] = isAngle ? RB_FREEDOM_ANGLE : RB_FREEDOM_TRAVEL;
    }
    return RB_STATUS_OK;
}

static rbStatus registerJoint(const rbJointRow* row, rbError* error)
{
    if (loaded.jointCount == RB_REGISTERED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "modules have already added %d joints, the limit", loaded.jointCount);
    }
    rbJointTypeRow* type = &loaded.joints[loaded.jointCount];
    *type = (rbJointTypeRow){.name = row->name};
    rbStatus status = takeParts(row, type, error);
    status = status == RB_STATUS_OK ? takeFreedoms(row, type, error) : status;
    status = status == RB_STATUS_OK ? rbRegisterJointType(type, error) : status;
    loaded.jointCount += status == RB_STATUS_OK ? 1 : 0;
    return note(status, "joint", row->name);
}

static rbStatus registerOutput(const rbOutputRow* row, rbError* error)
{
    bool isWhole = row->name != NULL && row->option != NULL && row->argument != NULL &&
                   row->help != NULL && row->open != NULL && row->finish != NULL &&
                   row->abandon != NULL && strncmp(row->option, "--", 2) == 0;
    if (!isWhole) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the output \"%s\" needs a name, an option with two dashes, an "
                           "argument, help, open, finish and abandon",
                           row->name != NULL ? row->name : "");
    }
    if (loaded.outputCount == RB_REGISTERED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "modules have already added %d outputs, the limit", loaded.outputCount);
    }
    loaded.outputs[loaded.outputCount++] = row;
    return note(RB_STATUS_OK, "output", row->name);
}

static rbStatus registerVerb(const rbVerbRow* row, rbError* error)
{
    bool isWhole = row->name != NULL && row->name[0] != '\0' && row->name[0] != '-' &&
                   row->words != NULL && row->help != NULL && row->run != NULL &&
                   row->examples != NULL && row->examples[0] != NULL && row->wordMin >= 0 &&
                   row->wordMax >= row->wordMin && row->optionCount >= 0 &&
                   row->optionCount <= RB_VERB_OPTIONS_MAX;
    if (!isWhole) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the verb \"%s\" needs a name, words, help, an example, run, and at "
                           "most %d options",
                           row->name != NULL ? row->name : "", RB_VERB_OPTIONS_MAX);
    }
    if (loaded.verbCount == RB_REGISTERED_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT, "modules have already added %d verbs, the limit",
                           loaded.verbCount);
    }
    loaded.verbs[loaded.verbCount++] = row;
    return note(RB_STATUS_OK, "verb", row->name);
}

// ------------------------------------------------------------------------------------------ host

static double power(double x, double y)
{
    return x == 0.0 && y > 0.0 ? 0.0 : rbExp(y * rbLog(x));
}

#define MEMBER(name) .name = (name),
static const rbModuleHost host = {.abi = (uint32_t)RB_ABI_VERSION,
                                  .registerShape = registerShape,
                                  .registerJoint = registerJoint,
                                  .registerForce = registerForce,
                                  .registerMotor = registerMotor,
                                  .registerContactLaw = registerContactLaw,
                                  .registerRestitution = registerRestitution,
                                  .registerProbe = registerProbe,
                                  .registerOutput = registerOutput,
                                  .registerVerb = registerVerb,
                                  .sin = rbSin,
                                  .cos = rbCos,
                                  .atan2 = rbAtan2,
                                  .acos = rbAcos,
                                  .exp = rbExp,
                                  .log = rbLog,
                                  .pow = power,
                                  RB_MODULE_FUNCTIONS(MEMBER)};

// --------------------------------------------------------------------------------------- loading

#define COMPILE_AGAIN \
    "compile it again with 'pkg-config --variable=module_cflags rattleback' of this installation"

// Whether a module and this program were compiled with the same headers.
static rbStatus compareBuilds(const uint32_t* words, rbError* error)
{
#define NAME_OF(type) #type,
    static const char* const names[] = {RB_MODULE_STRUCTS(NAME_OF)};
    rbModuleBuild ours;
    rbModuleBuild_Fill(&ours);
    uint32_t abi = words[0];
    if (abi != ours.abi) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "it was compiled with headers of Rattleback %d.%d (ABI %d), this is "
                           "Rattleback %d.%d (ABI %d); " COMPILE_AGAIN,
                           MAJOR_OF(abi), MINOR_OF(abi), ABI_OF(abi), RB_VERSION_MAJOR,
                           RB_VERSION_MINOR, RB_ABI_REVISION);
    }
    if (words[1] != ours.structCount) {
        return rbError_Set(
            error, RB_STATUS_UNSUPPORTED,
            "its headers have %u structs for modules, those of this program %u; " COMPILE_AGAIN,
            (unsigned)words[1], (unsigned)ours.structCount);
    }
    for (int i = 0; i < RB_MODULE_STRUCT_COUNT; ++i) {
        if (words[2 + i] != ours.sizes[i]) {
            return rbError_Set(
                error, RB_STATUS_UNSUPPORTED,
                "its %s has another size (%u bytes) than here (%u bytes); " COMPILE_AGAIN, names[i],
                (unsigned)words[2 + i], (unsigned)ours.sizes[i]);
        }
    }
    return RB_STATUS_OK;
}

typedef rbStatus EntryFn(const rbModuleHost* host, rbModuleBuild* build, rbError* error);

#if defined(__wasm__)
static void* openObject(const char* path, const char** reason)
{
    (void)path;
    *reason = "a WebAssembly build has no shared libraries";
    return NULL;
}

static EntryFn* findEntry(void* handle)
{
    (void)handle;
    return NULL;
}
#else
static void* openObject(const char* path, const char** reason)
{
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *reason = handle == NULL ? dlerror() : NULL;
    return handle;
}

// POSIX makes dlsym return functions as data, which ISO C cannot convert.
static EntryFn* findEntry(void* handle)
{
    union {
        void* data;
        EntryFn* function;
    } entry = {.data = dlsym(handle, ENTRY)};
    return entry.function;
}
#endif

static rbStatus start(void* handle, rbError* error)
{
    EntryFn* entry = findEntry(handle);
    if (entry == NULL) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "it is a shared library, but not a module: it does not export " ENTRY
                           "; end its source with RB_MODULE(...) of rattleback/module.h");
    }
    union {
        uint32_t words[BUILD_WORDS];
        rbModuleBuild build;
    } build = {.words = {0}};
    (void)entry(NULL, &build.build, NULL);
    rbStatus status = compareBuilds(build.words, error);
    if (status == RB_STATUS_OK) {
        status = entry(&host, &build.build, error);
        if (status != RB_STATUS_OK && error->message[0] == '\0') {
            (void)rbError_Set(
                error, status, "its registration failed (%s) without a message; ask its author",
                (unsigned)status < RB_STATUS_COUNT ? rbStatus_Text(status) : "unknown status");
        }
    }
    return status;
}

// Opens it in the standard floating-point mode, which a library built with fast-math changes.
static void* openLibrary(const char* path, rbError* error)
{
    uint64_t mode = rbFloatMode_Set(0);
    const char* reason = NULL;
    void* handle = openObject(path, &reason);
    bool isFast = rbFloatMode_Set(mode) != 0;
    if (handle == NULL) {
        (void)rbError_Set(error, RB_STATUS_UNSUPPORTED,
                          "it cannot be loaded as a shared library: %.300s; link it with -shared, "
                          "and call the library through the host only",
                          reason != NULL ? reason : "unknown reason");
    } else if (isFast) {
        (void)rbError_Set(error, RB_STATUS_UNSUPPORTED,
                          "it changes the floating-point mode of the process, as libraries built "
                          "with fast-math do; " COMPILE_AGAIN);
        handle = NULL;
    }
    return handle;
}

// Puts the name of the module before a message.
static rbStatus blame(const char* path, rbError* error, rbError* inner)
{
    return rbError_Set(error, inner->status, "module %.150s: %s", path, inner->message);
}

static bool isLoaded(const void* handle)
{
    bool isFound = false;
    for (int i = 0; i < loaded.count; ++i) {
        isFound = isFound || loaded.handles[i] == handle;
    }
    return isFound;
}

rbStatus rbLoadModule(const char* path, rbError* error)
{
    RB_ASSERT(path != NULL);
    rbError inner = {0};
    struct stat status;
    char place[PATH_SIZE];
    int length = snprintf(place, sizeof place, "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
    if (length >= PATH_SIZE || stat(place, &status) != 0) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND,
                           "there is no module %.150s; give the path of a shared library (.so)",
                           path);
    }
    void* handle = openLibrary(place, &inner);
    if (handle == NULL) {
        return blame(path, error, &inner);
    }
    if (isLoaded(handle)) {
        return RB_STATUS_OK;
    }
    if (loaded.count == RB_MODULES_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "module %.150s: there are already %d modules, the limit", path,
                           loaded.count);
    }
    rbStatus done = start(handle, &inner);
    if (done != RB_STATUS_OK) {
        inner.status = done;
        return blame(path, error, &inner);
    }
    loaded.handles[loaded.count] = handle;
    (void)snprintf(loaded.paths[loaded.count++], PATH_SIZE, "%s", path);
    return RB_STATUS_OK;
}

void rbSetModuleContactLaws(rbContactLawFn* registerFn)
{
    loaded.contactLaws = registerFn;
}

int rbGetModuleCount(void)
{
    return loaded.count;
}

const char* rbGetModulePath(int index)
{
    RB_ASSERT(index >= 0);
    return index < loaded.count ? loaded.paths[index] : NULL;
}

size_t rbDescribeModules(char* text, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; i < loaded.rowCount; ++i) {
        size_t place = used < capacity ? used : capacity;
        used +=
            (size_t)snprintf(capacity > 0 ? text + (place < capacity ? place : capacity - 1) : NULL,
                             place < capacity ? capacity - place : 0, "%s%s \"%s\"",
                             i > 0 ? ", " : "", loaded.rows[i].kind, loaded.rows[i].name);
    }
    if (loaded.rowCount == 0 && capacity > 0) {
        text[0] = '\0';
    }
    return used;
}

const rbOutputRow* rbGetModuleOutput(int index)
{
    RB_ASSERT(index >= 0);
    return index < loaded.outputCount ? loaded.outputs[index] : NULL;
}

const rbVerbRow* rbGetModuleVerb(int index)
{
    RB_ASSERT(index >= 0);
    return index < loaded.verbCount ? loaded.verbs[index] : NULL;
}
