// Checks a certificate and says so: for the summary of a run, its journal, and the viewer.
#pragma once

#include "verify/verify.h"

#include <stdio.h>

typedef struct rbCertificateCheck {
    int result; // of rbVerifyCertificate
    uint64_t sums[RB_V_CLASS_COUNT];
    char message[RB_V_VERIFY_MESSAGE];
    rbVReport report;
} rbCertificateCheck;

// Large and zeroed by this: keep it static.
void rbCheckCertificate(const char* path, rbCertificateCheck* check);
// One line: "checked: holds, 12 certified, 3 sampled, 1 not checked".
void rbCertificateCheck_Describe(const rbCertificateCheck* check, char* text, size_t size);
// What failed, two lines each.
void rbCertificateCheck_PrintFailures(const rbCertificateCheck* check, FILE* file);
// The findings as JSON for the viewer; the text ends with a zero. False: too long for the buffer.
bool rbCertificateCheck_WriteFindings(const rbCertificateCheck* check, const char* path, char* text,
                                      size_t size);
// Appends a row of kind "certificate" to a journal that is complete.
bool rbNoteCertificate(const char* journalPath, double time, const char* text);
