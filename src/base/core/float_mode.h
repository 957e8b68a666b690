// The floating-point mode of the thread: rounding, and whether small numbers are flushed to zero.
// A library built with fast-math changes it for the whole process when it is loaded; what promises
// bits runs in the standard mode. The memory clobber keeps what is read from memory behind a
// change. On x86-64 the C library reads and writes decimal numbers by the rounding of the old unit
// for floating point, whose control word is the upper half of our mode.
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#define RB_FLOAT_MODE_BITS 0xc000000e040u // flush to zero, rounding, denormals are zero

static inline uint64_t rbFloatMode_Read(void)
{
    uint32_t lanes = 0;
    uint16_t old = 0;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(lanes), "=m"(old));
    return lanes | (uint64_t)old << 32;
}

static inline void rbFloatMode_Write(uint64_t mode)
{
    uint32_t lanes = (uint32_t)mode;
    uint16_t old = (uint16_t)(mode >> 32);
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(lanes), "m"(old) : "memory");
}
#elif defined(__aarch64__)
#define RB_FLOAT_MODE_BITS 0x1c00000u // likewise

static inline uint64_t rbFloatMode_Read(void)
{
    uint64_t mode = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static inline void rbFloatMode_Write(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
}
#else
#define RB_FLOAT_MODE_BITS 0u

static inline uint64_t rbFloatMode_Read(void)
{
    return 0;
}

static inline void rbFloatMode_Write(uint64_t mode)
{
    (void)mode;
}
#endif

// Sets bits of the mode, 0 for the standard one, and returns those that were set before.
static inline uint64_t rbFloatMode_Set(uint64_t bits)
{
    uint64_t mode = rbFloatMode_Read();
    uint64_t changed = (mode & ~(uint64_t)RB_FLOAT_MODE_BITS) | bits;
    if (changed != mode) {
        rbFloatMode_Write(changed);
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
