// Mechanisms of the joint suites, as plain data for every engine, and as our worlds.
//
// Gravity is -y everywhere. All bodies are in the frames of their principal axes.
#pragma once

#include "peers/peer_joints.h"

#include <rattleback/world.h>

// Links of 0.5 m and 5 kg (0.1 m thick) with ball joints, the first one to the world at the origin:
// along +x, or hanging straight down in equilibrium. At rest.
rbJointScene rbMakeChainScene(int count);
rbJointScene rbMakeHangScene(int count);
// side x side balls of 1 kg, 0.5 m apart in the x-z plane, ball joints half-way between neighbors,
// the corners (0, 0) and (side - 1, 0) tied to the world at their centers. At rest.
rbJointScene rbMakeNetScene(int side);
// bars of 1 m, 0.1 m thick, 1 kg, hanging straight; centers move with 2 m/s in horizontal
// directions turned by 2.4 rad from bar to bar.
rbJointScene rbMakeBarScene(int count);
// binary tree of the stated levels, 2^levels - 1 bars 4 cm thick, of 600 kg/m^3 and 0.1 m
// 1.5^(levels - 1 - level) long, hung by a ball joint; the others hang at the ends of their
// parents. spread: angle (rad) of a bar to its parent; pairs of bars open in rotated planes. kick:
// N m s about z, the impulse of a torque on the first bar in the first step.
rbJointScene rbMakeTreeScene(int levels, double spread, double kick);
// N-four-bar: count + 1 cranks and count couplers, uniform rods of 1 m and 1 kg, hinges along z,
// cranks upright, couplers moving with +1 m/s along x. count >= 1.
rbJointScene rbMakeFourBarScene(int count);
// three four-bar rings of hinges along z. The lower bar of each is longer than the ring
// needs: the next ring hangs from its extension. The upper bar of the first is the world.
rbJointScene rbMakeRingsScene(void);
// links of 0.5 m and 1 kg at 45 degrees, a ball of ratio kg joined at its center to the end.
rbJointScene rbMakeHeavyChainScene(int links, double ratio);
void rbDestroyJointScene(rbJointScene* scene);

// Largest distance of the two anchors of a joint, m. NaN if a state is not finite.
double rbJointScene_GetGap(const rbJointScene* scene, const rbPeerBodyState* states);
// Kinetic energy and potential of gravity, J.
double rbJointScene_GetEnergy(const rbJointScene* scene, const rbPeerBodyState* states);

// The world of the scene with the step engine; NULL and an error if it is refused.
rbWorld* rbJointScene_CreateWorld(const rbJointScene* scene, const rbStepSettings* settings,
                                  rbError* error);
// Reads the states of the bodies of such a world.
void rbJointScene_ReadWorld(const rbJointScene* scene, const rbWorld* world,
                            rbPeerBodyState* states);
