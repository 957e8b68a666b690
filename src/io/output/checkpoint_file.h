// The checkpoint file, format version 1: the state of a run from which another process continues
// it. docs/checkpoint-format.md describes what the parts hold.
//
// All numbers of the container are little-endian:
//
//   Head, 32 bytes:
//     0  8  89 52 42 4b 0d 0a 1a 0a   ("\x89RBK\r\n\x1a\n": not text, and broken by text transfers)
//     8  4  format version, 1
//    12  4  number of parts, 6
//    16  8  size of the file
//    24  8  checksum of bytes 0 .. 23
//   Parts in the order of rbCheckpointPart, each with a head of 32 bytes and its bytes:
//     0  4  tag, four letters
//     4  4  0
//     8  8  number of bytes
//    16  8  checksum of the bytes
//    24  8  checksum of bytes 0 .. 23, continued from this field of the head before
//
// The checksum is rbHashBytes. A file is written under another name, made safe on disk and renamed,
// so that a crash leaves the one before.
#pragma once

#include "io/output/state_stream.h"

#define RB_CHECKPOINT_VERSION 1u
#define RB_CHECKPOINT_HEAD_SIZE 32u
#define RB_CHECKPOINT_SIZE_MAX ((size_t)1 << (sizeof(size_t) > 4 ? 36 : 30))

// clang-format off
#define RB_CHECKPOINT_PARTS(X) \
    X(BUILD, "BILD", "the program that wrote it") \
    X(COMMAND, "CMND", "the command line of the run") \
    X(SCENE, "SCEN", "the identity of the scene and its files") \
    X(STATE, "STAT", "the progress of the run and its totals") \
    X(OUTPUTS, "OUTP", "the place in every output") \
    X(WORLD, "WRLD", "a snapshot of the world")
// clang-format on

#define RB_CHECKPOINT_ENUM(name, tag, text) RB_CHECKPOINT_##name,
typedef enum rbCheckpointPart {
    RB_CHECKPOINT_PARTS(RB_CHECKPOINT_ENUM) RB_CHECKPOINT_PART_COUNT
} rbCheckpointPart;
#undef RB_CHECKPOINT_ENUM

// The parts as streams: saving ones to write a file, loading ones of a file that was read.
typedef struct rbCheckpointFile {
    rbStateStream parts[RB_CHECKPOINT_PART_COUNT];
    unsigned char* bytes; // of a file that was read
    size_t size;
} rbCheckpointFile;

// Writes a file of saving streams; it replaces one of that name.
rbStatus rbCheckpointFile_Write(const rbCheckpointFile* file, const char* path, rbError* error);

// Reads a file and checks all checksums. SYNTAX: not a checkpoint; UNSUPPORTED: another version;
// CORRUPT: cut off or damaged. Free it in any case.
rbStatus rbCheckpointFile_Read(rbCheckpointFile* file, const char* path, rbError* error);
// The same with borrowed bytes.
rbStatus rbCheckpointFile_Parse(rbCheckpointFile* file, const void* bytes, size_t size,
                                rbError* error);
void rbCheckpointFile_Free(rbCheckpointFile* file);

// Whether a file begins like a checkpoint, of any version.
bool rbIsCheckpoint(const char* path);
