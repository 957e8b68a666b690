// JSON text to a tree, with a bound on its depth and readable messages.
#include "io/scene/reader.h"

#include <string.h>

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

// Explains messages of jansson that are common in scenes.
static const char* explainSyntax(const json_error_t* jsonError)
{
    const char* text = jsonError->text;
    if (strstr(text, "real number overflow") != NULL || strstr(text, "too big") != NULL) {
        return "; the number is beyond the range of doubles, about 1.8e308";
    }
    if (strstr(text, "NaN") != NULL || strstr(text, "nan") != NULL || strstr(text, "Inf") != NULL ||
        strstr(text, "inf") != NULL) {
        return "; JSON has no NaN or Infinity: every number must be finite";
    }
    if (strstr(text, "end of file") != NULL) {
        return "; the text ends too early";
    }
    return "";
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
    json_t* root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &jsonError);
    if (root == NULL) {
        error->line = jsonError.line > 0 ? jsonError.line : 1;
        error->column = jsonError.column > 0 ? jsonError.column : 1;
        (void)rbError_Set(error, RB_STATUS_SYNTAX, "%s%s", jsonError.text,
                          explainSyntax(&jsonError));
    }
    return root;
}
