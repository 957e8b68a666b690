#define _GNU_SOURCE // dlmopen
#include "peers/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Single and double precision Bullet use the same names, some of which the loader would share, so
// one of them gets a name space of its own. The others do not: allocation is slower in there.
static const struct {
    const char* name;
    Lmid_t space;
} modules[] = {
    {"libccd", LM_ID_BASE},
    {"fcl", LM_ID_BASE},
    {"bullet", LM_ID_BASE},
    {"bullet64", LM_ID_NEWLM},
};
#define MODULE_COUNT (sizeof modules / sizeof modules[0])
_Static_assert(MODULE_COUNT <= RB_PEERS_MAX, "more modules than room for them");

// The folder of the running program with a slash at its end; empty if unknown.
static void findFolder(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(folder, '/');
    if (slash != NULL) {
        slash[1] = '\0';
    }
}

static const rbPeer* loadPeer(const char* path, Lmid_t space)
{
    void* module = dlmopen(space, path, RTLD_NOW | RTLD_LOCAL);
    void* symbol = module != NULL ? dlsym(module, RB_PEER_ENTRY) : NULL;
    if (symbol == NULL) {
        (void)fprintf(stderr, "rattleback: %s was built but cannot be loaded: %s\n", path,
                      dlerror());
        return NULL;
    }
    rbGetPeerFn* getPeer = NULL;
    memcpy(&getPeer, &symbol, sizeof getPeer); // what C has no cast for
    return getPeer();
}

int rbLoadPeers(const rbPeer* peers[RB_PEERS_MAX])
{
    char folder[PATH_MAX];
    findFolder(folder);
    int count = 0;
    for (size_t i = 0; i < MODULE_COUNT; ++i) {
        char path[PATH_MAX + 64];
        (void)snprintf(path, sizeof path, "%srattleback-peer-%s.so", folder, modules[i].name);
        const rbPeer* peer = access(path, R_OK) == 0 ? loadPeer(path, modules[i].space) : NULL;
        if (peer != NULL) {
            peers[count++] = peer;
        }
    }
    return count;
}
