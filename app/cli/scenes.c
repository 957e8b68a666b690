#define _XOPEN_SOURCE 700

// Example scenes: the folder, the listing by theme, and opening one by name.
#include "cli/scenes.h"

#include "base/core/memory.h"
#include "cli/cli.h"
#include "cli/program_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool isFolder(const char* path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool findFolder(char* folder, size_t capacity, rbError* error)
{
    const char* given = getenv("RATTLEBACK_SCENES");
    if (given != NULL && given[0] != '\0') {
        (void)snprintf(folder, capacity, "%s", given);
        if (!isFolder(folder)) {
            (void)rbError_Set(error, RB_STATUS_NOT_FOUND,
                              "RATTLEBACK_SCENES names the folder %s, which does not exist", given);
            return false;
        }
        return true;
    }
    if (rbFindProgramFolder("scenes", folder, capacity)) {
        return true;
    }
    (void)rbError_Set(error, RB_STATUS_NOT_FOUND,
                      "there is no folder of example scenes; set RATTLEBACK_SCENES to one");
    return false;
}

static int compareNames(const void* a, const void* b)
{
    return strcmp((const char*)a, (const char*)b);
}

rbStatus rbSceneList_Read(rbSceneList* list, rbError* error)
{
    list->count = 0;
    if (!findFolder(list->folder, sizeof list->folder, error)) {
        return RB_STATUS_NOT_FOUND;
    }
    DIR* directory = opendir(list->folder);
    if (directory == NULL) {
        return rbError_Set(error, RB_STATUS_IO, "the folder %s cannot be read", list->folder);
    }
    const struct dirent* entry = NULL;
    while ((entry = readdir(directory)) != NULL && list->count < RB_CLI_SCENES_MAX) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && length - 5 < sizeof list->names[0] && entry->d_name[0] != '.' &&
            strcmp(entry->d_name + length - 5, ".json") == 0) {
            memcpy(list->names[list->count], entry->d_name, length - 5);
            list->names[list->count++][length - 5] = '\0';
        }
    }
    (void)closedir(directory);
    qsort(list->names, (size_t)list->count, sizeof list->names[0], compareNames);
    return RB_STATUS_OK;
}

static bool endsWith(const char* text, const char* end)
{
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

// The path of the example scene of that name, or an error that suggests another.
static rbStatus findScene(const char* name, char* path, size_t capacity, rbError* error)
{
    rbSceneList* list = rbAlloc(sizeof *list);
    rbStatus status = rbSceneList_Read(list, error);
    if (status == RB_STATUS_OK) {
        const char* names[RB_CLI_SCENES_MAX];
        bool isFound = false;
        for (int i = 0; i < list->count; ++i) {
            names[i] = list->names[i];
            isFound = isFound || strcmp(names[i], name) == 0;
        }
        const char* nearest = rbFindNearestWord(name, names, list->count);
        if (isFound) {
            (void)snprintf(path, capacity, "%s/%s.json", list->folder, name);
        } else if (nearest != NULL) {
            status = rbError_Set(error, RB_STATUS_NOT_FOUND,
                                 "%.200s is neither a file nor an example scene; did you mean %s?",
                                 name, nearest);
        } else {
            status = rbError_Set(error, RB_STATUS_NOT_FOUND,
                                 "%.200s is neither a file nor an example scene; 'rattleback' "
                                 "without arguments lists the scenes",
                                 name);
        }
    }
    rbFree(list, sizeof *list);
    return status;
}

// A file, not the name of an example scene.
static bool isFile(const char* argument)
{
    struct stat status;
    return strchr(argument, '/') != NULL || endsWith(argument, ".json") ||
           (stat(argument, &status) == 0 && S_ISREG(status.st_mode));
}

bool rbFindScenePath(const char* argument, char* path, size_t capacity)
{
    rbError error = {0};
    if (isFile(argument)) {
        (void)snprintf(path, capacity, "%s", argument);
        return true;
    }
    return findScene(argument, path, capacity, &error) == RB_STATUS_OK;
}

rbScene* rbOpenScene(const char* argument, rbError* error)
{
    if (isFile(argument)) {
        return rbReadScene(argument, error);
    }
    return rbOpenExampleScene(argument, error);
}

rbScene* rbOpenSceneWithSettings(const struct rbArguments* arguments, rbError* error)
{
    rbScene* scene = rbOpenScene(arguments->words[0], error);
    // Each assignment is validated with the scene as it is then. Values that are only valid
    // together may come in any order: a refused assignment is tried again after the others.
    bool isDone[RB_CLI_VALUES_MAX] = {false};
    bool hasProgress = scene != NULL;
    rbError firstError = {0};
    while (hasProgress) {
        hasProgress = false;
        firstError = (rbError){0};
        for (int i = 0; i < arguments->valueCount; ++i) {
            rbError refusal = {0};
            if (isDone[i] || strcmp(arguments->values[i].option->name, "--set") != 0) {
                continue;
            }
            isDone[i] =
                rbScene_Override(scene, arguments->values[i].value, &refusal) == RB_STATUS_OK;
            hasProgress = hasProgress || isDone[i];
            if (!isDone[i] && firstError.status == RB_STATUS_OK) {
                firstError = refusal;
            }
        }
    }
    if (scene != NULL && firstError.status != RB_STATUS_OK) {
        *error = firstError;
        rbDestroyScene(scene);
        scene = NULL;
    }
    return scene;
}

// ----------------------------------------------------------------------------------- the listing

typedef struct rbListedScene {
    char name[64];
    char theme[64];
    char title[160];
    char shows[1024];
    char engine[16];
    double duration; // s
    int bodyCount;
    char trouble[1200]; // why it cannot be read, or empty
    int rank;           // of its theme
} rbListedScene;

// Known themes in a suitable order for newcomers; others follow by name.
static const char* const themes[] = {"free flight", "forces",   "paths", "shapes", "impacts",
                                     "mechanisms",  "contacts", "rays",  "toys",   "gases"};
#define THEME_COUNT ((int)(sizeof themes / sizeof themes[0]))

static int compareScenes(const void* a, const void* b)
{
    const rbListedScene* sceneA = a;
    const rbListedScene* sceneB = b;
    if (sceneA->rank != sceneB->rank) {
        return sceneA->rank < sceneB->rank ? -1 : 1;
    }
    int order = strcmp(sceneA->theme, sceneB->theme);
    return order != 0 ? order : strcmp(sceneA->name, sceneB->name);
}

static void describeScene(const rbSceneList* list, int index, rbListedScene* listed)
{
    char path[RB_CLI_PATH_MAX + 80];
    (void)snprintf(path, sizeof path, "%s/%s.json", list->folder, list->names[index]);
    (void)snprintf(listed->name, sizeof listed->name, "%s", list->names[index]);
    rbError error = {0};
    rbScene* scene = rbReadScene(path, &error);
    if (scene == NULL) {
        rbError_Format(&error, listed->trouble, sizeof listed->trouble);
        (void)snprintf(listed->theme, sizeof listed->theme, "unreadable");
    } else {
        const rbSceneInfo* info = rbScene_GetInfo(scene);
        (void)snprintf(listed->theme, sizeof listed->theme, "%s",
                       info->theme[0] != '\0' ? info->theme : "other");
        (void)snprintf(listed->title, sizeof listed->title, "%s", info->title);
        (void)snprintf(listed->shows, sizeof listed->shows, "%s", info->shows);
        (void)snprintf(listed->engine, sizeof listed->engine, "%s", info->engine);
        listed->duration = info->duration;
        listed->bodyCount = info->bodyCount;
    }
    rbDestroyScene(scene);
    listed->rank = THEME_COUNT;
    for (int i = 0; i < THEME_COUNT; ++i) {
        listed->rank = strcmp(themes[i], listed->theme) == 0 ? i : listed->rank;
    }
}

static void printListing(const rbListedScene* scenes, int count)
{
    (void)printf("Rattleback %s: rigid-body dynamics that reports its own accuracy.\n",
                 rbGetVersion());
    for (int i = 0; i < count; ++i) {
        if (i == 0 || strcmp(scenes[i].theme, scenes[i - 1].theme) != 0) {
            (void)printf("\n%s\n", scenes[i].theme);
        }
        char command[96];
        (void)snprintf(command, sizeof command, "rattleback run %s", scenes[i].name);
        (void)printf("  %-36s %s\n", command,
                     rbShow(scenes[i].trouble[0] != '\0' ? scenes[i].trouble : scenes[i].title));
    }
    (void)printf(
        "\nAdd --plot out.svg, --csv out.csv, --journal out.csv, --record out.rbr or --vtk "
        "DIR for output; 'rattleback --help' lists all verbs.\n");
}

// All scenes by theme; free with rbFree, size *count + 1. NULL and an error when there is no folder
// of scenes.
static rbListedScene* readListing(int* count, rbError* error)
{
    rbSceneList* list = rbAlloc(sizeof *list);
    rbListedScene* scenes = NULL;
    if (rbSceneList_Read(list, error) == RB_STATUS_OK) {
        *count = list->count;
        scenes = rbAllocZero((size_t)list->count + 1, sizeof *scenes);
        for (int i = 0; i < list->count; ++i) {
            describeScene(list, i, &scenes[i]);
        }
        qsort(scenes, (size_t)list->count, sizeof *scenes, compareScenes);
    }
    rbFree(list, sizeof *list);
    return scenes;
}

rbExit rbListScenes(void)
{
    rbError error = {0};
    int count = 0;
    rbListedScene* scenes = readListing(&count, &error);
    if (scenes == NULL) {
        return rbFailWith(&error);
    }
    printListing(scenes, count);
    rbFree(scenes, ((size_t)count + 1) * sizeof *scenes);
    return RB_EXIT_DONE;
}

bool rbWriteSceneList(FILE* file)
{
    int count = 0;
    rbListedScene* scenes = readListing(&count, NULL);
    if (scenes == NULL) {
        return false;
    }
    rbJson json = {.file = file};
    rbJson_BeginObject(&json, NULL);
    rbJson_BeginArray(&json, "scenes");
    for (int i = 0; i < count; ++i) {
        const rbListedScene* scene = &scenes[i];
        if (scene->trouble[0] == '\0') {
            rbJson_BeginObject(&json, NULL);
            rbJson_Text(&json, "name", scene->name);
            rbJson_Text(&json, "title", scene->title);
            rbJson_Text(&json, "theme", scene->theme);
            rbJson_Text(&json, "shows", scene->shows);
            rbJson_Text(&json, "engine", scene->engine);
            rbJson_Number(&json, "duration", scene->duration);
            rbJson_Integer(&json, "bodies", scene->bodyCount);
            rbJson_End(&json);
        }
    }
    rbJson_End(&json);
    rbJson_End(&json);
    rbFree(scenes, ((size_t)count + 1) * sizeof *scenes);
    return true;
}

bool rbFindExamplePath(const char* name, char* path, size_t capacity)
{
    rbError error = {0};
    return findScene(name, path, capacity, &error) == RB_STATUS_OK;
}

rbScene* rbOpenExampleScene(const char* name, rbError* error)
{
    char path[RB_CLI_PATH_MAX + 80];
    return findScene(name, path, sizeof path, error) == RB_STATUS_OK ? rbReadScene(path, error)
                                                                     : NULL;
}

rbExit rbPrintSceneNames(void)
{
    rbError error = {0};
    rbSceneList* list = rbAlloc(sizeof *list);
    rbStatus status = rbSceneList_Read(list, &error);
    for (int i = 0; i < list->count; ++i) {
        (void)printf("%s\n", list->names[i]);
    }
    rbFree(list, sizeof *list);
    return status == RB_STATUS_OK ? RB_EXIT_DONE : rbFailWith(&error);
}
