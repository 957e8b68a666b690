// Files of all ranks: checkpoints that continue with the same bits on any number of ranks, and
// points; both with the same bytes whoever wrote them.
#include "cluster_worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rbTestHeap heap = {.edge = 4, .layers = 3, .friction = 0.5, .partition = "morton"};

// A name that no other run has; the same on all ranks of a node, which have the same parent.
static const char* nameFile(const char* kind)
{
    static char names[16][64];
    static int next = 0;
    char* name = names[next++ % 16];
    (void)snprintf(name, sizeof names[0], "/tmp/rb-cluster-%ld.%s", (long)getppid(), kind);
    return name;
}

typedef struct Bytes {
    unsigned char* data;
    size_t size;
} Bytes;

static Bytes readFile(const char* path)
{
    Bytes bytes = {0};
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    bytes.data = malloc((size_t)1 << 20);
    assert_non_null(bytes.data);
    bytes.size = fread(bytes.data, 1, (size_t)1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void writeFile(const char* path, const unsigned char* data, size_t size)
{
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    (void)fclose(file);
}

static void save(rbCluster* cluster, const char* path)
{
    rbError error = {0};
    if (rbCluster_Save(cluster, path, &error) != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
}

static rbStatus load(rbRanks* ranks, double friction, const char* path, rbCluster** cluster,
                     rbError* error)
{
    rbTestHeap empty = heap;
    empty.friction = friction;
    empty.isEmpty = true;
    *error = (rbError){0};
    *cluster = rbCreateTestHeap(ranks, &empty);
    return rbCluster_Load(*cluster, path, error);
}

// The state after 120 steps in a file, and the report after 200.
static rbClusterReport runInterrupted(rbRanks* ranks, const char* path, const char* points)
{
    rbError error = {0};
    rbCluster* cluster = rbCreateTestHeap(ranks, &heap);
    rbAdvanceCluster(cluster, 120);
    save(cluster, path);
    assert_int_equal(rbCluster_WritePoints(cluster, points, &error), RB_STATUS_OK);
    rbAdvanceCluster(cluster, 80);
    rbClusterReport report = rbCluster_GetReport(cluster);
    rbDestroyCluster(cluster);
    return report;
}

static void removeFile(const char* path)
{
    rbRanks_Meet(rbTestRanks());
    if (rbRanks_GetIndex(rbTestRanks()) == 0) {
        (void)remove(path);
    }
}

static void expectSameBytes(const char* pathA, const char* pathB)
{
    Bytes a = readFile(pathA);
    Bytes b = readFile(pathB);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    free(a.data);
    free(b.data);
}

// G-02b: written by all ranks, continued by 1, by half of them and by all; and the other way round.
static void checkpointsContinueOnOtherRanks(void** state)
{
    (void)state;
    rbRanks* all = rbTestRanks();
    const char* path = nameFile("all");
    const char* points = nameFile("vtp");
    rbClusterReport truth = runInterrupted(all, path, points);
    int counts[3] = {1, (rbRanks_GetCount(all) + 1) / 2, rbRanks_GetCount(all)};
    for (int i = 0; i < 3; ++i) {
        rbRanks* ranks = rbRanks_Take(all, counts[i]);
        if (ranks != NULL) {
            rbError error = {0};
            rbCluster* cluster = NULL;
            const char* otherPath = nameFile("some");
            const char* otherPoints = nameFile("some.vtp");
            if (load(ranks, heap.friction, path, &cluster, &error) != RB_STATUS_OK) {
                fail_msg("%s", error.message);
            }
            rbAdvanceCluster(cluster, 80);
            rbClusterReport report = rbCluster_GetReport(cluster);
            rbDestroyCluster(cluster);
            assert_int_equal(report.hash, truth.hash);
            assert_int_equal(report.steps, 200);
            assert_int_equal(report.contacts, truth.contacts);
            report = runInterrupted(ranks, otherPath, otherPoints);
            assert_int_equal(report.hash, truth.hash);
            if (rbRanks_GetIndex(ranks) == 0) {
                expectSameBytes(path, otherPath);
                expectSameBytes(points, otherPoints);
                (void)remove(otherPath);
                (void)remove(otherPoints);
            }
            rbCloseRanks(ranks);
        }
        rbRanks_Meet(all);
    }
    removeFile(path);
    removeFile(points);
}

// At most 100 bytes a sphere, and the place of one of them.
static void pointsAreWhereTheSpheresAre(void** state)
{
    (void)state;
    rbRanks* ranks = rbTestRanks();
    rbError error = {0};
    rbCluster* cluster = rbCreateTestHeap(ranks, &heap);
    rbAdvanceCluster(cluster, 50);
    const char* path = nameFile("place.vtp");
    assert_int_equal(rbCluster_WritePoints(cluster, path, &error), RB_STATUS_OK);
    int count = 0;
    rbClusterSphere* spheres = rbCluster_Gather(cluster, &count);
    if (count > 0) {
        Bytes bytes = readFile(path);
        const unsigned char* begin = bytes.data;
        while (memcmp(begin, "\"raw\">\n_", 8) != 0) {
            ++begin;
            assert_true(begin < bytes.data + bytes.size - 8);
        }
        begin += 8;
        for (int i = 0; i < count; ++i) {
            rbVec3 place;
            float radius = 0.0f;
            memcpy(&place, begin + 8 + (size_t)i * 24, sizeof place);
            memcpy(&radius, begin + 16 + (size_t)count * 24 + (size_t)i * 4, sizeof radius);
            assert_memory_equal(&place, &spheres[i].position, sizeof place);
            checkNear((double)radius, spheres[i].radius, 1e-7);
        }
        size_t data = (size_t)(bytes.data + bytes.size - begin);
        assert_int_equal(data, 92 * (size_t)count + 64 + strlen("\n</AppendedData>\n</VTKFile>\n"));
        free(bytes.data);
    }
    rbFreeSpheres(spheres, count);
    rbDestroyCluster(cluster);
    removeFile(path);
}

// The frame after 50 steps; false: built without HDF5, which is said.
static bool writeHdf5(rbRanks* ranks, const char* path)
{
    rbError error = {0};
    rbCluster* cluster = rbCreateTestHeap(ranks, &heap);
    rbAdvanceCluster(cluster, 50);
    rbStatus status = rbCluster_WriteHdf5(cluster, path, &error);
    rbDestroyCluster(cluster);
    if (status == RB_STATUS_UNSUPPORTED) {
        assert_non_null(strstr(error.message, "RB_HDF5=ON"));
    } else if (status != RB_STATUS_OK) {
        fail_msg("%s", error.message);
    }
    return status == RB_STATUS_OK;
}

// G-02d: no ranks and no clock is in the bytes. What is in them, tools/check_hdf5.py reads.
static void hdf5FramesHaveTheSameBytes(void** state)
{
    (void)state;
    rbError error = {0};
    rbRanks* all = rbTestRanks();
    const char* path = nameFile("h5");
    if (!writeHdf5(all, path)) {
        return;
    }
    rbRanks* one = rbRanks_Take(all, 1);
    if (one != NULL) {
        const char* other = nameFile("other.h5");
        const char* list = nameFile("xdmf");
        const char* const frames[2] = {path, other};
        (void)sleep(1); // time stamps of HDF5 count seconds
        assert_true(writeHdf5(one, other));
        expectSameBytes(path, other);
        assert_int_equal(rbWriteXdmf(list, frames, 2, &error), RB_STATUS_OK);
        const char* const bad[1] = {list};
        assert_int_equal(rbWriteXdmf(other, bad, 1, &error), RB_STATUS_IO);
        assert_non_null(strstr(error.message, "not a frame"));
        assert_int_equal(rbWriteXdmf("/nowhere/at.all", frames, 2, &error), RB_STATUS_IO);
        (void)remove(other);
        (void)remove(list);
        rbCloseRanks(one);
    }
    removeFile(path);
    rbCluster* cluster = rbCreateTestHeap(all, &heap);
    assert_int_equal(rbCluster_WriteHdf5(cluster, "/nowhere/at.all", &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "cannot create it"));
    rbDestroyCluster(cluster);
}

static void expectRefused(double friction, const char* path, const char* needle)
{
    rbError error = {0};
    rbCluster* cluster = NULL;
    rbRanks_Meet(rbTestRanks());
    assert_int_not_equal(load(rbTestRanks(), friction, path, &cluster, &error), RB_STATUS_OK);
    if (strstr(error.message, needle) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", error.message, needle);
    }
    rbDestroyCluster(cluster);
    rbRanks_Meet(rbTestRanks());
}

// Every place of a file that is cut or has a bit flipped is noticed, and so are other files.
static void damagedCheckpointsAreRefused(void** state)
{
    (void)state;
    bool isFirst = rbRanks_GetIndex(rbTestRanks()) == 0;
    const char* path = nameFile("good");
    const char* bad = nameFile("bad");
    rbCluster* cluster = rbCreateTestHeap(rbTestRanks(), &heap);
    rbAdvanceCluster(cluster, 60);
    save(cluster, path);
    rbDestroyCluster(cluster);
    Bytes bytes = readFile(path);
    const size_t cuts[4] = {0, 100, bytes.size - 1000, bytes.size - 1};
    for (int i = 0; i < 4; ++i) {
        if (isFirst) {
            writeFile(bad, bytes.data, cuts[i]);
        }
        expectRefused(heap.friction, bad, i < 2 ? "not a checkpoint" : "damaged");
    }
    const size_t places[5] = {0, 60, 700, bytes.size - 3000, bytes.size - 3};
    for (int i = 0; i < 5; ++i) {
        bytes.data[places[i]] ^= 16;
        if (isFirst) {
            writeFile(bad, bytes.data, bytes.size);
        }
        bytes.data[places[i]] ^= 16;
        expectRefused(heap.friction, bad, i == 0 ? "not a checkpoint" : "damaged");
    }
    expectRefused(0.4, path, "another scene");
    expectRefused(0.5, "/nowhere/at.all", "cannot open it");
    free(bytes.data);
    removeFile(path);
    removeFile(bad);
}

// A file that cannot be written is reported, and leaves nothing behind.
static void unwritableFilesAreReported(void** state)
{
    (void)state;
    rbError error = {0};
    rbCluster* cluster = rbCreateTestHeap(rbTestRanks(), &heap);
    rbAdvanceCluster(cluster, 2);
    assert_int_equal(rbCluster_Save(cluster, "/nowhere/at.all", &error), RB_STATUS_IO);
    assert_non_null(strstr(error.message, "cannot create it"));
    rbDestroyCluster(cluster);
}

RB_TEST_GROUP(test_files, cmocka_unit_test(checkpointsContinueOnOtherRanks),
              cmocka_unit_test(pointsAreWhereTheSpheresAre),
              cmocka_unit_test(hdf5FramesHaveTheSameBytes),
              cmocka_unit_test(damagedCheckpointsAreRefused),
              cmocka_unit_test(unwritableFilesAreReported));
