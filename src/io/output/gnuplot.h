// Runs gnuplot as a child process: a script in, an SVG picture out.
#pragma once

#include "io/output/output_file.h"

// Feeds the script to gnuplot and appends its picture to output. RB_STATUS_NOT_FOUND if there is no
// gnuplot; RB_STATUS_IO, with gnuplot's own message, if it fails. output remembers its own
// failures.
rbStatus rbRunGnuplot(const char* script, size_t scriptSize, rbOutputFile* output, rbError* error);
