#define _XOPEN_SOURCE 700

#include "cli/signals.h"

#include <rattleback/base.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

#define SIGNALS_MAX 3 // the last one ends the program

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};

// A signal handler has no other way to communicate.
static volatile sig_atomic_t signalCount = 0;
static rbSignalFn* volatile signalListener = NULL;

static void handleSignal(int number)
{
    int kept = errno;
    signalCount += 1;
    if (signalCount >= SIGNALS_MAX) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    rbSignalFn* listener = signalListener;
    if (listener != NULL) {
        listener();
    }
    errno = kept;
}

bool rbSignals_IsStopAsked(void)
{
    return signalCount > 0;
}

static bool isStopAsked(void* context)
{
    (void)context;
    return signalCount > 0;
}

void rbSignals_SetListener(rbSignalFn* listener)
{
    signalListener = listener;
}

void rbSignals_Catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handleSignal;
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; ++i) {
        struct sigaction before;
        bool isKnown = sigaction(caught[i], NULL, &before) == 0;
        bool isIgnored = isKnown && caught[i] == SIGHUP && before.sa_handler == SIG_IGN; // nohup
        if (!isIgnored) {
            (void)sigaction(caught[i], &action, NULL);
        }
    }
    (void)rbUseStop((rbStop){isStopAsked, NULL});
}
