/// @file
/// Base of every public header: export macro, asserts, status codes, errors and memory hooks.
///
/// How the library reports trouble:
///   a bug of the caller         RB_ASSERT, in Debug and RelWithDebInfo builds
///   bad input or environment    an rbStatus, with a message in an rbError
///   numerical trouble           a field of the result struct
#ifndef RATTLEBACK_BASE_H
#define RATTLEBACK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Marks what the library exports; everything else has hidden visibility.
#if defined(_WIN32)
#define RB_API
#else
#define RB_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
/// Lets the compiler check the arguments of a function that takes a printf format.
#define RB_PRINTF(formatIndex, firstArgument) \
    __attribute__((format(printf, formatIndex, firstArgument)))
#else
/// Lets the compiler check the arguments of a function that takes a printf format.
#define RB_PRINTF(formatIndex, firstArgument)
#endif

#if defined(__GNUC__)
/// Marks a function that does not return.
#define RB_NORETURN __attribute__((noreturn))
#else
/// Marks a function that does not return.
#define RB_NORETURN
#endif

/// RB_ASSERT checks what only a bug can break, in O(1). RB_VALIDATE may cost O(n) and runs in
/// Debug.
#if defined(RB_ENABLE_ASSERT)
#define RB_ASSERT(condition) \
    ((condition) ? (void)0 : rbAssertFailed(#condition, __FILE__, __LINE__))
#else
#define RB_ASSERT(condition) ((void)0)
#endif
#if defined(RB_ENABLE_VALIDATE)
/// An assertion that may cost O(n); checked in Debug builds only.
#define RB_VALIDATE(condition) RB_ASSERT(condition)
#else
/// An assertion that may cost O(n); checked in Debug builds only.
#define RB_VALIDATE(condition) ((void)0)
#endif

/// Prints the condition and its location to stderr and aborts. Called by RB_ASSERT only.
RB_API RB_NORETURN void rbAssertFailed(const char* condition, const char* file, int line);

/// Every status the library returns, with its text.
#define RB_STATUS_MAP(X)                                           \
    X(OK, "done")                                                  \
    X(INVALID, "a value is out of range")                          \
    X(SYNTAX, "the text cannot be parsed")                         \
    X(NOT_FOUND, "a file or a name does not exist")                \
    X(IO, "a file cannot be read or written")                      \
    X(CORRUPT, "a file is damaged")                                \
    X(LIMIT, "a size exceeds its limit")                           \
    X(UNSUPPORTED, "a format, version or option is not supported") \
    X(NUMERICAL, "a computation did not reach its tolerance")      \
    X(MEMORY, "memory is exhausted")                               \
    X(STOPPED, "stopped on request")

/// Result of every function that can fail for a reason outside of the program.
typedef enum rbStatus {
#define RB_STATUS_ENUM(name, text) RB_STATUS_##name,
    RB_STATUS_MAP(RB_STATUS_ENUM)
#undef RB_STATUS_ENUM
    RB_STATUS_COUNT
} rbStatus;

/// The short text of a status, never NULL.
RB_API const char* rbStatus_Text(rbStatus status);

/// What went wrong and where, in words a user can act on. Zero initialization means "no error".
typedef struct rbError {
    rbStatus status;   ///< OK: no error
    int line;          ///< 1-based; 0 if the place is not a line of text
    int column;        ///< 1-based; 0 if unknown
    char file[256];    ///< the file concerned, empty if none
    char place[192];   ///< JSON pointer, face or chunk inside the file, empty if none
    char message[512]; ///< which object, which value, what would be accepted
} rbError;

/// Fills an error with a formatted message and returns status, so that a reader can write
/// `return rbError_Set(error, RB_STATUS_INVALID, "...")`. The error may be NULL. Leaves file and
/// place unchanged.
RB_API rbStatus rbError_Set(rbError* error, rbStatus status, const char* format, ...)
    RB_PRINTF(3, 4);

/// Sets the file and the place of an error; NULL leaves a field unchanged. The error may be NULL.
RB_API void rbError_SetPlace(rbError* error, const char* file, const char* place);

/// Writes "file:line:column: message" or "file: /place: message" into text, always terminated.
RB_API void rbError_Format(const rbError* error, char* text, size_t capacity);

/// Version of these headers. The build and rbGetVersion take it from here.
#define RB_VERSION_MAJOR 0
/// See RB_VERSION_MAJOR.
#define RB_VERSION_MINOR 1
/// See RB_VERSION_MAJOR.
#define RB_VERSION_PATCH 0

/// Counts the changes to public structs and enumerators within a minor version, 1 to 63.
#define RB_ABI_REVISION 6

/// The interface version that a program and the library must share. The rbDefault... functions are
/// compiled into the program and write its version into the cookie of a definition; functions that
/// take the definition reject any other version than that of the library, with a message.
#define RB_ABI_VERSION ((RB_VERSION_MAJOR << 12) | (RB_VERSION_MINOR << 6) | RB_ABI_REVISION)

/// Tables of methods (broad phases, pair methods, ...) hold at most this many rows in addition to
/// the built-in ones, each added by an rbRegister... function. Register rows at start-up, from one
/// thread, before the first world is created.
#define RB_REGISTERED_MAX 16

/// A value that users give to a table row, such as a shape or a force: a number or a vector of
/// three. Scenes give it under its key.
typedef struct rbParameter {
    const char* key;     ///< in scenes: "radius"
    size_t offset;       ///< bytes: of the (first) double in the struct of the table
    int count;           ///< 1: a number; 3: a vector
    double low;          ///< smallest value that scenes accept for each number
    double high;         ///< largest
    bool isLowOpen;      ///< the smallest value itself is rejected
    bool isRequired;     ///< scenes must give it; otherwise the value in the struct is kept
    const char* unit;    ///< "m"; "" for none
    const char* meaning; ///< a short description for users
    const char* word; ///< its name in messages, e.g. "edge", whose components are "edge x" to "edge
                      ///< z"; NULL: the key
} rbParameter;

#define RB_PARAMETERS_MAX 8 ///< maximum per row

#define RB_EXTRA_SETTINGS_SIZE 128 ///< bytes

/// Settings of a registered table row, stored by value inside the settings of an engine. All zero:
/// the row uses its defaults. The header of the row declares the functions that write and read its
/// settings.
typedef struct rbExtraSettings {
    uint64_t cookie;                            ///< which settings these are; 0: none
    uint64_t words[RB_EXTRA_SETTINGS_SIZE / 8]; ///< a copy of them
} rbExtraSettings;

/// Stores a copy of the settings under a nonzero cookie. At most RB_EXTRA_SETTINGS_SIZE bytes.
RB_API void rbExtraSettings_Put(rbExtraSettings* extra, uint64_t cookie, const void* settings,
                                size_t size);
/// Copies them out. Returns false and leaves settings unchanged if none have this cookie.
RB_API bool rbExtraSettings_Get(const rbExtraSettings* extra, uint64_t cookie, void* settings,
                                size_t size);

/// Allocates size bytes, aligned to 16, or returns NULL. Then functions that return MEMORY, such as
/// rbWorld_Advance, do so and change nothing; others end the program with a message. Sizes read
/// from files are checked against limits first.
typedef void* rbAllocFn(size_t size, void* context);
/// Frees memory of size bytes that the rbAllocFn of the same context returned.
typedef void rbFreeFn(void* memory, size_t size, void* context);

/// Where memory comes from and goes to. All zero: the default allocator.
typedef struct rbAllocator {
    rbAllocFn* allocFn; ///< NULL: the allocator of the thread, or else that of the process
    rbFreeFn* freeFn;   ///< NULL if and only if allocFn is
    void* context;      ///< passed to both
} rbAllocator;

/// Replaces malloc and free for the whole process. NULL restores the defaults. Call it before other
/// threads use the library. Memory in use is still freed by the function that belongs to its
/// allocator, so later calls are safe, too.
RB_API void rbSetAllocator(rbAllocFn* allocFn, rbFreeFn* freeFn, void* context);

/// Sets the allocator of the calling thread and returns the previous one. It serves objects that
/// belong to no world (geometries, scenes) or to a world without its own allocator
/// (rbWorldDef.allocator).
RB_API rbAllocator rbUseAllocator(rbAllocator allocator);

/// One block of work; called once for every block.
/// @param block its number
/// @param work as given to rbRunBlocksFn
typedef void rbBlockFn(int block, void* work);

/// Runs all blocks of a piece of work, each once, in any order and on any threads, and returns when
/// all of them have returned. Results do not depend on how it does that.
/// @param blockFn does one block
/// @param work passed to it
/// @param blockCount blocks have the numbers 0 to blockCount - 1
/// @param context of the rbTaskHost
typedef void rbRunBlocksFn(rbBlockFn* blockFn, void* work, int blockCount, void* context);

/// The scheduler of the host, if worlds are to use it instead of threads of their own. All zero:
/// none.
typedef struct rbTaskHost {
    rbRunBlocksFn* runFn; ///< NULL: none
    void* context;        ///< passed to it
    int workerCount;      ///< blocks that it runs at the same time, 1 to 64; more would wait
} rbTaskHost;

/// Sets the number of threads of all worlds whose rbWorldDef.threadCount is 0, from their next
/// advance on; 0, the default: automatic.
RB_API void rbSetThreadCount(int threadCount);

/// Whether what the calling thread computes must stop. Asked very often: reads a flag or a clock.
typedef bool rbStopFn(void* context);

/// How to stop a long computation. All zero: not at all.
typedef struct rbStop {
    rbStopFn* stopFn; ///< NULL: never
    void* context;    ///< passed to it
} rbStop;

/// Sets the stop function of the calling thread and returns the previous one. As long as it returns
/// true, functions that advance or prepare a world return STOPPED within a tenth of a second, with
/// the world as it was before the call: the same call later has the bits of one that was never
/// stopped. Advance in short pieces to keep what was done before a stop. A signal handler sets a
/// flag that the function reads; the function must not call the library.
RB_API rbStop rbUseStop(rbStop stop);

/// Allocations made since the start of the process; tests use it to check that a step allocates
/// nothing.
RB_API uint64_t rbGetAllocationCount(void);
/// Bytes currently allocated; tests use it to check that nothing leaks.
RB_API uint64_t rbGetAllocatedBytes(void);

/// Declares a member of a settings struct from a row of its list. Each settings struct is one list
/// with one row per setting: C type, member, key in scene files (NULL: not in scenes), default,
/// accepted values, unit, meaning. A program may expand the list with its own macro.
#define RB_SETTING_FIELD(type, member, key, fallback, accepted, unit, meaning) type member;

/// Version of the library, "major.minor.patch".
RB_API const char* rbGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif
