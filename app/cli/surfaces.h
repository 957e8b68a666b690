// The surfaces of all bodies of a world as triangles in their body frames, for VTK files.
#pragma once

#include <rattleback/output.h>
#include <rattleback/world.h>

typedef struct rbSurfaces {
    rbVtkShape* shapes;
    rbTriangles* triangles; // one per shape, owned
    int count;
    int capacity;
} rbSurfaces;

// Round shapes are triangulated to a hundredth of their radius; planes become squares.
rbStatus rbSurfaces_Make(rbSurfaces* surfaces, const rbWorld* world, rbError* error);
void rbSurfaces_Free(rbSurfaces* surfaces);
