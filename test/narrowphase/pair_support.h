// Shared helpers of the pair tests: random shapes and poses with many special positions, and a slow
// oracle that uses support functions only.
#pragma once

#include "base/core/random.h"
#include "collision/narrowphase/collide.h"
#include "rb_wide.h"

#include <rattleback/shape.h>

// The closed form of two types in any order: swaps the shapes and flips the answer when only the
// other order has a function. Asserts when there is none.
rbSeparation collidePair(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA);

// A random shape of a type, sizes about 1 m, sometimes thin or needle-like. The caller destroys it.
rbGeometry* makeRandomShape(rbRandom* random, rbShapeType type);

// A pose of B relative to A: random, parallel, perpendicular, slightly rotated; coincident,
// aligned, in reach, flush.
rbTransform makeRandomPose(rbRandom* random, const rbGeometry* a, const rbGeometry* b);

// Gap along a unit vector from A to B in rbWide: least over B minus greatest over A. The signed
// distance is the largest gap over all directions. No plane among the shapes, or B is one and n is
// against its normal.
rbWide gapAlong(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA, rbVec3 n);

// Largest gap found by sampling the sphere and climbing from the best samples.
double searchGap(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA, int samples);

// Distance of a point from the surface, by the equations of the surface: positive outside.
double measureOffSurface(const rbGeometry* geometry, rbVec3 point);

// B moved by (x, y, z), not rotated.
rbTransform at(double x, double y, double z);

// Memory for queries, available while a test of the macro runs.
extern char* pairScratch;
int makePairScratch(void** state);
int freePairScratch(void** state);
#define TEST_WITH_SCRATCH(name) \
    cmocka_unit_test_setup_teardown(name, makePairScratch, freePairScratch)

// Largest of the sizes of the shapes and the distance of their origins.
double pairScale(const rbGeometry* a, const rbGeometry* b, rbTransform transformBtoA);
