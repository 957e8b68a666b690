// Modules of the command line: loads them and takes their outputs and verbs into the tables of the
// program. The other tables are those of the library.
#pragma once

#include "cli/cli.h"

// Loads what the words name with --module FILE or --module=FILE, in their order, up to "--".
rbStatus rbLoadModules(int count, char** words, rbError* error);

// A hash of the files of all loaded modules, in their order; 0 if there are none.
uint64_t rbHashModules(void);

#define RB_MODULE_ROWS_SIZE 1024
// Writes the rows that modules added for a JSON string: force 'wind', shape 'bicone'.
void rbNameModuleRows(char* text, size_t capacity);
