#define _XOPEN_SOURCE 700

// rattleback view: serves a scene, a recording or the gallery to browsers.
#include "base/core/memory.h"
#include "cli/certificate_check.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/picture_cache.h"
#include "cli/recordings.h"
#include "cli/scenes.h"
#include "cli/signals.h"
#include "cli/view_files.h"
#include "io/scene/file_bytes.h"
#include "render/picture.h"
#include "server/server.h"
#include "server/session_recording.h"
#include "session/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define FINDINGS_SIZE ((size_t)1 << 16)
#define PICTURE_WIDTH 480
#define PICTURE_HEIGHT 270
#define TROUBLE_TEXT_MAX ((size_t)1 << 20) // bytes of a scene that are shown with its mistake
#define PICTURE_TIME 0.3                   // of the duration of a scene, when its picture is taken

extern char** environ;

// The server that signals stop: a signal handler has no other way to find it.
static rbServer* volatile servedNow = NULL;

static void stopServer(void)
{
    if (servedNow != NULL) {
        rbServer_Stop(servedNow);
    }
}

static void handleAlarm(int signalNumber)
{
    int kept = errno;
    (void)signalNumber;
    stopServer();
    errno = kept;
}

static void catchSignals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handleAlarm;
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    rbSignals_SetListener(stopServer);
    rbSignals_Catch();
}

// Ends the server automatically after a time; 0: never.
static void setAlarm(double seconds)
{
    struct itimerval timer = {0};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

// ------------------------------------------------------------------------------------- simulations

// How scenes start.
typedef struct rbViewOptions {
    bool isPaused;
    double speed;    // 0: chosen by the session
    double wallTime; // s until it ends automatically; 0: never
    const char* recordPath;
    const rbArguments* arguments;
    rbWatch watch; // of the scene's file
} rbViewOptions;

static void sendCommand(rbSession* session, const char* command)
{
    rbReply reply = {0};
    rbSession_Command(session, 0, command, strlen(command), &reply);
}

// The command at the start. NULL: none, the clock starts when the first page is ready; but not if
// the time is limited, since a script may have no page.
static const char* getStart(const rbViewOptions* options)
{
    if (options->isPaused) {
        return "{\"do\": \"pause\"}";
    }
    return options->wallTime > 0.0 ? "{\"do\": \"play\"}" : NULL;
}

static bool startSession(rbScene* scene, const rbViewOptions* options, rbSimulation* simulation,
                         rbError* error)
{
    rbSession* session = rbCreateSession(scene, error);
    if (session == NULL) {
        return false;
    }
    rbSession_SetRecordingPath(session, options->recordPath);
    if (options->speed > 0.0) {
        char command[96];
        (void)snprintf(command, sizeof command, "{\"do\": \"speed\", \"factor\": %.17g}",
                       options->speed);
        sendCommand(session, command);
    }
    const char* start = getStart(options);
    if (start != NULL) {
        sendCommand(session, start);
    }
    *simulation = rbMakeSessionSimulation(session);
    return true;
}

// A recording, recognized by its content, whatever its name; NULL without an error for any other
// file.
static rbRecording* openRecording(const char* path, rbError* error)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return NULL;
    }
    rbRecording* recording = rbOpenRecording(path, error);
    if (recording == NULL && error->status == RB_STATUS_SYNTAX) {
        *error = (rbError){0};
    }
    return recording;
}

static bool startRecording(rbRecording* recording, const char* path, const rbViewOptions* options,
                           rbSimulation* simulation, rbError* error)
{
    rbScene* scene = rbReadRecordedScene(recording, path, error);
    if (scene == NULL) {
        rbCloseRecording(recording);
        return false;
    }
    if (rbMakeRecordingSimulation(recording, scene, simulation, error) != RB_STATUS_OK) {
        return false;
    }
    rbReply reply = {0};
    const char* start = getStart(options);
    if (start != NULL) {
        simulation->command(simulation->object, 0, start, strlen(start), &reply);
    }
    return true;
}

// -------------------------------------------------------------------------------------------- host

static bool openExample(const char* name, rbSimulation* simulation, rbError* error, void* context)
{
    const rbViewOptions* options = context;
    const rbViewOptions plain = {
        .speed = options->speed, .isPaused = options->isPaused, .wallTime = options->wallTime};
    rbScene* scene = rbOpenExampleScene(name, error);
    return scene != NULL && startSession(scene, &plain, simulation, error);
}

static bool openSent(const rbSentScene* sent, rbSimulation* simulation, rbError* error,
                     void* context)
{
    const rbViewOptions* options = context;
    rbViewOptions plain = {
        .speed = options->speed, .isPaused = options->isPaused, .wallTime = options->wallTime};
    if (sent->text != NULL) {
        rbScene* scene = rbReadSentScene(sent, error);
        return scene != NULL && startSession(scene, &plain, simulation, error);
    }
    rbRecording* recording = rbReadSentRecording(sent, error);
    return recording != NULL && startRecording(recording, sent->name, &plain, simulation, error);
}

static bool hasChanged(void* context)
{
    return rbWatch_HasChanged(&((rbViewOptions*)context)->watch);
}

// The scene's file was saved. A recording holds one scene: the second is not recorded.
static bool reopen(rbSimulation* simulation, char** text, size_t* size, rbError* error,
                   void* context)
{
    const rbViewOptions* options = context;
    rbViewOptions plain = {
        .speed = options->speed, .isPaused = options->isPaused, .wallTime = options->wallTime};
    rbScene* scene = rbOpenSceneWithSettings(options->arguments, error);
    if (scene != NULL) {
        return startSession(scene, &plain, simulation, error);
    }
    void* bytes = NULL;
    rbError unreadable = {0};
    (void)rbReadFileBytes(options->watch.path, TROUBLE_TEXT_MAX, &bytes, size, &unreadable);
    *text = bytes;
    return false;
}

static char* listScenes(size_t* size, void* context)
{
    (void)context;
    char* text = NULL;
    char* result = NULL;
    FILE* file = open_memstream(&text, size);
    if (file == NULL) {
        return NULL;
    }
    bool isListed = rbWriteSceneList(file);
    if (fclose(file) == 0 && isListed) {
        result = rbAlloc(*size);
        memcpy(result, text, *size);
    }
    free(text);
    return result;
}

static rbStatus drawPicture(const char* name, unsigned char** png, size_t* size, rbError* error,
                            void* context)
{
    (void)context;
    char path[RB_PICTURE_PATH_MAX];
    char kept[RB_PICTURE_PATH_MAX];
    bool isFile = rbFindExamplePath(name, path, sizeof path);
    *png = isFile ? rbReadMadePicture(path, size) : NULL;
    bool isCached = *png == NULL && isFile && rbFindCachedPicture(path, kept);
    if (isCached) {
        *png = rbReadCachedPicture(kept, size);
    }
    if (*png != NULL) {
        return RB_STATUS_OK;
    }
    rbScene* scene = rbOpenExampleScene(name, error);
    if (scene == NULL) {
        return error->status;
    }
    double time = PICTURE_TIME * rbScene_GetInfo(scene)->duration;
    rbPng file = {0};
    rbStatus status = rbDrawScene(scene, time, PICTURE_WIDTH, PICTURE_HEIGHT, &file, error);
    *png = file.bytes;
    *size = file.size;
    if (isCached && status == RB_STATUS_OK) {
        rbKeepPicture(kept, file.bytes, file.size);
    }
    rbDestroyScene(scene);
    return status;
}

// -------------------------------------------------------------------------------------------- verb

// Only when the user sits at a screen.
static void openBrowser(const char* url)
{
    const char* arguments[] = {"xdg-open", url, NULL};
    bool hasScreen = getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL;
    if (!hasScreen || isatty(STDOUT_FILENO) != 1) {
        return;
    }
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawnp(&child, "xdg-open", &actions, NULL, (char* const*)arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
}

static void announce(const rbServer* server, const rbArguments* arguments)
{
    const char* url = rbServer_GetUrl(server);
    if (rbArguments_Has(arguments, "--json")) {
        // on one line, so that a script can read it while the program runs
        (void)printf("{\"url\": \"%s\", \"port\": %d}\n", url, rbServer_GetPort(server));
    } else {
        (void)printf("%s\n", url);
        (void)printf("Open it in a browser; Ctrl-C ends it.\n");
    }
    (void)fflush(stdout);
    if (!rbArguments_Has(arguments, "--no-browser")) {
        openBrowser(url);
    }
}

static bool readOptions(const rbArguments* arguments, rbViewOptions* options, rbServerDef* def)
{
    double port = 0.0;
    *options = (rbViewOptions){.isPaused = rbArguments_Has(arguments, "--paused"),
                               .recordPath = rbArguments_Get(arguments, "--record")};
    if (!rbArguments_GetNumber(arguments, "--port", 0.0, 65535.0, &port) ||
        !rbArguments_GetNumber(arguments, "--speed", 1e-6, 1e6, &options->speed) ||
        !rbArguments_GetNumber(arguments, "--for", 1e-3, 1e9, &options->wallTime) ||
        !rbArguments_TakeThreads(arguments, 0)) {
        return false;
    }
    if (port != (double)(int)port) {
        (void)rbFail("--port is %g; must be an integer", port);
        return false;
    }
    static const char* const needScene[] = {"--record", "--set"};
    for (size_t i = 0; i < sizeof needScene / sizeof needScene[0]; ++i) {
        if (arguments->wordCount == 0 && rbArguments_Has(arguments, needScene[i])) {
            (void)rbFail("%s needs a scene: rattleback view SCENE %s ...", needScene[i],
                         needScene[i]);
            return false;
        }
    }
    // for the server, -1 is any free port, 0 the first free one from 8040
    bool isAny = port == 0.0 && rbArguments_Has(arguments, "--port");
    *def = (rbServerDef){.port = isAny ? -1 : (int)port,
                         .address = rbArguments_Get(arguments, "--listen"),
                         .host = {.context = options,
                                  .openScene = openExample,
                                  .openSent = openSent,
                                  .hasChanged = hasChanged,
                                  .reopen = reopen,
                                  .listScenes = listScenes,
                                  .drawPicture = drawPicture},
                         .recordPath = options->recordPath};
    return true;
}

// The file or scene named on the command line.
static bool startGiven(const rbArguments* arguments, const rbViewOptions* options,
                       rbSimulation* simulation, rbError* error)
{
    const char* word = arguments->words[0];
    rbRecording* recording = openRecording(word, error);
    if (recording == NULL && error->status != RB_STATUS_OK) {
        return false;
    }
    if (recording != NULL) {
        const char* refused = rbArguments_Has(arguments, "--record") ? "--record"
                              : rbArguments_Has(arguments, "--set")  ? "--set"
                                                                     : NULL;
        if (refused != NULL) {
            rbCloseRecording(recording);
            (void)rbError_Set(error, RB_STATUS_INVALID,
                              "%s is a recording and is shown as recorded; remove %s", word,
                              refused);
            return false;
        }
        return startRecording(recording, word, options, simulation, error);
    }
    rbScene* scene = rbOpenSceneWithSettings(arguments, error);
    const rbOutputName output = {"--record", options->recordPath};
    if (scene != NULL && !rbCheckOutputNames(arguments, scene, &output, 1)) {
        rbDestroyScene(scene);
        return false;
    }
    return scene != NULL && startSession(scene, options, simulation, error);
}

// The file of the scene is watched; recordings do not change.
static void watchGiven(const rbArguments* arguments, rbViewOptions* options)
{
    char path[sizeof options->watch.path];
    options->arguments = arguments;
    if (rbFindScenePath(arguments->words[0], path, sizeof path)) {
        rbWatch_Start(&options->watch, path);
    }
}

static rbExit serve(const rbArguments* arguments, const rbServerDef* def,
                    const rbSimulation* simulation, double wallTime)
{
    rbError error = {0};
    rbServer* server = rbCreateServer(def, &error);
    if (server == NULL) {
        if (simulation->object != NULL) {
            simulation->destroy(simulation->object);
        }
        return rbFailWith(&error);
    }
    if (simulation->object != NULL) {
        rbServer_SetSimulation(server, simulation);
    }
    servedNow = server;
    catchSignals();
    announce(server, arguments);
    setAlarm(wallTime);
    rbStatus status = rbServer_Run(server, &error);
    servedNow = NULL;
    rbDestroyServer(server);
    if (status != RB_STATUS_OK) {
        return rbFailWith(&error);
    }
    if (def->recordPath != NULL && !rbArguments_Has(arguments, "--json")) {
        (void)printf("%s written.\n", def->recordPath);
    }
    return RB_EXIT_DONE;
}

static rbExit runView(const rbArguments* arguments)
{
    rbViewOptions options;
    rbServerDef def;
    rbSimulation simulation = {0};
    rbError error = {0};
    if (!readOptions(arguments, &options, &def)) {
        return RB_EXIT_USAGE;
    }
    if (rbArguments_Has(arguments, "--certificate")) {
        static rbCertificateCheck check;
        static char findings[FINDINGS_SIZE];
        const char* path = rbArguments_Get(arguments, "--certificate");
        rbCheckCertificate(path, &check);
        if (rbCertificateCheck_WriteFindings(&check, path, findings, sizeof findings)) {
            rbStream_SetCertificate(findings);
        }
    }
    if (arguments->wordCount > 0 && !startGiven(arguments, &options, &simulation, &error)) {
        return error.status == RB_STATUS_OK ? RB_EXIT_USAGE : rbFailWith(&error);
    }
    if (arguments->wordCount > 0 && strcmp(simulation.kind, "live") == 0) {
        watchGiven(arguments, &options);
    }
    return serve(arguments, &def, &simulation, options.wallTime);
}

static const rbOption options[] = {
    {"--port", "N", "the port; 0: any free one (default: the first free one, starting at 8040)"},
    {"--listen", "ADDRESS", "accepts other machines, e.g. 0.0.0.0; the URL then contains a token"},
    {"--record", "FILE",
     "writes the session with its user actions as a recording (.rbr) at the end"},
    {"--certificate", "FILE", "checks a certificate first; a badge shows the findings"},
    {"--no-browser", NULL, "prints the URL only"},
    {"--speed", "FACTOR", "simulated time over wall time"},
    {"--paused", NULL,
     "waits for the play button (default: the clock starts when the first page is ready)"},
    {"--for", "SECONDS", "ends automatically after this wall time"},
    {"--set", "KEY=VALUE",
     "changes a value of the scene, e.g. world.gravity.2=-1.6; can be repeated"},
    {"--json", NULL, "prints the URL and the port as JSON"},
    RB_OPTION_THREADS,
    RB_MODULE_OPTION,
};

static const char* const examples[] = {
    "rattleback view rattleback",
    "rattleback view",
    "rattleback view dominoes --speed 0.5 --record fall.rbr",
    "rattleback view fall.rbr",
    "rattleback view --listen 0.0.0.0 --port 9000",
    NULL,
};

const rbVerb rbVerbView = {
    .name = "view",
    .words = "[SCENE|RECORDING]",
    .help = "shows a scene live in the browser, to push bodies and plot values",
    .more =
        "SCENE is a file or the name of an example scene; without one the page shows all of them.\n"
        "The page opens in any browser on this machine; nothing is sent anywhere else. Ctrl-C "
        "ends\n"
        "it. docs/viewer-protocol.md describes how other programs can observe and act.",
    .run = runView,
    .wordMin = 0,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
