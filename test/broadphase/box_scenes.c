#include "box_scenes.h"

#include <math.h>

rbBounds rbMakeBoxAround(rbVec3 lower, rbVec3 edges)
{
    return (rbBounds){lower, rbAdd(lower, edges)};
}

static rbVec3 anyPoint(rbRandom* random, double size)
{
    double x = rbRandom_Range(random, -size, size);
    double y = rbRandom_Range(random, -size, size);
    double z = rbRandom_Range(random, -size, size);
    return rbMakeVec3(x, y, z);
}

rbBounds rbShiftBounds(rbRandom* random, rbBounds box, double step)
{
    rbVec3 shift = anyPoint(random, step);
    rbBounds moved = {rbAdd(box.lower, shift), rbAdd(box.upper, shift)};
    return moved;
}

static rbBounds makeEqual(rbRandom* random)
{
    return rbMakeBoxAround(anyPoint(random, 3.0), rbMakeVec3(1.0, 1.0, 1.0));
}

static double anySize(rbRandom* random, double decades)
{
    return pow(10.0, -decades * rbRandom_Unit(random));
}

static rbBounds makeDecades(rbRandom* random)
{
    double x = anySize(random, 4.0);
    double y = anySize(random, 4.0);
    return rbMakeBoxAround(anyPoint(random, 1.0), rbMakeVec3(x, y, anySize(random, 4.0)));
}

// Half of them within a hundredth of the space.
static rbBounds makeCluster(rbRandom* random)
{
    double size = rbRandom_Index(random, 2) == 0 ? 0.05 : 5.0;
    return rbMakeBoxAround(anyPoint(random, size), rbMakeVec3(0.02, 0.02, 0.02));
}

// Integers: boxes touch in faces, edges, corners, coincide, or have zero size.
static rbBounds makeTouching(rbRandom* random)
{
    rbVec3 p = anyPoint(random, 4.0);
    double x = rbRandom_Index(random, 3);
    double y = rbRandom_Index(random, 3);
    return rbMakeBoxAround(rbMakeVec3(floor(p.x), floor(p.y), floor(p.z)),
                           rbMakeVec3(x, y, rbRandom_Index(random, 3)));
}

static rbBounds makePoint(rbRandom* random)
{
    rbVec3 p = anyPoint(random, 2.0);
    return rbMakeBoxAround(rbMakeVec3(floor(p.x), floor(p.y), 0.5), RB_VEC3_ZERO);
}

static rbBounds makeFlat(rbRandom* random)
{
    rbVec3 p = anyPoint(random, 4.0);
    return rbMakeBoxAround(rbMakeVec3(p.x, p.y, 0.0), rbMakeVec3(1.0, 0.5, 0.1));
}

// Sizes from 1e-9 to 1e9, one box in eight far larger than the rest.
static rbBounds makeHugeAndTiny(rbRandom* random)
{
    double edge = rbRandom_Index(random, 8) == 0 ? 1e9 * rbRandom_Unit(random) : 1e-9;
    edge = rbRandom_Index(random, 3) == 0 ? 0.3 : edge;
    rbVec3 lower = anyPoint(random, edge > 1.0 ? edge : 1.0);
    return rbMakeBoxAround(lower, rbMakeVec3(edge, edge, edge));
}

// Around 1e12 m, where a unit box is 1e-12 of its coordinates, and some near the origin.
static rbBounds makeFar(rbRandom* random)
{
    rbVec3 p = anyPoint(random, 3.0);
    if (rbRandom_Index(random, 4) != 0) {
        p = rbAdd(p, rbMakeVec3(1e12, -1e12, 1e12));
    }
    return rbMakeBoxAround(p, rbMakeVec3(1.0, 1.0, 1.0));
}

// Coordinates beyond any cell and the range of float.
static rbBounds makeBeyond(rbRandom* random)
{
    double scale = rbRandom_Index(random, 2) == 0 ? 1e100 : 1e-100;
    rbVec3 p = rbScale(scale, anyPoint(random, 2.0));
    return rbMakeBoxAround(p, rbScale(scale, rbMakeVec3(1.0, 1.0, 1.0)));
}

// Differences below the resolution of float.
static rbBounds makeFine(rbRandom* random)
{
    rbVec3 p = rbAdd(rbScale(1e-9, anyPoint(random, 3.0)), rbMakeVec3(1.0, 2.0, 3.0));
    return rbMakeBoxAround(p, rbMakeVec3(1e-9, 1e-9, 1e-9));
}

const rbBoxScene rbBoxScenes[] = {
    {"equal", makeEqual, 0.3},
    {"four decades of size", makeDecades, 0.01},
    {"cluster", makeCluster, 0.01},
    {"touching", makeTouching, 0.0},
    {"points", makePoint, 0.0},
    {"flat", makeFlat, 0.1},
    {"huge and tiny", makeHugeAndTiny, 0.1},
    {"far away", makeFar, 0.5},
    {"beyond", makeBeyond, 0.1},
    {"fine", makeFine, 1e-10},
};
const int rbBoxSceneCount = (int)(sizeof rbBoxScenes / sizeof rbBoxScenes[0]);
