#include "base/core/words.h"

#include <rattleback/base.h>

#include <string.h>

int rbWords_GetCount(const rbWords* words)
{
    int count = 0;
    while (words->nameOf(count) != NULL) {
        count += 1;
    }
    return count;
}

const char* rbWords_Name(const rbWords* words, int index)
{
    const char* name = index >= 0 ? words->nameOf(index) : NULL;
    return name != NULL ? name : "unknown";
}

int rbWords_Find(const rbWords* words, const char* name)
{
    RB_ASSERT(name != NULL);
    int index = 0;
    while (words->nameOf(index) != NULL && strcmp(words->nameOf(index), name) != 0) {
        index += 1;
    }
    return index;
}
