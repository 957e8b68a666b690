// Meshes for the pair tests.
#pragma once

#include "base/core/random.h"

#include <rattleback/collision.h>

// The faces of a box or hull as a mesh, a polyhedron or a soup.
rbGeometry* makeMeshOf(const rbGeometry* convex, rbShapeType type);

// A closed surface around the origin with random radii of 0.4 to 1 m on a grid of directions.
rbGeometry* makeBumpy(rbRandom* random, int bands, int segments, rbShapeType type);

// Unconnected triangles, within 1 m of the origin.
rbGeometry* makeRandomSoup(rbRandom* random, int count);

// A star-shaped prism.
rbGeometry* makeStar(rbRandom* random, int corners, rbShapeType type);

// A ring around z: its tube, with a square section, extends from inner to outer m, and z from -half
// to half.
rbGeometry* makeRing(double inner, double outer, double half, int segments);

// A ball of radius outer with a hollow of radius inner, both surfaces in one mesh.
rbGeometry* makeHollowBall(double inner, double outer);

// A square floor of n x n cells of two triangles, half size m, at z = 0, as an open mesh.
rbGeometry* makeFloor(double half, int cells);

// A geometry of any type, about 1 m.
rbGeometry* makeAnyShape(rbRandom* random, rbShapeType type);
