// The command line: words and options of a verb; mistakes are reported with their remedy.
#include "base/core/words.h"
#include "cli/cli.h"
#include "io/scene/nearest_name.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_LENGTH_MAX 64

static const char* getCandidate(int index, const void* context)
{
    const char* const* candidates = context;
    return candidates[index];
}

const char* rbFindNearestWord(const char* word, const char* const* candidates, int count)
{
    return rbFindNearestName(word, getCandidate, count, candidates);
}

// NULL after the last.
static const rbOption* getOption(const rbVerb* verb, int index)
{
    if (index < verb->optionCount) {
        return &verb->options[index];
    }
    return verb->getMoreOption != NULL ? verb->getMoreOption(index - verb->optionCount) : NULL;
}

static const rbOption* findOption(const rbVerb* verb, const char* name, size_t length)
{
    const rbOption* option;
    for (int i = 0; (option = getOption(verb, i)) != NULL; ++i) {
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static void complainAboutOption(const rbVerb* verb, const char* name)
{
    const char* names[RB_CLI_VALUES_MAX];
    int count = 0;
    const rbOption* option;
    while (count < RB_CLI_VALUES_MAX && (option = getOption(verb, count)) != NULL) {
        names[count++] = option->name;
    }
    const char* nearest = rbFindNearestWord(name, names, count);
    if (nearest != NULL) {
        (void)rbFail("%s has no option %s; did you mean %s?", verb->name, name, nearest);
    } else {
        (void)rbFail("%s has no option %s; 'rattleback %s --help' lists its options", verb->name,
                     name, verb->name);
    }
}

// Parses the option at words[*index] and its value. Returns false after a mistake.
static bool parseOption(rbArguments* arguments, int count, char** words, int* index)
{
    const rbVerb* verb = arguments->verb;
    const char* word = words[*index];
    const char* equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const rbOption* option = findOption(verb, word, length);
    if (option == NULL) {
        char name[WORD_LENGTH_MAX];
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), word);
        complainAboutOption(verb, name);
        return false;
    }
    const char* value = NULL;
    if (option->argument != NULL) {
        value = equals != NULL ? equals + 1 : *index + 1 < count ? words[++*index] : NULL;
        if (value == NULL) {
            (void)rbFail("%s %s needs a value: %s %s", verb->name, option->name, option->name,
                         option->argument);
            return false;
        }
    } else if (equals != NULL) {
        (void)rbFail("%s %s does not accept a value", verb->name, option->name);
        return false;
    }
    if (arguments->valueCount == RB_CLI_VALUES_MAX) {
        (void)rbFail("too many options; the limit is %d", RB_CLI_VALUES_MAX);
        return false;
    }
    arguments->values[arguments->valueCount].option = option;
    arguments->values[arguments->valueCount++].value = value;
    return true;
}

bool rbArguments_Parse(rbArguments* arguments, const rbVerb* verb, int count, char** words)
{
    memset(arguments, 0, sizeof *arguments);
    arguments->verb = verb;
    bool onlyWords = false;
    for (int i = 0; i < count; ++i) {
        if (!onlyWords && strcmp(words[i], "--") == 0) {
            onlyWords = true;
        } else if (!onlyWords && words[i][0] == '-' && words[i][1] != '\0') {
            if (!parseOption(arguments, count, words, &i)) {
                return false;
            }
        } else if (arguments->wordCount >= verb->wordMax ||
                   arguments->wordCount == RB_CLI_VALUES_MAX) {
            (void)rbFail("%s does not accept the extra word '%s'; usage: rattleback %s %s",
                         verb->name, words[i], verb->name, verb->words);
            return false;
        } else {
            arguments->words[arguments->wordCount++] = words[i];
        }
    }
    if (arguments->wordCount < verb->wordMin) {
        (void)rbFail("%s needs %s; for example: %s", verb->name, verb->words, verb->examples[0]);
        return false;
    }
    return true;
}

bool rbArguments_Has(const rbArguments* arguments, const char* name)
{
    for (int i = 0; i < arguments->valueCount; ++i) {
        if (strcmp(arguments->values[i].option->name, name) == 0) {
            return true;
        }
    }
    return false;
}

const char* rbArguments_Get(const rbArguments* arguments, const char* name)
{
    for (int i = arguments->valueCount - 1; i >= 0; --i) {
        if (strcmp(arguments->values[i].option->name, name) == 0) {
            return arguments->values[i].value;
        }
    }
    return NULL;
}

bool rbArguments_GetNumber(const rbArguments* arguments, const char* name, double low, double high,
                           double* value)
{
    const char* text = rbArguments_Get(arguments, name);
    if (text == NULL) {
        return true;
    }
    char* end = NULL;
    double number = strtod(text, &end); // the program never leaves the locale "C"
    if (end == text || *end != '\0' || !isfinite(number)) {
        (void)rbFail("%s is '%s', which is not a finite number", name, text);
        return false;
    }
    if (number < low || number > high) {
        (void)rbFail("%s is %s; it must be between %g and %g", name, text, low, high);
        return false;
    }
    *value = number;
    return true;
}

bool rbArguments_TakeThreads(const rbArguments* arguments, int fallback)
{
    double count = fallback;
    if (!rbArguments_GetNumber(arguments, "--threads", 0.0, 64.0, &count)) {
        return false;
    }
    if (count != (double)(int)count) {
        (void)rbFail("--threads is %g; must be an integer", count);
        return false;
    }
    rbSetThreadCount((int)count);
    return true;
}

void rbVerb_PrintHelp(const rbVerb* verb, FILE* file)
{
    (void)fprintf(file, "rattleback %s %s%s\n\n%s\n", verb->name, verb->words,
                  getOption(verb, 0) != NULL ? " [options]" : "", verb->help);
    if (verb->more != NULL) {
        (void)fprintf(file, "\n%s\n", verb->more);
    }
    (void)fprintf(file, "\nOptions:\n");
    const rbOption* option;
    for (int i = 0; (option = getOption(verb, i)) != NULL; ++i) {
        char left[64];
        (void)snprintf(left, sizeof left, "%s%s%s", option->name,
                       option->argument != NULL ? " " : "",
                       option->argument != NULL ? option->argument : "");
        (void)fprintf(file, "  %-20s %s\n", left, option->help);
    }
    (void)fprintf(file, "  %-20s %s\n\nExamples:\n", "--help", "prints this text");
    for (int i = 0; verb->examples[i] != NULL; ++i) {
        (void)fprintf(file, "  %s\n", verb->examples[i]);
    }
}
