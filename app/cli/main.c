#define _XOPEN_SOURCE 700 // SIGXFSZ

// The program: finds the verb, reads its options, runs it.
#include "base/core/float_mode.h"
#include "cli/cli.h"
#include "cli/launcher.h"
#include "cli/manual.h"
#include "cli/modules.h"
#include "cli/scripts.h"
#include "laboratory/scene_rows.h"

#include <signal.h>
#include <string.h>

#define VERBS_MAX 48

// The built-in verbs, then those of modules; NULL after the last.
static const rbVerb* verbs[VERBS_MAX + 1] = {
    &rbVerbRun,    &rbVerbCheck,  &rbVerbInfo,     &rbVerbDistance, &rbVerbRays, &rbVerbSweep,
    &rbVerbReplay, &rbVerbVerify, &rbVerbValidate, &rbVerbBench,    &rbVerbView, &rbVerbSettings,
};

static int countVerbs(void)
{
    int count = 0;
    while (verbs[count] != NULL) {
        ++count;
    }
    return count;
}

rbStatus rbRegisterVerb(const rbVerb* verb, rbError* error)
{
    int count = countVerbs();
    for (int i = 0; i < count; ++i) {
        if (strcmp(verbs[i]->name, verb->name) == 0) {
            return rbError_Set(error, RB_STATUS_INVALID,
                               "there is already a verb named \"%s\"; register it under another "
                               "name",
                               verb->name);
        }
    }
    if (count == VERBS_MAX) {
        return rbError_Set(error, RB_STATUS_LIMIT, "there are already %d verbs, the limit", count);
    }
    verbs[count] = verb;
    return RB_STATUS_OK;
}

static void printHelp(void)
{
    (void)printf("Rattleback %s: rigid-body dynamics that reports its own accuracy.\n\n"
                 "  %-30s %s\n",
                 rbGetVersion(), "rattleback", "lists the example scenes");
    for (int i = 0; verbs[i] != NULL; ++i) {
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
    const char* names[VERBS_MAX];
    int count = countVerbs();
    for (int i = 0; i < count; ++i) {
        names[i] = verbs[i]->name;
        if (strcmp(name, names[i]) == 0) {
            return verbs[i];
        }
    }
    const char* nearest = rbFindNearestWord(name, names, count);
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
    const rbVerbTable table = {verbs, countVerbs()};
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
    if (rbFloatMode_Set(0) != 0) {
        (void)fprintf(stderr, "rattleback: warning: a library set another floating-point mode for "
                              "this process, as fast-math does; it is set back\n");
    }
    rbError error = {0};
    if (rbRegisterSceneLaboratory(&error) != RB_STATUS_OK) {
        (void)rbFail("%s", error.message);
        return RB_EXIT_USAGE;
    }
    if (rbLoadModules(argc - 1, argv + 1, &error) != RB_STATUS_OK) {
        return (int)rbFail("%s", error.message);
    }
    // rattleback --module FILE VERB ...: the verb may be that of the module.
    while (argc > 3 && strcmp(argv[1], "--module") == 0) {
        argv += 2;
        argc -= 2;
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
    if (!rbArguments_Parse(&arguments, verb, argc - 2, argv + 2) || !rbCheckLauncher(verb)) {
        return RB_EXIT_USAGE;
    }
    if (rbGetScriptCount() > 0 && verb != &rbVerbRun) {
        return (int)rbFail("'%s' calls no hooks, so it takes no module in Python (%s); 'run' does",
                           verb->name, rbGetScriptPath(0));
    }
    return (int)rbFinishOutput(verb->run(&arguments));
}
