// Fuzzes the reader of checkpoints: any bytes as a file, and the same with sizes and checksums
// corrected, so that every part reaches what loads it: the command line, the identity of the scene,
// totals, outputs. The snapshot of the world has a checksum of its own, which stays wrong: its
// bytes are those of memory, and nothing but the checksum can tell them from others.
#define _XOPEN_SOURCE 700

#include "checkpoint_repair.h"
#include "cli/checkpoint.h"
#include "io/output/continuation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static const char sceneText[] =
    "{\"rattleback\":1,\"name\":\"f\",\"engine\":\"step\",\"duration\":400,\"step\":{\"step\":0.01}"
    ","
    "\"output\":{\"step\":0.1},"
    "\"bodies\":[{\"name\":\"a\",\"position\":[0.5,0,0],\"shapes\":[{\"geometry\":{\"type\":"
    "\"box\",\"size\":[1,0.1,0.1]}}]}],"
    "\"joints\":[{\"name\":\"pin\",\"type\":\"hinge\",\"bodies\":[\"world\",\"a\"],\"anchor\":"
    "[0,0,0],\"axis\":[0,1,0]}]}";

// A run that a checkpoint is to continue, as far as it can be without files.
typedef struct Target {
    rbScene* scene;
    rbWorld* world;
    rbTally tally;
    rbOutputs outputs;
    rbActionPlayer player;
    rbArguments given;
    char folder[32];
    char recording[64];
} Target;

static void prepare(Target* target)
{
    rbError error = {0};
    static char* words[] = {"f.json", "--plot", "a.svg", "--png", "a.png", "--size", "64x64"};
    target->scene = rbReadSceneText(sceneText, sizeof sceneText - 1, NULL, &error);
    target->world = target->scene != NULL ? rbScene_CreateWorld(target->scene, &error) : NULL;
    (void)snprintf(target->folder, sizeof target->folder, "/tmp/rb_fuzz_XXXXXX");
    if (target->world == NULL || mkdtemp(target->folder) == NULL ||
        rbScene_PrepareWorld(target->scene, target->world, &error) != RB_STATUS_OK ||
        !rbArguments_Parse(&target->given, &rbVerbRun, 7, words)) {
        abort();
    }
    (void)snprintf(target->recording, sizeof target->recording, "%s/a.rbr.part", target->folder);
    (void)close(open(target->recording, O_WRONLY | O_CREAT, 0666));
    rbBodyId ids[1];
    (void)rbWorld_GetBodyIds(target->world, ids, 1);
    rbTally_Init(&target->tally, rbScene_GetInfo(target->scene), target->world, ids, 1);
}

static void release(Target* target)
{
    rbDestroyWorld(target->world);
    rbDestroyScene(target->scene);
    (void)unlink(target->recording);
    (void)rmdir(target->folder);
}

// The recording of a run without bytes so far: its tables are those of the checkpoint.
static void continueRecording(const Target* target, const rbStateStream* part)
{
    rbError error = {0};
    static const char* const names[] = {"a"};
    rbRecordingHeader header = {.sceneText = "{}", .bodyNames = names, .bodyCount = 1};
    size_t size = 16 + part->size;
    unsigned char* bytes = malloc(size);
    char path[64];
    if (bytes == NULL) {
        return;
    }
    rbPutWord64(bytes, 0);
    rbPutWord64(bytes + 8, RB_HASH_SEED);
    if (part->size > 0) {
        memcpy(bytes + 16, part->bytes, part->size);
    }
    (void)snprintf(path, sizeof path, "%.*s", (int)strlen(target->recording) - 5,
                   target->recording);
    rbStateStream stream = rbMakeLoadingStream(bytes, size);
    rbRecordingWriter* writer = rbContinueRecording(path, &header, &stream, &error);
    if (writer != NULL) {
        (void)rbRecordingWriter_Flush(writer, &error);
        rbRecordingWriter_Abandon(writer);
    } else if (error.message[0] == '\0') {
        abort();
    }
    free(bytes);
}

// Messages about a command line go to stderr, which belongs to the fuzzer.
static void readCommand(rbResume* resume, const Target* target)
{
    rbError error = {0};
    int kept = dup(STDERR_FILENO);
    int nowhere = open("/dev/null", O_WRONLY);
    (void)dup2(nowhere, STDERR_FILENO);
    rbStatus status = rbResume_ReadCommand(resume, &target->given, &error);
    (void)dup2(kept, STDERR_FILENO);
    (void)close(kept);
    (void)close(nowhere);
    if (status != RB_STATUS_OK && error.message[0] == '\0') {
        abort();
    }
}

static void loadParts(Target* target, const uint8_t* data, size_t size)
{
    rbError error = {0};
    rbResume resume = {.folder = ""};
    if (rbCheckpointFile_Parse(&resume.file, data, size, &error) != RB_STATUS_OK) {
        if (error.message[0] == '\0') {
            abort();
        }
        return;
    }
    readCommand(&resume, target);
    resume.arguments = target->given;
    rbRunParts parts = {target->scene, target->world, &target->tally, &target->outputs,
                        &target->player};
    if (rbResume_CheckScene(&resume, &parts, &error) != RB_STATUS_OK && error.message[0] == '\0') {
        abort();
    }
    continueRecording(target, &resume.file.parts[RB_CHECKPOINT_OUTPUTS]);
    const rbOutputRun view = {.arguments = &target->given,
                              .scene = target->scene,
                              .world = target->world,
                              .player = &target->player,
                              .tally = &target->tally,
                              .states = &resume.file.parts[RB_CHECKPOINT_OUTPUTS]};
    error = (rbError){0};
    rbStatus status = rbOutputs_Open(&target->outputs, &view, &error);
    if (status != RB_STATUS_OK && error.message[0] == '\0') {
        abort();
    }
    rbRunPlace place = {0};
    uint64_t hash = rbWorld_GetHash(target->world);
    status = rbResume_Load(&resume, &parts, &place, &error);
    if (status != RB_STATUS_OK && rbWorld_GetHash(target->world) != hash) {
        abort(); // a refusal changes nothing
    }
    rbOutputs_Abandon(&target->outputs);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static Target target;
    uint64_t held = rbGetAllocatedBytes();
    memset(&target, 0, sizeof target);
    prepare(&target);
    loadParts(&target, data, size);
    uint8_t* copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, data, size);
        repairCheckpoint(copy, size, NULL, NULL);
        loadParts(&target, copy, size);
        free(copy);
    }
    release(&target);
    if (rbGetAllocatedBytes() != held) {
        abort(); // a leak
    }
    return 0;
}
