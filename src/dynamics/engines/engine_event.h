// What engines report to their host: events for its journal, and overlaps at the start.
#pragma once

#include "dynamics/contact/contact_pairs.h"

#include <rattleback/contact.h>
#include <rattleback/event.h>

#include <stdbool.h>

// Engines know bodies by index: the id of one has no generation, which the host adds.
static inline rbBodyId rbEngineBody(int index)
{
    return (rbBodyId){(uint32_t)index + 1u, 0};
}

// An overlap at the start.
typedef struct rbStartOverlap {
    int a, b;
    double depth; // m
    int count;    // of overlapping pairs; the deepest is reported
} rbStartOverlap;

typedef void rbEngineJournalFn(void* context, const rbEvent* event);

// A pair of shapes that touches at the end of a step, or did in it. Its bytes are comparable: set
// them to zero first.
typedef struct rbEngineTouch {
    rbContactEvent event; // bodies in ascending order, shapes as registered; the impulse is that of
                          // this step, point and normal are not known unless isClosed
    bool isBearing;       // an impulse acted in this step: it may begin
    bool isClosed;        // they touch at its end: it does not end
} rbEngineTouch;

// The end of a step with contacts.
typedef struct rbEngineNode {
    double time;                  // s
    const rbEngineTouch* touches; // in the order of bodies, then shapes
    int touchCount;
    const rbContactPlace* places; // of the host's bodies
} rbEngineNode;

typedef void rbEngineNodeFn(void* context, const rbEngineNode* node);
