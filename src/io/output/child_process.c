#include "io/output/child_process.h"

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

#define SILENCE_MAX_MS 120000 // some need seconds for millions of points; longer is a hang

extern char** environ;

enum {
    STREAM_IN,
    STREAM_OUT,
    STREAM_ERR,
    STREAM_COUNT
};

_Static_assert((int)STREAM_COUNT == RB_CHILD_STREAMS, "in, out and error");

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

// Starts a program with its streams on the given ends; returns an errno. Signals that we ignore get
// their default action in the child.
static int spawnChild(pid_t* pid, char* const* arguments, const int ends[STREAM_COUNT])
{
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
        number = posix_spawnp(pid, arguments[0], &actions, &attributes, arguments, environ);
    }
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return number;
}

rbStatus rbChild_Start(rbChild* child, char* const* arguments, rbOutputFile* output,
                       const char* absence, rbError* error)
{
    RB_ASSERT(output != NULL && output->descriptor >= 0);
    int theirs[STREAM_COUNT] = {-1, -1, -1};
    int number = 0;
    *child = (rbChild){.name = arguments[0], .output = output, .streams = {-1, -1, -1}};
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
        number = spawnChild(&child->pid, arguments, theirs);
    }
    for (int i = 0; i < STREAM_COUNT; ++i) {
        closeStream(&theirs[i]);
        if (number != 0) {
            closeStream(&child->streams[i]);
        }
    }
    if (number != 0) {
        child->pid = 0;
    }
    if (number == ENOENT) {
        return rbError_Set(error, RB_STATUS_NOT_FOUND, "%s", absence);
    }
    if (number != 0) {
        return rbError_Set(error, RB_STATUS_IO, "cannot start %s: %s", child->name,
                           strerror(number));
    }
    return RB_STATUS_OK;
}

static void sendInput(rbChild* child)
{
    ssize_t done = send(child->streams[STREAM_IN], child->input, child->inputLeft,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done > 0) {
        child->input += done;
        child->inputLeft -= (size_t)done;
    }
    if (done < 0 && errno != EAGAIN && errno != EINTR) {
        closeStream(&child->streams[STREAM_IN]); // it accepts no more input
    }
}

static void keepTail(rbChild* child, const char* bytes, size_t count)
{
    if (count >= RB_CHILD_TAIL_SIZE) {
        memcpy(child->tail, bytes + count - RB_CHILD_TAIL_SIZE, RB_CHILD_TAIL_SIZE);
        return;
    }
    size_t kept = strnlen(child->tail, RB_CHILD_TAIL_SIZE);
    size_t surplus = kept + count > RB_CHILD_TAIL_SIZE ? kept + count - RB_CHILD_TAIL_SIZE : 0;
    memmove(child->tail, child->tail + surplus, kept - surplus);
    memcpy(child->tail + kept - surplus, bytes, count);
}

static void receive(rbChild* child, int stream)
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
    size_t room = RB_CHILD_COMPLAINT_MAX - 1 - child->complaintLength;
    count = count < room ? count : room;
    memcpy(child->complaint + child->complaintLength, bytes, count);
    child->complaintLength += count;
}

// Waits for the streams and serves those that are ready. False if the child stayed silent too long.
static bool serve(rbChild* child)
{
    struct pollfd polled[STREAM_COUNT];
    for (int i = 0; i < STREAM_COUNT; ++i) {
        bool isWanted = i != STREAM_IN || child->inputLeft > 0;
        short events = i == STREAM_IN ? POLLOUT : POLLIN;
        polled[i] = (struct pollfd){.fd = isWanted ? child->streams[i] : -1, .events = events};
    }
    int ready = poll(polled, STREAM_COUNT, SILENCE_MAX_MS);
    if (ready < 0 && errno == EINTR) {
        return true;
    }
    if (ready <= 0) {
        return false;
    }
    if (polled[STREAM_IN].revents != 0) {
        sendInput(child);
    }
    for (int i = STREAM_OUT; i < STREAM_COUNT; ++i) {
        if (polled[i].revents != 0) {
            receive(child, i);
        }
    }
    return true;
}

static void closeStreams(rbChild* child)
{
    for (int i = 0; i < STREAM_COUNT; ++i) {
        closeStream(&child->streams[i]);
    }
}

// Waits for the child to end; false if its exit status is not available.
static bool await(rbChild* child, int* result)
{
    pid_t waited;
    do {
        waited = waitpid(child->pid, result, 0);
    } while (waited < 0 && errno == EINTR);
    child->pid = 0;
    return waited >= 0;
}

bool rbChild_Feed(rbChild* child, const void* bytes, size_t count)
{
    RB_ASSERT(child->pid > 0);
    child->input = bytes;
    child->inputLeft = count;
    while (!child->isSilent && child->inputLeft > 0 && child->streams[STREAM_IN] >= 0) {
        child->isSilent = !serve(child);
    }
    if (child->isSilent) {
        (void)kill(child->pid, SIGKILL);
        closeStreams(child);
    }
    return child->inputLeft == 0;
}

void rbChild_Kill(rbChild* child)
{
    int result = 0;
    if (child->pid > 0) {
        (void)kill(child->pid, SIGKILL);
        closeStreams(child);
        (void)await(child, &result);
    }
}

// The first line of the child's error output that is not empty.
static const char* findComplaint(rbChild* child)
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

rbStatus rbChild_Finish(rbChild* child, rbError* error)
{
    RB_ASSERT(child->pid > 0);
    closeStream(&child->streams[STREAM_IN]);
    child->inputLeft = 0;
    while (!child->isSilent &&
           (child->streams[STREAM_OUT] >= 0 || child->streams[STREAM_ERR] >= 0)) {
        child->isSilent = !serve(child);
    }
    if (child->isSilent) {
        (void)kill(child->pid, SIGKILL);
    }
    closeStreams(child);
    int result = 0;
    bool isKnown = await(child, &result);
    if (child->isSilent) {
        return rbError_Set(error, RB_STATUS_IO, "%s did nothing for %d s and was stopped",
                           child->name, SILENCE_MAX_MS / 1000);
    }
    // A process that ignores SIGCHLD gets no exit status; then only the output shows success.
    if (isKnown && !(WIFEXITED(result) && WEXITSTATUS(result) == 0)) {
        return rbError_Set(error, RB_STATUS_IO, "%s failed: %.300s", child->name,
                           findComplaint(child));
    }
    return RB_STATUS_OK;
}
