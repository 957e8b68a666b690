// The many-body scenes of the thesis on rays (E-10, E-11), frame by frame, and its unit checks
// (E-13).
#include "base/core/random.h"
#include "base/core/timer.h"
#include "lab/math/random3.h"
#include "lab/rays/path_table.h"
#include "lab/rays/ray_frames_state.h"
#include "lab/rays/swept_box.h"
#include "ray_scenes.h"

#include <rattleback/lab_ray_frames.h>

#include <math.h>

#define BODIES_MAX 20

// ----------------------------------------------------------------------------------------- a troop

// Unit balls at 1 m/s on straight paths.
typedef struct Troop {
    rbVec3 starts[BODIES_MAX];
    rbVec3 ends[BODIES_MAX];
    int count;
    double duration; // s
} Troop;

typedef struct Outcome {
    int64_t pairsTotal, pairsListed;
    int collisionCount;
    double firstTime; // s, INFINITY without a collision
    double lateness;  // s, worst of all collisions after their exact time
    rbRayCollision collisions[BODIES_MAX * BODIES_MAX / 2];
    double end;     // s, of the last frame
    double largest; // s of CPU time, of a frame
    rbFrameCounts counts;
    rbError error;
} Outcome;

static void addBodies(rbRayFrames* frames, const Troop* troop, rbError* error)
{
    rbGeometry* ball = rbCreateSphere(1.0, error);
    for (int i = 0; i < troop->count && error->status == RB_STATUS_OK; ++i) {
        rbPathDef path = rbDefaultPathDef();
        path.type = RB_PATH_LINE;
        path.speed = 1.0;
        path.points = &troop->ends[i];
        path.pointCount = 1;
        const rbFrameBodyDef def = {
            .geometry = ball, .transform = {troop->starts[i], RB_QUAT_IDENTITY}, .path = &path};
        (void)rbRayFrames_AddBody(frames, &def, error);
    }
    rbDestroyGeometry(ball);
}

static void runTroop(const Troop* troop, const rbRayFrameSettings* settings, Outcome* outcome)
{
    *outcome = (Outcome){.firstTime = INFINITY};
    rbError* error = &outcome->error;
    rbRayFrames* frames = rbCreateRayFrames(settings, error);
    if (frames == NULL) {
        return;
    }
    addBodies(frames, troop, error);
    if (error->status == RB_STATUS_OK &&
        rbRayFrames_Prepare(frames, troop->duration, error) == RB_STATUS_OK) {
        // CPU seconds, so that other programs do not count
        while (error->status == RB_STATUS_OK && rbRayFrames_GetTime(frames) < troop->duration) {
            double start = rbGetThreadTime();
            (void)rbRayFrames_Update(frames, error);
            outcome->largest = fmax(outcome->largest, rbGetThreadTime() - start);
        }
        int count = 0;
        const rbRayCollision* found = rbRayFrames_GetCollisions(frames, &count);
        for (int i = 0; i < count && i < BODIES_MAX * BODIES_MAX / 2; ++i) {
            if (!found[i].isInside) { // otherwise no ray found it before the bodies overlapped
                outcome->collisions[outcome->collisionCount++] = found[i];
                outcome->firstTime = fmin(outcome->firstTime, found[i].time);
            }
        }
        outcome->counts = rbRayFrames_GetCounts(frames);
        outcome->end = rbRayFrames_GetTime(frames);
    }
    rbDestroyRayFrames(frames);
}

static rbRayFrameSettings makeSettings(int rays)
{
    rbRayFrameSettings settings = rbDefaultRayFrameSettings();
    settings.rays = rbMakePublishedRays(rays);
    settings.frameRate = RB_RAY_FRAME_RATE;
    settings.mode = RB_FRAMES_LOG;
    return settings;
}

// ----------------------------------------------------------------------------- E-10: to the center

static const rbVec3 centerStarts[BODIES_MAX] = {
    {-10, 10, 10}, {10, 10, 10},   {10, -10, 10},   {-10, -10, 10}, {-10, 10, -10},
    {10, 10, -10}, {10, -10, -10}, {-10, -10, -10}, {-10, 10, 0},   {10, 10, 0},
    {10, -10, 0},  {-10, -10, 0},  {-10, 0, 10},    {10, 0, 10},    {-10, 0, -10},
    {10, 0, -10},  {0, 10, 10},    {0, 10, -10},    {0, -10, -10},  {0, -10, 10}};

// Two balls that both move to the origin.
static double findMeeting(rbVec3 a, rbVec3 b)
{
    rbVec3 p = rbSub(b, a);
    rbVec3 v = rbSub(rbScale(-1.0 / rbLength(b), b), rbScale(-1.0 / rbLength(a), a));
    double half = rbDot(p, v);
    double root = half * half - rbLengthSquared(v) * (rbLengthSquared(p) - 4.0);
    return root >= 0.0 && half < 0.0 ? (-half - sqrt(root)) / rbLengthSquared(v) : (double)INFINITY;
}

static double findFirst(const Troop* troop)
{
    double first = INFINITY;
    for (int i = 0; i < troop->count; ++i) {
        for (int j = 0; j < i; ++j) {
            double meeting = findMeeting(troop->starts[i], troop->starts[j]);
            double end = fmin(rbLength(troop->starts[i]), rbLength(troop->starts[j]));
            first = meeting < end ? fmin(first, meeting) : first;
        }
    }
    return first;
}

static void runCenter(rbValidation* validation)
{
    const int sizes[7] = {2, 4, 6, 8, 10, 15, 20};
    const int rays[4] = {20, 40, 100, 400};
    const double exacts[7] = {15.5885, 15.5885, 15.5885, 15.5885, 12.7279, 12.1421, 12.1421};
    double late = 0.0;
    double early = 0.0;
    double offTable = 0.0;
    double perPair = 0.0;
    int atOnce = 0;
    rbValidation_Print(validation,
                       "  E-10, n balls to the center: time of the first contact [s]; the largest "
                       "frame with 100 rays [ms], published and ours; total rays with 100\n"
                       "    %3s %9s %9s %9s %9s %9s %9s %9s %12s\n",
                       "n", "exact", "20 rays", "40 rays", "100 rays", "400 rays", "printed",
                       "ours", "rays");
    const double printed[7] = {3, 9, 20, 33, 34, 43, 78};
    for (int s = 0; s < 7; ++s) {
        Troop troop = {.count = sizes[s], .duration = 17.0};
        for (int i = 0; i < sizes[s]; ++i) {
            troop.starts[i] = centerStarts[i];
        }
        double exact = findFirst(&troop);
        double frame = 0.0;
        int64_t shot = 0;
        offTable = rbWorseError(fabs(exact - exacts[s]), offTable);
        rbValidation_Print(validation, "    %3d %9.4f", sizes[s], exact);
        for (int k = 0; k < 4; ++k) {
            static Outcome outcome;
            rbRayFrameSettings settings = makeSettings(rays[k]);
            runTroop(&troop, &settings, &outcome);
            rbCheckRayError(validation, "E-10", &outcome.error);
            rbValidation_Print(validation, " %9.4f", outcome.firstTime);
            frame = rays[k] == 100 ? outcome.largest : frame;
            shot = rays[k] == 100 ? outcome.counts.rays.rays : shot;
            early = rbWorseError(exact - outcome.firstTime, early);
            if (sizes[s] == BODIES_MAX && rays[k] == 100) {
                for (int i = 0; i < outcome.collisionCount; ++i) {
                    atOnce += outcome.collisions[i].time < exact + 1e-6 ? 1 : 0;
                }
                perPair = 2.0 * (double)shot / (BODIES_MAX * (BODIES_MAX - 1));
            }
            late = rays[k] >= 100 ? rbWorseError(outcome.firstTime - exact, late) : late;
        }
        rbValidation_Print(validation, " %9.0f %9.3f %12lld\n", printed[s], 1e3 * frame,
                           (long long)shot);
    }
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbAddRayBound(validation, "E-10", "error of the exact first contacts [s]", offTable, 1e-4);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddRayBound(validation, "E-10", "earliest before the exact contact [s]", early, 1e-9);
    rbValidation_Add(validation, "E-10: pairs of 20 balls that touch simultaneously", atOnce, 24.0,
                     0.0);
    // rays are cast for every pair in the one frame of its contact: early-outs end all others, so
    // the rays grow with the square of the bodies and there are none while they are apart
    rbValidation_Add(validation, "E-10: rays of a pair in the whole run, 100 rays, 20 balls",
                     perPair, 91.0, 0.0);
    // law of section 3.9 with 100 rays: excess up to 0.03 m
    rbAddRayBound(validation, "E-10", "100 and 400 rays: latest after the exact contact [s]", late,
                  0.03);
}

// ---------------------------------------------------------------------------- E-11: crossing rows

static Troop makeRows(void)
{
    Troop troop = {.count = 12, .duration = 20.0};
    for (int i = 0; i < 6; ++i) {
        double blue = 7.5 - 3.0 * i;
        double red = 9.0 - 3.0 * i;
        troop.starts[i] = (rbVec3){-10.0, blue, 0.0};
        troop.ends[i] = (rbVec3){10.0, blue, 0.0};
        troop.starts[6 + i] = (rbVec3){10.0, red, 0.0};
        troop.ends[6 + i] = (rbVec3){-10.0, red, 0.0};
    }
    return troop;
}

// Largest difference of two lists of collisions; NaN if their pairs differ.
static double compareCollisions(const Outcome* a, const Outcome* b)
{
    double worst = a->collisionCount == b->collisionCount ? 0.0 : (double)NAN;
    for (int i = 0; i < a->collisionCount && !isnan(worst); ++i) {
        const rbRayCollision* x = &a->collisions[i];
        const rbRayCollision* y = &b->collisions[i];
        bool isSame = x->bodyA == y->bodyA && x->bodyB == y->bodyB && x->frame == y->frame;
        worst = isSame
                    ? rbWorseError(fabs(x->time - y->time) + rbDistance(x->point, y->point), worst)
                    : (double)NAN;
    }
    return worst;
}

static void runRows(rbValidation* validation)
{
    const Troop troop = makeRows();
    const int rays[8] = {5, 10, 20, 50, 80, 100, 120, 500};
    const double printed[2][8] = {{2, 4, 5, 6, 7, 10, 18, 61}, {2, 2, 3, 5, 6, 9, 9, 39}};
    const double exact = 0.5 * (20.0 - sqrt(1.75));
    static Outcome outcomes[2];
    double difference = 0.0;
    double early = 0.0;
    double late = 0.0;
    int found80 = 11;
    rbValidation_Print(
        validation,
        "  E-11, crossing rows, 66 pairs, 11 touch at 9.338562 s: largest frame [ms]\n"
        "    %5s %22s %22s %6s %10s %12s\n",
        "rays", "all pairs: publ., ours", "listed: publ., ours", "found", "late [s]",
        "pairs listed");
    for (int k = 0; k < 8; ++k) {
        rbRayFrameSettings settings = makeSettings(rays[k]);
        double latest = 0.0;
        for (int m = 0; m < 2; ++m) {
            settings.isAccelerated = m == 1;
            runTroop(&troop, &settings, &outcomes[m]);
            rbCheckRayError(validation, "E-11", &outcomes[m].error);
        }
        for (int i = 0; i < outcomes[1].collisionCount; ++i) {
            double after = outcomes[1].collisions[i].time - exact;
            latest = fmax(latest, after);
            early = rbWorseError(-after, early);
        }
        difference = rbWorseError(compareCollisions(&outcomes[0], &outcomes[1]), difference);
        rbValidation_Print(validation, "    %5d %14.0f %9.3f %12.0f %9.3f %6d %10.5f %12lld\n",
                           rays[k], printed[0][k], 1e3 * outcomes[0].largest, printed[1][k],
                           1e3 * outcomes[1].largest, outcomes[1].collisionCount, latest,
                           (long long)outcomes[1].counts.pairsListed);
        late = rays[k] >= 80 ? fmax(late, latest) : late;
        if (rays[k] >= 80 && outcomes[1].collisionCount < found80) {
            found80 = outcomes[1].collisionCount;
        }
    }
    rbValidation_Add(validation, "E-11: pairs of all", (double)outcomes[0].counts.pairsListed, 66.0,
                     0.0);
    rbValidation_Add(validation, "E-11: pairs whose swept boxes overlap",
                     (double)outcomes[1].counts.pairsListed, 11.0, 0.0);
    rbValidation_SetTruth(validation, RB_TRUTH_OWN_METHOD);
    rbAddRayBound(validation, "E-11", "collisions of both modes differ by [s + m]", difference,
                  0.0);
    rbValidation_SetTruth(validation, RB_TRUTH_PUBLISHED);
    rbValidation_Add(validation, "E-11: collisions found with 80 rays and more", found80, 11.0,
                     0.0);
    rbValidation_SetTruth(validation, RB_TRUTH_CLOSED_FORM);
    rbAddRayBound(validation, "E-11", "earliest before the exact time [s]", early, 1e-9);
    rbAddRayBound(validation, "E-11", "80 rays and more: latest after it [s]", late, 0.15);
}

// ---------------------------------------------------------------------------------- E-13: units

typedef struct Pole {
    rbVec3 expected;
    double off;
} Pole;

static void notePole(void* context, const rbRayTrace* trace)
{
    Pole* pole = context;
    pole->off = fmin(pole->off, rbDistance(trace->start, pole->expected));
}

static rbTransform movePole(const void* context, double time)
{
    return (rbTransform){rbScale(time, *(const rbVec3*)context), RB_QUAT_IDENTITY};
}

// one ray starts at the foremost point, for any direction.
static void runPoles(rbValidation* validation)
{
    rbError error = {0};
    rbGeometry* ball = rbCreateSphere(1.0, &error);
    const rbRaySettings settings = rbMakePublishedRays(1);
    rbRayEmitter* emitter = rbCreateRayEmitter(ball, &settings, &error);
    rbRandom random = {22};
    double worst = 0.0;
    for (int i = 0; i < 10000 && error.status == RB_STATUS_OK; ++i) {
        const rbVec3 direction = i < 6 ? (rbVec3){i / 2 == 0 ? 1.0 - 2.0 * (i % 2) : 0.0,
                                                  i / 2 == 1 ? 1.0 - 2.0 * (i % 2) : 0.0,
                                                  i / 2 == 2 ? 1.0 - 2.0 * (i % 2) : 0.0}
                                       : rbRandom_Direction(&random);
        const rbRayBody a = {.geometry = ball,
                             .emitter = emitter,
                             .pose = movePole,
                             .context = &direction,
                             .transform = {RB_VEC3_ZERO, RB_QUAT_IDENTITY},
                             .speedMax = 1.0 + 1e-12};
        const rbRayBody b = {.geometry = ball,
                             .transform = {rbScale(2.5, direction), RB_QUAT_IDENTITY}};
        Pole pole = {direction, INFINITY};
        const rbRayQuery query = {.bodyA = &a,
                                  .bodyB = &b,
                                  .end = 1.0,
                                  .settings = &settings,
                                  .trace = notePole,
                                  .traceContext = &pole};
        rbRayPrediction prediction;
        (void)rbPredictByRays(&query, &prediction, &error);
        worst = rbWorseError(pole.off, worst);
    }
    rbAddRayBound(validation, "E-13", "pole error, 10,000 directions of motion [m]", worst, 1e-14);
    rbCheckRayError(validation, "E-13", &error);
    rbDestroyRayEmitter(emitter);
    rbDestroyGeometry(ball);
}

static rbOrientedBox drawBox(rbRandom* random, bool isParallel)
{
    rbOrientedBox box = {0};
    box.center.x = 2.0 * rbRandom_Symmetric(random);
    box.center.y = 2.0 * rbRandom_Symmetric(random);
    box.center.z = 2.0 * rbRandom_Symmetric(random);
    rbMat3 axes = rbMatFromQuat(isParallel ? RB_QUAT_IDENTITY : rbRandom_Quat(random));
    box.axes[0] = axes.cx;
    box.axes[1] = axes.cy;
    box.axes[2] = axes.cz;
    for (int i = 0; i < 3; ++i) {
        box.half[i] = rbRandom_Range(random, 0.3, 1.8);
    }
    return box;
}

typedef struct BoxRow {
    rbBoxTest test;
    double missed[2], alarms[2]; // percent in the specification, random and parallel, 20 rays
} BoxRow;

// the error rate of each variant of the ray test. Specification: 20,000 pairs.
static void runBoxes(rbValidation* validation)
{
    const BoxRow rows[4] = {{RB_BOXES_ALL, {0.19, 0.32}, {74.8, 64.4}},
                            {RB_BOXES_NEARER, {6.5, 0.88}, {6.7, 0.0}},
                            {RB_BOXES_BOUNDED, {7.5, 1.3}, {0.0, 0.0}},
                            {RB_BOXES_BOTH, {4.9, 0.27}, {0.0, 0.0}}};
    int pairs = validation->isQuick ? 1000 : 20000;
    double boundedAlarms = 0.0;
    double worst = 0.0;
    rbValidation_Print(validation,
                       "  E-13, boxes by rays, 20 rays per pair of faces, %d pairs: missed "
                       "overlaps and false alarms [%%], specification and ours\n"
                       "    %-8s %22s %22s %22s %22s\n",
                       pairs, "variant", "random: missed", "alarms", "parallel: missed", "alarms");
    for (int r = 0; r < 4; ++r) {
        rbValidation_Print(validation, "    %-8s", rbBoxTest_Name(rows[r].test));
        for (int p = 0; p < 2; ++p) {
            rbRandom random = {44};
            rbRandom rays = {20};
            double overlaps = 0.0;
            double missed = 0.0;
            double alarms = 0.0;
            for (int i = 0; i < pairs; ++i) {
                rbOrientedBox a = drawBox(&random, p == 1);
                rbOrientedBox b = drawBox(&random, p == 1);
                bool isMeeting = rbBoxesMeet(&a, &b);
                bool isFound = rbBoxesMeetByRays(&a, &b, rows[r].test, 20, &rays);
                overlaps += isMeeting;
                missed += isMeeting && !isFound;
                alarms += !isMeeting && isFound;
            }
            missed *= 100.0 / overlaps;
            alarms *= 100.0 / (pairs - overlaps);
            rbValidation_Print(validation, " %11.2f %10.2f %11.2f %10.2f", rows[r].missed[p],
                               missed, rows[r].alarms[p], alarms);
            if (rows[r].test == RB_BOXES_BOUNDED || rows[r].test == RB_BOXES_BOTH) {
                boundedAlarms = fmax(boundedAlarms, alarms);
            }
            worst = fmax(worst, fabs(missed - rows[r].missed[p]));
            worst = fmax(worst, fabs(alarms - rows[r].alarms[p]));
        }
        rbValidation_Print(validation, "\n");
    }
    rbAddRayBound(validation, "E-13", "bounded rays of boxes: false alarms [%]", boundedAlarms,
                  0.0);
    // the statistics of 20,000 pairs are accurate to 0.5, of 1000 to 3
    rbAddRayBound(validation, "E-13", "rays of boxes: largest error [percentage points]", worst,
                  validation->isQuick ? 4.0 : 1.0);
}

// rays to points of the edges and to the vertices of a pyramid must hit.
static void runEdges(rbValidation* validation)
{
    rbError error = {0};
    rbGeometry* pyramid = rbMakeRayPyramid(&error);
    rbRandom random = {10};
    rbMeshDef mesh;
    int misses = 0;
    double off = 0.0;
    bool isMesh = pyramid != NULL && rbGeometry_GetMesh(pyramid, &mesh);
    for (int i = 0; i < 10000 && isMesh; ++i) {
        const int* corners =
            &mesh.indices[(size_t)3 * (size_t)rbRandom_Index(&random, mesh.faceCount)];
        rbVec3 a = mesh.vertices[corners[0]];
        rbVec3 b = mesh.vertices[corners[1]];
        double part = i % 4 == 0 ? 0.0 : rbRandom_Unit(&random);
        rbVec3 target = rbAddScaled(a, part, rbSub(b, a));
        // from where the center of the pyramid lies behind the edge
        rbVec3 origin = rbAddScaled(rbScale(3.0, target), 0.3, rbRandom_Direction(&random));
        const rbRay ray = {origin, rbSub(target, origin), INFINITY};
        rbRayHit hit;
        if (rbGeometry_CastRay(pyramid, &ray, &hit)) {
            off = fmax(off, rbDistance(hit.point, target));
        } else {
            ++misses;
        }
    }
    rbAddRayBound(validation, "E-13", "rays to edges and vertices that miss, of 10,000", misses,
                  isMesh ? 0.0 : -1.0);
    // rounding of 5 m along rays that may graze the faces at a hundredth of a radian
    rbAddRayBound(validation, "E-13", "rays to edges and vertices: hit error [m]", off, 1e-12);
    rbDestroyGeometry(pyramid);
}

// R-14, section 1.5: frames begin at multiples of 1/24 s; the timer of the thesis, 41 ms plus the
// computation time, drifts.
static void runClock(rbValidation* validation)
{
    static Outcome outcome;
    const Troop troop = {.count = 1, .starts = {{5.0, 0.0, 0.0}}, .duration = 1.0};
    rbRayFrameSettings settings = makeSettings(1);
    runTroop(&troop, &settings, &outcome);
    rbCheckRayError(validation, "E-13", &outcome.error);
    rbValidation_Add(validation, "E-13: end of 24 frames at 24 Hz [s]; the thesis: 24 x 41 ms",
                     outcome.end, 1.0, 0.0);
    rbValidation_Add(validation, "E-13: pair 24, 3 packed", rbPackPair(24, 3), 24003.0, 0.0);
}

static void runUnits(rbValidation* validation)
{
    const rbPathTableRow rows[3] = {{0.0, 0, 0.0}, {0.4, 0, 0.502465}, {0.5, 0, 0.717651}};
    int piece = -1;
    rbValidation_Add(validation, "E-13: parameter of 0.61 m by the table of chords",
                     rbLookUpTravel(rows, 3, 0.61, &piece), 0.4499731, 1e-7);
    runClock(validation);
    runEdges(validation);
    runPoles(validation);
    runBoxes(validation);
}

static void run(rbValidation* validation)
{
    runCenter(validation);
    runRows(validation);
    runUnits(validation);
}

const rbValidationCase rbCaseRayFrames = {
    .name = "ray-frames",
    .group = "rays",
    .help = "many balls frame by frame, listed pairs, boxes by rays",
    .source = "E-10, E-11, E-13 of the specification: closed forms, Tables 4.9 and 4.10",
    .truth = RB_TRUTH_CLOSED_FORM,
    .run = run,
};
