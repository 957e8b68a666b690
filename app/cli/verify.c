// rattleback verify: checks a certificate by the rules of docs/certificate.md. The checks are in
// verify/, which shares no code with the engines.
#include "verify/verify.h"

#include "base/core/timer.h"
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static void printFailures(const rbVReport* report, FILE* file)
{
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

static void printTable(const rbVReport* report, FILE* file)
{
    (void)fprintf(file, "%-62s %10s %10s %12s %8s\n", "claim", "certified", "sampled",
                  "not checked", "failed");
    for (int i = 0; i < RB_V_CLAIM_COUNT; ++i) {
        const uint64_t* n = report->counts[i];
        if (n[0] + n[1] + n[2] + n[3] == 0) {
            continue;
        }
        (void)fprintf(file, "%-62s %10" PRIu64 " %10" PRIu64 " %12" PRIu64 " %8" PRIu64 "\n",
                      rbVClaim_Text((rbVClaim)i), n[0], n[1], n[2], n[3]);
        if (report->reasons[i][0] != '\0') {
            (void)fprintf(file, "    not checked: %s\n", report->reasons[i]);
        }
    }
}

static void sumCounts(const rbVReport* report, uint64_t sums[RB_V_CLASS_COUNT])
{
    memset(sums, 0, RB_V_CLASS_COUNT * sizeof sums[0]);
    for (int i = 0; i < RB_V_CLAIM_COUNT; ++i) {
        for (int k = 0; k < RB_V_CLASS_COUNT; ++k) {
            sums[k] += report->counts[i][k];
        }
    }
}

static void printJson(const rbVReport* report, const char* path, int result, double seconds)
{
    static const char* const keys[RB_V_CLASS_COUNT] = {"certified", "sampled", "notChecked",
                                                       "failed"};
    rbJson json = {.file = stdout};
    uint64_t sums[RB_V_CLASS_COUNT];
    sumCounts(report, sums);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "certificate", path);
    rbJson_Bool(&json, "holds", result == 0);
    rbJson_Bool(&json, "isComplete", report->isComplete);
    rbJson_Number(&json, "endTime", report->endTime);
    rbJson_Integer(&json, "bodies", (int64_t)report->bodies);
    rbJson_Integer(&json, "events", (int64_t)report->events);
    rbJson_Integer(&json, "flights", (int64_t)report->flights);
    rbJson_Integer(&json, "nodes", (int64_t)report->nodes);
    rbJson_Number(&json, "seconds", seconds);
    for (int k = 0; k < RB_V_CLASS_COUNT; ++k) {
        rbJson_Integer(&json, keys[k], (int64_t)sums[k]);
    }
    rbJson_BeginArray(&json, "claims");
    for (int i = 0; i < RB_V_CLAIM_COUNT; ++i) {
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "claim", rbVClaim_Text((rbVClaim)i));
        for (int k = 0; k < RB_V_CLASS_COUNT; ++k) {
            rbJson_Integer(&json, keys[k], (int64_t)report->counts[i][k]);
        }
        rbJson_Number(&json, "worst", report->worst[i]);
        rbJson_Text(&json, "reason", report->reasons[i][0] != '\0' ? report->reasons[i] : NULL);
        rbJson_End(&json);
    }
    rbJson_End(&json);
    rbJson_BeginArray(&json, "failures");
    for (int i = 0; i < report->failureCount; ++i) {
        const rbVFailure* f = &report->failures[i];
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "claim", rbVClaim_Text(f->claim));
        rbJson_Number(&json, "time", f->time);
        rbJson_Text(&json, "bodyA", f->bodies[0]);
        rbJson_Text(&json, "bodyB", f->bodies[1]);
        rbJson_Text(&json, "what", f->detail);
        rbJson_Number(&json, "value", f->value);
        rbJson_Number(&json, "bound", f->bound);
        rbJson_End(&json);
    }
    rbJson_End(&json);
    rbJson_End(&json);
    (void)printf("\n");
}

static rbExit runVerify(const rbArguments* arguments)
{
    static rbVReport report;
    char message[RB_V_VERIFY_MESSAGE];
    const char* path = arguments->words[0];
    double start = rbGetWallTime();
    int result = rbVerifyCertificate(path, &report, message);
    double seconds = rbGetWallTime() - start;
    if (rbArguments_Has(arguments, "--json")) {
        printJson(&report, path, result, seconds);
    } else if (result != 2 || report.nodes > 0) {
        char span[32];
        uint64_t sums[RB_V_CLASS_COUNT];
        sumCounts(&report, sums);
        printTable(&report, stdout);
        printFailures(&report, stdout);
        (void)printf("%s: %" PRIu64 " bodies, %" PRIu64 " events, %" PRIu64 " nodes up to t = %.9g "
                     "s, checked in %s\n",
                     rbShow(path), report.bodies, report.events, report.nodes, report.endTime,
                     rbFormatDuration(seconds, span));
        (void)printf("%s: %" PRIu64 " certified, %" PRIu64 " sampled, %" PRIu64
                     " not checked, %" PRIu64 " failed\n",
                     result == 0 ? "all checked claims hold" : "NOT ESTABLISHED", sums[0], sums[1],
                     sums[2], sums[3]);
    }
    if (result == 2) {
        return rbFail("%s %s", rbShow(path), rbShow(message));
    }
    return rbFinishOutput(result == 0 ? RB_EXIT_DONE : RB_EXIT_NO);
}

static const rbOption options[] = {
    {"--json", NULL, "prints the findings as JSON"},
};

static const char* const examples[] = {
    "rattleback run bouncing-ball --certificate ball.rbc",
    "rattleback verify ball.rbc",
    "rattleback verify ball.rbc --json",
    NULL,
};

const rbVerb rbVerbVerify = {
    .name = "verify",
    .words = "CERTIFICATE",
    .help = "checks a certificate of a run without the engine that wrote it",
    .more = "Integrates the flights, balances the impulses and measures the distances again, with\n"
            "its own code. Exit code 0: all that was checked holds; 1: a claim fails, with time,\n"
            "bodies, value and bound; 2: not readable to its end. docs/certificate.md says what\n"
            "certified, sampled and not checked mean.",
    .run = runVerify,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
