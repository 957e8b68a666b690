// Encoding and decoding of the parts specified in recording_format.h.
#include "io/output/recording_format.h"

#include "base/core/hash.h"

#include <string.h>

static const unsigned char magic[8] = {0x89, 'R', 'B', 'R', '\r', '\n', 0x1a, '\n'};

uint32_t rbChunkTag(rbChunkType type)
{
    static const uint32_t tags[] = {
        [RB_CHUNK_INFO] = RB_CHUNK_TYPE('I', 'N', 'F', 'O'),
        [RB_CHUNK_SCENE] = RB_CHUNK_TYPE('S', 'C', 'E', 'N'),
        [RB_CHUNK_ATTACHMENT] = RB_CHUNK_TYPE('A', 'T', 'T', 'A'),
        [RB_CHUNK_FRAMES] = RB_CHUNK_TYPE('F', 'R', 'A', 'M'),
        [RB_CHUNK_EVENTS] = RB_CHUNK_TYPE('E', 'V', 'E', 'N'),
        [RB_CHUNK_ACTIONS] = RB_CHUNK_TYPE('A', 'C', 'T', 'I'),
        [RB_CHUNK_DONE] = RB_CHUNK_TYPE('D', 'O', 'N', 'E'),
    };
    _Static_assert(sizeof tags / sizeof tags[0] == RB_CHUNK_COUNT, "one tag a type");
    RB_ASSERT((unsigned)type < RB_CHUNK_COUNT);
    return tags[type];
}

uint64_t rbHashPayload(const void* bytes, size_t count)
{
    return rbHashBytes(RB_HASH_SEED, bytes, count);
}

void rbEncodeSignature(unsigned char* bytes, uint64_t* checksum)
{
    memcpy(bytes, magic, sizeof magic);
    rbPutWord32(bytes + 8, RB_RECORDING_VERSION);
    rbPutWord32(bytes + 12, 0);
    *checksum = rbHashPayload(bytes, 16);
    rbPutWord64(bytes + 16, *checksum);
}

rbStatus rbDecodeSignature(const unsigned char* bytes, size_t count, uint64_t* checksum,
                           uint32_t* version, rbError* error)
{
    RB_ASSERT(bytes != NULL || count == 0);
    if (count == 0) {
        return rbError_Set(error, RB_STATUS_SYNTAX, "the file is empty, not a recording");
    }
    size_t compared = count < sizeof magic ? count : sizeof magic;
    if (memcmp(bytes, magic, compared) != 0) {
        return rbError_Set(error, RB_STATUS_SYNTAX,
                           "this is not a recording: it does not begin with the signature of an "
                           ".rbr file");
    }
    if (count < RB_RECORDING_SIGNATURE_SIZE) {
        return rbError_Set(error, RB_STATUS_CORRUPT,
                           "the recording ends after %zu bytes, within its signature", count);
    }
    *checksum = rbHashPayload(bytes, 16);
    if (*checksum != rbGetWord64(bytes + 16)) {
        return rbError_Set(error, RB_STATUS_CORRUPT, "the signature of the recording is damaged");
    }
    *version = rbGetWord32(bytes + 8);
    if (*version < RB_RECORDING_VERSION_MIN || *version > RB_RECORDING_VERSION ||
        rbGetWord32(bytes + 12) != 0) {
        return rbError_Set(error, RB_STATUS_UNSUPPORTED,
                           "the recording has format version %u; this program reads versions %u "
                           "to %u",
                           (unsigned)*version, RB_RECORDING_VERSION_MIN, RB_RECORDING_VERSION);
    }
    return RB_STATUS_OK;
}

void rbEncodeChunkHeader(rbChunkHeader* header, uint64_t previous, unsigned char* bytes)
{
    rbPutWord32(bytes, header->tag);
    rbPutWord32(bytes + 4, header->sequence);
    rbPutWord32(bytes + 8, header->count);
    rbPutWord32(bytes + 12, header->codec);
    rbPutWord32(bytes + 16, header->rawSize);
    rbPutWord32(bytes + 20, header->storedSize);
    rbPutWord64(bytes + 24, header->payloadChecksum);
    header->headerChecksum = rbHashBytes(previous, bytes, 32);
    rbPutWord64(bytes + 32, header->headerChecksum);
}

bool rbDecodeChunkHeader(const unsigned char* bytes, uint64_t previous, rbChunkHeader* header)
{
    header->tag = rbGetWord32(bytes);
    header->sequence = rbGetWord32(bytes + 4);
    header->count = rbGetWord32(bytes + 8);
    header->codec = rbGetWord32(bytes + 12);
    header->rawSize = rbGetWord32(bytes + 16);
    header->storedSize = rbGetWord32(bytes + 20);
    header->payloadChecksum = rbGetWord64(bytes + 24);
    header->headerChecksum = rbGetWord64(bytes + 32);
    return header->headerChecksum == rbHashBytes(previous, bytes, 32);
}

size_t rbFrameWordCount(int bodyCount)
{
    RB_ASSERT(bodyCount >= 0 && bodyCount <= RB_RECORDING_BODY_MAX);
    return RB_RECORDING_FRAME_WORDS + (size_t)RB_RECORDING_BODY_WORDS * (size_t)bodyCount;
}

size_t rbColumnCodeSize(size_t rowCount, size_t columnCount)
{
    RB_ASSERT(columnCount == 0 || rowCount <= (SIZE_MAX / 8 - columnCount) / columnCount);
    return columnCount + 8 * rowCount * columnCount;
}

// Column code.
//
// The residual of the order-k prediction is the k-th backward difference: with d0 = word and
// dj = dj-1 minus dj-1 of the previous row, v - a = d1, v - 2a + b = d2, and so on. So one pass
// keeps a small triangle of differences and gives the residuals of all orders at once; decoding
// sums them again.

static uint64_t fold(uint64_t residual)
{
    return (residual << 1) ^ (0 - (residual >> 63));
}

static uint64_t unfold(uint64_t folded)
{
    return (folded >> 1) ^ (0 - (folded & 1));
}

static int bitLength(uint64_t word)
{
    return word == 0 ? 0 : 64 - __builtin_clzll(word);
}

// Updates the differences d[0 .. ORDER_MAX] with the next word of a column, in this row.
static void differentiate(uint64_t word, size_t row, uint64_t d[RB_RECORDING_ORDER_MAX + 1])
{
    uint64_t difference = word;
    for (size_t j = 0; j <= RB_RECORDING_ORDER_MAX; ++j) {
        uint64_t last = d[j];
        d[j] = difference;
        if (j >= row) {
            return;
        }
        difference -= last;
    }
}

// The order whose residuals have the fewest bits.
static int chooseOrder(const uint64_t* column, size_t rowCount, size_t stride)
{
    uint64_t d[RB_RECORDING_ORDER_MAX + 1] = {0};
    uint64_t bits[RB_RECORDING_ORDER_MAX + 1] = {0};
    for (size_t row = 0; row < rowCount; ++row) {
        differentiate(column[row * stride], row, d);
        for (size_t k = 0; k <= RB_RECORDING_ORDER_MAX; ++k) {
            bits[k] += (uint64_t)bitLength(fold(d[k < row ? k : row]));
        }
    }
    int best = 0;
    for (int k = 1; k <= RB_RECORDING_ORDER_MAX; ++k) {
        best = bits[k] < bits[best] ? k : best;
    }
    return best;
}

void rbEncodeColumns(const uint64_t* rows, size_t rowCount, size_t columnCount,
                     unsigned char* bytes)
{
    RB_ASSERT(rows != NULL && bytes != NULL);
    RB_ASSERT(rowCount > 0 && columnCount > 0);
    size_t planeSize = rowCount * columnCount;
    for (size_t column = 0; column < columnCount; ++column) {
        size_t order = (size_t)chooseOrder(rows + column, rowCount, columnCount);
        bytes[column] = (unsigned char)order;
        uint64_t d[RB_RECORDING_ORDER_MAX + 1] = {0};
        unsigned char* target = bytes + columnCount + column * rowCount;
        for (size_t row = 0; row < rowCount; ++row) {
            differentiate(rows[row * columnCount + column], row, d);
            uint64_t folded = fold(d[order < row ? order : row]);
            for (size_t plane = 0; plane < 8; ++plane) {
                target[plane * planeSize + row] = (unsigned char)(folded >> (8 * plane));
            }
        }
    }
}

bool rbDecodeColumns(const unsigned char* bytes, size_t rowCount, size_t columnCount, void* rows)
{
    unsigned char* target = rows;
    RB_ASSERT(rows != NULL && bytes != NULL);
    RB_ASSERT(rowCount > 0 && columnCount > 0);
    size_t planeSize = rowCount * columnCount;
    for (size_t column = 0; column < columnCount; ++column) {
        size_t order = bytes[column];
        if (order > RB_RECORDING_ORDER_MAX) {
            return false;
        }
        uint64_t d[RB_RECORDING_ORDER_MAX + 1] = {0};
        const unsigned char* source = bytes + columnCount + column * rowCount;
        for (size_t row = 0; row < rowCount; ++row) {
            uint64_t folded = 0;
            for (size_t plane = 0; plane < 8; ++plane) {
                folded |= (uint64_t)source[plane * planeSize + row] << (8 * plane);
            }
            size_t top = order < row ? order : row;
            d[top] = unfold(folded);
            for (size_t j = top; j > 0; --j) {
                d[j - 1] += d[j];
            }
            memcpy(target + 8 * (row * columnCount + column), &d[0], sizeof d[0]);
        }
    }
    return true;
}
