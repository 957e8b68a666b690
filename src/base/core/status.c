// Status texts, error messages, failed asserts, version.
#include <rattleback/base.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(RB_STATUS_OK == 0, "zero initialized errors mean no error");

const char* rbStatus_Text(rbStatus status)
{
    static const char* const texts[] = {
#define RB_STATUS_TEXT(name, text) [RB_STATUS_##name] = (text),
        RB_STATUS_MAP(RB_STATUS_TEXT)
#undef RB_STATUS_TEXT
    };
    _Static_assert(sizeof texts / sizeof texts[0] == RB_STATUS_COUNT, "one text a status");
    return (unsigned)status < RB_STATUS_COUNT ? texts[status] : "unknown status";
}

rbStatus rbError_Set(rbError* error, rbStatus status, const char* format, ...)
{
    if (error != NULL) {
        error->status = status;
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

void rbError_SetPlace(rbError* error, const char* file, const char* place)
{
    if (error == NULL) {
        return;
    }
    if (file != NULL) {
        (void)snprintf(error->file, sizeof error->file, "%s", file);
    }
    if (place != NULL) {
        (void)snprintf(error->place, sizeof error->place, "%s", place);
    }
}

void rbError_Format(const rbError* error, char* text, size_t capacity)
{
    const char* file = error->file[0] != '\0' ? error->file : "rattleback";
    if (error->line > 0) {
        (void)snprintf(text, capacity, "%s:%d:%d: %s", file, error->line, error->column,
                       error->message);
    } else if (error->place[0] != '\0') {
        (void)snprintf(text, capacity, "%s: %s: %s", file, error->place, error->message);
    } else {
        (void)snprintf(text, capacity, "%s: %s", file, error->message);
    }
}

void rbAssertFailed(const char* condition, const char* file, int line)
{
    (void)fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}

const char* rbGetVersion(void)
{
#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
    return VERSION_TEXT(RB_VERSION_MAJOR, RB_VERSION_MINOR, RB_VERSION_PATCH);
}
