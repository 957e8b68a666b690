// A program with rows of its own in the tables: what docs/adding-a-output.md and its sisters do, as
// a program outside of Rattleback would. test_added_rows.c runs it.
#include "base/core/memory.h"
#include "cli/output_format.h"

// ---------------------------------------------------------------------- an output: highest points

// The largest height of any body's center, one line at the end.
typedef struct HeightWriter {
    FILE* file;
    double height; // m
} HeightWriter;

static void* openHeight(const rbOutputRun* run, const char* path, rbError* error)
{
    (void)run;
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        (void)rbError_Set(error, RB_STATUS_IO, "cannot write %s; is there such a folder?", path);
        return NULL;
    }
    HeightWriter* writer = rbAllocZero(1, sizeof *writer);
    writer->file = file;
    writer->height = -1e300;
    return writer;
}

static rbStatus writeHeightFrame(void* object, const rbOutputRun* run, rbError* error)
{
    (void)error;
    HeightWriter* writer = object;
    for (int i = 0; i < run->frame->bodyCount; ++i) {
        double z = run->frame->positions[i].z;
        writer->height = z > writer->height ? z : writer->height;
    }
    return RB_STATUS_OK;
}

static void abandonHeight(void* object)
{
    HeightWriter* writer = object;
    (void)fclose(writer->file);
    rbFree(writer, sizeof *writer);
}

static rbStatus finishHeight(void* object, const rbOutputRun* run, rbError* error)
{
    HeightWriter* writer = object;
    bool isGood = fprintf(writer->file, "%.17g m after %g s\n", writer->height,
                          rbWorld_GetTime(run->world)) > 0;
    abandonHeight(writer);
    return isGood ? RB_STATUS_OK
                  : rbError_Set(error, RB_STATUS_IO, "cannot write the height; is the disk full?");
}

static const rbOutputFormat heightFormat = {
    .kind = "height",
    .option = {"--height", "FILE", "the largest height that a body reaches"},
    .needsPoses = true,
    .open = openHeight,
    .writeFrame = writeHeightFrame,
    .finish = finishHeight,
    .abandon = abandonHeight,
};

// A row that is there already, or is incomplete, is refused.
static bool registerOutputs(void)
{
    rbError error = {0};
    rbOutputFormat incomplete = heightFormat;
    incomplete.finish = NULL;
    return rbRegisterOutputFormat(&incomplete, &error) == RB_STATUS_INVALID &&
           rbRegisterOutputFormat(&heightFormat, &error) == RB_STATUS_OK &&
           rbRegisterOutputFormat(&heightFormat, &error) == RB_STATUS_INVALID;
}

int main(int argc, char** argv)
{
    if (!registerOutputs()) {
        return 99;
    }
    return rbProgram_Run(argc, argv);
}
