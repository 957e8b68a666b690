// The floating-point mode of the thread: rounding, and whether small numbers are flushed to zero.
// A library built with fast-math changes it for the whole process when it is loaded; what promises
// bits runs in the standard mode. The memory clobber keeps what is read from memory behind a
// change. On x86-64 the C library reads and writes decimal numbers by the rounding of the old unit
// for floating point, whose control word is the upper half of our mode.
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#define RB_FLOAT_MODE_BITS 0xc000000e040u // flush to zero, rounding, denormals are zero
#define RB_READ_FLOAT_MODE(mode) __asm__ volatile("stmxcsr %0\n\tfnstcw 4+%0" : "+m"(mode))
#define RB_WRITE_FLOAT_MODE(mode) \
    __asm__ volatile("ldmxcsr %0\n\tfldcw 4+%0" : : "m"(mode) : "memory")
#elif defined(__aarch64__)
#define RB_FLOAT_MODE_BITS 0x1c00000u // likewise
#define RB_READ_FLOAT_MODE(mode) __asm__ volatile("mrs %0, fpcr" : "=r"(mode))
#define RB_WRITE_FLOAT_MODE(mode) __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory")
#else
#define RB_FLOAT_MODE_BITS 0u
#define RB_READ_FLOAT_MODE(mode) ((void)(mode))
#define RB_WRITE_FLOAT_MODE(mode) ((void)(mode))
#endif

// Sets bits of the mode, 0 for the standard one, and returns those that were set before.
static inline uint64_t rbFloatMode_Set(uint64_t bits)
{
    uint64_t mode = 0;
    RB_READ_FLOAT_MODE(mode);
    uint64_t changed = (mode & ~(uint64_t)RB_FLOAT_MODE_BITS) | bits;
    if (changed != mode) {
        RB_WRITE_FLOAT_MODE(changed);
    }
    return mode & RB_FLOAT_MODE_BITS;
}

static inline void rbFloatMode_PutBack(const uint64_t* bits)
{
    (void)rbFloatMode_Set(*bits);
}

// The standard mode until the end of the block, then that of before.
#define RB_USE_STANDARD_FLOAT_MODE() \
    __attribute__((cleanup(rbFloatMode_PutBack), unused)) uint64_t modeBefore = rbFloatMode_Set(0)
