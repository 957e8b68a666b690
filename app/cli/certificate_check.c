#define _XOPEN_SOURCE 700

#include "cli/certificate_check.h"

#include "cli/cli.h"

#include <rattleback/output.h>

#include <inttypes.h>
#include <string.h>

void rbCheckCertificate(const char* path, rbCertificateCheck* check)
{
    memset(check, 0, sizeof *check);
    check->result = rbVerifyCertificate(path, &check->report, check->message);
    for (int i = 0; i < RB_V_CLAIM_COUNT; ++i) {
        for (int k = 0; k < RB_V_CLASS_COUNT; ++k) {
            check->sums[k] += check->report.counts[i][k];
        }
    }
}

void rbCertificateCheck_Describe(const rbCertificateCheck* check, char* text, size_t size)
{
    if (check->result == 2) {
        (void)snprintf(text, size, "not readable: it %s", check->message);
        return;
    }
    (void)snprintf(text, size,
                   "checked: %s, %" PRIu64 " certified, %" PRIu64 " sampled, %" PRIu64
                   " not checked, %" PRIu64 " failed",
                   check->result == 0 ? "holds" : "DOES NOT HOLD", check->sums[0], check->sums[1],
                   check->sums[2], check->sums[3]);
}

void rbCertificateCheck_PrintFailures(const rbCertificateCheck* check, FILE* file)
{
    const rbVReport* report = &check->report;
    for (int i = 0; i < report->failureCount; ++i) {
        const rbVFailure* f = &report->failures[i];
        (void)fprintf(file, "  failed at t = %.9g s", f->time);
        if (f->bodies[0][0] != '\0') {
            (void)fprintf(file, ", \"%s\"", rbShow(f->bodies[0]));
        }
        if (f->bodies[1][0] != '\0') {
            (void)fprintf(file, " and \"%s\"", rbShow(f->bodies[1]));
        }
        (void)fprintf(file, ": %s\n    %s: %.6g, at most %.6g\n", rbVClaim_Text(f->claim),
                      f->detail, f->value, f->bound);
    }
    if (report->failed > (uint64_t)report->failureCount) {
        (void)fprintf(file, "  and %" PRIu64 " more\n",
                      report->failed - (uint64_t)report->failureCount);
    }
}

bool rbCertificateCheck_WriteFindings(const rbCertificateCheck* check, const char* path, char* text,
                                      size_t size)
{
    FILE* file = fmemopen(text, size, "w");
    if (file == NULL) {
        return false;
    }
    char line[512];
    rbJson json = {.file = file};
    rbCertificateCheck_Describe(check, line, sizeof line);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "file", path);
    rbJson_Bool(&json, "holds", check->result == 0);
    rbJson_Text(&json, "verdict", line);
    rbJson_BeginArray(&json, "findings");
    for (int i = 0; i < check->report.failureCount; ++i) {
        const rbVFailure* f = &check->report.failures[i];
        (void)snprintf(line, sizeof line, "t = %.9g s %s %s: %s, %s %.6g, at most %.6g", f->time,
                       f->bodies[0], f->bodies[1], rbVClaim_Text(f->claim), f->detail, f->value,
                       f->bound);
        rbJson_Text(&json, NULL, line);
    }
    for (int i = 0; i < RB_V_CLAIM_COUNT; ++i) {
        const uint64_t* n = check->report.counts[i];
        if (n[0] + n[1] + n[2] + n[3] > 0) {
            const char* why = check->report.reasons[i];
            (void)snprintf(line, sizeof line,
                           "%s: %" PRIu64 " certified, %" PRIu64 " sampled, %" PRIu64
                           " not checked%s%s%s",
                           rbVClaim_Text((rbVClaim)i), n[0], n[1], n[2], why[0] != '\0' ? " (" : "",
                           why, why[0] != '\0' ? ")" : "");
            rbJson_Text(&json, NULL, line);
        }
    }
    rbJson_End(&json);
    rbJson_End(&json);
    bool isGood = ferror(file) == 0 && fflush(file) == 0;
    long used = ftell(file);
    (void)fclose(file);
    isGood = isGood && used > 0 && (size_t)used < size;
    text[isGood ? (size_t)used : 0] = '\0';
    return isGood;
}

bool rbNoteCertificate(const char* journalPath, double time, const char* text)
{
    size_t length = strlen(journalPath);
    bool isLines = length > 6 && strcmp(journalPath + length - 6, ".jsonl") == 0;
    FILE* file = fopen(journalPath, "a");
    if (file == NULL) {
        return false;
    }
    char number[RB_NUMBER_TEXT_SIZE];
    (void)rbFormatNumber(time, number);
    if (isLines) {
        (void)fprintf(file, "{\"time\": %s, \"kind\": \"certificate\", \"history\": \"%s\"}\n",
                      number, text);
    } else {
        (void)fprintf(file, "%s,certificate,,,,,,,,,,,,,,,,,,\"%s\"\n", number, text);
    }
    return fclose(file) == 0;
}
