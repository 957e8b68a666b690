#include "cli/recordings.h"

#include <string.h>

static const char* const conditionTexts[] = {
    [RB_RECORDING_COMPLETE] = "complete",
    [RB_RECORDING_CUT_OFF] = "cut off",
    [RB_RECORDING_DAMAGED] = "damaged",
};
_Static_assert(sizeof conditionTexts / sizeof conditionTexts[0] == RB_RECORDING_CONDITION_COUNT,
               "a text for every condition");

const char* rbRecordingCondition_Text(rbRecordingCondition condition)
{
    return conditionTexts[condition];
}

// Returns the files stored in the recording.
static const void* findAttachment(const char* name, size_t* size, void* context)
{
    const rbRecordingHeader* header = context;
    for (int i = 0; i < header->attachmentCount; ++i) {
        if (strcmp(header->attachments[i].name, name) == 0) {
            *size = header->attachments[i].byteCount;
            return header->attachments[i].bytes;
        }
    }
    return NULL;
}

rbScene* rbReadRecordedScene(const rbRecording* recording, const char* path, rbError* error)
{
    const rbRecordingHeader* header = rbRecording_GetHeader(recording);
    const rbSceneSource source = {.name = path, .fileFn = findAttachment, .context = (void*)header};
    return rbReadSceneText(header->sceneText, strlen(header->sceneText), &source, error);
}
