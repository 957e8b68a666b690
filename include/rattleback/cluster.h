/// @file
/// Many spheres on the ranks of MPI: a run on 1 or 1000 ranks gives the same bits.
///
/// In the library rattleback_mpi, the component `mpi`, which is built with RB_MPI=ON only. Space is
/// a grid of cells; every rank owns the bodies whose centers are in its cells, and has copies, the
/// ghosts, of all others that may touch them. docs/cluster.md explains how.
///
/// Calls that take ranks or a cluster are collective unless stated otherwise: all ranks make them,
/// in the same order.
#ifndef RATTLEBACK_CLUSTER_H
#define RATTLEBACK_CLUSTER_H

#include <rattleback/base.h>
#include <rattleback/body.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ----------------------------------------------------------------------------------------- ranks

/// The processes of a run.
typedef struct rbRanks rbRanks;

/// The ranks that mpirun or srun started; a process that was started alone is one rank. Initializes
/// MPI unless the program did. NULL with an error where MPI fails.
RB_API rbRanks* rbOpenRanks(rbError* error);
/// The first count of these ranks, 1 <= count; NULL on the others.
RB_API rbRanks* rbRanks_Take(const rbRanks* ranks, int count);
/// This process alone, as one rank.
RB_API rbRanks* rbRanks_Alone(const rbRanks* ranks);
/// Ends the use of ranks; NULL is fine. MPI itself ends with the process.
RB_API void rbCloseRanks(rbRanks* ranks);

RB_API int rbRanks_GetIndex(const rbRanks* ranks); ///< of this process, from 0; not collective
RB_API int rbRanks_GetCount(const rbRanks* ranks); ///< of all; not collective
/// Waits until all ranks are here.
RB_API void rbRanks_Meet(rbRanks* ranks);
/// Agrees on a status: if any rank has another one than OK, all ranks get that of the lowest such
/// rank, with "rank N: " before its message unless all have one.
RB_API rbStatus rbRanks_Agree(rbRanks* ranks, rbStatus status, rbError* error);
/// True if all ranks pass the same value, for example a hash of their input.
RB_API bool rbRanks_IsSame(rbRanks* ranks, uint64_t value);
/// Ends all ranks at once with exit code 3 and one message that names this one. Not collective.
RB_API RB_NORETURN void rbRanks_Abort(const rbRanks* ranks, const char* message);

// --------------------------------------------------------------------------------------- cluster

/// Spheres in a space that is divided among ranks.
typedef struct rbCluster rbCluster;

/// A half space that spheres stay in: normal . x >= offset. It does not move.
typedef struct rbClusterWall {
    rbVec3 normal; ///< unit
    double offset; ///< m
} rbClusterWall;

/// Maximum number of walls.
#define RB_CLUSTER_WALLS_MAX 16

/// A cluster; make it with rbDefaultClusterDef. All ranks pass the same values.
typedef struct rbClusterDef {
    uint32_t cookie;       ///< set by rbDefaultClusterDef
    const char* law;       ///< of contacts: "elastic" or "granular"; see docs/cluster.md
    const char* partition; ///< of cells among ranks: "morton", or "random" for tests
    double step;           ///< s, > 0
    double radiusMax;      ///< m, of all spheres that will be added, > 0
    double margin;         ///< m, between near spheres; changes the speed only; 0: one diameter
    rbVec3 low;            ///< m, corner of the region to divide, where there is no period
    rbVec3 high;           ///< m, opposite corner; spheres may leave the region
    rbVec3 periodicBox;    ///< m, edges of a box centered on the origin; 0: no period
    rbVec3 gravity;        ///< m/s^2; elastic: must be zero
    double restitution;    ///< granular, 0 to 1; elastic: always 1. See rbCluster_SetPair
    double friction;       ///< granular, >= 0; elastic: always 0
    double restSpeed;      ///< m/s, granular: slower approaches do not rebound; at least what
                           ///< gravity adds in four steps
    int sweeps;            ///< granular: passes over all contacts per step, 1 to 1000
    int balanceInterval;   ///< steps between looks at the work of ranks; 0: never
    int partitionInterval; ///< steps after which cells get new owners in any case; 0: never
    int wallCount;         ///< granular; elastic: must be 0
    rbClusterWall walls[RB_CLUSTER_WALLS_MAX]; ///< the first wallCount of them
} rbClusterDef;

/// Fills in the defaults; called by rbDefaultClusterDef.
RB_API void rbInitClusterDef(rbClusterDef* def, uint32_t abi, size_t size);
/// Elastic spheres, cells in Morton order, balanced every 100 steps; no step, radius or box.
static inline rbClusterDef rbDefaultClusterDef(void)
{
    rbClusterDef def;
    rbInitClusterDef(&def, RB_ABI_VERSION, sizeof def);
    return def;
}

/// A sphere of uniform density.
typedef struct rbClusterSphere {
    uint64_t uid;       ///< unique among all ranks, below 2^63; a run depends on uids, not on ranks
    rbVec3 position;    ///< m
    rbVec3 velocity;    ///< m/s
    rbVec3 spin;        ///< rad/s
    double radius;      ///< m, > 0
    double mass;        ///< kg, > 0
    rbQuat orientation; ///< unit; zero: no rotation
    int material;       ///< index for rbCluster_SetPair
} rbClusterSphere;

/// What acts between two materials.
typedef struct rbClusterPair {
    double restitution; ///< 0 to 1
    double friction;    ///< Coulomb coefficient, >= 0
    double rolling;     ///< m, largest torque against rolling per normal force, >= 0
} rbClusterPair;

/// A source of spheres at random places in a box, with radii that are equally frequent between two.
/// A sphere waits until a place for it is free. Uids are those of the inlet, from 2^48 on for the
/// first one, and a counter.
typedef struct rbClusterInlet {
    rbBounds box;     ///< m, of centers
    double rate;      ///< 1/s, spheres
    int64_t count;    ///< of all spheres of it; 0: no limit
    double radiusMin; ///< m
    double radiusMax; ///< m, at most that of the definition
    double density;   ///< kg/m^3
    rbVec3 velocity;  ///< m/s
    int material;     ///< index for rbCluster_SetPair
} rbClusterInlet;

/// Maximum number of inlets, and of outlets.
#define RB_CLUSTER_FLOWS_MAX 16

/// What is in a box now: spheres with their centers in it.
typedef struct rbClusterAverage {
    int64_t count;        ///< of them
    double mass;          ///< kg
    double solidFraction; ///< volume of the spheres over that of the box
    rbVec3 velocity;      ///< m/s, of the center of mass
    double coordination;  ///< contacts with other spheres that carry an impulse, per sphere
    rbMat3 stress;        ///< Pa, symmetric, positive in compression: levers times forces of the
                          ///< last step (granular only), and what velocities relative to the mean
                          ///< carry, over the volume of the box
} rbClusterAverage;

/// Maximum number of materials.
#define RB_CLUSTER_MATERIALS_MAX 64

/// What a run has done and where it is; the same bits for any number of ranks, except what the
/// comment says. Sums are exact, rounded once.
typedef struct rbClusterReport {
    double time;           ///< s
    int64_t steps;         ///< so far
    int64_t bodies;        ///< of all ranks
    int64_t contacts;      ///< in the last step
    int64_t collisions;    ///< elastic: so far
    double virial;         ///< J, elastic: sum over collisions of distance times impulse, so far
    double kinetic;        ///< J
    double potential;      ///< J, in gravity, from the origin
    rbVec3 momentum;       ///< kg m/s
    double penetrationMax; ///< m, granular: deepest of the last step
    int colors;            ///< of contacts in the last step
    uint64_t hash;         ///< of the state: bodies and remembered contacts
    int64_t ghosts;        ///< of all ranks; depends on the ranks, like all that follow
    int64_t rebuilds;      ///< of near pairs
    int64_t repartitions;  ///< new owners of cells
    int64_t migrations;    ///< bodies that changed their owner
    int64_t messages;      ///< point to point, of all ranks
    int64_t messageBytes;  ///< in them
    int64_t collectives;   ///< calls of a rank
    double waitPart;       ///< of the time of all ranks: in MPI, waiting or sending
    double imbalance; ///< largest work of a rank over the mean, 1: perfect; since the last balance
} rbClusterReport;

/// Creates an empty cluster; NULL with an error if a value is unusable. Ranks are borrowed.
RB_API rbCluster* rbCreateCluster(rbRanks* ranks, const rbClusterDef* def, rbError* error);
RB_API void rbDestroyCluster(rbCluster* cluster); ///< NULL is fine
/// Adds a sphere, on any one rank and before the first step. Not collective.
RB_API rbStatus rbCluster_AddSphere(rbCluster* cluster, const rbClusterSphere* sphere,
                                    rbError* error);
/// Sets what acts between two materials (or one and itself), before the first step; otherwise it is
/// what the definition says, without rolling. The same on all ranks. granular only.
RB_API rbStatus rbCluster_SetPair(rbCluster* cluster, int materialA, int materialB,
                                  const rbClusterPair* pair, rbError* error);
/// Makes a static or kinematic body of a world a wall, with a material for each of its shapes;
/// before the first step, on all ranks in the same order. Its path and conveyors are those of the
/// body. The world is borrowed and must not change. granular only. UNSUPPORTED for cones and other
/// curved shapes without exact triangles, and for planes that rotate.
RB_API rbStatus rbCluster_AddWall(rbCluster* cluster, const rbWorld* world, rbBodyId bodyId,
                                  const int* materials, rbError* error);
/// Adds an inlet, before the first step, on all ranks in the same order. Inlets and outlets act
/// every 16 steps.
RB_API rbStatus rbCluster_AddInlet(rbCluster* cluster, const rbClusterInlet* inlet, rbError* error);
/// Adds an outlet: spheres with their centers in the box leave. Likewise.
RB_API rbStatus rbCluster_AddOutlet(rbCluster* cluster, rbBounds box, rbError* error);
/// Spheres that have come from the index-th inlet; not collective.
RB_API int64_t rbCluster_GetInserted(const rbCluster* cluster, int inlet);
/// Spheres that have left by the index-th outlet, and their mass, kg; not collective.
RB_API int64_t rbCluster_GetRemoved(const rbCluster* cluster, int outlet, double* mass);
/// Sums over the spheres in a box are exact, rounded once: the same bits on any number of ranks.
RB_API rbClusterAverage rbCluster_Average(rbCluster* cluster, rbBounds box);
/// Makes steps. On failure all ranks get the same error, and the state is useless.
RB_API rbStatus rbCluster_Advance(rbCluster* cluster, int64_t steps, rbError* error);
/// Writes the state of all ranks to a file, in the order of uids: the bytes do not depend on how
/// many ranks there are. The file gets its name when it is whole. All ranks get the same status.
RB_API rbStatus rbCluster_Save(rbCluster* cluster, const char* path, rbError* error);
/// Continues from such a file, on any number of ranks, instead of adding spheres: the same bits as
/// without the interruption. Definition, materials and walls are those of the run that wrote it,
/// else INVALID; SYNTAX or CORRUPT if the file is not a checkpoint or damaged.
RB_API rbStatus rbCluster_Load(rbCluster* cluster, const char* path, rbError* error);
/// Writes all spheres as points for ParaView (VTK PolyData, .vtp), with radius, velocity, spin,
/// orientation and uid, in the order of uids: 92 bytes a sphere, the same on any number of ranks.
RB_API rbStatus rbCluster_WritePoints(rbCluster* cluster, const char* path, rbError* error);
/// Writes all spheres as HDF5, in the order of uids: the datasets position, radius, velocity, spin,
/// orientation (w, x, y, z) and uid, and the attribute time; 76 bytes a sphere. There are no time
/// stamps: the bytes are the same on any number of ranks and at any time, by the same version of
/// HDF5. UNSUPPORTED in a library built without it (RB_HDF5).
RB_API rbStatus rbCluster_WriteHdf5(rbCluster* cluster, const char* path, rbError* error);
/// Writes the list of such files that ParaView opens (XDMF). They are in the folder of the list, or
/// it names them wrongly. Not collective; UNSUPPORTED likewise.
RB_API rbStatus rbWriteXdmf(const char* path, const char* const* frames, int count, rbError* error);
/// Sums up the state of all ranks.
RB_API rbClusterReport rbCluster_GetReport(rbCluster* cluster);
/// All spheres in the order of their uids on rank 0, none on the others; masses are those of
/// rbCluster_AddSphere to round-off. Free them with rbFreeSpheres.
RB_API rbClusterSphere* rbCluster_Gather(rbCluster* cluster, int* count);
RB_API void rbFreeSpheres(rbClusterSphere* spheres, int count); ///< NULL is fine

#ifdef __cplusplus
}
#endif

#endif
