// Files that appear whole or not at all: see output_file.h.
//
// Taking "<path>.part". A crashed run may have left one, a running one may be writing one. Creation
// with O_EXCL shows who created it; flock shows whether its writer lives, and is released by the
// system when that process ends. Between our open and our lock the former owner can rename or
// delete the file; then we hold a lock on something that is no longer "<path>.part", see that the
// inode differs, and start again. fcntl locks would not do: two writers of one process would share
// them.
#include "io/output/output_file.h"

#include "base/core/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRINT_MAX 1024
#define TAKE_TRIES 16 // each retry needs another writer to finish at that very moment

// Remedies for causes that a user can fix; other causes are self-explanatory.
static const struct {
    int number;
    const char* remedy;
} remedies[] = {
    {ENOENT, "; make the folder first"},
    {ENOTDIR, "; a part of the path is a file, not a folder"},
    {EACCES, "; choose a folder you may write to"},
    {EPERM, "; choose a folder you may write to"},
    {EROFS, "; choose a folder you may write to"},
    {ENOSPC, "; free some space or choose another disk"},
    {EDQUOT, "; free some space or choose another disk"},
    {EFBIG, "; raise the limit (ulimit -f) or write less"},
    {EISDIR, "; give a file name"},
    {ENAMETOOLONG, "; choose a shorter name"},
};

static rbStatus reportFailure(const char* path, const char* doing, int number, rbError* error)
{
    const char* remedy = "";
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; ++i) {
        if (remedies[i].number == number) {
            remedy = remedies[i].remedy;
        }
    }
    rbError_SetPlace(error, path, "");
    return rbError_Set(error, RB_STATUS_IO, "cannot %s '%.200s': %s%s", doing, path,
                       strerror(number), remedy);
}

// Copies the path to write to: the target of a symbolic link, else the path itself.
static rbStatus resolvePath(rbOutputFile* file, const char* path, rbError* error)
{
    char resolved[PATH_MAX];
    struct stat status;
    const char* chosen = path;
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode) && realpath(path, resolved) != NULL) {
        chosen = resolved;
    }
    int length = snprintf(file->path, sizeof file->path, "%s", chosen);
    int partLength = snprintf(file->partPath, sizeof file->partPath, "%s.part", chosen);
    if (length < 0 || partLength < 0 || (size_t)partLength >= sizeof file->partPath) {
        return reportFailure(path, "write", ENAMETOOLONG, error);
    }
    return RB_STATUS_OK;
}

// True if the descriptor is still the file of that name.
static bool isNamed(int descriptor, const char* name)
{
    struct stat byName;
    struct stat byDescriptor;
    return stat(name, &byName) == 0 && fstat(descriptor, &byDescriptor) == 0 &&
           byName.st_dev == byDescriptor.st_dev && byName.st_ino == byDescriptor.st_ino;
}

typedef enum {
    TAKE_DONE,
    TAKE_AGAIN,  // meanwhile the name belongs to another file
    TAKE_BUSY,   // another writer is active
    TAKE_FAILED, // errno has the reason
} TakeResult;

// One attempt to own the .part: opened, locked, empty.
static TakeResult takePart(rbOutputFile* file)
{
    bool isNew = true;
    int descriptor = open(file->partPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) {
        isNew = false;
        descriptor = open(file->partPath, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        if (descriptor < 0 && errno == ENOENT) {
            return TAKE_AGAIN;
        }
    }
    if (descriptor < 0) {
        return TAKE_FAILED;
    }
    // Where locks are not supported, a file that existed before must not be taken over.
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && (!isNew || errno == EWOULDBLOCK)) {
        (void)close(descriptor);
        return TAKE_BUSY;
    }
    if (!isNamed(descriptor, file->partPath)) {
        (void)close(descriptor);
        return TAKE_AGAIN;
    }
    if (!isNew && ftruncate(descriptor, 0) != 0) {
        int number = errno;
        (void)close(descriptor);
        errno = number;
        return TAKE_FAILED;
    }
    file->descriptor = descriptor;
    return TAKE_DONE;
}

static rbStatus openPart(rbOutputFile* file, rbError* error)
{
    TakeResult result = TAKE_AGAIN;
    for (int i = 0; i < TAKE_TRIES && result == TAKE_AGAIN; ++i) {
        result = takePart(file);
    }
    if (result == TAKE_FAILED) {
        return reportFailure(file->path, "write", errno, error);
    }
    if (result != TAKE_DONE) {
        rbError_SetPlace(error, file->path, "");
        return rbError_Set(error, RB_STATUS_IO,
                           "cannot write '%.200s': another run is writing '%.200s'; wait for it, "
                           "choose another name, or delete that file if no run is active",
                           file->path, file->partPath);
    }
    return RB_STATUS_OK;
}

// All but the large buffers, which need no value.
static void clearFile(rbOutputFile* file)
{
    file->descriptor = -1;
    file->errorNumber = 0;
    file->isDirect = false;
    file->isStandard = false;
    file->enableSync = false;
    file->enableKeepPart = false;
    file->isUncut = false;
    file->used = 0;
    file->written = 0;
    file->hash = RB_HASH_SEED;
    file->blockUsed = 0;
    file->path[0] = '\0';
    file->partPath[0] = '\0';
}

rbStatus rbOutputFile_Open(rbOutputFile* file, const char* path, rbError* error)
{
    RB_ASSERT(file != NULL);
    RB_ASSERT(path != NULL);
    clearFile(file);
    if (path[0] == '\0') {
        return rbError_Set(error, RB_STATUS_INVALID,
                           "the name of the output file is empty; give a path");
    }
    if (strcmp(path, "-") == 0) {
        (void)snprintf(file->path, sizeof file->path, "standard output");
        file->descriptor = STDOUT_FILENO;
        file->isDirect = true;
        file->isStandard = true;
        return RB_STATUS_OK;
    }
    rbStatus result = resolvePath(file, path, error);
    if (result != RB_STATUS_OK) {
        return result;
    }
    struct stat status;
    if (stat(file->path, &status) != 0 || S_ISREG(status.st_mode)) {
        return openPart(file, error);
    }
    // A rename over a device would replace it: such files are written directly.
    file->isDirect = true;
    file->descriptor = open(file->path, O_WRONLY | O_CLOEXEC);
    return file->descriptor >= 0 ? RB_STATUS_OK : reportFailure(path, "write", errno, error);
}

// Counts and hashes bytes that are in the file. The hash is that of whole blocks, so that it does
// not depend on how the bytes were written.
static void noteWritten(rbOutputFile* file, const unsigned char* bytes, size_t count)
{
    file->written += count;
    while (count > 0) {
        size_t room = RB_OUTPUT_BLOCK_SIZE - file->blockUsed;
        size_t part = count < room ? count : room;
        memcpy(file->block + file->blockUsed, bytes, part);
        file->blockUsed += part;
        bytes += part;
        count -= part;
        if (file->blockUsed == RB_OUTPUT_BLOCK_SIZE) {
            file->hash = rbHashBytes(file->hash, file->block, RB_OUTPUT_BLOCK_SIZE);
            file->blockUsed = 0;
        }
    }
}

// Cuts off what was written after the place where the file continues.
static void cut(rbOutputFile* file)
{
    if (file->isUncut && file->errorNumber == 0) {
        off_t place = (off_t)file->written;
        bool isCut = ftruncate(file->descriptor, place) == 0 &&
                     lseek(file->descriptor, place, SEEK_SET) == place;
        file->errorNumber = isCut ? 0 : errno;
    }
    file->isUncut = false;
}

// Writes all bytes, continuing after interruptions and short writes.
static void writeThrough(rbOutputFile* file, const unsigned char* bytes, size_t count)
{
    if (count > 0) {
        cut(file);
    }
    while (count > 0 && file->errorNumber == 0) {
        ssize_t done = write(file->descriptor, bytes, count);
        if (done > 0) {
            RB_ASSERT((size_t)done <= count);
            noteWritten(file, bytes, (size_t)done);
            bytes += done;
            count -= (size_t)done;
        } else if (done == 0) {
            file->errorNumber = EIO;
        } else if (errno != EINTR) {
            file->errorNumber = errno;
        }
    }
}

static void emptyBuffer(rbOutputFile* file)
{
    writeThrough(file, file->buffer, file->used);
    file->used = 0;
}

void rbOutputFile_Write(rbOutputFile* file, const void* bytes, size_t count)
{
    RB_ASSERT(file->descriptor >= 0);
    RB_ASSERT(bytes != NULL || count == 0);
    if (file->errorNumber != 0 || count == 0) {
        return;
    }
    if (count > RB_OUTPUT_BUFFER_SIZE - file->used) {
        emptyBuffer(file);
    }
    if (count >= RB_OUTPUT_BUFFER_SIZE) {
        writeThrough(file, bytes, count);
        return;
    }
    memcpy(file->buffer + file->used, bytes, count);
    file->used += count;
    RB_ASSERT(file->used <= RB_OUTPUT_BUFFER_SIZE);
}

void rbOutputFile_Text(rbOutputFile* file, const char* text)
{
    RB_ASSERT(text != NULL);
    rbOutputFile_Write(file, text, strlen(text));
}

void rbOutputFile_Print(rbOutputFile* file, const char* format, ...)
{
    char text[PRINT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    RB_ASSERT(length >= 0);
    RB_ASSERT((size_t)length < sizeof text);
    rbOutputFile_Write(file, text, (size_t)length);
}

rbStatus rbOutputFile_Flush(rbOutputFile* file, rbError* error)
{
    RB_ASSERT(file->descriptor >= 0);
    emptyBuffer(file);
    return file->errorNumber == 0 ? RB_STATUS_OK
                                  : reportFailure(file->path, "write", file->errorNumber, error);
}

// Closing can be the moment a network file system reports a full disk.
static void closeFile(rbOutputFile* file)
{
    if (file->descriptor >= 0 && !file->isStandard && close(file->descriptor) != 0 &&
        errno != EINTR && file->errorNumber == 0) {
        file->errorNumber = errno;
    }
    file->descriptor = -1;
}

static void syncFile(rbOutputFile* file)
{
    if (file->errorNumber == 0 && fsync(file->descriptor) != 0 && errno != EINVAL &&
        errno != ENOTSUP) {
        file->errorNumber = errno;
    }
}

rbStatus rbOutputFile_Commit(rbOutputFile* file, rbError* error)
{
    RB_ASSERT(file->descriptor >= 0);
    emptyBuffer(file);
    if (file->isDirect) {
        closeFile(file);
        return file->errorNumber == 0
                   ? RB_STATUS_OK
                   : reportFailure(file->path, "write", file->errorNumber, error);
    }
    cut(file);
    if (file->enableSync) {
        syncFile(file);
    }
    // The rename comes before the close, because the close releases the lock. A network file
    // system may report a full disk only at a close: a duplicate is closed to find out.
    int duplicate = dup(file->descriptor);
    if (duplicate >= 0 && close(duplicate) != 0 && errno != EINTR && file->errorNumber == 0) {
        file->errorNumber = errno;
    }
    if (file->errorNumber == 0 && rename(file->partPath, file->path) != 0) {
        file->errorNumber = errno;
    }
    if (file->errorNumber != 0) {
        int number = file->errorNumber;
        rbOutputFile_Abandon(file);
        return reportFailure(file->path, "write", number, error);
    }
    closeFile(file);
    return RB_STATUS_OK;
}

void rbOutputFile_Abandon(rbOutputFile* file)
{
    RB_ASSERT(file != NULL);
    if (file->descriptor < 0) {
        return;
    }
    // Deleted while still locked: it cannot be the .part of another writer.
    if (file->enableKeepPart || file->isDirect) {
        emptyBuffer(file);
    } else {
        (void)unlink(file->partPath);
    }
    closeFile(file);
}

void rbSyncFolderOf(const char* path)
{
    char folder[RB_OUTPUT_PATH_MAX];
    const char* slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    (void)snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    int descriptor = open(length > 0 ? folder : ".", O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fsync(descriptor);
        (void)close(descriptor);
    }
}

// ------------------------------------------------------------------------------ continuing a file

static uint64_t hashOfAll(const rbOutputFile* file)
{
    return rbHashBytes(file->hash, file->block, file->blockUsed);
}

rbStatus rbOutputFile_Save(rbOutputFile* file, rbStateStream* stream, rbError* error)
{
    RB_ASSERT(file->descriptor >= 0 && !stream->isLoading);
    if (file->isDirect) {
        rbError_SetPlace(error, file->path, "");
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "'%.200s' is not a file on disk, so a later run cannot continue it; "
                           "give a file name, or leave out --checkpoint",
                           file->path);
    }
    emptyBuffer(file);
    syncFile(file);
    if (file->errorNumber != 0) {
        return reportFailure(file->path, "write", file->errorNumber, error);
    }
    rbSyncFolderOf(file->partPath);
    file->enableKeepPart = true;
    uint64_t hash = hashOfAll(file);
    rbStateStream_Word(stream, &file->written);
    rbStateStream_Word(stream, &hash);
    return RB_STATUS_OK;
}

// Whether a file begins with these bytes; notes them and, if a copy is wanted, writes them there.
static bool findBytes(rbOutputFile* file, int source, int copy, uint64_t wanted, uint64_t hash)
{
    file->written = 0;
    file->hash = RB_HASH_SEED;
    file->blockUsed = 0;
    bool isGood = true;
    while (isGood && file->written < wanted) {
        uint64_t left = wanted - file->written;
        size_t asked = left < RB_OUTPUT_BUFFER_SIZE ? (size_t)left : RB_OUTPUT_BUFFER_SIZE;
        ssize_t got = pread(source, file->buffer, asked, (off_t)file->written);
        isGood = got > 0 || (got < 0 && errno == EINTR);
        for (ssize_t put = 0; copy >= 0 && isGood && put < got;) {
            ssize_t done = write(copy, file->buffer + put, (size_t)(got - put));
            isGood = done > 0 || (done < 0 && errno == EINTR);
            put += done > 0 ? done : 0;
        }
        if (isGood && got > 0) {
            noteWritten(file, file->buffer, (size_t)got);
        }
    }
    return isGood && hashOfAll(file) == hash;
}

// Takes a .part that begins with the bytes.
static TakeResult takeKeptPart(rbOutputFile* file, uint64_t wanted, uint64_t hash)
{
    int descriptor = open(file->partPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) {
        return TAKE_FAILED;
    }
    TakeResult result = TAKE_BUSY;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && isNamed(descriptor, file->partPath)) {
        result = findBytes(file, descriptor, -1, wanted, hash) ? TAKE_DONE : TAKE_FAILED;
    }
    if (result != TAKE_DONE) {
        (void)close(descriptor);
        return result;
    }
    file->descriptor = descriptor;
    file->isUncut = true;
    file->enableKeepPart = true;
    return TAKE_DONE;
}

// Copies the bytes from the completed file into a new .part: the file stays as it is until then.
static bool copyCompleted(rbOutputFile* file, uint64_t wanted, uint64_t hash, rbError* error)
{
    struct stat status;
    int source = open(file->path, O_RDONLY | O_CLOEXEC);
    bool isFound = source >= 0 && fstat(source, &status) == 0 && S_ISREG(status.st_mode) &&
                   findBytes(file, source, -1, wanted, hash) &&
                   openPart(file, error) == RB_STATUS_OK;
    bool isCopied = isFound && findBytes(file, source, file->descriptor, wanted, hash);
    if (isFound && !isCopied) {
        rbOutputFile_Abandon(file);
    }
    if (source >= 0) {
        (void)close(source);
    }
    return isCopied;
}

rbStatus rbOutputFile_Continue(rbOutputFile* file, const char* path, rbStateStream* stream,
                               rbError* error)
{
    RB_ASSERT(stream->isLoading);
    clearFile(file);
    uint64_t wanted = 0;
    uint64_t hash = 0;
    rbStateStream_Word(stream, &wanted);
    rbStateStream_Word(stream, &hash);
    if (stream->isBad || wanted > INT64_MAX) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the place in '%.200s' is damaged", path);
    }
    rbStatus status = resolvePath(file, path, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    TakeResult result = takeKeptPart(file, wanted, hash);
    if (result == TAKE_DONE) {
        return RB_STATUS_OK;
    }
    if (result == TAKE_BUSY) {
        rbError_SetPlace(error, file->path, "");
        return rbError_Set(error, RB_STATUS_IO,
                           "cannot continue '%.150s': another run is writing '%.150s'; wait for it",
                           file->path, file->partPath);
    }
    rbError inner = {0};
    if (copyCompleted(file, wanted, hash, &inner)) {
        return RB_STATUS_OK;
    }
    rbError_SetPlace(error, file->path, "");
    if (inner.status != RB_STATUS_OK) {
        return rbError_Set(error, inner.status, "%s", inner.message);
    }
    return rbError_Set(error, RB_STATUS_NOT_FOUND,
                       "cannot continue '%.100s': neither it nor '%.100s' begins with the %" PRIu64
                       " bytes that were written up to the checkpoint; put that file back, or "
                       "start the run anew without --resume",
                       file->path, file->partPath, wanted);
}
