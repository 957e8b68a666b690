// Words, numbers and lines of the text formats of meshes.
#include "io/scene/mesh_text.h"

#include <rattleback/base.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

rbTextCursor rbMakeTextCursor(const void* bytes, size_t size)
{
    RB_ASSERT(bytes != NULL || size == 0);
    const char* text = bytes;
    return (rbTextCursor){text, text + size, 1};
}

static bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

// Length of a backslash followed by the end of a line, else 0.
static size_t getContinuation(const rbTextCursor* cursor)
{
    size_t left = (size_t)(cursor->end - cursor->at);
    if (left >= 2 && cursor->at[0] == '\\' && cursor->at[1] == '\n') {
        return 2;
    }
    return left >= 3 && memcmp(cursor->at, "\\\r\n", 3) == 0 ? 3 : 0;
}

bool rbText_NextWord(rbTextCursor* cursor, rbToken* token)
{
    for (;;) {
        while (cursor->at < cursor->end && isBlank(*cursor->at)) {
            cursor->at += 1;
        }
        size_t continuation = getContinuation(cursor);
        if (continuation == 0) {
            break;
        }
        cursor->at += continuation;
        cursor->line += 1;
    }
    token->text = cursor->at;
    while (cursor->at < cursor->end && !isBlank(*cursor->at) && *cursor->at != '\n' &&
           getContinuation(cursor) == 0) {
        cursor->at += 1;
    }
    token->length = (size_t)(cursor->at - token->text);
    return token->length > 0;
}

bool rbText_NextToken(rbTextCursor* cursor, rbToken* token)
{
    while (!rbText_NextWord(cursor, token)) {
        if (cursor->at == cursor->end) {
            return false;
        }
        rbText_SkipLine(cursor);
    }
    return true;
}

void rbText_SkipLine(rbTextCursor* cursor)
{
    RB_ASSERT(cursor->at <= cursor->end);
    const char* newline = memchr(cursor->at, '\n', (size_t)(cursor->end - cursor->at));
    cursor->at = newline != NULL ? newline + 1 : cursor->end;
    cursor->line += newline != NULL;
}

bool rbToken_Equals(rbToken token, const char* text)
{
    return token.length == strlen(text) && memcmp(token.text, text, token.length) == 0;
}

bool rbToken_ToNumber(rbToken token, double* value)
{
    // Every double fits: 17 digits are enough.
    char text[128];
    if (token.length == 0 || token.length >= sizeof text) {
        return false;
    }
    for (size_t i = 0; i < token.length; ++i) {
        char c = token.text[i];
        bool isDigit = c >= '0' && c <= '9';
        if (!isDigit && c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E') {
            return false; // rejects nan, inf and hexadecimal numbers too
        }
        text[i] = (char)(c == '.' ? localeconv()->decimal_point[0] : c);
    }
    text[token.length] = '\0';
    char* end = NULL;
    *value = strtod(text, &end);
    return end == text + token.length && isfinite(*value);
}

bool rbToken_ToInteger(rbToken token, int64_t* value)
{
    size_t i = token.length > 0 && (token.text[0] == '-' || token.text[0] == '+');
    if (token.length == i || token.length - i > 18) {
        return false;
    }
    int64_t number = 0;
    for (size_t k = i; k < token.length; ++k) {
        if (token.text[k] < '0' || token.text[k] > '9') {
            return false;
        }
        number = 10 * number + (token.text[k] - '0');
    }
    *value = token.text[0] == '-' ? -number : number;
    return true;
}
