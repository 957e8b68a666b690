// Bad input of every kind ends with exit code 2, one clear message, and no file under the final
// name.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPHERE "\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}}]"
#define SCENE(body) "{\"rattleback\": 1, \"bodies\": [{\"name\": \"ball\", " body "}]}"

// Scenes that cannot be simulated, and the text that the message must contain.
static const struct {
    const char* text;
    const char* needle;
} scenes[] = {
    {SCENE("\"mass\": NaN, " SPHERE), "NaN"},
    {SCENE("\"mass\": 1e999, " SPHERE), "1e999"},
    {SCENE("\"velocity\": [0, -1e999, 0], " SPHERE), "1e999"},
    {SCENE("\"mass\": 0, " SPHERE), "/bodies/0/mass: body \"ball\": mass is 0"},
    {SCENE("\"mass\": -3, " SPHERE), "mass is -3"},
    {SCENE("\"mass\": 1, \"inertia\": [1, 1, 2.5]"), "inertia"},
    {SCENE("\"mass\": 1, \"inertia\": [1, 0, 1]"), "inertia"},
    {SCENE("\"shapes\": [{\"geometry\": {\"type\": \"spere\", \"radius\": 1}}]"), "\"sphere\""},
    {SCENE("\"shapes\": [{\"geometry\": {\"type\": \"mesh\", \"file\": \"missing.obj\"}}]"),
     "missing.obj"},
    {SCENE("\"shapes\": [{\"geometry\": {\"type\": \"mesh\", \"file\": \"open.obj\"}}]"), "open"},
    {SCENE("\"shapes\": [{\"geometry\": {\"type\": \"mesh\", \"file\": \"garbage.stl\"}}]"),
     "garbage.stl"},
    {SCENE("\"position\": \"here\", " SPHERE), "/bodies/0/position"},
    {SCENE("\"mass\": [1], " SPHERE), "/bodies/0/mass"},
    {SCENE("\"shapes\": {\"geometry\": 7}"), "/bodies/0/shapes"},
    {SCENE("\"positon\": [0, 0, 0], " SPHERE), "position"},
    {"{\"rattleback\": 1, \"bodies\": [{\"name\": \"ball\", " SPHERE
     "}, {\"name\": \"ball\", " SPHERE "}]}",
     "ball"},
    {SCENE("\"repeat\": {\"count\": [1000, 1000, 1000], \"spacing\": [1, 1, 1]}, " SPHERE),
     "bodies"},
    {SCENE("\"scatter\": {\"count\": 1073741824, \"box\": [1, 1, 1]}, " SPHERE), "bodies"},
    {"{\"rattleback\": 1, \"bodies\": [{\"name\": \"ball\", \"mass\":", ":1:"},
    {"", ""},
    {"[]", ""},
    {"{\"rattleback\": 99, \"bodies\": []}", "99"},
};

// An open surface: a tetrahedron without one face.
static const char* const openMesh =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";

static void badScenesAreRefusedWithOneMessage(void** state)
{
    (void)state;
    rbWriteText(rbScratch("open.obj"), openMesh);
    rbWriteText(rbScratch("garbage.stl"), "this is no mesh");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; ++i) {
        rbWriteText(rbScratch("bad.json"), scenes[i].text);
        rbExpectFailure(RUN("run", "./bad.json", "--record", "bad.rbr", "--csv", "bad.csv"), 2,
                        scenes[i].needle);
        rbExpectFailure(RUN("check", "./bad.json"), 2, "bad.json");
        assert_false(rbFileExists(rbScratch("bad.rbr")));
        assert_false(rbFileExists(rbScratch("bad.csv")));
        assert_false(rbFileExists(rbScratch("bad.rbr.part")));
    }
}

static void badOverridesAreRefusedWithOneMessage(void** state)
{
    (void)state;
    static const char* const assignments[] = {"bodies.box.mass=0",     "bodies.box.mass=NaN",
                                              "bodies.box.mass=1e999", "bodies.bx.mass=1",
                                              "motion.type=rk5",       "nonsense"};
    for (size_t i = 0; i < sizeof assignments / sizeof assignments[0]; ++i) {
        rbExpectFailure(RUN("run", "tumbling-box", "--set", assignments[i]), 2, "");
    }
}

static void makeRecording(const char* name)
{
    rbChild child = RUN("run", "tumbling-box", "--duration", "2", "--record", name, "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
}

static void recordingsWithAFlippedByteAreRefused(void** state)
{
    (void)state;
    makeRecording("good.rbr");
    size_t size = 0;
    char* bytes = rbReadFile(rbScratch("good.rbr"), &size);
    int count = rbTest_Count(24, 400);
    for (int i = 0; i < count; ++i) {
        size_t at = i == 0 ? 3 : (size_t)i * (size - 1) / (size_t)(count - 1);
        bytes[at] = (char)(bytes[at] ^ 0x10);
        rbWriteFile(rbScratch("bad.rbr"), bytes, size);
        bytes[at] = (char)(bytes[at] ^ 0x10);
        rbExpectFailure(RUN("replay", "bad.rbr"), 2, "bad.rbr");
        rbExpectFailure(RUN("info", "bad.rbr"), 2, "bad.rbr");
    }
    free(bytes);
}

static void recordingsThatAreCutOffAreComparedAsFarAsTheyGo(void** state)
{
    (void)state;
    makeRecording("good.rbr");
    size_t size = 0;
    char* bytes = rbReadFile(rbScratch("good.rbr"), &size);
    const size_t lengths[] = {0, 1, 20, 60, size / 4, size / 2, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
        rbWriteFile(rbScratch("bad.rbr"), bytes, lengths[i]);
        rbChild child = RUN("replay", "bad.rbr");
        bool isLong = lengths[i] >= size / 2;
        assert_true(!isLong || strstr(child.out, "frames and 0 events equal") != NULL);
        rbExpectFailure(child, 2, isLong ? "cut off" : "bad.rbr");
        rbExpectFailure(RUN("info", "bad.rbr"), 2, "bad.rbr");
    }
    free(bytes);
}

// A file size limit stands for a full disk; SIGXFSZ must not kill the program.
static void aFullDiskIsSaidAndLeavesNothing(void** state)
{
    (void)state;
    const rbChildOptions options = {.fileSizeMax = 20000};
    static const char* const outputs[][2] = {
        {"--record", "out.rbr"}, {"--csv", "out.csv"}, {"--plot", "out.svg"}, {"--vtk", "out"}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; ++i) {
        const char* const words[] = {"run", "tumbling-box", outputs[i][0], outputs[i][1], NULL};
        rbExpectFailure(rbRunProgramWith(words, &options), 2, outputs[i][1]);
        if (strcmp(outputs[i][0], "--vtk") == 0) {
            assert_false(rbFileExists(rbScratch("out/tumbling-box.pvd")));
        } else {
            assert_false(rbFileExists(rbScratch(outputs[i][1])));
        }
    }
    assert_false(rbFileExists(rbScratch("out.csv.part")));
    rbExpectFailure(RUN("run", "tumbling-box", "--csv", "/dev/full"), 2, "/dev/full");
    rbExpectFailure(RUN("run", "tumbling-box", "--record", "/dev/full"), 2, "/dev/full");
    const rbChildOptions full = {.standardOutput = "/dev/full"};
    rbExpectFailure(rbRunProgramWith((const char* const[]){"run", "tumbling-box", NULL}, &full), 2,
                    "standard output");
    rbExpectFailure(rbRunProgramWith((const char* const[]){NULL}, &full), 2, "standard output");
}

// Root may write anywhere, so nobody can write to the folders used here.
static void anUnwritableFolderIsSaidAtOnce(void** state)
{
    (void)state;
    rbWriteText(rbScratch("file"), "not a folder");
    static const char* const folders[] = {"file", "missing", "/proc"};
    static const char* const names[][2] = {{"--record", "a.rbr"},
                                           {"--csv", "a.csv"},
                                           {"--plot", "a.svg"},
                                           {"--vtk", "a/b"},
                                           {"--journal", "a.jsonl"}};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; ++i) {
        for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
            char path[128];
            (void)snprintf(path, sizeof path, "%s/%s", folders[i], names[k][1]);
            rbExpectFailure(RUN("run", "tumbling-box", names[k][0], path), 2, folders[i]);
        }
    }
}

// An existing file stays unchanged when writing the new one fails.
static void aFailedRunKeepsTheOldFile(void** state)
{
    (void)state;
    rbWriteText(rbScratch("old.csv"), "precious");
    const rbChildOptions options = {.fileSizeMax = 20000};
    rbExpectFailure(
        rbRunProgramWith((const char* const[]){"run", "tumbling-box", "--csv", "old.csv", NULL},
                         &options),
        2, "old.csv");
    size_t size = 0;
    char* text = rbReadFile(rbScratch("old.csv"), &size);
    assert_string_equal(text, "precious");
    free(text);
}

static void filesOfNoKindAreRefused(void** state)
{
    (void)state;
    rbWriteText(rbScratch("noise"), "hello, this is only text\n");
    rbWriteText(rbScratch("empty"), "");
    rbExpectFailure(RUN("info", "noise"), 2, "neither a scene");
    rbExpectFailure(RUN("info", "empty"), 2, "neither a scene");
    rbExpectFailure(RUN("info", "/"), 2, "cannot be read");
    rbWriteText(rbScratch("cut.stl"), "hello");
    rbExpectFailure(RUN("info", "cut.stl"), 2, "cut.stl: is not STL: it does not begin with");
    rbExpectFailure(RUN("replay", "noise"), 2, "noise");
    rbExpectFailure(RUN("run", "./noise"), 2, "noise");
}

// A tetrahedron with a face without area cannot be used as a solid.
static void aDefectiveMeshIsNoSolid(void** state)
{
    (void)state;
    rbWriteText(rbScratch("t.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n"
                                    "f 2 3 4\nf 3 1 4\n");
    rbChild child = RUN("info", "t.obj");
    assert_non_null(strstr(child.out, "closed, a solid"));
    rbFreeChild(&child);
    rbWriteText(rbScratch("t.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\n"
                                    "f 2 3 4\nf 3 1 4\nf 1 1 1\n");
    child = RUN("info", "t.obj");
    assert_non_null(strstr(child.out, "closed, not a solid"));
    rbFreeChild(&child);
}

RB_TEST_GROUP(test_bad_input, SCRATCH_TEST(aDefectiveMeshIsNoSolid),
              SCRATCH_TEST(badScenesAreRefusedWithOneMessage),
              SCRATCH_TEST(badOverridesAreRefusedWithOneMessage),
              SCRATCH_TEST(recordingsWithAFlippedByteAreRefused),
              SCRATCH_TEST(recordingsThatAreCutOffAreComparedAsFarAsTheyGo),
              SCRATCH_TEST(aFullDiskIsSaidAndLeavesNothing),
              SCRATCH_TEST(anUnwritableFolderIsSaidAtOnce), SCRATCH_TEST(aFailedRunKeepsTheOldFile),
              SCRATCH_TEST(filesOfNoKindAreRefused));
