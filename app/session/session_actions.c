// Actions of clients: when they act, which of them are logged, and the drags that clients hold.
//
// A client has one drag at a time; its moves only set the pointer position. The body is pulled by a
// logged move for every frame, so that a replay needs only the log.
#include "session/session_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAG_DURATION_FRAMES 2.0 // in which the pointer should be reached

static int findClientDrag(const rbSession* session, int client)
{
    for (int i = 0; i < session->drags.count; ++i) {
        if (session->drags.data[i].client == client) {
            return i;
        }
    }
    return -1;
}

static void removeClientDrag(rbSession* session, int index)
{
    for (int i = index + 1; i < session->drags.count; ++i) {
        session->drags.data[i - 1] = session->drags.data[i];
    }
    session->drags.count -= 1;
}

// Removes drags of deleted bodies.
static void forgetEndedDrags(rbSession* session)
{
    for (int i = session->drags.count - 1; i >= 0; --i) {
        bool isOpen = false;
        for (int j = 0; j < rbActor_GetDragCount(session->actor); ++j) {
            rbDragView view = rbActor_GetDrag(session->actor, session->world, j);
            isOpen = isOpen || view.drag == session->drags.data[i].drag;
        }
        if (!isOpen) {
            removeClientDrag(session, i);
        }
    }
}

// --------------------------------------------------------------------------------------- the log

// Logs the change as applied; a refused one that left a trace is logged too.
static rbStatus applyAndLog(rbSession* session, json_t* root, rbError* error)
{
    if (session->actions.count >= RB_ACTIONS_MAX) {
        return rbError_Set(
            error, RB_STATUS_LIMIT,
            "%d actions have been logged, which is the limit; save the recording and reset",
            session->actions.count);
    }
    char* text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    RB_ASSERT(text != NULL);
    rbStatus status = rbApplyAction(session->actor, session->world, text, error);
    bool isLogged = status == RB_STATUS_OK;
    if (status != RB_STATUS_OK && rbActor_WasTouched(session->actor)) {
        free(text);
        (void)json_object_set_new(root, "refused", json_true());
        text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
        isLogged = true;
    }
    if (isLogged) {
        rbActions_Add(&session->actions, rbWorld_GetTime(session->world), text);
    }
    if (rbActor_ChangedStructure(session->actor)) {
        session->structure = ++session->structureCount;
    }
    free(text); // jansson's
    return status;
}

// Updates the store after bodies were added or deleted.
static rbStatus notifyStore(rbSession* session, rbError* error)
{
    int count = rbStore_GetBodyCount(session->store);
    for (int i = 0; i < count; ++i) {
        rbBodyId known = rbStore_GetBodyId(session->store, i);
        if (!RB_IS_NULL(known) && RB_IS_NULL(rbActor_GetBody(session->actor, i))) {
            rbStore_DeleteBody(session->store, i);
        }
    }
    for (int i = count; i < rbActor_GetBodyCount(session->actor); ++i) {
        rbBodyId bodyId = rbActor_GetBody(session->actor, i);
        if (rbStore_AddBody(session->store, session->world, bodyId, error) != i) {
            return RB_STATUS_UNSUPPORTED;
        }
    }
    return RB_STATUS_OK;
}

// Clients and panels see the state after an action.
rbStatus rbSession_ShowAction(rbSession* session, rbError* error)
{
    rbStatus status = notifyStore(session, error);
    forgetEndedDrags(session);
    rbStore_TakeEvents(session->store, session->world);
    rbStore_TakeFrame(session->store, session->world);
    return status;
}

// ---------------------------------------------------------------------------------- where it acts

// Drags that were open at an abandoned time no longer have a holder.
static void endLostDrags(rbSession* session)
{
    while (rbActor_GetDragCount(session->actor) > session->drags.count) {
        rbDragView view = rbActor_GetDrag(session->actor, session->world, 0);
        json_t* root = json_pack("{s:s, s:i}", "do", "drag-end", "drag", view.drag);
        rbStatus status = applyAndLog(session, root, NULL);
        RB_ASSERT(status == RB_STATUS_OK);
        json_decref(root);
        if (status != RB_STATUS_OK) {
            break;
        }
    }
}

// Whether the action would be accepted now; the trial leaves no trace.
static rbStatus tryAction(rbSession* session, json_t* root, rbError* error)
{
    char* text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    RB_ASSERT(text != NULL);
    rbStatus status = rbApplyAction(session->actor, session->world, text, error);
    free(text); // jansson's
    if (rbActor_ChangedStructure(session->actor)) {
        session->structure = ++session->structureCount;
    }
    return status;
}

// Applies an action at the time shown. If that is an earlier time, the world goes back first and
// tries the action; only if it is accepted are the later times discarded.
static rbStatus actThere(rbSession* session, json_t* root, rbError* error)
{
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    if (!rbSession_IsRewound(session)) {
        return applyAndLog(session, root, error);
    }
    double shown = rbStore_GetShownTime(session->store);
    double end = rbWorld_GetTime(session->world);
    if (!rbSession_Restore(session, shown, error)) {
        return error->status;
    }
    rbStatus status = tryAction(session, root, error);
    rbError inner = {0};
    if (!rbSession_Restore(session, status == RB_STATUS_OK ? shown : end, &inner)) {
        *error = inner;
        return inner.status;
    }
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbSession_Branch(session);
    endLostDrags(session);
    rbSession_Say(session, "");
    return applyAndLog(session, root, error);
}

// ------------------------------------------------------------------------------------------- drags

static rbStatus startDrag(rbSession* session, int client, json_t* root, rbError* error)
{
    if (findClientDrag(session, client) >= 0) {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "drag-start: you are already dragging; end that with \"drag-end\"");
    }
    rbClientDrag drag = {.client = client, .drag = session->nextDrag};
    (void)json_object_set_new(root, "drag", json_integer(drag.drag));
    rbStatus status = actThere(session, root, error);
    if (status == RB_STATUS_OK) {
        int index = rbActor_GetDragCount(session->actor) - 1;
        drag.kind = rbActor_GetDrag(session->actor, session->world, index).kind;
        session->nextDrag += 1;
        rbArray_Push(session->drags, drag);
    }
    return status;
}

static rbStatus failNoDrag(const char* name, rbError* error)
{
    return rbError_Set(error, RB_STATUS_INVALID,
                       "%s: you are not dragging (the body may be deleted, or the time went back); "
                       "begin with \"drag-start\"",
                       name);
}

// Stores the pointer position; the following frames pull.
static rbStatus moveDrag(rbSession* session, int client, json_t* root, rbError* error)
{
    static const char* const keys[RB_DRAG_KIND_COUNT] = {"point", "position", "orientation"};
    int index = findClientDrag(session, client);
    if (index < 0) {
        return failNoDrag("drag-move", error);
    }
    rbClientDrag* drag = &session->drags.data[index];
    (void)json_object_set_new(root, "drag", json_integer(drag->drag));
    rbActionFields fields;
    rbStatus status = rbReadAction(root, &fields, error);
    if (status == RB_STATUS_OK && json_object_get(root, keys[drag->kind]) == NULL) {
        return rbError_Set(error, RB_STATUS_INVALID, "drag-move: this drag needs the key \"%s\"",
                           keys[drag->kind]);
    }
    if (status == RB_STATUS_OK) {
        drag->hasTarget = true;
        drag->point = drag->kind == RB_DRAG_TRANSLATE ? fields.position : fields.point;
        drag->orientation = fields.orientation;
    }
    return status;
}

static rbStatus endDrag(rbSession* session, int client, json_t* root, rbError* error)
{
    int index = findClientDrag(session, client);
    if (index < 0) {
        return failNoDrag("drag-end", error);
    }
    // It ends at the world's time, even when an earlier time is shown.
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    (void)json_object_set_new(root, "drag", json_integer(session->drags.data[index].drag));
    rbStatus status = applyAndLog(session, root, error);
    removeClientDrag(session, index);
    return status;
}

void rbSession_LeaveClient(rbSession* session, int client)
{
    if (findClientDrag(session, client) < 0) {
        return;
    }
    json_t* root = json_pack("{s:s}", "do", "drag-end");
    rbError error = {0};
    (void)endDrag(session, client, root, &error);
    json_decref(root);
    if (!rbSession_IsRewound(session)) {
        (void)rbSession_ShowAction(session, &error);
    }
}

// A pointer that has not moved yet holds the body in place.
static void takeTarget(const rbSession* session, rbClientDrag* drag)
{
    for (int i = 0; i < rbActor_GetDragCount(session->actor) && !drag->hasTarget; ++i) {
        rbDragView view = rbActor_GetDrag(session->actor, session->world, i);
        if (view.drag == drag->drag) {
            rbBodyId bodyId = rbActor_GetBody(session->actor, view.body);
            drag->point = view.point;
            drag->orientation = rbBody_GetState(session->world, bodyId).transform.q;
            drag->hasTarget = true;
        }
    }
}

void rbSession_MoveDrags(rbSession* session)
{
    double duration = DRAG_DURATION_FRAMES * rbSession_GetFrameStep(session);
    for (int i = 0; i < session->drags.count; ++i) {
        rbClientDrag* drag = &session->drags.data[i];
        takeTarget(session, drag);
        rbVec3 p = drag->point;
        rbQuat q = drag->orientation;
        json_t* root = json_pack("{s:s, s:i, s:f}", "do", "drag-move", "drag", drag->drag,
                                 "duration", fmin(1e3, fmax(1e-9, duration)));
        json_t* target = drag->kind == RB_DRAG_ROTATE
                             ? json_pack("[f, f, f, f]", q.w, q.x, q.y, q.z)
                             : json_pack("[f, f, f]", p.x, p.y, p.z);
        static const char* const keys[RB_DRAG_KIND_COUNT] = {"point", "position", "orientation"};
        (void)json_object_set_new(root, keys[drag->kind], target);
        rbError error = {0};
        if (applyAndLog(session, root, &error) != RB_STATUS_OK) {
            rbSession_Say(session, error.message);
        }
        json_decref(root);
    }
    // A frame shows the state after the actions of its time.
    if (session->drags.count > 0) {
        rbStore_TakeEvents(session->store, session->world);
        rbStore_TakeFrame(session->store, session->world);
    }
}

// -------------------------------------------------------------------------------------------
// applying actions

static rbStatus actPlainly(rbSession* session, int client, json_t* root, rbError* error)
{
    (void)client;
    return actThere(session, root, error);
}

static rbStatus addThere(rbSession* session, int client, json_t* root, rbError* error)
{
    (void)client;
    (void)json_object_set_new(root, "number", json_integer(rbStore_GetBodyCount(session->store)));
    return actThere(session, root, error);
}

static rbStatus setThere(rbSession* session, int client, json_t* root, rbError* error)
{
    (void)client;
    rbStatus status = actThere(session, root, error);
    rbSession_ShowParameters(session);
    return status;
}

// Actions that need special handling.
static const struct {
    const char* name;
    rbStatus (*act)(rbSession* session, int client, json_t* root, rbError* error);
} special[] = {
    {"drag-start", startDrag}, {"drag-move", moveDrag}, {"drag-end", endDrag},
    {"add", addThere},         {"set", setThere},
};

rbStatus rbSession_Act(rbSession* session, int client, json_t* root, rbError* error)
{
    const char* name = json_string_value(json_object_get(root, "do"));
    rbStatus (*act)(rbSession*, int, json_t*, rbError*) = actPlainly;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; ++i) {
        act = strcmp(special[i].name, name) == 0 ? special[i].act : act;
    }
    // These belong to the log.
    (void)json_object_del(root, "refused");
    (void)json_object_del(root, "duration");
    int before = session->actions.count;
    rbStatus status = act(session, client, root, error);
    if (session->actions.count != before || status == RB_STATUS_OK) {
        rbSession_ForgetUndone(session);
    }
    bool isSeen = act != moveDrag && !rbSession_IsRewound(session);
    if (isSeen && (status == RB_STATUS_OK || rbActor_WasTouched(session->actor))) {
        rbError inner = {0};
        rbStatus shown = rbSession_ShowAction(session, &inner);
        if (status == RB_STATUS_OK && shown != RB_STATUS_OK) {
            *error = inner;
            status = shown;
        }
    }
    rbSession_ShowState(session, false);
    return status;
}
