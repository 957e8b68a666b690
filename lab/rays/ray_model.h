// What a few rays tell about the length of all: a piecewise linear model of the free way over the
// plane across the motion.
//
// The length of a ray is L(x, y) = zB - zA, the heights of two surfaces, whose normals at the ends
// of the ray give its gradient. For convex bodies L is convex: every ray's plane lies below it, the
// lowest point of the highest plane is a lower bound, and the next ray to shoot. Between polytopes
// the planes are the faces themselves, so that a few rays find the contact of two edges. Lines that
// bound the places where both bodies are met (their outlines) are part of the model.
#ifndef RB_LAB_RAY_MODEL_H
#define RB_LAB_RAY_MODEL_H

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

// A ray at (x, y) of the given length and gradient. The longest ray makes room.
void rbRayModel_AddPlane(rbRayModel* model, const double place[2], double length,
                         const double gradient[2]);

// Lowest place of the model with |x - center[0]| and |y - center[1]| up to width; false if nothing
// is known yet or the outlines leave no place.
bool rbRayModel_Minimize(const rbRayModel* model, const double center[2], double width,
                         double place[2], double* lower);

#endif
