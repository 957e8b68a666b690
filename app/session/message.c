#include "session/message.h"

#include "base/core/memory.h"
#include "io/output/bytes.h"

#include <rattleback/output.h>

#include <stdio.h>

#define CAPACITY_MIN 1024

void rbMessage_Clear(rbMessage* message, bool isText)
{
    message->size = 0;
    message->isText = isText;
}

void rbMessage_Free(rbMessage* message)
{
    rbFree(message->memory, message->capacity);
    *message = (rbMessage){0};
}

unsigned char* rbMessage_Extend(rbMessage* message, size_t count)
{
    size_t needed = RB_MESSAGE_ROOM + message->size + count;
    RB_ASSERT(needed >= count);
    if (needed > message->capacity) {
        size_t capacity = 2 * message->capacity > needed ? 2 * message->capacity : needed;
        capacity = capacity > CAPACITY_MIN ? capacity : CAPACITY_MIN;
        message->memory = rbGrow(message->memory, message->capacity, capacity);
        message->capacity = capacity;
    }
    unsigned char* bytes = rbMessage_GetBytes(message) + message->size;
    message->size += count;
    return bytes;
}

void rbMessage_Bytes(rbMessage* message, const void* bytes, size_t count)
{
    if (count > 0) {
        memcpy(rbMessage_Extend(message, count), bytes, count);
    }
}

void rbMessage_Word32(rbMessage* message, uint32_t value)
{
    rbPutWord32(rbMessage_Extend(message, 4), value);
}

void rbMessage_Float(rbMessage* message, double value)
{
    float single = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &single, sizeof bits);
    rbMessage_Word32(message, bits);
}

void rbMessage_Double(rbMessage* message, double value)
{
    rbPutWord64(rbMessage_Extend(message, 8), rbBitsOfDouble(value));
}

void rbMessage_FloatVec3(rbMessage* message, rbVec3 value)
{
    rbMessage_Float(message, value.x);
    rbMessage_Float(message, value.y);
    rbMessage_Float(message, value.z);
}

// ------------------------------------------------------------------------------------------- JSON

void rbMessage_Text(rbMessage* message, const char* text)
{
    rbMessage_Bytes(message, text, strlen(text));
}

void rbMessage_String(rbMessage* message, const char* text)
{
    static const char digits[] = "0123456789abcdef";
    *rbMessage_Extend(message, 1) = '"';
    for (const char* c = text; *c != '\0'; ++c) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x20) {
            char escape[] = "\\u0000";
            escape[4] = digits[byte >> 4];
            escape[5] = digits[byte & 15];
            rbMessage_Text(message, escape);
        } else {
            if (byte == '"' || byte == '\\') {
                *rbMessage_Extend(message, 1) = '\\';
            }
            *rbMessage_Extend(message, 1) = byte;
        }
    }
    *rbMessage_Extend(message, 1) = '"';
}

void rbMessage_Number(rbMessage* message, double value)
{
    char text[RB_NUMBER_TEXT_SIZE];
    if (isfinite(value)) {
        (void)rbFormatNumber(value, text);
        rbMessage_Text(message, text);
    } else {
        rbMessage_Text(message, "null");
    }
}

void rbMessage_Comma(rbMessage* message)
{
    if (message->size > 0) {
        unsigned char last = rbMessage_GetBytes(message)[message->size - 1];
        if (last != '{' && last != '[') {
            rbMessage_Text(message, ",");
        }
    }
}

void rbMessage_Key(rbMessage* message, const char* key)
{
    rbMessage_Comma(message);
    rbMessage_String(message, key);
    rbMessage_Text(message, ":");
}

void rbMessage_PutString(rbMessage* message, const char* key, const char* text)
{
    rbMessage_Key(message, key);
    if (text != NULL) {
        rbMessage_String(message, text);
    } else {
        rbMessage_Text(message, "null");
    }
}

void rbMessage_PutNumber(rbMessage* message, const char* key, double value)
{
    rbMessage_Key(message, key);
    rbMessage_Number(message, value);
}

void rbMessage_PutBool(rbMessage* message, const char* key, bool value)
{
    rbMessage_Key(message, key);
    rbMessage_Text(message, value ? "true" : "false");
}

static void putNumbers(rbMessage* message, const char* key, const double* values, int count)
{
    rbMessage_Key(message, key);
    rbMessage_Text(message, "[");
    for (int i = 0; i < count; ++i) {
        rbMessage_Comma(message);
        rbMessage_Number(message, values[i]);
    }
    rbMessage_Text(message, "]");
}

void rbMessage_PutVec3(rbMessage* message, const char* key, rbVec3 value)
{
    const double values[] = {value.x, value.y, value.z};
    putNumbers(message, key, values, 3);
}

void rbMessage_PutQuat(rbMessage* message, const char* key, rbQuat value)
{
    const double values[] = {value.w, value.x, value.y, value.z};
    putNumbers(message, key, values, 4);
}
