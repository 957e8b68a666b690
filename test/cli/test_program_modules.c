// Modules of the program (B-92): each kind of row works, and what is wrong is refused by name. The
// modules are those of examples/modules, and the odd ones of odd_module.c.
#define _XOPEN_SOURCE 700

#include "child.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The modules are in the folder m, a link in the scratch folder.
#define TEXT(words) #words
#define TEXT_OF(words) TEXT(words)
// clang-format off
#define MODULE(name) TEXT_OF(m/name.so)
// clang-format on
#define LOAD(name) "--module", MODULE(name)

static int setUp(void** state)
{
    return rbSetUpScratch(state) == 0 ? symlink(RB_MODULE_FOLDER, rbScratch("m")) : -1;
}
#define MODULE_TEST(name) cmocka_unit_test_setup_teardown(name, setUp, rbTearDownScratch)

static const char* writeScene(const char* head, const char* bodies, const char* rest)
{
    static const char path[] = "scene.json"; // programs run in the scratch folder
    char text[4096];
    (void)snprintf(text, sizeof text,
                   "{\"rattleback\": 1, %s,\n\"bodies\": [{\"name\": \"a\", \"mass\": 2%s}]%s}\n",
                   head, bodies, rest);
    rbWriteText(rbScratch(path), text);
    return path;
}

// The columns of the last line of a table.
static void readLast(const char* table, double* values, int count)
{
    size_t size = 0;
    char* text = rbReadFile(table, &size);
    char* line = text + size - 1;
    while (line > text && line[-1] != '\n') {
        --line;
    }
    for (int i = 0; i < count; ++i) {
        char* end = NULL;
        values[i] = strtod(line, &end);
        assert_true(end != line);
        line = end + 1;
    }
    free(text);
}

static void runTo(const char* scene, const char* module, double* values, int count)
{
    rbChild child = RUN("run", scene, "--module", module, "--csv", rbScratch("a.csv"));
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    readLast(rbScratch("a.csv"), values, count);
}

#define BALL ", \"shapes\": [{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}}]"
#define PROBE(quantity) \
    "\"output\": {\"probes\": [{\"body\": \"a\", \"quantity\": \"" quantity "\"}]}"

// B-92. v' = a (u sin(w t) - v) from rest, with the sine of the library.
static void aModuleAddsAForce(void** state)
{
    (void)state;
    double v[2];
    const char* scene =
        writeScene("\"duration\": 2, \"world\": {\"gravity\": [0, 0, 0]}, " PROBE("position"), BALL,
                   ", \"forces\": [{\"type\": \"gust\", \"velocity\": [4, 0, 0], \"drag\": 3, "
                   "\"frequency\": 5}]");
    runTo(scene, MODULE(gust), v, 2);
    double a = 1.5;
    double w = 5.0;
    double truth = a * 4.0 / (a * a + w * w) *
                   (a / w * (1.0 - cos(w * 2.0)) - sin(w * 2.0) + w / a * (1.0 - exp(-a * 2.0)));
    checkNear(v[1], truth, 1e-9);
}

// B-92. A bicone of height 0.5 m whose tip hangs 2 m above a floor reaches it after sqrt(2 h/g).
static void aModuleAddsAShape(void** state)
{
    (void)state;
    const char* scene = writeScene(
        "\"engine\": \"event\", \"duration\": 0.7, \"output\": {\"probes\": [{\"quantity\": "
        "\"impacts\"}], \"step\": 0.001}",
        ", \"position\": [0, 0, 2.5], \"shapes\": [{\"geometry\": {\"type\": \"bicone\", "
        "\"radius\": 0.3, \"height\": 0.5}}]}, {\"type\": \"static\", \"shapes\": [{\"geometry\": "
        "{\"type\": \"plane\", \"normal\": [0, 0, 1]}}]",
        "");
    rbChild child = RUN("run", scene, LOAD(bicone), "--journal", rbScratch("j.csv"));
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    size_t size = 0;
    char* text = rbReadFile(rbScratch("j.csv"), &size);
    double time = strtod(strchr(text, '\n') + 1, NULL);
    free(text);
    checkNear(time, sqrt(2.0 * 2.0 / 9.81), 2e-6);
    json_t* root =
        RUN_JSON("distance", "bicone:0.3,0.5", "sphere:0.1", "--position", "0,0,1", LOAD(bicone));
    checkNear(rbNumberOf(root, "distance", NULL), 0.4, 1e-9);
    json_decref(root);
}

// B-92. On a planar joint a body neither falls nor tips: x = v t, z = 0.
static void aModuleAddsAJoint(void** state)
{
    (void)state;
    double v[4];
    const char* scene =
        writeScene("\"engine\": \"step\", \"duration\": 1, " PROBE("position"),
                   ", \"velocity\": [1, 0, 0], \"spin\": [0, 0, 2]" BALL,
                   ", \"joints\": [{\"type\": \"planar\", \"bodyB\": \"a\", \"anchor\": [0, 0, 0], "
                   "\"axis\": [0, 0, 1]}]");
    runTo(scene, MODULE(planar), v, 4);
    checkNear(v[1], 1.0, 1e-9);
    checkNear(v[3], 0.0, 1e-6);
}

// B-92. A torque T = 0.2 N m about the axis of a box with the moment I = m (a^2 + b^2) / 12 =
// 1/3 kg m^2: the angle is T t^2 / (2 I); a limit of forceMax halves it.
static void aModuleAddsAMotor(void** state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        double v[2];
        char joint[400];
        (void)snprintf(joint, sizeof joint,
                       ", \"joints\": [{\"name\": \"j\", \"type\": \"hinge\", \"bodyB\": \"a\", "
                       "\"anchor\": [0, 0, 0], \"axis\": [0, 0, 1], \"motor\": {\"type\": "
                       "\"bang-bang\", \"gain\": 0.2, \"target\": 5, \"forceMax\": %g}}]",
                       i == 0 ? 1.0 : 0.1);
        const char* scene = writeScene(
            "\"engine\": \"step\", \"duration\": 1, \"world\": {\"gravity\": [0, 0, 0]},"
            " \"output\": {\"probes\": [{\"joint\": \"j\", \"quantity\": \"angle\"}]}",
            ", \"shapes\": [{\"geometry\": {\"type\": \"box\", \"size\": [1, 1, 2]}}]", joint);
        runTo(scene, MODULE(bang), v, 2);
        checkNear(v[1], (i == 0 ? 1.0 : 0.5) * 0.2 / (2.0 / 3.0), 1e-9);
    }
    // the keys of a controller, as for the motors of the library
    const char* scene = writeScene(
        "\"engine\": \"step\", \"duration\": 1", BALL,
        ", \"joints\": [{\"type\": \"hinge\", \"bodyB\": \"a\", \"anchor\": [0, 0, 0], \"axis\": "
        "[0, 0, 1], \"motor\": {\"type\": \"bang-bang\", \"target\": 5}}]");
    rbExpectFailure(RUN("run", scene, LOAD(bang)), 2, "needs \"gain\"");
}

// B-92. Hertz, F = k d^1.5, without gravity: a ball of 2 kg at v = 1 m/s sinks by
// (5 m v^2 / (4 k))^(2/5) = 2.29 mm with k = 1e7, and leaves at the speed it came with.
static void aModuleAddsAContactLaw(void** state)
{
    (void)state;
    double v[5];
    const char* scene = writeScene(
        "\"engine\": \"step\", \"duration\": 0.1, \"world\": {\"gravity\": [0, 0, 0]}, \"step\": "
        "{\"step\": 1e-3, \"energyTolerance\": 0}, \"contact\": {\"method\": \"hertz\"}, "
        "\"output\": {\"step\": 1e-3, "
        "\"probes\": [{\"body\": \"a\", \"quantity\": \"velocity\"}, {\"quantity\": \"deepest\"}]}",
        ", \"position\": [0, 0, 0.11], \"velocity\": [0, 0, -1]" BALL
        "}, {\"type\": \"static\", \"shapes\": [{\"geometry\": {\"type\": \"plane\", \"normal\": "
        "[0, 0, 1]}}]",
        "");
    runTo(scene, MODULE(hertz), v, 5);
    print_message("leaves at %.9f m/s after a depth of %.6f m\n", v[3], v[4]);
    checkNear(v[3], 1.0, 1e-4);
    checkNear(v[4], pow(5.0 * 2.0 / 4e7, 0.4), 2e-5);
}

// B-92. Restitution e (v / 0.1 m/s)^(-1/4) above 0.1 m/s, that of the materials below: a ball that
// comes at v leaves at e v^(3/4) 0.1^(1/4), and so does a box that lands flat, in both engines, by
// any law of impact. Without gravity.
static void aModuleAddsALawOfRestitution(void** state)
{
    (void)state;
    static const struct {
        const char* settings;
        double speed;
    } cases[] = {
        {"\"engine\": \"step\", \"contact\": {\"restitution\": \"bronze\"}", 1.6},
        {"\"engine\": \"step\", \"contact\": {\"restitution\": \"bronze\", \"law\": \"newton\"}",
         1.6},
        {"\"engine\": \"step\", \"contact\": {\"restitution\": \"bronze\"}", 0.05},
        {"\"engine\": \"event\", \"event\": {\"restitution\": \"bronze\"}", 1.6},
        {"\"engine\": \"event\", \"event\": {\"restitution\": \"bronze\", \"law\": \"poisson\"}",
         1.6},
        {"\"engine\": \"event\", \"event\": {\"restitution\": \"bronze\", \"order\": "
         "\"simultaneous\"}",
         1.6},
        {"\"engine\": \"event\", \"event\": {\"restitution\": \"bronze\"}", 0.05},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        for (int k = 0; k < 4; ++k) {
            double v[4];
            char head[600];
            char bodies[600];
            (void)snprintf(head, sizeof head,
                           "\"duration\": 2, \"world\": {\"gravity\": [0, 0, 0]}, %s, "
                           "\"materials\": {\"m\": {\"restitution\": 0.8, \"friction\": %g}}, "
                           "\"output\": {\"step\": 1, \"probes\": [{\"body\": \"a\", \"quantity\": "
                           "\"velocity\"}]}",
                           cases[i].settings, k % 2 == 0 ? 0.0 : 0.3);
            (void)snprintf(bodies, sizeof bodies,
                           ", \"position\": [0, 0, 0.15], \"velocity\": [0, 0, %.17g], \"shapes\": "
                           "[{\"geometry\": {\"type\": %s}, \"material\": \"m\"}]}, {\"type\": "
                           "\"static\", \"shapes\": [{\"geometry\": {\"type\": \"plane\", "
                           "\"normal\": [0, 0, 1]}, \"material\": \"m\"}]",
                           -cases[i].speed,
                           k < 2 ? "\"sphere\", \"radius\": 0.1"
                                 : "\"box\", \"size\": [0.2, 0.2, 0.2]");
            runTo(writeScene(head, bodies, ""), MODULE(bronze), v, 4);
            double ratio = cases[i].speed / 0.1;
            checkNear(v[3], 0.8 * cases[i].speed * (ratio > 1.0 ? pow(ratio, -0.25) : 1.0), 1e-9);
        }
    }
    const char* scene =
        writeScene("\"engine\": \"event\", \"duration\": 1, \"event\": {\"restitution\": "
                   "\"bronze\"}",
                   BALL, "");
    rbExpectFailure(RUN("run", scene), 2, "(if a module has it, load that with --module FILE)");
    rbExpectFailure(RUN("run", scene, LOAD(bronze), "--certificate", rbScratch("a.rbc")), 2,
                    "a certificate cannot be checked with the law of restitution");
}

// B-92. A body that turns about x at 0.5 rad/s is tilted by 0.5 t.
static void aModuleAddsAProbe(void** state)
{
    (void)state;
    double v[2];
    const char* scene =
        writeScene("\"duration\": 3, \"world\": {\"gravity\": [0, 0, 0]}, " PROBE("tilt"),
                   ", \"spin\": [0.5, 0, 0]" BALL, "");
    runTo(scene, MODULE(tilt), v, 2);
    checkNear(v[1], 1.5, 1e-12);
    rbChild child = RUN("run", scene, LOAD(tilt), "--plot", rbScratch("a.svg"));
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    char* svg = rbReadFile(rbScratch("a.svg"), &(size_t){0});
    assert_non_null(strstr(svg, "tilt"));
    free(svg);
}

// B-92. The box rises at 8 m/s against 9.8 m/s^2: in half a second 8 t - 4.9 t^2 = 2.775 m.
static void aModuleAddsAnOutput(void** state)
{
    (void)state;
    const char* path = rbScratch("height.txt");
    rbChild child =
        RUN("run", "tumbling-box", "--duration", "0.5", "--highest", path, LOAD(highest));
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "height.txt"));
    rbFreeChild(&child);
    char* text = rbReadFile(path, &(size_t){0});
    checkNear(strtod(text, NULL), 2.775, 1e-12);
    free(text);
    rbExpectFailure(RUN("run", "tumbling-box", "--highest", "/nowhere/h.txt", LOAD(highest)), 2,
                    "cannot write /nowhere/h.txt");
    rbExpectFailure(RUN("run", "tumbling-box", "--highest", path), 2, "no option --highest");
    child = RUN("run", "--help", LOAD(highest));
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "--highest FILE"));
    rbFreeChild(&child);
}

// B-92. A mass of 2 kg on a spring of 50 N/m: the period is 2 pi / 5 s.
static void aModuleAddsAVerb(void** state)
{
    (void)state;
    const char* scene = writeScene(
        "\"engine\": \"step\", \"duration\": 1, \"world\": {\"gravity\": [0, 0, 0]}, \"step\": "
        "{\"step\": 1e-3}",
        ", \"position\": [0, 0, -1.1]" BALL,
        ", \"springs\": [{\"bodyB\": \"a\", \"anchorA\": [0, 0, 0], \"anchorB\": [0, 0, 0], "
        "\"restLength\": 1, \"stiffness\": 50}]");
    rbChild child = RUN("period", scene, "a", "--time", "6", LOAD(period));
    rbExpectSuccess(&child);
    checkNear(strtod(child.out, NULL), 2.0 * 3.14159265358979 / 5.0, 1e-5);
    rbFreeChild(&child);
    rbExpectFailure(RUN("period", scene, "a", "--time", "0.1", LOAD(period)), 1,
                    "does not swing in 0.1 s");
    rbExpectFailure(RUN("period", scene, "b", LOAD(period)), 2, "there is no body \"b\"");
    rbExpectFailure(RUN("period", scene, LOAD(period)), 2, "period needs SCENE BODY");
    rbExpectFailure(RUN("period", scene, "a"), 2, "unknown verb 'period'");
    child = RUN("--module", MODULE(period), "period", "--help");
    rbExpectSuccess(&child);
    assert_non_null(strstr(child.out, "--time SECONDS"));
    rbFreeChild(&child);
    child = RUN("--module", MODULE(period), "--help");
    assert_non_null(strstr(child.out, "rattleback period SCENE BODY"));
    rbFreeChild(&child);
}

#define MIXED                                                                                   \
    ", \"forces\": [{\"type\": \"gust\", \"velocity\": [4, 0, 0], \"drag\": 3, \"frequency\": " \
    "5}, {\"type\": \"lift\"}], \"joints\": [{\"type\": \"planar\", \"bodyB\": \"a\", "         \
    "\"anchor\": [0, 0, 0], \"axis\": [0, 1, 0]}]"

// Rows have other numbers in another order of the modules, but the same names: the same bits, and
// a recording replays.
static void theOrderOfModulesDoesNotMatter(void** state)
{
    (void)state;
    const char* scene =
        writeScene("\"engine\": \"step\", \"duration\": 1, " PROBE("position"), BALL, MIXED);
    json_t* roots[2] = {RUN_JSON("run", scene, LOAD(second), LOAD(gust), LOAD(planar), "--record",
                                 rbScratch("a.rbr")),
                        RUN_JSON("run", scene, LOAD(planar), LOAD(gust), LOAD(second), LOAD(gust))};
    assert_string_equal(json_string_value(json_object_get(roots[0], "hash")),
                        json_string_value(json_object_get(roots[1], "hash")));
    json_decref(roots[0]);
    json_decref(roots[1]);
    rbChild child = RUN("replay", rbScratch("a.rbr"), LOAD(gust), LOAD(second), LOAD(planar));
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    // without a module, replay says which names are missing, and only these
    rbChild lost = RUN("replay", rbScratch("a.rbr"), LOAD(second));
    assert_null(strstr(lost.err, "'lift'"));
    rbExpectFailure(lost, 2, "force 'gust', joint 'planar'; load them with --module");
}

static void namesOfAbsentModulesGetAHint(void** state)
{
    (void)state;
    static const char* const rests[] = {
        ", \"forces\": [{\"type\": \"lift\"}]",
        ", \"joints\": [{\"type\": \"glider\", \"bodyB\": \"a\"}]",
        ", \"contact\": {\"method\": \"hertz\"}",
        ", \"output\": {\"probes\": [{\"quantity\": \"seven\"}]}",
    };
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; ++i) {
        const char* scene = writeScene("\"engine\": \"step\", \"duration\": 1", BALL, rests[i]);
        rbExpectFailure(RUN("check", scene), 2,
                        "(if a module has it, load that with --module FILE)");
    }
    const char* driven = writeScene(
        "\"engine\": \"step\", \"duration\": 1", BALL,
        ", \"joints\": [{\"type\": \"hinge\", \"bodyB\": \"a\", \"anchor\": [0, 0, 0], \"axis\": "
        "[0, 0, 1], \"motor\": {\"type\": \"idle\", \"gain\": 1}}]");
    rbExpectFailure(RUN("check", driven), 2, "unknown type of motor \"idle\" (if a module has it");
    const char* scene =
        writeScene("\"duration\": 1", ", \"shapes\": [{\"geometry\": {\"type\": \"bicone\"}}]", "");
    rbExpectFailure(RUN("run", scene), 2, "unknown shape \"bicone\"");
}

// B-92a: each message names the module, what is wrong and the remedy; the exit code is 2.
static void oddModulesAreRefused(void** state)
{
    (void)state;
    static const struct {
        const char* module;
        const char* needle;
    } cases[] = {
        {MODULE(abi), "was compiled with headers of Rattleback 0.1 (ABI "},
        {MODULE(size), "its rbForceRow has another size"},
        {MODULE(count), "structs for modules"},
        {MODULE(no_entry), "not a module: it does not export rbModule_Register"},
        {MODULE(taken), "there is already a force named \"drag\"; register it under another"},
        {MODULE(joint), "has a part that is no basic type: \"hinge\""},
        {MODULE(verb), "there is already a verb named \"run\""},
        {MODULE(option), "an output with the option --csv already exists"},
        {MODULE(fails), "the table of winds is not on this machine"},
        {MODULE(silent), "its registration failed (a file cannot be read or written)"},
        {MODULE(mode), "changes the floating-point mode of the process"},
        {RB_SOURCE_DIR "/README.md", "cannot be loaded as a shared library"},
        {"/nowhere/a.so", "there is no module /nowhere/a.so"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char needle[400];
        bool isThere = i + 1 < sizeof cases / sizeof cases[0];
        (void)snprintf(needle, sizeof needle, isThere ? "rattleback: module %s: " : "%s",
                       isThere ? cases[i].module : "rattleback: there is no module");
        rbChild child = RUN("run", "tumbling-box", "--module", cases[i].module);
        assert_non_null(strstr(child.err, needle));
        rbExpectFailure(child, 2, cases[i].needle);
    }
    rbExpectFailure(RUN("check", "tumbling-box", "--module", MODULE(abi)), 2,
                    "compile it again with 'pkg-config --variable=module_cflags rattleback'");
    rbExpectFailure(RUN("run", "tumbling-box", "--module"), 2, "needs a value");
    rbExpectFailure(RUN("verify", "a.rbc", LOAD(gust)), 2, "no option --module");
}

// A checkpoint does not load code by itself; with the module it continues to the same bits.
static void aCheckpointAsksForItsModules(void** state)
{
    (void)state;
    const char* scene =
        writeScene("\"engine\": \"step\", \"duration\": 40, \"step\": {\"step\": 1e-4}, "
                   "\"output\": {\"step\": 1, \"probes\": []}",
                   BALL, MIXED);
    json_t* whole = RUN_JSON("run", scene, LOAD(second), LOAD(gust), LOAD(planar));
    const char* const words[] = {
        "run",          scene,   LOAD(second),        LOAD(gust), LOAD(planar),
        "--checkpoint", "c.rbk", "--every-simulated", "0.5",      NULL};
    const rbChildOptions options = {.program = NULL};
    for (int attempt = 0; attempt < 20 && !rbFileExists(rbScratch("c.rbk")); ++attempt) {
        pid_t pid = rbStartProgram(words, &options);
        // longer each time: on a slow machine it has not begun yet
        (void)nanosleep(&(struct timespec){.tv_nsec = 45000000L * (attempt + 1)}, NULL);
        (void)kill(pid, SIGTERM);
        rbChild child = rbWaitChild(pid);
        rbFreeChild(&child);
    }
    rbExpectFailure(RUN("run", "--resume", "c.rbk"), 2, "had the module m/second.so");
    rbExpectFailure(RUN("run", "--resume", "c.rbk", LOAD(second), LOAD(planar), LOAD(gust)), 2,
                    "is not as it was when the checkpoint was written");
    json_t* root = RUN_JSON("run", "--resume", "c.rbk", LOAD(second), LOAD(gust), LOAD(planar));
    assert_string_equal(json_string_value(json_object_get(root, "hash")),
                        json_string_value(json_object_get(whole, "hash")));
    json_decref(root);
    json_decref(whole);
}

// A library that is loaded into the process by force and sets the mode of fast-math: the same bits.
static void theModeOfALibraryDoesNotChangeBits(void** state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); // its library must be the first
#endif
    const char* const words[] = {"run", "dice", "--duration", "0.6", "--json", NULL};
    const rbChildOptions options = {.environment = "LD_PRELOAD=m/mode.so"};
    rbChild odd = rbRunProgramWith(words, &options);
    rbChild plain = rbRunProgram(words);
    assert_non_null(strstr(odd.err, "set another floating-point mode"));
    assert_int_equal(odd.exitCode, plain.exitCode);
    const char* hashes[2] = {strstr(odd.out, "\"hash\""), strstr(plain.out, "\"hash\"")};
    assert_non_null(hashes[1]);
    assert_memory_equal(hashes[0], hashes[1], 26);
    rbFreeChild(&odd);
    rbFreeChild(&plain);
}

RB_TEST_GROUP(test_program_modules, MODULE_TEST(aModuleAddsAForce), MODULE_TEST(aModuleAddsAShape),
              MODULE_TEST(aModuleAddsAJoint), MODULE_TEST(aModuleAddsAMotor),
              MODULE_TEST(aModuleAddsAContactLaw), MODULE_TEST(aModuleAddsALawOfRestitution),
              MODULE_TEST(aModuleAddsAProbe), MODULE_TEST(aModuleAddsAnOutput),
              MODULE_TEST(aModuleAddsAVerb), MODULE_TEST(theOrderOfModulesDoesNotMatter),
              MODULE_TEST(namesOfAbsentModulesGetAHint), MODULE_TEST(oddModulesAreRefused),
              MODULE_TEST(aCheckpointAsksForItsModules),
              MODULE_TEST(theModeOfALibraryDoesNotChangeBits));
