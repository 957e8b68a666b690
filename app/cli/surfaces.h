// The surfaces of all bodies of a world as triangles in their body frames, for files of pictures.
#ifndef RB_CLI_SURFACES_H
#define RB_CLI_SURFACES_H

#include <rattleback/output.h>
#include <rattleback/world.h>

typedef struct rbSurfaces {
    rbVtkShape* shapes;
    rbTriangles* triangles; // one a shape, owned
    int count;
    int capacity;
} rbSurfaces;

// Round shapes are cut into triangles to a hundredth of their radius; planes become squares.
rbStatus rbSurfaces_Make(rbSurfaces* surfaces, const rbWorld* world, rbError* error);
void rbSurfaces_Free(rbSurfaces* surfaces);

#endif
