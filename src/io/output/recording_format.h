// The recording file, format version 3, and the helpers that writer and reader share.
//
// All numbers are little-endian; doubles are their IEEE 754 bits. A file is a signature followed by
// chunks:
//
//   +-----------+------+-------+-------+-----+--------+--------+-----+--------+-----+
//   | signature | INFO | SCEN  | ATTA  | ... | FRAM   | EVEN   | ... | FRAM   | DONE|
//   +-----------+------+-------+-------+-----+--------+--------+-----+--------+-----+
//
// Signature, 24 bytes:
//    0  8  89 52 42 52 0d 0a 1a 0a   ("\x89RBR\r\n\x1a\n": not text, and broken by text transfers)
//    8  4  format version, 3
//   12  4  0
//   16  8  checksum of bytes 0 .. 15
//
// Chunk header, 40 bytes, followed by storedSize bytes:
//    0  4  type, four letters
//    4  4  sequence: number of the chunk, 0 for INFO
//    8  4  count: frames, events or texts inside
//   12  4  codec: 0 uncompressed, 1 zstd
//   16  4  rawSize, bytes after decompression
//   20  4  storedSize, bytes in the file
//   24  8  checksum of the stored bytes
//   32  8  checksum of bytes 0 .. 31, continued from this field of the previous chunk (of the
//          signature for the first): chunks cannot be lost, swapped or taken from another file
//          unnoticed
//
// The checksum is rbHashBytes from RB_HASH_SEED; each of its steps is a bijection of the running
// value and of the data word, so that a change within any one 8 byte word is always detected. The
// header has its own, so that a wrong size can be distinguished from a truncated file.
//
// Chunks, in this order:
//   INFO  one. Number of bodies n, number of attachments m, 4 bytes each; then count = 2 + n texts:
//         program version, settings, body names. A text is its length (4 bytes) and its bytes,
//         without a terminator; a zero byte inside is an error.
//   SCEN  one. count = 1 text, the scene.
//   ATTA  m of them. count = 2 texts: name and content of an attached file; the content may hold
//         any bytes.
//   FRAM  count frames. A frame is a row of 12 + 13 n words for n bodies: time; the ledger (kinetic
//         translational, kinetic rotational, potential, work, total, momentum x y z, angular
//         momentum x y z); all positions x y z; all orientations w x y z; all linear velocities;
//         all angular velocities. The rows go through the column code below.
//   EVEN  count events. An event is a row of 17 words: time; kind + bodyA 2^32; bodyB + law 2^32;
//         energyChange; values 0 .. 11; history. Column code as well. In version 1, which is still
//         read, a row has 8 words: law and history are 0 there, and values end with the fourth.
//   ACTI  count actions, the user actions in the order they were done; before the frames that show
//         them. An action is its time (8 bytes) and a text, JSON. Since version 3.
//   DONE  one, the last: number of frames, number of events, final state hash (0: none) and, since
//         version 3, number of actions, 8 bytes each. A file without it was cut off.
//
// Column code. The table of count rows of 64-bit words is a matrix; along each column a word is
// predicted from the words before it in the same chunk, by the polynomial of degree k - 1 through
// the last k, in integer arithmetic modulo 2^64 on the bits:
//   k = 0: 0;  k = 1: a;  k = 2: 2a - b;  k = 3: 3a - 3b + c;  k = 4: 4a - 6b + 4c - d
// with a the last word, b the one before, ... Each column has its own k; row i uses min(k, i). The
// residual r = word - prediction is folded to (r << 1) ^ (r >> 63), arithmetic shift, so that small
// residuals of either sign have zero high bytes. rawSize = columns + 8 count columns bytes:
// first k of each column, one byte each; then the eight byte planes, lowest first, each holding
// that byte of all residuals, column by column. Smooth motion makes the high planes zero, which
// zstd shrinks to nothing; noise in the last bits stays, because the code is lossless.
//   Tried and dropped: XOR with the previous row instead of differences; docs/recording-format.md
//   has the numbers.
//
// A writer appends chunks to "<path>.part" with one write each and renames it when DONE is written.
#pragma once

#include "io/output/bytes.h"

#include <rattleback/output.h>

#define RB_RECORDING_VERSION 3u
#define RB_RECORDING_VERSION_MIN 1u // the oldest version that can be read
#define RB_RECORDING_SIGNATURE_SIZE 24u
#define RB_RECORDING_CHUNK_HEADER_SIZE 40u

// Largest rawSize and storedSize: a frame of RB_RECORDING_BODY_MAX bodies, or the longest text with
// its header, fits.
#define RB_RECORDING_CHUNK_MAX ((1u << 28) + 4096u)

// All attachments together, after decompression.
#define RB_RECORDING_ATTACHED_MAX (1u << 30)

// All actions together, after decompression.
#define RB_RECORDING_ACTED_MAX (1u << 28)

// zstd cannot expand a byte to more than about 2^15 (a run block: 4 bytes for 128 KiB). A larger
// ratio is refused before memory is allocated for it.
#define RB_RECORDING_RATIO_MAX 65536u

#define RB_RECORDING_FRAME_WORDS 12 // per frame, and
#define RB_RECORDING_BODY_WORDS 13  // per body
#define RB_RECORDING_EVENT_WORDS 17
#define RB_RECORDING_EVENT_WORDS_1 8 // in version 1
#define RB_RECORDING_DONE_SIZE 32u
#define RB_RECORDING_DONE_SIZE_2 24u // up to version 2
#define RB_RECORDING_ORDER_MAX 4

#define RB_CHUNK_TYPE(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

typedef enum rbChunkType {
    RB_CHUNK_INFO,
    RB_CHUNK_SCENE,
    RB_CHUNK_ATTACHMENT,
    RB_CHUNK_FRAMES,
    RB_CHUNK_EVENTS,
    RB_CHUNK_ACTIONS,
    RB_CHUNK_DONE,
    RB_CHUNK_COUNT
} rbChunkType;

typedef enum rbChunkCodec {
    RB_CODEC_STORED,
    RB_CODEC_ZSTD,
    RB_CODEC_COUNT
} rbChunkCodec;

typedef struct rbChunkHeader {
    uint32_t tag; // rbChunkTag of the type
    uint32_t sequence;
    uint32_t count;
    uint32_t codec;
    uint32_t rawSize;
    uint32_t storedSize;
    uint64_t payloadChecksum;
    uint64_t headerChecksum;
} rbChunkHeader;

// The four letters of a type.
uint32_t rbChunkTag(rbChunkType type);

// Signature to and from 24 bytes. Decode returns SYNTAX (not a recording), CORRUPT or UNSUPPORTED
// (an unreadable version), with a message.
void rbEncodeSignature(unsigned char* bytes, uint64_t* checksum);
rbStatus rbDecodeSignature(const unsigned char* bytes, size_t count, uint64_t* checksum,
                           uint32_t* version, rbError* error);

// Chunk header to and from 40 bytes. Encode fills in headerChecksum, continued from previous.
// Decode returns false if the checksum is wrong.
void rbEncodeChunkHeader(rbChunkHeader* header, uint64_t previous, unsigned char* bytes);
bool rbDecodeChunkHeader(const unsigned char* bytes, uint64_t previous, rbChunkHeader* header);

uint64_t rbHashPayload(const void* bytes, size_t count);

// Column code: rows of columnCount words, rowCount of them, to and from
// rbColumnCodeSize(rowCount, columnCount) bytes. Decode returns false if a column's k is beyond
// RB_RECORDING_ORDER_MAX; its rows may also be read as doubles.
size_t rbColumnCodeSize(size_t rowCount, size_t columnCount);
void rbEncodeColumns(const uint64_t* rows, size_t rowCount, size_t columnCount,
                     unsigned char* bytes);
bool rbDecodeColumns(const unsigned char* bytes, size_t rowCount, size_t columnCount, void* rows);

// Words of a frame of bodyCount bodies.
size_t rbFrameWordCount(int bodyCount);
