// What a few rays tell about the lengths of all: a piecewise linear model of the free path length
// over the plane across the motion.
//
// The length of a ray is L(x, y) = zB - zA, the heights of two surfaces, whose normals at the ends
// of the ray give its gradient. For convex bodies L is convex: the plane of every ray lies below
// it, and the lowest point of their upper envelope gives a lower bound and the next ray to cast.
// Between polytopes the planes are the faces themselves, so a few rays find the contact of two
// edges. The model includes the outlines that bound the places where both bodies are hit.
#pragma once

#include <stdbool.h>

#define RB_RAY_PLANES_MAX 48
#define RB_RAY_SIDES_MAX 48

typedef struct rbRayModel {
    double planes[RB_RAY_PLANES_MAX][3]; // L >= p[0] x + p[1] y + p[2]
    double lengths[RB_RAY_PLANES_MAX];   // L of the ray of each plane
    int planeCount;
    double sides[RB_RAY_SIDES_MAX][3]; // s[0] x + s[1] y <= s[2], (s[0], s[1]) of unit length
    int sideCount;
} rbRayModel;

// Adds a ray at (x, y) of the given length and gradient, replacing the longest if full.
void rbRayModel_AddPlane(rbRayModel* model, const double place[2], double length,
                         const double gradient[2]);

// Lowest place of the model with |x - center[0]| and |y - center[1]| up to width; false if nothing
// is known yet or the outlines exclude every place.
bool rbRayModel_Minimize(const rbRayModel* model, const double center[2], double width,
                         double place[2], double* lower);
