// Scripts in Python: the interpreter inside the program.
#pragma once

#include "cli/scripts.h"

extern const rbScriptHost rbPythonHost;
