// Settings of registered rows, carried by value.
#include <rattleback/base.h>

#include <string.h>

void rbExtraSettings_Put(rbExtraSettings* extra, uint64_t cookie, const void* settings, size_t size)
{
    RB_ASSERT(cookie != 0);
    RB_ASSERT(size <= sizeof extra->words);
    memset(extra, 0, sizeof *extra);
    extra->cookie = cookie;
    memcpy(extra->words, settings, size);
}

bool rbExtraSettings_Get(const rbExtraSettings* extra, uint64_t cookie, void* settings, size_t size)
{
    RB_ASSERT(cookie != 0);
    RB_ASSERT(size <= sizeof extra->words);
    if (extra->cookie != cookie) {
        return false;
    }
    memcpy(settings, extra->words, size);
    return true;
}
