#include "server/page_bytes.h"

#include <stdint.h>

#ifdef RB_PAGE_FILE

// The assembler includes the file directly: as a C array it would take the compiler seconds.
__asm__(".section .rodata\n"
        ".global rbPageBytes\n"
        ".balign 16\n"
        "rbPageBytes:\n"
        ".incbin \"" RB_PAGE_FILE "\"\n"
        "rbPageEnd:\n"
        ".byte 0\n"
        ".global rbPageSize\n"
        ".balign 8\n"
        "rbPageSize:\n"
        ".quad rbPageEnd - rbPageBytes\n"
        ".text\n");

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "rbPageSize is written as 8 bytes above");

#else

#define PAGE                                                                                       \
    "<!doctype html><title>Rattleback</title><p>This program was built without the viewer's page " \
    "(RB_VIEWER=OFF)."

const unsigned char rbPageBytes[] = PAGE;
const size_t rbPageSize = sizeof PAGE - 1;

#endif
