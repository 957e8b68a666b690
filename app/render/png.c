// A PNG file is a signature and chunks: header, pixels, end. Each row of pixels is filtered by the
// one of the five predictors that leaves the smallest residuals, then all are compressed together.
#include "render/png.h"

#include "base/core/memory.h"
#include "io/output/output_file.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FILTER_COUNT 5
#define CHUNK_OVERHEAD 12 // length, type, checksum
#define HEADER_SIZE 13
#define LEVEL 9 // of zlib: takes three times as long as level 6 and saves a quarter

static void putBigEndian(unsigned char* bytes, uint32_t value)
{
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
    }
}

// Completes a chunk whose content is at bytes + 8; returns the address after it.
static unsigned char* finishChunk(unsigned char* bytes, const char* type, size_t size)
{
    putBigEndian(bytes, (uint32_t)size);
    memcpy(bytes + 4, type, 4);
    uLong check = crc32(0L, Z_NULL, 0);
    check = crc32(check, bytes + 4, (uInt)(size + 4));
    putBigEndian(bytes + 8 + size, (uint32_t)check);
    return bytes + size + CHUNK_OVERHEAD;
}

// The prediction of a byte by a filter from the bytes to the left, above, and above left.
static int predict(int filter, int left, int above, int corner)
{
    int guess = left + above - corner;
    int toLeft = abs(guess - left);
    int toAbove = abs(guess - above);
    int toCorner = abs(guess - corner);
    int nearest = toLeft <= toAbove && toLeft <= toCorner ? left
                  : toAbove <= toCorner                   ? above
                                                          : corner;
    const int guesses[FILTER_COUNT] = {0, left, above, (left + above) / 2, nearest};
    return guesses[filter];
}

// Writes a row and the number of its filter; before is the row above, NULL for the first.
static void filterRow(const unsigned char* row, const unsigned char* before, size_t count,
                      size_t channels, unsigned char* output)
{
    long best = -1;
    int chosen = 0;
    for (int filter = 0; filter <= FILTER_COUNT; ++filter) {
        // the last iteration writes the chosen one again
        int used = filter < FILTER_COUNT ? filter : chosen;
        long sum = 0;
        output[0] = (unsigned char)used;
        for (size_t i = 0; i < count; ++i) {
            int left = i >= channels ? row[i - channels] : 0;
            int above = before != NULL ? before[i] : 0;
            int corner = before != NULL && i >= channels ? before[i - channels] : 0;
            unsigned char residual = (unsigned char)(row[i] - predict(used, left, above, corner));
            output[1 + i] = residual;
            sum += residual < 128 ? residual : 256 - residual;
        }
        if (filter < FILTER_COUNT && (best < 0 || sum < best)) {
            best = sum;
            chosen = filter;
        }
    }
}

rbStatus rbEncodePng(const rbImage* image, unsigned char** bytes, size_t* size, rbError* error)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a};
    RB_ASSERT(image->pixels != NULL && bytes != NULL && size != NULL);
    const int width = image->width;
    const int height = image->height;
    const size_t channels = (size_t)image->channels;
    RB_ASSERT(channels == 3 || channels == 4);
    RB_ASSERT(width > 0 && width <= 1 << 15 && height > 0 && height <= 1 << 15);
    size_t rowSize = (size_t)width * channels;
    size_t rawSize = (rowSize + 1) * (size_t)height;
    unsigned char* raw = rbAlloc(rawSize);
    for (size_t y = 0; y < (size_t)height; ++y) {
        const unsigned char* row = image->pixels + y * rowSize;
        filterRow(row, y > 0 ? row - rowSize : NULL, rowSize, channels, raw + y * (rowSize + 1));
    }
    size_t capacity =
        sizeof signature + HEADER_SIZE + (size_t)3 * CHUNK_OVERHEAD + compressBound((uLong)rawSize);
    unsigned char* file = rbAlloc(capacity);
    memcpy(file, signature, sizeof signature);
    unsigned char* at = file + sizeof signature;
    putBigEndian(at + 8, (uint32_t)width);
    putBigEndian(at + 12, (uint32_t)height);
    // bits, colors with or without alpha, no variants
    const unsigned char kind[5] = {8, channels == 4 ? 6 : 2, 0, 0, 0};
    memcpy(at + 16, kind, sizeof kind);
    at = finishChunk(at, "IHDR", HEADER_SIZE);
    uLongf packed = (uLongf)(capacity - (size_t)(at - file) - 8);
    int result = compress2(at + 8, &packed, raw, (uLong)rawSize, LEVEL);
    rbFree(raw, rawSize);
    if (result != Z_OK) {
        rbFree(file, capacity);
        return rbError_Set(error, RB_STATUS_LIMIT, "zlib cannot compress a picture of %d x %d",
                           width, height);
    }
    at = finishChunk(at, "IDAT", packed);
    at = finishChunk(at, "IEND", 0);
    *size = (size_t)(at - file);
    *bytes = rbGrow(file, capacity, *size);
    return RB_STATUS_OK;
}

rbStatus rbWritePng(const char* path, const rbImage* image, rbError* error)
{
    unsigned char* bytes = NULL;
    size_t size = 0;
    rbStatus status = rbEncodePng(image, &bytes, &size, error);
    if (status != RB_STATUS_OK) {
        return status;
    }
    rbOutputFile* file = rbAlloc(sizeof *file);
    status = rbOutputFile_Open(file, path, error);
    if (status == RB_STATUS_OK) {
        rbOutputFile_Write(file, bytes, size);
        status = rbOutputFile_Commit(file, error);
    }
    rbFree(file, sizeof *file);
    rbFree(bytes, size);
    return status;
}
