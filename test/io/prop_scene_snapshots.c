// Scenes of the repository go on from a snapshot in a new world, as a run that is continued from a
// checkpoint does: with the same bits.
#include "base/core/random.h"
#include "laboratory/scene_rows.h"
#include "scene_support.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#define SCENES_MAX 256

static int compareNames(const void* a, const void* b)
{
    return strcmp(a, b);
}

static int listScenes(char names[SCENES_MAX][64])
{
    int count = 0;
    DIR* directory = opendir(RB_SOURCE_DIR "/scenes");
    assert_non_null(directory);
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        const char* dot = strstr(entry->d_name, ".json");
        if (dot != NULL && count < SCENES_MAX) {
            (void)snprintf(names[count++], 64, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        }
    }
    (void)closedir(directory);
    qsort(names, (size_t)count, sizeof names[0], compareNames);
    return count;
}

// At some times up to an end: a new world continues like the one that went on.
static void continueScene(const char* name, double end, int count, rbRandom* random)
{
    rbScene* scene = readNamed(name);
    double duration = fmin(end, rbScene_GetInfo(scene)->duration);
    rbWorld* world = makeWorld(scene);
    rbError error = {0};
    assert_int_equal(rbScene_PrepareWorld(scene, world, &error), RB_STATUS_OK);
    for (int i = 0; i < count; ++i) {
        double time = duration * (i + rbRandom_Unit(random)) / count;
        double later = time + 0.5 * (duration - time) / count;
        (void)rbWorld_AdvanceTo(world, time);
        rbWorld_ClearEvents(world);
        size_t size = rbWorld_GetSnapshotSize(world);
        void* bytes = calloc(1, size);
        assert_int_equal(rbWorld_TakeSnapshot(world, bytes, size, &error), RB_STATUS_OK);
        rbWorld* other = makeWorld(scene);
        assert_int_equal(rbScene_PrepareWorld(scene, other, &error), RB_STATUS_OK);
        assert_int_equal(rbWorld_RestoreSnapshot(other, bytes, size, &error), RB_STATUS_OK);
        assert_true(rbWorld_GetHash(world) == rbWorld_GetHash(other));
        (void)rbWorld_AdvanceTo(world, later);
        (void)rbWorld_AdvanceTo(other, later);
        if (rbWorld_GetHash(world) != rbWorld_GetHash(other)) {
            fail_msg("%s, restored at t = %.17g s, differs at %.17g s", name, time, later);
        }
        free(bytes);
        rbDestroyWorld(other);
    }
    rbDestroyWorld(world);
    rbDestroyScene(scene);
}

static void newWorldsGoOnFromSnapshots(void** state)
{
    (void)state;
    static char names[SCENES_MAX][64];
    rbRandom random = {rbTest_Seed(0x5ce7e)};
    int count = listScenes(names);
    int wanted = rbTest_Count(15, 10 * count);
    for (int i = 0; i < wanted; ++i) {
        continueScene(names[rbRandom_Index(&random, count)], 0.2, 3, &random);
    }
}

// The stops of joints are as the step before found them.
static void stopsOfJointsGoOn(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(0x5ce7f)};
    continueScene("door-with-stop", 2.0, 20, &random);
}

static int setUp(void** state)
{
    *state = NULL;
    return rbRegisterSceneLaboratory(NULL) == RB_STATUS_OK ? 0 : 1;
}

RB_TEST_GROUP(prop_scene_snapshots, cmocka_unit_test_setup(newWorldsGoOnFromSnapshots, setUp),
              cmocka_unit_test_setup(stopsOfJointsGoOn, setUp));
