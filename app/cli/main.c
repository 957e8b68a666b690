#define _XOPEN_SOURCE 700 // SIGXFSZ

// The program: finds the verb, reads its options, runs it.
#include "cli/cli.h"
#include "cli/manual.h"
#include "laboratory/scene_rows.h"

#include <signal.h>
#include <string.h>

static const rbVerb* const verbs[] = {
    &rbVerbRun,    &rbVerbCheck,    &rbVerbInfo,  &rbVerbDistance, &rbVerbRays,     &rbVerbReplay,
    &rbVerbVerify, &rbVerbValidate, &rbVerbBench, &rbVerbView,     &rbVerbSettings,
};
#define VERB_COUNT ((int)(sizeof verbs / sizeof verbs[0]))

static void printHelp(void)
{
    (void)printf("Rattleback %s: rigid-body dynamics that reports its own accuracy.\n\n"
                 "  %-30s %s\n",
                 rbGetVersion(), "rattleback", "lists the example scenes");
    for (int i = 0; i < VERB_COUNT; ++i) {
        char left[64];
        (void)snprintf(left, sizeof left, "rattleback %s %s", verbs[i]->name, verbs[i]->words);
        (void)printf("  %-30s %s\n", left, verbs[i]->help);
    }
    (void)printf("  %-30s %s\n"
                 "  %-30s %s\n"
                 "  %-30s %s\n\n"
                 "Exit codes: 0 success, 1 negative result, 2 bad usage or input, 3 numerical "
                 "failure.\n",
                 "rattleback VERB --help", "shows the options and examples of a verb",
                 "rattleback --version", "prints the version", "rattleback --completion SHELL",
                 "prints completions for bash, zsh or fish");
}

static const rbVerb* findVerb(const char* name)
{
    const char* names[VERB_COUNT];
    for (int i = 0; i < VERB_COUNT; ++i) {
        names[i] = verbs[i]->name;
        if (strcmp(name, names[i]) == 0) {
            return verbs[i];
        }
    }
    const char* nearest = rbFindNearestWord(name, names, VERB_COUNT);
    if (nearest != NULL) {
        (void)rbFail("unknown verb '%s'; did you mean '%s'?", name, nearest);
    } else {
        (void)rbFail("unknown verb '%s'; 'rattleback --help' lists all verbs", name);
    }
    return NULL;
}

static bool asksForHelp(int count, char** words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; ++i) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

// rattleback --manual [VERB], for the build; rattleback --completion bash|zsh|fish; --completion
// scenes prints the scene names for those completions.
static rbExit writeForOthers(const char* what, const char* word)
{
    static const rbVerbTable table = {verbs, VERB_COUNT};
    if (strcmp(what, "--manual") == 0) {
        const rbVerb* verb = word != NULL ? findVerb(word) : NULL;
        if (word != NULL && verb == NULL) {
            return RB_EXIT_USAGE;
        }
        rbWriteManual(&table, verb, stdout);
        return RB_EXIT_DONE;
    }
    if (word != NULL && strcmp(word, "scenes") == 0) {
        return rbPrintSceneNames();
    }
    if (word == NULL || !rbWriteCompletion(&table, word, stdout)) {
        return rbFail("--completion needs the name of a shell: bash, zsh or fish");
    }
    return RB_EXIT_DONE;
}

int rbProgram_Run(int argc, char** argv)
{
    // Full disks, limits and closed pipes become write errors and do not end the process.
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    rbError error = {0};
    if (rbRegisterSceneLaboratory(&error) != RB_STATUS_OK) {
        (void)rbFail("%s", error.message);
        return RB_EXIT_USAGE;
    }
    if (argc < 2) {
        return (int)rbFinishOutput(rbListScenes());
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("rattleback %s\n", rbGetVersion());
        return (int)rbFinishOutput(RB_EXIT_DONE);
    }
    if (strcmp(argv[1], "--manual") == 0 || strcmp(argv[1], "--completion") == 0) {
        return (int)rbFinishOutput(writeForOthers(argv[1], argc > 2 ? argv[2] : NULL));
    }
    bool isHelp = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (isHelp && argc == 2)) {
        printHelp();
        return (int)rbFinishOutput(RB_EXIT_DONE);
    }
    const rbVerb* verb = findVerb(argv[isHelp ? 2 : 1]);
    if (verb == NULL) {
        return RB_EXIT_USAGE;
    }
    if (isHelp || asksForHelp(argc - 2, argv + 2)) {
        rbVerb_PrintHelp(verb, stdout);
        return (int)rbFinishOutput(RB_EXIT_DONE);
    }
    rbArguments arguments;
    if (!rbArguments_Parse(&arguments, verb, argc - 2, argv + 2)) {
        return RB_EXIT_USAGE;
    }
    return (int)rbFinishOutput(verb->run(&arguments));
}
