// rattleback rays: bodies on paths, frame by frame, and the collisions found by rays.
#include "base/core/memory.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/rays_picture.h"
#include "cli/scenes.h"
#include "laboratory/scene_rays.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LINES_MAX 200 // collisions printed; --json has all

// Applies the options that override the scene.
static bool readSettings(const rbArguments* arguments, rbRayFrameSettings* settings)
{
    double count = settings->rays.count;
    double seed = (double)settings->rays.seed;
    if (!rbArguments_GetNumber(arguments, "--count", 0.0, RB_RAYS_COUNT_MAX, &count) ||
        !rbArguments_GetNumber(arguments, "--seed", 0.0, 0x1p53, &seed) ||
        !rbArguments_GetNumber(arguments, "--frame-rate", 1e-6, 1e9, &settings->frameRate)) {
        return false;
    }
    if (count != floor(count) || seed != floor(seed)) {
        (void)rbFail("--count and --seed must be integers; found %g and %g", count, seed);
        return false;
    }
    settings->rays.count = (int)count;
    settings->rays.seed = (uint64_t)seed;
    const char* pattern = rbArguments_Get(arguments, "--pattern");
    if (pattern != NULL) {
        settings->rays.pattern = rbRayPattern_Find(pattern);
        if (settings->rays.pattern == RB_RAYS_PATTERN_COUNT) {
            (void)rbFail("unknown pattern '%s'; choose uniform or lattice", pattern);
            return false;
        }
    }
    const char* mode = rbArguments_Get(arguments, "--mode");
    if (mode != NULL) {
        settings->mode = rbFrameMode_Find(mode);
        if (settings->mode == RB_FRAMES_MODE_COUNT) {
            (void)rbFail("unknown mode '%s'; choose stop or log", mode);
            return false;
        }
    }
    settings->isExact = rbArguments_Has(arguments, "--exact");
    settings->isCompared = !settings->isExact;
    if (rbArguments_Has(arguments, "--all-pairs")) {
        settings->isAccelerated = false;
    }
    return true;
}

// ---------------------------------------------------------------------------------------- report

static void printVector(const char* lead, rbVec3 v)
{
    double numbers[3] = {v.x, v.y, v.z};
    for (int i = 0; i < 3; ++i) {
        // avoid negative zeros
        numbers[i] = fabs(numbers[i]) < 5e-7 ? 0.0 : numbers[i];
    }
    (void)printf("%s(%9.6f, %9.6f, %9.6f)", lead, numbers[0], numbers[1], numbers[2]);
}

// How a collision was found. Bodies that overlap at the beginning of a frame touched in an earlier
// frame, where all rays missed.
static const char* getFinding(const rbRayCollision* c)
{
    return c->isExact ? "exact" : c->isInside ? "overlap" : "sampled";
}

static void printCollision(const rbRayFrames* frames, const rbRayCollision* c)
{
    char bodies[160];
    (void)snprintf(bodies, sizeof bodies, "%s on %s", rbRayFrames_GetBodyName(frames, c->bodyA),
                   rbRayFrames_GetBodyName(frames, c->bodyB));
    (void)printf("%12.6f %7" PRId64 "  %-18s", c->time, c->frame, bodies);
    printVector(" ", c->point);
    printVector("  ", c->normal);
    (void)printf("  %10.6f  %-7s", c->way, getFinding(c));
    if (c->isCompared) {
        (void)printf("  %+.3e", c->error);
    }
    (void)printf("\n");
}

static void printMissed(const rbRayFrames* frames, int count)
{
    size_t size = (size_t)count * sizeof(rbRayCollision);
    rbRayCollision* missed = rbAlloc(size);
    (void)rbRayFrames_GetMissed(frames, missed, count);
    for (int i = 0; i < count && i < LINES_MAX; ++i) {
        (void)printf("%12.6f %7" PRId64 "  %s on %s  missed by the rays\n", missed[i].time,
                     missed[i].frame, rbRayFrames_GetBodyName(frames, missed[i].bodyA),
                     rbRayFrames_GetBodyName(frames, missed[i].bodyB));
    }
    rbFree(missed, size);
}

static void printCounts(const rbRayFrames* frames)
{
    rbFrameCounts counts = rbRayFrames_GetCounts(frames);
    rbFrameTimes times = rbRayFrames_GetTimes(frames);
    char largest[32];
    char mean[32];
    char p99[32];
    (void)printf("\npairs    %" PRId64 " of %" PRId64 " in every frame, %" PRId64 " test%s\n",
                 counts.pairsListed, counts.pairsTotal, counts.pairTests,
                 rbPlural(counts.pairTests));
    (void)printf("rays     %" PRId64 " cast over %" PRId64 " path segment%s, %" PRId64
                 " hit; no rays needed: %" PRId64 " out of reach, %" PRId64 " passing\n",
                 counts.rays.rays, counts.rays.pieces, rbPlural(counts.rays.pieces),
                 counts.rays.hits, counts.rays.outOfReach, counts.rays.passing);
    (void)printf("exact    %" PRId64 " sweep%s, %" PRId64 " contact%s that rays missed\n",
                 counts.exactSweeps, rbPlural(counts.exactSweeps), counts.missed,
                 rbPlural(counts.missed));
    (void)printf("frames   %" PRId64 ", update time at most %s, %s on average, 99 %% within "
                 "%s\n",
                 times.frameCount, rbFormatDuration(times.largest, largest),
                 rbFormatDuration(times.mean, mean), rbFormatDuration(times.p99, p99));
}

static void printReport(const rbScene* scene, const rbRayFrames* frames)
{
    const rbSceneInfo* info = rbScene_GetInfo(scene);
    int count = 0;
    const rbRayCollision* collisions = rbRayFrames_GetCollisions(frames, &count);
    int missed = (int)rbRayFrames_GetCounts(frames).missed;
    (void)printf("%s\n%d collision%s in %g s\n\n",
                 rbShow(info->title[0] != '\0' ? info->title : info->name), count, rbPlural(count),
                 rbRayFrames_GetTime(frames));
    if (count > 0 || missed > 0) {
        (void)printf("%12s %7s  %-18s %-33s  %-33s  %10s  %-7s  %s\n", "time s", "frame", "bodies",
                     "point m", "normal", "travel m", "found", "error m");
    }
    for (int i = 0; i < count && i < LINES_MAX; ++i) {
        printCollision(frames, &collisions[i]);
    }
    if (count > LINES_MAX) {
        (void)printf("... and %d more; --json lists all\n", count - LINES_MAX);
    }
    printMissed(frames, missed);
    printCounts(frames);
}

static void writeCollision(rbJson* json, const rbRayFrames* frames, const rbRayCollision* c)
{
    rbJson_BeginObject(json, NULL);
    rbJson_Integer(json, "frame", c->frame);
    rbJson_Number(json, "fraction", c->fraction);
    rbJson_Number(json, "time", c->time);
    rbJson_Text(json, "bodyA", rbRayFrames_GetBodyName(frames, c->bodyA));
    rbJson_Text(json, "bodyB", rbRayFrames_GetBodyName(frames, c->bodyB));
    rbJson_Text(json, "emitter",
                rbRayFrames_GetBodyName(frames, c->isReverse ? c->bodyB : c->bodyA));
    rbJson_Text(json, "found", getFinding(c));
    rbJson_Bool(json, "isInside", c->isInside);
    rbJson_Vec3(json, "point", c->point);
    rbJson_Vec3(json, "normal", c->normal);
    rbJson_Number(json, "way", c->way);
    rbJson_Number(json, "wayB", c->wayB);
    rbJson_Number(json, "ray", c->ray);
    rbJson_Number(json, "penetration", c->penetration);
    if (c->isCompared) {
        rbJson_Number(json, "exactTime", c->exactTime);
        rbJson_Number(json, "error", c->error);
    }
    rbJson_End(json);
}

static void writeMissed(rbJson* json, const rbRayFrames* frames)
{
    int count = rbRayFrames_GetMissed(frames, NULL, 0);
    size_t size = (size_t)count * sizeof(rbRayCollision);
    rbRayCollision* missed = rbAlloc(size);
    (void)rbRayFrames_GetMissed(frames, missed, count);
    rbJson_BeginArray(json, "missed");
    for (int i = 0; i < count; ++i) {
        rbJson_BeginObject(json, NULL);
        rbJson_Integer(json, "frame", missed[i].frame);
        rbJson_Number(json, "time", missed[i].time);
        rbJson_Text(json, "bodyA", rbRayFrames_GetBodyName(frames, missed[i].bodyA));
        rbJson_Text(json, "bodyB", rbRayFrames_GetBodyName(frames, missed[i].bodyB));
        rbJson_End(json);
    }
    rbJson_End(json);
    rbFree(missed, size);
}

static void writeReport(const rbScene* scene, const rbRayFrames* frames,
                        const rbRayFrameSettings* settings)
{
    rbJson json = {.file = stdout};
    int count = 0;
    const rbRayCollision* collisions = rbRayFrames_GetCollisions(frames, &count);
    rbFrameCounts counts = rbRayFrames_GetCounts(frames);
    rbFrameTimes times = rbRayFrames_GetTimes(frames);
    rbJson_BeginObject(&json, NULL);
    rbJson_Text(&json, "scene", rbScene_GetInfo(scene)->name);
    rbJson_Integer(&json, "count", settings->rays.count);
    rbJson_Text(&json, "pattern", rbRayPattern_Name(settings->rays.pattern));
    rbJson_Number(&json, "frameRate", settings->frameRate);
    rbJson_Text(&json, "mode", rbFrameMode_Name(settings->mode));
    rbJson_BeginArray(&json, "collisions");
    for (int i = 0; i < count; ++i) {
        writeCollision(&json, frames, &collisions[i]);
    }
    rbJson_End(&json);
    writeMissed(&json, frames);
    rbJson_BeginObject(&json, "work");
    rbJson_Integer(&json, "pairsTotal", counts.pairsTotal);
    rbJson_Integer(&json, "pairsListed", counts.pairsListed);
    rbJson_Integer(&json, "pairTests", counts.pairTests);
    rbJson_Integer(&json, "exactSweeps", counts.exactSweeps);
    rbJson_Integer(&json, "rays", counts.rays.rays);
    rbJson_Integer(&json, "hits", counts.rays.hits);
    rbJson_Integer(&json, "pieces", counts.rays.pieces);
    rbJson_Integer(&json, "outOfReach", counts.rays.outOfReach);
    rbJson_Integer(&json, "passing", counts.rays.passing);
    rbJson_End(&json);
    rbJson_BeginObject(&json, "frames");
    rbJson_Integer(&json, "count", times.frameCount);
    rbJson_Number(&json, "largest", times.largest);
    rbJson_Number(&json, "mean", times.mean);
    rbJson_Number(&json, "p99", times.p99);
    rbJson_End(&json);
    rbJson_End(&json);
}

// The requested pictures, of the first collision.
static rbExit writePictures(const rbArguments* arguments, const rbScene* scene,
                            const rbRayFrames* frames)
{
    const char* svg = rbArguments_Get(arguments, "--svg");
    const char* vtk = rbArguments_Get(arguments, "--vtk");
    int count = 0;
    const rbRayCollision* collisions = rbRayFrames_GetCollisions(frames, &count);
    if (svg == NULL && vtk == NULL) {
        return RB_EXIT_DONE;
    }
    const rbOutputName outputs[] = {{"--svg", svg}, {"--vtk", vtk}};
    if (!rbCheckOutputNames(arguments, scene, outputs, 2)) {
        return RB_EXIT_USAGE;
    }
    if (count == 0) {
        (void)fprintf(stderr, "rattleback: there is no collision to draw\n");
        return RB_EXIT_NO;
    }
    rbError error = {0};
    rbStatus status = RB_STATUS_OK;
    if (svg != NULL) {
        status = rbDrawRays(frames, &collisions[0], rbScene_GetInfo(scene)->title, svg, &error);
    }
    if (status == RB_STATUS_OK && vtk != NULL) {
        status = rbWriteRaysVtk(frames, &collisions[0], vtk, &error);
    }
    return status == RB_STATUS_OK ? RB_EXIT_DONE : rbFailWith(&error);
}

static rbExit runFrames(const rbArguments* arguments, const rbScene* scene,
                        const rbRayFrameSettings* settings)
{
    rbError error = {0};
    double duration = rbScene_GetInfo(scene)->duration;
    rbRayFrames* frames = rbScene_CreateRayFrames(scene, settings, &error);
    if (frames == NULL) {
        return rbFailWith(&error);
    }
    rbExit exit = RB_EXIT_DONE;
    rbError_SetPlace(&error, rbScene_GetInfo(scene)->file, "");
    if (rbRayFrames_Prepare(frames, duration, &error) != RB_STATUS_OK ||
        rbRayFrames_Run(frames, &error) != RB_STATUS_OK) {
        exit = rbFailWith(&error);
    } else {
        exit = writePictures(arguments, scene, frames);
        if (exit != RB_EXIT_USAGE && rbArguments_Has(arguments, "--json")) {
            writeReport(scene, frames, settings);
        } else if (exit != RB_EXIT_USAGE) {
            printReport(scene, frames);
        }
    }
    rbDestroyRayFrames(frames);
    return exit;
}

static rbExit runRays(const rbArguments* arguments)
{
    rbError error = {0};
    rbScene* scene = rbOpenSceneWithSettings(arguments, &error);
    if (scene == NULL) {
        return rbFailWith(&error);
    }
    rbRayFrameSettings settings = rbSceneInfo_GetFrames(rbScene_GetInfo(scene));
    rbExit exit = RB_EXIT_USAGE;
    if (readSettings(arguments, &settings)) {
        exit = runFrames(arguments, scene, &settings);
    }
    rbDestroyScene(scene);
    return exit;
}

static const rbOption options[] = {
    {"--count", "N", "rays per body in addition to those of its vertices and edges, 0 to 1e7"},
    {"--pattern", "NAME", "where rays start: uniform, lattice"},
    {"--seed", "N", "seed of random starting points"},
    {"--frame-rate", "F", "frames per second"},
    {"--mode", "NAME", "at a contact: stop (bodies stop) or log (they continue)"},
    {"--exact", NULL, "uses exact sweeps instead of rays"},
    {"--all-pairs", NULL, "tests every pair in every frame, not only those whose boxes overlap"},
    {"--svg", "FILE", "draws the rays of the first collision"},
    {"--vtk", "FILE", "writes these rays as 3D lines (VTK PolyData, .vtp)"},
    {"--set", "KEY=VALUE",
     "changes a value of the scene, e.g. rays.refineRounds=3; can be repeated"},
    {"--json", NULL, "prints the report as JSON"},
    RB_MODULE_OPTION,
};

static const char* const examples[] = {
    "rattleback rays rays-02",
    "rattleback rays rays-02 --count 4",
    "rattleback rays rays-02 --pattern uniform --set rays.refineRounds=4 --svg rays.svg",
    "rattleback rays rays-11 --all-pairs --json",
    "rattleback rays rays-12 --frame-rate 60 --exact",
    NULL,
};

const rbVerb rbVerbRays = {
    .name = "rays",
    .words = "SCENE",
    .help = "predicts collisions of bodies on paths by ray casting, frame by frame",
    .more = "Bodies are static or kinematic with a path; \"rays\" in the scene sets the method\n"
            "(docs/scene-format.md). Prints one line per collision: time, frame, bodies, point,\n"
            "normal of the second body, travel of the first along its path, how it was found\n"
            "(sampled by rays; exact; or as an overlap, because all rays missed), and the error:\n"
            "how much farther than the exact sweep.\n"
            "Then prints the work, the maximum and mean update time of a frame, and the time\n"
            "within which 99 % of the updates finish.",
    .run = runRays,
    .wordMin = 1,
    .wordMax = 1,
    .options = options,
    .optionCount = (int)(sizeof options / sizeof options[0]),
    .examples = examples,
};
