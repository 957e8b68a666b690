// How far a run is, on stderr: one line that is written over on a terminal, a line from time to
// time in a log.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define RB_PROGRESS_TERMINAL 0.1 // s between two updates on a terminal
#define RB_PROGRESS_LOG 10.0     // s between two lines of a log

typedef struct rbProgress {
    FILE* file;       // NULL: prints nothing
    char name[256];   // of the scene, without control characters
    double duration;  // s, simulated
    double startTime; // s, simulated, where this process began
    double startWall; // s, wall clock
    double lastWall;  // of the last line
    bool isTerminal;
    bool hasLine; // on a terminal: there is one to wipe
} rbProgress;

// Shows progress when a line is due. wall: s, the clock now; time: s, simulated.
void rbProgress_Show(rbProgress* progress, double wall, double time);
// Wipes the line of a terminal.
void rbProgress_End(rbProgress* progress);
