#include "socket.h"

#include "base/core/timer.h"
#include "rb_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connectTo(int port, int receiveBuffer)
{
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(descriptor >= 0);
    if (receiveBuffer > 0) {
        (void)setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, sizeof receiveBuffer);
    }
    assert_int_equal(connect(descriptor, (struct sockaddr*)&address, sizeof address), 0);
    return descriptor;
}

void rbTestSocket_OpenHalf(rbTestSocket* sock, int port, const char* text)
{
    *sock = (rbTestSocket){.descriptor = connectTo(port, 0)};
    assert_int_equal(send(sock->descriptor, text, strlen(text), MSG_NOSIGNAL), (int)strlen(text));
}

// Waits for bytes and appends them. False: nothing more arrives in time, or ever.
static bool receive(rbTestSocket* sock, double seconds)
{
    struct pollfd wait = {.fd = sock->descriptor, .events = POLLIN};
    if (sock->descriptor < 0 || poll(&wait, 1, (int)(1000.0 * seconds) + 1) <= 0) {
        return false;
    }
    if (sock->capacity - sock->size < 65536) {
        sock->capacity = 2 * sock->capacity + 131072;
        sock->bytes = realloc(sock->bytes, sock->capacity);
        assert_non_null(sock->bytes);
    }
    ssize_t count = recv(sock->descriptor, sock->bytes + sock->size, 65536, 0);
    if (count <= 0) {
        (void)close(sock->descriptor);
        sock->descriptor = -1;
        return false;
    }
    sock->size += (size_t)count;
    return true;
}

static void drop(rbTestSocket* sock, size_t count)
{
    memmove(sock->bytes, sock->bytes + count, sock->size - count);
    sock->size -= count;
}

static void sendRequest(rbTestSocket* sock, const rbTestHandshake* handshake, bool isSocket)
{
    char request[1024];
    char host[64];
    const char* protocol = handshake->protocol != NULL ? handshake->protocol : "rattleback-1";
    (void)snprintf(host, sizeof host, "127.0.0.1:%d", handshake->port);
    int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\n",
                        handshake->path != NULL ? handshake->path : "/ws",
                        handshake->host != NULL ? handshake->host : host);
    if (handshake->origin != NULL) {
        size += snprintf(request + size, sizeof request - (size_t)size, "Origin: %s\r\n",
                         handshake->origin);
    }
    if (isSocket) {
        size += snprintf(request + size, sizeof request - (size_t)size,
                         "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "
                         "13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
        if (protocol[0] != '\0') {
            size += snprintf(request + size, sizeof request - (size_t)size,
                             "Sec-WebSocket-Protocol: %s\r\n", protocol);
        }
    } else {
        size += snprintf(request + size, sizeof request - (size_t)size, "Connection: close\r\n");
    }
    size += snprintf(request + size, sizeof request - (size_t)size, "\r\n");
    assert_true(rbTestSocket_SendRaw(sock, request, (size_t)size));
}

static size_t findHeaderEnd(const rbTestSocket* sock)
{
    for (size_t i = 0; i + 4 <= sock->size; ++i) {
        if (memcmp(sock->bytes + i, "\r\n\r\n", 4) == 0) {
            return i + 4;
        }
    }
    return 0;
}

void rbTestSocket_Open(rbTestSocket* sock, const rbTestHandshake* handshake)
{
    memset(sock, 0, sizeof *sock);
    sock->descriptor = connectTo(handshake->port, handshake->receiveBuffer);
    sendRequest(sock, handshake, true);
    while (findHeaderEnd(sock) == 0 && receive(sock, 5.0)) {
    }
    size_t end = findHeaderEnd(sock);
    if (end > 12 && memcmp(sock->bytes, "HTTP/1.", 7) == 0) {
        sock->status = (int)strtol((const char*)sock->bytes + 9, NULL, 10);
        drop(sock, end);
    }
}

void rbTestSocket_Close(rbTestSocket* sock)
{
    if (sock->descriptor >= 0) {
        (void)close(sock->descriptor);
    }
    free(sock->bytes);
    memset(sock, 0, sizeof *sock);
    sock->descriptor = -1;
}

bool rbTestSocket_SendRaw(rbTestSocket* sock, const void* bytes, size_t size)
{
    size_t sent = 0;
    while (sent < size) {
        ssize_t count =
            send(sock->descriptor, (const char*)bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count <= 0) {
            return false;
        }
        sent += (size_t)count;
    }
    return true;
}

bool rbTestSocket_Send(rbTestSocket* sock, int opcode, bool isFinal, const void* bytes, size_t size)
{
    unsigned char* frame = malloc(size + 14);
    size_t at = 0;
    frame[at++] = (unsigned char)((isFinal ? 0x80 : 0) | opcode);
    if (size < 126) {
        frame[at++] = (unsigned char)(0x80 | size);
    } else if (size < 65536) {
        frame[at++] = 0x80 | 126;
        frame[at++] = (unsigned char)(size >> 8);
        frame[at++] = (unsigned char)size;
    } else {
        frame[at++] = 0x80 | 127;
        for (int i = 7; i >= 0; --i) {
            frame[at++] = (unsigned char)((uint64_t)size >> (8 * i));
        }
    }
    static const unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
    memcpy(frame + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < size; ++i) {
        frame[at++] = ((const unsigned char*)bytes)[i] ^ mask[i & 3];
    }
    bool isSent = rbTestSocket_SendRaw(sock, frame, at);
    free(frame);
    return isSent;
}

bool rbTestSocket_SendText(rbTestSocket* sock, const char* text)
{
    return rbTestSocket_Send(sock, 1, true, text, strlen(text));
}

// Extracts one whole frame from the bytes, if there is one. The server never splits messages.
static bool takeFrame(rbTestSocket* sock, rbClientModel* model)
{
    const unsigned char* b = sock->bytes;
    if (sock->size < 2) {
        return false;
    }
    size_t header = 2;
    uint64_t size = b[1] & 0x7f;
    assert_true((b[1] & 0x80) == 0 && (b[0] & 0x80) != 0);
    int extra = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (sock->size < header + (size_t)extra) {
        return false;
    }
    size = extra > 0 ? 0 : size;
    for (int i = 0; i < extra; ++i) {
        size = size << 8 | b[header++];
    }
    if (sock->size < header + size) {
        return false;
    }
    int opcode = b[0] & 15;
    if (opcode == 1 || opcode == 2) {
        if (model != NULL) {
            rbClientModel_Take(model, b + header, (size_t)size, opcode == 1);
        }
    } else if (opcode == 8) {
        sock->closeCode = size >= 2 ? b[header] << 8 | b[header + 1] : 1005;
    }
    drop(sock, header + (size_t)size);
    return true;
}

bool rbTestSocket_Read(rbTestSocket* sock, rbClientModel* model, double seconds,
                       rbTestCondition* condition, const void* context)
{
    double end = rbGetWallTime() + seconds;
    for (;;) {
        while (takeFrame(sock, model)) {
            if (condition != NULL && condition(model, context)) {
                return true;
            }
        }
        double left = end - rbGetWallTime();
        bool isOver = left <= 0.0 || sock->closeCode != 0;
        if (isOver || (!receive(sock, left) && sock->descriptor < 0)) {
            return false;
        }
    }
}

typedef struct Wanted {
    int id;
} Wanted;

static bool hasReply(const rbClientModel* model, const void* context)
{
    const Wanted* wanted = context;
    return model->reply != NULL &&
           json_integer_value(json_object_get(model->reply, "id")) == wanted->id;
}

const char* rbTestSocket_Ask(rbTestSocket* sock, rbClientModel* model, const char* command)
{
    static int number = 100;
    char text[1024];
    Wanted wanted = {++number};
    (void)snprintf(text, sizeof text, "{\"id\":%d,%s", wanted.id, command + 1);
    assert_true(rbTestSocket_SendText(sock, text));
    assert_true(rbTestSocket_Read(sock, model, 5.0, hasReply, &wanted));
    if (json_is_true(json_object_get(model->reply, "ok"))) {
        return NULL;
    }
    const char* error = json_string_value(json_object_get(model->reply, "error"));
    assert_true(error != NULL && strlen(error) > 10); // a text
    return error;
}

int rbTestGet(const rbTestHandshake* handshake, char** answer, size_t* size)
{
    rbTestSocket sock = {.descriptor = connectTo(handshake->port, 0)};
    sendRequest(&sock, handshake, false);
    while (receive(&sock, 5.0)) {
    }
    int status = 0;
    if (sock.size > 12 && memcmp(sock.bytes, "HTTP/1.", 7) == 0) {
        status = (int)strtol((const char*)sock.bytes + 9, NULL, 10);
    }
    if (answer != NULL) {
        *answer = malloc(sock.size + 1);
        for (size_t i = 0; i < sock.size; ++i) {
            (*answer)[i] = (char)sock.bytes[i];
        }
        (*answer)[sock.size] = '\0';
        *size = sock.size;
    }
    rbTestSocket_Close(&sock);
    return status;
}
