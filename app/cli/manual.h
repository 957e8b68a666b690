// Manual pages and shell completions, generated from the table of verbs: the --help text in other
// forms.
#pragma once

#include "cli/cli.h"

// The verbs of the program.
typedef struct rbVerbTable {
    const rbVerb* const* verbs;
    int count;
} rbVerbTable;

// The manual page of a verb, or of the program (verb NULL), for man(1).
void rbWriteManual(const rbVerbTable* table, const rbVerb* verb, FILE* file);

// The completion script of a shell: "bash", "zsh" or "fish". Returns false for any other name.
bool rbWriteCompletion(const rbVerbTable* table, const char* shell, FILE* file);
