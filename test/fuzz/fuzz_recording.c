// Fuzzes the reader of recordings with bytes in memory.
//
// Checksums keep random bytes from getting far, so each input is read twice: unchanged, and with
// its checksums, version and sequence numbers corrected, so that the fuzzer controls sizes, counts,
// compressed bytes and texts.
#include "io/output/recording_format.h"

#include <rattleback/output.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Touches everything a reader of the file could touch.
static uint64_t readAll(const uint8_t* data, size_t size)
{
    rbError error = {0};
    rbRecording* recording = rbOpenRecordingMemory(data, size, &error);
    if (recording == NULL) {
        if (error.status == RB_STATUS_OK || error.message[0] == '\0') {
            abort();
        }
        return 0;
    }
    uint64_t sum = 0;
    const rbRecordingHeader* header = rbRecording_GetHeader(recording);
    sum += strlen(header->programVersion) + strlen(header->settingsText);
    sum += strlen(header->sceneText);
    for (int i = 0; i < header->bodyCount; ++i) {
        sum += strlen(header->bodyNames[i]);
    }
    for (int i = 0; i < header->attachmentCount; ++i) {
        const unsigned char* bytes = header->attachments[i].bytes;
        sum += strlen(header->attachments[i].name);
        for (size_t j = 0; j < header->attachments[i].byteCount; ++j) {
            sum += bytes[j];
        }
    }
    rbRecordingInfo info = rbRecording_GetInfo(recording);
    if ((info.condition == RB_RECORDING_COMPLETE) != (info.trouble == NULL)) {
        abort();
    }
    // Enough to decode several chunks; crafted ones may hold millions of rows.
    for (int64_t i = 0; i < info.frameCount; i += 1 + info.frameCount / 50) {
        rbFrame frame;
        if (rbRecording_ReadFrame(recording, i, &frame, &error) == RB_STATUS_OK) {
            sum += rbBitsOfDouble(frame.time);
            for (int j = 0; j < frame.bodyCount; ++j) {
                sum += rbBitsOfDouble(frame.positions[j].z + frame.orientations[j].w);
                sum += rbBitsOfDouble(frame.linearVelocities[j].x + frame.angularVelocities[j].z);
            }
        }
    }
    for (int64_t i = 0; i < info.eventCount; i += 1 + info.eventCount / 50) {
        rbRecordedEvent event;
        if (rbRecording_ReadEvents(recording, i, 1, &event, &error) == RB_STATUS_OK) {
            sum += event.bodyA;
        }
    }
    int actionCount = 0;
    const rbRecordedAction* actions = rbRecording_GetActions(recording, &actionCount);
    for (int i = 0; i < actionCount; ++i) {
        sum += strlen(actions[i].text);
        if (!(actions[i].time >= actions[i > 0 ? i - 1 : 0].time)) {
            abort(); // they increase
        }
    }
    rbCloseRecording(recording);
    return sum;
}

// Corrects the signature, sequence numbers and checksums.
static void repair(uint8_t* data, size_t size)
{
    uint64_t checksum;
    if (size < RB_RECORDING_SIGNATURE_SIZE) {
        return;
    }
    rbEncodeSignature(data, &checksum);
    size_t at = RB_RECORDING_SIGNATURE_SIZE;
    uint32_t sequence = 0;
    while (size - at >= RB_RECORDING_CHUNK_HEADER_SIZE) {
        rbChunkHeader header;
        (void)rbDecodeChunkHeader(data + at, checksum, &header);
        size_t left = size - at - RB_RECORDING_CHUNK_HEADER_SIZE;
        size_t stored = header.storedSize < left ? header.storedSize : left;
        header.sequence = sequence++;
        header.payloadChecksum = rbHashPayload(data + at + RB_RECORDING_CHUNK_HEADER_SIZE, stored);
        rbEncodeChunkHeader(&header, checksum, data + at);
        checksum = header.headerChecksum;
        at += RB_RECORDING_CHUNK_HEADER_SIZE + stored;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    uint64_t held = rbGetAllocatedBytes();
    volatile uint64_t sum = readAll(data, size);
    uint8_t* copy = malloc(size + 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, data, size);
    repair(copy, size);
    sum = sum + readAll(copy, size);
    free(copy);
    (void)sum;
    if (rbGetAllocatedBytes() != held) {
        abort(); // a leak
    }
    return 0;
}
