// Files that appear whole or not at all.
#include "io/output/output_file.h"
#include "output_support.h"

#include <sys/wait.h>

static char folder[SCRATCH_SIZE];
static rbOutputFile file; // large, so not on the stack

static int setup(void** state)
{
    (void)state;
    makeScratch(folder);
    return 0;
}

static int teardown(void** state)
{
    (void)state;
    removeScratch(folder);
    return 0;
}

static void inFolder(char* path, const char* name)
{
    (void)snprintf(path, (size_t)2 * SCRATCH_SIZE, "%s/%s", folder, name);
}

static void fileAppearsOnlyWhenCommitted(void** state)
{
    (void)state;
    char path[2 * SCRATCH_SIZE];
    char part[2 * SCRATCH_SIZE];
    inFolder(path, "a.txt");
    inFolder(part, "a.txt.part");
    rbError error = {0};
    assert_int_equal(rbOutputFile_Open(&file, path, &error), RB_STATUS_OK);
    // More than the buffer, in pieces of all sizes, one of them larger than the buffer.
    size_t total = 0;
    static char piece[2 * RB_OUTPUT_BUFFER_SIZE];
    for (size_t size = 0; size < 700; ++size) {
        memset(piece, (int)('a' + size % 26), size);
        rbOutputFile_Write(&file, piece, size);
        total += size;
    }
    memset(piece, '+', sizeof piece);
    rbOutputFile_Write(&file, piece, sizeof piece);
    rbOutputFile_Print(&file, "%d %s\n", 42, "end");
    total += sizeof piece + strlen("42 end\n");
    assert_false(exists(path));
    assert_true(exists(part));
    assert_int_equal(rbOutputFile_Commit(&file, &error), RB_STATUS_OK);
    assert_true(exists(path));
    assert_false(exists(part));
    size_t size;
    char* text = readWhole(path, &size);
    assert_int_equal(size, total);
    assert_string_equal(text + size - 7, "42 end\n");
    size_t at = 0;
    for (size_t i = 0; i < 700; ++i) {
        for (size_t j = 0; j < i; ++j) {
            assert_int_equal(text[at++], 'a' + i % 26);
        }
    }
    free(text);
}

static void abandonedFileLeavesTheOldOne(void** state)
{
    (void)state;
    char path[2 * SCRATCH_SIZE];
    inFolder(path, "a.txt");
    writeWhole(path, "old", 3);
    assert_int_equal(rbOutputFile_Open(&file, path, NULL), RB_STATUS_OK);
    rbOutputFile_Text(&file, "new");
    rbOutputFile_Abandon(&file);
    rbOutputFile_Abandon(&file);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(countEntries(folder), 1);
}

static void secondWriterIsRefused(void** state)
{
    (void)state;
    char path[2 * SCRATCH_SIZE];
    inFolder(path, "a.txt");
    rbOutputFile* other = malloc(sizeof *other);
    assert_non_null(other);
    rbError error = {0};
    assert_int_equal(rbOutputFile_Open(&file, path, NULL), RB_STATUS_OK);
    assert_int_equal(rbOutputFile_Open(other, path, &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "another run is writing"));
    rbOutputFile_Text(&file, "first");
    assert_int_equal(rbOutputFile_Commit(&file, NULL), RB_STATUS_OK);
    assert_int_equal(rbOutputFile_Open(other, path, &error), RB_STATUS_OK);
    rbOutputFile_Text(other, "second");
    assert_int_equal(rbOutputFile_Commit(other, NULL), RB_STATUS_OK);
    free(other);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, "second");
    free(text);
}

static void stalePartIsTakenOver(void** state)
{
    (void)state;
    char path[2 * SCRATCH_SIZE];
    char part[2 * SCRATCH_SIZE];
    inFolder(path, "a.txt");
    inFolder(part, "a.txt.part");
    writeWhole(part, "a long rest of a crashed run", 28);
    assert_int_equal(rbOutputFile_Open(&file, path, NULL), RB_STATUS_OK);
    rbOutputFile_Text(&file, "new");
    assert_int_equal(rbOutputFile_Commit(&file, NULL), RB_STATUS_OK);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(countEntries(folder), 1);
}

// Many processes compete for one name; the winner writes only its own letter.
static void fightingWritersNeverMix(void** state)
{
    (void)state;
    enum {
        PROCESSES = 4,
        ROUNDS = 60,
        LENGTH = 3000
    };
    char path[2 * SCRATCH_SIZE];
    inFolder(path, "a.txt");
    pid_t pids[PROCESSES];
    for (int p = 0; p < PROCESSES; ++p) {
        pids[p] = fork();
        assert_true(pids[p] >= 0);
        if (pids[p] == 0) {
            char letter = (char)('a' + p);
            for (int round = 0; round < ROUNDS; ++round) {
                if (rbOutputFile_Open(&file, path, NULL) != RB_STATUS_OK) {
                    continue;
                }
                for (int i = 0; i < LENGTH; ++i) {
                    rbOutputFile_Write(&file, &letter, 1);
                    if (i % 500 == 0) {
                        (void)rbOutputFile_Flush(&file, NULL);
                    }
                }
                if (round % 3 == 0) {
                    rbOutputFile_Abandon(&file);
                } else if (rbOutputFile_Commit(&file, NULL) != RB_STATUS_OK) {
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    for (int p = 0; p < PROCESSES; ++p) {
        int result = 1;
        assert_int_equal(waitpid(pids[p], &result, 0), pids[p]);
        assert_int_equal(result, 0);
    }
    size_t size;
    char* text = readWhole(path, &size);
    assert_int_equal(size, LENGTH);
    for (size_t i = 1; i < size; ++i) {
        assert_int_equal(text[i], text[0]);
    }
    free(text);
    assert_int_equal(countEntries(folder), 1);
}

static void fullDiskIsReportedAndLeavesNothing(void** state)
{
    (void)state;
    char path[2 * SCRATCH_SIZE];
    inFolder(path, "a.txt");
    writeWhole(path, "old", 3);
    struct rlimit old;
    limitFileSize(100000, &old);
    rbError error = {0};
    assert_int_equal(rbOutputFile_Open(&file, path, &error), RB_STATUS_OK);
    for (int i = 0; i < 50000; ++i) {
        rbOutputFile_Text(&file, "0123456789");
    }
    assert_int_equal(file.errorNumber, EFBIG);
    rbStatus status = rbOutputFile_Commit(&file, &error);
    restoreFileSize(&old);
    assert_int_equal(status, RB_STATUS_IO);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, strerror(EFBIG)));
    assert_int_equal(countEntries(folder), 1);
    size_t size;
    char* text = readWhole(path, &size);
    assert_string_equal(text, "old");
    free(text);
}

// /dev/full fails with "no space left"; a rename must never replace a device.
static void deviceIsWrittenDirectly(void** state)
{
    (void)state;
    rbError error = {0};
    assert_int_equal(rbOutputFile_Open(&file, "/dev/full", &error), RB_STATUS_OK);
    rbOutputFile_Text(&file, "text");
    assert_int_equal(rbOutputFile_Commit(&file, &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
    assert_non_null(strstr(error.message, strerror(ENOSPC)));
    assert_int_equal(rbOutputFile_Open(&file, "/dev/null", &error), RB_STATUS_OK);
    rbOutputFile_Text(&file, "text");
    assert_int_equal(rbOutputFile_Commit(&file, &error), RB_STATUS_OK);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(stat("/dev/full", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_false(exists("/dev/null.part"));
}

static void unusablePathsAreRefused(void** state)
{
    (void)state;
    char regular[2 * SCRATCH_SIZE];
    inFolder(regular, "file");
    writeWhole(regular, "x", 1);
    static char longName[RB_OUTPUT_PATH_MAX + 100];
    memset(longName, 'n', sizeof longName - 1);
    char below[2 * SCRATCH_SIZE];
    char absent[2 * SCRATCH_SIZE];
    inFolder(below, "file/a.txt");
    inFolder(absent, "nowhere/a.txt");
    const char* paths[] = {below, absent, folder, longName};
    const int causes[] = {ENOTDIR, ENOENT, EISDIR, ENAMETOOLONG};
    for (int i = 0; i < 4; ++i) {
        rbError error = {0};
        assert_int_equal(rbOutputFile_Open(&file, paths[i], &error), RB_STATUS_IO);
        assert_non_null(strstr(error.message, strerror(causes[i])));
        rbOutputFile_Abandon(&file);
    }
    assert_int_equal(rbOutputFile_Open(&file, "", NULL), RB_STATUS_INVALID);
    assert_int_equal(countEntries(folder), 1);
}

static void symbolicLinkIsFollowed(void** state)
{
    (void)state;
    char target[2 * SCRATCH_SIZE];
    char link[2 * SCRATCH_SIZE];
    inFolder(target, "target.txt");
    inFolder(link, "link.txt");
    writeWhole(target, "old", 3);
    assert_int_equal(symlink("target.txt", link), 0);
    assert_int_equal(rbOutputFile_Open(&file, link, NULL), RB_STATUS_OK);
    rbOutputFile_Text(&file, "new");
    assert_int_equal(rbOutputFile_Commit(&file, NULL), RB_STATUS_OK);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    size_t size;
    char* text = readWhole(target, &size);
    assert_string_equal(text, "new");
    free(text);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
RB_TEST_GROUP(test_output_file, WITH_FOLDER(fileAppearsOnlyWhenCommitted),
              WITH_FOLDER(abandonedFileLeavesTheOldOne), WITH_FOLDER(secondWriterIsRefused),
              WITH_FOLDER(stalePartIsTakenOver), WITH_FOLDER(fightingWritersNeverMix),
              WITH_FOLDER(fullDiskIsReportedAndLeavesNothing), WITH_FOLDER(deviceIsWrittenDirectly),
              WITH_FOLDER(unusablePathsAreRefused), WITH_FOLDER(symbolicLinkIsFollowed));
