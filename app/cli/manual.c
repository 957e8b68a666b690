// Manual pages and shell completions.
#include "cli/manual.h"

#include <string.h>

// ------------------------------------------------------------------------------------ manual pages

// Escapes text so that roff shows it unchanged: backslashes and hyphens are escaped, and a dot or
// an apostrophe does not start a line.
static void writeRoff(const char* text, FILE* file)
{
    bool isStart = true;
    for (const char* c = text; *c != '\0'; ++c) {
        if (isStart && (*c == '.' || *c == '\'')) {
            (void)fputs("\\&", file);
        }
        if (*c == '\\') {
            (void)fputs("\\e", file);
        } else if (*c == '-') {
            (void)fputs("\\-", file);
        } else {
            (void)fputc(*c, file);
        }
        isStart = *c == '\n';
    }
}

static void writeTitle(const char* name, const char* help, FILE* file)
{
    char capitals[64] = "RATTLEBACK";
    if (name[0] != '\0') {
        (void)snprintf(capitals, sizeof capitals, "RATTLEBACK-%s", name);
    }
    for (char* c = capitals; *c != '\0'; ++c) {
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    }
    (void)fprintf(file, ".TH %s 1 \"\" \"Rattleback %s\" \"User Commands\"\n.SH NAME\nrattleback",
                  capitals, rbGetVersion());
    (void)fprintf(file, "%s%s \\- ", name[0] != '\0' ? "\\-" : "", name);
    writeRoff(help, file);
    (void)fputs("\n.SH SYNOPSIS\n", file);
}

// A term in bold, its argument in italics, and its explanation.
static void writeTerm(const char* term, const char* argument, const char* help, FILE* file)
{
    (void)fputs(".TP\n\\fB", file);
    writeRoff(term, file);
    (void)fputs("\\fR", file);
    if (argument != NULL) {
        (void)fputs(" \\fI", file);
        writeRoff(argument, file);
        (void)fputs("\\fR", file);
    }
    (void)fputc('\n', file);
    writeRoff(help, file);
    (void)fputc('\n', file);
}

static void writeExitCodes(FILE* file)
{
    (void)fputs(".SH EXIT STATUS\n", file);
    writeTerm("0", NULL, "done", file);
    writeTerm("1", NULL, "negative result: a check, a comparison or a validation failed", file);
    writeTerm("2", NULL, "bad usage or input", file);
    writeTerm("3", NULL, "numerical failure, reported", file);
}

static void writeVerbManual(const rbVerb* verb, FILE* file)
{
    writeTitle(verb->name, verb->help, file);
    (void)fprintf(file, ".B rattleback %s\n", verb->name);
    writeRoff(verb->words, file);
    (void)fputs(verb->optionCount > 0 ? " [options]\n" : "\n", file);
    if (verb->more != NULL) {
        (void)fputs(".SH DESCRIPTION\n", file);
        // Lines are kept as they are: they are short, and some are tables.
        (void)fputs(".nf\n", file);
        writeRoff(verb->more, file);
        (void)fputs("\n.fi\n", file);
    }
    (void)fputs(".SH OPTIONS\n", file);
    for (int i = 0; i < verb->optionCount; ++i) {
        writeTerm(verb->options[i].name, verb->options[i].argument, verb->options[i].help, file);
    }
    writeTerm("--help", NULL, "prints this as plain text", file);
    (void)fputs(".SH EXAMPLES\n.nf\n", file);
    for (int i = 0; verb->examples[i] != NULL; ++i) {
        writeRoff(verb->examples[i], file);
        (void)fputc('\n', file);
    }
    (void)fputs(".fi\n", file);
    writeExitCodes(file);
    (void)fputs(".SH SEE ALSO\n.BR rattleback (1)\n", file);
}

void rbWriteManual(const rbVerbTable* table, const rbVerb* verb, FILE* file)
{
    if (verb != NULL) {
        writeVerbManual(verb, file);
        return;
    }
    writeTitle("", "rigid-body dynamics that reports its own accuracy", file);
    (void)fputs(".B rattleback\n.br\n.B rattleback\n.I VERB\n[words] [options]\n"
                ".SH DESCRIPTION\nWithout arguments the program lists its example scenes by theme. "
                "A scene is a JSON file, or the name of an example scene.\n.SH VERBS\n",
                file);
    for (int i = 0; i < table->count; ++i) {
        writeTerm(table->verbs[i]->name, table->verbs[i]->words, table->verbs[i]->help, file);
    }
    (void)fputs(".SH OPTIONS\n", file);
    writeTerm("--help", NULL, "lists the verbs; after a verb, its options and examples", file);
    writeTerm("--version", NULL, "prints the version", file);
    writeTerm("--completion", "SHELL", "prints completions for bash, zsh or fish", file);
    (void)fputs(".SH ENVIRONMENT\n", file);
    writeTerm("RATTLEBACK_SCENES", NULL,
              "the folder of example scenes, instead of the installed one", file);
    writeExitCodes(file);
    (void)fputs(".SH SEE ALSO\n", file);
    for (int i = 0; i < table->count; ++i) {
        (void)fprintf(file, ".BR rattleback\\-%s (1)%s\n", table->verbs[i]->name,
                      i + 1 < table->count ? "," : "");
    }
}

// ------------------------------------------------------------------------------------- completions

// Text for the inside of single quotes of a shell; characters in escaped get a backslash.
static void writeQuoted(const char* text, const char* escaped, FILE* file)
{
    for (const char* c = text; *c != '\0'; ++c) {
        if (*c == '\'') {
            (void)fputs("'\\''", file);
        } else {
            if (strchr(escaped, *c) != NULL) {
                (void)fputc('\\', file);
            }
            (void)fputc(*c, file);
        }
    }
}

static void writeBash(const rbVerbTable* table, FILE* file)
{
    (void)fputs("# Completions for rattleback in bash.\n"
                "_rattleback()\n{\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
                "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='",
                file);
    for (int i = 0; i < table->count; ++i) {
        (void)fprintf(file, "%s ", table->verbs[i]->name);
    }
    (void)fputs("--help --version'\n    elif [[ $word == -* ]]; then\n"
                "        case ${COMP_WORDS[1]} in\n",
                file);
    for (int i = 0; i < table->count; ++i) {
        (void)fprintf(file, "        %s) words='", table->verbs[i]->name);
        for (int k = 0; k < table->verbs[i]->optionCount; ++k) {
            (void)fprintf(file, "%s ", table->verbs[i]->options[k].name);
        }
        (void)fputs("--help' ;;\n", file);
    }
    (void)fputs("        esac\n    else\n"
                "        words=$(rattleback --completion scenes 2>/dev/null)\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                "        compopt -o filenames\n    fi\n"
                "    local matches\n"
                "    mapfile -t matches < <(compgen -W \"$words\" -- \"$word\")\n"
                "    COMPREPLY+=(\"${matches[@]}\")\n}\n"
                "complete -F _rattleback rattleback\n",
                file);
}

static void writeZsh(const rbVerbTable* table, FILE* file)
{
    (void)fputs("#compdef rattleback\n# Completions for rattleback in zsh.\n"
                "_rattleback_words() {\n"
                "    local -a scenes=(${(f)\"$(rattleback --completion scenes 2>/dev/null)\"})\n"
                "    _alternative \"scenes:scene:compadd -a scenes\" 'files:file:_files'\n}\n"
                "_rattleback() {\n    if (( CURRENT == 2 )); then\n        local -a verbs=(\n",
                file);
    for (int i = 0; i < table->count; ++i) {
        (void)fprintf(file, "            '%s:", table->verbs[i]->name);
        writeQuoted(table->verbs[i]->help, ":\\", file);
        (void)fputs("'\n", file);
    }
    (void)fputs("        )\n        _describe verb verbs\n        return\n    fi\n"
                "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n"
                "    case $verb in\n",
                file);
    for (int i = 0; i < table->count; ++i) {
        (void)fprintf(file, "    %s)\n        _arguments \\\n", table->verbs[i]->name);
        for (int k = 0; k < table->verbs[i]->optionCount; ++k) {
            const rbOption* option = &table->verbs[i]->options[k];
            (void)fprintf(file, "            '*%s[", option->name);
            writeQuoted(option->help, "[]\\:", file);
            (void)fputc(']', file);
            if (option->argument != NULL) {
                (void)fputc(':', file);
                writeQuoted(option->argument, ":\\", file);
                (void)fputs(":_files", file);
            }
            (void)fputs("' \\\n", file);
        }
        (void)fputs("            '--help[prints the help]' '*:word:_rattleback_words' ;;\n", file);
    }
    (void)fputs("    esac\n}\n_rattleback \"$@\"\n", file);
}

static void writeFish(const rbVerbTable* table, FILE* file)
{
    (void)fputs("# Completions for rattleback in fish.\n", file);
    for (int i = 0; i < table->count; ++i) {
        const rbVerb* verb = table->verbs[i];
        (void)fprintf(file, "complete -c rattleback -n __fish_use_subcommand -f -a %s -d '",
                      verb->name);
        writeQuoted(verb->help, "\\", file);
        (void)fputs("'\n", file);
        for (int k = 0; k < verb->optionCount; ++k) {
            const rbOption* option = &verb->options[k];
            (void)fprintf(file,
                          "complete -c rattleback -n '__fish_seen_subcommand_from %s' -l %s%s -d '",
                          verb->name, option->name + 2, option->argument != NULL ? " -r" : "");
            writeQuoted(option->help, "\\", file);
            (void)fputs("'\n", file);
        }
        (void)fprintf(file,
                      "complete -c rattleback -n '__fish_seen_subcommand_from %s' -a "
                      "'(rattleback --completion scenes 2>/dev/null)'\n",
                      verb->name);
    }
}

bool rbWriteCompletion(const rbVerbTable* table, const char* shell, FILE* file)
{
    if (strcmp(shell, "bash") == 0) {
        writeBash(table, file);
    } else if (strcmp(shell, "zsh") == 0) {
        writeZsh(table, file);
    } else if (strcmp(shell, "fish") == 0) {
        writeFish(table, file);
    } else {
        return false;
    }
    return true;
}
