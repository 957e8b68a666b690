// The log of a world: the only channel on which the library reports on its own.
#include "base/core/words.h"
#include "world/world_state.h"

#include <stdarg.h>
#include <stdio.h>

static const char* const levelNames[RB_LOG_COUNT] = {
    [RB_LOG_WARNING] = "warning", [RB_LOG_ERROR] = "error"};
RB_DEFINE_NAME(rbLogLevel, RB_LOG_COUNT, levelNames[index])

void rbWorld_Log(const rbWorld* world, rbLogLevel level, const char* format, ...)
{
    if (world->def.logFn == NULL) {
        return;
    }
    char message[RB_LOG_LENGTH_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    world->def.logFn(level, message, world->def.logContext);
}

void rbWorld_LogRefusal(const rbWorld* world, const char* what, const rbError* reason,
                        rbError* error)
{
    (void)rbError_Set(error, reason->status, "%s", reason->message);
    rbWorld_Log(world, RB_LOG_ERROR, "%s is refused: %s", what, reason->message);
}
