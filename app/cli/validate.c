// rattleback validate: runs the cases of validation/ and prints value, reference, error and
// verdict.
#include "base/core/timer.h"
#include "cli/cli.h"
#include "validation.h"

#include <string.h>

static rbExit listCases(void)
{
    int count = 0;
    const rbValidationCase* const* cases = rbGetValidationCases(&count);
    for (int i = 0; i < count; ++i) {
        (void)printf("%-18s %s\n%-18s source: %s\n", cases[i]->name, cases[i]->help, "",
                     cases[i]->source);
        if (cases[i]->group != NULL) {
            (void)printf("%-18s in group: %s\n", "", cases[i]->group);
        }
    }
    return RB_EXIT_DONE;
}

// Whether a word selects a case: by its name or by the name of its group.
static bool isSelected(const rbValidationCase* oneCase, const char* word)
{
    return strcmp(word, oneCase->name) == 0 ||
           (oneCase->group != NULL && strcmp(word, oneCase->group) == 0);
}

static bool validateWord(const char* word)
{
    int count = 0;
    const rbValidationCase* const* cases = rbGetValidationCases(&count);
    const char* names[64];
    for (int i = 0; i < count && i < 64; ++i) {
        names[i] = cases[i]->name;
        if (isSelected(cases[i], word)) {
            return true;
        }
    }
    const char* nearest = rbFindNearestWord(word, names, count);
    (void)rbFail("unknown case '%s'; %s%s", word,
                 nearest != NULL ? "did you mean " : "'rattleback validate --list' lists them",
                 nearest != NULL ? nearest : "");
    return false;
}

static void runCase(rbValidation* validation, const rbValidationCase* oneCase)
{
    char text[32];
    rbValidation_Print(validation, "%s: %s\n  source: %s\n  %-60s %-13s %20s %20s %9s %9s\n",
                       oneCase->name, oneCase->help, oneCase->source, "quantity", "source", "value",
                       "truth or bound", "error", "tolerance");
    double start = rbGetWallTime();
    rbValidation_Run(validation, oneCase);
    rbValidation_Print(validation, "  (%s)\n\n", rbFormatDuration(rbGetWallTime() - start, text));
}

static void printJson(const rbValidation* validation)
{
    rbJson json = {.file = stdout};
    rbJson_BeginArray(&json, NULL);
    for (int i = 0; i < validation->rows.count; ++i) {
        const rbValidationRow* row = &validation->rows.data[i];
        rbJson_BeginObject(&json, NULL);
        rbJson_Text(&json, "case", row->caseName);
        rbJson_Text(&json, "quantity", row->quantity);
        rbJson_Text(&json, "source", rbTruth_Name(row->source));
        rbJson_Bool(&json, "bound", row->isBound);
        rbJson_Number(&json, "value", row->value);
        rbJson_Number(&json, "truth", row->truth);
        rbJson_Number(&json, "error", row->error);
        rbJson_Number(&json, "tolerance", row->tolerance);
        rbJson_Bool(&json, "pass", row->pass);
        rbJson_End(&json);
    }
    rbJson_End(&json);
}

// How many rows have which source of truth.
static void printSources(const rbValidation* validation)
{
    int counts[RB_TRUTH_COUNT] = {0};
    for (int i = 0; i < validation->rows.count; ++i) {
        counts[validation->rows.data[i].source] += 1;
    }
    for (int k = RB_TRUTH_UNSTATED + 1; k < RB_TRUTH_COUNT; ++k) {
        (void)printf("%s%d %s", k == RB_TRUTH_UNSTATED + 1 ? "sources: " : ", ", counts[k],
                     rbTruth_Name((rbTruth)k));
    }
    (void)printf("\n");
}

static rbExit runValidate(const rbArguments* arguments)
{
    if (rbArguments_Has(arguments, "--list")) {
        return listCases();
    }
    bool isForMachines = rbArguments_Has(arguments, "--json");
    rbValidation validation = {.text = isForMachines ? NULL : stdout,
                               .isQuick = rbArguments_Has(arguments, "--quick"),
                               .plotFolder = rbArguments_Get(arguments, "--plots")};
    int count = 0;
    const rbValidationCase* const* cases = rbGetValidationCases(&count);
    // check all names first, so that a typo costs nothing
    for (int i = 0; i < arguments->wordCount; ++i) {
        if (!validateWord(arguments->words[i])) {
            return RB_EXIT_USAGE;
        }
    }
    // without words all cases; otherwise in the order of the words
    for (int w = 0; w < (arguments->wordCount > 0 ? arguments->wordCount : 1); ++w) {
        for (int i = 0; i < count; ++i) {
            if (arguments->wordCount == 0 || isSelected(cases[i], arguments->words[w])) {
                runCase(&validation, cases[i]);
            }
        }
    }
    if (isForMachines) {
        printJson(&validation);
    } else {
        printSources(&validation);
        (void)printf("%d of %d comparisons pass\n", validation.rows.count - validation.failureCount,
                     validation.rows.count);
    }
    rbExit exit = validation.failureCount > 0 ? RB_EXIT_NO : RB_EXIT_DONE;
    rbArray_Free(validation.rows);
    return exit;
}

static const rbOption options[] = {
    {"--list", NULL, "lists the cases and the source of their reference values"},
    {"--quick", NULL, "fewer random cases, shorter runs: one minute instead of twenty"},
    {"--json", NULL,
     "prints one array of {case, quantity, source, bound, value, truth, error, "
     "tolerance, pass}"},
    {"--plots", "DIR", "draws the motion of the toys as DIR/*.svg; DIR must exist"},
};

static const char* const examples[] = {
    "rattleback validate",
    "rattleback validate tumbling-box",
    "rattleback validate free-top-random separatrix --quick",
    "rattleback validate mechanisms",
    "rattleback validate toys --plots docs/images",
    NULL,
};

const rbVerb rbVerbValidate = {
    .name = "validate",
    .words = "[CASE...]",
    .help = "compares results with published and analytic values",
    .more = "Without a CASE, runs all of them. Exit code 1 if a comparison fails.",
    .run = runValidate,
    .wordMin = 0,
    .wordMax = RB_CLI_VALUES_MAX,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
