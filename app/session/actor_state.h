// Internals of an actor, shared by the files that apply actions. See actions.h.
#pragma once

#include "base/core/memory.h"
#include "io/scene/nearest_name.h"
#include "io/scene/reader.h"
#include "session/actions.h"

typedef struct rbDrag {
    int number;
    rbBodyId bodyId;
    rbDragKind kind;
    rbVec3 localPoint; // m, body frame: the held point
    double forceMax;   // N
    double torqueMax;  // N m
    double mass;       // kg, of all bodies connected to the body
    bool hasJoints;    // of the scene
    rbJointId jointId; // step engine, holds the point; null: it is not held
    rbJointId turnId;  // step engine, holds the orientation; null: it is not held
} rbDrag;

// A shape of an added body that named a material of the scene.
typedef struct rbMaterialUse {
    rbBodyId bodyId;
    int shape;
    int material; // index in the scene
} rbMaterialUse;

struct rbActor {
    const rbScene* scene;
    int sceneBodyCount;         // the first numbers
    RB_ARRAY(rbBodyId) bodies;  // by number; null: deleted, or never existed
    RB_ARRAY(rbJointId) joints; // by number, those of the scene
    RB_ARRAY(rbSpringId) springs;
    RB_ARRAY(rbDrag) drags;
    RB_ARRAY(rbMaterialUse) uses;
    int reserved; // see rbActor_ReserveBodies
    bool wasTouched;
    bool hasOtherStructure; // see rbActor_ChangedStructure
    int structureCount;
};

// All fields of actions. Absent ones keep their defaults; see hasKey.
typedef struct rbActionFields {
    const char* name;      // "do"
    const json_t* body;    // name, number or, of add, an object
    const json_t* refused; // true, or absent
    rbVec3 point;          // m
    rbVec3 impulse;        // N s or N m s
    rbVec3 position;       // m
    rbQuat orientation;
    rbVec3 velocity;        // m/s
    rbVec3 angularVelocity; // rad/s
    const char* kind;       // of a drag
    double forceMax;        // N
    double duration;        // s
    int64_t drag;
    int64_t number;  // of an added body, a joint or a spring
    int64_t freedom; // of a joint
    const char* target;
    const json_t* object; // "name" of what is set: string
    const char* key;
    const json_t* value;
} rbActionFields;

// An action in progress.
typedef struct rbActionCommand {
    rbActor* actor;
    rbWorld* world;
    const json_t* root; // the whole command
    const rbActionFields* fields;
    rbReader* reader; // for error messages
} rbActionCommand;

typedef rbStatus rbActionCommandFn(const rbActionCommand* command);

// Reads the fields of an action by the table of its keys; their meaning is validated when it is
// applied.
rbStatus rbReadAction(const json_t* root, rbActionFields* fields, rbError* error);

bool rbActionCommand_HasKey(const rbActionCommand* command, const char* key);
// Sets a message as the error of the action; returns RB_STATUS_INVALID.
rbStatus rbActionCommand_Fail(const rbActionCommand* command, const char* format, ...)
    RB_PRINTF(2, 3);
// The body that the action names; an error when there is none or, with verb ("pushed"), when it is
// not dynamic.
rbStatus rbActionCommand_FindBody(const rbActionCommand* command, const char* verb,
                                  rbBodyId* bodyId);
// A suggestion for a mistyped name: ...; did you mean "x"?
const char* rbActionCommand_Suggest(const char* word, rbCandidateFn* candidateFn, int count,
                                    const void* context, char hint[96]);

// actor_drag.c
rbActionCommandFn rbStartDragCommand, rbMoveDragCommand, rbEndDragCommand;
// Ends the drags of a body that is deleted.
void rbActor_ForgetDrags(rbActor* actor, rbBodyId bodyId);

// actor_set.c
rbActionCommandFn rbSetCommand;
// A named material of the scene with the current values of the first shape that has it.
rbMaterial rbActor_GetMaterial(const rbActor* actor, const rbWorld* world, int index);
// Shapes of a new body get the current values of their materials.
void rbActor_NoteMaterials(rbActor* actor, rbWorld* world, rbBodyId bodyId);
