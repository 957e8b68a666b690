#define _XOPEN_SOURCE 700

#include "cli/program_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096

// Takes a path if it is that of a folder.
static bool takeFolder(const char* path, char* folder, size_t capacity)
{
    struct stat status;
    char* plain = realpath(path, NULL);
    bool isFolder = plain != NULL && strlen(plain) < capacity && stat(plain, &status) == 0 &&
                    S_ISDIR(status.st_mode);
    if (isFolder) {
        (void)snprintf(folder, capacity, "%s", plain);
    }
    free(plain);
    return isFolder;
}

bool rbFindProgramFolder(const char* name, char* folder, size_t capacity)
{
    static const char* const places[] = {"../share/rattleback", "share/rattleback"};
    char program[PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(program, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    bool isFound = false;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !isFound; ++i) {
        char path[PATH_SIZE + 64];
        (void)snprintf(path, sizeof path, "%s/%s/%s", program, places[i], name);
        isFound = takeFolder(path, folder, capacity);
    }
    return isFound;
}
