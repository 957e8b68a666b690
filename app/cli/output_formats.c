// The table of output formats: the built-in rows, then those registered at start-up.
#include "cli/output_format.h"

#include <string.h>

#define AS_ROW(row) &(row),
static const rbOutputFormat* formats[RB_OUTPUT_FORMATS_MAX] = {RB_OUTPUT_FORMATS(AS_ROW)};

const rbOutputFormat* rbGetOutputFormat(int index)
{
    RB_ASSERT(index >= 0);
    return index < RB_OUTPUT_FORMATS_MAX ? formats[index] : NULL;
}

const rbOption* rbGetOutputOption(int index)
{
    for (int i = 0; rbGetOutputFormat(i) != NULL; ++i) {
        const rbOutputFormat* format = formats[i];
        if (index == 0) {
            return &format->option;
        }
        if (index <= format->detailCount) {
            return &format->details[index - 1];
        }
        index -= 1 + format->detailCount;
    }
    return NULL;
}

rbStatus rbRegisterOutputFormat(const rbOutputFormat* format, rbError* error)
{
    const char* name = format->option.name;
    if (name == NULL || format->option.argument == NULL || format->kind == NULL ||
        format->open == NULL || format->finish == NULL || format->abandon == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "an output format needs a kind, an option with an argument, open, "
                           "finish and abandon");
    }
    for (int i = 0; rbGetOutputOption(i) != NULL; ++i) {
        if (strcmp(rbGetOutputOption(i)->name, name) == 0) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "an output with the option %s already exists; choose another", name);
        }
    }
    int count = 0;
    while (rbGetOutputFormat(count) != NULL) {
        ++count;
    }
    if (count == RB_OUTPUT_FORMATS_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT,
                           "there are already %d output formats, the limit; %s cannot be added",
                           count, name);
    }
    formats[count] = format;
    return RB_STATUS_OK;
}
