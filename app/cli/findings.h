// Suspicious properties of a scene before it moves: findings of 'check', warnings of 'run'.
//
// The reader already refuses scenes that cannot be simulated. Findings are about scenes that can be
// simulated but most likely contain a mistake: numbers in other units than SI, an integrator that
// the loads do not allow, a body far from all others, bodies that pass through each other because
// the engine has no collisions.
#pragma once

#include "cli/mechanisms.h"

#include <rattleback/scene.h>

#define RB_FINDINGS_MAX 200

typedef struct rbFinding {
    bool isError; // otherwise a warning
    char text[RB_MOTOR_WARNING_SIZE];
} rbFinding;

typedef struct rbFindings {
    rbFinding list[RB_FINDINGS_MAX];
    int count; // stored in the list; the two below count all
    int errorCount;
    int warningCount;
} rbFindings;

// Properties of a body before it moves.
typedef struct rbBodyFacts {
    const char* name;
    rbBodyType type;
    rbMotionType motion;
    bool isFallback;
    bool isLinked;  // has joints or springs
    bool isStepped; // moved by the step engine, not by the integrator of free flight
    rbBodyState state;
    rbMassProperties mass;
    rbVec3 moments;  // kg m^2, principal
    double volume;   // m^3, of all its solid shapes
    double size;     // m, largest edge of the box around a bounded shape; 0 without one
    double friction; // largest of its shapes, stiction included
    int shapeCount;
} rbBodyFacts;

typedef struct rbSceneFacts {
    rbBodyId* ids;
    rbBodyFacts* bodies;
    int bodyCount;
} rbSceneFacts;

// For a prepared world.
void rbSceneFacts_Gather(rbSceneFacts* facts, const rbWorld* world);
void rbSceneFacts_Free(rbSceneFacts* facts);

// Appends likely mistakes: odd units, too much friction, collisions that the engine does not
// support. 'run' warns about these.
void rbFindings_ExamineMistakes(rbFindings* findings, const rbSceneFacts* facts,
                                const rbSceneInfo* info, const rbWorld* world);
// Appends all findings about a prepared world.
void rbFindings_Examine(rbFindings* findings, const rbSceneFacts* facts, const rbSceneInfo* info,
                        const rbWorld* world);
