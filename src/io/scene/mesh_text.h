// Words, numbers and lines of the text formats of meshes. The text need not be terminated.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rbTextCursor {
    const char* at;
    const char* end;
    int line; // of at, counted from 1
} rbTextCursor;

typedef struct rbToken {
    const char* text;
    size_t length;
} rbToken;

rbTextCursor rbMakeTextCursor(const void* bytes, size_t size);

// The next word of the current line; false at its end, where the cursor stays. A backslash at the
// end of a line joins it to the next.
bool rbText_NextWord(rbTextCursor* cursor, rbToken* token);
// The next word on any line; false at the end of the text.
bool rbText_NextToken(rbTextCursor* cursor, rbToken* token);
// Moves past the end of the current line.
void rbText_SkipLine(rbTextCursor* cursor);

bool rbToken_Equals(rbToken token, const char* text);
// The whole token as a number, with a decimal point in any locale. False if not a finite number.
bool rbToken_ToNumber(rbToken token, double* value);
// The whole token as an integer of at most 18 digits.
bool rbToken_ToInteger(rbToken token, int64_t* value);
