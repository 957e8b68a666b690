// The outline of a solid of revolution about z: a chain of lines and arcs in the half plane r >= 0,
// from the axis to the axis, upward.
#ifndef RB_GEOMETRY_OUTLINE_H
#define RB_GEOMETRY_OUTLINE_H

#include <stdbool.h>

#define RB_OUTLINE_PIECES_MAX 4

// A piece of a profile: from the end of the one before to (r, z), along a line, or along an arc
// about a point of the axis between two angles from the plane of the equator.
typedef struct rbOutlinePiece {
    bool isArc;
    double r, z;           // its end
    double center, radius; // of an arc
    double angleA, angleB; // rad
    double length;         // m
} rbOutlinePiece;

typedef struct rbOutline {
    double startZ; // m; it starts at (0, startZ)
    double radius; // m, largest r
    rbOutlinePiece pieces[RB_OUTLINE_PIECES_MAX];
    int count;
} rbOutline;

// A line from the end of the outline to (r, z); nothing if it has no length.
void rbOutline_AddLine(rbOutline* outline, double r, double z);
// An arc; its end is given too, so that it is exact where it should be.
void rbOutline_AddArc(rbOutline* outline, rbOutlinePiece arc);

#endif
