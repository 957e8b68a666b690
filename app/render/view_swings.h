// What hangs from one point of the world: how far it reaches, and how far gravity swings it.
#pragma once

#include <rattleback/world.h>

typedef struct rbSwing {
    rbVec3 pivot;  // m, where it is attached to the world
    rbVec3 across; // unit, horizontal, along which it swings; zero: it hangs still
    double reach;  // m, of its farthest point when it is stretched out
    double angle;  // rad, from the vertical, that its energy carries it to, at most pi
} rbSwing;

// The pendulums and chains of a world, at most capacity of them; returns their number. Bodies
// held at two places, or turning about an upright axis, are left out.
int rbFindSwings(const rbWorld* world, rbVec3 up, rbSwing* swings, int capacity);
