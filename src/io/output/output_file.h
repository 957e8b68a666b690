// A file that appears whole or not at all.
//
// rbOutputFile_Open takes "<path>.part", rbOutputFile_Commit renames it to path,
// rbOutputFile_Abandon deletes it. The .part is locked (flock) while it is open, so that a second
// writer is refused and a stale one of a crashed run is taken over. A path that exists and is not a
// regular file (a device, a pipe), and "-", standard output, are written directly. A symbolic link
// is followed.
//
// Errors stick: the first failing write is remembered, later ones do nothing, and Flush and Commit
// report it. So a writer may print a whole file and check once.
#pragma once

#include <rattleback/base.h>

#include <stdbool.h>

#define RB_OUTPUT_PATH_MAX 4096
#define RB_OUTPUT_BUFFER_SIZE 65536

typedef struct rbOutputFile {
    int descriptor;      // -1 when closed
    int errorNumber;     // errno of the first failure, 0 if none
    bool isDirect;       // no .part, no rename
    bool isStandard;     // standard output, not to be closed
    bool enableSync;     // Commit waits until the data is on disk
    bool enableKeepPart; // Abandon and a failed Commit keep the .part
    size_t used;         // bytes in the buffer
    uint64_t written;    // bytes handed to the operating system
    char path[RB_OUTPUT_PATH_MAX];
    char partPath[RB_OUTPUT_PATH_MAX];
    unsigned char buffer[RB_OUTPUT_BUFFER_SIZE];
} rbOutputFile;

// Opens a file and clears the options above. On failure the file is closed and nothing remains.
rbStatus rbOutputFile_Open(rbOutputFile* file, const char* path, rbError* error);

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
