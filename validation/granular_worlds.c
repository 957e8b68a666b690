#include "granular_worlds.h"

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/status.h"

#include <math.h>
#include <string.h>

#define STEP 0.02
#define SWEEPS 12
#define MARGIN 0.3   // between near grains
#define LATTICE 1.15 // more than the largest diameter
#define FRICTION 0.5
#define RESTITUTION 0.5
#define JITTER 0.3 // of velocities at the start
#define MATERIALS_MAX 4096
#define GLUED_STEP 1.05 // between grains of a rough floor

rbGrainBed rbOpenGrainBed(void)
{
    rbGrainBed bed = {.def = rbDefaultClusterDef()};
    bed.def.law = "granular";
    bed.def.step = STEP;
    bed.def.sweeps = SWEEPS;
    bed.def.radiusMax = RB_GRAIN_RADIUS_MAX;
    bed.def.margin = MARGIN;
    bed.def.gravity.z = -1.0;
    bed.contact.friction = FRICTION;
    bed.contact.restitution = RESTITUTION;
    bed.ranks = rbOpenRanks(&bed.error);
    return bed;
}

void rbCloseGrainBed(rbGrainBed* bed)
{
    rbDestroyCluster(bed->cluster);
    rbDestroyWorld(bed->walls);
    rbFreeSpheres(bed->spheres, bed->count);
    rbCloseRanks(bed->ranks);
    *bed = (rbGrainBed){0};
}

bool rbGrainBed_IsGood(const rbGrainBed* bed)
{
    return bed->error.status == RB_STATUS_OK;
}

// --------------------------------------------------------------------------------------- contents

static double massOf(double radius)
{
    return 8.0 * radius * radius * radius;
}

void rbGrainBed_Fill(rbGrainBed* bed, rbBounds box, int count, uint64_t seed)
{
    rbVec3 size = rbSub(box.upper, box.lower);
    int nx = (int)fmax(floor(size.x / LATTICE), 1.0);
    int ny = (int)fmax(floor(size.y / LATTICE), 1.0);
    int nz = (int)fmax(floor(size.z / LATTICE), 1.0);
    count = count < nx * ny * nz ? count : nx * ny * nz;
    rbRandom random = {seed};
    rbFreeSpheres(bed->spheres, bed->count);
    bed->spheres = rbAlloc((size_t)count * sizeof(rbClusterSphere));
    bed->count = count;
    for (int i = 0; i < count; ++i) {
        double radius = rbRandom_Range(&random, 0.45, RB_GRAIN_RADIUS_MAX);
        int row = i / nx % ny;
        int layer = i / (nx * ny);
        rbVec3 place = rbMakeVec3((i % nx + 0.5) * size.x / nx, (row + 0.5) * size.y / ny,
                                  (layer + 0.5) * LATTICE);
        rbVec3 velocity = {rbRandom_Symmetric(&random), rbRandom_Symmetric(&random),
                           rbRandom_Symmetric(&random)};
        bed->spheres[i] = (rbClusterSphere){.uid = (uint64_t)i,
                                            .position = rbAdd(box.lower, place),
                                            .velocity = rbScale(JITTER, velocity),
                                            .radius = radius,
                                            .mass = massOf(radius)};
    }
}

void rbGrainBed_Keep(rbGrainBed* bed, int count)
{
    rbClusterSphere* kept = rbAlloc((size_t)count * sizeof *kept);
    memcpy(kept, bed->spheres, (size_t)count * sizeof *kept);
    rbFreeSpheres(bed->spheres, bed->count);
    bed->spheres = kept;
    bed->count = count;
}

void rbGrainBed_BeginWalls(rbGrainBed* bed, rbVec3 angularVelocity)
{
    rbWorldDef worldDef = rbDefaultWorldDef();
    rbBodyDef def = rbDefaultBodyDef();
    rbPathDef path = rbDefaultPathDef();
    rbDestroyCluster(bed->cluster); // it borrows the world
    rbDestroyWorld(bed->walls);
    bed->cluster = NULL;
    bed->walls = rbCreateWorld(&worldDef, &bed->error);
    path.angularVelocity = angularVelocity;
    if (rbLengthSquared(angularVelocity) > 0.0) {
        def.type = RB_BODY_KINEMATIC;
        def.path = &path;
    } else {
        def.type = RB_BODY_STATIC;
    }
    if (bed->walls != NULL) {
        bed->wall = rbCreateBody(bed->walls, &def, &bed->error);
    }
}

void rbGrainBed_AddWall(rbGrainBed* bed, rbGeometry* geometry, rbVec3 position, rbQuat turn)
{
    if (bed->walls != NULL && geometry != NULL) {
        rbShapeDef def = rbDefaultShapeDef();
        def.geometry = rbWorld_AddGeometry(bed->walls, geometry);
        def.transform = (rbTransform){.p = position, .q = turn};
        (void)rbCreateShape(bed->walls, bed->wall, &def, &bed->error);
    }
}

void rbGrainBed_GlueFloor(rbGrainBed* bed, double halfLength, double width, bool isRepeated,
                          uint64_t seed)
{
    rbRandom random = {seed};
    int nx = (int)(2.0 * halfLength / GLUED_STEP + 1e-9);
    int ny = (int)(width / GLUED_STEP);
    int imagesX = isRepeated ? 1 : 0;
    rbGrainBed_BeginWalls(bed, RB_VEC3_ZERO);
    for (int i = 0; i < nx * ny; ++i) {
        int row = i / ny;
        rbVec3 place = {-halfLength + (row + 0.5) * GLUED_STEP,
                        (i % ny + 0.5) * width / ny - 0.5 * width, -0.25};
        place.x += 0.15 * rbRandom_Symmetric(&random);
        place.y += 0.15 * rbRandom_Symmetric(&random);
        place.z += 0.2 * rbRandom_Symmetric(&random);
        // walls are not repeated by the period
        for (int k = 0; k < 3 * (2 * imagesX + 1); ++k) {
            int column = k / 3 - imagesX;
            rbVec3 shift = {2.0 * column * halfLength, (k % 3 - 1) * width, 0.0};
            rbVec3 image = rbAdd(place, shift);
            bool isNear = !isRepeated || fabs(image.x) < halfLength + 1.1;
            if (isNear && fabs(image.y) < 0.5 * width + 1.1) {
                rbGrainBed_AddWall(bed, rbCreateSphere(0.5, &bed->error), image, RB_QUAT_IDENTITY);
            }
        }
    }
}

// -------------------------------------------------------------------------------------------- run

static rbStatus addAll(rbGrainBed* bed)
{
    rbError* error = &bed->error;
    RB_TRY(rbCluster_SetPair(bed->cluster, 0, 0, &bed->contact, error));
    if (bed->walls != NULL) {
        static const int materials[MATERIALS_MAX] = {0};
        RB_REFUSE_IF(rbBody_GetShapeCount(bed->walls, bed->wall) > MATERIALS_MAX, RB_STATUS_LIMIT,
                     error, "a wall has more than %d shapes", MATERIALS_MAX);
        RB_TRY(rbCluster_AddWall(bed->cluster, bed->walls, bed->wall, materials, error));
    }
    for (int i = rbRanks_GetIndex(bed->ranks); i < bed->count; i += rbRanks_GetCount(bed->ranks)) {
        RB_TRY(rbCluster_AddSphere(bed->cluster, &bed->spheres[i], error));
    }
    return RB_STATUS_OK;
}

void rbGrainBed_Start(rbGrainBed* bed)
{
    if (rbGrainBed_IsGood(bed)) {
        rbDestroyCluster(bed->cluster);
        bed->cluster = rbCreateCluster(bed->ranks, &bed->def, &bed->error);
        if (bed->cluster != NULL) {
            (void)addAll(bed);
        }
    }
}

void rbGrainBed_Advance(rbGrainBed* bed, double duration)
{
    if (rbGrainBed_IsGood(bed)) {
        (void)rbCluster_Advance(bed->cluster, (int64_t)ceil(duration / bed->def.step - 1e-9),
                                &bed->error);
    }
}

double rbGrainBed_Settle(rbGrainBed* bed, double energy, double duration)
{
    for (int time = 1; time <= duration && rbGrainBed_IsGood(bed); ++time) {
        rbGrainBed_Advance(bed, 1.0);
        rbClusterReport report = rbCluster_GetReport(bed->cluster);
        if (report.kinetic < energy * (double)report.bodies) {
            return time;
        }
    }
    return -1.0;
}

void rbGrainBed_Read(rbGrainBed* bed)
{
    if (rbGrainBed_IsGood(bed)) {
        rbFreeSpheres(bed->spheres, bed->count);
        bed->spheres = rbCluster_Gather(bed->cluster, &bed->count);
    }
}
