// An output of 'rattleback run': the largest height that a body reaches, in one line.
#include <rattleback/module.h>

#include <stdio.h>
#include <stdlib.h>

static const rbModuleHost* library;

typedef struct Writer {
    FILE* file;
    double height; // m
} Writer;

static void* openFile(const rbOutputView* view, const char* path, rbError* error)
{
    FILE* file = fopen(path, "w");
    Writer* writer = file != NULL ? (Writer*)malloc(sizeof(Writer)) : NULL;
    (void)view;
    if (writer == NULL) {
        (void)library->rbError_Set(error, RB_STATUS_IO,
                                   "cannot write %.200s; is there such a folder?", path);
        return NULL;
    }
    writer->file = file;
    writer->height = -1e300;
    return writer;
}

static rbStatus writeFrame(void* object, const rbOutputView* view, rbError* error)
{
    Writer* writer = (Writer*)object;
    (void)error;
    for (int i = 0; i < view->frame->bodyCount; ++i) {
        double z = view->frame->positions[i].z;
        writer->height = z > writer->height ? z : writer->height;
    }
    return RB_STATUS_OK;
}

static void abandon(void* object)
{
    Writer* writer = (Writer*)object;
    (void)fclose(writer->file);
    free(writer);
}

static rbStatus finish(void* object, const rbOutputView* view, rbError* error)
{
    Writer* writer = (Writer*)object;
    int length = fprintf(writer->file, "%.17g m in %g s\n", writer->height,
                         library->rbWorld_GetTime(view->world));
    abandon(writer);
    return length > 0 ? RB_STATUS_OK
                      : library->rbError_Set(error, RB_STATUS_IO, "the disk may be full");
}

static const rbOutputRow row = {"highest", "--highest", "FILE", "the largest height of a body",
                                openFile,  writeFrame,  finish, abandon};

static rbStatus registerRows(const rbModuleHost* host, rbError* error)
{
    library = host;
    return host->registerOutput(&row, error);
}
RB_MODULE(registerRows)
