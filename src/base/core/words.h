// The words of an enumeration.
#pragma once

#include <stddef.h>

// The words of an enumeration, in the order of its values. Values that a table takes at start-up
// have words too, so the list may grow until the first world is made.
typedef struct rbWords {
    const char* what;                 // "law of impact", for messages
    const char* (*nameOf)(int index); // NULL after the last
} rbWords;

int rbWords_GetCount(const rbWords* words);
// "unknown" for a value without a word.
const char* rbWords_Name(const rbWords* words, int index);
// The value of a word; the count if there is none.
int rbWords_Find(const rbWords* words, const char* name);

#define RB_DECLARE_WORDS(type) extern const rbWords type##Words

// type##Words, type##_Name and type##_Find of an enumeration of so many words; theName is the word
// of the value "index".
#define RB_DEFINE_WORDS(type, theWhat, theCount, theName)  \
    static const char* type##WordOf(int index)             \
    {                                                      \
        return index < (int)(theCount) ? (theName) : NULL; \
    }                                                      \
    const rbWords type##Words = {theWhat, type##WordOf};   \
    const char* type##_Name(type value)                    \
    {                                                      \
        return rbWords_Name(&type##Words, (int)value);     \
    }                                                      \
    type type##_Find(const char* name)                     \
    {                                                      \
        return (type)rbWords_Find(&type##Words, name);     \
    }

// type##_Name alone, of an enumeration that is written and never read.
#define RB_DEFINE_NAME(type, theCount, theName)                               \
    const char* type##_Name(type value)                                       \
    {                                                                         \
        int index = (int)value;                                               \
        return index >= 0 && index < (int)(theCount) ? (theName) : "unknown"; \
    }
