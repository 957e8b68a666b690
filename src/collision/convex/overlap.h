// Yes or no for two convex shapes: proofs that stop at the first separating axis or the first
// common point, without a distance.
//
// Every answer but OPEN is proven up to the rounding of the coordinates. What stays open, near
// touching or too flat for the proof, is left to GJK.
#pragma once

#include "collision/convex/convex.h"

typedef enum rbOverlap {
    RB_OVERLAP_APART, // more than the reach apart
    RB_OVERLAP_MEETS, // a common point exists
    RB_OVERLAP_OPEN   // not proven
} rbOverlap;

// Two boxes by their fifteen axes: are they more than reach m apart?
rbOverlap rbTestBoxes(rbVec3 halfA, rbVec3 halfB, rbTransform transformBtoA, double reach);

// Two ellipsoids by the contact function of Perram and Wertheim.
rbOverlap rbTestEllipsoids(rbVec3 axesA, rbVec3 axesB, rbTransform transformBtoA);

// Two cores, at most reach m apart, by portals (Snethen's MPR). OPEN for hulls of loose points and
// for registered shapes, which have no known inner point.
rbOverlap rbTestPortal(const rbCso* cso, double reach);
