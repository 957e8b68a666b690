// A certificate as words that a test may change, written again with right checksums, not
// compressed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbWordBlock {
    unsigned char tag[4];
    uint64_t* words;
    size_t count;
} rbWordBlock;

typedef struct rbWordFile {
    rbWordBlock* blocks;
    int count;
} rbWordFile;

// A record: its kind, where its words begin, and how many there are.
typedef struct rbWordRecord {
    uint32_t kind;
    int block;
    size_t place; // of the head
    size_t size;  // words after it
} rbWordRecord;

// A file of this process: tests run side by side.
const char* rbScratchPath(void);

// Runs a scene with a certificate; options: more words for the command line. Returns its bytes.
unsigned char* rbMakeCertificate(const char* scene, const char* options, size_t* size);
// The same of a scene file.
unsigned char* rbMakeCertificateOf(const char* scenePath, const char* options, size_t* size);
rbWordFile rbReadWordFile(const unsigned char* bytes, size_t size);
void rbFreeWordFile(rbWordFile* file);
void rbWriteWordFile(const rbWordFile* file, const char* path);
void rbWriteBytes(const char* path, const unsigned char* bytes, size_t size);
// The records of a kind (0: all), which the caller frees.
rbWordRecord* rbListRecords(const rbWordFile* file, uint32_t kind, int* count);
double rbWordToNumber(uint64_t word);
uint64_t rbNumberToWord(double number);
