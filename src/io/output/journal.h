// The journal of a run as a file: one row per event, in order of time, as a CSV table or JSON
// lines (.jsonl). The columns are in docs/journal-format.md.
#pragma once

#include <rattleback/base.h>
#include <rattleback/vecmath.h>

// An event in words. Texts are borrowed for the call; NULL is an empty cell.
typedef struct rbJournalRow {
    double time; // s
    const char* kind;
    const char* bodyA;
    const char* bodyB;    // NULL: only one body is involved
    const char* law;      // NULL: not an impact
    const char* history;  // what the contact point did
    double energyChange;  // J
    bool hasContact;      // the values below are known
    rbVec3 point;         // m
    rbVec3 normal;        // from A to B
    rbVec3 impulse;       // N s, on B
    double approachSpeed; // m/s
    double energyBefore;  // J
    double frictionWork;  // J
} rbJournalRow;

typedef struct rbJournal rbJournal;

// Starts a journal at path; "-" is standard output. NULL on failure. Like all outputs, the file
// appears when it is complete.
rbJournal* rbCreateJournal(const char* path, rbError* error);
rbStatus rbJournal_Write(rbJournal* journal, const rbJournalRow* row, rbError* error);
// Completes the file; the journal is destroyed, also on failure.
rbStatus rbJournal_Finish(rbJournal* journal, rbError* error);
void rbJournal_Abandon(rbJournal* journal); // NULL is fine
