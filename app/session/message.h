// A message to a client: a growing byte buffer, with writers for JSON and for little-endian words.
//
// The memory is reused: a cleared message is written again without allocating.
#pragma once

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

#include <stdbool.h>

// Bytes before the message, reserved for the sender (libwebsockets puts its header there).
#define RB_MESSAGE_ROOM 32

typedef struct rbMessage {
    unsigned char* memory; // RB_MESSAGE_ROOM bytes, then the message
    size_t size;           // of the message
    size_t capacity;       // of the memory
    bool isText;           // JSON, otherwise binary
} rbMessage;

// The bytes of a message; NULL before the first write.
static inline unsigned char* rbMessage_GetBytes(const rbMessage* message)
{
    return message->memory != NULL ? message->memory + RB_MESSAGE_ROOM : NULL;
}

void rbMessage_Clear(rbMessage* message, bool isText);
void rbMessage_Free(rbMessage* message); // a zeroed one is fine

// Space for more bytes at the end, which the caller fills.
unsigned char* rbMessage_Extend(rbMessage* message, size_t count);
void rbMessage_Bytes(rbMessage* message, const void* bytes, size_t count);
void rbMessage_Word32(rbMessage* message, uint32_t value);
void rbMessage_Float(rbMessage* message, double value); // rounded to single precision
void rbMessage_Double(rbMessage* message, double value);
void rbMessage_FloatVec3(rbMessage* message, rbVec3 value);

// JSON. rbMessage_Text appends text unchanged; strings are quoted and escaped, including control
// characters; non-finite numbers become null. A key is written with its colon, and with a comma
// before it unless it follows an opening bracket.
void rbMessage_Text(rbMessage* message, const char* text);
void rbMessage_String(rbMessage* message, const char* text);
void rbMessage_Number(rbMessage* message, double value);
void rbMessage_Key(rbMessage* message, const char* key);
void rbMessage_Comma(rbMessage* message); // unless it follows an opening bracket
void rbMessage_PutString(rbMessage* message, const char* key, const char* text); // NULL: null
void rbMessage_PutNumber(rbMessage* message, const char* key, double value);
void rbMessage_PutBool(rbMessage* message, const char* key, bool value);
void rbMessage_PutVec3(rbMessage* message, const char* key, rbVec3 value);
void rbMessage_PutQuat(rbMessage* message, const char* key, rbQuat value); // w x y z
