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

/// Prints the condition and its place to stderr and aborts. Called by RB_ASSERT only.
RB_API RB_NORETURN void rbAssertFailed(const char* condition, const char* file, int line);

/// Every status the library returns, with its text.
#define RB_STATUS_MAP(X)                                           \
    X(OK, "done")                                                  \
    X(INVALID, "a value is out of its range")                      \
    X(SYNTAX, "the text cannot be parsed")                         \
    X(NOT_FOUND, "a file or a name does not exist")                \
    X(IO, "a file cannot be read or written")                      \
    X(CORRUPT, "a file is damaged")                                \
    X(LIMIT, "a size is beyond what is accepted")                  \
    X(UNSUPPORTED, "a format, version or option is not supported") \
    X(NUMERICAL, "a computation did not reach its tolerance")

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
/// `return rbError_Set(error, RB_STATUS_INVALID, "...")`. The error may be NULL. file and place
/// stay.
RB_API rbStatus rbError_Set(rbError* error, rbStatus status, const char* format, ...)
    RB_PRINTF(3, 4);

/// Sets the file and the place of an error; NULL leaves the one there is. The error may be NULL.
RB_API void rbError_SetPlace(rbError* error, const char* file, const char* place);

/// Writes "file:line:column: message" or "file: /place: message" into text, always terminated.
RB_API void rbError_Format(const rbError* error, char* text, size_t capacity);

/// Version of these headers. The build and rbGetVersion take it from here.
#define RB_VERSION_MAJOR 0
/// See RB_VERSION_MAJOR.
#define RB_VERSION_MINOR 1
/// See RB_VERSION_MAJOR.
#define RB_VERSION_PATCH 0

/// Counts the changes of public structs and enumerators within a minor version, 1 to 63.
#define RB_ABI_REVISION 1

/// What a program and the library must agree on. The rbDefault... functions are compiled into the
/// program and write its number into the cookie of a definition; the functions that take the
/// definition compare it with the number of the library and refuse another one with a message.
#define RB_ABI_VERSION ((RB_VERSION_MAJOR << 12) | (RB_VERSION_MINOR << 6) | RB_ABI_REVISION)

/// Tables of methods (broad phases, pair methods, ...) take at most this many rows besides their
/// built-in ones, each by an rbRegister... function. Rows are registered at start-up: by one
/// thread, before the first world is created.
#define RB_REGISTERED_MAX 16

/// A value that users give to a row of a table, such as a shape or a force: a number, or a vector
/// of three. Scenes have it under its key.
typedef struct rbParameter {
    const char* key; ///< in scenes: "radius"
    size_t offset;   ///< bytes, of the double, or of the first of three, in the struct of the table
    int count;       ///< 1: a number; 3: a vector
    double low;      ///< smallest value that scenes accept, of each number
    double high;     ///< largest
    bool isLowOpen;  ///< the smallest value itself is refused
    bool isRequired; ///< scenes must give it; otherwise it is as the struct has it
    const char* unit;    ///< "m"; "" for none
    const char* meaning; ///< a few words for people
    const char* word; ///< what messages call it, e.g. "edge", whose numbers are "edge x" to "edge
                      ///< z"; NULL: the key
} rbParameter;

#define RB_PARAMETERS_MAX 8 ///< of a row

#define RB_EXTRA_SETTINGS_SIZE 128 ///< bytes

/// Settings that only a registered row of a table knows, by value inside of the settings of an
/// engine. All zero: the row takes its defaults. The header of the row has the functions that put
/// its settings in and read them.
typedef struct rbExtraSettings {
    uint64_t cookie;                            ///< which settings these are; 0: none
    uint64_t words[RB_EXTRA_SETTINGS_SIZE / 8]; ///< a copy of them
} rbExtraSettings;

/// Copies settings of a cookie, which is not 0, in. At most RB_EXTRA_SETTINGS_SIZE bytes.
RB_API void rbExtraSettings_Put(rbExtraSettings* extra, uint64_t cookie, const void* settings,
                                size_t size);
/// Copies them out. False, and settings stay, if there are none or those of another cookie.
RB_API bool rbExtraSettings_Get(const rbExtraSettings* extra, uint64_t cookie, void* settings,
                                size_t size);

/// Allocates size bytes, aligned to 16, or returns NULL, which ends the program with a message.
/// Sizes read from files are checked against limits first.
typedef void* rbAllocFn(size_t size, void* context);
/// Frees memory of size bytes that the rbAllocFn of the same context returned.
typedef void rbFreeFn(void* memory, size_t size, void* context);

/// Where memory comes from and goes to. All zero means: as without it.
typedef struct rbAllocator {
    rbAllocFn* allocFn; ///< NULL: the allocator of the thread, else that of the process
    rbFreeFn* freeFn;   ///< NULL exactly if allocFn is
    void* context;      ///< handed to both
} rbAllocator;

/// Replaces malloc and free for the whole process. NULL restores the defaults. To be called before
/// other threads use the library. Memory that is in use is freed by the function that belongs to
/// the one that allocated it, so this may be called at any time.
RB_API void rbSetAllocator(rbAllocFn* allocFn, rbFreeFn* freeFn, void* context);

/// Sets the allocator of the calling thread and returns the one before. It serves what belongs to
/// no world or to a world without an allocator of its own (rbWorldDef.allocator): geometries,
/// scenes.
RB_API rbAllocator rbUseAllocator(rbAllocator allocator);

/// Allocations made since the start of the process; tests use it to check that a step allocates
/// nothing.
RB_API uint64_t rbGetAllocationCount(void);
/// Bytes held at present; tests use it to check that nothing leaks.
RB_API uint64_t rbGetAllocatedBytes(void);

/// A member of a settings struct, from a row of its list. Each settings struct is one list, a row a
/// setting: C type, member, key in scene files (NULL: it is in none), default, accepted values,
/// unit, meaning. A program may expand the list with a macro of its own.
#define RB_SETTING_FIELD(type, member, key, fallback, accepted, unit, meaning) type member;

/// Version of the library, "major.minor.patch".
RB_API const char* rbGetVersion(void);

#ifdef __cplusplus
}
#endif

#endif
