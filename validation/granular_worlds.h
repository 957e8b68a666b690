// Grains for the experiments of case_granular_*.c: spheres on domains of one rank, in units of
// their mean diameter, of the acceleration of gravity and of their bulk mass.
//
// Confined grains settle first; then the walls are changed, and the experiment begins from rest.
// Grains are all different: their radii are drawn evenly from 0.45 to 0.55, so that they do not
// crystallize.
#pragma once

#include <rattleback/cluster.h>
#include <rattleback/world.h>

#define RB_GRAIN_RADIUS_MAX 0.55
#define RB_GRAINS_MAX 1000000

typedef struct rbGrainBed {
    rbRanks* ranks;
    rbClusterDef def;
    rbClusterPair contact; // of grains with each other and with walls
    rbWorld* walls;        // NULL: those of the definition only
    rbBodyId wall;         // the only body in it
    rbCluster* cluster;    // NULL: nothing has begun
    rbClusterSphere* spheres;
    int count;
    rbError error; // of the first failure; nothing happens after it
} rbGrainBed;

// Granular contact, steps of 0.02, no walls and no grains.
rbGrainBed rbOpenGrainBed(void);
void rbCloseGrainBed(rbGrainBed* bed);
bool rbGrainBed_IsGood(const rbGrainBed* bed);

// Grains on a loose lattice in a box, with small random velocities: to settle. At most count.
void rbGrainBed_Fill(rbGrainBed* bed, rbBounds box, int count, uint64_t seed);
// Forgets all but the first ones.
void rbGrainBed_Keep(rbGrainBed* bed, int count);
// An empty body for walls, replaces the last one; angularVelocity: it rotates about its origin.
void rbGrainBed_BeginWalls(rbGrainBed* bed, rbVec3 angularVelocity);
// Adds a shape, which is consumed.
void rbGrainBed_AddWall(rbGrainBed* bed, rbGeometry* geometry, rbVec3 position, rbQuat turn);
// A rough floor: grains glued at about a height of -0.25, from -halfLength to halfLength along x
// and in a period along y. isRepeated: in a period along x too. Replaces all walls of shapes.
void rbGrainBed_GlueFloor(rbGrainBed* bed, double halfLength, double width, bool isRepeated,
                          uint64_t seed);

// A cluster of the present grains and walls; grains that are present keep their velocities.
void rbGrainBed_Start(rbGrainBed* bed);
void rbGrainBed_Advance(rbGrainBed* bed, double duration);
// Advances until the mean kinetic energy of a grain is below a limit; at most for a duration.
// Returns the time that it took; a negative one: the limit was not reached.
double rbGrainBed_Settle(rbGrainBed* bed, double energy, double duration);
// Brings spheres up to date.
void rbGrainBed_Read(rbGrainBed* bed);
