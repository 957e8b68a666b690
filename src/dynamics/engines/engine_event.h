// What engines report to their host: events for its journal, and overlaps at the start.
#ifndef RB_ENGINES_ENGINE_EVENT_H
#define RB_ENGINES_ENGINE_EVENT_H

#include <rattleback/impact.h>

// An event, for the journal. Indices of bodies, -1: none.
typedef enum rbEngineEventKind {
    RB_HAPPENED_IMPACT,
    RB_HAPPENED_MICROCOLLISION,
    RB_HAPPENED_LASTING,
    RB_HAPPENED_REST,
    RB_HAPPENED_WAKE,
    RB_HAPPENED_PARTED,
    RB_HAPPENED_COUNT
} rbEngineEventKind;

typedef struct rbEngineEvent {
    double time;
    rbEngineEventKind kind;
    int a;
    int b;
    rbImpactLaw law;
    uint32_t history;
    double energyChange; // J
    double energyBefore; // J
    double frictionWork; // J
    rbVec3 point;
    rbVec3 normal;
    rbVec3 impulse;
    double approachSpeed;
} rbEngineEvent;

// An overlap at the start.
typedef struct rbStartOverlap {
    int a;
    int b;
    double depth; // m
    int count;    // of overlapping pairs; the deepest is reported
} rbStartOverlap;

typedef void rbEngineJournalFn(void* context, const rbEngineEvent* event);

#endif
