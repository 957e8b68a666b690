// How a run ended: its exit code and, if it did not meet what was asked, the reason.
#pragma once

#include "cli/tally.h"

typedef struct rbVerdict {
    rbExit exit;
    char text[800]; // "" if everything was met
} rbVerdict;

// Judges a run from its totals; the world is at its end.
rbVerdict rbTally_Judge(const rbTally* tally, const rbWorld* world);
