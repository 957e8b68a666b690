#define _GNU_SOURCE // dlmopen
#include "peers/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Single and double precision Bullet use the same names, and the loader would share some of them,
// so one of the two gets its own namespace. The others do not: allocation is slower in there.
typedef struct rbPeerModule {
    const char* name;
    Lmid_t space;
    bool hasConvexes;
    bool hasMeshes;
    bool hasJoints;
    bool hasRays;
} rbPeerModule;

static const rbPeerModule modules[] = {
    {"libccd", LM_ID_BASE, true, false, false, false},
    {"fcl", LM_ID_BASE, true, true, false, false},
    {"bullet", LM_ID_BASE, true, false, true, false},
    {"bullet64", LM_ID_NEWLM, true, false, true, false},
    {"ode", LM_ID_BASE, false, false, true, false},
    {"mujoco", LM_ID_BASE, false, false, true, false},
    {"box3d", LM_ID_BASE, false, false, true, false},
    {"jolt", LM_ID_BASE, false, false, true, false},
    {"embree", LM_ID_BASE, false, false, false, true},
};
#define MODULE_COUNT (sizeof modules / sizeof modules[0])
_Static_assert(MODULE_COUNT <= RB_PEERS_MAX, "more modules than room for them");

// The folder of the running program with a trailing slash; empty if unknown.
static void findFolder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    }
}

// The entry point of a module; NULL if the module was not built.
static void* loadEntry(const rbPeerModule* from, const char* entry)
{
    char folder[PATH_MAX];
    char path[PATH_MAX + 64];
    findFolder(folder);
    (void)snprintf(path, sizeof path, "%srattleback-peer-%s.so", folder, from->name);
    if (access(path, R_OK) != 0) {
        return NULL;
    }
    void* module = dlmopen(from->space, path, RTLD_NOW | RTLD_LOCAL);
    void* symbol = module != NULL ? dlsym(module, entry) : NULL;
    if (symbol == NULL) {
        (void)fprintf(stderr, "rattleback: %s was built but cannot be loaded: %s\n", path,
                      dlerror());
    }
    return symbol;
}

int rbLoadPeers(const rbPeer* peers[RB_PEERS_MAX])
{
    int count = 0;
    for (size_t i = 0; i < MODULE_COUNT; ++i) {
        void* symbol = modules[i].hasConvexes ? loadEntry(&modules[i], RB_PEER_ENTRY) : NULL;
        if (symbol != NULL) {
            rbGetPeerFn* getPeer = NULL;
            memcpy(&getPeer, &symbol, sizeof getPeer); // C has no cast for this
            peers[count++] = getPeer();
        }
    }
    return count;
}

int rbLoadMeshPeers(const rbMeshPeer* peers[RB_PEERS_MAX])
{
    int count = 0;
    for (size_t i = 0; i < MODULE_COUNT; ++i) {
        void* symbol = modules[i].hasMeshes ? loadEntry(&modules[i], RB_MESH_PEER_ENTRY) : NULL;
        if (symbol != NULL) {
            rbGetMeshPeerFn* getPeer = NULL;
            memcpy(&getPeer, &symbol, sizeof getPeer); // as above
            peers[count++] = getPeer();
        }
    }
    return count;
}

int rbLoadRayPeers(const rbRayPeer* peers[RB_PEERS_MAX])
{
    int count = 0;
    for (size_t i = 0; i < MODULE_COUNT; ++i) {
        void* symbol = modules[i].hasRays ? loadEntry(&modules[i], RB_RAY_PEER_ENTRY) : NULL;
        if (symbol != NULL) {
            rbGetRayPeerFn* getPeer = NULL;
            memcpy(&getPeer, &symbol, sizeof getPeer); // as above
            peers[count++] = getPeer();
        }
    }
    return count;
}

int rbLoadJointPeers(const rbJointPeer* peers[RB_PEERS_MAX])
{
    int count = 0;
    for (size_t i = 0; i < MODULE_COUNT; ++i) {
        void* symbol = modules[i].hasJoints ? loadEntry(&modules[i], RB_JOINT_PEER_ENTRY) : NULL;
        if (symbol != NULL) {
            rbGetJointPeerFn* getPeer = NULL;
            memcpy(&getPeer, &symbol, sizeof getPeer); // as above
            peers[count++] = getPeer();
        }
    }
    return count;
}

int rbLoadContactPeers(const rbContactPeer* peers[RB_PEERS_MAX])
{
    int count = 0;
    for (size_t i = 0; i < MODULE_COUNT; ++i) {
        void* symbol = modules[i].hasJoints ? loadEntry(&modules[i], RB_CONTACT_PEER_ENTRY) : NULL;
        if (symbol != NULL) {
            rbGetContactPeerFn* getPeer = NULL;
            memcpy(&getPeer, &symbol, sizeof getPeer); // as above
            peers[count++] = getPeer();
        }
    }
    return count;
}
