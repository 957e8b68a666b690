// Checkpoints: runs that are killed or stopped and continued, and files that must be refused.
#define _XOPEN_SOURCE 700

#include "base/core/random.h"
#include "checkpoint_repair.h"
#include "child.h"
#include "cli/progress.h"

#include <dirent.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// --------------------------------------------------------------------------------------- support

typedef struct Sample {
    const char* scene;
    const char* duration;
    const char* step; // between outputs
    bool hasVtk;      // which can be large
} Sample;

// All engines: forces, paths, meshes; impacts, rest, the detector of the laboratory; joints,
// schedules, motors, springs, limits; contacts, conveyors, sensors, frozen bodies.
static const Sample samples[] = {
    {"falling-with-drag", "2", "0.05", false},
    {"kinematic-carousel", "20", "0.01", false},
    {"shapes", "12", "0.05", false},
    {"tippe-top-mesh", "0.1", "0.004", false},
    {"dice", "1.2", "0.03", false},
    {"handful-of-coins", "0.4", "0.02", true},
    {"rays-billiard", "2", "0.02", false},
    {"hard-sphere-gas", "3", "0.05", false},
    {"robot-arm", "2", "0.1", true},
    {"four-bar", "2", "0.05", true},
    {"wilberforce", "4", "0.1", true},
    {"door-with-stop", "3", "0.1", true},
    {"andrews-squeezer", "0.01", "1e-3", true},
    {"conveyor", "1.5", "0.01", true},
    {"light-gates", "1", "0.02", true},
    {"pyramid", "0.3", "0.02", true},
    {"marble-run", "0.2", "0.02", false},
    {"card-house", "0.5", "0.02", true},
};
#define SAMPLE_COUNT ((int)(sizeof samples / sizeof samples[0]))

#define WORDS_MAX 32

typedef struct Command {
    const char* words[WORDS_MAX];
    int count;
    char text[8][96];
    int textCount;
} Command;

static void add(Command* command, const char* word)
{
    assert_true(command->count < WORDS_MAX - 1);
    command->words[command->count++] = word;
}

// An option with a file in a folder.
static void addFile(Command* command, const char* option, const char* folder, const char* name)
{
    char* text = command->text[command->textCount++];
    (void)snprintf(text, sizeof command->text[0], "%s/%s", folder, name);
    add(command, option);
    add(command, text);
}

static Command makeRun(const Sample* sample)
{
    Command command = {.count = 0};
    add(&command, "run");
    add(&command, sample->scene);
    add(&command, "--duration");
    add(&command, sample->duration);
    add(&command, "--dt");
    add(&command, sample->step);
    add(&command, "--json");
    return command;
}

// Every output that can be continued.
static void addOutputs(Command* command, const Sample* sample, const char* folder)
{
    assert_int_equal(mkdir(rbScratch(folder), 0777), 0);
    addFile(command, "--record", folder, "a.rbr");
    addFile(command, "--csv", folder, "a.csv");
    addFile(command, "--journal", folder, "a.jsonl");
    if (sample->hasVtk) {
        addFile(command, "--vtk", folder, "vtk");
    }
    addFile(command, "--plot", folder, "a.svg");
    addFile(command, "--png", folder, "a.png");
    add(command, "--size");
    add(command, "64x48");
}

static rbChild runCommand(const Command* command)
{
    return rbRunProgram(command->words);
}

static void compareFiles(const char* folderA, const char* folderB);

static void compareEntry(const char* folderA, const char* folderB, const char* name)
{
    char pathA[600];
    char pathB[600];
    (void)snprintf(pathA, sizeof pathA, "%s/%s", folderA, name);
    (void)snprintf(pathB, sizeof pathB, "%s/%s", folderB, name);
    struct stat status;
    assert_int_equal(stat(pathA, &status), 0);
    if (S_ISDIR(status.st_mode)) {
        compareFiles(pathA, pathB);
        return;
    }
    size_t sizes[2];
    char* a = rbReadFile(pathA, &sizes[0]);
    char* b = rbReadFile(pathB, &sizes[1]);
    if (sizes[0] != sizes[1] || memcmp(a, b, sizes[0]) != 0) {
        fail_msg("%s and %s differ", pathA, pathB);
    }
    free(a);
    free(b);
}

static int countEntries(const char* folder)
{
    int count = 0;
    DIR* directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory) != NULL) {
        ++count;
    }
    (void)closedir(directory);
    return count;
}

// The same names with the same bytes.
static void compareFiles(const char* folderA, const char* folderB)
{
    DIR* directory = opendir(folderA);
    assert_non_null(directory);
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] != '.') {
            compareEntry(folderA, folderB, entry->d_name);
        }
    }
    (void)closedir(directory);
    assert_int_equal(countEntries(folderA), countEntries(folderB));
}

// The summary without what does not concern physics: the clock, names of files, and factors of
// joints, which a restart computes again.
static json_t* readSummary(const char* text)
{
    json_t* root = json_loads(text, 0, NULL);
    assert_non_null(root);
    (void)json_object_del(root, "wallTime");
    (void)json_object_del(root, "files");
    (void)json_object_del(json_object_get(root, "steps"), "factorizations");
    assert_non_null(json_object_get(root, "hash"));
    return root;
}

// Names the first keys that differ: cmocka cuts long messages.
static void compareSummaries(const char* a, const char* b)
{
    json_t* roots[2] = {readSummary(a), readSummary(b)};
    const char* key;
    json_t* value;
    json_object_foreach(roots[0], key, value)
    {
        json_t* other = json_object_get(roots[1], key);
        if (json_equal(value, other) == 0) {
            char* texts[2] = {json_dumps(value, JSON_ENCODE_ANY),
                              json_dumps(other, JSON_ENCODE_ANY)};
            print_error("%s: %s\n%s: %s\n", key, texts[0], key, texts[1]);
        }
    }
    assert_true(json_equal(roots[0], roots[1]));
    json_decref(roots[0]);
    json_decref(roots[1]);
}

static void sleepFor(double seconds)
{
    struct timespec span = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&span, NULL);
}

static double clockNow(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---------------------------------------------------------------------------------------- killed

// A run that is killed at random moments and continued until it is complete; returns how often it
// was continued.
static int runAndKill(const Sample* sample, double duration, rbRandom* random, rbChild* last)
{
    Command first = makeRun(sample);
    addOutputs(&first, sample, "k");
    add(&first, "--checkpoint");
    add(&first, "c.rbk");
    add(&first, "--every");
    add(&first, "0.01");
    Command next = {.words = {"run", "--resume", "c.rbk", "--json"}, .count = 4};
    const rbChildOptions options = {.program = NULL};
    int resumed = 0;
    int kills = 2 + rbRandom_Index(random, 5);
    for (;; --kills) {
        bool isBegun = rbFileExists(rbScratch("c.rbk"));
        resumed += isBegun ? 1 : 0;
        pid_t pid = rbStartProgram(isBegun ? next.words : first.words, &options);
        if (kills > 0) {
            sleepFor(rbRandom_Range(random, 0.0, duration));
            (void)kill(pid, SIGKILL);
        }
        *last = rbWaitChild(pid);
        if (last->exitCode >= 0) {
            return resumed;
        }
        rbFreeChild(last);
    }
}

// Show 2 of issue 23. At level long: 100 random moments.
static void aKilledRunContinuesToTheSameBits(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(71)};
    int wanted = rbTest_Count(10, 100);
    int first = (int)(rbRandom_Bits(&random) % SAMPLE_COUNT);
    int moments = 0;
    for (int i = 0; moments < wanted && i < 20 * wanted; ++i) {
        const Sample* sample = &samples[(first + 7 * i) % SAMPLE_COUNT];
        Command whole = makeRun(sample);
        addOutputs(&whole, sample, "r");
        double start = clockNow();
        rbChild expected = runCommand(&whole);
        double duration = clockNow() - start;
        assert_true(expected.exitCode == 0 || expected.exitCode == 3);
        rbChild child;
        moments += runAndKill(sample, duration, &random, &child);
        print_message("%s: %d of %d moments\n", sample->scene, moments, wanted);
        assert_string_equal(child.err, expected.err);
        assert_int_equal(child.exitCode, expected.exitCode);
        compareSummaries(expected.out, child.out);
        compareFiles(rbScratch("r"), rbScratch("k"));
        assert_false(rbFileExists(rbScratch("c.rbk")));
        rbFreeChild(&expected);
        rbFreeChild(&child);
        rbRemoveScratch();
        (void)rbMakeScratch();
    }
    assert_true(moments >= wanted);
}

// --------------------------------------------------------------------------------------- stopped

static const Sample longRun = {"governor", "4", "0.1", true};

// Waits until a run has written some checkpoints, or has ended.
static void awaitCheckpoints(pid_t pid, int count)
{
    ino_t last = 0;
    siginfo_t info = {.si_pid = 0};
    while (count > 0 && info.si_pid == 0) {
        struct stat status;
        if (stat(rbScratch("c.rbk"), &status) == 0 && status.st_ino != last) {
            last = status.st_ino;
            --count;
        }
        sleepFor(0.0005);
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    }
}

// Starts a run with outputs in the folder "k" and ends it by a signal after some checkpoints. With
// a kill, the run may have gone on after the last. A run that ends before the signal is repeated.
static void leaveRun(const Sample* sample, int signalNumber)
{
    Command command = makeRun(sample);
    addOutputs(&command, sample, "k");
    add(&command, "--checkpoint");
    add(&command, "c.rbk");
    add(&command, "--every-simulated");
    add(&command, "0.01");
    const rbChildOptions options = {.program = NULL};
    for (int attempt = 0; attempt < 20 && !rbFileExists(rbScratch("c.rbk")); ++attempt) {
        pid_t pid = rbStartProgram(command.words, &options);
        awaitCheckpoints(pid, 3);
        (void)kill(pid, signalNumber);
        rbChild child = rbWaitChild(pid);
        assert_string_equal(child.err, "");
        bool isKilled = signalNumber == SIGKILL && rbFileExists(rbScratch("c.rbk"));
        assert_int_equal(child.exitCode, isKilled ? -1 : 0);
        rbFreeChild(&child);
    }
    assert_true(rbFileExists(rbScratch("c.rbk")));
}

static void expectTheWholeRun(const Sample* sample, const rbChild* child)
{
    assert_string_equal(child->err, "");
    assert_int_equal(child->exitCode, 0);
    Command whole = makeRun(sample);
    addOutputs(&whole, sample, "r");
    rbChild expected = runCommand(&whole);
    assert_int_equal(expected.exitCode, 0);
    compareSummaries(expected.out, child->out);
    compareFiles(rbScratch("r"), rbScratch("k"));
    rbFreeChild(&expected);
}

// A stopped run completes its files; they are continued all the same.
static void aStoppedRunContinues(void** state)
{
    (void)state;
    leaveRun(&longRun, SIGTERM);
    assert_true(rbFileExists(rbScratch("k/a.csv")));
    assert_false(rbFileExists(rbScratch("k/a.csv.part")));
    rbChild child = RUN("run", "--resume", "c.rbk", "--json");
    expectTheWholeRun(&longRun, &child);
    rbFreeChild(&child);
}

// The words of the run may be repeated, as a script does.
static void theCommandLineMayBeRepeated(void** state)
{
    (void)state;
    leaveRun(&longRun, SIGKILL);
    rbChild child = RUN("run", "governor", "--duration", "4", "--csv", "k/a.csv", "--checkpoint",
                        "c.rbk", "--resume", "c.rbk", "--json");
    expectTheWholeRun(&longRun, &child);
    rbFreeChild(&child);
}

static void pushesAndSettingsAreContinued(void** state)
{
    (void)state;
    static const char lines[] =
        "{\"time\": 0.1, \"do\": \"set\", \"target\": \"world\", \"key\": \"gravity\","
        " \"value\": [0, 0, -4]}\n"
        "{\"time\": 0.2, \"do\": \"push\", \"body\": 1, \"point\": [0, 0, 0.55],"
        " \"impulse\": [0.1, 0, 0]}\n"
        "{\"time\": 0.9, \"do\": \"spin\", \"body\": 1, \"impulse\": [0, 0, 0.01]}\n";
    rbWriteText(rbScratch("a.jsonl"), lines);
    rbChild child = RUN("run", "pyramid", "--duration", "1", "--actions", "a.jsonl", "--record",
                        "r.rbr", "--json");
    assert_int_equal(child.exitCode, 0);
    json_t* whole = json_loads(child.out, 0, NULL);
    rbFreeChild(&child);
    const rbChildOptions options = {.program = NULL};
    static const char* const words[] = {
        "run",      "pyramid", "--duration",   "1",     "--actions",         "a.jsonl",
        "--record", "k.rbr",   "--checkpoint", "c.rbk", "--every-simulated", "0.3",
        NULL};
    pid_t pid = rbStartProgram(words, &options);
    awaitCheckpoints(pid, 3); // the start, 0.3 s and 0.6 s
    (void)kill(pid, SIGKILL);
    rbChild killed = rbWaitChild(pid);
    rbFreeChild(&killed);
    assert_true(rbFileExists(rbScratch("c.rbk")));
    child = RUN("run", "--resume", "c.rbk", "--json");
    assert_int_equal(child.exitCode, 0);
    json_t* resumed = json_loads(child.out, 0, NULL);
    rbFreeChild(&child);
    assert_string_equal(json_string_value(json_object_get(resumed, "hash")),
                        json_string_value(json_object_get(whole, "hash")));
    size_t sizes[2];
    char* a = rbReadFile(rbScratch("r.rbr"), &sizes[0]);
    char* b = rbReadFile(rbScratch("k.rbr"), &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(a, b, sizes[0]);
    free(a);
    free(b);
    json_decref(whole);
    json_decref(resumed);
}

// -------------------------------------------------------------------------- refused at the start

static void whatCannotContinueIsRefusedBeforeTheRun(void** state)
{
    (void)state;
    rbExpectFailure(RUN("run", "tumbling-box", "--html", "a.html", "--checkpoint", "c.rbk"), 2,
                    "--html cannot be continued");
    rbExpectFailure(RUN("run", "tumbling-box", "--mp4", "a.mp4", "--checkpoint", "c.rbk"), 2,
                    "--mp4 cannot be continued");
    rbExpectFailure(RUN("run", "tumbling-box", "--csv", "-", "--checkpoint", "c.rbk"), 2,
                    "give a file name");
    rbExpectFailure(RUN("run", "tumbling-box", "--csv", "/dev/null", "--checkpoint", "c.rbk"), 2,
                    "not a file on disk");
    rbExpectFailure(RUN("run", "tumbling-box", "--csv", "c.rbk", "--checkpoint", "c.rbk"), 2,
                    "the same file");
    rbExpectFailure(RUN("run", "tumbling-box", "--checkpoint", "none/c.rbk"), 2,
                    "make the folder first");
    rbExpectFailure(RUN("run", "tumbling-box", "--every", "3"), 2, "there is no --checkpoint");
    rbExpectFailure(RUN("run", "tumbling-box", "--checkpoint", "c.rbk", "--every", "-1"), 2,
                    "--every is -1");
    rbExpectFailure(RUN("run"), 2, "run needs SCENE");
    rbWriteText(rbScratch("a.jsonl"), "{\"time\": 0.1, \"do\": \"delete\", \"body\": 0}\n");
    rbExpectFailure(RUN("run", "tumbling-box", "--actions", "a.jsonl", "--checkpoint", "c.rbk"), 2,
                    "action 1 changes bodies or joints");
    rbExpectFailure(RUN("run", "tumbling-box", "--checkpoint", "a.jsonl"), 2,
                    "exists and is not a checkpoint");
    assert_false(rbFileExists(rbScratch("c.rbk")));
    assert_false(rbFileExists(rbScratch("a.html.part")));
}

// ------------------------------------------------------------------------- refused when resuming

static uint64_t hashTree(const char* folder)
{
    uint64_t sum = 0;
    DIR* directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char path[600];
        struct stat status;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        uint64_t hash = rbHashBytes(RB_HASH_SEED, entry->d_name, strlen(entry->d_name));
        if (entry->d_name[0] == '.' || stat(path, &status) != 0) {
            continue;
        }
        if (S_ISDIR(status.st_mode)) {
            sum += hash ^ hashTree(path);
        } else {
            size_t size;
            char* bytes = rbReadFile(path, &size);
            sum += rbHashBytes(hash, bytes, size);
            free(bytes);
        }
    }
    (void)closedir(directory);
    return sum;
}

// Resuming c.rbk is refused with this message, and no file is changed.
static void expectRefusal(const char* needle)
{
    uint64_t before = hashTree(rbScratch("."));
    rbExpectFailure(RUN("run", "--resume", "c.rbk"), 2, needle);
    assert_true(hashTree(rbScratch(".")) == before);
}

static void damagedCheckpointsAreRefused(void** state)
{
    (void)state;
    leaveRun(&longRun, SIGKILL);
    size_t size;
    char* good = rbReadFile(rbScratch("c.rbk"), &size);
    char* bad = malloc(size);
    rbRandom random = {rbTest_Seed(72)};
    rbWriteFile(rbScratch("c.rbk"), good, 0);
    expectRefusal("this is not a checkpoint");
    for (int i = 0; i < rbTest_Count(12, 200); ++i) {
        size_t length =
            i < 2 ? 8 + 23 * (size_t)i : 8 + (size_t)(rbRandom_Bits(&random) % (size - 8));
        rbWriteFile(rbScratch("c.rbk"), good, length);
        expectRefusal("cut off");
    }
    for (int i = 0; i < rbTest_Count(24, 400); ++i) {
        size_t at = 8 + (size_t)(rbRandom_Bits(&random) % (size - 8));
        memcpy(bad, good, size);
        bad[at] ^= (char)(1 << (rbRandom_Bits(&random) % 8));
        rbWriteFile(rbScratch("c.rbk"), bad, size);
        expectRefusal("the checkpoint is damaged");
    }
    memcpy(bad, good, size);
    bad[3] ^= 1;
    rbWriteFile(rbScratch("c.rbk"), bad, size);
    expectRefusal("this is not a checkpoint");
    rbWriteFile(rbScratch("c.rbk"), good, size);
    rbChild child = RUN("run", "--resume", "c.rbk", "--json");
    expectTheWholeRun(&longRun, &child);
    rbFreeChild(&child);
    free(good);
    free(bad);
}

// Values that the checksums do not reveal: bytes of a part are changed and the checksums corrected;
// the snapshot of the world keeps its own. A number may still be possible: then the run ends.
// Otherwise it is refused, and nothing is changed.
static bool tryHostile(unsigned char* bad, size_t size, int part, rbRandom* random)
{
    size_t starts[REPAIR_PARTS] = {0};
    size_t sizes[REPAIR_PARTS] = {0};
    repairCheckpoint(bad, size, starts, sizes);
    assert_true(sizes[part] > 0);
    for (int k = 0; k < 1 + rbRandom_Index(random, 3); ++k) {
        size_t at = starts[part] + (size_t)(rbRandom_Unit(random) * (double)sizes[part]);
        bad[at] = (unsigned char)rbRandom_Bits(random);
    }
    repairCheckpoint(bad, size, starts, sizes);
    rbWriteFile(rbScratch("c.rbk"), bad, size);
    uint64_t before = hashTree(rbScratch("k"));
    rbChild child = RUN("run", "--resume", "c.rbk", "--quiet");
    bool isRefused = child.exitCode == 2;
    if (isRefused) {
        assert_true(strlen(child.err) > 20);
        assert_true(hashTree(rbScratch("k")) == before);
    } else {
        assert_true(child.exitCode == 0 || child.exitCode == 3);
    }
    rbFreeChild(&child);
    return isRefused;
}

static void hostileCheckpointsAreRefused(void** state)
{
    (void)state;
    rbRandom random = {rbTest_Seed(73)};
    const Sample sample = {"door-with-stop", "2", "0.1", true};
    int refused = 0;
    int count = rbTest_Count(40, 800);
    char* good = NULL;
    size_t size = 0;
    for (int i = 0; i < count; ++i) {
        if (good == NULL) {
            leaveRun(&sample, SIGKILL);
            good = rbReadFile(rbScratch("c.rbk"), &size);
        }
        unsigned char* bad = malloc(size);
        memcpy(bad, good, size);
        bool isRefused = tryHostile(bad, size, i % REPAIR_PARTS, &random);
        refused += isRefused ? 1 : 0;
        free(bad);
        if (!isRefused) { // it is complete: another one
            free(good);
            good = NULL;
            rbRemoveScratch();
            (void)rbMakeScratch();
        }
    }
    free(good);
    print_message("%d of %d refused\n", refused, count);
    assert_true(2 * refused > count);
}

// A checkpoint of another version, of another build.
static void otherProgramsAreNamed(void** state)
{
    (void)state;
    leaveRun(&longRun, SIGKILL);
    size_t size;
    char* good = rbReadFile(rbScratch("c.rbk"), &size);
    unsigned char* bad = malloc(size);
    size_t starts[REPAIR_PARTS] = {0};
    size_t sizes[REPAIR_PARTS] = {0};
    memcpy(bad, good, size);
    rbPutWord32(bad + 8, 2);
    repairHead(bad, RB_HASH_SEED);
    rbWriteFile(rbScratch("c.rbk"), bad, size);
    expectRefusal("format version 2, this program reads 1; resume with the program that wrote it");
    memcpy(bad, good, size);
    repairCheckpoint(bad, size, starts, sizes);
    bad[starts[0]] ^= 8; // the first digit of the version
    repairCheckpoint(bad, size, starts, sizes);
    rbWriteFile(rbScratch("c.rbk"), bad, size);
    expectRefusal("was written by rattleback 8");
    memcpy(bad, good, size);
    bad[starts[0] + sizes[0] - 1] ^= 1; // the hash of the program
    repairCheckpoint(bad, size, starts, sizes);
    rbWriteFile(rbScratch("c.rbk"), bad, size);
    expectRefusal("by another build of rattleback");
    free(good);
    free(bad);
}

static const char meshScene[] =
    "{\"rattleback\": 1, \"name\": \"m\", \"title\": \"M\", \"duration\": 20,"
    " \"output\": {\"step\": 0.001}, \"engine\": \"flight\","
    " \"bodies\": [{\"name\": \"a\", \"velocity\": [1, 2, 3], \"shapes\": [{\"geometry\":"
    " {\"type\": \"mesh\", \"file\": \"t.obj\"}}]}]}";
static const char meshText[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                               "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

static void otherScenesAndOutputsAreNamed(void** state)
{
    (void)state;
    rbWriteText(rbScratch("m.json"), meshScene);
    rbWriteText(rbScratch("t.obj"), meshText);
    const Sample sample = {"m.json", "20", "0.04", true};
    leaveRun(&sample, SIGKILL);
    rbWriteText(rbScratch("t.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 2\n"
                                    "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    expectRefusal("'t.obj' is not as it was");
    rbWriteText(rbScratch("t.obj"), meshText);
    char* other = strdup(meshScene);
    *strstr(other, "1, 2, 3") = '4';
    rbWriteText(rbScratch("m.json"), other);
    free(other);
    expectRefusal("'m.json' is not as it was");
    rbWriteText(rbScratch("m.json"), meshScene);
    rbExpectFailure(RUN("run", "pyramid", "--resume", "c.rbk"), 2, "is of a run of 'm.json'");
    rbExpectFailure(RUN("run", "--resume", "c.rbk", "--dt", "0.5"), 2,
                    "did not have the option --dt 0.5");
    rbExpectFailure(RUN("run", "m.json", "--checkpoint", "c.rbk"), 2,
                    "the checkpoint of an unfinished run; continue it with");
    rbExpectFailure(RUN("run", "c.rbk"), 2, "'rattleback run --resume' continues it");
    rbExpectFailure(RUN("run", "--resume", "m.json"), 2, "this is not a checkpoint");
    rbExpectFailure(RUN("run", "--resume", "none.rbk"), 2, "none.rbk");
    size_t size;
    char* csv = rbReadFile(rbScratch("k/a.csv.part"), &size);
    csv[100] ^= 1;
    rbWriteFile(rbScratch("k/a.csv.part"), csv, size);
    expectRefusal("cannot continue 'k/a.csv'");
    csv[100] ^= 1;
    rbWriteFile(rbScratch("k/a.csv.part"), csv, size);
    assert_int_equal(rename(rbScratch("k/vtk/m_000000.vtp"), rbScratch("v")), 0);
    expectRefusal("m_000000.vtp', written before the checkpoint, is missing");
    assert_int_equal(rename(rbScratch("v"), rbScratch("k/vtk/m_000000.vtp")), 0);
    rbChild child = RUN("run", "--resume", "c.rbk", "--json");
    expectTheWholeRun(&sample, &child);
    rbFreeChild(&child);
    free(csv);
}

// ---------------------------------------------------------------------------------------- others

static void runSaysWhichVerbARecordingNeeds(void** state)
{
    (void)state;
    rbChild child = RUN("run", "tumbling-box", "--record", "a.rbr", "--quiet");
    rbExpectSuccess(&child);
    rbFreeChild(&child);
    rbExpectFailure(RUN("run", "a.rbr"), 2, "'rattleback replay' runs it again");
}

// A log gets a line every ten seconds.
static void aLogGetsALineEveryTenSeconds(void** state)
{
    (void)state;
    FILE* file = fopen(rbScratch("log"), "w+");
    assert_non_null(file);
    rbProgress progress = {.file = file, .name = "x", .duration = 50.0};
    for (int i = 0; i <= 250; ++i) {
        rbProgress_Show(&progress, 0.1 * i, 0.1 * i);
    }
    rbProgress_End(&progress);
    (void)fclose(file);
    size_t size;
    char* text = rbReadFile(rbScratch("log"), &size);
    assert_string_equal(text, "rattleback: progress: x  t = 10 s of 50 s   20 %  40 s left\n"
                              "rattleback: progress: x  t = 20 s of 50 s   40 %  30 s left\n");
    free(text);
}

RB_TEST_GROUP(test_checkpoints, SCRATCH_TEST(aKilledRunContinuesToTheSameBits),
              SCRATCH_TEST(aStoppedRunContinues), SCRATCH_TEST(theCommandLineMayBeRepeated),
              SCRATCH_TEST(pushesAndSettingsAreContinued),
              SCRATCH_TEST(whatCannotContinueIsRefusedBeforeTheRun),
              SCRATCH_TEST(damagedCheckpointsAreRefused),
              SCRATCH_TEST(hostileCheckpointsAreRefused), SCRATCH_TEST(otherProgramsAreNamed),
              SCRATCH_TEST(otherScenesAndOutputsAreNamed),
              SCRATCH_TEST(runSaysWhichVerbARecordingNeeds),
              SCRATCH_TEST(aLogGetsALineEveryTenSeconds));
