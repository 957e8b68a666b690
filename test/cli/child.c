#define _XOPEN_SOURCE 700

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 40

#define SHARED_MEMORY_LEAST 1e9 // bytes: room for all files of the tests

static char scratch[64];

// In shared memory where there is room: checkpoints wait for the disk, up to a minute in a test.
const char* rbMakeScratch(void)
{
    struct statvfs room;
    bool isRoomy = statvfs("/dev/shm", &room) == 0 && access("/dev/shm", W_OK) == 0 &&
                   (double)room.f_bavail * (double)room.f_frsize > SHARED_MEMORY_LEAST;
    const char* folder = isRoomy ? "/dev/shm" : "/tmp";
    (void)snprintf(scratch, sizeof scratch, "%s/rb_cli_XXXXXX", folder);
    assert_non_null(mkdtemp(scratch));
    return scratch;
}

static int removeEntry(const char* path, const struct stat* status, int kind, struct FTW* place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void rbRemoveScratch(void)
{
    assert_int_equal(nftw(scratch, removeEntry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int rbSetUpScratch(void** state)
{
    *state = NULL;
    (void)rbMakeScratch();
    return 0;
}

int rbTearDownScratch(void** state)
{
    (void)state;
    rbRemoveScratch();
    return 0;
}

const char* rbScratch(const char* name)
{
    static char paths[8][256];
    static int next = 0;
    char* path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

// In the child: descriptors, limits and the program itself.
static void becomeProgram(const char* const* words, const rbChildOptions* options)
{
    const char* outPath =
        options->standardOutput != NULL ? options->standardOutput : rbScratch(".out");
    int out = open(outPath, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    int err = open(rbScratch(".err"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    bool isReady = out >= 0 && err >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                   dup2(err, STDERR_FILENO) >= 0 && chdir(scratch) == 0;
    if (options->fileSizeMax > 0) {
        struct rlimit limit = {(rlim_t)options->fileSizeMax, (rlim_t)options->fileSizeMax};
        isReady = isReady && setrlimit(RLIMIT_FSIZE, &limit) == 0;
    }
    if (options->environment != NULL) {
        isReady = isReady && putenv((char*)options->environment) == 0;
    }
    char* arguments[WORDS_MAX + 2] = {(char*)"rattleback"};
    for (int i = 0; i < WORDS_MAX && words[i] != NULL; ++i) {
        arguments[i + 1] = (char*)words[i];
    }
    if (isReady) {
        (void)execv(options->program != NULL ? options->program : RB_PROGRAM, arguments);
    }
    _exit(99);
}

pid_t rbStartProgram(const char* const* words, const rbChildOptions* options)
{
    (void)fflush(NULL);
    // what an earlier program left there is not read as the output of this one
    if (options->standardOutput == NULL) {
        char path[sizeof scratch + 8]; // rbScratch would reuse the place of a path of the test
        (void)snprintf(path, sizeof path, "%s/.out", scratch);
        (void)remove(path);
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        becomeProgram(words, options);
    }
    return pid;
}

// Without the lines of progress that a log gets from slow runs.
static void removeProgress(char* text)
{
    static const char start[] = "rattleback: progress: ";
    char* kept = text;
    while (*text != '\0') {
        const char* end = strchr(text, '\n');
        size_t length = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        if (strncmp(text, start, sizeof start - 1) != 0) {
            memmove(kept, text, length);
            kept += length;
        }
        text += length;
    }
    *kept = '\0';
}

rbChild rbWaitChild(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    rbChild child = {.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
    size_t size = 0;
    child.out = rbFileExists(rbScratch(".out")) ? rbReadFile(rbScratch(".out"), &size) : strdup("");
    child.err = rbReadFile(rbScratch(".err"), &size);
    removeProgress(child.err);
    return child;
}

rbChild rbRunProgramWith(const char* const* words, const rbChildOptions* options)
{
    return rbWaitChild(rbStartProgram(words, options));
}

rbChild rbRunProgram(const char* const* words)
{
    const rbChildOptions options = {0};
    return rbRunProgramWith(words, &options);
}

void rbFreeChild(rbChild* child)
{
    free(child->out);
    free(child->err);
    child->out = child->err = NULL;
}

void rbExpectFailure(rbChild child, int exitCode, const char* needle)
{
    const char* end = strchr(child.err, '\n');
    if (child.exitCode != exitCode || strstr(child.err, needle) == NULL || end == NULL ||
        end[1] != '\0') {
        print_error("exit %d, expected %d and one line with '%s'; stderr:\n%s\n", child.exitCode,
                    exitCode, needle, child.err);
        fail();
    }
    rbFreeChild(&child);
}

void rbExpectSuccess(const rbChild* child)
{
    if (child->exitCode != 0 || child->err[0] != '\0') {
        print_error("exit %d; stderr:\n%s\n", child->exitCode, child->err);
        fail();
    }
}

void rbWriteFile(const char* path, const void* bytes, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void rbWriteText(const char* path, const char* text)
{
    rbWriteFile(path, text, strlen(text));
}

char* rbReadFile(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    char* bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, (size_t)length, file);
    bytes[*size] = '\0';
    (void)fclose(file);
    return bytes;
}

bool rbFileExists(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

json_t* rbRunJson(int exitCode, const char* const* words)
{
    rbChild child = rbRunProgram(words);
    if (exitCode == 0) {
        rbExpectSuccess(&child);
    } else if (child.exitCode != exitCode) {
        fail_msg("exit code %d: %s", child.exitCode, child.err);
    }
    json_error_t error;
    json_t* root = json_loads(child.out, 0, &error);
    assert_non_null(root);
    rbFreeChild(&child);
    return root;
}

double rbNumberOf(const json_t* root, const char* first, const char* second)
{
    const json_t* value = json_object_get(root, first);
    value = second != NULL ? json_object_get(value, second) : value;
    if (!json_is_number(value)) {
        fail_msg("no number %s.%s", first, second != NULL ? second : "");
    }
    return json_number_value(value);
}

void rbExpectLines(const char* text, const char* const* lines, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (strstr(text, lines[i]) == NULL) {
            fail_msg("\"%s\" is not in\n%.900s", lines[i], text);
        }
    }
}
