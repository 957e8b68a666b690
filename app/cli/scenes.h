// Finds the example scenes, and opens scenes by path or by name.
#pragma once

#include <rattleback/scene.h>

#include <stdio.h>

#define RB_CLI_PATH_MAX 4096
#define RB_CLI_SCENES_MAX 1024

// The stems of the files in the folder of example scenes, sorted.
typedef struct rbSceneList {
    char folder[RB_CLI_PATH_MAX];
    char names[RB_CLI_SCENES_MAX][64];
    int count;
} rbSceneList;

// Uses $RATTLEBACK_SCENES if set, otherwise a folder next to the program:
// ../share/rattleback/scenes of an installed program, share/rattleback/scenes of one in a build
// folder. NOT_FOUND when there is no such folder.
rbStatus rbSceneList_Read(rbSceneList* list, rbError* error);

// The path of a scene, given as a file or by the name of an example; false: there is none.
bool rbFindScenePath(const char* argument, char* path, size_t capacity);

// The path of an example scene by its name alone; false: there is none.
bool rbFindExamplePath(const char* name, char* path, size_t capacity);

// Reads a scene given as a path or as the name of an example scene.
rbScene* rbOpenScene(const char* argument, rbError* error);

// Reads an example scene by its name alone, never a path.
rbScene* rbOpenExampleScene(const char* name, rbError* error);

// All readable example scenes, by theme, as JSON: {"scenes": [{name, title, theme, shows, engine,
// duration, bodies}]}. Returns false when there is no such folder.
bool rbWriteSceneList(FILE* file);

// Reads a scene and applies the --set options.
struct rbArguments;
rbScene* rbOpenSceneWithSettings(const struct rbArguments* arguments, rbError* error);
