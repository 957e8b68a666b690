// Access control: addresses, ports, tokens, and the headers that distinguish our page from a
// foreign page in the same browser.
#include "server/server_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEADER_MAX 256

bool rbGuard_IsLoopback(const char* address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

bool rbGuard_MakeToken(char* token, size_t capacity)
{
    unsigned char bytes[(RB_SERVER_TOKEN_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; ++i) {
        (void)snprintf(token + 2 * i, capacity - 2 * i, "%02x", bytes[i]);
    }
    return true;
}

bool rbGuard_IsSameText(const char* a, const char* b)
{
    size_t sizeA = strlen(a);
    size_t sizeB = strlen(b);
    unsigned difference = sizeA != sizeB ? 1 : 0;
    for (size_t i = 0; i < sizeA; ++i) {
        // A wrong length is no secret; the position of the first difference is.
        difference |= (unsigned)(unsigned char)a[i] ^ (unsigned char)b[i < sizeB ? i : sizeB];
    }
    return difference == 0;
}

bool rbGuard_IsSceneName(const char* name)
{
    size_t size = strlen(name);
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return size > 0 && size < RB_SCENE_NAME_SIZE && name[0] != '.' && strspn(name, allowed) == size;
}

// --------------------------------------------------------------------------------------- requests

// ":8040", or nothing.
static bool isPort(const char* text)
{
    return text[0] == '\0' || (text[0] == ':' && text[1] != '\0' &&
                               strspn(text + 1, "0123456789") == strlen(text + 1));
}

// Host must be "name" or "name:port" with a name of this machine. A page of another site whose name
// was made to point here (DNS rebinding) sends its own name. The port may be any: a tunnel
// ('ssh -L 9000:localhost:8040') has its own.
static bool isOwnHost(const rbServer* server, const char* host)
{
    const char* names[] = {"127.0.0.1", "localhost", "[::1]", server->address};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        size_t size = strlen(names[i]);
        if (strncasecmp(host, names[i], size) == 0 && isPort(host + size)) {
            return true;
        }
    }
    return false;
}

static bool hasToken(const rbServer* server, struct lws* wsi)
{
    char argument[HEADER_MAX];
    for (int i = 0; i < 8; ++i) {
        int size =
            lws_hdr_copy_fragment(wsi, argument, sizeof argument, WSI_TOKEN_HTTP_URI_ARGS, i);
        if (size >= 6 && strncmp(argument, "token=", 6) == 0) {
            return rbGuard_IsSameText(argument + 6, server->token);
        }
    }
    return false;
}

const char* rbGuard_ValidateRequest(const rbServer* server, struct lws* wsi)
{
    char host[HEADER_MAX] = "";
    char origin[HEADER_MAX] = "";
    bool hasHost = lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) > 0;
    bool hasOrigin = lws_hdr_total_length(wsi, WSI_TOKEN_ORIGIN) > 0;
    if (!hasHost) {
        return "the request has no Host header";
    }
    if (server->isLoopback && !isOwnHost(server, host)) {
        return "this server answers only to 127.0.0.1 and localhost; use one of these names";
    }
    if (hasOrigin) {
        char own[HEADER_MAX + 8];
        (void)snprintf(own, sizeof own, "http://%s", host);
        if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0 ||
            strcasecmp(origin, own) != 0) {
            return "pages of other sites may not use this server";
        }
    }
    if (server->token[0] != '\0' && !hasToken(server, wsi)) {
        return "the token of the URL is missing or wrong; use the complete URL that the program "
               "printed";
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------- ports

// Binds a socket briefly. Returns the port, or 0 and errno.
static int tryPort(const char* address, int port)
{
    struct addrinfo hints;
    struct addrinfo* found = NULL;
    char service[16];
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
    (void)snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(address, service, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return 0;
    }
    int result = 0;
    int one = 1;
    int descriptor = socket(found->ai_family, SOCK_STREAM, 0);
    if (descriptor >= 0) {
        struct sockaddr_storage name;
        socklen_t size = sizeof name;
        (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(descriptor, found->ai_addr, found->ai_addrlen) == 0 &&
            listen(descriptor, 1) == 0 &&
            getsockname(descriptor, (struct sockaddr*)&name, &size) == 0) {
            char number[16] = "";
            (void)getnameinfo((struct sockaddr*)&name, size, NULL, 0, number, sizeof number,
                              NI_NUMERICSERV);
            for (const char* c = number; *c >= '0' && *c <= '9'; ++c) {
                result = 10 * result + (*c - '0');
            }
        }
        int trouble = errno;
        (void)close(descriptor);
        errno = trouble;
    }
    freeaddrinfo(found);
    return result;
}

int rbGuard_FindPort(const char* address, int wanted, rbError* error)
{
    if (wanted != 0) {
        int port = tryPort(address, wanted > 0 ? wanted : 0);
        if (port == 0 && errno == EADDRINUSE) {
            (void)rbError_Set(error, RB_STATUS_IO,
                              "port %d of %s is used by another program; end that program, choose "
                              "another with --port, or omit --port for the first free one",
                              wanted, address);
        } else if (port == 0 && errno == EACCES) {
            (void)rbError_Set(
                error, RB_STATUS_IO,
                "port %d needs privileges that you do not have; choose one above 1023", wanted);
        } else if (port == 0) {
            (void)rbError_Set(
                error, RB_STATUS_IO,
                "cannot listen on %s, which is not a usable address of this machine (%s); "
                "use 127.0.0.1, or 0.0.0.0 for all addresses",
                address, strerror(errno));
        }
        return port;
    }
    for (int port = RB_SERVER_PORT_FIRST; port <= RB_SERVER_PORT_LAST; ++port) {
        if (tryPort(address, port) != 0) {
            return port;
        }
        if (errno != EADDRINUSE) {
            return rbGuard_FindPort(address, port, error); // for its message
        }
    }
    (void)rbError_Set(error, RB_STATUS_IO,
                      "all ports from %d to %d of %s are in use; choose another with --port",
                      RB_SERVER_PORT_FIRST, RB_SERVER_PORT_LAST, address);
    return 0;
}
