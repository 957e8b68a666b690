// User actions on a world, as text, and the single function that applies them.
//
// An action is a JSON object described in docs/viewer-protocol.md, {"do": "push", ...}. Live
// commands, 'run --actions' and 'replay' all pass the text of an action to rbApplyAction at the
// same time of the world. Numbers are written with 17 digits, so a run is reproduced bit by bit.
//
//   {"do": "push", "body": B, "point": P, "impulse": J}           N s at a world point
//   {"do": "spin", "body": B, "impulse": L}                       N m s
//   {"do": "drag-start", "body": B, "point": P, "kind": K, "forceMax": F, "drag": D}
//   {"do": "drag-move", "drag": D, "point": P, "duration": T}     of kind "point"
//   {"do": "drag-move", "drag": D, "position": P, "duration": T}  of kind "translate"
//   {"do": "drag-move", "drag": D, "orientation": Q, "duration": T}  of kind "rotate"
//   {"do": "drag-end", "drag": D}
//   {"do": "place", "body": B, "position": P, "orientation": Q, "velocity": V,
//    "angularVelocity": W}                                        absent values stay unchanged
//   {"do": "add", "body": {a body as in a scene}, "number": N}
//   {"do": "delete", "body": B}
//   {"do": "set", "target": T, "name": N or "number": I, "key": K, "value": V}
//
// B is the name of a body or its number. Bodies are numbered in the order of creation, those of the
// scene first; a number is never reused. D is a new number for each drag. P, J, L, V, W are [x, y,
// z], Q is [w, x, y, z], all in the world frame. T of drag-move is the time in which the point
// should reach the pointer (default 1/30 s): the target velocity is the displacement divided by it
// and holds until the next move, so a client sends a move for every frame.
//
// A file of actions has one line per action, with the key "time" (s) first; times must not
// decrease. If an action and a frame have the same time, the frame shows the state after the
// action.
#pragma once

#include <rattleback/scene.h>
#include <rattleback/world.h>

#include <stdbool.h>

#define RB_ACTION_SIZE_MAX 65536   // bytes of the text of one
#define RB_ACTION_DEPTH_MAX 16     // nesting of JSON values
#define RB_ACTION_NUMBER_MAX 1e100 // larger numbers are refused
#define RB_ACTIONS_MAX 10000000    // of one list
#define RB_ACTION_DRAGS_MAX 64     // open at a time

// ------------------------------------------------------------------------------------- the list

typedef struct rbAction {
    double time; // s, of the world
    char* text;  // JSON without "time", terminated; own memory
    size_t size; // of the text without its terminator
} rbAction;

// Actions in the order in which they were applied. Zero initialization gives an empty list.
typedef struct rbActions {
    rbAction* data;
    int count;
    int capacity;
} rbActions;

void rbActions_Free(rbActions* actions);
// Appends a copy. The time must not be before that of the last action.
void rbActions_Add(rbActions* actions, double time, const char* text);
// Removes all actions starting at the index.
void rbActions_Cut(rbActions* actions, int count);

// Appends the actions of a text of JSON lines (empty lines are skipped). On failure nothing is
// appended; the error has the line. The content of an action is validated when it is applied, not
// here.
rbStatus rbActions_Parse(rbActions* actions, const char* text, size_t size, rbError* error);
// The JSON lines, terminated; free with rbFree(text, size + 1).
char* rbActions_Format(const rbActions* actions, size_t* size);

// The same from and to a file.
rbStatus rbActions_Read(rbActions* actions, const char* path, rbError* error);
rbStatus rbActions_Write(const rbActions* actions, const char* path, rbError* error);

// ----------------------------------------------------------------------------------- who applies

// The objects that actions refer to: numbers of bodies and open drags of one world. The scene
// supplies the materials and geometries that added bodies may name.
typedef struct rbActor rbActor;

// The scene must outlive the actor; the world must be a new world of the scene, without changes.
rbActor* rbCreateActor(const rbScene* scene, const rbWorld* world);
void rbDestroyActor(rbActor* actor); // NULL is fine

// Validates an action completely, then applies it. On failure the world is unchanged and the error
// has a message with the remedy. The text must be terminated.
//
// An exception is "add": only after the body is added is it known whether the engine accepts it. A
// refused body is then removed again, which may change the last bits of later states.
// rbActor_WasTouched reports this; such an action must still be logged, with the key "refused":
// true added. It returns RB_STATUS_OK if it is refused again.
rbStatus rbApplyAction(rbActor* actor, rbWorld* world, const char* text, rbError* error);
// Whether the last action was refused but touched the world.
bool rbActor_WasTouched(const rbActor* actor);

// Whether the last action, applied or refused, changed the structure that a snapshot of the world
// relies on: its bodies and joints, or the pose of a body that is not dynamic.
bool rbActor_ChangedStructure(const rbActor* actor);
int rbActor_CountStructures(const rbActor* actor); // how often it changed so far
// Forgets open drags without ending them: the world went back to a time when there were none.
void rbActor_ForgetAllDrags(rbActor* actor);

// Advances to a time and applies the actions, starting at *next, whose times are not after it;
// *next is incremented. The report is that of the last advance. A refused action ends the advance,
// with the status in the report and the message in error. The world stops early where its engine
// does: check report.time.
rbStepReport rbAdvanceWithActions(rbActor* actor, rbWorld* world, const rbActions* actions,
                                  int* next, double time, rbError* error);

// The names of actions; NULL after the last.
const char* rbGetActionName(int index);

// Bodies by number; the null id if the body was deleted or never existed, and for -1.
int rbActor_GetBodyCount(const rbActor* actor); // largest number + 1
rbBodyId rbActor_GetBody(const rbActor* actor, int number);
int rbActor_FindBody(const rbActor* actor, rbBodyId bodyId);
// The number of the next added body without "number" will be at least this.
void rbActor_ReserveBodies(rbActor* actor, int count);

// Drags that are currently open.
typedef enum rbDragKind {
    RB_DRAG_POINT,     // a point of the body goes after the pointer; the body turns freely
    RB_DRAG_TRANSLATE, // the body's origin goes to a position, the body does not turn (unless its
                       // joints turn it)
    RB_DRAG_ROTATE,    // the body turns to an orientation, its center of mass stays (unless it has
                       // joints)
    RB_DRAG_KIND_COUNT
} rbDragKind;

typedef struct rbDragView {
    int drag; // its number
    int body; // number
    rbDragKind kind;
    rbVec3 point; // m, world: the point of the body that is held, now
} rbDragView;

int rbActor_GetDragCount(const rbActor* actor);
rbDragView rbActor_GetDrag(const rbActor* actor, const rbWorld* world, int index);
