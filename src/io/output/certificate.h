// Writes certificates: what a skeptic needs to check a run without this library. The format is in
// docs/certificate.md; verify/ reads it and shares no code with the writer.
//
//   open    model and initial state
//   note    after every advance: events, starts of flights, and the step engine's node
//   frame   at output times: all states and the energy accounting
//   finish  the bounds claimed for the whole run
//
// The world must keep flight starts (rbWorld_EnableFlightStarts) and its journal.
#pragma once

#include <rattleback/world.h>

#define RB_CERTIFICATE_VERSION 4u

typedef struct rbCertificate rbCertificate;

rbCertificate* rbCreateCertificate(const char* path, const rbWorld* world, rbError* error);
rbStatus rbCertificate_Note(rbCertificate* certificate, const rbWorld* world, rbError* error);
rbStatus rbCertificate_Frame(rbCertificate* certificate, const rbWorld* world, rbError* error);
// Completes the file and frees the writer, even on failure.
rbStatus rbCertificate_Finish(rbCertificate* certificate, const rbWorld* world, uint64_t hash,
                              rbError* error);
// Frees the writer; the .part file stays: it is readable up to its last block.
void rbCertificate_Abandon(rbCertificate* certificate);
