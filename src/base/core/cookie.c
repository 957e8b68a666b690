// Cookies of definitions.
#include "base/core/cookie.h"

#include <stdio.h>
#include <string.h>

#define MAGIC 0x52000000u
#define REVISION_MASK 0x3fu

static const char* const defaultNames[RB_KIND_COUNT] = {
#define DEFAULT_NAME(name, text) [RB_KIND_##name] = (text),
    RB_DEF_KIND_MAP(DEFAULT_NAME)
#undef DEFAULT_NAME
};

bool rbStampDef(void* def, rbDefKind kind, size_t ownSize, uint32_t abi, size_t size)
{
    RB_ASSERT(size >= sizeof(uint32_t));
    bool isOurs = abi == RB_ABI_VERSION && size == ownSize;
    if (abi == RB_ABI_VERSION && !isOurs) {
        abi &= ~REVISION_MASK; // somebody changed a definition and not the revision
    }
    uint32_t cookie = MAGIC | (abi & 0xffffu) << 8 | (uint32_t)kind;
    memset(def, 0, size);
    memcpy(def, &cookie, sizeof cookie);
    return isOurs;
}

rbStatus rbCheckCookie(uint32_t cookie, rbDefKind kind, rbError* error)
{
    RB_ASSERT(kind > RB_KIND_NONE && kind < RB_KIND_COUNT);
    uint32_t abi = cookie >> 8 & 0xffffu;
    RB_INVALID_IF((cookie & 0xff0000ffu) != (MAGIC | (uint32_t)kind), error,
                  "the definition was not created by rbDefault%s", defaultNames[kind]);
    if (abi == RB_ABI_VERSION) {
        return RB_STATUS_OK;
    }
    char revision[64] = "with a definition of another size";
    if ((abi & REVISION_MASK) != 0) {
        (void)snprintf(revision, sizeof revision, "ABI %u", abi & REVISION_MASK);
    }
    return rbError_Set(
        error, RB_STATUS_UNSUPPORTED,
        "this program was compiled with headers of Rattleback %u.%u (%s), but the library is "
        "Rattleback %d.%d (ABI %d); compile the program again with the headers of this library",
        abi >> 12, abi >> 6 & REVISION_MASK, revision, RB_VERSION_MAJOR, RB_VERSION_MINOR,
        RB_ABI_REVISION);
}
