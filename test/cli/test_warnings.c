// Probable mistakes get a warning from 'check' and 'run'; files of other formats get a message that
// names the format and the remedy.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <stdio.h>
#include <string.h>

#define BALL(name, z)                                        \
    "{\"name\": \"" name "\", \"position\": [0, 0, " z "], " \
    "\"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}}]}"
#define FLOOR                                      \
    "{\"name\": \"floor\", \"type\": \"static\", " \
    "\"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}}]}"
#define HINGE(limits)                                                                       \
    "{\"rattleback\": 1, \"engine\": \"step\", \"duration\": 0.1, \"bodies\": ["            \
    "{\"name\": \"base\", \"type\": \"static\", \"shapes\": [{\"geometry\": {\"type\": "    \
    "\"sphere\", \"radius\": 0.1}}]}, " BALL(                                               \
        "bob", "-1") "], "                                                                  \
                     "\"joints\": [{\"name\": \"pivot\", \"type\": \"hinge\", \"bodies\": " \
                     "[\"base\", \"bob\"], "                                                \
                     "\"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], " limits "}]}"

static const struct {
    const char* scene;
    const char* needle; // NULL: no warning of that kind
} cases[] = {
    // a ball falls through the floor of an engine without collisions: 2 m need 0.55 s
    {"{\"rattleback\": 1, \"duration\": 2, \"bodies\": [" FLOOR ", " BALL("ball", "2") "]}",
     "\"floor\" and \"ball\" overlap"},
    {"{\"rattleback\": 1, \"engine\": \"step\", \"duration\": 2, \"bodies\": [" FLOOR
     ", " BALL("ball", "2") "]}",
     "without \"contact\""},
    // the mask says that this is intended
    {"{\"rattleback\": 1, \"duration\": 2, \"bodies\": [" FLOOR ", {\"name\": \"ghost\", "
     "\"position\": [0, 0, 2], \"shapes\": [{\"mask\": 0, \"geometry\": {\"type\": \"sphere\", "
     "\"radius\": 0.5}}]}]}",
     NULL},
    // the run ends before it arrives
    {"{\"rattleback\": 1, \"duration\": 0.5, \"bodies\": [" FLOOR ", " BALL("ball", "2") "]}",
     NULL},
    // it collides
    {"{\"rattleback\": 1, \"engine\": \"event\", \"duration\": 2, \"bodies\": [" FLOOR
     ", " BALL("ball", "2") "]}",
     NULL},
    // both fall together, one on the other, and never overlap
    {"{\"rattleback\": 1, \"duration\": 2, \"bodies\": [" BALL("a", "0") ", " BALL("b", "1") "]}",
     NULL},
    {HINGE("\"lower\": -45, \"upper\": 90"), "looks like degrees; 90 degrees are 1.5708 rad"},
    {HINGE("\"lower\": -180, \"upper\": 1"), "its lower limit is -180 rad"},
    {HINGE("\"lower\": -1, \"upper\": 1.5"), NULL},
    // several rotations are possible
    {HINGE("\"lower\": -12.6, \"upper\": 12.6"), NULL},
    {"{\"rattleback\": 1, \"duration\": 0.1, \"bodies\": [{\"name\": \"bracket\", \"shapes\": "
     "[{\"geometry\": {\"type\": \"box\", \"size\": [20, 40, 10]}}]}]}",
     "looks like millimeters"},
    {"{\"rattleback\": 1, \"duration\": 0.1, \"bodies\": [{\"name\": \"bracket\", \"shapes\": "
     "[{\"geometry\": {\"type\": \"box\", \"size\": [0.02, 0.04, 0.01]}}]}]}",
     NULL},
    {"{\"rattleback\": 1, \"engine\": \"event\", \"duration\": 0.1, \"bodies\": [{\"name\": "
     "\"ball\", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.5}, "
     "\"material\": {\"friction\": 12}}]}]}",
     "its friction 12 is more than 10"},
};

static void oddScenesGetAWarning(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        rbWriteText(rbScratch("odd.json"), cases[i].scene);
        rbChild check = RUN("check", "./odd.json");
        rbChild run = RUN("run", "./odd.json");
        rbChild quiet = RUN("run", "./odd.json", "--quiet");
        (void)fprintf(stderr, "case %zu: %s%s", i, check.out, run.err);
        assert_int_equal(check.exitCode, 0);
        assert_int_equal(run.exitCode, 0);
        if (cases[i].needle != NULL) {
            assert_non_null(strstr(check.out, cases[i].needle));
            assert_non_null(strstr(run.err, cases[i].needle));
            assert_non_null(strstr(run.err, "rattleback: warning: "));
        } else {
            assert_non_null(strstr(check.out, "0 warnings"));
            assert_string_equal(run.err, "");
        }
        assert_string_equal(quiet.err, "");
        rbFreeChild(&check);
        rbFreeChild(&run);
        rbFreeChild(&quiet);
    }
}

static const struct {
    const char* text;
    const char* format;
    const char* remedy;
} files[] = {
    {"<?xml version=\"1.0\"?>\n<mujoco model=\"arm\">\n</mujoco>\n", "MJCF", "scene-format"},
    {"<robot name=\"arm\"></robot>", "URDF", "scene-format"},
    {"\xEF\xBB\xBF  <?xml version=\"1.0\"?><thing/>", "XML", "scene-format"},
    {"ISO-10303-21;\nHEADER;\n", "STEP", "export its bodies as meshes"},
    {"solid cube\nfacet normal 0 0 1\n", "STL", "\"mesh\""},
    {"# a cube\nv 0 0 0\nv 1 0 0\n", "OBJ", "\"mesh\""},
    {"ply\nformat ascii 1.0\n", "PLY", "\"mesh\""},
};

static void filesOfOtherFormatsAreNamed(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        rbWriteText(rbScratch("file"), files[i].text);
        rbExpectFailure(RUN("run", "./file"), 2, files[i].format);
        rbExpectFailure(RUN("check", "./file"), 2, files[i].remedy);
    }
    rbChild child = RUN("run", "tumbling-box", "--duration", "0.1", "--record", "box.rbr");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    rbExpectFailure(RUN("run", "./box.rbr"), 2, "rattleback replay");
    rbExpectFailure(RUN("run", "box.rbr"), 2, "is a recording");
}

RB_TEST_GROUP(test_warnings, SCRATCH_TEST(oddScenesGetAWarning),
              SCRATCH_TEST(filesOfOtherFormatsAreNamed));
