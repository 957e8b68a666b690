// How both engines report bodies that overlap at the start.
#ifndef RB_ENGINES_START_OVERLAP_H
#define RB_ENGINES_START_OVERLAP_H

// An overlap at the start.
typedef struct rbStartOverlap {
    int a;
    int b;
    double depth; // m
    int count;    // of overlapping pairs; the deepest is reported
} rbStartOverlap;

#endif
