// gnuplot as a child process.
//
// Its three standard streams are socket pairs. Sockets rather than pipes, because send can be told
// not to raise SIGPIPE when the child dies early. The picture comes through us and not by gnuplot's
// own "set output", for two reasons: gnuplot does not notice a full disk, and a file name given to
// it would be part of the script. One loop serves all three streams, so neither side waits for the
// other for ever.
#include "io/output/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENCE_MAX_MS 120000 // gnuplot takes seconds for millions of points; more is a hang
#define COMPLAINT_MAX 512
#define TAIL_SIZE 32 // the end of the picture, to see that it is whole

extern char** environ;

enum {
    STREAM_IN,
    STREAM_OUT,
    STREAM_ERR,
    STREAM_COUNT
};

typedef struct Child {
    pid_t pid;
    int streams[STREAM_COUNT]; // our ends, -1 when closed
    const char* script;
    size_t scriptLeft;
    rbOutputFile* output;
    char tail[TAIL_SIZE + 1];
    char complaint[COMPLAINT_MAX];
    size_t complaintLength;
} Child;

static void closeStream(int* descriptor)
{
    if (*descriptor >= 0) {
        (void)close(*descriptor);
        *descriptor = -1;
    }
}

// Makes a pair whose second end is not 0, 1 or 2, so that the child can put it there.
static bool makeChannel(int ends[2])
{
    int pair[2];
    ends[0] = -1;
    ends[1] = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        ends[i] = fcntl(pair[i], F_DUPFD_CLOEXEC, 3);
        (void)close(pair[i]);
    }
    if (ends[0] < 0 || ends[1] < 0) {
        closeStream(&ends[0]);
        closeStream(&ends[1]);
        return false;
    }
    return true;
}

// Starts gnuplot with its streams on the given ends; returns an errno. Signals we ignore are the
// child's business again.
static int spawnChild(pid_t* pid, const int ends[STREAM_COUNT])
{
    char program[] = "gnuplot";
    char noStartupFile[] = "-d";
    char standardInput[] = "-";
    char* arguments[] = {program, noStartupFile, standardInput, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    int number = 0;
    for (int i = 0; i < STREAM_COUNT && number == 0; ++i) {
        number = posix_spawn_file_actions_adddup2(&actions, ends[i], i);
    }
    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)posix_spawnattr_setsigdefault(&attributes, &defaults);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (number == 0) {
        number = posix_spawnp(pid, program, &actions, &attributes, arguments, environ);
    }
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return number;
}

static rbStatus startChild(Child* child, rbError* error)
{
    int theirs[STREAM_COUNT] = {-1, -1, -1};
    int number = 0;
    for (int i = 0; i < STREAM_COUNT; ++i) {
        child->streams[i] = -1;
    }
    for (int i = 0; i < STREAM_COUNT && number == 0; ++i) {
        int ends[2];
        if (makeChannel(ends)) {
            child->streams[i] = ends[0];
            theirs[i] = ends[1];
        } else {
            number = errno;
        }
    }
    if (number == 0) {
        number = spawnChild(&child->pid, theirs);
    }
    for (int i = 0; i < STREAM_COUNT; ++i) {
        closeStream(&theirs[i]);
        if (number != 0) {
            closeStream(&child->streams[i]);
        }
    }
    if (number == ENOENT) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND,
                           "plots need the program gnuplot, which is not installed; install the "
                           "package gnuplot-nox");
    }
    if (number != 0) {
        return rbError_Set(error, RB_STATUS_IO, "cannot start gnuplot: %s", strerror(number));
    }
    return RB_STATUS_OK;
}

static void sendScript(Child* child)
{
    ssize_t done = send(child->streams[STREAM_IN], child->script, child->scriptLeft,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done > 0) {
        child->script += done;
        child->scriptLeft -= (size_t)done;
    }
    bool isBroken = done < 0 && errno != EAGAIN && errno != EINTR;
    if (child->scriptLeft == 0 || isBroken) {
        closeStream(&child->streams[STREAM_IN]);
    }
}

static void keepTail(Child* child, const char* bytes, size_t count)
{
    if (count >= TAIL_SIZE) {
        memcpy(child->tail, bytes + count - TAIL_SIZE, TAIL_SIZE);
        return;
    }
    size_t kept = strnlen(child->tail, TAIL_SIZE);
    size_t surplus = kept + count > TAIL_SIZE ? kept + count - TAIL_SIZE : 0;
    memmove(child->tail, child->tail + surplus, kept - surplus);
    memcpy(child->tail + kept - surplus, bytes, count);
}

static void receive(Child* child, int stream)
{
    char bytes[16384];
    ssize_t done = read(child->streams[stream], bytes, sizeof bytes);
    if (done < 0 && errno == EINTR) {
        return;
    }
    if (done <= 0) {
        closeStream(&child->streams[stream]);
        return;
    }
    size_t count = (size_t)done;
    if (stream == STREAM_OUT) {
        keepTail(child, bytes, count);
        rbOutputFile_Write(child->output, bytes, count);
        return;
    }
    size_t room = COMPLAINT_MAX - 1 - child->complaintLength;
    count = count < room ? count : room;
    memcpy(child->complaint + child->complaintLength, bytes, count);
    child->complaintLength += count;
}

// Serves the streams until gnuplot has closed its two. False if it fell silent.
static bool converse(Child* child)
{
    while (child->streams[STREAM_OUT] >= 0 || child->streams[STREAM_ERR] >= 0) {
        struct pollfd polled[STREAM_COUNT];
        for (int i = 0; i < STREAM_COUNT; ++i) {
            short wanted = i == STREAM_IN ? POLLOUT : POLLIN;
            polled[i] = (struct pollfd){.fd = child->streams[i], .events = wanted};
        }
        int ready = poll(polled, STREAM_COUNT, SILENCE_MAX_MS);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            return false;
        }
        if (polled[STREAM_IN].revents != 0) {
            sendScript(child);
        }
        for (int i = STREAM_OUT; i < STREAM_COUNT; ++i) {
            if (polled[i].revents != 0) {
                receive(child, i);
            }
        }
    }
    return true;
}

// The first line of gnuplot's complaint that says something.
static const char* findComplaint(Child* child)
{
    child->complaint[child->complaintLength] = '\0';
    char* start = child->complaint;
    while (*start == '\n' || *start == ' ' || *start == '^') {
        ++start;
    }
    char* end = strchr(start, '\n');
    if (end != NULL) {
        *end = '\0';
    }
    return *start != '\0' ? start : "it gave no reason";
}

rbStatus rbRunGnuplot(const char* script, size_t scriptSize, rbOutputFile* output, rbError* error)
{
    RB_ASSERT(script != NULL && scriptSize > 0);
    RB_ASSERT(output != NULL && output->descriptor >= 0);
    Child child = {.script = script, .scriptLeft = scriptSize, .output = output};
    rbStatus status = startChild(&child, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    bool isFinished = converse(&child);
    if (!isFinished) {
        (void)kill(child.pid, SIGKILL);
    }
    for (int i = 0; i < STREAM_COUNT; ++i) {
        closeStream(&child.streams[i]);
    }
    int result = 0;
    pid_t waited;
    do {
        waited = waitpid(child.pid, &result, 0);
    } while (waited < 0 && errno == EINTR);
    if (!isFinished) {
        return rbError_Set(error, RB_STATUS_IO, "gnuplot did nothing for %d s and was ended",
                           SILENCE_MAX_MS / 1000);
    }
    // A process that ignores SIGCHLD gets no exit status; the end of the picture speaks then.
    bool isGood = waited < 0 || (WIFEXITED(result) && WEXITSTATUS(result) == 0);
    if (!isGood || strstr(child.tail, "</svg>") == NULL) {
        return rbError_Set(error, RB_STATUS_IO, "gnuplot failed: %.300s", findComplaint(&child));
    }
    return RB_STATUS_OK;
}
