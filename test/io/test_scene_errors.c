// Bad scenes: each ends with the right status, the place, and a message with the remedy.
#include "scene_support.h"

#include <sys/stat.h>
#include <unistd.h>

static void syntaxErrorsHaveLineAndColumn(void** state)
{
    (void)state;
    static const Case cases[] = {
        {"", RB_STATUS_SYNTAX, "bad.json: is empty"},
        {" \n\t ", RB_STATUS_SYNTAX, "is empty"},
        {"{\"rattleback\": 1,\n \"bodies\": [", RB_STATUS_SYNTAX, "bad.json:2:"},
        {"{\"rattleback\": 1,\n \"bodies\": [", RB_STATUS_SYNTAX, "ends too early"},
        {"[]", RB_STATUS_INVALID, "expected a scene"},
        {"{\"rattleback\": 1} x", RB_STATUS_SYNTAX, "bad.json:1:"},
        {"{\"rattleback\": 1,\n\n \"duration\": NaN}", RB_STATUS_SYNTAX, "bad.json:3:"},
        {"{\"duration\": NaN}", RB_STATUS_SYNTAX, "JSON has no NaN"},
        {"{\"duration\": -Infinity}", RB_STATUS_SYNTAX, "bad.json:1:"},
        {"{\"duration\": 1e999}", RB_STATUS_SYNTAX, "beyond the range of doubles"},
        {"{\"rattleback\": 1, \"duration\": 99999999999999999999, \"bodies\": []}",
         RB_STATUS_INVALID, "duration is 1e+20 s; expected a number > 0 and <= 1e+12 s"},
        {"{\"rattleback\": 1, \"rattleback\": 1}", RB_STATUS_SYNTAX, "uplicate"},
        {"{\"a\": \"\xff\"}", RB_STATUS_SYNTAX, "bad.json:1:"},
        {"{\"rattleback\": 1, 'bodies': []}", RB_STATUS_SYNTAX, "bad.json:1:"},
        {"{\"rattleback\": 1} {}", RB_STATUS_SYNTAX, "; delete what follows the end"},
        {"// a scene\n{\"rattleback\": 1}", RB_STATUS_SYNTAX, "; JSON has no comments"},
        {"{\"rattleback\": 1, # one\n}", RB_STATUS_SYNTAX, "; JSON has no comments"},
        {"{\"bodies\": [1,]}", RB_STATUS_SYNTAX, "; delete the comma before it"},
        {"{\"rattleback\": 1,}", RB_STATUS_SYNTAX, "; delete the comma before it"},
        {"{\"rattleback\": 1, bodies: []}", RB_STATUS_SYNTAX, "; a key is a text in double quotes"},
        {"{\"name\": \"a\\u0000\"}", RB_STATUS_SYNTAX, "\\u0000 is not accepted; delete it"},
        {"{\"a\": \"\xff\"}", RB_STATUS_SYNTAX, "; the text must be UTF-8"},
        {"rattleback: 1", RB_STATUS_SYNTAX, "; a scene is a JSON object"},
    };
    CHECK_CASES(cases);
    // Nested deeper than accepted: the parser must not see it.
    char deep[400];
    memset(deep, '[', sizeof deep);
    checkCase(deep, sizeof deep, RB_STATUS_LIMIT,
              "bad.json:1:65: values are nested deeper than 64");
}

static void unknownKeysSuggestTheNearest(void** state)
{
    (void)state;
    static const Case cases[] = {
        {BODY(", \"positon\": [0,0,0]"), RB_STATUS_INVALID,
         "/bodies/0/positon: body \"box\": unknown key \"positon\" in a body; did you mean "
         "\"position\"?"},
        {BODY(", \"Mass\": 1"), RB_STATUS_INVALID, "did you mean \"mass\"?"},
        {BODY(", \"zzzzzz\": 1"), RB_STATUS_INVALID, "a body has the keys name, type,"},
        {BODY(", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"raduis\": 1}}]"),
         RB_STATUS_INVALID, "/bodies/0/shapes/0/geometry/raduis"},
        {"{\"rattleback\": 1, \"boddies\": []}", RB_STATUS_INVALID, "did you mean \"bodies\"?"},
        {"{\"rattleback\": 1, \"a/b~c\": 1, \"bodies\": []}", RB_STATUS_INVALID, ": /a~1b~0c: "},
    };
    CHECK_CASES(cases);
}

static void wrongTypesSayWhatWasFound(void** state)
{
    (void)state;
    static const Case cases[] = {
        {BODY(", \"mass\": \"heavy\""), RB_STATUS_INVALID,
         "/bodies/0/mass: body \"box\": found the string \"heavy\"; expected a number"},
        {BODY(", \"color\": \"red\""), RB_STATUS_INVALID,
         "/bodies/0/color: body \"box\": color is \"red\"; must be \"#rrggbb\""},
        {BODY(", \"color\": \"#12345g\""), RB_STATUS_INVALID, "must be \"#rrggbb\""},
        {BODY(", \"opacity\": 1.5"), RB_STATUS_INVALID, "/bodies/0/opacity"},
        {BODY(", \"roughness\": -0.1"), RB_STATUS_INVALID, "/bodies/0/roughness"},
        {BODY(", \"texture\": {\"type\": \"wood\"}"), RB_STATUS_INVALID,
         "/bodies/0/texture/type: body \"box\": unknown texture \"wood\"; expected \"plain\""},
        {BODY(", \"texture\": {\"size\": 1}"), RB_STATUS_INVALID, "\"type\""},
        {BODY(", \"texture\": {\"type\": \"plain\", \"size\": 0}"), RB_STATUS_INVALID,
         "/bodies/0/texture/size"},
        {BODY(", \"texture\": {\"type\": \"checker\", \"color\": \"blue\"}"), RB_STATUS_INVALID,
         "/bodies/0/texture/color"},
        {BODY(", \"visuals\": [{\"color\": \"#000000\"}]"), RB_STATUS_INVALID,
         "/bodies/0/visuals/0"},
        {BODY(", \"visuals\": [{\"geometry\": \"nothing\"}]"), RB_STATUS_NOT_FOUND,
         "/bodies/0/visuals/0/geometry"},
        {BODY(", \"visuals\": [{\"geometry\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}}]"),
         RB_STATUS_INVALID, "a visual cannot be a plane"},
        {BODY(
             ", \"visuals\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, \"mask\": 1}]"),
         RB_STATUS_INVALID, "mask"},
        {BODY(", \"position\": [1, 2]"), RB_STATUS_INVALID,
         "found an array of 2 elements; expected an array of 3 numbers"},
        {BODY(", \"position\": [1, 2, null]"), RB_STATUS_INVALID, "/position/2: body"},
        {BODY(", \"position\": 3"), RB_STATUS_INVALID, "found the number 3"},
        {BODY(", \"shapes\": {}"), RB_STATUS_INVALID, "found an object; expected an array"},
        {BODY(", \"shapes\": [5]"), RB_STATUS_INVALID, "expected a shape"},
        {BODY(", \"shapes\": [{\"geometry\": 5}]"), RB_STATUS_INVALID, "a name or an object"},
        {BODY(", \"orientation\": true"), RB_STATUS_INVALID, "found true; expected a quaternion"},
        {BODY(", \"motion\": []"), RB_STATUS_INVALID, "found an array of 0 elements"},
        {"{\"rattleback\": 1, \"bodies\": [7]}", RB_STATUS_INVALID, "/bodies/0: body \"body0\": "},
        {"{\"rattleback\": 1, \"bodies\": {}}", RB_STATUS_INVALID, "/bodies: found an object"},
        {"{\"rattleback\": 1, \"seed\": 1.5, \"bodies\": []}", RB_STATUS_INVALID, "an integer"},
        {"{\"rattleback\": 1, \"seed\": -1, \"bodies\": []}", RB_STATUS_INVALID, "0 to 2^53"},
        {"{\"rattleback\": 1, \"title\": 1, \"bodies\": []}", RB_STATUS_INVALID, "a string"},
        {"{\"rattleback\": 1, \"geometries\": {\"a\": 1}, \"bodies\": []}", RB_STATUS_INVALID,
         "/geometries/a: geometry \"a\": found the number 1"},
        {"{\"rattleback\": 1, \"output\": {\"probes\": [1]}, \"bodies\": []}", RB_STATUS_INVALID,
         "/output/probes/0: found the number 1; expected a probe"},
    };
    CHECK_CASES(cases);
}

static void versionAndEngineAreChecked(void** state)
{
    (void)state;
    static const Case cases[] = {
        {"{\"bodies\": []}", RB_STATUS_INVALID, "a scene needs the key \"rattleback\""},
        {"{\"rattleback\": 1}", RB_STATUS_INVALID, "a scene needs the key \"bodies\""},
        {"{\"rattleback\": 2, \"bodies\": []}", RB_STATUS_UNSUPPORTED,
         "this program reads version 1"},
        {"{\"rattleback\": 1, \"engine\": \"warp\", \"bodies\": []}", RB_STATUS_INVALID,
         "/engine: unknown engine \"warp\"; expected flight, event or step"},
        {"{\"rattleback\": 1, \"engine\": \"events\", \"bodies\": []}", RB_STATUS_INVALID,
         "did you mean \"event\"?"},
        {"{\"rattleback\": 1, \"duration\": 0, \"bodies\": []}", RB_STATUS_INVALID,
         "duration is 0 s; expected a number > 0"},
        {"{\"rattleback\": 1, \"duration\": 1e9, \"output\": {\"step\": 1e-9}, \"bodies\": []}",
         RB_STATUS_LIMIT, "1e+18 outputs"},
        {"{\"rattleback\": 1, \"motion\": {\"type\": \"rk5\"}, \"bodies\": []}", RB_STATUS_INVALID,
         "did you mean \"rk4\"?"},
        {"{\"rattleback\": 1, \"motion\": {\"degree\": 99}, \"bodies\": []}", RB_STATUS_INVALID,
         "degree is 99"},
        {"{\"rattleback\": 1, \"world\": {\"periodicBox\": [1, -1, 0]}, \"bodies\": []}",
         RB_STATUS_INVALID, "/world/periodicBox/1"},
    };
    CHECK_CASES(cases);
}

// Masses and inertias that no body can have.
// L-06
static void impossibleMassesAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {BODY(BALL ", \"mass\": -1"), RB_STATUS_INVALID,
         "bad.json: /bodies/0/mass: body \"box\": mass is -1 kg; a dynamic body needs a positive "
         "mass"},
        {BODY(BALL ", \"mass\": 0"), RB_STATUS_INVALID, "mass is 0 kg"},
        {BODY(BALL ", \"mass\": 1e31"), RB_STATUS_INVALID, "mass is 1e+31 kg"},
        {BODY(", \"mass\": 1, \"inertia\": [1, 1, 3]"), RB_STATUS_INVALID, "/bodies/0/inertia: "},
        {BODY(", \"mass\": 1, \"inertia\": [1, 1, 0]"), RB_STATUS_INVALID, "/bodies/0/inertia: "},
        {BODY(", \"mass\": 1, \"inertia\": [1, -1, 1]"), RB_STATUS_INVALID, "/bodies/0/inertia: "},
        {BODY(", \"mass\": 1, \"inertia\": [1, 1, 1, 2, 0, 0]"), RB_STATUS_INVALID, "/inertia: "},
        {BODY(", \"mass\": 1, \"inertia\": [1, 1]"), RB_STATUS_INVALID, "an array of 3 numbers"},
        {BODY(", \"inertia\": [1, 1, 1]"), RB_STATUS_INVALID, "without \"mass\""},
        {BODY(BALL ", \"mass\": 1, \"center\": [0, 0, 0]"), RB_STATUS_INVALID,
         "without \"inertia\""},
        {BODY(", \"mass\": 1"), RB_STATUS_INVALID, "needs \"mass\" and \"inertia\""},
        {BODY(""), RB_STATUS_INVALID, "needs \"mass\" and \"inertia\""},
        {BODY(", \"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}}]"),
         RB_STATUS_INVALID, "/bodies/0/shapes/0: body \"box\": "},
        {BODY(", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, \"material\": "
              "{\"density\": 0}}]"),
         RB_STATUS_INVALID, "density is 0 kg/m^3"},
    };
    CHECK_CASES(cases);
}

#define GEOMETRY(keys) BODY(", \"shapes\": [{\"geometry\": {" keys "}}]")

// The messages about meshes that are not solids describe the defect.
// L-03
static void badGeometriesAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {GEOMETRY("\"type\": \"sphear\", \"radius\": 1"), RB_STATUS_INVALID,
         "/geometry/type: body \"box\": unknown shape \"sphear\"; did you mean \"sphere\"?"},
        {GEOMETRY("\"type\": \"teapot-of-utah\""), RB_STATUS_INVALID,
         "expected one of sphere, box"},
        {GEOMETRY("\"radius\": 1"), RB_STATUS_INVALID, "needs the key \"type\""},
        {GEOMETRY("\"type\": 1"), RB_STATUS_INVALID, "found the number 1"},
        {GEOMETRY("\"type\": \"sphere\""), RB_STATUS_INVALID, "a sphere needs the key \"radius\""},
        {GEOMETRY("\"type\": \"sphere\", \"radius\": -1"), RB_STATUS_INVALID, "radius is -1 m"},
        {GEOMETRY("\"type\": \"box\", \"size\": [1, 0, 1]"), RB_STATUS_INVALID, "/size/1"},
        {GEOMETRY("\"type\": \"sphere\", \"radius\": 1e-300"), RB_STATUS_INVALID, "/geometry: "},
        {GEOMETRY("\"type\": \"plane\", \"normal\": [0, 0, 0]"), RB_STATUS_INVALID, "/geometry: "},
        {GEOMETRY("\"type\": \"hull\""), RB_STATUS_INVALID, "either \"points\" or \"file\""},
        {GEOMETRY("\"type\": \"hull\", \"points\": []"), RB_STATUS_INVALID, "empty"},
        {GEOMETRY("\"type\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]"),
         RB_STATUS_INVALID, "/geometry: "},
        {GEOMETRY("\"type\": \"mesh\", \"vertices\": [[0,0,0]]"), RB_STATUS_INVALID,
         "either \"vertices\" and \"faces\", or \"file\""},
        {GEOMETRY("\"type\": \"mesh\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": "
                  "[[0,1,3]]"),
         RB_STATUS_INVALID,
         "/faces/0/2: body \"box\": found the number 3; expected a vertex index"},
        {GEOMETRY(
             "\"type\": \"mesh\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": [[0,1]]"),
         RB_STATUS_INVALID, "at least 3"},
        {GEOMETRY("\"type\": \"mesh\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": "
                  "[[0,1,2]]"),
         RB_STATUS_INVALID, "has no mass; close it, or give the body a mass and inertia"},
        {GEOMETRY("\"type\": \"polyhedron\", \"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"faces\": "
                  "[[0,1,2]]"),
         RB_STATUS_INVALID, "open"},
        {GEOMETRY("\"type\": \"mesh\", \"file\": \"nowhere.obj\""), RB_STATUS_NOT_FOUND,
         "/geometry/file: body \"box\": mesh file \"nowhere.obj\": there is no such file"},
        {GEOMETRY("\"type\": \"mesh\", \"file\": \"meshes\""), RB_STATUS_IO, "is a folder"},
        {GEOMETRY("\"type\": \"mesh\", \"file\": \"swarm.json\""), RB_STATUS_UNSUPPORTED,
         "obj, stl, ply, gltf and glb are supported"},
        {GEOMETRY("\"type\": \"mesh\", \"file\": \"meshes/star.obj\", \"up\": \"x\""),
         RB_STATUS_INVALID, "expected \"z\" or \"y\""},
        {GEOMETRY("\"type\": \"extrusion\", \"profile\": [[0,0],[1,0]], \"height\": 1"),
         RB_STATUS_INVALID, "expected 3 to"},
        {GEOMETRY("\"type\": \"extrusion\", \"profile\": [[0,0],[1,1],[1,0],[0,1]], \"height\": 1"),
         RB_STATUS_INVALID, "/geometry: "},
        {GEOMETRY("\"type\": \"revolution\", \"profile\": [[0,0],[-1,1],[1,0]]"), RB_STATUS_INVALID,
         "/geometry: "},
        {GEOMETRY("\"type\": \"compound\", \"parts\": []"), RB_STATUS_INVALID, "0 parts"},
        {BODY(", \"shapes\": [{\"geometry\": \"ball\"}]"), RB_STATUS_NOT_FOUND,
         "there is no geometry \"ball\""},
    };
    CHECK_CASES(cases);
}

static void circularAndHugeCompoundsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {"{\"rattleback\": 1, \"geometries\": {\"a\": {\"type\": \"compound\", \"parts\": "
         "[{\"geometry\": \"b\"}]}, \"b\": {\"type\": \"compound\", \"parts\": [{\"geometry\": "
         "\"a\"}]}}, \"bodies\": []}",
         RB_STATUS_INVALID,
         "/geometries/b/parts/0/geometry: geometry \"b\": the geometry \"a\" "
         "contains itself"},
        {"{\"rattleback\": 1, \"geometries\": {\"a\": {\"type\": \"compound\", \"parts\": "
         "[{\"geometry\": \"a\"}]}}, \"bodies\": []}",
         RB_STATUS_INVALID, "contains itself"},
    };
    CHECK_CASES(cases);
    // Ten parts of ten parts of ... seven deep: ten million parts in a kilobyte of text.
    char text[8192];
    int used = snprintf(text, sizeof text,
                        "{\"rattleback\": 1, \"bodies\": [], \"geometries\": {\"g0\": {\"type\": "
                        "\"sphere\", \"radius\": 1}");
    for (int level = 1; level <= 7; ++level) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         ", \"g%d\": {\"type\": \"compound\", \"parts\": [", level);
        for (int i = 0; i < 10; ++i) {
            used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"geometry\": \"g%d\"}",
                             i > 0 ? "," : "", level - 1);
        }
        used += snprintf(text + used, sizeof text - (size_t)used, "]}");
    }
    (void)snprintf(text + used, sizeof text - (size_t)used, "}}");
    checkCase(text, strlen(text), RB_STATUS_LIMIT, "more than 1000000 parts");
}

static void badBodiesAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {BODY(", \"type\": \"dynamc\""), RB_STATUS_INVALID, "unknown body type \"dynamc\""},
        {BODY(BALL ", \"orientation\": [1, 0, 0, 0.1]"), RB_STATUS_INVALID,
         "has norm 1.00498756, not 1; normalized it would be [0.99503719"},
        {BODY(BALL ", \"orientation\": [0, 0, 0, 0]"), RB_STATUS_INVALID,
         "[1, 0, 0, 0] means no rot"},
        {BODY(BALL ", \"orientation\": [1, 0, 0]"), RB_STATUS_INVALID, "an array of 4 numbers"},
        {BODY(BALL ", \"orientation\": {\"axis\": [0, 0, 0], \"angle\": 1}"), RB_STATUS_INVALID,
         "the axis is zero"},
        {BODY(BALL ", \"orientation\": {\"axis\": [0, 0, 1]}"), RB_STATUS_INVALID, "\"angle\""},
        {BODY(BALL ", \"spin\": [0,0,1], \"spinLocal\": [0,0,1]"), RB_STATUS_INVALID,
         "give only one"},
        {BODY(BALL ", \"type\": \"static\", \"velocity\": [1,0,0]"), RB_STATUS_INVALID,
         "a static body never moves"},
        {BODY(BALL ", \"type\": \"kinematic\", \"spin\": [1,0,0]"), RB_STATUS_INVALID,
         "follows its \"path\""},
        {BODY(BALL ", \"path\": {\"type\": \"rotation\"}"), RB_STATUS_INVALID, "kinematic"},
        {BODY(BALL ", \"velocity\": [1e13, 0, 0]"), RB_STATUS_INVALID, "/velocity/0"},
        {BODY(", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, \"material\": "
              "\"led\"}]"),
         RB_STATUS_NOT_FOUND, "there is no material \"led\""},
        {"{\"rattleback\": 1, \"materials\": {\"lead\": {}}, \"bodies\": [{\"shapes\": "
         "[{\"geometry\": {\"type\": \"sphere\", \"radius\": 1}, \"material\": \"led\"}]}]}",
         RB_STATUS_NOT_FOUND, "did you mean \"lead\"?"},
        {"{\"rattleback\": 1, \"materials\": {\"m\": {\"restitution\": 2}}, \"bodies\": []}",
         RB_STATUS_INVALID, "/materials/m/restitution: material \"m\": restitution is 2"},
        {"{\"rattleback\": 1, \"bodies\": [{\"name\": \"a\"" BALL "}, {\"name\": \"a\"" BALL "}]}",
         RB_STATUS_INVALID, "/bodies/1/name: the name \"a\" is used by /bodies/0 too"},
        {"{\"rattleback\": 1, \"bodies\": [{\"name\": \"a\"" BALL
         ", \"repeat\": {\"count\": [2,1,1], \"spacing\": [1,0,0]}}, {\"name\": \"a[1]\"" BALL
         "}]}",
         RB_STATUS_INVALID, "/bodies/1/name: the name \"a[1]\" is used by"},
        {"{\"rattleback\": 1, \"bodies\": [{\"name\": \"\"}]}", RB_STATUS_INVALID, "is empty"},
        {"{\"rattleback\": 1, \"bodies\": [{\"name\": \"a/b\"}]}", RB_STATUS_INVALID, "0x2f"},
        {"{\"rattleback\": 1, \"bodies\": [{\"name\": "
         "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}]}",
         RB_STATUS_LIMIT, "64 bytes; the limit is 63"},
    };
    CHECK_CASES(cases);
}

static void hugeCountsAreRefusedBeforeMemoryIsTaken(void** state)
{
    (void)state;
    static const Case cases[] = {
        {BODY(BALL ", \"repeat\": {\"count\": [1000, 1000, 1000], \"spacing\": [1,1,1]}"),
         RB_STATUS_LIMIT, "the scene would have 1000000000 bodies; the limit is 10000000"},
        {BODY(BALL ", \"repeat\": {\"count\": [1e300, 1e300, 1], \"spacing\": [1,1,1]}"),
         RB_STATUS_LIMIT, "bodies; the limit is 10000000"},
        {BODY(BALL ", \"scatter\": {\"count\": 1e9, \"box\": [1,1,1]}"), RB_STATUS_LIMIT,
         "the scene would have 1000000000 bodies"},
        {BODY(BALL ", \"scatter\": {\"count\": 1073741824, \"box\": [1,1,1]}"), RB_STATUS_LIMIT,
         "the limit is 10000000"},
        {BODY(BALL ", \"scatter\": {\"count\": 1e30, \"box\": [1,1,1]}"), RB_STATUS_INVALID,
         "count is 1e+30"},
        {BODY(BALL ", \"repeat\": {\"count\": [0, 1, 1], \"spacing\": [1,1,1]}"), RB_STATUS_INVALID,
         "found 0; expected an integer of at least 1"},
        {BODY(BALL ", \"repeat\": {\"count\": [1.5, 1, 1], \"spacing\": [1,1,1]}"),
         RB_STATUS_INVALID, "an integer"},
        {BODY(BALL ", \"repeat\": {\"count\": [2,1,1], \"spacing\": [1,1,1]}, \"scatter\": "
                   "{\"count\": 1, \"box\": [1,1,1]}"),
         RB_STATUS_INVALID, "give only one"},
    };
    uint64_t count = rbGetAllocationCount();
    CHECK_CASES(cases);
    assert_true(rbGetAllocationCount() - count < 2000);
}

#define PATH(keys) BODY(", \"type\": \"kinematic\", \"path\": {" keys "}")

static void badPathsAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {PATH("\"type\": \"spiral\""), RB_STATUS_INVALID, "unknown path type \"spiral\""},
        {PATH("\"type\": \"line\", \"speed\": 1"), RB_STATUS_INVALID, "either \"end\""},
        {PATH("\"type\": \"line\", \"speed\": 1, \"end\": [0, 0, 0]"), RB_STATUS_INVALID,
         "/bodies/0/path/end: body \"box\": the path has no length"},
        {PATH("\"type\": \"line\", \"speed\": 1, \"direction\": [0, 0, 0]"), RB_STATUS_INVALID,
         "the direction is zero"},
        {PATH("\"type\": \"line\", \"speed\": -1, \"direction\": [0, 0, 1]"), RB_STATUS_INVALID,
         "speed is -1 m/s"},
        {PATH("\"type\": \"curve\", \"speed\": 1, \"points\": []"), RB_STATUS_INVALID,
         "0 points after the position"},
        {PATH("\"type\": \"curve\", \"speed\": 1, \"points\": [[0, 0, 0]]"), RB_STATUS_INVALID,
         "no length"},
        {PATH("\"type\": \"curve\", \"speed\": 1, \"points\": [[1,0,0], [1,0,0]]"),
         RB_STATUS_INVALID, "/points/1: body \"box\": a segment of the path has no length"},
        {PATH(
             "\"type\": \"curve\", \"speed\": 1, \"closed\": true, \"points\": [[1,0,0], [0,0,0]]"),
         RB_STATUS_INVALID, "the last point of a closed curve"},
        {PATH("\"type\": \"curve\", \"speed\": 1, \"closed\": 1, \"points\": [[1,0,0]]"),
         RB_STATUS_INVALID, "expected true or false"},
        {PATH("\"type\": \"rotation\", \"speed\": 1"), RB_STATUS_INVALID, "unknown key \"speed\""},
    };
    CHECK_CASES(cases);
}

#define FORCE(keys)                                                                       \
    "{\"rattleback\": 1, \"bodies\": [{\"name\": \"box\"" BALL "}, {\"name\": \"wall\", " \
    "\"type\": \"static\"}], \"forces\": [{" keys "}]}"
#define PROBE(keys)                                                                         \
    "{\"rattleback\": 1, \"bodies\": [{\"name\": \"box\"" BALL ", \"repeat\": {\"count\": " \
    "[2,1,1], \"spacing\": [1,0,0]}}], \"output\": {\"probes\": [{" keys "}]}}"

static void badForcesAndProbesAreRefused(void** state)
{
    (void)state;
    static const Case cases[] = {
        {FORCE("\"type\": \"wind\""), RB_STATUS_INVALID, "unknown force type \"wind\""},
        {FORCE("\"type\": \"user\""), RB_STATUS_INVALID, "unknown force type \"user\""},
        {FORCE("\"type\": \"drag\", \"linear\": -1"), RB_STATUS_INVALID, "linear is -1 N s/m"},
        {FORCE("\"type\": \"drag\", \"body\": \"bx\""), RB_STATUS_NOT_FOUND,
         "/forces/0/body: there is no body \"bx\"; did you mean \"box\"?"},
        {FORCE("\"type\": \"drag\", \"body\": \"wall\""), RB_STATUS_INVALID, "is not dynamic"},
        {FORCE("\"type\": \"central\""), RB_STATUS_INVALID, "needs the key \"strength\""},
        {PROBE("\"quantity\": \"color\", \"body\": \"box[0]\""), RB_STATUS_INVALID,
         "unknown quantity \"color\" (if a module has it, load that with --module FILE); expected "
         "one of position,"},
        {PROBE("\"quantity\": \"travel\", \"body\": \"box[0]\""), RB_STATUS_INVALID,
         "\"travel\" is a quantity of one joint; name it with \"joint\""},
        {PROBE("\"quantity\": \"positon\", \"body\": \"box[0]\""), RB_STATUS_INVALID,
         "did you mean \"position\"?"},
        {PROBE("\"quantity\": \"position\""), RB_STATUS_INVALID, "name it with \"body\""},
        {PROBE("\"quantity\": \"energyDrift\", \"body\": \"box[0]\""), RB_STATUS_INVALID,
         "remove \"body\""},
        {PROBE("\"quantity\": \"position\", \"body\": \"box\""), RB_STATUS_INVALID,
         "\"box\" means 2 bodies; name one of them, such as \"box[0]\", or give a \"statistic\""},
        {PROBE("\"quantity\": \"speed\", \"body\": \"box\", \"statistic\": \"median\""),
         RB_STATUS_INVALID, "unknown statistic \"median\"; expected mean, min, max, sum, number"},
        {PROBE("\"quantity\": \"orientation\", \"body\": \"box\", \"statistic\": \"mean\""),
         RB_STATUS_INVALID,
         "only for numbers and vectors of bodies, not for \"orientation\" of box"},
        {PROBE("\"quantity\": \"speed\", \"body\": \"box[0]\", \"within\": [[0,0,0], [1,1,1]]"),
         RB_STATUS_INVALID, "the lower and the upper corner of the box of a \"statistic\""},
        {PROBE("\"quantity\": \"speed\", \"body\": \"box\", \"statistic\": \"max\", \"within\": "
               "[[0,2,0], [1,1,1]]"),
         RB_STATUS_INVALID, "the lower corner, 2 m along y, is not below the upper one, 1 m"},
        {PROBE("\"quantity\": \"kinetic\", \"statistic\": \"mean\""), RB_STATUS_INVALID,
         "not for \"kinetic\" of world"},
        {PROBE("\"quantity\": \"position\", \"body\": \"box[2]\""), RB_STATUS_NOT_FOUND,
         "there is no body \"box[2]\""},
        {PROBE("\"quantity\": \"point\", \"body\": \"box[0]\""), RB_STATUS_INVALID,
         "needs \"point\""},
        {PROBE("\"quantity\": \"center\", \"body\": \"box[0]\", \"point\": [0,0,0]"),
         RB_STATUS_INVALID, "is only for the quantity \"point\""},
    };
    CHECK_CASES(cases);
}

static void filesThatCannotBeReadSayWhy(void** state)
{
    (void)state;
    rbError error = {0};
    assert_null(rbReadScene("/nowhere/scene.json", &error));
    assert_int_equal(error.status, RB_STATUS_NOT_FOUND);
    assert_non_null(strstr(formatError(&error), "/nowhere/scene.json: there is no such file"));
    assert_null(rbReadScene(RB_SOURCE_DIR "/scenes", &error));
    assert_int_equal(error.status, RB_STATUS_IO);
    assert_non_null(strstr(formatError(&error), "is a folder, not a file"));
    // A sparse file of a gigabyte is refused by its size.
    char path[] = "/tmp/rb_scene_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(ftruncate(descriptor, (off_t)1 << 30), 0);
    assert_null(rbReadScene(path, &error));
    assert_int_equal(error.status, RB_STATUS_LIMIT);
    assert_non_null(strstr(formatError(&error), "the limit is 256 MB"));
    assert_int_equal(ftruncate(descriptor, 0), 0);
    assert_null(rbReadScene(path, &error));
    assert_non_null(strstr(formatError(&error), "is empty"));
    (void)close(descriptor);
    (void)unlink(path);
    assert_null(rbReadScene(path, NULL));
}

RB_TEST_GROUP(
    test_scene_errors, cmocka_unit_test(syntaxErrorsHaveLineAndColumn),
    cmocka_unit_test(unknownKeysSuggestTheNearest), cmocka_unit_test(wrongTypesSayWhatWasFound),
    cmocka_unit_test(versionAndEngineAreChecked), cmocka_unit_test(impossibleMassesAreRefused),
    cmocka_unit_test(badGeometriesAreRefused), cmocka_unit_test(circularAndHugeCompoundsAreRefused),
    cmocka_unit_test(badBodiesAreRefused),
    cmocka_unit_test(hugeCountsAreRefusedBeforeMemoryIsTaken), cmocka_unit_test(badPathsAreRefused),
    cmocka_unit_test(badForcesAndProbesAreRefused), cmocka_unit_test(filesThatCannotBeReadSayWhy));
