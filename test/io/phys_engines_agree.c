// Both engines move the same bodies: the event engine, which has no steps, and the step engine,
// whose error falls with its steps. Bodies that touch from the start, and bounces.
#include "scene_run.h"

#include <math.h>

#define EVENT_TOLERANCE "1e-08" // m; the event engine is off by about 100 times as much
#define STEPS 4

// One body of 1 kg on a plane; in the step engine it touches at the distance of EVENT_TOLERANCE.
typedef struct Motion {
    const char* name;
    const char* body;        // geometry, pose and motion
    const char* material;    // of both
    const char* contactTime; // of steps
    double duration;         // s
    double coarsest;         // s, of STEPS steps, each half of the last
    double order;            // least, while the difference exceeds the floor; 0: not stated
    double floor;            // m, of the event engine
} Motion;

// The coin rolls on its rim in steady precession (see phys_rolling.c: radius 0.1 m, thickness
// 10 mm, tilt 0.8). The rod slides along its own plane: where the direction of slip changes, the
// step engine is of order 1 only (measured; pushed sideways at 0.5 m/s, the rod is 4e-6 m off at
// 1 ms and 2e-6 m at 0.5 ms). Rods are struck with and without restitution, by the same law. The
// egg slips in changing directions and jumps: order 1, with a bound from what was measured.
static const Motion motions[] = {
    {"ball that bounces",
     "\"position\": [0, 0, 0.3], \"velocity\": [2, 0, 0], \"spin\": [3, 5, 20], \"shapes\": "
     "[{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}, \"material\": \"m\"}]",
     "{\"restitution\": 0.6, \"friction\": 0.2}", "bisection", 0.6, 1e-3, 0.0, 1e-7},
    {"ball that slides and rolls",
     "\"position\": [0, 0, 0.10000001], \"velocity\": [7, 0, 0], \"spin\": [0, 0, 3], \"shapes\": "
     "[{\"geometry\": {\"type\": \"sphere\", \"radius\": 0.1}, \"material\": \"m\"}]",
     "{\"restitution\": 0, \"friction\": 0.2}", "step", 1.0, 8e-3, 1.8, 1e-7},
    {"coin that rolls",
     "\"position\": [0.06331547695274078, 0.0, 0.0752191526366881], \"velocity\": [0.0, "
     "0.5643998580741486, 0.0], \"spin\": [-8.274541845205183, 0.0, 0.8777341166217649], "
     "\"orientation\": {\"axis\": [0, 1, 0], \"angle\": 0.8}, \"shapes\": [{\"geometry\": "
     "{\"type\": \"cylinder\", \"radius\": 0.1, \"length\": 0.01}, \"material\": \"m\"}]",
     "{\"restitution\": 0, \"friction\": 2}", "step", 0.25, 2e-3, 1.9, 2e-7},
    {"rod that slides",
     "\"position\": [0.0, 0.0, 0.23939565047259317], \"velocity\": [3, 0, 0], \"orientation\": "
     "{\"axis\": [0, 1, 0], \"angle\": 0.5}, \"shapes\": [{\"geometry\": {\"type\": \"capsule\", "
     "\"radius\": 0.02, \"length\": 0.5}, \"material\": \"m\"}]",
     "{\"restitution\": 0, \"friction\": 0.1}", "step", 0.2, 4e-3, 1.8, 1e-7},
    {"egg that spins",
     "\"position\": [0, 0, 0.02106339283069888], \"orientation\": {\"axis\": [0, 1, 0], \"angle\": "
     "-0.3}, \"spin\": [0, 0, 150], \"shapes\": [{\"geometry\": {\"type\": \"ellipsoid\", "
     "\"semiAxes\": [0.03, 0.02, 0.02]}, \"material\": \"m\"}]",
     "{\"restitution\": 0, \"friction\": 0.3}", "step", 0.1, 5e-4, 0.0, 1e-4},
    {"rod that is struck",
     "\"position\": [0, 0, 0.3], \"orientation\": {\"axis\": [0, 1, 0], \"angle\": 0.5}, "
     "\"velocity\": [0.5, 0.1, 0], \"shapes\": [{\"geometry\": {\"type\": \"capsule\", "
     "\"radius\": 0.02, \"length\": 0.5}, \"material\": \"m\"}]",
     "{\"restitution\": 0.3, \"friction\": 0.3}", "bisection", 0.25, 1e-3, 0.0, 1e-6},
    {"rod that is struck and stays",
     "\"position\": [0, 0, 0.3], \"orientation\": {\"axis\": [0, 1, 0], \"angle\": 0.5}, "
     "\"velocity\": [0.5, 0.1, 0], \"shapes\": [{\"geometry\": {\"type\": \"capsule\", "
     "\"radius\": 0.02, \"length\": 0.5}, \"material\": \"m\"}]",
     "{\"restitution\": 0, \"friction\": 0.3}", "bisection", 0.25, 1e-3, 0.0, 1e-6},
};
#define MOTIONS (sizeof motions / sizeof motions[0])

static void override(rbScene* scene, const char* change)
{
    rbError error = {0};
    if (rbScene_Override(scene, change, &error) != RB_STATUS_OK) {
        fail_msg("%s", formatError(&error));
    }
}

static const char* writeMotion(const Motion* c, const char* engine, char* text, size_t size)
{
    (void)snprintf(text, size,
                   "{\"rattleback\": 1, \"engine\": \"%s\", \"duration\": %g, \"materials\": "
                   "{\"m\": %s}, \"output\": {\"probes\": [{\"body\": \"b\", \"quantity\": "
                   "\"center\"}, {\"name\": \"p\", \"body\": \"b\", \"quantity\": \"point\", "
                   "\"point\": [0.03, 0.02, 0.01]}]}, \"bodies\": [{\"name\": \"floor\", "
                   "\"type\": \"static\", \"shapes\": [{\"geometry\": {\"type\": \"plane\", "
                   "\"normal\": [0, 0, 1]}, \"material\": \"m\"}]}, {\"name\": \"b\", \"mass\": 1, "
                   "%s}]}",
                   engine, c->duration, c->material, c->body);
    return text;
}

// Where the center and a point of the body are at the end; step 0: by the event engine.
static void readEnd(Run* run, double out[6])
{
    static const char* const columns[6] = {"b.center.x", "b.center.y", "b.center.z",
                                           "p.x",        "p.y",        "p.z"};
    for (int k = 0; k < 6; ++k) {
        out[k] = get(run, columns[k]);
    }
}

static void runMotion(const Motion* c, double step, double out[6])
{
    char text[2000];
    const char* engine = step > 0.0 ? "step" : "event";
    Run run = {.scene = readText(writeMotion(c, engine, text, sizeof text))};
    char change[256];
    if (step > 0.0) {
        (void)snprintf(change, sizeof change, "step={\"step\": %.17g, \"tolerance\": 1e-10}", step);
        override(run.scene, change);
        (void)snprintf(change, sizeof change,
                       "contact={\"shell\": " EVENT_TOLERANCE ", \"tolerance\": 1e-10, "
                       "\"velocityTolerance\": 1e-10, \"restSpeed\": 0, \"contactTime\": \"%s\"}",
                       c->contactTime);
        override(run.scene, change);
    } else {
        override(run.scene, "event={\"tolerance\": " EVENT_TOLERANCE "}");
    }
    run.world = makeWorld(run.scene);
    go(&run, c->duration);
    readEnd(&run, out);
    endRun(&run);
}

static double getOff(const double a[6], const double b[6])
{
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(sum);
}

// The error of the last step by Richardson, a third of the change, bounds the difference of the
// engines together with the floor.
static void checkMotion(const Motion* c)
{
    double truth[6];
    double ends[STEPS][6];
    runMotion(c, 0.0, truth);
    double last = INFINITY;
    for (int i = 0; i < STEPS; ++i) {
        runMotion(c, ldexp(c->coarsest, -i), ends[i]);
        double off = getOff(ends[i], truth);
        double change = i > 0 ? getOff(ends[i], ends[i - 1]) : INFINITY;
        print_message("%-28s step %.3g s: %.2g m from the event engine, order %.2f, %.2g m from "
                      "the last step\n",
                      c->name, ldexp(c->coarsest, -i), off, log2(last / off), change);
        if (c->order > 0.0 && off > 3.0 * c->floor && i > 0) {
            checkBelow(c->order, log2(last / off));
        }
        if (c->order > 0.0 && i > 0) {
            checkBelow(off, change / 3.0 + c->floor);
        }
        last = off;
    }
    if (!(c->order > 0.0)) {
        checkBelow(last, c->floor);
    }
}

static void stepsConvergeToEvents(void** state)
{
    (void)state;
    for (size_t i = 0; i < MOTIONS; ++i) {
        checkMotion(&motions[i]);
    }
}

// At the accuracy asked for; 0: by the event engine.
static void runExact(const Motion* c, double asked, const char* eventTolerance, double out[6])
{
    char text[2000];
    char change[256];
    const char* engine = asked > 0.0 ? "step" : "event";
    Run run = {.scene = readText(writeMotion(c, engine, text, sizeof text))};
    if (asked > 0.0) {
        (void)snprintf(change, sizeof change, "step={\"accuracy\": \"exact\", \"errorMax\": %g}",
                       asked);
    } else {
        (void)snprintf(change, sizeof change, "event={\"tolerance\": %s}", eventTolerance);
    }
    override(run.scene, change);
    run.world = makeWorld(run.scene);
    go(&run, c->duration);
    readEnd(&run, out);
    if (asked > 0.0) {
        checkBelow(rbWorld_GetStepStatistics(run.world).accuracyEstimate, asked);
    }
    endRun(&run);
}

// The event engine is off by about four times what its tolerance of 1e-9 m changes against 1e-10 m:
// most for rods, which bounce and come to rest.
static void exactStepsAgreeWithEvents(void** state)
{
    (void)state;
    for (size_t i = 0; i < MOTIONS; ++i) {
        double coarse[6];
        double truth[6];
        runExact(&motions[i], 0.0, "1e-9", coarse);
        runExact(&motions[i], 0.0, "1e-10", truth);
        double floor = 4.0 * getOff(coarse, truth);
        for (int k = 0; k < 2; ++k) {
            double asked = k == 0 ? 1e-7 : 1e-9;
            double end[6];
            runExact(&motions[i], asked, NULL, end);
            double off = getOff(end, truth);
            print_message("%-28s asked %.0e m: %.2g m from the event engine, good to %.2g "
                          "m\n",
                          motions[i].name, asked, off, floor);
            checkBelow(off, asked + floor);
        }
    }
}

RB_TEST_GROUP(phys_engines_agree, cmocka_unit_test(stepsConvergeToEvents),
              cmocka_unit_test(exactStepsAgreeWithEvents));
