#include "cli/recordings.h"

#include "cli/modules.h"

#include <stdio.h>
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

// Says which rows of modules a recording was made with and this process does not have.
static void nameMissingRows(const rbRecordingHeader* header, rbError* error)
{
    static const char key[] = "\"modules\": \"";
    const char* rest = strstr(header->settingsText, key);
    char present[RB_MODULE_ROWS_SIZE];
    char missing[300] = "";
    size_t used = 0;
    rbNameModuleRows(present, sizeof present);
    rest = rest != NULL ? rest + sizeof key - 1 : "";
    while (*rest != '\0' && *rest != '"' && used < sizeof missing) {
        size_t length = strcspn(rest, ",\"");
        char row[100];
        (void)snprintf(row, sizeof row, "%.*s", (int)(length < 99 ? length : 99), rest);
        if (strstr(present, row) == NULL) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%s",
                                     used > 0 ? ", " : "", row);
        }
        rest += length;
        rest += strspn(rest, ", ");
    }
    if (used > 0) {
        char message[sizeof error->message];
        memcpy(message, error->message, sizeof message);
        (void)rbError_Set(error, error->status,
                          "%.200s; it was recorded with modules that are not loaded and have %s; "
                          "load them with --module FILE",
                          message, missing);
    }
}

rbScene* rbReadRecordedScene(const rbRecording* recording, const char* path, rbError* error)
{
    const rbRecordingHeader* header = rbRecording_GetHeader(recording);
    const rbSceneSource source = {.name = path, .fileFn = findAttachment, .context = (void*)header};
    rbScene* scene = rbReadSceneText(header->sceneText, strlen(header->sceneText), &source, error);
    if (scene == NULL) {
        nameMissingRows(header, error);
    }
    return scene;
}
