// The yardstick of the event engine: hard spheres in a periodic box, and nothing else.
//
// What a program written for this one gas needs per collision: cells as wide as a sphere, one event
// for each sphere in a binary heap, all neighbors predicted anew after a collision or a step into
// the next cell. No regions, no pairs, no journal, no other shapes. It is frozen: the event engine
// is compared with it from version to version, so it must not become faster or slower.
#pragma once

// Collisions per second of CPU time of a gas of edge^3 spheres at the packing fraction 0.3: the
// fastest of some windows, each of at least windowMin collisions, after 4 collisions a sphere.
double rbTimeYardstick(int edge, int windows, long windowMin);
