// A program as a child process: bytes in, its output into our file, its error output kept.
//
// Its three standard streams are socket pairs. Sockets rather than pipes, because send can be asked
// not to raise SIGPIPE when the child dies early. Its output passes through us instead of being
// written by the child, so that a full disk is noticed and a file appears whole or not at all. One
// loop serves all three streams, so neither side waits for the other forever.
#pragma once

#include "io/output/output_file.h"

#include <sys/types.h>

#define RB_CHILD_COMPLAINT_MAX 512
#define RB_CHILD_TAIL_SIZE 32 // the end of its output, to see that it is whole
#define RB_CHILD_STREAMS 3

typedef struct rbChild {
    const char* name;              // of the program
    pid_t pid;                     // 0: none
    int streams[RB_CHILD_STREAMS]; // our ends, -1 when closed
    const unsigned char* input;    // what it has not read yet
    size_t inputLeft;
    rbOutputFile* output;
    char tail[RB_CHILD_TAIL_SIZE + 1];
    char complaint[RB_CHILD_COMPLAINT_MAX];
    size_t complaintLength;
    bool isSilent; // it did nothing for too long and was stopped
} rbChild;

// Starts a program found by PATH; arguments end with NULL, the first is its name. What it writes
// goes to output, which remembers its first failure. NOT_FOUND, with the message absence, if there
// is no such program.
rbStatus rbChild_Start(rbChild* child, char* const* arguments, rbOutputFile* output,
                       const char* absence, rbError* error);

// Hands over bytes. False if the child accepts no more: rbChild_Finish says why.
bool rbChild_Feed(rbChild* child, const void* bytes, size_t count);

// Closes its input, reads the rest of its output and waits for it to end. IO, with its own error
// message, if it failed.
rbStatus rbChild_Finish(rbChild* child, rbError* error);

// Kills it at once. Does nothing if there is none.
void rbChild_Kill(rbChild* child);
