// The history of a session as a recording: scene, frames, events and user actions.
#include "session/session_state.h"

#include <rattleback/output.h>

#include <math.h>
#include <stdio.h>

static rbRecordingWriter* openRecording(const rbSession* session, const char* path, rbError* error)
{
    const rbSceneInfo* info = rbScene_GetInfo(session->scene);
    int bodyCount = rbStore_GetBodyCount(session->store);
    int attachmentCount = info->attachmentCount;
    const char** names = rbAllocZero((size_t)bodyCount, sizeof *names);
    rbAttachment* attachments = rbAllocZero((size_t)attachmentCount, sizeof *attachments);
    char settings[160];
    char duration[RB_NUMBER_TEXT_SIZE];
    for (int i = 0; i < bodyCount; ++i) {
        names[i] = rbStore_GetBodyName(session->store, i);
    }
    for (int i = 0; i < attachmentCount; ++i) {
        rbScene_GetAttachment(session->scene, i, &attachments[i].name, &attachments[i].bytes,
                              &attachments[i].byteCount);
    }
    (void)rbFormatNumber(rbStore_GetEndTime(session->store), duration);
    (void)snprintf(settings, sizeof settings, "{\"duration\": %s, \"view\": true}", duration);
    rbRecordingHeader header = {.sceneText = rbScene_GetText(session->scene, NULL),
                                .settingsText = settings,
                                .bodyNames = names,
                                .bodyCount = bodyCount,
                                .attachments = attachments,
                                .attachmentCount = attachmentCount};
    rbRecordingWriter* writer = rbCreateRecording(path, &header, error);
    rbFree(names, (size_t)bodyCount * sizeof *names);
    rbFree(attachments, (size_t)attachmentCount * sizeof *attachments);
    return writer;
}

// Writes what precedes a frame: actions and events not after its time.
static rbStatus writeBefore(const rbSession* session, rbRecordingWriter* writer, double time,
                            int* action, int64_t* event, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    while (status == RB_STATUS_OK && *action < session->actions.count &&
           session->actions.data[*action].time <= time) {
        rbRecordedAction recorded = {.time = session->actions.data[*action].time,
                                     .text = session->actions.data[*action].text};
        status = rbRecordingWriter_WriteActions(writer, &recorded, 1, error);
        *action += 1;
    }
    int64_t count = rbStore_GetEventCount(session->store);
    while (status == RB_STATUS_OK && *event < count) {
        rbRecordedEvent recorded;
        if (!rbStore_ReadEvents(session->store, *event, 1, &recorded) || recorded.time > time) {
            break;
        }
        status = rbRecordingWriter_WriteEvents(writer, &recorded, 1, error);
        *event += 1;
    }
    return status;
}

rbStatus rbSession_SaveRecording(rbSession* session, const char* path, rbError* error)
{
    if (session->isInFrame) {
        rbSession_EndFrame(session);
    }
    rbRecordingWriter* writer = openRecording(session, path, error);
    if (writer == NULL) {
        return error != NULL ? error->status : RB_STATUS_IO;
    }
    rbStatus status = RB_STATUS_OK;
    int action = 0;
    int64_t event = 0;
    int64_t count = rbStore_GetFrameCount(session->store);
    for (int64_t i = 0; i < count && status == RB_STATUS_OK; ++i) {
        rbFrame frame;
        if (rbStore_ReadFrame(session->store, i, &frame)) {
            // The time of an event may round to after the last frame.
            double until = i == count - 1 ? INFINITY : frame.time;
            status = writeBefore(session, writer, until, &action, &event, error);
            status = status == RB_STATUS_OK ? rbRecordingWriter_WriteFrame(writer, &frame, error)
                                            : status;
        }
    }
    if (status != RB_STATUS_OK) {
        rbRecordingWriter_Abandon(writer);
        return status;
    }
    return rbRecordingWriter_Finish(writer, rbWorld_GetHash(session->world), error);
}
