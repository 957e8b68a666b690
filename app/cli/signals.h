// Signals that ask the program to end: Ctrl-C, termination, and a terminal that hangs up.
#pragma once

#include <stdbool.h>

// From now on they are noted. The first one asks to stop, and long computations of the calling
// thread do (rbUseStop); the second one is the same, since files are being completed; the third one
// ends the program at once.
void rbSignals_Catch(void);

// Called by each of them; NULL: nothing. Must be safe in a signal handler.
typedef void rbSignalFn(void);
void rbSignals_SetListener(rbSignalFn* listener);

bool rbSignals_IsStopAsked(void);
