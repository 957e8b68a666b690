// A program with its own rows in the tables: it follows docs/adding-a-output.md and related pages,
// as a program outside of Rattleback would. test_added_rows.c runs it.
#include "base/core/memory.h"
#include "cli/output_format.h"
#include "dynamics/joints/part_ops.h"
#include "dynamics/solvers/solver.h"

#include <math.h>

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

// A duplicate or incomplete row is refused.
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

// --------------------------------------------------------------------------- a shape: a bicone

// Two cones base to base: numbers are the radius of the base and the height of each.
static rbVec3 supportBicone(const double* numbers, rbVec3 direction)
{
    double across = sqrt(direction.x * direction.x + direction.y * direction.y);
    if (numbers[0] * across >= numbers[1] * fabs(direction.z)) {
        return rbMakeVec3(numbers[0] * direction.x / across, numbers[0] * direction.y / across,
                          0.0);
    }
    return rbMakeVec3(0.0, 0.0, copysign(numbers[1], direction.z));
}

// A cone of mass m about a diameter of its base: m (3/20 r^2 + h^2/10); about its axis 3/10 m r^2.
static rbMassProperties getBiconeMass(const double* numbers, double density)
{
    double r = numbers[0];
    double h = numbers[1];
    double volume = 2.0 / 3.0 * RB_PI * r * r * h;
    double mass = density * volume;
    double across = mass * (0.15 * r * r + 0.1 * h * h);
    return (rbMassProperties){
        volume, mass, RB_VEC3_ZERO, {across, across, 0.3 * mass * r * r, 0.0, 0.0, 0.0}};
}

static const rbParameter biconeParameters[] = {
    {"radius", .count = 1, .high = 1e3, .isLowOpen = true, .isRequired = true, .unit = "m",
     .meaning = "of the common base"},
    {"height", .offset = sizeof(double), .count = 1, .high = 1e3, .isLowOpen = true,
     .isRequired = true, .unit = "m", .meaning = "of each cone"},
};

static const rbConvexShapeRow biconeRow = {
    .name = "bicone",
    .meaning = "Two cones base to base, about the z axis and the origin.",
    .parameters = biconeParameters,
    .parameterCount = 2,
    .support = supportBicone,
    .getMass = getBiconeMass,
};

static bool registerShapes(void)
{
    rbError error = {0};
    rbConvexShapeRow incomplete = biconeRow;
    incomplete.support = NULL;
    rbConvexShapeRow known = biconeRow;
    known.name = "cone";
    bool isGood = rbRegisterConvexShape(&incomplete, &error) == RB_STATUS_INVALID &&
                  rbRegisterConvexShape(&known, &error) == RB_STATUS_INVALID &&
                  rbRegisterConvexShape(&biconeRow, &error) == RB_STATUS_OK;
    // By its type and by numbers, like all shapes defined by numbers.
    const double numbers[RB_PARAMETERS_MAX] = {1.0, 2.0};
    rbGeometry* geometry = rbCreateGeometryOfType(rbShapeType_Find("bicone"), numbers, &error);
    rbRay ray = {{0.5, 0.0, 5.0}, {0.0, 0.0, -2.0}, INFINITY};
    rbRayHit hit;
    // the surface is at z = 2 (1 - x): 5 - 2 t = 1; from inside it leaves at z = -1
    isGood = isGood && geometry != NULL && rbGeometry_CastRay(geometry, &ray, &hit) &&
             fabs(hit.t - 2.0) < 1e-11;
    ray.origin.z = 0.0;
    isGood = isGood && rbGeometry_CastRay(geometry, &ray, &hit) && fabs(hit.t - 0.5) < 1e-11 &&
             rbGeometry_Contains(geometry, rbMakeVec3(0.0, 0.0, 1.9)) &&
             !rbGeometry_Contains(geometry, rbMakeVec3(0.6, 0.0, 1.0));
    rbDestroyGeometry(geometry);
    return isGood;
}

// --------------------------------------------------------------------- a joint and a solver

// A body slides in a plane and rotates about its normal.
static const rbJointTypeRow planarRow = {
    .name = "planar",
    .partCount = 2,
    .parts = {RB_JOINT_PLANE, RB_JOINT_DIRECTION},
    .axisUse = RB_AXIS_COMMON,
};

// The direct solver under another name.
static const rbSolverOps solverRow = {"direct-again", rbDirectSolver_Create, rbDirectSolver_Destroy,
                                      rbDirectSolver_Factor, rbDirectSolver_Solve};

static bool registerJointsAndSolvers(void)
{
    rbError error = {0};
    rbJointTypeRow empty = {.name = "free"};
    rbJointTypeRow known = planarRow;
    known.name = "rail"; // an alias
    return rbRegisterJointType(&empty, &error) == RB_STATUS_INVALID &&
           rbRegisterJointType(&known, &error) == RB_STATUS_INVALID &&
           rbRegisterJointType(&planarRow, &error) == RB_STATUS_OK &&
           (int)rbJointType_Find("planar") == RB_JOINT_COUNT &&
           rbJointType_GetRowCount(rbJointType_Find("planar")) == 3 &&
           rbRegisterSolver(&solverRow, &error) == RB_STATUS_OK &&
           rbRegisterSolver(&solverRow, &error) == RB_STATUS_INVALID &&
           rbSolverType_GetCount() == RB_SOLVER_COUNT + 1;
}

int main(int argc, char** argv)
{
    if (!registerOutputs() || !registerForces() || !registerShapes() ||
        !registerJointsAndSolvers()) {
        return 99;
    }
    return rbProgram_Run(argc, argv);
}
