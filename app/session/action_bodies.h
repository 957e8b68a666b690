// Which bodies a list of actions creates: recordings name all bodies before their first frame.
#pragma once

#include <rattleback/output.h>
#include <rattleback/scene.h>

#include <stdbool.h>

// A body that an action adds.
typedef struct rbAddedBody {
    int number;
    char name[RB_SCENE_NAME_MAX + 1]; // "added-<number>" where it has none
    char* text;                       // JSON of the body, terminated
} rbAddedBody;

// Whether an action adds a body; next is the number used when it names none. Mistakes in an action
// are reported when it is applied, not here. Free it in either case.
bool rbReadAddedBody(const char* actionText, int next, rbAddedBody* body);
void rbAddedBody_Free(rbAddedBody* body);

// Whether an action changes only velocities and parameters, which a snapshot of the world holds.
// The others change bodies or joints, or where those that do not move freely are.
bool rbKeepsStructure(const char* actionText);
