// What is done by hand to a world: actions, as text, and the one way in which they act.
//
// An action is a JSON object as docs/viewer-protocol.md describes it, {"do": "push", ...}. Live
// commands, 'run --actions' and 'replay' all hand the text of an action to rbApplyAction at the
// same time of the world; numbers are written with 17 digits, so the bits of a run come out again.
//
//   {"do": "push", "body": B, "point": P, "impulse": J}           N s at a world point
//   {"do": "spin", "body": B, "impulse": L}                       N m s
//   {"do": "drag-start", "body": B, "point": P, "kind": K, "forceMax": F, "drag": D}
//   {"do": "drag-move", "drag": D, "point": P, "duration": T}     of kind "point"
//   {"do": "drag-move", "drag": D, "position": P, "duration": T}  of kind "translate"
//   {"do": "drag-move", "drag": D, "orientation": Q, "duration": T}  of kind "rotate"
//   {"do": "drag-end", "drag": D}
//   {"do": "place", "body": B, "position": P, "orientation": Q, "velocity": V,
//    "angularVelocity": W}                                        what is absent stays
//   {"do": "add", "body": {a body as in a scene}, "number": N}
//   {"do": "delete", "body": B}
//   {"do": "set", "target": T, "name": N or "number": I, "key": K, "value": V}
//
// B is the name of a body or its number. Bodies have numbers in the order of their making, those of
// the scene first; a number is never used again. D is a number that is new for each drag. P, J, L,
// V, W are [x, y, z], Q is [w, x, y, z], all in the world frame. T of drag-move is the time in
// which the pointer wants to be there (default 1/30 s): the wanted velocity is the way divided by
// it and holds until the next move, so whoever drags sends a move for every frame.
//
// A list of actions as a file has a line for each, with the key "time" (s) in front; times rise.
// Action and frame of one time: the frame shows the state after the action.
#ifndef RB_SERVER_ACTIONS_H
#define RB_SERVER_ACTIONS_H

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
// Appends a copy. The time must not be before that of the last one.
void rbActions_Add(rbActions* actions, double time, const char* text);
// Forgets all from the index on.
void rbActions_Cut(rbActions* actions, int count);

// Appends the actions of a text of JSON lines (empty lines are skipped). On failure nothing is
// appended; the error has the line. What an action does is judged when it is applied, not here.
rbStatus rbActions_Parse(rbActions* actions, const char* text, size_t size, rbError* error);
// The JSON lines, terminated; to be freed by rbFree(text, size + 1).
char* rbActions_Format(const rbActions* actions, size_t* size);

// The same from and to a file.
rbStatus rbActions_Read(rbActions* actions, const char* path, rbError* error);
rbStatus rbActions_Write(const rbActions* actions, const char* path, rbError* error);

// ----------------------------------------------------------------------------------- who applies

// What actions refer to: numbers of bodies and open drags of one world. The scene gives the
// materials and geometries that added bodies may name.
typedef struct rbActor rbActor;

// The scene must outlive the actor; the world is one of the scene to which nothing was done yet.
rbActor* rbCreateActor(const rbScene* scene, const rbWorld* world);
void rbDestroyActor(rbActor* actor); // NULL is fine

// Judges an action completely, then does it. On failure the world is as it was and the error has a
// sentence that says what would do. The text needs to be terminated.
//
// An exception is "add": whether the engine takes a body is known when it is there. A body that is
// refused then is taken away again, which may change the last bits of what follows; the action says
// so by rbActor_WasTouched and belongs into a log all the same, with the key "refused": true added;
// such an action gives RB_STATUS_OK if it is refused again.
rbStatus rbApplyAction(rbActor* actor, rbWorld* world, const char* text, rbError* error);
// Whether the last action was refused but has touched the world.
bool rbActor_WasTouched(const rbActor* actor);

// Whether the last action, done or refused, changed what a snapshot of the world needs to be the
// same: its bodies and joints, or the place of a body that is not dynamic.
bool rbActor_ChangedStructure(const rbActor* actor);
int rbActor_CountStructures(const rbActor* actor); // how often it changed so far
// Forgets open drags without ending them: the world went back to when there were none.
void rbActor_ForgetAllDrags(rbActor* actor);

// Goes to a time and on the way applies the actions from *next on whose times are not after it;
// *next counts on. The report is that of the last advance; an action that is refused ends it, with
// the status in the report and the sentence in error. The world stops early where its engine does:
// look at report.time.
rbStepReport rbAdvanceWithActions(rbActor* actor, rbWorld* world, const rbActions* actions,
                                  int* next, double time, rbError* error);

// The names of actions; NULL after the last.
const char* rbGetActionName(int index);

// Bodies by number; the null id if it is gone or was never there, and -1.
int rbActor_GetBodyCount(const rbActor* actor); // largest number + 1
rbBodyId rbActor_GetBody(const rbActor* actor, int number);
int rbActor_FindBody(const rbActor* actor, rbBodyId bodyId);
// The number that the next added body without "number" gets is at least this.
void rbActor_ReserveBodies(rbActor* actor, int count);

// Drags that are open now.
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

#endif
