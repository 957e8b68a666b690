/// @file
/// Bodies on prescribed paths, frame by frame: if rays predict that two of them touch before the
/// next frame, the contact is recorded, and the bodies stop there or continue. No world and no
/// response; for what the event engine does with the same predictions see event.h.
///
/// Frame i begins at i / frameRate seconds, however long the computation takes. All contacts of a
/// frame are found from the positions at its beginning; then everything advances once.
#ifndef RATTLEBACK_LAB_RAY_FRAMES_H
#define RATTLEBACK_LAB_RAY_FRAMES_H

#include <rattleback/base.h>
#include <rattleback/body.h>
#include <rattleback/lab_rays.h>
#include <rattleback/shape.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Maximum number of moving and of static bodies: a pair of indices is packed as i * 1000 + j.
#define RB_FRAMES_BODIES_MAX 1000
#define RB_FRAMES_COUNT_MAX 10000000 ///< maximum number of frames of a run

/// What happens at a contact.
typedef enum rbFrameMode {
    RB_FRAMES_STOP, ///< both bodies stop permanently
    RB_FRAMES_LOG,  ///< the contact is recorded and the pair ignored until it separates
    RB_FRAMES_MODE_COUNT
} rbFrameMode;

RB_API const char* rbFrameMode_Name(rbFrameMode mode); ///< "stop", "log"
RB_API rbFrameMode rbFrameMode_Find(const char* name); ///< RB_FRAMES_MODE_COUNT if unknown

/// How two boxes, swept over the whole run, are tested for intersection.
typedef enum rbBoxTest {
    RB_BOXES_AXES,    ///< fifteen separating axes: exact
    RB_BOXES_ALL,     ///< rays between all pairs of facing faces, any hit behind its start
    RB_BOXES_NEARER,  ///< the same, only the nearer of two competing pairs of faces
    RB_BOXES_BOUNDED, ///< all faces, hits within the thickness of the casting box
    RB_BOXES_BOTH,    ///< the same, both boxes cast rays
    RB_BOXES_GUARDED, ///< the same, and a corner or the center of one within the other counts
    RB_BOXES_TEST_COUNT
} rbBoxTest;

RB_API const char* rbBoxTest_Name(rbBoxTest test); ///< "axes", "all", "nearer", ...
RB_API rbBoxTest rbBoxTest_Find(const char* name); ///< RB_BOXES_TEST_COUNT if unknown

// clang-format off
/// The settings of frames besides those of their rays, a row each (see RB_SETTING_FIELD).
#define RB_RAY_FRAME_SETTINGS(X) \
    X(double, frameRate, "frameRate", 24.0, RB_FROM(1e-6, 1e9), "1/s", \
      "frames per second; frame i begins at i / frameRate") \
    X(rbFrameMode, mode, "mode", RB_FRAMES_STOP, RB_WORDS(rbFrameMode), "", \
      "what happens at a contact; stop: both bodies stay at rest; log: it is recorded and the " \
      "pair ignored until apart") \
    X(bool, isAccelerated, "accelerated", true, RB_ANY, "", \
      "only pairs whose boxes, swept over the duration, interfere; the collisions are the same") \
    X(rbBoxTest, boxTest, "boxTest", RB_BOXES_AXES, RB_WORDS(rbBoxTest), "", \
      "how boxes interfere; axes: exact; the others: by rays as published, which can lose " \
      "collisions") \
    X(int, boxRays, "boxRays", 20, RB_FROM(1, 100000), "", \
      "rays of a pair of faces where boxes are tested by rays") \
    X(bool, isExact, NULL, false, RB_ANY, "", "exact sweeps instead of rays") \
    X(bool, isCompared, NULL, false, RB_ANY, "", \
      "exact sweeps in addition to the rays, for the errors of the records") \
    X(double, angleMax, "angleMax", 0.0, RB_FROM(0.0, 3.141592653589793), "rad", \
      "as published, a frame of a curve is cut only where its tangent and its chord differ by more " \
      "(published: 0.436); 0: cut until chords are within the tolerance") \
    X(int, subPoints, "subPoints", 5, RB_FROM(1, 1000), "", \
      "points that cut a frame where tangent and chord differ by more") \
    X(int, chordSamples, "chordSamples", 0, RB_FROM(0, 10000), "", \
      "samples per piece of a table of chords as published (10), with angleMax only; 0: exact arc " \
      "length")
// clang-format on

/// Make it with rbDefaultRayFrameSettings.
typedef struct rbRayFrameSettings {
    rbRaySettings rays; ///< of every prediction
    RB_RAY_FRAME_SETTINGS(RB_SETTING_FIELD)
} rbRayFrameSettings;

/// The defaults of the list.
RB_API rbRayFrameSettings rbDefaultRayFrameSettings(void);
/// INVALID with a message that names the value.
RB_API rbStatus rbRayFrameSettings_Check(const rbRayFrameSettings* settings, rbError* error);

/// A body: static, or following a path.
typedef struct rbFrameBodyDef {
    const char* name;           ///< copied; NULL: "body 3"
    const rbGeometry* geometry; ///< a reference is kept
    rbTransform transform;      ///< of the geometry's frame at time 0
    const rbPathDef* path;      ///< of the origin of that frame; NULL: static
} rbFrameBodyDef;

/// A contact that was found.
typedef struct rbRayCollision {
    int64_t frame;      ///< number of the frame
    double fraction;    ///< of the frame, 0..1
    double time;        ///< s
    int bodyA;          ///< in the order they were added; A moves
    int bodyB;          ///< in the order they were added
    bool isReverse;     ///< B cast the shortest ray
    bool isExact;       ///< found by an exact sweep
    bool isInside;      ///< they overlapped at the beginning of the frame
    bool isCompared;    ///< the next three are set
    double exactTime;   ///< s, of the exact contact
    double error;       ///< m, displacement of A relative to B: found minus exact
    double penetration; ///< m, depth of the overlap at this contact; 0 if they are apart
    double way;         ///< m, distance traveled by A along its path since time 0
    double wayB;        ///< the same for B
    double ray;         ///< m, length of the shortest ray, from the start of its chord
    rbVec3 point;       ///< m
    rbVec3 normal;      ///< unit, outward of B
} rbRayCollision;

/// CPU times of the frames; the only results that depend on the computer.
typedef struct rbFrameTimes {
    int64_t frameCount; ///< frames computed
    double largest;     ///< s
    double mean;        ///< s
    double p99;         ///< not exceeded by 99 % of the frames
} rbFrameTimes;

/// Work of all frames so far.
typedef struct rbFrameCounts {
    int64_t pairsTotal;  ///< per frame: moving with moving, moving with static
    int64_t pairsListed; ///< of these, tested in every frame
    int64_t pairTests;   ///< in all frames
    int64_t exactSweeps; ///< made so far
    int64_t missed;   ///< pairs whose contact exact sweeps found and rays never did, although one
                      ///< body could move; with isCompared
    rbRayCounts rays; ///< of the predictions
} rbFrameCounts;

/// Bodies on paths, frame by frame; opaque.
typedef struct rbRayFrames rbRayFrames;
/// No bodies yet. NULL and an error if a setting is unusable.
RB_API rbRayFrames* rbCreateRayFrames(const rbRayFrameSettings* settings, rbError* error);
RB_API void rbDestroyRayFrames(rbRayFrames* frames); ///< NULL is fine

/// Adds a body; before the first frame. LIMIT beyond RB_FRAMES_BODIES_MAX moving or static ones.
RB_API rbStatus rbRayFrames_AddBody(rbRayFrames* frames, const rbFrameBodyDef* def, rbError* error);

/// Validates the start and lists the pairs whose boxes, swept until the given time, intersect.
/// INVALID with the names of bodies that overlap.
RB_API rbStatus rbRayFrames_Prepare(rbRayFrames* frames, double duration, rbError* error);

/// Computes the next frame. After rbRayFrames_Prepare.
RB_API rbStatus rbRayFrames_Update(rbRayFrames* frames, rbError* error);

/// Computes all frames that begin before the duration of rbRayFrames_Prepare.
RB_API rbStatus rbRayFrames_Run(rbRayFrames* frames, rbError* error);

/// Frame rate, 1/s.
RB_API double rbRayFrames_GetFrameRate(const rbRayFrames* frames);
RB_API double rbRayFrames_GetTime(const rbRayFrames* frames); ///< s, of the next frame
/// Number of the next frame, from 0.
RB_API int64_t rbRayFrames_GetFrame(const rbRayFrames* frames);
/// Collisions in order of time; borrowed until the next frame.
RB_API const rbRayCollision* rbRayFrames_GetCollisions(const rbRayFrames* frames, int* count);
/// Contacts that exact sweeps found and rays missed, with isCompared: only bodies, time, frame.
RB_API int rbRayFrames_GetMissed(const rbRayFrames* frames, rbRayCollision* missed, int capacity);
/// Work of all frames so far.
RB_API rbFrameCounts rbRayFrames_GetCounts(const rbRayFrames* frames);
/// CPU times of the frames so far.
RB_API rbFrameTimes rbRayFrames_GetTimes(const rbRayFrames* frames);

/// Number of bodies.
RB_API int rbRayFrames_GetBodyCount(const rbRayFrames* frames);
/// Name of a body, in the order they were added.
RB_API const char* rbRayFrames_GetBodyName(const rbRayFrames* frames, int body);
/// Geometry of a body, borrowed.
RB_API const rbGeometry* rbRayFrames_GetGeometry(const rbRayFrames* frames, int body);
RB_API bool rbRayFrames_IsMoving(const rbRayFrames* frames, int body); ///< has a path
/// Pose of a body at a time (s).
RB_API rbTransform rbRayFrames_GetPose(const rbRayFrames* frames, int body, double time);

/// Casts the rays of the frame of a collision again and passes each one to trace, in world
/// coordinates at its start. lead: s, >= 0, extends the frame on both sides, but not before time 0,
/// because the rays of a single frame are short.
RB_API rbStatus rbRayFrames_Trace(const rbRayFrames* frames, const rbRayCollision* collision,
                                  double lead, rbRayTraceFn* trace, void* context, rbError* error);

#ifdef __cplusplus
}
#endif

#endif
