// What engines report to their host: events for its journal, and overlaps at the start.
#pragma once

#include "dynamics/contact/contact_pairs.h"

#include <rattleback/impact.h>

#include <stdbool.h>

// An event, for the journal. Indices of bodies, -1: none.
typedef enum rbEngineEventKind {
    RB_HAPPENED_IMPACT,
    RB_HAPPENED_MICROCOLLISION,
    RB_HAPPENED_LASTING,
    RB_HAPPENED_REST,
    RB_HAPPENED_WAKE,
    RB_HAPPENED_PARTED,
    RB_HAPPENED_SENSOR_BEGIN, // by the host itself
    RB_HAPPENED_SENSOR_END,
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

// A pair of shapes that touches at the end of a step, or did in it.
typedef struct rbEngineTouch {
    int a; // bodies, a < b
    int b;
    int partA; // shapes of the bodies, as registered
    int partB;
    rbVec3 point; // m, world, at the end of the step; not known unless they touch then
    rbVec3 normal;
    rbVec3 impulse;       // N s, on B, in this step
    double approachSpeed; // m/s
    bool isBearing;       // an impulse acted in this step
    double gap;           // m, of the nearest contact at its end; INFINITY: they do not touch
} rbEngineTouch;

// The end of a step with contacts.
typedef struct rbEngineNode {
    double time;                  // s
    const rbEngineTouch* touches; // in the order of bodies, then shapes
    int touchCount;
    const rbContactPlace* places; // of the host's bodies
} rbEngineNode;

typedef void rbEngineNodeFn(void* context, const rbEngineNode* node);
