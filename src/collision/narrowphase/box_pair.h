// Signed distance between two boxes, the second of which may be a segment.
#ifndef RB_NARROWPHASE_BOX_PAIR_H
#define RB_NARROWPHASE_BOX_PAIR_H

#include <rattleback/vecmath.h>

// In the frame of A.
typedef struct rbBoxPair {
    double halfA[3];
    double halfB[3]; // (0, 0, half length) for a segment
    rbVec3 axesB[3];
    double entries[3][3]; // component i of axis j of B
    rbVec3 center;        // of B
    double scale;         // the reference for rounding errors
    bool isSegment;
} rbBoxPair;

typedef struct rbCoreSeparation {
    double distance; // signed
    rbVec3 normal;   // unit, from A to B
    rbVec3 pointA;   // on A; the one on B is pointA + distance * normal
} rbCoreSeparation;

rbBoxPair rbMakeBoxPair(rbVec3 halfA, rbVec3 halfB, rbTransform transformBtoA);
rbCoreSeparation rbMeasureBoxes(const rbBoxPair* pair);

// The same where a separating axis attains the distance; false where a vertex is nearest: there
// rbMeasureBoxes takes three times as long, and GJK does not.
bool rbMeasureBoxesByAxes(const rbBoxPair* pair, rbCoreSeparation* core);

#endif
