// Hashing of bytes and of doubles, for state hashes, checksums and tables. 64-bit, not
// cryptographic.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define RB_HASH_SEED 0xcbf29ce484222325u

// Continues a hash over count bytes; start with RB_HASH_SEED. Reads eight bytes at a time as
// little-endian words, so that the value is the same on every machine.
uint64_t rbHashBytes(uint64_t hash, const void* bytes, size_t count);

// Continues a hash over the bits of doubles; -0 and +0 differ, as their bits do.
uint64_t rbHashDoubles(uint64_t hash, const double* values, size_t count);
