// Commands about what one client is sent: the body it wants details of, and the overlays. They
// change its cursor, not the simulation.
#pragma once

#include "session/stream.h"

#include <jansson.h>

// {"do": "select", "body": NAME, NUMBER or null} and {"do": "overlays", "contacts": BOOL, ..}.
// NULL, or why the command is refused; then nothing changes.
const char* rbSelectForClient(rbStreamCursor* cursor, const rbStore* store, const json_t* json);
const char* rbSetOverlaysForClient(rbStreamCursor* cursor, const json_t* json);
