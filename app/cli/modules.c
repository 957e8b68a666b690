#include "cli/modules.h"

#include "base/core/hash.h"
#include "base/core/memory.h"
#include "cli/output_format.h"
#include "cli/scripts.h"

#include <rattleback/module.h>

#include <string.h>

// --------------------------------------------------------------------------------------- outputs

// The writer of a module and the row that it belongs to.
typedef struct ModuleWriter {
    const rbOutputRow* row;
    void* writer;
} ModuleWriter;

static rbOutputView makeView(const rbOutputRun* run, bool hasFrame)
{
    return (rbOutputView){.scene = run->scene,
                          .world = run->world,
                          .frame = hasFrame ? run->frame : NULL,
                          .values = hasFrame ? run->values : NULL,
                          .valueCount = hasFrame ? run->valueCount : 0,
                          .hash = run->hash};
}

static void* openOutput(const rbOutputRun* run, const char* path, rbError* error)
{
    const rbOutputRow* row = run->format->row;
    rbOutputView view = makeView(run, false);
    void* writer = row->open(&view, path, error);
    if (writer == NULL) {
        if (error->status == RB_STATUS_OK) {
            (void)rbError_Set(error, RB_STATUS_IO,
                              "the module cannot write %s %s; it gave no reason", row->option,
                              path);
        }
        return NULL;
    }
    ModuleWriter* own = rbAllocZero(1, sizeof *own);
    *own = (ModuleWriter){row, writer};
    return own;
}

static rbStatus writeOutputFrame(void* object, const rbOutputRun* run, rbError* error)
{
    ModuleWriter* own = object;
    rbOutputView view = makeView(run, true);
    return own->row->writeFrame != NULL ? own->row->writeFrame(own->writer, &view, error)
                                        : RB_STATUS_OK;
}

static rbStatus finishOutput(void* object, const rbOutputRun* run, rbError* error)
{
    ModuleWriter* own = object;
    rbOutputView view = makeView(run, true);
    rbStatus status = own->row->finish(own->writer, &view, error);
    rbFree(own, sizeof *own);
    return status;
}

static void abandonOutput(void* object)
{
    ModuleWriter* own = object;
    own->row->abandon(own->writer);
    rbFree(own, sizeof *own);
}

static rbStatus takeOutput(const rbOutputRow* row, rbError* error)
{
    static rbOutputFormat formats[RB_REGISTERED_MAX];
    static int count = 0;
    RB_ASSERT(count < RB_REGISTERED_MAX);
    formats[count] = (rbOutputFormat){
        .kind = row->name,
        .option = {row->option, row->argument, row->help},
        .row = row,
        .needsProbes = true,
        .needsPoses = true,
        .open = openOutput,
        .writeFrame = writeOutputFrame,
        .finish = finishOutput,
        .abandon = abandonOutput,
    };
    return rbRegisterOutputFormat(&formats[count++], error);
}

// ----------------------------------------------------------------------------------------- verbs

typedef struct ModuleVerb {
    rbVerb verb;
    const rbVerbRow* row;
    rbOption options[RB_VERB_OPTIONS_MAX + 1];
} ModuleVerb;

static ModuleVerb moduleVerbs[RB_REGISTERED_MAX];
static int moduleVerbCount = 0;

static rbExit chooseExit(rbStatus status)
{
    bool isNumerical = status == RB_STATUS_NUMERICAL || status == RB_STATUS_LIMIT;
    return status == RB_STATUS_OK          ? RB_EXIT_DONE
           : status == RB_STATUS_NOT_FOUND ? RB_EXIT_NO
           : isNumerical                   ? RB_EXIT_NUMERICAL
                                           : RB_EXIT_USAGE;
}

static rbExit runVerb(const rbArguments* arguments)
{
    const ModuleVerb* own = NULL;
    for (int i = 0; i < moduleVerbCount; ++i) {
        own = arguments->verb == &moduleVerbs[i].verb ? &moduleVerbs[i] : own;
    }
    RB_ASSERT(own != NULL);
    const char* values[RB_VERB_OPTIONS_MAX] = {NULL};
    for (int i = 0; i < own->row->optionCount; ++i) {
        const rbVerbOption* option = &own->row->options[i];
        bool isGiven = rbArguments_Has(arguments, option->name);
        values[i] = !isGiven                   ? NULL
                    : option->argument != NULL ? rbArguments_Get(arguments, option->name)
                                               : "";
    }
    rbError error = {0};
    rbVerbInput input = {arguments->words, arguments->wordCount, values};
    rbStatus status = own->row->run(&input, &error);
    if (status != RB_STATUS_OK && error.message[0] != '\0') {
        (void)rbFailWith(&error);
    }
    return chooseExit(status);
}

static rbStatus takeVerb(const rbVerbRow* row, rbError* error)
{
    RB_ASSERT(moduleVerbCount < RB_REGISTERED_MAX);
    ModuleVerb* own = &moduleVerbs[moduleVerbCount++];
    own->row = row;
    for (int i = 0; i < row->optionCount; ++i) {
        const rbVerbOption* option = &row->options[i];
        own->options[i] = (rbOption){option->name, option->argument, option->help};
    }
    own->options[row->optionCount] = (rbOption)RB_MODULE_OPTION;
    own->verb = (rbVerb){.name = row->name,
                         .words = row->words,
                         .help = row->help,
                         .run = runVerb,
                         .wordMin = row->wordMin,
                         .wordMax = row->wordMax,
                         .options = own->options,
                         .optionCount = row->optionCount + 1,
                         .examples = row->examples};
    return rbRegisterVerb(&own->verb, error);
}

// --------------------------------------------------------------------------------------- loading

// Takes what the last module added.
static rbStatus takeRows(const char* path, rbError* error)
{
    static int outputCount = 0;
    static int verbCount = 0;
    rbError inner = {0};
    rbStatus status = RB_STATUS_OK;
    while (status == RB_STATUS_OK && rbGetModuleOutput(outputCount) != NULL) {
        status = takeOutput(rbGetModuleOutput(outputCount++), &inner);
    }
    while (status == RB_STATUS_OK && rbGetModuleVerb(verbCount) != NULL) {
        status = takeVerb(rbGetModuleVerb(verbCount++), &inner);
    }
    return status == RB_STATUS_OK
               ? status
               : rbError_Set(error, status, "module %.150s: %s", path, inner.message);
}

rbStatus rbLoadModules(int count, char** words, rbError* error)
{
    static const char option[] = "--module";
    size_t length = sizeof option - 1;
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK && strcmp(words[i], "--") != 0; ++i) {
        const char* path = NULL;
        if (strncmp(words[i], option, length) == 0 && words[i][length] == '=') {
            path = words[i] + length + 1;
        } else if (strcmp(words[i], option) == 0 && i + 1 < count) {
            path = words[++i];
        }
        if (path != NULL && rbIsScript(path)) {
            status = rbLoadScript(path, error);
        } else if (path != NULL) {
            status = rbLoadModule(path, error);
            status = status == RB_STATUS_OK ? takeRows(path, error) : status;
        }
    }
    return status;
}

uint64_t rbHashModules(void)
{
    uint64_t hash = rbGetModuleCount() > 0 ? RB_HASH_SEED : 0;
    unsigned char block[4096];
    for (int i = 0; i < rbGetModuleCount(); ++i) {
        FILE* file = fopen(rbGetModulePath(i), "rb");
        size_t got = file != NULL ? fread(block, 1, sizeof block, file) : 0;
        while (got > 0) {
            hash = rbHashBytes(hash, block, got);
            got = fread(block, 1, sizeof block, file);
        }
        hash = rbHashBytes(hash, &i, sizeof i);
        if (file != NULL) {
            (void)fclose(file);
        }
    }
    return hash;
}

void rbNameModuleRows(char* text, size_t capacity)
{
    size_t used = rbDescribeModules(text, capacity);
    for (int i = 0; i < rbGetScriptCount() && used < capacity; ++i) {
        used += (size_t)snprintf(text + used, capacity - used, "%s" RB_SCRIPT_ROW "%s'",
                                 used > 0 ? ", " : "", rbGetScriptPath(i));
    }
    for (char* c = text; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') {
            *c = '\'';
        }
    }
}
