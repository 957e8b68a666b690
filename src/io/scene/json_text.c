// JSON text to a tree, with a bound on its depth and readable messages.
#include "io/scene/reader.h"

#include <string.h>

#define NOT_FINITE "JSON has no NaN or Infinity: every number must be finite"

// The first place where the text nests deeper than the limit; the parser recurses, so it must not
// see such text. Also finds text that is only whitespace.
typedef struct Survey {
    bool isEmpty;
    bool isTooDeep;
    int line, column; // where the nesting is too deep
} Survey;

static Survey surveyText(const char* text, size_t size, int depthMax)
{
    Survey survey = {.isEmpty = true, .line = 1, .column = 0};
    int depth = 0;
    bool isString = false;
    for (size_t i = 0; i < size; ++i) {
        char c = text[i];
        survey.column += 1;
        if (c == '\n') {
            survey.line += 1;
            survey.column = 0;
        }
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            survey.isEmpty = false;
        }
        if (isString) {
            i += c == '\\';
            isString = c != '"';
        } else if (c == '"') {
            isString = true;
        } else if (c == '{' || c == '[') {
            depth += 1;
            if (depth > depthMax) {
                survey.isTooDeep = true;
                return survey;
            }
        } else if (c == '}' || c == ']') {
            depth -= 1;
        }
    }
    return survey;
}

// Messages of jansson that are common in scenes, and what they mean or what to do.
static const struct {
    const char* words;
    const char* advice;
} explanations[] = {
    {"near '/'", "JSON has no comments: delete them"},
    {"near '#'", "JSON has no comments: delete them"},
    {"overflow", "the number is beyond the range of doubles, about 1.8e308"},
    {"NaN", NOT_FINITE},
    {"nan", NOT_FINITE},
    {"Inf", NOT_FINITE},
    {"inf", NOT_FINITE},
    {"end of file expected", "delete what follows the end of the first value"},
    {"end of file", "the text ends too early"},
    {"unable to decode", "the text must be UTF-8"},
    {"unexpected token near ']'", "delete the comma before it"},
    {"string or '}' expected near '}'", "delete the comma before it"},
    {"string or '}' expected", "a key is a text in double quotes"},
};

// What follows "; " in a message; "" for nothing.
static const char* explainSyntax(const char* text, const rbJsonLimits* limits)
{
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; ++i) {
        if (strstr(text, explanations[i].words) != NULL) {
            return explanations[i].advice;
        }
    }
    return strstr(text, "'[' or '{' expected") != NULL ? limits->expected : "";
}

// Integers of more than 64 bits are doubles like all numbers.
static json_t* load(const char* text, size_t size, json_error_t* jsonError)
{
    json_t* root = json_loadb(text, size, JSON_REJECT_DUPLICATES, jsonError);
    bool isLarge = root == NULL && json_error_code(jsonError) == json_error_numeric_overflow;
    return isLarge
               ? json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, jsonError)
               : root;
}

json_t* rbParseJson(const char* text, size_t size, const rbJsonLimits* limits, rbError* error)
{
    RB_ASSERT(limits->depthMax > 0);
    RB_ASSERT(error != NULL);
    error->line = 0;
    error->column = 0;
    // UTF-8 needs no byte order mark.
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    Survey survey = surveyText(text, size, limits->depthMax);
    if (survey.isEmpty) {
        (void)rbError_Set(error, RB_STATUS_SYNTAX, "is empty; %s", limits->expected);
        return NULL;
    }
    if (survey.isTooDeep) {
        error->line = survey.line;
        error->column = survey.column;
        (void)rbError_Set(error, RB_STATUS_LIMIT, "values are nested deeper than %d",
                          limits->depthMax);
        return NULL;
    }
    json_error_t jsonError;
    json_t* root = load(text, size, &jsonError);
    if (root == NULL) {
        bool isNul = json_error_code(&jsonError) == json_error_null_character;
        const char* problem = isNul ? "\\u0000 is not accepted; delete it" : jsonError.text;
        const char* advice = explainSyntax(problem, limits);
        error->line = jsonError.line > 0 ? jsonError.line : 1;
        error->column = jsonError.column > 0 ? jsonError.column : 1;
        (void)rbError_Set(error, RB_STATUS_SYNTAX, "%s%s%s", problem, advice[0] != '\0' ? "; " : "",
                          advice);
    }
    return root;
}
