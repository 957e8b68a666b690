// A file that appears whole or not at all.
//
// rbOutputFile_Open takes "<path>.part", rbOutputFile_Commit renames it to path,
// rbOutputFile_Abandon deletes it. The .part is locked (flock) while it is open, so that a second
// writer is refused and a stale one of a crashed run is taken over. A path that exists and is not a
// regular file (a device, a pipe), and "-", standard output, are written directly. A symbolic link
// is followed.
//
// A file can be continued by another process, for checkpoints: rbOutputFile_Save makes what is
// written safe and notes how much it is, with its hash; rbOutputFile_Continue finds those bytes
// again, in the .part or in the completed file, and goes on after them.
//
// Errors stick: the first failing write is remembered, later ones do nothing, and Flush and Commit
// report it. So a writer may print a whole file and check once.
#pragma once

#include "io/output/state_stream.h"

#define RB_OUTPUT_PATH_MAX 4096
#define RB_OUTPUT_BUFFER_SIZE 65536
#define RB_OUTPUT_BLOCK_SIZE 4096

typedef struct rbOutputFile {
    int descriptor;      // -1 when closed
    int errorNumber;     // errno of the first failure, 0 if none
    bool isDirect;       // no .part, no rename
    bool isStandard;     // standard output, not to be closed
    bool enableSync;     // Commit waits until the data is on disk
    bool enableKeepPart; // Abandon and a failed Commit keep the .part
    bool isUncut;        // continued: bytes after those written before are cut at the next write
    size_t used;         // bytes in the buffer
    uint64_t written;    // bytes handed to the operating system
    uint64_t hash;       // of those in whole blocks
    size_t blockUsed;    // bytes of the block that is not whole
    unsigned char block[RB_OUTPUT_BLOCK_SIZE];
    char path[RB_OUTPUT_PATH_MAX];
    char partPath[RB_OUTPUT_PATH_MAX];
    unsigned char buffer[RB_OUTPUT_BUFFER_SIZE];
} rbOutputFile;

// Opens a file and clears the options above. On failure the file is closed and nothing remains.
rbStatus rbOutputFile_Open(rbOutputFile* file, const char* path, rbError* error);

// Flushes, waits until the data is on disk, and moves the place through a saving stream. From then
// on the .part is kept by Abandon and a failed Commit. UNSUPPORTED for a file that is written
// directly.
rbStatus rbOutputFile_Save(rbOutputFile* file, rbStateStream* stream, rbError* error);
// Opens a file at the place in a loading stream. On failure the file is closed and nothing is
// changed; nothing is cut off before the first write.
rbStatus rbOutputFile_Continue(rbOutputFile* file, const char* path, rbStateStream* stream,
                               rbError* error);

// Appends bytes.
void rbOutputFile_Write(rbOutputFile* file, const void* bytes, size_t count);

// Appends a text, and a formatted text of at most 1,000 bytes (numbers through rbFormatNumber).
void rbOutputFile_Text(rbOutputFile* file, const char* text);
void rbOutputFile_Print(rbOutputFile* file, const char* format, ...) RB_PRINTF(2, 3);

// Hands the buffer to the operating system and reports the first failure so far.
rbStatus rbOutputFile_Flush(rbOutputFile* file, rbError* error);

// Flushes, closes and renames. The file is closed afterward in any case.
rbStatus rbOutputFile_Commit(rbOutputFile* file, rbError* error);

// Closes and deletes. Does nothing on a closed file.
void rbOutputFile_Abandon(rbOutputFile* file);

// Waits until the name of a file is on disk too; a file system that cannot do so is not asked.
void rbSyncFolderOf(const char* path);
