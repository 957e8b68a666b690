// Output formats with writers in other files: recordings, tables, journals, VTK files and pages.
#include "base/core/memory.h"
#include "cli/output_format.h"
#include "cli/surfaces.h"
#include "io/output/certificate.h"
#include "io/output/continuation.h"
#include "server/page.h"

// ------------------------------------------------------------------------------------ recordings

static void* openRecording(const rbOutputRun* run, const char* path, rbError* error)
{
    int attachmentCount = rbScene_GetInfo(run->scene)->attachmentCount;
    rbAttachment* attachments = rbAllocZero((size_t)attachmentCount, sizeof *attachments);
    for (int i = 0; i < attachmentCount; ++i) {
        rbScene_GetAttachment(run->scene, i, &attachments[i].name, &attachments[i].bytes,
                              &attachments[i].byteCount);
    }
    rbRecordingHeader header = {.sceneText = rbScene_GetText(run->scene, NULL),
                                .settingsText = run->settingsText,
                                .bodyNames = run->player->bodyNames,
                                .bodyCount = run->player->bodyCount,
                                .attachments = attachments,
                                .attachmentCount = attachmentCount};
    rbRecordingWriter* writer = run->state != NULL
                                    ? rbContinueRecording(path, &header, run->state, error)
                                    : rbCreateRecording(path, &header, error);
    rbFree(attachments, (size_t)attachmentCount * sizeof *attachments);
    return writer;
}

static rbStatus writeRecordingEvents(void* writer, const rbOutputRun* run, rbError* error)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(run->world, &count);
    rbStatus status = rbActionPlayer_Write(run->player, writer, error);
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        rbRecordedEvent event = rbFrameBuffer_ConvertEvent(run->buffer, &events[i]);
        status = rbRecordingWriter_WriteEvents(writer, &event, 1, error);
    }
    return status;
}

static rbStatus writeRecordingFrame(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbRecordingWriter_WriteFrame(writer, run->frame, error);
}

static rbStatus finishRecording(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbRecordingWriter_Finish(writer, run->hash, error);
}

static rbStatus saveRecording(void* writer, rbStateStream* stream, rbError* error)
{
    return rbRecordingWriter_Save(writer, stream, error);
}

static void abandonRecording(void* writer)
{
    rbRecordingWriter_Abandon(writer);
}

const rbOutputFormat rbRecordingFormat = {
    .kind = "recording",
    .option = {"--record", "FILE", "writes a recording (.rbr) for 'replay'"},
    .needsPoses = true,
    .open = openRecording,
    .writeEvents = writeRecordingEvents,
    .writeFrame = writeRecordingFrame,
    .finish = finishRecording,
    .abandon = abandonRecording,
    .save = saveRecording,
};

// ---------------------------------------------------------------------------------------- tables

static void* openCsv(const rbOutputRun* run, const char* path, rbError* error)
{
    int count = 0;
    const rbProbeColumn* probes = rbScene_GetProbeColumns(run->scene, &count);
    rbCsvColumn* columns = rbAllocZero((size_t)count + 1, sizeof *columns);
    columns[0] = (rbCsvColumn){"time", "s"};
    for (int i = 0; i < count; ++i) {
        columns[i + 1] = (rbCsvColumn){probes[i].name, probes[i].unit};
    }
    rbCsv* csv = run->state != NULL ? rbContinueCsv(path, count + 1, run->state, error)
                                    : rbCreateCsv(path, columns, count + 1, error);
    rbFree(columns, ((size_t)count + 1) * sizeof *columns);
    return csv;
}

static rbStatus writeCsvFrame(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbCsv_WriteRow(writer, run->values, error);
}

static rbStatus finishCsv(void* writer, const rbOutputRun* run, rbError* error)
{
    (void)run;
    return rbCsv_Finish(writer, error);
}

static rbStatus saveCsv(void* writer, rbStateStream* stream, rbError* error)
{
    return rbCsv_Save(writer, stream, error);
}

static void abandonCsv(void* writer)
{
    rbCsv_Abandon(writer);
}

const rbOutputFormat rbCsvFormat = {
    .kind = "csv",
    .option = {"--csv", "FILE", "writes a table of the probes; - is standard output"},
    .allowsStandardOutput = true,
    .needsProbes = true,
    .open = openCsv,
    .writeFrame = writeCsvFrame,
    .finish = finishCsv,
    .abandon = abandonCsv,
    .save = saveCsv,
};

// -------------------------------------------------------------------------------------- journals

static void* openJournal(const rbOutputRun* run, const char* path, rbError* error)
{
    return run->state != NULL ? rbContinueJournal(path, run->state, error)
                              : rbCreateJournal(path, error);
}

static const char* getName(const rbWorld* world, rbBodyId bodyId)
{
    return rbBody_IsValid(world, bodyId) ? rbBody_GetName(world, bodyId) : NULL;
}

static rbStatus writeJournalEvent(rbJournal* journal, const rbWorld* world, const rbEvent* event,
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

static rbStatus writeJournalEvents(void* writer, const rbOutputRun* run, rbError* error)
{
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(run->world, &count);
    rbStatus status = RB_STATUS_OK;
    for (int i = 0; i < count && status == RB_STATUS_OK; ++i) {
        status = writeJournalEvent(writer, run->world, &events[i], error);
    }
    return status;
}

static rbStatus finishJournal(void* writer, const rbOutputRun* run, rbError* error)
{
    (void)run;
    return rbJournal_Finish(writer, error);
}

static rbStatus saveJournal(void* writer, rbStateStream* stream, rbError* error)
{
    return rbJournal_Save(writer, stream, error);
}

static void abandonJournal(void* writer)
{
    rbJournal_Abandon(writer);
}

const rbOutputFormat rbJournalFormat = {
    .kind = "journal",
    .option =
        {"--journal", "FILE",
         "writes every event with its impulse and energy, as CSV or .jsonl; - is standard output"},
    .allowsStandardOutput = true,
    .open = openJournal,
    .writeEvents = writeJournalEvents,
    .finish = finishJournal,
    .abandon = abandonJournal,
    .save = saveJournal,
};

// ---------------------------------------------------------------------------------- certificates

// User actions change the model, which a certificate states once.
static bool checkCertificate(const rbArguments* arguments)
{
    if (rbArguments_Has(arguments, "--certificate") && rbArguments_Has(arguments, "--actions")) {
        (void)rbFail("--certificate and --actions cannot be used together: a certificate states "
                     "one model for the whole run; leave one of them out");
        return false;
    }
    return true;
}

static void* openCertificate(const rbOutputRun* run, const char* path, rbError* error)
{
    return rbCreateCertificate(path, run->world, error);
}

static rbStatus writeCertificateEvents(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbCertificate_Note(writer, run->world, error);
}

static rbStatus writeCertificateFrame(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbCertificate_Frame(writer, run->world, error);
}

static rbStatus finishCertificate(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbCertificate_Finish(writer, run->world, run->hash, error);
}

static void abandonCertificate(void* writer)
{
    rbCertificate_Abandon(writer);
}

const rbOutputFormat rbCertificateFormat = {
    .kind = "certificate",
    .option = {"--certificate", "FILE",
               "writes a certificate (.rbc): what 'verify' needs to check the run"},
    .check = checkCertificate,
    .open = openCertificate,
    .writeEvents = writeCertificateEvents,
    .writeFrame = writeCertificateFrame,
    .finish = finishCertificate,
    .abandon = abandonCertificate,
};

// ------------------------------------------------------------------------------------- VTK files

// From where the state of a resumed run left them.
static void* continueVtk(const rbOutputRun* run, rbVtk* vtk, rbError* error)
{
    if (vtk != NULL && run->state != NULL &&
        rbVtk_Continue(vtk, run->state, error) != RB_STATUS_OK) {
        rbVtk_Abandon(vtk);
        vtk = NULL;
    }
    return vtk;
}

static void* openVtk(const rbOutputRun* run, const char* path, rbError* error)
{
    rbSurfaces surfaces = {0};
    rbVtk* vtk = NULL;
    if (rbSurfaces_Make(&surfaces, run->world, error) == RB_STATUS_OK) {
        vtk = rbCreateVtk(path, rbScene_GetInfo(run->scene)->name, surfaces.shapes, surfaces.count,
                          error);
    }
    rbSurfaces_Free(&surfaces);
    return continueVtk(run, vtk, error);
}

// Shapes without bounds have no point.
static void* openVtkPoints(const rbOutputRun* run, const char* path, rbError* error)
{
    int bodyCount = rbWorld_GetBodyCount(run->world);
    rbBodyId* ids = rbAlloc((size_t)bodyCount * sizeof *ids);
    (void)rbWorld_GetBodyIds(run->world, ids, bodyCount);
    RB_ARRAY(rbVtkPoint) points = {0};
    for (int i = 0; i < bodyCount; ++i) {
        for (int k = 0; k < rbBody_GetShapeCount(run->world, ids[i]); ++k) {
            rbShapeDef def = rbBody_GetShape(run->world, ids[i], k);
            const rbGeometry* geometry = rbWorld_GetGeometry(run->world, def.geometry);
            if (rbGeometry_IsBounded(geometry)) {
                double radius = rbGeometry_GetRadius(geometry, RB_VEC3_ZERO);
                rbArray_Push(points, ((rbVtkPoint){i, def.transform, radius}));
            }
        }
    }
    rbVtk* vtk = rbCreateVtkPoints(path, rbScene_GetInfo(run->scene)->name, points.data,
                                   points.count, error);
    rbArray_Free(points);
    rbFree(ids, (size_t)bodyCount * sizeof *ids);
    return continueVtk(run, vtk, error);
}

static rbStatus writeVtkFrame(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbVtk_WriteFrame(writer, run->frame, error);
}

static rbStatus finishVtk(void* writer, const rbOutputRun* run, rbError* error)
{
    (void)run;
    return rbVtk_Finish(writer, error);
}

static rbStatus saveVtk(void* writer, rbStateStream* stream, rbError* error)
{
    return rbVtk_Save(writer, stream, error);
}

static void abandonVtk(void* writer)
{
    rbVtk_Abandon(writer);
}

static void nameVtkFile(const char* path, const rbSceneInfo* info, char* text, size_t capacity)
{
    (void)snprintf(text, capacity, "%s/%s.pvd", path, info->name);
}

const rbOutputFormat rbVtkFormat = {
    .kind = "vtk",
    .option = {"--vtk", "DIR", "writes poses and shapes for ParaView: open DIR/<scene>.pvd"},
    .needsPoses = true,
    .open = openVtk,
    .writeFrame = writeVtkFrame,
    .finish = finishVtk,
    .abandon = abandonVtk,
    .save = saveVtk,
    .nameFile = nameVtkFile,
};

const rbOutputFormat rbVtkPointsFormat = {
    .kind = "vtk-points",
    .option =
        {"--vtk-points", "DIR",
         "writes a point for every shape, with radius and orientation, for glyphs of ParaView"},
    .needsPoses = true,
    .open = openVtkPoints,
    .writeFrame = writeVtkFrame,
    .finish = finishVtk,
    .abandon = abandonVtk,
    .save = saveVtk,
    .nameFile = nameVtkFile,
};

// ----------------------------------------------------------------------------------------- pages

static void* openPage(const rbOutputRun* run, const char* path, rbError* error)
{
    return rbCreatePageWriter(path, run->scene, run->world, rbScene_GetInfo(run->scene)->duration,
                              error);
}

static rbStatus writePageEvents(void* writer, const rbOutputRun* run, rbError* error)
{
    (void)error;
    int count = 0;
    const rbEvent* events = rbWorld_GetEvents(run->world, &count);
    for (int i = 0; i < count; ++i) {
        rbRecordedEvent event = rbFrameBuffer_ConvertEvent(run->buffer, &events[i]);
        rbPageWriter_TakeEvents(writer, &event, 1);
    }
    return RB_STATUS_OK;
}

static rbStatus writePageFrame(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbPageWriter_TakeFrame(writer, run->world, error);
}

static rbStatus finishPage(void* writer, const rbOutputRun* run, rbError* error)
{
    return rbPageWriter_Finish(writer, run->world, error);
}

static void abandonPage(void* writer)
{
    rbPageWriter_Abandon(writer);
}

const rbOutputFormat rbPageFormat = {
    .kind = "page",
    .option = {"--html", "FILE",
               "writes a page that replays the run in a browser, from disk, without a network"},
    .open = openPage,
    .writeEvents = writePageEvents,
    .writeFrame = writePageFrame,
    .finish = finishPage,
    .abandon = abandonPage,
};
