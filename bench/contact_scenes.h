// Piles of the contacts suite, as plain data for every engine, and as our worlds.
//
// Gravity is -y everywhere. Bodies are in the frames of their principal axes. Random numbers are
// splitmix64, drawn in the order of the loops, so that every engine and every build has the same
// start.
#pragma once

#include "peers/peer_contacts.h"

#include <rattleback/contact.h>
#include <rattleback/world.h>

// A flat pyramid of unit cubes, rows of n to 1, 5 cm apart sideways, touching upwards.
rbContactScene rbMakePyramidScene(int rows);
// side^3 balls of 1 m falling into a square box.
rbContactScene rbMakeSpheresScene(int side);
// side x side x layers boxes, capsules and hulls of 16 points, alternating, with random
// orientations, falling into a square box.
rbContactScene rbMakeMixedScene(int side, int layers);
// 1000 unit cubes with random orientations, falling onto hills of 32,768 triangles.
rbContactScene rbMakeTerrainScene(void);
// Layers of 100 dolls above each other: four boxes of 0.5 m with three hinges, falling onto a
// floor.
rbContactScene rbMakeRagdollScene(int layers);
// side^3 unit cubes with random orientations, falling onto a floor.
rbContactScene rbMakeCubesScene(int side);
// side^3 unit cubes, 1.8 m apart, with random orientations, above a square funnel of four
// slabs at 45 degrees: 20 m wide at the top, a hole of 8 m at the bottom, 5 m above the floor.
rbContactScene rbMakeFunnelScene(int side);
// a wall of bricks 1 m long, 0.3 m high and 0.4 m thick, 1 kg, in alternating courses of 11
// and 10, all gaps as stated, and a ball (the last moving body) of 1 m radius and 10 kg. It is held
// 8 m to the side of its pivot, which is 12 m up and placed so that the ball strikes the wall when
// it passes under the pivot.
rbContactScene rbMakeWallScene(int courses, double gap);
extern const double rbWallPivot[3]; // m
void rbDestroyContactScene(rbContactScene* scene);

// Height of the smooth hills; the triangles interpolate its values at whole meters.
double rbGetHillHeight(double x, double z);
// Height of the triangles (m) and their upward unit normal (may be NULL) at a point, from the
// triangle below or above it; -INFINITY outside the hills.
double rbGetTerrainHeight(double x, double z, rbVec3* normal);

// Measurements of the moving bodies.
#define RB_MOVING_SPEED 0.01 // m/s

typedef struct rbContactVerdict {
    double deepest;      // m, over all pairs and walls, >= 0
    double deepestWall;  // m, against static bodies
    double mean;         // m, mean over the overlapping pairs
    double p99;          // m, 99 of 100 of them are smaller
    double jointGap;     // m, largest distance of the two anchors of a joint
    int overlapCount;    // number of overlapping pairs
    double speed;        // m/s, sqrt(2 E / M)
    double displacement; // m, largest, from the start
    int movingCount;  // bodies faster than RB_MOVING_SPEED: a single tumbling body makes a residual
                      // speed
    int escapedCount; // centers beyond a wall, the floor or the hills
} rbContactVerdict;
rbContactVerdict rbContactScene_Check(const rbContactScene* scene, const rbPeerBodyState* states);

// The world of the scene with the step engine; ids (may be NULL) of all its bodies. Returns NULL
// and an error if the scene is refused.
rbWorld* rbContactScene_CreateWorld(const rbContactScene* scene, double step,
                                    const rbContactSettings* settings, rbBodyId* ids,
                                    rbError* error);
// The same with all settings of a world, of which gravity and capacities are those of the scene.
rbWorld* rbContactScene_CreateWorldBy(const rbContactScene* scene, rbWorldDef def, rbBodyId* ids,
                                      rbError* error);
