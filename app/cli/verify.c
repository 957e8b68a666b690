// rattleback verify: checks a certificate by the rules of docs/certificate.md. The checks are in
// verify/, which shares no code with the engines.
#include "base/core/timer.h"
#include "cli/certificate_check.h"
#include "cli/cli.h"
#include "cli/scenes.h"
#include "io/output/certificate.h"

#include <inttypes.h>
#include <string.h>

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

static void printJson(const rbCertificateCheck* check, const char* path, double seconds)
{
    const rbVReport* report = &check->report;
    static const char* const keys[RB_V_CLASS_COUNT] = {"certified", "sampled", "notChecked",
                                                       "failed"};
    rbJson json = {.file = stdout};
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "certificate", path);
    rbJson_Bool(&json, "holds", check->result == 0);
    rbJson_Bool(&json, "isComplete", report->isComplete);
    rbJson_Number(&json, "endTime", report->endTime);
    rbJson_Integer(&json, "bodies", (int64_t)report->bodies);
    rbJson_Integer(&json, "events", (int64_t)report->events);
    rbJson_Integer(&json, "flights", (int64_t)report->flights);
    rbJson_Integer(&json, "nodes", (int64_t)report->nodes);
    rbJson_Number(&json, "seconds", seconds);
    for (int k = 0; k < RB_V_CLASS_COUNT; ++k) {
        rbJson_Integer(&json, keys[k], (int64_t)check->sums[k]);
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

// The first block of two files: signature, header and content of the model.
static bool haveSameModel(FILE* a, FILE* b)
{
    unsigned char head[2][64];
    if (fread(head[0], 1, 64, a) != 64 || fread(head[1], 1, 64, b) != 64 ||
        memcmp(head[0], head[1], 64) != 0) {
        return false;
    }
    size_t left = head[0][40] | (size_t)head[0][41] << 8 | (size_t)head[0][42] << 16 |
                  (size_t)head[0][43] << 24;
    while (left > 0) {
        unsigned char bytes[2][4096];
        size_t count = left < sizeof bytes[0] ? left : sizeof bytes[0];
        if (fread(bytes[0], 1, count, a) != count || fread(bytes[1], 1, count, b) != count ||
            memcmp(bytes[0], bytes[1], count) != 0) {
            return false;
        }
        left -= count;
    }
    return true;
}

// Whether a certificate has the model of a scene: the model is written again and compared.
static bool isOfScene(const rbArguments* arguments, const char* path)
{
    rbError error = {0};
    char own[1024];
    const char* name = rbArguments_Get(arguments, "--scene");
    (void)snprintf(own, sizeof own, "%.1000s.model", path);
    rbScene* scene = rbOpenScene(name, &error);
    rbWorld* world = scene != NULL ? rbScene_CreateWorld(scene, &error) : NULL;
    if (world != NULL && rbScene_PrepareWorld(scene, world, &error) != RB_STATUS_OK) {
        rbDestroyWorld(world);
        world = NULL;
    }
    rbCertificate* model = world != NULL ? rbCreateCertificate(own, world, &error) : NULL;
    bool isSame = false;
    if (model == NULL) {
        (void)rbFailWith(&error);
    } else {
        (void)rbCertificate_Finish(model, world, 0, NULL);
        FILE* a = fopen(path, "rb");
        FILE* b = fopen(own, "rb");
        isSame = a != NULL && b != NULL && haveSameModel(a, b);
        if (a != NULL) {
            (void)fclose(a);
        }
        if (b != NULL) {
            (void)fclose(b);
        }
        (void)remove(own);
        if (!isSame) {
            (void)rbFail("%s is the certificate of another model than the scene %s", rbShow(path),
                         rbShow(name));
        }
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
    return isSame;
}

static rbExit runVerify(const rbArguments* arguments)
{
    static rbCertificateCheck check;
    const char* path = arguments->words[0];
    if (rbArguments_Has(arguments, "--scene") && !isOfScene(arguments, path)) {
        return RB_EXIT_USAGE;
    }
    double start = rbGetWallTime();
    rbCheckCertificate(path, &check);
    double seconds = rbGetWallTime() - start;
    const rbVReport* report = &check.report;
    int result = check.result;
    if (rbArguments_Has(arguments, "--json")) {
        printJson(&check, path, seconds);
    } else if (result != 2 || report->nodes > 0) {
        char span[32];
        printTable(report, stdout);
        rbCertificateCheck_PrintFailures(&check, stdout);
        (void)printf("%s: %" PRIu64 " bodies, %" PRIu64 " events, %" PRIu64 " nodes up to t = %.9g "
                     "s, checked in %s\n",
                     rbShow(path), report->bodies, report->events, report->nodes, report->endTime,
                     rbFormatDuration(seconds, span));
        (void)printf("%s: %" PRIu64 " certified, %" PRIu64 " sampled, %" PRIu64
                     " not checked, %" PRIu64 " failed\n",
                     result == 0 ? "all checked claims hold" : "NOT ESTABLISHED", check.sums[0],
                     check.sums[1], check.sums[2], check.sums[3]);
    }
    if (result == 2) {
        return rbFail("%s %s", rbShow(path), rbShow(check.message));
    }
    return rbFinishOutput(result == 0 ? RB_EXIT_DONE : RB_EXIT_NO);
}

static const rbOption options[] = {
    {"--scene", "SCENE", "refuses a certificate whose model is not that of the scene"},
    {"--json", NULL, "prints the findings as JSON"},
};

static const char* const examples[] = {
    "rattleback run bouncing-ball --certificate ball.rbc",
    "rattleback verify ball.rbc",
    "rattleback verify ball.rbc --scene bouncing-ball",
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
