// Modules of the command line: loads them and takes their outputs and verbs into the tables of the
// program. The other tables are those of the library.
#pragma once

#include "cli/cli.h"

// Loads what the words name with --module FILE or --module=FILE, in their order, up to "--".
rbStatus rbLoadModules(int count, char** words, rbError* error);

// A hash of the files of all loaded modules, in their order; 0 if there are none.
uint64_t rbHashModules(void);

#define RB_MODULE_ROWS_SIZE 1024
#define RB_SCRIPT_ROW "script '" // begins the entry of a script
// Writes the rows that modules added, and the scripts, for a JSON string: force 'wind', shape
// 'bicone', script 'hold.py'.
void rbNameModuleRows(char* text, size_t capacity);
