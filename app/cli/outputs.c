#define _XOPEN_SOURCE 700

#include "cli/outputs.h"

#include "base/core/memory.h"
#include "cli/surfaces.h"

#include <string.h>
#include <sys/stat.h>

static rbStatus openRecording(rbOutputs* outputs, const rbRecordingHeader* head, rbError* error)
{
    int attachmentCount = rbScene_GetInfo(outputs->scene)->attachmentCount;
    rbAttachment* attachments = rbAllocZero((size_t)attachmentCount, sizeof *attachments);
    for (int i = 0; i < attachmentCount; ++i) {
        rbScene_GetAttachment(outputs->scene, i, &attachments[i].name, &attachments[i].bytes,
                              &attachments[i].byteCount);
    }
    rbRecordingHeader header = *head;
    header.sceneText = rbScene_GetText(outputs->scene, NULL);
    header.attachments = attachments;
    header.attachmentCount = attachmentCount;
    outputs->recording = rbCreateRecording(outputs->paths.recording, &header, error);
    rbFree(attachments, (size_t)attachmentCount * sizeof *attachments);
    return outputs->recording != NULL ? RB_STATUS_OK : error->status;
}

static rbStatus openCsv(rbOutputs* outputs, rbError* error)
{
    int count = 0;
    const rbProbeColumn* probes = rbScene_GetProbeColumns(outputs->scene, &count);
    rbCsvColumn* columns = rbAllocZero((size_t)count + 1, sizeof *columns);
    columns[0] = (rbCsvColumn){"time", "s"};
    for (int i = 0; i < count; ++i) {
        columns[i + 1] = (rbCsvColumn){probes[i].name, probes[i].unit};
    }
    outputs->csv = rbCreateCsv(outputs->paths.csv, columns, count + 1, error);
    rbFree(columns, ((size_t)count + 1) * sizeof *columns);
    return outputs->csv != NULL ? RB_STATUS_OK : error->status;
}

static rbStatus openVtk(rbOutputs* outputs, const rbWorld* world, rbError* error)
{
    rbSurfaces surfaces = {0};
    rbStatus status = rbSurfaces_Make(&surfaces, world, error);
    if (status == RB_STATUS_OK) {
        outputs->vtk = rbCreateVtk(outputs->paths.vtk, rbScene_GetInfo(outputs->scene)->name,
                                   surfaces.shapes, surfaces.count, error);
        status = outputs->vtk != NULL ? RB_STATUS_OK : error->status;
    }
    rbSurfaces_Free(&surfaces);
    return status;
}

rbStatus rbOutputs_Open(rbOutputs* outputs, const rbOutputPaths* paths, const rbScene* scene,
                        const rbWorld* world, const rbRecordingHeader* head, rbError* error)
{
    memset(outputs, 0, sizeof *outputs);
    outputs->paths = *paths;
    outputs->scene = scene;
    outputs->valueCount = rbScene_GetInfo(scene)->columnCount + 1;
    outputs->values = rbAllocZero((size_t)outputs->valueCount, sizeof *outputs->values);
    rbStatus status = RB_STATUS_OK;
    if (paths->recording != NULL) {
        status = openRecording(outputs, head, error);
    }
    if (status == RB_STATUS_OK && paths->csv != NULL) {
        status = openCsv(outputs, error);
    }
    if (status == RB_STATUS_OK && paths->vtk != NULL) {
        status = openVtk(outputs, world, error);
    }
    if (status == RB_STATUS_OK && paths->journal != NULL) {
        outputs->journal = rbCreateJournal(paths->journal, error);
        status = outputs->journal != NULL ? RB_STATUS_OK : error->status;
    }
    if (status == RB_STATUS_OK && paths->plot != NULL) {
        outputs->plotter = rbCreatePlotter(scene, world);
    }
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    if (status == RB_STATUS_OK && paths->page != NULL) {
        outputs->page = rbCreatePageWriter(paths->page, scene, world, info->duration, error);
        status = outputs->page != NULL ? RB_STATUS_OK : error->status;
    }
    if (status == RB_STATUS_OK && (paths->shooting.png != NULL || paths->shooting.mp4 != NULL)) {
        outputs->shooting = rbCreateShooting(&paths->shooting, info, world, error);
        status = outputs->shooting != NULL ? RB_STATUS_OK : error->status;
    }
    if (status != RB_STATUS_OK) {
        rbOutputs_Abandon(outputs);
    }
    return status;
}

static const char* getName(const rbWorld* world, rbBodyId bodyId)
{
    return rbBody_IsValid(world, bodyId) ? rbBody_GetName(world, bodyId) : NULL;
}

static rbStatus writeJournal(rbJournal* journal, const rbWorld* world, const rbEvent* event,
                             rbError* error)
{
    char history[RB_IMPACT_HISTORY_SIZE];
    bool isImpact = event->kind == RB_EVENT_IMPACT || event->kind == RB_EVENT_MICROCOLLISION;
    bool hasHistory = isImpact && event->history != 0;
    rbJournalRow row = {
        .time = event->time,
        .kind = rbEventKind_Name(event->kind),
        .bodyA = getName(world, event->bodyA),
        .bodyB = getName(world, event->bodyB),
        .law = isImpact && event->law < RB_IMPACT_LAW_COUNT ? rbImpactLaw_Name(event->law) : NULL,
        .history = hasHistory ? rbImpactHistory_Format(event->history, history) : NULL,
        .energyChange = event->energyChange,
        .hasContact = isImpact,
        .point = event->point,
        .normal = event->normal,
        .impulse = event->impulse,
        .approachSpeed = event->approachSpeed,
        .energyBefore = event->energyBefore,
        .frictionWork = event->frictionWork,
    };
    return rbJournal_Write(journal, &row, error);
}

rbStatus rbOutputs_WriteEvents(rbOutputs* outputs, const rbWorld* world,
                               const rbFrameBuffer* buffer, rbError* error)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(world, &count);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        if (outputs->recording != NULL || outputs->page != NULL) {
            rbRecordedEvent event = rbFrameBuffer_ConvertEvent(buffer, &events[i]);
            if (outputs->page != NULL) {
                rbPageWriter_TakeEvents(outputs->page, &event, 1);
            }
            if (outputs->recording != NULL) {
                status = rbRecordingWriter_WriteEvents(outputs->recording, &event, 1, error);
            }
        }
        if (outputs->journal != NULL && status == RB_STATUS_OK) {
            status = writeJournal(outputs->journal, world, &events[i], error);
        }
    }
    return status;
}

rbStatus rbOutputs_Write(rbOutputs* outputs, const rbWorld* world, rbFrameBuffer* buffer,
                         const rbTally* tally, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    if (outputs->csv != NULL || outputs->plotter != NULL) {
        outputs->values[0] = rbWorld_GetTime(world);
        (void)rbScene_EvaluateProbes(outputs->scene, world, outputs->values + 1,
                                     outputs->valueCount - 1);
    }
    if (outputs->recording != NULL || outputs->vtk != NULL) {
        rbFrame frame = rbFrameBuffer_Capture(buffer, world);
        if (outputs->recording != NULL) {
            status = rbRecordingWriter_WriteFrame(outputs->recording, &frame, error);
        }
        if (outputs->vtk != NULL && status == RB_STATUS_OK) {
            status = rbVtk_WriteFrame(outputs->vtk, &frame, error);
        }
    }
    if (outputs->csv != NULL && status == RB_STATUS_OK) {
        status = rbCsv_WriteRow(outputs->csv, outputs->values, error);
    }
    if (outputs->plotter != NULL) {
        rbPlotter_Add(outputs->plotter, world, outputs->values + 1, tally);
    }
    if (outputs->page != NULL && status == RB_STATUS_OK) {
        status = rbPageWriter_TakeFrame(outputs->page, world, error);
    }
    if (outputs->shooting != NULL && status == RB_STATUS_OK) {
        status = rbShooting_Take(outputs->shooting, world, error);
    }
    return status;
}

rbStatus rbOutputs_Finish(rbOutputs* outputs, const rbWorld* world, uint64_t hash, rbError* error)
{
    rbStatus status = RB_STATUS_OK;
    if (outputs->recording != NULL) {
        status = rbRecordingWriter_Finish(outputs->recording, hash, error);
        outputs->recording = NULL;
    }
    if (outputs->csv != NULL && status == RB_STATUS_OK) {
        status = rbCsv_Finish(outputs->csv, error);
        outputs->csv = NULL;
    }
    if (outputs->vtk != NULL && status == RB_STATUS_OK) {
        status = rbVtk_Finish(outputs->vtk, error);
        outputs->vtk = NULL;
    }
    if (outputs->journal != NULL && status == RB_STATUS_OK) {
        status = rbJournal_Finish(outputs->journal, error);
        outputs->journal = NULL;
    }
    if (outputs->plotter != NULL && status == RB_STATUS_OK) {
        status = rbPlotter_Write(outputs->plotter, outputs->paths.plot, error);
    }
    if (outputs->page != NULL && status == RB_STATUS_OK) {
        status = rbPageWriter_Finish(outputs->page, world, error);
        outputs->page = NULL;
    }
    if (outputs->shooting != NULL && status == RB_STATUS_OK) {
        status = rbShooting_Finish(outputs->shooting, world, error);
        outputs->shooting = NULL;
    }
    rbOutputs_Abandon(outputs);
    return status;
}

void rbOutputs_Abandon(rbOutputs* outputs)
{
    rbRecordingWriter_Abandon(outputs->recording);
    rbCsv_Abandon(outputs->csv);
    rbVtk_Abandon(outputs->vtk);
    rbJournal_Abandon(outputs->journal);
    rbDestroyPlotter(outputs->plotter);
    rbPageWriter_Abandon(outputs->page);
    rbShooting_Abandon(outputs->shooting);
    outputs->page = NULL;
    outputs->shooting = NULL;
    rbFree(outputs->values, (size_t)outputs->valueCount * sizeof *outputs->values);
    outputs->recording = NULL;
    outputs->csv = NULL;
    outputs->vtk = NULL;
    outputs->journal = NULL;
    outputs->plotter = NULL;
    outputs->values = NULL;
}

static double getFileSize(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (double)status.st_size : 0.0;
}

int rbOutputs_List(const rbOutputs* outputs, const rbSceneInfo* info, rbWrittenFile* files,
                   char* text, size_t capacity)
{
    const rbOutputPaths* paths = &outputs->paths;
    int count = 0;
    (void)snprintf(text, capacity, "%s/%s.pvd", paths->vtk != NULL ? paths->vtk : "", info->name);
    const rbWrittenFile all[RB_OUTPUT_FILES_MAX] = {{"recording", paths->recording, 0.0},
                                                    {"csv", paths->csv, 0.0},
                                                    {"vtk", paths->vtk != NULL ? text : NULL, 0.0},
                                                    {"plot", paths->plot, 0.0},
                                                    {"journal", paths->journal, 0.0},
                                                    {"page", paths->page, 0.0},
                                                    {"picture", paths->shooting.png, 0.0},
                                                    {"video", paths->shooting.mp4, 0.0}};
    for (int i = 0; i < RB_OUTPUT_FILES_MAX; ++i) {
        if (all[i].path != NULL && strcmp(all[i].path, "-") != 0) {
            files[count] = all[i];
            files[count++].bytes = getFileSize(all[i].path);
        }
    }
    return count;
}
