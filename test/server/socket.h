// A hand-written WebSocket: a plain TCP socket that performs the handshake, and frames built bit by
// bit, so that a test can also send data that no library would.
#pragma once

#include "client.h"

typedef struct rbTestSocket {
    int descriptor;       // -1: closed
    int status;           // of the HTTP answer; 101: it is a WebSocket
    unsigned char* bytes; // received and not processed yet
    size_t size, capacity;
    int closeCode; // of a close frame; 0: none came
} rbTestSocket;

typedef struct rbTestHandshake {
    int port;
    const char* path;     // NULL: /ws
    const char* host;     // NULL: 127.0.0.1:port
    const char* origin;   // NULL: none
    const char* protocol; // NULL: rattleback-1; "": none
    int receiveBuffer;    // bytes; 0: the system's default
} rbTestHandshake;

// Connects and performs the handshake; see status.
void rbTestSocket_Open(rbTestSocket* sock, const rbTestHandshake* handshake);
// Connects and sends the beginning of a request, or nothing.
void rbTestSocket_OpenHalf(rbTestSocket* sock, int port, const char* text);
void rbTestSocket_Close(rbTestSocket* sock); // without a close frame
// Sends a frame: opcode 1 text, 2 binary, 8 close, 9 ping, 0 continuation. False when the other
// side is gone.
bool rbTestSocket_Send(rbTestSocket* sock, int opcode, bool isFinal, const void* bytes,
                       size_t size);
bool rbTestSocket_SendText(rbTestSocket* sock, const char* text);
bool rbTestSocket_SendRaw(rbTestSocket* sock, const void* bytes, size_t size);
// Passes messages to a model until the time is over or it was closed; or until condition holds.
typedef bool rbTestCondition(const rbClientModel* model, const void* context);
bool rbTestSocket_Read(rbTestSocket* sock, rbClientModel* model, double seconds,
                       rbTestCondition* condition, const void* context);
// Sends a command with an id and waits for its reply. NULL: ok, otherwise the error, which is valid
// until the next reply.
const char* rbTestSocket_Ask(rbTestSocket* sock, rbClientModel* model, const char* command);
// A GET over HTTP: status, and the response (terminated, header included, free it with free).
int rbTestGet(const rbTestHandshake* handshake, char** answer, size_t* size);
