// Undo and redo of user actions.
//
// To undo, the world goes back to the time of the last action and continues without it: the log is
// cut there, and what was cut is kept. To redo, it is appended again and the world goes to the time
// of its last action. What a user does as one thing is undone as one: a drag with all its moves,
// and the values of a slider that were set one after another. A new action forgets what was undone.
#include "session/session_state.h"

#include <math.h>
#include <string.h>

#define SET_GAP 1.0 // s of simulated time between two values of one slider

// ------------------------------------------------------------------------------------------ groups

static json_t* readAction(const rbActions* actions, int index)
{
    return json_loads(actions->data[index].text, 0, NULL);
}

static bool isNamed(const json_t* action, const char* start)
{
    const char* name = json_string_value(json_object_get(action, "do"));
    return name != NULL && strncmp(name, start, strlen(start)) == 0;
}

// The first action of the drag that the last one belongs to.
static int findDragStart(const rbActions* actions, int last, json_int_t drag)
{
    for (int i = last; i >= 0; --i) {
        json_t* action = readAction(actions, i);
        bool isStart = isNamed(action, "drag-start") &&
                       json_integer_value(json_object_get(action, "drag")) == drag;
        json_decref(action);
        if (isStart) {
            return i;
        }
    }
    return last;
}

// The first of the consecutive values of one setting.
static int findFirstValue(const rbActions* actions, int last, json_t* setting)
{
    (void)json_object_del(setting, "value");
    int first = last;
    bool isSame = true;
    while (first > 0 && isSame) {
        json_t* before = readAction(actions, first - 1);
        (void)json_object_del(before, "value");
        isSame = json_equal(before, setting) == 1 &&
                 actions->data[first].time - actions->data[first - 1].time < SET_GAP;
        json_decref(before);
        first -= isSame ? 1 : 0;
    }
    return first;
}

// Where the last thing that was done begins.
static int findGroup(const rbActions* actions)
{
    int last = actions->count - 1;
    json_t* action = readAction(actions, last);
    int first = last;
    if (isNamed(action, "drag-")) {
        first = findDragStart(actions, last, json_integer_value(json_object_get(action, "drag")));
    } else if (isNamed(action, "set")) {
        first = findFirstValue(actions, last, action);
    }
    json_decref(action);
    return first;
}

// --------------------------------------------------------------------------------------- the lists

void rbSession_ForgetUndone(rbSession* session)
{
    rbActions_Cut(&session->undone, 0);
    session->undoneGroups.count = 0;
}

// Undone actions are in the order of their undoing: those of the group done first are last.
static void keepUndone(rbSession* session, int first)
{
    int count = session->actions.count - first;
    for (int i = session->actions.count - 1; i >= first; --i) {
        const rbAction* action = &session->actions.data[i];
        rbAction copy = {.time = action->time, .text = rbAlloc(action->size + 1)};
        copy.size = action->size;
        memcpy(copy.text, action->text, action->size + 1);
        rbArray_Push(session->undone, copy);
    }
    rbArray_Push(session->undoneGroups, count);
}

// Appends the group that was undone last to the log again.
static void takeUndone(rbSession* session)
{
    int count = session->undoneGroups.data[--session->undoneGroups.count];
    for (int i = 0; i < count; ++i) {
        const rbAction* action = &session->undone.data[session->undone.count - 1];
        rbActions_Add(&session->actions, action->time, action->text);
        rbActions_Cut(&session->undone, session->undone.count - 1);
    }
}

// ---------------------------------------------------------------------------------------- the
// world

// Brings the world to a time with the actions of the log; the history after the first time changes.
static rbStatus goTo(rbSession* session, double from, double time, int actionCount, rbError* error)
{
    session->drags.count = 0;
    rbSession_DropSnapshots(session, from, actionCount);
    if (!rbSession_Restore(session, time, error)) {
        return error->status;
    }
    rbStore_DropAfter(session->store, nextafter(from, -INFINITY));
    double duration = rbScene_GetInfo(session->scene)->duration;
    session->stopTime = time < duration ? duration : INFINITY;
    rbSession_Say(session, "");
    session->hasEnded = false;
    rbStatus status = rbSession_ShowAction(session, error);
    rbSession_RestartPace(session);
    return status;
}

rbStatus rbSession_Undo(rbSession* session, rbError* error)
{
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    if (session->actions.count == 0) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND, "undo: nothing was done yet");
    }
    int first = findGroup(&session->actions);
    double time = session->actions.data[first].time;
    keepUndone(session, first);
    rbActions_Cut(&session->actions, first);
    return goTo(session, time, time, first, error);
}

rbStatus rbSession_Redo(rbSession* session, rbError* error)
{
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    if (session->undoneGroups.count == 0) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND, "redo: nothing was undone");
    }
    int before = session->actions.count;
    takeUndone(session);
    double from = session->actions.data[before].time;
    return goTo(session, from, session->actions.data[session->actions.count - 1].time, before,
                error);
}
