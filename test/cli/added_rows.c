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

// ------------------------------------------------------------------------------- a force: wind

// c (u - v): air that moves at u drags the body along.
static void addWind(const rbForceDef* def, const rbForceInput* input, rbVec3* force, rbVec3* torque)
{
    (void)torque;
    rbVec3 wind = {def->numbers[0], def->numbers[1], def->numbers[2]};
    *force = rbAddScaled(*force, def->numbers[3], rbSub(wind, input->linearVelocity));
}

static rbStatus checkWind(const rbForceDef* def, rbError* error)
{
    return def->numbers[3] <= 1e6
               ? RB_STATUS_OK
               : rbError_Set(error, RB_STATUS_INVALID,
                             "the drag of the wind is %g N s/m; at most 1e6 is accepted",
                             def->numbers[3]);
}

static const rbParameter windParameters[] = {
    {"velocity", offsetof(rbForceDef, numbers), .count = 3, .low = -1e3, .high = 1e3,
     .isRequired = true, .unit = "m/s", .meaning = "of the air, world axes"},
    {"drag", offsetof(rbForceDef, numbers) + 3 * sizeof(double), .count = 1, .low = 0.0,
     .high = 1e9, .unit = "N s/m", .meaning = "force for each m/s of relative speed"},
};

static const rbForceRow windRow = {
    .name = "wind",
    .meaning = "Force drag (velocity - v) at the center of mass.",
    .parameters = windParameters,
    .parameterCount = 2,
    .check = checkWind,
    .addVarying = addWind,
};

static bool registerForces(void)
{
    rbError error = {0};
    rbForceRow incomplete = windRow;
    incomplete.addVarying = NULL;
    rbForceRow known = windRow;
    known.name = "drag";
    return rbRegisterForce(&incomplete, &error) == RB_STATUS_INVALID &&
           rbRegisterForce(&known, &error) == RB_STATUS_INVALID &&
           (int)rbForceType_Find("wind") == RB_FORCE_COUNT &&
           rbRegisterForce(&windRow, &error) == RB_STATUS_OK &&
           (int)rbForceType_Find("wind") == RB_FORCE_COUNT &&
           rbForceType_GetCount() == RB_FORCE_COUNT + 1;
}

int main(int argc, char** argv)
{
    if (!registerOutputs() || !registerForces()) {
        return 99;
    }
    return rbProgram_Run(argc, argv);
}
