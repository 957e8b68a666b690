// Shared by the files of the frame system.
#pragma once

#include "base/core/memory.h"
#include "base/core/random.h"
#include "dynamics/motion/path.h"
#include "lab/rays/path_table.h"

#include <rattleback/lab_ray_frames.h>

#define RB_FRAME_NAME_MAX 64

// A body. Its origin is the center of all its balls.
typedef struct rbFrameBody {
    char name[RB_FRAME_NAME_MAX];
    rbGeometry* geometry;
    rbTransform start;
    rbPath* path;          // NULL: static
    rbPathTable* table;    // NULL: exact arc length
    rbRayEmitter* emitter; // NULL: casts no rays
    bool isEmitterShared;  // that of an earlier body of the same geometry
    double radius;         // m, farthest point from the origin; INFINITY for half spaces
    double speed;          // m/s, along its path
    double spin;           // rad/s
    double startTime;      // s, of the path
    double endTime;        // s; INFINITY for endless paths
    bool isStopped;
    double stopTime; // s; INFINITY while it is not stopped
} rbFrameBody;

// A pair: A moves, B may move.
typedef struct rbFramePair {
    int a, b;
    bool isIgnored; // recorded; ignored until they separate
    bool hasExact;  // an exact sweep found contact that rays have not found yet
    double exactTime;
    rbRayTrack track;
} rbFramePair;

// State of a pair within a frame.
typedef struct rbFrameContact {
    bool isHit;
    bool isExact;
    rbRayPrediction prediction;
} rbFrameContact;

struct rbRayFrames {
    rbRayFrameSettings settings;
    RB_ARRAY(rbFrameBody) bodies;
    int movingCount;
    RB_ARRAY(rbFramePair) pairs;
    rbFrameContact* contacts; // of the pairs, in this frame
    RB_ARRAY(rbRayCollision) collisions;
    RB_ARRAY(rbRayCollision) missed;
    RB_ARRAY(double) times; // s, of the frames
    rbFrameCounts counts;
    int64_t frame;
    double duration;
    bool isPrepared;
    void* scratch; // for separations
};

// Pose of a body, by the table of chords if it has one.
rbTransform rbFrameBody_GetPose(const rbFrameBody* body, double time);
// Distance traveled along its path, m.
double rbFrameBody_GetTravel(const rbFrameBody* body, double time);

// Times between start and end, at most RB_FRAME_CUTS_MAX, ascending, at which a body of a pair
// starts or stops: between them speeds are constant. Returns their number; the last is the end.
#define RB_FRAME_CUTS_MAX 8
int rbFindFrameCuts(const rbFrameBody* a, const rbFrameBody* b, double start, double end,
                    double cuts[RB_FRAME_CUTS_MAX]);

// ray_frames_pairs.c: all pairs, or those with intersecting boxes; the start.
void rbListFramePairs(rbRayFrames* frames);
rbStatus rbValidateFrameStart(const rbRayFrames* frames, rbError* error);
// Packs indices as i * 1000 + j, as published; both 0 to 999.
int rbPackPair(int i, int j);
void rbUnpackPair(int code, int* i, int* j);

// ray_frames_predict.c: the contact of a pair between two times by rays, which are passed to trace
// (may be NULL).
typedef struct rbFrameQuery {
    const rbFrameBody* a;
    const rbFrameBody* b;
    const rbRayFrameSettings* settings;
    double start, end; // s
    rbRayTrack* track;
    rbRayCounts* counts;
    rbRayTraceFn* trace;
    void* traceContext;
} rbFrameQuery;

rbStatus rbPredictFrame(const rbFrameQuery* query, rbRayPrediction* prediction, rbError* error);

// ray_frames_exact.c: the same by exact sweeps; for rotating bodies by advancing as far as their
// distance allows, within 1e-9 of their size. sweeps is incremented.
rbStatus rbSweepFrame(const rbFrameQuery* query, void* scratch, int64_t* sweeps,
                      rbRayPrediction* prediction, rbError* error);
// Signed distance between two bodies at a time, m.
rbStatus rbMeasureFramePair(const rbFrameBody* a, const rbFrameBody* b, double time, void* scratch,
                            double* distance, rbError* error);
